//! The forms that decide something.
//!
//! Invariant: a form is used only if it came from a page of this server: with the page's own origin and the token of the session.

use std::collections::BTreeMap;

use crate::app::Visit;

/// The maximum number of fields whose names are not known before, and of values of the field that is repeated.
const MAX_PREFIXED: usize = 1_000;
const MAX_REPEATED: usize = 1_000;

/// The fields of a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Form {
    fields: BTreeMap<String, String>,
    /// The values of the field that may occur several times.
    pub(crate) many: Vec<String>,
    /// The values of fields whose names are not known before, by the rest of the name.
    pub(crate) prefixed: BTreeMap<String, String>,
}

/// The names of the fields of a form, besides its token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormNames {
    /// The fields that occur once.
    pub(crate) required: &'static [&'static str],
    /// The fields that occur at most once.
    pub(crate) optional: &'static [&'static str],
    /// The field that occurs any number of times.
    pub(crate) repeated: &'static str,
    /// What the names of other fields begin with, if there are such.
    pub(crate) prefix: Option<&'static str>,
}

/// Why a form is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormRefusal {
    /// A field is missing, unknown, or there twice.
    Incomplete,
    /// It does not come from a page of this server.
    Foreign,
}

impl Form {
    /// Checks where a form comes from, and parses it (WHATWG URL, section 5.1).
    pub(crate) fn parse(visit: &Visit, body: &[u8], names: &FormNames) -> Result<Self, FormRefusal> {
        if !visit.is_own_origin {
            return Err(FormRefusal::Foreign);
        }
        let (form, token) = Self::parse_fields(body, names).ok_or(FormRefusal::Incomplete)?;
        if visit.session.is_form_token(&token) { Ok(form) } else { Err(FormRefusal::Foreign) }
    }

    fn parse_fields(body: &[u8], names: &FormNames) -> Option<(Self, String)> {
        let FormNames { required, optional, repeated, prefix } = names;
        let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(body).ok()?;
        let mut form = Self { fields: BTreeMap::new(), many: Vec::new(), prefixed: BTreeMap::new() };
        let mut token = None;
        for (name, value) in pairs {
            let is_again = match &*name {
                "form_token" => token.replace(value).is_some(),
                name if name == *repeated => {
                    form.many.push(value);
                    false
                }
                name if required.contains(&name) || optional.contains(&name) => {
                    form.fields.insert(name.to_owned(), value).is_some()
                }
                name => match prefix.and_then(|prefix| name.strip_prefix(prefix)) {
                    Some(rest) => form.prefixed.insert(rest.to_owned(), value).is_some(),
                    None => true,
                },
            };
            if is_again {
                return None;
            }
        }
        if form.prefixed.len() > MAX_PREFIXED || form.many.len() > MAX_REPEATED {
            return None;
        }
        let is_complete = required.iter().all(|name| form.fields.contains_key(*name));
        Some((form, token?)).filter(|_| is_complete)
    }

    /// Returns a field; empty if it is not there.
    pub(crate) fn one(&self, name: &str) -> &str {
        self.fields.get(name).map(String::as_str).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_each_field_once_and_no_other() {
        let names =
            FormNames { required: &["shown", "action"], optional: &["reason"], repeated: "grant", prefix: None };
        let parse = |body: &str| Form::parse_fields(body.as_bytes(), &names);
        let (form, token) = parse("form_token=t&shown=d&grant=net%3Da.example&grant=timers&action=grant").unwrap();
        assert_eq!((form.one("action"), form.one("shown"), &*token), ("grant", "d", "t"));
        assert_eq!(form.many, ["net=a.example", "timers"]);
        assert_eq!(parse("form_token=t&shown=d&action=refuse&reason=too+much").unwrap().0.one("reason"), "too much");
        for broken in [
            "",
            "form_token=t&shown=d",
            "shown=d&action=approve",
            "form_token=t&action=approve",
            "form_token=t&shown=d&action=approve&action=refuse",
            "form_token=t&shown=d&shown=e&action=approve",
            "form_token=t&form_token=t&shown=e&action=approve",
            "form_token=t&shown=d&action=approve&more=1",
            "form_token=t&shown=d&action=approve&reason=a&reason=b",
        ] {
            assert_eq!(parse(broken), None, "{broken}");
        }
        let names = FormNames { prefix: Some("p."), ..names };
        let parse = |fields: &str| {
            let body = format!("form_token=t&shown=d&action=run&{fields}");
            Form::parse_fields(body.as_bytes(), &names).map(|(form, _)| form.prefixed)
        };
        assert_eq!(
            parse("p.a=1&p.=2").unwrap().into_iter().collect::<Vec<_>>(),
            [(String::new(), "2".to_owned()), ("a".to_owned(), "1".to_owned())]
        );
        assert_eq!((parse("p.a=1&p.a=2"), parse("q.a=1")), (None, None));
    }
}
