// A home directory with a store, a policy and the files of an adapter.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A home with a store, in which commands and sessions run. It is removed when the test ends. */
export class Home {
  constructor(test, { policy = "", adapter }) {
    this.toolcell = process.env.TOOLCELL_BINARY;
    this.folder = mkdtempSync(join(tmpdir(), "toolcell-host-"));
    test.after(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
    const config = join(this.folder, ".config/toolcell");
    spawnSync("mkdir", ["-p", config]);
    writeFileSync(join(config, "toolcell.toml"), policy);
    this.run("adapter", ...adapter, "--write");
  }

  get env() {
    const { PATH, LANG } = process.env;
    return { PATH, LANG, HOME: this.folder, TMPDIR: tmpdir(), PI_OFFLINE: "1", TOOLCELL_LANG: "en" };
  }

  path(below) {
    return join(this.folder, below);
  }

  /** Runs a command of Toolcell, which must succeed. */
  run(...words) {
    const done = spawnSync(this.toolcell, words, { cwd: this.folder, env: this.env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`toolcell ${words.join(" ")}: ${done.status} ${done.stderr}`);
    return done.stdout;
  }

  /** Stores a tool. */
  create(name, code, ...more) {
    writeFileSync(this.path(`${name}.ts`), code);
    return this.run("create", `${name}.ts`, "--name", name, "--description", `Is ${name}`, ...more);
  }

  /** Returns the audit lines, the oldest first. */
  audit(...words) {
    const lines = this.run("audit", "--json", "--limit", "100", ...words).trim().split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line)).reverse();
  }

  /** Returns the processes that run in this home. */
  processes() {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${this.folder}`);
      } catch {
        return false;
      }
    });
  }

  /** Returns the processes of the server. */
  servers() {
    const isServer = (pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(`${this.toolcell}\0mcp`);
      } catch {
        return false;
      }
    };
    return this.processes().filter(isServer);
  }
}
