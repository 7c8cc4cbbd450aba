//! Collection of the names that destructuring binds.

use swc_ecma_ast::{ArrayPat, Expr, ObjectPat, ObjectPatProp, Pat};

use super::BindingCollector;
use crate::semantics::bindings::{Origin, Param};
use crate::semantics::value::{Key, KeyPath, Value, append_key};
use crate::syntax::expr::pattern_ids;

impl<'a> BindingCollector<'a> {
    /// Binds every name of a pattern to the part that it takes of a value.
    pub(super) fn destructure(
        &mut self,
        pat: &'a Pat,
        keys: &[Value],
        origin: &dyn Fn(Vec<Value>, Option<&'a Expr>) -> Origin<'a>,
    ) {
        match pat {
            Pat::Ident(ident) => self.add_origin(ident.to_id(), origin(keys.to_vec(), None)),
            Pat::Assign(assign) => match &*assign.left {
                Pat::Ident(ident) => self.add_origin(ident.to_id(), origin(keys.to_vec(), Some(&assign.right))),
                left => self.destructure(left, keys, origin),
            },
            Pat::Object(object) => self.destructure_object(object, keys, origin),
            Pat::Array(array) => self.destructure_array(array, keys, origin),
            Pat::Rest(_) | Pat::Expr(_) | Pat::Invalid(_) => self.set_unknown(pat),
        }
    }

    pub(super) fn destructure_object(
        &mut self,
        object: &'a ObjectPat,
        keys: &[Value],
        origin: &dyn Fn(Vec<Value>, Option<&'a Expr>) -> Origin<'a>,
    ) {
        for prop in &object.props {
            match prop {
                ObjectPatProp::KeyValue(pair) => {
                    let key = self.names.prop_name(&pair.key);
                    self.destructure(&pair.value, &[keys, &[key]].concat(), origin);
                }
                ObjectPatProp::Assign(short) => {
                    let keys = [keys, &[Value::name(&short.key.sym)]].concat();
                    self.add_origin(short.key.to_id(), origin(keys, short.value.as_deref()));
                }
                ObjectPatProp::Rest(rest) => self.destructure(&rest.arg, keys, origin),
            }
        }
    }

    pub(super) fn destructure_array(
        &mut self,
        array: &'a ArrayPat,
        keys: &[Value],
        origin: &dyn Fn(Vec<Value>, Option<&'a Expr>) -> Origin<'a>,
    ) {
        for (index, elem) in array.elems.iter().enumerate() {
            if let Some(elem) = elem {
                let index = f64::from(u32::try_from(index).unwrap_or(u32::MAX));
                self.destructure(elem, &[keys, &[Value::Number(index)]].concat(), origin);
            }
        }
    }

    /// Binds every name of a pattern to an unknown value.
    pub(super) fn set_unknown(&mut self, pat: &'a Pat) {
        let mut ids = Vec::new();
        pattern_ids(pat, &mut ids);
        for id in ids {
            self.add_origin(id, Origin::Value(Value::Unknown));
        }
    }

    /// Binds the parameters of a function: their values come from the caller, or from a call site
    /// in the source.
    pub(super) fn collect_params(&mut self, function: u32) {
        let params = self.names.functions[function as usize].params.clone();
        for (index, pat) in params.into_iter().enumerate() {
            self.collect_param(pat, &|path, default| Param { function, index, path, default }, &[], None);
        }
    }

    fn collect_param(
        &mut self,
        pat: &'a Pat,
        param: &dyn Fn(KeyPath, Option<&'a Expr>) -> Param<'a>,
        path: &[Key],
        default: Option<&'a Expr>,
    ) {
        match pat {
            Pat::Ident(ident) => {
                self.add_origin(ident.to_id(), Origin::Param(param(path.iter().cloned().collect(), default)));
            }
            Pat::Assign(assign) => self.collect_param(&assign.left, param, path, Some(&assign.right)),
            Pat::Object(object) => {
                for prop in &object.props {
                    let (key, pat) = match prop {
                        ObjectPatProp::KeyValue(pair) => (self.names.prop_name(&pair.key), &*pair.value),
                        ObjectPatProp::Assign(short) => {
                            let path = append_key(path, Key::Name(short.key.sym.clone()));
                            self.add_origin(short.key.to_id(), Origin::Param(param(path, short.value.as_deref())));
                            continue;
                        }
                        ObjectPatProp::Rest(rest) => (Value::Unknown, &*rest.arg),
                    };
                    self.collect_param(pat, param, &append_key(path, key.as_key()), None);
                }
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    if let Some(elem) = elem {
                        let key = Key::Name(index.to_string().into());
                        self.collect_param(elem, param, &append_key(path, key), None);
                    }
                }
            }
            Pat::Rest(_) | Pat::Expr(_) | Pat::Invalid(_) => self.set_unknown(pat),
        }
    }
}
