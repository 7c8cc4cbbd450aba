// Evaluates the bundle in a bare realm and compares what it does with what Node.js does.
//
// Invariant: the realm has the built-ins of the language and nothing of Node.js, so the tests also cover the packages
// that stand in for what the engine lacks. The native functions are made here of Node.js' own URL and text classes.
//
// Code for a realm must not say `globalThis`, `SharedArrayBuffer` and the like: the bundle ends by hiding them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

import { describe } from './describe.js';

const bundle = new vm.Script(readFileSync(new URL('../dist/prelude.js', import.meta.url), 'utf8'), {
  filename: 'prelude.js',
});

const parts = [
  'href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash',
];

function wellFormed(text) {
  assert.equal(typeof text, 'string');
  assert.ok(text.isWellFormed(), 'the native functions take well-formed strings only');
  return text;
}

function partsOf(url) {
  return parts.map((part) => url[part]);
}

/** The native functions. What they return must be copied into the realm, see `adopt`. */
function makeNative(log) {
  return {
    urlParse(href, base) {
      wellFormed(href);
      if (base !== undefined) wellFormed(base);
      return URL.canParse(href, base) ? partsOf(new URL(href, base)) : undefined;
    },
    urlAbsolute(href) {
      if (!URL.canParse(wellFormed(href))) return undefined;
      const { href: absolute, username, password } = new URL(href);
      return [absolute, username !== '' || password !== ''];
    },
    urlSet(href, part, value) {
      assert.ok(parts.includes(part) && part !== 'origin');
      const url = new URL(wellFormed(href));
      try {
        url[part] = wellFormed(value);
      } catch {
        return undefined;
      }
      return partsOf(url);
    },
    // The leading question mark keeps one that belongs to the text from being stripped.
    formParse: (text) => [...new URLSearchParams(`?${wellFormed(text)}`)].flat(),
    formSerialize(flat) {
      const params = new URLSearchParams();
      for (let i = 0; i < flat.length; i += 2) params.append(wellFormed(flat[i]), wellFormed(flat[i + 1]));
      return params.toString();
    },
    utf8Encode: (text) => new TextEncoder().encode(wellFormed(text)),
    utf8Decode(buffer, offset, length, fatal) {
      const decoder = new TextDecoder('utf-8', { fatal, ignoreBOM: true });
      try {
        return decoder.decode(new Uint8Array(buffer, offset, length));
      } catch {
        return undefined;
      }
    },
    quote: wellFormed,
    log(level, text) {
      log(level, wellFormed(text));
    },
  };
}

// The functions that only the tool runtime uses, which comes with the bundle but is not what is tested here.
const runtimeOnly = `random: () => 0.5, partial: () => {},`;

// Runs inside the realm, so that arrays and bytes handed to the bundle are the realm's own.
const adopt = `(native) => {
  const { from } = Array;
  const bytesFrom = Uint8Array.from.bind(Uint8Array);
  const array = (items) => items && from(items);
  const waiting = { __proto__: null };
  const Promised = Promise;
  const { parse, stringify } = JSON;
  const settle = (id, ok, value, bytes) => {
    const record = waiting[id];
    waiting[id] = undefined;
    if (record !== undefined) lent.hooks.settle(record, ok, value, bytes);
  };
  globalThis.__toolcell_native = {
    url: {
      parse: (href, base) => array(native.urlParse(href, base)),
      set: (href, part, value) => array(native.urlSet(href, part, value)),
      absolute: (href) => array(native.urlAbsolute(href)),
    },
    form: { parse: (text) => array(native.formParse(text)), serialize: native.formSerialize },
    utf8: { encode: (text) => bytesFrom(native.utf8Encode(text)), decode: native.utf8Decode },
    log: native.log,
    // Plain data is for the Rust side to write; without it the prelude does all of it.
    json: () => undefined,
    quote: (text) => stringify(native.quote(text)),
    start(kind, payload, bytes, record) {
      const id = native.start(kind, payload, bytes);
      waiting[id] = record;
      return id;
    },
    request(kind, payload, bytes, read, context, place) {
      return new Promised((resolve, reject) => {
        const id = native.start(kind, payload, bytes);
        waiting[id] = {
          place,
          done(answer, piece) {
            const value = read === undefined ? answer : read(answer, piece, context, id, place);
            if (value === undefined) reject(lent.hooks.malformed(kind, place));
            else resolve(value === lent.hooks.nothing ? undefined : value);
          },
          failed: reject,
        };
      });
    },
    cancel(id) {
      if (waiting[id] === undefined) return;
      waiting[id] = undefined;
      native.cancel(id);
    },
    release: native.release,
    ${runtimeOnly}
  };
  const lent = globalThis.__toolcell_native;
  return {
    grant: (names, secrets, servers) => lent.hooks.grant(names, secrets, servers),
    // What is told of a value that was thrown: name, message and stack.
    inspect: (thrown) => lent.hooks.inspect(thrown),
    settle: (id, json, bytes) => settle(id, true, parse(json), bytes && bytesFrom(bytes)),
    fail: (id, failure) => settle(id, false, parse(failure)),
  };
}`;

/**
 * What the realm asks the host for. `host(kind, payload, bytes, id)` answers with `{ json, bytes }` or `{ failure }`, or
 * with `undefined` for never; answers come in a later task, as the guest's do. `started` and `cancelled` say what
 * happened, with `released` for numbers whose rest nobody reads.
 */
function makeOperations(host) {
  const operations = { started: [], cancelled: [], released: [], hooks: undefined };
  const gone = new Set();
  operations.native = {
    start(kind, payload, bytes) {
      // By its internal slots, for the realm's prototypes may be poisoned.
      const copy = bytes === undefined ? undefined : [...new Uint8Array(bytes)];
      const id = operations.started.push({ kind, payload: JSON.parse(wellFormed(payload)), bytes: copy });
      setImmediate(async () => {
        const answer = await host(kind, JSON.parse(payload), copy, id);
        if (answer === undefined || gone.has(id)) return;
        if (answer.failure) operations.hooks.fail(id, JSON.stringify(answer.failure));
        else operations.hooks.settle(id, JSON.stringify(answer.json ?? null), answer.bytes);
      });
      return id;
    },
    cancel(id) {
      gone.add(id);
      operations.cancelled.push(id);
    },
    release: (id) => operations.released.push(id),
  };
  return operations;
}

/**
 * A fresh realm in which the bundle has been evaluated. `logs` collects what the console wrote as [level, text];
 * `grants` are made to exist, and `operations` is what they ask of `host`.
 */
export function createRealm({ before = '', log, grants = [], secrets = [], servers = [], host = () => undefined } = {}) {
  const context = vm.createContext({});
  const logs = [];
  const run = (code) => vm.runInContext(code, context);
  const names = () => new Set(run('Reflect.ownKeys(this)'));
  run('delete globalThis.console');
  run(before);
  const operations = makeOperations(host);
  operations.hooks = run(adopt)({ ...makeNative(log ?? ((level, text) => logs.push([level, text]))), ...operations.native });
  const namesBefore = names();
  bundle.runInContext(context);
  operations.hooks.grant(grants, secrets, servers);
  return {
    logs,
    operations,
    run,
    added: [...names()].filter((name) => !namesBefore.has(name)).sort(),
    removed: [...namesBefore].filter((name) => !names().has(name)),
  };
}

/** Evaluates an expression, or the body of a function that returns, and describes its value or what it threw. */
function wrap(code) {
  const body = /\breturn\b|\bthrow\b/.test(code) ? code : `return (${code});`;
  return `(async () => {
    const describe = ${describe};
    const failed = (error) => ({ thrown: describe(error) });
    let result;
    try {
      result = (() => { ${body} })();
    } catch (error) {
      return JSON.stringify(failed(error));
    }
    try {
      return JSON.stringify(describe(await result));
    } catch (error) {
      return JSON.stringify(failed(error));
    }
  })()`;
}

let shared;

/** What the bundle makes of `code`. */
export async function actual(code, realm = (shared ??= createRealm())) {
  return JSON.parse(await realm.run(wrap(code)));
}

/** Asserts that the bundle makes of `code` what Node.js makes of it. */
export async function same(code, realm) {
  const expected = JSON.parse(await vm.runInThisContext(wrap(code)));
  assert.deepEqual(await actual(code, realm), expected, code);
}

/** Asserts what the bundle makes of `code`, where Node.js is no model. */
export async function gives(code, expected, realm) {
  assert.deepEqual(await actual(code, realm), expected, code);
}
