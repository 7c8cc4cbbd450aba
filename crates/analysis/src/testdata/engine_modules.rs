//! Files and streams of QuickJS and Javy, and names that only look like them.

const READS: &[&str] = &[
    "import * as std from 'std'; export const execute = ({ path }) => std.loadFile(path);",
    "import { loadFile } from 'std'; export const execute = ({ path }) => loadFile(path);",
    "import * as std from 'qjs:std'; export const execute = ({ path }) => std.open(path, 'r').readAsString();",
    "import * as os from 'os'; export const execute = ({ path }) => { const fd = os.open(path, os.O_RDONLY); const b = new ArrayBuffer(64); os.read(fd, b, 0, 64); return b; };",
    "import { open as o, read } from 'qjs:os'; export const execute = ({ path }) => read(o(path), new ArrayBuffer(8), 0, 8);",
    "export const execute = async ({ path }) => { const os = await import('os'); return os.readdir(path); };",
    "function execute({ path }) { return std.loadFile(path); }",
    "function execute({ path }) { return globalThis.std['load' + 'File'](path); }",
    "function execute() { return std.in.readAsString(); }",
    "function execute({ path }) { const { open } = os; return open(path); }",
    "function execute() { const buffer = new Uint8Array(64); Javy.IO.readSync(0, buffer); return buffer; }",
    "function execute() { const { IO } = globalThis.Javy; const buffer = new Uint8Array(64); IO.readSync(0, buffer); return buffer; }",
    "const engine = globalThis.Javy; function execute() { const buffer = new Uint8Array(64); engine['IO']['readSync'](0, buffer); return buffer; }",
    "function execute({ read }) { return read(globalThis.Javy); }",
    "function execute() { return Javy.JSON.fromStdin(); }",
];

const NO_READS: &[&str] = &[
    "class std { static loadFile(name) { return name; } } function execute({ name }) { return std.loadFile(name); }",
    "const os = { open: (x) => x, read: (x) => x }; function execute({ x }) { return os.read(os.open(x)); }",
    "function execute({ os, std }) { return [os.open, std.in]; }",
    "function execute({ mean, std }) { return mean + 2 * std; }",
    "const Javy = { IO: { readSync: () => 0 } }; function execute() { return Javy.IO.readSync(); }",
    "function execute({ rows }) { const std = Math.sqrt(rows.length); return std.open; }",
    "function execute() { return typeof Javy === 'undefined' && typeof std === 'undefined' && typeof os.open; }",
];

#[test]
fn files_of_the_engine_are_found_by_every_road() {
    super::check("file-system-read", READS, NO_READS);
}

#[test]
fn what_the_engine_reaches_is_found_by_the_rule_for_it() {
    for (rule, source) in [
        ("file-system-write", "import * as os from 'os'; export const execute = ({ fd, b }) => os.write(fd, b, 0, 8);"),
        (
            "file-system-write",
            "import * as std from 'std'; export const execute = ({ p }) => std.open(p, 'w').puts('x');",
        ),
        ("file-system-write", "function execute({ p }) { return std.open(p, 'w'); }"),
        ("file-system-write", "function execute({ b }) { Javy.IO.writeSync(1, b); }"),
        ("file-system-delete", "import { remove } from 'qjs:os'; export const execute = ({ p }) => remove(p);"),
        ("process-spawn", "import * as os from 'os'; export const execute = () => os.exec(['ls']);"),
        ("process-spawn", "function execute() { return std.popen('ls', 'r'); }"),
        ("environment-access", "import { getenv } from 'std'; export const execute = () => getenv('HOME');"),
        ("network-access", "import * as std from 'std'; export const execute = ({ url }) => std.urlGet(url);"),
        ("module-loading", "import 'std'; export const execute = () => 1;"),
    ] {
        super::check(rule, &[source], &[]);
    }
}
