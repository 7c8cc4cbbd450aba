//! Fault injection between a worker and the kernel: killed at each write, failing at each write,
//! and without power.
//!
//! It uses the registers of x86-64 Linux. On other platforms only these tests are skipped.

mod calls;
mod tracer;

mod changes;
mod effects;
mod faults;
mod kills;
mod power;
mod runs;
