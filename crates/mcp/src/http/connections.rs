//! Assigns connections to principals.
//!
//! A connection is identified by its first valid token. Until then it counts for its address, and
//! only a part of all connections may be in that state: when it is full, the address with the most
//! of them loses its oldest one. A client that sends its token at once is therefore safe from
//! eviction. An authenticated connection counts for its principal, which has its part of the rest.
//!
//! Without tokens there is one local principal, and further connections wait when all are in use.
//!
//! A semaphore limits the connections of the server; how they are shared is decided here, because a
//! waiter of a semaphore has no principal and cannot take the place of another one.
//!
//! Invariant: unauthenticated connections take no place of authenticated ones, and no principal
//! takes all places.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::connection::IdleTracker;
use super::pool::{Lease, Pool, Sharing};
use super::problem::Refusal;
use crate::principal::Principal;

/// The share of connections that may be unauthenticated: one in this many.
const UNAUTHENTICATED_DIVISOR: usize = 4;

/// The registry of connections.
pub(super) struct Connections {
    /// The most unauthenticated connections; `None` if no token is required.
    max_unauthenticated: Option<usize>,
    authenticated: Pool,
    registry: Mutex<ConnectionRegistry>,
}

#[derive(Default)]
struct ConnectionRegistry {
    next_id: u64,
    count: usize,
    /// Unauthenticated connections by address, the oldest first.
    unauthenticated: HashMap<IpAddr, BTreeMap<u64, CancellationToken>>,
}

/// An open connection; it is removed from the registry when this is dropped.
pub(super) struct RegisteredConnection {
    connections: Arc<Connections>,
    address: IpAddr,
    id: u64,
    /// Cancelled when the connection is evicted.
    evicted: CancellationToken,
    owner: Mutex<Option<(Principal, Lease)>>,
}

/// The connection of a request, among its extensions until the request reaches the protocol.
///
/// A session keeps the extensions of its first request, and would keep the connection registered.
#[derive(Clone)]
pub(super) struct RequestConnection {
    pub(super) peer: IpAddr,
    pub(super) activity: Arc<IdleTracker>,
    pub(super) registered: Arc<RegisteredConnection>,
}

impl Connections {
    /// Creates a registry for at most `limit` connections. `tokens` says whether a token is
    /// required.
    pub(super) fn new(limit: usize, tokens: bool, sharing: Sharing) -> Arc<Self> {
        let unknown = tokens.then(|| (limit / UNAUTHENTICATED_DIVISOR).max(1));
        let known = Pool::new(limit - unknown.unwrap_or_default().min(limit - 1), sharing);
        Arc::new(Self { max_unauthenticated: unknown, authenticated: known, registry: Mutex::default() })
    }

    /// Registers a connection.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Arc<RegisteredConnection> {
        let evicted = CancellationToken::new();
        let mut book = self.lock_registry();
        let number = book.next_id;
        book.next_id += 1;
        if let Some(limit) = self.max_unauthenticated {
            while book.count >= limit && book.evict() {}
            book.count += 1;
            book.unauthenticated.entry(address).or_default().insert(number, evicted.clone());
        }
        drop(book);
        Arc::new(RegisteredConnection {
            connections: Arc::clone(self),
            address,
            id: number,
            evicted,
            owner: Mutex::default(),
        })
    }

    fn lock_registry(&self) -> MutexGuard<'_, ConnectionRegistry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionRegistry {
    /// Evicts the oldest unauthenticated connection of the address that has the most. Returns false
    /// if every connection is authenticated.
    fn evict(&mut self) -> bool {
        let most = self.unauthenticated.iter().max_by_key(|(_, theirs)| theirs.len()).map(|(address, _)| *address);
        let oldest = most.and_then(|address| {
            let number = self.unauthenticated.get(&address)?.first_key_value().map(|(number, _)| *number)?;
            self.remove(address, number)
        });
        oldest.inspect(CancellationToken::cancel).is_some()
    }

    fn remove(&mut self, address: IpAddr, number: u64) -> Option<CancellationToken> {
        let theirs = self.unauthenticated.get_mut(&address)?;
        let removed = theirs.remove(&number)?;
        if theirs.is_empty() {
            self.unauthenticated.remove(&address);
        }
        self.count -= 1;
        Some(removed)
    }
}

impl RegisteredConnection {
    /// Cancelled when the connection is evicted.
    pub(super) const fn evicted(&self) -> &CancellationToken {
        &self.evicted
    }

    /// Assigns the connection to the principal of its latest request.
    pub(super) fn set_owner(&self, principal: &Principal) -> Result<(), Refusal> {
        if self.connections.max_unauthenticated.is_none() {
            return Ok(());
        }
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if owner.as_ref().is_some_and(|(owner, _)| owner == principal) {
            return Ok(());
        }
        let lease = self.connections.authenticated.acquire(principal, 1);
        let limit = self.connections.authenticated.total();
        *owner = Some((principal.clone(), lease.ok_or(Refusal::TooManyConnections { limit })?));
        self.connections.lock_registry().remove(self.address, self.id);
        Ok(())
    }
}

impl Drop for RegisteredConnection {
    fn drop(&mut self) {
        self.connections.lock_registry().remove(self.address, self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    #[test]
    fn a_flood_without_tokens_ends_its_own_connections_first() {
        let connections = Connections::new(16, true, Sharing::Multiple);
        let quiet = connections.admit(address(1));
        let flood: Vec<_> = (0..100).map(|_| connections.admit(address(2))).collect();
        assert!(!quiet.evicted().is_cancelled());
        let left = flood.iter().filter(|guest| !guest.evicted().is_cancelled()).count();
        assert_eq!(left, 3);
        // From the same address: the newest connection stays, and an authenticated one is never
        // evicted.
        let client = connections.admit(address(2));
        client.set_owner(&Principal::parse("a").unwrap()).unwrap();
        let more: Vec<_> = (0..100).map(|_| connections.admit(address(2))).collect();
        assert!(!client.evicted().is_cancelled() && !quiet.evicted().is_cancelled());
        drop((flood, more, quiet, client));
        let book = connections.lock_registry();
        assert_eq!((book.count, book.unauthenticated.len()), (0, 0));
    }

    #[test]
    fn a_principal_does_not_take_all_connections() {
        let connections = Connections::new(16, true, Sharing::Multiple);
        let [a, b] = ["a", "b"].map(|name| Principal::parse(name).unwrap());
        let mut taken = Vec::new();
        let refused = loop {
            let guest = connections.admit(address(1));
            match guest.set_owner(&a) {
                Ok(()) => taken.push(guest),
                Err(refusal) => break refusal,
            }
        };
        assert_eq!((taken.len(), refused.code().as_str()), (6, "overloaded"));
        let other = connections.admit(address(1));
        other.set_owner(&b).unwrap();
        other.set_owner(&b).unwrap();
        assert!(taken.iter().all(|guest| !guest.evicted().is_cancelled()));
    }

    #[test]
    fn without_tokens_nobody_is_sent_away() {
        let connections = Connections::new(2, false, Sharing::Single);
        let guests: Vec<_> = (0..100).map(|_| connections.admit(address(1))).collect();
        assert!(guests.iter().all(|guest| guest.set_owner(&Principal::local()).is_ok()));
        assert!(guests.iter().all(|guest| !guest.evicted().is_cancelled()));
    }
}
