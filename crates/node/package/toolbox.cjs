"use strict";
// The toolbox and its runs.

const { readdir, readFile } = require("node:fs/promises");
const path = require("node:path");
const native = require("./native.cjs");
const { errorFromJson } = require("./errors.cjs");
const { Host, toFunctions, depth } = require("./host.cjs");
const { stringify, stringifyObject, describe } = require("./json.cjs");

const MAX_UPDATES = 64;
const CLOSED = { kind: "refused", code: "toolbox-closed", message: "the toolbox is closed", hint: "open another one", effects: "none" };
const CREATE_KEY = Symbol("create");

/** A run that took place. */
class Ran {
  constructor({ value, hasValue, run, details }) {
    this.value = hasValue ? value : undefined;
    Object.assign(this, run, details);
  }
}

/** A run that goes on: await it for its end, iterate over it for its partial results. */
class Run {
  #toolbox;
  #operation;
  #promise;
  #updates = [];
  #wake;
  #hasEnded = false;

  constructor(toolbox, start, { signal, onUpdate, functions }) {
    this.#toolbox = toolbox;
    const controller = new AbortController();
    const operation = { own: functions, signal: controller.signal, callbacks: new Set(), depth: depth.getStore() ?? 0 };
    operation.onUpdates = (updates) => {
      try {
        for (const update of updates) onUpdate?.(update);
      } catch (error) {
        // It is for the caller: the run ends, and rejects with it.
        operation.thrown ??= { error };
        this.cancel();
      }
      this.#updates = [...this.#updates, ...updates].slice(-MAX_UPDATES);
      this.#wake?.();
    };
    this.#promise = new Promise((resolve, reject) => {
      operation.resolve = (answer) => {
        if (operation.thrown) return reject(operation.thrown.error);
        if ("result" in answer) return resolve(toCallResult(answer));
        const ran = new Ran(answer);
        if (answer.failure === null) return resolve(ran);
        const cause = answer.failure.kind === "failed" ? operation.lastError : signal?.aborted ? signal.reason : undefined;
        reject(errorFromJson(answer.failure, ran, cause === undefined ? undefined : { cause }));
      };
      operation.reject = reject;
    });
    const abort = () => this.cancel();
    const settle = () => {
      this.#hasEnded = true;
      controller.abort();
      signal?.removeEventListener("abort", abort);
      this.#wake?.();
    };
    this.#promise.then(settle, settle);
    this.#operation = start(operation);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort);
  }

  /** Cancels the run, which then rejects with an `AbortError`. */
  cancel() {
    this.#toolbox._cancel(this.#operation);
  }

  then(onFulfilled, onRejected) {
    return this.#promise.then(onFulfilled, onRejected);
  }

  catch(onRejected) {
    return this.#promise.catch(onRejected);
  }

  finally(onFinally) {
    return this.#promise.finally(onFinally);
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        while (this.#updates.length > 0) yield this.#updates.shift();
        if (this.#hasEnded) break;
        await new Promise((resolve) => (this.#wake = resolve));
      }
      await this.#promise;
    } finally {
      if (!this.#hasEnded) this.cancel();
    }
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.cancel();
    await this.#promise.catch(() => {});
  }
}

/** Creates and runs tools, each call in a sealed cell. */
class Toolbox {
  #native;
  #host;
  #dir;
  #operations = new Map();
  #next = 1;
  #closed;
  // A timer that is held only while an operation is in flight: it keeps the process alive.
  #alive = setInterval(() => {}, 0x7fffffff).unref();

  constructor(key, host, dir) {
    if (key !== CREATE_KEY) throw new TypeError("a toolbox is opened with `await Toolbox.open(options)`");
    this.#host = host;
    this.#dir = dir;
    this.#native = new native.Native((...event) => this.#onEvent(...event));
  }

  static async open(options = {}) {
    if (typeof options !== "object" || options === null) throw new TypeError(`options is ${describe(options)}, it must be an object`);
    const { dir, policy, cwd, lang = "en", isolation = "worker", slots, functions, hooks, approver, secrets, ...rest } = options;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw new TypeError(`Toolbox.open has no option \`${unknown}\``);
    if (isolation !== "worker" && isolation !== "process")
      throw new TypeError(`isolation is ${JSON.stringify(isolation)}, it must be "worker" or "process"`);
    if (dir !== undefined) await checkIsForStore(dir);
    const host = new Host({ functions, hooks, approver, secrets });
    const wire = { dir, cwd, lang, slots, caller: "node", ...host.options() };
    if (isolation === "worker") wire.worker = native.worker;
    if (typeof policy === "string" && policy !== "" && !/[\n=[]/.test(policy))
      throw new TypeError(`policy is ${JSON.stringify(policy)}, which is not TOML: for a file, pass { path }`);
    if (typeof policy === "string") wire.policy = { text: policy };
    else if (policy !== undefined) {
      wire.policy = { path: policy.path, text: await readFile(policy.path, "utf8") };
    }
    const toolbox = new Toolbox(CREATE_KEY, host, dir);
    await toolbox.#perform((number) => toolbox.#native.open(number, stringify(wire, "the options")));
    return toolbox;
  }

  run(tool, params, options) {
    return this.#run(false, tool, params, options);
  }

  runCode(code, params, options) {
    return this.#run(true, code, params, options);
  }

  async definitions({ operations, published = 32 } = {}) {
    return (await this.#call("definitions", { operations, published })).tools;
  }

  async questions(name, args = {}, { caller } = {}) {
    return (await this.#call("questions", { name, arguments: args, caller: checkCaller(caller) })).questions;
  }

  async call(name, args, options = {}) {
    if (typeof options !== "object" || options === null) throw new TypeError(`options is ${describe(options)}, it must be an object`);
    const { signal, onUpdate, functions, limits, caller, approved, ...rest } = options;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw new TypeError(`a call has no option \`${unknown}\``);
    if (typeof name !== "string") throw new TypeError(`name is ${describe(name)}, it must be a string`);
    if (approved !== undefined && !Array.isArray(approved)) throw new TypeError(`approved is ${describe(approved)}, it must be an array of questions`);
    const text = stringifyObject(args, "args");
    const { wire, ...control } = runOptions({ signal, onUpdate, functions, limits, caller, approved });
    const start = (operation) => this.#begin(operation, (number) => this.#native.callTool(number, name, text, wire));
    const result = await new Run(this, start, control);
    if (result.error?.code === "cancelled") throw result.error;
    return result;
  }

  #run(isCode, subject, params, options = {}) {
    if (typeof options !== "object" || options === null) throw new TypeError(`options is ${describe(options)}, it must be an object`);
    const { signal, onUpdate, functions, limits, seed, caller, receipt, grants, ...rest } = options;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw new TypeError(`a run has no option \`${unknown}\``);
    if (typeof subject !== "string") throw new TypeError(`${isCode ? "code" : "tool"} is ${describe(subject)}, it must be a string`);
    if (!isCode) this.#checkHasStore("run");
    const text = stringifyObject(params, "params");
    const { wire, ...control } = runOptions({ signal, onUpdate, functions, limits, seed, caller, receipt, grants });
    const start = (operation) =>
      this.#begin(operation, (number) => this.#native.run(number, isCode, subject, text, wire));
    return new Run(this, start, control);
  }

  async create(tool) {
    if (typeof tool !== "object" || tool === null) throw new TypeError(`the tool is ${describe(tool)}, it must be an object`);
    const { generatedFrom, ...request } = tool;
    return this.#call("create", { ...request, generated_from: generatedFrom });
  }

  async adopt(source, { name = "tools.ts", replace = false } = {}) {
    const { tools } = await this.#call("adopt", { name, source, replace });
    return tools.map((tool) => (tool.error ? { ...tool, error: errorFromJson(tool.error) } : tool));
  }

  async list(filter = {}) {
    const { minSafetyScore, unusedDays, ...request } = filter;
    return this.#call("list", { ...request, min_safety_score: minSafetyScore, unused_days: unusedDays });
  }

  async show(tool, { version } = {}) {
    return this.#call("show", { tool, version });
  }

  async delete(tool) {
    return this.#call("delete", { tool });
  }

  async search(query, { limit = 10 } = {}) {
    return (await this.#call("search", { query, limit })).tools;
  }

  async reflect({ task, lastToolResult = "", failedAttempts, history }) {
    return this.#call("reflect", {
      task_description: task,
      last_tool_result: lastToolResult,
      failed_attempts: failedAttempts,
      history,
    });
  }

  async verify(tool, { cases, seed } = {}) {
    return this.#call("verify", { tool, cases, seed });
  }

  async decide(call, { ask = true } = {}) {
    return this.#call("decide", { call, ask });
  }

  async explain(tool, parameters = {}) {
    const answer = await this.#call("explain", { tool, parameters });
    return { ...answer, error: answer.error === null ? undefined : errorFromJson(answer.error) };
  }

  async question(tool) {
    return this.#call("approval", { tool });
  }

  async approve(tool, { by = "node" } = {}) {
    if (typeof tool !== "string" && typeof tool?.digest !== "string")
      throw new TypeError("a tool is approved by its name, its identifier, or a question about a stored tool");
    const request = typeof tool === "string" ? { tool, by } : { tool: tool.toolId, by, digest: tool.digest };
    await this.#call("approve", request);
  }

  async refuse(tool, { by = "node" } = {}) {
    await this.#call("refuse", { tool, by });
  }

  async pending() {
    return (await this.#call("pending", {})).tools;
  }

  async analyze(source) {
    return this.#call("analyze", { source });
  }

  close() {
    if (this.#closed === undefined) {
      const closed = this.#perform((number) => this.#native.close(number));
      this.#closed = closed.finally(() => clearInterval(this.#alive));
    }
    return this.#closed;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  _cancel(number) {
    this.#native.cancel(number);
  }

  #checkHasStore(operation) {
    if (this.#dir !== undefined || ["decide", "analyze", "reflect", "definitions", "questions"].includes(operation)) return;
    const message = `this toolbox has no store, which \`${operation}\` needs`;
    const hint = "open it with a folder: Toolbox.open({ dir: \"tools\" })";
    throw errorFromJson({ kind: "refused", code: "store-read-only", message, hint, effects: "none" });
  }

  #call(name, request) {
    this.#checkHasStore(name);
    const text = stringify(request, `the ${name} request`);
    return this.#perform((number) => this.#native.call(number, name, text));
  }

  #perform(start) {
    return new Promise((resolve, reject) => {
      this.#begin({ resolve, reject }, start);
    });
  }

  #begin(operation, start) {
    const number = this.#next++;
    if (this.#closed !== undefined) {
      operation.reject(errorFromJson(CLOSED));
      return number;
    }
    if (this.#operations.size === 0) this.#alive.ref();
    this.#operations.set(number, operation);
    start(number);
    return number;
  }

  #onEvent(event, number, name, text, callback, timeoutMs) {
    const operation = this.#operations.get(number);
    switch (event) {
      case "done":
      case "failed": {
        this.#operations.delete(number);
        if (this.#operations.size === 0) this.#alive.unref();
        const answer = JSON.parse(text);
        if (operation.onUpdates) this.#native.forget(number);
        // What still waits for an answer is of a run that has ended.
        for (const waiting of operation.callbacks ?? []) this.#native.answer(waiting, false, "the run has ended");
        if (event === "done") operation.resolve(answer);
        else operation.reject(errorFromJson(answer));
        return;
      }
      case "update":
        operation?.onUpdates(this.#native.takeUpdates(number).map((update) => JSON.parse(update)));
        return;
      default:
        this.#serve(event, operation, name, text, callback, timeoutMs);
    }
  }

  async #serve(kind, operation, name, text, callback, timeoutMs) {
    const controller = new AbortController();
    const abort = () => controller.abort(operation.signal.reason);
    operation?.signal?.addEventListener("abort", abort);
    const timer = timeoutMs > 0 ? setTimeout(() => controller.abort(new Error("it took too long")), timeoutMs).unref() : undefined;
    operation?.callbacks?.add(callback);
    try {
      const answer = await this.#host.serve(kind, name, JSON.parse(text), operation?.own, controller.signal, operation?.depth ?? 0);
      this.#native.answer(callback, true, answer);
    } catch (error) {
      if (operation) operation.lastError = error;
      this.#native.answer(callback, false, messageOf(error));
    } finally {
      clearTimeout(timer);
      operation?.callbacks?.delete(callback);
      operation?.signal?.removeEventListener("abort", abort);
    }
  }
}

function checkCaller(caller) {
  for (const key of Object.keys(caller ?? {}))
    if (!["client", "session", "agent", "call"].includes(key)) throw new TypeError(`caller has no \`${key}\`: it has client, session, agent, call`);
  return caller;
}

/** Checks the options of a run. `wire` is what the native module is told of them. */
function runOptions({ signal, onUpdate, functions, ...told }) {
  if (signal !== undefined && !(signal instanceof AbortSignal) && typeof signal?.addEventListener !== "function")
    throw new TypeError(`signal is ${describe(signal)}, it must be an AbortSignal`);
  checkCaller(told.caller);
  const own = functions === undefined ? undefined : toFunctions(functions, "functions");
  const runs = depth.getStore();
  const isPlain = own === undefined && runs === undefined && Object.values(told).every((value) => value === undefined);
  const declared = own && [...own.values()].map((entry) => entry.declaration);
  const wire = isPlain ? "" : stringify({ ...told, functions: declared, depth: runs }, "the options");
  return { wire, signal, onUpdate, functions: own };
}

/** The result of a call by a model. */
function toCallResult({ result: { error, structured, ...result }, run }) {
  const ran = run === null ? undefined : new Ran(run);
  return {
    ...result,
    ...(structured === null ? {} : { structured }),
    ...(error === null ? {} : { error: errorFromJson(error, ran) }),
    ...(ran === undefined ? {} : { run: ran }),
  };
}

/** The message of anything that was thrown. */
function messageOf(error) {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that has no text";
  }
}

// What is in the folder of each store, also of one whose creation was interrupted.
const STORE_FILES = ["toolcell-store", "lock", "index.sqlite", "objects"];

/** Refuses to make a store between other files: in a folder that is neither new, empty, hidden nor a store. */
async function checkIsForStore(dir) {
  if (typeof dir !== "string") throw new TypeError(`dir is ${describe(dir)}, it must be a string`);
  const files = await readdir(dir).catch(() => []);
  const isForStore = files.length === 0 || path.basename(path.resolve(dir)).startsWith(".") || STORE_FILES.some((name) => files.includes(name));
  if (!isForStore) throw new TypeError(`${dir} is not a store, and has other files in it: name a new or an empty folder`);
}

module.exports = { Toolbox };
