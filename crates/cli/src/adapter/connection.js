// The connection to `toolcell mcp`, and the results of its tools in the form of the host.
import { spawn } from "node:child_process";

const HOST = "@HOST@";
const PROGRAM = process.env.TOOLCELL || "@PROGRAM@";
const ARGUMENTS = ["@ARGUMENTS@"];

/**
 * Escapes what would control a terminal, reorder a line or be invisible in a dialogue: control characters but tabs and line ends,
 * bidirectional controls and characters without width.
 */
function visible(text) {
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return text.replace(hidden, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Converts a partial result: a tool of a factory reports results of the host already. */
function partialResult({ message = "", _meta }) {
  const value = _meta?.["toolcell/partial"];
  if (Array.isArray(value?.content)) return { details: undefined, ...value };
  return { content: [{ type: "text", text: message }], details: value };
}

/** Converts a result of MCP to one of the host. A tool of a factory returns one of the host already. */
function toHostResult(result) {
  const value = result.structuredContent?.value;
  const isHostResult = Array.isArray(value?.content) && value.content.every((block) => typeof block?.type === "string");
  const blocks = result.content.filter((block) => block.type === "text" || block.type === "image");
  // The value has no data of images, which the blocks have in the same order.
  const images = blocks.filter((block) => block.type === "image");
  const content = isHostResult && !result.isError ? value.content.map((block) => (block.type === "image" ? images.shift() : block)) : blocks;
  return {
    content,
    details: isHostResult ? value.details : (result._meta?.["toolcell/error"] ?? result.structuredContent),
    ...(result.structuredContent && { structuredContent: result.structuredContent }),
    ...(result.isError && { isError: true }),
  };
}

/**
 * The one server of this process: `open(...args)` gives it, and starts it with `start(...args)` when it is first needed, and again if
 * it has ended. Calls that find it gone start one together.
 */
function oneServer(start) {
  let server;
  async function open(...args) {
    const current = (server ??= start(...args));
    const forget = () => (server = server === current ? undefined : server);
    try {
      const started = await current;
      if (!started.ended) return started;
    } catch (error) {
      forget();
      throw error;
    }
    forget();
    return open(...args);
  }
  async function close() {
    const running = await server?.catch(() => undefined);
    server = undefined;
    await running?.close();
  }
  return { open, close, current: () => server };
}

/**
 * A connection to `toolcell mcp` over its standard input and output. It ends with the host, however that ends.
 *
 * What the server asks of the host: `ask(question)` puts a question to the person, if there is a dialogue; `functions` are what tools
 * may call here, and `lend(call, signal)` does it; `onToolsChanged()` is told that the list of tools changed.
 */
class Server {
  ended = false;
  child;
  buffer = "";
  errors = "";
  next = 1;
  isHeld = true;
  waiting = new Map();
  progress = new Map();

  /** The calls of lent functions that are going on, by the identifier of the request. */
  lent = new Map();

  constructor(host) {
    this.host = host;
  }

  static async start(cwd, host) {
    const server = new Server(host);
    server.spawn(cwd);
    const { capabilities } = await server.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { ...(host.ask && { elicitation: {} }), extensions: { "toolcell/host": {} } },
      clientInfo: { name: HOST, version: "1" },
    });
    if (!capabilities?.extensions?.["toolcell/host"]) {
      await server.close();
      throw new Error(`${PROGRAM} is older than this file: update it, or run \`toolcell adapter ${HOST} --write\` with it again`);
    }
    server.send({ method: "notifications/initialized" });
    // An older server lends nothing, and says so to a tool that calls.
    if (host.functions) await server.request("toolcell/functions", { functions: host.functions }).catch(() => {});
    server.hold(false);
    return server;
  }

  spawn(cwd) {
    // A process group of its own: Ctrl-C at the terminal is for the host, which then ends its calls.
    this.child = spawn(PROGRAM, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"], cwd, detached: true });
    this.child.once("error", (error) => {
      const hint = error.code === "ENOENT" ? `${PROGRAM} is not there: install it, or set TOOLCELL to its path` : error.message;
      this.end(new Error(hint));
    });
    this.child.once("close", (code, signal) => {
      this.end(new Error(`toolcell ended (${signal ?? code}) ${this.errors.trim()}`.trim()));
    });
    this.child.stdin.on("error", () => {});
    this.child.stdout.setEncoding("utf8").on("data", (text) => this.read(text));
    this.child.stderr.setEncoding("utf8").on("data", (text) => (this.errors = (this.errors + text).slice(-2000)));
  }

  async tools() {
    return (await this.request("tools/list", {})).tools;
  }

  async call(name, args, { signal, onProgress, caller }) {
    const token = `progress-${this.next}`;
    if (onProgress) this.progress.set(token, onProgress);
    const _meta = { "toolcell/caller": caller, ...(onProgress && { progressToken: token }) };
    return this.request("tools/call", { name, arguments: args, _meta }, { signal }).finally(() => this.progress.delete(token));
  }

  request(method, params, { signal, timeout } = {}) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error("toolcell has ended"));
      if (signal?.aborted) return reject(new Error("the call was aborted"));
      const cancel = (why) => {
        this.send({ method: "notifications/cancelled", params: { requestId: id, reason: why } });
        settle(() => reject(new Error(why)));
      };
      const abort = () => cancel("the call was aborted");
      const timer = timeout === undefined ? undefined : setTimeout(() => cancel(`there was no answer within ${timeout} ms`), timeout);
      const settle = (act) => {
        signal?.removeEventListener("abort", abort);
        clearTimeout(timer);
        this.waiting.delete(id);
        if (this.waiting.size === 0) this.hold(false);
        act();
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.hold(true);
      this.waiting.set(id, {
        resolve: (value) => settle(() => resolve(value)),
        reject: (error) => settle(() => reject(error)),
      });
      this.send({ id, method, params });
    });
  }

  /** Closes the input of the process, which then ends; it is killed if it does not. */
  async close() {
    if (this.ended) return;
    const closed = new Promise((resolve) => this.child.once("close", resolve));
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 3_000);
    await closed;
    clearTimeout(timer);
  }

  /** Keeps the host alive while a request waits, and not longer. */
  hold(on) {
    if (on === this.isHeld) return;
    this.isHeld = on;
    for (const one of [this.child, ...this.child.stdio]) one?.[on ? "ref" : "unref"]?.();
  }

  send(message) {
    this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  end(error) {
    this.ended = true;
    for (const { reject } of [...this.waiting.values()]) reject(error);
    for (const call of this.lent.values()) call.abort(error);
  }

  read(text) {
    this.buffer += text;
    for (let end; (end = this.buffer.indexOf("\n")) >= 0; ) {
      const line = this.buffer.slice(0, end);
      this.buffer = this.buffer.slice(end + 1);
      if (line.trim()) void this.take(JSON.parse(line));
    }
  }

  async take(message) {
    const { id, method, params } = message;
    if (method === undefined) {
      const waiting = this.waiting.get(id);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message.result);
    } else if (method === "notifications/progress") {
      // A heartbeat is no partial result.
      if (params._meta?.["toolcell/heartbeat"] === undefined) this.progress.get(params.progressToken)?.(params);
    } else if (method === "notifications/tools/list_changed") {
      this.host.onToolsChanged?.();
    } else if (method === "elicitation/create") {
      this.send({ id, result: (await this.host.ask?.(params).catch(() => undefined)) ?? { action: "cancel" } });
    } else if (method === "toolcell/call") {
      const call = new AbortController();
      this.lent.set(id, call);
      const done = this.host.lend?.(params, call.signal) ?? Promise.reject(new Error("nothing is lent here"));
      const answer = await done.then(
        (value) => ({ result: { value: value ?? null } }),
        (error) => ({ error: { code: -32000, message: `${error?.message ?? error}` } }),
      );
      // The answer of a call that was cancelled is not wanted.
      if (this.lent.delete(id) && !call.signal.aborted) this.send({ id, ...answer });
    } else if (method === "notifications/cancelled") {
      this.lent.get(params?.requestId)?.abort(new Error(params.reason));
    } else if (method === "ping") {
      this.send({ id, result: {} });
    } else if (id !== undefined) {
      this.send({ id, error: { code: -32601, message: "method not found" } });
    }
  }
}
