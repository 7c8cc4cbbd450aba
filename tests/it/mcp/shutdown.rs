//! Shutdown of a server, and operation with a failing store.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

#[cfg(target_os = "linux")]
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::BEGINS;
use super::raw_client::RawClient;
use super::server::BinaryFixture;

/// Starts a run that reports progress, and waits for the report.
fn begin(peer: &mut RawClient, timeout_ms: u64) -> u64 {
    peer.create_tool("begins", BEGINS);
    let arguments = json!({ "tool_name": "begins", "timeout_ms": timeout_ms });
    let run = peer.send_request(
        "tools/call",
        json!({ "name": "run_dynamic_tool", "arguments": arguments, "_meta": { "progressToken": 1 } }),
    );
    peer.wait_for_message(|message| message["method"] == "notifications/progress");
    run
}

/// Returns the log lines of finished runs.
fn ended(home: &BinaryFixture) -> Vec<Value> {
    let runs = home.audit_lines().into_iter().filter(|line| line["action"] == "run_dynamic_tool");
    runs.map(|line| line["error"].clone()).collect()
}

#[test]
fn what_runs_when_the_client_says_nothing_more_is_recorded() {
    for era in ["session", "stateless"] {
        let home = BinaryFixture::new("");
        let peer = home.start_stdio(&[]);
        let mut peer = if era == "session" { peer.in_session(json!({})) } else { peer.stateless(json!({})) };
        begin(&mut peer, 500);
        peer.close_stdin();
        assert_eq!(peer.process().wait_for_exit(), Some(0), "{era}");
        let ended = ended(&home);
        assert!(ended == ["timeout"] || ended == ["cancelled"], "{era}: {ended:?}");
    }
}

#[test]
fn what_ran_when_the_server_was_killed_is_recorded_when_there_is_one_again() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    begin(&mut peer, 600_000);
    peer.process().send_signal(Signal::SIGKILL);
    peer.process().wait_for_exit();
    assert_eq!(ended(&home), Vec::<Value>::new());
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.call("list_dynamic_tools", json!({})).done();
    home.wait_for_failure("begins", "interrupted");
    assert!(home.stdout_of(&["audit", "verify"]).contains("intact"));
}

#[test]
fn a_server_that_is_told_to_end_lets_end_what_ends_within_its_grace() {
    let home = BinaryFixture::new("");
    let mut web = home.start_http(&["--grace", "60"]);
    let mut peer = web.client().stateless(json!({}));
    let run = begin(&mut peer, 1_500);
    web.process.send_signal(Signal::SIGTERM);
    peer.wait_for_reply(run).fails("timeout");
    assert_eq!((web.process.wait_for_exit(), ended(&home)), (Some(0), vec![json!("timeout")]));

    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--grace", "60"]).stateless(json!({}));
    let run = begin(&mut peer, 1_500);
    peer.process().send_signal(Signal::SIGTERM);
    peer.wait_for_reply(run).fails("timeout");
    assert_eq!((peer.process().wait_for_exit(), ended(&home)), (Some(0), vec![json!("timeout")]));
}

#[test]
fn a_server_that_is_told_to_end_ends_what_does_not() {
    let home = BinaryFixture::new("");
    let mut web = home.start_http(&["--grace", "0"]);
    let mut peer = web.client().stateless(json!({}));
    let run = begin(&mut peer, 600_000);
    web.process.send_signal(Signal::SIGTERM);
    peer.wait_for_reply(run).fails("cancelled");
    assert_eq!((web.process.wait_for_exit(), ended(&home)), (Some(0), vec![json!("cancelled")]));

    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--grace", "0"]).in_session(json!({}));
    let run = begin(&mut peer, 600_000);
    peer.process().send_signal(Signal::SIGINT);
    peer.wait_for_reply(run).fails("cancelled");
    assert_eq!((peer.process().wait_for_exit(), ended(&home)), (Some(0), vec![json!("cancelled")]));
}

#[test]
fn a_server_that_ends_takes_nothing_more() {
    let home = BinaryFixture::new("");
    let mut peer = home.start_stdio(&["--grace", "60"]).stateless(json!({}));
    let run = begin(&mut peer, 3_000);
    peer.process().send_signal(Signal::SIGTERM);
    let refused = super::server::poll(|| {
        let reply = peer.call("list_dynamic_tools", json!({}));
        (reply.result()["isError"] == true).then_some(reply)
    });
    refused.unwrap().fails("shutting-down");
    peer.wait_for_reply(run).fails("timeout");
    assert_eq!(peer.process().wait_for_exit(), Some(0));
}

/// Removes or restores the write permission.
fn set_writable(path: &Path, (folders, files): (u32, u32)) {
    let metadata = path.symlink_metadata().unwrap();
    let mode = if metadata.is_dir() { folders } else { files };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            set_writable(&entry.unwrap().path(), (folders, files));
        }
    }
}

#[test]
fn a_server_lives_on_while_its_store_must_not_be_written() {
    let home = BinaryFixture::as_nobody("");
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    peer.run("one", json!({})).returns(&json!(1));
    set_writable(&home.path("store"), (0o555, 0o444));
    let two = json!({ "name": "two", "description": "d", "code": "const execute = () => 2" });
    peer.call("create_tool", two.clone()).fails("disk-failed");
    // Files that are already open stay writable.
    peer.run("one", json!({})).returns(&json!(1));
    peer.call("delete_dynamic_tool", json!({ "tool_name": "one", "confirm": true })).done();
    assert_eq!(peer.call("list_dynamic_tools", json!({})).response()["total"], 0);
    set_writable(&home.path("store"), (0o700, 0o600));
    peer.call("create_tool", two).done();
    peer.run("two", json!({})).returns(&json!(2));
    assert!(home.stdout_of(&["fsck"]).contains("no problems"));
    assert!(home.stdout_of(&["audit", "verify"]).contains("intact"));
}

/// A small file system mounted over a store.
#[cfg(target_os = "linux")]
struct TinyDisk(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl TinyDisk {
    /// Mounts it; `None` without the privilege to mount.
    fn mount_over(path: &Path) -> Option<Self> {
        fs::create_dir(path).unwrap();
        let mounted = mount(Some("none"), path, Some("tmpfs"), MsFlags::empty(), Some("size=4m,mode=700"));
        mounted.ok().map(|()| Self(path.to_owned()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for TinyDisk {
    fn drop(&mut self) {
        // If this fails, removing the folder reports it.
        let _ = umount2(&self.0, MntFlags::MNT_DETACH);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_lives_on_while_the_disk_is_full() {
    let home = BinaryFixture::new("");
    let store = home.path("store");
    let Some(_disk) = TinyDisk::mount_over(&store) else { return };
    let mut peer = home.start_stdio(&[]).stateless(json!({}));
    peer.create_tool("one", "const execute = () => 1");
    peer.run("one", json!({})).returns(&json!(1));
    let filled = fs::write(store.join("tmp/ballast"), vec![0; 8 << 20]);
    assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    let two = json!({ "name": "two", "description": "d", "code": "const execute = () => 2" });
    peer.call("create_tool", two.clone()).fails("disk-full");
    // A run that cannot be recorded does not start.
    let refused = super::server::poll(|| {
        let reply = peer.run("one", json!({}));
        (reply.result()["isError"] == true).then_some(reply)
    });
    refused.unwrap().fails("disk-full");
    peer.request("tools/list", json!({})).result();
    fs::remove_file(store.join("tmp/ballast")).unwrap();
    peer.run("one", json!({})).returns(&json!(1));
    peer.call("create_tool", two).done();
    assert!(home.stdout_of(&["audit", "verify"]).contains("intact"));
}
