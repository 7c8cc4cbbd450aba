//! The types to run cells in confined worker processes
//! ([`SandboxConfig::jail`](crate::SandboxConfig::jail)), and to inspect the confinement
//! ([`Toolbox::confinement`](crate::Toolbox::confinement)).
//!
//! ```no_run
//! use toolcell::jail::{Program, serve_if_worker};
//! use toolcell::{SandboxConfig, Toolbox};
//!
//! serve_if_worker(); // First thing in `main`.
//! let toolbox = Toolbox::new(&SandboxConfig { jail: Some(Program::This), slots: 1, ..SandboxConfig::default() })?;
//! assert!(toolbox.confinement().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use toolcell_jail::{Confinement, Landlock, Program, serve_if_worker};
