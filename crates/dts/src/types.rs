//! TypeScript types as values, with the algebra of unions and intersections.
//!
//! Invariant: a union has at least two members, of which none is a union, `unknown` or `never`, and
//! none occurs twice. An intersection likewise.

use std::collections::{HashMap, HashSet};

/// The maximum number of literals in a union. A longer one is written as the type of its literals.
const MAX_LITERALS: usize = 100;

/// The maximum number of pairs for which the intersection of two unions is computed.
const MAX_PAIRS: usize = 10_000;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    /// Any value.
    Unknown,
    /// No value.
    Never,
    Keyword(Keyword),
    Literal(Literal),
    Array(Box<Self>),
    Tuple(Tuple),
    Object(Object),
    Union(Vec<Self>),
    Intersection(Vec<Self>),
    /// A named type, by its index.
    Alias(usize),
}

/// A type without parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Keyword {
    Null,
    Boolean,
    Number,
    String,
}

/// The type of a single value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    pub(crate) keyword: Keyword,
    /// The value as source text.
    pub(crate) text: String,
}

/// A list with a type for each of its first items.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Tuple {
    pub(crate) items: Vec<Type>,
    /// The number of items that are not optional.
    pub(crate) required: usize,
    /// The type of all further items, if there may be any.
    pub(crate) rest: Option<Box<Type>>,
}

/// An object type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    pub(crate) fields: Vec<Field>,
    pub(crate) others: Others,
}

/// A property of an object type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: Type,
    pub(crate) is_required: bool,
    pub(crate) comment: Option<String>,
}

/// The properties of an object that have no field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Others {
    /// The schema does not mention them.
    Unmentioned,
    /// An object has no other properties.
    Forbidden,
    /// They have this type.
    Typed(Box<Type>),
}

impl Type {
    /// The type of all objects.
    pub(crate) const fn object() -> Self {
        Self::Object(Object { fields: Vec::new(), others: Others::Unmentioned })
    }

    /// Returns the type of the values that belong to at least one of these.
    pub(crate) fn union(types: impl IntoIterator<Item = Self>) -> Self {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        for member in types.into_iter().flat_map(Self::into_members) {
            match member {
                Self::Unknown => return Self::Unknown,
                Self::Never => {}
                _ if seen.contains(&member) => {}
                _ => {
                    seen.insert(member.clone());
                    members.push(member);
                }
            }
        }
        let has_boolean = ["false", "true"]
            .into_iter()
            .all(|text| seen.contains(&Self::Literal(Literal { keyword: Keyword::Boolean, text: text.to_owned() })));
        let literals = members.iter().filter(|member| matches!(member, Self::Literal(_))).count();
        let is_widened = |literal: &Literal| {
            literals > MAX_LITERALS
                || has_boolean && literal.keyword == Keyword::Boolean
                || seen.contains(&Self::Keyword(literal.keyword))
        };
        let mut added = HashSet::new();
        members.retain_mut(|member| {
            if let Self::Literal(literal) = member
                && is_widened(literal)
            {
                *member = Self::Keyword(literal.keyword);
            }
            !matches!(member, Self::Keyword(_)) || added.insert(member.clone())
        });
        match members.len() {
            0 => Self::Never,
            1 => members.remove(0),
            _ => Self::Union(members),
        }
    }

    fn into_members(self) -> Vec<Self> {
        match self {
            Self::Union(members) => members,
            other => vec![other],
        }
    }

    /// Returns the type of the values that belong to all of these. Where TypeScript would multiply out unions to too many
    /// types (it refuses 100,000), the last ones are left out: that admits more.
    pub(crate) fn intersection(types: impl IntoIterator<Item = Self>) -> Self {
        // Objects are merged in one go: their properties are many.
        let (mut objects, mut others) = (Vec::new(), Vec::new());
        for one in types {
            match one {
                Self::Object(object) => objects.push(object),
                other => others.push(other),
            }
        }
        let object = if objects.is_empty() { Self::Unknown } else { Self::Object(Object::merge(objects)) };
        let all = others.into_iter().fold(object, Self::intersect);
        let mut product = 1_usize;
        match all {
            Self::Intersection(mut parts) => {
                parts.retain(|part| {
                    product = product.saturating_mul(part.member_count());
                    product <= MAX_PAIRS
                });
                if parts.len() == 1 { parts.remove(0) } else { Self::Intersection(parts) }
            }
            all => all,
        }
    }

    /// Returns the type of the values that belong to both.
    pub(crate) fn intersect(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, one) | (one, Self::Unknown) => one,
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (one, other) if one == other => one,
            (Self::Object(one), Self::Object(other)) => Self::Object(Object::merge([one, other])),
            (Self::Union(members), other) if other.narrows(&members) => {
                Self::union(members.into_iter().map(|member| member.intersect(other.clone())))
            }
            (one, Self::Union(members)) if one.narrows(&members) => {
                Self::union(members.into_iter().map(|member| one.clone().intersect(member)))
            }
            (Self::Keyword(keyword), Self::Literal(literal)) | (Self::Literal(literal), Self::Keyword(keyword)) => {
                if literal.keyword == keyword {
                    Self::Literal(literal)
                } else {
                    Self::Never
                }
            }
            // A reference to an object type often stands beside `"type": "object"`, and `additionalProperties: false`.
            (Self::Alias(alias), Self::Object(object)) | (Self::Object(object), Self::Alias(alias))
                if object.fields.is_empty() && !matches!(object.others, Others::Typed(_)) =>
            {
                Self::Alias(alias)
            }
            (one, other) if one.has_one_kind() && other.has_one_kind() && !one.shares_kind_with(&other) => Self::Never,
            (Self::Keyword(_) | Self::Literal(_), Self::Keyword(_) | Self::Literal(_)) => Self::Never,
            (one, other) => {
                let mut parts = one.into_parts();
                for part in other.into_parts() {
                    if !parts.contains(&part) {
                        parts.push(part);
                    }
                }
                if parts.len() == 1 { parts.remove(0) } else { Self::Intersection(parts) }
            }
        }
    }

    fn into_parts(self) -> Vec<Self> {
        match self {
            Self::Intersection(parts) => parts,
            other => vec![other],
        }
    }

    fn member_count(&self) -> usize {
        match self {
            Self::Union(members) => members.len(),
            _ => 1,
        }
    }

    /// Returns whether an intersection with the union of these gets shorter by taking them one by one.
    fn narrows(&self, members: &[Self]) -> bool {
        let pairs = members.len() * self.member_count();
        pairs <= MAX_PAIRS && self.is_narrow() && members.iter().all(Self::has_one_kind)
    }

    fn is_narrow(&self) -> bool {
        match self {
            Self::Keyword(_) | Self::Literal(_) => true,
            Self::Object(object) => object.is_any(),
            Self::Union(members) => members
                .iter()
                .all(|member| matches!(member, Self::Keyword(_) | Self::Literal(_)) || *member == Self::object()),
            _ => false,
        }
    }

    /// Returns whether all values are of the same kind: a keyword's, arrays, or objects.
    const fn has_one_kind(&self) -> bool {
        matches!(self, Self::Keyword(_) | Self::Literal(_) | Self::Array(_) | Self::Tuple(_) | Self::Object(_))
    }

    const fn shares_kind_with(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Keyword(_) | Self::Literal(_), Self::Keyword(_) | Self::Literal(_))
                | (Self::Array(_) | Self::Tuple(_), Self::Array(_) | Self::Tuple(_))
                | (Self::Object(_), Self::Object(_))
        )
    }

    /// Adds to `found` the aliases that this type consists of, outside of arrays and objects.
    pub(crate) fn direct_aliases(&self, found: &mut Vec<usize>) {
        match self {
            Self::Alias(alias) => found.push(*alias),
            Self::Union(members) | Self::Intersection(members) => {
                for member in members {
                    member.direct_aliases(found);
                }
            }
            _ => {}
        }
    }

    /// Returns the type in which `replace` has decided about each alias that it consists of: `None` leaves the alias out, which
    /// says nothing in `type A = A | string`.
    pub(crate) fn replace_direct_aliases(self, replace: &impl Fn(usize) -> Option<Self>) -> Self {
        match self {
            Self::Alias(alias) => replace(alias).unwrap_or(Self::Unknown),
            Self::Union(members) => Self::union(members.into_iter().filter_map(|member| match member {
                Self::Alias(alias) => replace(alias),
                other => Some(other.replace_direct_aliases(replace)),
            })),
            Self::Intersection(parts) => {
                Self::intersection(parts.into_iter().map(|part| part.replace_direct_aliases(replace)))
            }
            other => other,
        }
    }

    /// Returns whether an alias occurs anywhere in the type.
    pub(crate) fn has_alias(&self) -> bool {
        match self {
            Self::Alias(_) => true,
            Self::Unknown | Self::Never | Self::Keyword(_) | Self::Literal(_) => false,
            Self::Array(item) => item.has_alias(),
            Self::Tuple(tuple) => {
                tuple.items.iter().any(Self::has_alias) || tuple.rest.as_ref().is_some_and(|rest| rest.has_alias())
            }
            Self::Object(object) => {
                let is_in_others = matches!(&object.others, Others::Typed(value) if value.has_alias());
                is_in_others || object.fields.iter().any(|field| field.value.has_alias())
            }
            Self::Union(types) | Self::Intersection(types) => types.iter().any(Self::has_alias),
        }
    }
}

impl Object {
    /// Returns whether any object belongs to the type.
    pub(crate) const fn is_any(&self) -> bool {
        self.fields.is_empty() && matches!(self.others, Others::Unmentioned)
    }

    /// Returns the type of the objects that belong to all of these.
    fn merge(objects: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Self { fields: Vec::new(), others: Others::Unmentioned };
        let mut places: HashMap<String, usize> = HashMap::new();
        for object in objects {
            for field in object.fields {
                if let Some(at) = places.get(&field.name) {
                    let own = &mut merged.fields[*at];
                    own.value = std::mem::replace(&mut own.value, Type::Unknown).intersect(field.value);
                    own.is_required |= field.is_required;
                    own.comment = own.comment.take().or(field.comment);
                } else {
                    places.insert(field.name.clone(), merged.fields.len());
                    merged.fields.push(field);
                }
            }
            merged.others = match (merged.others, object.others) {
                (Others::Unmentioned, one) | (one, Others::Unmentioned) => one,
                // `additionalProperties: false` beside other schemas forbids their properties, too, and is hardly meant so.
                (Others::Forbidden, Others::Forbidden) => Others::Forbidden,
                (Others::Forbidden, Others::Typed(value)) | (Others::Typed(value), Others::Forbidden) => {
                    Others::Typed(value)
                }
                (Others::Typed(one), Others::Typed(other)) => Others::Typed(Box::new(one.intersect(*other))),
            };
        }
        merged
    }
}
