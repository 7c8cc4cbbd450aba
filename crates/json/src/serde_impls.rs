//! Serde support: JSON text as a field of a larger frame.
//!
//! Invariant: deserialised text is validated like any other text; the sender of the frame is not
//! trusted.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Json;

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use toolcell_protocol::{decode, encode};

    use super::*;

    #[test]
    fn text_that_is_no_json_is_not_read_as_such() {
        let json = Json::parse(r#"{"a":1e400}"#).unwrap();
        assert_eq!(decode::<Json>(&encode(&json).unwrap()).unwrap(), json);
        assert!(decode::<Json>(&encode(&"{").unwrap()).is_err());
    }
}
