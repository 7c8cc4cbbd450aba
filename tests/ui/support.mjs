// Stores, servers and browsers for a test.
//
// Invariant: what a test starts ends with its scope, which is a test context or the module `node:test`; a store is in a temporary home
// with a policy of its own. Nothing waits for a fixed time: each wait is for a condition, and fails after `PATIENCE`.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";

/** The binary. */
export const { TOOLCELL } = process.env;
if (!TOOLCELL) throw new Error("name the binary in the variable TOOLCELL, or call `tests/ui/run TOOLCELL`");

/** The longest wait for a condition, in milliseconds. */
export const PATIENCE = 10_000;
/** The person at the page, as the server names them. */
export const PERSON = "ada";
/** Tools that ask for a capability wait for approval; they would be granted timers, and keys and values. */
export const POLICY = `
[grants.default]
timers = true
[grants.default.kv]
space = "notes"
`;
/** The source of a tool that asks for `timers`. */
export const WAITING_SOURCE = `export async function execute({ ms }: { ms: number }): Promise<number> {
  await new Promise((done) => setTimeout(done, ms));
  return ms;
}
`;
/** Its parameters. */
export const WAITING_PARAMETERS = { ms: { type: "number", description: "How long to wait", required: true } };

/** Where homes are: in memory, if there is some, because a store waits for the disk after each change. */
const HOMES = hasRoom("/dev/shm", 48 << 20) ? "/dev/shm" : tmpdir();

const children = new Set();
const homes = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** The commands that use a store. */
export class StoreCommands {
  constructor(home, env) {
    this.home = home;
    this.env = env;
  }

  /** Runs a command to its end: `{ status, output, errors }`. */
  async run(args, input = "") {
    const options = { cwd: this.home, env: this.env, timeout: 60_000, maxBuffer: 64 << 20 };
    return new Promise((resolve) => {
      const child = execFile(TOOLCELL, args, options, (error, output, errors) => resolve({ status: error ? error.code : 0, output, errors }));
      children.add(child);
      child.once("close", () => children.delete(child));
      // A command that fails early does not read its input.
      child.stdin.on("error", () => {});
      child.stdin.end(input);
    });
  }

  /** Runs a command that succeeds, and returns the objects that it prints, one for each line. */
  async lines(args, input) {
    const { status, output, errors } = await this.run([...args, "--json"], input);
    assert.equal(status, 0, `toolcell ${args.join(" ")}: ${(errors + output).slice(0, 2_000)}`);
    return output.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  /** Creates a tool, and returns its identifier. The default asks for `timers`, so it waits for approval. */
  async create(name, fields = {}) {
    const tool = { name, description: `What ${name} does`, code: WAITING_SOURCE, parameters: WAITING_PARAMETERS, ...fields };
    const [created] = await this.lines(["create", "-", ...(fields.replace ? ["--replace"] : [])], JSON.stringify(without(tool, "replace")));
    return created.id;
  }

  /** Returns what waits, and what was decided: `{ pending, decided }`. */
  async approvals() {
    return (await this.lines(["approvals"]))[0];
  }

  /** Returns the audit lines of the decisions about a tool, the oldest first: `[action, person and reason, success]`. */
  async decisions(name) {
    const lines = await this.lines(["audit", "--tool", name, "--oldest-first", "--limit", "1000"]);
    const decided = lines.filter(({ action }) => ["approve", "approve-once", "refuse", "revoke"].includes(action));
    return decided.map(({ action, details, success }) => [action, details.decidedBy, success]);
  }
}

/** A store in a home of its own. */
export class Store extends StoreCommands {
  #servers = new Set();

  /** Creates an empty store, which is deleted at the end of the scope. */
  constructor(scope, policy = POLICY) {
    const home = mkdtempSync(join(HOMES, "toolcell-ui-"));
    homes.add(home);
    const [dir, config] = [join(home, "store"), join(home, "config")];
    super(home, { HOME: home, PATH: process.env.PATH, TOOLCELL_DIR: dir, TOOLCELL_LANG: "en", USER: PERSON, XDG_CONFIG_HOME: config });
    this.dir = dir;
    mkdirSync(join(this.home, "config", "toolcell"), { recursive: true });
    this.setPolicy(policy);
    scope.after(async () => {
      await Promise.all([...this.#servers].map((server) => server.stop()));
      rmSync(this.home, { recursive: true, force: true });
      homes.delete(this.home);
    });
  }

  get #policyFile() {
    return join(this.env.XDG_CONFIG_HOME, "toolcell", "toolcell.toml");
  }

  /** Returns the user's policy. */
  policy() {
    return readFileSync(this.#policyFile, "utf8");
  }

  /** Replaces the user's policy. */
  setPolicy(policy) {
    writeFileSync(this.#policyFile, policy);
  }

  /** Returns the commands that use the store of a principal. */
  ofPrincipal(name) {
    return new StoreCommands(this.home, { ...this.env, TOOLCELL_DIR: join(this.dir, "principals", name) });
  }

  /** Sends messages to an MCP server over standard input, and returns its answers, in the order of their identifiers. */
  async converse(messages, count) {
    const child = spawn(TOOLCELL, ["mcp"], { cwd: this.home, env: this.env, stdio: ["pipe", "pipe", "inherit"] });
    children.add(child);
    const answers = [];
    let rest = "";
    const ended = new Promise((resolve) => child.once("close", resolve)).finally(() => children.delete(child));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const answer = JSON.parse(line);
        if (answer.id !== undefined && !answer.method) answers.push(answer);
      }
      if (answers.length >= count) child.stdin.end();
    });
    child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await within(ended, () => `${answers.length} of ${count} answers`);
    return answers.sort((one, other) => one.id - other.id);
  }

  /** Starts the page. `command` and `args` start it in another way. */
  async serve({ port = 0, lang = "en", command = TOOLCELL, args = [] } = {}) {
    return this.#start(command, [...args, "ui", "--dir", this.dir, "--port", String(port), "--lang", lang], UI_LINK);
  }

  /** Starts an MCP server over HTTP with the page; `args` are more of its arguments. */
  async serveMcp({ port = 0, args = [] } = {}) {
    return this.#start(TOOLCELL, ["mcp", "--dir", this.dir, "--http", `127.0.0.1:${port}`, "--ui", ...args], MCP_LINK);
  }

  async #start(command, args, link) {
    const child = spawn(command, args, { cwd: this.home, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    const server = new Server(child, link, () => this.#servers.delete(server));
    this.#servers.add(server);
    await server.started;
    return server;
  }
}

/** What `toolcell ui` prints on standard output, and `toolcell mcp --ui` on standard error. */
const UI_LINK = /^(http:\S+)\n/m;
const MCP_LINK = /^(?:operators sign in|the page is) at (http:[^\s;]+)[;\n]/m;

/** A process that serves the page, and prints where it is. */
class Server {
  constructor(child, link, onEnd) {
    this.child = child;
    this.said = "";
    children.add(child);
    this.ended = new Promise((resolve) => {
      const end = (status) => {
        children.delete(child);
        onEnd();
        resolve(status);
      };
      child.once("close", end);
      child.once("error", () => end(-1));
    });
    const printed = new Promise((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        let output = "";
        stream.setEncoding("utf8").on("data", (text) => {
          output += text;
          if (stream === child.stderr) this.said += text;
          const found = link.exec(output);
          if (found) resolve(found[1]);
        });
      }
    });
    const failed = this.ended.then((status) => Promise.reject(new Error(`the server ended with ${status}: ${this.said}`)));
    failed.catch(() => {});
    this.started = within(Promise.race([printed, failed]), () => `the server prints no link: ${this.said}`).then((link) => {
      const { origin, pathname, port } = new URL(link);
      Object.assign(this, { link, origin, port: Number(port) });
      // Where people sign in, all pages are below that path. The one of a link is known once the link was used.
      this.base = origin + (pathname.endsWith("/") ? pathname.slice(0, -1) : "");
    });
  }

  /** Stops the server, and returns its exit status. */
  async stop() {
    if (this.child.exitCode === null) this.child.kill("SIGTERM");
    return within(this.ended, () => `the server does not end: ${this.said}`);
  }

  /** Asks without a browser: `{ status, headers, body }`. Nothing is added to the headers. */
  async ask(path, { method = "GET", headers = {}, body = "" } = {}) {
    const all = { host: `127.0.0.1:${this.port}`, ...headers };
    if (body) Object.assign(all, { "content-type": "application/x-www-form-urlencoded", "content-length": Buffer.byteLength(body), ...headers });
    const answer = new Promise((resolve, reject) => {
      const isOutside = /^\/(open|assets|mcp|ui)\b/.test(path);
      const whole = isOutside ? path : `${this.base.slice(this.origin.length)}${path}`;
      const asked = request({ host: "127.0.0.1", port: this.port, path: whole, method, headers: all, setHost: false, agent: false });
      asked.once("error", reject);
      asked.once("response", (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.once("error", reject);
        response.once("end", () => {
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts).toString() });
        });
      });
      asked.end(body);
    });
    return within(answer, () => `no answer to ${method} ${path}`);
  }
}

let browser;
after(async () => (await browser)?.close());

/** Starts Debian's Chromium, once for each test file. */
async function startBrowser() {
  browser ??= chromium.launch({
    executablePath: join(import.meta.dirname, "chromium"),
    args: ["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"],
    env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, "fonts.conf") },
  });
  return browser;
}

/** A browser of a person, which keeps what should never happen: dialogs, requests to others, errors. */
export class Visitor {
  dialogs = [];
  foreignRequests = [];
  errors = [];

  /** Opens a browser for the server; `options` are those of a context of Playwright. */
  static async arrive(scope, server, options = {}) {
    const visitor = new Visitor();
    visitor.server = server;
    visitor.context = await (await startBrowser()).newContext(options);
    visitor.context.setDefaultTimeout(PATIENCE);
    visitor.context.on("dialog", (dialog) => {
      visitor.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    visitor.context.on("request", (asked) => {
      if (new URL(asked.url()).origin !== server.origin) visitor.foreignRequests.push(asked.url());
    });
    visitor.context.on("weberror", (error) => visitor.errors.push(String(error.error())));
    visitor.context.on("console", (message) => {
      // The browser reports each refused request so; the tests ask for some.
      const isStatus = message.text().startsWith("Failed to load resource: the server responded with a status of");
      if (message.type() === "error" && !isStatus) visitor.errors.push(message.text());
    });
    scope.after(() => visitor.context.close());
    return visitor;
  }

  /** Opens a browser, and uses the link of the server. */
  static async enter(scope, server, options = {}) {
    const visitor = await Visitor.arrive(scope, server, options);
    visitor.page = await visitor.context.newPage();
    await visitor.page.goto(server.link);
    await visitor.page.waitForURL(/^http:..127.0.0.1:\d+(\/ui)?\/[0-9a-f]{32}\/$/);
    server.base = visitor.page.url().replace(/\/$/, "");
    return visitor;
  }

  /** Opens a page in a new tab. */
  async open(path) {
    const page = await this.context.newPage();
    await page.goto(path.startsWith("http") ? path : `${this.server.base}${path}`);
    return page;
  }

  /** Returns the cookie, as a header. */
  async cookie() {
    const cookies = await this.context.cookies(`${this.server.base}/`);
    return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  /** Fails if something happened that should never. */
  assertQuiet() {
    assert.deepEqual(this.dialogs, [], "a dialog opened");
    assert.deepEqual(this.foreignRequests, [], "a request left the server");
    assert.deepEqual(this.errors, [], "the console has errors");
  }
}

/** Reads the form of a decision without a browser: what a page that is open now would send. */
export async function readDecisionForm(visitor, path) {
  const cookie = await visitor.cookie();
  const { body } = await visitor.server.ask(path, { headers: { cookie } });
  const value = (name) => new RegExp(`name="${name}" value="([0-9a-f]+)"`).exec(body)?.[1] ?? assert.fail(`no ${name} in ${path}`);
  return { path, cookie, fields: { form_token: value("form_token"), shown: value("shown"), reason: "" } };
}

/** Sends a form that was read, as a page of the server does, but for what `changes` says: `{ headers, fields }`. */
export async function postDecision({ server }, { path, cookie, fields: read }, action, { headers = {}, fields = {} } = {}) {
  const form = new URLSearchParams({ ...read, action, ...fields });
  const all = Object.entries({ cookie, origin: server.origin, ...headers }).filter(([, value]) => value !== undefined);
  return server.ask(`${path}/decide`, { method: "POST", headers: Object.fromEntries(all), body: String(form) });
}

/** Reads the form of a decision and sends it at once, without a browser, but for what `changes` says: `{ headers, fields }`. */
export async function sendDecision(visitor, path, action, changes = {}) {
  return postDecision(visitor, await readDecisionForm(visitor, path), action, changes);
}

/** Waits until a check passes. */
export async function eventually(check, patience = PATIENCE) {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(20);
    }
  }
}

/** Marks a page, so that {@link assertSamePage} notices a reload. */
export async function markPage(page) {
  await page.evaluate(() => (globalThis.isMarked = true));
}

/** Fails if the page was loaded again since it was marked. */
export async function assertSamePage(page) {
  assert.equal(await page.evaluate(() => globalThis.isMarked), true, "the page was loaded again");
}

async function within(promise, describe) {
  const timer = new AbortController();
  const late = delay(PATIENCE, undefined, { signal: timer.signal }).then(() => Promise.reject(new Error(describe())));
  late.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}

function hasRoom(folder, bytes) {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= bytes;
  } catch {
    return false;
  }
}

function without(object, key) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
