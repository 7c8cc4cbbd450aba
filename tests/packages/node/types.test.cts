// The types, as a CommonJS module sees them: this file is compiled with `tsc --strict`, and not run.

import { defer, flameGraph, Refused, SuspendedRun, Toolbox, ToolcellError, ToolFailed } from "toolcell";
import type { EffectApprover, HostFunctions, Ran, Replay, Run, SuspendableRun, SuspendedRunInfo } from "toolcell";
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
  const effectApprover: EffectApprover = async (held, { signal }) => held.map(({ kind, body }) => (kind === "fetch" && body === undefined && !signal.aborted ? true : "later"));
  const later: HostFunctions = { ask: () => defer("job 7") };
  const ended = await box.runSuspendable<number>("twice", { n: 21 }, { effectApprover, functions: later });
  if (ended instanceof SuspendedRun) {
    const resumed: SuspendableRun<number> = box.resume<number>(ended, { answers: { "job 7": { price: 3 }, "job 8": new Error("gone") }, signal });
    for await (const update of resumed) console.log(update, ended.tickets[0]?.ticket, ended.held.length);
    resumed.cancel();
  } else console.log(ended.value + 1);
  const infos: SuspendedRunInfo[] = await box.suspended();
  const { profile, receipt } = await box.run("twice", { n: 21 }, { profile: true, receipt: true, effectApprover: () => true });
  if (profile !== undefined) console.log(flameGraph(profile), profile.functions[0]?.own, profile.stacks[0]?.frames[0]?.[0]);
  const replay: Replay = await box.replay(receipt ?? "", { anyVersion: true });
  for await (const _ of box.changes({ signal })) console.log(infos[0]?.since.getTime(), replay.differences);
  // @ts-expect-error code has no effects that are held
  await box.runCode("", {}, { effectApprover });
  // @ts-expect-error a run that may be suspended has no receipt
  await box.runSuspendable("twice", {}, { receipt: true });
  // @ts-expect-error an effect approver decides
  await box.run("twice", {}, { effectApprover: () => "perhaps" });
  const { permissionDecision, decidedBy } = await box.decide({ toolName: "bash", toolArgs: { command: "ls" } });
  // @ts-expect-error there is no such option
  await Toolbox.open({ polcy: "" });
  // @ts-expect-error a toolbox is opened, not constructed
  new Toolbox();
  return [doubled, permissionDecision, decidedBy];
}
