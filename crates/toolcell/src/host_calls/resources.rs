//! The resources of a toolbox that grants give tools access to.
//!
//! Invariant: a resource is reached only through an opened grant.

use std::sync::Arc;

use jiff::Timestamp;
use toolcell_capabilities::{ProtectedPath, Roots};
use toolcell_store::Store;
use toolcell_tool::SecretName;

use super::functions::HostFunctions;
use super::runtime::BackgroundRuntime;
use crate::admission::AdmissionControl;
use crate::clock::Clock;
use crate::jail::Program;

/// A source of the values of secrets. Returns `None` for a missing secret.
pub type SecretSource = Arc<dyn Fn(&SecretName) -> Option<String> + Send + Sync>;

/// The resources that grants give tools access to.
pub(crate) struct Resources {
    pub(super) secrets: SecretSource,
    pub(super) functions: HostFunctions,
    pub(super) roots: Roots,
    /// The paths that the host protects from tools.
    pub(super) protected: Vec<ProtectedPath>,
    /// The HTTP client, which is created on first use.
    #[cfg(feature = "net")]
    pub(super) net: std::sync::OnceLock<toolcell_capabilities::Net>,
    /// The MCP servers, which are set up on first use.
    #[cfg(feature = "servers")]
    pub(super) servers: std::sync::OnceLock<Arc<super::Servers>>,
    pub(super) background: BackgroundRuntime,
    pub(super) clock: Clock,
}

/// The configuration of [`Resources`].
pub(crate) struct ResourcesConfig {
    /// Resolves the values of granted secrets.
    pub(crate) secrets: SecretSource,
    /// The host functions that tools can call.
    pub(crate) functions: HostFunctions,
    /// The root certificates that tools' requests trust.
    pub(crate) roots: Roots,
    /// Paths that no tool may change.
    pub(crate) protected: Vec<ProtectedPath>,
    /// The clock.
    pub(crate) clock: Clock,
}

/// The parts of a toolbox that decide which resources may be opened.
#[derive(Clone, Copy)]
pub(crate) struct ResourceContext<'a> {
    /// The store of the key-value spaces, if there is one.
    pub(crate) store: Option<&'a Arc<Store>>,
    /// The policy and the hooks.
    pub(crate) admission: &'a AdmissionControl,
    /// The program of the worker processes, if calls run in a jail.
    pub(crate) worker_program: Option<&'a Program>,
}

impl Resources {
    /// Creates resources with a background runtime of their own.
    pub(crate) fn new(config: ResourcesConfig) -> Self {
        Self::with_background(config, BackgroundRuntime::default())
    }

    /// Creates resources that share the background runtime of these.
    pub(crate) fn sibling(&self, config: ResourcesConfig) -> Self {
        Self::with_background(config, self.background.clone())
    }

    fn with_background(config: ResourcesConfig, background: BackgroundRuntime) -> Self {
        let ResourcesConfig { secrets, functions, roots, protected, clock } = config;
        Self {
            secrets,
            functions,
            roots,
            protected,
            #[cfg(feature = "net")]
            net: std::sync::OnceLock::new(),
            #[cfg(feature = "servers")]
            servers: std::sync::OnceLock::new(),
            background,
            clock,
        }
    }

    /// Returns the host functions that tools can call.
    pub(crate) fn functions(&self) -> &HostFunctions {
        &self.functions
    }

    /// Returns the current time of the toolbox's clock.
    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }
}
