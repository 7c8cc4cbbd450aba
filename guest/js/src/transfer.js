// What goes over to the host for a request, and what comes back.
//
// Invariant: a request is sent once. When its signal aborts, or nobody reads the rest of an answer, the host is told, and
// whoever waits is rejected with the signal's reason. What is not an answer makes an error, and nothing else.

import { here } from '../cell/errors.js';
import { cancel, malformed, own, quote, release, start } from '../cell/operations.js';
import { isSignalAborted, onSignalAbort, signalReason } from './abort.js';
import { abandonBody, bodyOfBytes, bodyOfRest, bodyOfStream, bytesIn, hasNoBody, readBody } from './body.js';
import { ArrayIsArray, ArrayPrototypePush, ObjectSetPrototypeOf, TypedArrayPrototypeGetLength, Uint8Array } from './intrinsics.js';
import { native } from './native.js';
import { closeStream, createStream, enqueue, errorStream } from './streams.js';

/**
 * Sends a request that nobody can take back and whose body, if it has one, is there. Gives the promise of what
 * `read(answer, bytes, parts, id, place)` makes of the answer.
 */
export function sendWhole(parts, list, place, read) {
  const bytes = parts.body === null ? undefined : bytesIn(parts.body);
  return native.request('fetch', payloadOf(parts, list), bytes, read, parts, place);
}

/** Sends a request, its body first gathered where it is a stream; `resolve` gets the parts of the response. */
export function send(parts, list, place, resolve, reject) {
  const { signal, body } = parts;
  if (signal !== undefined && isSignalAborted(signal)) {
    abandonBody(body, signalReason(signal));
    throw signalReason(signal);
  }
  let id;
  let isOver = false;
  const forget = signal === undefined ? () => {} : onSignalAbort(signal, (reason) => {
    isOver = true;
    if (id === undefined) abandonBody(body, reason);
    else cancel(id);
    reject(reason);
  });
  const failed = (error) => {
    forget();
    reject(error);
  };
  const begin = (bytes) => {
    if (isOver) return;
    try {
      id = start('fetch', payloadOf(parts, list), bytes, place, (answer, first) => {
        forget();
        const response = readAnswer(answer, first, parts, id, place);
        if (response === undefined) reject(malformed('fetch', place));
        else resolve(response);
      }, failed);
    } catch (error) {
      failed(error);
    }
  };
  if (body === null) begin(undefined);
  else readBody(body, begin, failed);
}

function payloadOf({ url, method, redirect }, list) {
  let headers = '';
  for (let i = 0; i < list.length; i += 2) {
    headers += (i === 0 ? '[' : ',[') + quote(list[i]) + ',' + quote(list[i + 1]) + ']';
  }
  return (
    '{"url":' + quote(url) + ',"method":' + quote(method) + ',"headers":[' + headers + '],"redirect":"' + redirect + '"}'
  );
}

/** The parts of the response that the host's answer stands for; `undefined` where the answer is malformed. */
export function readAnswer(answer, first, parts, id, place) {
  const response = answered(answer, first, parts, id, place);
  if (response === undefined) release(id);
  return response;
}

function answered(answer, first, parts, id, place) {
  if (typeof answer !== 'object' || answer === null) return undefined;
  // What is missing is missing, whatever a tool put on the prototype of objects.
  ObjectSetPrototypeOf(answer, null);
  const { status, statusText, url, redirected, headers: list, done } = answer;
  const isShaped =
    typeof status === 'number' && status % 1 === 0 && status >= 200 && status <= 999 &&
    typeof statusText === 'string' && typeof url === 'string' && typeof redirected === 'boolean' &&
    ArrayIsArray(list) && list.length % 2 === 0 && typeof done === 'boolean';
  if (!isShaped) return undefined;
  for (let i = 0; i < list.length; i++) if (typeof list[i] !== 'string') return undefined;
  let body;
  if (!done && parts.signal !== undefined) body = streamingBody(id, first, parts.signal, place);
  else if (!done) body = bodyOfRest(new Rest(id, first, place));
  else if (!hasBytes(first) && (hasNoBody(status) || parts.method === 'HEAD')) body = null;
  else body = bodyOfBytes(first === undefined ? new Uint8Array(0) : first, parts.signal);
  return { status, statusText, url, redirected, list, headers: undefined, body, type: 'basic' };
}

/** What the host still has of an answer that no signal can end: it becomes a stream only where somebody asks for one. */
class Rest {
  #id;
  #first;
  #place;

  constructor(id, first, place) {
    this.#id = id;
    this.#first = first;
    this.#place = place;
  }

  stream() {
    return streamingBody(this.#id, this.#first, undefined, this.#place);
  }

  read(done, failed) {
    const chunks = [];
    if (hasBytes(this.#first)) ArrayPrototypePush(chunks, this.#first);
    readPiece({ id: this.#id, place: here(readBody), chunks, done, failed });
  }
}

function readPiece(reading) {
  const { id, place, chunks, done, failed } = reading;
  start('fetch.read', '{"fetch":' + id + '}', undefined, place, (answer, bytes) => {
    const isLast = own(answer, 'done');
    if (typeof isLast !== 'boolean') {
      release(id);
      failed(malformed('fetch.read', place));
      return;
    }
    if (hasBytes(bytes)) ArrayPrototypePush(chunks, bytes);
    if (isLast) done(chunks);
    else readPiece(reading);
  }, failed);
}

function hasBytes(bytes) {
  return bytes !== undefined && TypedArrayPrototypeGetLength(bytes) > 0;
}

/** The body of an answer whose rest is asked for piece by piece. */
function streamingBody(id, first, signal, place) {
  let reading;
  let forget = () => {};
  const pull = (done) => {
    reading = start('fetch.read', '{"fetch":' + id + '}', undefined, place, (answer, bytes) => {
      reading = undefined;
      const isLast = own(answer, 'done');
      if (typeof isLast !== 'boolean') {
        fail(malformed('fetch.read', place));
        release(id);
        return;
      }
      const came = hasBytes(bytes);
      if (isLast) forget();
      if (came) enqueue(stream, bytes);
      if (isLast) {
        closeStream(stream);
        done();
      } else if (came) {
        done();
      } else {
        pull(done);
      }
    }, fail);
  };
  const fail = (error) => {
    reading = undefined;
    forget();
    errorStream(stream, error);
  };
  const end = () => {
    forget();
    if (reading !== undefined) cancel(reading);
    reading = undefined;
    release(id);
  };
  const stream = createStream(pull, (reason, done) => {
    end();
    done();
  });
  if (hasBytes(first)) enqueue(stream, first);
  if (signal !== undefined) {
    if (isSignalAborted(signal)) {
      end();
      errorStream(stream, signalReason(signal));
    } else {
      forget = onSignalAbort(signal, (reason) => {
        end();
        errorStream(stream, reason);
      });
    }
  }
  return bodyOfStream(stream, () => {
    place = here(readBody);
  });
}
