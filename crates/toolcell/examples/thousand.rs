//! A host that holds 1,000 tools: makes them, finds some, and runs each from all cores.
#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::time::Instant;

use toolcell::{CreateTool, ListTools, Params, RunOptions, RunTool, Toolbox, ToolboxConfig, store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let settings = store::Settings { durability: store::Durability::Unsynced, ..store::Settings::default() };
    let toolbox = Toolbox::with_store(store::Store::open(folder.path(), &settings)?, ToolboxConfig::default())?;

    let started = Instant::now();
    for number in 0..1_000 {
        toolbox.create(&CreateTool {
            name: format!("times-{number}"),
            description: format!("Multiplies by {number}"),
            code: format!("const execute = ({{ n }}) => {number} * n"),
            tags: vec![format!("digit-{}", number % 10)],
            ..CreateTool::default()
        })?;
    }
    println!("1000 tools made in {:.1?}", started.elapsed());

    let filter = ListTools { tags: vec!["digit-7".to_owned()], limit: Some(5), ..ListTools::default() };
    let listed = toolbox.list(&filter)?;
    println!("{} of {} with the tag digit-7", listed.tools.len(), listed.total);

    let started = Instant::now();
    let threads = std::thread::available_parallelism()?.get();
    let sum = std::thread::scope(|scope| -> Result<u64, Box<dyn std::error::Error>> {
        let share = |thread: usize| -> Result<u64, toolcell::RunError> {
            let mut sum = 0;
            for number in (thread..1_000).step_by(threads) {
                let params = Params::parse(r#"{"n": 2}"#).unwrap_or_default();
                let ran = toolbox.run(&RunTool::new(&format!("times-{number}"), params), &RunOptions::default())?;
                sum += ran.value().ok().flatten().and_then(|json| json.as_str().parse::<u64>().ok()).unwrap_or(0);
            }
            Ok(sum)
        };
        let runs: Vec<_> = (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        let mut sum = 0;
        for run in runs {
            sum += run.join().map_err(|_| "a thread panicked")??;
        }
        Ok(sum)
    })?;
    println!("1000 tools run in {:.1?}, the sum of all results is {sum}", started.elapsed());
    if sum == 999_000 { Ok(()) } else { Err("the sum is wrong".into()) }
}
