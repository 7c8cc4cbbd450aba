//! `config`: shows the rules under which tools run, checks the files that they stand in, and says whose gates may run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolcell::gate::ProgramFiles;
use toolcell::policy::{GateCommand, Layer, Origin, PolicyError, Setting};
use toolcell::{Policy, PolicyFile, unmasked, visible};

use crate::Streams;
use crate::args::{ConfigCommand, PolicyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::{self, Rules};
use crate::trusted::{Trusted, TrustedFile, TrustedProgram, settled};

pub(crate) fn run(
    command: &ConfigCommand,
    places: &PolicyArgs,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Show { origin } => {
            let rules = Rules::find(places)?;
            if json { show_json(&rules, streams) } else { show(&rules, *origin, streams) }
        }
        ConfigCommand::Check { file } => check(file.as_deref(), places, json, streams),
        ConfigCommand::Schema => {
            writeln!(streams.output, "{:#}", Policy::json_schema())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Trust { file } => trust(file.as_deref(), places, json, streams),
        ConfigCommand::Untrust { file } => untrust(file, places, json, streams),
    }
}

/// The values that count, as a file would state them.
fn show(rules: &Rules, with_origin: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let settings = rules.policy().origins();
    if with_origin {
        for file in [&rules.user, &rules.project].into_iter().flatten() {
            writeln!(streams.output, "# {} {}", file.layer(), visible(&file.path().display().to_string()))?;
        }
    }
    let said = |setting: &Setting| format!("{} = {}", setting.key, setting.value);
    let width = settings.iter().map(|setting| said(setting).chars().count()).max().unwrap_or_default().min(60);
    for setting in &settings {
        let line = visible(&said(setting));
        if with_origin {
            writeln!(streams.output, "{line:width$}  # {}", visible(&origins(setting)))?;
        } else {
            writeln!(streams.output, "{line}")?;
        }
    }
    if let (Some(file), Some(false)) = (&rules.project, rules.trusts_project()?) {
        let path = visible(&file.path().display().to_string());
        writeln!(streams.errors, "warning: the gates of {path} do not run, and deny, because nobody trusted it")?;
        writeln!(streams.errors, "hint: look at it, and then: toolcell config trust {path}")?;
    }
    if let Some(reason) = rules.lost_trust()? {
        writeln!(streams.errors, "warning: nothing runs here: {}", visible(&reason))?;
    }
    Ok(Exit::Done)
}

/// Where a value comes from, and what a project asked for in vain.
fn origins(setting: &Setting) -> String {
    let mut text = setting.origin.to_string();
    for (value, origin) in &setting.beyond {
        text = format!("{text}; {value} does not count ({origin})");
    }
    text
}

fn show_json(rules: &Rules, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let trusted = rules.trusts_project()?;
    let file = |file: &PolicyFile| {
        let mut said = about(file);
        said["trusted"] = json!(if file.layer() == Layer::User { Some(true) } else { trusted });
        said
    };
    let setting = |setting: &Setting| {
        let beyond = setting.beyond.iter().map(|(asked, of)| json!({"value": value(asked), "origin": origin(of)}));
        json!({
            "key": setting.key,
            "value": value(&setting.value),
            "origin": origin(&setting.origin),
            "beyond": beyond.collect::<Vec<_>>(),
        })
    };
    let files: Vec<Value> = rules.user.iter().chain(&rules.project).map(file).collect();
    let settings: Vec<Value> = rules.policy().origins().iter().map(setting).collect();
    writeln!(streams.output, "{}", json!({ "files": files, "settings": settings }))?;
    Ok(Exit::Done)
}

fn about(file: &PolicyFile) -> Value {
    let gates: Vec<Value> =
        file.gates().iter().map(|gate| json!({ "name": gate.name, "command": gate.command })).collect();
    json!({
        "layer": file.layer().to_string(),
        "path": file.path().display().to_string(),
        "hash": file.hash().to_string(),
        "gates": gates,
    })
}

/// What stands in a file for numbers, texts and lists of them is JSON as well.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn origin(origin: &Origin) -> Value {
    match origin {
        Origin::File { layer, path, line } => {
            json!({ "from": layer.to_string(), "path": path.display().to_string(), "line": line })
        }
        other => json!({ "from": other.to_string() }),
    }
}

fn check(file: Option<&str>, places: &PolicyArgs, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    match checked(file, places, streams) {
        Ok(files) if json => {
            let files: Vec<Value> = files.iter().map(about).collect();
            writeln!(streams.output, "{}", json!({ "good": true, "files": files, "problems": [] }))?;
            Ok(Exit::Done)
        }
        Ok(files) => {
            for file in &files {
                writeln!(streams.output, "{}: sound", visible(&file.path().display().to_string()))?;
            }
            if files.is_empty() {
                writeln!(streams.output, "no policy file holds here; `toolcell init` writes one")?;
            }
            Ok(Exit::Done)
        }
        Err(Failure::Policy(error)) if json => {
            let problems: Vec<Value> = problems(&error).collect();
            writeln!(streams.output, "{}", json!({ "good": false, "files": [], "problems": problems }))?;
            Ok(Failure::Policy(error).exit())
        }
        Err(failure) => Err(failure),
    }
}

/// The files that are asked for, if they are sound alone and together.
fn checked(file: Option<&str>, places: &PolicyArgs, streams: &mut Streams<'_>) -> Result<Vec<PolicyFile>, Failure> {
    match file {
        Some("-") => Ok(vec![rules::read_from(Layer::Project, &mut *streams.input, Path::new("stdin"))?]),
        Some(path) => {
            let path = Path::new(path);
            let of_user = rules::user_path(places).is_some_and(|user| rules::same(&user, path));
            Ok(vec![rules::read(if of_user { Layer::User } else { Layer::Project }, path)?])
        }
        None => {
            let rules = Rules::find(places)?;
            Ok(rules.user.into_iter().chain(rules.project).collect())
        }
    }
}

fn problems(error: &PolicyError) -> impl Iterator<Item = Value> {
    error.problems().iter().map(|problem| {
        json!({
            "path": problem.path.display().to_string(),
            "line": problem.line,
            "column": problem.column,
            "message": problem.message,
        })
    })
}

fn trust(file: Option<&Path>, places: &PolicyArgs, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let path: PathBuf = match file {
        Some(path) => settled(path)?,
        None => rules::project_path(places)?.ok_or_else(|| {
            let message = "no project's policy file is found from here".to_owned();
            Failure::said("file-not-found", message, "name it: toolcell config trust FILE")
        })?,
    };
    let file = rules::read(Layer::Project, &path)?;
    let of = |gate: &GateCommand| ProgramFiles::of(&gate.command, &gate.folder);
    let mut programs: Vec<TrustedProgram> = Vec::new();
    for path in file.gates().iter().flat_map(|gate| of(gate).files) {
        // What is not there yet is not trusted: the gate denies until the file is trusted anew.
        let now = TrustedProgram::now(&path).ok();
        programs.extend(now.filter(|now| !programs.contains(now)));
    }
    let (hash, listed) = (file.hash().to_string(), file.path().to_owned());
    Trusted::at(places).add(TrustedFile { hash, path: listed, programs: programs.clone() })?;
    if json {
        let mut said = about(&file);
        let covered = programs.iter().map(|one| json!({ "path": one.path.display().to_string(), "hash": one.hash }));
        said["covers"] = covered.collect();
        writeln!(streams.output, "{said}")?;
        return Ok(Exit::Done);
    }
    let mut lines = vec![format!("trusted {} ({})", shown(&path), short(&file.hash().to_hex()))];
    for gate in file.gates() {
        let words: Vec<String> = gate.command.iter().map(|word| in_one_line(word)).collect();
        lines.push(format!("its gate `{}` runs {}", in_one_line(&gate.name), words.join(" ")));
        if !gate.env.is_empty() {
            lines.push(format!("  it gets the variables {}", in_one_line(&gate.env.join(", "))));
        }
        let ProgramFiles { files, folders } = of(gate);
        for path in files {
            lines.push(match programs.iter().find(|program| program.path == path) {
                Some(program) => format!("  covered: {} ({})", shown(&path), short(&program.hash)),
                None => format!("  not covered, since it cannot be read: {}", shown(&path)),
            });
        }
        let folders = folders.iter().map(|path| format!("  not covered, since it is a folder: {}", shown(path)));
        lines.extend(folders);
    }
    let what =
        if file.gates().is_empty() { "it has no gates; until" } else { "what these files load is not covered; until" };
    lines.push(format!("{what} `toolcell config untrust`, nothing runs here where the file has changed or is gone"));
    for line in lines {
        let rows = streams.output_rows(&line);
        writeln!(streams.output, "{rows}")?;
    }
    Ok(Exit::Done)
}

fn shown(path: &Path) -> String {
    in_one_line(&path.display().to_string())
}

/// Text as it is, or in quotes and escaped where it would not be one line.
fn in_one_line(text: &str) -> String {
    if text.chars().any(char::is_control) { unmasked(&Value::from(text).to_string()) } else { unmasked(text) }
}

/// The beginning of a hash: a file that changes is to be trusted anew.
fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

fn untrust(file: &Path, places: &PolicyArgs, json: bool, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let path = settled(file)?;
    let shown = path.display().to_string();
    if !Trusted::at(places).remove(&path)? {
        let hint = "`toolcell config show --origin` names the files that hold here";
        return Err(Failure::said("not-trusted", format!("{shown} was not trusted"), hint));
    }
    if json {
        writeln!(streams.output, "{}", json!({ "path": shown, "trusted": false }))?;
    } else {
        writeln!(streams.output, "{} is not trusted any longer", visible(&shown))?;
    }
    Ok(Exit::Done)
}
