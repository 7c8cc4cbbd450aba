// Tool code that replaces built-ins: the prelude must go on working, for it took what it needs before.
//
// Invariant: after every method of the built-in prototypes has been replaced by one that throws, the console, the URL
// classes, the text classes and the abort classes give the results they gave before.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRealm } from './helpers.js';

// The engine has a DOMException of its own; the substitute cannot stand a frozen Error.prototype.
const nativeDOMException = `globalThis.DOMException = class DOMException extends Error {
  #name;
  constructor(message, name) { super(message); this.#name = name; }
  get name() { return this.#name; }
};`;

// Replaces every replaceable function of the built-ins, also those behind symbols and getters. What the checks below
// need themselves is taken before.
const poison = `((global) => {
  const { ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;
  const names = ['String', 'Number', 'Array', 'Object', 'Map', 'Set', 'TypeError', 'RangeError', 'Error', 'Uint8Array', 'Date',
    'Reflect', 'JSON', 'Symbol', 'ArrayBuffer', 'parseInt', 'isNaN', 'DOMException', 'Event', 'EventTarget', 'TextEncoder', 'Promise'];
  const PlainError = Error;
  const poisoned = function poisoned() { throw new PlainError('poisoned built-in called'); };
  // The tests themselves wait for promises.
  const spare = new Set([Promise, Promise.prototype]);
  const iterators = [[].values(), new Map().values(), new Set().values(), ''[Symbol.iterator](), (function* () {})()];
  const targets = new Set([
    ...['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef',
      'Date', 'RegExp', 'Error', 'TypeError', 'RangeError', 'ArrayBuffer', 'DataView', 'Uint8Array', 'Promise']
      .flatMap((name) => [global[name], global[name].prototype]),
    getPrototypeOf(Uint8Array), getPrototypeOf(Uint8Array.prototype), ...iterators.map(getPrototypeOf), getPrototypeOf(getPrototypeOf([].values())),
    Math, JSON, Reflect,
  ]);
  const has = Set.prototype.has.bind(spare);
  const list = [...targets];
  for (let t = 0; t < list.length; t++) {
    const keys = ownKeys(list[t]);
    for (let k = 0; k < keys.length; k++) {
      const d = getOwnPropertyDescriptor(list[t], keys[k]);
      if (!d.configurable || keys[k] === 'constructor' || keys[k] === 'prototype' || has(list[t])) continue;
      if (typeof d.value === 'function') defineProperty(list[t], keys[k], { __proto__: null, value: poisoned });
      else if (d.get) defineProperty(list[t], keys[k], { __proto__: null, get: poisoned });
    }
  }
  for (let t = 0; t < names.length; t++) global[names[t]] = poisoned;
})(this)`;

/** Runs the expressions before and after the poisoning, in two realms, and compares the primitives they give. */
function unimpressed(expressions) {
  const clean = createRealm();
  const poisoned = createRealm();
  poisoned.run(poison);
  for (const expression of expressions) {
    const expected = clean.run(`(() => { ${expression} })()`);
    assert.ok(Object(expected) !== expected, 'the tests compare primitives');
    assert.equal(poisoned.run(`(() => { ${expression} })()`), expected, expression);
  }
}

test('the console', () => {
  const { run, logs } = createRealm();
  run(`var values = [
    ['%s %d %i %f %O %%', 'text', 1.5, '7', '2.5', { a: 1 }],
    [[1, 'two', { three: [3] }], new Map([[1, { x: 'y' }]]), new Set(['z'])],
    [new Date(0), /re/, 5n, Symbol('s'), -0, null, undefined, true],
    [Uint8Array.of(1, 2), new ArrayBuffer(2), () => {}, class A {}, Object(1)],
    ["it's\\n", { 'not plain': "x'\\"" }, new URLSearchParams('a=b'), new AbortController().signal],
    [(() => { const e = new RangeError('m'); e.stack = '    at f'; return e; })()],
  ]; var { group, groupEnd } = console; var { apply } = Reflect;`);
  const all = `for (let i = 0; i < values.length; i++) apply(console.log, undefined, values[i]);
    group('g'); console.warn('a\\nb'); console.count('c'); console.time('t'); console.assert(false, 'x'); groupEnd();`;
  run(all);
  const before = logs.splice(0);
  assert.equal(before.length, 10);
  run(poison);
  run(`console.countReset('c'); console.timeEnd('t');`);
  logs.splice(0);
  run(all);
  assert.deepEqual(logs, before);
});

test('URL and URLSearchParams', () => {
  unimpressed([
    'return new URL("../x?y=1#z", "http://u:p@h:81/a/b/").href;',
    'const u = new URL("http://h/"); u.pathname = "/p"; u.search = "q=1"; u.port = 81; return u.href;',
    'const u = new URL("http://h/?b=2&a=1"); u.searchParams.append("c", 3); u.searchParams.sort(); u.searchParams.delete("b"); return u.href;',
    'try { new URL("bad"); } catch (e) { return `${e.name} ${e.message} ${e.code} ${e.input}`; }',
    'return `${new URLSearchParams({ a: 1, b: "x y" })}`;',
    'return `${new URLSearchParams(new URLSearchParams("a=1&b=2"))}`;',
    'const p = new URLSearchParams("a=1&a=2&b=3"); p.set("a", "9"); return `${p} ${p.get("a")} ${p.has("b", "3")} ${p.size} ${p.getAll("a").length}`;',
    'let s = ""; new URLSearchParams("a=1&b=2").forEach((v, k) => { s += k + v; }); return s;',
    'const i = new URLSearchParams("a=1").entries(); return i.next().value[1] + i.next().done;',
    'return URL.canParse("http://a") && !URL.canParse("x") && URL.parse("x") === null;',
  ]);
});

test('TextEncoder and TextDecoder', () => {
  unimpressed([
    'const b = new URLSearchParams && Buffer; return typeof b;',
    'return new TextDecoder().decode() + new TextDecoder("latin1").encoding;',
    'try { new TextDecoder("nope"); } catch (e) { return e.name; }',
  ]);
  const { run } = createRealm();
  run(`var bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0xe2, 0x98, 0x83, 0xff, 0x41); var wide = Uint8Array.of(0x3d, 0xd8, 0, 0xde, 0x41);
    var room = new Uint8Array(4); var encoder = new TextEncoder();
    var first = bytes.subarray(0, 5); var rest = bytes.subarray(5);`);
  run(poison);
  assert.equal(run('new TextDecoder().decode(bytes)'), '☃\ufffdA');
  assert.equal(run('new TextDecoder("utf-16le").decode(wide)'), '😀\ufffd');
  assert.equal(run('new TextDecoder("latin1").decode(bytes)'), 'ï»¿â˜ƒÿA');
  assert.equal(run('const d = new TextDecoder(); d.decode(first, { stream: true }) + d.decode(rest)'), '☃\ufffdA');
  assert.equal(run('try { new TextDecoder("utf-8", { fatal: true }).decode(bytes) } catch (e) { e.name }'), 'TypeError');
  assert.equal(run('const r = encoder.encodeInto("a☃b", room); r.read * 10 + r.written'), 24);
  assert.equal(run('encoder.encode("é")[1]'), 0xa9);
});

test('Buffer', () => {
  unimpressed([
    'return Buffer.from("héllo").toString("base64") + Buffer.from("aGk", "base64url").toString("latin1") + Buffer.from("6869", "hex").toString("ucs2");',
    'const b = Buffer.alloc(16, "ab"); b.writeUInt32BE(7, 1); b.writeDoubleLE(1.5, 8); b.writeBigInt64LE(5n, 0); return b.toString("hex") + b.readIntLE(3, 6);',
    'try { Buffer.alloc(1).readUInt32LE(0); } catch (e) { return e.name + e.code + e.message; }',
    'try { Buffer.alloc(1).readInt8("x"); } catch (e) { return e.name + e.code + e.message; }',
    'const b = Buffer.from("xabcabc"); return b.indexOf("abc", 2) + b.lastIndexOf(Buffer.from("abc")) + b.includes(99) + b.subarray(1, 3).toString();',
    'return Buffer.concat([Buffer.from("a"), Buffer.from("€")]).equals(Buffer.from("a€")) + Buffer.compare(Buffer.from("a"), Buffer.from("b"));',
    'const b = Buffer.from("abcd"); b.swap16(); b.copy(b, 1, 0, 2); b.fill("z", 3); return b.toString() + b.toJSON().data.length + Buffer.isUtf8(b);',
    'return Buffer.transcode(Buffer.from("é€"), "utf8", "latin1").toString("hex") + Buffer.byteLength("é€") + Buffer.isEncoding("UTF-8");',
  ]);
});

test('AbortController and AbortSignal', () => {
  const { run } = createRealm({ before: nativeDOMException });
  run('var a = new AbortController(); var any = AbortSignal.any([a.signal]); var none = new AbortController();');
  run(poison);
  run(`EventTarget.prototype; Object.getPrototypeOf; try { a.abort('why'); } catch {}`);
  assert.equal(run('a.signal.aborted + a.signal.reason + any.aborted + any.reason'), 'truewhytruewhy');
  run('try { none.abort(); } catch {}');
  assert.equal(run('none.signal.aborted && none.signal.reason.name'), 'AbortError');
});

test('capabilities', async () => {
  const answers = {
    timer: {},
    fetch: { json: { status: 200, statusText: '', url: 'http://h/', redirected: false, headers: ['b', '2', 'a', '1'], done: false }, bytes: [123] },
    'fetch.read': { json: { done: true }, bytes: [125] },
    'kv.get': { json: { value: [1], version: 1 } },
    'kv.list': { json: { keys: ['k'], more: false } },
    'kv.commit': { json: { committed: true } },
    'files.read': { bytes: [104, 105] },
    'files.write': {},
    'files.list': { json: [{ name: 'n', kind: 'file' }] },
    'tools.call': { json: 7 },
  };
  const { run, operations } = createRealm({
    before: nativeDOMException,
    grants: ['timers', 'net', 'kv', 'files', 'secrets', 'tools'],
    secrets: ['A'],
    host: (kind) => answers[kind],
  });
  const settled = async () => {
    for (let i = 0; i < 10; i++) await new Promise(setImmediate);
  };
  run(`var results = { __proto__: null }; var bytes = Uint8Array.of(1, 2); var controller = new AbortController();
    var params = new URLSearchParams('q=1'); var toJSON = () => 'poisoned'; var timeout = AbortSignal.timeout(3);
    var note = (name, promise) => promise.then((value) => { results[name] = value; }, (error) => { results[name] = 'failed: ' + error.message; });`);
  run(poison);
  run(`Object.prototype.then; Object.prototype.value = 'inherited'; Object.prototype.toJSON = toJSON; Array.prototype.toJSON = toJSON;`);
  run(`
    note('fetch', fetch('http://h/', { method: 'POST', body: params, signal: controller.signal, headers: { c: 'd' } })
      .then((r) => { results.header = r.headers.get('a'); results.copy = r.clone(); return r.text(); }));
    note('pull', new Response(new ReadableStream({ n: 0, pull(c) { if (this.n++ < 2) c.enqueue(bytes); else c.close(); } })).bytes().then((b) => b[3]));
    note('get', kv.get('k').then((v) => v[0]));
    note('set', kv.set('k', 1));
    note('commit', kv.commit({ check: [{ key: 'k', version: 1 }], delete: ['x'] }));
    note('list', kv.list({ prefix: 'k' }).then((l) => l.keys[0]));
    note('update', kv.update('k', (v) => v[0] + 1));
    note('text', files.readText('d/x'));
    note('write', files.write('d/x', bytes));
    note('files', files.list('d').then((l) => l[0].name));
    note('call', tools.call('t'));
    note('sleep', sleep(1, { signal: controller.signal }));
    note('timer', new (sleep(1).constructor)((done) => setTimeout(done, 1, 'fired')));
    results.secret = secret('A');`);
  await settled();
  run(`note('copy', results.copy.json().then((o) => typeof o));`);
  await settled();
  for (const [name, expected] of Object.entries({
    header: '1', fetch: '{}', copy: 'object', pull: 2, get: 1, set: undefined, commit: true, list: 'k', update: 2, text: 'hi', write: undefined, files: 'n', call: 7,
    sleep: undefined, timer: 'fired', secret: '{{secret:A}}',
  })) {
    assert.equal(run(`results.${name}`), expected, name);
    assert.ok(run(`'${name}' in results`), name);
  }
  assert.equal(run('timeout.aborted'), true);
  const sent = (kind) => operations.started.find((operation) => operation.kind === kind);
  assert.deepEqual(sent('kv.commit').payload, { checks: [], writes: [{ key: 'k', value: 1 }] });
  assert.deepEqual(sent('files.write').bytes, [1, 2]);
  assert.deepEqual(sent('fetch').payload.url, 'http://h/');
});

test('private state is out of reach', () => {
  const { run } = createRealm();
  for (const value of ['new URL("a:b")', 'new URLSearchParams("a")', 'new TextDecoder()', 'new AbortController()', 'new TextEncoder()', 'new URLSearchParams("a").keys()']) {
    assert.equal(run(`Reflect.ownKeys(${value}).length`), 0, value);
  }
  // Nothing on the way from a public object leads to a constructor for the internal iterator.
  assert.equal(run('["Iterator", "Object"].includes(new URLSearchParams("a").keys().constructor.name)'), true);
  assert.equal(run('typeof __toolcell_native'), 'undefined');
});

test('frozen built-ins do not break the prelude', () => {
  const { run, logs } = createRealm({ before: nativeDOMException });
  run(`for (const name of Reflect.ownKeys(this)) {
    const value = this[name];
    if (typeof value === 'function') { Object.freeze(value); if (value.prototype) Object.freeze(value.prototype); }
  }`);
  run(`console.log('%o', { a: [1, new Error('e', { cause: 1 })] }, new Map([[1, 2]]));
    const u = new URL('http://h/?a=1'); u.searchParams.append('b', '2'); console.log(u.href);
    try { new URL('bad') } catch (e) { console.log(e.code) }
    const c = new AbortController(); c.signal.onabort = () => console.log('aborted'); c.abort();
    console.log(structuredClone(new Map([[1, new RangeError('r')]])).size, Buffer.from('é').toString('base64url'), Buffer.from('aGk', 'base64url').toString());
    try { Buffer.alloc(1).readUInt32LE(0) } catch (e) { console.log(e.name) }
    try { structuredClone(() => {}) } catch (e) { console.log(e.name) }
    console.log(new TextDecoder().decode(new TextEncoder().encode('☃')), atob(btoa('x')));`);
  assert.deepEqual(logs.map(([, text]) => text), [
    '{ a: [ 1, [Error: e] { [cause]: 1 } ] } Map(1) { 1 => 2 }', 'http://h/?a=1&b=2', 'ERR_INVALID_URL', 'aborted', '1 w6k hi', 'RangeError', 'DataCloneError', '☃ x',
  ]);
});
