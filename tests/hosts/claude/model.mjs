// A model on the loopback address that says what a script says: Anthropic messages, streamed.
import { createServer } from "node:http";

/**
 * Starts the model. Each answer to a request with tools is the next step of the script: `{ text }`, or `{ calls: [[name, arguments], …] }`.
 *
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function startModel(script) {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (!request.url.split("?")[0].endsWith("/v1/messages")) {
      response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens": 1}');
      return;
    }
    const body = JSON.parse(text);
    // Requests without tools are side errands, such as titles.
    const step = body.tools?.length ? (script.shift() ?? { text: "done" }) : { text: "ok" };
    const blocks = step.calls?.map(([name, input], index) => ({ type: "tool_use", id: `toolu_${script.length}_${index}`, name, input }));
    const message = { id: "msg", type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    const stop_reason = blocks ? "tool_use" : "end_turn";
    if (!body.stream) {
      const content = blocks ?? [{ type: "text", text: step.text }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...message, content, stop_reason }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    send("message_start", { message });
    for (const [index, block] of (blocks ?? [{ type: "text", text: "" }]).entries()) {
      send("content_block_start", { index, content_block: blocks ? { ...block, input: {} } : block });
      const delta = blocks
        ? { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
        : { type: "text_delta", text: step.text };
      send("content_block_delta", { index, delta });
      send("content_block_stop", { index });
    }
    send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
    send("message_stop", {});
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
