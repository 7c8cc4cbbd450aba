// What a tool may ask of the host: each operation ends with the answer of the host, or with its failure.
//
// Invariant: an operation's number comes from the guest's Rust side, counted in the order of the calls, and so does what
// waits for it. Nothing of a tool runs in here: whoever waits for an operation settles promises or queues jobs, so that
// all operations which ended together are told to the tool before any of it goes on.

import { DOMException } from "../src/dom-exception.js";
import {
  Error,
  ObjectDefineProperty,
  ObjectPrototypeHasOwnProperty,
  Promise,
  TypeError,
} from "../src/intrinsics.js";
import { native } from "../src/native.js";
import { addErrorProperty } from "../src/webidl.js";
import { here, stackOf } from "./errors.js";

/** Gives this module what it needs of the other modules. */
export function connect(AbortController) {
  neverAborted = new AbortController().signal;
}

/** The signal that a factory's tool gets: a cancelled call is ended for good, so it never fires inside of one. */
export let neverAborted;

/**
 * Starts an operation and gives its number. Once, `done(answer, bytes)` or `failed(error)` is called; the error says
 * that it happened at `place`, if one is given. `payload` is JSON text, `bytes` a Uint8Array or `undefined`.
 */
export function start(kind, payload, bytes, place, done, failed) {
  return native.start(kind, payload, bytes, { place, done, failed });
}

/** Forgets an operation that has not ended. */
export function cancel(id) {
  native.cancel(id);
}

/** Tells the host that nobody reads the rest of what the operation `id`, which has ended, gave. */
export function release(id) {
  native.release(id);
}

/** Ends an operation that was started with a value and bytes, or with `{ name, message, code, effects }` of a failure. */
export function settle(operation, ok, value, bytes) {
  if (!ok) {
    operation.failed(failure(value.name, value.message, value.code, value.effects, operation.place));
    return;
  }
  try {
    operation.done(value, bytes);
  } catch (error) {
    operation.failed(misread(error, operation.place));
  }
}

/**
 * A promise of what `read(answer, bytes, context)` makes of an operation's answer; it refuses an answer with `undefined`.
 * What is sent is `write(a, b, c)`, the JSON text, and `content(a, b, c)`, the bytes, if there are any. All of these are
 * functions of their module: a closure for each operation would be dearer than the rest of it.
 */
export function request(kind, read, write, content, a, b, c) {
  const place = here(request);
  let payload;
  let bytes;
  try {
    payload = write(a, b, c);
    if (content !== undefined) bytes = content(a, b, c);
  } catch (error) {
    return rejected(error);
  }
  return native.request(kind, payload, bytes, read, a, place);
}

/** A promise that is rejected. */
export function rejected(error) {
  return new Promise((resolve, reject) => reject(error));
}

/** What the reader of an answer gives where the tool is to see `undefined`. */
export const NOTHING = { __proto__: null };

/** Reads an answer that says no more than that it is done. */
export function nothing(answer) {
  return answer === null ? NOTHING : undefined;
}

/** The error of an answer that is not what this kind of operation answers. */
export function malformed(kind, place) {
  const message = "the host's answer to `" + kind + "` is malformed, so it is not known what happened";
  return failure("TypeError", message, "answer-malformed", "started", place);
}

/** What was thrown while an answer was read, which happened at `place`, if one is given. */
export function misread(error, place) {
  if (place !== undefined) define(error, "stack", stackOf(place));
  return error;
}

// Those that are no errors of the language itself.
const EXCEPTIONS = {
  __proto__: null,
  AbortError: true,
  DataError: true,
  InvalidStateError: true,
  NetworkError: true,
  NotAllowedError: true,
  NotFoundError: true,
  NotSupportedError: true,
  QuotaExceededError: true,
  SecurityError: true,
  TimeoutError: true,
};

/** The error of an operation that failed at `place`, if one is given. */
export function failure(name, message, code, effects, place) {
  let error;
  if (name === "TypeError") {
    error = new TypeError(message);
  } else if (EXCEPTIONS[name]) {
    error = new DOMException(message, name);
  } else {
    error = new Error(message);
    if (name !== "Error") define(error, "name", name);
  }
  if (place !== undefined) define(error, "stack", stackOf(place));
  addErrorProperty(error, "code", code);
  addErrorProperty(error, "effects", effects);
  return error;
}

function define(object, key, value) {
  ObjectDefineProperty(object, key, { __proto__: null, value, writable: true, configurable: true });
}

/** A member of an answer itself, never one that a tool put on a prototype. */
export function own(answer, key) {
  return typeof answer === "object" && answer !== null && ObjectPrototypeHasOwnProperty(answer, key)
    ? answer[key]
    : undefined;
}

/** The JSON text of a well-formed string. */
export function quote(string) {
  return native.quote(string);
}
