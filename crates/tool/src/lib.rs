//! The vocabulary: what a tool is, before anything is done to it.
//!
//! Invariant: pure values. Nothing here touches a clock, a file, the environment, a thread or a random number.

mod capability;
mod draft;
mod example;
mod grants;
mod id;
mod message;
mod name;
mod notes;
mod spec;
mod status;

pub use capability::Capability;
pub use draft::{Draft, DraftError, Language, SOURCE_LIMIT};
pub use example::{Claims, Example, Expectation};
pub use grants::{
    Access, Bytes, Callees, Domain, Endpoint, FilesGrant, FolderName, GRANTS_LIMIT, GrantError, Grants, HOSTS_LIMIT,
    HostPattern, Into, KvGrant, MAX_BYTES, Method, NetGrant, NetPart, NetRequest, PathPrefix, Scheme, SecretGrant,
    SecretName, SpaceName, parse_addresses,
};
pub use id::{IdError, IdPrefix, ToolId};
pub use message::{Lang, headline, name_taken};
pub use name::{Detail, NAME_LIMIT, NameError, OPERATIONS, ToolName};
pub use notes::{DESCRIPTION_LIMIT, EXAMPLES_LIMIT, MAX_COST, Notes, NotesError, TAG_LIMIT, TAGS_LIMIT};
pub use spec::{DECLARATION_LIMIT, SpecError, ToolSpec, canonical};
pub use status::Status;
