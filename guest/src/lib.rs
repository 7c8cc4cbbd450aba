//! The guest: QuickJS in Wasm, on the `javy` crate. It evaluates one tool and answers in frames of
//! `toolcell-protocol`.
//!
//! Reading order: [`abi`] is the Wasm border, [`engine`] what exists before any tool does, [`natives`] what the
//! prelude in `js/` is given, [`operations`] what is in flight, [`plain`] the JSON of what a tool sends, [`tool`] how a
//! tool is found, called and resumed, [`syntax`] where a source is wrong, [`packages`] what a tool can import,
//! [`urls`] the URL class, [`result`] how a value becomes JSON and [`thrown`] how an error becomes a report.
//!
//! Invariant: `unsafe` is in [`abi`] alone, and everything that runs after tool code ran uses only functions that
//! were captured before.

mod abi;
mod engine;
mod natives;
mod operations;
mod packages;
mod plain;
mod result;
mod syntax;
mod thrown;
mod tool;
mod urls;
