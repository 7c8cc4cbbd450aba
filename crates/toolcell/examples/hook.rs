//! A host that has a say in each run: a hook denies, another one changes what the tool is given.
#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use serde_json::json;
use toolcell::{CreateTool, HookVerdict, Hooks, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut hooks = Hooks::default();
    hooks.before("office-hours", |call| {
        if call.args["amount"].as_f64().unwrap_or(0.0) > 1000.0 {
            HookVerdict::deny("more than 1000 has to be entered by hand")
        } else {
            HookVerdict::allow()
        }
    });
    hooks.before("currency", |call| {
        let mut args = serde_json::Value::clone(&call.args);
        args["currency"] = json!("EUR");
        HookVerdict::allow().with_args(args)
    });

    let folder = tempfile::tempdir()?;
    let toolbox = Toolbox::open(folder.path(), ToolboxConfig { hooks, ..ToolboxConfig::default() })?;
    toolbox.create(&CreateTool {
        name: "invoice".to_owned(),
        description: "Writes a line of an invoice".to_owned(),
        code: "const execute = ({ amount, currency }) => `${amount} ${currency}`".to_owned(),
        ..CreateTool::default()
    })?;

    let run = |params: &str| -> Result<_, Box<dyn std::error::Error>> {
        Ok(toolbox.run(&RunTool::new("invoice", Params::parse(params)?), &RunOptions::default()))
    };
    let ran = run(r#"{"amount": 12}"#)??;
    println!("{}", ran.value()?.map(toolcell::Json::to_text).unwrap_or_default());
    let denied = run(r#"{"amount": 5000}"#)?;
    let Err(error) = denied else { return Err("the hook denies it".into()) };
    println!("{}: {error}", error.code());
    Ok(())
}
