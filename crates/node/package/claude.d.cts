import type { CanUseTool, Options } from "@anthropic-ai/claude-agent-sdk" with { "resolution-mode": "import" };
import type { Toolbox } from "./index.cjs";
import type { AdapterOptions, ApprovalRequest } from "./adapter.cjs";

export type { AdapterOptions, ApprovalRequest };

export interface ClaudeOptions extends AdapterOptions {
  /**
   * Is asked about a run that needs an approval, with what a person is to be shown, and about the tools of others. Without it, runs
   * that need an approval are refused. Each answer holds for one call.
   */
  canUseTool?: (...call: [...Parameters<CanUseTool>, approval?: ApprovalRequest]) => ReturnType<CanUseTool>;
  /** That of the query: an abort then ends a run at once, instead of with the connection. */
  abortController?: AbortController;
}

/**
 * The tools of a toolbox, as options of `query` of the Claude Agent SDK: an MCP server in this process, and who may use it. Queries
 * at the same time need one each.
 */
export declare function toolcellTools(
  box: Toolbox,
  options?: ClaudeOptions,
): Promise<Pick<Options, "mcpServers" | "allowedTools" | "canUseTool" | "abortController">>;
