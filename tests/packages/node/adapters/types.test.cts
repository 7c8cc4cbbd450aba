// The types of the adapters, as a CommonJS module sees them: this file is compiled with `tsc --strict`, and not run.

import { Toolbox } from "toolcell";
import { generateText, stepCountIs, ToolLoopAgent, type LanguageModel } from "ai";
import { toolcellApproval, toolcellTools as aiTools } from "toolcell/ai";
import { Agent, run } from "@openai/agents";
import { toolcellTools as openaiTools, type ApprovalRequest } from "toolcell/openai";
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { toolcellTools as langchainTools, type ApprovalAnswer } from "toolcell/langchain";

export async function ai(box: Toolbox, model: LanguageModel, signal: AbortSignal): Promise<string> {
  const tools = await aiTools(box, { operations: ["run_code"], published: 8, limits: { timeoutMs: 1000 }, caller: { session: "s" }, pending: new Map() });
  const toolApproval = toolcellApproval(tools);
  new ToolLoopAgent({ model, tools, toolApproval });
  // @ts-expect-error there is no such option
  await aiTools(box, { publish: 8 });
  return (await generateText({ model, tools, toolApproval, prompt: "go", stopWhen: stepCountIs(3), abortSignal: signal })).text;
}

export async function openai(box: Toolbox): Promise<void> {
  const pending = new Map<string, ApprovalRequest>();
  const agent = new Agent({ name: "agent", tools: await openaiTools(box, { pending }) });
  const { interruptions, state } = await run(agent, "go");
  for (const interruption of interruptions)
    if (interruption.rawItem.type === "function_call") {
      console.log(pending.get(interruption.rawItem.callId)?.text);
      state.approve(interruption);
    }
}

export async function langchain(box: Toolbox, model: BaseChatModel): Promise<void> {
  const tools = await langchainTools(box);
  model.bindTools?.(tools);
  const graph = new StateGraph(MessagesAnnotation).addNode("tools", new ToolNode(tools)).addEdge("__start__", "tools").compile({ checkpointer: new MemorySaver() });
  const resume: ApprovalAnswer = { refuse: "ask Ann" };
  await graph.invoke(new Command({ resume }));
  // @ts-expect-error a yes says to what
  const yes: ApprovalAnswer = true;
  console.log(yes);
}
