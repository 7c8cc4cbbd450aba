// URLSearchParams against the one of Node.js.
//
// Invariant: every case runs in both; only where Node.js departs from the standard is the expected result written down.

import { test } from 'node:test';

import { gives, same } from './helpers.js';

const constructions = [
  '', '"a=b"', '"?a=b"', '"??a=b"', '"a=b&c=d&a=e"', '"&a&=&&b=c=d"', '"a+b=%20c%2B%zz%"', '"%EF%BB%BFtest=%EF%BB%BF"',
  '"%c3%28=%f0%9f%98%80"', '"\\ud800=\\udfff"', '"\\ufefftest=x"', 'undefined', '5', 'true',
  '[]', '[["a", "b"], ["c", "d"]]', '[["a", 1], [null, undefined]]', 'new Map([["a", "b"]])', 'new Set([["a", "b"]])',
  '[["a"]]', '[["a", "b", "c"]]', '["ab"]', '[5]', '[null]', '[new Set(["x", "y"])]',
  '{}', '{ a: "b", c: 5 }', '{ "": "", " ": "+" }', '{ [Symbol()]: 1 }', '{ a: Symbol() }',
  'Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })',
  '{ "\\ud835x": "1", "xx": "2", "\\ud83dx": "3" }',
  '{ [Symbol.iterator]: 5 }', '{ [Symbol.iterator]: undefined, a: 1 }', '{ *[Symbol.iterator]() { yield ["k", "v"]; } }',
  'new URLSearchParams("a=b&c=d")', 'Symbol()', 'function* () {}', 'new String("a=b")',
];

for (const init of constructions) {
  test(`new URLSearchParams(${init})`, () =>
    same(`const p = new URLSearchParams(${init}); return [[...p], p.toString(), p.size];`));
}

test('null is the text "null", as the standard says', () => gives('new URLSearchParams(null).toString()', 'null='));

test('methods', async () => {
  for (const code of [
    'p.append("d", "4"); return p.toString();',
    'p.append("d"); return p.toString();',
    'p.append(); return p.toString();',
    'p.append(Symbol(), "x");',
    'p.append("\\ud83d", "\\ude00"); return p.toString();',
    'p.delete("a"); return p.toString();',
    'p.delete("a", "3"); return p.toString();',
    'p.delete("a", "x"); return p.toString();',
    'p.delete("a", undefined); return p.toString();',
    'p.delete("none"); return p.toString();',
    'p.delete();',
    'return [p.get("a"), p.get("none"), p.get("")];',
    'return p.get();',
    'return [p.getAll("a"), p.getAll("none")];',
    'return [p.has("a"), p.has("none"), p.has("a", "3"), p.has("a", "4"), p.has("a", undefined)];',
    'return p.has();',
    'p.set("a", "9"); return p.toString();',
    'p.set("b", "9"); return p.toString();',
    'p.set("new", "9"); return p.toString();',
    'p.set("x");',
    'return p.size;',
    'p.sort(); return p.toString();',
    'return [...p.keys()];',
    'return [...p.values()];',
    'return [...p.entries()];',
    'return p[Symbol.iterator] === p.entries;',
    'return Object.fromEntries(p);',
    'const seen = []; p.forEach(function (v, k, o) { seen.push([v, k, o === p, this.t]); }, { t: 7 }); return seen;',
    'const seen = []; p.forEach((v, k) => { seen.push(k); if (k === "b") p.append("z", "0"); }); return seen;',
    'const seen = []; for (const [k] of p) { seen.push(k); p.delete(k); } return [seen, p.toString()];',
    'p.forEach();',
    'p.forEach({});',
    'const i = p.keys(); return [i.next(), Object.keys(i), i[Symbol.iterator]() === i, String(i)];',
    'const i = p.keys(); [...i]; p.append("later", "1"); return [i.next(), i.next()];',
    'return Object.getPrototypeOf(Object.getPrototypeOf(p.keys())) === Object.getPrototypeOf(Object.getPrototypeOf([].values()));',
    'p.keys().next.call({});',
    'URLSearchParams.prototype.get.call({}, "a");',
    'URLSearchParams.prototype.toString.call({});',
    'URLSearchParams("a");',
    'return new p.constructor("q=1").get("q");',
    'return Object.keys(p);',
    'return `${p}`;',
  ]) {
    await same(`const p = new URLSearchParams("a=1&b=2&a=3&c=%26"); ${code} return "done";`);
  }
});

test('sorts by UTF-16 units and stably', async () => {
  for (const input of [
    'z=b&a=b&z=a&a=a',
    '%EF%BF%BD=x&%EF%BF%BC&%EF%BF%BD=a',
    '%EF%AC%83&%F0%9F%8C%88',
    '%C3%A9&e%EF%BF%BD&e%CC%81',
    'z=z&a=a&%F0%9F%8C%88=1&%EF%AC%83=2&a=b',
    'b=1&B=2&ab=3&a=4&=5',
    Array.from({ length: 200 }, (_, i) => `k${i % 7}=${i}`).join('&'),
  ]) {
    await same(`const p = new URLSearchParams(${JSON.stringify(input)}); p.sort(); return [...p];`);
  }
});

test('serializes every byte', () =>
  same(`const p = new URLSearchParams(); for (let i = 0; i < 256; i++) p.append(String.fromCharCode(i), i);
    return [p.toString(), [...new URLSearchParams(p.toString())]];`));

test('an iterator that was put on the argument is honoured', async () => {
  for (const code of [
    'const p = new URLSearchParams("a=1"); p[Symbol.iterator] = function* () { yield ["b", "2"]; }; return String(new URLSearchParams(p));',
    'const p = new URLSearchParams("a=1"); p[Symbol.iterator] = null; return String(new URLSearchParams(p));',
    'const p = new URLSearchParams("a=1"); p[Symbol.iterator] = 5; return new URLSearchParams(p);',
    'class P extends URLSearchParams { *[Symbol.iterator]() { yield ["c", "3"]; } } return String(new URLSearchParams(new P("a=1")));',
    'return String(new URLSearchParams(new URLSearchParams("a=1&b=2")));',
    'const o = { x: 1 }; o[Symbol.iterator] = function* () { yield ["d", "4"]; }; return String(new URLSearchParams(o));',
  ]) {
    await same(code);
  }
});
