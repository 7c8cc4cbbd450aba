//! Graph search: breadth first with predecessors, and strongly connected components.
//!
//! Invariant: neither recurses, and an exploration proceeds only on demand, so no graph is too
//! large.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use crate::alphabet::Letters;

/// A breadth-first search: the reached nodes with their predecessors.
#[derive(Debug)]
pub(crate) struct Exploration<K> {
    nodes: Vec<ReachedNode<K>>,
    seen: FxHashSet<K>,
    next: usize,
}

#[derive(Debug)]
struct ReachedNode<K> {
    key: K,
    /// The predecessor, and the letters of the edge; `None` for a root.
    from: Option<(usize, Letters)>,
}

/// The component of each node. Edges lead to components of the same or a smaller number.
#[derive(Debug)]
pub(crate) struct Components {
    pub(crate) component_of: Vec<usize>,
    /// The nodes of each component that has a cycle; empty for the others.
    pub(crate) cyclic: Vec<Vec<usize>>,
}

impl<K: Copy + Eq + Hash> Exploration<K> {
    pub(crate) fn new(roots: impl IntoIterator<Item = K>) -> Self {
        let nodes: Vec<ReachedNode<K>> = roots.into_iter().map(|key| ReachedNode { key, from: None }).collect();
        let seen = nodes.iter().map(|node| node.key).collect();
        Self { nodes, seen, next: 0 }
    }

    /// Returns the next node to visit.
    pub(crate) fn next(&mut self) -> Option<(usize, K)> {
        let node = self.nodes.get(self.next)?;
        self.next += 1;
        Some((self.next - 1, node.key))
    }

    pub(crate) fn reach(&mut self, key: K, from: usize, letters: Letters) {
        if self.seen.insert(key) {
            self.nodes.push(ReachedNode { key, from: Some((from, letters)) });
        }
    }

    /// Returns the root from which a node was reached, and the words that lead there, extended by
    /// one step.
    pub(crate) fn trace(&self, node: usize, last: Option<Letters>) -> (K, Vec<Letters>) {
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
    /// Finds the components with Tarjan's algorithm, on an explicit stack.
    pub(crate) fn find(edges: &[Vec<usize>]) -> Self {
        const NEW: usize = usize::MAX;
        let mut found = Self { component_of: vec![NEW; edges.len()], cyclic: Vec::new() };
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
                    // The node of the previous edge is finished.
                    low[node] = low[node].min(low[edges[node][edge - 1]]);
                }
                let after =
                    |from: usize| edges[node][from..].iter().position(|to| order[*to] == NEW).map(|at| from + at);
                let next = after(edge);
                let passed = &edges[node][edge..next.unwrap_or(edges[node].len())];
                let back = passed.iter().filter(|to| found.component_of[**to] == NEW).map(|to| order[*to]).min();
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

    /// The open nodes from this one on form its component.
    fn close(&mut self, node: usize, open: &mut Vec<usize>, edges: &[Vec<usize>]) {
        let start = open.iter().rposition(|other| *other == node).unwrap_or(0);
        let members = open.split_off(start);
        for member in &members {
            self.component_of[*member] = self.cyclic.len();
        }
        let cyclic = members.len() > 1 || edges[node].contains(&node);
        self.cyclic.push(if cyclic { members } else { Vec::new() });
    }
}
