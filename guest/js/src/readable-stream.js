// ReadableStream of the Streams Standard, with its default reader and controller.
//
// Invariant: a stream has at most one object of each class, and the records of `streams.js` are reached through their
// private fields alone.
//
// The classes are made when they are granted.

import {
  AsyncIteratorPrototype,
  Number,
  ObjectDefineProperty,
  ObjectSetPrototypeOf,
  Promise,
  PromisePrototypeThen,
  PromiseResolve,
  RangeError,
  ReflectApply,
  SymbolAsyncIterator,
  TypeError,
} from './intrinsics.js';
import {
  cancelStream,
  closeStream,
  CLOSED,
  createStream,
  desiredSize,
  enqueue,
  ERRORED,
  errorStream,
  isLocked,
  lock,
  pullIfNeeded,
  READABLE,
  readChunk,
  release,
  released,
  teeStream,
} from './streams.js';
import { dictionaryOf, inspectCustom, shapeClass, toText } from './webidl.js';

const constructionKey = {};

// Set by the static block of ReadableStream, once it is made.
let makeStream;
let recordOf;

/** The ReadableStream of a record. */
export function streamObject(stream) {
  if (stream.object === undefined) makeStream(stream);
  return stream.object;
}

/** The record of a ReadableStream, whatever its prototype says; `undefined` for every other value. */
export function streamOf(value) {
  return typeof value === 'object' && value !== null && recordOf !== undefined ? recordOf(value) : undefined;
}

/** Calls a function of the tool and takes what it returns, or the end of its promise. */
function callAsync(method, receiver, args, done, failed) {
  const promise = new Promise((resolve) => resolve(ReflectApply(method, receiver, args)));
  PromisePrototypeThen(promise, done, failed);
}

function methodOf(source, name) {
  const method = source[name];
  if (method !== undefined && typeof method !== 'function') {
    throw new TypeError('`' + name + '` of a stream\'s source must be a function');
  }
  return method;
}

/** The record of a stream that a tool makes of its own source. */
function streamOfSource(source, strategy) {
  if (source === undefined) source = {};
  if ((typeof source !== 'object' && typeof source !== 'function') || source === null) {
    throw new TypeError('The source of a ReadableStream must be an object');
  }
  if (source.type !== undefined) throw new TypeError('Byte streams are not available: leave the `type` of the source out');
  const { highWaterMark = 1, size } = dictionaryOf(strategy, 'The strategy of a ReadableStream');
  const mark = Number(highWaterMark);
  if (!(mark >= 0)) throw new RangeError('The highWaterMark must be a number, zero or more');
  if (size !== undefined && typeof size !== 'function') throw new TypeError('The size of a strategy must be a function');
  const cancel = methodOf(source, 'cancel');
  const pull = methodOf(source, 'pull');
  const start = methodOf(source, 'start');
  const stream = createStream(undefined, undefined, mark, size);
  const controller = new Controller(constructionKey, stream);
  stream.started = false;
  stream.pull = (done, failed) => {
    if (pull === undefined) done();
    else callAsync(pull, source, [controller], done, failed);
  };
  stream.cancel = (reason, done, failed) => {
    if (cancel === undefined) done();
    else callAsync(cancel, source, [reason], done, failed);
  };
  stream.begin = () => {
    const started = start === undefined ? undefined : ReflectApply(start, source, [controller]);
    PromisePrototypeThen(
      new Promise((resolve) => resolve(started)),
      () => {
        stream.started = true;
        pullIfNeeded(stream);
      },
      (error) => errorStream(stream, error),
    );
  };
  return stream;
}

// The iterator of a stream: steps follow each other, whatever the tool does, and each takes the turns of the microtask
// queue that Web IDL gives it. No tool reaches the class without a stream, so it is not made anew for a grant.
class StreamIterator {
  #reader;
  #preventCancel;
  #ongoing = undefined;
  #finished = false;

  constructor(reader, preventCancel) {
    this.#reader = reader;
    this.#preventCancel = preventCancel;
  }

  next() {
    const steps = () => this.#nextStep();
    const ongoing = this.#ongoing;
    this.#ongoing = ongoing === undefined ? steps() : PromisePrototypeThen(ongoing, steps, steps);
    return this.#ongoing;
  }

  return(value) {
    const steps = () => this.#returnStep(value);
    const ongoing = this.#ongoing;
    this.#ongoing = ongoing === undefined ? steps() : PromisePrototypeThen(ongoing, steps, steps);
    return PromisePrototypeThen(this.#ongoing, () => ({ value, done: true }));
  }

  #nextStep() {
    const reader = this.#reader;
    if (this.#finished || reader.stream === undefined) return PromiseResolve(Promise, { value: undefined, done: true });
    const read = new Promise((resolve, reject) => {
      readChunk(reader, {
        chunk: (value) => resolve({ value, done: false }),
        close: () => {
          release(reader);
          resolve({ value: undefined, done: true });
        },
        error: (error) => {
          release(reader);
          reject(error);
        },
      });
    });
    return PromisePrototypeThen(
      read,
      (result) => {
        this.#ongoing = undefined;
        if (result.done) this.#finished = true;
        return result;
      },
      (error) => {
        this.#ongoing = undefined;
        this.#finished = true;
        throw error;
      },
    );
  }

  #returnStep(value) {
    const reader = this.#reader;
    if (this.#finished || reader.stream === undefined) return PromiseResolve(Promise, undefined);
    this.#finished = true;
    return new Promise((resolve, reject) => {
      if (!this.#preventCancel) cancelStream(reader.stream, value, resolve, reject);
      release(reader);
      if (this.#preventCancel) resolve(undefined);
    });
  }
}
ObjectSetPrototypeOf(StreamIterator.prototype, AsyncIteratorPrototype);
// The class is internal: without this a tool could build iterators over records of its own.
delete StreamIterator.prototype.constructor;

shapeClass(StreamIterator, 'ReadableStream AsyncIterator', ['next', 'return']);

// Set by `makeStreams`.
let Controller;

/** Makes the classes. */
export function makeStreams() {
  class ReadableStreamDefaultController {
    #stream;

    constructor(key = undefined, stream = undefined) {
      if (key !== constructionKey) throw new TypeError('Illegal constructor');
      this.#stream = stream;
    }

    get desiredSize() {
      return desiredSize(this.#stream);
    }

    enqueue(chunk = undefined) {
      const stream = this.#stream;
      if (stream.state !== READABLE || stream.closing) throw new TypeError('The stream takes no more chunks');
      enqueue(stream, chunk);
    }

    close() {
      const stream = this.#stream;
      if (stream.state !== READABLE || stream.closing) throw new TypeError('The stream is closed already');
      closeStream(stream);
    }

    error(error = undefined) {
      errorStream(this.#stream, error);
    }
  }
  Controller = ReadableStreamDefaultController;

  class ReadableStreamDefaultReader {
    #reader;

    constructor(stream) {
      const record = streamOf(stream);
      if (record === undefined) throw new TypeError('A reader needs a ReadableStream');
      this.#reader = lock(record);
    }

    get closed() {
      const reader = this.#reader;
      if (reader.closed === undefined) {
        const { stream } = reader;
        const { state, error } = stream === undefined ? { state: ERRORED, error: released() } : stream;
        reader.closed = new Promise((resolve, reject) => {
          if (state === CLOSED) resolve(undefined);
          else if (state === ERRORED) reject(error);
          else reader.settle = { resolve, reject };
        });
      }
      return reader.closed;
    }

    read() {
      return new Promise((resolve, reject) => readChunk(attached(this.#reader), promiseRequest(resolve, reject)));
    }

    cancel(reason = undefined) {
      return new Promise((resolve, reject) => cancelStream(attached(this.#reader).stream, reason, resolve, reject));
    }

    releaseLock() {
      release(this.#reader);
    }
  }

  class ReadableStream {
    #stream;

    static {
      makeStream = (stream) => new ReadableStream(constructionKey, stream);
      recordOf = (value) => (#stream in value ? value.#stream : undefined);
    }

    constructor(source = undefined, strategy = undefined) {
      if (source === constructionKey) {
        this.#stream = strategy;
        strategy.object = this;
        return;
      }
      const stream = streamOfSource(source, strategy);
      this.#stream = stream;
      stream.object = this;
      stream.begin();
    }

    get locked() {
      return isLocked(this.#stream);
    }

    getReader(options = undefined) {
      void this.#stream;
      const { mode } = dictionaryOf(options, 'The options of getReader');
      if (mode !== undefined) {
        throw new TypeError(
          toText(mode) === 'byob'
            ? 'Readers of byte streams are not available: leave the `mode` out'
            : 'The mode of a reader can only be byob',
        );
      }
      return new ReadableStreamDefaultReader(this);
    }

    cancel(reason = undefined) {
      return new Promise((resolve, reject) => {
        const stream = this.#stream;
        if (isLocked(stream)) throw new TypeError('The stream is locked: cancel its reader');
        cancelStream(stream, reason, resolve, reject);
      });
    }

    tee() {
      const branches = teeStream(this.#stream, (chunk) => chunk);
      return [streamObject(branches[0]), streamObject(branches[1])];
    }

    values(options = undefined) {
      const stream = this.#stream;
      const preventCancel = !!dictionaryOf(options, 'The options of values').preventCancel;
      return new StreamIterator(lock(stream), preventCancel);
    }

    [inspectCustom]() {
      const stream = this.#stream;
      return 'ReadableStream { locked: ' + isLocked(stream) + ", state: '" + stream.state + "' }";
    }
  }

  shapeClass(ReadableStreamDefaultController, 'ReadableStreamDefaultController', [
    'desiredSize', 'enqueue', 'close', 'error',
  ]);
  shapeClass(ReadableStreamDefaultReader, 'ReadableStreamDefaultReader', ['closed', 'read', 'cancel', 'releaseLock']);
  shapeClass(ReadableStream, 'ReadableStream', ['locked', 'getReader', 'cancel', 'tee', 'values']);
  ObjectDefineProperty(ReadableStream.prototype, SymbolAsyncIterator, {
    __proto__: null,
    value: ReadableStream.prototype.values,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  return { __proto__: null, ReadableStream, ReadableStreamDefaultController, ReadableStreamDefaultReader };
}

function attached(reader) {
  if (reader.stream === undefined) throw released();
  return reader;
}

function promiseRequest(resolve, reject) {
  return {
    chunk: (value) => resolve({ value, done: false }),
    close: () => resolve({ value: undefined, done: true }),
    error: reject,
  };
}
