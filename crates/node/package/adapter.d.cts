import type { HostFunctions, JsonObject, Limits, Question, RunOptions } from "./index.cjs";

/** What the model is offered, and how its calls run. */
export interface AdapterOptions {
  /** The operations that the model is offered: all where nothing is said, `[]` for none. */
  operations?: string[];
  /** The maximum number of approved tools that are offered under their own names: 32 where nothing is said. */
  published?: number;
  /** What the caller claims about itself, for records and hooks. The adapter adds the identifier of each call. */
  caller?: RunOptions["caller"];
  /** The limits of each call. */
  limits?: Limits;
  /** Functions that code may call. */
  functions?: HostFunctions;
}

/** What a person is asked before a call. It is JSON. */
export interface ApprovalRequest {
  name: string;
  args: JsonObject;
  /** What is to be shown: all that decides the answer. */
  text: string;
  questions: Question[];
}

/**
 * The approvals that are waited for, by the identifier of the call: a `Map`, or a store that outlives the process. Without one they are
 * kept in memory, with the toolbox. Where a call is resumed and its questions are not here any more, the call is refused.
 */
export interface PendingApprovals {
  get(callId: string): ApprovalRequest | undefined | Promise<ApprovalRequest | undefined>;
  set(callId: string, request: ApprovalRequest): unknown;
  delete(callId: string): unknown;
}
