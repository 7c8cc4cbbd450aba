// The official TypeScript clients, behind one face: the package of today for both eras, and the one that most hosts still have.
//
// A client is made from a way in (`{ url }`, or `{ command, args, cwd, env }`) and from somebody who answers questions:
// `asked({ message, requestedSchema })` gives the result of an elicitation.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const WHO = { name: "toolcell-peers", version: "0.0.0" };
const CAPABILITIES = { elicitation: { form: {} } };

/** Every client, with the revision that it comes to speak with a server that speaks all of them. */
export const CLIENTS = [
  { name: "client 2.4", revision: "2026-07-28", connect: (way, asked) => today({ pin: "2026-07-28" }, way, asked) },
  { name: "client 2.4", revision: "2025-11-25", connect: (way, asked) => today("legacy", way, asked) },
  { name: "sdk 1.32", revision: "2025-11-25", connect: yesterday },
];

async function today(mode, way, asked) {
  const client = new Client(WHO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", ({ params }) => asked(params));
  const transport = way.url ? new StreamableHTTPClientTransport(new URL(way.url)) : new StdioClientTransport(silent(way));
  const errors = await connected(client, transport);
  return face(client, transport, errors, {
    revision: client.getNegotiatedProtocolVersion(),
    // Kept lists are not asked for twice.
    tools: () => client.listTools(undefined, { cacheMode: "refresh" }),
    call: (params, options) => client.callTool(params, options),
  });
}

async function yesterday(way, asked) {
  const client = new OldClient(WHO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => asked(params));
  const transport = way.url ? new OldHttp(new URL(way.url)) : new OldStdio(silent(way));
  let revision;
  transport.setProtocolVersion = ((set) => (version) => {
    revision = version;
    set?.call(transport, version);
  })(transport.setProtocolVersion);
  const errors = await connected(client, transport);
  return face(client, transport, errors, {
    revision,
    tools: () => client.listTools(),
    call: (params, options) => client.callTool(params, CallToolResultSchema, options),
  });
}

function silent(way) {
  return { ...way, stderr: "ignore" };
}

/** Connects, and keeps what the client complains of: a line on standard output that is none of the protocol is such a thing. */
async function connected(client, transport) {
  const errors = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  return errors;
}

function face(client, transport, errors, { revision, tools, call }) {
  return {
    errors,
    revision,
    server: client.getServerVersion(),
    tools: async () => (await tools()).tools,
    call: (name, args, options) => call({ name, arguments: args }, options),
    resources: async () => (await client.listResources()).resources,
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
    close: async () => {
      // A session is given back, where there is one.
      await transport.terminateSession?.();
      await client.close();
    },
  };
}
