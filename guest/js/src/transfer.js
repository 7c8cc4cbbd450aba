// What goes over to the host for a request, and what comes back.
//
// Invariant: a request is sent once. When its signal aborts, or nobody reads the rest of an answer, the host is told, and
// whoever waits is rejected with the signal's reason. What is not an answer makes an error, and nothing else.

import { here } from '../cell/errors.js';
import { cancel, malformed, own, release, start } from '../cell/operations.js';
import { isSignalAborted, onSignalAbort, signalReason } from './abort.js';
import { abandonBody, bodyOfBytes, bodyOfStream, hasNoBody, readBody } from './body.js';
import { headerList, headersOf } from './headers.js';
import {
  ArrayIsArray,
  ArrayPrototypePush,
  JSONStringify,
  StringPrototypeToLowerCase,
  TypedArrayPrototypeGetLength,
  Uint8Array,
} from './intrinsics.js';
import { closeStream, createStream, enqueue, errorStream } from './streams.js';

/** Sends a request, its body first gathered where it is a stream; `resolve` gets the parts of the response. */
export function send(parts, place, resolve, reject) {
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
      id = start('fetch', payloadOf(parts), bytes, place, (answer, first) => {
        forget();
        const response = answered(id, answer, first, parts, place);
        if (response === undefined) {
          release(id);
          reject(malformed('fetch', place));
        } else {
          resolve(response);
        }
      }, failed);
    } catch (error) {
      failed(error);
    }
  };
  if (body === null) begin(undefined);
  else readBody(body, begin, failed);
}

function payloadOf({ url, method, headers, redirect }) {
  const list = headerList(headers);
  const pairs = [];
  for (let i = 0; i < list.length; i += 2) ArrayPrototypePush(pairs, [list[i], list[i + 1]]);
  return JSONStringify({ __proto__: null, url, method, headers: pairs, redirect });
}

/** The parts of the response that the host's answer stands for; `undefined` where the answer is malformed. */
function answered(id, answer, first, parts, place) {
  const status = own(answer, 'status');
  const statusText = own(answer, 'statusText');
  const url = own(answer, 'url');
  const redirected = own(answer, 'redirected');
  const pairs = own(answer, 'headers');
  const done = own(answer, 'done');
  const isShaped =
    typeof status === 'number' && status % 1 === 0 && status >= 200 && status <= 999 &&
    typeof statusText === 'string' && typeof url === 'string' && typeof redirected === 'boolean' &&
    ArrayIsArray(pairs) && typeof done === 'boolean';
  if (!isShaped) return undefined;
  const list = [];
  for (let i = 0; i < pairs.length; i++) {
    const pair = pairs[i];
    if (!ArrayIsArray(pair) || pair.length !== 2 || typeof pair[0] !== 'string' || typeof pair[1] !== 'string') {
      return undefined;
    }
    ArrayPrototypePush(list, StringPrototypeToLowerCase(pair[0]), pair[1]);
  }
  const isEmpty = first === undefined || TypedArrayPrototypeGetLength(first) === 0;
  let body;
  if (!done) body = streamingBody(id, first, isEmpty, parts.signal, place);
  else if (isEmpty && (hasNoBody(status) || parts.method === 'HEAD')) body = null;
  else body = bodyOfBytes(first === undefined ? new Uint8Array(0) : first, parts.signal);
  return { status, statusText, url, redirected, headers: headersOf(list, true), body, type: 'basic' };
}

/** The body of an answer whose rest is asked for piece by piece. */
function streamingBody(id, first, isEmpty, signal, place) {
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
      const hasBytes = bytes !== undefined && TypedArrayPrototypeGetLength(bytes) > 0;
      if (isLast) forget();
      if (hasBytes) enqueue(stream, bytes);
      if (isLast) {
        closeStream(stream);
        done();
      } else if (hasBytes) {
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
  if (!isEmpty) enqueue(stream, first);
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
