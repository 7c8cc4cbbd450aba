//! The streams, and what their settings have to be.
//!
//! Invariant: a stream is used only while its settings keep every message of a history and of an object, and let no server but the leader
//! answer reads.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, PersistenceMode, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, ErrorCode};
use tokio::time::timeout;
use toolcell_i18n::{Message, message};

use super::failure::{ServerFailure, describe, max_payload, no_leader, short};

/// The format of the streams.
const FORMAT: u32 = 1;
/// The name of the format in the metadata of a stream.
const FORMAT_NAME: &str = "toolcell-format";
/// The size of a part, in bytes. It is part of the format.
pub(crate) const PART_BYTES: usize = 512 << 10;
/// The size of the largest message, in bytes: a part of an object.
const MAX_MESSAGE_BYTES: usize = PART_BYTES + 4_096;
/// How long the leader of a stream is waited for before it is asked again. It doubles each time, up to the time that
/// an answer may take.
const FIRST_LIMIT: Duration = Duration::from_millis(250);
/// How long the report of a node is kept.
const REPORT_AGE: Duration = Duration::from_hours(24);
/// How long a count is kept. It means something for a minute.
const COUNT_AGE: Duration = Duration::from_hours(1);

/// A stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StreamKind {
    /// The entries of histories.
    History,
    /// The objects.
    Blob,
    /// The reports of nodes.
    Node,
    /// The counts of a minute.
    Count,
}

/// Streams that a connection needs.
#[derive(Clone)]
pub(crate) struct Streams {
    pub(crate) kinds: &'static [StreamKind],
    /// The number of replicas of streams that are created.
    pub(crate) replicas: usize,
}

impl StreamKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::History => "toolcell-history",
            Self::Blob => "toolcell-blob",
            Self::Node => "toolcell-node",
            Self::Count => "toolcell-count",
        }
    }

    /// The subject whose last message says what the time is.
    pub(crate) fn clock_subject(self) -> &'static str {
        match self {
            Self::History => "toolcell.history",
            Self::Blob => "toolcell.blob",
            Self::Node => "toolcell.node",
            Self::Count => "toolcell.count",
        }
    }

    pub(crate) fn is_gone(self) -> Message {
        message!("the stream `{stream}` is gone", stream = self.name())
    }

    /// Whether it keeps all messages.
    fn keeps_all(self) -> bool {
        matches!(self, Self::History | Self::Blob)
    }

    fn subjects(self) -> Vec<String> {
        let prefix = self.clock_subject();
        match self {
            Self::History | Self::Blob => vec![format!("{prefix}.*.*")],
            Self::Node | Self::Count => vec![prefix.to_owned(), format!("{prefix}.*")],
        }
    }

    fn config(self, replicas: usize) -> Config {
        Config {
            name: self.name().to_owned(),
            description: Some("Toolcell".to_owned()),
            subjects: self.subjects(),
            storage: StorageType::File,
            retention: RetentionPolicy::Limits,
            discard: if self.keeps_all() { DiscardPolicy::New } else { DiscardPolicy::Old },
            max_messages: -1,
            max_bytes: -1,
            max_messages_per_subject: if self.keeps_all() { -1 } else { 1 },
            max_age: match self {
                Self::History | Self::Blob => Duration::ZERO,
                Self::Node => REPORT_AGE,
                Self::Count => COUNT_AGE,
            },
            max_message_size: -1,
            max_consumers: -1,
            num_replicas: replicas,
            allow_direct: false,
            deny_delete: true,
            deny_purge: self.keeps_all(),
            metadata: HashMap::from([(FORMAT_NAME.to_owned(), FORMAT.to_string())]),
            ..Config::default()
        }
    }

    /// Checks the settings of the stream that is there.
    fn check(self, found: &Config) -> Result<(), Message> {
        let wrong = |setting: &str| {
            Err(message!(
                "the setting `{setting}` of the stream `{stream}` is not the one that Toolcell needs",
                setting = setting.to_owned(),
                stream = self.name()
            ))
        };
        match found.metadata.get(FORMAT_NAME).map(|format| format.parse::<u32>()) {
            Some(Ok(FORMAT)) => {}
            Some(Ok(format)) => {
                return Err(message!(
                    "the stream `{stream}` has format {format}, and this version of Toolcell works with format {known}: update the older one",
                    stream = self.name(),
                    format,
                    known = FORMAT
                ));
            }
            Some(Err(_)) | None => return wrong("metadata"),
        }
        let wanted = self.config(found.num_replicas);
        let unlimited = |limit: i64| limit <= 0;
        let checks = [
            ("subjects", found.subjects == wanted.subjects),
            ("storage", found.storage == wanted.storage),
            ("retention", found.retention == wanted.retention),
            ("discard", found.discard == wanted.discard),
            ("discard_new_per_subject", !found.discard_new_per_subject),
            ("max_msgs", unlimited(found.max_messages)),
            ("max_bytes", unlimited(found.max_bytes)),
            (
                "max_msgs_per_subject",
                if self.keeps_all() {
                    unlimited(found.max_messages_per_subject)
                } else {
                    found.max_messages_per_subject == wanted.max_messages_per_subject
                },
            ),
            ("max_age", found.max_age == wanted.max_age),
            (
                "max_msg_size",
                usize::try_from(found.max_message_size).map_or(true, |size| size == 0 || size >= MAX_MESSAGE_BYTES),
            ),
            ("no_ack", !found.no_ack),
            ("sealed", !found.sealed),
            ("allow_rollup_hdrs", !found.allow_rollup),
            ("allow_msg_ttl", !found.allow_message_ttl),
            ("deny_delete", found.deny_delete),
            ("deny_purge", found.deny_purge == wanted.deny_purge),
            // Other servers than the leader answer direct reads, and do not know the last entries.
            ("allow_direct", !found.allow_direct),
            ("mirror", found.mirror.is_none()),
            ("sources", found.sources.as_ref().is_none_or(Vec::is_empty)),
            ("subject_transform", found.subject_transform.is_none()),
            ("persist_mode", found.persist_mode != Some(PersistenceMode::Async)),
        ];
        match checks.into_iter().find(|(_, is_right)| !is_right) {
            Some((setting, _)) => wrong(setting),
            None => Ok(()),
        }
    }
}

impl Streams {
    /// Checks that the leader of each stream answers, and that its settings are right. Streams that are missing are created, unless they
    /// were there before.
    pub(crate) async fn check(
        &self,
        client: &Client,
        context: &Context,
        were_there: bool,
        answer_limit: Duration,
    ) -> Result<(), ServerFailure> {
        let longest = answer_limit.max(4 * FIRST_LIMIT);
        let size = max_payload(client);
        if size < MAX_MESSAGE_BYTES {
            return Err(ServerFailure {
                reason: message!(
                    "the server takes messages of {size} bytes, and {needed} are needed: see its setting `max_payload`",
                    size,
                    needed = MAX_MESSAGE_BYTES
                ),
                is_final: true,
            });
        }
        for kind in self.kinds {
            let mut limit = FIRST_LIMIT;
            let found = loop {
                // A request that no leader gets is never answered, also not by the next one.
                match timeout(limit, self.find_or_create(context, *kind, were_there)).await {
                    Ok(found) => break found?,
                    Err(_) => limit = (2 * limit).min(longest),
                }
            };
            kind.check(&found).map_err(|reason| ServerFailure { reason, is_final: true })?;
        }
        Ok(())
    }

    async fn find_or_create(
        &self,
        context: &Context,
        kind: StreamKind,
        were_there: bool,
    ) -> Result<Config, ServerFailure> {
        match find(context, kind).await? {
            Some(found) => Ok(found),
            None if were_there => Err(ServerFailure { reason: kind.is_gone(), is_final: true }),
            None => self.create(context, kind).await,
        }
    }

    async fn create(&self, context: &Context, kind: StreamKind) -> Result<Config, ServerFailure> {
        match context.create_stream(kind.config(self.replicas)).await {
            Ok(stream) => Ok(stream.cached_info().config.clone()),
            Err(error) => match error.kind() {
                // Another client was faster, with other settings.
                CreateStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NAME_EXIST => {
                    find(context, kind).await?.ok_or_else(|| ServerFailure { reason: no_leader(), is_final: false })
                }
                CreateStreamErrorKind::JetStream(error) => Err(refused(&error)),
                _ => Err(ServerFailure::temporary(Message::verbatim(describe(&error)))),
            },
        }
    }
}

/// The settings of a stream, if there is one.
async fn find(context: &Context, kind: StreamKind) -> Result<Option<Config>, ServerFailure> {
    match context.get_stream(kind.name()).await {
        Ok(stream) => Ok(Some(stream.cached_info().config.clone())),
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => Ok(None),
            GetStreamErrorKind::JetStream(error) => Err(refused(&error)),
            _ => Err(ServerFailure { reason: no_leader(), is_final: false }),
        },
    }
}

/// What it means that a server refuses a request about a stream.
fn refused(error: &jetstream::Error) -> ServerFailure {
    // A cluster that is not complete yet has too few servers for the replicas.
    let may_pass = [
        ErrorCode::CLUSTER_NOT_AVAILABLE,
        ErrorCode::CLUSTER_NO_PEERS,
        ErrorCode::CLUSTER_NOT_LEADER,
        ErrorCode::CLUSTER_INCOMPLETE,
        ErrorCode::INSUFFICIENT_RESOURCES,
        ErrorCode::STORAGE_RESOURCES_EXCEEDED,
        ErrorCode::STREAM_OFFLINE,
    ];
    ServerFailure { reason: Message::verbatim(short(error)), is_final: !may_pass.contains(&error.error_code()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a setting wrong.
    type Damage = fn(&mut Config);

    const ALL: [StreamKind; 4] = [StreamKind::History, StreamKind::Blob, StreamKind::Node, StreamKind::Count];

    #[test]
    fn a_stream_that_may_lose_messages_is_refused_by_name() {
        for kind in ALL {
            kind.check(&kind.config(1)).unwrap();
            kind.check(&kind.config(5)).unwrap();
            let changes: [(&str, Damage); 12] = [
                ("metadata", |config| config.metadata.clear()),
                ("subjects", |config| config.subjects.push("other".to_owned())),
                ("storage", |config| config.storage = StorageType::Memory),
                ("retention", |config| config.retention = RetentionPolicy::Interest),
                ("max_msgs", |config| config.max_messages = 10),
                ("max_bytes", |config| config.max_bytes = 1 << 30),
                ("max_age", |config| config.max_age += Duration::from_secs(1)),
                ("max_msg_size", |config| config.max_message_size = 1_000),
                ("no_ack", |config| config.no_ack = true),
                ("deny_delete", |config| config.deny_delete = false),
                ("allow_direct", |config| config.allow_direct = true),
                ("persist_mode", |config| config.persist_mode = Some(PersistenceMode::Async)),
            ];
            for (setting, change) in changes {
                let mut config = kind.config(1);
                change(&mut config);
                let reason = kind.check(&config).unwrap_err().to_string();
                let named = format!("the setting `{setting}` of the stream `{}`", kind.name());
                assert!(reason.starts_with(&named), "{reason}");
            }
            let mut config = kind.config(1);
            config.metadata.insert(FORMAT_NAME.to_owned(), "2".to_owned());
            let reason = kind.check(&config).unwrap_err().to_string();
            assert!(reason.contains("has format 2"), "{reason}");
        }
        let mut config = StreamKind::History.config(1);
        config.discard = DiscardPolicy::Old;
        assert!(StreamKind::History.check(&config).is_err());
        let mut config = StreamKind::History.config(1);
        config.deny_purge = false;
        assert!(StreamKind::History.check(&config).is_err());
    }
}
