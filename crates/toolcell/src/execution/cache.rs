//! The in-memory cache of toolboxes: tools that were loaded and analyzed, and scripts that were
//! evaluated.
//!
//! Invariant: toolboxes that share a sandbox share one budget of bytes, which is never exceeded.
//! The least recently used entry of the toolbox with the largest share is evicted, so a toolbox
//! with many tools does not slow down the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use toolcell_tool::ToolId;

use super::loaded::LoadedTool;
use super::prepared::PreparedTool;

/// The maximum size of the cache of all toolboxes of a sandbox, in bytes. A small tool takes about
/// 10 KiB, a tool that fills its memory as much as its memory limit.
const MAX_BYTES: usize = 256 << 20;

/// The cache of one toolbox.
pub(crate) struct Cache {
    budget: Arc<SharedBudget>,
    owner: u64,
}

struct SharedBudget {
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: usize,
    owners: HashMap<u64, OwnerShare>,
    /// The number of the next owner.
    next_owner: u64,
}

/// The entries of one toolbox, and their size in bytes.
struct OwnerShare {
    entries: LruCache<Key, (CacheEntry, usize)>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Tool(ToolId),
    Script(blake3::Hash),
}

enum CacheEntry {
    Tool(Arc<LoadedTool>),
    Script(Arc<PreparedTool>),
}

impl Cache {
    /// Creates a cache with a budget of its own.
    pub(crate) fn new() -> Self {
        Self::with_budget(Arc::new(SharedBudget { max_bytes: MAX_BYTES, state: Mutex::default() }))
    }

    /// Creates the cache of a toolbox that shares this one's sandbox.
    pub(crate) fn sibling(&self) -> Self {
        Self::with_budget(Arc::clone(&self.budget))
    }

    fn with_budget(room: Arc<SharedBudget>) -> Self {
        let mut state = room.state();
        let owner = state.next_owner;
        state.next_owner += 1;
        state.owners.insert(owner, OwnerShare { entries: LruCache::unbounded(), bytes: 0 });
        drop(state);
        Self { budget: room, owner }
    }

    /// Returns the cached tool with this identifier.
    pub(crate) fn tool(&self, id: &ToolId) -> Option<Arc<LoadedTool>> {
        match self.budget.state().owners.get_mut(&self.owner)?.entries.get(&Key::Tool(*id))? {
            (CacheEntry::Tool(ready), _) => Some(Arc::clone(ready)),
            (CacheEntry::Script(_), _) => None,
        }
    }

    /// Returns the cached script with this key.
    pub(crate) fn script(&self, key: &blake3::Hash) -> Option<Arc<PreparedTool>> {
        match self.budget.state().owners.get_mut(&self.owner)?.entries.get(&Key::Script(*key))? {
            (CacheEntry::Script(kept), _) => Some(Arc::clone(kept)),
            (CacheEntry::Tool(_), _) => None,
        }
    }

    /// Inserts a tool.
    pub(crate) fn insert_tool(&self, id: ToolId, ready: Arc<LoadedTool>) {
        let size = ready.approximate_bytes();
        self.insert(Key::Tool(id), CacheEntry::Tool(ready), size);
    }

    /// Inserts a script.
    pub(crate) fn insert_script(&self, key: blake3::Hash, kept: Arc<PreparedTool>) {
        let size = kept.held_bytes();
        self.insert(Key::Script(key), CacheEntry::Script(kept), size);
    }

    fn insert(&self, key: Key, thing: CacheEntry, size: usize) {
        let mut state = self.budget.state();
        let Some(own) = state.owners.get_mut(&self.owner) else { return };
        let before = own.entries.put(key, (thing, size)).map_or(0, |(_, size)| size);
        own.bytes = own.bytes - before + size;
        state.bytes = state.bytes - before + size;
        while state.bytes > self.budget.max_bytes {
            let most = state.owners.values_mut().max_by_key(|owned| owned.bytes);
            let Some((owned, (_, (_, size)))) =
                most.and_then(|owned| owned.entries.pop_lru().map(|gone| (owned, gone)))
            else {
                break;
            };
            owned.bytes -= size;
            state.bytes -= size;
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        if let Some(own) = state.owners.remove(&self.owner) {
            state.bytes -= own.bytes;
        }
    }
}

impl SharedBudget {
    /// Locks the state. A panic while it is locked leaves it valid.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vet::Refusal;
    use toolcell_schema::Schema;

    fn cache(size: usize) -> Cache {
        Cache::with_budget(Arc::new(SharedBudget { max_bytes: size, state: Mutex::default() }))
    }

    fn keep(cache: &Cache, number: u8, size: usize) {
        let ready = LoadedTool {
            schema: Ok(Schema::any()),
            vetted: Err(Refusal::NoTool(toolcell_i18n::message!("declares no tool"))),
        };
        cache.insert(Key::Tool(id(number)), CacheEntry::Tool(Arc::new(ready)), size);
    }

    fn id(number: u8) -> ToolId {
        format!("dt_{}", format!("{number:02x}").repeat(32)).parse().unwrap()
    }

    fn kept(cache: &Cache) -> Vec<u8> {
        (0..10).filter(|number| cache.tool(&id(*number)).is_some()).collect()
    }

    fn bytes(cache: &Cache) -> usize {
        cache.budget.state().bytes
    }

    #[test]
    fn what_was_used_least_recently_makes_room() {
        let cache = cache(30);
        for number in 0..3 {
            keep(&cache, number, 10);
        }
        assert!(cache.tool(&id(0)).is_some());
        keep(&cache, 3, 10);
        assert_eq!((kept(&cache), bytes(&cache)), (vec![0, 2, 3], 30));
        // A repeated key replaces its entry, and an entry larger than the budget is evicted at
        // once.
        keep(&cache, 3, 5);
        assert_eq!((kept(&cache), bytes(&cache)), (vec![0, 2, 3], 25));
        keep(&cache, 4, 31);
        assert_eq!((kept(&cache), bytes(&cache)), (vec![], 0));
    }

    #[test]
    fn who_has_many_makes_room_for_who_has_few() {
        let many = cache(30);
        let few = many.sibling();
        keep(&few, 9, 10);
        for number in 0..8 {
            keep(&many, number, 10);
        }
        assert_eq!((kept(&many), kept(&few), bytes(&few)), (vec![6, 7], vec![9], 30));
        drop(many);
        assert_eq!((kept(&few), bytes(&few)), (vec![9], 10));
    }
}
