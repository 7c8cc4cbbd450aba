//! An MCP server with one tool, `echo`, over its standard streams. It answers as fast as a process can, so that what a client
//! adds to a call can be measured: `tests/bridge/run` does.
//!
//! Invariant: answers are in the order of the requests, and are written at once where no other request is waiting.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 << 10, io::stdin().lock());
    let mut output = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(answer) = serde_json::from_slice(&line).ok().and_then(answer) {
            serde_json::to_writer(&mut output, &answer)?;
            output.write_all(b"\n")?;
        }
        if input.buffer().is_empty() {
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// Answers a message; `None` if it is no request.
fn answer(mut message: Value) -> Option<Value> {
    let id = message.get_mut("id").map(Value::take)?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "echo", "version": "1.0.0" },
        }),
        "tools/list" => json!({ "tools": [tool()] }),
        "tools/call" => {
            let text = message["params"]["arguments"]["text"].take();
            json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "text": text } })
        }
        "ping" => json!({}),
        method => {
            let message = format!("there is no method `{method}`");
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": message } }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn tool() -> Value {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    json!({
        "name": "echo",
        "description": "Returns a text",
        "inputSchema": schema,
        "outputSchema": schema,
        "annotations": { "readOnlyHint": true },
    })
}
