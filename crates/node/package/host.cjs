"use strict";
// Functions, hooks, approvers and secrets of the host: what tools and the toolbox call back.

const { AsyncLocalStorage } = require("node:async_hooks");
const { stringify, describe, checkKeys, messageOf } = require("./json.cjs");
const { ticketOf } = require("./suspend.cjs");

/** The run that waits for what is going on here: a function that it calls. `caller` is the one that waits for that run. */
const waiting = new AsyncLocalStorage();

/** Returns the innermost run that still waits: what a callback has started may go on after it. */
function waitingRun(run = waiting.getStore()) {
  while (run?.hasEnded) run = run.caller;
  if (run?.caller) run.caller = waitingRun(run.caller);
  return run;
}

/** Returns how many runs wait for what is going on here; `undefined` if none does. */
function depth() {
  let count = 0;
  for (let run = waitingRun(); run !== undefined; run = run.caller) count++;
  return count || undefined;
}

/** Returns the JSON Schema of a schema: of zod and others by Standard Schema, of TypeBox the schema itself. */
function toJsonSchema(schema, name) {
  const standard = schema?.["~standard"];
  if (standard === undefined) return schema;
  const convert = standard.jsonSchema?.input ?? (schema.toJSONSchema && (() => schema.toJSONSchema()));
  if (convert === undefined)
    throw new TypeError(`${name} cannot be given as JSON Schema: use a library with Standard JSON Schema, or a JSON Schema`);
  let converted;
  try {
    converted = convert.call(standard.jsonSchema, { target: "draft-2020-12" });
  } catch (cause) {
    throw new TypeError(`${name} cannot be given as JSON Schema: ${messageOf(cause)}`, { cause });
  }
  const { $schema, ...json } = converted;
  // A union has no type of its own, by which a schema is told from parameters by name.
  return json.type === undefined && (json.oneOf ?? json.anyOf ?? json.allOf) ? { type: "object", ...json } : json;
}

const FUNCTION_KEYS = ["execute", "parameters", "result", "readOnly", "timeoutMs"];

/** Checks functions in an object: `{ name: execute }` or `{ name: { execute, parameters, result, readOnly, timeoutMs } }`. */
function toFunctions(functions, name) {
  const checked = new Map();
  if (functions === undefined) return checked;
  if (typeof functions !== "object" || functions === null || Symbol.iterator in functions)
    throw new TypeError(`${name} is not an object of functions by name`);
  for (const [key, given] of Object.entries(functions)) {
    const place = `${name}.${key}`;
    const { execute, parameters, result, readOnly, timeoutMs } = typeof given === "function" ? { execute: given } : (given ?? {});
    if (typeof execute !== "function") throw new TypeError(`${place} is neither a function nor an object with \`execute\``);
    // An object of a class, or of another framework, may have more.
    if (isPlain(given) && !("name" in given || "description" in given)) checkKeys(given, FUNCTION_KEYS, place);
    checkTimeout(timeoutMs, `${place}.timeoutMs`);
    if (readOnly !== undefined && typeof readOnly !== "boolean") throw new TypeError(`${place}.readOnly is ${describe(readOnly)}, it must be a boolean`);
    const declaration = { name: key, readOnly, timeoutMs: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs) };
    if (parameters !== undefined) declaration.parameters = toJsonSchema(parameters, `${place}.parameters`);
    if (result !== undefined) declaration.result = toJsonSchema(result, `${place}.result`);
    checked.set(key, { execute: typeof given === "function" ? execute : execute.bind(given), declaration, validate: parameters?.["~standard"]?.validate });
  }
  return checked;
}

function isPlain(value) {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function checkTimeout(timeoutMs, name) {
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    throw new TypeError(`${name} is ${String(timeoutMs)}, it must be a number above 0`);
}

async function validated(entry, params, name) {
  if (entry.validate === undefined) return params;
  const done = await entry.validate(params);
  if (!done.issues) return done.value;
  const issues = done.issues.map((issue) => {
    const at = (issue.path ?? []).map((key) => (typeof key === "object" ? key.key : key)).join(".");
    return at ? `${at}: ${issue.message}` : issue.message;
  });
  throw new TypeError(`invalid parameters for \`${name}\`: ${issues.join("; ")}`);
}

/** A call of the host. Most functions never ask for the signal of theirs, which costs more than a call. */
class HostCall {
  #controller;
  #reason;
  isAborted = false;
  /** What the function gets beside its parameters. */
  context;

  constructor() {
    const signal = () => this.#signal();
    this.context = {
      get signal() {
        return signal();
      },
    };
  }

  #signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason) {
    if (this.isAborted) return;
    this.isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

const HOOK_KEYS = ["name", "tools", "timeoutMs", "before", "after"];

/** The host's side of a toolbox. */
class Host {
  constructor({ functions, hooks = [], approver, secrets }) {
    this.functions = toFunctions(functions, "functions");
    this.hooks = new Map();
    if (!Array.isArray(hooks)) throw new TypeError(`hooks is ${describe(hooks)}, it must be an array`);
    for (const hook of hooks) {
      if (typeof hook?.name !== "string" || hook.name === "") throw new TypeError("each of `hooks` needs a `name`");
      const place = `the hook \`${hook.name}\``;
      if (this.hooks.has(hook.name)) throw new TypeError(`two hooks are named \`${hook.name}\``);
      if (isPlain(hook)) checkKeys(hook, HOOK_KEYS, place);
      for (const phase of ["before", "after"])
        if (hook[phase] !== undefined && typeof hook[phase] !== "function")
          throw new TypeError(`\`${phase}\` of ${place} is ${describe(hook[phase])}, it must be a function`);
      if (hook.tools !== undefined && !(Array.isArray(hook.tools) && hook.tools.every((tool) => typeof tool === "string")))
        throw new TypeError(`\`tools\` of ${place} is ${describe(hook.tools)}, it must be an array of strings`);
      checkTimeout(hook.timeoutMs, `\`timeoutMs\` of ${place}`);
      this.hooks.set(hook.name, hook);
    }
    if (approver !== undefined && typeof approver !== "function") throw new TypeError(`approver is ${describe(approver)}, it must be a function`);
    if (secrets !== undefined && typeof secrets !== "function") {
      if (typeof secrets !== "object" || secrets === null) throw new TypeError(`secrets is ${describe(secrets)}, it must be a function, or an object of strings`);
    }
    this.approver = approver;
    this.secrets = secrets;
  }

  options() {
    return {
      functions: [...this.functions.values()].map((entry) => entry.declaration),
      hooks: [...this.hooks.values()].map(({ name, tools, timeoutMs, before, after }) => ({
        name,
        tools: tools ?? [],
        timeoutMs: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs),
        before: before !== undefined,
        after: after !== undefined,
      })),
      hasApprover: this.approver !== undefined,
      hasSecrets: this.secrets !== undefined,
    };
  }

  /** Serves a call back of a run, which has its own functions, or of the toolbox itself. */
  serve(kind, name, payload, run, context) {
    return waiting.run(run?.waiting ?? {}, () => this.#answer(kind, name, payload, run, context));
  }

  async #answer(kind, name, payload, run, context) {
    switch (kind) {
      case "function": {
        const entry = run?.own?.get(name) ?? this.functions.get(name);
        const result = await entry.execute(await validated(entry, payload, name), context);
        const ticket = ticketOf(result);
        if (ticket !== undefined) return stringify({ ticket }, `the ticket of \`${name}\``);
        return `{"value":${stringify(result ?? null, `the result of \`${name}\``)}}`;
      }
      case "effects": {
        const { effectApprover } = run;
        const count = payload.length;
        return JSON.stringify(toDecisions(await effectApprover(payload, context), count));
      }
      case "before":
      case "after": {
        const answer = await this.hooks.get(name)[kind](payload, context);
        return stringify(toVerdict(answer ?? null, name), `the answer of the hook \`${name}\``);
      }
      case "approve":
        return stringify(toAnswer(await this.approver(payload, context)), "the answer");
      case "secret": {
        const value = typeof this.secrets === "function" ? await this.secrets(name) : Object.hasOwn(this.secrets, name) ? this.secrets[name] : null;
        if (value !== null && value !== undefined && typeof value !== "string") throw new TypeError(`the secret \`${name}\` is ${describe(value)}, it must be a string`);
        return stringify(value ?? null, `the secret \`${name}\``);
      }
      default:
        throw new Error(`there is no callback \`${kind}\``);
    }
  }
}

/** Checks the answer of a hook: what is no verdict must not be taken for one that objects to nothing. */
function toVerdict(answer, name) {
  if (answer === null) return null;
  if (!isPlain(answer)) throw new TypeError(`the hook \`${name}\` answered ${describe(answer)} that is no plain object`);
  if (Object.hasOwn(answer, "permissionDecision") && answer.permissionDecision === undefined)
    throw new TypeError(`the hook \`${name}\` answered with a permissionDecision that is undefined`);
  return answer;
}

function toAnswer(answer) {
  if (answer === true) return { answer: "approve" };
  if (answer === false) return { answer: "refuse" };
  if (answer === undefined || answer === "later") return { answer: "defer" };
  if (typeof answer?.refuse === "string") return { answer: "refuse", feedback: answer.refuse };
  throw new TypeError("an approver returns true, false, \"later\" or { refuse: why }");
}

const DECISIONS = new Map([[true, "perform"], [false, "refuse"], ["later", "defer"]]);

/** Checks the answer of an effect approver: one decision about all effects, or one about each. */
function toDecisions(answer, count) {
  const must = "it must answer true, false or \"later\", or an array with one of them for each effect";
  const given = (value) => (typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : describe(value));
  if (!Array.isArray(answer)) {
    if (!DECISIONS.has(answer)) throw new TypeError(`the effect approver answered ${given(answer)}, ${must}`);
    return Array(count).fill(DECISIONS.get(answer));
  }
  const decisions = Array.from(answer);
  if (decisions.length !== count) throw new TypeError(`the effect approver answered with an array of ${decisions.length} about ${count} effects, ${must}`);
  const wrong = decisions.findIndex((decision) => !DECISIONS.has(decision));
  if (wrong >= 0) throw new TypeError(`the effect approver answered ${given(decisions[wrong])} about effect ${wrong + 1} of ${count}, ${must}`);
  return decisions.map((decision) => DECISIONS.get(decision));
}

module.exports = { Host, HostCall, toFunctions, toJsonSchema, depth, waitingRun };
