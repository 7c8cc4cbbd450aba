// The bodies of requests and responses.
//
// Invariant: a body is read once. One that is there as a whole is kept as its bytes, and becomes a stream only where
// somebody asks for one; its bytes are never handed out while a clone still has them.

import { rejected } from '../cell/operations.js';
import { isSignalAborted, signalReason } from './abort.js';
import { bytesOf, isArrayBuffer } from './bytes.js';
import { decodeUtf8, encodeUtf8 } from './encoding.js';
import {
  ArrayBufferIsView,
  JSONParse,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ObjectKeys,
  Promise,
  PromiseResolve,
  StringPrototypeCharCodeAt,
  StringPrototypeSlice,
  TypedArrayPrototypeGetBuffer,
  TypedArrayPrototypeGetLength,
  TypeError,
  Uint8Array,
} from './intrinsics.js';
import { streamObject, streamOf } from './readable-stream.js';
import {
  cancelStream,
  closeStream,
  createStream,
  enqueue,
  errorStream,
  isLocked,
  joinBytes,
  readAll,
  teeStream,
} from './streams.js';
import { searchParamsText } from './url.js';
import { toUSVString } from './webidl.js';

/** Whether a response with this status never has a body. */
export function hasNoBody(status) {
  return status === 204 || status === 205 || status === 304;
}

/** The type of a body that is given as a text. */
export const TEXT_TYPE = 'text/plain;charset=UTF-8';

/** A body of bytes that are there; reading them fails once `signal` is aborted. */
export function bodyOfBytes(bytes, signal) {
  return { bytes, stream: undefined, rest: undefined, used: false, shared: false, signal, onRead: undefined };
}

/** A body that comes as a stream; `onRead` is called when all of it is asked for. */
export function bodyOfStream(stream, onRead) {
  return { bytes: undefined, stream, rest: undefined, used: false, shared: false, signal: undefined, onRead };
}

/** A body whose `rest` is still with the host: it has `read(done, failed)` for all bytes, and `stream()` for a body. */
export function bodyOfRest(rest) {
  return { bytes: undefined, stream: undefined, rest, used: false, shared: false, signal: undefined, onRead: undefined };
}

/** What the standard extracts of a value given as a body: `{ body, type }`. */
export function extractBody(value) {
  if (typeof value === 'object') {
    const stream = streamOf(value);
    if (stream !== undefined) {
      if (isLocked(stream) || stream.disturbed) throw new TypeError('The stream was read, or is being read, already');
      return { body: bodyOfStream(stream, undefined), type: undefined };
    }
    if (ArrayBufferIsView(value) || isArrayBuffer(value)) {
      return { body: bodyOfBytes(new Uint8Array(bytesOf(value, 'The body')), undefined), type: undefined };
    }
    const params = searchParamsText(value);
    if (params !== undefined) {
      const type = 'application/x-www-form-urlencoded;charset=UTF-8';
      return { body: bodyOfBytes(encodeUtf8(params), undefined), type };
    }
  }
  return { body: bodyOfBytes(encodeUtf8(toUSVString(value)), undefined), type: TEXT_TYPE };
}

/** Whether a body was read, or is being read. */
export function isUnusable(body) {
  return body.stream === undefined ? body.used : body.stream.disturbed || isLocked(body.stream);
}

function isUsed(body) {
  return body.stream === undefined ? body.used : body.stream.disturbed;
}

/** Takes a body over: a record of its own, and nothing is left to read in this one. */
export function takeBody(body) {
  checkUsable(body);
  const { bytes, stream, rest, shared, signal, onRead } = body;
  body.used = true;
  body.bytes = body.stream = body.rest = undefined;
  return { bytes, stream, rest, used: false, shared, signal, onRead };
}

/** A second body with the same content. */
export function cloneBody(body) {
  checkUsable(body);
  streamRest(body);
  if (body.stream === undefined) {
    body.shared = true;
    const copy = bodyOfBytes(body.bytes, body.signal);
    copy.shared = true;
    return copy;
  }
  const branches = teeStream(body.stream, (chunk) => {
    // What is no bytes is refused by whoever reads it.
    return ArrayBufferIsView(chunk) ? new Uint8Array(bytesOf(chunk, 'A chunk of a body')) : chunk;
  });
  body.stream = branches[0];
  return bodyOfStream(branches[1], body.onRead);
}

function checkUsable(body) {
  if (isUnusable(body)) {
    throw new TypeError('The body was read, or is being read, already: clone() before the first reading');
  }
}

/** The bytes of a body that is there as a whole and was not read; they are the caller's own. */
export function bytesIn(body) {
  checkUsable(body);
  if (body.signal !== undefined && isSignalAborted(body.signal)) throw signalReason(body.signal);
  const { bytes } = body;
  body.used = true;
  body.bytes = undefined;
  return body.shared ? new Uint8Array(bytes) : bytes;
}

/** Makes a stream of what is still with the host. */
function streamRest(body) {
  if (body.rest === undefined) return;
  const { stream, onRead } = body.rest.stream();
  body.rest = undefined;
  body.stream = stream;
  body.onRead = onRead;
}

/** Whether a body is there as a whole. */
export function isWhole(body) {
  return body.stream === undefined && body.rest === undefined;
}

/** All bytes of a body, by `done(bytes)` or `failed(error)`; they are the caller's own. */
export function readBody(body, done, failed) {
  if (body.rest !== undefined) {
    checkUsable(body);
    const { rest } = body;
    body.used = true;
    body.rest = undefined;
    body.bytes = new Uint8Array(0);
    rest.read((chunks) => done(joinBytes(chunks)), failed);
    return;
  }
  if (body.stream === undefined) {
    done(bytesIn(body));
    return;
  }
  checkUsable(body);
  if (body.onRead !== undefined) body.onRead();
  readAll(body.stream, (chunks) => done(joinBytes(chunks)), failed);
}

/** The stream of a body. */
function streamOfBody(body) {
  streamRest(body);
  if (body.stream === undefined) {
    const stream = createStream((done) => done(), (reason, done) => done());
    if (body.signal !== undefined && isSignalAborted(body.signal)) {
      errorStream(stream, signalReason(body.signal));
    } else {
      if (!body.used && TypedArrayPrototypeGetLength(body.bytes) > 0) {
        enqueue(stream, body.shared ? new Uint8Array(body.bytes) : body.bytes);
      }
      closeStream(stream);
    }
    stream.disturbed = body.used;
    body.stream = stream;
    body.bytes = undefined;
  }
  return streamObject(body.stream);
}

/** Says that nobody reads a body that was not read yet. */
export function abandonBody(body, reason) {
  if (body !== null && body.stream !== undefined && !isLocked(body.stream)) {
    cancelStream(body.stream, reason, () => {}, () => {});
  }
}

function readLater(body, convert) {
  return new Promise((resolve, reject) => {
    readBody(body, (bytes) => {
      try {
        resolve(convert(bytes));
      } catch (error) {
        reject(error);
      }
    }, reject);
  });
}

function decodeText(bytes) {
  const text = decodeUtf8(bytes, false);
  return StringPrototypeCharCodeAt(text, 0) === 0xfeff ? StringPrototypeSlice(text, 1) : text;
}

/** Gives a class the members that read its body; `bodyOf` gives the body of an instance, `null` where it has none. */
export function mixBody(Class, bodyOf) {
  const read = (object, convert) => {
    try {
      const body = bodyOf(object);
      if (body === null) return PromiseResolve(Promise, convert(new Uint8Array(0)));
      return isWhole(body) ? PromiseResolve(Promise, convert(bytesIn(body))) : readLater(body, convert);
    } catch (error) {
      return rejected(error);
    }
  };
  const members = {
    get body() {
      const body = bodyOf(this);
      return body === null ? null : streamOfBody(body);
    },
    get bodyUsed() {
      const body = bodyOf(this);
      return body !== null && isUsed(body);
    },
    arrayBuffer() {
      return read(this, TypedArrayPrototypeGetBuffer);
    },
    bytes() {
      return read(this, (bytes) => bytes);
    },
    json() {
      return read(this, (bytes) => JSONParse(decodeText(bytes)));
    },
    text() {
      return read(this, decodeText);
    },
  };
  const names = ObjectKeys(members);
  for (let i = 0; i < names.length; i++) {
    const descriptor = ObjectGetOwnPropertyDescriptor(members, names[i]);
    ObjectDefineProperty(Class.prototype, names[i], descriptor);
  }
}
