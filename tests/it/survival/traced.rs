//! What is shown with a hand between a clerk and the kernel: killed at each write, failing at each, and without power.
//!
//! The hand knows the registers of x86-64 on Linux. Elsewhere these tests are left out, and the others are not.

mod calls;
mod tracer;

mod changes;
mod effects;
mod faults;
mod kills;
mod power;
mod runs;
