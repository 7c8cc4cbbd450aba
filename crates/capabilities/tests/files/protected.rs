//! Folders that are granted, and what decides what tools may do.

use std::os::unix::fs::symlink;
use std::path::Path;

use toolcell_capabilities::{Files, FilesConfig, FolderError, Meters, ProtectedPath, WriteMode, folder_refusal};
use toolcell_i18n::{Lang, Localize as _, msgid};
use toolcell_tool::{Access, FilesGrant};

use crate::place::{Place, grant, refused};

fn open(granted: &Path, protected: &[ProtectedPath]) -> Result<Files, FolderError> {
    Files::open(&FilesConfig { grants: &[grant(granted)], protected, ..FilesConfig::default() })
}

/// Whether a folder is refused for writing, and never for reading.
#[track_caller]
fn is_refused(granted: impl AsRef<Path>, protected: &ProtectedPath) -> bool {
    let (granted, protected) = (granted.as_ref(), std::slice::from_ref(protected));
    let reading = FilesGrant { access: Access::Read, ..grant(granted) };
    assert!(Files::open(&FilesConfig { grants: &[reading], protected, ..FilesConfig::default() }).is_ok());
    let told = folder_refusal(granted, Access::Write, protected).unwrap();
    match open(granted, protected) {
        Ok(_) => {
            assert_eq!(told, None);
            false
        }
        Err(error) => {
            assert_eq!(error.code(), "files-protected");
            assert!(error.to_string().contains(&told.unwrap().to_string()), "{error}");
            true
        }
    }
}

#[test]
fn a_folder_with_something_protected_in_it_is_not_granted_for_writing() {
    let place = Place::new();
    place.has("sub/policy", "");
    let policy = ProtectedPath::file("the policy", place.path("sub/policy"));
    for around in ["data/sub", "data", ".", "data/../data/./sub", "outside/../data"] {
        assert!(is_refused(place.around(around), &policy), "{around}");
    }
    assert!(!is_refused(place.around("outside"), &policy));
}

#[test]
fn a_refusal_is_in_the_language_of_the_reader() {
    let place = Place::new();
    let tokens = ProtectedPath::hidden(msgid!("the store"), place.path("sub"));
    let error = open(&place.around("data"), &[tokens]).err().unwrap();
    for (lang, expect) in
        [(Lang::Ja, "これはどのツールも読み取りと変更ができません"), (Lang::Zh, "任何工具都不得读取或修改它")]
    {
        let text = error.localize().to_text(lang);
        assert!(text.ends_with(expect) && !text.contains("cannot be granted"), "{text}");
    }
}

#[test]
fn what_is_protected_need_not_exist() {
    let place = Place::new();
    for missing in ["policy", "config/toolcell/policy", "sub/policy"] {
        assert!(is_refused(place.around("data"), &ProtectedPath::file("the policy", place.path(missing))), "{missing}");
    }
    assert!(!is_refused(place.path("sub"), &ProtectedPath::file("the policy", place.path("policy"))));
}

#[test]
fn a_folder_within_a_protected_one_is_not_granted_for_writing() {
    let place = Place::new();
    std::fs::create_dir(place.path("sub/deep")).unwrap();
    let hooks = ProtectedPath::folder("the hooks", place.around("data"));
    for within in ["data", "data/sub", "data/sub/deep", "."] {
        assert!(is_refused(place.around(within), &hooks), "{within}");
    }
    assert!(!is_refused(place.around("outside"), &hooks));
    // Of a folder on the search path only the entries matter.
    let entry = ProtectedPath::file("the path", place.around("data"));
    assert!(is_refused(place.around("data"), &entry) && !is_refused(place.path("sub"), &entry));
}

#[test]
fn what_is_hidden_is_not_read_either() {
    let place = Place::new();
    let store = [
        ProtectedPath::file("the policy", place.path("sub/policy")),
        ProtectedPath::hidden("the store", place.path("sub")),
    ];
    for (granted, is_open) in [("data", false), ("data/sub", false), ("outside", true)] {
        let reading = FilesGrant { access: Access::Read, ..grant(&place.around(granted)) };
        let opened = Files::open(&FilesConfig { grants: &[reading], protected: &store, ..FilesConfig::default() });
        assert_eq!(opened.is_ok(), is_open, "{granted}");
    }
}

#[test]
fn a_hidden_file_is_not_read_under_any_name() {
    let place = Place::new();
    std::fs::create_dir(place.around("conf")).unwrap();
    let tokens = place.around("conf/tokens");
    std::fs::write(&tokens, "the token of somebody else").unwrap();
    std::fs::hard_link(&tokens, place.path("innocent")).unwrap();
    symlink(&tokens, place.path("absolute")).unwrap();
    symlink("innocent", place.path("relative")).unwrap();
    symlink(place.around("conf"), place.around("linked")).unwrap();
    // The file is named by itself, through a symlink, and as one that only must not be changed as well.
    for path in [tokens.clone(), place.path("absolute"), place.around("linked/tokens")] {
        let protected = [ProtectedPath::hidden("the tokens", path), ProtectedPath::file("the policy", &tokens)];
        let open = |granted: &str| {
            let reading = FilesGrant { access: Access::Read, ..grant(&place.around(granted)) };
            Files::open(&FilesConfig { grants: &[reading], protected: &protected, ..FilesConfig::default() })
        };
        for around in ["conf", "linked", "."] {
            let error = open(around).err().unwrap();
            assert_eq!(error.code(), "files-protected", "{around}");
            assert!(error.to_string().ends_with("which no tool may read or change"), "{error}");
        }
    }
    let protected = [ProtectedPath::hidden("the tokens", &tokens), ProtectedPath::file("the policy", &tokens)];
    let reading = FilesGrant { access: Access::Read, ..grant(&place.around("data")) };
    let files =
        Files::open(&FilesConfig { grants: &[reading], protected: &protected, ..FilesConfig::default() }).unwrap();
    for name in ["data/innocent", "data/relative"] {
        assert_eq!(refused(files.read(name)), "files-protected", "{name}");
    }
    assert_eq!(refused(files.read("data/absolute")), "files-denied");
    // What only must not be changed may be read.
    let protected = [ProtectedPath::file("the policy", &tokens)];
    let reading = FilesGrant { access: Access::Read, ..grant(&place.around("data")) };
    let files =
        Files::open(&FilesConfig { grants: &[reading], protected: &protected, ..FilesConfig::default() }).unwrap();
    assert!(files.read("data/innocent").is_ok());
}

#[test]
fn a_symlink_leads_around_no_protection() {
    let place = Place::new();
    std::fs::create_dir_all(place.around("config/toolcell")).unwrap();
    std::fs::write(place.around("config/toolcell/policy"), "").unwrap();
    symlink(place.around("config"), place.around("link")).unwrap();
    symlink("link/toolcell", place.around("second")).unwrap();
    // The path of the grant is a symlink, or goes through one.
    let policy = ProtectedPath::file("the policy", place.around("config/toolcell/policy"));
    for granted in ["link", "link/toolcell", "second", "config"] {
        assert!(is_refused(place.around(granted), &policy), "{granted}");
    }
    // The way to what is protected goes through one: a change of the symlink, or what it leads to, changes what is found there.
    symlink(place.around("config/toolcell/policy"), place.path("policy")).unwrap();
    let linked = ProtectedPath::file("the policy", place.path("policy"));
    for granted in ["data", "config", "config/toolcell"] {
        assert!(is_refused(place.around(granted), &linked), "{granted}");
    }
    // Around in circles.
    symlink("round", place.around("round")).unwrap();
    assert!(is_refused(place.around("."), &ProtectedPath::file("the policy", place.around("round/policy"))));
}

#[test]
fn what_becomes_protected_after_the_policy_was_read_is_seen_when_the_folder_is_opened() {
    let place = Place::new();
    std::fs::create_dir_all(place.around("config")).unwrap();
    let policy = [ProtectedPath::file("the policy", place.around("config/policy"))];
    let granted = || open(&place.around("later"), &policy).map(drop).map_err(|error| error.code().as_str());
    symlink("outside", place.around("later")).unwrap();
    assert_eq!(granted(), Ok(()));
    std::fs::remove_file(place.around("later")).unwrap();
    symlink("config", place.around("later")).unwrap();
    assert_eq!(granted(), Err("files-protected"));
}

#[test]
fn a_protected_file_is_not_written_under_another_name() {
    let place = Place::new();
    let policy = place.around("outside/f");
    std::fs::hard_link(&policy, place.path("innocent")).unwrap();
    let files = open(&place.around("data"), &[ProtectedPath::file("the policy", &policy)]).unwrap();
    for mode in [WriteMode::Append, WriteMode::Replace] {
        assert_eq!(refused(files.write("data/innocent", b"host = \"any\"", mode)), "files-protected");
    }
    place.is_untouched_outside();
    files.write("data/other", b"fine", WriteMode::Append).unwrap();
}

#[test]
fn a_protected_folder_that_came_into_a_granted_one_is_not_written_to() {
    let place = Place::new();
    let files = open(&place.around("data"), &[ProtectedPath::file("the policy", place.around("outside/f"))]).unwrap();
    std::fs::rename(place.around("outside"), place.path("moved")).unwrap();
    assert_eq!(refused(files.write("data/moved/f", b"", WriteMode::Replace)), "files-protected");
    assert_eq!(refused(files.make_folder("data/moved/new")), "files-protected");
    assert_eq!(refused(files.remove("data/moved/f")), "files-protected");
}

#[test]
fn nested_runs_share_the_bytes_of_a_grant() {
    let place = Place::new();
    let (own, meters) = ([FilesGrant { bytes: 10, read_bytes: 12, ..place.grant() }], Meters::default());
    let caller =
        Files::open(&FilesConfig { tool: "a", grants: &own, meters: meters.clone(), ..FilesConfig::default() })
            .unwrap();
    let nested = |tool| {
        let meters = meters.clone();
        Files::open(&FilesConfig { tool, grants: &own, meters, caller: Some(&caller), ..FilesConfig::default() })
            .unwrap()
    };
    nested("b").write("data/f", b"1234", WriteMode::Append).unwrap();
    nested("a").write("data/f", b"1234", WriteMode::Append).unwrap();
    // Each would have its ten bytes by itself.
    assert_eq!(refused(nested("c").write("data/f", b"123", WriteMode::Append)), "files-quota");
    assert_eq!(refused(nested("b").write("data/f", b"123", WriteMode::Append)), "files-quota");
    caller.write("data/f", b"12", WriteMode::Append).unwrap();
    assert_eq!(refused(nested("d").write("data/f", b"1", WriteMode::Append)), "files-quota");
    assert_eq!(nested("d").read("data/f").unwrap().len(), 10);
    assert_eq!(refused(caller.read("data/f")), "files-quota");
    // Another root run has its own.
    let other = Files::open(&FilesConfig { tool: "a", grants: &own, ..FilesConfig::default() }).unwrap();
    other.write("data/f", b"1234567890", WriteMode::Replace).unwrap();
}
