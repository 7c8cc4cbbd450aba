// Bundles the scripts of the pages into ../assets, and writes LICENSES.txt there for what was bundled.
//
// Invariant: the same sources and lock file give the same bytes, for the bundles are checked in.

import { readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

const root = import.meta.dirname;
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["src/ui.ts", "src/ledger.ts", "src/playground.ts"],
  outdir: "../assets",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  logLevel: "info",
});
await writeFile(path.join(root, "../assets/LICENSES.txt"), await licences(packagesOf(metafile)));

/** The folders of the packages that gave at least one byte to a bundle. */
function packagesOf({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const used = files.filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const folders = used.map(([file]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
  return [...new Set(folders.filter(Boolean))].sort();
}

async function licences(folders) {
  const parts = ["The scripts in this folder contain the following packages.\n"];
  for (const folder of folders) {
    const directory = path.join(root, folder);
    const { name, version, license } = JSON.parse(await readFile(path.join(directory, "package.json"), "utf8"));
    const file = (await readdir(directory)).sort().find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} comes without the text of its licence`);
    const text = (await readFile(path.join(directory, file), "utf8")).replaceAll("\r\n", "\n").trim();
    parts.push(`${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}\n\n${text}\n`);
  }
  return parts.join("\n");
}
