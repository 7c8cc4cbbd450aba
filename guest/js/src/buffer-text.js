// The encodings of Buffer: text to bytes and back.
//
// Invariant: for UTF-8 lone surrogates become U+FFFD, malformed bytes are replaced as the Encoding Standard says, and a
// byte order mark stays. The other encodings are lenient as Node.js is: hexadecimal ends at the first pair that is none,
// base64 takes both alphabets, skips what belongs to neither and ends at the first `=`.
//
// What the engine or the Rust side converts natively is left to them, where both agree: a loop over characters is slow
// in an interpreter.

import { btoa } from './base64.js';
import { isArrayBuffer, viewOf } from './bytes.js';
import { decodeUtf8, encodeUtf8 } from './encoding.js';
import {
  ObjectDefineProperty,
  ObjectFreeze,
  ReflectApply,
  String,
  StringFromCharCode,
  StringPrototypeCharCodeAt,
  StringPrototypeIndexOf,
  StringPrototypeIsWellFormed,
  StringPrototypeToLowerCase,
  StringPrototypeToWellFormed,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetLength,
  Uint16Array,
  Uint8Array,
  Uint8ArrayFromBase64,
  Uint8ArrayFromHex,
  Uint8ArrayPrototypeToBase64,
  Uint8ArrayPrototypeToHex,
} from './intrinsics.js';
import { unknownEncoding } from './node-errors.js';

// How many characters become a string in one call.
const chunkLength = 4096;
const base64url = ObjectFreeze({ __proto__: null, alphabet: 'base64url', omitPadding: true });
const replacement = 0x3f;

function latin1Bytes(text) {
  const { length } = text;
  const utf8 = encodeUtf8(text);
  if (TypedArrayPrototypeGetLength(utf8) === length) return utf8;
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = StringPrototypeCharCodeAt(text, i);
  return bytes;
}

function ucs2Bytes(text) {
  const { length } = text;
  const bytes = new Uint8Array(length * 2);
  const utf8 = encodeUtf8(text);
  if (TypedArrayPrototypeGetLength(utf8) === length) {
    for (let i = 0; i < length; i++) bytes[i * 2] = utf8[i];
    return bytes;
  }
  for (let i = 0; i < length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    bytes[i * 2] = unit;
    bytes[i * 2 + 1] = unit >> 8;
  }
  return bytes;
}

function hexDigit(unit) {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function hexBytes(text) {
  if (Uint8ArrayFromHex !== undefined && text.length % 2 === 0) {
    try {
      return Uint8ArrayFromHex(text);
    } catch {
      // A character that is no digit.
    }
  }
  const bytes = new Uint8Array((text.length - (text.length % 2)) / 2);
  const { length } = text;
  for (let i = 0; i + 1 < length; i += 2) {
    const high = hexDigit(StringPrototypeCharCodeAt(text, i));
    const low = hexDigit(StringPrototypeCharCodeAt(text, i + 1));
    if (high < 0 || low < 0) return viewOf(bytes, 0, i / 2);
    bytes[i / 2] = high * 16 + low;
  }
  return bytes;
}

function base64Digit(unit) {
  if (unit >= 0x41 && unit <= 0x5a) return unit - 0x41;
  if (unit >= 0x61 && unit <= 0x7a) return unit - 0x47;
  if (unit >= 0x30 && unit <= 0x39) return unit + 4;
  if (unit === 0x2b || unit === 0x2d) return 62;
  return unit === 0x2f || unit === 0x5f ? 63 : -1;
}

function base64Bytes(text) {
  return strictBase64(text, undefined) ?? lenientBase64(text);
}

function base64urlBytes(text) {
  return strictBase64(text, base64url) ?? lenientBase64(text);
}

function strictBase64(text, options) {
  try {
    return Uint8ArrayFromBase64?.(text, options);
  } catch {
    return undefined;
  }
}

function lenientBase64(text) {
  const end = StringPrototypeIndexOf(text, '=');
  const length = end === -1 ? text.length : end;
  const bytes = new Uint8Array(length);
  let size = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < length; i++) {
    const digit = base64Digit(StringPrototypeCharCodeAt(text, i));
    if (digit < 0) continue;
    bits = ((bits << 6) | digit) & 0xfff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[size++] = bits >> held;
  }
  return viewOf(bytes, 0, size);
}

/** The string of a typed array of UTF-16 units, or of bytes that stand for the first 256 characters. */
function textOfUnits(units, View) {
  const buffer = TypedArrayPrototypeGetBuffer(units);
  const length = TypedArrayPrototypeGetLength(units);
  let text = '';
  for (let start = 0; start < length; start += chunkLength) {
    const size = length - start < chunkLength ? length - start : chunkLength;
    const chunk = new View(buffer, start * (View === Uint16Array ? 2 : 1), size);
    // A call takes its arguments from any object with a length; one of its own, for the inherited getter may be replaced.
    ObjectDefineProperty(chunk, 'length', { __proto__: null, value: size });
    text += ReflectApply(StringFromCharCode, undefined, chunk);
  }
  return text;
}

function isAllAscii(bytes) {
  const length = TypedArrayPrototypeGetLength(bytes);
  for (let i = 0; i < length; i++) if (bytes[i] > 0x7f) return false;
  return true;
}

function utf8Text(bytes) {
  // The native function wants a plain ArrayBuffer; a copy is one.
  return decodeUtf8(isArrayBuffer(TypedArrayPrototypeGetBuffer(bytes)) ? bytes : new Uint8Array(bytes), false);
}

function latin1Text(bytes) {
  return textOfUnits(new Uint8Array(bytes), Uint8Array);
}

function asciiText(bytes) {
  const copy = new Uint8Array(bytes);
  const length = TypedArrayPrototypeGetLength(copy);
  for (let i = 0; i < length; i++) if (copy[i] > 0x7f) copy[i] &= 0x7f;
  return textOfUnits(copy, Uint8Array);
}

function ucs2Text(bytes) {
  const length = TypedArrayPrototypeGetLength(bytes);
  const copy = new Uint8Array(viewOf(bytes, 0, length - (length % 2)));
  return textOfUnits(new Uint16Array(TypedArrayPrototypeGetBuffer(copy)), Uint16Array);
}

const digits = '0123456789abcdef';

function hexText(bytes) {
  if (Uint8ArrayPrototypeToHex !== undefined) return Uint8ArrayPrototypeToHex(bytes);
  const length = TypedArrayPrototypeGetLength(bytes);
  let text = '';
  for (let i = 0; i < length; i++) text += digits[bytes[i] >> 4] + digits[bytes[i] & 15];
  return text;
}

function base64Text(bytes) {
  return Uint8ArrayPrototypeToBase64 === undefined ? btoa(latin1Text(bytes)) : Uint8ArrayPrototypeToBase64(bytes);
}

function base64urlText(bytes) {
  if (Uint8ArrayPrototypeToBase64 !== undefined) return Uint8ArrayPrototypeToBase64(bytes, base64url);
  const text = btoa(latin1Text(bytes));
  let out = '';
  for (let i = 0; i < text.length && text[i] !== '='; i++) out += text[i] === '+' ? '-' : text[i] === '/' ? '_' : text[i];
  return out;
}

function base64Length(text) {
  let { length } = text;
  if (length > 0 && text[length - 1] === '=') length--;
  if (length > 1 && text[length - 1] === '=') length--;
  return (length * 3 - ((length * 3) % 4)) / 4;
}

// Each encoding: its bytes of a text, its text of bytes (a Uint8Array), and how many bytes a text is said to have.
const utf8 = {
  name: 'utf8',
  bytes: encodeUtf8,
  text: utf8Text,
  length: (text) => TypedArrayPrototypeGetLength(encodeUtf8(text)),
};
const ucs2 = { name: 'ucs2', bytes: ucs2Bytes, text: ucs2Text, length: (text) => text.length * 2 };
const latin1 = { name: 'latin1', bytes: latin1Bytes, text: latin1Text, length: (text) => text.length };
const base64 = { name: 'base64', bytes: base64Bytes, text: base64Text, length: base64Length };

/** The encodings by the name that the methods `<name>Slice` and `<name>Write` have. */
export const encodings = {
  __proto__: null,
  ascii: { name: 'ascii', bytes: latin1Bytes, text: asciiText, length: (text) => text.length },
  base64,
  base64url: { name: 'base64url', bytes: base64urlBytes, text: base64urlText, length: base64Length },
  latin1,
  hex: { name: 'hex', bytes: hexBytes, text: hexText, length: (text) => (text.length - (text.length % 2)) / 2 },
  ucs2,
  utf8,
};

const aliases = {
  __proto__: null,
  ...encodings,
  'utf-8': utf8,
  'ucs-2': ucs2,
  utf16le: ucs2,
  'utf-16le': ucs2,
  binary: latin1,
};

/** The encoding of a name, in any case; `undefined` where there is none. */
export function encodingOf(name) {
  const text = typeof name === 'string' ? name : String(name);
  return aliases[text] ?? aliases[StringPrototypeToLowerCase(text)];
}

/** The same; throws where there is none. */
export function requireEncoding(name) {
  const encoding = encodingOf(name);
  if (encoding === undefined) throw unknownEncoding(name);
  return encoding;
}

export { utf8, ucs2 };

/** How many of the first `room` bytes of a text's `bytes` are whole characters of the encoding. */
export function wholeLength(encoding, bytes, room) {
  const length = TypedArrayPrototypeGetLength(bytes);
  if (length <= room) return length;
  if (encoding === ucs2) return room - (room % 2);
  if (encoding !== utf8) return room;
  let end = room;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return end;
}

/**
 * The bytes of one encoding as those of another, with `?` for what the other lacks. Both are names; `undefined` where an
 * encoding cannot be transcoded, and `null` where a character is malformed.
 */
export function transcoded(bytes, from, to) {
  const source = from === undefined ? utf8 : encodingOf(from);
  const target = to === undefined ? utf8 : encodingOf(to);
  if (!canTranscode(source) || !canTranscode(target)) return undefined;
  if (target === ucs2 || target === utf8) {
    if (source === utf8 && target === ucs2 && decodeUtf8(new Uint8Array(bytes), true) === undefined) return null;
    if (source.name === 'ascii') return target.bytes(target === utf8 ? replacedText(bytes, 0xfffd) : latin1Text(bytes));
    const text = source.text(bytes);
    if (target === utf8 && source === ucs2 && !StringPrototypeIsWellFormed(text)) return null;
    return target.bytes(StringPrototypeToWellFormed(text));
  }
  const text = source.name === 'ascii' ? replacedText(bytes, replacement) : source.text(bytes);
  return substituted(text, target.name === 'ascii' ? 0x7f : 0xff);
}

function canTranscode(encoding) {
  switch (encoding?.name) {
    case 'ascii':
    case 'latin1':
    case 'ucs2':
    case 'utf8':
      return true;
    default:
      return false;
  }
}

/** The text of ASCII bytes with one character for each byte that is none. */
function replacedText(bytes, unit) {
  if (isAllAscii(bytes)) return latin1Text(bytes);
  const length = TypedArrayPrototypeGetLength(bytes);
  const units = new Uint16Array(length);
  for (let i = 0; i < length; i++) units[i] = bytes[i] > 0x7f ? unit : bytes[i];
  return textOfUnits(units, Uint16Array);
}

/** One byte for each character of a text, `?` for those beyond `last`. */
function substituted(text, last) {
  const { length } = text;
  const bytes = new Uint8Array(length);
  let size = 0;
  for (let i = 0; i < length; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    bytes[size++] = unit > last ? replacement : unit;
    const next = unit >= 0xd800 && unit <= 0xdbff && i + 1 < length ? StringPrototypeCharCodeAt(text, i + 1) : 0;
    if (next >= 0xdc00 && next <= 0xdfff) i++;
  }
  return viewOf(bytes, 0, size);
}
