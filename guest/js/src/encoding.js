// TextEncoder and TextDecoder of the Encoding Standard, for UTF-8, UTF-16LE and windows-1252.
//
// Invariant: between two calls with `stream: true` a decoder keeps only the bytes of one unfinished character, so the
// text of all calls together is the text of all bytes together, wherever the borders fell.
//
// UTF-16LE and windows-1252 are first rewritten as UTF-8 and then decoded by the native function: building a string
// unit by unit is slow in an interpreter, writing bytes into a typed array is not.

import { bytesOf, copyFrom, viewOf } from './bytes.js';
import {
  ObjectCreate,
  RangeError,
  RegExpPrototypeExec,
  StringPrototypeCharCodeAt,
  StringPrototypeSlice,
  StringPrototypeToLowerCase,
  StringPrototypeToWellFormed,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetByteOffset,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetToStringTag,
  TypedArrayPrototypeSet,
  TypeError,
  Uint8Array,
} from './intrinsics.js';
import { nativeUtf8Decode, nativeUtf8Encode } from './native.js';
import { addErrorProperty, shapeClass, toText, toUSVString } from './webidl.js';

export class TextEncoder {
  get encoding() {
    void this.#brand;
    return 'utf-8';
  }

  encode(input = '') {
    void this.#brand;
    return nativeUtf8Encode(toUSVString(input));
  }

  encodeInto(source, destination) {
    void this.#brand;
    const text = toText(source);
    // `bytesOf` accepts every kind of buffer source; the standard accepts a Uint8Array only.
    if (TypedArrayPrototypeGetToStringTag(destination) !== 'Uint8Array') {
      throw new TypeError('The destination of encodeInto must be a Uint8Array');
    }
    const room = bytesOf(destination, 'The destination of encodeInto');
    const size = TypedArrayPrototypeGetLength(room);
    // A UTF-16 unit needs at least one byte, so what lies behind `size` units cannot fit.
    const bytes = nativeUtf8Encode(StringPrototypeToWellFormed(StringPrototypeSlice(text, 0, size)));
    let written = TypedArrayPrototypeGetLength(bytes);
    if (written > size) {
      written = size;
      while (written > 0 && (bytes[written] & 0xc0) === 0x80) written--;
    }
    TypedArrayPrototypeSet(room, viewOf(bytes, 0, written));
    return { read: utf16Length(bytes, written), written };
  }

  // Reading a private field of something else throws the TypeError the standard wants for a wrong receiver.
  #brand = undefined;
}

/** How many UTF-16 units the first `end` bytes of a UTF-8 text stand for. */
function utf16Length(bytes, end) {
  let units = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i];
    if ((byte & 0xc0) !== 0x80) units += byte < 0xf0 ? 1 : 2;
  }
  return units;
}

const labels = ObjectCreate(null);
function addLabels(encoding, names) {
  for (let i = 0; i < names.length; i++) labels[names[i]] = encoding;
}
addLabels('utf-8', ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8']);
addLabels('utf-16le', [
  'csunicode', 'iso-10646-ucs-2', 'ucs-2', 'unicode', 'unicodefeff', 'utf-16', 'utf-16le',
]);
addLabels('windows-1252', [
  'ansi_x3.4-1968', 'ascii', 'cp1252', 'cp819', 'csisolatin1', 'ibm819', 'iso-8859-1', 'iso-ir-100', 'iso8859-1',
  'iso88591', 'iso_8859-1', 'iso_8859-1:1987', 'l1', 'latin1', 'us-ascii', 'windows-1252', 'x-cp1252',
]);

const asciiTrimmed = /^[\t\n\f\r ]*([^\t\n\f\r ]*)[\t\n\f\r ]*$/;

function encodingOf(label) {
  const text = toText(label);
  const match = RegExpPrototypeExec(asciiTrimmed, text);
  const encoding = match === null ? undefined : labels[StringPrototypeToLowerCase(match[1])];
  if (encoding === undefined) {
    throw new RangeError(
      'The encoding label ' + text + ' is not supported; supported are utf-8, utf-16le and windows-1252 (latin1)',
    );
  }
  return encoding;
}

const noBytes = new Uint8Array(0);

export class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #pending = noBytes;
  #started = false;

  constructor(label = 'utf-8', options = undefined) {
    this.#encoding = encodingOf(label);
    const { fatal, ignoreBOM } = dictionary(options);
    this.#fatal = !!fatal;
    this.#ignoreBOM = !!ignoreBOM;
  }

  get encoding() {
    return this.#encoding;
  }

  get fatal() {
    return this.#fatal;
  }

  get ignoreBOM() {
    return this.#ignoreBOM;
  }

  decode(input = undefined, options = undefined) {
    const stream = !!dictionary(options).stream;
    let bytes = joined(this.#pending, input === undefined ? noBytes : bytesOf(input, 'The input of decode'));
    this.#pending = noBytes;
    const started = this.#started;
    this.#started = false;

    let pending = noBytes;
    if (stream) {
      const length = TypedArrayPrototypeGetLength(bytes);
      const whole = length - unfinishedLength(this.#encoding, bytes, length);
      // A copy, because the caller may reuse its buffer before the next call.
      if (whole < length) pending = copyFrom(bytes, whole);
      bytes = viewOf(bytes, 0, whole);
    }

    const text = decodeWhole(this.#encoding, bytes, this.#fatal);
    if (text === undefined) {
      throw encodingError(this.#encoding);
    }
    this.#pending = pending;
    this.#started = stream && (started || text !== '');
    return !started && !this.#ignoreBOM && StringPrototypeCharCodeAt(text, 0) === 0xfeff
      ? StringPrototypeSlice(text, 1)
      : text;
  }
}

function encodingError(encoding) {
  const error = new TypeError('The encoded data was not valid for encoding ' + encoding);
  addErrorProperty(error, 'code', 'ERR_ENCODING_INVALID_ENCODED_DATA');
  return error;
}

function dictionary(options) {
  if (options === undefined || options === null) return ObjectCreate(null);
  if (typeof options !== 'object' && typeof options !== 'function') {
    throw new TypeError('The options must be an object');
  }
  return options;
}

function joined(head, tail) {
  const length = TypedArrayPrototypeGetLength(head);
  if (length === 0) return tail;
  const bytes = new Uint8Array(length + TypedArrayPrototypeGetLength(tail));
  TypedArrayPrototypeSet(bytes, head);
  TypedArrayPrototypeSet(bytes, tail, length);
  return bytes;
}

/** How many bytes at the end of `bytes` begin a character that later bytes may finish. */
function unfinishedLength(encoding, bytes, length) {
  if (encoding === 'utf-8') return unfinishedUtf8(bytes, length);
  if (encoding === 'utf-16le') return unfinishedUtf16(bytes, length);
  return 0;
}

function unfinishedUtf8(bytes, length) {
  for (let back = 1; back <= 3 && back <= length; back++) {
    const lead = bytes[length - back];
    if ((lead & 0xc0) === 0x80) continue;
    if (utf8Length(lead) <= back) return 0;
    // The second byte of some leads is limited further; outside the limit the character is broken, not unfinished.
    if (back > 1) {
      const second = bytes[length - back + 1];
      const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (second < low || second > high) return 0;
    }
    return back;
  }
  return 0;
}

/** How many bytes the character has that begins with `lead`; 1 for bytes that begin none. */
function utf8Length(lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

function unfinishedUtf16(bytes, length) {
  const odd = length % 2;
  const even = length - odd;
  const highSurrogate = even >= 2 && (bytes[even - 1] & 0xfc) === 0xd8;
  return highSurrogate ? odd + 2 : odd;
}

function decodeWhole(encoding, bytes, fatal) {
  if (encoding === 'utf-16le') bytes = utf16ToUtf8(bytes, fatal);
  else if (encoding === 'windows-1252') bytes = windows1252ToUtf8(bytes);
  return bytes === undefined ? undefined : decodeUtf8(bytes, fatal);
}

/** Decodes a Uint8Array over a plain ArrayBuffer; `undefined` if `fatal` and malformed. Keeps a byte order mark. */
export function decodeUtf8(bytes, fatal) {
  return nativeUtf8Decode(
    TypedArrayPrototypeGetBuffer(bytes),
    TypedArrayPrototypeGetByteOffset(bytes),
    TypedArrayPrototypeGetLength(bytes),
    fatal,
  );
}

/** Encodes any string; lone surrogates become U+FFFD. */
export function encodeUtf8(text) {
  return nativeUtf8Encode(StringPrototypeToWellFormed(text));
}

/** Writes one code point as UTF-8 and returns the offset behind it. */
function putCodePoint(out, at, code) {
  if (code < 0x80) {
    out[at++] = code;
  } else if (code < 0x800) {
    out[at++] = 0xc0 | (code >> 6);
    out[at++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    out[at++] = 0xe0 | (code >> 12);
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
    out[at++] = 0x80 | (code & 0x3f);
  } else {
    out[at++] = 0xf0 | (code >> 18);
    out[at++] = 0x80 | ((code >> 12) & 0x3f);
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
    out[at++] = 0x80 | (code & 0x3f);
  }
  return at;
}

/** Rewrites UTF-16LE as UTF-8 with U+FFFD for what is malformed; `undefined` if `fatal` and malformed. */
function utf16ToUtf8(bytes, fatal) {
  const length = TypedArrayPrototypeGetLength(bytes);
  const even = length - (length % 2);
  const out = new Uint8Array((even / 2) * 3 + 3);
  let size = 0;
  let i = 0;
  let endedInError = false;
  while (i < even) {
    let code = bytes[i] | (bytes[i + 1] << 8);
    i += 2;
    if (code >= 0xd800 && code <= 0xdfff) {
      const next = i < even ? bytes[i] | (bytes[i + 1] << 8) : 0;
      if (code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00);
        i += 2;
      } else {
        if (fatal) return undefined;
        endedInError = code <= 0xdbff && i >= even;
        code = 0xfffd;
      }
    }
    size = putCodePoint(out, size, code);
  }
  // A high surrogate and an odd byte left over at the end are one error, not two.
  if (even < length && !endedInError) {
    if (fatal) return undefined;
    size = putCodePoint(out, size, 0xfffd);
  }
  return viewOf(out, 0, size);
}

// What windows-1252 puts at 0x80 to 0x9f; everything else is its own code point.
const windows1252 = [
  0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f,
  0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
];

function windows1252ToUtf8(bytes) {
  const length = TypedArrayPrototypeGetLength(bytes);
  const out = new Uint8Array(length * 3);
  let size = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i];
    size = putCodePoint(out, size, byte >= 0x80 && byte <= 0x9f ? windows1252[byte - 0x80] : byte);
  }
  return viewOf(out, 0, size);
}

shapeClass(TextEncoder, 'TextEncoder', ['encoding', 'encode', 'encodeInto']);
shapeClass(TextDecoder, 'TextDecoder', ['encoding', 'fatal', 'ignoreBOM', 'decode']);
