//! Decorators and `accessor` fields.
//!
//! They are compiled as the proposal has them (TC39, November 2023, <https://github.com/tc39/proposal-decorators>), also
//! where they are written for the older `experimentalDecorators` of TypeScript. Its decorators of parameters have no
//! counterpart and are refused.
//!
//! Text is put in between where decorators stand, so each part of a class is evaluated where it is written: decorators of
//! a member become the computed key of a method before it, which is taken away again; an `accessor` field becomes a
//! private field, a getter and a setter. What they call is appended to the source.
//!
//! Invariant: no line moves, and a source without decorators and `accessor` fields is left as it is.

mod edits;
mod lower;

use swc_ecma_ast::{AutoAccessor, Decorator, Program};
use swc_ecma_visit::{Visit, VisitWith};

use crate::error::Problem;
pub(crate) use edits::Shifts;
pub(crate) use lower::lower;

/// The most decorators and `accessor` fields of a source together: each becomes up to some hundred bytes.
pub(crate) const DECORATORS: usize = 2_000;

/// A source without decorators, and where its text stood before.
pub(crate) struct Lowered {
    pub(crate) code: String,
    pub(crate) shifts: Shifts,
}

/// What is wrong with a decorator.
pub(crate) type Lowering = Result<Lowered, Vec<Problem>>;

/// How many decorators and `accessor` fields a program has.
pub(crate) fn count(program: &Program) -> usize {
    let mut count = Count(0);
    program.visit_with(&mut count);
    count.0
}

struct Count(usize);

impl Visit for Count {
    fn visit_decorator(&mut self, decorator: &Decorator) {
        self.0 += 1;
        decorator.visit_children_with(self);
    }

    fn visit_auto_accessor(&mut self, accessor: &AutoAccessor) {
        self.0 += 1;
        accessor.visit_children_with(self);
    }
}
