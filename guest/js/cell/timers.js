// Timers, and what else waits for a time: `sleep` and `AbortSignal.timeout`.
//
// Invariant: what a timer calls runs in a job of its own, never while operations are being settled. However many
// signals wait for their time, one operation is in flight for all of them: a tool that gives each of a thousand
// requests its own timeout does not run out of operations.

import { grantAlarm, isAbortSignal, isSignalAborted, onSignalAbort, signalReason } from "../src/abort.js";
import {
  afterThisTask,
  ArrayPrototypePush,
  ArrayPrototypeShift,
  DateNow,
  Map,
  MapPrototypeDelete,
  MapPrototypeGet,
  MapPrototypeSet,
  Number,
  Promise,
  ReflectApply,
  TypeError,
} from "../src/intrinsics.js";
import { native } from "../src/native.js";
import { cancel, nothing, start } from "./operations.js";
import { optionsOf } from "./values.js";

/** The longest delay of `setTimeout`, in milliseconds; a longer one is none, as in browsers. */
const DELAY_MOST = 2147483647;

function startTimer(ms, done, failed) {
  return start("timer", delayPayload(ms), undefined, undefined, done, failed);
}

function delayPayload(ms) {
  return '{"ms":' + ms + "}";
}

/** The functions of the grant `timers`; `report` takes what a callback throws. */
export function makeTimers(report) {
  // A timer's own number stays the same while an interval starts one operation after the other.
  const timers = new Map();
  let lastTimer = 0;

  function arm(repeat, callback, delay, args) {
    if (typeof callback !== "function") {
      throw new TypeError("a timer needs a function; code from strings is not available");
    }
    const milliseconds = Number(delay);
    const ms = milliseconds >= 1 && milliseconds <= DELAY_MOST ? milliseconds : 1;
    const timer = ++lastTimer;
    schedule(timer, { repeat, callback, ms, args });
    return timer;
  }

  function schedule(timer, armed) {
    const id = startTimer(armed.ms, () => afterThisTask(() => fire(timer, armed, id)), () => {});
    MapPrototypeSet(timers, timer, id);
  }

  function fire(timer, armed, id) {
    // Cleared by a job that ran since the operation ended.
    if (MapPrototypeGet(timers, timer) !== id) return;
    if (armed.repeat) schedule(timer, armed);
    else MapPrototypeDelete(timers, timer);
    try {
      ReflectApply(armed.callback, undefined, armed.args);
    } catch (error) {
      report(error);
    }
  }

  function clear(timer) {
    const id = MapPrototypeGet(timers, timer);
    if (id === undefined) return;
    MapPrototypeDelete(timers, timer);
    cancel(id);
  }

  return {
    __proto__: null,
    setTimeout: (callback, delay, ...args) => arm(false, callback, delay, args),
    setInterval: (callback, delay, ...args) => arm(true, callback, delay, args),
    clearTimeout: (timer) => clear(timer),
    clearInterval: (timer) => clear(timer),
    sleep: (milliseconds, options) => sleep(milliseconds, options),
  };
}

function isDelay(milliseconds) {
  return typeof milliseconds === "number" && milliseconds >= 0 && milliseconds <= Number.MAX_SAFE_INTEGER;
}

function sleep(milliseconds, options) {
  if (options === undefined && isDelay(milliseconds)) {
    return native.request("timer", delayPayload(milliseconds), undefined, nothing, undefined, undefined);
  }
  return new Promise((resolve, reject) => {
    if (!isDelay(milliseconds)) {
      throw new TypeError("sleep needs a number of milliseconds, zero or more");
    }
    const { signal } = optionsOf(options, "the second argument of sleep");
    if (signal === undefined || signal === null) {
      startTimer(milliseconds, () => resolve(undefined), reject);
      return;
    }
    if (!isAbortSignal(signal)) throw new TypeError("the signal of sleep must be an AbortSignal");
    if (isSignalAborted(signal)) throw signalReason(signal);
    let forget;
    const id = startTimer(
      milliseconds,
      () => {
        forget();
        resolve(undefined);
      },
      (error) => {
        forget();
        reject(error);
      },
    );
    forget = onSignalAbort(signal, (reason) => {
      cancel(id);
      reject(reason);
    });
  });
}

// Who waits for a time, the first one first: `{ due, ring }`.
let alarms = [];
// The operation that waits for the first of them: `{ id, due }`.
let armed;

/** Makes `AbortSignal.timeout` work. */
export function grantAlarms() {
  grantAlarm(addAlarm);
}

function addAlarm(milliseconds, ring) {
  const now = DateNow();
  const due = now + milliseconds;
  const sorted = [];
  let placed = false;
  for (let index = 0; index < alarms.length; index++) {
    if (!placed && alarms[index].due > due) {
      ArrayPrototypePush(sorted, { due, ring });
      placed = true;
    }
    ArrayPrototypePush(sorted, alarms[index]);
  }
  if (!placed) ArrayPrototypePush(sorted, { due, ring });
  alarms = sorted;
  if (armed !== undefined) {
    if (armed.due <= due) return;
    cancel(armed.id);
  }
  armAlarm(now);
}

function armAlarm(now) {
  const { due } = alarms[0];
  const mine = { id: 0, due };
  mine.id = startTimer(due > now ? due - now : 0, () => afterThisTask(() => ringAlarms(mine)), ringNever);
  armed = mine;
}

function ringAlarms(mine) {
  if (armed !== mine) return;
  // The time that the operation waited for has come, whatever the clock says.
  const clock = DateNow();
  const now = clock > mine.due ? clock : mine.due;
  armed = undefined;
  const due = [];
  while (alarms.length > 0 && alarms[0].due <= now) ArrayPrototypePush(due, ArrayPrototypeShift(alarms));
  if (alarms.length > 0) armAlarm(now);
  for (let index = 0; index < due.length; index++) {
    try {
      due[index].ring();
    } catch {
      // The signal is aborted; its listeners are not told where the tool replaced what events are made with.
    }
  }
}

/** The host does not wait: the signals stay as they are. */
function ringNever() {
  armed = undefined;
  alarms = [];
}
