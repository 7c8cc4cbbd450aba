//! Files in granted folders.

use serde::Deserialize;
use toolcell_capabilities::{Files, WriteMode};
use toolcell_host::{Json, Operation, OperationAnswer};

use super::failure::{self, Result, answer, nothing_done, payload};

/// What is to be done with a file or a folder.
pub(super) struct Work {
    what: What,
    path: String,
}

enum What {
    Read,
    Write { mode: WriteMode, content: Vec<u8> },
    List,
    Stat,
    Remove,
    MakeFolder,
}

#[derive(Deserialize)]
struct Form {
    path: String,
    mode: Option<WriteMode>,
}

/// What a tool asks for.
pub(super) fn read(operation: Operation) -> Result<Work> {
    let Form { path, mode } = payload(&operation)?;
    let what = match operation.kind.as_str() {
        "files.read" => What::Read,
        "files.write" => {
            let (Some(mode), Some(content)) = (mode, operation.bytes) else {
                let message = "a file is written with content, and in a mode";
                return Err(nothing_done("TypeError", "operation-invalid", message));
            };
            What::Write { mode, content }
        }
        "files.list" => What::List,
        "files.stat" => What::Stat,
        "files.remove" => What::Remove,
        "files.mkdir" => What::MakeFolder,
        other => {
            let message = format!("nothing is called `{other}`");
            return Err(nothing_done("TypeError", "operation-invalid", message));
        }
    };
    Ok(Work { what, path })
}

impl Work {
    /// Does it.
    pub(super) fn done(self, files: &Files) -> Result {
        let path = self.path.as_str();
        match self.what {
            What::Read => {
                let bytes = files.read(path).map_err(failure::of)?;
                Ok(OperationAnswer { json: Json::NULL, bytes: Some(bytes) })
            }
            What::Write { mode, content } => nothing(files.write(path, &content, mode)),
            What::List => answer(&files.list(path).map_err(failure::of)?),
            What::Stat => answer(&files.stat(path).map_err(failure::of)?),
            What::Remove => nothing(files.remove(path)),
            What::MakeFolder => nothing(files.make_folder(path)),
        }
    }
}

fn nothing(done: std::result::Result<(), toolcell_capabilities::Failure>) -> Result {
    done.map(|()| Json::NULL.into()).map_err(failure::of)
}
