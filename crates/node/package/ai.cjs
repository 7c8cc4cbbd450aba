"use strict";
// The adapter for the AI SDK of Vercel.

const { openCalls } = require("./adapter.cjs");

/** How the approval of a tool is asked for. */
const approvals = new WeakMap();

async function toolcellTools(box, options) {
  const { definitions, calls } = await openCalls(box, "ai-sdk", options);
  const { dynamicTool, jsonSchema } = await import("ai");
  const toTool = ({ name, description, inputSchema }) => {
    const ask = async (input, { toolCallId, messages }) => {
      // The SDK asks again when it resumes an approved call: what was shown stays what was shown.
      if (isResumed(messages, toolCallId)) return (await calls.pending.get(toolCallId)) ?? {};
      const request = await calls.approvalRequest(name, input, toolCallId);
      await calls.keep(toolCallId, request);
      return request;
    };
    const tool = dynamicTool({
      description,
      inputSchema: jsonSchema(inputSchema),
      needsApproval: async (input, options) => (await ask(input, options)) !== undefined,
      execute: (input, { toolCallId, messages, abortSignal }) => {
        const control = { callId: toolCallId, isApproved: isResumed(messages, toolCallId), signal: abortSignal };
        return withUpdates((onUpdate) => calls.call(name, input, { ...control, onUpdate }));
      },
      toModelOutput: ({ output }) => toModelOutput(output),
    });
    approvals.set(tool, ask);
    return [name, tool];
  };
  return Object.fromEntries(definitions.map(toTool));
}

function toolcellApproval(tools) {
  const entries = Object.entries(tools).filter(([, tool]) => approvals.has(tool));
  const toStatus = (ask) => async (input, options) => {
    const request = await ask(input, options);
    return request === undefined ? "not-applicable" : { type: "user-approval", reason: request.text };
  };
  return Object.fromEntries(entries.map(([name, tool]) => [name, toStatus(approvals.get(tool))]));
}

/** Whether the messages end with the answer to the approval request of a call. */
function isResumed(messages, toolCallId) {
  const partsOf = (message) => (Array.isArray(message?.content) ? message.content : []);
  const answers = partsOf(messages.at(-1)).filter((part) => part.type === "tool-approval-response");
  const requests = messages.flatMap(partsOf).filter((part) => part.type === "tool-approval-request");
  return requests.some((request) => request.toolCallId === toolCallId && answers.some((answer) => answer.approvalId === request.approvalId));
}

/** Yields the partial results of a call, `{ update }`, and then its result. */
async function* withUpdates(start) {
  const updates = [];
  let wake;
  let hasEnded = false;
  const call = start((update) => {
    updates.push(update);
    wake?.();
  }).finally(() => (hasEnded = true));
  // The SDK may leave the results before the call has ended.
  call.catch(() => {});
  for (;;) {
    while (updates.length > 0) yield { update: updates.shift() };
    if (hasEnded) break;
    await Promise.race([call, new Promise((resolve) => (wake = resolve))]);
  }
  const { text, isError, structured, images } = await call;
  yield { text, isError, structured, images };
}

function toModelOutput({ text, isError, images }) {
  if (isError) return { type: "error-text", value: text };
  if (images.length === 0) return { type: "text", value: text };
  const files = images.map(({ data, mimeType }) => ({ type: "file", mediaType: mimeType, data: { type: "data", data } }));
  return { type: "content", value: [{ type: "text", text }, ...files] };
}

module.exports = { toolcellTools, toolcellApproval };
