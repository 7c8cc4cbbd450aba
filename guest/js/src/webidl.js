// The few rules that the web classes of this prelude share: how strings are converted, and what classes and errors
// look like from outside.
//
// Invariant: a string that leaves `toUSVString` is well formed, so it may be handed to the native functions.

import {
  ObjectDefineProperty,
  String,
  StringPrototypeToWellFormed,
  SymbolToStringTag,
  TypeError,
} from './intrinsics.js';

/** Objects may answer to this symbol with how the console shows them; Node.js gave it its name. */
export const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/** Converts like `String(value)`, but throws for symbols. */
export function toText(value) {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a symbol to a string');
  return String(value);
}

/** The same, with lone surrogates replaced by U+FFFD. */
export function toUSVString(value) {
  return StringPrototypeToWellFormed(toText(value));
}

/** Makes `members` of `Class` enumerable and names its instances, as browsers and Node.js do for web classes. */
export function shapeClass(Class, name, members) {
  for (let i = 0; i < members.length; i++) {
    ObjectDefineProperty(Class.prototype, members[i], { __proto__: null, enumerable: true });
  }
  ObjectDefineProperty(Class.prototype, SymbolToStringTag, {
    __proto__: null,
    value: name,
    writable: false,
    enumerable: false,
    configurable: true,
  });
}

/** An object that is given as a dictionary; nothing is an empty one. */
export function dictionaryOf(value, what) {
  if (value === undefined || value === null) return { __proto__: null };
  if (typeof value !== 'object' && typeof value !== 'function') throw new TypeError(what + ' must be an object');
  return value;
}

/** Throws the TypeError of a call with too few arguments. */
export function requireArguments(actual, needed, what) {
  if (actual < needed) {
    throw new TypeError(what + ' needs ' + needed + ' argument' + (needed === 1 ? '' : 's') + ', but got ' + actual);
  }
}

/** Adds a property to an error without running a setter the tool may have put on a prototype. */
export function addErrorProperty(error, name, value) {
  ObjectDefineProperty(error, name, {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
