// What the code of a Toolcell tool sees, beside the standard library of ECMAScript 2025.
//
// For an editor: `toolcell types > toolcell.d.ts`, and in tsconfig.json
//   { "compilerOptions": { "lib": ["esnext"], "types": [], "noEmit": true, "strict": true }, "include": ["*.ts"] }
//
// Not there: modules (but `zod`, `typebox`, `@sinclair/typebox` and `arktype`), require, process, globalThis, eval and other code from strings, Intl,
// Temporal, Blob, FormData, crypto, performance, WebAssembly, SharedArrayBuffer, Atomics. The clock and Math.random are
// deterministic unless `clock` and `random` are granted.

// --- A tool ---
// A script that declares `function execute(params)`; a module that exports `execute` (or an object with it as its default
// export); or a factory, whose default export is `(pi: ToolFactoryApi) => CustomTool | CustomTool[]`, as in oh-my-pi, or calls
// `pi.registerTool`, as in pi. The result is JSON.

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface CustomTool<P = any> {
  name: string;
  label?: string;
  description: string;
  /** A JSON Schema, or a schema of `pi.zod`, `pi.arktype` or `pi.typebox`. */
  parameters: object;
  execute(toolCallId: string, params: P, onUpdate: (partial: unknown) => void, ctx: ToolContext, signal: AbortSignal): unknown;
}

/** A tool of `pi.registerTool`: the signal comes third. */
interface RegisteredTool<P = any> {
  name: string;
  label?: string;
  description: string;
  parameters: object;
  execute(toolCallId: string, params: P, signal: AbortSignal, onUpdate: (partial: unknown) => void, ctx: ToolContext): unknown;
}

interface ToolContext {
  cwd: string;
  hasUI: boolean;
  ui: ToolDialogues;
  signal: AbortSignal;
  isIdle(): boolean;
  hasQueuedMessages(): boolean;
  hasPendingMessages(): boolean;
  /** Ends the run. */
  abort(): never;
}

/** Dialogues of the host, where it lends them (`pi_ui_select` and so on, a grant of `tools`); elsewhere none is answered. */
interface ToolDialogues {
  select(title: string, options: string[]): Promise<string | undefined>;
  confirm(title: string, message?: string): Promise<boolean>;
  input(title: string, placeholder?: string): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
}

interface ToolFactoryApi {
  cwd: string;
  hasUI: boolean;
  logger: Pick<Console, "debug" | "info" | "warn" | "error">;
  ui: ToolDialogues;
  /** The package `@sinclair/typebox` 0.34. */
  typebox: any;
  /** The Zod interface of `@oh-my-pi/omptype`. */
  zod: any;
  /** The ArkType interface of `@oh-my-pi/omptype`: the function `type`. */
  arktype: any;
  registerTool(tool: RegisteredTool): void;
  /** Runs a command on the host, where it lends `pi_exec` (a grant of `tools`). */
  exec(
    command: string,
    args?: string[],
    options?: { cwd?: string; timeout?: number; signal?: AbortSignal },
  ): Promise<{ stdout: string; stderr: string; code: number; killed: boolean }>;
}

// --- Always there ---

interface Console {
  assert(condition?: unknown, ...data: unknown[]): void;
  count(label?: string): void;
  countReset(label?: string): void;
  debug(...data: unknown[]): void;
  dir(item?: unknown, options?: object): void;
  error(...data: unknown[]): void;
  group(...data: unknown[]): void;
  groupEnd(): void;
  info(...data: unknown[]): void;
  log(...data: unknown[]): void;
  table(data?: unknown, columns?: string[]): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  timeLog(label?: string, ...data: unknown[]): void;
  trace(...data: unknown[]): void;
  warn(...data: unknown[]): void;
}
declare const console: Console;

declare function atob(data: string): string;
declare function btoa(data: string): string;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T, options?: { transfer?: ArrayBuffer[] }): T;

declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  /** UTF-8, UTF-16LE or windows-1252, by any of their labels. */
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBufferLike | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}

declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

declare class Event {
  constructor(type: string, init?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean });
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly cancelable: boolean;
  readonly defaultPrevented: boolean;
  readonly timeStamp: number;
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}

type EventListener = ((event: Event) => void) | { handleEvent(event: Event): void };
declare class EventTarget {
  addEventListener(type: string, listener: EventListener | null, options?: boolean | { once?: boolean; signal?: AbortSignal }): void;
  removeEventListener(type: string, listener: EventListener | null): void;
  dispatchEvent(event: Event): boolean;
}

declare class DOMException extends Error {
  constructor(message?: string, name?: string);
  readonly code: number;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  /** Needs the grant `timers` or `net`. */
  static timeout(milliseconds: number): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: Event) => void) | null;
  throwIfAborted(): void;
}

type Encoding = "utf8" | "utf-8" | "utf16le" | "ucs2" | "latin1" | "binary" | "ascii" | "base64" | "base64url" | "hex";
/** As in Node.js; the methods that read and write numbers (`readUInt32BE`, …) are there too. */
declare class Buffer extends Uint8Array<ArrayBuffer> {
  private constructor();
  static from(text: string, encoding?: Encoding): Buffer;
  static from(bytes: ArrayBufferLike, offset?: number, length?: number): Buffer;
  static from(bytes: ArrayLike<number> | Iterable<number>): Buffer;
  static alloc(size: number, fill?: string | number | Uint8Array, encoding?: Encoding): Buffer;
  static concat(list: readonly Uint8Array[], length?: number): Buffer;
  static byteLength(text: string | ArrayBufferLike | ArrayBufferView, encoding?: Encoding): number;
  static compare(one: Uint8Array, other: Uint8Array): -1 | 0 | 1;
  static isBuffer(value: unknown): value is Buffer;
  static isEncoding(name: string): boolean;
  static isUtf8(bytes: ArrayBufferLike | ArrayBufferView): boolean;
  toString(encoding?: Encoding, start?: number, end?: number): string;
  toJSON(): { type: "Buffer"; data: number[] };
  equals(other: Uint8Array): boolean;
  compare(other: Uint8Array): -1 | 0 | 1;
  copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
  write(text: string, offset?: number, length?: number, encoding?: Encoding): number;
  [numberMethod: `${"read" | "write"}${string}`]: (...args: any[]) => any;
}

// --- With the grant `timers` ---

declare function setTimeout(callback: (...args: any[]) => void, delay?: number, ...args: unknown[]): number;
declare function setInterval(callback: (...args: any[]) => void, delay?: number, ...args: unknown[]): number;
declare function clearTimeout(timer?: number): void;
declare function clearInterval(timer?: number): void;
declare function sleep(milliseconds: number, options?: { signal?: AbortSignal }): Promise<void>;

// --- With the grant `net`: requests to the granted hosts ---

type HeadersInit = Headers | Record<string, string> | Iterable<[string, string]>;
type BodyInit = string | ArrayBufferLike | ArrayBufferView | URLSearchParams | ReadableStream;
interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  redirect?: "follow" | "error" | "manual";
  signal?: AbortSignal | null;
}
interface Body {
  readonly body: ReadableStream | null;
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  json(): Promise<any>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  arrayBuffer(): Promise<ArrayBuffer>;
}
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, headers: Headers) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

interface Request extends Body {}
declare class Request {
  constructor(input: string | URL | Request, init?: RequestInit);
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: "follow" | "error" | "manual";
  readonly signal: AbortSignal;
  clone(): Request;
}

interface Response extends Body {}
declare class Response {
  constructor(body?: BodyInit | null, init?: { status?: number; statusText?: string; headers?: HeadersInit });
  static json(data: unknown, init?: { status?: number; headers?: HeadersInit }): Response;
  static error(): Response;
  static redirect(url: string | URL, status?: number): Response;
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly type: string;
  readonly headers: Headers;
  clone(): Response;
}

declare class ReadableStream<T = Uint8Array<ArrayBuffer>> {
  constructor(source?: {
    start?(controller: ReadableStreamDefaultController<T>): unknown;
    pull?(controller: ReadableStreamDefaultController<T>): unknown;
    cancel?(reason?: unknown): unknown;
  });
  readonly locked: boolean;
  getReader(): ReadableStreamDefaultReader<T>;
  cancel(reason?: unknown): Promise<void>;
  tee(): [ReadableStream<T>, ReadableStream<T>];
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<T>;
  [Symbol.asyncIterator](): AsyncIterableIterator<T>;
}
declare class ReadableStreamDefaultController<T> {
  private constructor();
  readonly desiredSize: number | null;
  enqueue(chunk: T): void;
  close(): void;
  error(reason?: unknown): void;
}
declare class ReadableStreamDefaultReader<T> {
  constructor(stream: ReadableStream<T>);
  readonly closed: Promise<void>;
  read(): Promise<{ done: false; value: T } | { done: true; value: undefined }>;
  cancel(reason?: unknown): Promise<void>;
  releaseLock(): void;
}

// --- With the grants `kv`, `files`, `secrets` and `tools` ---
// A call that fails throws an error with a `code`, and `effects`: "none", "started" or "committed".

/** A space of keys and JSON values, shared with the tools that are granted the same space. `ttl` is in milliseconds. */
declare const kv: {
  get(key: string): Promise<any>;
  set(key: string, value: unknown, options?: { ttl?: number }): Promise<void>;
  delete(key: string): Promise<void>;
  list(options?: { prefix?: string; after?: string; limit?: number }): Promise<{ keys: string[]; more: boolean }>;
  entry(key: string): Promise<{ value: any; version: number } | undefined>;
  /** Writes everything, or nothing and gives `false` if a version is another one. */
  commit(changes: {
    check?: { key: string; version?: number }[];
    set?: { key: string; value: unknown; ttl?: number }[];
    delete?: string[];
  }): Promise<boolean>;
  /** Sets a key to what the function makes of its value, and repeats that if another writer was faster. */
  update<T>(key: string, change: (value: any) => T | Promise<T>, options?: { ttl?: number }): Promise<T>;
};

/** The granted folders. A path is `FOLDER/path`. */
declare const files: {
  readText(path: string): Promise<string>;
  readBytes(path: string): Promise<Uint8Array<ArrayBuffer>>;
  write(path: string, content: string | ArrayBufferLike | ArrayBufferView): Promise<void>;
  create(path: string, content?: string | ArrayBufferLike | ArrayBufferView): Promise<void>;
  append(path: string, content: string | ArrayBufferLike | ArrayBufferView): Promise<void>;
  list(path: string): Promise<{ name: string; kind: "file" | "folder" | "other" }[]>;
  stat(path: string): Promise<{ kind: "file" | "folder" | "other"; size: number; modified: number } | undefined>;
  remove(path: string): Promise<void>;
  mkdir(path: string): Promise<void>;
};

/** Gives a text that stands for the secret: put it into a header of a request, and the host inserts the value. */
declare function secret(name: string): string;

/** Calls another stored tool, or a function that the host lends. */
declare const tools: Tools & ToolKeeping;
interface Tools {
  call(name: string, params?: object): Promise<any>;
}
interface ToolKeeping {
  /**
   * Calls it, and gives a text that stands for the result: pass it on in parameters of `tools` and `servers`, in values of
   * `kv`, in files and in bodies of requests, and the host inserts the result. The tool itself cannot read it, so what it
   * does next does not depend on it.
   */
  keep(name: string, params?: object): Promise<string>;
}

/** Calls tools of MCP servers, by the names of servers and tools: `await servers.github.create_issue({ title })`. */
declare const servers: Servers & ServerSearch;
interface Servers {
  [server: string]: { [tool: string]: (input?: object) => Promise<any> };
}
interface ServerSearch {
  /** Finds tools by what they do, the best first, at most 20 unless `limit` says otherwise (at most 100). */
  $search(query: string, options?: { limit?: number }): Promise<{ name: string; summary: string }[]>;
  /** Resolves to the TypeScript declaration of a tool, which is named as `$search` names it: `github.create_issue`. */
  $describe(tool: string): Promise<string>;
  /** Calls a tool, and gives a text that stands for the result, as `tools.keep` does: `servers.$keep("mail.read", { id })`. */
  $keep(tool: string, input?: object): Promise<string>;
}
