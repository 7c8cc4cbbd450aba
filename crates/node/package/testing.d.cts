/** What registers a test: `test` of node:test, of vitest, of Bun or of Jest. */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown;

export interface ToolTestOptions {
  test: RegisterTest;
  /** Whether budgets are ignored. */
  noBudgets?: boolean;
  /** Fails tests that use so much more fuel than when their budget was written (`"5%"`), instead of checking the budget. */
  maxRegression?: string;
}

/** A case failed: what `toolcell test` says about it. */
export declare class ToolCaseFailed extends Error {}

/**
 * Registers each case of test files (`*.test.toml`), or of folders with test files, as a test. What fails `toolcell test` fails it: the
 * value, the effects, the logs, and the budgets of fuel, memory and time. Rejects if a file is invalid.
 */
export declare function toolcellTests(paths: string | string[], options: ToolTestOptions): Promise<{ path: string; name: string }[]>;
