// queueMicrotask: the engine's own if it has it, otherwise one made of a promise.
//
// Invariant: the callback runs once, after the current task and before anything the host does next. What the
// substitute's callback throws becomes an unhandled rejection, for the engine has no other place for it.

import { afterThisTask, TypeError } from './intrinsics.js';

export const queueMicrotask =
  globalThis.queueMicrotask ??
  function queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('The callback of queueMicrotask must be a function');
    afterThisTask(() => {
      callback();
    });
  };
