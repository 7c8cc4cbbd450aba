// A model on the loopback address that says what a script says: OpenAI chat completions, streamed.
import { createServer } from "node:http";

/**
 * Starts the model. Each answer is the next step of the script: `{ text }`, or `{ calls: [[name, arguments], …] }`. A step may
 * be a function of the request. After the last one, the answers are "done".
 *
 * @returns {Promise<{ url: string, requests: object[], close: () => void }>}
 */
export async function startScriptedModel(script) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    requests.push(body);
    const next = script.shift() ?? { text: "done" };
    const step = typeof next === "function" ? await next(body) : next;
    const calls = step.calls?.map(([name, args], index) => ({
      index,
      id: `call_${requests.length}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const delta = { role: "assistant", content: step.text ?? null, ...(calls && { tool_calls: calls }) };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [choice, more] of [[{ delta, finish_reason: null }], [{ delta: {}, finish_reason: calls ? "tool_calls" : "stop" }, { usage }]]) {
      const chunk = { id: "x", object: "chat.completion.chunk", created: 1, model: body.model, choices: [{ index: 0, ...choice }], ...more };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close: () => server.close() };
}
