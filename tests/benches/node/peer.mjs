// Serves calls of a tool to a benchmark: one JSON request a line in, one answer a line out.
import { createInterface } from "node:readline";

/** Answers each request by making `calls` calls with `call(source, params)`, which gives the result as JSON text. */
export async function serve(call) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { source, params, calls } = JSON.parse(line);
    const microseconds = [];
    let result;
    for (let n = 0; n < calls; n++) {
      const started = performance.now();
      result = await call(source, params);
      microseconds.push((performance.now() - started) * 1000);
    }
    process.stdout.write(`${JSON.stringify({ microseconds, result })}\n`);
  }
}
