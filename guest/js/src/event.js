// Event and EventTarget of the DOM Standard, for objects that are in no tree.
//
// Invariant: what a listener throws never reaches the one who dispatches; each listener that was there when the dispatch
// began runs once, unless it was removed or the propagation was stopped before its turn.

import {
  ArrayPrototypePush,
  DateNow,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ReflectApply,
  TypeError,
  WeakMap,
  WeakMapPrototypeGet,
  WeakMapPrototypeSet,
} from './intrinsics.js';
import { DOMException } from './dom-exception.js';
import { dictionaryOf, requireArguments, shapeClass, toText } from './webidl.js';

const PHASES = { __proto__: null, NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };

// Set by `abort.js`, which knows what a signal is.
let signalOf;
// What happens with what a listener throws.
let report = () => {};

// Set by the static blocks below, which alone can reach the private fields of both classes.
let stateOf;
let listenersOf;

export class Event {
  #state;

  static {
    stateOf = (value) => (typeof value === 'object' && value !== null && #state in value ? value.#state : undefined);
  }

  constructor(type, eventInitDict = undefined) {
    requireArguments(arguments.length, 1, 'Event');
    type = toText(type);
    const { bubbles, cancelable, composed } = dictionaryOf(eventInitDict, 'The options of an event');
    this.#state = {
      type,
      bubbles: !!bubbles,
      cancelable: !!cancelable,
      composed: !!composed,
      target: null,
      currentTarget: null,
      dispatched: false,
      stopped: false,
      stoppedAtOnce: false,
      canceled: false,
      passive: false,
      trusted: false,
      timeStamp: DateNow(),
    };
    // One accessor for all, as the standard has it: an own property that cannot be replaced.
    ObjectDefineProperty(this, 'isTrusted', isTrusted);
  }

  get type() {
    return this.#state.type;
  }

  get target() {
    return this.#state.target;
  }

  get srcElement() {
    return this.#state.target;
  }

  get currentTarget() {
    return this.#state.currentTarget;
  }

  composedPath() {
    const { currentTarget } = this.#state;
    return currentTarget === null ? [] : [currentTarget];
  }

  get eventPhase() {
    return this.#state.dispatched ? PHASES.AT_TARGET : PHASES.NONE;
  }

  stopPropagation() {
    this.#state.stopped = true;
  }

  get cancelBubble() {
    return this.#state.stopped;
  }

  set cancelBubble(value) {
    const state = this.#state;
    if (value) state.stopped = true;
  }

  stopImmediatePropagation() {
    const state = this.#state;
    state.stopped = state.stoppedAtOnce = true;
  }

  get bubbles() {
    return this.#state.bubbles;
  }

  get cancelable() {
    return this.#state.cancelable;
  }

  get returnValue() {
    return !this.#state.canceled;
  }

  set returnValue(value) {
    const state = this.#state;
    if (!value) cancel(state);
  }

  preventDefault() {
    cancel(this.#state);
  }

  get defaultPrevented() {
    return this.#state.canceled;
  }

  get composed() {
    return this.#state.composed;
  }

  get timeStamp() {
    return this.#state.timeStamp;
  }

  initEvent(type, bubbles = false, cancelable = false) {
    const state = this.#state;
    requireArguments(arguments.length, 1, 'Event.initEvent');
    type = toText(type);
    if (state.dispatched) return;
    state.stopped = state.stoppedAtOnce = state.canceled = false;
    state.target = null;
    state.type = type;
    state.bubbles = !!bubbles;
    state.cancelable = !!cancelable;
  }
}

const isTrusted = {
  __proto__: null,
  get: ObjectGetOwnPropertyDescriptor(
    {
      get isTrusted() {
        const state = stateOf(this);
        if (state === undefined) throw new TypeError('The receiver is no Event');
        return state.trusted;
      },
    },
    'isTrusted',
  ).get,
  enumerable: true,
  configurable: false,
};

function cancel(state) {
  if (state.cancelable && !state.passive) state.canceled = true;
}

export class EventTarget {
  // The listeners by type, each list replaced and never changed: a dispatch goes on with the one that it began with.
  #listeners = { __proto__: null };

  static {
    listenersOf = (target) => target.#listeners;
  }

  addEventListener(type, callback, options = undefined) {
    const listeners = this.#listeners;
    requireArguments(arguments.length, 2, 'EventTarget.addEventListener');
    type = toText(type);
    callback = callbackOf(callback);
    const { capture, once, passive, signal } = optionsOf(options, true);
    if (callback === null || (signal !== undefined && signal.isAborted())) return;
    add(listeners, type, { callback, capture, once, passive, removed: false }, signal);
  }

  removeEventListener(type, callback, options = undefined) {
    const listeners = this.#listeners;
    requireArguments(arguments.length, 2, 'EventTarget.removeEventListener');
    type = toText(type);
    callback = callbackOf(callback);
    const { capture } = optionsOf(options, false);
    const listener = find(listeners, type, callback, capture);
    if (listener !== undefined) remove(listeners, type, listener);
  }

  dispatchEvent(event) {
    void this.#listeners;
    requireArguments(arguments.length, 1, 'EventTarget.dispatchEvent');
    const state = stateOf(event);
    if (state === undefined) throw new TypeError('dispatchEvent needs an Event');
    if (state.dispatched) throw new DOMException('The event is being dispatched already', 'InvalidStateError');
    dispatch(this, event, state);
    return !state.canceled;
  }
}

function callbackOf(value) {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' && typeof value !== 'function') {
    throw new TypeError('A listener must be a function, or an object with the method handleEvent');
  }
  return value;
}

function optionsOf(options, isAdding) {
  if (typeof options !== 'object' && typeof options !== 'function') {
    return { capture: !!options, once: false, passive: false, signal: undefined };
  }
  if (options === null) return { capture: false, once: false, passive: false, signal: undefined };
  const capture = !!options.capture;
  if (!isAdding) return { capture };
  const once = !!options.once;
  const passive = !!options.passive;
  const { signal } = options;
  return { capture, once, passive, signal: signal === undefined ? undefined : signalOf(signal) };
}

function find(listeners, type, callback, capture) {
  const list = listeners[type];
  if (list === undefined) return undefined;
  for (let i = 0; i < list.length; i++) {
    if (list[i].callback === callback && list[i].capture === capture) return list[i];
  }
  return undefined;
}

function add(listeners, type, listener, signal) {
  if (find(listeners, type, listener.callback, listener.capture) !== undefined) return;
  const list = listeners[type] ?? [];
  const longer = [];
  for (let i = 0; i < list.length; i++) ArrayPrototypePush(longer, list[i]);
  ArrayPrototypePush(longer, listener);
  listeners[type] = longer;
  if (signal !== undefined) signal.onAbort(() => remove(listeners, type, listener));
}

function remove(listeners, type, listener) {
  listener.removed = true;
  const list = listeners[type];
  if (list === undefined) return;
  const kept = [];
  for (let i = 0; i < list.length; i++) if (list[i] !== listener) ArrayPrototypePush(kept, list[i]);
  listeners[type] = kept.length > 0 ? kept : undefined;
}

function dispatch(target, event, state) {
  state.dispatched = true;
  state.target = target;
  state.currentTarget = target;
  const listeners = listenersOf(target);
  const list = listeners[state.type];
  if (list !== undefined) {
    // Those that capture come first, also where there is only the target.
    invoke(listeners, list, true, target, event, state);
    invoke(listeners, list, false, target, event, state);
  }
  state.dispatched = false;
  state.currentTarget = null;
  state.stopped = state.stoppedAtOnce = false;
}

function invoke(listeners, list, capture, target, event, state) {
  if (state.stopped) return;
  for (let i = 0; i < list.length && !state.stoppedAtOnce; i++) {
    const listener = list[i];
    if (listener.removed || listener.capture !== capture) continue;
    if (listener.once) remove(listeners, state.type, listener);
    state.passive = listener.passive;
    call(listener.callback, target, event);
    state.passive = false;
  }
}

function call(callback, target, event) {
  try {
    if (typeof callback === 'function') {
      ReflectApply(callback, target, [event]);
      return;
    }
    const { handleEvent } = callback;
    if (typeof handleEvent !== 'function') throw new TypeError('The listener has no method handleEvent');
    ReflectApply(handleEvent, callback, [event]);
  } catch (error) {
    report(error);
  }
}

/** Dispatches a new event of this type, whatever the prototypes of both classes say. */
export function fire(target, type) {
  const event = new Event(type);
  const state = stateOf(event);
  state.trusted = true;
  dispatch(target, event, state);
}

// The function of an attribute such as `onabort`, by target and type.
const attributes = new WeakMap();

/** The value of an attribute that listens: a function, or `null`. */
export function attributeOf(target, type) {
  return WeakMapPrototypeGet(attributes, listenersOf(target))?.[type]?.value ?? null;
}

/** Sets it. It keeps its turn among the listeners when one function takes the place of another. */
export function setAttribute(target, type, value) {
  const listeners = listenersOf(target);
  let known = WeakMapPrototypeGet(attributes, listeners);
  if (known === undefined) {
    known = { __proto__: null };
    WeakMapPrototypeSet(attributes, listeners, known);
  }
  const isListener = typeof value === 'function' || (typeof value === 'object' && value !== null);
  const slot = known[type];
  if (!isListener) {
    if (slot !== undefined) remove(listeners, type, slot.listener);
    known[type] = undefined;
  } else if (slot !== undefined) {
    slot.value = value;
  } else {
    const made = { value, listener: undefined };
    const callback = function (event) {
      if (typeof made.value === 'function') ReflectApply(made.value, this, [event]);
    };
    made.listener = { callback, capture: false, once: false, passive: false, removed: false };
    known[type] = made;
    add(listeners, type, made.listener, undefined);
  }
}

/**
 * Connects both classes: `signals(value)` gives `{ isAborted, onAbort }` of a signal and throws for every other value,
 * `uncaught(error)` takes what listeners throw.
 */
export function connectEvents(signals, uncaught) {
  signalOf = signals;
  report = uncaught;
}

shapeClass(Event, 'Event', [
  'type', 'target', 'srcElement', 'currentTarget', 'composedPath', 'eventPhase', 'stopPropagation', 'cancelBubble',
  'stopImmediatePropagation', 'bubbles', 'cancelable', 'returnValue', 'preventDefault', 'defaultPrevented', 'composed',
  'timeStamp', 'initEvent',
]);
shapeClass(EventTarget, 'EventTarget', ['addEventListener', 'removeEventListener', 'dispatchEvent']);
shapeConstants(Event, PHASES, ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE']);

/** Puts constants on a class and its prototype, as Web IDL says. */
function shapeConstants(Class, values, names) {
  for (let i = 0; i < names.length; i++) {
    const descriptor = {
      __proto__: null, value: values[names[i]], writable: false, enumerable: true, configurable: false,
    };
    ObjectDefineProperty(Class, names[i], descriptor);
    ObjectDefineProperty(Class.prototype, names[i], descriptor);
  }
}
