// Toolcell in pi: its operations, approved tools as tools of their own, approval in the dialogues of the
// host, and, where GATE is set, a decision about each call of the host's other tools.
//
// Reading order: `toolcell` registers everything; `Server` is the connection to `toolcell mcp`.
import { spawn } from "node:child_process";

const PROGRAM = process.env.TOOLCELL || "@PROGRAM@";
const ARGUMENTS: string[] = ["@ARGUMENTS@"];
const GATE: boolean = "@GATE@" === ("on" as string);
/** The time that a decision may take, in milliseconds. Toolcell itself takes at most 10 seconds. */
const DECISION_MS = 15_000;
/** The prefix of the names of approved tools. */
const PREFIX = "toolcell__";

export default function toolcell(pi: any) {
  let server: Promise<Server> | undefined;
  let ui: any;
  /** The tools that are registered, by name, and what they were registered with. */
  const registered = new Map<string, string>();
  // pi before 1.0 ignores `isError` of a result, but all versions take it from a `tool_result` handler.
  const failed = new Set<string>();
  pi.on("tool_result", (event: any) => (failed.delete(event.toolCallId) ? { isError: true } : undefined));

  async function open(ctx: any): Promise<Server> {
    ui = ctx.hasUI ? ctx.ui : undefined;
    const current = (server ??= Server.start(ctx.cwd, ctx.hasUI ? ask : undefined, () => void refresh().catch(() => {})));
    // Calls that find the same server gone start one together.
    const forget = () => (server = server === current ? undefined : server);
    try {
      const started = await current;
      if (!started.ended) return started;
    } catch (error) {
      forget();
      throw error;
    }
    forget();
    return open(ctx);
  }

  /** Puts a question of Toolcell to the person. Without a dialogue Toolcell denies the call, and says which command approves. */
  async function ask({ message, requestedSchema }: any) {
    const { oneOf, enum: values = [] } = requestedSchema?.properties?.decision ?? {};
    const answers = new Map<string, string>((oneOf ?? values.map((value: string) => ({ const: value }))).map((one: any) => [one.title ?? one.const, one.const]));
    const chosen = await ui?.select(message, [...answers.keys()]);
    const decision = answers.get(chosen);
    return decision === undefined ? { action: "cancel" } : { action: "accept", content: { decision } };
  }

  function register(tool: any, exposure?: string) {
    pi.registerTool({
      name: tool.name,
      label: tool.title ?? tool.name,
      description: tool.description,
      parameters: tool.inputSchema,
      annotations: tool.annotations,
      ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
      ...(exposure && { exposure }),
      async execute(toolCallId: string, params: any, ...more: any[]) {
        // The order of the other arguments differs between versions.
        const signal = more.find((one) => typeof one?.aborted === "boolean");
        const onUpdate = more.find((one) => typeof one === "function");
        const ctx = more.find((one) => typeof one?.cwd === "string");
        const running = await open(ctx ?? { cwd: process.cwd() });
        const session = ctx?.sessionManager?.getSessionId?.();
        const result = await running.call(tool.name, params ?? {}, {
          signal,
          onProgress: onUpdate && ((params: any) => onUpdate(partialResult(params))),
          caller: { session, call: toolCallId },
        });
        // What this call changed is offered before the next one.
        if (tool.annotations?.readOnlyHint !== true) await refresh().catch(() => {});
        if (result.isError) failed.add(toolCallId);
        return toHostResult(result);
      },
    });
  }

  /** Registers the operations, and the approved tools as they are now. A tool that is gone is hidden where the host can. */
  async function refresh() {
    const tools = await (await server)?.tools();
    if (!tools) return;
    const names = new Set(tools.map((tool: any) => tool.name));
    for (const name of [...registered.keys()].filter((name) => !names.has(name))) {
      registered.delete(name);
      register({ name, description: "This tool was deleted, or is no longer approved.", inputSchema: { type: "object" } }, "hidden");
      pi.setActiveTools?.(pi.getActiveTools().filter((active: string) => active !== name));
    }
    for (const tool of tools) {
      const text = JSON.stringify(tool);
      if (registered.get(tool.name) === text) continue;
      registered.set(tool.name, text);
      register(tool);
    }
    const count = tools.filter((tool: any) => tool.name.startsWith(PREFIX)).length;
    ui?.setStatus?.("toolcell", count ? `toolcell: ${count} approved` : undefined);
  }

  pi.on("session_start", async (_event: any, ctx: any) => {
    try {
      await open(ctx);
      await refresh();
    } catch (error: any) {
      // Where Toolcell is the gate, the calls that it cannot decide about are blocked.
      const text = `Toolcell does not run: ${error.message}`;
      if (ctx.hasUI) ctx.ui.notify(text, "error");
      else console.error(text);
    }
  });

  pi.on("session_shutdown", async () => {
    const running = await server?.catch(() => undefined);
    server = undefined;
    await running?.close();
  });

  if (GATE) {
    pi.on("tool_call", async (event: any, ctx: any) => {
      // Toolcell decides about its own tools when they are called.
      if (registered.has(event.toolName)) return undefined;
      const reason = await blockReason(event, ctx).catch((error: any) => `Toolcell cannot decide: ${error.message}`);
      return reason === undefined ? undefined : { block: true, reason };
    });
  }

  /** Returns why a call of another tool does not run, or changes its arguments as a hook says. */
  async function blockReason(event: any, ctx: any): Promise<string | undefined> {
    const running = await open(ctx);
    const decision = await running.request(
      "toolcell/decide",
      {
        toolName: event.toolName,
        toolArgs: event.input,
        cwd: ctx.cwd,
        sessionId: ctx.sessionManager?.getSessionId?.(),
        toolCallId: event.toolCallId,
      },
      { timeout: DECISION_MS },
    );
    const why = decision.permissionDecisionReason ?? "a hook of Toolcell asks";
    if (decision.permissionDecision === "deny") return why;
    const args = decision.modifiedArgs ?? event.input;
    if (decision.permissionDecision === "ask") {
      if (!ctx.hasUI) return `${why}; there is no dialogue to ask a person in`;
      const shown = JSON.stringify(args, undefined, 2);
      if (!(await ctx.ui.confirm(`Run ${visible(event.toolName)}?`, visible(`${why}\n${shown}`)))) return `a person refused the call: ${why}`;
    }
    if (decision.modifiedArgs) {
      for (const key of Object.keys(event.input)) delete event.input[key];
      Object.assign(event.input, decision.modifiedArgs);
    }
    return undefined;
  }

  pi.registerCommand?.("toolcell", {
    description: "List the tools of Toolcell, or review and approve one: /toolcell [approve NAME]",
    handler: async (words: string, ctx: any) => {
      try {
        const running = await open(ctx);
        const [verb, name] = words.trim().split(/\s+/);
        if (verb === "approve" && name) {
          const shown = await running.request("toolcell/approval", { tool: name });
          const lines = visible([...shown.facts, "", shown.source].join("\n"));
          if (!(await ctx.ui.confirm(`Approve ${shown.name}?`, lines))) return ctx.ui.notify("nothing was approved", "info");
          await running.request("toolcell/approve", { tool: shown.tool, digest: shown.digest });
          await refresh();
          ctx.ui.notify(`${shown.name} is approved`, "info");
        } else {
          const listed = await running.call("list_dynamic_tools", {}, {});
          ctx.ui.notify(listed.content.map((block: any) => block.text ?? "").join("\n"), "info");
        }
      } catch (error: any) {
        ctx.ui.notify(error.message, "error");
      }
    },
  });
}

/**
 * Escapes what would control a terminal, reorder a line or be invisible in a dialogue: control characters but tabs and line ends,
 * bidirectional controls and characters without width.
 */
function visible(text: string) {
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return text.replace(hidden, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Converts a partial result: a tool of a factory reports results of the host already. */
function partialResult({ message = "", _meta }: any) {
  const value = _meta?.["toolcell/partial"];
  if (Array.isArray(value?.content)) return { details: undefined, ...value };
  return { content: [{ type: "text", text: message }], details: value };
}

/** Converts a result of MCP to one of the host. A tool of a factory returns one of the host already. */
function toHostResult(result: any) {
  const value = result.structuredContent?.value;
  const isHostResult = Array.isArray(value?.content) && value.content.every((block: any) => typeof block?.type === "string");
  const blocks = result.content.filter((block: any) => block.type === "text" || block.type === "image");
  return {
    content: isHostResult && !result.isError ? value.content : blocks,
    details: isHostResult ? value.details : (result._meta?.["toolcell/error"] ?? result.structuredContent),
    ...(result.structuredContent && { structuredContent: result.structuredContent }),
    ...(result.isError && { isError: true }),
  };
}

/** A connection to `toolcell mcp` over its standard input and output. It ends with the host, however that ends. */
class Server {
  ended = false;
  private child: any;
  private buffer = "";
  private errors = "";
  private next = 1;
  private isHeld = true;
  private readonly waiting = new Map<number, { resolve: (value: any) => void; reject: (error: Error) => void }>();
  private readonly progress = new Map<string, (params: any) => void>();

  private constructor(
    private readonly ask: ((question: any) => Promise<any>) | undefined,
    private readonly onToolsChanged: () => void,
  ) {}

  static async start(cwd: string, ask: ((question: any) => Promise<any>) | undefined, onToolsChanged: () => void) {
    const server = new Server(ask, onToolsChanged);
    server.spawn(cwd);
    const { capabilities } = await server.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { ...(ask && { elicitation: {} }), extensions: { "toolcell/host": {} } },
      clientInfo: { name: "pi", version: "1" },
    });
    if (!capabilities?.extensions?.["toolcell/host"]) {
      await server.close();
      throw new Error(`${PROGRAM} is older than this file: update it, or run \`toolcell adapter pi --write\` with it again`);
    }
    server.send({ method: "notifications/initialized" });
    server.hold(false);
    return server;
  }

  private spawn(cwd: string) {
    // A process group of its own: Ctrl-C at the terminal is for the host, which then ends its calls.
    this.child = spawn(PROGRAM, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"], cwd, detached: true });
    this.child.once("error", (error: any) => {
      const hint = error.code === "ENOENT" ? `${PROGRAM} is not there: install it, or set TOOLCELL to its path` : error.message;
      this.end(new Error(hint));
    });
    this.child.once("close", (code: any, signal: any) => {
      this.end(new Error(`toolcell ended (${signal ?? code}) ${this.errors.trim()}`.trim()));
    });
    this.child.stdin.on("error", () => {});
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.read(text));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => (this.errors = (this.errors + text).slice(-2000)));
  }

  async tools(): Promise<any[]> {
    return (await this.request("tools/list", {})).tools;
  }

  async call(name: string, args: any, { signal, onProgress, caller }: any): Promise<any> {
    const token = `progress-${this.next}`;
    if (onProgress) this.progress.set(token, onProgress);
    const _meta = { "toolcell/caller": caller, ...(onProgress && { progressToken: token }) };
    return this.request("tools/call", { name, arguments: args, _meta }, { signal }).finally(() => this.progress.delete(token));
  }

  request(method: string, params: any, { signal, timeout }: { signal?: AbortSignal; timeout?: number } = {}): Promise<any> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error("toolcell has ended"));
      if (signal?.aborted) return reject(new Error("the call was aborted"));
      const cancel = (why: string) => {
        this.send({ method: "notifications/cancelled", params: { requestId: id, reason: why } });
        settle(() => reject(new Error(why)));
      };
      const abort = () => cancel("the call was aborted");
      const timer = timeout === undefined ? undefined : setTimeout(() => cancel(`there was no answer within ${timeout} ms`), timeout);
      const settle = (act: () => void) => {
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
  private hold(on: boolean) {
    if (on === this.isHeld) return;
    this.isHeld = on;
    for (const one of [this.child, ...this.child.stdio]) one?.[on ? "ref" : "unref"]?.();
  }

  private send(message: any) {
    this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  private end(error: Error) {
    this.ended = true;
    for (const { reject } of [...this.waiting.values()]) reject(error);
  }

  private read(text: string) {
    this.buffer += text;
    for (let end; (end = this.buffer.indexOf("\n")) >= 0; ) {
      const line = this.buffer.slice(0, end);
      this.buffer = this.buffer.slice(end + 1);
      if (line.trim()) void this.take(JSON.parse(line));
    }
  }

  private async take(message: any) {
    const { id, method, params } = message;
    if (method === undefined) {
      const waiting = this.waiting.get(id);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message.result);
    } else if (method === "notifications/progress") {
      // A heartbeat is no partial result.
      if (params._meta?.["toolcell/heartbeat"] === undefined) this.progress.get(params.progressToken)?.(params);
    } else if (method === "notifications/tools/list_changed") {
      this.onToolsChanged();
    } else if (method === "elicitation/create") {
      this.send({ id, result: (await this.ask?.(params).catch(() => undefined)) ?? { action: "cancel" } });
    } else if (method === "ping") {
      this.send({ id, result: {} });
    } else if (id !== undefined) {
      this.send({ id, error: { code: -32601, message: "method not found" } });
    }
  }
}
