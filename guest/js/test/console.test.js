// The console: formatting against that of Node.js, levels, groups, and bounds on what one argument may cost.
//
// Invariant: no argument makes a console method throw, take long or write without end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import util from 'node:util';
import vm from 'node:vm';

import { createRealm } from './helpers.js';

/** What the console writes for the arguments that the expression `[...]` gives. */
function written(args, realm = createRealm()) {
  realm.logs.length = 0;
  realm.run(`console.log(...${args})`);
  assert.equal(realm.logs.length, 1);
  return realm.logs[0][1];
}

const realm = createRealm();

// Values for which Node.js, told to use one line, gives the same text.
const values = [
  'undefined', 'null', 'true', '1', '-0', 'NaN', '-Infinity', '1e21', '12n', 'Symbol("s")', 'Symbol()', 'Symbol.iterator',
  '{}', '{ a: 1, "b-c": 2, 3: 4, "d e": 5, "é": 6, "": 7 }', '{ [Symbol("k")]: 1 }', '{ __proto__: null }', '{ __proto__: null, a: 1 }',
  '[]', '[1, "two", [3]]', '[1, , 3]', '[, ,]', 'Object.assign([1], { extra: 2 })', 'new Array(5)', '[undefined, null]',
  '"a".match(/(?<x>a)/)', 'class A extends Array {} return A.of(1);',
  '["it\'s", \'say "x"\', "`\'\\"", "\\n\\t\\\\\\x00\\x1b\\x7f\\x9f", "\\ud800x", "😀", "\\udc00", "é"]',
  '{ s: "q\'uote" }', '{ f() {} }', '[function () {}, function named() {}, () => {}, async () => {}, function* g() {}, async function* h() {}]',
  'class C {} return [C, class extends C {}, class D extends C {}];', 'Object.assign(function f() {}, { a: 1 })',
  'class P { x = 1; #y = 2; get z() { return 3; } } return new P();', 'class E {} return new E();',
  'class T { get [Symbol.toStringTag]() { return "Tag"; } } return new T();', '{ [Symbol.toStringTag]: "Own" }',
  'Object.create({ constructor: undefined })', 'Object.create(class {}.prototype)', 'Object.create({})',
  'new Map([["a", { b: 1 }], [{}, 2]])', 'new Map()', 'new Set([1, "a", [2]])', 'new Set()', 'class M extends Map {} return new M([[1, 2]]);',
  'Object.assign(new Map([[1, 2]]), { x: 3 })', 'Object.assign(new Set(), { x: 3 })',
  'new Date(0)', 'new Date(NaN)', 'Object.assign(new Date(0), { x: 1 })', '/a\\/b/gi', 'Object.assign(/x/, { y: 1 })',
  'Uint8Array.of(1, 2)', 'new Float64Array([1.5, -0])', 'BigInt64Array.of(5n)', 'new Uint8Array()', 'class U extends Uint8Array {} return U.of(1);',
  'Uint8Array.of(1, 255).buffer', 'new ArrayBuffer(60)', 'Object(1)', 'Object("ab")', 'Object(true)', 'Object(5n)', 'Object(Symbol("x"))',
  'Object.assign(Object("ab"), { c: 1 })', 'new WeakSet().constructor',
  '{ get a() { throw 1; }, set a(v) {}, get b() { return 1; }, set c(v) {} }',
  '{ a: { b: { c: { d: { e: { f: 1 } } } } } }', '[[[[[[[1]]]]]]]', '{ a: { b: { c: { d: { e: new Map([[1, 2]]), g: () => {} } } } } }',
  'class Deep { x = 1; } return { a: { b: { c: { d: { e: new Deep() } } } } };',
  'Object.assign({ a: 1 }, { ["x".repeat(20)]: "y" })', '{ a: "x".repeat(10010) }', 'Array.from({ length: 5 }, (_, i) => "i".repeat(i))',
  'Object.defineProperty({ shown: 1 }, "hidden", { value: 2 })', 'new URLSearchParams("a=1&b=2")', 'new URLSearchParams()',
  'Buffer.from("hi")', 'Buffer.alloc(60)', '{ body: Buffer.from("x") }',
  '{ [Symbol.for("nodejs.util.inspect.custom")]: () => "custom text" }', '{ [Symbol.for("nodejs.util.inspect.custom")]: () => ({ other: 1 }) }',
  '{ [Symbol.for("nodejs.util.inspect.custom")]() { return this; } }', '[{ [Symbol.for("nodejs.util.inspect.custom")]: () => 5 }]',
  'JSON', 'Math', 'Reflect', '(function* () {})()', '[].values()',
  'new Proxy({ a: 1 }, {})', 'new Proxy([1], {})',
];

for (const value of values) {
  test(`shows ${value}`, () => {
    const make = `(() => { ${/\breturn\b(?!;? 1;|s| this| 3)/.test(value) ? value : `return (${value});`} })()`;
    const options = { depth: 4, breakLength: Infinity, compact: 10 };
    const expected = util.inspect(vm.runInThisContext(`[${make}]`)[0], options);
    assert.equal(written(`[${make}]`, realm), expected.replace(/\n\s*/g, ' '));
  });
}

test('shows what Node.js shows in another way', () => {
  for (const [value, text] of [
    ['(() => { const o = { n: 1 }; o.self = o; return o; })()', '{ n: 1, self: [Circular] }'],
    ['(() => { const a = []; a.push(a, new Map([[1, a]])); return a; })()', '[ [Circular], Map(1) { 1 => [Circular] } ]'],
    ['{ e: new RangeError("m") }', '{ e: [RangeError: m] }'],
    ['[new Error("")]', '[ [Error] ]'],
    ['[Object.assign(new Error("m"), { code: "E1" })]', "[ [Error: m] { code: 'E1' } ]"],
    ['[new Error("m", { cause: new TypeError("c") })]', '[ [Error: m] { [cause]: [TypeError: c] } ]'],
    ['[new AggregateError([new Error("a")], "m")]', '[ [AggregateError: m] { [errors]: [ [Error: a] ] } ]'],
    ['[new DOMException("m", "AbortError")]', '[ [AbortError: m] ]'],
    ['{ a: { b: { c: { d: { e: [] } } } } }', '{ a: { b: { c: { d: { e: [Array] } } } } }'],
    // Node.js hangs symbols of its own on promises while a test runs.
    ['[Promise.resolve(1)]', /^\[ Promise \{/],
    ['new WeakMap()', 'WeakMap {}'],
    ['new DataView(new ArrayBuffer(1))', 'DataView {}'],
    ['new URL("http://a/?b=c")', /^URL \{ href: 'http:\/\/a\/\?b=c', origin: 'http:\/\/a', .*searchParams: URLSearchParams \{ 'b' => 'c' \}, hash: '' \}$/],
    ['AbortSignal.abort()', 'AbortSignal { aborted: true }'],
    ['new AbortController()', 'AbortController { signal: AbortSignal { aborted: false } }'],
    ['new Array(1e9)', '[ <1000 empty items>, ... 999999000 more items ]'],
    ['Array.from({ length: 102 }, () => 0)', /^\[ (0, ){100}\.\.\. 2 more items \]$/],
    ['new Uint8Array(101)', /^Uint8Array\(101\) \[ (0, ){100}\.\.\. 1 more item \]$/],
    ['new Set(Array.from({ length: 102 }, (_, i) => i))', /^Set\(102\) \{ 0, .* 99, \.\.\. 2 more items \}$/],
    ['new Map(Array.from({ length: 102 }, (_, i) => [i, 1]))', /^Map\(102\) \{ 0 => 1, .* 99 => 1, \.\.\. 2 more items \}$/],
  ]) {
    const shown = written(`[${value}]`, realm);
    if (typeof text === 'string') assert.equal(shown, text);
    else assert.match(shown, text);
  }
});

test('shows an error with its title and its stack', () => {
  const shown = written('[(function thrower() { return new RangeError("m"); })()]', realm);
  assert.match(shown, /^RangeError: m\n\s+at thrower /);
  // Other engines do not begin the stack with the title.
  const other = written('[Object.defineProperty(new RangeError("m"), "stack", { value: "    at f (x.js:1)\\n" })]', realm);
  assert.equal(other, 'RangeError: m\n    at f (x.js:1)');
  const renamed = written('[Object.assign(new Error("m"), { name: "Own", code: 5, stack: "    at f\\n" })]', realm);
  assert.equal(renamed, 'Own: m\n    at f { code: 5 }');
});

test('formats like Node.js', () => {
  for (const args of [
    '[]', '["plain"]', '["a", "b"]', '["100%%"]', '["100%%", 1]', '["%", 1]', '["%s"]', '["a%sb", "x"]', '["%s %s", "x"]', '["%s", "x", "y", 5]',
    '["%d", "42"]', '["%d", -0]', '["%d", 5n]', '["%d", Symbol()]', '["%d", { valueOf: () => 7 }]', '["%d", "x"]', '["%i", 42.9]', '["%i", "0x1f"]',
    '["%i", 5n]', '["%i", Symbol()]', '["%f", "1.5x"]', '["%f", -0]', '["%f", Symbol()]', '["%f", 5n]', '["%j", { a: [1] }]', '["%j", undefined]',
    '["%j", () => {}]', '["%j", "s"]', '["%c styled", "color: red"]', '["%x %q", 1]', '["%%s", 1]', '["%s%%%s", 1, 2]', '["%s", null]',
    '["%s", undefined]', '["%s", -0]', '["%s", 5n]', '["%s", Symbol("s")]', '["%s", {}]', '["%s", [1, [2]]]', '["%s", { toString: () => "own" }]',
    '["%s", class A {}]', '["%s", function f() {}]', '["%s", Object.create(null)]', '["%s", new Date(0)]', '["%O", { a: { b: 1 } }]', '["%o", { a: 1 }]', '["%o", "s"]',
    '["%O", "s"]', '[1, "s", { a: "x" }]', '[{ a: 1 }, "%s", 2]', '["x", null, undefined, true]', '["%s\\n%s", 1, 2]', '["trailing %", 1]', '["%s", "%s", "x"]',
    '[(() => { const o = {}; o.o = o; return "%j"; })(), (() => { const o = {}; o.o = o; return o; })()]', '["%s", /re/g]', '["%s", new (class X { a = 1; })()]',
  ]) {
    const expected = util.format(...vm.runInThisContext(args));
    assert.equal(written(args, realm), expected, args);
  }
});

test('levels', () => {
  const { run, logs } = createRealm();
  run(`console.debug('d'); console.log('l'); console.info('i'); console.warn('w'); console.error('e');
    console.trace('t %d', 1); console.trace(); console.table([1]); console.dir('s', {}); console.dir({ a: 1 }); console.dirxml('x');`);
  assert.deepEqual(logs, [
    [0, 'd'], [1, 'l'], [2, 'i'], [3, 'w'], [4, 'e'],
    [1, 'Trace: t 1'], [1, 'Trace'], [1, '[ 1 ]'], [1, "'s'"], [1, '{ a: 1 }'], [1, 'x'],
  ]);
});

test('methods work without their object', () => {
  const { run, logs } = createRealm();
  run('const { log, group, groupEnd } = console; group(); log("in"); groupEnd(); [1, 2].forEach(log);');
  assert.deepEqual(logs, [[1, '  in'], [1, '1 0 [ 1, 2 ]'], [1, '2 1 [ 1, 2 ]']]);
});

test('groups', () => {
  const { run, logs } = createRealm();
  run(`console.group('one %s', 1); console.log('a\\nb'); console.groupCollapsed('two'); console.error('c');
    console.groupEnd(); console.log('d'); console.groupEnd(); console.groupEnd(); console.log('e');`);
  assert.deepEqual(logs, [[1, 'one 1'], [1, '  a\n  b'], [1, '  two'], [4, '    c'], [1, '  d'], [1, 'e']]);
});

test('count, assert and time', () => {
  const { run, logs } = createRealm({ before: 'globalThis.now = 1000; Date.now = () => now;' });
  run(`console.count(); console.count('x'); console.count(); console.countReset(); console.count(); console.countReset('none');
    console.assert(true, 'no'); console.assert(false); console.assert(0, 'value %d', 5); console.assert('', { a: 1 });
    console.time(); now += 5; console.timeLog(undefined, 'so far', { a: 1 }); console.time(); now += 1500; console.timeEnd(); console.timeEnd();`);
  assert.deepEqual(logs, [
    [1, 'default: 1'], [1, 'x: 1'], [1, 'default: 2'], [1, 'default: 1'], [3, "Warning: Count for 'none' does not exist"],
    [4, 'Assertion failed'], [4, 'Assertion failed: value 5'], [4, 'Assertion failed { a: 1 }'],
    [1, 'default: 5ms so far { a: 1 }'], [3, "Warning: Label 'default' already exists for console.time"], [1, 'default: 1.505s'],
    [3, "Warning: No such label 'default' for console.time"],
  ]);
});

test('text handed to the host is well formed', () => {
  assert.equal(written('["\\ud800 %s", "\\udc00"]', realm), '\ufffd \ufffd');
});

test('values that resist', () => {
  for (const [value, text] of [
    ['{ get [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("no"); } }', '[uninspectable: Error: no]'],
    ['{ [Symbol.for("nodejs.util.inspect.custom")]() { throw 5; } }', '[uninspectable: threw number]'],
    ['new Proxy({}, { ownKeys() { throw new TypeError("trap"); } })', '[uninspectable: TypeError: trap]'],
    ['Object.defineProperty(new Error("m"), "message", { get() { throw new Error("inner"); } })', '[uninspectable: Error: inner]'],
    ['(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()', /^\[uninspectable: TypeError: /],
    ['{ [Symbol.for("nodejs.util.inspect.custom")]() { return { __proto__: this }; } }', '[...]'],
    ['(() => { const endless = { getPrototypeOf: () => new Proxy({}, endless) }; return new Proxy({}, endless); })()',
      '[Object: null prototype] {}'],
  ]) {
    const shown = written(`[${value}, 'after']`, realm);
    assert.ok(shown.endsWith(' after'), shown);
    if (typeof text === 'string') assert.equal(shown, `${text} after`);
    else assert.match(shown.slice(0, -6), text);
  }
  assert.equal(written('["%s|%d|%j", { toString() { throw new Error("s"); } }, { valueOf() { throw new Error("d"); } }, { toJSON() { throw new Error("j"); } }]', realm),
    '[uninspectable: Error: s]|[uninspectable: Error: d]|[uninspectable: Error: j]');
});

test('huge values are cut, and soon', () => {
  const limit = 64 * 1024;
  for (const value of [
    '"x".repeat(5e6)', '["x".repeat(5e6)]', 'Array.from({ length: 1e6 }, (_, i) => i)', 'new Uint8Array(2e7)', 'new ArrayBuffer(2e7)', 'Buffer.alloc(2e7)',
    'new Array(2 ** 32 - 1)', 'Object.fromEntries(Array.from({ length: 2e5 }, (_, i) => ["key" + i, i]))',
    'new Map(Array.from({ length: 2e5 }, (_, i) => [i, {}]))', 'Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => "long text ".repeat(10)))',
    '(() => { let a = ["leaf"]; for (let i = 0; i < 5; i++) a = Array(100).fill(a); return a; })()',
    '(() => { let o = {}; for (let i = 0; i < 5; i++) { const p = {}; for (let k = 0; k < 100; k++) p["k" + k] = o; o = p; } return o; })()',
    '(() => { const m = new Map(Array.from({ length: 1e5 }, (_, i) => [i, i])); return Array(100).fill(Array(100).fill(m)); })()',
    '(() => { const h = {}; for (let i = 0; i < 1e4; i++) Object.defineProperty(h, "h" + i, { value: i }); return Array(100).fill(Array(100).fill(h)); })()',
    '(() => { let d = {}; for (let i = 0; i < 1e5; i++) d = { d }; return d; })()', 'Object("x".repeat(5e6))', 'Symbol("x".repeat(5e6))',
    'Object.assign(new Error("x".repeat(5e6)), { stack: "y".repeat(5e6) })', 'Object.assign(() => {}, { big: new Array(1e6).fill("x") })',
    '{ [Symbol.for("nodejs.util.inspect.custom")]: () => "x".repeat(5e6) }', '{ ["k".repeat(5e6)]: 1 }', '1n << 100000n',
    'Array.from({ length: 100 }, () => ({ get a() { return 1; }, set b(v) {} }))',
  ]) {
    const started = performance.now();
    const shown = written(`[${value}]`, realm);
    assert.ok(shown.length <= limit + 40, `${value}: ${shown.length} units`);
    assert.ok(performance.now() - started < 2000, `${value}: ${performance.now() - started} ms`);
  }
  for (const template of ['%s', '%j', '%o', '%O']) {
    assert.ok(written(`["${template}", "x".repeat(5e6)]`, realm).length <= limit + 40);
  }
});

test('what the host throws when its cap is reached is not caught', () => {
  const { run } = createRealm({
    log: () => {
      throw new Error('console cap reached');
    },
  });
  for (const call of ['log("x")', 'error(new Error("y"))', 'count()', 'assert(false)', 'group("g")', 'timeEnd()', 'table([])']) {
    assert.throws(() => run(`console.${call}`), { message: 'console cap reached' });
  }
});

test('what the toString of a label throws goes to the caller', () => {
  const { run, logs } = createRealm();
  for (const method of ['count', 'countReset', 'time', 'timeLog', 'timeEnd']) {
    const thrown = (label) => run(`(() => { try { console.${method}(${label}); } catch (error) { return String(error); } })()`);
    assert.equal(thrown('{ toString() { throw new RangeError("label"); } }'), 'RangeError: label', method);
    assert.match(thrown('Symbol("s")'), /^TypeError/, method);
  }
  assert.deepEqual(logs, []);
  run('console.count({ toString: () => "own" }); console.count(undefined); console.count(null); console.count()');
  assert.deepEqual(logs.map(([, text]) => text), ['own: 1', 'default: 1', 'null: 1', 'default: 2']);
});

test('the prototype of the console is an empty object', () => {
  const { run } = createRealm();
  assert.equal(run('Reflect.ownKeys(Object.getPrototypeOf(console)).length'), 0);
  assert.equal(run('Object.getPrototypeOf(Object.getPrototypeOf(console)) === Object.prototype'), true);
});
