//! The connections of a server, and whose they are.
//!
//! Whose a connection is shows with its first token. Until then it is of its address, and of those only a part of all
//! connections may be: where there are more, the address with the most loses its oldest one. A client that shows its token at
//! once is never the oldest for long. After that it is of its principal, which has its part of the rest.
//!
//! Where no tokens are asked for there is one principal, on this machine, and whoever comes when all are taken waits.
//!
//! Invariant: connections without a token take no place of those with one, and no principal takes all places.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::pool::{Lease, Pool, Sharing};
use super::refusal::Refusal;
use crate::principal::Principal;

/// The part of all connections that may have shown no token: one of so many.
const UNKNOWN: usize = 4;

/// The connections of a server.
pub(super) struct Connections {
    /// How many may have shown no token; none where nobody has to.
    unknown: Option<usize>,
    known: Pool,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    next: u64,
    count: usize,
    /// Those that have shown no token, by address and age.
    unknown: HashMap<IpAddr, BTreeMap<u64, CancellationToken>>,
}

/// A connection, until this is dropped.
pub(super) struct Guest {
    connections: Arc<Connections>,
    address: IpAddr,
    number: u64,
    /// Cancelled where it makes room for another one.
    evicted: CancellationToken,
    owner: Mutex<Option<(Principal, Lease)>>,
}

impl Connections {
    /// At most `limit` of them. `tokens` says whether somebody has to show one.
    pub(super) fn new(limit: usize, tokens: bool, sharing: Sharing) -> Arc<Self> {
        let unknown = tokens.then(|| (limit / UNKNOWN).max(1));
        let known = Pool::new(limit - unknown.unwrap_or_default().min(limit - 1), sharing);
        Arc::new(Self { unknown, known, book: Mutex::default() })
    }

    /// Takes a connection in.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Arc<Guest> {
        let evicted = CancellationToken::new();
        let mut book = self.book();
        let number = book.next;
        book.next += 1;
        if let Some(limit) = self.unknown {
            while book.count >= limit && book.evict() {}
            book.count += 1;
            book.unknown.entry(address).or_default().insert(number, evicted.clone());
        }
        drop(book);
        Arc::new(Guest { connections: Arc::clone(self), address, number, evicted, owner: Mutex::default() })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Ends the oldest connection of the address that has the most; false where there is none.
    fn evict(&mut self) -> bool {
        let most = self.unknown.iter().max_by_key(|(_, theirs)| theirs.len()).map(|(address, _)| *address);
        let oldest = most.and_then(|address| {
            let number = self.unknown.get(&address)?.first_key_value().map(|(number, _)| *number)?;
            self.remove(address, number)
        });
        oldest.inspect(CancellationToken::cancel).is_some()
    }

    fn remove(&mut self, address: IpAddr, number: u64) -> Option<CancellationToken> {
        let theirs = self.unknown.get_mut(&address)?;
        let removed = theirs.remove(&number)?;
        if theirs.is_empty() {
            self.unknown.remove(&address);
        }
        self.count -= 1;
        Some(removed)
    }
}

impl Guest {
    /// Cancelled where the connection makes room for another one.
    pub(super) const fn evicted(&self) -> &CancellationToken {
        &self.evicted
    }

    /// Says whose it is, as the last request shows.
    pub(super) fn belongs_to(&self, principal: &Principal) -> Result<(), Refusal> {
        if self.connections.unknown.is_none() {
            return Ok(());
        }
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if owner.as_ref().is_some_and(|(owner, _)| owner == principal) {
            return Ok(());
        }
        let lease = self.connections.known.take(principal, 1);
        let limit = self.connections.known.total();
        *owner = Some((principal.clone(), lease.ok_or(Refusal::Connections { limit })?));
        self.connections.book().remove(self.address, self.number);
        Ok(())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.connections.book().remove(self.address, self.number);
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
        let connections = Connections::new(16, true, Sharing::Several);
        let quiet = connections.admit(address(1));
        let flood: Vec<_> = (0..100).map(|_| connections.admit(address(2))).collect();
        assert!(!quiet.evicted().is_cancelled());
        let left = flood.iter().filter(|guest| !guest.evicted().is_cancelled()).count();
        assert_eq!(left, 3);
        // From the same address: who comes last stays, and who shows a token is out of reach.
        let client = connections.admit(address(2));
        client.belongs_to(&Principal::parse("a").unwrap()).unwrap();
        let more: Vec<_> = (0..100).map(|_| connections.admit(address(2))).collect();
        assert!(!client.evicted().is_cancelled() && !quiet.evicted().is_cancelled());
        drop((flood, more, quiet, client));
        let book = connections.book();
        assert_eq!((book.count, book.unknown.len()), (0, 0));
    }

    #[test]
    fn a_principal_does_not_take_all_connections() {
        let connections = Connections::new(16, true, Sharing::Several);
        let [a, b] = ["a", "b"].map(|name| Principal::parse(name).unwrap());
        let mut taken = Vec::new();
        let refused = loop {
            let guest = connections.admit(address(1));
            match guest.belongs_to(&a) {
                Ok(()) => taken.push(guest),
                Err(refusal) => break refusal,
            }
        };
        assert_eq!((taken.len(), refused.code()), (6, "overloaded"));
        let other = connections.admit(address(1));
        other.belongs_to(&b).unwrap();
        other.belongs_to(&b).unwrap();
        assert!(taken.iter().all(|guest| !guest.evicted().is_cancelled()));
    }

    #[test]
    fn without_tokens_nobody_is_sent_away() {
        let connections = Connections::new(2, false, Sharing::Alone);
        let guests: Vec<_> = (0..100).map(|_| connections.admit(address(1))).collect();
        assert!(guests.iter().all(|guest| guest.belongs_to(&Principal::local()).is_ok()));
        assert!(guests.iter().all(|guest| !guest.evicted().is_cancelled()));
    }
}
