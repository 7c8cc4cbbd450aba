// The streams behind ReadableStream of the Streams Standard.
//
// Invariant: chunks come out in the order in which they went in, each to one reader; a source is asked for more only
// while somebody waits or its queue is below its high-water mark, and by one call at a time.
//
// A stream is a plain record: what this prelude does with one goes through the functions here, and so a stream that a
// tool has changed the methods of is read all the same. There are no byte streams, and no pipes.

import {
  afterThisTask,
  ArrayPrototypePush,
  ArrayPrototypeShift,
  Number,
  Promise,
  PromisePrototypeThen,
  RangeError,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetToStringTag,
  TypedArrayPrototypeSet,
  TypeError,
  Uint8Array,
} from './intrinsics.js';

/** The states of a stream. */
export const READABLE = 'readable';
export const CLOSED = 'closed';
export const ERRORED = 'errored';

/**
 * The record of a new stream. `pull(done, failed)` is asked for more and calls `enqueue`, `closeStream` or
 * `errorStream` on the record; `cancel(reason, done, failed)` is told that nobody wants any.
 */
export function createStream(pull, cancel, highWaterMark = 0, size = undefined) {
  return {
    object: undefined,
    state: READABLE,
    error: undefined,
    reader: undefined,
    disturbed: false,
    queue: [],
    queued: 0,
    started: true,
    closing: false,
    pulling: false,
    pullAgain: false,
    highWaterMark,
    size,
    pull,
    cancel,
  };
}

/** Whether somebody reads the stream. */
export function isLocked(stream) {
  return stream.reader !== undefined;
}

/** How much more the stream's queue takes. */
export function desiredSize(stream) {
  if (stream.state === ERRORED) return null;
  return stream.state === CLOSED ? 0 : stream.highWaterMark - stream.queued;
}

function wantsMore(stream) {
  if (stream.state !== READABLE || stream.closing || !stream.started) return false;
  return (stream.reader !== undefined && stream.reader.requests.length > 0) || desiredSize(stream) > 0;
}

/** Asks the source for more, if somebody wants it. */
export function pullIfNeeded(stream) {
  if (!wantsMore(stream)) return;
  if (stream.pulling) {
    stream.pullAgain = true;
    return;
  }
  stream.pulling = true;
  const pull = stream.pull;
  try {
    pull(
      () => {
        stream.pulling = false;
        if (!stream.pullAgain) return;
        stream.pullAgain = false;
        pullIfNeeded(stream);
      },
      (error) => errorStream(stream, error),
    );
  } catch (error) {
    errorStream(stream, error);
  }
}

/** Puts a chunk into the stream, if it still takes any. */
export function enqueue(stream, chunk) {
  if (stream.state !== READABLE || stream.closing) return;
  if (stream.reader !== undefined && stream.reader.requests.length > 0) {
    ArrayPrototypeShift(stream.reader.requests).chunk(chunk);
  } else {
    const size = stream.size === undefined ? 1 : Number(sizeOf(stream, chunk));
    if (!(size >= 0 && size < Infinity)) {
      const error = new RangeError('The size of a chunk must be a finite number, zero or more');
      errorStream(stream, error);
      throw error;
    }
    ArrayPrototypePush(stream.queue, { chunk, size });
    stream.queued += size;
  }
  pullIfNeeded(stream);
}

function sizeOf(stream, chunk) {
  const { size } = stream;
  try {
    return size(chunk);
  } catch (error) {
    errorStream(stream, error);
    throw error;
  }
}

/** Ends the stream after what is in its queue. */
export function closeStream(stream) {
  if (stream.state !== READABLE || stream.closing) return;
  stream.closing = true;
  if (stream.queue.length === 0) finish(stream);
}

function finish(stream) {
  stream.state = CLOSED;
  stream.pull = stream.cancel = stream.size = undefined;
  const { reader } = stream;
  if (reader === undefined) return;
  if (reader.settle !== undefined) reader.settle.resolve(undefined);
  const { requests } = reader;
  reader.requests = [];
  for (let i = 0; i < requests.length; i++) requests[i].close();
}

/** Ends the stream at once: everybody who reads gets this error. */
export function errorStream(stream, error) {
  if (stream.state !== READABLE) return;
  stream.state = ERRORED;
  stream.error = error;
  stream.queue = [];
  stream.queued = 0;
  stream.pull = stream.cancel = stream.size = undefined;
  const { reader } = stream;
  if (reader === undefined) return;
  if (reader.settle !== undefined) reader.settle.reject(error);
  failRequests(reader, error);
}

function failRequests(reader, error) {
  const { requests } = reader;
  reader.requests = [];
  for (let i = 0; i < requests.length; i++) requests[i].error(error);
}

/** Says that nobody wants the rest of the stream. */
export function cancelStream(stream, reason, done, failed) {
  stream.disturbed = true;
  if (stream.state === CLOSED) {
    done(undefined);
  } else if (stream.state === ERRORED) {
    failed(stream.error);
  } else {
    const { cancel } = stream;
    stream.queue = [];
    stream.queued = 0;
    finish(stream);
    try {
      cancel(reason, () => done(undefined), failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** The record of a reader of a stream that has none. */
export function lock(stream) {
  if (stream.reader !== undefined) throw new TypeError('The stream is locked: it has a reader already');
  stream.reader = { stream, requests: [], closed: undefined, settle: undefined };
  return stream.reader;
}

/** Ends the reading: what still waits is rejected. */
export function release(reader) {
  const { stream } = reader;
  if (stream === undefined) return;
  const error = released();
  if (reader.settle !== undefined && stream.state === READABLE) reader.settle.reject(error);
  else reader.closed = undefined;
  reader.stream = stream.reader = reader.settle = undefined;
  failRequests(reader, error);
}

/** The error of who reads with a reader that was released. */
export function released() {
  return new TypeError('The reader was released');
}

/** Reads one chunk: `request` has `chunk(value)`, `close()` and `error(error)`, of which one is called. */
export function readChunk(reader, request) {
  const { stream } = reader;
  stream.disturbed = true;
  if (stream.state === CLOSED) {
    request.close();
  } else if (stream.state === ERRORED) {
    request.error(stream.error);
  } else if (stream.queue.length > 0) {
    const { chunk, size } = ArrayPrototypeShift(stream.queue);
    // A sum of numbers with a fraction; below zero is an error of rounding.
    stream.queued = stream.queued - size < 0 ? 0 : stream.queued - size;
    if (stream.closing && stream.queue.length === 0) finish(stream);
    else pullIfNeeded(stream);
    request.chunk(chunk);
  } else {
    ArrayPrototypePush(reader.requests, request);
    pullIfNeeded(stream);
  }
}

/** Reads a stream of bytes to its end: `done` gets a list of Uint8Array. */
export function readAll(stream, done, failed) {
  const reader = lock(stream);
  const chunks = [];
  // A chunk that is there already comes before `readChunk` returns; a loop, so that many do not fill the stack.
  let reading = false;
  let again = false;
  const request = {
    chunk(chunk) {
      if (TypedArrayPrototypeGetToStringTag(chunk) === 'Uint8Array') {
        ArrayPrototypePush(chunks, chunk);
        more();
        return;
      }
      const error = new TypeError('A body is a stream of Uint8Array: another chunk came');
      cancelStream(stream, error, () => {}, () => {});
      failed(error);
    },
    close() {
      done(chunks);
    },
    error: failed,
  };
  function more() {
    again = true;
    if (reading) return;
    reading = true;
    while (again) {
      again = false;
      readChunk(reader, request);
    }
    reading = false;
  }
  more();
}

/** Two streams that each have everything that comes out of this one; `copy` makes the chunks of the second. */
export function teeStream(stream, copy) {
  const reader = lock(stream);
  let reading = false;
  let readAgain = false;
  const cancelled = [false, false];
  const reasons = [undefined, undefined];
  const branches = [];
  let settleCancelled;
  // What both branches say to whoever cancels them: it is known once both are cancelled, or the stream has ended.
  const cancelledBoth = new Promise((resolve, reject) => {
    settleCancelled = { resolve, reject };
  });
  // A rejection that no branch waits for is told by none.
  PromisePrototypeThen(cancelledBoth, undefined, () => {});
  const both = (act) => {
    for (let i = 0; i < 2; i++) if (!cancelled[i]) act(branches[i], i);
  };
  const ended = () => {
    if (!cancelled[0] || !cancelled[1]) settleCancelled.resolve(undefined);
  };
  const fail = (error) => {
    // In a job of its own, as who waits for a rejection.
    afterThisTask(() => {
      for (let i = 0; i < 2; i++) errorStream(branches[i], error);
      ended();
    });
  };
  const request = {
    chunk(chunk) {
      // In a job of its own, so that a source which is always ready does not fill the stack.
      afterThisTask(() => {
        readAgain = false;
        both((branch, i) => enqueue(branch, i === 1 ? copy(chunk) : chunk));
        reading = false;
        if (readAgain) pull(() => {});
      });
    },
    close() {
      reading = false;
      both(closeStream);
      ended();
    },
    error() {
      reading = false;
    },
  };
  function pull(done) {
    if (reading) {
      readAgain = true;
    } else {
      reading = true;
      readChunk(reader, request);
    }
    done();
  }
  const cancelBranch = (i) => (reason, done, failed) => {
    cancelled[i] = true;
    reasons[i] = reason;
    if (cancelled[1 - i]) {
      cancelStream(stream, [reasons[0], reasons[1]], settleCancelled.resolve, settleCancelled.reject);
    }
    PromisePrototypeThen(cancelledBoth, done, failed);
  };
  for (let i = 0; i < 2; i++) {
    const branch = createStream(pull, cancelBranch(i), 1);
    branch.started = false;
    ArrayPrototypePush(branches, branch);
    // A stream starts in a job of its own; until then nothing is read.
    afterThisTask(() => {
      branch.started = true;
      pullIfNeeded(branch);
    });
  }
  if (stream.state === ERRORED) fail(stream.error);
  else reader.settle = { resolve() {}, reject: fail };
  return branches;
}

/** All of `chunks` as one Uint8Array of its own. */
export function joinBytes(chunks) {
  let length = 0;
  for (let i = 0; i < chunks.length; i++) length += TypedArrayPrototypeGetLength(chunks[i]);
  const bytes = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < chunks.length; i++) {
    TypedArrayPrototypeSet(bytes, chunks[i], at);
    at += TypedArrayPrototypeGetLength(chunks[i]);
  }
  return bytes;
}
