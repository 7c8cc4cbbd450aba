// Toolcell as custom tools of oh-my-pi and its forks: its operations, and the tools that are approved when a session starts.
// The extension (`toolcell adapter omp`) has dialogues and newly approved tools as well; take one of the two.
//
// Reading order: `toolcell` makes the tools; `Server`, at the end, is the connection to `toolcell mcp`.

/** One process for all sessions and agents of a host. */
const server = oneServer((cwd: string) => Server.start(cwd, {}));

export default async function toolcell(pi: any) {
  const tools = await (await server.open(pi.cwd)).tools();
  return tools.map((tool: any) => ({
    name: tool.name,
    label: tool.title ?? tool.name,
    description: tool.description,
    parameters: tool.inputSchema,
    approval: tool.annotations?.readOnlyHint === true ? "read" : "exec",
    async execute(toolCallId: string, params: any, onUpdate: any, ctx: any, signal?: AbortSignal) {
      const running = await server.open(pi.cwd);
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
      if (event.reason === "shutdown") await server.close();
    },
  }));
}
