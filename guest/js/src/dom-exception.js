// DOMException: the engine's own if it has one, the one of core-js otherwise.
//
// Invariant: there is one DOMException class in the engine, and everything in this prelude throws that one.
//
// `require` instead of `import`, here and in other modules: the bundler then evaluates the package only where it is
// reached, so a package that the engine makes needless leaves nothing in the snapshot's heap.

function fallback() {
  require('core-js-pure/modules/web.dom-exception.constructor');
  require('core-js-pure/modules/web.dom-exception.stack');
  require('core-js-pure/modules/web.dom-exception.to-string-tag');
  return require('core-js-pure/internals/path').DOMException;
}

export const DOMException = globalThis.DOMException ?? fallback();
