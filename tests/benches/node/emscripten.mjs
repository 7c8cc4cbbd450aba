// The npm package `quickjs-emscripten`: one module, a fresh runtime and context for each call.
// The folder with its `node_modules` is the argument.
import { createRequire } from "node:module";
import { join } from "node:path";
import { serve } from "./peer.mjs";

const { getQuickJS } = createRequire(join(process.argv[2], "index.js"))("quickjs-emscripten");
const quickjs = await getQuickJS();

await serve((source, params) => {
  const context = quickjs.newContext();
  try {
    context.unwrapResult(context.evalCode(source)).dispose();
    const start = `Promise.resolve(execute(${params})).then((value) => { globalThis.result = JSON.stringify(value); });`;
    context.unwrapResult(context.evalCode(start)).dispose();
    context.runtime.executePendingJobs().dispose();
    return context.getProp(context.global, "result").consume(context.getString);
  } finally {
    context.dispose();
  }
});
