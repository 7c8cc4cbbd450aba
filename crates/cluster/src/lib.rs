//! The engines of shared libraries.
//!
//! Many nodes of Toolcell serve one library: each keeps a copy in a store of its own, and what they agree on is in engines that
//! they share. This crate has the clients of the engines, which the `toolcell` program does not contain, and the program
//! `toolcell-cluster`, which `toolcell node` starts.
//!
//! [`Postgres`] holds histories and objects in PostgreSQL, and tells of changes with `NOTIFY`. [`Nats`] holds them in `JetStream`.
//! [`NatsWire`] carries messages between nodes, and [`S3`] holds objects. [`connect()`] puts together what URLs name.
//!
//! Invariant: an engine is asked within a time that is bounded here, not by its library; and where it is not known whether a change was
//! made, that is found out or said.

mod client_threads;
mod connect;
mod nats;
mod object_place;
mod postgres;
mod s3;
mod tls;

pub use connect::connect;
pub use nats::{Nats, NatsCredentials, NatsError, NatsWire};
pub use postgres::{ANSWER_LIMIT, Listening, Postgres, PostgresError};
pub use s3::{S3, S3Error};
