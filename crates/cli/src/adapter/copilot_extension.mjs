// Toolcell as an extension of GitHub Copilot's command line: its operations, and the tools that are approved when a session
// starts, with approval in Copilot's dialogues.
//
// Reading order: the session is joined with the tools, at the end; `Server` above is the connection to `toolcell mcp`.
import { joinSession } from "@github/copilot-sdk/extension";

let session;
const server = oneServer(() => Server.start(process.cwd(), { ask }));

/** Puts a question of Toolcell to the person. Without a dialogue Toolcell denies the call, and says which command approves. */
async function ask({ message, requestedSchema }) {
  if (!session?.capabilities?.ui?.elicitation) return { action: "cancel" };
  return session.ui.elicitation({ message: visible(message), requestedSchema });
}

/** The tools, as Copilot takes them. */
async function tools() {
  const listed = await (await server.open()).tools();
  return listed.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.inputSchema,
    // Toolcell decides by its policy, its hooks and its approvals: a person is not asked twice.
    skipPermission: true,
    async handler(args, { sessionId, toolCallId, signal }) {
      try {
        const running = await server.open();
        const result = await running.call(tool.name, args ?? {}, { signal, caller: { session: sessionId, call: toolCallId } });
        const text = result.content.map((block) => block.text ?? `[${block.type}]`).join("\n");
        if (!result.isError) return { resultType: "success", textResultForLlm: text };
        const code = result._meta?.["toolcell/error"]?.code;
        return { resultType: code === "permission-denied" ? "denied" : "failure", textResultForLlm: text, error: code };
      } catch (error) {
        const text = `${error?.message ?? error}`;
        return { resultType: "failure", textResultForLlm: text, error: text };
      }
    },
  }));
}

session = await joinSession({ tools: await tools() });
