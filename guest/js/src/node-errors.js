// The errors that Node.js throws for wrong arguments, with their codes and texts.
//
// Invariant: to make one never runs code of the tool. Node.js reads the class of a value from its property
// `constructor`; here it is read where it is plain data.

import { inspect, showNumber } from './inspect.js';
import {
  JSONStringify,
  NumberPrototypeToString,
  ObjectGetOwnPropertyDescriptor,
  ObjectGetPrototypeOf,
  RangeError,
  StringPrototypeIncludes,
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  TypeError,
} from './intrinsics.js';
import { addErrorProperty } from './webidl.js';

const maxShown = 128;

/** An error with a code. */
export function coded(Class, code, message) {
  const error = new Class(message);
  addErrorProperty(error, 'code', code);
  return error;
}

/** The error of an argument of the wrong type: `expected` is what comes after "must be". */
export function wrongType(name, expected, value) {
  const what = name === 'first argument' ? 'The first argument' : 'The "' + name + '" argument';
  return coded(TypeError, 'ERR_INVALID_ARG_TYPE', what + ' must be ' + expected + '. Received ' + kindOf(value));
}

/** The error of a number that is out of its range: `range` is what comes after "It must be". */
export function outOfRange(name, range, value) {
  return coded(
    RangeError,
    'ERR_OUT_OF_RANGE',
    'The value of "' + name + '" is out of range. It must be ' + range + '. Received ' + received(value),
  );
}

/** The error of an access outside of a buffer; `name` is the argument that led there, where there is one. */
export function outOfBounds(name) {
  return coded(
    RangeError,
    'ERR_BUFFER_OUT_OF_BOUNDS',
    name === undefined
      ? 'Attempt to access memory outside buffer bounds'
      : '"' + name + '" is outside of buffer bounds',
  );
}

/** The error of an encoding that there is not. */
export function unknownEncoding(encoding) {
  return coded(TypeError, 'ERR_UNKNOWN_ENCODING', 'Unknown encoding: ' + encoding);
}

/** Throws unless `value` is a number from `least` to `most`. */
export function checkNumber(value, name, least = undefined, most = undefined) {
  if (typeof value !== 'number') throw wrongType(name, 'of type number', value);
  if (value < least || value > most || (value !== value && (least !== undefined || most !== undefined))) {
    throw outOfRange(name, rangeOf(least, most), value);
  }
}

/** Throws unless `value` is a whole number from `least` to `most`. */
export function checkInteger(value, name, least, most) {
  if (typeof value !== 'number') throw wrongType(name, 'of type number', value);
  if (value % 1 !== 0) throw outOfRange(name, 'an integer', value);
  if (value < least || value > most) throw outOfRange(name, rangeOf(least, most), value);
}

function rangeOf(least, most) {
  return '>= ' + least + (most === undefined ? '' : ' && <= ' + most);
}

function received(value) {
  if (typeof value === 'number' && value % 1 === 0 && (value > 2 ** 32 || value < -(2 ** 32))) {
    return grouped(NumberPrototypeToString(value));
  }
  if (typeof value === 'number') return showNumber(value);
  if (typeof value === 'bigint') return (value > 2n ** 32n || value < -(2n ** 32n) ? grouped('' + value) : value) + 'n';
  return inspect(value, 0, maxShown);
}

/** The digits of a whole number in groups of three. */
function grouped(digits) {
  const first = StringPrototypeStartsWith(digits, '-') ? 1 : 0;
  let text = '';
  let end = digits.length;
  for (; end >= first + 4; end -= 3) text = '_' + StringPrototypeSlice(digits, end - 3, end) + text;
  return StringPrototypeSlice(digits, 0, end) + text;
}

function kindOf(value) {
  if (value === undefined || value === null) return '' + value;
  if (typeof value === 'function') return 'function ' + nameOf(value);
  if (typeof value === 'object') {
    const name = classOf(value);
    return name === '' ? inspect(value, 0, maxShown) : 'an instance of ' + name;
  }
  if (typeof value === 'string') {
    const start = value.length > 28 ? StringPrototypeSlice(value, 0, 25) + '...' : value;
    return 'type string (' + (StringPrototypeIncludes(start, "'") ? JSONStringify(start) : "'" + start + "'") + ')';
  }
  const shown = inspect(value, 0, maxShown);
  return 'type ' + typeof value + ' (' + (shown.length > 28 ? StringPrototypeSlice(shown, 0, 25) + '...' : shown) + ')';
}

/** The name of a function, where it is plain data. */
function nameOf(value) {
  try {
    const name = ObjectGetOwnPropertyDescriptor(value, 'name')?.value;
    return typeof name === 'string' ? name : '';
  } catch {
    return '';
  }
}

/** The name of the class of an object, without a getter being asked. */
function classOf(value) {
  try {
    for (let object = value, steps = 0; object !== null && steps < 16; object = ObjectGetPrototypeOf(object), steps++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(object, 'constructor');
      if (descriptor !== undefined) return typeof descriptor.value === 'function' ? nameOf(descriptor.value) : '';
    }
  } catch {
    // A proxy may throw.
  }
  return '';
}
