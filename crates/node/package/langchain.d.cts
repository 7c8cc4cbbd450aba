import type { StructuredToolInterface } from "@langchain/core/tools";
import type { Toolbox, Question } from "./index.cjs";
import type { AdapterOptions, ApprovalRequest } from "./adapter.cjs";

export type { AdapterOptions, ApprovalRequest };

/** How a graph is resumed: with the questions of the interrupt, which a person approved, or without an approval. */
export type ApprovalAnswer = { approved: Question[] } | { refuse: string } | false;

/**
 * The tools of a toolbox for LangChain and LangGraph.
 *
 * In a graph with a checkpointer, a run that needs an approval is an `interrupt()` whose value is an `ApprovalRequest`; the graph is
 * resumed with an `ApprovalAnswer`, by any process. Elsewhere such a run is refused. Partial results go to the stream mode `custom`.
 *
 * A graph that is resumed executes a node again from its start: a `ToolNode` with several calls runs all of them again. Where each
 * call has its own task, as in `createAgent`, a call runs once.
 */
export declare function toolcellTools(box: Toolbox, options?: AdapterOptions): Promise<StructuredToolInterface[]>;
