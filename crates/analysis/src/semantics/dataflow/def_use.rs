//! Def-use chains: the nodes to visit again when a mark changes.

use super::{DataFlow, MemberKey, Name, NodeId, NodeKind, VarId};

/// For each node and variable, the nodes that use it; and for each node, the assignments of it.
pub(super) struct DefUse {
    pub(super) node_users: IndexLists,
    pub(super) var_users: IndexLists,
    pub(super) assigns: IndexLists,
}

/// Lists of indices, stored contiguously.
#[derive(Default)]
pub(super) struct IndexLists {
    starts: Vec<usize>,
    indices: Vec<usize>,
}

impl IndexLists {
    /// Creates the lists from pairs `(list, index)`.
    pub(super) fn from_pairs(pairs: &[(usize, usize)], len: usize) -> Self {
        let mut starts = vec![0; len + 1];
        for (list, _) in pairs {
            starts[*list + 1] += 1;
        }
        for at in 0..len {
            starts[at + 1] += starts[at];
        }
        let mut ends = starts.clone();
        let mut indices = vec![0; pairs.len()];
        for (list, index) in pairs {
            indices[ends[*list]] = *index;
            ends[*list] += 1;
        }
        Self { starts, indices }
    }

    pub(super) fn get(&self, list: usize) -> &[usize] {
        &self.indices[self.starts[list]..self.starts[list + 1]]
    }

    pub(super) fn each(&self, list: usize, work: impl FnMut(usize)) {
        self.get(list).iter().copied().for_each(work);
    }
}

impl DefUse {
    pub(super) fn new(flow: &DataFlow<'_>) -> Self {
        let (mut nodes, mut slots) = (Vec::with_capacity(flow.nodes.len()), Vec::with_capacity(flow.nodes.len()));
        for at in 0..flow.nodes.len() {
            for_each_operand(flow, at, &mut |part| nodes.push((part, at)), &mut |slot| slots.push((slot, at)));
        }
        let binds: Vec<_> = flow.assigns.iter().enumerate().map(|(index, bind)| (bind.from, index)).collect();
        Self {
            node_users: IndexLists::from_pairs(&nodes, flow.nodes.len()),
            var_users: IndexLists::from_pairs(&slots, flow.var_names.len()),
            assigns: IndexLists::from_pairs(&binds, flow.nodes.len()),
        }
    }
}

/// Visits the nodes and variables that a node uses.
fn for_each_operand(flow: &DataFlow<'_>, at: NodeId, node: &mut impl FnMut(NodeId), slot: &mut impl FnMut(VarId)) {
    let field = |name: &Name| flow.field_var(name);
    match &flow.nodes[at].kind {
        NodeKind::Opaque | NodeKind::This | NodeKind::Function(_) | NodeKind::Computed => {}
        NodeKind::Name(name) => slot(*name),
        NodeKind::Member(object, key) => {
            node(*object);
            match key {
                MemberKey::Named(name) => field(name).into_iter().for_each(slot),
                MemberKey::Computed(key) => node(*key),
                MemberKey::Spread => {}
            }
        }
        NodeKind::Element(of) | NodeKind::KeyOf(of) => node(*of),
        NodeKind::Rest(object, taken) => {
            node(*object);
            taken.iter().filter_map(field).for_each(slot);
        }
        NodeKind::Object(props) => props.iter().for_each(|(_, value)| node(*value)),
        NodeKind::List(parts) | NodeKind::OneOf(parts) | NodeKind::Concat(parts) | NodeKind::Param(_, parts) => {
            parts.iter().copied().for_each(node);
        }
        NodeKind::Call(call) => {
            let parts = call.receiver.iter().chain(&call.args).chain(&call.returns).chain(&call.callbacks);
            parts.chain([&call.callee]).copied().for_each(node);
        }
    }
}
