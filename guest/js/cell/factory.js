// What the factory of a custom tool is given, and what its tools are: the interfaces of pi (extensions, `registerTool`)
// and of oh-my-pi (custom tools), as far as a cell can have them.
//
// Invariant: a member that a cell cannot have says why when it is read; one that only changes what a person sees does
// nothing. What reaches the host goes through `tools.call`, so it needs the grant `tools`.

import { neverAborted } from "./operations.js";
import { callTool } from "./tools.js";

const { isArray } = Array;
const { apply } = Reflect;
const { stringify } = JSON;
const { defineProperty, freeze, setPrototypeOf } = Object;
const ErrorConstructor = Error;
const TypeErrorConstructor = TypeError;
const resolved = Promise.resolve.bind(Promise);
const then = Function.prototype.call.bind(Promise.prototype.then);
const hasInstance = Function.prototype.call.bind(Function.prototype[Symbol.hasInstance]);

/** The members of `pi` that a cell cannot have, and why. */
const ABSENT_OF_PI = [
  ["pi", "a cell has no host to reach into"],
  ["pushPendingAction", "return what is to be done, and let the caller do it"],
  ["on", "a cell has no session whose events it could hear"],
  ["sendMessage", "a cell has no session; return the message as the result"],
  ["sendUserMessage", "a cell has no session; return the message as the result"],
];

/** The members of `ctx` that a cell cannot have, and why. */
const ABSENT_OF_CONTEXT = [
  ["sessionManager", "a cell has no session"],
  ["modelRegistry", "a cell has no model"],
  ["model", "a cell has no model"],
];

/** What registers something for a person alone. */
const IGNORED_OF_PI = ["registerCommand", "registerShortcut", "registerMessageRenderer", "setLabel"];
const IGNORED_OF_UI = ["setStatus", "setTitle", "setWidget", "setWorkingMessage"];

/** What a call of a function that no host lends fails with. */
const NOT_LENT = { __proto__: null, "tools-not-granted": true, "tool-not-found": true };

let partial = () => {};
let loadPackage = () => {};
let abortRun = () => {};
let canCall = false;
let registered = [];
let isLoading = false;
let api = {};
let context = {};

/** Gives this module what it needs of the host and of the other modules. */
export function connect(native, logger) {
  partial = native.partial;
  loadPackage = native.package;
  abortRun = native.abort;
  const ui = makeUi(logger);
  const hasUI = { get: () => canCall, enumerable: true };
  const pi = {
    cwd: "/",
    logger,
    ui,
    exec,
    registerTool,
    get typebox() {
      return loadPackage("@sinclair/typebox");
    },
    get zod() {
      return loadPackage("zod");
    },
    get arktype() {
      return loadPackage("arktype").type;
    },
  };
  defineProperty(pi, "hasUI", hasUI);
  ignore(pi, IGNORED_OF_PI);
  refuse(pi, "pi", ABSENT_OF_PI);
  api = freeze(pi);
  const ctx = {
    cwd: "/",
    ui,
    get signal() {
      return neverAborted;
    },
    isIdle: () => true,
    hasQueuedMessages: () => false,
    hasPendingMessages: () => false,
    abort() {
      abortRun();
      throw new ErrorConstructor("the run was ended by ctx.abort()");
    },
  };
  defineProperty(ctx, "hasUI", hasUI);
  refuse(ctx, "ctx", ABSENT_OF_CONTEXT);
  context = freeze(ctx);
}

/** The grant `tools` exists: functions that the host lends can be called. */
export function grantCalls() {
  canCall = true;
}

/** Calls a factory and gives its tools, or a promise of them: each with its manifest, and `call(callId, params)`. */
export function makeTools(factory) {
  registered = setPrototypeOf([], null);
  isLoading = true;
  const made = factory(api);
  return isThenable(made) ? then(resolved(made), adopt) : adopt(made);
}

function adopt(made) {
  isLoading = false;
  const tools = setPrototypeOf([], null);
  const none = made === undefined && registered.length > 0;
  const returned = none ? [] : isArray(made) ? made : [made];
  const total = returned.length + registered.length;
  for (let index = 0; index < returned.length; index++) append(tools, toolOf(returned[index], false, index + 1, total));
  for (let index = 0; index < registered.length; index++) {
    append(tools, toolOf(registered[index], true, returned.length + index + 1, total));
  }
  return tools;
}

/** One tool. `execute` of pi's tools takes the signal third, that of oh-my-pi's custom tools takes it last. */
function toolOf(tool, isRegistered, number, total) {
  const method = tool?.execute;
  if (typeof method !== "function" || typeof tool.name !== "string" || tool.name === "") {
    throw new TypeErrorConstructor(
      "the factory's tool " + number + " of " + total + " needs a `name` and an `execute` method",
    );
  }
  const { name, label, description, parameters } = tool;
  const isSchema = typeof parameters === "function" && typeof parameters.toJsonSchema === "function";
  // Taken now, so that it is part of what is kept of a loaded tool.
  const Errors = isSchema ? loadPackage("arktype").ArkErrors : undefined;
  return {
    __proto__: null,
    name,
    label,
    description,
    parameters: isSchema ? jsonSchemaOf(parameters) : parameters,
    call(callId, given) {
      const params = isSchema ? checked(parameters, Errors, given) : given;
      const result = isRegistered
        ? apply(method, tool, [callId, params, neverAborted, update, context])
        : apply(method, tool, [callId, params, update, context, neverAborted]);
      return isThenable(result) ? then(resolved(result), finish) : finish(result);
    },
  };
}

/** The JSON Schema of a schema of omptype. A check that JSON Schema has no words for is left to the schema itself. */
function jsonSchemaOf(schema) {
  const json = schema.toJsonSchema({ target: "draft-2020-12", fallback: (unsupported) => unsupported.base });
  delete json.$schema;
  return json;
}

/** What a schema of omptype makes of parameters: its own checks pass, and its transformations are applied. */
function checked(schema, Errors, params) {
  const parsed = schema(params);
  if (hasInstance(Errors, parsed)) throw new TypeErrorConstructor(parsed.summary);
  return typeof parsed === "object" && parsed !== null && !isArray(parsed) ? { ...params, ...parsed } : parsed;
}

/** The result `{ content, isError: true }` is a failure, whose message is the text of the content. */
function finish(result) {
  if (typeof result !== "object" || result === null || result.isError !== true) return result;
  let text = "";
  const { content } = result;
  const length = isArray(content) ? content.length : 0;
  for (let index = 0; index < length; index++) {
    const item = content[index];
    if (index > 0) text += "\n";
    text += item?.type === "text" ? item.text : "[" + item?.type + "]";
  }
  throw new ErrorConstructor(text === "" ? "the tool reports a failure, without a text" : text);
}

/** `onUpdate`: one partial result. */
function update(value) {
  const json = stringify(value);
  if (json !== undefined) partial(json);
}

function registerTool(tool) {
  if (!isLoading) throw new TypeErrorConstructor("pi.registerTool registers tools only while the factory runs");
  append(registered, tool);
}

/** Runs a command on the host, where the host lends `pi_exec`. */
function exec(command, args = [], options = {}) {
  if (!canCall) {
    throw new TypeErrorConstructor(
      "pi.exec is not available: a cell has no processes; a host can lend the function `pi_exec`, and the policy can " +
        'grant it (`tools = ["pi_exec"]`)',
    );
  }
  const { cwd, timeout } = options ?? {};
  return callTool("pi_exec", { command, args, cwd, timeout });
}

/** What asks a person, where the host lends it; elsewhere each dialogue ends as one without an answer. */
function makeUi(logger) {
  const ui = {
    select: (title, options) => ask("pi_ui_select", { title, options }, undefined),
    confirm: (title, message) => ask("pi_ui_confirm", { title, message }, false),
    input: (title, placeholder) => ask("pi_ui_input", { title, placeholder }, undefined),
    notify(message, type) {
      if (type === "error") logger.error(message);
      else if (type === "warning") logger.warn(message);
      else logger.info(message);
    },
  };
  ignore(ui, IGNORED_OF_UI);
  return freeze(ui);
}

async function ask(name, params, unanswered) {
  if (!canCall) return unanswered;
  try {
    return (await callTool(name, params)) ?? unanswered;
  } catch (error) {
    if (NOT_LENT[error?.code]) return unanswered;
    throw error;
  }
}

function ignore(object, names) {
  for (let index = 0; index < names.length; index++) {
    defineProperty(object, names[index], { __proto__: null, value: () => {}, enumerable: true });
  }
}

function refuse(object, prefix, absent) {
  for (let index = 0; index < absent.length; index++) {
    const [name, reason] = absent[index];
    const get = () => {
      throw new TypeErrorConstructor(prefix + "." + name + " is not available: " + reason);
    };
    defineProperty(object, name, { __proto__: null, get, enumerable: true });
  }
}

function isThenable(value) {
  return typeof value === "object" && value !== null && typeof value.then === "function";
}

// An assignment to an index could run a setter that a tool put on Array.prototype.
function append(array, value) {
  defineProperty(array, array.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}
