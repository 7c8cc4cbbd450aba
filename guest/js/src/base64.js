// atob and btoa: the engine's own if it has them, those of core-js otherwise.
//
// Invariant: both throw the InvalidCharacterError of the one DOMException class, see `dom-exception.js`, which is
// therefore imported first.

import './dom-exception.js';

function fallback(name) {
  require('core-js-pure/modules/web.atob');
  require('core-js-pure/modules/web.btoa');
  return require('core-js-pure/internals/path')[name];
}

export const atob = globalThis.atob ?? fallback('atob');
export const btoa = globalThis.btoa ?? fallback('btoa');
