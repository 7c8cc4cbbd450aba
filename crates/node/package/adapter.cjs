"use strict";
// What the adapters of agent frameworks share: definitions, calls, and the questions that a person answers before a call.
//
// Invariant: a call passes on the questions that a person was shown, never those of the moment. If they are not known any
// more, it passes on none, and the toolbox refuses what needs an approval.

const MAX_PENDING = 1024;

/** The approvals that are waited for, by the identifier of the call. The oldest is evicted. */
class PendingApprovals extends Map {
  set(callId, request) {
    if (!this.has(callId) && this.size >= MAX_PENDING) this.delete(this.keys().next().value);
    return super.set(callId, request);
  }
}

/** Those of each toolbox: a server may make its tools anew for each request. */
const pendingOf = new WeakMap();

/** The calls of a framework. */
class Calls {
  #box;
  #options;
  #caller;

  constructor(box, client, { pending, caller, ...options }) {
    if (!pendingOf.has(box)) pendingOf.set(box, new PendingApprovals());
    this.#box = box;
    this.#options = options;
    this.#caller = { client, ...caller };
    this.pending = pending ?? pendingOf.get(box);
  }

  /** Returns what a person has to approve before a call runs, or `undefined`. */
  async approvalRequest(name, args, callId) {
    const questions = await this.#box.questions(name, args, { caller: this.#callerOf(callId) });
    if (questions.length === 0) return undefined;
    return { name, args, text: questions.map((question) => question.display).join("\n\n"), questions };
  }

  /** Keeps what a person is asked about a call, until the call. */
  async keep(callId, request) {
    if (callId === undefined) return;
    if (request === undefined) await this.pending.delete(callId);
    else await this.pending.set(callId, request);
  }

  /** Calls a tool. If a person approved it, the questions are `approved`, or those that were kept: for this one call. */
  async call(name, args, { callId, isApproved, approved, signal, onUpdate }) {
    if (isApproved && callId !== undefined) {
      const [request] = await Promise.all([this.pending.get(callId), this.pending.delete(callId)]);
      approved = request?.questions;
    }
    const options = { ...this.#options, caller: this.#callerOf(callId), approved, signal, onUpdate };
    return this.#box.call(name, args ?? {}, options);
  }

  #callerOf(callId) {
    return callId === undefined ? this.#caller : { ...this.#caller, call: callId };
  }
}

/** Returns the definitions of the tools of a toolbox, and their calls; `client` is how records name the framework. */
async function openCalls(box, client, options = {}) {
  const { operations, published, caller, limits, functions, pending, ...rest } = options;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new TypeError(`toolcellTools has no option \`${unknown}\``);
  const definitions = await box.definitions({ operations, published });
  return { definitions, calls: new Calls(box, client, { caller, limits, functions, pending }) };
}

module.exports = { openCalls, PendingApprovals };
