// `tools`: calls of other tools.
//
// Invariant: parameters are a JSON object, checked before they are sent; who may be called is for the host to say.

import { ArrayIsArray, ObjectFreeze, StringPrototypeSlice, TypeError } from "../src/intrinsics.js";
import { quote, request } from "./operations.js";
import { jsonOf, textOf } from "./values.js";

/** The object of the grant `tools`. */
export function makeTools() {
  return ObjectFreeze({
    call(name, params = {}) {
      return callTool(name, params);
    },
    keep(name, params = {}) {
      return request("tools.call", undefined, keepPayload, undefined, name, params);
    },
  });
}

/** A promise of the result of a tool or of a function of the host. */
export function callTool(name, params) {
  return request("tools.call", undefined, callPayload, undefined, name, params);
}

/** Like a call, but its result stays with the host: the promise is that of a text that stands for it. */
function keepPayload(name, params) {
  return StringPrototypeSlice(callPayload(name, params), 0, -1) + ',"keep":true}';
}

function callPayload(name, params) {
  if (typeof params !== "object" || params === null || ArrayIsArray(params)) {
    throw new TypeError("the parameters of tools.call must be an object");
  }
  const called = quote(textOf(name, "the name of tools.call"));
  return '{"name":' + called + ',"params":' + jsonOf(params, "what is given to tools.call") + "}";
}
