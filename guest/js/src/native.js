// The functions the guest's Rust side lends to this prelude.
//
// Invariant: they are read here, once, and the global that carried them is gone before any other module of the bundle
// runs; tool code never holds a reference to one of them. Every string handed to them must be well formed, for a lone
// surrogate has no UTF-8 form and the Rust side refuses it.

import { ReflectDeleteProperty, TypeError } from './intrinsics.js';

const native = globalThis.__toolcell_native;
if (native === undefined) throw new TypeError('the prelude needs __toolcell_native');
ReflectDeleteProperty(globalThis, '__toolcell_native');

export const { absolute: nativeUrlAbsolute, parse: nativeUrlParse, set: nativeUrlSet } = native.url;
export const { parse: nativeFormParse, serialize: nativeFormSerialize } = native.form;
export const { encode: nativeUtf8Encode, decode: nativeUtf8Decode } = native.utf8;
export const { log: nativeLog } = native;

/** All of them, for the part of the prelude that runs tools. */
export { native };
