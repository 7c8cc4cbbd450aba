// structuredClone against the one of Node.js.
//
// Invariant: a clone is made of the realm's own classes, and what cannot be cloned throws a DataCloneError.

import { test } from 'node:test';

import { gives, same } from './helpers.js';

const values = [
  'undefined', 'null', 'true', '-0', 'NaN', '"text \\ud800"', '12345678901234567890n',
  'Object(1)', 'Object("s")', 'Object(false)', 'Object(5n)',
  'new Date(5)', 'new Date(NaN)', '/a(b)?/giy', 'const r = /x/g; r.lastIndex = 3; return r;',
  '[1, [2, [3]]]', 'const a = [1, , 3]; a.extra = "e"; return [a, a.extra];', 'new Array(3)',
  '({ a: { b: { c: 1 } }, [Symbol()]: 1 })', '({ get a() { return 5; } })', 'Object.create({ inherited: 1 })',
  'Object.create(null, { own: { value: 1, enumerable: true }, hidden: { value: 2 } })',
  'class C { x = 1; #y = 2; m() {} } return new C();',
  'new Map([[{ k: 1 }, new Set([1, "2"])], ["m", new Map()]])', 'new Set([[1], new Date(0)])',
  'new Error("e")', 'new RangeError("r", { cause: { c: 1 } })', 'const e = new TypeError("t"); e.extra = 1; return e;',
  'class MyError extends Error { name = "MyError"; } return new MyError("m");',
  'Uint8Array.of(1, 2, 3)', 'new Uint8Array(8).subarray(2, 5)', 'Uint8Array.of(1, 2).buffer', 'Float64Array.of(1.5, NaN)',
  'BigInt64Array.of(-1n)', 'new Uint8ClampedArray([300])', 'new DataView(Uint8Array.of(1, 2, 3, 4).buffer, 1, 2)',
  'Int16Array.of(-5)', 'Uint16Array.of(5)', 'Int32Array.of(-5)', 'Uint32Array.of(5)', 'Float32Array.of(0.5)', 'Int8Array.of(-1)',
  'BigUint64Array.of(1n)',
  'const o = { n: 1 }; o.self = o; o.list = [o, { o }]; return o;',
  'const m = new Map(); m.set(m, m); return m;', 'const s = new Set(); s.add(s); return s;',
  'const shared = { x: 1 }; return [shared, shared];', 'const b = new ArrayBuffer(4); return [new Uint8Array(b), new Uint16Array(b), b];',
];

for (const value of values) {
  test(`structuredClone: ${value}`, () => {
    const make = /\breturn\b/.test(value) ? value : `return ${value};`;
    return same(`return structuredClone((() => { ${make} })());`);
  });
}

test('what cannot be cloned throws a DataCloneError', async () => {
  for (const value of [
    '() => {}', 'class A {}', 'Symbol()', 'Symbol.iterator', '({ f() {} })', '[Symbol()]', 'new Map([[1, () => {}]])',
    'new Set([Symbol()])', 'new WeakMap()', 'new WeakSet()', 'new WeakRef({})', 'Promise.resolve()', 'Object(Symbol())',
    '(function* () {})()', 'new Error("x", { cause: () => {} })',
  ]) {
    await same(`return structuredClone(${value});`);
  }
  for (const value of ['new URL("http://a/")', 'new AbortController().signal', 'new TextDecoder()']) {
    await gives(`return structuredClone(${value});`, { thrown: { error: 'DataCloneError', code: 25 } });
  }
});

test('clones are new, of the right classes, and keep identities', async () => {
  for (const code of [
    'const o = { a: [] }; const c = structuredClone(o); return c !== o && c.a !== o.a;',
    'const b = new ArrayBuffer(4); const c = structuredClone([new Uint8Array(b), b]); return c[0].buffer === c[1];',
    'const c = structuredClone(new Map([[1, 2]])); return [c instanceof Map, c.constructor === Map, c.size];',
    'const c = structuredClone(new Set([1])); return [c instanceof Set, c.constructor === Set];',
    'const c = structuredClone(new RangeError("m")); return [c instanceof RangeError, c.message, Object.keys(c)];',
    'const c = structuredClone(Buffer.from("abc")); return [c instanceof Uint8Array, Buffer.isBuffer(c)];',
    'const k = { k: 1 }; const c = structuredClone([k, new Map([[k, 1]])]); return c[1].has(c[0]);',
    'structuredClone();',
    'return structuredClone(1, null);',
    'return structuredClone(1, 5);',
    'return structuredClone({ a: 1 }, {});',
    'return structuredClone({ a: 1 }, { transfer: [] });',
    'let n = 0; const c = structuredClone({ get a() { n++; return { n }; } }); return [c, n];',
    'structuredClone({ get a() { throw new RangeError(); } });',
    'let o = {}; for (let i = 0; i < 200; i++) o = { o }; let d = 0; for (let c = structuredClone(o); c.o; c = c.o) d++; return d;',
  ]) {
    await same(code.includes('return') ? code : `${code} return 0;`);
  }
  await gives('return structuredClone(1, { transfer: [{}] });', { thrown: { error: 'DataCloneError', code: 25 } });
  await gives('const e = new Error("x"); e.cause = e; const c = structuredClone(e); return c.cause === c;', true);
  await gives('try { structuredClone(() => {}); } catch (e) { return [e instanceof DOMException, e instanceof Error]; }', [true, true]);
});
