// What is told of a value that a tool threw.
//
// Invariant: reading a thrown value never throws, and of an object that is no Error its class is kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRealm } from './helpers.js';

const { run, operations } = createRealm();

/** Name and message of what is told of a value. */
function told(code) {
  const [name, message] = operations.hooks.inspect(run(`(() => { ${code} })()`));
  return [name, message];
}

test('a throw that is no error keeps the name of its class', () => {
  for (const [code, expected] of [
    ['class Foo {} return new Foo();', ['Foo', '{}']],
    ['class Foo { constructor() { this.message = "m"; } } return new Foo();', ['Foo', 'm']],
    ['class Foo { status = 404; } return new Foo();', ['Foo', '{"status":404}']],
    ['class Foo {} class Bar extends Foo {} return new Bar();', ['Bar', '{}']],
    ['function Test262Error(message) { this.message = message; } return new Test262Error("t");', ['Test262Error', 't']],
    ['class Foo { name = "bob"; } return new Foo();', ['Foo', '{"name":"bob"}']],
    ['return new Map();', ['Map', '{}']],
    ['return [1];', ['Array', '[1]']],
    ['return Promise.resolve();', ['Promise', '{}']],
    // Plain objects have no class of their own, and those that look like an error keep the name that they chose.
    ['return { a: 1 };', ['Error', '{"a":1}']],
    ['return Object.create(null);', ['Error', '{}']],
    ['return { name: "HttpError", message: "404" };', ['HttpError', '404']],
    ['class Failure { name = "HttpError"; message = "404"; } return new Failure();', ['HttpError', '404']],
    ['return 5;', ['Error', '5']],
    ['return null;', ['Error', 'null']],
    ['return Symbol("s");', ['Error', 'Symbol(s)']],
    ['return function foo() {};', ['foo', '']],
  ]) {
    assert.deepEqual(told(code), expected, code);
  }
});

test('errors are told as before', () => {
  for (const [code, expected] of [
    ['return new RangeError("m");', ['RangeError', 'm']],
    ['class Mine extends Error {} return new Mine("m");', ['Error', 'm']],
    ['class Mine extends Error { get name() { return "Mine"; } } return new Mine("m");', ['Mine', 'm']],
    ['const e = new Error("m"); e.name = "Given"; return e;', ['Given', 'm']],
    ['const e = new Error("m"); e.name = 5; return e;', ['Error', 'm']],
    ['return new DOMException("m", "AbortError");', ['AbortError', 'm']],
  ]) {
    assert.deepEqual(told(code), expected, code);
  }
});

test('reading what was thrown never throws, and finds no class by way of a getter', () => {
  for (const [code, expected] of [
    ['class Foo { get name() { throw 1; } get message() { throw 2; } get stack() { throw 3; } toJSON() { throw 4; } } return new Foo();', ['Foo', '']],
    ['return { get constructor() { throw 1; } };', ['Error', '']],
    ['return { constructor: new Proxy(class Foo {}, { getOwnPropertyDescriptor() { throw 1; } }) };', ['Error', '{}']],
    ['class Foo { static get name() { throw 1; } } return new Foo();', ['Error', '{}']],
    ['class Foo { static name = { toString() { throw 1; } }; } return new Foo();', ['Error', '{}']],
    ['return new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; }, getOwnPropertyDescriptor() { throw 3; }, ownKeys() { throw 4; } });', ['Error', '']],
    ['const p = new Proxy({}, { getPrototypeOf() { return p; }, get() {}, getOwnPropertyDescriptor() {} }); return p;', ['Error', '{}']],
    ['const p = new Proxy(class Foo {}, {}); return new p();', ['Foo', '{}']],
    ['class Foo { message = { toString() { throw 1; } }; } return new Foo();', ['Foo', '']],
  ]) {
    assert.deepEqual(told(code), expected, code);
  }
});
