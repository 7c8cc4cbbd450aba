// What the arguments of capabilities may be, checked before anything is sent.
//
// Invariant: a value that is sent comes back as it was; one that JSON would change without a word is refused.

import {
  ArrayIsArray,
  JSONStringify,
  Number,
  ObjectPrototype,
  StringPrototypeIsWellFormed,
  StringPrototypeSlice,
  TypeError,
  Uint8Array,
} from "../src/intrinsics.js";
import { bytesOf } from "../src/bytes.js";
import { encodeUtf8 } from "../src/encoding.js";
import { native } from "../src/native.js";
import { classify } from "./classify.js";

/** The JSON text of `value`; `what` names it in a TypeError. */
export function jsonOf(value, what) {
  const plain = native.json(value, ObjectPrototype);
  return plain === undefined ? jsonOfAnything(value, what) : plain;
}

/** The same of a value that is no plain data, or holds what JSON would change. */
function jsonOfAnything(value, what) {
  const text = JSONStringify(value, function (key, member) {
    const wrong = flaw(member, ArrayIsArray(this));
    if (wrong === undefined) return member;
    const where = key === "" ? what : "`" + shortened(key) + "` in " + what;
    throw new TypeError(where + " is " + wrong + ", which JSON cannot hold: send what stands for it");
  });
  if (text === undefined) throw new TypeError(what + " is undefined, which JSON cannot hold: leave it out, or send null");
  return text;
}

/** What is wrong with a member. One that is `undefined` is left out of an object, as everywhere. */
function flaw(member, inArray) {
  switch (typeof member) {
    case "undefined":
      return inArray ? "undefined" : undefined;
    case "number":
      return member - member === 0 ? undefined : "" + member;
    case "string":
      return StringPrototypeIsWellFormed(member) ? undefined : "a text with half a character (see toWellFormed)";
    case "boolean":
      return undefined;
    case "bigint":
      return "a BigInt";
    case "object": {
      if (member === null) return undefined;
      const found = classify(member);
      return found === undefined || found[1] === undefined ? undefined : "an object that is no plain data";
    }
    default:
      return "a " + typeof member;
  }
}

function shortened(key) {
  return key.length > 64 ? StringPrototypeSlice(key, 0, 64) + "\u2026" : key;
}

/** A text that is given as an argument. */
export function textOf(value, what) {
  if (typeof value !== "string") throw new TypeError(what + " must be a string");
  if (!StringPrototypeIsWellFormed(value)) throw new TypeError(what + " has half a character (see toWellFormed)");
  return value;
}

/** An object that is given as an argument, or nothing. */
export function optionsOf(value, what) {
  if (value === undefined || value === null) return { __proto__: null };
  if (typeof value !== "object") throw new TypeError(what + " must be an object");
  return value;
}

/** A whole number from `least` on. */
export function wholeOf(value, least, what) {
  if (typeof value !== "number" || value % 1 !== 0 || value < least || value > Number.MAX_SAFE_INTEGER) {
    throw new TypeError(what + " must be a whole number, " + least + " or more");
  }
  return value;
}

/** The bytes of a text or of a buffer; of a buffer they are a copy. */
export function contentOf(value, what) {
  if (typeof value === "string") return encodeUtf8(value);
  return new Uint8Array(bytesOf(value, what));
}
