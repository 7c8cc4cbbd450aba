//! What patterns take of what they are given: the names that destructuring makes.

use swc_ecma_ast::{ArrayPat, Expr, ObjectPat, ObjectPatProp, Pat};

use super::noting::Noting;
use super::{Origin, Param};
use crate::value::{Key, Path, Value, below};

impl<'a> Noting<'a> {
    /// Every name of a pattern, and what it takes of something.
    pub(super) fn taken(
        &mut self,
        pat: &'a Pat,
        keys: &[Value],
        origin: &dyn Fn(Vec<Value>, Option<&'a Expr>) -> Origin<'a>,
    ) {
        match pat {
            Pat::Ident(ident) => self.set(ident.to_id(), origin(keys.to_vec(), None)),
            Pat::Assign(assign) => match &*assign.left {
                Pat::Ident(ident) => self.set(ident.to_id(), origin(keys.to_vec(), Some(&assign.right))),
                left => self.taken(left, keys, origin),
            },
            Pat::Object(object) => self.taken_by_object(object, keys, origin),
            Pat::Array(array) => self.taken_by_array(array, keys, origin),
            Pat::Rest(_) | Pat::Expr(_) | Pat::Invalid(_) => self.unknown(pat),
        }
    }

    pub(super) fn taken_by_object(
        &mut self,
        object: &'a ObjectPat,
        keys: &[Value],
        origin: &dyn Fn(Vec<Value>, Option<&'a Expr>) -> Origin<'a>,
    ) {
        for prop in &object.props {
            match prop {
                ObjectPatProp::KeyValue(pair) => {
                    let key = self.names.prop_name(&pair.key);
                    self.taken(&pair.value, &[keys, &[key]].concat(), origin);
                }
                ObjectPatProp::Assign(short) => {
                    let keys = [keys, &[Value::name(&short.key.sym)]].concat();
                    self.set(short.key.to_id(), origin(keys, short.value.as_deref()));
                }
                ObjectPatProp::Rest(rest) => self.taken(&rest.arg, keys, origin),
            }
        }
    }

    pub(super) fn taken_by_array(
        &mut self,
        array: &'a ArrayPat,
        keys: &[Value],
        origin: &dyn Fn(Vec<Value>, Option<&'a Expr>) -> Origin<'a>,
    ) {
        for (index, elem) in array.elems.iter().enumerate() {
            if let Some(elem) = elem {
                let index = f64::from(u32::try_from(index).unwrap_or(u32::MAX));
                self.taken(elem, &[keys, &[Value::Number(index)]].concat(), origin);
            }
        }
    }

    /// Every name of a pattern whose value is not known.
    pub(super) fn unknown(&mut self, pat: &'a Pat) {
        let mut ids = Vec::new();
        super::ids(pat, &mut ids);
        for id in ids {
            self.set(id, Origin::Value(Value::Unknown));
        }
    }

    /// The parameters of a function: what is reached from them comes from the caller, or from a call in the source.
    pub(super) fn parameters(&mut self, function: u32) {
        let params = self.names.functions[function as usize].params.clone();
        for (index, pat) in params.into_iter().enumerate() {
            self.parameter(pat, &|path, default| Param { function, index, path, default }, &[], None);
        }
    }

    fn parameter(
        &mut self,
        pat: &'a Pat,
        param: &dyn Fn(Path, Option<&'a Expr>) -> Param<'a>,
        path: &[Key],
        default: Option<&'a Expr>,
    ) {
        match pat {
            Pat::Ident(ident) => self.set(ident.to_id(), Origin::Param(param(path.iter().cloned().collect(), default))),
            Pat::Assign(assign) => self.parameter(&assign.left, param, path, Some(&assign.right)),
            Pat::Object(object) => {
                for prop in &object.props {
                    let (key, pat) = match prop {
                        ObjectPatProp::KeyValue(pair) => (self.names.prop_name(&pair.key), &*pair.value),
                        ObjectPatProp::Assign(short) => {
                            let path = below(path, Key::Name(short.key.sym.clone()));
                            self.set(short.key.to_id(), Origin::Param(param(path, short.value.as_deref())));
                            continue;
                        }
                        ObjectPatProp::Rest(rest) => (Value::Unknown, &*rest.arg),
                    };
                    self.parameter(pat, param, &below(path, key.as_key()), None);
                }
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    if let Some(elem) = elem {
                        let key = Key::Name(index.to_string().into());
                        self.parameter(elem, param, &below(path, key), None);
                    }
                }
            }
            Pat::Rest(_) | Pat::Expr(_) | Pat::Invalid(_) => self.unknown(pat),
        }
    }
}
