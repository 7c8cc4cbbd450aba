//! The smallest host: creates a tool and runs it. Prints `olleh`.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    let code = "export function execute({ text }) { return text.split('').reverse().join('') }".to_owned();
    let (name, description) = ("reverse".to_owned(), "Reverses a text".to_owned());
    toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;

    let request = RunTool::new("reverse", Params::parse(r#"{"text": "hello"}"#)?);
    let ran = toolbox.run(&request, &RunOptions::default())?;
    println!("{}", ran.value()?.map(toolcell::Json::to_text).unwrap_or_default());
    Ok(())
}
