// Buffer as Node.js has it, without what reaches beyond memory: no pool, no blobs, no files.
//
// Invariant: what a method answers and which coded error it throws is what Node.js answers and throws;
// `test/buffer.test.js` compares the two. A Buffer is a Uint8Array of its own class, and every method works on a plain
// Uint8Array as well.
//
// The npm package of this name is the Buffer of years ago: it reads beyond the end without an error, refuses plain
// Uint8Arrays and lacks half of the younger methods. It is not used.
//
// The functions `isUtf8`, `isAscii` and `transcode` of the module `node:buffer` hang on Buffer, for there are no modules.

import { bytesOf, isArrayBuffer, isSharedArrayBuffer, viewOf } from './bytes.js';
import { encodingOf, encodings, requireEncoding, transcoded, ucs2, utf8, wholeLength } from './buffer-text.js';
import { defineNumbers } from './buffer-numbers.js';
import { decodeUtf8 } from './encoding.js';
import { inspect as inspectValue, showBytes } from './inspect.js';
import {
  ArrayBufferIsView,
  ArrayBufferPrototypeGetByteLength,
  ArrayIsArray,
  ArrayPrototypePush,
  Error,
  Number,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectKeys,
  ObjectSetPrototypeOf,
  RangeError,
  SharedArrayBufferPrototypeGetByteLength,
  StringPrototypeCharCodeAt,
  SymbolSpecies,
  SymbolToPrimitive,
  TypedArrayPrototypeCopyWithin,
  TypedArrayPrototypeFill,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteLength,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetToStringTag,
  TypedArrayPrototypeIndexOf,
  TypedArrayPrototypeLastIndexOf,
  TypedArrayPrototypeSet,
  TypeError,
  Uint8Array,
} from './intrinsics.js';
import { checkInteger, checkNumber, coded, outOfBounds, outOfRange, unknownEncoding, wrongType } from './node-errors.js';
import { inspectCustom } from './webidl.js';

const maxLength = 2 ** 31 - 1;
const { MAX_SAFE_INTEGER } = Number;
const lengthOf = TypedArrayPrototypeGetLength;

// What all Buffers are instances of. Its constructor says `Buffer`; this one is reached by `Symbol.species` alone.
class FastBuffer extends Uint8Array {
  constructor(source, offset, length) {
    super(source, offset, length);
  }
}

export function Buffer(value, encodingOrOffset, length) {
  if (typeof value !== 'number') return from(value, encodingOrOffset, length);
  if (typeof encodingOrOffset === 'string') throw wrongType('string', 'of type string', value);
  return alloc(value);
}

ObjectSetPrototypeOf(Buffer, Uint8Array);
const { prototype } = FastBuffer;
ObjectDefineProperty(Buffer, 'prototype', { __proto__: null, value: prototype, writable: true });
ObjectDefineProperty(prototype, 'constructor', {
  __proto__: null, value: Buffer, writable: true, enumerable: false, configurable: true,
});
ObjectFreeze(FastBuffer);

function isBytes(value) {
  return TypedArrayPrototypeGetToStringTag(value) === 'Uint8Array';
}

function isAnyArrayBuffer(value) {
  return isArrayBuffer(value) || isSharedArrayBuffer(value);
}

const BYTES = 'an instance of Buffer or Uint8Array';

function checkBytes(value, name) {
  if (!isBytes(value)) throw wrongType(name, BYTES, value);
}

// --- Making ---

/** A Buffer of bytes that nobody else holds. */
function adopt(bytes) {
  return new FastBuffer(
    TypedArrayPrototypeGetBuffer(bytes),
    TypedArrayPrototypeGetByteOffset(bytes),
    TypedArrayPrototypeGetLength(bytes),
  );
}

function fromText(text, name) {
  if (typeof name !== 'string' || name === '') return adopt(utf8.bytes(text));
  return adopt(requireEncoding(name).bytes(text));
}

function fromArrayLike(source) {
  const { length } = source;
  if (!(length > 0)) return new FastBuffer(0);
  const buffer = new FastBuffer(length);
  TypedArrayPrototypeSet(buffer, source);
  return buffer;
}

function fromArrayBuffer(source, offset, length) {
  offset = offset === undefined ? 0 : +offset || 0;
  const size = isArrayBuffer(source)
    ? ArrayBufferPrototypeGetByteLength(source)
    : SharedArrayBufferPrototypeGetByteLength(source);
  const most = size - offset;
  if (most < 0) throw outOfBounds('offset');
  if (length === undefined) return new FastBuffer(source, offset, most);
  length = +length;
  if (!(length > 0)) length = 0;
  if (length > most) throw outOfBounds('length');
  return new FastBuffer(source, offset, length);
}

function fromObject(source) {
  if (source.length !== undefined || isAnyArrayBuffer(source.buffer)) {
    return typeof source.length === 'number' ? fromArrayLike(source) : new FastBuffer(0);
  }
  return source.type === 'Buffer' && ArrayIsArray(source.data) ? fromArrayLike(source.data) : undefined;
}

const { from } = {
  from(value, encodingOrOffset, length) {
    if (typeof value === 'string') return fromText(value, encodingOrOffset);
    if (TypedArrayPrototypeGetToStringTag(value) !== undefined) return adopt(new Uint8Array(value));
    if (typeof value === 'object' && value !== null) {
      if (isAnyArrayBuffer(value)) return fromArrayBuffer(value, encodingOrOffset, length);
      const plain = value.valueOf && value.valueOf();
      if (plain !== undefined && plain !== null && plain !== value) {
        if (typeof plain === 'string' || typeof plain === 'object') return from(plain, encodingOrOffset, length);
      }
      const made = fromObject(value);
      if (made !== undefined) return made;
      if (typeof value[SymbolToPrimitive] === 'function') {
        const primitive = value[SymbolToPrimitive]('string');
        if (typeof primitive === 'string') return fromText(primitive, encodingOrOffset);
      }
    }
    const expected = 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object';
    throw wrongType('first argument', expected, value);
  },
};

const { alloc } = {
  alloc(size, value, encoding) {
    checkNumber(size, 'size', 0, maxLength);
    const buffer = new FastBuffer(size);
    return value !== undefined && value !== 0 && size > 0 ? fill(buffer, value, 0, lengthOf(buffer), encoding) : buffer;
  },
};

function uninitialised(size) {
  checkNumber(size, 'size', 0, maxLength);
  return new FastBuffer(size);
}

const statics = {
  poolSize: 8192,

  from,

  copyBytesFrom(view, offset, length) {
    if (TypedArrayPrototypeGetToStringTag(view) === undefined) throw wrongType('view', 'an instance of TypedArray', view);
    const count = lengthOf(view);
    if (count === 0) return new FastBuffer(0);
    let end = count;
    if (offset === undefined) offset = 0;
    else checkInteger(offset, 'offset', 0, MAX_SAFE_INTEGER);
    if (offset >= count) return new FastBuffer(0);
    if (length !== undefined) {
      checkInteger(length, 'length', 0, MAX_SAFE_INTEGER);
      end = offset + length < count ? offset + length : count;
    }
    if (offset >= end) return new FastBuffer(0);
    const width = TypedArrayPrototypeGetByteLength(view) / count;
    return adopt(new Uint8Array(viewOf(view, offset * width, end * width)));
  },

  of(...items) {
    const buffer = new FastBuffer(items.length);
    for (let i = 0; i < items.length; i++) buffer[i] = items[i];
    return buffer;
  },

  alloc,

  allocUnsafe(size) {
    return uninitialised(size);
  },

  allocUnsafeSlow(size) {
    return uninitialised(size);
  },

  isBuffer(value) {
    return value instanceof Buffer;
  },

  compare(buf1, buf2) {
    checkBytes(buf1, 'buf1');
    checkBytes(buf2, 'buf2');
    return compareBytes(buf1, buf2);
  },

  isEncoding(encoding) {
    return typeof encoding === 'string' && encodingOf(encoding) !== undefined;
  },

  concat(list, length) {
    if (!ArrayIsArray(list)) throw wrongType('list', 'an instance of Array', list);
    const count = list.length;
    if (count === 0) return new FastBuffer(0);
    if (length === undefined) {
      length = 0;
      for (let i = 0; i < count; i++) length += (isBytes(list[i]) ? lengthOf(list[i]) : list[i].length) || 0;
    } else {
      checkInteger(length, 'length', 0, MAX_SAFE_INTEGER);
    }
    const whole = uninitialised(length);
    let at = 0;
    for (let i = 0; i < count; i++) {
      const part = list[i];
      checkBytes(part, 'list[' + i + ']');
      const size = lengthOf(part);
      const room = length - at;
      TypedArrayPrototypeSet(whole, size > room ? viewOf(part, 0, room) : part, at);
      at += size > room ? room : size;
    }
    return whole;
  },

  byteLength(text, encoding) {
    if (typeof text !== 'string') {
      if (ArrayBufferIsView(text) || isAnyArrayBuffer(text)) return text.byteLength;
      throw wrongType('string', 'of type string or an instance of Buffer or ArrayBuffer', text);
    }
    if (text === '') return 0;
    return (encoding ? encodingOf(encoding) ?? utf8 : utf8).length(text);
  },
};

// --- Comparing and searching ---

function compareBytes(a, b) {
  const first = lengthOf(a);
  const second = lengthOf(b);
  const shorter = first < second ? first : second;
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return first < second ? -1 : first > second ? 1 : 0;
}

function equalAt(bytes, at, part, size) {
  for (let i = 0; i < size; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

/** Where a search begins; -1 where nothing can be found. */
function searchStart(length, offset, size, isForward) {
  if (offset < 0) {
    if (offset + length >= 0) return offset + length;
    return isForward || size === 0 ? 0 : -1;
  }
  if (offset + size <= length) return offset;
  if (size === 0) return length;
  return isForward ? -1 : length - 1;
}

/** Where `part` begins in the first `length` of `bytes`, at a multiple of `step`; -1 if nowhere. */
function search(bytes, part, offset, length, step, isForward) {
  const size = lengthOf(part);
  const start = searchStart(length, offset, size, isForward);
  if (size === 0) return start;
  if (length === 0 || start < 0 || size > length || (isForward && start + size > length)) return -1;
  if (step === 2) return searchUnits(bytes, part, start, length, isForward);
  const last = length - size;
  let at = isForward || start < last ? start : last;
  for (;;) {
    at = isForward ? TypedArrayPrototypeIndexOf(bytes, part[0], at) : TypedArrayPrototypeLastIndexOf(bytes, part[0], at);
    if (at === -1 || at > last) return -1;
    if (equalAt(bytes, at, part, size)) return at;
    at += isForward ? 1 : -1;
    if (at < 0) return -1;
  }
}

/** The same for units of two bytes; a byte that is left over at the end belongs to none. */
function searchUnits(bytes, part, start, length, isForward) {
  const size = lengthOf(part);
  const whole = size - (size % 2);
  if (whole < 2) return -1;
  const last = length - (length % 2) - whole;
  let at = start - (start % 2);
  if (!isForward && at > last) at = last;
  for (; at >= 0 && at <= last; at += isForward ? 2 : -2) if (equalAt(bytes, at, part, whole)) return at;
  return -1;
}

function indexOf(buffer, value, offset, encoding, isForward) {
  checkBytes(buffer, 'buffer');
  if (typeof offset === 'string') {
    encoding = offset;
    offset = undefined;
  } else if (offset > 0x7fffffff) {
    offset = 0x7fffffff;
  } else if (offset < -0x80000000) {
    offset = -0x80000000;
  }
  offset = +offset;
  const length = lengthOf(buffer);
  if (offset !== offset) offset = isForward ? 0 : length;
  offset -= offset % 1;
  if (typeof value === 'number') {
    const start = searchStart(length, offset, 1, isForward);
    if (start < 0 || length === 0) return -1;
    const byte = value & 255;
    return isForward
      ? TypedArrayPrototypeIndexOf(buffer, byte, start)
      : TypedArrayPrototypeLastIndexOf(buffer, byte, start);
  }
  const known = encoding === undefined ? utf8 : encodingOf(encoding);
  if (typeof value === 'string') {
    if (known === undefined) throw unknownEncoding(encoding);
    // An odd byte at the end is not even counted.
    if (known === ucs2) return search(buffer, known.bytes(value), offset, length - (length % 2), 2, isForward);
    return search(buffer, known.bytes(value), offset, length, 1, isForward);
  }
  if (!isBytes(value)) throw wrongType('value', 'one of type number or string or ' + BYTES, value);
  return search(buffer, value, offset, length, known === ucs2 ? 2 : 1, isForward);
}

// --- Filling and writing ---

function fill(buffer, value, offset, end, encoding) {
  const length = lengthOf(buffer);
  if (typeof value === 'string') {
    if (offset === undefined || typeof offset === 'string') {
      encoding = offset;
      offset = 0;
      end = length;
    } else if (typeof end === 'string') {
      encoding = end;
      end = length;
    }
    if (encoding === undefined || encoding === null || encoding === '') {
      encoding = utf8;
    } else {
      if (typeof encoding !== 'string') throw wrongType('encoding', 'of type string', encoding);
      encoding = requireEncoding(encoding);
    }
    if (value === '') {
      value = 0;
    } else if (value.length === 1 && (encoding === utf8 || encoding.name === 'latin1')) {
      const unit = StringPrototypeCharCodeAt(value, 0);
      if (unit < 128 || encoding !== utf8) value = unit;
    }
  }
  if (offset === undefined) {
    offset = 0;
    end = length;
  } else {
    checkInteger(offset, 'offset', 0, MAX_SAFE_INTEGER);
    if (end === undefined) end = length;
    else checkInteger(end, 'end', 0, length);
    if (offset >= end) return buffer;
  }
  if (typeof value === 'string') return fillBytes(buffer, encoding.bytes(value), offset, end, value);
  if (ArrayBufferIsView(value)) return fillBytes(buffer, bytesOf(value, 'The value'), offset, end, value);
  TypedArrayPrototypeFill(buffer, typeof value === 'number' ? value : value & 255, offset, end);
  return buffer;
}

function fillBytes(buffer, bytes, offset, end, value) {
  const size = lengthOf(bytes);
  if (offset >= end) return buffer;
  if (size === 0) {
    throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', "The argument 'value' is invalid. Received " + inspectValue(value, 0, 128));
  }
  const room = end - offset;
  TypedArrayPrototypeSet(buffer, size > room ? viewOf(bytes, 0, room) : bytes, offset);
  // Doubles what is there, until nothing is missing.
  for (let done = size; done < room; done *= 2) {
    TypedArrayPrototypeCopyWithin(buffer, offset + done, offset, offset + (room - done < done ? room - done : done));
  }
  return buffer;
}

/** Writes as many whole characters as fit, and says how many bytes they are. */
function writeText(buffer, encoding, text, offset, room) {
  if (typeof text !== 'string') throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a string');
  if (room <= 0) return 0;
  const bytes = encoding.bytes(text);
  const size = wholeLength(encoding, bytes, room);
  TypedArrayPrototypeSet(buffer, size < lengthOf(bytes) ? viewOf(bytes, 0, size) : bytes, offset);
  return size;
}

function write(buffer, text, offset, length, encoding) {
  const size = lengthOf(buffer);
  if (offset === undefined) return writeText(buffer, utf8, text, 0, size);
  if (length === undefined && typeof offset === 'string') {
    encoding = offset;
    length = size;
    offset = 0;
  } else {
    checkInteger(offset, 'offset', 0, size);
    const room = size - offset;
    if (length === undefined) {
      length = room;
    } else if (typeof length === 'string') {
      encoding = length;
      length = room;
    } else {
      checkInteger(length, 'length', 0, size);
      if (length > room) length = room;
    }
  }
  return writeText(buffer, encoding ? requireEncoding(encoding) : utf8, text, offset, length);
}

// --- Ranges ---

/** An argument of `copy` as a whole number. */
function integerOf(value) {
  const number = +value;
  if (!(number >= -MAX_SAFE_INTEGER && number <= MAX_SAFE_INTEGER)) return 0;
  const fraction = number % 1;
  return fraction < 0 ? number - fraction - 1 : number - fraction;
}

/** An offset of `subarray`, counted from the end if negative. */
function within(offset, length) {
  offset = +offset;
  if (offset !== offset) return 0;
  if (offset >= length) return length;
  if (offset <= -length) return 0;
  offset -= offset % 1;
  return offset < 0 ? offset + length : offset;
}

function subarray(buffer, start, end) {
  const length = lengthOf(buffer);
  const first = within(start, length);
  const last = end === undefined ? length : within(end, length);
  return new FastBuffer(
    TypedArrayPrototypeGetBuffer(buffer),
    TypedArrayPrototypeGetByteOffset(buffer) + first,
    last > first ? last - first : 0,
  );
}

/** An argument of the methods `<encoding>Slice` and `<encoding>Write`. */
function indexArgument(value, fallback) {
  if (value === undefined) return fallback;
  const index = +value;
  if (index !== index) return 0;
  if (index < 0) throw coded(RangeError, 'ERR_OUT_OF_RANGE', 'Index out of range');
  return index === Infinity ? index : index - (index % 1);
}

function textOfSlice(buffer, encoding, start, end) {
  checkBytes(buffer, 'buffer');
  const length = lengthOf(buffer);
  start = indexArgument(start, 0);
  end = indexArgument(end, length);
  if (end < start) end = start;
  if (end > length) throw coded(RangeError, 'ERR_OUT_OF_RANGE', 'Index out of range');
  return start === end ? '' : encoding.text(viewOf(buffer, start, end));
}

function writeSlice(buffer, encoding, text, offset, length) {
  checkBytes(buffer, 'buffer');
  if (typeof text !== 'string') throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a string');
  const size = lengthOf(buffer);
  offset = indexArgument(offset, 0);
  if (offset > size) throw outOfBounds('offset');
  length = indexArgument(length, size - offset);
  return writeText(buffer, encoding, text, offset, length < size - offset ? length : size - offset);
}

/** An offset of `toString`: its lowest 32 bits, as Node.js takes it. */
function textOffset(value) {
  return value | 0;
}

function swap(buffer, size) {
  const length = lengthOf(buffer);
  if (length % size !== 0) {
    throw coded(RangeError, 'ERR_INVALID_BUFFER_SIZE', 'Buffer size must be a multiple of ' + size * 8 + '-bits');
  }
  for (let start = 0; start < length; start += size) {
    for (let i = 0; i < size / 2; i++) {
      const byte = buffer[start + i];
      buffer[start + i] = buffer[start + size - 1 - i];
      buffer[start + size - 1 - i] = byte;
    }
  }
  return buffer;
}

const methods = {
  copy(target, targetStart, sourceStart, sourceEnd) {
    checkBytes(this, 'source');
    checkBytes(target, 'target');
    const size = lengthOf(this);
    const room = lengthOf(target);
    targetStart = targetStart === undefined ? 0 : integerOf(targetStart);
    if (targetStart < 0) throw outOfRange('targetStart', '>= 0', targetStart);
    sourceStart = sourceStart === undefined ? 0 : integerOf(sourceStart);
    if (sourceStart < 0 || sourceStart > size) throw outOfRange('sourceStart', '>= 0 && <= ' + size, sourceStart);
    sourceEnd = sourceEnd === undefined ? size : integerOf(sourceEnd);
    if (sourceEnd < 0) throw outOfRange('sourceEnd', '>= 0', sourceEnd);
    if (targetStart >= room || sourceStart >= sourceEnd) return 0;
    let count = (sourceEnd < size ? sourceEnd : size) - sourceStart;
    if (count > room - targetStart) count = room - targetStart;
    TypedArrayPrototypeSet(target, viewOf(this, sourceStart, sourceStart + count), targetStart);
    return count;
  },

  toString(encoding, start, end) {
    const length = lengthOf(this);
    if (arguments.length === 0) return length === 0 ? '' : utf8.text(this);
    if (start <= 0) start = 0;
    else if (start >= length) return '';
    else start = textOffset(start);
    end = end === undefined || end > length ? length : textOffset(end);
    if (end <= start) return '';
    return (encoding === undefined ? utf8 : requireEncoding(encoding)).text(viewOf(this, start, end));
  },

  equals(otherBuffer) {
    checkBytes(otherBuffer, 'otherBuffer');
    if (this === otherBuffer) return true;
    const size = lengthOf(this);
    return size === lengthOf(otherBuffer) && equalAt(this, 0, otherBuffer, size);
  },

  inspect() {
    return lengthOf(this) === 0 ? '<Buffer >' : '<Buffer ' + showBytes(this, 50) + '>';
  },

  compare(target, targetStart, targetEnd, sourceStart, sourceEnd) {
    checkBytes(target, 'target');
    if (arguments.length === 1) return compareBytes(this, target);
    if (targetStart === undefined) targetStart = 0;
    else checkInteger(targetStart, 'targetStart', 0, MAX_SAFE_INTEGER);
    if (targetEnd === undefined) targetEnd = lengthOf(target);
    else checkInteger(targetEnd, 'targetEnd', 0, lengthOf(target));
    if (sourceStart === undefined) sourceStart = 0;
    else checkInteger(sourceStart, 'sourceStart', 0, MAX_SAFE_INTEGER);
    if (sourceEnd === undefined) sourceEnd = lengthOf(this);
    else checkInteger(sourceEnd, 'sourceEnd', 0, lengthOf(this));
    if (sourceStart >= sourceEnd) return targetStart >= targetEnd ? 0 : -1;
    if (targetStart >= targetEnd) return 1;
    return compareBytes(viewOf(this, sourceStart, sourceEnd), viewOf(target, targetStart, targetEnd));
  },

  indexOf(value, byteOffset, encoding) {
    return indexOf(this, value, byteOffset, encoding, true);
  },

  lastIndexOf(value, byteOffset, encoding) {
    return indexOf(this, value, byteOffset, encoding, false);
  },

  includes(value, byteOffset, encoding) {
    return indexOf(this, value, byteOffset, encoding, true) !== -1;
  },

  fill(value, offset, end, encoding) {
    return fill(this, value, offset, end, encoding);
  },

  write(string, offset, length, encoding) {
    return write(this, string, offset, length, encoding);
  },

  toJSON() {
    const data = [];
    const length = lengthOf(this);
    for (let i = 0; i < length; i++) ArrayPrototypePush(data, this[i]);
    return { type: 'Buffer', data };
  },

  subarray(start, end) {
    return subarray(this, start, end);
  },

  slice(start, end) {
    return subarray(this, start, end);
  },

  swap16() {
    return swap(this, 2);
  },

  swap32() {
    return swap(this, 4);
  },

  swap64() {
    return swap(this, 8);
  },
};

function define(name, value) {
  ObjectDefineProperty(prototype, name, {
    __proto__: null, value, writable: true, enumerable: true, configurable: true,
  });
}

function named(method, name) {
  return ObjectDefineProperty(method, 'name', { __proto__: null, value: name });
}

defineNumbers((name, method) => define(name, method.name === 'read' || method.name === 'write' ? named(method, name) : method));

const encodingNames = ObjectKeys(encodings);
for (let i = 0; i < encodingNames.length; i++) {
  const name = encodingNames[i];
  const encoding = encodings[name];
  const { slice, put } = {
    slice(start, end) {
      return textOfSlice(this, encoding, start, end);
    },
    put(string, offset, length) {
      return writeSlice(this, encoding, string, offset, length);
    },
  };
  define(name + 'Slice', named(slice, name + 'Slice'));
  define(name + 'Write', named(put, name + 'Write'));
}

const methodNames = ObjectKeys(methods);
for (let i = 0; i < methodNames.length; i++) define(methodNames[i], methods[methodNames[i]]);
define('toLocaleString', methods.toString);
ObjectDefineProperty(prototype, inspectCustom, {
  __proto__: null, value: methods.inspect, writable: true, enumerable: false, configurable: true,
});

ObjectDefineProperty(prototype, 'parent', {
  __proto__: null,
  get() {
    return this instanceof Buffer ? TypedArrayPrototypeGetBuffer(this) : undefined;
  },
  enumerable: true,
});
ObjectDefineProperty(prototype, 'offset', {
  __proto__: null,
  get() {
    return this instanceof Buffer ? TypedArrayPrototypeGetByteOffset(this) : undefined;
  },
  enumerable: true,
});

const staticNames = ObjectKeys(statics);
for (let i = 0; i < staticNames.length; i++) {
  ObjectDefineProperty(Buffer, staticNames[i], {
    __proto__: null, value: statics[staticNames[i]], writable: true, enumerable: true, configurable: true,
  });
}
ObjectDefineProperty(Buffer, SymbolSpecies, { __proto__: null, get: () => FastBuffer, configurable: true });

// --- What Node.js has in its module `node:buffer` ---

/** The bytes of what `isUtf8` and `isAscii` are given. */
function bytesOfInput(input) {
  if (TypedArrayPrototypeGetToStringTag(input) === undefined && !isAnyArrayBuffer(input)) {
    throw wrongType('input', 'an instance of ArrayBuffer, Buffer, or TypedArray', input);
  }
  return bytesOf(input, 'The input');
}

const functions = {
  isUtf8(input) {
    return decodeUtf8(bytesOfInput(input), true) !== undefined;
  },

  isAscii(input) {
    const bytes = bytesOfInput(input);
    const length = lengthOf(bytes);
    for (let i = 0; i < length; i++) if (bytes[i] > 0x7f) return false;
    return true;
  },

  transcode(source, fromEncoding, toEncoding) {
    checkBytes(source, 'source');
    if (lengthOf(source) === 0) return new FastBuffer(0);
    const bytes = transcoded(source, fromEncoding, toEncoding);
    if (bytes !== undefined && bytes !== null) return adopt(bytes);
    const code = bytes === null ? 'U_INVALID_CHAR_FOUND' : 'U_ILLEGAL_ARGUMENT_ERROR';
    throw coded(Error, code, 'Unable to transcode Buffer [' + code + ']');
  },
};
const functionNames = ObjectKeys(functions);
for (let i = 0; i < functionNames.length; i++) {
  ObjectDefineProperty(Buffer, functionNames[i], {
    __proto__: null, value: functions[functionNames[i]], writable: true, enumerable: false, configurable: true,
  });
}
