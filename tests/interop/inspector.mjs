// The command line of the MCP Inspector, over both ways in and in both eras.

import assert from "node:assert/strict";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { check } from "./checks.mjs";
import { newHome, run, startHttp } from "./servers.mjs";
import { OPERATIONS } from "./story.mjs";
import TOOLS from "./tools.json" with { type: "json" };

export async function all(toolcell) {
  for (const era of ["legacy", "modern"]) {
    const home = newHome();
    await through(`inspector, stdio, ${era}`, home, era, ["--transport", "stdio", toolcell, "mcp"]);
    await check(`inspector, http, ${era}: the server starts and stops`, async () => {
      const other = newHome();
      const server = await startHttp(toolcell, ["mcp", "--http", "127.0.0.1:0"], other);
      await through(`inspector, http, ${era}`, other, era, ["--transport", "http", "--server-url", server.url]);
      assert.equal((await server.stop()).status, 0);
    });
  }
}

async function through(title, home, era, target) {
  const variables = Object.entries(home.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const say = async (...args) => {
    const told = ["--cli", "--format", "json", "--protocol-era", era, ...variables, ...args, ...target];
    const { status, output, errors } = await run("mcp-inspector", told, home);
    assert.equal(status, 0, `exit status ${status}: ${errors}${output}`);
    return { ...JSON.parse(output).result, errors };
  };
  const call = (tool, args) => say("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
  await check(`${title}: tools/list --strict`, async () => {
    const { tools, errors } = await say("--method", "tools/list", "--strict");
    assert.deepEqual(tools.map((tool) => tool.name), OPERATIONS);
    assert.doesNotMatch(errors, /error|warning/i);
    const tokens = encode(JSON.stringify(tools)).length;
    assert.ok(tokens <= 1800, `the list costs a model ${tokens} tokens`);
  });
  await check(`${title}: tools/call`, async () => {
    const created = await call("create_tool", TOOLS.twice);
    assert.match(created.structuredContent.id, /^dt_[0-9a-f]{12}$/);
    const listed = await call("list_dynamic_tools", {});
    assert.equal(listed.structuredContent.tools.length, 1);
  });
  await check(`${title}: resources/list, resources/read`, async () => {
    const { resources } = await say("--method", "resources/list");
    const uri = resources.find((resource) => resource.name === TOOLS.twice.name)?.uri;
    assert.match(uri, /^toolcell:\/\/tools\/dt_[0-9a-f]{64}\/source$/);
    const { contents } = await say("--method", "resources/read", "--uri", uri);
    assert.equal(contents[0].text, TOOLS.twice.code);
  });
  await check(`${title}: prompts/get`, async () => {
    const { prompts } = await say("--method", "prompts/list");
    const { messages } = await say("--method", "prompts/get", "--prompt-name", prompts[0].name);
    assert.match(messages[0].content.text, /create_tool/);
  });
}
