// fetch, Headers, Request and Response: the classes against those of Node.js, and what fetch asks the host for.
//
// Invariant: what is not a request is refused before the host hears of it, and the host is told when nobody waits or
// reads any more.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRealm, gives, same } from './helpers.js';

const granted = createRealm({ grants: ['net'] });
const alike = async (codes) => {
  for (const code of codes) await same(code, granted);
};

test('Headers', () =>
  alike([
    '[...new Headers({ b: "2", A: " 1 \\t", c: "" })]',
    '[...new Headers([["x", "1"], ["X", "2"]])]',
    '[...new Headers(new Headers({ a: "1" }))]',
    '[...new Headers(new Map([["m", "1"]]))]',
    'new Headers([["a"]])',
    'new Headers([5])',
    'new Headers(5)',
    'new Headers("a")',
    'new Headers(null)',
    'new Headers({ "a b": "1" })',
    'new Headers({ "": "1" })',
    'new Headers({ "ä": "1" })',
    'new Headers({ a: "x\\ny" })',
    'new Headers({ a: "x\\0y" })',
    'new Headers({ a: "日" })',
    'new Headers({ a: "é" }).get("a")',
    'new Headers({ a: 5 }).get("A")',
    'new Headers({ a: undefined }).get("a")',
    'const h = new Headers(); h.append("x", "1"); h.append("X", "2"); h.set("y", "3"); h.set("x", "4"); return [...h];',
    'const h = new Headers({ a: "1", b: "2" }); h.delete("A"); return [h.has("a"), h.has("b"), h.get("a"), [...h.keys()], [...h.values()]];',
    'const h = new Headers(); h.append("set-cookie", "a"); h.append("set-cookie", "b"); return [[...h], h.getSetCookie(), h.get("set-cookie")];',
    'const log = []; new Headers({ b: "2", a: "1" }).forEach(function (v, k, h) { log.push(v, k, h instanceof Headers, this); }, 7); return log.map(String);',
    'const h = new Headers({ b: "1" }); const seen = []; for (const [k] of h) { seen.push(k); if (seen.length < 3) h.append("c" + seen.length, "x"); } return seen;',
    'new Headers().append("a")',
    'new Headers().get()',
    'new Headers().forEach(1)',
    'Headers.prototype.get.call({}, "a")',
    'Headers()',
    'Object.prototype.toString.call(new Headers()) + Object.prototype.toString.call(new Headers().keys())',
  ]));

test('Request', () =>
  alike([
    'const r = new Request("http://h:80/p?q#f"); return [r.url, r.method, [...r.headers], r.body, r.bodyUsed, r.redirect, r.signal.aborted];',
    'new Request(new URL("https://h/")).url',
    'new Request("/relative")',
    'new Request("http://u:p@h/")',
    'new Request()',
    'new Request("http://h", 5)',
    'new Request("http://h", null).method',
    '["get", "Post", "put", "dElete", "head", "options", "patch", "PATCH", "Custom"].map((method) => new Request("http://h", { method }).method)',
    'new Request("http://h", { method: "TRACE" })',
    'new Request("http://h", { method: "connect" })',
    'new Request("http://h", { method: "a b" })',
    'new Request("http://h", { method: "" })',
    'new Request("http://h", { body: "x" })',
    'new Request("http://h", { method: "HEAD", body: "x" })',
    'new Request("http://h", { body: null }).body',
    'new Request("http://h", { redirect: "manual" }).redirect',
    'new Request("http://h", { redirect: "sometimes" })',
    ...['mode', 'credentials', 'cache', 'referrerPolicy', 'duplex', 'redirect'].flatMap((name) => [`new Request("http://h", { ${name}: "x" })`, `new Request("http://h", { ${name}: null })`, `new Request("http://h", { ${name}: "" }).url`, `new Request("http://h", { ${name}: undefined }).url`, `new Request("http://h", { ${name}: Symbol() })`, `new Request("http://h", { get ${name}() { throw new RangeError() } })`]),
    '["same-origin", "no-cors", "cors"].map((mode) => new Request("http://h", { mode }).mode)',
    'new Request("http://h", { mode: "navigate" })',
    'new Request("http://h", { mode: "no-cors", method: "PUT" })',
    'new Request("http://h", { mode: "no-cors", method: "POST" }).method',
    '["omit", "same-origin", "include"].map((credentials) => new Request("http://h", { credentials }).credentials)',
    '["default", "no-store", "reload", "no-cache", "force-cache"].map((cache) => new Request("http://h", { cache }).cache)',
    'new Request("http://h", { cache: "only-if-cached" })',
    'new Request("http://h", { cache: "only-if-cached", mode: "same-origin" }).cache',
    '["", "no-referrer", "origin", "unsafe-url", "strict-origin-when-cross-origin"].map((referrerPolicy) => new Request("http://h", { referrerPolicy }).referrerPolicy)',
    'new Request("http://h", { referrer: "http://:80" })',
    'new Request("http://h", { referrer: "" }).referrer',
    'new Request("http://h", { referrer: "about:client" }).referrer',
    'new Request("http://h", { window: null }).url',
    'new Request("http://h", { window: {} })',
    'new Request("http://h", { window: "x" })',
    '[true, 1, false, 0].map((keepalive) => new Request("http://h", { keepalive }).keepalive)',
    'const r = new Request("http://h"); return [r.referrer, r.referrerPolicy, r.mode, r.credentials, r.cache, r.redirect, r.integrity, r.keepalive, r.duplex, r.destination, r.isReloadNavigation, r.isHistoryNavigation];',
    'const r = new Request(new Request("http://h", { mode: "same-origin", credentials: "omit", cache: "reload", keepalive: true })); return [r.mode, r.credentials, r.cache, r.keepalive];',
    'const r = new Request(new Request("http://h", { mode: "same-origin", credentials: "omit" }), { cache: "no-store" }); return [r.mode, r.credentials, r.cache];',
    'const r = new Request(new Request("http://h", { referrer: "", referrerPolicy: "origin" }), { cache: "no-store" }); return [r.referrer, r.referrerPolicy];',
    'const r = new Request("http://h", { mode: "same-origin", cache: "reload" }).clone(); return [r.mode, r.cache];',
    '["method", "url", "headers", "destination", "referrer", "referrerPolicy", "mode", "credentials", "cache", "redirect", "integrity", "keepalive", "signal", "duplex", "clone"].every((name) => Object.keys(Request.prototype).includes(name))',
    '["mode", "duplex", "destination", "integrity", "keepalive"].map((name) => { try { return Object.getOwnPropertyDescriptor(Request.prototype, name).get.call({}); } catch (e) { return e.name; } })',
    'new Request("http://h", { signal: {} })',
    'new Request("http://h", { signal: null }).signal.aborted',
    'const c = new AbortController(); const r = new Request("http://h", { signal: c.signal }); c.abort("why"); return [r.signal.aborted, r.signal.reason, r.signal !== c.signal, r.signal === r.signal];',
    'const c = new AbortController(); const r = new Request(new Request("http://h", { signal: c.signal })); c.abort(7); return r.signal.reason;',
    'const r = new Request("http://h", { method: "POST", body: "é" }); return [r.headers.get("content-type"), await_(r.text())]; function await_(p) { return p.then; }',
    'new Request("http://h", { method: "POST", body: "é" }).text()',
    'new Request("http://h", { method: "POST", body: new URLSearchParams({ a: "b c" }) }).text()',
    'new Request("http://h", { method: "POST", body: new URLSearchParams() }).headers.get("content-type")',
    'new Request("http://h", { method: "POST", body: "x", headers: { "Content-Type": "a/b" } }).headers.get("content-type")',
    'new Request("http://h", { method: "POST", body: new Uint8Array([0, 255]) }).arrayBuffer()',
    'new Request("http://h", { method: "POST", body: new DataView(new ArrayBuffer(3), 1) }).arrayBuffer()',
    'new Request("http://h", { method: "POST", body: 5 }).text()',
    'const a = new Request("http://h", { method: "POST", body: "x", headers: { y: "1" } }); const b = new Request(a); return b.text().then((t) => [t, a.bodyUsed, b.method, b.headers.get("y")]);',
    'const a = new Request("http://h", { method: "POST", body: "x" }); const b = new Request(a, { body: "z" }); return b.text().then((t) => [t, a.bodyUsed]);',
    'const a = new Request("http://h", { method: "POST", body: "x" }); return a.text().then(() => new Request(a));',
    'const a = new Request("http://h", { method: "POST", body: "x" }); const b = a.clone(); return Promise.all([a.text(), b.text(), b.url]);',
    'const a = new Request("http://h", { method: "POST", body: "x" }); return a.text().then(() => a.clone());',
    'Object.getOwnPropertyDescriptor(Request.prototype, "url").get.call({})',
    'Request.prototype.text.call({}).catch((e) => e.name)',
    'Request("http://h")',
    'Object.prototype.toString.call(new Request("http://h"))',
  ]));

test('Response', () =>
  alike([
    'const r = new Response(); return [r.status, r.ok, r.statusText, r.url, r.redirected, r.type, r.body, r.bodyUsed, [...r.headers]];',
    'const r = new Response("x", { status: 404, statusText: "No", headers: { a: "b" } }); return [r.status, r.ok, r.statusText, [...r.headers]];',
    'new Response("x", { status: 99 })',
    'new Response("x", { status: 600 })',
    'new Response("x", { status: 204 })',
    'new Response(null, { status: 204 }).status',
    'new Response("x", { statusText: "a\\nb" })',
    'new Response("x", 5)',
    'new Response(null).text()',
    'new Response("\\ufeffé").text()',
    'new Response("[1, {}]").json()',
    'new Response("\\ufeff{}").json()',
    'new Response("nope").json()',
    'new Response(null).json()',
    'new Response("ab").arrayBuffer()',
    'new Response(new Uint8Array([0xff])).text()',
    'const r = new Response("x"); return r.text().then(() => [r.bodyUsed, r.body.locked === r.body.locked]);',
    'const r = new Response("x"); return r.text().then(() => r.text());',
    'const r = new Response("x"); r.body.getReader(); return r.text();',
    'const r = new Response("x"); const c = r.clone(); return Promise.all([r.text(), c.text()]);',
    'const r = new Response("x"); return r.text().then(() => r.clone());',
    'const r = new Response("x"); const b = r.body; return [b === r.body, r.bodyUsed, b.locked];',
    'const r = new Response("xy"); const reader = r.body.getReader(); return reader.read().then(({ value, done }) => [[...value], done, r.bodyUsed]);',
    'const s = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104])); c.enqueue(new Uint8Array([105])); c.close(); } }); return new Response(s).text();',
    'const s = new ReadableStream({ start(c) { c.enqueue("text"); c.close(); } }); return new Response(s).text();',
    'const s = new ReadableStream({ start(c) { c.error(new RangeError("x")); } }); return new Response(s).text();',
    'const s = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104])); c.close(); } }); const r = new Response(s); const c = r.clone(); return Promise.all([r.text(), c.text()]);',
    'const s = new ReadableStream(); s.getReader(); return new Response(s);',
    'Response.json({ a: [1] }).text()',
    '[...Response.json(1, { status: 201, headers: { x: "1" } }).headers]',
    'Response.json(1, { headers: { "content-type": "a/b" } }).headers.get("content-type")',
    'Response.json(1, { headers: { "content-type": "text/plain;charset=UTF-8" } }).status',
    'Response.json(undefined)',
    'Response.prototype.json.call({}).catch((e) => e.name)',
    'Response()',
    'Object.prototype.toString.call(new Response())',
  ]));

test('a body that was handed out is not the one that a clone has', () =>
  gives(
    `const a = new Response("abc"); const b = a.clone(); return a.arrayBuffer().then((x) => { new Uint8Array(x)[0] = 0; return b.text(); });`,
    'abc',
    granted,
  ));

const answer = (more = {}) => ({
  json: { status: 200, statusText: 'OK', url: 'http://h/', redirected: false, headers: ['a', 'b'], done: true, ...more },
  bytes: [...Buffer.from('{"x":1}')],
});
const serving = (host) => createRealm({ grants: ['net'], host });
const kinds = (realm) => realm.operations.started.map(({ kind }) => kind);

test('fetch asks the host once', async () => {
  const realm = serving(() => answer());
  await gives(
    `return fetch('http://h/p#f', { method: 'post', headers: { B: 'c' }, body: 'é', credentials: 'include', cache: 'no-store', mode: 'cors', keepalive: true })
      .then((r) => Promise.all([r.status, r.ok, r.statusText, r.url, r.redirected, r.type, [...r.headers], r.json(), r.bodyUsed]));`,
    [200, true, 'OK', 'http://h/', false, 'basic', [['a', 'b']], { object: { x: 1 } }, true],
    realm,
  );
  assert.deepEqual(realm.operations.started, [
    {
      kind: 'fetch',
      payload: {
        url: 'http://h/p#f',
        method: 'POST',
        headers: [['b', 'c'], ['content-type', 'text/plain;charset=UTF-8']],
        redirect: 'follow',
      },
      bytes: [...Buffer.from('é')],
    },
  ]);
  await gives('fetch(new Request("http://h", { headers: { q: "1" } }), { redirect: "error" }).then((r) => r.text())', '{"x":1}', realm);
  const { payload, bytes } = realm.operations.started[1];
  assert.deepEqual([payload, bytes], [{ url: 'http://h/', method: 'GET', headers: [['q', '1']], redirect: 'error' }, undefined]);
});

test('a stream is gathered before it is sent', async () => {
  const realm = serving(() => answer());
  await gives(
    `const body = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([1])); c.enqueue(new Uint8Array([2, 3])); c.close(); } });
     return fetch('http://h', { method: 'PUT', body, duplex: 'half' }).then((r) => r.status);`,
    200,
    realm,
  );
  assert.deepEqual(realm.operations.started[0].bytes, [1, 2, 3]);
});

test('what is no request is refused before anything is sent', async () => {
  const realm = serving(() => answer());
  for (const call of [
    'fetch()', 'fetch("/x")', 'fetch("http://u@h/")', 'fetch("http://h", { body: "x" })', 'fetch("http://h", { headers: { "a b": "c" } })',
    'fetch("http://h", { headers: { a: "x\\r\\ny: z" } })', 'fetch("http://h", { integrity: "sha256-x" })', 'fetch("http://h", { signal: 1 })',
    'fetch("http://h", { method: "POST", body: Symbol() })',
    'fetch("http://h", { method: "POST", body: new ReadableStream({ start(c) { c.enqueue("text"); } }) })',
  ]) {
    await gives(`${call}.then(() => 0, (e) => [e.name, "code" in e])`, ['TypeError', false], realm);
  }
  assert.deepEqual(realm.operations.started, []);
});

test('a body comes piece by piece, and no faster than it is read', async () => {
  const pieces = [{ json: { done: false }, bytes: [50] }, { json: { done: false }, bytes: [] }, { json: { done: true }, bytes: [51] }];
  const host = (kind) => (kind === 'fetch' ? { ...answer({ done: false }), bytes: [49] } : pieces.shift());
  const realm = serving(host);
  await gives(
    `return fetch("http://h").then(async (r) => { const reader = r.body.getReader(); const log = [];
      for (;;) { const { value, done } = await reader.read(); if (done) break; log.push(String(value)); } return [log, r.bodyUsed]; });`,
    [['49', '50', '51'], true],
    realm,
  );
  assert.deepEqual(realm.operations.started.slice(1), Array(3).fill({ kind: 'fetch.read', payload: { fetch: 1 }, bytes: undefined }));
  pieces.push({ json: { done: true } });
  await gives('fetch("http://h").then((r) => Promise.all([r.text(), r.headers.get("a")]))', ['1', 'b'], realm);
  pieces.push({ json: { done: true }, bytes: [50] });
  await gives('return fetch("http://h").then((r) => { const c = r.clone(); return Promise.all([r.text(), c.text()]); })', ['12', '12'], realm);
  assert.deepEqual([realm.operations.cancelled, realm.operations.released], [[], []]);
  // Nobody reads: nothing is asked for.
  const idle = serving(() => answer({ done: false }));
  await gives('fetch("http://h").then((r) => r.status)', 200, idle);
  await new Promise(setImmediate);
  assert.deepEqual(kinds(idle), ['fetch']);
});

test('a body that nobody reads on is given up', async () => {
  const realm = serving((kind) => (kind === 'fetch' ? answer({ done: false }) : undefined));
  await gives('fetch("http://h").then((r) => r.body.cancel()).then(() => 1)', 1, realm);
  assert.deepEqual(realm.operations.released, [1]);
  await gives(
    `return fetch("http://h").then(async (r) => { const reader = r.body.getReader(); await reader.read(); const waits = reader.read(); await null; await reader.cancel(); return waits; })`,
    { object: { value: { undefined: true }, done: true } },
    realm,
  );
  assert.deepEqual([realm.operations.released, realm.operations.cancelled], [[1, 2], [3]]);
  await gives('return fetch("http://h").then(async (r) => { for await (const piece of r.body) return piece.length; })', 7, realm);
  assert.deepEqual(realm.operations.released, [1, 2, 4]);
});

test('an abort ends what goes on', async () => {
  const silent = serving((kind) => (kind === 'timer' ? {} : undefined));
  const rejected = (call) => `const c = new AbortController(); const { signal } = c; return (${call}).then(() => 0, (e) => [e.name ?? e, e === signal.reason]);`;
  await gives(rejected('(c.abort(), fetch("http://h", { signal }))'), ['AbortError', true], silent);
  assert.deepEqual(silent.operations.started, []);
  await gives(rejected('(() => { const p = fetch("http://h", { signal }); c.abort("why"); return p; })()'), ['why', true], silent);
  assert.deepEqual(silent.operations.cancelled, [1]);
  await gives(rejected('(() => { const p = fetch(new Request("http://h", { signal })); c.abort(); return p; })()'), ['AbortError', true], silent);
  await gives('fetch("http://h", { signal: AbortSignal.timeout(5) }).then(() => 0, (e) => e.name)', 'TimeoutError', silent);
  assert.deepEqual(silent.operations.cancelled, [1, 2, 4]);
  const body = 'new ReadableStream({ cancel(why) { c.cancelled = why; } })';
  await gives(
    `const c = new AbortController(); const p = fetch("http://h", { method: "POST", body: ${body}, signal: c.signal }); c.abort("b"); return p.catch((e) => e);`,
    'b',
    silent,
  );
  // The answer is there, its body is not.
  const slow = serving((kind) => (kind === 'fetch' ? answer({ done: false }) : undefined));
  await gives(rejected('fetch("http://h", { signal }).then((r) => { const p = r.text(); c.abort(); return p; })'), ['AbortError', true], slow);
  assert.deepEqual([slow.operations.cancelled, slow.operations.released], [[2], [1]]);
  await gives(rejected('fetch("http://h", { signal }).then((r) => { c.abort(); return r.text(); })'), ['AbortError', true], slow);
  await gives(rejected('fetch("http://h", { signal }).then((r) => { c.abort(); return r.body.getReader().read(); })'), ['AbortError', true], slow);
  // All of it is there, and was not read.
  const whole = serving(() => answer());
  await gives(rejected('fetch("http://h", { signal }).then((r) => { c.abort(); return r.text(); })'), ['AbortError', true], whole);
  await gives(rejected('fetch("http://h", { signal }).then((r) => { const k = r.clone(); c.abort(); return k.json(); })'), ['AbortError', true], whole);
  await gives('const c = new AbortController(); return fetch("http://h", { signal: c.signal }).then((r) => { const p = r.text(); c.abort(); return p; });', '{"x":1}', whole);
});

test('answers without a body have none', async () => {
  const without = (status) => ({ ...answer({ status }), bytes: undefined });
  const realm = serving((kind, { url }) => without(Number(new URL(url).pathname.slice(1))));
  await gives('fetch("http://h/204").then((r) => [r.body, r.status])', [null, 204], realm);
  await gives('fetch("http://h/200", { method: "HEAD" }).then((r) => r.body)', null, realm);
  await gives('fetch("http://h/200").then((r) => r.text())', '', realm);
  await gives('fetch("http://h/304").then((r) => r.headers.set("x", "y"))', { thrown: { error: 'TypeError' } }, realm);
});

test('a failure is the error that the host names', async () => {
  const failure = { name: 'TypeError', message: 'no route', code: 'net-unreachable', effects: 'none' };
  const realm = serving((kind, { url }) => (kind === 'fetch' && !url?.includes('read') ? { failure } : kind === 'fetch' ? answer({ done: false }) : { failure: { ...failure, name: 'TimeoutError', effects: 'started' } }));
  await gives('fetch("http://h").catch((e) => [e.name, e.message, e.code, e.effects, e instanceof TypeError])', ['TypeError', 'no route', 'net-unreachable', 'none', true], realm);
  await gives('fetch("http://read").then((r) => r.text()).catch((e) => [e.name, e.effects, e instanceof DOMException])', ['TimeoutError', 'started', true], realm);
});

test('an answer of the wrong shape is a TypeError', async () => {
  const broken = [
    null, 5, [], {}, { status: '200' }, { status: 20 }, { status: 200.5 }, { statusText: 1 }, { url: null }, { redirected: 0 }, { headers: {} },
    { headers: ['a'] }, { headers: ['a', 1] }, { headers: [['a', 'b']] }, { headers: 'ab' }, { done: 'yes' }, { done: undefined },
  ];
  for (const json of broken) {
    const whole = json !== null && typeof json === 'object' && !Array.isArray(json) && Object.keys(json).length > 0;
    const realm = serving(() => ({ json: whole ? answer(json).json : json, bytes: [1] }));
    await gives('fetch("http://h").catch((e) => [e.name, e.code, e.effects])', ['TypeError', 'answer-malformed', 'started'], realm);
    assert.deepEqual(realm.operations.released, [1], JSON.stringify(json));
  }
  const realm = serving((kind) => (kind === 'fetch' ? answer({ done: false }) : { json: { done: 1 } }));
  await gives('fetch("http://h").then((r) => r.text()).catch((e) => [e.name, e.code])', ['TypeError', 'answer-malformed'], realm);
});

test('the console shows them', () => {
  const { run, logs } = createRealm({ grants: ['net'] });
  run('console.log(new Headers({ b: "1" }), new Response("x", { status: 404 }), new Request("http://h"), new ReadableStream())');
  assert.equal(logs[0][1].includes("Headers { b: '1' }") && logs[0][1].includes('status: 404') && logs[0][1].includes("method: 'GET'"), true, logs[0][1]);
});
