// The types of the adapters: this file is compiled with `tsc --strict`, and not run.

import { Toolbox } from "toolcell";
import { CopilotClient } from "@github/copilot-sdk";
import { toolcellPermissions, toolcellTools as copilotTools } from "toolcell/copilot";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { toolcellTools as claudeTools } from "toolcell/claude";

export async function copilot(box: Toolbox): Promise<void> {
  const tools = await copilotTools(box, { published: 8 });
  const onPermissionRequest = toolcellPermissions(tools, (request, { sessionId }, approval) => {
    console.log(request.kind, sessionId, approval?.text);
    return { kind: "reject", feedback: "not now" };
  });
  await new CopilotClient().createSession({ tools, onPermissionRequest });
}

export async function claude(box: Toolbox): Promise<void> {
  const toolcell = await claudeTools(box, {
    abortController: new AbortController(),
    canUseTool: async (name, input, { decisionReason }, approval) => {
      console.log(name, decisionReason, approval?.questions[0]?.facts);
      return { behavior: "allow", updatedInput: input };
    },
  });
  for await (const message of query({ prompt: "go", options: { ...toolcell, maxTurns: 3 } })) console.log(message.type);
  // @ts-expect-error there is no such option
  await claudeTools(box, { publish: 8 });
}
