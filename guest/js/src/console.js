// The console: formats what it is given the way Node.js does and hands each line to the host.
//
// Invariant: a console method throws only what the host's log function throws, whatever a tool did to its arguments or
// to the built-in prototypes; what cannot be shown becomes a text that says so. The labels of counts and timers are the
// exception that the Console Standard makes: what a label's `toString` throws goes to the caller. One argument yields at most
// `argumentLimit` UTF-16 units and the work for that, so logging something huge is cheap.

import { cut, inspect, isError, showNumber, uninspectable } from './inspect.js';
import {
  DateNow,
  ErrorPrototype,
  JSONStringify,
  Map,
  MapPrototypeDelete,
  MapPrototypeGet,
  MapPrototypeSet,
  Number,
  NumberParseFloat,
  NumberParseInt,
  NumberPrototypeToFixed,
  ObjectDefineProperty,
  ObjectPrototype,
  ObjectSetPrototypeOf,
  String,
  StringPrototypeCharCodeAt,
  StringPrototypeIndexOf,
  StringPrototypeRepeat,
  StringPrototypeSlice,
  StringPrototypeToWellFormed,
  SymbolToStringTag,
} from './intrinsics.js';
import { nativeLog } from './native.js';
import { toText } from './webidl.js';

const DEBUG = 0;
const LOG = 1;
const INFO = 2;
const WARN = 3;
const ERROR = 4;

const argumentLimit = 64 * 1024;
const inspectDepth = 4;
// Deeper groups are not indented further, or each line of a runaway recursion would be longer than the last.
const maxGroups = 64;

let groups = 0;
const counts = new Map();
const timers = new Map();

/** Logs one text, indented by the open groups. */
function write(level, text) {
  if (groups > 0) text = indented(text, StringPrototypeRepeat('  ', groups < maxGroups ? groups : maxGroups));
  nativeLog(level, StringPrototypeToWellFormed(text));
}

function indented(text, indent) {
  let out = indent;
  let copied = 0;
  for (;;) {
    const newline = StringPrototypeIndexOf(text, '\n', copied);
    if (newline === -1) return out + StringPrototypeSlice(text, copied);
    out += StringPrototypeSlice(text, copied, newline + 1) + indent;
    copied = newline + 1;
  }
}

function writeArguments(level, args) {
  write(level, format(args));
}

/** Logs an error nobody can catch, such as one thrown by an event listener. */
export function reportUncaught(error) {
  write(ERROR, 'Uncaught ' + show(error));
}

// --- Formatting ---

/** The text of one argument: strings as they are, everything else inspected. */
function show(value) {
  return typeof value === 'string' ? cut(value, argumentLimit) : inspectValue(value, inspectDepth);
}

function inspectValue(value, depth) {
  return cut(inspect(value, depth, argumentLimit), argumentLimit);
}

/** Formats the arguments of one call; a format string as first argument takes as many of the others as it asks for. */
function format(args) {
  if (args.length === 0) return '';
  let used = 1;
  let text;
  if (typeof args[0] === 'string' && args.length > 1) {
    const template = cut(args[0], argumentLimit);
    text = '';
    let copied = 0;
    for (let i = 0; i < template.length - 1; i++) {
      if (StringPrototypeCharCodeAt(template, i) !== 0x25) continue;
      const directive = template[++i];
      let replacement;
      if (directive === '%') {
        replacement = '%';
      } else if (used < args.length && StringPrototypeIndexOf('sdifjoOc', directive) !== -1) {
        replacement = convert(directive, args[used++]);
      } else {
        continue;
      }
      text += StringPrototypeSlice(template, copied, i - 1) + replacement;
      copied = i + 1;
    }
    text += StringPrototypeSlice(template, copied);
  } else {
    text = show(args[0]);
  }
  for (; used < args.length; used++) text += ' ' + show(args[used]);
  return text;
}

function convert(directive, value) {
  try {
    return cut(convertUnchecked(directive, value), argumentLimit);
  } catch (error) {
    return uninspectable(error);
  }
}

function convertUnchecked(directive, value) {
  const isSymbol = typeof value === 'symbol';
  switch (directive) {
    case 's':
      return showAsString(value);
    case 'd':
      return typeof value === 'bigint' ? value + 'n' : isSymbol ? 'NaN' : showNumber(Number(value));
    case 'i':
      return typeof value === 'bigint' ? value + 'n' : isSymbol ? 'NaN' : showNumber(NumberParseInt(value));
    case 'f':
      return isSymbol ? 'NaN' : showNumber(NumberParseFloat(value));
    case 'j':
      return showAsJson(value);
    case 'c':
      return '';
    default:
      return inspectValue(value, inspectDepth);
  }
}

function showAsString(value) {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return showNumber(value);
    case 'bigint':
      return value + 'n';
    case 'object':
      return value === null || !hasOwnWay(value) ? inspectValue(value, 0) : String(value);
    default:
      return String(value);
  }
}

// The `toString` methods that say less than inspecting the value does.
const { toString: arrayToString } = [];
const { toString: dateToString } = Date.prototype;
const builtInToStrings = [ObjectPrototype.toString, ErrorPrototype.toString, arrayToString, dateToString];

/** Whether the tool gave `value` a way to become a string. */
function hasOwnWay(value) {
  const method = value.toString;
  if (typeof method !== 'function') return false;
  for (let i = 0; i < builtInToStrings.length; i++) {
    if (method === builtInToStrings[i]) return false;
  }
  return true;
}

// How this engine says that a value contains itself; it has no error class of its own.
const circularMessage = (() => {
  const loop = {};
  loop.loop = loop;
  try {
    return JSONStringify(loop);
  } catch (error) {
    return firstLine(error.message);
  }
})();

function showAsJson(value) {
  try {
    return '' + JSONStringify(value);
  } catch (error) {
    if (isError(error) && firstLine(String(error.message)) === circularMessage) {
      return '[Circular]';
    }
    throw error;
  }
}

function firstLine(text) {
  const newline = StringPrototypeIndexOf(text, '\n');
  return newline === -1 ? text : StringPrototypeSlice(text, 0, newline);
}

// --- The methods with a memory ---

function labelOf(label) {
  return label === undefined ? 'default' : cut(toText(label), argumentLimit);
}

function writeTime(label, args) {
  const started = MapPrototypeGet(timers, label);
  if (started === undefined) {
    write(WARN, "Warning: No such label '" + label + "' for console.time");
    return;
  }
  const elapsed = DateNow() - started;
  const time = elapsed < 1000 ? elapsed + 'ms' : NumberPrototypeToFixed(elapsed / 1000, 3) + 's';
  write(LOG, label + ': ' + time + (args.length === 0 ? '' : ' ' + formatEach(args)));
}

/** Formats arguments of which none is a format string. */
function formatEach(args) {
  let text = '';
  for (let i = 0; i < args.length; i++) text += (i === 0 ? '' : ' ') + show(args[i]);
  return text;
}

function openGroup(label) {
  if (label.length > 0) writeArguments(LOG, label);
  groups++;
}

export const console = {
  debug(...args) {
    writeArguments(DEBUG, args);
  },

  log(...args) {
    writeArguments(LOG, args);
  },

  info(...args) {
    writeArguments(INFO, args);
  },

  warn(...args) {
    writeArguments(WARN, args);
  },

  error(...args) {
    writeArguments(ERROR, args);
  },

  // Without a stack: its frames would mostly be those of this prelude.
  trace(...args) {
    write(LOG, args.length === 0 ? 'Trace' : 'Trace: ' + format(args));
  },

  table(...args) {
    writeArguments(LOG, args);
  },

  dir(value) {
    write(LOG, inspectValue(value, inspectDepth));
  },

  dirxml(...args) {
    writeArguments(LOG, args);
  },

  group(...label) {
    openGroup(label);
  },

  groupCollapsed(...label) {
    openGroup(label);
  },

  groupEnd() {
    if (groups > 0) groups--;
  },

  count(label = undefined) {
    label = labelOf(label);
    const count = (MapPrototypeGet(counts, label) ?? 0) + 1;
    MapPrototypeSet(counts, label, count);
    write(LOG, label + ': ' + count);
  },

  countReset(label = undefined) {
    label = labelOf(label);
    if (!MapPrototypeDelete(counts, label)) write(WARN, "Warning: Count for '" + label + "' does not exist");
  },

  assert(condition = undefined, ...args) {
    if (condition) return;
    const colon = typeof args[0] === 'string' ? ':' : '';
    write(ERROR, args.length === 0 ? 'Assertion failed' : 'Assertion failed' + colon + ' ' + format(args));
  },

  time(label = undefined) {
    label = labelOf(label);
    if (MapPrototypeGet(timers, label) !== undefined) {
      write(WARN, "Warning: Label '" + label + "' already exists for console.time");
      return;
    }
    MapPrototypeSet(timers, label, DateNow());
  },

  timeLog(label = undefined, ...args) {
    writeTime(labelOf(label), args);
  },

  timeEnd(label = undefined) {
    label = labelOf(label);
    writeTime(label, []);
    MapPrototypeDelete(timers, label);
  },
};

ObjectDefineProperty(console, SymbolToStringTag, {
  __proto__: null,
  value: 'console',
  writable: false,
  enumerable: false,
  configurable: true,
});
// An empty object between the console and `Object.prototype`, as the standard has it.
ObjectSetPrototypeOf(console, {});
