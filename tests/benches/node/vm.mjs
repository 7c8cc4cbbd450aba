// Node's `vm`: a fresh context for each call. (Node's own manual says that it is no security mechanism.)
import vm from "node:vm";
import { serve } from "./peer.mjs";

await serve(async (source, params) => {
  const context = vm.createContext({});
  vm.runInContext(source, context);
  return JSON.stringify(await context.execute(JSON.parse(params)));
});
