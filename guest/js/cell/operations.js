// What a tool may ask of the host: each operation is a promise that the host's answer settles.
//
// Invariant: a capability that was not granted does not exist; its name is no global and nothing here is reachable
// without it. An operation's number comes from the host's side, counted in the order of the calls.

const { stringify } = JSON;
const { defineProperty } = Object;
const { apply } = Reflect;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapDelete = uncurry(Map.prototype.delete);
const then = uncurry(Promise.prototype.then);
const PromiseConstructor = Promise;
const ErrorConstructor = Error;
const TypeErrorConstructor = TypeError;
const toNumber = Number;

const waiting = new Map();
let native;
let globalObject;
let report = () => {};

/** Gives this module what it needs of the host and of the other modules. */
export function connect(nativeFunctions, target, reportUncaught, AbortController) {
  native = nativeFunctions;
  globalObject = target;
  report = reportUncaught;
  neverAborted = new AbortController().signal;
}

/** The signal that a factory's tool gets: a cancelled call is ended for good, so it never fires inside of one. */
export let neverAborted;

/** Starts an operation: `{ id, promise }`. */
function start(kind, payload) {
  const id = native.start(kind, stringify(payload));
  const promise = new PromiseConstructor((resolve, reject) => mapSet(waiting, id, { resolve, reject }));
  return { id, promise };
}

function cancel(id) {
  if (mapDelete(waiting, id)) native.cancel(id);
}

/** Settles the promise of operation `id` with a value, or with `{ name, message }` of a failure. */
export function settle(id, ok, value) {
  const promise = mapGet(waiting, id);
  if (promise === undefined) return;
  mapDelete(waiting, id);
  if (ok) {
    promise.resolve(value);
  } else {
    const error = new ErrorConstructor(value.message);
    defineProperty(error, "name", { __proto__: null, value: value.name, writable: true, configurable: true });
    promise.reject(error);
  }
}

/** Makes the granted capabilities exist. */
export function grant(names) {
  for (let index = 0; index < names.length; index++) {
    if (names[index] === "timers") installTimers();
  }
}

function installTimers() {
  // A timer's own number stays the same while an interval starts one operation after the other.
  const timers = new Map();
  let lastTimer = 0;

  function arm(repeat, callback, delay, args) {
    if (typeof callback !== "function") {
      throw new TypeErrorConstructor("a timer needs a function; code from strings is not available");
    }
    const milliseconds = toNumber(delay);
    const ms = milliseconds >= 1 && milliseconds <= 2147483647 ? milliseconds : 1;
    const timer = ++lastTimer;
    const fire = () => {
      if (repeat) schedule();
      else mapDelete(timers, timer);
      try {
        apply(callback, undefined, args);
      } catch (error) {
        report(error);
      }
    };
    const schedule = () => {
      const { id, promise } = start("timer", { ms });
      mapSet(timers, timer, id);
      then(promise, fire, () => {});
    };
    schedule();
    return timer;
  }

  function clear(timer) {
    const id = mapGet(timers, timer);
    if (id === undefined) return;
    mapDelete(timers, timer);
    cancel(id);
  }

  const functions = {
    setTimeout: (callback, delay, ...args) => arm(false, callback, delay, args),
    setInterval: (callback, delay, ...args) => arm(true, callback, delay, args),
    clearTimeout: (timer) => clear(timer),
    clearInterval: (timer) => clear(timer),
  };
  for (const name of ["setTimeout", "setInterval", "clearTimeout", "clearInterval"]) {
    defineProperty(globalObject, name, { __proto__: null, value: functions[name], writable: true, configurable: true });
  }
}
