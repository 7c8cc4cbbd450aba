//! The types to run cells in confined worker processes
//! ([`SandboxConfig::jail`](crate::SandboxConfig::jail)), and to inspect the confinement
//! ([`Toolbox::confinement`](crate::Toolbox::confinement)).
//!
//! With the feature `jail`, which is on by default:
//!
#![cfg_attr(feature = "jail", doc = "```no_run")]
#![cfg_attr(not(feature = "jail"), doc = "```ignore")]
//! use toolcell::jail::{Program, serve_if_worker};
//! use toolcell::{SandboxConfig, Toolbox};
//!
//! serve_if_worker(); // First thing in `main`.
//! let toolbox = Toolbox::new(&SandboxConfig { jail: Some(Program::This), slots: 1, ..SandboxConfig::default() })?;
//! assert!(toolbox.confinement().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "jail")]
pub use toolcell_jail::{Confinement, Landlock, Program, serve_if_worker};

#[cfg(feature = "jail")]
pub(crate) use toolcell_jail::Jail;

#[cfg(not(feature = "jail"))]
pub use absent::{Confinement, Program};

#[cfg(not(feature = "jail"))]
pub(crate) use absent::Jail;

/// The types of a build without the feature `jail`. They have no values, so a configuration cannot ask for a jail.
#[cfg(not(feature = "jail"))]
mod absent {
    /// The program of worker processes.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Program {}

    /// The confinement of worker processes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Confinement {}

    /// The worker processes.
    pub(crate) enum Jail {}

    impl Jail {
        pub(crate) fn program(&self) -> &Program {
            match *self {}
        }

        pub(crate) fn confinement(&self) -> Confinement {
            match *self {}
        }
    }
}
