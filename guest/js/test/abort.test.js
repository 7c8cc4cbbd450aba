// AbortController, AbortSignal, Event, EventTarget, DOMException and queueMicrotask against those of Node.js.
//
// Invariant: a signal aborts once, and nobody but its controller or the signals it follows can abort it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRealm, gives, same } from './helpers.js';

test('AbortController and AbortSignal', async () => {
  for (const code of [
    'const c = new AbortController(); return [c.signal.aborted, c.signal.reason, c.signal === c.signal, c.signal.onabort];',
    'const c = new AbortController(); c.abort(); return [c.signal.aborted, c.signal.reason, c.signal.reason instanceof DOMException];',
    'const c = new AbortController(); c.abort("why"); c.abort("again"); return c.signal.reason;',
    'const c = new AbortController(); c.abort(null); return c.signal.reason;',
    'const c = new AbortController(); c.abort(undefined); return c.signal.reason;',
    'const s = AbortSignal.abort(); return [s.aborted, s.reason];',
    'const s = AbortSignal.abort(7); return [s.aborted, s.reason];',
    'AbortSignal.abort().throwIfAborted(); return 0;',
    'AbortSignal.abort(new RangeError()).throwIfAborted(); return 0;',
    'return new AbortController().signal.throwIfAborted();',
    'return new AbortSignal();',
    'return AbortController();',
    'return Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted").get.call({});',
    'AbortController.prototype.abort.call({}); return 0;',
    'return new AbortController().signal instanceof EventTarget;',
    'return Object.keys(new AbortController());',
    '"use strict"; const s = new AbortController().signal; s.aborted = true; return s.aborted;',
    '"use strict"; const c = new AbortController(); c.signal = 1; return c.signal === 1;',
    'const s = new AbortController().signal; s.dispatchEvent(new Event("abort")); return s.aborted;',
  ]) {
    await same(code);
  }
});

test('abort events', async () => {
  for (const code of [
    's.addEventListener("abort", (e) => log.push(e.type, e.target === s, e instanceof Event)); c.abort(); c.abort();',
    's.onabort = function (e) { log.push(this === s, e.type); }; c.abort();',
    's.onabort = () => log.push("old"); s.onabort = () => log.push("new"); c.abort();',
    's.onabort = () => log.push("x"); s.onabort = null; c.abort(); log.push(s.onabort);',
    's.addEventListener("abort", () => log.push(1), { once: true }); c.abort(); s.dispatchEvent(new Event("abort"));',
    'const f = () => log.push("f"); s.addEventListener("abort", f); s.addEventListener("abort", f); c.abort();',
    'const f = () => log.push("f"); s.addEventListener("abort", f); s.removeEventListener("abort", f); c.abort();',
    's.addEventListener("abort", { handleEvent(e) { log.push(e.type, this.tag); }, tag: 3 }); c.abort();',
    's.addEventListener("abort", () => log.push(s.aborted, s.reason)); c.abort("r");',
    's.addEventListener("abort", () => { c.abort("inner"); log.push("once"); }); c.abort("outer"); log.push(s.reason);',
    's.addEventListener("abort", (e) => { e.stopImmediatePropagation(); log.push(1); }); s.addEventListener("abort", () => log.push(2)); c.abort();',
    'const other = new AbortController(); s.addEventListener("abort", () => log.push(1), { signal: other.signal }); other.abort(); c.abort();',
    's.addEventListener("abort", null); c.abort(); log.push(s.aborted);',
  ]) {
    await same(`const c = new AbortController(); const s = c.signal; const log = []; ${code} return log;`);
  }
});

test('AbortSignal.any', async () => {
  for (const code of [
    'const s = AbortSignal.any([]); return s.aborted;',
    'const s = AbortSignal.any([a.signal, b.signal]); b.abort("b"); a.abort("a"); return [s.aborted, s.reason];',
    'a.abort("a"); b.abort("b"); const s = AbortSignal.any([b.signal, a.signal]); return [s.aborted, s.reason];',
    'const s = AbortSignal.any([AbortSignal.any([a.signal]), b.signal]); a.abort("deep"); return s.reason;',
    'const s = AbortSignal.any([a.signal, a.signal]); let n = 0; s.onabort = () => n++; a.abort(); return n;',
    'return AbortSignal.any([a.signal, {}]);',
    'return AbortSignal.any([null]);',
    'return AbortSignal.any(5);',
    'return AbortSignal.any();',
  ]) {
    await same(`const a = new AbortController(); const b = new AbortController(); ${code}`);
  }
  // Node.js 20 takes arrays only.
  await gives(
    'const a = new AbortController(); const s = AbortSignal.any(new Set([a.signal])); a.abort(); return s.reason === a.signal.reason;',
    true,
  );
  // Node.js 20 aborts the following signal only after the listeners of the other have run.
  await gives(
    `const a = new AbortController(); const s = AbortSignal.any([a.signal]); const log = [];
     s.onabort = () => log.push('any'); a.signal.onabort = () => log.push('source', s.aborted); a.abort(); return log;`,
    ['source', true, 'any'],
  );
});

test('AbortSignal.timeout needs a grant', async () => {
  await gives('return AbortSignal.timeout(5);', { thrown: { error: 'NotSupportedError', code: 9 } });
  await gives('return AbortSignal.timeout(-1);', { thrown: { error: 'TypeError' } });
  for (const grant of ['timers', 'net']) {
    const realm = createRealm({ grants: [grant], host: () => ({}) });
    await gives(
      `const s = AbortSignal.timeout(50); const before = s.aborted; return new Promise((done) => { s.onabort = done; })
        .then(() => [before, s.aborted, s.reason.name, s.reason.code]);`,
      [false, true, 'TimeoutError', 23],
      realm,
    );
    assert.deepEqual(realm.operations.started, [{ kind: 'timer', payload: { ms: 50 }, bytes: undefined }]);
  }
});

test('many timeouts wait in one operation', async () => {
  const fire = [];
  const realm = createRealm({
    grants: ['net'],
    before: 'var now = 1000; Date.now = () => now;',
    host: (kind, payload, bytes, id) => new Promise((done) => { fire[id] = () => done({}); }),
  });
  const { operations, run } = realm;
  const tick = async (id, now) => {
    run(`now = ${now}`);
    await new Promise(setImmediate);
    fire[id]();
    await new Promise(setImmediate);
  };
  run('var seen = ""; var wait = (ms) => { AbortSignal.timeout(ms).onabort = () => { seen += ms + " "; }; };');
  run('wait(500); wait(700); wait(500); wait(900);');
  assert.deepEqual(operations.started.map(({ payload }) => payload.ms), [500]);
  // One that is due earlier takes the place of the operation.
  run('now = 1100; wait(100);');
  assert.deepEqual(operations.started.map(({ payload }) => payload.ms), [500, 100]);
  assert.deepEqual(operations.cancelled, [1]);
  await tick(2, 1200);
  assert.equal(run('seen'), '100 ');
  assert.equal(operations.started[2].payload.ms, 300);
  // The operation's end is the time, also where the clock stood still.
  await tick(3, 1200);
  assert.equal(run('seen'), '100 500 500 ');
  await tick(4, 1900);
  assert.equal(run('seen'), '100 500 500 700 900 ');
  assert.equal(operations.started.length, 4);
});

test('what a listener throws goes to the console and stops nobody', () => {
  const { run, logs } = createRealm();
  run(`const c = new AbortController();
    c.signal.onabort = () => { throw new RangeError('from listener'); };
    let heard = false;
    c.signal.addEventListener('abort', () => { heard = true; });
    c.abort();`);
  assert.equal(run('heard'), true);
  assert.equal(logs.length, 1);
  assert.equal(logs[0][0], 4);
  assert.match(logs[0][1], /^Uncaught RangeError: from listener/);
});

test('Event and EventTarget', async () => {
  for (const code of [
    'const e = new Event("x", { cancelable: true }); return [e.type, e.bubbles, e.cancelable, e.defaultPrevented, e.target, e.eventPhase];',
    'const t = new EventTarget(); t.addEventListener("x", (e) => e.preventDefault()); return [t.dispatchEvent(new Event("x", { cancelable: true })), t.dispatchEvent(new Event("x"))];',
    'class T extends EventTarget {} const t = new T(); let n = 0; t.addEventListener("x", () => n++); t.dispatchEvent(new Event("x")); return n;',
    'class E extends Event { d = 5; } const t = new EventTarget(); let d; t.addEventListener("x", (e) => { d = e.d; }); t.dispatchEvent(new E("x")); return d;',
    'EventTarget.prototype.addEventListener.call({}, "x", () => {}); return 0;',
    'return Event("x");',
    'return new Event();',
    'return new Event(undefined).type;',
    'return new Event(Symbol("s"));',
    'return new Event("x", 5);',
    'return new Event("x", null).type;',
    'const t = new EventTarget(); const e = new Event("x"); t.dispatchEvent(e); return [e.target === t, e.srcElement === t, e.currentTarget, e.eventPhase, e.composedPath().length];',
    'const t = new EventTarget(); const e = new Event("x"); const seen = []; t.addEventListener("x", (v) => seen.push(v === e, v.target === t, v.currentTarget === t, v.eventPhase, v.composedPath().length)); t.dispatchEvent(e); t.dispatchEvent(e); return seen;',
    'const t = new EventTarget(); const u = new EventTarget(); const e = new Event("x"); t.dispatchEvent(e); u.dispatchEvent(e); return e.target === u;',
    'const t = new EventTarget(); t.addEventListener("x", () => {}, { signal: null }); return 0;',
    'const t = new EventTarget(); t.addEventListener("x", () => {}, { signal: {} }); return 0;',
    'const t = new EventTarget(); t.addEventListener("x", null, { signal: null }); return 0;',
    'const t = new EventTarget(); t.addEventListener("x", () => {}, { signal: undefined }); return 0;',
    'const t = new EventTarget(); let n = 0; t.addEventListener("x", () => n++, { signal: AbortSignal.abort() }); t.dispatchEvent(new Event("x")); return n;',
    'return new EventTarget().dispatchEvent({ type: "x" });',
    'const t = new EventTarget(); const log = []; t.addEventListener("x", () => log.push("late")); t.addEventListener("x", () => log.push("capture"), true); t.addEventListener("x", () => log.push("once"), { once: true }); t.dispatchEvent(new Event("x")); t.dispatchEvent(new Event("x")); return log.length;',
    'const t = new EventTarget(); const log = []; const second = () => log.push(2); t.addEventListener("x", () => { log.push(1); t.removeEventListener("x", second); t.addEventListener("x", () => log.push(3)); }); t.addEventListener("x", second); t.dispatchEvent(new Event("x")); return log;',
    'const t = new EventTarget(); const f = () => {}; let n = 0; const g = () => n++; t.addEventListener("x", g); t.addEventListener("x", g, { capture: true }); t.removeEventListener("x", g); t.dispatchEvent(new Event("x")); return n;',
    'const e = new Event("x"); e.cancelBubble = true; return [e.cancelBubble, e.isTrusted, typeof e.timeStamp, Event.AT_TARGET];',
    'const c = new AbortController(); let trusted; c.signal.onabort = (e) => { trusted = e.isTrusted; }; c.abort(); return trusted;',
    'return Object.getOwnPropertyDescriptor(Event.prototype, "target").get.call({});',
  ]) {
    await same(code);
  }
});

test('an event that is being dispatched cannot be dispatched again', () =>
  gives(
    'const t = new EventTarget(); const e = new Event("x"); let name; t.addEventListener("x", () => { try { t.dispatchEvent(e); } catch (error) { name = error.name; } }); t.dispatchEvent(e); return name;',
    'InvalidStateError',
  ));

test('isTrusted is an own attribute that cannot be taken away', () =>
  gives('const e = new Event("x"); const d = Object.getOwnPropertyDescriptor(e, "isTrusted"); return [d.enumerable, d.configurable, typeof d.get, Object.keys(e)];', [true, false, 'function', ['isTrusted']]));

test('a passive listener cannot prevent the default', () =>
  gives(
    'const t = new EventTarget(); t.addEventListener("x", (e) => e.preventDefault(), { passive: true }); const e = new Event("x", { cancelable: true }); return [t.dispatchEvent(e), e.defaultPrevented, e.returnValue];',
    [true, false, true],
  ));

test('DOMException', async () => {
  for (const code of [
    'const e = new DOMException("m", "AbortError"); return [e.name, e.message, e.code, e instanceof Error, e instanceof DOMException];',
    'const e = new DOMException(); return [e.name, e.message, e.code];',
    'return [DOMException.ABORT_ERR, DOMException.DATA_CLONE_ERR, new DOMException("", "TimeoutError").code];',
    'return String(new DOMException("m", "NotFoundError"));',
    'return ["name", "message", "code"].map((key) => Object.getOwnPropertyDescriptor(DOMException.prototype, key)).map((d) => [d.enumerable, d.configurable, typeof d.get, typeof d.set]);',
    'const keys = []; for (const key in new DOMException()) keys.push(key); return ["name", "message", "code"].every((key) => keys.includes(key));',
    'return new URLSearchParams(DOMException.prototype);',
  ]) {
    await same(code);
  }
});

test('queueMicrotask', async () => {
  for (const code of [
    'const log = []; queueMicrotask(() => log.push(1)); log.push(0); return Promise.resolve().then(() => {}).then(() => log);',
    'queueMicrotask(); return 0;',
    'queueMicrotask("x"); return 0;',
    'return queueMicrotask(() => {});',
  ]) {
    await same(code);
  }
});
