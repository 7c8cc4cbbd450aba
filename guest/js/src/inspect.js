// Shows any value as one line of text the way Node.js does, in bounded time and space.
//
// Invariant: the work is bounded by `limit`, not by the size of the value. Every element shown uses up some of the
// limit, and where it is used up the rest is only counted. Getters are not run. Nothing here throws, except what a
// proxy trap, a custom inspection function or a stack overflow throws; `inspect` turns that into a text as well.
//
// The known packages do not bound their work: one lists every index of a typed array, another asks for the property
// descriptors of all elements before it shows the first hundred. Logging a response body must not end a tool.

import {
  ArrayBufferPrototypeGetByteLength,
  ArrayIsArray,
  ArrayPrototypePop,
  ArrayPrototypePush,
  BigIntPrototypeValueOf,
  BooleanPrototypeValueOf,
  DatePrototypeGetTime,
  DatePrototypeToISOString,
  ErrorPrototype,
  FunctionPrototypeToString,
  Map,
  MapIteratorPrototypeNext,
  MapPrototypeEntries,
  MapPrototypeGet,
  MapPrototypeGetSize,
  MapPrototypeSet,
  Number,
  NumberPrototypeToString,
  NumberPrototypeValueOf,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetPrototypeOf,
  ObjectIs,
  ObjectPrototypeHasOwnProperty,
  ReflectApply,
  ReflectOwnKeys,
  RegExpPrototypeExec,
  RegExpPrototypeGetSource,
  RegExpPrototypeToString,
  Set,
  SetIteratorPrototypeNext,
  SetPrototypeGetSize,
  SetPrototypeValues,
  String,
  StringPrototypeCharCodeAt,
  StringPrototypeIncludes,
  StringPrototypePadStart,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  StringPrototypeTrimEnd,
  StringPrototypeValueOf,
  SymbolPrototypeToString,
  SymbolPrototypeValueOf,
  SymbolToStringTag,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetToStringTag,
  Uint8Array,
} from './intrinsics.js';
import { inspectCustom } from './webidl.js';

const maxElements = 100;
const maxStringLength = 10000;
const maxBytes = 100;
// A proxy may invent prototypes without end, and inspection functions nested values.
const maxPrototypes = 100;
const maxNesting = 32;

/** Shows `value` with `depth` levels of nesting, in little more than `limit` UTF-16 units. Never throws. */
export function inspect(value, depth, limit) {
  try {
    return show({ room: limit, depth, ancestors: [] }, value);
  } catch (error) {
    return uninspectable(error);
  }
}

/** The text in place of a value that could not be shown. */
export function uninspectable(error) {
  let reason = 'unknown reason';
  try {
    reason = isError(error) ? errorTitle(error) : 'threw ' + typeof error;
  } catch {
    // An error whose name or message throws as well has no better text.
  }
  return '[uninspectable: ' + cut(reason, 200) + ']';
}

/** The first `limit` units of `text`, and how many more there were. */
export function cut(text, limit) {
  if (text.length <= limit) return text;
  const last = StringPrototypeCharCodeAt(text, limit - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
  const more = text.length - end;
  return StringPrototypeSlice(text, 0, end) + '... ' + more + ' more character' + (more === 1 ? '' : 's');
}

/** Shows a number; `String` loses the sign of -0. */
export function showNumber(value) {
  return ObjectIs(value, -0) ? '-0' : '' + value;
}

// Shows a value and pays for its text. What containers add themselves is paid per element, in `showList`.
function show(state, value) {
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) return showObject(state, value);
  const text = showPrimitive(state, value);
  state.room -= text.length;
  return text;
}

function showPrimitive(state, value) {
  switch (typeof value) {
    case 'string':
      return showString(value, state.room);
    case 'number':
      return showNumber(value);
    case 'bigint':
      return value + 'n';
    case 'symbol':
      return SymbolPrototypeToString(value);
    default:
      return '' + value;
  }
}

function showObject(state, value) {
  for (let i = 0; i < state.ancestors.length; i++) {
    if (state.ancestors[i] === value) return '[Circular]';
  }

  if (state.ancestors.length >= maxNesting) return '[...]';
  ArrayPrototypePush(state.ancestors, value);
  const text = showCustom(state, value) ?? showPlainly(state, value);
  ArrayPrototypePop(state.ancestors);
  return text;
}

function showPlainly(state, value) {
  const tooDeep = state.ancestors.length > state.depth + 1;
  if (typeof value === 'function') return showFunction(state, value, tooDeep);
  return tooDeep ? '[' + (nameOf(value) ?? 'Object: null prototype') + ']' : showByKind(state, value);
}

/** What the value's own inspection function makes of it; `undefined` if there is none or it leaves that to us. */
function showCustom(state, value) {
  const custom = value[inspectCustom];
  if (typeof custom !== 'function') return undefined;
  const depth = state.depth - state.ancestors.length + 1;
  const options = { depth, stylize: (text) => text };
  const result = ReflectApply(custom, value, [depth, options, (inner) => show(state, inner)]);
  if (result === value) return undefined;
  if (typeof result !== 'string') return show(state, result);
  const text = cut(result, state.room > 0 ? state.room : 0);
  state.room -= text.length;
  return text;
}

function showByKind(state, value) {
  if (ArrayIsArray(value)) return showArray(state, value);
  const typedArray = TypedArrayPrototypeGetToStringTag(value);
  if (typedArray !== undefined) return showTypedArray(state, value, typedArray);

  const text = kindOf(value)?.(state, value);
  if (text !== undefined) return text;

  const prefix = nameOf(value) === 'Object' && tagOf(value) === '' ? '' : prefixOf(value, 'Object', '');
  const properties = showProperties(state, value, noKeys);
  return prefix + (properties === '' ? '{}' : '{ ' + properties + ' }');
}

/** How to show what inherits from one of the built-in classes below, or `undefined`. */
function kindOf(value) {
  // Only the prototypes tell which internal slot is worth asking for: each wrong guess would make an error.
  let prototype = ObjectGetPrototypeOf(value);
  for (let i = 0; i < maxPrototypes && prototype !== null; i++) {
    const kind = MapPrototypeGet(kinds, prototype);
    if (kind !== undefined) return kind;
    prototype = ObjectGetPrototypeOf(prototype);
  }
  return undefined;
}

/** Calls a method that throws for receivers of another kind; `undefined` if it does. */
function attempt(method, value) {
  try {
    return method(value);
  } catch {
    return undefined;
  }
}

// --- Names ---

/** The name of the class of `value`, or `undefined` if it has none. */
function nameOf(value) {
  let prototype = value;
  for (let i = 0; i < maxPrototypes && prototype !== null; i++) {
    const constructor = ObjectGetOwnPropertyDescriptor(prototype, 'constructor')?.value;
    if (typeof constructor === 'function' && prototype !== value) {
      const name = functionName(constructor);
      if (name !== '') return name;
    }
    prototype = ObjectGetPrototypeOf(prototype);
  }
  return undefined;
}

function functionName(value) {
  const name = ObjectGetOwnPropertyDescriptor(value, 'name')?.value;
  return typeof name === 'string' ? cut(name, 200) : '';
}

/** What stands before the braces: the class, `size` and the tag where it says something else. */
function prefixOf(value, fallback, size) {
  const name = nameOf(value);
  const tag = tagOf(value);
  if (name === undefined) {
    return '[' + fallback + size + ': null prototype] ' + (tag === '' || tag === fallback ? '' : '[' + tag + '] ');
  }
  return name + size + ' ' + (tag === '' || tag === name ? '' : '[' + tag + '] ');
}

function readTag(value) {
  return value[SymbolToStringTag];
}

/** The tag of `value`, unless it is shown with the other properties. */
function tagOf(value) {
  if (ObjectGetOwnPropertyDescriptor(value, SymbolToStringTag)?.enumerable) return '';
  const tag = attempt(readTag, value);
  return typeof tag === 'string' ? cut(tag, 200) : '';
}

// --- Strings ---

const plainKey = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const needsEscape = /[\x00-\x1f\\\x7f-\x9f\ud800-\udfff]/;

function showString(value, room) {
  const limit = room > maxStringLength ? maxStringLength : room > 0 ? room : 0;
  let shown = value;
  let rest = '';
  if (value.length > limit) {
    shown = StringPrototypeSlice(value, 0, limit);
    const more = value.length - limit;
    rest = '... ' + more + ' more character' + (more === 1 ? '' : 's');
  }
  return quote(shown) + rest;
}

function quote(text) {
  const mark = !StringPrototypeIncludes(text, "'")
    ? "'"
    : !StringPrototypeIncludes(text, '"')
      ? '"'
      : !StringPrototypeIncludes(text, '`') && !StringPrototypeIncludes(text, '${')
        ? '`'
        : "'";
  const escapesMark = mark === "'" && StringPrototypeIncludes(text, "'");
  if (!escapesMark && RegExpPrototypeExec(needsEscape, text) === null) return mark + text + mark;

  let out = mark;
  let copied = 0;
  for (let i = 0; i < text.length; i++) {
    const escape = escapeOf(text, i, escapesMark);
    if (escape === '') continue;
    out += StringPrototypeSlice(text, copied, i) + escape;
    copied = i + 1;
  }
  return out + StringPrototypeSlice(text, copied) + mark;
}

/** The escape for the unit at `i`, or the empty string if it needs none. */
function escapeOf(text, i, escapesMark) {
  const unit = StringPrototypeCharCodeAt(text, i);
  if (unit === 0x27) return escapesMark ? "\\'" : '';
  if (unit === 0x5c) return '\\\\';
  if (unit < 0x20) {
    if (unit === 0x08) return '\\b';
    if (unit === 0x09) return '\\t';
    if (unit === 0x0a) return '\\n';
    if (unit === 0x0c) return '\\f';
    if (unit === 0x0d) return '\\r';
    return hexEscape(unit);
  }
  if (unit >= 0x7f && unit <= 0x9f) return hexEscape(unit);
  if (unit >= 0xd800 && unit <= 0xdfff) {
    const before = i > 0 ? StringPrototypeCharCodeAt(text, i - 1) : 0;
    const after = i + 1 < text.length ? StringPrototypeCharCodeAt(text, i + 1) : 0;
    const paired = unit <= 0xdbff ? after >= 0xdc00 && after <= 0xdfff : before >= 0xd800 && before <= 0xdbff;
    return paired ? '' : '\\u' + NumberPrototypeToString(unit, 16);
  }
  return '';
}

const hexDigits = '0123456789ABCDEF';

function hexEscape(unit) {
  return '\\x' + hexDigits[unit >> 4] + hexDigits[unit & 0xf];
}

// --- Lists and properties ---

// Joins what `showItem(i)` returns for up to `max` of `count` items, as long as there is room.
function showList(state, count, max, showItem) {
  let text = '';
  let i = 0;
  while (i < count && i < max && state.room > 0) {
    if (i > 0) text += ', ';
    state.room -= 2;
    text += showItem(i);
    i++;
  }
  return i < count ? text + (i > 0 ? ', ' : '') + moreItems(count - i) : text;
}

function moreItems(count) {
  return '... ' + count + ' more item' + (count === 1 ? '' : 's');
}

const noKeys = () => false;

/** The enumerable properties of `value`, without those that `isShown` says are shown already. */
function showProperties(state, value, isShown) {
  let text = '';
  const keys = ReflectOwnKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    // Looking at a key takes time even if it is not shown.
    state.room -= 1;
    if (isShown(key)) continue;
    const descriptor = ObjectGetOwnPropertyDescriptor(value, key);
    if (descriptor === undefined || !descriptor.enumerable) continue;
    if (text !== '') text += ', ';
    if (state.room <= 0) return text + moreItems(keys.length - i);
    const name = showKey(key);
    state.room -= name.length + 4;
    text += name + ': ' + showPropertyValue(state, descriptor);
  }
  return text;
}

function showKey(key) {
  if (typeof key === 'symbol') return '[' + SymbolPrototypeToString(key) + ']';
  return RegExpPrototypeExec(plainKey, key) === null ? quote(cut(key, maxStringLength)) : cut(key, maxStringLength);
}

function showPropertyValue(state, descriptor) {
  if (ObjectPrototypeHasOwnProperty(descriptor, 'value')) return show(state, descriptor.value);
  if (descriptor.set === undefined) return '[Getter]';
  return descriptor.get === undefined ? '[Setter]' : '[Getter/Setter]';
}

/** A value that is one text, and the properties it may have been given besides. */
function withProperties(state, value, text, isShown) {
  state.room -= text.length;
  const properties = showProperties(state, value, isShown);
  return properties === '' ? text : text + ' { ' + properties + ' }';
}

// --- Kinds ---

function showFunction(state, value, tooDeep) {
  const source = FunctionPrototypeToString(value);
  const name = functionName(value);
  let base;
  if (StringPrototypeStartsWith(source, 'class')) {
    const parent = ObjectGetPrototypeOf(value);
    const parentName = typeof parent === 'function' ? functionName(parent) : '';
    base = '[class ' + (name === '' ? '(anonymous)' : name) + (parentName === '' ? '' : ' extends ' + parentName) + ']';
  } else {
    const kind = nameOf(value) ?? 'Function';
    base = '[' + kind + (name === '' ? ' (anonymous)' : ': ' + name) + ']';
  }
  return tooDeep ? base : withProperties(state, value, base, noKeys);
}

function showArray(state, value) {
  const length = value.length;
  const prefix = nameOf(value) === 'Array' ? '' : prefixOf(value, 'Array', '(' + length + ')');
  const parts = [];
  let i = 0;
  let shown = 0;
  // Holes are looked at one by one, so a long run of them must end the loop as well.
  while (i < length && i < 10 * maxElements && shown < maxElements && state.room > 0) {
    shown++;
    state.room -= 2;
    let holes = 0;
    while (i < length && i < 10 * maxElements && !ObjectPrototypeHasOwnProperty(value, i)) {
      holes++;
      i++;
    }
    if (holes > 0) {
      ArrayPrototypePush(parts, '<' + holes + ' empty item' + (holes === 1 ? '' : 's') + '>');
    } else {
      ArrayPrototypePush(parts, showPropertyValue(state, ObjectGetOwnPropertyDescriptor(value, i)));
      i++;
    }
  }
  if (i < length) {
    ArrayPrototypePush(parts, moreItems(length - i));
  } else if (length <= 10 * maxElements) {
    // Properties besides the elements, such as those of a match; not looked for where there are many elements.
    const properties = showProperties(state, value, (key) => typeof key === 'string' && isIndex(key, length));
    if (properties !== '') ArrayPrototypePush(parts, properties);
  }
  return parts.length === 0 ? prefix + '[]' : prefix + '[ ' + join(parts) + ' ]';
}

function isIndex(key, length) {
  const index = +key;
  return index >= 0 && index < length && '' + index === key;
}

function join(parts) {
  let text = '';
  for (let i = 0; i < parts.length; i++) text += i === 0 ? parts[i] : ', ' + parts[i];
  return text;
}

function showTypedArray(state, value, kind) {
  const length = TypedArrayPrototypeGetLength(value);
  const prefix = prefixOf(value, kind, '(' + length + ')');
  const text = showList(state, length, maxElements, (i) => show(state, value[i]));
  return length === 0 ? prefix + '[]' : prefix + '[ ' + text + ' ]';
}

function showMap(state, value) {
  const size = attempt(MapPrototypeGetSize, value);
  if (size === undefined) return undefined;
  const entries = MapPrototypeEntries(value);
  const items = showList(state, size, maxElements, () => {
    const entry = MapIteratorPrototypeNext(entries).value;
    return show(state, entry[0]) + ' => ' + show(state, entry[1]);
  });
  return showCollection(state, value, prefixOf(value, 'Map', '(' + size + ')'), items);
}

function showSet(state, value) {
  const size = attempt(SetPrototypeGetSize, value);
  if (size === undefined) return undefined;
  const values = SetPrototypeValues(value);
  const items = showList(state, size, maxElements, () => show(state, SetIteratorPrototypeNext(values).value));
  return showCollection(state, value, prefixOf(value, 'Set', '(' + size + ')'), items);
}

function showCollection(state, value, prefix, items) {
  const properties = showProperties(state, value, noKeys);
  const text = items === '' || properties === '' ? items + properties : items + ', ' + properties;
  return text === '' ? prefix + '{}' : prefix + '{ ' + text + ' }';
}

function showDate(state, value) {
  const time = attempt(DatePrototypeGetTime, value);
  if (time === undefined) return undefined;
  return withProperties(state, value, time === time ? DatePrototypeToISOString(value) : 'Invalid Date', noKeys);
}

function showRegExp(state, value) {
  const source = attempt(RegExpPrototypeGetSource, value);
  if (source === undefined) return undefined;
  // The flags are read through methods that a tool can replace; the source is not.
  return withProperties(state, value, attempt(RegExpPrototypeToString, value) ?? '/' + source + '/', noKeys);
}

function showArrayBuffer(state, value) {
  const length = attempt(ArrayBufferPrototypeGetByteLength, value);
  if (length === undefined) return undefined;
  const prefix = prefixOf(value, 'ArrayBuffer', '');
  let contents;
  try {
    contents = new Uint8Array(value);
  } catch {
    return prefix + '{ (detached), byteLength: 0 }';
  }
  const bytes = showBytes(contents, maxBytes);
  state.room -= bytes.length + 30;
  return prefix + '{ [Uint8Contents]: <' + bytes + '>, byteLength: ' + length + ' }';
}

/** The first `max` bytes of a Uint8Array as hexadecimal numbers. */
export function showBytes(bytes, max) {
  const length = TypedArrayPrototypeGetLength(bytes);
  let text = '';
  for (let i = 0; i < length && i < max; i++) {
    text += (i > 0 ? ' ' : '') + StringPrototypePadStart(NumberPrototypeToString(bytes[i], 16), 2, '0');
  }
  return length > max ? text + ' ... ' + (length - max) + ' more byte' + (length - max === 1 ? '' : 's') : text;
}

/** How to show the objects that box a primitive value, which `valueOf` reads. */
function showBoxed(kind, valueOf) {
  return (state, value) => {
    const inner = attempt(valueOf, value);
    if (inner === undefined) return undefined;
    const length = kind === 'String' ? inner.length : 0;
    const text = '[' + kind + ': ' + show(state, inner) + ']';
    // A text has one property per unit, which need not be looked at where there are many.
    if (length > 10 * maxElements) return text;
    const properties = showProperties(state, value, (key) => typeof key === 'string' && isIndex(key, length));
    return properties === '' ? text : text + ' { ' + properties + ' }';
  };
}

// --- Errors ---

/** Whether `value` inherits from `Error.prototype`, as instances of DOMException do too. */
export function isError(value) {
  if (typeof value !== 'object' || value === null) return false;
  let prototype = ObjectGetPrototypeOf(value);
  for (let i = 0; i < maxPrototypes && prototype !== null; i++) {
    if (prototype === ErrorPrototype) return true;
    prototype = ObjectGetPrototypeOf(prototype);
  }
  return false;
}

/** `name: message` of an error. */
function errorTitle(error) {
  const name = textOf(error.name, 'Error');
  const message = textOf(error.message, '');
  return message === '' ? name : name === '' ? message : name + ': ' + message;
}

function textOf(value, fallback) {
  if (value === undefined) return fallback;
  return typeof value === 'string' ? value : typeof value === 'symbol' ? SymbolPrototypeToString(value) : String(value);
}

// An error that is itself logged shows its stack, one within another value only its title. The engine's stack does
// not repeat the title as that of V8 does, so it is put in front where it is missing.
function showError(state, error) {
  const title = cut(errorTitle(error), state.room > 0 ? state.room : 0);
  let text = '[' + title + ']';
  if (state.ancestors.length === 1) {
    const stack = error.stack;
    if (typeof stack === 'string' && stack !== '') {
      const shown = StringPrototypeTrimEnd(cut(stack, maxStringLength));
      text = StringPrototypeStartsWith(shown, title) ? shown : title + '\n' + shown;
    }
  }
  state.room -= text.length;

  const parts = [];
  const hidden = ['cause', 'errors'];
  for (let i = 0; i < hidden.length; i++) {
    const descriptor = ObjectGetOwnPropertyDescriptor(error, hidden[i]);
    if (descriptor !== undefined && !descriptor.enumerable) {
      ArrayPrototypePush(parts, '[' + hidden[i] + ']: ' + showPropertyValue(state, descriptor));
    }
  }
  const properties = showProperties(state, error, (key) => key === 'stack' || key === 'message' || key === 'name');
  if (properties !== '') ArrayPrototypePush(parts, properties);
  return parts.length === 0 ? text : text + ' { ' + join(parts) + ' }';
}

const kinds = new Map();
MapPrototypeSet(kinds, ArrayBuffer.prototype, showArrayBuffer);
MapPrototypeSet(kinds, BigInt.prototype, showBoxed('BigInt', BigIntPrototypeValueOf));
MapPrototypeSet(kinds, Boolean.prototype, showBoxed('Boolean', BooleanPrototypeValueOf));
MapPrototypeSet(kinds, Date.prototype, showDate);
MapPrototypeSet(kinds, ErrorPrototype, showError);
MapPrototypeSet(kinds, Map.prototype, showMap);
MapPrototypeSet(kinds, Number.prototype, showBoxed('Number', NumberPrototypeValueOf));
MapPrototypeSet(kinds, RegExp.prototype, showRegExp);
MapPrototypeSet(kinds, Set.prototype, showSet);
MapPrototypeSet(kinds, String.prototype, showBoxed('String', StringPrototypeValueOf));
MapPrototypeSet(kinds, Symbol.prototype, showBoxed('Symbol', SymbolPrototypeValueOf));
