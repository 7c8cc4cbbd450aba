import type { SingleToolApprovalFunction, Tool } from "ai" with { "resolution-mode": "import" };
import type { Toolbox } from "./index.cjs";
import type { AdapterOptions, ApprovalRequest, PendingApprovals } from "./adapter.cjs";

export type { AdapterOptions, ApprovalRequest, PendingApprovals };

/**
 * The tools of a toolbox for `generateText`, `streamText` and `ToolLoopAgent` of the AI SDK.
 *
 * A partial result is a preliminary result, `{ update }`. A run that needs an approval is a tool approval request of the SDK; `pending`
 * keeps what was asked until the call.
 */
export declare function toolcellTools(box: Toolbox, options?: AdapterOptions & { pending?: PendingApprovals }): Promise<Record<string, Tool>>;

/** For the option `toolApproval`: with it, an approval request has as its reason the text that a person is to be shown. */
export declare function toolcellApproval(tools: Record<string, Tool>): Record<string, SingleToolApprovalFunction<any, any, any>>;
