import type { StructuredToolInterface } from "@langchain/core/tools";
import type { Toolbox } from "./index.cjs";
import type { AdapterOptions } from "./langchain.cjs";

export type { AdapterOptions, ApprovalAnswer, ApprovalRequest } from "./langchain.cjs";

// The types of LangChain differ between its two kinds of modules.

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
