//! The smallest host: creates a tool and runs it. Prints `olleh`.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use serde_json::json;
use toolcell::{CreateTool, RunOptions, RunTool, Toolbox, ToolboxConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    let code = "export function execute({ text }) { return text.split('').reverse().join('') }".to_owned();
    let (name, description) = ("reverse".to_owned(), "Reverses a text".to_owned());
    toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;

    let request = RunTool::with_params("reverse", &json!({ "text": "hello" }))?;
    let reversed: String = toolbox.run(&request, &RunOptions::default())?.value_as()?;
    println!("{reversed}");
    Ok(())
}
