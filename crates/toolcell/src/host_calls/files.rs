//! Host calls on files in granted folders.

use serde::Deserialize;
use toolcell_capabilities::{Files, WriteMode};
use toolcell_host::{HostCall, Json, OperationOutput};

use super::error::{Result, error_without_effects, parse_payload, to_output};

/// A host call on a file or a folder.
pub(super) struct FileCall {
    action: FileAction,
    path: String,
}

enum FileAction {
    Read,
    Write { mode: WriteMode, content: Vec<u8> },
    List,
    Stat,
    Remove,
    MakeFolder,
}

#[derive(Deserialize)]
struct RawFileCall {
    path: String,
    mode: Option<WriteMode>,
}

/// Parses the host call.
pub(super) fn parse(operation: HostCall) -> Result<FileCall> {
    let RawFileCall { path, mode } = parse_payload(&operation)?;
    let what = match operation.kind.as_str() {
        "files.read" => FileAction::Read,
        "files.write" => {
            let (Some(mode), Some(content)) = (mode, operation.bytes) else {
                let message = "a file write needs content and a mode";
                return Err(error_without_effects("TypeError", "operation-invalid", message));
            };
            FileAction::Write { mode, content }
        }
        "files.list" => FileAction::List,
        "files.stat" => FileAction::Stat,
        "files.remove" => FileAction::Remove,
        "files.mkdir" => FileAction::MakeFolder,
        other => {
            let message = format!("unknown operation `{other}`");
            return Err(error_without_effects("TypeError", "operation-invalid", message));
        }
    };
    Ok(FileCall { action: what, path })
}

impl FileCall {
    /// Performs the host call.
    pub(super) fn perform(self, files: &Files) -> Result {
        let path = self.path.as_str();
        match self.action {
            FileAction::Read => {
                let bytes = files.read(path)?;
                Ok(OperationOutput { json: Json::NULL, bytes: Some(bytes) })
            }
            FileAction::Write { mode, content } => empty_output(files.write(path, &content, mode)),
            FileAction::List => to_output(&files.list(path)?),
            FileAction::Stat => to_output(&files.stat(path)?),
            FileAction::Remove => empty_output(files.remove(path)),
            FileAction::MakeFolder => empty_output(files.make_folder(path)),
        }
    }
}

fn empty_output(done: Result<()>) -> Result {
    done.map(|()| Json::NULL.into())
}
