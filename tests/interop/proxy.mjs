// A recorder between a client and a server over Streamable HTTP: a proxy on the loopback interface.
//
// Invariant: what passes is not changed, except for the host, which is the server's.

import { createServer, request } from "node:http";

/** Starts a proxy for the server at a URL: `{ url, entries, close }`, with an entry for each message of the client. */
export async function startProxy(target) {
  const { host, hostname, port } = new URL(target);
  const entries = [];
  const proxy = createServer(async (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { authorization, "mcp-protocol-version": revision } = headers;
    entries.push({ method, revision, authorization, sent: body.length ? JSON.parse(body) : undefined });
    const options = { hostname, port, path, method, headers: { ...headers, host } };
    const onward = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    // A server that is not there closes the connection of the client, too.
    onward.once("error", () => outgoing.destroy());
    outgoing.once("close", () => onward.destroy());
    onward.end(body);
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const close = () => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${proxy.address().port}/mcp`, entries, close };
}
