"""A model on the loopback address that says what a script says: Anthropic messages, streamed."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedModel:
    """Each answer is the next step of the script: calls `(name, arguments)`. After the last one, the answers are "done"."""

    def __init__(self, *script):
        self.script, self.requests = list(script), []

    def answer(self, body):
        # Requests without tools are side errands, such as a title.
        if not body.get("tools"):
            return [{"type": "text", "text": "ok"}]
        self.requests.append(body)
        calls = self.script.pop(0) if self.script else []
        ids = (f"toolu_{len(self.requests)}_{at}" for at in range(len(calls)))
        blocks = [{"type": "tool_use", "id": id, "name": name, "input": args} for id, (name, args) in zip(ids, calls)]
        return blocks or [{"type": "text", "text": "done"}]

    def results(self):
        """What the model has read as results of tools, in the order of the calls: whether it is an error, and its content."""
        messages = self.requests[-1]["messages"]
        blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
        results = sorted((block for block in blocks if block["type"] == "tool_result"), key=lambda one: one["tool_use_id"])
        return [(block.get("is_error", False), block["content"]) for block in results]


def events(model, blocks):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    for index, block in enumerate(blocks):
        is_call = block["type"] == "tool_use"
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            if is_call
            else {"type": "text_delta", "text": block["text"]}
        )
        start = {**block, "input": {}} if is_call else {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


@contextlib.contextmanager
def serve(model):
    """Serves a model, and yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.split("?")[0].endswith("/v1/messages"):
                kind, text = "text/event-stream", "".join(
                    f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                    for event in events(body["model"], model.answer(body))
                )
            else:
                kind, text = "application/json", '{"input_tokens": 1}'
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
