//! Draws profiles as flame graphs (Gregg, "The Flame Graph", 2016) in SVG.
//!
//! Invariant: the same profile yields the same bytes, and no text of a tool is markup in them.

use inferno::flamegraph::{self, Options};

use super::approval_prompt::escape_control_chars;
use crate::operations::profile::{Profile, ProfileError};

impl Profile {
    /// Draws the call stacks as an SVG image, which a browser can search and zoom.
    ///
    /// # Errors
    /// `profile-empty`: the tool used no fuel.
    pub fn flame_graph(&self) -> Result<String, ProfileError> {
        self.draw(false)
    }

    /// Draws the call stacks as an SVG image without scripts, for a page that shows it.
    ///
    /// # Errors
    /// `profile-empty`: the tool used no fuel.
    pub fn flame_graph_image(&self) -> Result<String, ProfileError> {
        self.draw(true)
    }

    fn draw(&self, is_static: bool) -> Result<String, ProfileError> {
        let folded: Vec<String> = self.folded_stacks().iter().map(|line| escape_for_xml(line)).collect();
        let empty = || ProfileError::Empty { tool: self.tool.clone() };
        if folded.is_empty() {
            return Err(empty());
        }
        let mut options = Options::default();
        options.title = format!("{}: {} fuel", escape_for_xml(&self.tool), self.fuel);
        "fuel".clone_into(&mut options.count_name);
        options.deterministic = true;
        options.no_javascript = is_static;
        let mut drawn = Vec::new();
        // Writing to memory does not fail, so this is about the stacks.
        flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut drawn).map_err(|_| empty())?;
        String::from_utf8(drawn).map_err(|_| empty())
    }
}

/// Replaces characters that XML cannot represent.
fn escape_for_xml(text: &str) -> String {
    escape_control_chars(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
