// Buffer from the npm package of that name, with the base64url encoding it lacks and native conversions where there
// are any: for UTF-8 always, for base64 and hexadecimal where the engine has them.
//
// Invariant: for UTF-8 a Buffer gives what Node.js gives: lone surrogates become U+FFFD, malformed bytes are replaced
// as the Encoding Standard says, and a byte order mark stays. For every other encoding the package decides; a native
// conversion only answers where both agree.

import { Buffer } from 'buffer/';

import { isArrayBuffer, viewOf } from './bytes.js';
import { decodeUtf8, encodeUtf8 } from './encoding.js';
import { showBytes } from './inspect.js';
import {
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectSetPrototypeOf,
  ReflectApply,
  StringPrototypeCharCodeAt,
  StringPrototypeIndexOf,
  StringPrototypeSlice,
  StringPrototypeToLowerCase,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetToStringTag,
  Uint8Array,
  Uint8ArrayFromBase64,
  Uint8ArrayFromHex,
  Uint8ArrayPrototypeToBase64,
  Uint8ArrayPrototypeToHex,
} from './intrinsics.js';
import { inspectCustom } from './webidl.js';

export { Buffer };

function isUtf8(encoding) {
  if (typeof encoding !== 'string' || encoding === '') return true;
  const name = StringPrototypeToLowerCase(encoding);
  return name === 'utf8' || name === 'utf-8';
}

const base64url = ObjectFreeze({ __proto__: null, alphabet: 'base64url', omitPadding: true });

function isBase64url(encoding) {
  return typeof encoding === 'string' && StringPrototypeToLowerCase(encoding) === 'base64url';
}

function replaceMethod(target, name, wrap) {
  const method = wrap(target[name]);
  ObjectDefineProperty(target, name, { __proto__: null, value: method });
  ObjectDefineProperty(method, 'name', { __proto__: null, value: name });
}

// The package's base64 decoder takes both alphabets and needs no padding, so base64url is another name for it wherever
// text becomes bytes. `first` is the first argument that can be an encoding.
function acceptBase64url(target, name, first) {
  replaceMethod(target, name, (original) => function (...args) {
    for (let i = first; i < args.length; i++) {
      if (isBase64url(args[i])) args[i] = 'base64';
    }
    return ReflectApply(original, this, args);
  });
}
acceptBase64url(Buffer, 'alloc', 2);
acceptBase64url(Buffer, 'byteLength', 1);
acceptBase64url(Buffer, 'from', 1);
acceptBase64url(Buffer.prototype, 'fill', 1);
acceptBase64url(Buffer.prototype, 'includes', 1);
acceptBase64url(Buffer.prototype, 'indexOf', 1);
acceptBase64url(Buffer.prototype, 'lastIndexOf', 1);
acceptBase64url(Buffer.prototype, 'write', 1);

replaceMethod(Buffer, 'isEncoding', (original) => (encoding) => isBase64url(encoding) || original(encoding));

replaceMethod(Buffer, 'from', (original) => (value, encodingOrOffset, length) => {
  const bytes = typeof value === 'string' ? bytesOfText(value, encodingOrOffset) : undefined;
  if (bytes === undefined) return original(value, encodingOrOffset, length);
  return ObjectSetPrototypeOf(bytes, Buffer.prototype);
});

/** The bytes of a text where something native can tell; `undefined` where the package must. */
function bytesOfText(text, encoding) {
  if (isUtf8(encoding)) return encodeUtf8(text);
  try {
    // The engine's own decoders are strict where the package is lenient, but agree on what both accept.
    switch (StringPrototypeToLowerCase(encoding)) {
      case 'base64':
        return Uint8ArrayFromBase64?.(text);
      case 'base64url':
        return Uint8ArrayFromBase64?.(text, base64url);
      case 'hex':
        return Uint8ArrayFromHex?.(text);
    }
  } catch {
    // Not text that the strict decoder accepts.
  }
  return undefined;
}

replaceMethod(Buffer, 'byteLength', (original) => (value, encoding) => {
  if (typeof value !== 'string' || !isUtf8(encoding)) return original(value, encoding);
  return TypedArrayPrototypeGetLength(encodeUtf8(value));
});

function toString(original, buffer, args) {
  const encoding = args[0];
  if (TypedArrayPrototypeGetToStringTag(buffer) === 'Uint8Array') {
    const length = TypedArrayPrototypeGetLength(buffer);
    // Also the length of a detached buffer, of which there is no view.
    if (length === 0) return '';
    const start = clamp(args[1], 0, length);
    const end = clamp(args[2], length, length);
    const text = textOfBytes(viewOf(buffer, start, start < end ? end : start), encoding);
    if (text !== undefined) return text;
    if (isBase64url(encoding)) return toBase64url(ReflectApply(original, buffer, ['base64', args[1], args[2]]));
  }
  return ReflectApply(original, buffer, args);
}

/** The text of some bytes where something native can tell; `undefined` where the package must. */
function textOfBytes(bytes, encoding) {
  // The native function wants a plain ArrayBuffer; a copy is one.
  if (isUtf8(encoding)) {
    return decodeUtf8(isArrayBuffer(TypedArrayPrototypeGetBuffer(bytes)) ? bytes : new Uint8Array(bytes), false);
  }
  switch (StringPrototypeToLowerCase(encoding)) {
    case 'base64':
      return Uint8ArrayPrototypeToBase64?.(bytes);
    case 'base64url':
      return Uint8ArrayPrototypeToBase64?.(bytes, base64url);
    case 'hex':
      return Uint8ArrayPrototypeToHex?.(bytes);
  }
  return undefined;
}

replaceMethod(Buffer.prototype, 'toString', (original) => function (...args) {
  return toString(original, this, args);
});
ObjectDefineProperty(Buffer.prototype, 'toLocaleString', { __proto__: null, value: Buffer.prototype.toString });

ObjectDefineProperty(Buffer.prototype, inspectCustom, {
  __proto__: null,
  value: function inspect() {
    return TypedArrayPrototypeGetLength(this) === 0 ? '<Buffer >' : '<Buffer ' + showBytes(this, 50) + '>';
  },
  writable: true,
  enumerable: false,
  configurable: true,
});

/** An offset as Node.js reads it: `fallback` if missing, an integer, and within the buffer. */
function clamp(offset, fallback, length) {
  if (offset === undefined) return fallback;
  const number = +offset;
  if (!(number > 0)) return 0;
  return number >= length ? length : number - (number % 1);
}

function toBase64url(text) {
  let out = '';
  let copied = 0;
  const padding = StringPrototypeIndexOf(text, '=');
  const end = padding === -1 ? text.length : padding;
  for (let i = 0; i < end; i++) {
    const unit = StringPrototypeCharCodeAt(text, i);
    if (unit !== 0x2b && unit !== 0x2f) continue;
    out += StringPrototypeSlice(text, copied, i) + (unit === 0x2b ? '-' : '_');
    copied = i + 1;
  }
  return out + StringPrototypeSlice(text, copied, end);
}
