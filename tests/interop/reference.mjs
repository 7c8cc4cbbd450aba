// Toolcell as a client: the reference servers of the protocol, over both transports and in both eras, whose tools are called
// from the cell. Between Toolcell and each server is a recorder, so a check sees what was sent and not only what came back.
//
// Invariant: after each command of Toolcell, no process is left of the servers that it started.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { check } from "./checks.mjs";
import { STRICT } from "./declarations.mjs";
import { startProxy } from "./proxy.mjs";
import { EVERYTHING, EVERYTHING_2024, EVERYTHING_2025, MEMORY, REMEMBERED, filesystem } from "./reference-calls.mjs";
import { newHome, run, setPolicy, startHttp } from "./servers.mjs";

/** How long a process may take to end, in milliseconds. */
const PATIENCE = 5_000;
/** How much of what Toolcell says a failure quotes, in characters. */
const LONGEST_QUOTE = 1_000;
/** The exit status of `toolcell servers diff` where something differs from what is trusted. */
const DIFFERENT = 1;
const SECRET = "only-the-server-has-it";

const MODULES = join(import.meta.dirname, "node_modules");
const file = (name) => join(import.meta.dirname, name);
const entry = (name) => join(MODULES, name, "dist/index.js");
const everything = (name) => ({
  stdio: [entry(name)],
  http: ["--import", file("loopback.mjs"), entry(name), "streamableHttp"],
  settings: { "environment.TOKEN": "{{secret:TOKEN}}" },
  httpEnvironment: { TOKEN: SECRET },
});

/** The servers: the revision that each comes to speak with Toolcell, its number of tools, what it is started with, and calls. */
const SERVERS = [
  {
    ...everything("server-everything-2024"),
    title: "everything 2025.1.14",
    revision: "2024-11-05",
    tools: 6,
    // It has the transport of that time, HTTP with SSE, which Toolcell does not speak.
    http: undefined,
    calls: () => EVERYTHING_2024,
    find: ["adds two numbers", "add", "add(input: {"],
  },
  {
    ...everything("server-everything-2025"),
    title: "everything 2025.8.4",
    revision: "2025-06-18",
    tools: 11,
    calls: () => EVERYTHING_2025,
    find: ["structured content", "structuredContent", "structuredContent(input: {"],
  },
  {
    ...everything("@modelcontextprotocol/server-everything"),
    title: "everything 2026.8.31",
    revision: "2025-11-25",
    tools: 14,
    calls: () => EVERYTHING,
    find: ["sum of numbers", "get_sum", "get_sum(input: {"],
  },
  {
    title: "filesystem 2026.8.31",
    revision: "2025-11-25",
    tools: 14,
    stdio: [entry("server-filesystem-2025")],
    settings: { hints: "believe" },
    calls: filesystem,
    find: ["move a file", "move_file", "move_file(input: {"],
  },
  {
    title: "filesystem 2.0.1",
    revision: "2026-07-28",
    tools: 14,
    stdio: [entry("@modelcontextprotocol/server-filesystem")],
    http: ["--import", file("loopback.mjs"), file("filesystem.mjs")],
    settings: { hints: "believe" },
    calls: filesystem,
    find: ["move a file", "move_file", "move_file(input: {"],
  },
  {
    title: "memory 2026.8.31",
    revision: "2025-11-25",
    tools: 9,
    stdio: [entry("@modelcontextprotocol/server-memory")],
    settings: {},
    calls: () => MEMORY,
    after: REMEMBERED,
    find: ["create entities", "create_entities", "create_entities(input: {"],
  },
];

export async function all(toolcell) {
  for (const server of SERVERS) {
    await overStdio(toolcell, `reference, ${server.title}, ${server.revision}, stdio`, server);
    if (server.http) await overHttp(toolcell, `reference, ${server.title}, ${server.revision}, http`, server);
  }
  await declares(toolcell);
  await updates(toolcell);
  await fails(toolcell);
}

/** A server's name in the policy, and in code. */
const nameOf = ({ title }) => title.split(" ")[0];

async function overStdio(toolcell, title, server) {
  const place = newPlace();
  const recording = new StdioRecording(join(place.home, "messages.jsonl"));
  const settings = { command: recording.command(argumentsOf(server.stdio, server, place)), ...settingsOf(server, place) };
  await use(toolcell, title, server, place, settings, recording);
}

async function overHttp(toolcell, title, server) {
  await check(`${title}: the server starts and stops`, async () => {
    const place = newPlace();
    const { PATH, HOME } = place.env;
    const env = { PATH, HOME, ...server.httpEnvironment };
    const started = await startHttp("node", argumentsOf(server.http, server, place), { ...place, env });
    const proxy = await startProxy(started.url);
    try {
      // Toolcell gives such a server no environment. It sends the secret as a bearer token, and takes it out of what comes back.
      const { hints } = server.settings;
      const auth = server.httpEnvironment && { "auth.bearer": "{{secret:TOKEN}}" };
      await use(toolcell, title, server, place, { url: proxy.url, ...(hints && { hints }), ...auth }, new HttpRecording(proxy));
    } finally {
      proxy.close();
      const { status, signal, said } = await started.stop();
      if (status !== 0 && signal !== "SIGTERM") throw new Error(`it ended with ${status ?? signal}: ${said}`);
    }
  });
}

/** The story of a server and a user: it is new, is reviewed and trusted, and is called. */
async function use(toolcell, title, server, place, settings, recording) {
  const name = nameOf(server);
  const step = (what, work) => check(`${title}: ${what}`, work);
  const json = async (args, status) => JSON.parse((await ask(toolcell, place, recording, [...args, "--json"], status)).output);
  const calls = Object.entries(server.calls(place.folder));
  const perform = (some, granted = name) => performCalls(toolcell, place, recording, name, some.map(([call]) => call), granted);
  setPolicy(place, policyOf({ [name]: settings }));

  await step("nothing is sent before it is trusted", async () => {
    const [{ code, effects }] = await perform(calls.slice(0, 1));
    assert.deepEqual({ code, effects }, { code: "server-tool-new", effects: "none" });
    assert.deepEqual(recording.calls(), []);
  });
  await step("servers diff, servers trust --shown, servers list", async () => {
    const shown = await json(["servers", "diff", name], DIFFERENT);
    const count = (list) => list.length;
    assert.deepEqual([shown.new, shown.changed, shown.gone, shown.collisions].map(count), [server.tools, 0, 0, 0]);
    assert.equal((await json(["servers", "trust", name, "--shown", shown.digest])).trusted, server.tools);
    const { new: fresh, unchanged } = await json(["servers", "diff", name]);
    assert.deepEqual([fresh, unchanged], [[], server.tools]);
    const { servers } = await json(["servers", "list"]);
    assert.deepEqual(servers.map(({ name, trusted }) => [name, trusted]), [[name, server.tools]]);
    assert.deepEqual(recording.calls(), []);
  });
  await step("every call gives what it should, and only what fits is sent", async () => {
    const values = await perform(calls);
    for (const [at, [call, expected]] of calls.entries()) compare(call, values[at], expected);
    assert.deepEqual(recording.calls(), calls.filter(([, expected]) => !expected.isRefused).map(([call]) => toolOf(call)));
  });
  await step(`revision ${server.revision} is spoken`, () => assert.equal(recording.revision(), server.revision));
  // That the code does not get it is checked by the calls that print the environment.
  if (JSON.stringify(settings).includes("{{secret:TOKEN}}")) {
    await step("the secret reaches the server", () => assert.ok(recording.hasSecret()));
  }
  if (server.calls === filesystem) {
    await step("the files are there", () => {
      assert.deepEqual(readdirSync(place.folder).sort(), ["before.txt", "sub"]);
      assert.equal(readFileSync(join(place.folder, "sub/moved.txt"), "utf8"), "vier\nsechs\n");
    });
  }
  if (settings.hints) {
    await step("a grant of `reading` lets it read, and not write", async () => {
      setPolicy(place, `${policyOf({ [name]: settings })}\n[grants.drafts.servers]\n${name} = "reading"\n`);
      recording.clear();
      const reading = `read_text_file({ path: ${JSON.stringify(`${place.folder}/before.txt`)} })`;
      const writing = `write_file({ path: ${JSON.stringify(`${place.folder}/refused.txt`)}, content: "" })`;
      const [read, written] = await perform([[reading], [writing]], null);
      assert.deepEqual(read, { content: "one\ntwo\nthree\n" });
      assert.equal(written.code, "servers-not-granted");
      assert.deepEqual(recording.calls(), ["read_text_file"]);
      assert.equal(existsSync(`${place.folder}/refused.txt`), false);
    });
  }
  if (server.after) {
    await step("a second run finds what the first one left", async () => {
      const after = Object.entries(server.after);
      const values = await perform(after);
      for (const [at, [call, expected]] of after.entries()) compare(call, values[at], expected);
    });
  }
  await step("a grant of one tool lets no other be called", async () => {
    recording.clear();
    const [first] = calls;
    const granted = toolOf(first[0]);
    const other = calls.find(([call]) => toolOf(call) !== granted);
    const [, refusal] = await perform([first, other], `${name}.${granted}`);
    assert.equal(refusal.code, "servers-not-granted", JSON.stringify(refusal));
    assert.deepEqual(recording.calls(), [granted]);
  });
  await step("servers.$search, servers.$describe", async () => {
    const [query, tool, declaration] = server.find;
    const searches = `await servers.$search(${JSON.stringify(query)}), await servers.$describe("${name}.${tool}")`;
    const source = `const execute = async () => [${searches}]`;
    const [found, described] = await execute(toolcell, place, recording, source, name);
    assert.equal(found[0]?.name, `${name}.${tool}`, JSON.stringify(found));
    assert.ok(described.includes(declaration), described);
  });
}

/** TypeScript's own compiler takes the declarations of all servers, and checks calls by them. */
async function declares(toolcell) {
  await check("reference: tsc checks calls by `toolcell types --servers`", async () => {
    const place = newPlace();
    const latest = SERVERS.filter(({ title }) => ["everything 2026.8.31", "filesystem 2.0.1", "memory 2026.8.31"].includes(title));
    const recordings = latest.map((server) => new StdioRecording(join(place.home, `${nameOf(server)}.jsonl`)));
    const servers = latest.map((server, at) => {
      const command = recordings[at].command(argumentsOf(server.stdio, server, place));
      return [nameOf(server), { command, ...settingsOf(server, place) }];
    });
    setPolicy(place, policyOf(Object.fromEntries(servers)));
    // What is not trusted is not declared.
    for (const [name] of servers) await ask(toolcell, place, recordings, ["servers", "trust", name, "--yes"]);
    const { output } = await ask(toolcell, place, recordings, ["types", "--servers"]);
    writeFileSync(join(place.home, "toolcell.d.ts"), output);
    const statuses = [];
    for (const call of [
      "everything.get_structured_content({ location: 'Chicago' }).then(({ humidity }): number => humidity)",
      "filesystem.write_file({ path: '/a', content: 'b' }).then(({ content }): string => content)",
      "memory.read_graph().then(({ entities }): string[] => entities.map(({ name }) => name))",
      "everything.get_structured_content({ location: 'Paris' })",
      "filesystem.write_file({ path: '/a' })",
      "memory.read_graph().then(({ entities }): number[] => entities.map(({ name }) => name))",
    ]) {
      writeFileSync(join(place.home, "call.ts"), `servers.${call};\n`);
      statuses.push((await run("tsc", [...STRICT, "toolcell.d.ts", "call.ts"], place)).status === 0);
    }
    assert.deepEqual(statuses, [true, true, true, false, false, false]);
  });
}

/** After a server is replaced by a newer version of itself, its tools are not called before they are trusted again. */
async function updates(toolcell) {
  const [before, , after] = SERVERS;
  for (const approval of ["ask", "auto"]) {
    const title = `reference, everything is updated, approval.mode = "${approval}"`;
    const place = newPlace();
    const recording = new StdioRecording(join(place.home, "messages.jsonl"));
    const become = (server) => {
      const command = recording.command(argumentsOf(server.stdio, server, place));
      setPolicy(place, policyOf({ everything: { command, ...settingsOf(server, place) } }, approval));
      recording.clear();
    };
    const perform = (...calls) => performCalls(toolcell, place, recording, "everything", calls, "everything");
    await check(`${title}: the first version is trusted`, async () => {
      become(before);
      // What is trusted on first sight is kept in the store, which `exec` does not create.
      const review = approval === "auto" ? ["list"] : ["trust", "everything", "--yes"];
      await ask(toolcell, place, recording, ["servers", ...review]);
      assert.deepEqual(await perform("echo({ message: 'first' })"), ["Echo: first"]);
    });
    await check(`${title}: the second version is not`, async () => {
      become(after);
      const failures = await perform("echo({ message: 'second' })", "get_sum({ a: 1, b: 2 })", "add({ a: 1, b: 2 })");
      const codes = ["server-tool-changed", "server-tool-new", "server-tool-unknown"];
      assert.deepEqual(failures.map(({ code }) => code), codes, JSON.stringify(failures));
      const diff = await ask(toolcell, place, recording, ["servers", "diff", "everything", "--json"], DIFFERENT);
      const shown = JSON.parse(diff.output);
      assert.deepEqual([shown.new.length, shown.changed.length, shown.gone.length, shown.unchanged], [13, 1, 5, 0]);
      assert.deepEqual(recording.calls(), []);
    });
    await check(`${title}: the second version is trusted by hand`, async () => {
      await ask(toolcell, place, recording, ["servers", "trust", "everything", "--yes"]);
      assert.deepEqual(await perform("echo({ message: 'second' })"), ["Echo: second"]);
    });
  }
}

/** A server that hangs, dies or is not there costs the call, and nothing else. */
async function fails(toolcell) {
  const server = SERVERS.find(({ title }) => title === "everything 2026.8.31");
  const begin = (more) => {
    const place = newPlace();
    const recording = new StdioRecording(join(place.home, "messages.jsonl"));
    const command = recording.command(argumentsOf(server.stdio, server, place));
    setPolicy(place, policyOf({ everything: { command, ...settingsOf(server, place), ...more } }, "auto"));
    return { place, recording };
  };
  const calls = ["trigger_long_running_operation({ duration: 60 })", "echo({ message: 'again' })"];
  const expected = (values, message) => {
    const [{ code, effects, message: said }, next] = values;
    assert.deepEqual([code, effects, next], ["server-failed", "started", "Echo: again"]);
    assert.match(said, message);
  };
  await check("reference, stdio: a call without an answer in time fails, and the next one is answered", async () => {
    const { place, recording } = begin({ timeout_ms: 1000 });
    expected(await performCalls(toolcell, place, recording, "everything", calls, "everything"), /within 1000 ms/);
  });
  await check("reference, http: a call without an answer in time fails, and the next one is answered", async () => {
    const place = newPlace();
    const started = await startHttp("node", argumentsOf(server.http, server, place), place);
    try {
      setPolicy(place, policyOf({ everything: { url: started.url, timeout_ms: 1000 } }, "auto"));
      expected(await performCalls(toolcell, place, [], "everything", calls, "everything"), /within 1000 ms/);
    } finally {
      await started.stop();
    }
  });
  await check("reference, stdio: a call whose server dies fails, and the next one is answered", async () => {
    const { place, recording } = begin({});
    const values = performCalls(toolcell, place, recording, "everything", calls, "everything");
    await until(() => recording.calls().length === 1, () => "the call was not sent");
    process.kill(recording.pids().at(-1), "SIGKILL");
    expected(await values, /it ended/);
  });
  await check("reference, http: a server that is not there cannot be reached", async () => {
    const place = newPlace();
    const started = await startHttp("node", argumentsOf(server.http, server, place), place);
    await started.stop();
    setPolicy(place, policyOf({ everything: { url: started.url } }, "auto"));
    const failures = await performCalls(toolcell, place, [], "everything", calls, "everything");
    for (const { code, effects } of failures) assert.deepEqual([code, effects], ["server-unreachable", "none"]);
  });
}

/** A home, with a folder for the servers. */
function newPlace() {
  const { home, env } = newHome("");
  const folder = join(realpathSync(home), "files");
  mkdirSync(folder);
  writeFileSync(join(folder, "before.txt"), "one\ntwo\nthree\n");
  return { home, folder, env: { ...env, TOOLCELL_SECRET_TOKEN: SECRET } };
}

/** The arguments of Node for a server: the filesystem server is told its folder. */
function argumentsOf(args, server, { folder }) {
  return server.calls === filesystem ? [...args, folder] : args;
}

function settingsOf(server, { home }) {
  const memory = server.calls() === MEMORY ? { "environment.MEMORY_FILE_PATH": join(home, "memory.jsonl") } : {};
  return { ...server.settings, ...memory };
}

/** A policy with servers, of which the settings are strings, numbers and lists of strings. */
function policyOf(servers, approval = "ask") {
  const tables = Object.entries(servers).map(([name, settings]) => {
    const lines = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
    return `\n[servers.${name}]\n${lines.join("")}`;
  });
  return `[approval]\nmode = "${approval}"\n${tables.join("")}`;
}

/** Runs a command of Toolcell, which has to end as it should and to leave no process. */
async function ask(toolcell, place, recordings, args, status = 0) {
  const result = await run(toolcell, args, place);
  const said = `${result.errors}${result.output}`.slice(0, LONGEST_QUOTE);
  assert.equal(result.status, status, `toolcell ${args.join(" ")}: ${result.status ?? result.signal}: ${said}`);
  for (const recording of [recordings].flat()) await recording.nothingIsLeft();
  return result;
}

/** Runs code; gives what it returns. */
async function execute(toolcell, place, recordings, source, granted) {
  writeFileSync(join(place.home, "program.js"), `${source}\n`);
  const grants = granted ? ["--grant", `servers=${granted}`] : [];
  const { output } = await ask(toolcell, place, recordings, ["exec", "program.js", ...grants, "--json"]);
  return JSON.parse(output).value;
}

/** Does calls in one program, one after the other; gives the value or the error of each. */
async function performCalls(toolcell, place, recordings, name, calls, granted) {
  const source = `const tried = (call) => call().catch(({ name, code, effects, message }) => ({ name, code, effects, message }));
const execute = async () => {
  const values = [];
${calls.map((call) => `  values.push(await tried(async () => servers.${name}.${call}));`).join("\n")}
  return values;
};`;
  return await execute(toolcell, place, recordings, source, granted);
}

function compare(call, value, expected) {
  try {
    if (typeof expected === "function") expected(value);
    else assert.deepEqual(value, expected);
  } catch (error) {
    throw new Error(`${call}: ${error.message}`);
  }
}

/** The name of the tool of a call. */
const toolOf = (call) => call.slice(0, call.indexOf("("));
/** The name in code of a tool. */
const codeName = (name) => name.replaceAll(/\W/g, "_");

async function until(holds, otherwise) {
  const end = Date.now() + PATIENCE;
  while (!holds()) {
    if (Date.now() > end) throw new Error(otherwise());
    await pause(20);
  }
}

/** What was said over standard streams. */
class StdioRecording {
  constructor(log) {
    this.log = log;
    this.clear();
  }

  /** The command that starts a server with a recorder before it. */
  command(args) {
    return ["node", file("recorder.mjs"), this.log, "node", ...args];
  }

  clear() {
    writeFileSync(this.log, "");
  }

  entries() {
    return readFileSync(this.log, "utf8").trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  calls() {
    return callsOf(this.entries()).map(({ params }) => codeName(params.name));
  }

  /** The revision: that of each request, where requests have one, else that to which the server agreed. */
  revision() {
    const entries = this.entries();
    const agreed = entries.map(({ received }) => received?.result?.protocolVersion).filter(Boolean).at(-1);
    return callsOf(entries).at(-1).params._meta?.["io.modelcontextprotocol/protocolVersion"] ?? agreed;
  }

  /** Whether the server printed its secret, which it got. */
  hasSecret() {
    return this.entries().some(({ received }) => JSON.stringify(received)?.includes(SECRET));
  }

  pids() {
    return this.entries().flatMap(({ pids }) => pids ?? []);
  }

  async nothingIsLeft() {
    const left = () => this.pids().filter(isRunning);
    await until(() => left().length === 0, () => `processes are left of a server: ${left()}`);
    const invalid = this.entries().map(({ received }) => received?.invalid).filter(Boolean);
    assert.deepEqual(invalid, []);
  }
}

/** What was said over HTTP, to a server that Toolcell did not start. */
class HttpRecording {
  constructor(proxy) {
    this.proxy = proxy;
  }

  clear() {
    this.proxy.entries.length = 0;
  }

  calls() {
    return callsOf(this.proxy.entries).map(({ params }) => codeName(params.name));
  }

  /** Whether every request had the secret, as a bearer token. */
  hasSecret() {
    return this.proxy.entries.every(({ authorization }) => authorization === `Bearer ${SECRET}`);
  }

  revision() {
    return this.proxy.entries.findLast(({ sent }) => sent?.method === "tools/call").revision;
  }

  async nothingIsLeft() {}
}

const callsOf = (entries) => entries.map(({ sent }) => sent).filter((sent) => sent?.method === "tools/call");

/** Whether a process runs. One that ended and was not waited for does not. */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // It has just ended, or this system has no such files.
    return !existsSync("/proc/self/stat");
  }
}
