// What is preloaded into a server that listens on all interfaces (`node --import`): it listens on a free port of the loopback
// interface only, and says on standard error where. Its log goes there, too.

import net from "node:net";

console.log = console.error;

const { listen } = net.Server.prototype;

net.Server.prototype.listen = function listenOnLoopback(_port, ...rest) {
  this.once("listening", () => console.error(`listening on http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, { host: "127.0.0.1", port: 0 }, ...rest.filter((argument) => typeof argument === "function"));
};
