"use strict";
// Values that cross the border as JSON.

/** Returns a value as JSON; `name` is what an error calls it. */
function stringify(value, name) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(problem(value, name, []) ?? `${name} is not JSON: ${cause.message}`, { cause });
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

/** Finds what keeps a value from being JSON. */
function problem(value, path, within) {
  if (typeof value === "bigint") return `${path} is a bigint, which is not JSON`;
  if (typeof value !== "object" || value === null || typeof value.toJSON === "function") return undefined;
  if (within.includes(value)) return `${path} contains itself`;
  for (const [key, item] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
    const found = problem(item, place, [...within, value]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describe(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
}

module.exports = { stringify, stringifyObject, describe };
