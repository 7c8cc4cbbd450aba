// The engine's own functions, taken before any tool code runs.
//
// Invariant: whatever this prelude does after it has been evaluated goes through these bindings and never through a
// property of a global object or prototype, so a tool that replaces `Array.prototype.push` or `String` breaks its own
// code and not ours. Names follow one pattern: `<Class>Prototype<Method>` takes the receiver as its first argument,
// `<Class><Method>` is a static function.
//
// For the same reason the modules of this prelude do not spread, destructure or `for..of` arrays: all three look up
// `Array.prototype[Symbol.iterator]`. Nor do they put values into template literals: QuickJS makes of that a call of
// `String.prototype.concat`, looked up when it runs.

const { bind, call } = Function.prototype;

/** Turns a method into a function whose first argument is the receiver. */
const uncurryThis = bind.bind(call);

function getter(prototype, name) {
  return uncurryThis(Object.getOwnPropertyDescriptor(prototype, name).get);
}

/** The same for a getter that older engines lack; there it answers `undefined`. */
function optionalGetter(prototype, name) {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  return descriptor === undefined ? () => undefined : uncurryThis(descriptor.get);
}

export const {
  Error, Map, Number, Promise, Proxy, RangeError, Set, String, TypeError, Uint16Array, Uint8Array, WeakMap,
} = globalThis;
export const { BigInt64Array, BigUint64Array, Float32Array, Float64Array } = globalThis;

export const {
  create: ObjectCreate,
  defineProperty: ObjectDefineProperty,
  freeze: ObjectFreeze,
  getOwnPropertyDescriptor: ObjectGetOwnPropertyDescriptor,
  getPrototypeOf: ObjectGetPrototypeOf,
  is: ObjectIs,
  keys: ObjectKeys,
  setPrototypeOf: ObjectSetPrototypeOf,
} = Object;
export const ObjectPrototype = Object.prototype;
export const ObjectPrototypeHasOwnProperty = uncurryThis(Object.prototype.hasOwnProperty);

export const { apply: ReflectApply, deleteProperty: ReflectDeleteProperty, ownKeys: ReflectOwnKeys } = Reflect;

export const ErrorPrototype = Error.prototype;
export const FunctionPrototypeToString = uncurryThis(Function.prototype.toString);

export const ArrayIsArray = Array.isArray;
export const ArrayPrototypePush = uncurryThis(Array.prototype.push);
export const ArrayPrototypePop = uncurryThis(Array.prototype.pop);
export const ArrayPrototypeShift = uncurryThis(Array.prototype.shift);
export const ArrayPrototypeSort = uncurryThis(Array.prototype.sort);

export const StringFromCharCode = String.fromCharCode;
export const StringPrototypeCharCodeAt = uncurryThis(String.prototype.charCodeAt);
export const StringPrototypeIncludes = uncurryThis(String.prototype.includes);
export const StringPrototypeIndexOf = uncurryThis(String.prototype.indexOf);
export const StringPrototypePadStart = uncurryThis(String.prototype.padStart);
export const StringPrototypeRepeat = uncurryThis(String.prototype.repeat);
export const StringPrototypeSlice = uncurryThis(String.prototype.slice);
export const StringPrototypeStartsWith = uncurryThis(String.prototype.startsWith);
export const StringPrototypeIsWellFormed = uncurryThis(String.prototype.isWellFormed);
export const StringPrototypeToLowerCase = uncurryThis(String.prototype.toLowerCase);
export const StringPrototypeToUpperCase = uncurryThis(String.prototype.toUpperCase);
export const StringPrototypeToWellFormed = uncurryThis(String.prototype.toWellFormed);
export const StringPrototypeTrimEnd = uncurryThis(String.prototype.trimEnd);

export const NumberPrototypeToFixed = uncurryThis(Number.prototype.toFixed);
export const NumberPrototypeToString = uncurryThis(Number.prototype.toString);
export const NumberPrototypeValueOf = uncurryThis(Number.prototype.valueOf);
export const StringPrototypeValueOf = uncurryThis(String.prototype.valueOf);
export const BooleanPrototypeValueOf = uncurryThis(Boolean.prototype.valueOf);
export const BigIntPrototypeValueOf = uncurryThis(BigInt.prototype.valueOf);
export const SymbolPrototypeValueOf = uncurryThis(Symbol.prototype.valueOf);
export const SymbolPrototypeToString = uncurryThis(Symbol.prototype.toString);
export const NumberParseFloat = Number.parseFloat;
export const NumberParseInt = Number.parseInt;

export const DateNow = Date.now;
export const DatePrototypeGetTime = uncurryThis(Date.prototype.getTime);
export const DatePrototypeToISOString = uncurryThis(Date.prototype.toISOString);

export const RegExpPrototypeExec = uncurryThis(RegExp.prototype.exec);
export const RegExpPrototypeToString = uncurryThis(RegExp.prototype.toString);
export const RegExpPrototypeGetSource = getter(RegExp.prototype, 'source');

export const MapPrototypeDelete = uncurryThis(Map.prototype.delete);
export const MapPrototypeEntries = uncurryThis(Map.prototype.entries);
export const MapPrototypeGet = uncurryThis(Map.prototype.get);
export const MapPrototypeSet = uncurryThis(Map.prototype.set);
export const MapPrototypeGetSize = getter(Map.prototype, 'size');
export const SetPrototypeAdd = uncurryThis(Set.prototype.add);
export const SetPrototypeDelete = uncurryThis(Set.prototype.delete);
export const SetPrototypeValues = uncurryThis(Set.prototype.values);
export const SetPrototypeGetSize = getter(Set.prototype, 'size');
export const WeakMapPrototypeGet = uncurryThis(WeakMap.prototype.get);
export const WeakMapPrototypeSet = uncurryThis(WeakMap.prototype.set);
export const MapIteratorPrototypeNext = uncurryThis(new Map().entries().next);
export const SetIteratorPrototypeNext = uncurryThis(new Set().values().next);

export const { parse: JSONParse, stringify: JSONStringify } = JSON;

export const {
  asyncIterator: SymbolAsyncIterator,
  iterator: SymbolIterator,
  species: SymbolSpecies,
  toPrimitive: SymbolToPrimitive,
  toStringTag: SymbolToStringTag,
} = Symbol;
export const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
export const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype));

export const ArrayBufferIsView = ArrayBuffer.isView;
export const ArrayBufferPrototypeGetByteLength = getter(ArrayBuffer.prototype, 'byteLength');
export const ArrayBufferPrototypeGetResizable = optionalGetter(ArrayBuffer.prototype, 'resizable');
export const SharedArrayBufferPrototypeGetByteLength =
  typeof SharedArrayBuffer === 'function' ? getter(SharedArrayBuffer.prototype, 'byteLength') : undefined;

const TypedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);
export const TypedArrayPrototypeCopyWithin = uncurryThis(TypedArrayPrototype.copyWithin);
export const TypedArrayPrototypeFill = uncurryThis(TypedArrayPrototype.fill);
export const TypedArrayPrototypeIndexOf = uncurryThis(TypedArrayPrototype.indexOf);
export const TypedArrayPrototypeLastIndexOf = uncurryThis(TypedArrayPrototype.lastIndexOf);
export const TypedArrayPrototypeGetBuffer = getter(TypedArrayPrototype, 'buffer');
export const TypedArrayPrototypeGetByteLength = getter(TypedArrayPrototype, 'byteLength');
export const TypedArrayPrototypeGetByteOffset = getter(TypedArrayPrototype, 'byteOffset');
export const TypedArrayPrototypeGetLength = getter(TypedArrayPrototype, 'length');
/** The name of a typed array's class, or `undefined` for everything that is not a typed array. */
export const TypedArrayPrototypeGetToStringTag = getter(TypedArrayPrototype, Symbol.toStringTag);
export const TypedArrayPrototypeSet = uncurryThis(TypedArrayPrototype.set);

// Young functions that QuickJS has and some engines the tests run on have not; there they are `undefined`.
export const Uint8ArrayFromBase64 = Uint8Array.fromBase64;
export const Uint8ArrayFromHex = Uint8Array.fromHex;
export const Uint8ArrayPrototypeToBase64 = Uint8Array.prototype.toBase64 && uncurryThis(Uint8Array.prototype.toBase64);
export const Uint8ArrayPrototypeToHex = Uint8Array.prototype.toHex && uncurryThis(Uint8Array.prototype.toHex);

export const DataViewPrototypeGetBuffer = getter(DataView.prototype, 'buffer');
export const DataViewPrototypeGetByteLength = getter(DataView.prototype, 'byteLength');
export const DataViewPrototypeGetByteOffset = getter(DataView.prototype, 'byteOffset');

const ResolvedPromise = Promise.resolve();
export const PromiseResolve = uncurryThis(Promise.resolve);
export const PromisePrototypeThen = uncurryThis(Promise.prototype.then);
/** Runs `callback` as a microtask. */
export function afterThisTask(callback) {
  PromisePrototypeThen(ResolvedPromise, callback);
}
