"use strict";
// The adapter for the Agents SDK of OpenAI.

const { openCalls } = require("./adapter.cjs");

async function toolcellTools(box, options) {
  const { definitions, calls } = await openCalls(box, "openai-agents", options);
  const { tool } = await import("@openai/agents");
  const toTool = ({ name, description, inputSchema }) => {
    const isApproved = (context, callId) => context.isToolApproved({ toolName: name, callId }) === true;
    return tool({
      name,
      description,
      parameters: inputSchema,
      strict: false,
      needsApproval: async (context, input, callId) => {
        // The SDK may ask again when it resumes an approved call: what was shown stays what was shown.
        if (isApproved(context, callId)) return true;
        const request = await calls.approvalRequest(name, input, callId);
        await calls.keep(callId, request);
        return request !== undefined;
      },
      execute: async (input, context, details) => {
        const callId = details?.toolCall?.callId;
        return toOutput(await calls.call(name, input, { callId, isApproved: isApproved(context, callId), signal: details?.signal }));
      },
    });
  };
  return definitions.map(toTool);
}

function toOutput({ text, images }) {
  if (images.length === 0) return text;
  return [{ type: "text", text }, ...images.map(({ data, mimeType }) => ({ type: "image", image: { data, mediaType: mimeType } }))];
}

module.exports = { toolcellTools };
