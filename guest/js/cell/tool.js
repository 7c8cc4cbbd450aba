// How a tool is found in what a script or module left behind, and how it is called.
//
// Invariant: the functions to call are taken once, right after the script ran; a tool that replaces its own
// `execute`, or any built-in, later on changes nothing here.
//
// The accepted shapes are detected, not declared: a function `execute`, an export of it, a default export that is
// such a function or an object with one, and a factory `(pi) => tool | tool[]` of custom tools.

import { neverAborted } from "./operations.js";

const { isArray } = Array;
const { apply } = Reflect;
const { stringify } = JSON;
const { defineProperty, freeze, setPrototypeOf } = Object;
const functionText = Function.prototype.call.bind(Function.prototype.toString);
const test = Function.prototype.call.bind(RegExp.prototype.test);
const PromiseConstructor = Promise;
const TypeErrorConstructor = TypeError;

const NO_TOOL =
  "no tool found: declare `function execute(params)`, export `execute`, or make the default export a function, " +
  "an object with an `execute` method, or a factory of tools";

// A factory takes `pi`, or mentions the `execute` of the tools that it makes.
const FACTORY = /^\s*(?:async\s+)?(?:function\b[^(]*)?\(?\s*pi\b|\bexecute\b/;

// What other hosts of such factories offer, and why there is none of it here.
const SCHEMAS = "write `parameters` with pi.typebox, or as a plain JSON Schema object";
const ABSENT = [
  ["exec", "a cell has no processes"],
  ["ui", "a cell has nobody to ask"],
  ["zod", SCHEMAS],
  ["arktype", SCHEMAS],
  ["pi", "a cell has no host to reach into"],
  ["pushPendingAction", "return what is to be done, and let the caller do it"],
  ["registerTool", "return the tool from the factory"],
];

let shape = "none";
let tools = [];
let partial = () => {};
let factoryApi = {};

/** Gives this module what it needs of the host and of the other modules. */
export function connect(native, logger) {
  partial = native.partial;
  const { typebox } = native;
  const api = {
    cwd: "/",
    hasUI: false,
    logger,
    get typebox() {
      return typebox();
    },
  };
  for (let index = 0; index < ABSENT.length; index++) {
    const [name, reason] = ABSENT[index];
    const get = () => {
      throw new TypeErrorConstructor("pi." + name + " is not available: " + reason);
    };
    defineProperty(api, name, { get, enumerable: true });
  }
  factoryApi = freeze(api);
}

/**
 * Finds the tool that a script left, and gives its shape. A `const execute` is no property of the global object, so the
 * name itself is read, by a function that was compiled with the prelude.
 */
export function adoptScript() {
  return adopt(typeof execute === "undefined" ? undefined : execute, undefined);
}

/** Finds the tools that a module exports, and gives their shape, or a promise of it where a factory makes them. */
export function adoptModule(namespace) {
  return adopt(namespace.execute, namespace.default);
}

function adopt(exported, standard) {
  if (typeof exported === "function") {
    tools = [{ call: (_, params) => exported(params) }];
    return (shape = "function");
  }
  if (typeof standard === "function") {
    if (standard.name !== "execute" && test(FACTORY, functionText(standard))) {
      const made = standard(factoryApi);
      if (typeof made === "object" && made !== null && typeof made.then === "function") {
        return new PromiseConstructor((resolve) => resolve(made)).then(adoptFactory);
      }
      return adoptFactory(made);
    }
    tools = [{ call: (_, params) => standard(params) }];
    return (shape = "function");
  }
  if (typeof standard === "object" && standard !== null && typeof standard.execute === "function") {
    const method = standard.execute;
    tools = [{ ...manifest(standard), call: (_, params) => apply(method, standard, [params]) }];
    return (shape = "object");
  }
  throw new TypeErrorConstructor(NO_TOOL);
}

function adoptFactory(made) {
  const list = isArray(made) ? made : [made];
  const adopted = [];
  for (let index = 0; index < list.length; index++) {
    const tool = list[index];
    const method = tool?.execute;
    if (typeof method !== "function" || typeof tool.name !== "string" || tool.name === "") {
      throw new TypeErrorConstructor(
        "the factory's tool " + (index + 1) + " of " + list.length + " needs a `name` and an `execute` method",
      );
    }
    append(adopted, {
      ...manifest(tool),
      call: (callId, params) =>
        apply(method, tool, [callId, params, update, freeze({ cwd: "/", hasUI: false }), neverAborted]),
    });
  }
  tools = adopted;
  return (shape = "factory");
}

function manifest({ name, label, description, parameters }) {
  return { __proto__: null, name, label, description, parameters };
}

/** A factory's `onUpdate`: one partial result. */
function update(value) {
  const json = stringify(value);
  if (json !== undefined) partial(json);
}

/** Calls the tool named `name`, or the only one, and gives what it returned. */
export function invoke(name, callId, params) {
  if (name === undefined && tools.length === 1) return tools[0].call(callId, params);
  let known = "";
  for (let index = 0; index < tools.length; index++) {
    const tool = tools[index];
    if (name !== undefined && tool.name === name) return tool.call(callId, params);
    known += (index > 0 ? ", " : "") + (tool.name ?? "(unnamed)");
  }
  throw new TypeErrorConstructor(
    name === undefined
      ? "this script has " + tools.length + " tools, name one of: " + known
      : "no tool " + name + ", there is: " + known,
  );
}

/**
 * The manifest of all tools. The Rust side writes it as JSON, which asks each object for `toJSON`: what is ours inherits
 * nothing, so that no tool is handed it.
 */
export function describe() {
  const described = setPrototypeOf([], null);
  for (let index = 0; index < tools.length; index++) append(described, manifest(tools[index]));
  return { __proto__: null, shape, tools: described };
}

// An assignment to an index could run a setter that a tool put on Array.prototype.
function append(array, value) {
  defineProperty(array, array.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}
