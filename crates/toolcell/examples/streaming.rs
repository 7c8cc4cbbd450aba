//! A host that shows partial results while a tool runs, and cancels one that runs for too long.
#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::sync::Arc;
use std::time::Duration;

use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};

/// A custom-tool factory, as other hosts have them.
const CODE: &str = "
export default (pi) => ({
  name: 'digits',
  description: 'Adds up the digits of the numbers up to n, and tells how far it is',
  parameters: pi.typebox.Type.Object({ n: pi.typebox.Type.Integer() }),
  async execute(toolCallId, { n }, onUpdate) {
    let sum = 0
    for (let i = 1; i <= n; i++) {
      for (const digit of String(i)) sum += Number(digit)
      if (i % 1000 === 0) onUpdate({ done: i })
    }
    return sum
  },
})";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let toolbox = Arc::new(Toolbox::open(folder.path(), ToolboxConfig::default())?);
    toolbox.create(&CreateTool {
        name: "digits".to_owned(),
        description: "Adds up digits".to_owned(),
        code: CODE.to_owned(),
        ..CreateTool::default()
    })?;

    let mut run = toolbox.start(RunTool::new("digits", Params::parse(r#"{"n": 3000}"#)?), RunOptions::default());
    while let Some(update) = run.next_update().await {
        println!("{update}");
    }
    println!("sum: {}", run.wait().await?.value()?.map(toolcell::Json::to_text).unwrap_or_default());

    let endless = toolbox.start(RunTool::new("digits", Params::parse(r#"{"n": 1e15}"#)?), RunOptions::default());
    tokio::time::sleep(Duration::from_millis(50)).await;
    endless.cancel();
    let ended = endless.wait().await?;
    println!("{}", ended.value().err().map_or("it returned", |failed| failed.code().as_str()));
    Ok(())
}
