//! `doctor`: says what this machine gives, and proves with one call whether Toolcell works on it.

use std::path::Path;

use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use toolcell::{Budget, Draft, ENGINE_VERSION, GUEST_DIGEST, Kind, Outcome, Params, Precheck, Run, Toolbox, visible};

use toolcell::store::{Access, Health, Mending, Settings, Store, fsck};

use crate::Streams;
use crate::args::SandboxArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::fsck::{print_problems, summary};
use crate::progress::during;

/// What was found.
#[derive(Debug, Serialize)]
struct Findings {
    works: bool,
    version: &'static str,
    engine: String,
    guest: &'static str,
    image: &'static str,
    passed_over: Vec<PassedOver>,
    address_space_bytes: Option<u64>,
    cores: usize,
    fuel: u64,
    load_fuel: u64,
    first_call_ms: f64,
    store: StoreFindings,
}

/// How the store is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StoreFindings {
    directory: String,
    /// Why it cannot be opened, or does not exist.
    error: Option<String>,
    access: Option<&'static str>,
    health: Option<Health>,
    /// What is wrong with the audit log.
    audit: Vec<String>,
}

impl StoreFindings {
    /// Looks at a store, if there is one; none yet is fine.
    fn look(dir: &Path) -> Self {
        let directory = dir.display().to_string();
        let none = Self { directory, error: None, access: None, health: None, audit: Vec::new() };
        if !dir.exists() {
            return none;
        }
        let health = match fsck(dir, Mending::Look) {
            Ok(health) => health,
            Err(error) => return Self { error: Some(error.to_string()), ..none },
        };
        let store = match Store::open_existing(dir, &Settings::default()) {
            Ok(store) => store,
            Err(error) => return Self { error: Some(error.to_string()), health: Some(health), ..none },
        };
        let access = Some(match store.access() {
            Access::Full => "read and write",
            Access::ReadOnly => "read-only: runs are not recorded",
        });
        let audit = match store.audit().verify(None) {
            Ok(verdict) => verdict.problems.iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        };
        Self { access, health: Some(health), audit, ..none }
    }

    fn is_good(&self) -> bool {
        self.error.is_none() && self.audit.is_empty() && self.health.as_ref().is_none_or(Health::is_good)
    }
}

#[derive(Debug, Serialize)]
struct PassedOver {
    image: &'static str,
    reason: String,
}

pub(crate) fn run(args: SandboxArgs, dir: &Path, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let toolbox = Toolbox::new(&args.config())?;
    let draft = Draft::from_bytes("doctor.js", b"const execute = ({ numbers }) => numbers.reduce((a, b) => a + b)")?;
    let params = Params::parse(r#"{"numbers": [1, 2, 3]}"#)?;
    let report = toolbox.exec(&draft, &params, &Budget::default(), &Run::default(), Precheck::Off)?;
    let findings = Findings {
        works: matches!(&report.outcome, Outcome::Returned(Some(value)) if value.as_str() == "6"),
        version: env!("CARGO_PKG_VERSION"),
        engine: format!("wasmtime {ENGINE_VERSION}"),
        guest: GUEST_DIGEST,
        image: toolbox.image().name(),
        passed_over: toolbox
            .passed_over()
            .iter()
            .map(|(kind, reason)| PassedOver { image: kind.name(), reason: reason.clone() })
            .collect(),
        address_space_bytes: getrlimit(Resource::As).current,
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        fuel: report.usage.fuel,
        load_fuel: report.usage.load_fuel,
        first_call_ms: (report.usage.duration.as_secs_f64() * 1e6).round() / 1e3,
        store: during("looking", streams, || StoreFindings::look(dir)),
    };
    if json {
        let text = serde_json::to_string(&findings).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        print_text(&findings, toolbox.image(), streams)?;
    }
    Ok(match (findings.works, findings.store.is_good()) {
        (true, true) => Exit::Done,
        (true, false) => Exit::Integrity,
        (false, _) => Exit::Bug,
    })
}

fn print_text(findings: &Findings, image: Kind, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let out = &mut *streams.output;
    let what = match image {
        Kind::Roomy => "native code, no bounds checks, 4 GiB of address space a call",
        Kind::Bounded => "native code with bounds checks, as much address space as memory",
        Kind::Interpreted => "interpreter, no executable pages, about 25 times slower",
    };
    let space =
        findings.address_space_bytes.map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    writeln!(out, "toolcell       {}", findings.version)?;
    writeln!(out, "engine         {}", findings.engine)?;
    writeln!(out, "guest          {}", &findings.guest[..16])?;
    writeln!(out, "image          {} ({what})", findings.image)?;
    for passed_over in &findings.passed_over {
        writeln!(out, "  not {:<9} {}", passed_over.image, passed_over.reason)?;
    }
    writeln!(out, "address space  {space}")?;
    writeln!(out, "cores          {}", findings.cores)?;
    writeln!(out, "first call     {} ms, {} fuel", findings.first_call_ms, findings.fuel)?;
    print_store(&findings.store, streams)?;
    let out = &mut *streams.output;
    writeln!(out, "{}", if findings.works { "works" } else { "does not work: the first call gave a wrong answer" })
}

fn print_store(store: &StoreFindings, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let state = match (&store.error, store.access) {
        (Some(error), _) => visible(error),
        (None, Some(access)) => access.to_owned(),
        (None, None) => "none yet".to_owned(),
    };
    writeln!(streams.output, "store          {} ({state})", visible(&store.directory))?;
    if let Some(health) = &store.health {
        writeln!(streams.output, "               {}", summary(health))?;
        print_problems(health, streams)?;
    }
    store.audit.iter().try_for_each(|problem| writeln!(streams.output, "wrong: audit log: {}", visible(problem)))
}
