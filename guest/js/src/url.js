// URL and URLSearchParams of the URL Standard, on top of the native parser.
//
// Invariant: a URL object holds nothing but the parts the native parser returned last, and its `searchParams`, once
// asked for, always hold the parsed form of the current query: each side tells the other about every change.

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
  StringPrototypeSlice,
  StringPrototypeStartsWith,
  SymbolIterator,
  TypeError,
} from './intrinsics.js';
import { nativeFormParse, nativeFormSerialize, nativeUrlParse, nativeUrlSet } from './native.js';
import { addErrorProperty, inspectCustom, requireArguments, shapeClass, toUSVString } from './webidl.js';

// Where the native parser puts the parts.
const HREF = 0;
const ORIGIN = 1;
const PROTOCOL = 2;
const USERNAME = 3;
const PASSWORD = 4;
const HOST = 5;
const HOSTNAME = 6;
const PORT = 7;
const PATHNAME = 8;
const SEARCH = 9;
const HASH = 10;

// Set by the static blocks below, which alone can reach the private fields of both classes.
let paramsOfUrl;
let refreshParams;
let serializeParams;
// The method that gives all URLSearchParams their iterators, set once the class is made.
let entriesOf;

export class URLSearchParams {
  // Names and values in turn: [name, value, name, value, ...].
  #list = [];
  #onChange = undefined;

  static {
    paramsOfUrl = (search, onChange) => {
      const params = new URLSearchParams(search);
      params.#onChange = onChange;
      return params;
    };
    refreshParams = (params, search) => {
      params.#list = parseSearch(search);
    };
    serializeParams = (value) => (#list in value ? nativeFormSerialize(value.#list) : undefined);
  }

  constructor(init = '') {
    if ((typeof init === 'object' && init !== null) || typeof init === 'function') {
      // The iterator that every URLSearchParams has gives what its list holds.
      const isPlain = #list in init && init[SymbolIterator] === entriesOf;
      this.#list = isPlain ? copyList(init.#list) : listOfObject(init);
    } else {
      this.#list = parseSearch(toUSVString(init));
    }
  }

  get size() {
    return this.#list.length / 2;
  }

  append(name, value) {
    const list = this.#list;
    requireArguments(arguments.length, 2, 'URLSearchParams.append');
    name = toUSVString(name);
    value = toUSVString(value);
    ArrayPrototypePush(list, name, value);
    this.#changed();
  }

  delete(name, value = undefined) {
    const list = this.#list;
    requireArguments(arguments.length, 1, 'URLSearchParams.delete');
    name = toUSVString(name);
    if (value !== undefined) value = toUSVString(value);
    const kept = [];
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] !== name || (value !== undefined && list[i + 1] !== value)) {
        ArrayPrototypePush(kept, list[i], list[i + 1]);
      }
    }
    this.#list = kept;
    this.#changed();
  }

  get(name) {
    const list = this.#list;
    requireArguments(arguments.length, 1, 'URLSearchParams.get');
    name = toUSVString(name);
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name) return list[i + 1];
    }
    return null;
  }

  getAll(name) {
    const list = this.#list;
    requireArguments(arguments.length, 1, 'URLSearchParams.getAll');
    name = toUSVString(name);
    const values = [];
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name) ArrayPrototypePush(values, list[i + 1]);
    }
    return values;
  }

  has(name, value = undefined) {
    const list = this.#list;
    requireArguments(arguments.length, 1, 'URLSearchParams.has');
    name = toUSVString(name);
    if (value !== undefined) value = toUSVString(value);
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name && (value === undefined || list[i + 1] === value)) return true;
    }
    return false;
  }

  set(name, value) {
    const list = this.#list;
    requireArguments(arguments.length, 2, 'URLSearchParams.set');
    name = toUSVString(name);
    value = toUSVString(value);
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
    this.#changed();
  }

  sort() {
    const list = this.#list;
    const pairs = [];
    for (let i = 0; i < list.length; i += 2) {
      ArrayPrototypePush(pairs, { name: list[i], value: list[i + 1] });
    }
    // JavaScript compares strings by UTF-16 unit and sorts stably, just as the standard asks.
    ArrayPrototypeSort(pairs, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    const sorted = [];
    for (let i = 0; i < pairs.length; i++) {
      ArrayPrototypePush(sorted, pairs[i].name, pairs[i].value);
    }
    this.#list = sorted;
    this.#changed();
  }

  forEach(callback, thisArg = undefined) {
    void this.#list;
    if (typeof callback !== 'function') {
      throw new TypeError('The callback of URLSearchParams.forEach must be a function');
    }
    for (let i = 0; i < this.#list.length; i += 2) {
      ReflectApply(callback, thisArg, [this.#list[i + 1], this.#list[i], this]);
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

  toString() {
    return nativeFormSerialize(this.#list);
  }

  [inspectCustom](depth, options, inspect) {
    const list = this.#list;
    let text = '';
    for (let i = 0; i < list.length; i += 2) {
      text += (i > 0 ? ', ' : '') + inspect(list[i], options) + ' => ' + inspect(list[i + 1], options);
    }
    return text === '' ? 'URLSearchParams {}' : 'URLSearchParams { ' + text + ' }';
  }

  #iterate(kind) {
    return new ParamsIterator(() => this.#list, kind);
  }

  #changed() {
    const onChange = this.#onChange;
    if (onChange !== undefined) onChange(nativeFormSerialize(this.#list));
  }
}

// An iterator looks at the list anew for every step, so it sees what the loop body appends or deletes.
class ParamsIterator {
  #list;
  #kind;
  #next = 0;

  constructor(list, kind) {
    this.#list = list;
    this.#kind = kind;
  }

  next() {
    const list = this.#list();
    const at = this.#next;
    if (at >= list.length) return { value: undefined, done: true };
    this.#next = at + 2;
    const value = this.#kind === 'keys' ? list[at] : this.#kind === 'values' ? list[at + 1] : [list[at], list[at + 1]];
    return { value, done: false };
  }
}
ObjectSetPrototypeOf(ParamsIterator.prototype, IteratorPrototype);
// The class is internal: without this a tool could build iterators over functions of its own.
delete ParamsIterator.prototype.constructor;
shapeClass(ParamsIterator, 'URLSearchParams Iterator', ['next']);

function parseSearch(search) {
  return nativeFormParse(StringPrototypeStartsWith(search, '?') ? StringPrototypeSlice(search, 1) : search);
}

function copyList(list) {
  const copy = [];
  for (let i = 0; i < list.length; i++) ArrayPrototypePush(copy, list[i]);
  return copy;
}

function listOfObject(init) {
  const method = init[SymbolIterator];
  if (method === undefined || method === null) return listOfRecord(init);
  if (typeof method !== 'function') {
    throw new TypeError('The argument of URLSearchParams is not iterable');
  }
  const list = [];
  forEachOf(init, (pair) => {
    if ((typeof pair !== 'object' && typeof pair !== 'function') || pair === null) {
      throw notAPair();
    }
    const parts = [];
    forEachOf(pair, (part) => {
      ArrayPrototypePush(parts, toUSVString(part));
    });
    if (parts.length !== 2) throw notAPair();
    ArrayPrototypePush(list, parts[0], parts[1]);
  });
  return list;
}

// `for..of` over something the tool passed in: here its own iterator is what the standard asks for.
function forEachOf(iterable, visit) {
  for (const item of iterable) visit(item);
}

function notAPair() {
  return new TypeError('Each item of the iterable given to URLSearchParams must be a pair of name and value');
}

function listOfRecord(init) {
  const list = [];
  const places = new Map();
  const keys = ReflectOwnKeys(init);
  for (let i = 0; i < keys.length; i++) {
    const descriptor = ObjectGetOwnPropertyDescriptor(init, keys[i]);
    if (descriptor === undefined || !descriptor.enumerable) continue;
    const name = toUSVString(keys[i]);
    const value = toUSVString(init[keys[i]]);
    // Two keys may become the same name when lone surrogates are replaced; then the later value wins.
    const place = MapPrototypeGet(places, name);
    if (place !== undefined) {
      list[place] = value;
    } else {
      ArrayPrototypePush(list, name, value);
      MapPrototypeSet(places, name, list.length - 1);
    }
  }
  return list;
}

export class URL {
  #parts;
  #params = undefined;

  constructor(url, base = undefined) {
    requireArguments(arguments.length, 1, 'URL');
    url = toUSVString(url);
    if (base !== undefined) base = toUSVString(base);
    const parts = nativeUrlParse(url, base);
    if (parts === undefined) throw invalidUrl(url, base);
    this.#parts = parts;
  }

  static canParse(url, base = undefined) {
    requireArguments(arguments.length, 1, 'URL.canParse');
    url = toUSVString(url);
    if (base !== undefined) base = toUSVString(base);
    return nativeUrlParse(url, base) !== undefined;
  }

  static parse(url, base = undefined) {
    requireArguments(arguments.length, 1, 'URL.parse');
    url = toUSVString(url);
    if (base !== undefined) base = toUSVString(base);
    return nativeUrlParse(url, base) === undefined ? null : new URL(url, base);
  }

  get href() {
    return this.#parts[HREF];
  }

  set href(value) {
    void this.#parts;
    value = toUSVString(value);
    if (!this.#set('href', value)) throw invalidUrl(value, undefined);
    this.#refreshParams();
  }

  get origin() {
    return this.#parts[ORIGIN];
  }

  get protocol() {
    return this.#parts[PROTOCOL];
  }

  set protocol(value) {
    this.#set('protocol', toUSVString(value));
  }

  get username() {
    return this.#parts[USERNAME];
  }

  set username(value) {
    this.#set('username', toUSVString(value));
  }

  get password() {
    return this.#parts[PASSWORD];
  }

  set password(value) {
    this.#set('password', toUSVString(value));
  }

  get host() {
    return this.#parts[HOST];
  }

  set host(value) {
    this.#set('host', toUSVString(value));
  }

  get hostname() {
    return this.#parts[HOSTNAME];
  }

  set hostname(value) {
    this.#set('hostname', toUSVString(value));
  }

  get port() {
    return this.#parts[PORT];
  }

  set port(value) {
    this.#set('port', toUSVString(value));
  }

  get pathname() {
    return this.#parts[PATHNAME];
  }

  set pathname(value) {
    this.#set('pathname', toUSVString(value));
  }

  get search() {
    return this.#parts[SEARCH];
  }

  set search(value) {
    this.#set('search', toUSVString(value));
    this.#refreshParams();
  }

  get searchParams() {
    this.#params ??= paramsOfUrl(this.#parts[SEARCH], (query) => {
      this.#set('search', query);
    });
    return this.#params;
  }

  get hash() {
    return this.#parts[HASH];
  }

  set hash(value) {
    this.#set('hash', toUSVString(value));
  }

  toString() {
    return this.#parts[HREF];
  }

  toJSON() {
    return this.#parts[HREF];
  }

  [inspectCustom](depth, options, inspect) {
    const parts = this.#parts;
    const shown = {
      href: parts[HREF],
      origin: parts[ORIGIN],
      protocol: parts[PROTOCOL],
      username: parts[USERNAME],
      password: parts[PASSWORD],
      host: parts[HOST],
      hostname: parts[HOSTNAME],
      port: parts[PORT],
      pathname: parts[PATHNAME],
      search: parts[SEARCH],
      searchParams: this.searchParams,
      hash: parts[HASH],
    };
    return 'URL ' + inspect(shown, options);
  }

  #set(part, value) {
    const parts = nativeUrlSet(this.#parts[HREF], part, value);
    if (parts === undefined) return false;
    this.#parts = parts;
    return true;
  }

  #refreshParams() {
    if (this.#params !== undefined) refreshParams(this.#params, this.#parts[SEARCH]);
  }
}

function invalidUrl(input, base) {
  const error = new TypeError('Invalid URL');
  addErrorProperty(error, 'code', 'ERR_INVALID_URL');
  addErrorProperty(error, 'input', input);
  if (base !== undefined) addErrorProperty(error, 'base', base);
  return error;
}

/** The text of `value` if it is a URLSearchParams, whatever its prototype says; `undefined` for every other object. */
export function searchParamsText(value) {
  return serializeParams(value);
}

entriesOf = URLSearchParams.prototype.entries;
shapeClass(URLSearchParams, 'URLSearchParams', [
  'size', 'append', 'delete', 'get', 'getAll', 'has', 'set', 'sort', 'forEach', 'entries', 'keys', 'values', 'toString',
]);
ObjectDefineProperty(URLSearchParams.prototype, SymbolIterator, {
  __proto__: null,
  value: entriesOf,
  writable: true,
  enumerable: false,
  configurable: true,
});
shapeClass(URL, 'URL', [
  'href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search',
  'searchParams', 'hash', 'toString', 'toJSON',
]);
