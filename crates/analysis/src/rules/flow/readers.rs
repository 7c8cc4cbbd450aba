//! Which nodes are made of which: what has to be looked at again where a mark changes.

use super::{At, Flow, Key, Kind, Name, Slot};

/// For each node and slot, the nodes that are made of it; and for each node, the binds that it is the value of.
pub(super) struct Readers {
    pub(super) of_nodes: Lists,
    pub(super) of_slots: Lists,
    pub(super) binds: Lists,
}

/// Many short lists of indices, one after the other.
#[derive(Default)]
pub(super) struct Lists {
    starts: Vec<usize>,
    indices: Vec<usize>,
}

impl Lists {
    /// The lists of pairs `(list, index)`.
    pub(super) fn of(pairs: &[(usize, usize)], len: usize) -> Self {
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

impl Readers {
    pub(super) fn of(flow: &Flow<'_>) -> Self {
        let (mut nodes, mut slots) = (Vec::with_capacity(flow.nodes.len()), Vec::with_capacity(flow.nodes.len()));
        for at in 0..flow.nodes.len() {
            parts(flow, at, &mut |part| nodes.push((part, at)), &mut |slot| slots.push((slot, at)));
        }
        let binds: Vec<_> = flow.binds.iter().enumerate().map(|(index, bind)| (bind.from, index)).collect();
        Self {
            of_nodes: Lists::of(&nodes, flow.nodes.len()),
            of_slots: Lists::of(&slots, flow.symbols.len()),
            binds: Lists::of(&binds, flow.nodes.len()),
        }
    }
}

/// The nodes and slots that a node is made of.
fn parts(flow: &Flow<'_>, at: At, node: &mut impl FnMut(At), slot: &mut impl FnMut(Slot)) {
    let field = |name: &Name| flow.field(name);
    match &flow.nodes[at].kind {
        Kind::Opaque | Kind::This | Kind::Function(_) | Kind::Computed => {}
        Kind::Name(name) => slot(*name),
        Kind::Member(object, key) => {
            node(*object);
            match key {
                Key::Named(name) => field(name).into_iter().for_each(slot),
                Key::Computed(key) => node(*key),
                Key::Spread => {}
            }
        }
        Kind::Element(of) | Kind::KeyOf(of) => node(*of),
        Kind::Rest(object, taken) => {
            node(*object);
            taken.iter().filter_map(field).for_each(slot);
        }
        Kind::Object(props) => props.iter().for_each(|(_, value)| node(*value)),
        Kind::List(parts) | Kind::Either(parts) | Kind::Joined(parts) | Kind::Param(_, parts) => {
            parts.iter().copied().for_each(node);
        }
        Kind::Call(call) => {
            let parts = call.receiver.iter().chain(&call.args).chain(&call.returns).chain(&call.callbacks);
            parts.chain([&call.callee]).copied().for_each(node);
        }
    }
}
