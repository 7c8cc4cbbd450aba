// Headers of the Fetch Standard.
//
// Invariant: a name in a list is a token in lower case, a value holds what can stand in a header and nothing else.
//
// The classes are made when they are granted. There are no forbidden names in here: what a request may say is for the
// host to judge.

import {
  ArrayPrototypePush,
  ArrayPrototypeSort,
  IteratorPrototype,
  Map,
  MapPrototypeGet,
  MapPrototypeSet,
  ObjectDefineProperty,
  ObjectGetOwnPropertyDescriptor,
  ObjectSetPrototypeOf,
  ReflectApply,
  ReflectOwnKeys,
  RegExpPrototypeExec,
  StringPrototypeToLowerCase,
  SymbolIterator,
  TypeError,
} from './intrinsics.js';
import { inspectCustom, requireArguments, shapeClass, toText } from './webidl.js';

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const trimmed = /^[\t\n\r ]*([^]*?)[\t\n\r ]*$/;
const valueText = /^[\x01-\x09\x0b\x0c\x0e-\xff]*$/;

/** Whether `text` is a token of HTTP: the name of a method or of a header. */
export function isToken(text) {
  return RegExpPrototypeExec(token, text) !== null;
}

/** Whether `text` can stand behind a status. */
export function isReason(text) {
  return RegExpPrototypeExec(/^[\t\x20-\x7e\x80-\xff]*$/, text) !== null;
}

// Set by the static block of Headers, once it is made.
let ownList;
let setList;
let hasList;

/** The names and values in turn, as they were given; `undefined` for what is no Headers object. */
export function headerList(value) {
  return typeof value === 'object' && value !== null && hasList(value) ? ownList(value) : undefined;
}

/** The value of one header in a list, or `undefined`. */
export function headerIn(list, name) {
  let value;
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) value = value === undefined ? list[i + 1] : value + ', ' + list[i + 1];
  }
  return value;
}

/** A Headers object of a list, which nobody may change where `isFixed`. */
export function headersOf(list, isFixed) {
  return setList(list, isFixed);
}

function checkedName(name) {
  const text = toText(name);
  if (!isToken(text)) throw new TypeError('The name of a header is a token (RFC 9110), and this is none: ' + text);
  return StringPrototypeToLowerCase(text);
}

function checkedValue(value, name) {
  const text = RegExpPrototypeExec(trimmed, toText(value))[1];
  if (RegExpPrototypeExec(valueText, text) === null) {
    throw new TypeError(
      'The value of the header ' + name + ' has a line break, a NUL or a character beyond U+00FF: encode it first',
    );
  }
  return text;
}

/** The list with each name once, in the order of the names; of `set-cookie` each value stands for itself. */
function combined(list) {
  const entries = [];
  const places = new Map();
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i];
    const place = name === 'set-cookie' ? undefined : MapPrototypeGet(places, name);
    if (place !== undefined) {
      place.value += ', ' + list[i + 1];
    } else {
      const entry = { name, value: list[i + 1] };
      MapPrototypeSet(places, name, entry);
      ArrayPrototypePush(entries, entry);
    }
  }
  return ArrayPrototypeSort(entries, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

// `for..of` over something the tool passed in: here its own iterator is what the standard asks for.
function forEachOf(iterable, visit) {
  for (const item of iterable) visit(item);
}

/** A list with the same names and values. */
export function copyOf(others) {
  const list = [];
  for (let i = 0; i < others.length; i++) ArrayPrototypePush(list, others[i]);
  return list;
}

/** The list that an object given to a constructor stands for. */
export function listOf(init) {
  if ((typeof init !== 'object' && typeof init !== 'function') || init === null) {
    throw new TypeError('Headers are made of an object, of pairs of name and value, or of other Headers');
  }
  const list = [];
  const add = (name, value) => {
    const checked = checkedName(name);
    ArrayPrototypePush(list, checked, checkedValue(value, checked));
  };
  const others = headerList(init);
  if (others !== undefined) return copyOf(others);
  const method = init[SymbolIterator];
  if (method !== undefined && method !== null) {
    forEachOf(init, (pair) => {
      const parts = [];
      if ((typeof pair !== 'object' && typeof pair !== 'function') || pair === null) throw notAPair();
      forEachOf(pair, (part) => {
        ArrayPrototypePush(parts, part);
      });
      if (parts.length !== 2) throw notAPair();
      add(parts[0], parts[1]);
    });
    return list;
  }
  const keys = ReflectOwnKeys(init);
  for (let i = 0; i < keys.length; i++) {
    const descriptor = ObjectGetOwnPropertyDescriptor(init, keys[i]);
    if (descriptor !== undefined && descriptor.enumerable) add(keys[i], init[keys[i]]);
  }
  return list;
}

function notAPair() {
  return new TypeError('Each item of the iterable given to Headers must be a pair of name and value');
}

/** Makes the class. */
export function makeHeaders() {
  class Headers {
    // Names and values in turn: [name, value, name, value, ...].
    #list;
    #isFixed = false;
    // What an iteration shows, until something changes.
    #combined = undefined;

    static {
      hasList = (value) => #list in value;
      ownList = (headers) => headers.#list;
      setList = (list, isFixed) => {
        const headers = new Headers();
        headers.#list = list;
        headers.#isFixed = isFixed;
        return headers;
      };
    }

    constructor(init = undefined) {
      this.#list = init === undefined ? [] : listOf(init);
    }

    append(name, value) {
      void this.#list;
      requireArguments(arguments.length, 2, 'Headers.append');
      name = checkedName(name);
      value = checkedValue(value, name);
      this.#change();
      ArrayPrototypePush(this.#list, name, value);
    }

    delete(name) {
      void this.#list;
      requireArguments(arguments.length, 1, 'Headers.delete');
      name = checkedName(name);
      this.#change();
      this.#list = without(this.#list, name);
    }

    get(name) {
      const list = this.#list;
      requireArguments(arguments.length, 1, 'Headers.get');
      return headerIn(list, checkedName(name)) ?? null;
    }

    getSetCookie() {
      const list = this.#list;
      const values = [];
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] === 'set-cookie') ArrayPrototypePush(values, list[i + 1]);
      }
      return values;
    }

    has(name) {
      const list = this.#list;
      requireArguments(arguments.length, 1, 'Headers.has');
      return headerIn(list, checkedName(name)) !== undefined;
    }

    set(name, value) {
      const list = this.#list;
      requireArguments(arguments.length, 2, 'Headers.set');
      name = checkedName(name);
      value = checkedValue(value, name);
      this.#change();
      const kept = [];
      let found = false;
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] !== name) {
          ArrayPrototypePush(kept, list[i], list[i + 1]);
        } else if (!found) {
          found = true;
          ArrayPrototypePush(kept, name, value);
        }
      }
      if (!found) ArrayPrototypePush(kept, name, value);
      this.#list = kept;
    }

    forEach(callback, thisArg = undefined) {
      void this.#list;
      if (typeof callback !== 'function') throw new TypeError('The callback of Headers.forEach must be a function');
      for (let i = 0; i < this.#entries().length; i++) {
        const { name, value } = this.#entries()[i];
        ReflectApply(callback, thisArg, [value, name, this]);
      }
    }

    entries() {
      return this.#iterate('entries');
    }

    keys() {
      return this.#iterate('keys');
    }

    values() {
      return this.#iterate('values');
    }

    [inspectCustom](depth, options, inspect) {
      const shown = {};
      const entries = this.#entries();
      for (let i = 0; i < entries.length; i++) {
        const { name, value } = entries[i];
        ObjectDefineProperty(shown, name, { __proto__: null, value, enumerable: true, configurable: true });
      }
      return 'Headers ' + inspect(shown, options);
    }

    #change() {
      if (this.#isFixed) throw new TypeError('These headers cannot be changed: make new ones, new Headers(headers)');
      this.#combined = undefined;
    }

    #entries() {
      this.#combined ??= combined(this.#list);
      return this.#combined;
    }

    #iterate(kind) {
      void this.#list;
      return new HeadersIterator(() => this.#entries(), kind);
    }
  }

  // An iterator looks at the list anew for every step, so it sees what the loop body appends or deletes.
  class HeadersIterator {
    #entries;
    #kind;
    #next = 0;

    constructor(entries, kind) {
      this.#entries = entries;
      this.#kind = kind;
    }

    next() {
      const entries = this.#entries();
      if (this.#next >= entries.length) return { value: undefined, done: true };
      const { name, value } = entries[this.#next++];
      return { value: this.#kind === 'keys' ? name : this.#kind === 'values' ? value : [name, value], done: false };
    }
  }
  ObjectSetPrototypeOf(HeadersIterator.prototype, IteratorPrototype);
  // The class is internal: without this a tool could build iterators over functions of its own.
  delete HeadersIterator.prototype.constructor;
  shapeClass(HeadersIterator, 'Headers Iterator', ['next']);
  shapeClass(Headers, 'Headers', [
    'append', 'delete', 'get', 'getSetCookie', 'has', 'set', 'forEach', 'entries', 'keys', 'values',
  ]);
  ObjectDefineProperty(Headers.prototype, SymbolIterator, {
    __proto__: null,
    value: Headers.prototype.entries,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  return Headers;
}

function without(list, name) {
  const kept = [];
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] !== name) ArrayPrototypePush(kept, list[i], list[i + 1]);
  }
  return kept;
}
