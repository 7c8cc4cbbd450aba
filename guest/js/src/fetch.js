// fetch, Request and Response of the Fetch Standard.
//
// Invariant: a request is checked as a whole before anything is sent.
//
// The classes are made when they are granted. What a browser has on top of it (credentials, cache, mode and the like) is
// checked as the standard says and has no meaning: a cell has no page, no cookies and no cache.

import { here } from '../cell/errors.js';
import { rejected } from '../cell/operations.js';
import { isAbortSignal, signalFollowing } from './abort.js';
import { cloneBody, extractBody, hasNoBody, isWhole, mixBody, takeBody, TEXT_TYPE } from './body.js';
import { copyOf, headerIn, headerList, headersOf, isReason, isToken, listOf, makeHeaders } from './headers.js';
import {
  ArrayPrototypePush,
  JSONStringify,
  Number,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectGetOwnPropertyDescriptor,
  ObjectKeys,
  Promise,
  RangeError,
  StringPrototypeToUpperCase,
  TypeError,
} from './intrinsics.js';
import { nativeUrlAbsolute } from './native.js';
import { makeStreams } from './readable-stream.js';
import { readAnswer, send, sendWhole } from './transfer.js';
import { dictionaryOf, inspectCustom, requireArguments, shapeClass, toText, toUSVString } from './webidl.js';

const constructionKey = {};

const NORMALISED = { __proto__: null, DELETE: true, GET: true, HEAD: true, OPTIONS: true, POST: true, PUT: true };
const FORBIDDEN = { __proto__: null, CONNECT: true, TRACE: true, TRACK: true };
const SIMPLE = { __proto__: null, GET: true, HEAD: true, POST: true };

// The values of the options that take one of a few.
const CACHES = {
  __proto__: null, default: true, 'no-store': true, reload: true, 'no-cache': true, 'force-cache': true, 'only-if-cached': true,
};
const CREDENTIALS = { __proto__: null, omit: true, 'same-origin': true, include: true };
const DUPLEXES = { __proto__: null, half: true };
const MODES = { __proto__: null, navigate: true, 'same-origin': true, 'no-cors': true, cors: true };
const PRIORITIES = { __proto__: null, high: true, low: true, auto: true };
const REDIRECTS = { __proto__: null, follow: true, error: true, manual: true };
const REFERRER_POLICIES = {
  __proto__: null, '': true, 'no-referrer': true, 'no-referrer-when-downgrade': true, 'same-origin': true, origin: true,
  'strict-origin': true, 'origin-when-cross-origin': true, 'strict-origin-when-cross-origin': true, 'unsafe-url': true,
};

// What a request has that was given no options.
const NO_OPTIONS = ObjectFreeze({
  __proto__: null,
  cache: 'default',
  credentials: 'same-origin',
  keepalive: false,
  mode: 'cors',
  referrer: 'about:client',
  referrerPolicy: '',
});

function methodOf(value) {
  const method = toText(value);
  const upper = StringPrototypeToUpperCase(method);
  if (!isToken(method) || FORBIDDEN[upper]) throw new TypeError('The method ' + method + ' cannot be requested');
  return NORMALISED[upper] ? upper : method;
}

function urlOf(input) {
  const text = toUSVString(input);
  const url = nativeUrlAbsolute(text);
  if (url === undefined) throw new TypeError('The URL ' + text + ' is no absolute URL, and a cell has no page it belongs to');
  const { 0: href, 1: hasCredentials } = url;
  if (hasCredentials) throw new TypeError('The URL has a user name or a password: send them in the header Authorization');
  return href;
}

/** One of the values that an option takes; `undefined` where there is none. */
function choiceOf(value, choices, name) {
  if (value === undefined) return undefined;
  const text = toText(value);
  if (choices[text]) return text;
  let known = '';
  const names = ObjectKeys(choices);
  for (let i = 0; i < names.length; i++) known += (i > 0 ? ', ' : '') + (names[i] === '' ? '""' : names[i]);
  throw new TypeError('The option `' + name + '` of a request is none of: ' + known);
}

/** What a request says it was referred by. Without a page no other address is of its origin. */
function referrerOf(value) {
  const text = toUSVString(value);
  if (text === '') return '';
  if (nativeUrlAbsolute(text) === undefined) throw new TypeError('The referrer ' + text + ' is no absolute URL');
  return NO_OPTIONS.referrer;
}

// What Requests and Responses hold has its headers as a list, and as an object once somebody asks for one.

/** The headers of what a Request or Response holds, as an object that nobody may change where `isFixed`. */
function headersIn(parts, isFixed) {
  parts.headers ??= headersOf(parts.list, isFixed);
  return parts.headers;
}

/** The list of the headers of what a Request or Response holds. */
function listIn(parts) {
  return parts.headers === undefined ? parts.list : headerList(parts.headers);
}

/** What a Request holds, made of what its constructor was given. */
function partsOfRequest(input, init, partsOf) {
  const from = typeof input === 'string' ? undefined : partsOf(input);
  const parts =
    from === undefined
      ? {
          url: urlOf(input),
          method: 'GET',
          list: undefined,
          headers: undefined,
          redirect: 'follow',
          body: null,
          options: NO_OPTIONS,
          // The signal that was given, and the one that a tool sees.
          signal: undefined,
          ownSignal: undefined,
        }
      : {
          url: from.url,
          method: from.method,
          list: undefined,
          headers: undefined,
          redirect: from.redirect,
          body: null,
          options: from.options,
          signal: from.signal,
          ownSignal: undefined,
        };
  const given = init === undefined ? undefined : takeOptions(parts, dictionaryOf(init, 'The options of a request'));
  parts.list = given !== undefined ? listOf(given) : from === undefined ? [] : copyOf(listIn(from));
  const body = init === undefined || init === null ? undefined : init.body;
  const takes = (body === undefined || body === null) && from !== undefined && from.body !== null;
  if (takes || (body !== undefined && body !== null)) {
    if (parts.method === 'GET' || parts.method === 'HEAD') {
      throw new TypeError('A request with the method ' + parts.method + ' has no body');
    }
    parts.body = takes ? takeBody(from.body) : typedBody(body, parts.list);
  }
  return parts;
}

/** Takes over the options of a request that are neither its headers, which it gives, nor its body. */
function takeOptions(parts, init) {
  // In the order in which the standard reads them.
  const cache = choiceOf(init.cache, CACHES, 'cache');
  const credentials = choiceOf(init.credentials, CREDENTIALS, 'credentials');
  choiceOf(init.duplex, DUPLEXES, 'duplex');
  const { headers, integrity, keepalive, method } = init;
  const mode = choiceOf(init.mode, MODES, 'mode');
  choiceOf(init.priority, PRIORITIES, 'priority');
  const redirect = choiceOf(init.redirect, REDIRECTS, 'redirect');
  const { referrer } = init;
  const referrerPolicy = choiceOf(init.referrerPolicy, REFERRER_POLICIES, 'referrerPolicy');
  const { signal, window } = init;
  if (window !== undefined && window !== null) throw new TypeError('The option `window` of a request can only be null');
  if (mode === 'navigate') throw new TypeError('The option `mode` of a request cannot be navigate: only a browser navigates');
  if (integrity !== undefined && toText(integrity) !== '') {
    throw new TypeError('The integrity of an answer is not checked in a cell: leave `integrity` out');
  }
  const { options } = parts;
  if (
    cache !== undefined || credentials !== undefined || keepalive !== undefined || mode !== undefined
    || referrer !== undefined || referrerPolicy !== undefined || options !== NO_OPTIONS
  ) {
    parts.options = {
      __proto__: null,
      cache: cache ?? options.cache,
      credentials: credentials ?? options.credentials,
      keepalive: keepalive === undefined ? options.keepalive : !!keepalive,
      mode: mode ?? options.mode,
      // Options of any kind take back what the request that is copied says of its referrer.
      referrer: referrer === undefined ? NO_OPTIONS.referrer : referrerOf(referrer),
      referrerPolicy: referrerPolicy ?? NO_OPTIONS.referrerPolicy,
    };
  }
  if (parts.options.cache === 'only-if-cached' && parts.options.mode !== 'same-origin') {
    throw new TypeError('The cache mode only-if-cached needs the mode same-origin');
  }
  if (redirect !== undefined) parts.redirect = redirect;
  if (method !== undefined) parts.method = methodOf(method);
  if (parts.options.mode === 'no-cors' && !SIMPLE[parts.method]) {
    throw new TypeError('A request with the mode no-cors has the method GET, HEAD or POST');
  }
  if (signal !== undefined) {
    if (signal !== null && !isAbortSignal(signal)) throw new TypeError('The signal must be an AbortSignal');
    parts.signal = signal === null ? undefined : signal;
  }
  return headers;
}

/** The body that a value stands for; its type becomes a header, unless there is one. */
function typedBody(value, list) {
  const { body, type } = extractBody(value);
  if (type !== undefined && headerIn(list, 'content-type') === undefined) ArrayPrototypePush(list, 'content-type', type);
  return body;
}

// What a Request has of the options that mean nothing in a cell. The getters are there before anything is granted, so that
// a grant has less to make.
let optionsIn;
const optionMembers = {
  get destination() {
    void optionsIn(this);
    return '';
  },
  get referrer() {
    return optionsIn(this).referrer;
  },
  get referrerPolicy() {
    return optionsIn(this).referrerPolicy;
  },
  get mode() {
    return optionsIn(this).mode;
  },
  get credentials() {
    return optionsIn(this).credentials;
  },
  get cache() {
    return optionsIn(this).cache;
  },
  get integrity() {
    void optionsIn(this);
    return '';
  },
  get keepalive() {
    return optionsIn(this).keepalive;
  },
  get isReloadNavigation() {
    void optionsIn(this);
    return false;
  },
  get isHistoryNavigation() {
    void optionsIn(this);
    return false;
  },
  get duplex() {
    void optionsIn(this);
    return 'half';
  },
};
const optionNames = ObjectKeys(optionMembers);

/** The global names of the grant `net`. */
export function makeFetch() {
  const streams = makeStreams();
  const Headers = makeHeaders();
  let partsOf;
  let responseOf;

  class Request {
    #parts;

    static {
      partsOf = (value) => (typeof value === 'object' && value !== null && #parts in value ? value.#parts : undefined);
      optionsIn = (request) => request.#parts.options;
    }

    constructor(input, init = undefined) {
      if (input === constructionKey) {
        this.#parts = init;
        return;
      }
      requireArguments(arguments.length, 1, 'Request');
      this.#parts = partsOfRequest(input, init, partsOf);
    }

    get method() {
      return this.#parts.method;
    }

    get url() {
      return this.#parts.url;
    }

    get headers() {
      return headersIn(this.#parts, false);
    }

    get redirect() {
      return this.#parts.redirect;
    }

    get signal() {
      const parts = this.#parts;
      parts.ownSignal ??= signalFollowing(parts.signal === undefined ? [] : [parts.signal]);
      return parts.ownSignal;
    }

    clone() {
      const { url, method, redirect, body, options, signal } = this.#parts;
      const copy = body === null ? null : cloneBody(body);
      const list = copyOf(listIn(this.#parts));
      return new Request(constructionKey, {
        url, method, list, headers: undefined, redirect, body: copy, options, signal, ownSignal: undefined,
      });
    }

    [inspectCustom](depth, options, inspect) {
      const { method, url } = this.#parts;
      const headers = headersIn(this.#parts, false);
      return 'Request ' + inspect({ method, url, headers }, options);
    }

    static {
      mixBody(Request, (request) => request.#parts.body);
    }
  }

  class Response {
    #parts;

    static {
      responseOf = (parts) => new Response(constructionKey, parts);
    }

    static json(data, init = undefined) {
      requireArguments(arguments.length, 1, 'Response.json');
      const text = JSONStringify(data);
      if (text === undefined) throw new TypeError('The data of Response.json cannot be written as JSON');
      const response = new Response(text, init);
      const { list } = response.#parts;
      // The type of a text was put last, where none was given.
      const last = list.length - 1;
      if (list[last] === TEXT_TYPE && list[last - 1] === 'content-type') list[last] = 'application/json';
      return response;
    }

    constructor(body = null, init = undefined) {
      if (body === constructionKey) {
        this.#parts = init;
        return;
      }
      const { status = 200, statusText = '', headers } = dictionaryOf(init, 'The options of a response');
      const number = Number(status);
      if (!(number >= 200 && number <= 599)) throw new RangeError('The status of a response must be 200 to 599');
      const reason = toText(statusText);
      if (!isReason(reason)) throw new TypeError('The statusText holds a character that cannot stand there');
      const list = headers === undefined ? [] : listOf(headers);
      const whole = number - (number % 1);
      const hasBody = body !== null && body !== undefined;
      if (hasBody && hasNoBody(whole)) throw new TypeError('A response with the status ' + whole + ' has no body');
      this.#parts = {
        status: whole,
        statusText: reason,
        url: '',
        redirected: false,
        list,
        headers: undefined,
        body: hasBody ? typedBody(body, list) : null,
        type: 'default',
      };
    }

    get type() {
      return this.#parts.type;
    }

    get url() {
      return this.#parts.url;
    }

    get redirected() {
      return this.#parts.redirected;
    }

    get status() {
      return this.#parts.status;
    }

    get ok() {
      const { status } = this.#parts;
      return status >= 200 && status <= 299;
    }

    get statusText() {
      return this.#parts.statusText;
    }

    get headers() {
      return headersIn(this.#parts, this.#parts.type === 'basic');
    }

    clone() {
      const { status, statusText, url, redirected, body, type } = this.#parts;
      const copy = body === null ? null : cloneBody(body);
      const list = copyOf(listIn(this.#parts));
      return new Response(constructionKey, {
        status, statusText, url, redirected, list, headers: undefined, body: copy, type,
      });
    }

    [inspectCustom](depth, options, inspect) {
      const { status, statusText, url, type } = this.#parts;
      const headers = headersIn(this.#parts, type === 'basic');
      return 'Response ' + inspect({ status, statusText, url, headers }, options);
    }

    static {
      mixBody(Response, (response) => response.#parts.body);
    }
  }

  const readResponse = (answer, first, parts, id, place) => {
    const answered = readAnswer(answer, first, parts, id, place);
    return answered === undefined ? undefined : responseOf(answered);
  };

  const { fetch } = {
    fetch(input, init = undefined) {
      const place = here(fetch);
      try {
        const parts = partsOfRequest(input, init, partsOf);
        if (parts.signal === undefined && (parts.body === null || isWhole(parts.body))) {
          return sendWhole(parts, listIn(parts), place, readResponse);
        }
        return new Promise((resolve, reject) => {
          send(parts, listIn(parts), place, (answered) => resolve(responseOf(answered)), reject);
        });
      } catch (error) {
        return rejected(error);
      }
    },
  };

  for (let i = 0; i < optionNames.length; i++) {
    const descriptor = ObjectGetOwnPropertyDescriptor(optionMembers, optionNames[i]);
    ObjectDefineProperty(Request.prototype, optionNames[i], descriptor);
  }
  shapeClass(Request, 'Request', ['method', 'url', 'headers', 'redirect', 'signal', 'clone']);
  shapeClass(Response, 'Response', [
    'type', 'url', 'redirected', 'status', 'ok', 'statusText', 'headers', 'clone',
  ]);
  return { __proto__: null, fetch, Headers, Request, Response, ...streams };
}
