// A server that several people reach: agents of two principals, and operators who decide about their tools.
//
// Invariant: each token opens one thing, and a test asks as an agent or signs in as an operator by the name alone.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Store, Visitor, WAITING_PARAMETERS, WAITING_SOURCE } from "./support.mjs";

const VERSION = "2026-07-28";
/** The name of a tool of the first principal, and of one of the second, which one operator must not learn of. */
export const NAME = "wait_for_it";
export const SECRET = "unguessable_name";
/** The pages of the first principal, and of the second. */
export const ALICE = "/principals/alice/";
export const BOB = "/principals/bob/";
/** The principals, and the operators with the principals that each decides for. */
const PRINCIPALS = ["alice", "bob"];
const OPERATORS = { maria: ["alice"], max: ["bob", "alice"] };

/** Returns the token of an agent or of an operator. */
export function tokenOf(name) {
  return `${name}-`.repeat(8);
}

/** Creates a store, and starts its server: `{ store, server, restart }`. `restart` starts it again, at the same address. */
export async function serveOperators(scope, { policy } = {}) {
  const store = new Store(scope, policy);
  const path = join(store.home, "tokens.toml");
  const tables = [
    ...PRINCIPALS.map((name) => `[principals.${name}]\ntoken = "${tokenOf(name)}"\n`),
    ...Object.entries(OPERATORS).map(([name, of]) => `[operators.${name}]\ntoken = "${tokenOf(name)}"\nprincipals = ${JSON.stringify(of)}\n`),
  ];
  writeFileSync(path, tables.join(""), { mode: 0o600 });
  const args = ["--tokens", path];
  const server = await store.serveMcp({ args });
  const restart = async () => {
    assert.equal(await server.stop(), 0, server.said);
    return store.serveMcp({ args, port: server.port });
  };
  return { store, server, restart };
}

/** Starts a server with a tool of each principal that waits for approval. */
export async function serveTools(scope, options) {
  const { store, server, restart } = await serveOperators(scope, options);
  const [alice, bob] = [new Agent(server, "alice"), new Agent(server, "bob")];
  const id = await alice.create(NAME);
  const secretId = await bob.create(SECRET, { description: `The description of ${SECRET}` });
  const [ofAlice, ofBob] = [store.ofPrincipal("alice"), store.ofPrincipal("bob")];
  return { store, ofAlice, ofBob, server, restart, alice, bob, id, path: `${ALICE}tools/${id}`, secretId };
}

/** Opens a browser at a page of the server, where a person signs in. */
export async function arrive(scope, server, path = "/", options = {}) {
  const visitor = await Visitor.arrive(scope, server, options);
  visitor.page = await visitor.open(path);
  await visitor.page.waitForSelector("#token");
  return visitor;
}

/** Signs a person in on the open page as one who pastes the token: the focus is in the field, and Enter sends it. */
export async function signIn(page, name) {
  await page.waitForSelector("#token:focus");
  await page.keyboard.insertText(tokenOf(name));
  await page.keyboard.press("Enter");
  await page.waitForSelector("#token", { state: "detached" });
}

/** Opens a browser, and signs a person in. It is then at `path`, or else at the first page of the operator. */
export async function enterAs(scope, server, name, path = "/", options = {}) {
  const visitor = await arrive(scope, server, path, options);
  await signIn(visitor.page, name);
  // Keys work once the scripts have loaded.
  await visitor.page.waitForLoadState("load");
  return visitor;
}

/** An agent of a principal, which speaks MCP over HTTP. */
class Agent {
  #calls = 0;

  constructor(server, name) {
    this.server = server;
    this.name = name;
  }

  /** Calls a tool of the server, and returns the result. */
  async call(name, args) {
    const id = (this.#calls += 1);
    const meta = { protocolVersion: VERSION, clientInfo: { name: "agent", version: "1" }, clientCapabilities: {} };
    const _meta = Object.fromEntries(Object.entries(meta).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]));
    const headers = {
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${tokenOf(this.name)}`,
      "content-type": "application/json",
      "mcp-method": "tools/call",
      "mcp-name": name,
      "mcp-protocol-version": VERSION,
    };
    const message = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta } };
    const { status, headers: answered, body } = await this.server.ask("/mcp", { method: "POST", headers, body: JSON.stringify(message) });
    assert.equal(status, 200, body);
    const isStream = answered["content-type"].startsWith("text/event-stream");
    const texts = isStream ? body.split("\n").filter((line) => /^data: *\S/.test(line)).map((line) => line.slice("data:".length)) : [body];
    const { result, error } = texts.map((text) => JSON.parse(text)).find((answer) => answer.id === id);
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  }

  /** Creates a tool, and returns its identifier. The default asks for `timers`, so it waits for approval. */
  async create(name, fields = {}) {
    const tool = { name, description: `What ${name} does`, code: WAITING_SOURCE, parameters: WAITING_PARAMETERS, ...fields };
    const { isError, content, _meta } = await this.call("create_tool", tool);
    assert.equal(isError, false, JSON.stringify(content));
    return _meta["toolcell/response"].id;
  }

  /** Runs a tool: `{ value }`, or `{ code }` of the failure. */
  async run(name, parameters = { ms: 1 }) {
    const { isError, structuredContent, _meta } = await this.call("run_dynamic_tool", { tool_name: name, parameters });
    return isError ? { code: _meta["toolcell/error"].code } : { value: structuredContent.value };
  }
}
