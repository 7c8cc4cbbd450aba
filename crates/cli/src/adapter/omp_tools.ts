// Toolcell as custom tools of oh-my-pi and its forks: its operations, and the tools that are approved when a session starts.
// The extension (`toolcell adapter omp`) has dialogues and newly approved tools as well; take one of the two.
//
// Reading order: `toolcell` makes the tools; `Server`, at the end, is the connection to `toolcell mcp`.

/** One process for all sessions and agents of a host. */
let server: Promise<Server> | undefined;

async function open(cwd: string): Promise<Server> {
  const current = (server ??= Server.start(cwd, {}));
  try {
    const started = await current;
    if (!started.ended) return started;
  } catch (error) {
    if (server === current) server = undefined;
    throw error;
  }
  if (server === current) server = undefined;
  return open(cwd);
}

export default async function toolcell(pi: any) {
  const tools = await (await open(pi.cwd)).tools();
  return tools.map((tool: any) => ({
    name: tool.name,
    label: tool.title ?? tool.name,
    description: tool.description,
    parameters: tool.inputSchema,
    approval: tool.annotations?.readOnlyHint === true ? "read" : "exec",
    async execute(toolCallId: string, params: any, onUpdate: any, ctx: any, signal?: AbortSignal) {
      const running = await open(pi.cwd);
      const result = await running.call(tool.name, params ?? {}, {
        signal,
        onProgress: onUpdate && ((params: any) => onUpdate(partialResult(params))),
        caller: { session: ctx?.sessionManager?.getSessionId?.(), call: toolCallId },
      });
      // Older versions know no `isError` of a result: what throws fails in all of them.
      if (result.isError) throw new Error(result.content.map((block: any) => block.text ?? "").join("\n"));
      return toHostResult(result);
    },
    async onSession(event: any) {
      if (event.reason !== "shutdown") return;
      const running = await server?.catch(() => undefined);
      server = undefined;
      await running?.close();
    },
  }));
}
