//! Re-exports from other modules.

const LOADS: &[&str] = &[
    "export * from 'fs'; export const execute = () => 1;",
    "export * as files from 'node:fs'; export const execute = () => 1;",
    "export { readFile } from 'node:fs/promises'; export const execute = () => 1;",
    "export { default } from 'fs';",
    "export { default as files } from 'fs'; export const execute = () => 1;",
    "export { writeFile as 'a b' } from 'fs'; export const execute = () => 1;",
    "export {} from 'fs'; export const execute = () => 1;",
    "export { type Stats, stat } from 'fs'; export const execute = () => 1;",
    "export { execute } from './tool.js';",
];

const LOADS_NOTHING: &[&str] = &[
    "const execute = () => 1; export { execute };",
    "const run = () => 1; export { run as execute, run as default };",
    "export type { Stats } from 'fs'; export const execute = () => 1;",
    "export type * from 'fs'; export const execute = () => 1;",
    "export { type Stats } from 'fs'; export const execute = () => 1;",
];

#[test]
fn a_module_that_is_exported_again_is_loaded() {
    super::check("module-loading", LOADS, LOADS_NOTHING);
}

#[test]
fn what_is_exported_again_counts_as_used() {
    for (rule, source) in [
        ("file-system-read", "export { readFile } from 'node:fs/promises'; export const execute = () => 1;"),
        ("file-system-write", "export { writeFile as save } from 'fs'; export const execute = () => 1;"),
        ("file-system-delete", "export * from 'fs'; export const execute = () => 1;"),
        ("file-system-delete", "export { default as files } from 'fs'; export const execute = () => 1;"),
        ("process-spawn", "export { exec } from 'child_process'; export const execute = () => 1;"),
        ("environment-access", "export { env } from 'node:process'; export const execute = () => 1;"),
    ] {
        super::check(rule, &[source], &[]);
    }
}
