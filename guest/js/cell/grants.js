// Makes exist what a tool is granted.
//
// Invariant: a capability that was not granted does not exist: its name is no global, and nothing of it was made. The
// names are installed as browsers install theirs, so a tool may have variables of the same name.

import { ObjectDefineProperty } from "../src/intrinsics.js";
import { makeFetch } from "../src/fetch.js";
import { grantCalls } from "./factory.js";
import { makeFiles } from "./files.js";
import { makeKv } from "./kv.js";
import { makeSecret } from "./secrets.js";
import { makeServers } from "./servers.js";
import { grantAlarms, makeTimers } from "./timers.js";
import { makeTools } from "./tools.js";

let globalObject;
let report = () => {};

/** Gives this module what it needs of the other modules. */
export function connect(target, reportUncaught) {
  globalObject = target;
  report = reportUncaught;
}

/** Makes the granted capabilities exist; `secrets` and `servers` are the names of the granted ones. */
export function grant(names, secrets, servers) {
  for (let index = 0; index < names.length; index++) {
    switch (names[index]) {
      case "timers":
        grantAlarms();
        install(makeTimers(report));
        break;
      case "net":
        grantAlarms();
        install(makeFetch());
        break;
      case "kv":
        define("kv", makeKv());
        break;
      case "files":
        define("files", makeFiles());
        break;
      case "secrets":
        define("secret", makeSecret(secrets));
        break;
      case "tools":
        grantCalls();
        define("tools", makeTools());
        break;
      case "servers":
        define("servers", makeServers(servers));
        break;
    }
  }
}

function install(functions) {
  for (const name in functions) define(name, functions[name]);
}

function define(name, value) {
  ObjectDefineProperty(globalObject, name, { __proto__: null, value, writable: true, configurable: true });
}
