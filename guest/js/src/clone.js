// structuredClone, by core-js.
//
// Invariant: clones are made of the engine's own classes, so `instanceof` works on them, and what cannot be cloned
// throws a DataCloneError of the one DOMException class.
//
// The module is required directly and not through the package's entry point, which also brings substitutes for Map
// and Set: the clones would then be made of those.

import './dom-exception.js';
import { ReflectDeleteProperty } from './intrinsics.js';

require('core-js-pure/modules/web.structured-clone');
export const { structuredClone } = require('core-js-pure/internals/path');

// The list of loaded versions that core-js leaves on the global object; nobody reads it after this.
ReflectDeleteProperty(globalThis, '__core-js_shared__');
