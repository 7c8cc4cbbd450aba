//! Loops that nothing leaves, and generators that never stop.
//!
//! One walk over the statements, in the order in which they run: what stands below `break` is not reached, and a
//! `break` counts for the statement that it leaves, not for the one that it stands in.
//!
//! Invariant: a loop is only said to be endless if no reachable `break`, `return` or `throw` leads out of it.

mod visit;

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{Callee, Expr, ForOfStmt, Id, Program, Stmt, SwitchStmt, TryStmt};
use swc_ecma_visit::VisitWith;

use super::super::uses::{Kind, Range, own_key};
use super::condition::{ALWAYS, Judge};
use crate::names::bare;

const NOTHING: &str = "loops without end: nothing leaves the loop";
const STUCK: &str = "loops without end: a round that changes nothing is followed by the same again";
const FILLS: &str = "loops without end: each round appends to what the loop goes through";

/// What the walk has found.
#[derive(Default)]
pub(in super::super) struct Flow {
    /// Endless loops.
    pub(in super::super) endless: Vec<(Span, &'static str)>,
    /// Where they begin and end.
    pub(in super::super) ranges: Vec<(u32, u32)>,
    /// Generators that never stop: functions, methods by their name, classes whose objects are iterated.
    pub(super) generators: FxHashSet<Id>,
    pub(super) methods: FxHashMap<Atom, bool>,
    /// Generators, and those whose values they give.
    pub(super) delegates: Vec<(Id, Id)>,
    /// `for … of` loops that nothing leaves.
    pub(super) drains: Vec<(Box<Expr>, Span)>,
}

/// Walks a program.
pub(in super::super) fn of(program: &Program, judge: &Judge<'_>) -> Flow {
    let mut walk = Walk {
        judge,
        flow: Flow::default(),
        frames: Vec::new(),
        barriers: Vec::new(),
        reach: true,
        labels: Vec::new(),
        owner: None,
    };
    walk.function(Span::default(), None, |walk| program.visit_children_with(walk));
    walk.flow
}

/// The name of a generator.
#[derive(Clone)]
enum Owner {
    Name(Id),
    Method(Atom),
}

#[derive(PartialEq, Clone, Copy)]
enum What {
    Function,
    Loop,
    Switch,
    Block,
    Try,
}

struct Frame {
    what: What,
    labels: Vec<Atom>,
    broken: bool,
    yields: bool,
    /// The outermost frame that something in this one leads to.
    outward: usize,
    function: u32,
}

struct Walk<'a> {
    judge: &'a Judge<'a>,
    flow: Flow,
    frames: Vec<Frame>,
    /// Frames whose `finally` undoes every way out.
    barriers: Vec<usize>,
    /// Whether what comes next is reached at all.
    reach: bool,
    labels: Vec<Atom>,
    owner: Option<Owner>,
}

impl Walk<'_> {
    fn frame(&mut self, what: What, visit: impl FnOnce(&mut Self)) -> Frame {
        let labels = std::mem::take(&mut self.labels);
        let function = self.frames.last().map_or(0, |frame| frame.function);
        self.frames.push(Frame { what, labels, broken: false, yields: false, outward: usize::MAX, function });
        visit(self);
        let frame = self.frames.pop();
        let Some(frame) = frame else {
            return Frame { what, labels: Vec::new(), broken: true, yields: false, outward: 0, function };
        };
        if what != What::Function
            && let Some(around) = self.frames.last_mut()
        {
            around.outward = around.outward.min(frame.outward);
            around.yields |= frame.yields;
        }
        frame
    }

    /// Whether something in a frame that was just closed leads out of it.
    fn left(&self, frame: &Frame) -> bool {
        frame.broken || frame.outward < self.frames.len()
    }

    fn find(&self, check: impl Fn(&Frame) -> bool) -> Option<usize> {
        let inside = self.frames.iter().rposition(|frame| frame.what == What::Function).unwrap_or(0);
        self.frames.iter().rposition(check).filter(|found| *found >= inside).or(Some(inside))
    }

    fn jump(&mut self, target: Option<usize>, breaks: bool) {
        let Some(target) = target.filter(|_| self.reach) else { return };
        if self.barriers.last().is_some_and(|barrier| target < *barrier) {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.outward = frame.outward.min(target);
        }
        if breaks && let Some(frame) = self.frames.get_mut(target) {
            frame.broken = true;
        }
    }

    fn throws(&mut self) {
        let target = self.find(|frame| matches!(frame.what, What::Function | What::Try));
        self.jump(target, false);
    }

    fn function(&mut self, span: Span, owner: Option<Owner>, visit: impl FnOnce(&mut Self)) {
        let (reach, barriers) = (std::mem::replace(&mut self.reach, true), std::mem::take(&mut self.barriers));
        let labels = std::mem::take(&mut self.labels);
        let mut falls = true;
        let before = self.owner.take();
        let depth = self.frames.len();
        self.frames.push(Frame {
            what: What::Function,
            labels: Vec::new(),
            broken: false,
            yields: false,
            outward: usize::MAX,
            function: span.lo.0,
        });
        self.owner.clone_from(&owner);
        visit(self);
        falls &= self.reach;
        let frame = self.frames.pop();
        let endless = !falls && frame.is_some_and(|frame| frame.outward > depth && !frame.broken);
        match owner {
            Some(Owner::Name(id)) if endless => {
                self.flow.generators.insert(id);
            }
            Some(Owner::Method(name)) => {
                let known = self.flow.methods.entry(name).or_insert(true);
                *known &= endless;
            }
            _ => {}
        }
        (self.reach, self.barriers, self.labels, self.owner) = (reach, barriers, labels, before);
    }

    fn range(&self, span: Span, start: u32) -> Range {
        let function = self.frames.last().map_or(0, |frame| frame.function);
        Range { start, end: span.hi.0, function, round: span.lo.0 }
    }

    /// A loop with a condition.
    fn looping(&mut self, span: Span, start: u32, test: Option<&Expr>, body: &Stmt, rest: impl FnOnce(&mut Self)) {
        let truth = test.map_or(Some(true), |test| self.judge.truth(test));
        let first = matches!(body, Stmt::Block(_)) && start == body.span().lo.0;
        let reach = self.reach;
        let frame = self.frame(What::Loop, |walk| {
            walk.reach &= truth != Some(false) || first;
            body.visit_with(walk);
            walk.reach = reach;
            rest(walk);
        });
        self.reach = reach;
        if self.left(&frame) || !reach {
            return;
        }
        let range = self.range(span, start);
        let why = match test {
            None => Some(NOTHING),
            Some(test) => match truth {
                Some(true) => Some(ALWAYS),
                Some(false) => None,
                None => self.judge.stays(test, range).or_else(|| self.judge.sticks(test, body, range).then_some(STUCK)),
            },
        };
        if let Some(why) = why {
            // What may not be entered may be passed.
            self.reach = truth != Some(true);
            if frame.yields {
                self.reach = false;
            } else {
                self.flow.ranges.push((span.lo.0, span.hi.0));
                self.flow.endless.push((span, why));
            }
        }
    }

    fn switch(&mut self, node: &SwitchStmt) {
        node.discriminant.visit_with(self);
        let reach = self.reach;
        let mut covered = false;
        let frame = self.frame(What::Switch, |walk| {
            walk.reach = false;
            for case in &node.cases {
                covered |= case.test.is_none();
                case.test.visit_with(walk);
                walk.reach = reach;
                case.cons.visit_with(walk);
            }
        });
        self.reach = reach && (self.reach || frame.broken || !covered);
    }

    fn tries(&mut self, node: &TryStmt) {
        let reach = self.reach;
        let mut undoes = false;
        if let Some(last) = &node.finalizer {
            // The last block runs however the others end, and may end them otherwise.
            last.visit_with(self);
            undoes = !self.reach;
            self.reach = reach;
        }
        if undoes {
            self.barriers.push(self.frames.len());
        }
        let mut falls = false;
        if node.handler.is_some() {
            self.frame(What::Try, |walk| node.block.visit_with(walk));
        } else {
            node.block.visit_with(self);
        }
        falls |= self.reach;
        if let Some(handler) = &node.handler {
            self.reach = reach;
            handler.body.visit_with(self);
            falls |= self.reach;
        }
        if undoes {
            self.barriers.pop();
        }
        self.reach = falls && !undoes;
    }

    fn labelled(&mut self, node: &swc_ecma_ast::LabeledStmt) {
        self.labels.push(node.label.sym.clone());
        match &*node.body {
            Stmt::While(_) | Stmt::DoWhile(_) | Stmt::For(_) | Stmt::ForOf(_) | Stmt::ForIn(_) | Stmt::Labeled(_) => {
                node.body.visit_with(self);
            }
            _ => {
                let reach = self.reach;
                let frame = self.frame(What::Block, |walk| node.body.visit_with(walk));
                self.reach = reach && (self.reach || frame.broken);
            }
        }
        self.labels.clear();
    }

    fn through(&mut self, node: &ForOfStmt) {
        node.right.visit_with(self);
        let reach = self.reach;
        let frame = self.frame(What::Loop, |walk| node.body.visit_with(walk));
        self.reach = reach;
        if self.left(&frame) || !reach {
            return;
        }
        let range = self.range(node.span, node.body.span().lo.0);
        if !frame.yields && self.fills(node, range) {
            self.flow.endless.push((node.span, FILLS));
        }
        if !frame.yields && matches!(bare(&node.right), Expr::Call(_) | Expr::Ident(_) | Expr::New(_) | Expr::This(_)) {
            self.flow.drains.push((node.right.clone(), node.span));
        }
    }

    /// Whether each round of `for (… of list)` appends to the list.
    fn fills(&self, node: &ForOfStmt, range: Range) -> bool {
        let Expr::Ident(list) = bare(&node.right) else { return false };
        let Some((grown, 0)) = self.judge.balance(&list.to_id(), range) else { return false };
        let front = appends(&node.body, &list.to_id(), &mut Vec::new());
        let loop_name = match &node.left {
            swc_ecma_ast::ForHead::VarDecl(decl) => decl.decls.first().and_then(|decl| decl.name.as_ident()),
            _ => None,
        };
        // A set that is given what it has already does not grow.
        let new = front.is_some_and(|(name, first)| match name.as_str() {
            "push" => true,
            "add" => !matches!(bare(&first), Expr::Ident(same) if loop_name.is_some_and(|own| own.id.to_id() == same.to_id()) || self.judge.uses.writes_in(&same.to_id(), range).is_none_or(<[_]>::is_empty))
                && !matches!(bare(&first), Expr::Lit(_)),
            _ => false,
        });
        grown > 0
            && new
            && self
                .judge
                .uses
                .contents_in(&list.to_id(), range)
                .is_some_and(|uses| uses.iter().all(|one| matches!(one.kind, Kind::Grown(_))))
    }
}

/// The call that appends to a list, among the statements of a body.
fn appends(body: &Stmt, list: &Id, path: &mut Vec<()>) -> Option<(Atom, Expr)> {
    match body {
        Stmt::Block(block) if path.len() < 4 => {
            path.push(());
            block.stmts.iter().find_map(|statement| appends(statement, list, path))
        }
        Stmt::Expr(node) => {
            let Expr::Call(call) = bare(&node.expr) else { return None };
            let Callee::Expr(callee) = &call.callee else { return None };
            let Expr::Member(member) = bare(callee) else { return None };
            let own = matches!(bare(&member.obj), Expr::Ident(ident) if ident.to_id() == *list);
            let first = call.args.first().filter(|arg| own && arg.spread.is_none())?;
            Some((own_key(&member.prop)?, (*first.expr).clone()))
        }
        _ => None,
    }
}

/// The name of a method; `@@iterator` for the one that iterates.
pub(super) fn key_name(key: &swc_ecma_ast::PropName) -> Option<Atom> {
    match key {
        swc_ecma_ast::PropName::Ident(name) => Some(name.sym.clone()),
        swc_ecma_ast::PropName::Str(text) => Some(text.value.to_atom_lossy().into_owned()),
        swc_ecma_ast::PropName::Computed(computed) => match bare(&computed.expr) {
            Expr::Member(member) if matches!(bare(&member.obj), Expr::Ident(symbol) if &*symbol.sym == "Symbol") => {
                own_key(&member.prop).map(|name| format!("@@{name}").into())
            }
            _ => None,
        },
        _ => None,
    }
}
