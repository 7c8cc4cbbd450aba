"use strict";
// The adapter for the Agent SDK of Claude.

const { openCalls, PendingApprovals } = require("./adapter.cjs");
const { version } = require("./package.json");

const SERVER = "toolcell";
const PREFIX = `mcp__${SERVER}__`;

async function toolcellTools(box, { canUseTool, abortController, ...options } = {}) {
  const { definitions, calls } = await openCalls(box, "claude-agent-sdk", { ...options, pending: new PendingApprovals() });
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { CallToolRequestSchema, ListToolsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const instance = new McpServer({ name: SERVER, version }, { capabilities: { tools: {} } });
  // `registerTool` takes schemas of zod alone.
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: definitions.map(toMcpTool) }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args, _meta } }, extra) => {
    const signal = abortController === undefined ? extra.signal : AbortSignal.any([extra.signal, abortController.signal]);
    // What is kept was approved.
    const { text, isError, images } = await calls.call(name, args, { callId: _meta?.["claudecode/toolUseId"], isApproved: true, signal });
    // Without structured content, which Claude Code would show to the model instead of the text.
    return { isError, content: [{ type: "text", text }, ...images.map((image) => ({ type: "image", ...image }))] };
  });
  const shared = { mcpServers: { [SERVER]: { type: "sdk", name: SERVER, instance } }, ...(abortController && { abortController }) };
  // A tool that is allowed from the start would not be asked about.
  if (canUseTool !== undefined) return { ...shared, allowedTools: [], canUseTool: toPermission(calls, canUseTool) };
  return { ...shared, allowedTools: definitions.map(({ name }) => PREFIX + name) };
}

function toPermission(calls, canUseTool) {
  return async (toolName, input, options) => {
    const isOfServer = toolName.startsWith(PREFIX) && (options.mcpServer ?? { source: "sdk" }).source === "sdk";
    if (!isOfServer) return canUseTool(toolName, input, options);
    const request = await calls.approvalRequest(toolName.slice(PREFIX.length), input, options.toolUseID);
    // A rule of the user may demand that a person is asked.
    if (request === undefined && options.matchedAskRule === undefined) return { behavior: "allow", updatedInput: input };
    const answer = await canUseTool(toolName, input, { ...options, decisionReason: request?.text ?? options.decisionReason }, request);
    if (answer?.behavior !== "allow") return answer;
    await calls.keep(options.toolUseID, request);
    // Also a rule for the session is for this call: what another one would do has not been shown.
    return { behavior: "allow", updatedInput: answer.updatedInput ?? input };
  };
}

/** Operations are always in the prompt; approved tools may be deferred behind tool search. */
function toMcpTool({ name, title, description, inputSchema, readOnly, destructive, idempotent, openWorld, tool }) {
  const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: openWorld };
  return { name, title, description, inputSchema, annotations, ...(tool === null && { _meta: { "anthropic/alwaysLoad": true } }) };
}

module.exports = { toolcellTools };
