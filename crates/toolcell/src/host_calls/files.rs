//! Host calls on files in granted folders.

use toolcell_capabilities::Files;
use toolcell_host::{FileAction, FileRequest, Json, OperationOutput, WriteMode};

use super::error::{Result, error_without_effects, to_output};

/// A host call on a file or a folder.
pub(super) struct FileCall {
    work: FileWork,
    path: String,
}

enum FileWork {
    Read,
    Write { mode: WriteMode, content: Vec<u8> },
    List,
    Stat,
    Remove,
    MakeFolder,
}

/// Checks the host call.
pub(super) fn check(action: FileAction, request: FileRequest, bytes: Option<Vec<u8>>) -> Result<FileCall> {
    let FileRequest { path, mode } = request;
    let work = match action {
        FileAction::Read => FileWork::Read,
        FileAction::Write => {
            let (Some(mode), Some(content)) = (mode, bytes) else {
                let message = "a file write needs content and a mode";
                return Err(error_without_effects("TypeError", "operation-invalid", message));
            };
            FileWork::Write { mode, content }
        }
        FileAction::List => FileWork::List,
        FileAction::Stat => FileWork::Stat,
        FileAction::Remove => FileWork::Remove,
        FileAction::MakeFolder => FileWork::MakeFolder,
    };
    Ok(FileCall { work, path })
}

impl FileCall {
    /// Performs the host call.
    pub(super) fn perform(self, files: &Files) -> Result {
        let path = self.path.as_str();
        match self.work {
            FileWork::Read => {
                let bytes = files.read(path)?;
                Ok(OperationOutput { json: Json::NULL, bytes: Some(bytes) })
            }
            FileWork::Write { mode, content } => empty_output(files.write(path, &content, mode)),
            FileWork::List => to_output(&files.list(path)?),
            FileWork::Stat => to_output(&files.stat(path)?),
            FileWork::Remove => empty_output(files.remove(path)),
            FileWork::MakeFolder => empty_output(files.make_folder(path)),
        }
    }
}

fn empty_output(done: Result<()>) -> Result {
    done.map(|()| Json::NULL.into())
}
