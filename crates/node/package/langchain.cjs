"use strict";
// The adapter for LangChain and LangGraph.

const { openCalls } = require("./adapter.cjs");

async function toolcellTools(box, options) {
  const { definitions, calls } = await openCalls(box, "langchain", options);
  const { tool } = await import("@langchain/core/tools");
  const { ToolMessage } = await import("@langchain/core/messages");
  const inOrder = createQueue();
  const toTool = ({ name, description, inputSchema }) => {
    const execute = async (input, config) => {
      const callId = config?.toolCall?.id;
      const toResult = (content, isError, artifact) =>
        callId === undefined
          ? content
          : new ToolMessage({ content, artifact, name, tool_call_id: callId, status: isError ? "error" : "success" });
      // A resumed graph executes the tool again: the answer brings back what was shown.
      const answer = await inOrder(async () => {
        const request = await calls.approvalRequest(name, input, callId);
        return request && checkAnswer(await ask(request));
      });
      if (answer?.refuse !== undefined) return toResult(answer.refuse, true);
      const onUpdate = (update) => config?.writer?.({ toolCallId: callId, update });
      const result = await calls.call(name, input, { callId, approved: answer?.approved ?? [], signal: config?.signal, onUpdate });
      return toResult(toContent(result), result.isError, result.structured);
    };
    return tool(execute, { name, description, schema: inputSchema });
  };
  return definitions.map(toTool);
}

/** Creates a queue of tasks: a node that makes several calls gets its answers in the order in which they ask. */
function createQueue() {
  let last = Promise.resolve();
  return (task) => {
    const done = last.then(task);
    last = done.catch(() => {});
    return done;
  };
}

/** Suspends the graph until a person has answered. Outside of a graph there is no answer, and the toolbox refuses the call. */
async function ask(request) {
  const langgraph = await import("@langchain/langgraph").catch((error) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  });
  try {
    return langgraph?.interrupt(request);
  } catch (error) {
    if (langgraph.isGraphInterrupt(error)) throw error;
  }
}

function checkAnswer(answer) {
  if (answer === undefined || Array.isArray(answer?.approved)) return answer;
  if (answer === false) return { refuse: "a person refused the call" };
  if (typeof answer?.refuse === "string") return { refuse: `a person refused the call: ${answer.refuse}` };
  throw new TypeError("a call is resumed with { approved: interrupt.value.questions }, { refuse: why } or false");
}

function toContent({ text, images }) {
  if (images.length === 0) return text;
  const blocks = images.map(({ data, mimeType }) => ({ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } }));
  return [{ type: "text", text }, ...blocks];
}

module.exports = { toolcellTools };
