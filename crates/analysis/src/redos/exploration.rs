//! Searching graphs: breadth first with a way back, and strongly connected components.
//!
//! Invariant: neither calls itself, and an exploration goes on only as long as it is asked to, so that no graph is too
//! large.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::alphabet::Letters;

/// The nodes that a breadth-first search has reached, and how.
#[derive(Debug)]
pub(super) struct Exploration<K> {
    nodes: Vec<Reached<K>>,
    seen: FxHashSet<K>,
    next: usize,
}

#[derive(Debug)]
struct Reached<K> {
    key: K,
    /// The node it was reached from, and by which letters; a root has none.
    from: Option<(usize, Letters)>,
}

/// Which component each node is in. Edges lead to components of the same or a smaller number.
#[derive(Debug)]
pub(super) struct Components {
    pub(super) of: Vec<usize>,
    /// The nodes of each component that has a cycle; none for the others.
    pub(super) cyclic: Vec<Vec<usize>>,
}

impl<K: Copy + Eq + Hash> Exploration<K> {
    pub(super) fn new(roots: impl IntoIterator<Item = K>) -> Self {
        let nodes: Vec<Reached<K>> = roots.into_iter().map(|key| Reached { key, from: None }).collect();
        let seen = nodes.iter().map(|node| node.key).collect();
        Self { nodes, seen, next: 0 }
    }

    /// The next node to look at.
    pub(super) fn next(&mut self) -> Option<(usize, K)> {
        let node = self.nodes.get(self.next)?;
        self.next += 1;
        Some((self.next - 1, node.key))
    }

    pub(super) fn reach(&mut self, key: K, from: usize, letters: Letters) {
        if self.seen.insert(key) {
            self.nodes.push(Reached { key, from: Some((from, letters)) });
        }
    }

    /// The root that a node was reached from, and the words that led there, with one more step.
    pub(super) fn trace(&self, node: usize, last: Option<Letters>) -> (K, Vec<Letters>) {
        let mut word: Vec<Letters> = last.into_iter().collect();
        let mut at = node;
        while let Some((from, letters)) = self.nodes[at].from {
            word.push(letters);
            at = from;
        }
        word.reverse();
        (self.nodes[at].key, word)
    }
}

impl Components {
    /// Tarjan's algorithm, with a stack of its own.
    pub(super) fn of(edges: &[Vec<usize>]) -> Self {
        const NEW: usize = usize::MAX;
        let mut found = Self { of: vec![NEW; edges.len()], cyclic: Vec::new() };
        let mut order = vec![NEW; edges.len()];
        let mut low = vec![0; edges.len()];
        let (mut open, mut path) = (Vec::new(), Vec::new());
        let mut count = 0;
        for root in 0..edges.len() {
            if order[root] == NEW {
                path.push((root, 0));
            }
            while let Some((node, edge)) = path.pop() {
                if edge == 0 {
                    order[node] = count;
                    low[node] = count;
                    count += 1;
                    open.push(node);
                } else {
                    // The node of the edge before is done.
                    low[node] = low[node].min(low[edges[node][edge - 1]]);
                }
                let after =
                    |from: usize| edges[node][from..].iter().position(|to| order[*to] == NEW).map(|at| from + at);
                let next = after(edge);
                let passed = &edges[node][edge..next.unwrap_or(edges[node].len())];
                let back = passed.iter().filter(|to| found.of[**to] == NEW).map(|to| order[*to]).min();
                low[node] = low[node].min(back.unwrap_or(usize::MAX));
                match next {
                    Some(next) => path.extend([(node, next + 1), (edges[node][next], 0)]),
                    None if low[node] == order[node] => found.close(node, &mut open, edges),
                    None => {}
                }
            }
        }
        found
    }

    /// What is open above a node is its component.
    fn close(&mut self, node: usize, open: &mut Vec<usize>, edges: &[Vec<usize>]) {
        let start = open.iter().rposition(|other| *other == node).unwrap_or(0);
        let members = open.split_off(start);
        for member in &members {
            self.of[*member] = self.cyclic.len();
        }
        let cyclic = members.len() > 1 || edges[node].contains(&node);
        self.cyclic.push(if cyclic { members } else { Vec::new() });
    }
}
