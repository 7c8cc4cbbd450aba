// Hooks that others published for Claude Code and GitHub Copilot: under Toolcell each decides as it does when its host starts it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Home } from "../home.mjs";

const bin = (name) => join(process.env.HOST_PACKAGES, "node_modules/.bin", name);
const COMMANDS = ["git status", "git commit -m x", "git commit --no-verify -m x", "git push --no-verify", "git reset --hard", "rm -rf ~/work", "ls -la", "git checkout -- ."];
const claude = (command) => ({ session_id: "s", cwd: "/", hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command } });
// As the runtime of the SDK 1.0.14 and the command line 1.0.102 send it.
const copilot = (command) => ({ sessionId: "s", timestamp: 1, cwd: "/", toolName: "bash", toolArgs: { command } });
const HOOKS = [
  { name: "block-no-verify", protocol: "claude", command: [bin("block-no-verify")], event: claude, denies: 2 },
  { name: "safety-net", protocol: "claude", command: [bin("cc-safety-net"), "hook", "--claude-code"], event: claude, denies: 3 },
  // It expects `toolArgs` as a text, which neither version of the host sends: it denies every call there, and here.
  { name: "safety-net-copilot", protocol: "copilot", command: [bin("cc-safety-net"), "hook", "--copilot-cli"], event: copilot, denies: COMMANDS.length },
];

/** What a host makes of a hook: exit status 2 denies with the text on standard error, otherwise the JSON decides. */
function decisionOfHost({ status, stdout, stderr }) {
  if (status === 2) return ["deny", stderr.trim()];
  assert.equal(status, 0, stderr);
  const answer = JSON.parse(stdout.trim() || "{}");
  const { permissionDecision, permissionDecisionReason } = answer.hookSpecificOutput ?? answer;
  return [permissionDecision ?? "none", (permissionDecisionReason ?? "").trim()];
}

for (const { name, protocol, command, event, denies } of HOOKS) {
  test(`${name} decides as under its host`, (context) => {
    const home = new Home(context, { adapter: ["pi", "--user"] });
    writeFileSync(home.path("rules.toml"), `[[hooks]]\nname = ${JSON.stringify(name)}\ncommand = ${JSON.stringify(command)}\nprotocol = "${protocol}"\n`);
    const decisions = COMMANDS.map((words) => {
      const input = JSON.stringify(event(words));
      const options = { cwd: home.folder, env: home.env, input, encoding: "utf8" };
      const direct = decisionOfHost(spawnSync(command[0], command.slice(1), options));
      const decided = spawnSync(home.toolcell, ["decide", "--dialect", protocol, "--config", home.path("rules.toml")], options);
      assert.deepEqual(decisionOfHost(decided), direct, words);
      return direct[0];
    });
    assert.equal(decisions.filter((decision) => decision === "deny").length, denies, decisions.join(" "));
    assert.equal(home.audit("--action", "decide").length, COMMANDS.length);
  });
}
