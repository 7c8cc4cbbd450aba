//! The domain types of Toolcell: what a tool is, before it is analysed, stored or run.
//!
//! Invariant: pure values. Nothing here touches a clock, a file, the environment, a thread or a
//! random number.

mod audit_contents;
mod capabilities;
mod capability;
mod draft;
mod example;
mod grants;
mod id;
mod metadata;
mod name;
mod spec;
mod status;

pub use audit_contents::AuditContents;
pub use capabilities::{Capabilities, CapabilityNeed};
pub use capability::Capability;
pub use draft::{Draft, DraftError, Language, SOURCE_LIMIT};
pub use example::{Example, ExampleSource, Expectation, Postconditions};
pub use grants::{
    Access, Bytes, CallableTools, Domain, Endpoint, FilesGrant, FolderName, GRANTS_LIMIT, GrantError, Grants,
    HOSTS_LIMIT, HostPattern, KvGrant, MAX_BYTES, Method, NetGrant, NetPart, NetRequest, PathPrefix, Scheme,
    SecretGrant, SecretLocation, SecretName, ServerName, ServerToolName, ServerTools, ServersGrant, SpaceName,
    parse_address_range,
};
pub use id::{IdError, IdPrefix, ToolId};
pub use metadata::{DESCRIPTION_LIMIT, EXAMPLES_LIMIT, MAX_COST, MetadataError, TAG_LIMIT, TAGS_LIMIT, ToolMetadata};
pub use name::{BUILTIN_TOOLS, NAME_LIMIT, NameDefect, NameError, ToolName};
pub use spec::{DECLARATION_LIMIT, SpecError, ToolSpec, canonical_json};
pub use status::Status;
