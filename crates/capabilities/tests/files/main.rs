//! What tools do with files in granted folders, and what others do to those folders meanwhile.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and looks at files")]

mod place;

mod effects;
mod kinds;
mod links;
mod names;
mod paths;
mod protected;
mod quotas;
mod space;
mod writing;
