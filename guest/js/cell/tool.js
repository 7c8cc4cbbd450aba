// How a tool is found in what a script or module left behind, and how it is called.
//
// Invariant: the functions to call are taken once, right after the script ran; a tool that replaces its own
// `execute`, or any built-in, later on changes nothing here.
//
// The accepted shapes are detected, not declared: a function `execute`, an export of it, a default export that is
// such a function or an object with one, and a factory `(pi) => …` of custom tools (`factory.js`).

import { makeTools } from "./factory.js";

const { apply } = Reflect;
const { defineProperty, setPrototypeOf } = Object;
const functionText = Function.prototype.call.bind(Function.prototype.toString);
const test = Function.prototype.call.bind(RegExp.prototype.test);
const then = Function.prototype.call.bind(Promise.prototype.then);
const PromiseConstructor = Promise;
const TypeErrorConstructor = TypeError;

const NO_TOOL =
  "no tool found: declare `function execute(params)`, export `execute`, or make the default export a function, " +
  "an object with an `execute` method, or a factory of tools";

// A factory takes `pi`, or mentions the `execute` of the tools that it makes, or that it registers them.
const FACTORY = /^\s*(?:async\s+)?(?:function\b[^(]*)?\(?\s*pi\b|\bexecute\b|\bregisterTool\b/;

let shape = "none";
let tools = [];

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
      const made = makeTools(standard);
      return made instanceof PromiseConstructor ? then(made, adoptFactory) : adoptFactory(made);
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
  tools = made;
  return (shape = "factory");
}

function manifest({ name, label, description, parameters }) {
  return { __proto__: null, name, label, description, parameters };
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
