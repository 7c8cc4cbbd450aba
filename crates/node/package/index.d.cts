/// <reference lib="esnext.disposable" />

/** A value of JSON. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };
/** How far the world was changed. */
export type Effects = "none" | "started" | "committed";
export type Lang = "en" | "ja" | "zh";

/** The limits of a call. What is not said is the policy's; what is above the policy's is refused. */
export interface Limits {
  /** About one unit for each Wasm instruction: the same on every machine. */
  fuel?: number;
  /** Wall-clock time in milliseconds. */
  timeoutMs?: number;
  /** Memory in MiB. */
  memoryMb?: number;
  /** The size of the result in bytes. */
  outputBytes?: number;
  /** The size of the console text in bytes. */
  consoleBytes?: number;
}

/** An error of Toolcell. `instanceof` works across copies of the package. */
export declare class ToolcellError extends Error {
  /** Whether a value is an error of Toolcell, of any copy of the package. */
  static is(error: unknown): error is ToolcellError;
  /** Stable: the documentation explains each code. */
  readonly code: string;
  /** What to do next; empty where there is nothing to say. */
  readonly hint: string;
  readonly effects: Effects;
}

/** What a tool threw, with the lines of its source. */
export interface Thrown {
  name: string;
  message: string;
  line: number | null;
  column: number | null;
  stack: string;
}

/** The tool threw. `cause` is what a function of the host threw, if it was that. */
export declare class ToolFailed extends ToolcellError {
  readonly thrown: Thrown;
  readonly run: Ran<undefined>;
}

/**
 * A limit or a cancellation ended the run; `code` says which: `out-of-fuel`, `timeout`, `out-of-memory`, `cancelled`, …
 * `name` is `AbortError` for a cancelled run, and `TimeoutError` for one that reached its deadline.
 */
export declare class Stopped extends ToolcellError {
  /** What there was of the run; missing if it was cancelled before it began. */
  readonly run?: Ran<undefined>;
}

/** Nothing ran: the request, the analysis, the policy, a hook or a person is against it. */
export declare class Refused extends ToolcellError {
  /** What denied the call: `policy`, `hook NAME`, `approval` or `person`. */
  readonly decidedBy?: string;
  /** Whether an approval would admit the same call. */
  readonly awaitsApproval: boolean;
}

/** A run that took place. */
export interface Ran<Output = unknown> {
  /** What the tool returned. Where `suppressed` says so, a hook keeps it from the model. */
  readonly value: Output;
  /** `null` for code that is not stored. */
  readonly toolId: string | null;
  readonly toolName: string | null;
  /** The fuel of the call. */
  readonly fuel: number;
  /** The fuel of loading the source; 0 where it was loaded before. */
  readonly loadFuel: number;
  readonly memoryBytes: number;
  readonly durationMs: number;
  readonly effects: Effects;
  /** What a model reads. */
  readonly text: string;
  readonly logs: { level: "debug" | "log" | "info" | "warn" | "error"; text: string }[];
  /** Values that could not be represented exactly; `path` is a JSON Pointer (RFC 6901). */
  readonly warnings: { place: "params" | "result"; path: string; message: string }[];
  /** Texts that hooks add for the model. */
  readonly context: { hook: string; text: string }[];
  /** Whether a hook keeps the output from the model. */
  readonly suppressed: boolean;
  /** The hash of the record of the run. */
  readonly record?: string;
  readonly unrecorded?: string;
  readonly revisedBy?: string;
  readonly deprecated?: { successor: string | null };
  /** The receipt, if one was asked for: `replay` re-executes the run from it. */
  readonly receipt?: string;
  /** The sources of the result, also of a failure, such as `server:mail.read`; left out without rules about flows. */
  readonly labels?: string[];
  /** The fuel profile, if one was asked for. */
  readonly profile?: Profile;
}

/**
 * Where the fuel of a run was spent. The `own` fuel of the functions and the fuel `outside` of them add up to the fuel of the run. It is
 * plain JSON; `flameGraph` draws it.
 */
export interface Profile {
  format: string;
  tool: string;
  /** The versions that metered the fuel: fuel of different models cannot be compared. */
  model: { guest: string; engine: string };
  /** `returned`, `threw`, or the code of the stop. */
  outcome: string;
  fuel: number;
  /** The fuel of loading the source, which is not part of the profile. */
  loadFuel: number;
  samples: number;
  /** Fuel of no function: of the engine, of other tools that were called, and after the last sample. */
  outside: { engine: number; otherTools: number; unattributed: number };
  /** The most expensive first. `total` includes the functions that it called. */
  functions: { name: string; home: "tool" | "library" | "engine"; line: number | null; own: number; total: number }[];
  /** The lines of the tool, in order. */
  lines: { line: number; own: number; total: number; text: string }[];
  /** The frames are the outermost first: an index into `functions`, and a line of the tool or 0. */
  stacks: { frames: [number, number][]; fuel: number }[];
}

/** Draws a profile as a flame graph: an SVG image, which a browser can search and zoom. */
export declare function flameGraph(profile: Profile): string;

/** A side effect that a tool is about to have. */
export interface HeldEffect {
  toolName: string;
  toolId: string;
  /** The position among all effects of the run, from 1. */
  position: number;
  /** Such as `fetch`, `kv.commit`, or `tools.call` for a function of the host that is not `readOnly`. */
  kind: string;
  /** The target: a method and a URL, a key, a path. */
  about: string;
  /** All of the request, such as the headers or the values of keys. */
  details: JsonValue;
  /** The size of `body`. */
  bytes: number;
  body?: { text: string } | { base64: string };
  /** Identifies the effect: the tool, its parameters, the operation, and what was held before it. */
  digest: string;
  /** One line for a person: what kind of effect, and on what. What a tool has written in it is escaped. What it does is in `details` and `body`. */
  display: string;
}

/** `true`: the effect is performed. `false`: it is not. `"later"`: not now, and a run that may be suspended is suspended. */
export type EffectDecision = boolean | "later";

/**
 * Decides about effects that are held together, by one decision for all of them or by an array with one for each. If it throws, or answers
 * something else, no effect is performed, and the run rejects with that error at its end; a run that may be suspended is in `suspended()`.
 */
export type EffectApprover = (held: HeldEffect[], options: { signal: AbortSignal }) => Awaitable<EffectDecision | EffectDecision[]>;

/** A run that was suspended: `resume` continues it, once. `instanceof` works across copies of the package. */
export declare class SuspendedRun {
  private constructor();
  /** The identifier to resume it by. */
  readonly run: string;
  readonly toolId: string;
  readonly toolName: string;
  /** The effects without a decision. */
  readonly held: HeldEffect[];
  /** The functions that answer later. */
  readonly tickets: { function: string; ticket: string }[];
  /** The size in the store, where it is encrypted. */
  readonly bytes: number;
  /** The hash of the record of the run so far. */
  readonly record?: string;
}

/** A suspended run, as the store lists it. */
export interface SuspendedRunInfo {
  run: string;
  toolId: string;
  toolName: string;
  /** Only the same caller may resume it. */
  caller: string;
  since: Date;
  bytes: number;
}

/** What a function of the host returns that answers later. */
export interface Deferred {
  readonly ticket: string;
}

/**
 * Lets a function of the host answer later: `return defer("job 7")`. A run that may be suspended is suspended until `resume` gets the answer
 * under this ticket, which is unique in the run. In other runs the call fails.
 */
export declare function defer(ticket: string): Deferred;

/**
 * A run that goes on: await it for its end, iterate over it for its partial results. Leaving the iteration early cancels it.
 * Of partial results that are not read, the last 64 are kept.
 */
export interface Run<Output = unknown> extends Promise<Ran<Output>>, AsyncIterable<JsonValue> {
  /** Cancels the run, which then rejects with an `AbortError`. */
  cancel(): void;
  /** Cancels the run, and waits for its end. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A run that goes on, as `Run`, until it has taken place or is suspended. */
export interface SuspendableRun<Output = unknown> extends Promise<Ran<Output> | SuspendedRun>, AsyncIterable<JsonValue> {
  /** Cancels the run, which then rejects with an `AbortError`. */
  cancel(): void;
  /** Cancels the run, and waits for its end. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A schema of zod, Valibot, ArkType and others (https://standardschema.dev), which is also given as JSON Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": { readonly version: 1; readonly vendor: string; readonly types?: { readonly input: Input; readonly output: Output } };
}

/** A function of the host that tools call with `tools.call(name, parameters)`, where they are granted it. */
export interface HostFunction {
  /** Returns the result, or `defer(ticket)` if it comes later. */
  execute(parameters: any, options: { signal: AbortSignal }): unknown;
  /** As a tool declares its parameters, a JSON Schema (TypeBox), or a Standard Schema (zod): which also validates. */
  parameters?: object | StandardSchema;
  /** The JSON Schema of its result, or a Standard Schema. */
  result?: object | StandardSchema;
  /** Whether it has no side effects. */
  readOnly?: boolean;
  /** The time in which it has to answer, in milliseconds; the deadline of the run holds too. */
  timeoutMs?: number;
}

export type HostFunctions = Record<string, HostFunction | HostFunction["execute"]>;

export interface RunOptions {
  limits?: Limits;
  signal?: AbortSignal | undefined;
  /** Gets partial results. */
  onUpdate?: (update: JsonValue) => void;
  /** What the caller claims about itself, for records and hooks. */
  caller?: { client?: string; session?: string; agent?: string; call?: string };
  /** The seed of `Math.random()`: 0 where nothing is said. */
  seed?: number;
  /** Functions that only this run may call. */
  functions?: HostFunctions;
  /** Whether to issue a receipt. */
  receipt?: boolean;
  /** Decides about each side effect before it happens. Without it, all that the policy grants is performed. */
  effectApprover?: EffectApprover;
  /** Whether to take a fuel profile. The run has the same result and fuel, and takes longer. */
  profile?: boolean;
  /**
   * The sources of all that the caller knows, for rules about flows: those of the results that it was given (`Ran.labels`). Without them
   * it is what the store remembers of earlier runs.
   */
  labels?: string[];
}

export interface SuspendableOptions extends Omit<RunOptions, "receipt" | "profile"> {}

export interface ResumeOptions extends Pick<RunOptions, "signal" | "onUpdate" | "caller" | "functions" | "effectApprover"> {
  /** The answers of functions by ticket; an error is a failure of the function. The run keeps waiting for the others. */
  answers?: Record<string, JsonValue | Error>;
}

export interface CodeOptions extends Omit<RunOptions, "receipt" | "effectApprover"> {
  /** What the code is granted, as in a policy: `{ timers: true }`. It is always granted the functions of the call and of the toolbox. */
  grants?: JsonObject;
}

/** The call that a hook decides about: the keys of Toolcell's hooks, which are those of GitHub Copilot's and some more. */
export interface HookEvent {
  hookEventName: "preToolUse" | "postToolUse";
  toolName: string;
  toolId?: string;
  toolArgs: JsonValue;
  timestamp: number;
  cwd: string;
  /** Whether it is a call of a tool that Toolcell does not run. */
  external?: true;
  sessionId?: string;
  agentId?: string;
  toolCallId?: string;
  /** How the run ended: for `after`. */
  toolResult?: { resultType: string; textResultForLlm: string; result?: JsonValue; error?: string; code?: string; durationMs: number };
}

/** What a hook says before a run; nothing is no objection. */
export interface Verdict {
  permissionDecision?: "allow" | "deny" | "ask";
  permissionDecisionReason?: string;
  modifiedArgs?: JsonObject;
  additionalContext?: string;
  suppressOutput?: boolean;
}

/** What a hook says after a run; nothing is no change. */
export interface Revision {
  modifiedResult?: JsonValue;
  error?: string;
  additionalContext?: string;
  suppressOutput?: boolean;
}

type Awaitable<T> = T | Promise<T>;

/** A hook. One that throws, hangs or answers nonsense denies; after a run it withholds the result. */
export interface Hook {
  name: string;
  /** Names, or `prefix*`; without it, every tool. */
  tools?: string[];
  /** 5000 where nothing is said. */
  timeoutMs?: number;
  before?(event: HookEvent, options: { signal: AbortSignal }): Awaitable<Verdict | null | undefined | void>;
  after?(event: HookEvent, options: { signal: AbortSignal }): Awaitable<Revision | null | undefined | void>;
}

/** A finding of the analysis; `type` is the rule. */
export interface Finding {
  severity: "low" | "medium" | "high" | "critical";
  type: string;
  description: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  code: string;
  suggestion: string;
}

/** A question for a person: may this tool, or this call, run? `facts` are to be shown in full. */
export interface Question {
  askedBy: string;
  text: string;
  question: string;
  facts: string[];
  toolName: string;
  toolId: string | null;
  parameters: JsonValue;
  caller: string | null;
  findings: Finding[];
  grants: JsonValue;
  missing: string[] | null;
  source: string | null;
  /** Binds an approval to what was shown. */
  digest: string | null;
  /** All that a person needs to answer, as one text. What a tool has written in it is escaped. */
  display: string;
}

/** Yes, no (with what the caller may do instead), or later: the call is denied, and may be repeated. */
export type Answer = boolean | "later" | undefined | { refuse: string };

export interface ToolboxOptions {
  /** The folder of the store. Without it nothing is stored, and only `runCode` and `analyze` make sense. */
  dir?: string;
  /** TOML, or a file. Without it the built-in policy holds. */
  policy?: string | { path: string };
  /** The folder that hooks are given. */
  cwd?: string;
  lang?: Lang;
  /** `worker`, the default: each call in a confined process of a pool. `process`: in this one. */
  isolation?: "worker" | "process";
  /** How many calls run at once: twice the number of cores where nothing is said. */
  slots?: number;
  functions?: HostFunctions;
  hooks?: Hook[];
  /** Is asked where an approval is missing. Without it such a call is refused. */
  approver?: (question: Question, options: { signal: AbortSignal }) => Awaitable<Answer>;
  secrets?: Record<string, string | undefined> | ((name: string) => Awaitable<string | null | undefined>);
}

export interface CreateTool {
  name: string;
  description: string;
  /** TypeScript or JavaScript that defines `execute(params)`. */
  code: string;
  /** `{ name: { type, description, required, … } }`, or a JSON Schema. */
  parameters?: object;
  /** The JSON Schema of the result. */
  returns?: object;
  capabilities?: object | string[];
  examples?: { parameters: object; result?: unknown; throws?: string; holds?: string }[];
  tags?: string[];
  generatedFrom?: string;
  /** Whether to store a new version if the name is taken. */
  replace?: boolean;
}

export interface Parameter {
  name: string;
  type: string;
  description: string;
  required: boolean;
  default?: JsonValue;
  enum?: JsonValue[];
}

export interface Created {
  id: string;
  name: string;
  version: number;
  safetyScore: number;
  qualityScore: number;
  verificationStatus: string;
  parameters: Parameter[];
  findings: Finding[];
  /** Why the tool needs an approval before it runs; `null` if it needs none. */
  needsApproval: string | null;
  text: string;
}

export interface Adopted {
  name: string;
  id?: string;
  created?: boolean;
  error?: ToolcellError;
}

export interface Tool {
  id: string;
  name: string;
  description: string;
  tags: string[];
  verificationStatus: string;
  safetyScore: number;
  qualityScore: number;
  confidenceScore: number;
  usageCount: number;
  successCount: number;
  lastUsedAt: string | null;
  createdAt: string;
  updatedAt: string;
  successor?: string;
}

export interface ToolDetails extends Tool {
  source: string;
  parameters: Parameter[];
  examples: JsonValue[];
  grants: JsonValue;
  approval: string;
}

/** A call of a tool that Toolcell does not run. */
export interface ExternalCall {
  toolName: string;
  toolArgs: object;
  cwd?: string;
  sessionId?: string;
  agentId?: string;
  toolCallId?: string;
}

/** The comparison of a run with its receipt. */
export interface Replay {
  /** Whether the replay was identical: the value or error, the logs, the warnings and the fuel. */
  reproduced: boolean;
  toolId: string;
  outcome: "returned" | "threw" | "stopped";
  /** What the tool returned; missing for `undefined`, and for a tool that failed. */
  value?: JsonValue;
  fuel: number;
  loadFuel: number;
  /** The public key of the signature, in hexadecimal. */
  signedBy: string;
  /** Whether that is the key of this store. */
  signedHere: boolean;
  differences: { part: string; message: string }[];
  /** What `anyVersion` let pass. */
  notes: string[];
  text: string;
}

/** A tool that a model is offered: an operation, or an approved tool (`tool` is its name then). The hints are those of the Model Context Protocol. */
export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema: JsonObject;
  readOnly: boolean;
  destructive: boolean;
  idempotent: boolean;
  openWorld: boolean;
  tool: string | null;
}

/** The result of a call by a model. */
export interface CallResult {
  /** What a model reads. */
  text: string;
  isError: boolean;
  /** The same for programs. */
  structured?: JsonObject;
  /** `data` is in Base64. */
  images: { mimeType: string; data: string }[];
  /** What `run` would have rejected with. */
  error?: ToolcellError;
  /** The run, if the call was one and took place. */
  run?: Ran;
}

export interface CallOptions extends Pick<RunOptions, "limits" | "signal" | "onUpdate" | "caller" | "functions"> {
  /**
   * The questions that a person answered with yes: for this call, and for what was shown. If the tool, its grants or the parameters
   * are others by now, the call is refused.
   */
  approved?: Question[];
}

/** Creates and runs tools, each call in a sealed cell. */
export declare class Toolbox implements AsyncDisposable {
  private constructor();
  static open(options?: ToolboxOptions): Promise<Toolbox>;
  /** Runs a stored tool, by its name or identifier. */
  run<Output = any>(tool: string, params?: object, options?: RunOptions): Run<Output>;
  /** Runs TypeScript or JavaScript that defines `execute(params)` once, and stores nothing. */
  runCode<Output = any>(code: string, params?: object, options?: CodeOptions): Run<Output>;
  /** Runs a stored tool, and suspends the run when all that it waits for takes time: an effect without a decision, a function that answers later. */
  runSuspendable<Output = any>(tool: string, params?: object, options?: SuspendableOptions): SuspendableRun<Output>;
  /**
   * Resumes a suspended run, also one of another process, with the limits that it began with. Without an effect approver, what is held stays held. The
   * approver is asked about later effects as well: `digest` tells which ones were seen.
   */
  resume<Output = any>(run: string | SuspendedRun | SuspendedRunInfo, options?: ResumeOptions): SuspendableRun<Output>;
  /** The suspended runs, the oldest first. */
  suspended(): Promise<SuspendedRunInfo[]>;
  /** What a model is offered: the operations (some, or none), and up to `published` approved tools, 32 where nothing is said. */
  definitions(options?: { operations?: string[]; published?: number }): Promise<ToolDefinition[]>;
  /** The questions that a person has to answer before a call would run. Runs nothing. */
  questions(name: string, args?: object, options?: { caller?: RunOptions["caller"] }): Promise<Question[]>;
  /** Calls what `definitions` offers, by name. What a model or a tool is to blame for is a result; only an abort rejects. */
  call(name: string, args?: object, options?: CallOptions): Promise<CallResult>;
  /** Analyses a tool and stores it under the hash of its content. */
  create(tool: CreateTool): Promise<Created>;
  /** Stores each tool of a file that was written for pi or oh-my-pi, under its own name. */
  adopt(source: string, options?: { name?: string; replace?: boolean }): Promise<Adopted[]>;
  list(filter?: {
    name?: string;
    tags?: string[];
    status?: string;
    sort?: string;
    limit?: number;
    cursor?: string;
    minSafetyScore?: number;
    unusedDays?: number;
  }): Promise<{ tools: Tool[]; count: number; total: number; more: number; cursor: string | null; text: string }>;
  /** All about a tool, or about a version of it (from 1). */
  show(tool: string, options?: { version?: number }): Promise<ToolDetails>;
  /** Deletes a tool. Its versions stay in the store. */
  delete(tool: string): Promise<{ id: string; name: string; version: number; text: string }>;
  /** The tools that match a text, the best first; `coverage` is the share of the text that they match. */
  search(query: string, options?: { limit?: number }): Promise<(Tool & { coverage: number })[]>;
  /** Recommends whether to create a tool for a task, which one, or which existing tool to use. */
  reflect(task: { task: string; lastToolResult?: string; failedAttempts?: number; history?: JsonValue[] }): Promise<{
    recommend: boolean;
    decision: "create" | "reuse" | "revise" | "compose" | "none";
    tools: string[];
    score: number;
    trigger: string | null;
    proposal?: JsonObject;
    text: string;
  }>;
  /** Verifies a tool by its examples, its determinism and generated inputs; the result is stored. */
  verify(tool: string, options?: { cases?: number; seed?: number }): Promise<{
    verdict: "passed" | "failed" | "unproven";
    checks: JsonValue[];
    counterexample?: JsonObject;
    /** What a type checker says about the source, if the policy names one. It does not decide the verdict. */
    typeErrors?: { message: string; line: number; column: number; suggestion: string }[];
    text: string;
  }>;
  /**
   * Re-executes a run from its receipt, and compares. Nothing outside of the cell happens, and it needs no store. `anyVersion`: a run of another
   * version of Toolcell is not refused.
   */
  replay(receipt: string, options?: { anyVersion?: boolean }): Promise<Replay>;
  /** Decides about a call of a tool that Toolcell does not run, such as a shell. `ask`: the approver may be asked. */
  decide(call: ExternalCall, options?: { ask?: boolean }): Promise<Verdict & { decidedBy: string }>;
  /** Explains how a run would be decided, and runs nothing. */
  explain(tool: string, params?: object): Promise<{ admitted: boolean; asks: boolean; steps: JsonValue[]; error?: Refused }>;
  /** What a person needs to approve a tool. */
  question(tool: string): Promise<Question>;
  /** Approves a tool with the grants that the policy gives it now; a question, if it is still as it was shown. */
  approve(tool: string | Question, options?: { by?: string }): Promise<void>;
  /** Refuses a tool, whatever the policy grants it. */
  refuse(tool: string, options?: { by?: string }): Promise<void>;
  /** The tools that wait for an approval. */
  pending(): Promise<Tool[]>;
  /** Analyses a source, and runs nothing. */
  analyze(source: string): Promise<{ safetyScore: number; qualityScore: number; findings: Finding[] }>;
  /**
   * Yields when the tools in the store or their approvals have changed, also by another process: it looks every 500 ms from the start of the
   * iteration on. Ends when `signal` is aborted or the toolbox is closed, and keeps the process alive until then.
   */
  changes(options?: { signal?: AbortSignal }): AsyncIterable<void>;
  /** Cancels all runs, waits for their end, and ends the worker processes. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
