"use strict";
// Functions, hooks, the approver and secrets of the host: what tools and the toolbox call back.

const { AsyncLocalStorage } = require("node:async_hooks");
const { stringify, describe } = require("./json.cjs");

/** How many runs wait for what is going on here: a function that they call. */
const depth = new AsyncLocalStorage();

/** Returns the JSON Schema of a schema: of zod and others by Standard Schema, of TypeBox the schema itself. */
function toJsonSchema(schema, name) {
  const standard = schema?.["~standard"];
  if (standard === undefined) return schema;
  const convert = standard.jsonSchema?.input ?? (schema.toJSONSchema && (() => schema.toJSONSchema()));
  if (convert === undefined)
    throw new TypeError(`${name} cannot be given as JSON Schema: use a library with Standard JSON Schema, or a JSON Schema`);
  const { $schema, ...json } = convert.call(standard.jsonSchema, { target: "draft-2020-12" });
  return json;
}

/** Checks functions in an object: `{ name: execute }` or `{ name: { execute, parameters, result, readOnly, timeoutMs } }`. */
function toFunctions(functions, name) {
  const checked = new Map();
  if (functions === undefined) return checked;
  if (typeof functions !== "object" || functions === null) throw new TypeError(`${name} is not an object of functions by name`);
  for (const [key, given] of Object.entries(functions)) {
    const { execute, parameters, result, ...rest } = typeof given === "function" ? { execute: given } : (given ?? {});
    if (rest.timeoutMs !== undefined && !(rest.timeoutMs > 0))
      throw new TypeError(`${name}.${key}.timeoutMs is ${String(rest.timeoutMs)}, it must be a number above 0`);
    if (typeof execute !== "function") throw new TypeError(`${name}.${key} is neither a function nor an object with \`execute\``);
    const declaration = { name: key, ...rest };
    if (parameters !== undefined) declaration.parameters = toJsonSchema(parameters, `${name}.${key}.parameters`);
    if (result !== undefined) declaration.result = toJsonSchema(result, `${name}.${key}.result`);
    checked.set(key, { execute, declaration, validate: parameters?.["~standard"]?.validate });
  }
  return checked;
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

/** The host's side of a toolbox. */
class Host {
  constructor({ functions, hooks = [], approver, secrets }) {
    this.functions = toFunctions(functions, "functions");
    this.hooks = new Map();
    for (const hook of hooks) {
      if (typeof hook?.name !== "string") throw new TypeError("each of `hooks` needs a `name`");
      if (this.hooks.has(hook.name)) throw new TypeError(`two hooks are named \`${hook.name}\``);
      for (const phase of ["before", "after"])
        if (hook[phase] !== undefined && typeof hook[phase] !== "function")
          throw new TypeError(`\`${phase}\` of the hook \`${hook.name}\` is ${describe(hook[phase])}, it must be a function`);
      this.hooks.set(hook.name, hook);
    }
    if (approver !== undefined && typeof approver !== "function") throw new TypeError("`approver` is not a function");
    this.approver = approver;
    this.secrets = secrets;
  }

  options() {
    return {
      functions: [...this.functions.values()].map((entry) => entry.declaration),
      hooks: [...this.hooks.values()].map(({ name, tools, timeoutMs, before, after }) => ({
        name,
        tools: tools ?? [],
        timeoutMs,
        before: before !== undefined,
        after: after !== undefined,
      })),
      hasApprover: this.approver !== undefined,
      hasSecrets: this.secrets !== undefined,
    };
  }

  /** Serves a call back; `own` are the functions of its run. */
  async serve(kind, name, payload, own, signal, runs) {
    switch (kind) {
      case "function": {
        const entry = own?.get(name) ?? this.functions.get(name);
        const parameters = await validated(entry, payload, name);
        const value = await depth.run(runs + 1, () => entry.execute(parameters, { signal }));
        return stringify(value ?? null, `the result of \`${name}\``);
      }
      case "before":
      case "after": {
        const answer = await this.hooks.get(name)[kind](payload, { signal });
        return stringify(answer ?? null, `the answer of the hook \`${name}\``);
      }
      case "approve":
        return stringify(toAnswer(await this.approver(payload, { signal })), "the answer");
      case "secret": {
        const value = typeof this.secrets === "function" ? await this.secrets(name) : this.secrets[name];
        return stringify(value ?? null, `the secret \`${name}\``);
      }
      default:
        throw new Error(`there is no callback \`${kind}\``);
    }
  }
}

function toAnswer(answer) {
  if (answer === true) return { answer: "approve" };
  if (answer === false) return { answer: "refuse" };
  if (answer === undefined || answer === "later") return { answer: "defer" };
  if (typeof answer?.refuse === "string") return { answer: "refuse", feedback: answer.refuse };
  throw new TypeError("an approver returns true, false, \"later\" or { refuse: why }");
}

module.exports = { Host, toFunctions, depth };
