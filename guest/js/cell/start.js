// Starts what runs tools, after the web APIs are in place, and hands its hooks to the Rust side.
//
// Invariant: this is the last thing that the prelude does; from here on, tool code may change every built-in.

import { reportUncaught } from "../src/console.js";
import { classify } from "./classify.js";
import { inspect, prepareStackTrace } from "./errors.js";
import * as factory from "./factory.js";
import * as grants from "./grants.js";
import { lockdown } from "./lockdown.js";
import * as operations from "./operations.js";
import * as tool from "./tool.js";

const { stringify } = JSON;
const PromiseConstructor = Promise;

/** `native` carries the functions of the Rust side and takes the hooks back. */
export function start(native, globalObject, console, AbortController) {
  factory.connect(native, console);
  operations.connect(AbortController);
  grants.connect(globalObject, reportUncaught);
  Object.defineProperty(Math, "random", { value: { random: () => native.random() }.random, writable: true, configurable: true });
  Error.prepareStackTrace = prepareStackTrace;
  lockdown(globalObject);
  native.hooks = {
    grant: grants.grant,
    settle: operations.settle,
    failure: operations.failure,
    malformed: operations.malformed,
    misread: operations.misread,
    nothing: operations.NOTHING,
    adoptScript: tool.adoptScript,
    adoptModule: tool.adoptModule,
    invoke: tool.invoke,
    describe: tool.describe,
    assimilate: (thenable) => new PromiseConstructor((resolve) => resolve(thenable)),
    classify,
    inspect,
    quote: (string) => stringify(string),
    objectPrototype: Object.prototype,
  };
}
