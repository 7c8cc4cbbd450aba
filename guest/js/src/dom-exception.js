// DOMException: the engine's own if it has one, the one of core-js otherwise.
//
// Invariant: there is one DOMException class in the engine, and everything in this prelude throws that one.
//
// `require` instead of `import`, here and in other modules: the bundler then evaluates the package only where it is
// reached, so a package that the engine makes needless leaves nothing in the snapshot's heap.

import { ObjectDefineProperty, ObjectGetOwnPropertyDescriptor } from './intrinsics.js';

function fallback() {
  require('core-js-pure/modules/web.dom-exception.constructor');
  require('core-js-pure/modules/web.dom-exception.stack');
  require('core-js-pure/modules/web.dom-exception.to-string-tag');
  return require('core-js-pure/internals/path').DOMException;
}

export const DOMException = globalThis.DOMException ?? fallback();

// Web IDL has attributes enumerable; the engine's own are not. So a DOMException.prototype that is taken for a record of
// names and values is refused by the check of their receiver.
const attributes = ['name', 'message', 'code'];
for (let i = 0; i < attributes.length; i++) {
  const attribute = ObjectGetOwnPropertyDescriptor(DOMException.prototype, attributes[i]);
  if (attribute === undefined || attribute.get === undefined || !attribute.configurable) continue;
  ObjectDefineProperty(DOMException.prototype, attributes[i], { __proto__: null, enumerable: true });
}
