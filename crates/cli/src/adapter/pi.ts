// Toolcell in pi and oh-my-pi: its operations, approved tools as tools of their own, approval in the dialogues of the
// host, commands and dialogues for tools that are granted them, and, where GATE is set, a decision about each call of the
// host's other tools.
//
// Reading order: `toolcell` registers everything; `Server`, at the end, is the connection to `toolcell mcp`.
import { join } from "node:path";

const GATE: boolean = "@GATE@" === ("on" as string);
/** The time that a decision may take, in milliseconds. Toolcell itself takes at most 10 seconds. */
const DECISION_MS = 15_000;
/** The prefix of the names of approved tools. */
const PREFIX = "toolcell__";
/** What tools may call here if the policy grants it, such as `tools = ["pi_exec"]`. A person is asked about each command. */
const TEXT = { type: "string", description: "" };
const LENT = [
  { name: "pi_exec", parameters: { command: { ...TEXT, required: true }, args: { type: "array", description: "" }, cwd: TEXT, timeout: { type: "number", description: "" } }, timeoutMs: 600_000 },
  { name: "pi_ui_select", parameters: { title: TEXT, options: { type: "array", description: "" } }, timeoutMs: 600_000 },
  { name: "pi_ui_confirm", parameters: { title: TEXT, message: TEXT }, timeoutMs: 600_000 },
  { name: "pi_ui_input", parameters: { title: TEXT, placeholder: TEXT }, timeoutMs: 600_000 },
];

export default function toolcell(pi: any) {
  let ui: any;
  /** The tools that are registered, by name, and what they were registered with. */
  const registered = new Map<string, string>();
  // pi before 1.0 ignores `isError` of a result, but all versions take it from a `tool_result` handler.
  const failed = new Set<string>();
  pi.on("tool_result", (event: any) => (failed.delete(event.toolCallId) ? { isError: true } : undefined));

  const server = oneServer((ctx: any) =>
    Server.start(ctx.cwd, {
      ask: ctx.hasUI ? ask : undefined,
      functions: LENT,
      lend: (call: any, signal: AbortSignal) => lend(call, ctx.cwd, signal),
      onToolsChanged: () => void refresh().catch(() => {}),
    }),
  );

  function open(ctx: any): Promise<Server> {
    ui = ctx.hasUI ? ctx.ui : undefined;
    return server.open(ctx);
  }

  /** Puts a question of Toolcell to the person. Without a dialogue Toolcell denies the call, and says which command approves. */
  async function ask({ message, requestedSchema }: any) {
    const { oneOf, enum: values = [] } = requestedSchema?.properties?.decision ?? {};
    const answers = new Map<string, string>((oneOf ?? values.map((value: string) => ({ const: value }))).map((one: any) => [one.title ?? one.const, one.const]));
    const chosen = await ui?.select(message, [...answers.keys()]);
    const decision = answers.get(chosen);
    return decision === undefined ? { action: "cancel" } : { action: "accept", content: { decision } };
  }

  /** Does for a tool what it is granted. */
  async function lend({ name, parameters = {} }: any, home: string, signal: AbortSignal): Promise<any> {
    const { command, args = [], cwd = ".", timeout, title = "", message = "", options = [], placeholder } = parameters;
    if (!ui) throw new Error("there is no dialogue to ask a person in");
    // What a tool says is marked as such, so that it is not taken for a question of Toolcell or of the host.
    const asked = visible(`A tool of Toolcell asks: ${title}`);
    if (name === "pi_ui_select") return ui.select(asked, options.map((option: any) => visible(`${option}`)), { signal });
    if (name === "pi_ui_confirm") return ui.confirm(asked, visible(`${message}`), { signal });
    if (name === "pi_ui_input") return ui.input(asked, placeholder === undefined ? undefined : visible(`${placeholder}`), { signal });
    const words = [command, ...args].map((word) => `${word}`);
    // A cell's `/` is the folder of the session.
    const folder = join(home, `${cwd}`);
    const shown = visible(`${words.map((word) => (/^[\w%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ")}\nin ${folder}`);
    if (!(await ui.confirm("Run a command for a tool of Toolcell?", shown, { signal }))) throw new Error("a person refused the command");
    signal.throwIfAborted();
    const { stdout, stderr, code, killed = false } = await pi.exec(words[0], words.slice(1), { cwd: folder, timeout, signal });
    return { stdout, stderr, code, killed };
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
    const tools = await (await server.current())?.tools();
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

  pi.on("session_shutdown", () => server.close());

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
