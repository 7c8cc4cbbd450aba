import type { FunctionTool } from "@openai/agents";
import type { Toolbox } from "./index.cjs";
import type { AdapterOptions, ApprovalRequest, PendingApprovals } from "./adapter.cjs";

export type { AdapterOptions, ApprovalRequest, PendingApprovals };

/**
 * The tools of a toolbox for an `Agent` of the OpenAI Agents SDK.
 *
 * A run that needs an approval is an interruption of the SDK; `pending.get(interruption.rawItem.callId)` is what a person is to be
 * shown. `alwaysApprove` does not hold for such runs: each call has its own question.
 */
export declare function toolcellTools(box: Toolbox, options?: AdapterOptions & { pending?: PendingApprovals }): Promise<FunctionTool<any, any, any>[]>;
