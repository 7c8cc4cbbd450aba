// `servers`: calls of tools that MCP servers offer.
//
// Invariant: nothing of a definition is in here. Which tools there are, and whether they may be called, is for the host
// to say with each call; the names of servers are those that were granted.

import {
  ArrayIsArray,
  Error,
  ObjectCreate,
  ObjectDefineProperty,
  ObjectFreeze,
  ObjectPrototypeHasOwnProperty,
  Proxy,
  StringPrototypeIndexOf,
  StringPrototypeSlice,
  TypeError,
} from "../src/intrinsics.js";
import { quote, request } from "./operations.js";
import { jsonOf, optionsOf, textOf } from "./values.js";

/** The object of the grant `servers`, for the servers of these names. */
export function makeServers(names) {
  const all = ObjectCreate(null);
  for (let index = 0; index < names.length; index++) member(all, names[index], makeServer(names[index]));
  member(all, "$search", search);
  member(all, "$describe", describe);
  member(all, "$keep", keep);
  ObjectFreeze(all);
  return new Proxy(all, {
    __proto__: null,
    get(target, name) {
      if (ObjectPrototypeHasOwnProperty(target, name)) return target[name];
      if (isAskedOfAnything(name)) return undefined;
      let known = "";
      for (let index = 0; index < names.length; index++) known += (index > 0 ? ", " : "") + names[index];
      throw new Error("the server `" + name + "` is not granted to this call, which may call: " + known);
    },
  });
}

/** An object that has a function for each name: the host knows which of them are tools. */
function makeServer(server) {
  const made = ObjectCreate(null);
  return new Proxy(ObjectFreeze(ObjectCreate(null)), {
    __proto__: null,
    get(_, name) {
      if (isAskedOfAnything(name)) return undefined;
      // The same function each time, as that of an object.
      if (made[name] === undefined) made[name] = makeTool(server, name);
      return made[name];
    },
  });
}

function makeTool(server, tool) {
  return ObjectFreeze((input = {}) => request("servers.call", undefined, callPayload, undefined, server, tool, input));
}

/**
 * Whether the language, or the code that prints a value, asks any object for this. A tool of such a name is called by
 * the name that `$describe` shows.
 */
function isAskedOfAnything(name) {
  switch (name) {
    case "then":
    case "toJSON":
    case "toString":
    case "valueOf":
    case "constructor":
      return true;
    default:
      return typeof name === "symbol";
  }
}

/**
 * A promise of a text that stands for the result of a tool, which is named `server.tool`: the host puts the result where
 * the text is passed on to, and the tool cannot read it.
 */
function keep(name, input = {}) {
  return request("servers.call", undefined, keepPayload, undefined, name, input);
}

function keepPayload(name, input) {
  const dot = StringPrototypeIndexOf(textOf(name, "the name of servers.$keep"), ".");
  if (dot < 1) throw new TypeError("the name of servers.$keep must be that of a server and of its tool: server.tool");
  const called = callPayload(StringPrototypeSlice(name, 0, dot), StringPrototypeSlice(name, dot + 1), input);
  return StringPrototypeSlice(called, 0, -1) + ',"keep":true}';
}

function callPayload(server, tool, input) {
  const name = "servers." + server + "." + tool;
  if (typeof input !== "object" || input === null || ArrayIsArray(input)) {
    throw new TypeError("the input of " + name + " must be an object");
  }
  const called = '{"server":' + quote(server) + ',"tool":' + quote(textOf(tool, "the name of a tool"));
  return called + ',"input":' + jsonOf(input, "what is given to " + name) + "}";
}

/** A promise of the tools that a question finds: `{ name, summary }`, the best first. */
function search(query, options) {
  return request("servers.search", undefined, searchPayload, undefined, query, options);
}

function searchPayload(query, options) {
  const text = '{"query":' + quote(textOf(query, "the query of servers.$search"));
  const { limit } = optionsOf(options, "the second argument of servers.$search");
  if (limit === undefined) return text + "}";
  if (typeof limit !== "number" || limit !== limit >>> 0 || limit === 0) {
    throw new TypeError("limit of servers.$search must be a whole number from 1");
  }
  return text + ',"limit":' + limit + "}";
}

/** A promise of the TypeScript declaration of a tool, which is named `server.tool`. */
function describe(name) {
  return request("servers.describe", undefined, describePayload, undefined, name);
}

function describePayload(name) {
  return '{"tool":' + quote(textOf(name, "the name of servers.$describe")) + "}";
}

function member(object, name, value) {
  ObjectDefineProperty(object, name, { __proto__: null, value, enumerable: true });
}
