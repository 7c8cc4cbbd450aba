// What the grants make exist: the names, what each asks the host for, and what it makes of the answers.
//
// Invariant: without its grant a name is not there; what is wrong in a call is refused before the host hears of it; an
// answer of the wrong shape is a TypeError, never more.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRealm, gives } from './helpers.js';

const NAMES = {
  timers: ['clearInterval', 'clearTimeout', 'setInterval', 'setTimeout', 'sleep'],
  net: ['Headers', 'ReadableStream', 'ReadableStreamDefaultController', 'ReadableStreamDefaultReader', 'Request', 'Response', 'fetch'],
  kv: ['kv'],
  files: ['files'],
  secrets: ['secret'],
  tools: ['tools'],
  servers: ['servers'],
};

test('a grant makes its names exist, and no others', () => {
  const bare = createRealm().added;
  for (const [grant, names] of Object.entries(NAMES)) {
    const { added, run } = createRealm({ grants: [grant] });
    assert.deepEqual(added.filter((name) => !bare.includes(name)), names, grant);
    for (const name of names) {
      const { enumerable, writable, configurable } = run(`Object.getOwnPropertyDescriptor(this, '${name}')`);
      assert.deepEqual({ enumerable, writable, configurable }, { enumerable: false, writable: true, configurable: true });
      if (run(`typeof ${name}`) === 'function') assert.equal(run(`${name}.name`), name);
    }
  }
});

test('the objects are frozen, and their functions have names', () => {
  const { run } = createRealm({ grants: ['kv', 'files', 'tools'] });
  for (const [name, functions] of [
    ['kv', 'get entry set delete list commit update'],
    ['files', 'readText readBytes write create append list stat remove mkdir'],
    ['tools', 'call keep'],
  ]) {
    assert.equal(run(`Object.isFrozen(${name})`), true);
    assert.equal(run(`Object.keys(${name}).join(' ')`), functions);
    for (const one of functions.split(' ')) {
      assert.equal(run(`${name}.${one}.name`), one);
      assert.equal(run(`try { new ${name}.${one}() } catch (e) { e.name }`), 'TypeError');
    }
  }
});

/** Answers what is in the table, in turn. */
const telling = (...answers) => (kind) => {
  const next = answers.shift() ?? assert.fail(`${kind} was not expected`);
  return 'json' in next || 'failure' in next || 'bytes' in next ? next : { json: next.of };
};
const of = (json) => ({ of: json });

/** Asserts what `call` gives where the host answers so, and what the host was asked. */
async function asks(grant, call, answers, expected, operations) {
  const realm = createRealm({ grants: [grant], secrets: ['TOKEN'], servers: ['github', 'mail'], host: telling(...answers) });
  await gives(`return ${call};`, expected, realm);
  const started = realm.operations.started.map(({ kind, payload, bytes }) => [kind, payload, ...(bytes ? [bytes] : [])]);
  assert.deepEqual(started, operations, call);
}

const undef = { undefined: true };
const wrongShape = 'catch((e) => [e.name, e.code, e.effects])';
const malformed = ['TypeError', 'answer-malformed', 'started'];

test('kv', async () => {
  const get = ['kv.get', { key: 'k' }];
  const commit = (checks, ...writes) => ['kv.commit', { checks, writes }];
  const entry = { value: { a: [1, null] }, version: 3 };
  for (const [call, answers, expected, operations] of [
    ['kv.get("k")', [of(entry)], { object: { a: [1, null] } }, [get]],
    ['kv.get("k")', [of(null)], undef, [get]],
    ['kv.get("k")', [of({ value: null, version: 1 })], null, [get]],
    ['kv.entry("k")', [of({ value: false, version: 0 })], { object: { value: false, version: 0 } }, [get]],
    ['kv.entry("k")', [of(null)], undef, [get]],
    ['kv.set("k", [1])', [of({ committed: true })], undef, [commit([], { key: 'k', value: [1] })]],
    ['kv.set("k", null, { ttl: 5 })', [of({ committed: true })], undef, [commit([], { key: 'k', value: null, ttl_ms: 5 })]],
    ['kv.set("k", { at: new Date(0), gone: undefined })', [of({ committed: true })], undef, [commit([], { key: 'k', value: { at: '1970-01-01T00:00:00.000Z' } })]],
    ['kv.delete("k")', [of({ committed: true })], undef, [commit([], { key: 'k', delete: true })]],
    ['kv.list()', [of({ keys: ['a'], more: false })], { object: { keys: ['a'], more: false } }, [['kv.list', {}]]],
    ['kv.list({ prefix: "p", after: "a", limit: 2 })', [of({ keys: [], more: true })], { object: { keys: [], more: true } }, [['kv.list', { prefix: 'p', after: 'a', limit: 2 }]]],
    [
      'kv.commit({ check: [{ key: "a", version: 2 }, { key: "b", version: null }, { key: "c" }], set: [{ key: "a", value: 1, ttl: 9 }, { key: "b", value: 2 }], delete: ["c"] })',
      [of({ committed: false })],
      false,
      [commit([{ key: 'a', version: 2 }, { key: 'b', version: null }, { key: 'c', version: null }], { key: 'a', value: 1, ttl_ms: 9 }, { key: 'b', value: 2 }, { key: 'c', delete: true })],
    ],
    ['kv.commit({ delete: ["x"] })', [of({ committed: true })], true, [commit([], { key: 'x', delete: true })]],
    [
      'kv.update("k", (n) => (n ?? 0) + 1)',
      [of(null), of({ committed: false }), of({ value: 4, version: 7 }), of({ committed: true })],
      5,
      [get, commit([{ key: 'k', version: null }], { key: 'k', value: 1 }), get, commit([{ key: 'k', version: 7 }], { key: 'k', value: 5 })],
    ],
    [
      'kv.update("k", async (n) => [n], { ttl: 60 })',
      [of({ value: 'x', version: 1 }), of({ committed: true })],
      ['x'],
      [get, commit([{ key: 'k', version: 1 }], { key: 'k', value: ['x'], ttl_ms: 60 })],
    ],
    ['kv.update("k", () => { throw new RangeError("mine") }).catch((e) => e.message)', [of(null)], 'mine', [get]],
    ['kv.update("k", () => {}).catch((e) => e.name)', [of(null)], 'TypeError', [get]],
  ]) {
    await asks('kv', call, answers, expected, operations);
  }
  const set = commit([], { key: 'k', value: 1 });
  const list = ['kv.list', {}];
  for (const [call, answer, operation] of [
    ...[5, 'x', [], {}, { value: 1 }, { version: 1 }, { value: 1, version: '1' }, { value: 1, version: 1.5 }].map((json) => ['kv.get("k")', json, get]),
    ...[null, true, {}, { committed: 1 }, { committed: false }].map((json) => ['kv.set("k", 1)', json, set]),
    ...[null, {}, { keys: [] }, { keys: [1], more: false }, { keys: {}, more: false }].map((json) => ['kv.list()', json, list]),
    ['kv.update("k", () => 1)', 7, get],
  ]) {
    await asks('kv', `${call}.${wrongShape}`, [of(answer)], malformed, [operation]);
  }
});

test('files', async () => {
  const hello = [...Buffer.from('héllo')];
  const at = (kind, more = {}) => [`files.${kind}`, { path: 'd/x', ...more }];
  const done = [of(null)];
  for (const [call, answers, expected, operations] of [
    ['files.readText("d/x")', [{ bytes: hello }], 'héllo', [at('read')]],
    ['files.readText("d/x")', [{ bytes: [0xef, 0xbb, 0xbf, 0x41] }], 'A', [at('read')]],
    ['files.readText("d/x")', [{}].map(() => ({ json: null })), '', [at('read')]],
    ['files.readText("d/x").catch((e) => [e.name, e.message])', [{ bytes: [0xff] }], ['TypeError', 'the file d/x is no UTF-8: read it with files.readBytes'], [at('read')]],
    ['files.readBytes("d/x").then((b) => [b instanceof Uint8Array, ...b])', [{ bytes: [0, 255] }], [true, 0, 255], [at('read')]],
    ['files.write("d/x", "é")', done, undef, [[...at('write', { mode: 'replace' }), [0xc3, 0xa9]]]],
    ['files.write("d/x", new Uint8Array([1, 2]).subarray(1))', done, undef, [[...at('write', { mode: 'replace' }), [2]]]],
    ['files.create("d/x", new Uint16Array([1]).buffer)', done, undef, [[...at('write', { mode: 'create' }), [1, 0]]]],
    ['files.create("d/x")', done, undef, [[...at('write', { mode: 'create' }), []]]],
    ['files.append("d/x", "")', done, undef, [[...at('write', { mode: 'append' }), []]]],
    ['files.list("d/x")', [of([{ name: 'a', kind: 'file' }])], [{ object: { name: 'a', kind: 'file' } }], [at('list')]],
    ['files.stat("d/x")', [of({ kind: 'folder', size: 0, modified_ms: 5.5 })], { object: { kind: 'folder', size: 0, modified: 5.5 } }, [at('stat')]],
    ['files.stat("d/x")', done, undef, [at('stat')]],
    ['files.remove("d/x")', done, undef, [at('remove')]],
    ['files.mkdir("d/x")', done, undef, [at('mkdir')]],
  ]) {
    await asks('files', call, answers, expected, operations);
  }
  for (const [call, answers, operation] of [
    ['files.readBytes("d/x")', [0, {}, 'x'], at('read')],
    ['files.remove("d/x")', [0, {}, false], at('remove')],
    ['files.list("d/x")', [null, {}, ['a'], [{ name: 1, kind: 'file' }], [{ name: 'a', kind: 'pipe' }]], at('list')],
    ['files.stat("d/x")', [1, {}, { kind: 'file' }, { kind: 'x', size: 1, modified_ms: 1 }, { kind: 'file', size: '1', modified_ms: 1 }], at('stat')],
  ]) {
    for (const answer of answers) await asks('files', `${call}.${wrongShape}`, [of(answer)], malformed, [operation]);
  }
});

test('tools, secret and sleep', async () => {
  const call = (name, params) => ['tools.call', { name, params }];
  for (const [grant, code, answers, expected, operations] of [
    ['tools', 'tools.call("a", { n: [1] })', [of({ sum: 1 })], { object: { sum: 1 } }, [call('a', { n: [1] })]],
    ['tools', 'tools.call("a")', [of(null)], null, [call('a', {})]],
    ['tools', 'tools.keep("a", { n: 1 })', [of('{{kept:0}}')], '{{kept:0}}', [['tools.call', { name: 'a', params: { n: 1 }, keep: true }]]],
    ['tools', 'tools.call("a").catch((e) => [e.name, e.code, e.effects, e.message])', [{ failure: { name: 'Error', message: 'm', code: 'tool-failed', effects: 'committed' } }], ['Error', 'tool-failed', 'committed', 'm'], [call('a', {})]],
    ['secrets', 'secret("TOKEN")', [], '{{secret:TOKEN}}', []],
    ['secrets', '(() => { try { secret("OTHER") } catch (e) { return [e.name, e.message] } })()', [], ['Error', 'it needs the grant `secrets` of OTHER, which this call does not have'], []],
    ['timers', 'sleep(20)', [of(null)], undef, [['timer', { ms: 20 }]]],
    ['timers', 'sleep(0.5, { signal: new AbortController().signal })', [of(null)], undef, [['timer', { ms: 0.5 }]]],
    ['timers', 'sleep(1, { signal: AbortSignal.abort("now") }).catch((e) => e)', [], 'now', []],
    ['timers', 'new Promise((done) => setTimeout(done, 7, "x"))', [of(null)], 'x', [['timer', { ms: 7 }]]],
  ]) {
    await asks(grant, code, answers, expected, operations);
  }
  const realm = createRealm({ grants: ['timers'] });
  await gives('const c = new AbortController(); const p = sleep(50, c); c.abort(); return p.catch((e) => [e.name, e === c.signal.reason]);', ['AbortError', true], realm);
  assert.deepEqual(realm.operations.cancelled, [1]);
});

test('servers: a function for each name, of the servers that are granted', async () => {
  const call = (server, tool, input) => ['servers.call', { server, tool, input }];
  const thrown = (code) => `(() => { try { ${code} } catch (e) { return [e.name, e.message] } })()`;
  for (const [code, answers, expected, operations] of [
    ['servers.github.create_issue({ title: "a" })', [of({ id: 1 })], { object: { id: 1 } }, [call('github', 'create_issue', { title: 'a' })]],
    ['servers.mail["delete-all"]()', [of(null)], null, [call('mail', 'delete-all', {})]],
    ['servers.mail.x().catch((e) => [e.name, e.code, e.effects])', [{ failure: { name: 'Error', message: 'm', code: 'server-tool', effects: 'started' } }], ['Error', 'server-tool', 'started'], [call('mail', 'x', {})]],
    ['servers.$search("who", { limit: 3 })', [of([])], [], [['servers.search', { query: 'who', limit: 3 }]]],
    ['servers.$search("who")', [of([])], [], [['servers.search', { query: 'who' }]]],
    ['servers.$describe("mail.x")', [of('x(): 1')], 'x(): 1', [['servers.describe', { tool: 'mail.x' }]]],
    ['servers.$keep("mail.read.all", { id: 1 })', [of('{{kept:0}}')], '{{kept:0}}', [['servers.call', { server: 'mail', tool: 'read.all', input: { id: 1 }, keep: true }]]],
    [thrown('servers.gitlab.x()'), [], ['Error', 'the server `gitlab` is not granted to this call, which may call: github, mail'], []],
    ['(() => { "use strict"; try { servers.github.x = 1 } catch (e) { return e.name } })()', [], 'TypeError', []],
    ['Object.keys(servers).join()', [], 'github,mail,$search,$describe,$keep', []],
    ['Promise.all([servers, servers.mail]).then((all) => all.length)', [], 2, []],
    ['[JSON.stringify(servers.mail), typeof servers.mail.x, servers.mail.x === servers.mail.x, servers.mail.__proto__ === servers.mail.constructor]', [], ['{}', 'function', true, false], []],
    ['[Object.isFrozen(servers), Object.isFrozen(servers.mail), Object.isFrozen(servers.mail.x), typeof servers.then, typeof servers.mail.then]', [], [true, true, true, 'undefined', 'undefined'], []],
  ]) {
    await asks('servers', code, answers, expected, operations);
  }
});

test('a timer that is cleared by a job between its end and its call does not fire', async () => {
  const realm = createRealm({ grants: ['timers'], host: () => ({}) });
  await gives(
    `const log = []; const p = sleep(1).then(() => { clearTimeout(t); log.push("slept"); }); const t = setTimeout(() => log.push("fired"), 1);
     return p.then(() => sleep(1)).then(() => log);`,
    ['slept'],
    realm,
  );
});

test('what is wrong in a call is a TypeError without a code, and nothing is asked for', async () => {
  const realm = createRealm({ grants: Object.keys(NAMES), secrets: ['A'], servers: ['s'] });
  const values = ['undefined', '() => 1', 'Symbol()', '1n', 'NaN', '[undefined]', '[,]', '[Infinity]', '{ a: { b: -Infinity } }', 'new Map()', 'new Set()', 'new Uint8Array(1)', '/x/', '{ f() {} }', 'Promise.resolve(1)', '"\\ud800"', '(() => { const a = {}; a.a = a; return a; })()'];
  for (const call of [
    'kv.get()', 'kv.get(5)', 'kv.get("\\udc00")', 'kv.entry(null)', 'kv.delete()', 'kv.list(5)', 'kv.list({ prefix: 1 })', 'kv.list({ limit: 0 })',
    'kv.list({ limit: 1.5 })', 'kv.set(1, 1)', 'kv.set("k", 1, { ttl: 0 })', 'kv.set("k", 1, { ttl: "5" })', 'kv.set("k", 1, 5)', 'kv.commit()', 'kv.commit({ set: {} })',
    'kv.commit({ set: [5] })', 'kv.commit({ check: [{ key: 1 }] })', 'kv.commit({ check: [{ key: "k", version: -1 }] })', 'kv.commit({ delete: [{}] })', 'kv.update("k")', 'kv.update(1, () => 1)',
    ...values.map((value) => `kv.set("k", (${value.startsWith('{') ? `(${value})` : value}))`),
    'files.readText()', 'files.readText(1)', 'files.write("d/x")', 'files.write("d/x", 5)', 'files.write("d/x", [1])', 'files.append("d/x", null)', 'files.list({})', 'files.stat("\\ud800")',
    'tools.call()', 'tools.call("a", null)', 'tools.call("a", [1])', 'tools.call("a", "x")', 'tools.call("a", { x: 1n })',
    'servers.s.t(null)', 'servers.s.t([1])', 'servers.s.t("x")', 'servers.s.t({ x: 1n })', 'servers.s["\\ud800"]()', 'servers.$search()', 'servers.$search("a", 1)', 'servers.$search("a", { limit: 0 })',
    'servers.$search("a", { limit: 1.5 })', 'servers.$describe()', 'servers.$describe({})',
    'tools.keep()', 'tools.keep("a", null)', 'servers.$keep()', 'servers.$keep("mail")', 'servers.$keep(".x")', 'servers.$keep("s.t", [1])',
    'sleep()', 'sleep("5")', 'sleep(NaN)', 'sleep(-1)', 'sleep(Infinity)', 'sleep(1, 5)', 'sleep(1, { signal: {} })',
  ]) {
    await gives(`return ${call}.then(() => 0, (e) => [e.name, 'code' in e]);`, ['TypeError', false], realm);
  }
  await gives('return (() => { try { secret(5) } catch (e) { return e.name } })()', 'TypeError', realm);
  assert.deepEqual(realm.operations.started, []);
});

test('a failure is the error that the host names', async () => {
  for (const [name, constructor] of [
    ['TypeError', 'TypeError'], ['AbortError', 'DOMException'], ['TimeoutError', 'DOMException'], ['QuotaExceededError', 'DOMException'],
    ['NotAllowedError', 'DOMException'], ['Error', 'Error'], ['Odd', 'Error'],
  ]) {
    const failure = { name, message: 'why', code: 'a-code', effects: 'committed' };
    await asks(
      'kv',
      `kv.get("k").catch((e) => [e.name, e.message, e.code, e.effects, e instanceof ${constructor}, Object.keys(e).join()])`,
      [{ failure }],
      [name, 'why', 'a-code', 'committed', true, 'code,effects'],
      [['kv.get', { key: 'k' }]],
    );
  }
});

test('what was cancelled or has ended is not ended again', async () => {
  const realm = createRealm({ grants: ['kv'] });
  const { hooks } = realm.operations;
  realm.run('var seen = []; kv.get("k").then((v) => seen.push(v), (e) => seen.push(e.name));');
  hooks.settle(99, 'null');
  hooks.settle(1, '{"value":1,"version":1}');
  hooks.settle(1, 'null');
  hooks.fail(1, '{"name":"Error","message":"late"}');
  await new Promise(setImmediate);
  assert.equal(realm.run('seen.join()'), '1');
});
