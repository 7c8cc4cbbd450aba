//! What toolboxes keep in memory for the next calls: tools that were read and analysed, and scripts that were evaluated.
//!
//! Invariant: toolboxes that share a sandbox share one room, which is never overfull; what makes room is of the toolbox that
//! takes most of it, so nobody's calls become slow because somebody else has many tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use toolcell_tool::ToolId;

use crate::cell::Kept;
use crate::toolbox::Ready;

/// How many bytes all toolboxes of a sandbox keep. A small tool takes some 10 KiB, one that fills its memory as much as it
/// may.
const ROOM: usize = 256 << 20;

/// What one toolbox keeps.
pub(crate) struct Cache {
    room: Arc<Room>,
    owner: u64,
}

struct Room {
    size: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: usize,
    owners: HashMap<u64, Owned>,
    /// The number of the next owner.
    next: u64,
}

/// What an owner keeps, and how many bytes that takes.
struct Owned {
    things: LruCache<Key, (Thing, usize)>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Tool(ToolId),
    Script(blake3::Hash),
}

enum Thing {
    Tool(Arc<Ready>),
    Script(Arc<Kept>),
}

impl Cache {
    /// That of a toolbox on its own.
    pub(crate) fn new() -> Self {
        Self::of(Arc::new(Room { size: ROOM, state: Mutex::default() }))
    }

    /// That of a toolbox that shares this one's sandbox.
    pub(crate) fn beside(&self) -> Self {
        Self::of(Arc::clone(&self.room))
    }

    fn of(room: Arc<Room>) -> Self {
        let mut state = room.state();
        let owner = state.next;
        state.next += 1;
        state.owners.insert(owner, Owned { things: LruCache::unbounded(), bytes: 0 });
        drop(state);
        Self { room, owner }
    }

    /// The tool with this identifier, if it is still kept.
    pub(crate) fn tool(&self, id: &ToolId) -> Option<Arc<Ready>> {
        match self.room.state().owners.get_mut(&self.owner)?.things.get(&Key::Tool(*id))? {
            (Thing::Tool(ready), _) => Some(Arc::clone(ready)),
            (Thing::Script(_), _) => None,
        }
    }

    /// The script under this key, if it is still kept.
    pub(crate) fn script(&self, key: &blake3::Hash) -> Option<Arc<Kept>> {
        match self.room.state().owners.get_mut(&self.owner)?.things.get(&Key::Script(*key))? {
            (Thing::Script(kept), _) => Some(Arc::clone(kept)),
            (Thing::Tool(_), _) => None,
        }
    }

    /// Keeps a tool.
    pub(crate) fn keep_tool(&self, id: ToolId, ready: Arc<Ready>) {
        let size = ready.size();
        self.keep(Key::Tool(id), Thing::Tool(ready), size);
    }

    /// Keeps a script.
    pub(crate) fn keep_script(&self, key: blake3::Hash, kept: Arc<Kept>) {
        let size = kept.size();
        self.keep(Key::Script(key), Thing::Script(kept), size);
    }

    fn keep(&self, key: Key, thing: Thing, size: usize) {
        let mut state = self.room.state();
        let Some(own) = state.owners.get_mut(&self.owner) else { return };
        let before = own.things.put(key, (thing, size)).map_or(0, |(_, size)| size);
        own.bytes = own.bytes - before + size;
        state.bytes = state.bytes - before + size;
        while state.bytes > self.room.size {
            let most = state.owners.values_mut().max_by_key(|owned| owned.bytes);
            let Some((owned, (_, (_, size)))) = most.and_then(|owned| owned.things.pop_lru().map(|gone| (owned, gone)))
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
        let mut state = self.room.state();
        if let Some(own) = state.owners.remove(&self.owner) {
            state.bytes -= own.bytes;
        }
    }
}

impl Room {
    /// A thread that panicked left what it held as good as it was.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Schema;
    use crate::vet::Refusal;

    fn cache(size: usize) -> Cache {
        Cache::of(Arc::new(Room { size, state: Mutex::default() }))
    }

    fn keep(cache: &Cache, number: u8, size: usize) {
        let ready = Ready { schema: Ok(Schema::anything()), vetted: Err(Refusal::NoTool(String::new())) };
        cache.keep(Key::Tool(id(number)), Thing::Tool(Arc::new(ready)), size);
    }

    fn id(number: u8) -> ToolId {
        format!("dt_{}", format!("{number:02x}").repeat(32)).parse().unwrap()
    }

    fn kept(cache: &Cache) -> Vec<u8> {
        (0..10).filter(|number| cache.tool(&id(*number)).is_some()).collect()
    }

    fn bytes(cache: &Cache) -> usize {
        cache.room.state().bytes
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
        // The same one again takes its own place, and one for which there is no room takes none.
        keep(&cache, 3, 5);
        assert_eq!((kept(&cache), bytes(&cache)), (vec![0, 2, 3], 25));
        keep(&cache, 4, 31);
        assert_eq!((kept(&cache), bytes(&cache)), (vec![], 0));
    }

    #[test]
    fn who_has_many_makes_room_for_who_has_few() {
        let many = cache(30);
        let few = many.beside();
        keep(&few, 9, 10);
        for number in 0..8 {
            keep(&many, number, 10);
        }
        assert_eq!((kept(&many), kept(&few), bytes(&few)), (vec![6, 7], vec![9], 30));
        drop(many);
        assert_eq!((kept(&few), bytes(&few)), (vec![9], 10));
    }
}
