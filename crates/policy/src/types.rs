//! The program that checks types where `toolcell-types` is not installed.
//!
//! Invariant: only the user's file names it. A command is an argument list that no shell interprets.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toolcell_i18n::msgid;

use crate::problem::PolicyParser;
use crate::provenance::{Origin, Setting, toml_list};

/// The compiler of TypeScript that the user names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeCompiler {
    /// The program and its first arguments; never empty.
    pub command: Vec<String>,
    /// The folder of the policy file: a program path that contains `/` is relative to it.
    pub folder: PathBuf,
    /// The position of the setting.
    pub origin: Origin,
}

impl TypeCompiler {
    /// Returns the setting for display.
    pub(super) fn to_setting(&self) -> Setting {
        let value = toml_list(&self.command);
        Setting { key: "types.command".to_owned(), value, origin: self.origin.clone(), ignored: Vec::new() }
    }
}

/// How the types of sources are checked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawTypes {
    /// The compiler of TypeScript 7 and its first arguments, such as `["tsc"]`; no shell is used. A
    /// program path that contains `/` is relative to the policy file's folder. It checks types where
    /// the program `toolcell-types` is not installed.
    #[schemars(with = "Vec<String>", length(min = 1))]
    command: Option<Spanned<Vec<String>>>,
}

impl PolicyParser<'_> {
    /// Converts the command that checks types.
    pub(super) fn parse_types(&mut self, form: RawTypes) -> Option<TypeCompiler> {
        let command = form.command?;
        let span = command.span();
        if command.get_ref().first().is_none_or(String::is_empty) {
            self.report(&span, msgid!("`types.command` must start with a program"));
            return None;
        }
        if command.get_ref().iter().any(|word| word.contains('\0')) {
            self.report(&span, msgid!("`types.command` must not contain U+0000"));
            return None;
        }
        let folder = self.path.parent().map_or_else(PathBuf::new, Path::to_owned);
        Some(TypeCompiler { command: command.into_inner(), folder, origin: self.origin(&span) })
    }
}
