// The script that the guest evaluates once, before the snapshot is taken: it gives tools the web APIs they know.
//
// Invariant: when it has run, the global object holds the names installed below and nothing else that is new; the
// native functions are reachable through the closures of these modules only. Names are installed as browsers install
// theirs, writable and configurable but not enumerable, so tool code may shadow them without harm to this prelude.
//
// `intrinsics.js` and `native.js` come first: one takes the built-ins while they are untouched, the other takes the
// native functions and removes the global that carried them.

import './intrinsics.js';
import { native } from './native.js';

import { AbortController, AbortSignal } from './abort.js';
import { atob, btoa } from './base64.js';
import { Buffer } from './buffer.js';
import { structuredClone } from './clone.js';
import { console } from './console.js';
import { DOMException } from './dom-exception.js';
import { TextDecoder, TextEncoder } from './encoding.js';
import { Event, EventTarget } from './event.js';
import { ObjectDefineProperty, ObjectKeys } from './intrinsics.js';
import { queueMicrotask } from './microtask.js';
import { URL, URLSearchParams } from './url.js';
import { start } from '../cell/start.js';

function install(globals) {
  const names = ObjectKeys(globals);
  for (let i = 0; i < names.length; i++) {
    ObjectDefineProperty(globalThis, names[i], {
      __proto__: null,
      value: globals[names[i]],
      writable: true,
      enumerable: false,
      configurable: true,
    });
  }
}

install({
  AbortController,
  AbortSignal,
  Buffer,
  DOMException,
  Event,
  EventTarget,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  console,
  queueMicrotask,
  structuredClone,
});

start(native, globalThis, console, AbortController);
