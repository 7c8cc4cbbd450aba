// The types, as a CommonJS module sees them: this file is compiled with `tsc --strict`, and not run.

import { Refused, Toolbox, ToolcellError, ToolFailed, type HostFunctions, type Ran, type Run } from "toolcell";
import { Type } from "@sinclair/typebox";
import { z } from "zod";

export async function main(signal: AbortSignal): Promise<unknown[]> {
  const functions: HostFunctions = {
    price: ({ sku }: { sku: string }) => sku.length,
    checked: { parameters: z.object({ n: z.number() }), execute: async ({ n }) => n, readOnly: true, timeoutMs: 100 },
    boxed: { parameters: Type.Object({ n: Type.Number() }), execute: ({ n }) => n },
  };
  await using box = await Toolbox.open({ dir: "tools", functions, hooks: [{ name: "house", before: (event) => ({ permissionDecision: event.toolName === "rm" ? "deny" : "allow" }) }] });
  await box.create({ name: "twice", description: "Doubles", code: "", parameters: { n: { type: "number" } } });
  const run: Run<number> = box.run<number>("twice", { n: 21 }, { signal, limits: { fuel: 1_000_000 } });
  for await (const update of run) console.log(update);
  const ran: Ran<number> = await run;
  const doubled: number = ran.value + ran.fuel;
  try {
    await box.runCode("", {}, { grants: { timers: true } });
  } catch (error) {
    if (error instanceof ToolFailed) console.log(error.thrown.line, error.run.durationMs);
    else if (error instanceof Refused) console.log(error.decidedBy);
    else if (ToolcellError.is(error)) console.log(error.code, error.hint, error.effects);
  }
  const { permissionDecision, decidedBy } = await box.decide({ toolName: "bash", toolArgs: { command: "ls" } });
  // @ts-expect-error there is no such option
  await Toolbox.open({ polcy: "" });
  // @ts-expect-error a toolbox is opened, not constructed
  new Toolbox();
  return [doubled, permissionDecision, decidedBy];
}
