// Bundles src/prelude.js and the packages that tools can import (packages) into dist, and writes dist/LICENSES.txt
// for what was bundled.
// With `--check` it writes nothing and fails if the files are not what it would write.
//
// Invariant: the same sources and lock file give the same bytes, for the bundle is checked in and takes part in the
// digest of the guest.

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const root = path.dirname(fileURLToPath(import.meta.url));

// core-js draws a random number while it is loaded, to make the names of its private keys hard to guess. Those keys
// are used in engines without WeakMap only, and a random number would make every snapshot different.
const withoutRandom = {
  name: 'without-random',
  setup({ onLoad }) {
    onLoad({ filter: /core-js-pure[\\/]internals[\\/]uid\.js$/ }, async ({ path: file }) => {
      const source = await readFile(file, 'utf8');
      const replaced = source.replace('var postfix = Math.random();', 'var postfix = 0.5;');
      if (replaced === source) throw new Error(`${file} no longer draws its random number where it used to`);
      return { contents: replaced, loader: 'js' };
    });
  },
};

const banner = '// Built by `npm run build`; do not edit. The licences of what is bundled are in LICENSES.txt.\n';
const common = {
  absWorkingDir: root,
  bundle: true,
  target: 'es2022',
  platform: 'browser',
  charset: 'ascii',
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
};

const { metafile, outputFiles } = await build({
  ...common,
  entryPoints: ['src/prelude.js'],
  format: 'iife',
  keepNames: true,
  plugins: [withoutRandom],
  banner: { js: `${banner}"use strict";` },
});

// A schema of omptype compiles itself with `new Function` from its third use on; tools have no code from strings. The
// interpreter that serves the first two uses serves all of them here.
const withoutCompiler = {
  name: 'without-compiler',
  setup({ onLoad }) {
    onLoad({ filter: /@oh-my-pi[\\/]omptype[\\/]dist[\\/]js[\\/]type\.js$/ }, async ({ path: file }) => {
      let contents = await readFile(file, 'utf8');
      for (const [before, after] of [
        ['if (++calls >= JIT_THRESHOLD) {', 'if (false) {'],
        ['const allows = compileAllows(this.ir);', 'const { ir } = this; const allows = (input) => !(walk(ir, input) instanceof OmpErrors);'],
      ]) {
        if (contents.split(before).length !== 2) throw new Error(`${file} no longer compiles schemas as it used to`);
        contents = contents.replace(before, after);
      }
      return { contents, loader: 'js' };
    });
  },
};

const asModules = {
  ...common,
  outdir: 'dist/packages',
  format: 'esm',
  define: { globalThis: 'globals', File: 'globals.File', FormData: 'globals.FormData' },
  inject: ['packages/globals.js'],
  banner: { js: banner },
};
const sinclair = await build({ ...asModules, entryPoints: ['packages/sinclair-typebox.js'] });
// What these three share becomes a module of its own.
const omptype = await build({
  ...asModules,
  entryPoints: ['zod', 'typebox', 'arktype'].map((name) => `packages/${name}.js`),
  splitting: true,
  chunkNames: 'omptype',
  plugins: [withoutCompiler],
});
const modules = [...sinclair.outputFiles, ...omptype.outputFiles];
for (const { path: file, text } of modules) {
  if (/globalThis|\bnew Function\b/.test(text)) throw new Error(`${file} reaches for the global object or compiles code`);
}

// The bundler names functions through a property descriptor; one that inherits from a prototype which tool code has
// changed would run that code.
const prelude = outputFiles[0].text.replace('"name", { value, conf', '"name", { __proto__: null, value, conf');
if (prelude === outputFiles[0].text) throw new Error('the bundler no longer names functions as it used to');

const bundled = [...new Set([metafile, sinclair.metafile, omptype.metafile].flatMap(packagesOf))].sort();
const files = {
  'dist/prelude.js': prelude,
  ...Object.fromEntries(modules.map((file) => [path.relative(root, file.path), file.text])),
  'dist/LICENSES.txt': await licences(bundled),
};
await mkdir(path.join(root, 'dist/packages'), { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const file = path.join(root, name);
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8')) !== text) throw new Error(`${name} is out of date; run \`npm run build\``);
}

/** The folders of the packages that gave at least one byte to the bundle. */
function packagesOf({ outputs }) {
  const folders = new Set();
  for (const { inputs } of Object.values(outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
      if (match !== null && bytesInOutput > 0) folders.add(match[1]);
    }
  }
  return [...folders];
}

async function licences(folders) {
  const parts = ['The bundles in this folder contain the following packages.\n'];
  for (const folder of folders) {
    const directory = path.join(root, folder);
    const { name, version, license } = JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8'));
    const file = (await readdir(directory)).sort().find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} comes without the text of its licence`);
    const text = (await readFile(path.join(directory, file), 'utf8')).replaceAll('\r\n', '\n').trim();
    parts.push(`${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${text}\n`);
  }
  return parts.join('\n');
}
