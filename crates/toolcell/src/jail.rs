//! Cells in processes that are locked in: what a host says of them ([`SandboxConfig::jail`](crate::SandboxConfig::jail)), and what
//! it is told ([`Toolbox::walls`](crate::Toolbox::walls)).
//!
//! ```no_run
//! use toolcell::jail::{Program, serve_if_worker};
//! use toolcell::{SandboxConfig, Toolbox};
//!
//! serve_if_worker(); // First thing in `main`.
//! let toolbox = Toolbox::new(&SandboxConfig { jail: Some(Program::This), slots: 1, ..SandboxConfig::default() })?;
//! assert!(toolbox.walls().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use toolcell_jail::{Landlock, Program, Walls, serve_if_worker};
