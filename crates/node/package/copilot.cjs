"use strict";
// The adapter for the SDK of GitHub Copilot.

const { openCalls, PendingApprovals } = require("./adapter.cjs");

/** The calls of each tool. */
const callsOf = new WeakMap();

async function toolcellTools(box, options) {
  const { definitions, calls } = await openCalls(box, "copilot-sdk", { ...options, pending: new PendingApprovals() });
  const toTool = ({ name, description, inputSchema, tool: storedTool }) => {
    const tool = {
      name,
      description,
      parameters: inputSchema,
      defer: storedTool === null ? "never" : "auto",
      // What is kept was approved.
      handler: async (args, { toolCallId, signal }) => toResult(await calls.call(name, args, { callId: toolCallId, isApproved: true, signal })),
    };
    callsOf.set(tool, calls);
    return tool;
  };
  return definitions.map(toTool);
}

function toolcellPermissions(tools, handler) {
  return async (request, invocation) => {
    const tool = request.kind === "custom-tool" ? tools.find((tool) => tool.name === request.toolName) : undefined;
    const calls = callsOf.get(tool);
    if (calls === undefined) return handler(request, invocation);
    const approval = await calls.approvalRequest(tool.name, request.args ?? {}, request.toolCallId);
    // A policy of the organisation may demand that a person is asked.
    if (approval === undefined && !request.managedApprovalRequired) return { kind: "approve-once" };
    const answer = await handler(request, invocation, approval);
    const { kind } = answer.kind === "attributed" ? answer.result : answer;
    if (!kind.startsWith("approve")) return answer;
    // Also an approval for the session is for this call: what another one would do has not been shown.
    await calls.keep(request.toolCallId, approval);
    return { kind: "approve-once" };
  };
}

function toResult({ text, isError, images, error }) {
  const binaryResultsForLlm = images.map(({ data, mimeType }) => ({ type: "image", data, mimeType }));
  if (!isError) return { resultType: "success", textResultForLlm: text, binaryResultsForLlm };
  return { resultType: error?.code === "timeout" ? "timeout" : "failure", textResultForLlm: text, binaryResultsForLlm, error: error?.code };
}

module.exports = { toolcellTools, toolcellPermissions };
