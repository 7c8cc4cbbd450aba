// The bundle as a whole: what it installs, what it leaves behind, and that it is what the sources give.
//
// Invariant: the global object gains exactly the names listed here, and no native function can be reached from it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createRealm } from './helpers.js';

const names = [
  'AbortController', 'AbortSignal', 'Buffer', 'DOMException', 'Event', 'EventTarget', 'TextDecoder', 'TextEncoder',
  'URL', 'URLSearchParams', 'atob', 'btoa', 'console', 'queueMicrotask', 'structuredClone',
];

test('installs the web APIs and removes the native functions', () => {
  const { added, removed, run } = createRealm();
  assert.deepEqual(added, names);
  assert.ok(removed.includes('__toolcell_native'));
  for (const name of names) {
    const { enumerable, writable, configurable } = run(`Object.getOwnPropertyDescriptor(this, '${name}')`);
    assert.deepEqual({ enumerable, writable, configurable }, { enumerable: false, writable: true, configurable: true });
  }
});

test('refuses to run without the native functions', () => {
  assert.throws(() => createRealm({ before: 'Object.defineProperty(globalThis, "__toolcell_native", { set() {} })' }), {
    message: /__toolcell_native/,
  });
});

test('keeps the names of functions and classes', () => {
  const { run } = createRealm();
  for (const name of names.filter((name) => name !== 'console')) {
    assert.equal(run(`${name}.name`), name);
  }
  assert.equal(run('console.log.name'), 'log');
  assert.equal(run('URL.prototype.toJSON.name'), 'toJSON');
  assert.equal(run('Buffer.prototype.toString.name'), 'toString');
});

test('names its objects and shows its members like a web platform', () => {
  const { run } = createRealm();
  for (const [value, tag] of [
    ['new URL("a:")', 'URL'],
    ['new URLSearchParams()', 'URLSearchParams'],
    ['new URLSearchParams().keys()', 'URLSearchParams Iterator'],
    ['new TextEncoder()', 'TextEncoder'],
    ['new TextDecoder()', 'TextDecoder'],
    ['new AbortController()', 'AbortController'],
    ['new AbortController().signal', 'AbortSignal'],
    ['new Event("x")', 'Event'],
    ['new EventTarget()', 'EventTarget'],
    ['new DOMException()', 'DOMException'],
    ['console', 'console'],
  ]) {
    assert.equal(run(`Object.prototype.toString.call(${value})`), `[object ${tag}]`);
  }
  assert.ok(run('Object.keys(URL.prototype).includes("href")'));
  assert.ok(!run('Object.keys(URL.prototype).includes("constructor")'));
});

test('uses what the engine has itself', () => {
  const { run } = createRealm({
    before: `
      globalThis.DOMException = class DOMException extends Error {
        #name;
        constructor(message, name) { super(message); this.#name = name; }
        get name() { return this.#name; }
        get code() { return { InvalidCharacterError: 5, DataCloneError: 25, AbortError: 20 }[this.#name]; }
      };
      globalThis.atob = function native() {};
      globalThis.btoa = function native() {};
      globalThis.queueMicrotask = function native() {};
      globalThis.own = { DOMException, atob, btoa, queueMicrotask };
    `,
  });
  for (const name of ['DOMException', 'atob', 'btoa', 'queueMicrotask']) {
    assert.ok(run(`${name} === own.${name}`), name);
  }
  assert.ok(run('try { structuredClone(() => {}) } catch (e) { e instanceof own.DOMException && e.code === 25 }'));
  assert.ok(run('AbortSignal.abort().reason instanceof own.DOMException'));
});

test('draws no random number and reads no clock while it is evaluated', () => {
  createRealm({
    before: `
      Math.random = () => { throw new Error('random number drawn'); };
      Date.now = () => { throw new Error('clock read'); };
      globalThis.Date = class extends Date {
        constructor(...args) { if (args.length === 0) throw new Error('clock read'); super(...args); }
      };
    `,
  });
});

test('the checked-in bundle is what the sources give', { timeout: 60_000 }, () => {
  execFileSync(process.execPath, ['build.mjs', '--check'], { cwd: fileURLToPath(new URL('..', import.meta.url)) });
});

test('the sources use no syntax that looks up methods a tool can replace', () => {
  for (const folder of [new URL('../src/', import.meta.url), new URL('../cell/', import.meta.url)]) {
    for (const name of readdirSync(folder)) {
      // A template with a substitution, see `intrinsics.js`.
      assert.doesNotMatch(readFileSync(new URL(name, folder), 'utf8'), /`[^`'\n]*\$\{/, name);
    }
  }
});

test('the lock file names no registry', () => {
  const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  assert.doesNotMatch(lock, /"resolved"|registry/);
});
