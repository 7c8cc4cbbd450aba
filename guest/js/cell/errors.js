// What an error says: stacks without the guest's own frames, and messages that name what is missing and why.
//
// Invariant: reading a thrown value never throws, whatever its getters do. (No template literals here: the engine
// calls `String.prototype.concat` for them, which a tool may have replaced.)
//
// The engine calls `prepareStackTrace` when it makes an error. That is the one moment at which "fetch is not
// defined" can be given its reason also where the tool catches the error and passes the message on; a global
// that throws would break `typeof fetch`.

const { captureStackTrace } = Error;
const ObjectConstructor = Object;
const StringConstructor = String;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { stringify } = JSON;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const slice = uncurry(String.prototype.slice);
const toWellFormed = uncurry(String.prototype.toWellFormed);
const endsWith = uncurry(String.prototype.endsWith);
const startsWith = uncurry(String.prototype.startsWith);
const errorPrototype = Error.prototype;
const referenceErrorPrototype = ReferenceError.prototype;

/** The longest text that is read of an error, in UTF-16 units. */
const TEXT_UNITS = 65536;

/** How far up a chain of prototypes is looked; a proxy may invent one without end. */
const PROTOTYPES = 64;

const PRELUDE = "toolcell:prelude";
const NOT_DEFINED = " is not defined";
const NOT_LOADED = "could not load module ";

const net = "it needs the grant `net`, which this call does not have";
const kv = "it needs the grant `kv`, which this call does not have";
const files = "it needs the grant `files`, which this call does not have";
const secrets = "it needs the grant `secrets`, which this call does not have";
const tools = "it needs the grant `tools`, which this call does not have";
const servers = "it needs the grant `servers`, which this call does not have";
const timers = "it needs the grant `timers`, which this call does not have";
const strings = "code from strings is not available, what was analysed is what runs";
const host = "a cell has no process, files or environment";
const modules = "modules are not available, a tool is one file";
const scope = "a cell hands out no global object, declare what you need";

const REASONS = {
  __proto__: null,
  fetch: net,
  Request: net,
  Response: net,
  Headers: net,
  ReadableStream: net,
  ReadableStreamDefaultController: net,
  ReadableStreamDefaultReader: net,
  WebSocket: net,
  XMLHttpRequest: net,
  kv,
  files,
  secret: secrets,
  tools,
  servers,
  sleep: timers,
  setTimeout: timers,
  setInterval: timers,
  setImmediate: timers,
  clearTimeout: timers,
  clearInterval: timers,
  eval: strings,
  require: modules,
  module: "modules are not available, export `execute` instead",
  exports: "modules are not available, export `execute` instead",
  process: host,
  __dirname: host,
  __filename: host,
  Deno: host,
  Bun: host,
  global: scope,
  globalThis: scope,
  window: scope,
  self: scope,
};

// Whether the next error is made for its frames alone, and the frames of the last one that was.
let taking = false;
let taken;

/**
 * The frames of those who called `callee`, a function that is running now: `stackOf` can make a stack of them, which is
 * dear and hardly ever needed. Each frame costs as well, so the prelude's own are left out.
 */
export function here(callee) {
  taking = true;
  taken = undefined;
  try {
    captureStackTrace({ __proto__: null }, callee);
  } finally {
    taking = false;
  }
  const frames = taken;
  taken = undefined;
  return frames;
}

/** The stack of an error as text; the engine calls it with the frames of where the error was made. */
export function prepareStackTrace(error, frames) {
  if (taking) {
    taking = false;
    taken = frames;
    return undefined;
  }
  explain(error);
  return traceOf(frames, constructorFrames(error, frames));
}

/** The stack of an error that is to say that it was made where `frames` were taken. */
export function stackOf(frames) {
  return traceOf(frames, 0);
}

function traceOf(frames, first) {
  let text = "";
  // Frames of built-in functions wait until it is known whether the author's code called them or the prelude.
  let native = "";
  for (let index = first; index < frames.length; index++) {
    const frame = frames[index];
    const file = frame.getFileName();
    const name = frame.getFunctionName();
    if (file === PRELUDE) {
      native = "";
    } else if (typeof file !== "string") {
      native += "    at " + (name || "<anonymous>") + " (native)\n";
    } else {
      const at = file + ":" + place(frame);
      text += native + "    at " + (name ? name + " (" + at + ")" : at) + "\n";
      native = "";
    }
  }
  return text;
}

/** `LINE:COLUMN`, both counted from 1. */
function place(frame) {
  return frame.getLineNumber() + ":" + frame.getColumnNumber();
}

/** How many frames are constructors of the error's own classes: where it was made begins below them. */
function constructorFrames(error, frames) {
  let count = 0;
  try {
    let prototype = getPrototypeOf(error);
    while (count < frames.length && prototype !== null && prototype !== errorPrototype) {
      const name = frames[count].getFunctionName();
      const constructor = getOwnPropertyDescriptor(prototype, "constructor")?.value;
      if (typeof constructor !== "function" || !name || constructor.name !== name) break;
      count++;
      prototype = getPrototypeOf(prototype);
    }
  } catch {
    return 0;
  }
  return count;
}

/** Adds to the engine's own messages why a name is missing. */
function explain(error) {
  if (typeof error !== "object" || error === null || getPrototypeOf(error) !== referenceErrorPrototype) return;
  const { message } = error;
  if (typeof message !== "string") return;
  let reason;
  if (startsWith(message, NOT_LOADED)) reason = modules;
  else if (endsWith(message, NOT_DEFINED)) reason = REASONS[slice(message, 0, -NOT_DEFINED.length)];
  if (reason === undefined) return;
  const value = message + ": " + reason;
  defineProperty(error, "message", { __proto__: null, value, writable: true, configurable: true });
}

/** Name, message and stack of whatever was thrown. */
export function inspect(thrown) {
  if ((typeof thrown !== "object" || thrown === null) && typeof thrown !== "function") {
    return ["Error", text(thrown), ""];
  }
  const name = nameOf(thrown);
  const message = read(thrown, "message") ?? describe(thrown);
  return [name, message, read(thrown, "stack") ?? ""];
}

/** What an error calls itself; of another object its class, unless it passes for an error by name and message. */
function nameOf(object) {
  const name = namedBy(object);
  if (typeof object === "function" || isError(object)) return name ?? "Error";
  if (name !== undefined && read(object, "message") !== undefined) return name;
  return classOf(object) ?? name ?? "Error";
}

function namedBy(object) {
  try {
    const { name } = object;
    return typeof name === "string" && name !== "" ? text(name) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the object inherits from `Error.prototype`. */
function isError(object) {
  try {
    let prototype = getPrototypeOf(object);
    for (let depth = 0; prototype !== null && depth < PROTOTYPES; depth++) {
      if (prototype === errorPrototype) return true;
      prototype = getPrototypeOf(prototype);
    }
  } catch {
    // A proxy may throw.
  }
  return false;
}

/** The name of the object's class, where it has one of its own. Only plain properties are read, no getter is asked. */
function classOf(object) {
  try {
    let holder = object;
    for (let depth = 0; holder !== null && depth < PROTOTYPES; depth++) {
      const constructor = getOwnPropertyDescriptor(holder, "constructor");
      if (constructor !== undefined) {
        if (typeof constructor.value !== "function" || constructor.value === ObjectConstructor) return undefined;
        const name = getOwnPropertyDescriptor(constructor.value, "name")?.value;
        return typeof name === "string" && name !== "" ? text(name) : undefined;
      }
      holder = getPrototypeOf(holder);
    }
  } catch {
    // A proxy may throw.
  }
  return undefined;
}

function read(object, key) {
  try {
    const value = object[key];
    return value === undefined || value === null ? undefined : text(value);
  } catch {
    return undefined;
  }
}

function describe(object) {
  try {
    const json = stringify(object);
    return json === undefined ? "" : text(json);
  } catch {
    return "";
  }
}

function text(value) {
  try {
    const full = typeof value === "string" ? value : StringConstructor(value);
    return toWellFormed(full.length > TEXT_UNITS ? slice(full, 0, TEXT_UNITS) : full);
  } catch {
    return "";
  }
}
