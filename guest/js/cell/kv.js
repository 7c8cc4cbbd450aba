// `kv`: the keys and values of a granted space.
//
// Invariant: a value is JSON, checked before it is sent, so what is read is what was written. Each write is one commit,
// which happens whole or not at all; `update` goes on until no other writer came between its reading and its writing.

import {
  afterThisTask,
  ArrayIsArray,
  ObjectFreeze,
  Promise,
  PromisePrototypeThen,
  TypeError,
} from "../src/intrinsics.js";
import { here } from "./errors.js";
import { malformed, NOTHING, own, quote, request, start } from "./operations.js";
import { jsonOf, optionsOf, textOf, wholeOf } from "./values.js";

/** The object of the grant `kv`. */
export function makeKv() {
  return ObjectFreeze({
    get(key) {
      return request("kv.get", readValue, keyPayload, undefined, key, "the key of kv.get");
    },
    entry(key) {
      return request("kv.get", readEntry, keyPayload, undefined, key, "the key of kv.entry");
    },
    set(key, value, options = undefined) {
      return request("kv.commit", readDone, setPayload, undefined, key, value, options);
    },
    delete(key) {
      return request("kv.commit", readDone, deletePayload, undefined, key);
    },
    list(options = undefined) {
      return request("kv.list", readList, listPayload, undefined, options);
    },
    commit(changes) {
      return request("kv.commit", readCommitted, changesPayload, undefined, changes);
    },
    update(key, change, options = undefined) {
      return update(key, change, options);
    },
  });
}

function keyPayload(key, what) {
  return '{"key":' + quote(textOf(key, what)) + "}";
}

function setPayload(key, value, options) {
  return commitPayload("", setWrite(textOf(key, "the key of kv.set"), value, ttlOf(options, "kv.set"), "the value of kv.set"));
}

function deletePayload(key) {
  return commitPayload("", deleteWrite(textOf(key, "the key of kv.delete")));
}

function listPayload(options) {
  const { prefix, after, limit } = optionsOf(options, "what is given to kv.list");
  let members = "";
  const add = (name, json) => {
    members += (members === "" ? '"' : ',"') + name + '":' + json;
  };
  if (prefix !== undefined) add("prefix", quote(textOf(prefix, "the prefix of kv.list")));
  if (after !== undefined) add("after", quote(textOf(after, "`after` of kv.list")));
  if (limit !== undefined) add("limit", wholeOf(limit, 1, "the limit of kv.list"));
  return "{" + members + "}";
}

function ttlOf(options, what) {
  if (options === undefined) return undefined;
  const { ttl } = optionsOf(options, "the options of " + what);
  return ttl === undefined ? undefined : wholeOf(ttl, 1, "the ttl of " + what + ", in milliseconds,");
}

function setWrite(key, value, ttl, what) {
  const lives = ttl === undefined ? "" : ',"ttl_ms":' + ttl;
  return '{"key":' + quote(key) + ',"value":' + jsonOf(value, what) + lives + "}";
}

function deleteWrite(key) {
  return '{"key":' + quote(key) + ',"delete":true}';
}

function check(key, version) {
  return '{"key":' + quote(key) + ',"version":' + (version === undefined ? "null" : version) + "}";
}

function commitPayload(checks, writes) {
  return '{"checks":[' + checks + '],"writes":[' + writes + "]}";
}

function changesPayload(changes) {
  if (typeof changes !== "object" || changes === null) {
    throw new TypeError("kv.commit needs an object with `check`, `set` or `delete`");
  }
  const { check: checks, set, delete: deleted } = changes;
  const checked = joined(checks, "check", (item, what) => {
    const { key, version } = itemOf(item, what);
    // `kv.entry` gives `undefined` for a key that is not there.
    const known = version === undefined || version === null ? undefined : wholeOf(version, 0, "the version in " + what);
    return check(textOf(key, "the key in " + what), known);
  });
  const sets = joined(set, "set", (item, what) => {
    const { key, value } = itemOf(item, what);
    return setWrite(textOf(key, "the key in " + what), value, ttlOf(item, what), "the value in " + what);
  });
  const deletes = joined(deleted, "delete", (item, what) => deleteWrite(textOf(item, what)));
  return commitPayload(checked, sets + (sets !== "" && deletes !== "" ? "," : "") + deletes);
}

function joined(items, name, write) {
  if (items === undefined) return "";
  if (!ArrayIsArray(items)) throw new TypeError("`" + name + "` of kv.commit must be an array");
  let text = "";
  for (let index = 0; index < items.length; index++) {
    text += (index > 0 ? "," : "") + write(items[index], "`" + name + "` of kv.commit at " + index);
  }
  return text;
}

function itemOf(item, what) {
  if (typeof item !== "object" || item === null) throw new TypeError(what + " must be an object");
  return item;
}

function update(key, change, options) {
  const place = here(update);
  return new Promise((resolve, reject) => {
    const name = textOf(key, "the key of kv.update");
    if (typeof change !== "function") throw new TypeError("kv.update needs a function of the value");
    const ttl = ttlOf(options, "kv.update");
    readAnew({ name, change, ttl, place, resolve, reject });
  });
}

// The steps of an update are functions of this module and what they need is handed on: closures that refer to each other
// would be garbage that only a collection of cycles frees.

function readAnew(the) {
  const { name, place, reject } = the;
  start("kv.get", keyPayload(name), undefined, place, (answer) => {
    const entry = readEntry(answer);
    if (entry === undefined) reject(malformed("kv.get", place));
    else afterThisTask(() => change(the, entry === NOTHING ? undefined : entry));
  }, reject);
}

function change(the, entry) {
  const next = new Promise((give) => give(the.change(entry === undefined ? undefined : entry.value)));
  PromisePrototypeThen(PromisePrototypeThen(next, (value) => write(the, entry, value)), undefined, the.reject);
}

function write(the, entry, value) {
  const { name, ttl, place, resolve, reject } = the;
  const writes = setWrite(name, value, ttl, "what the function of kv.update gave");
  const payload = commitPayload(check(name, entry === undefined ? undefined : entry.version), writes);
  start("kv.commit", payload, undefined, place, (answer) => {
    const committed = readCommitted(answer);
    if (committed === undefined) reject(malformed("kv.commit", place));
    else if (committed) resolve(value);
    else readAnew(the);
  }, reject);
}

function readEntry(answer) {
  if (answer === null) return NOTHING;
  const value = own(answer, "value");
  const version = own(answer, "version");
  if (value === undefined || typeof version !== "number" || version % 1 !== 0) return undefined;
  return { value, version };
}

function readValue(answer) {
  const entry = readEntry(answer);
  return entry === undefined || entry === NOTHING ? entry : entry.value;
}

function readList(answer) {
  const keys = own(answer, "keys");
  const more = own(answer, "more");
  if (!ArrayIsArray(keys) || typeof more !== "boolean") return undefined;
  for (let index = 0; index < keys.length; index++) {
    if (typeof keys[index] !== "string") return undefined;
  }
  return { keys, more };
}

function readCommitted(answer) {
  const committed = own(answer, "committed");
  return typeof committed === "boolean" ? committed : undefined;
}

/** A commit without checks cannot fail a check. */
function readDone(answer) {
  return readCommitted(answer) === true ? NOTHING : undefined;
}
