// The methods of Buffer that read and write numbers.
//
// Invariant: a method reads or writes within the buffer or not at all, and says by a coded error, as Node.js does, which
// argument was wrong: an offset that is no number, none that is whole, or one outside of the buffer.

import {
  BigInt64Array,
  BigUint64Array,
  Float32Array,
  Float64Array,
  Number,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetLength,
  TypeError,
  Uint8Array,
} from './intrinsics.js';
import { checkNumber, outOfBounds, outOfRange, wrongType } from './node-errors.js';

/** Throws unless `size` bytes from `offset` on lie within the buffer. */
function checkBounds(buffer, offset, size) {
  if (typeof offset !== 'number' || buffer[offset] === undefined || buffer[offset + size - 1] === undefined) {
    throw badOffset(buffer, offset, size);
  }
}

function badOffset(buffer, offset, size) {
  if (typeof offset !== 'number') return wrongType('offset', 'of type number', offset);
  return boundsError(offset, TypedArrayPrototypeGetLength(buffer) - size);
}

/** Whether a number has a fraction, or is none; Node.js takes the infinities for whole. */
function isBroken(number) {
  return number !== number || (number % 1 !== 0 && number - number === 0);
}

function boundsError(offset, last) {
  if (isBroken(offset)) return outOfRange('offset', 'an integer', offset);
  return last < 0 ? outOfBounds() : outOfRange('offset', '>= 0 and <= ' + last, offset);
}

function checkSize(size) {
  if (size === 1 || size === 2 || size === 3 || size === 4 || size === 5 || size === 6) return;
  checkNumber(size, 'byteLength');
  throw outOfRange('byteLength', isBroken(size) ? 'an integer' : '>= 1 and <= 6', size);
}

/** Throws unless a value lies between `least` and `most`, and its `size` bytes within the buffer. */
function checkValue(buffer, value, offset, size, least, most) {
  if (value > most || value < least) throw rangeError(value, size, least, most);
  checkBounds(buffer, offset, size);
}

function rangeError(value, size, least, most) {
  const n = typeof least === 'bigint' ? 'n' : '';
  const bits = size * 8;
  let range;
  if (size <= 4) range = '>= ' + least + ' and <= ' + most;
  else if (least === 0 || least === 0n) range = '>= 0' + n + ' and < 2' + n + ' ** ' + bits + n;
  else range = '>= -(2' + n + ' ** ' + (bits - 1) + n + ') and < 2' + n + ' ** ' + (bits - 1) + n;
  return outOfRange('value', range, value);
}

// --- Whole numbers of 1 to 6 bytes ---

function readLE(buffer, offset, size) {
  let value = buffer[offset];
  if (size === 1) return value;
  value += buffer[offset + 1] * 0x100;
  if (size === 2) return value;
  value += buffer[offset + 2] * 0x10000;
  if (size === 3) return value;
  value += buffer[offset + 3] * 0x1000000;
  if (size === 4) return value;
  value += buffer[offset + 4] * 0x100000000;
  return size === 5 ? value : value + buffer[offset + 5] * 0x10000000000;
}

function readBE(buffer, offset, size) {
  let value = buffer[offset];
  for (let i = 1; i < size; i++) value = value * 0x100 + buffer[offset + i];
  return value;
}

function writeLE(buffer, value, offset, size) {
  if (size > 4) {
    const low = value % 0x100000000;
    let high = (value - low) / 0x100000000;
    // The remainder has the sign of a negative value; both halves together are its two's complement.
    if (low < 0) high -= 1;
    writeLE(buffer, low, offset, 4);
    writeLE(buffer, high, offset + 4, size - 4);
    return;
  }
  for (let i = 0; i < size; i++) buffer[offset + i] = value >> (i * 8);
}

function writeBE(buffer, value, offset, size) {
  if (size > 4) {
    const low = value % 0x100000000;
    let high = (value - low) / 0x100000000;
    if (low < 0) high -= 1;
    writeBE(buffer, high, offset, size - 4);
    writeBE(buffer, low, offset + size - 4, 4);
    return;
  }
  for (let i = 0; i < size; i++) buffer[offset + i] = value >> ((size - 1 - i) * 8);
}

/** Two's complement of `size` bytes. */
function signed(value, size) {
  const half = 2 ** (size * 8 - 1);
  return value < half ? value : value - half * 2;
}

/** A value without its fraction, as the standard reads one of a few bytes; what is no number is 0. */
function whole(value) {
  const fraction = value % 1;
  return fraction === fraction ? value - fraction : 0;
}

// The numbers of 1, 2 and 4 bytes are what is read and written most, and each step counts in an interpreter: no loop, and
// no call but where something is wrong.

function reader1(isSigned) {
  return {
    read(offset = 0) {
      if (typeof offset !== 'number') throw badOffset(this, offset, 1);
      const byte = this[offset];
      if (byte === undefined) throw badOffset(this, offset, 1);
      return isSigned ? (byte << 24) >> 24 : byte;
    },
  }.read;
}

function reader2(isLittle, isSigned) {
  return {
    read(offset = 0) {
      if (typeof offset !== 'number') throw badOffset(this, offset, 2);
      const first = this[offset];
      const second = this[offset + 1];
      if (first === undefined || second === undefined) throw badOffset(this, offset, 2);
      const value = isLittle ? first | (second << 8) : (first << 8) | second;
      return isSigned ? (value << 16) >> 16 : value;
    },
  }.read;
}

function reader4(isLittle, isSigned) {
  return {
    read(offset = 0) {
      if (typeof offset !== 'number') throw badOffset(this, offset, 4);
      const first = this[offset];
      const last = this[offset + 3];
      if (first === undefined || last === undefined) throw badOffset(this, offset, 4);
      const value = isLittle
        ? first | (this[offset + 1] << 8) | (this[offset + 2] << 16) | (last << 24)
        : (first << 24) | (this[offset + 1] << 16) | (this[offset + 2] << 8) | last;
      return isSigned ? value : value >>> 0;
    },
  }.read;
}

function sizedReader(read, isSigned) {
  return {
    read(offset, byteLength) {
      if (offset === undefined) throw wrongType('offset', 'of type number', offset);
      checkSize(byteLength);
      checkBounds(this, offset, byteLength);
      const value = read(this, offset, byteLength);
      return isSigned ? signed(value, byteLength) : value;
    },
  }.read;
}

function limits(size, isSigned) {
  const count = 2 ** (size * 8);
  return isSigned ? [-count / 2, count / 2 - 1] : [0, count - 1];
}

function writer1(isSigned) {
  const { 0: least, 1: most } = limits(1, isSigned);
  return {
    write(value, offset = 0) {
      value = +value;
      if (typeof offset !== 'number') throw badOffset(this, offset, 1);
      if (value > most || value < least) throw rangeError(value, 1, least, most);
      if (this[offset] === undefined) throw badOffset(this, offset, 1);
      this[offset] = value;
      return offset + 1;
    },
  }.write;
}

function writer2(isLittle, isSigned) {
  const { 0: least, 1: most } = limits(2, isSigned);
  return {
    write(value, offset = 0) {
      value = +value;
      if (value > most || value < least) throw rangeError(value, 2, least, most);
      if (typeof offset !== 'number' || this[offset] === undefined || this[offset + 1] === undefined) {
        throw badOffset(this, offset, 2);
      }
      if (isLittle) {
        this[offset] = value;
        this[offset + 1] = value >> 8;
      } else {
        this[offset] = value >> 8;
        this[offset + 1] = value;
      }
      return offset + 2;
    },
  }.write;
}

function writer4(isLittle, isSigned) {
  const { 0: least, 1: most } = limits(4, isSigned);
  return {
    write(value, offset = 0) {
      value = +value;
      if (value > most || value < least) throw rangeError(value, 4, least, most);
      if (typeof offset !== 'number' || this[offset] === undefined || this[offset + 3] === undefined) {
        throw badOffset(this, offset, 4);
      }
      value |= 0;
      if (isLittle) {
        this[offset] = value;
        this[offset + 1] = value >> 8;
        this[offset + 2] = value >> 16;
        this[offset + 3] = value >> 24;
      } else {
        this[offset] = value >> 24;
        this[offset + 1] = value >> 16;
        this[offset + 2] = value >> 8;
        this[offset + 3] = value;
      }
      return offset + 4;
    },
  }.write;
}

function sizedWriter(write, isSigned) {
  return {
    write(value, offset, byteLength) {
      checkSize(byteLength);
      if (offset === undefined) throw wrongType('offset', 'of type number', offset);
      const { 0: least, 1: most } = limits(byteLength, isSigned);
      value = +value;
      checkValue(this, value, offset, byteLength, least, most);
      write(this, whole(value), offset, byteLength);
      return offset + byteLength;
    },
  }.write;
}

// --- Numbers of other kinds, by way of a typed array over a few bytes ---

function scratch(View) {
  const numbers = new View(1);
  return { numbers, bytes: new Uint8Array(TypedArrayPrototypeGetBuffer(numbers)) };
}

function scratchReader(View, size, isLittle) {
  const { numbers, bytes } = scratch(View);
  return {
    read(offset = 0) {
      checkBounds(this, offset, size);
      if (isLittle) for (let i = 0; i < size; i++) bytes[i] = this[offset + i];
      else for (let i = size - 1, at = offset; i >= 0; i--, at++) bytes[i] = this[at];
      return numbers[0];
    },
  }.read;
}

function putScratch(buffer, bytes, offset, size, isLittle) {
  if (isLittle) for (let i = 0; i < size; i++) buffer[offset + i] = bytes[i];
  else for (let i = size - 1, at = offset; i >= 0; i--, at++) buffer[at] = bytes[i];
  return offset + size;
}

function floatWriter(View, size, isLittle) {
  const { numbers, bytes } = scratch(View);
  return {
    write(value, offset = 0) {
      value = +value;
      checkBounds(this, offset, size);
      numbers[0] = value;
      return putScratch(this, bytes, offset, size, isLittle);
    },
  }.write;
}

function bigWriter(View, least, end, isLittle) {
  const { numbers, bytes } = scratch(View);
  const most = end - 1n;
  const leastNumber = Number(least);
  const endNumber = Number(end);
  return {
    write(value, offset = 0) {
      if (typeof value !== 'bigint') {
        // A number is compared with numbers: beside BigInts the engine has been wrong.
        if (typeof value === 'number' && (value < leastNumber || value >= endNumber)) {
          throw rangeError(value, 8, least, most);
        }
        checkBounds(this, offset, 8);
        throw new TypeError('Cannot mix BigInt and other types, use explicit conversions');
      }
      checkValue(this, value, offset, 8, least, most);
      numbers[0] = value;
      return putScratch(this, bytes, offset, 8, isLittle);
    },
  }.write;
}

/** Adds all methods of numbers by `define(name, method)`. */
export function defineNumbers(define) {
  const both = (kind, name, alias, method) => {
    define(kind + name, method);
    if (alias !== undefined) define(kind + alias, method);
  };
  for (let order = 0; order < 2; order++) {
    const isLittle = order === 0;
    const end = isLittle ? 'LE' : 'BE';
    const read = isLittle ? readLE : readBE;
    const write = isLittle ? writeLE : writeBE;
    if (isLittle) {
      both('read', 'UInt8', 'Uint8', reader1(false));
      both('read', 'Int8', undefined, reader1(true));
      both('write', 'UInt8', 'Uint8', writer1(false));
      both('write', 'Int8', undefined, writer1(true));
    }
    both('read', 'UInt16' + end, 'Uint16' + end, reader2(isLittle, false));
    both('read', 'Int16' + end, undefined, reader2(isLittle, true));
    both('write', 'UInt16' + end, 'Uint16' + end, writer2(isLittle, false));
    both('write', 'Int16' + end, undefined, writer2(isLittle, true));
    both('read', 'UInt32' + end, 'Uint32' + end, reader4(isLittle, false));
    both('read', 'Int32' + end, undefined, reader4(isLittle, true));
    both('write', 'UInt32' + end, 'Uint32' + end, writer4(isLittle, false));
    both('write', 'Int32' + end, undefined, writer4(isLittle, true));
    both('read', 'UInt' + end, 'Uint' + end, sizedReader(read, false));
    both('read', 'Int' + end, undefined, sizedReader(read, true));
    both('write', 'UInt' + end, 'Uint' + end, sizedWriter(write, false));
    both('write', 'Int' + end, undefined, sizedWriter(write, true));
    define('readFloat' + end, scratchReader(Float32Array, 4, isLittle));
    define('readDouble' + end, scratchReader(Float64Array, 8, isLittle));
    define('writeFloat' + end, floatWriter(Float32Array, 4, isLittle));
    define('writeDouble' + end, floatWriter(Float64Array, 8, isLittle));
    both('read', 'BigUInt64' + end, 'BigUint64' + end, scratchReader(BigUint64Array, 8, isLittle));
    define('readBigInt64' + end, scratchReader(BigInt64Array, 8, isLittle));
    both('write', 'BigUInt64' + end, 'BigUint64' + end, bigWriter(BigUint64Array, 0n, 2n ** 64n, isLittle));
    define('writeBigInt64' + end, bigWriter(BigInt64Array, -(2n ** 63n), 2n ** 63n, isLittle));
  }
}
