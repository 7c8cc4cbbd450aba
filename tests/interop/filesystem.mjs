// The reference filesystem server over Streamable HTTP: `node filesystem.mjs FOLDER`. The package has it over standard streams
// only; the tools are those of the package, and the transport is that of the official SDK, which speaks both eras.

import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createServer as createFilesystem } from "@modelcontextprotocol/server-filesystem/dist/server.js";

const folder = process.argv[2];
const handler = createMcpHandler(({ era }) => createFilesystem([folder], { era }));
createServer(toNodeHandler(handler)).listen(0);
