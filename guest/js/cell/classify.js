// What a result holds that is no plain data, and what it becomes.
//
// Invariant: nothing is changed without a message, but for what `JSON.stringify` unwraps for everybody (boxed
// primitives). Kinds are told by internal slots, read with captured getters, not by names that a tool could fake.

const { isArray } = Array;
const toNumber = Number;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);
const mapForEach = uncurry(Map.prototype.forEach);
const setForEach = uncurry(Set.prototype.forEach);
const bigintText = uncurry(BigInt.prototype.toString);
const bigintValue = uncurry(BigInt.prototype.valueOf);
const numberValue = uncurry(Number.prototype.valueOf);
const stringValue = uncurry(String.prototype.valueOf);
const booleanValue = uncurry(Boolean.prototype.valueOf);
const regexpSource = getter(RegExp.prototype, "source");
const regexpFlags = getter(RegExp.prototype, "flags");
const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
const typedArrayLength = getter(typedArrayPrototype, "length");
const viewBuffer = getter(DataView.prototype, "buffer");
const viewOffset = getter(DataView.prototype, "byteOffset");
const viewLength = getter(DataView.prototype, "byteLength");
const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
const Bytes = Uint8Array;

const kinds = [
  [Map.prototype, (value) => {
    const entries = [];
    mapForEach(value, (member, key) => put(entries, [key, member]));
    return [entries, "the Map became an array of its entries"];
  }],
  [Set.prototype, (value) => {
    const members = [];
    setForEach(value, (member) => put(members, member));
    return [members, "the Set became an array of its members"];
  }],
  [Error.prototype, (value) => {
    const plain = { name: "" + value.name, message: "" + value.message };
    const own = keys(value);
    for (let index = 0; index < own.length; index++) define(plain, own[index], value[own[index]]);
    return [plain, "the Error became an object with its name and message"];
  }],
  [typedArrayPrototype, (value) => [value, "the typed array became an array of its elements", typedArrayLength(value)]],
  [ArrayBuffer.prototype, (value) => [
    new Bytes(value, 0, bufferLength(value)),
    "the ArrayBuffer became an array of its bytes",
    bufferLength(value),
  ]],
  [DataView.prototype, (value) => [
    new Bytes(viewBuffer(value), viewOffset(value), viewLength(value)),
    "the DataView became an array of its bytes",
    viewLength(value),
  ]],
  [RegExp.prototype, (value) => ["/" + regexpSource(value) + "/" + regexpFlags(value), "the RegExp became its text"]],
  [Promise.prototype, () => [null, "a promise that was not awaited became null"]],
  [WeakMap.prototype, () => [null, "the WeakMap became null"]],
  [WeakSet.prototype, () => [null, "the WeakSet became null"]],
  [Number.prototype, (value) => [numberValue(value), undefined]],
  [String.prototype, (value) => [stringValue(value), undefined]],
  [Boolean.prototype, (value) => [booleanValue(value), undefined]],
  [BigInt.prototype, (value) => bigint(bigintValue(value))],
];

/**
 * `[replacement, message, length]`, or `undefined` where the value is written property by property. Where nothing can
 * replace it, the message is what it was; a replacement with a length is written element by element.
 */
export function classify(value) {
  switch (typeof value) {
    case "function":
      return [undefined, "a function"];
    case "symbol":
      return [undefined, "a symbol"];
    case "bigint":
      return bigint(value);
  }
  // A proxy of an array is one, as `JSON.stringify` sees it.
  if (isArray(value)) return [value, undefined, toNumber(value.length)];
  // The prototypes tell which slot is worth asking for: each wrong guess would make an error.
  let prototype = getPrototypeOf(value);
  for (let depth = 0; prototype !== null && depth < 16; depth++) {
    for (let index = 0; index < kinds.length; index++) {
      if (kinds[index][0] !== prototype) continue;
      try {
        return kinds[index][1](value);
      } catch {
        return undefined;
      }
    }
    prototype = getPrototypeOf(prototype);
  }
  return undefined;
}

function bigint(value) {
  const { toJSON } = value;
  if (typeof toJSON === "function") return [value.toJSON(""), undefined];
  return [bigintText(value), "the BigInt became its decimal text"];
}

function put(array, value) {
  define(array, array.length, value);
}

// An assignment could run a setter that a tool put on a prototype.
function define(object, key, value) {
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}
