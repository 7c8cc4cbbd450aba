//! When a tool is worth making: pure functions over values.
//!
//! Reading order: `words` takes a text apart, whatever its script (`dictionary` knows those without blanks); `reading` says which sentence a word stands in;
//! `lexicon` knows what words say, `mention` whether it is meant; `operation` counts what was the same, and `line` reads the lines of
//! text in a history; `features` and
//! `score` weigh it all; `known` looks at what is stored; `reflect` decides, and `reason` says why. `proposal` makes the tool
//! that is worth making. `terms` is what a search index keeps.
//!
//! Invariant: nothing here touches a clock, a file, the environment, a thread or a random number, and no text that was
//! handed in is ever more than evidence.

mod dictionary;
mod evidence;
mod features;
mod known;
mod lexicon;
mod line;
mod mention;
mod operation;
mod packed;
mod proposal;
mod reading;
mod reason;
mod reflect;
mod score;
mod terms;
mod trigger;
mod words;

pub use evidence::{Evidence, EvidenceKind};
pub use known::{Known, Soundness};
pub use operation::{Operation, Repeated, repeated};
pub use proposal::{Proposal, propose};
pub use reflect::{Decision, Occasion, Reflection, Thresholds, reflect};
pub use terms::terms;
pub use trigger::Trigger;
pub use words::{Word, words};
