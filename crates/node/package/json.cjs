"use strict";
// Values that cross the border as JSON.

/** Returns a value as JSON; `name` is what an error calls it. */
function stringify(value, name) {
  const found = problem(value, name, []);
  if (found !== undefined) throw new TypeError(found);
  let text;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`${name} is not JSON: ${messageOf(cause)}`, { cause });
  }
  if (text === undefined) throw new TypeError(`${name} is ${describe(value)}, which is not JSON`);
  return text;
}

/** Returns an object as JSON; `undefined` is an empty one. */
function stringifyObject(value, name) {
  if (value === undefined) return "{}";
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${name} is ${describe(value)}, it must be an object`);
  return stringify(value, name);
}

const MAX_DEPTH = 1000;

/** Finds what a value would lose as JSON, or what keeps it from being JSON. A property that is `undefined` is left out, as ever. */
function problem(value, path, within) {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${value}, which is not JSON`;
    case "bigint":
    case "function":
    case "symbol":
      return `${path} is a ${typeof value}, which is not JSON`;
  }
  if (value === null) return undefined;
  if (within.length >= MAX_DEPTH) return `${path.slice(0, 80)}… is nested more than ${MAX_DEPTH} deep`;
  if (within.includes(value)) return `${path} contains itself`;
  try {
    if (typeof value.toJSON === "function") return undefined;
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (["Map", "Set", "WeakMap", "WeakSet", "RegExp", "Error", "Promise"].includes(kind) || ArrayBuffer.isView(value) || kind.endsWith("ArrayBuffer"))
      return `${path} is a ${value.constructor?.name ?? kind}, which is not JSON`;
    within.push(value);
    for (const [key, item] of Object.entries(value)) {
      const found = problem(item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, within);
      if (found !== undefined) return found;
    }
    within.pop();
  } catch (error) {
    return `${path} cannot be read: ${messageOf(error)}`;
  }
  return undefined;
}

/** Parses what goes to a function of the host. A key `__proto__` is left out: copies of the object would take it for their prototype. */
function parseForHost(text) {
  return /proto|\\u/i.test(text) ? JSON.parse(text, dropProto) : JSON.parse(text);
}

function dropProto(key, value) {
  return key === "__proto__" ? undefined : value;
}

function describe(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "undefined" ? "undefined" : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

/** The message of anything that was thrown. */
function messageOf(error) {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that has no text";
  }
}

/** Refuses an option that there is not. */
function checkKeys(options, known, what) {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(`the options of ${what} are ${describe(options)}, they must be an object`);
  for (const key of Object.keys(options))
    if (!known.includes(key)) throw new TypeError(`${what} has no option \`${key}\`; it has ${known.join(", ")}`);
  return options;
}

module.exports = { stringify, stringifyObject, parseForHost, describe, messageOf, checkKeys };
