//! Sets of JSON types.
//!
//! Invariant: a number without a fraction is an integer, however it is written; a set with numbers
//! contains integers.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use serde_json::Value;

/// The type names, in display order.
const NAMES: [(&str, Types); 7] = [
    ("string", Types::STRING),
    ("number", Types::NUMBER),
    ("integer", Types::INTEGER),
    ("boolean", Types::BOOLEAN),
    ("object", Types::OBJECT),
    ("array", Types::ARRAY),
    ("null", Types::NULL),
];

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    /// Includes integers.
    pub(super) const NUMBER: Self = Self(8 | 4);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// Returns the type with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, types)| *types)
    }

    /// Returns the names of all types.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Returns the types in a schema's `type`; all if it has none.
    pub(super) fn from_schema(schema: &Value) -> Self {
        match schema.get("type") {
            Some(Value::String(name)) => Self::from_name(name).unwrap_or(Self::ALL),
            Some(Value::Array(names)) => {
                let each = names.iter().filter_map(Value::as_str).filter_map(Self::from_name);
                each.fold(Self::NONE, |all, one| all | one)
            }
            _ => Self::ALL,
        }
    }

    /// Returns the type of a value.
    pub(super) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|it| it.fract() != 0.0) => {
                Self(Self::NUMBER.0 & !Self::INTEGER.0)
            }
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Types {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("any");
        }
        let mut separator = "";
        for (name, types) in NAMES {
            let told = *self & Self::NUMBER == Self::NUMBER && types == Self::INTEGER;
            if *self & types == types && !told {
                write!(f, "{separator}{name}")?;
                separator = " | ";
            }
        }
        Ok(())
    }
}
