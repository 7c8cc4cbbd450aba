// Everything, or the parts that are named: `node all.mjs TOOLCELL CONFORMANCE [PART...]`. `run` calls it.

import { CLIENTS } from "./clients.mjs";
import * as conformance from "./conformance.mjs";
import * as declarations from "./declarations.mjs";
import * as inspector from "./inspector.mjs";
import * as reference from "./reference.mjs";
import { check, close, report } from "./checks.mjs";
import { newHome, run, startHttp } from "./servers.mjs";
import { tell } from "./story.mjs";

const [toolcell, fixtures, ...parts] = process.argv.slice(2);

const PARTS = {
  conformance: async () => {
    await conformance.all("fixtures", fixtures, []);
    await conformance.all("toolcell", toolcell, ["mcp", "--http", "127.0.0.1:0"]);
  },
  declarations: () => declarations.all(),
  inspector: () => inspector.all(toolcell),
  clients: async () => {
    for (const client of CLIENTS) {
      await overBoth(`${client.name}, ${client.revision}`, (title, way, home) => tell(title, client, way, toolcell, home));
    }
  },
  python: async () => {
    for (const revision of ["2026-07-28", "2025-11-25"]) {
      await overBoth(`python, ${revision}`, (title, way, home) => python(title, revision, way, home));
    }
  },
  reference: () => reference.all(toolcell),
};

for (const part of parts) if (!PARTS[part]) throw new Error(`there is no part \`${part}\`; there are ${Object.keys(PARTS)}`);
for (const part of parts.length ? parts : Object.keys(PARTS)) await PARTS[part]();
process.exit(close());

/** Tells a story over both ways in, each with a store of its own. */
async function overBoth(title, story) {
  const home = newHome();
  await story(`${title}, stdio`, { command: toolcell, args: ["mcp"], cwd: home.home, env: home.env }, home);
  await check(`${title}, http: the server starts and stops`, async () => {
    const other = newHome();
    const server = await startHttp(toolcell, ["mcp", "--http", "127.0.0.1:0"], other);
    await story(`${title}, http`, { url: server.url }, other);
    const { status, signal, said } = await server.stop();
    if (status !== 0) throw new Error(`it ended with ${status ?? signal}: ${said}`);
  });
}

/** The story as the Python client tells it: a line for each check. */
async function python(title, revision, way, home) {
  const env = { ...home.env, PYTHONPATH: process.env.PEERS_PYTHON, PYTHONDONTWRITEBYTECODE: "1" };
  const line = (text) => {
    const { name, reason } = JSON.parse(text);
    report(`${title}: ${name}`, reason);
  };
  const told = [`${import.meta.dirname}/story.py`, revision, JSON.stringify(way), toolcell];
  const { status, signal, errors } = await run("python3", told, { ...home, env, line });
  if (status !== 0) report(`${title}: comes to its end`, `${status ?? signal}: ${errors}`);
}
