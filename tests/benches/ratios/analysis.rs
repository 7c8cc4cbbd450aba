//! Run time of the analysis: of a small tool, of the largest one, and its growth.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toolcell_analysis::{analyze, transpile};
use toolcell_tool::Language;

use crate::measure::Series;
use crate::table::{Figure, Row, Table, Target};

const TURNS: usize = 15;

/// Sizes in KiB, and the promised times in seconds.
const SIZES: [(usize, Option<f64>); 4] = [(2, Some(0.5e-3)), (8, None), (32, None), (64, Some(10e-3))];

pub(crate) fn measure(table: &mut Table) {
    table.section("the analysis of ordinary TypeScript: parsed, analysed, assessed, stripped; median of 15");
    let mut per_kib = Vec::new();
    for (kib, promised) in SIZES {
        let source = ordinary(kib << 10);
        assert!(analyze(&source, Language::TypeScript, None).is_ok(), "the source of {kib} KiB is analysed");
        let (mut analysed, mut stripped) = (Series::default(), Series::default());
        for _ in 0..TURNS {
            analysed.time(1, || analyze(&source, Language::TypeScript, None).is_ok());
            stripped.time(1, || transpile(&source, Language::TypeScript).is_ok());
        }
        let row =
            Row::new(format!("{kib} KiB, beside stripping it alone"), analysed.median()).beside(stripped.median());
        table.row(match promised {
            Some(seconds) => row.target(Target::AtMost(Figure::Time(seconds))),
            None => row,
        });
        if let Figure::Time(seconds) = analysed.median() {
            #[expect(clippy::cast_precision_loss, reason = "a few KiB")]
            per_kib.push(seconds / kib as f64);
        }
    }
    // Linear growth: a KiB of the largest source takes as long as a KiB of a medium one.
    let growth = Row::new("a KiB of 64, beside a KiB of 8", Figure::Time(per_kib[3])).beside(Figure::Time(per_kib[1]));
    table.row(growth.target(Target::TimesWorse(1.5)));
}

/// Returns a source of about this many bytes: the benign fixtures, each in a function.
fn ordinary(bytes: usize) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/analysis/tuning/benign");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "ts"));
    paths.sort();
    let sources: Vec<String> = paths
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        // Leaves out what is valid only at the top level, or compiled instead of stripped.
        .filter(|source| {
            !["import ", "export default", "enum ", "namespace ", "declare ", "private ", "readonly "]
                .iter()
                .any(|word| source.contains(word))
        })
        .map(|source| source.replace("export ", ""))
        .collect();
    let mut text = String::new();
    for (index, source) in sources.iter().cycle().enumerate() {
        // Room for the wrapper, and for the tool at the end.
        if text.len() + source.len() + 200 > bytes {
            break;
        }
        write!(text, "function part{index}() {{\n{source}\n}}\n").unwrap();
    }
    text.push_str("function execute(params: { n: number }): number { return params.n }\n");
    text
}
