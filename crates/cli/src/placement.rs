//! Chooses the node that runs a call, so that the calls of a tool meet a node that has it in memory.
//!
//! Rendezvous hashing (D. G. Thaler, C. V. Ravishankar, *Using Name-Based Mappings to Increase Hit Rates*, IEEE/ACM Transactions on
//! Networking 6 (1), 1998) gives each tool an order of the nodes. With bounded loads (V. Mirrokni, M. Thorup, M. Zadimoghaddam,
//! *Consistent Hashing with Bounded Loads*, SODA 2018) a call goes to the first node in that order that has less than twice the mean
//! load, so that the node of a tool that all call does not do all the work.
//!
//! Each node bounds the load that it hands out itself, and asks no other: calls reach the nodes in equal parts, from a load balancer,
//! so what holds for the calls of each holds for those of all.

use std::time::{Duration, Instant};

/// The load of a node is at most this many times the mean.
const MAX_LOAD: f64 = 2.0;
/// A load up to this is not bounded: with a few calls, all nodes are idle.
const FREE_LOAD: f64 = 8.0;
/// After this time, a call counts half.
const HALF_LIFE: Duration = Duration::from_secs(30);
/// How often loads are reduced.
const DECAY_PERIOD: Duration = Duration::from_secs(1);

/// The nodes, with the load that this one hands out to each.
#[derive(Debug)]
pub(crate) struct Placement {
    nodes: Vec<PlacedNode>,
    total: f64,
    decayed: Instant,
}

#[derive(Debug)]
struct PlacedNode {
    id: String,
    hash: u64,
    load: f64,
}

impl Placement {
    pub(crate) fn new(now: Instant) -> Self {
        Self { nodes: Vec::new(), total: 0.0, decayed: now }
    }

    /// Sets the nodes. Those that stay keep their load.
    pub(crate) fn set_nodes(&mut self, ids: impl IntoIterator<Item = String>) {
        let mut before = std::mem::take(&mut self.nodes);
        for id in ids {
            let known = before.iter().position(|node| node.id == id).map(|at| before.swap_remove(at));
            let hash = hash_text(&id);
            self.nodes.push(known.unwrap_or(PlacedNode { id, hash, load: 0.0 }));
        }
        self.total = self.nodes.iter().map(|node| node.load).sum();
    }

    /// Removes a node that does not answer.
    pub(crate) fn remove(&mut self, id: &str) {
        self.nodes.retain(|node| node.id != id);
        self.total = self.nodes.iter().map(|node| node.load).sum();
    }

    /// Chooses the node of a call with this key, and counts the call; `None` if there are no nodes.
    pub(crate) fn choose(&mut self, key: u64, now: Instant) -> Option<&str> {
        self.decay(now);
        #[expect(clippy::cast_precision_loss, reason = "there are fewer nodes than 2^52")]
        let mean = (self.total + 1.0) / self.nodes.len() as f64;
        let limit = (MAX_LOAD * mean).max(FREE_LOAD);
        let free = self.nodes.iter_mut().filter(|node| node.load + 1.0 <= limit);
        let chosen = free.max_by_key(|node| mix(node.hash ^ key))?;
        chosen.load += 1.0;
        self.total += 1.0;
        Some(&chosen.id)
    }

    fn decay(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.decayed);
        if elapsed < DECAY_PERIOD {
            return;
        }
        let factor = 0.5_f64.powf(elapsed.as_secs_f64() / HALF_LIFE.as_secs_f64());
        self.nodes.iter_mut().for_each(|node| node.load *= factor);
        (self.total, self.decayed) = (self.total * factor, now);
    }
}

/// The key of the calls of a tool, by whatever of its name and its identifier they use.
pub(crate) fn call_key(principal: &str, tool: &str) -> u64 {
    hash_text(&format!("{principal}/{}", tool.to_lowercase()))
}

fn hash_text(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(std::array::from_fn(|at| hash.as_bytes()[at]))
}

/// Mixes the bits of a number, so that each bit of the result depends on all of them (the finalizer of `SplitMix64`: G. L. Steele, D. Lea,
/// C. H. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014).
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::*;

    /// A generator of random numbers.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(self.0)
        }

        /// A number from zero to one.
        #[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
        fn fraction(&mut self) -> f64 {
            (self.next() >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// The tools that a node has in memory: the last ones that it ran.
    #[derive(Default)]
    struct Memory {
        last_use: HashMap<u32, u64>,
        uses: VecDeque<(u32, u64)>,
        time: u64,
    }

    impl Memory {
        /// Runs a tool, and returns whether it was in memory.
        fn run(&mut self, tool: u32, capacity: usize) -> bool {
            self.time += 1;
            let was_there = self.last_use.insert(tool, self.time).is_some();
            self.uses.push_back((tool, self.time));
            while self.last_use.len() > capacity {
                let Some((tool, time)) = self.uses.pop_front() else { break };
                if self.last_use.get(&tool) == Some(&time) {
                    self.last_use.remove(&tool);
                }
            }
            was_there
        }
    }

    /// Calls of 100,000 tools, whose frequency follows Zipf's law, on nodes that keep 1,000 tools each. Returns the share of calls that
    /// found their tool in memory, and the load of the busiest node by the mean.
    fn simulate(nodes: usize, entries: usize, calls_per_entry: usize) -> (f64, f64) {
        const TOOLS: u32 = 100_000;
        const CAPACITY: usize = 1_000;
        const CALLS_PER_SECOND: f64 = 200.0;
        let mut sum = 0.0;
        let frequencies: Vec<f64> = (1..=TOOLS)
            .map(|rank| {
                sum += 1.0 / f64::from(rank);
                sum
            })
            .collect();
        let keys: Vec<u64> = (0..TOOLS).map(|tool| call_key("alice", &tool.to_string())).collect();
        let start = Instant::now();
        let ids: Vec<String> = (0..nodes).map(|node| node.to_string()).collect();
        let mut placements: Vec<Placement> = (0..entries).map(|_| Placement::new(start)).collect();
        for placement in &mut placements {
            placement.set_nodes(ids.clone());
        }
        let mut memories: Vec<Memory> = (0..nodes).map(|_| Memory::default()).collect();
        let (mut random, mut loads, mut warm, mut counted) = (Random(1), vec![0_u32; nodes], 0_u32, 0_u32);
        for call in 0..calls_per_entry {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let now = start + Duration::from_secs_f64(call as f64 / CALLS_PER_SECOND);
            for placement in &mut placements {
                let wanted = random.fraction() * sum;
                let tool = frequencies.partition_point(|upto| *upto < wanted).min(keys.len() - 1);
                let node: usize = placement.choose(keys[tool], now).unwrap().parse().unwrap();
                let was_there = memories[node].run(u32::try_from(tool).unwrap(), CAPACITY);
                // The first half fills the memories.
                if call >= calls_per_entry / 2 {
                    loads[node] += 1;
                    counted += 1;
                    warm += u32::from(was_there);
                }
            }
        }
        let busiest = f64::from(*loads.iter().max().unwrap());
        let mean = f64::from(counted) / f64::from(u32::try_from(nodes).unwrap());
        (f64::from(warm) / f64::from(counted), busiest / mean)
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "the figures stand in the documentation")]
    fn most_calls_find_their_tool_in_memory_and_no_node_does_all_the_work() {
        for (nodes, entries, calls) in [(10, 10, 30_000), (100, 20, 15_000), (1_000, 20, 15_000)] {
            let (warm, busiest) = simulate(nodes, entries, calls);
            println!("{nodes} nodes: {:.0} % warm, the busiest has {busiest:.2} times the mean", 100.0 * warm);
            assert!(warm >= 0.70, "{nodes} nodes: {warm}");
            assert!(busiest <= 2.2, "{nodes} nodes: {busiest}");
        }
    }

    #[test]
    fn a_tool_keeps_its_node_while_others_come_and_go() {
        let now = Instant::now();
        let mut placement = Placement::new(now);
        assert_eq!(placement.choose(1, now), None);
        let ids = |nodes: &[&str]| nodes.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let choices = |placement: &mut Placement, now| -> Vec<String> {
            (0..200_u64).map(|tool| placement.choose(mix(tool), now).unwrap().to_owned()).collect()
        };
        placement.set_nodes(ids(&["a", "b", "c", "d"]));
        let before = choices(&mut placement, now);
        placement.set_nodes(ids(&["d", "b", "a"]));
        let after = choices(&mut placement, now + 20 * HALF_LIFE);
        // Only the tools of the node that is gone move, apart from those that a full node sends on.
        let moved = before.iter().zip(&after).filter(|(before, after)| *before != "c" && before != after).count();
        assert!(moved <= 20, "{moved} of 200 moved");
    }

    #[test]
    fn a_tool_that_all_call_is_spread_over_the_nodes_and_loads_are_forgotten() {
        let now = Instant::now();
        let mut placement = Placement::new(now);
        placement.set_nodes(["a", "b", "c", "d"].map(str::to_owned));
        let mut counts: HashMap<String, u32> = HashMap::new();
        for _ in 0..1_000 {
            *counts.entry(placement.choose(7, now).unwrap().to_owned()).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count <= 501), "{counts:?}");
        assert!(counts.len() >= 2);
        // With little to do, it stays on its first node.
        let later = now + 20 * HALF_LIFE;
        let first: Vec<String> = (0..5).map(|_| placement.choose(7, later).unwrap().to_owned()).collect();
        assert!(first.iter().all(|node| *node == first[0]), "{first:?}");
        placement.remove(&first[0]);
        assert_ne!(placement.choose(7, later).unwrap(), first[0]);
    }
}
