// ReadableStream, its reader and its controller against those of Node.js.
//
// Invariant: chunks arrive in order and once; a source is asked for no more than somebody wants.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRealm, gives, same } from './helpers.js';

const realm = createRealm({ grants: ['net'] });

/** What both sides prepare: a log, and reading to the end. */
const prelude = `
  const log = [];
  const from = (...chunks) => new ReadableStream({ start(c) { for (const chunk of chunks) c.enqueue(chunk); c.close(); } });
  const all = async (stream) => { const seen = []; for await (const chunk of stream) seen.push(chunk); return seen; };
  const failing = (promise) => promise.then((value) => ['fulfilled', value], (error) => ['rejected', error && error.name || error]);
  const later = () => Promise.resolve().then(() => {}).then(() => {}).then(() => {}).then(() => {}).then(() => {});
  return (async () => {`;
const behave = (code) => same(`${prelude} ${code} })();`, realm);

test('reading', async () => {
  for (const code of [
    'return all(from(1, 2, 3));',
    'return all(from());',
    'const r = from("a").getReader(); return [await r.read(), await r.read(), await r.closed, await r.read()];',
    'const r = from(1, 2).getReader(); return Promise.all([r.read(), r.read(), r.read()]);',
    'const s = from(1); const locked = [s.locked]; const r = s.getReader(); locked.push(s.locked); r.releaseLock(); return [...locked, s.locked];',
    'const s = from(1); s.getReader(); return s.getReader();',
    'const s = from(1); s.getReader(); return failing(s.cancel());',
    'const s = from(1, 2); const r = s.getReader(); await r.read(); r.releaseLock(); return [await failing(r.read()), await failing(r.closed), await all(s)];',
    'let c; const r = new ReadableStream({ start(x) { c = x; } }).getReader(); const read = failing(r.read()); const closed = failing(r.closed); r.releaseLock(); return [await read, await closed];',
    'let c; const r = new ReadableStream({ start(x) { c = x; } }).getReader(); const read = r.read(); c.enqueue(5); return read;',
    'let c; const r = new ReadableStream({ start(x) { c = x; } }).getReader(); const read = r.read(); c.close(); return [await read, await r.closed];',
    'let c; const r = new ReadableStream({ start(x) { c = x; } }).getReader(); const read = failing(r.read()); const closed = failing(r.closed); c.error(new RangeError("x")); return [await read, await closed, await failing(r.read())];',
    'let c; const r = new ReadableStream({ start(x) { c = x; } }).getReader(); c.enqueue(1); c.error("why"); return failing(r.read());',
    'return new ReadableStreamDefaultReader(from(1)).read();',
    'return new ReadableStreamDefaultReader({});',
    'return new ReadableStreamDefaultController();',
    'return from(1).getReader({ mode: undefined }).read();',
    'return failing(ReadableStreamDefaultReader.prototype.read.call({}));',
    'return failing(ReadableStream.prototype.cancel.call({}));',
    'return Object.getOwnPropertyDescriptor(ReadableStream.prototype, "locked").get.call({});',
    'return ReadableStream();',
    'return [Object.prototype.toString.call(from()), Object.keys(from()), typeof from()[Symbol.asyncIterator]];',
  ]) {
    await behave(code);
  }
});

test('pulling and backpressure', async () => {
  for (const code of [
    'let n = 0; const s = new ReadableStream({ pull(c) { c.enqueue(++n); if (n === 4) c.close(); } }); return [await all(s), n];',
    'let n = 0; new ReadableStream({ pull(c) { c.enqueue(++n); } }); await later(); return n;',
    'let n = 0; new ReadableStream({ pull(c) { c.enqueue(++n); } }, { highWaterMark: 0 }); await later(); return n;',
    'let n = 0; new ReadableStream({ pull(c) { c.enqueue(++n); } }, { highWaterMark: 3 }); await later(); await later(); return n;',
    'let n = 0; const s = new ReadableStream({ async pull(c) { await later(); c.enqueue(++n); } }, { highWaterMark: 0 }); const r = s.getReader(); return [await r.read(), await r.read(), n];',
    'const sizes = []; new ReadableStream({ start(c) { sizes.push(c.desiredSize); c.enqueue("abc"); sizes.push(c.desiredSize); c.close(); sizes.push(c.desiredSize); } }, { highWaterMark: 10, size: (x) => x.length }); return sizes;',
    'const sizes = []; new ReadableStream({ start(c) { c.error(1); sizes.push(c.desiredSize); } }); return sizes;',
    'const s = new ReadableStream({ pull() { throw new RangeError("p"); } }); return failing(s.getReader().read());',
    'const s = new ReadableStream({ async pull() { throw "async"; } }); return failing(s.getReader().read());',
    'const s = new ReadableStream({ async start() { throw "start"; } }); return failing(s.getReader().read());',
    'return new ReadableStream({ start() { throw new RangeError("s"); } });',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); c.close(); return [failing, c].length + (() => { try { c.close(); } catch (e) { return e.name; } })();',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); c.close(); c.enqueue(1);',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }, { size() { return -1; } }); try { c.enqueue(1); } catch (e) { log.push(e.name); } return [log, await failing(s.getReader().read())];',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }, { size() { throw "size"; } }); try { c.enqueue(1); } catch (e) { log.push(e); } return [log, await failing(s.getReader().read())];',
    'return new ReadableStream({}, { highWaterMark: -1 });',
    'return new ReadableStream({}, { highWaterMark: NaN });',
    'return new ReadableStream({ start: 1 });',
    'return new ReadableStream(null);',
  ]) {
    await behave(code);
  }
});

test('cancelling', async () => {
  for (const code of [
    'const s = new ReadableStream({ cancel(why) { log.push(why); } }); return [await s.cancel("enough"), log, await all(s)];',
    'const s = new ReadableStream({ cancel() { throw new RangeError("c"); } }); return failing(s.cancel());',
    'const s = from(1); return [await s.cancel(), await s.cancel()];',
    'const s = new ReadableStream({ start(c) { c.error("broken"); } }); return failing(s.cancel());',
    'const s = new ReadableStream({ cancel(why) { log.push(why); } }); const r = s.getReader(); const read = r.read(); await r.cancel("r"); return [await read, log, await r.closed];',
    'const s = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel(why) { log.push(why); } }); for await (const x of s) break; return [log, s.locked];',
    'const s = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel(why) { log.push(why); } }); for await (const x of s.values({ preventCancel: true })) break; return [log, s.locked];',
    'const s = from(1, 2); const i = s.values(); return [await i.next(), await i.return("v"), await i.next(), s.locked];',
    'const i = from(1, 2).values(); return Promise.all([i.next(), i.next(), i.next()]);',
    'const s = new ReadableStream({ start(c) { c.error("e"); } }); return failing(all(s));',
  ]) {
    await behave(code);
  }
});

test('tee', async () => {
  for (const code of [
    'const [a, b] = from(1, 2, 3).tee(); return [await all(a), await all(b)];',
    'const [a, b] = from(1, 2).tee(); return Promise.all([all(a), all(b)]);',
    'const s = from(1); s.tee(); return s.locked;',
    'const s = new ReadableStream({ start(c) { c.error("x"); } }); const [a, b] = s.tee(); return [await failing(all(a)), await failing(all(b))];',
    'const s = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel(why) { log.push(...why); } }); const [a, b] = s.tee(); const one = a.cancel(1); const two = b.cancel(2); await one; await two; return log;',
    'const [a, b] = from(1, 2).tee(); a.cancel(); return all(b);',
  ]) {
    await behave(code);
  }
});

test('both cancellations of a tee tell what cancelling the source throws', async () => {
  for (const code of [
    'const s = new ReadableStream({ cancel() { throw new RangeError("c"); } }); const [a, b] = s.tee(); return Promise.all([failing(a.cancel()), failing(b.cancel())]);',
    'const s = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel() { return Promise.reject("late"); } }); const [a, b] = s.tee(); await later(); return Promise.all([failing(b.cancel(1)), failing(a.cancel(2))]);',
    'const s = new ReadableStream({ cancel(why) { log.push(why); } }); const [a, b] = s.tee(); const first = a.cancel("a").then(() => log.push("first")); await later(); log.push("waiting"); await Promise.all([first, b.cancel("b")]); return log;',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); const [a, b] = s.tee(); const cancelled = failing(a.cancel()); c.close(); return [await cancelled, await all(b)];',
  ]) {
    await behave(code);
  }
});

test('an error after tee reaches both branches', async () => {
  for (const code of [
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); const [a, b] = s.tee(); c.error(new RangeError("e")); return Promise.all([failing(a.getReader().read()), failing(b.getReader().closed)]);',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); const [a, b] = s.tee(); c.enqueue(1); await later(); await later(); c.error("e"); const ra = a.getReader(); const rb = b.getReader(); return [await failing(ra.closed), await failing(rb.closed)];',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); const [a, b] = s.tee(); const gone = failing(a.cancel()); c.error("e"); return [await gone, await failing(b.getReader().closed), await failing(a.cancel())];',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }); const [a, b] = s.tee(); const ra = a.getReader(); const rb = b.getReader(); const reads = [failing(ra.read()), failing(rb.read())]; c.error("e"); return Promise.all(reads);',
  ]) {
    await behave(code);
  }
});

test('tee inside of size goes on', async () => {
  for (const code of [
    'let c; let two; const s = new ReadableStream({ start(x) { c = x; } }, { size() { two = s.tee(); return 1; } }); c.enqueue("a"); log.push(s.locked); c.close(); return [log, await all(two[0]), await all(two[1])];',
    'let c; let r; const s = new ReadableStream({ start(x) { c = x; } }, { size() { r ??= s.getReader(); return 1; } }); c.enqueue("a"); return r.read();',
    'let c; let n = 0; const s = new ReadableStream({ start(x) { c = x; } }, { size() { if (n++ < 2) c.enqueue("in"); return 1; }, highWaterMark: 9 }); c.enqueue("a"); c.close(); return all(s);',
  ]) {
    await behave(code);
  }
});

test('the options of getReader are converted', async () => {
  for (const code of [
    'return from().getReader(5);', 'return from().getReader("byob");', 'return from().getReader({ mode: "x" });', 'return from().getReader({ mode: null });', 'return from().getReader({ mode: Symbol() });',
    'return from().getReader(null).read();', 'return from().getReader({}).read();', 'return from().getReader(() => {}).read();', 'return from().values(5);', 'return from().values(null).next().then((r) => [r.value, r.done]);',
  ]) {
    await behave(code);
  }
  // Node.js 20 compares the value and does not convert it.
  await gives('from().getReader({ mode: { toString() { throw new RangeError("mode"); } } })'.replace('from()', 'new ReadableStream()'), { thrown: { error: 'RangeError' } }, realm);
});

test('the total of the queue is the sum of its numbers', async () => {
  for (const code of [
    'let c; const s = new ReadableStream({ start(x) { c = x; } }, { size: (x) => x, highWaterMark: 0 }); c.enqueue(2); log.push(c.desiredSize); c.enqueue(Number.MAX_SAFE_INTEGER); log.push(c.desiredSize); const r = s.getReader(); await r.read(); log.push(c.desiredSize); await r.read(); log.push(c.desiredSize); return log;',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }, { size: (x) => x, highWaterMark: 0 }); c.enqueue(1e-16); c.enqueue(1); c.enqueue(2e-16); log.push(c.desiredSize); const r = s.getReader(); for (let i = 0; i < 3; i++) { await r.read(); log.push(c.desiredSize); } return log;',
    'let c; const s = new ReadableStream({ start(x) { c = x; } }, { size: (x) => x, highWaterMark: 0 }); c.enqueue(0.1); c.enqueue(0.2); c.enqueue(0.3); const r = s.getReader(); for (let i = 0; i < 3; i++) { await r.read(); log.push(c.desiredSize); } return log;',
  ]) {
    await behave(code);
  }
});

test('next and return of the iterator come in the order of Web IDL', async () => {
  const order = (calls) => `const it = from(1, 2, 3).values(); const steps = [${calls}]; steps.forEach((p, i) => p.then((v) => log.push([i, v]), (e) => log.push([i, 'failed', e && e.name || e])));
    for (let i = 0; i < 40; i++) { await null; if (i % 1 === 0) log.push('.'); } return log.filter((x) => x !== '.');`;
  for (const code of [
    ...['it.next(), it.return("r")', 'it.return("r"), it.next()', 'it.return("a"), it.return("b")', 'it.next(), it.next(), it.return("r"), it.next()', 'it.next(), it.return("r"), it.next(), it.return("s")'].map(order),
    'return [from().values().return.length, from().values().next.length, from().values.length, from().getReader.length];',
    'const i = from(1).values(); return [await i.next(), await i.next(), await i.next(), await i.return("x")];',
    'const i = new ReadableStream({ cancel() { throw "c"; } }).values(); return [await failing(i.return("x")), await i.next(), await i.return("y")];',
    'const i = new ReadableStream({ start(c) { c.error("e"); } }).values(); return [await failing(i.next()), await i.next(), await i.return("y")];',
    'const s = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel(why) { log.push(why); } }); const i = s.values(); const both = await Promise.all([i.next(), i.return("r")]); return [both, log, s.locked];',
    'const s = from(1, 2); const i = s.values({ preventCancel: true }); const both = await Promise.all([i.next(), i.return("r")]); return [both, s.locked, await all(s)];',
  ]) {
    await behave(code);
  }
});

test('what there is not says so', async () => {
  await gives('new ReadableStream({ type: "bytes" })', { thrown: { error: 'TypeError' } }, realm);
  await gives('new ReadableStream().getReader({ mode: "byob" })', { thrown: { error: 'TypeError' } }, realm);
});

test('a long queue does not fill the stack', async () => {
  const code = `const s = new ReadableStream({ start(c) { for (let i = 0; i < 20000; i++) c.enqueue(new Uint8Array([i])); c.close(); } });
    return new Response(s).bytes().then((bytes) => [bytes.length, bytes[300]]);`;
  await gives(code, [20000, 44], realm);
  const teed = `const s = new ReadableStream({ start(c) { for (let i = 0; i < 20000; i++) c.enqueue(new Uint8Array([i])); c.close(); } });
    const r = new Response(s); const other = r.clone(); return Promise.all([r.bytes(), other.bytes()]).then((two) => two.map((b) => b.length));`;
  await gives(teed, [20000, 20000], realm);
});

test('the internal iterator has no constructor to be had', () => {
  assert.equal(realm.run('["AsyncIterator", "Object"].includes(new ReadableStream().values().constructor?.name ?? "Object")'), true);
});
