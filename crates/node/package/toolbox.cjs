"use strict";
// The toolbox and its runs.

const { AsyncResource } = require("node:async_hooks");
const { setMaxListeners } = require("node:events");
const { readdir, readFile } = require("node:fs/promises");
const path = require("node:path");
const native = require("./native.cjs");
const { errorFromJson } = require("./errors.cjs");
const { Host, HostCall, toFunctions, toJsonSchema, depth, waitingRun } = require("./host.cjs");
const { stringify, stringifyObject, parseForHost, describe, messageOf, checkKeys } = require("./json.cjs");
const { SuspendedRun, answersToJson } = require("./suspend.cjs");
const { changesOf } = require("./changes.cjs");

const MAX_UPDATES = 64;
/** The longest timer of JavaScript: a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const CLOSED = { kind: "refused", code: "toolbox-closed", message: "the toolbox is closed", hint: "open another one", effects: "none" };
const CREATE_KEY = Symbol("create");

/** A run that took place. */
class Ran {
  constructor({ value, hasValue, run, details }) {
    this.value = hasValue ? value : undefined;
    Object.assign(this, run, details);
  }
}

/** A promise, and what settles it. */
function waiter() {
  let wake;
  const promise = new Promise((resolve) => (wake = resolve));
  return { promise, wake };
}

/** Gives an error the stack of who started the run. */
function showCaller(error, called) {
  try {
    const [, ...frames] = called.stack.split("\n");
    error.stack = [`${error.name}: ${error.message}`, ...frames].join("\n");
  } catch {
    // The application has an `Error.prepareStackTrace` of its own, or there is no stack.
  }
}

/** Tells what a run has called that the run was aborted, or has ended. */
function abortCallbacks(operation, reason) {
  operation.aborted ??= { reason };
  for (const call of operation.callbacks.values()) call.abort(reason);
}

/** A run that goes on: await it for its end, iterate over it for its partial results. */
class Run {
  #toolbox;
  #operation;
  #promise;
  #updates = [];
  #changed = waiter();
  #hasEnded = false;

  constructor(toolbox, start, { signal, onUpdate, functions, effectApprover }, method) {
    this.#toolbox = toolbox;
    const operation = { own: functions, effectApprover, callbacks: new Map() };
    const called = Object.create(Error.prototype);
    Error.captureStackTrace?.(called, toolbox[method]);
    const thrown = (error) => {
      // It is for the caller: the run ends, and rejects with it.
      operation.thrown ??= { error };
      this.cancel();
    };
    operation.onUpdates = (updates) => {
      try {
        for (const update of updates) {
          const done = onUpdate?.(update);
          if (typeof done?.then === "function") done.then(undefined, thrown);
        }
      } catch (error) {
        thrown(error);
      }
      this.#updates = [...this.#updates, ...updates].slice(-MAX_UPDATES);
      this.#wake();
    };
    const settle = () => {
      this.#hasEnded = true;
      abortCallbacks(operation);
      signal?.removeEventListener("abort", abort);
      this.#wake();
    };
    this.#promise = new Promise((resolve, reject) => {
      operation.reject = (error) => {
        settle();
        reject(operation.thrown ? operation.thrown.error : error);
      };
      operation.resolve = (answer) => {
        if ("suspended" in answer) {
          if (operation.thrown) return operation.reject(operation.thrown.error);
          settle();
          return resolve(new SuspendedRun(answer.suspended));
        }
        const run = "result" in answer ? answer.run : answer;
        const failure = "result" in answer ? answer.result.error : answer.failure;
        const ran = run === null ? undefined : new Ran(run);
        const error = failure === null ? undefined : errorFromJson(failure, ran, this.#cause(failure, operation, signal));
        if (error) showCaller(error, called);
        if (operation.thrown) return operation.reject(operation.thrown.error);
        if ("result" in answer && error?.code !== "cancelled") {
          settle();
          return resolve(toCallResult(answer.result, error, ran));
        }
        if (error) return operation.reject(error);
        settle();
        resolve(ran);
      };
    });
    const abort = () => {
      // What the run has called is told at once.
      abortCallbacks(operation, signal.reason);
      this.cancel();
    };
    if (signal?.aborted) {
      // Nothing of it has begun.
      this.#quiet();
      const cancelled = { kind: "stopped", code: "cancelled", message: "the run was cancelled before it began", hint: "", effects: "none" };
      operation.reject(errorFromJson(cancelled, undefined, { cause: signal.reason }));
      return;
    }
    this.#operation = start(operation);
    if (signal !== undefined) {
      if (signal instanceof EventTarget) setMaxListeners(0, signal);
      signal.addEventListener("abort", abort);
    }
  }

  /** The reason of a failure: what a function of the host threw, if that is what the tool failed with. */
  #cause(failure, operation, signal) {
    if (failure.kind !== "failed") return signal?.aborted ? { cause: signal.reason } : undefined;
    const last = operation.lastError;
    return last !== undefined && failure.message.includes(messageOf(last.error)) ? { cause: last.error } : undefined;
  }

  #wake() {
    this.#changed.wake();
    this.#changed = waiter();
  }

  /** Who cancels a run need not look at its end. */
  #quiet() {
    this.#promise.catch(() => {});
  }

  /** Cancels the run, which then rejects with an `AbortError`. */
  cancel() {
    this.#quiet();
    if (this.#operation !== undefined) this.#toolbox._cancel(this.#operation);
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

  [Symbol.asyncIterator]() {
    let hasLeft = false;
    const left = waiter();
    const next = async () => {
      for (;;) {
        if (hasLeft) return { done: true, value: undefined };
        if (this.#updates.length > 0) return { done: false, value: this.#updates.shift() };
        if (this.#hasEnded) break;
        await Promise.race([this.#changed.promise, left.promise]);
      }
      hasLeft = true;
      await this.#promise;
      return { done: true, value: undefined };
    };
    const leave = async () => {
      hasLeft = true;
      left.wake();
      if (!this.#hasEnded) this.cancel();
      return { done: true, value: undefined };
    };
    return {
      next,
      return: leave,
      throw: async (error) => {
        await leave();
        throw error;
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.cancel();
    await this.#promise.catch(() => {});
  }
}

// The context of this module: that of no request. Hooks and secrets belong to the toolbox, not to who opened it.
const NO_REQUEST = new AsyncResource("toolcell");

// Toolboxes with an operation in flight. Others may be collected, with their workers.
const BUSY = new Set();
const TIMERS = new FinalizationRegistry(clearInterval);

/** Creates and runs tools, each call in a sealed cell. */
class Toolbox {
  #native;
  #host;
  #dir;
  #operations = new Map();
  #next = 1;
  #closed;
  // Is aborted when the toolbox is closed.
  #closing = new AbortController();
  // Is woken when the toolbox is closed, and its last operation has ended.
  #idle = waiter();
  // A timer that is held only while an operation is in flight: it keeps the process alive.
  #alive = setInterval(() => {}, 0x7fffffff).unref();

  constructor(key, host, dir) {
    if (key !== CREATE_KEY) throw new TypeError("a toolbox is opened with `await Toolbox.open(options)`");
    this.#host = host;
    this.#dir = dir;
    const toolbox = new WeakRef(this);
    this.#native = new native.Native((...event) => toolbox.deref()?.#onEvent(...event));
    TIMERS.register(this, this.#alive);
  }

  static async open(options = {}) {
    checkKeys(options, OPEN_KEYS, "Toolbox.open");
    const { dir, policy, cwd, lang = "en", isolation = "worker", slots, functions, hooks, approver, secrets } = options;
    if (slots !== undefined && !(Number.isSafeInteger(slots) && slots > 0)) throw new TypeError(`slots is ${String(slots)}, it must be a whole number above 0`);
    if (cwd !== undefined && typeof cwd !== "string") throw new TypeError(`cwd is ${describe(cwd)}, it must be a string`);
    if (policy !== undefined && typeof policy !== "string" && typeof policy?.path !== "string")
      throw new TypeError(`policy is ${describe(policy)}, it must be TOML (a string), or { path }`);
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
    const text = stringify(wire, "the options");
    const toolbox = new Toolbox(CREATE_KEY, host, dir);
    await toolbox.#perform((number) => toolbox.#native.open(number, text));
    return toolbox;
  }

  run(tool, params, options) {
    return this.#run("tool", tool, params, options);
  }

  runCode(code, params, options) {
    return this.#run("code", code, params, options);
  }

  runSuspendable(tool, params, options) {
    return this.#run("suspendable", tool, params, options);
  }

  resume(run, options = {}) {
    const { answers, ...rest } = checkKeys(options, RESUME_KEYS, "resume");
    const id = typeof run === "string" ? run : run?.run;
    if (typeof run?.then === "function") throw new TypeError("run is a promise: await it, and resume what it gives");
    if (typeof id !== "string") throw new TypeError(`run is ${describe(run)}, it must be the identifier of a run, a SuspendedRun, or what \`suspended\` lists`);
    return this.#start("resume", "resume", id, answersToJson(answers), rest);
  }

  async suspended() {
    const { runs } = await this.#call("suspended", {});
    return runs.map((run) => ({ ...run, since: new Date(run.since) }));
  }

  async definitions(options = {}) {
    const { operations, published = 32 } = checkKeys(options, ["operations", "published"], "definitions");
    return (await this.#call("definitions", { operations, published })).tools;
  }

  async questions(name, args = {}, options = {}) {
    const { caller } = checkKeys(options, ["caller"], "questions");
    return (await this.#call("questions", { name, arguments: stringifyObject(args, "args"), caller: checkCaller(caller) })).questions;
  }

  async call(name, args, options = {}) {
    checkKeys(options, CALL_KEYS, "a call");
    if (typeof name !== "string") throw new TypeError(`name is ${describe(name)}, it must be a string`);
    if (options.approved !== undefined && !Array.isArray(options.approved))
      throw new TypeError(`approved is ${describe(options.approved)}, it must be an array of questions`);
    if (options.approved?.length > MAX_APPROVED) throw new TypeError(`approved has ${options.approved.length} questions, a call has at most ${MAX_APPROVED}`);
    const text = stringifyObject(args, "args");
    const { wire, ...control } = runOptions(options);
    const start = (operation) => this.#begin(operation, (number) => this.#native.callTool(number, name, text, wire));
    return new Run(this, start, control, "call");
  }

  #run(kind, subject, params, options = {}) {
    const { method, name, keys } = RUN_KINDS[kind];
    checkKeys(options, keys, method);
    if (typeof subject !== "string") throw new TypeError(`${name} is ${describe(subject)}, it must be a string`);
    return this.#start(kind, method, subject, stringifyObject(params, "params"), options);
  }

  #start(kind, method, subject, text, options) {
    const { wire, ...control } = runOptions(options);
    const start = (operation) =>
      this.#begin(operation, (number) => {
        if (kind !== "code") this.#checkHasStore(method);
        this.#native.run(number, kind, subject, text, wire);
      });
    return new Run(this, start, control, method);
  }

  async create(tool) {
    if (typeof tool !== "object" || tool === null) throw new TypeError(`the tool is ${describe(tool)}, it must be an object`);
    const { generatedFrom, parameters, returns, ...request } = tool;
    const schemas = { parameters: toJsonSchema(parameters, "parameters"), returns: toJsonSchema(returns, "returns") };
    return this.#call("create", { ...request, ...schemas, generated_from: generatedFrom });
  }

  async adopt(source, options = {}) {
    const { name = "tools.ts", replace = false } = checkKeys(options, ["name", "replace"], "adopt");
    const { tools } = await this.#call("adopt", { name, source, replace });
    return tools.map((tool) => (tool.error ? { ...tool, error: errorFromJson(tool.error) } : tool));
  }

  async list(filter = {}) {
    const { minSafetyScore, unusedDays, ...request } = checkKeys(filter, LIST_KEYS, "list");
    return this.#call("list", { ...request, min_safety_score: minSafetyScore, unused_days: unusedDays });
  }

  async show(tool, options = {}) {
    const { version } = checkKeys(options, ["version"], "show");
    return this.#call("show", { tool, version });
  }

  async delete(tool) {
    return this.#call("delete", { tool });
  }

  async search(query, options = {}) {
    const { limit = 10 } = checkKeys(options, ["limit"], "search");
    return (await this.#call("search", { query, limit })).tools;
  }

  async reflect(task) {
    const { lastToolResult = "", failedAttempts, history, task: text } = checkKeys(task, REFLECT_KEYS, "reflect");
    return this.#call("reflect", { task_description: text, last_tool_result: lastToolResult, failed_attempts: failedAttempts, history });
  }

  async verify(tool, options = {}) {
    const { cases, seed } = checkKeys(options, ["cases", "seed"], "verify");
    return this.#call("verify", { tool, cases, seed });
  }

  async replay(receipt, options = {}) {
    const { anyVersion = false } = checkKeys(options, ["anyVersion"], "replay");
    if (typeof receipt !== "string") throw new TypeError(`receipt is ${describe(receipt)}, it must be a string`);
    if (typeof anyVersion !== "boolean") throw new TypeError(`anyVersion is ${describe(anyVersion)}, it must be a boolean`);
    return this.#call("replay", { receipt, anyVersion });
  }

  async decide(call, options = {}) {
    const { ask = true } = checkKeys(options, ["ask"], "decide");
    return this.#call("decide", { call, ask });
  }

  async explain(tool, parameters = {}) {
    const answer = await this.#call("explain", { tool, parameters });
    return { ...answer, error: answer.error === null ? undefined : errorFromJson(answer.error) };
  }

  async question(tool) {
    return this.#call("approval", { tool });
  }

  async approve(tool, options = {}) {
    if (typeof tool !== "string" && typeof tool?.digest !== "string")
      throw new TypeError("a tool is approved by its name, its identifier, or a question about a stored tool");
    const by = checkBy(options, "approve");
    const request = typeof tool === "string" ? { tool, by } : { tool: tool.toolId, by, digest: tool.digest };
    await this.#call("approve", request);
  }

  async refuse(tool, options = {}) {
    await this.#call("refuse", { tool, by: checkBy(options, "refuse") });
  }

  async pending() {
    return (await this.#call("pending", {})).tools;
  }

  async analyze(source) {
    return this.#call("analyze", { source });
  }

  changes(options = {}) {
    const { signal } = checkKeys(options, ["signal"], "changes");
    checkSignal(signal);
    this.#checkHasStore("changes");
    const look = async () => (await this.#call("generation", {})).generation;
    return changesOf(look, signal === undefined ? [this.#closing.signal] : [this.#closing.signal, signal]);
  }

  /** For `testing.cjs`: tests of tools, which need no store and no policy. */
  _tests(operation, request) {
    return this.#call(operation, request);
  }

  close() {
    this.#closing.abort();
    this.#closed ??= this.#perform((number) => this.#native.close(number)).then(() => this.#idle.promise);
    return this.#closed;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  _cancel(number) {
    this.#native.cancel(number);
  }

  #checkHasStore(operation) {
    if (this.#dir !== undefined || WITHOUT_STORE.includes(operation)) return;
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
    operation.context = new AsyncResource("toolcell");
    operation.waiting = { caller: waitingRun(), hasEnded: false };
    this.#operations.set(number, operation);
    if (this.#operations.size === 1) {
      this.#alive.ref();
      BUSY.add(this);
    }
    try {
      start(number);
    } catch (error) {
      this.#end(number);
      operation.reject(error);
    }
    return number;
  }

  #end(number) {
    this.#operations.get(number).waiting.hasEnded = true;
    this.#operations.delete(number);
    if (this.#operations.size > 0) return;
    this.#alive.unref();
    BUSY.delete(this);
    if (this.#closed !== undefined) {
      clearInterval(this.#alive);
      this.#idle.wake();
    }
  }

  #onEvent(event, number, name, text, callback, timeoutMs) {
    const operation = this.#operations.get(number);
    // In the context of who called: a tracer, a request, a transaction.
    (operation?.context ?? NO_REQUEST).runInAsyncScope(() => {
      switch (event) {
        case "done":
        case "failed":
          this.#finish(event, number, operation, text);
          return;
        case "update":
          this.#update(number, operation);
          return;
        default:
          this.#serve(event, operation, name, text, callback, timeoutMs);
      }
    });
  }

  #finish(event, number, operation, text) {
    if (operation.hasUpdates) {
      while (this.#take(number, operation));
      this.#native.forget(number);
    }
    this.#end(number);
    const answer = JSON.parse(text);
    // What still waits for an answer is of a run that has ended.
    for (const waiting of operation.callbacks?.keys() ?? []) this.#native.answer(waiting, false, "the run has ended");
    if (event === "done") operation.resolve(answer);
    else operation.reject(errorFromJson(answer));
  }

  /** Takes some partial results; returns whether there were any. */
  #take(number, operation) {
    const updates = this.#native.takeUpdates(number);
    if (updates.length > 0) operation.onUpdates(updates.map((update) => JSON.parse(update)));
    return updates.length > 0;
  }

  /** Takes all partial results, with a turn of the event loop between. */
  #update(number, operation) {
    if (operation === undefined || !this.#operations.has(number)) return;
    operation.hasUpdates = true;
    if (!this.#take(number, operation)) return;
    setImmediate(() => this.#update(number, operation));
  }

  async #serve(kind, operation, name, text, callback, timeoutMs) {
    // It may have waited for this thread longer than for its answer, or than its run.
    if (!this.#native.isWaiting(callback)) return void this.#native.answer(callback, false, `there was no answer within ${timeoutMs} ms`);
    // An approver that has failed is not asked again.
    if (kind === "effects" && operation?.thrown) return void this.#native.answer(callback, false, "the effect approver has failed");
    const call = new HostCall();
    if (operation?.aborted) call.abort(operation.aborted.reason);
    const expire = () => {
      call.abort(new Error("it took too long"));
      this.#native.answer(callback, false, `there was no answer within ${timeoutMs} ms`);
    };
    const timer = timeoutMs > 0 ? setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS)).unref() : undefined;
    operation?.callbacks?.set(callback, call);
    try {
      // Of an effect that is decided about, nothing is left out.
      const payload = kind === "effects" ? JSON.parse(text) : parseForHost(text);
      const answer = await this.#host.serve(kind, name, payload, operation, call.context);
      this.#native.answer(callback, true, answer);
    } catch (error) {
      if (operation && kind === "function") operation.lastError = { error };
      // It is for the caller, at the end of the run; unless the run was aborted, and the approver gave up.
      if (operation && kind === "effects" && !call.isAborted) operation.thrown ??= { error };
      this.#native.answer(callback, false, messageOf(error));
    } finally {
      clearTimeout(timer);
      operation?.callbacks?.delete(callback);
    }
  }
}

const MAX_APPROVED = 16;
// What decides whether a question is the one that was answered.
const QUESTION_KEYS = ["askedBy", "text", "toolName", "toolId", "parameters", "digest"];
const WITHOUT_STORE = ["decide", "analyze", "reflect", "replay", "definitions", "questions", "find_tests", "run_test"];
const CONTROL_KEYS = ["limits", "signal", "onUpdate", "caller", "functions"];
const RUN_KEYS = [...CONTROL_KEYS, "seed", "receipt", "effectApprover", "profile", "labels"];
const CODE_KEYS = [...CONTROL_KEYS, "seed", "grants", "profile", "labels"];
const SUSPENDABLE_KEYS = [...CONTROL_KEYS, "seed", "effectApprover", "labels"];
const RESUME_KEYS = ["signal", "onUpdate", "caller", "functions", "effectApprover", "answers"];
const RUN_KINDS = {
  tool: { method: "run", name: "tool", keys: RUN_KEYS },
  code: { method: "runCode", name: "code", keys: CODE_KEYS },
  suspendable: { method: "runSuspendable", name: "tool", keys: SUSPENDABLE_KEYS },
};
const CALL_KEYS = [...CONTROL_KEYS, "approved"];
const OPEN_KEYS = ["dir", "policy", "cwd", "lang", "isolation", "slots", "functions", "hooks", "approver", "secrets"];
const LIST_KEYS = ["name", "tags", "status", "sort", "limit", "cursor", "minSafetyScore", "unusedDays"];
const REFLECT_KEYS = ["task", "lastToolResult", "failedAttempts", "history"];
const LIMIT_KEYS = ["fuel", "timeoutMs", "memoryMb", "outputBytes", "consoleBytes"];

function checkBy(options, what) {
  const { by = "node" } = checkKeys(options, ["by"], what);
  if (typeof by !== "string" || by === "") throw new TypeError(`\`by\` is ${by === "" ? "empty" : describe(by)}, it must be the name of who decides`);
  return by;
}

function checkLimits(limits) {
  if (limits === undefined) return undefined;
  const checked = {};
  for (const [key, value] of Object.entries(checkKeys(limits, LIMIT_KEYS, "limits"))) {
    if (value === undefined) continue;
    const number = key === "timeoutMs" ? Math.ceil(value) : value;
    const least = key === "timeoutMs" ? 1 : 0;
    if (typeof value !== "number" || !Number.isSafeInteger(number) || number < least)
      throw new TypeError(`limits.${key} is ${String(value)}, it must be a whole number, ${least} or more`);
    checked[key] = number;
  }
  return checked;
}

function checkCaller(caller) {
  if (caller === undefined) return undefined;
  for (const [key, value] of Object.entries(checkKeys(caller, ["client", "session", "agent", "call"], "caller")))
    if (value !== undefined && typeof value !== "string") throw new TypeError(`caller.${key} is ${describe(value)}, it must be a string`);
  return caller;
}

function checkSignal(signal) {
  const listens = typeof signal?.addEventListener === "function" && typeof signal.removeEventListener === "function";
  if (signal !== undefined && !(signal instanceof AbortSignal) && !listens)
    throw new TypeError(`signal is ${describe(signal)}, it must be an AbortSignal`);
}

/** Checks the options of a run. `wire` is what the native module is told of them. */
function runOptions({ signal, onUpdate, functions, limits, caller, approved, effectApprover, ...told }) {
  checkSignal(signal);
  if (onUpdate !== undefined && typeof onUpdate !== "function") throw new TypeError(`onUpdate is ${describe(onUpdate)}, it must be a function`);
  if (told.seed !== undefined && !(Number.isSafeInteger(told.seed) && told.seed >= 0)) throw new TypeError(`seed is ${String(told.seed)}, it must be a whole number, 0 or more`);
  if (effectApprover !== undefined && typeof effectApprover !== "function")
    throw new TypeError(`effectApprover is ${describe(effectApprover)}, it must be a function`);
  for (const key of ["profile", "receipt"])
    if (told[key] !== undefined && typeof told[key] !== "boolean") throw new TypeError(`${key} is ${describe(told[key])}, it must be a boolean`);
  const { labels } = told;
  if (labels !== undefined && !(Array.isArray(labels) && labels.every((label) => typeof label === "string")))
    throw new TypeError("labels must be an array of strings, as those of a result are");
  const own = functions === undefined ? undefined : toFunctions(functions, "functions");
  const answered = approved?.map((question) => Object.fromEntries(QUESTION_KEYS.map((key) => [key, question?.[key]])));
  const hasEffectApprover = effectApprover === undefined ? undefined : true;
  const checked = { ...told, approved: answered, hasEffectApprover, limits: checkLimits(limits), caller: checkCaller(caller), depth: depth() };
  if (own === undefined && Object.values(checked).every((value) => value === undefined)) return { wire: "", signal, onUpdate };
  const declared = own && [...own.values()].map((entry) => entry.declaration);
  return { wire: stringify({ ...checked, functions: declared }, "the options"), signal, onUpdate, functions: own, effectApprover };
}

/** The result of a call by a model. */
function toCallResult({ structured, text, isError, images }, error, run) {
  return {
    text,
    isError,
    images,
    ...(structured === null ? {} : { structured }),
    ...(error === undefined ? {} : { error }),
    ...(run === undefined ? {} : { run }),
  };
}

// What is in the folder of each store, also of one whose creation was interrupted.
const STORE_FILES = ["toolcell-store", "lock", "index.sqlite", "objects"];

/** Refuses to make a store between other files: in a folder that is neither new, empty, hidden nor a store. */
async function checkIsForStore(dir) {
  if (typeof dir !== "string" || dir === "") throw new TypeError(`dir is ${dir === "" ? "empty" : describe(dir)}, it must be the path of a folder`);
  const files = await readdir(dir).catch(() => []);
  const isForStore = files.length === 0 || path.basename(path.resolve(dir)).startsWith(".") || STORE_FILES.some((name) => files.includes(name));
  if (!isForStore) throw new TypeError(`${dir} is not a store, and has other files in it: name a new or an empty folder`);
}

module.exports = { Toolbox };
