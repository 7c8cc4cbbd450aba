// Characters that cannot be seen, shown as their code points.
//
// Text that is drawn in another order than it runs, or not drawn at all, hides what code does (CVE-2021-42574, "Trojan Source").
// CodeMirror's `highlightSpecialChars` makes an element of each character; this makes one of each run of them.
import { RangeSetBuilder, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";

/** Ranges of code points that are not drawn, or that change how others are drawn, first and last. */
const ranges: readonly (readonly [number, number])[] = [
  [0x00, 0x08], // C0 controls, but tab and newline
  [0x0b, 0x1f],
  [0x7f, 0x9f], // delete, C1 controls
  [0xad, 0xad], // soft hyphen
  [0x034f, 0x034f], // combining grapheme joiner
  [0x061c, 0x061c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5], // Khmer inherent vowels
  [0x180b, 0x180f], // Mongolian variation selectors and vowel separator
  [0x200b, 0x200f], // zero width, directional marks
  [0x2028, 0x202e], // line and paragraph separators, bidirectional embeddings and overrides
  [0x2060, 0x206f], // word joiner, invisible operators, bidirectional isolates, deprecated format characters
  [0x3164, 0x3164], // Hangul fillers
  [0xffa0, 0xffa0],
  [0xfe00, 0xfe0f], // variation selectors
  [0xfeff, 0xfeff], // byte order mark
  [0xfff0, 0xfffb], // unassigned and default ignorable, interlinear annotations
  [0x1bca0, 0x1bca3], // shorthand format controls
  [0x1d173, 0x1d17a], // musical format controls
  [0xe0000, 0xe0fff], // tags, variation selectors supplement
];

/** Code points that a run names before it counts the rest. */
const MAX_NAMED = 4;

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, "0");

const set = ranges.map(([first, last]) => `\\u{${hex(first)}}-\\u{${hex(last)}}`).join("");

const single = new RegExp(`[${set}]`, "gu");

/** A box that names the characters of a run. */
class InvisibleWidget extends WidgetType {
  readonly #text: string;

  constructor(run: string) {
    super();
    const codes = Array.from(run.matchAll(single), ([character]) => character.codePointAt(0) ?? 0);
    const names = codes.slice(0, MAX_NAMED).map((code) => `U+${hex(code)}`);
    if (codes.length > MAX_NAMED) names.push(`+${codes.length - MAX_NAMED}`);
    this.#text = names.join(" ");
  }

  override eq(other: InvisibleWidget): boolean {
    return other.#text === this.#text;
  }

  override toDOM(): HTMLElement {
    const box = document.createElement("span");
    box.className = "cm-specialChar";
    box.textContent = this.#text;
    return box;
  }

  /** The editor puts the cursor where a person clicks. */
  override ignoreEvent(): boolean {
    return false;
  }
}

/** Finds runs, and takes many runs with few other characters between them as one: a browser hangs at ten thousands of boxes in a line. */
const runs = new RegExp(`[${set}]+(?:[^${set}\\n]{1,16}[${set}]+){64,}|[${set}]+`, "gu");

/**
 * The boxes of a whole text.
 *
 * Not of its visible lines only: the editor estimates the height of a long line from the text that it knows to be shown.
 */
function boxesOf(text: string): DecorationSet {
  const boxes = new RangeSetBuilder<Decoration>();
  for (const { 0: run, index } of text.matchAll(runs)) {
    boxes.add(index, index + run.length, Decoration.replace({ widget: new InvisibleWidget(run) }));
  }
  return boxes.finish();
}

const boxes = StateField.define<DecorationSet>({
  create: (state) => boxesOf(state.sliceDoc()),
  update: (before, { docChanged, state }) => (docChanged ? boxesOf(state.sliceDoc()) : before),
  provide: (field) => EditorView.decorations.from(field),
});

/** Shows each run of invisible characters as a box with their code points. */
export const showInvisible = (): Extension => boxes;
