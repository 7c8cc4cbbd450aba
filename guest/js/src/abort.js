// AbortController and AbortSignal of the DOM Standard.
//
// Invariant: a signal aborts once, and its state and the algorithms of the host's operations that wait for it are
// settled before any listener of the tool runs, so nothing a listener does or throws can keep an operation going.

import { reportUncaught } from './console.js';
import { DOMException } from './dom-exception.js';
import { attributeOf, connectEvents, EventTarget, fire, setAttribute } from './event.js';
import {
  ArrayPrototypePush,
  Number,
  Set,
  SetIteratorPrototypeNext,
  SetPrototypeAdd,
  SetPrototypeDelete,
  SetPrototypeValues,
  TypeError,
} from './intrinsics.js';
import { inspectCustom, shapeClass } from './webidl.js';

const constructionKey = {};

// Set by the static block of AbortSignal, which alone can reach its private fields.
let abortSignal;
let waitForSignal;
let isSignal;
let isAborted;
let reasonOf;
let follower;

// Rings after a number of milliseconds: `(milliseconds, ring) => void`. There is none until one is granted.
let alarm;

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason = undefined;
  #algorithms = new Set();
  // A signal made by `any` follows signals that were not; those know whom to abort along with them.
  #sources = undefined;
  #dependents = new Set();

  static {
    abortSignal = (signal, reason) => signal.#abort(reason);
    waitForSignal = (signal, algorithm) => {
      const algorithms = signal.#algorithms;
      SetPrototypeAdd(algorithms, algorithm);
      return () => {
        SetPrototypeDelete(algorithms, algorithm);
      };
    };
    isSignal = (value) => typeof value === 'object' && value !== null && #aborted in value;
    isAborted = (signal) => signal.#aborted;
    reasonOf = (signal) => signal.#reason;
    follower = (signals) => {
      const signal = new AbortSignal(constructionKey);
      signal.#follow(signals);
      return signal;
    };
  }

  constructor(key = undefined) {
    if (key !== constructionKey) throw new TypeError('Illegal constructor');
    super();
  }

  static abort(reason = undefined) {
    const signal = new AbortSignal(constructionKey);
    signal.#abort(reason);
    return signal;
  }

  static any(signals) {
    const checked = [];
    for (const signal of signals) {
      if (!isSignal(signal)) {
        throw new TypeError('AbortSignal.any needs an iterable of AbortSignal objects');
      }
      ArrayPrototypePush(checked, signal);
    }
    return follower(checked);
  }

  static timeout(milliseconds) {
    const delay = Number(milliseconds);
    if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError('The delay of AbortSignal.timeout must be a number of milliseconds, zero or more');
    }
    if (alarm === undefined) {
      throw new DOMException(
        'AbortSignal.timeout is not available: it needs the grant `net` or `timers`, which this call does not have',
        'NotSupportedError',
      );
    }
    const signal = new AbortSignal(constructionKey);
    alarm(delay, () => {
      signal.#abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    });
    return signal;
  }

  get aborted() {
    return this.#aborted;
  }

  get reason() {
    return this.#reason;
  }

  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }

  get onabort() {
    void this.#aborted;
    return attributeOf(this, 'abort');
  }

  set onabort(value) {
    void this.#aborted;
    setAttribute(this, 'abort', value);
  }

  [inspectCustom]() {
    return 'AbortSignal { aborted: ' + this.#aborted + ' }';
  }

  #follow(signals) {
    this.#sources = new Set();
    for (let i = 0; i < signals.length; i++) {
      if (signals[i].#aborted) {
        this.#settle(signals[i].#reason);
        return;
      }
    }
    for (let i = 0; i < signals.length; i++) {
      if (signals[i].#sources === undefined) {
        this.#followSource(signals[i]);
      } else {
        forEachInSet(signals[i].#sources, (source) => this.#followSource(source));
      }
    }
  }

  #followSource(source) {
    SetPrototypeAdd(this.#sources, source);
    SetPrototypeAdd(source.#dependents, this);
  }

  #settle(reason) {
    this.#aborted = true;
    this.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
  }

  #abort(reason) {
    if (this.#aborted) return;
    this.#settle(reason);
    const aborted = [this];
    forEachInSet(this.#dependents, (dependent) => {
      if (dependent.#aborted) return;
      dependent.#settle(this.#reason);
      ArrayPrototypePush(aborted, dependent);
    });
    this.#dependents = new Set();
    for (let i = 0; i < aborted.length; i++) aborted[i].#runAlgorithms();
    for (let i = 0; i < aborted.length; i++) fire(aborted[i], 'abort');
  }

  #runAlgorithms() {
    const algorithms = this.#algorithms;
    this.#algorithms = new Set();
    forEachInSet(algorithms, (algorithm) => algorithm(this.#reason));
  }
}

function forEachInSet(set, visit) {
  const values = SetPrototypeValues(set);
  for (let step = SetIteratorPrototypeNext(values); !step.done; step = SetIteratorPrototypeNext(values)) {
    visit(step.value);
  }
}

export class AbortController {
  #signal = new AbortSignal(constructionKey);

  get signal() {
    return this.#signal;
  }

  abort(reason = undefined) {
    abortSignal(this.#signal, reason);
  }

  [inspectCustom](depth, options, inspect) {
    return 'AbortController { signal: ' + inspect(this.#signal, options) + ' }';
  }
}

shapeClass(AbortSignal, 'AbortSignal', ['aborted', 'reason', 'throwIfAborted', 'onabort']);
shapeClass(AbortController, 'AbortController', ['signal', 'abort']);

/** Whether `value` is an AbortSignal, whatever its prototype says. */
export function isAbortSignal(value) {
  return isSignal(value);
}

/** Whether `signal` is aborted, whatever its prototype says. */
export function isSignalAborted(signal) {
  return isAborted(signal);
}

/** Why `signal` is aborted, whatever its prototype says. */
export function signalReason(signal) {
  return reasonOf(signal);
}

/** A signal that aborts along with `signals`. */
export function signalFollowing(signals) {
  return follower(signals);
}

/** Makes `AbortSignal.timeout` work: `start(milliseconds, ring)` calls `ring` when the time has passed. */
export function grantAlarm(start) {
  alarm = start;
}

/**
 * Runs `algorithm(reason)` when `signal` aborts, before the tool's listeners hear of it. Returns the function that
 * takes this back. A signal that is aborted already never runs it; ask `aborted` first.
 */
export function onSignalAbort(signal, algorithm) {
  return waitForSignal(signal, algorithm);
}

connectEvents((value) => {
  if (!isSignal(value)) throw new TypeError('The signal of a listener must be an AbortSignal');
  return { isAborted: () => isAborted(value), onAbort: (algorithm) => waitForSignal(value, algorithm) };
}, reportUncaught);
