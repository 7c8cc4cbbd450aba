// URL against the URL of Node.js: parsing, setters, the link to searchParams, errors.
//
// Invariant: every case runs in both; only where Node.js 20 lacks something is the expected result written down.

import { test } from 'node:test';

import { gives, same } from './helpers.js';

const everyPart = `['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname',
  'search', 'hash'].map((part) => url[part]).concat([...url.searchParams].flat())`;

const inputs = [
  ['http://example.com'],
  ['http://EXAMPLE.com:80/../a/./b/../c?x=1&y=%20z#frag'],
  ['https://user:pa%20ss@example.com:8443/p/a/t/h?query=string#hash'],
  ['https://example.com:443/'],
  ['ftp://ftp.example.com:21/file'],
  ['file:///C:/Users/x/y.txt'],
  ['file://server/share/f'],
  ['file:c:\\foo\\bar'],
  ['mailto:someone@example.com?subject=hi'],
  ['data:text/plain;base64,SGVsbG8='],
  ['data:text/plain,hello   '],
  ['javascript:alert(1)'],
  ['blob:https://example.com/uuid'],
  ['about:blank'],
  ['urn:isbn:0451450523'],
  ['custom://host:99/path?q#f'],
  ['ws://example.com:80/chat'],
  ['wss://example.com:443/chat'],
  ['http://[::1]:8080/'],
  ['http://[2001:0db8:0000:0000:0000:ff00:0042:8329]/'],
  ['http://[::ffff:192.0.2.128]/'],
  ['http://0x7f.1/'],
  ['http://0300.0250.0.1/'],
  ['http://2130706433/'],
  ['http://256.256.256.256/'],
  ['http://1.2.3.4.5/'],
  ['http://münchen.de/straße?ä=ö#ü'],
  ['http://日本語.jp/'],
  ['http://xn--mnchen-3ya.de/'],
  ['http://☃.net/'],
  ['http://a b/'],
  ['http://exa<mple/'],
  ['http://example.com/a b?c d#e f'],
  ['http://example.com/%zz%41%'],
  ['http://example.com/"<>`{}|\\^'],
  ["http://example.com/?'\"<>`"],
  ['  http://example.com/trim \n'],
  ['ht\ntp://exa\tmple.com/\r\n'],
  ['http:\\\\example.com\\path'],
  ['http:example.com/no-slashes'],
  ['http:///example.com'],
  ['http://user@/x'],
  ['http://user:@example.com/'],
  ['http://@example.com/'],
  ['http://a:b:c@example.com/'],
  ['http://example.com:'],
  ['http://example.com:0/'],
  ['http://example.com:65535/'],
  ['http://example.com:65536/'],
  ['http://example.com:8a/'],
  ['http://example.com?'],
  ['http://example.com#'],
  ['http://example.com??a=b'],
  ['http://example.com/?a=1&a=2&b&=c&&d=%F0%9F%98%80+x'],
  ['http://'],
  ['http:'],
  [''],
  ['/relative'],
  ['no scheme'],
  ['1http://x'],
  ['://x'],
  ['http://%zz/'],
  ['http://ex%41mple.com/'],
  ['http://example.com/\ud800\udc00\ud800x\udfff'],
  ['http://\ud800.com/'],
  ['non-special:/..//p'],
  ['non-special:opaque path ?q'],
  ['../x/y', 'http://example.com/a/b/c?d#e'],
  ['?q2', 'http://example.com/a/b/c?d#e'],
  ['#f2', 'http://example.com/a/b/c?d#e'],
  ['', 'http://example.com/a/b/c?d#e'],
  ['//other.org/z', 'https://example.com/a'],
  ['/abs', 'https://example.com/a/b'],
  ['\\abs', 'https://example.com/a/b'],
  ['http:rel', 'http://example.com/a/b'],
  ['https:rel', 'http://example.com/a/b'],
  ['x', 'mailto:a@b'],
  ['#x', 'mailto:a@b'],
  ['x', 'not a base'],
  ['file:///x', 'http://example.com/'],
  ['..', 'file:///C:/a/b'],
  ['/', 'file:///C:/a/b'],
];

for (const [input, base] of inputs) {
  const args = JSON.stringify(base === undefined ? [input] : [input, base]).slice(1, -1);
  test(`new URL(${args})`, async () => {
    await same(`const url = new URL(${args}); return ${everyPart};`);
    await same(`return URL.canParse(${args});`);
  });
}

const setters = [
  ['http://example.com/', 'protocol', 'https'],
  ['http://example.com:8080/', 'protocol', 'https:'],
  ['https://example.com:80/', 'protocol', 'http'],
  ['http://example.com/', 'protocol', 'mailto'],
  ['mailto:a@b', 'protocol', 'http'],
  ['http://example.com/', 'protocol', 'b!d'],
  ['http://example.com/', 'protocol', ''],
  ['http://example.com/', 'username', 'me@home:x'],
  ['http://me@example.com/', 'username', ''],
  ['http://example.com/', 'password', 'p:w/d'],
  ['http://me:pw@example.com/', 'password', ''],
  ['mailto:a@b', 'username', 'x'],
  ['file:///x', 'password', 'x'],
  ['http://example.com/', 'host', 'other.org:81'],
  ['http://example.com:81/', 'host', 'other.org'],
  ['http://example.com/', 'host', 'other.org:80'],
  ['http://example.com/', 'host', 'a b'],
  ['http://example.com/', 'host', ''],
  ['http://example.com/', 'host', 'x/y?z'],
  ['mailto:a@b', 'host', 'x'],
  ['http://example.com:81/', 'hostname', 'other.org'],
  ['http://example.com:81/', 'hostname', 'other.org:82'],
  ['http://example.com/', 'hostname', 'MÜNCHEN.de'],
  ['http://example.com/', 'hostname', '[::1]'],
  ['custom://host/', 'hostname', ''],
  ['http://example.com/', 'port', '8080'],
  ['http://example.com:8080/', 'port', ''],
  ['http://example.com:8080/', 'port', '80'],
  ['http://example.com/', 'port', '90x'],
  ['http://example.com:1/', 'port', '65536'],
  ['http://example.com:1/', 'port', 'x90'],
  ['file:///x', 'port', '90'],
  ['http://example.com/a', 'pathname', 'b c/../d'],
  ['http://example.com/a', 'pathname', ''],
  ['http://example.com/a', 'pathname', '/x?y#z'],
  ['http://example.com/a', 'pathname', '%2e%2E/é'],
  ['mailto:a@b', 'pathname', 'x'],
  ['http://example.com/?a', 'search', 'b=c d'],
  ['http://example.com/?a', 'search', '?b'],
  ['http://example.com/?a', 'search', ''],
  ['http://example.com/?a', 'search', '?'],
  ['http://example.com/', 'search', "a'b#c"],
  ['http://example.com/#a', 'hash', 'b c'],
  ['http://example.com/#a', 'hash', '#b'],
  ['http://example.com/#a', 'hash', ''],
  ['http://example.com/#a', 'hash', '#'],
  ['javascript:x', 'hash', 'y'],
  ['http://example.com/', 'hash', '\ud800'],
  ['http://example.com/', 'href', 'https://other.org/?x=y#z'],
  ['http://example.com/', 'href', 'nonsense'],
  ['http://example.com/', 'href', ''],
  ['http://example.com/', 'origin', 'http://x'],
];

for (const [href, part, value] of setters) {
  const code = `const url = new URL(${JSON.stringify(href)}); const params = url.searchParams;
    let thrown; try { url.${part} = ${JSON.stringify(value)}; } catch (error) { thrown = error; }
    return [thrown, params === url.searchParams].concat(${everyPart});`;
  test(`${JSON.stringify(href)}: ${part} = ${JSON.stringify(value)}`, () => same(code));
}

test('converts its arguments as Web IDL says', async () => {
  for (const code of [
    'new URL({ toString() { return "http://a/b"; } }).href',
    'new URL("b", { toString() { return "http://a/"; } }).href',
    'new URL(undefined, "http://a/").href',
    'new URL(null, "http://a/").href',
    'new URL("http://a/", undefined).href',
    'new URL("x", null)',
    'new URL(Symbol())',
    'new URL("x", Symbol())',
    'const url = new URL("http://a/"); url.hash = 5; url.pathname = null; return url.href;',
    'const url = new URL("http://a/"); url.hash = Symbol(); return url;',
    'const url = new URL("http://a/"); url.href = { toString() { throw new RangeError(); } }; return url;',
    'JSON.stringify({ u: new URL("http://a/?b#c") })',
    '`${new URL("http://a/?b#c")}`',
    'String(Object.prototype.toString.call(new URL("http://a/")))',
    'Object.keys(new URL("http://a/"))',
    'typeof URL.prototype.href',
    'Object.getOwnPropertyDescriptor(URL.prototype, "href").get.call({})',
    'URL("http://a/")',
    'class Sub extends URL { get x() { return this.host; } } return new Sub("http://h/").x;',
    'new URL("http://a").searchParams === new URL("http://a").searchParams',
    'const url = new URL("http://a"); "use strict"; return url.searchParams === url.searchParams;',
  ]) {
    await same(code);
  }
  await gives('new URL()', { thrown: { error: 'TypeError' } });
  await gives('URL.canParse()', { thrown: { error: 'TypeError' } });
});

test('says what was invalid', async () => {
  await gives('try { new URL("x y"); } catch (e) { return { ...e, message: e.message, proto: e instanceof TypeError }; }', {
    object: { code: 'ERR_INVALID_URL', input: 'x y', message: 'Invalid URL', proto: true },
  });
  await gives('try { new URL("x", "y"); } catch (e) { return { ...e }; }', {
    object: { code: 'ERR_INVALID_URL', input: 'x', base: 'y' },
  });
});

test('URL.parse', async () => {
  await gives('return URL.parse("nonsense");', null);
  await gives('return URL.parse("/x", "http://a/").href;', 'http://a/x');
  await gives('return URL.parse("http://a/") instanceof URL;', true);
});

test('url.searchParams and url.search follow each other', async () => {
  for (const code of [
    'url.searchParams.append("k", "v w"); return [url.href, url.search];',
    'url.searchParams.delete("a"); return [url.href, url.search];',
    'url.searchParams.delete("a"); url.searchParams.delete("b"); return [url.href, url.search];',
    'url.searchParams.set("a", "&=+%"); return [url.href, url.searchParams.get("a")];',
    'url.searchParams.sort(); return url.href;',
    'const p = url.searchParams; url.search = "?z=26"; return [p.get("z"), p.get("a"), [...p].length];',
    'const p = url.searchParams; url.search = ""; return [p.size, url.href];',
    'const p = url.searchParams; url.href = "http://other/?n=1"; return [p.toString(), p === url.searchParams];',
    'const p = url.searchParams; try { url.href = "bad"; } catch {} return p.toString();',
    'const p = url.searchParams; url.hash = "x"; url.pathname = "/y"; p.append("c", "3"); return url.href;',
    'const p = url.searchParams; url.search = "a=~%7E+"; return [url.href, p.get("a")];',
    'const p = url.searchParams; url.search = "a=~"; p.append("b", "~"); return url.href;',
    'const p = new URLSearchParams(url.searchParams); p.append("x", "y"); return url.href;',
    'const p = url.searchParams; p.append("\\ud800", "\\udfff"); return url.href;',
  ]) {
    await same(`const url = new URL("http://h/p?b=2&a=1#f"); ${code}`);
  }
});
