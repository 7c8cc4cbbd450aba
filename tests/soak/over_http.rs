//! An agent over HTTP, with a persistent connection and occasional misbehavior.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::client::{Connection, Era, HttpServerProcess, Message};
use crate::work::{Agent, SoakClient};
use crate::{CLIENTS, Soak, hostile};

/// Maximum number of sessions.
const SESSIONS: usize = 512;

/// The accepted tokens.
pub(crate) struct Tokens {
    pub(crate) file: PathBuf,
}

impl Tokens {
    pub(crate) const ALL: [&str; 3] = ["the-token-of-alice", "the-token-of-bob", "the-token-of-a-ghost"];
    pub(crate) const GHOST: &str = Self::ALL[2];

    pub(crate) fn write(folder: &Path) -> Self {
        let file = folder.join("tokens.toml");
        let tables = ["alice", "bob", "ghost"].iter().zip(Self::ALL);
        let tables: Vec<String> =
            tables.map(|(name, token)| format!("[principals.{name}]\ntoken = '{token}'\n")).collect();
        std::fs::write(&file, tables.concat()).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self { file }
    }
}

pub(crate) fn soak(soak: &Soak, http: &HttpServerProcess, number: usize) {
    let era = if number.is_multiple_of(2) { Era::Stateless } else { Era::Session };
    let token = Tokens::ALL[number * 2 / CLIENTS];
    if number == 0 {
        // Abandoned sessions, up to the limit.
        (0..SESSIONS).for_each(|_| http.connect(Some(token)).start_session());
    }
    let mut connection = http.connect(Some(token));
    if era == Era::Session {
        connection.start_session();
    }
    let mut agent = Agent::new(format!("http_{number}"), era, u64::try_from(number).unwrap());
    agent.settle(&mut connection);
    soak.settled.fetch_add(1, Ordering::Relaxed);
    while !soak.is_over() {
        if agent.random.below(25) == 0 {
            hostile::work(&mut agent, http, token, &mut connection, era);
        } else {
            agent.work(&mut connection);
        }
        soak.answered.fetch_add(1, Ordering::Relaxed);
    }
    soak.add(&agent.tally);
}

impl SoakClient for Connection {
    fn reply(&mut self, _: u64, message: &Message) -> String {
        match self.ask(message) {
            Ok(answer) => answer.message().to_owned(),
            // An empty reply is never expected, so it counts as wrong.
            Err(_) => String::new(),
        }
    }
}
