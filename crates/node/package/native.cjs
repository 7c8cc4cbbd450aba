"use strict";
// Finds the native module and the worker program of this machine.

const path = require("node:path");

function isMusl() {
  if (process.platform !== "linux" || typeof process.report?.getReport !== "function") return false;
  return !process.report.getReport().header.glibcVersionRuntime;
}

function load() {
  const libc = process.platform === "linux" ? (isMusl() ? "-musl" : "-gnu") : "";
  const name = `toolcell-${process.platform}-${process.arch}${libc}`;
  let directory;
  try {
    directory = path.dirname(require.resolve(`${name}/package.json`));
  } catch (cause) {
    const known = name === "toolcell-linux-x64-gnu";
    const next = known
      ? "npm leaves optional dependencies out with --omit=optional, and sometimes after a change of machine: " +
        "remove node_modules and package-lock.json, and install again"
      : "there is a package for linux-x64-gnu alone so far; on other machines, use the command line or the MCP server";
    throw new Error(`toolcell needs the package ${name}, which is not installed: ${next}`, { cause });
  }
  return { ...require(path.join(directory, "toolcell.node")), worker: path.join(directory, "toolcell-worker") };
}

module.exports = load();
