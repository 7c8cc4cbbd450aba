//! The program that checks types.

use std::path::Path;

use super::layers::row;
use super::{policy, project, user};

#[test]
fn only_the_user_names_the_compiler() {
    let named = policy("[types]\ncommand = [\"node\", \"./tsc.js\"]", "");
    let compiler = named.type_compiler().unwrap();
    assert_eq!((compiler.command.join(" "), &*compiler.folder), ("node ./tsc.js".to_owned(), Path::new("config")));
    assert_eq!(row(&named, "types.command"), "[\"node\", \"./tsc.js\"] (user config/user.toml:2)");
    // A project's is not an error, and is not used.
    let file = "[types]\ncommand = [\"./evil\"]";
    assert!(project(file).is_ok());
    let ignored = policy("", file);
    assert_eq!(ignored.type_compiler(), None);
    assert_eq!(row(&ignored, "types.command"), "none (built-in); not [\"./evil\"] (project project/toolcell.toml:2)");
    let both = policy("[types]\ncommand = [\"tsc\"]", file);
    assert_eq!(both.type_compiler().unwrap().command, ["tsc"]);
    assert_eq!(
        row(&both, "types.command"),
        "[\"tsc\"] (user config/user.toml:2); not [\"./evil\"] (project project/toolcell.toml:2)"
    );
    assert_eq!(row(&policy("[types]", "[types]"), "types.command"), "");
}

#[test]
fn a_command_starts_with_a_program() {
    for (text, problem) in [
        ("[types]\ncommand = []", "`types.command` is empty, it needs at least one entry"),
        ("[types]\ncommand = [\"\"]", "`types.command` must start with a program"),
        ("[types]\ncommand = [\"tsc\", \"\\u0000\"]", "`types.command` must not contain U+0000"),
        ("[types]\ncommand = \"tsc\"", "`types.command` is a string, it must be an array"),
        ("[types]\ntsc = [\"tsc\"]", "`types` has no `tsc` (known: `command`)"),
    ] {
        let error = user(text).unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
}
