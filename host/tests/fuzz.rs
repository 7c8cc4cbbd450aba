//! JSON that a cell or a caller hands over, fuzzed.

use toolcell_host::{Json, Params};

toolcell_fuzz::target!(json, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(json) = Json::parse(text) {
        assert_eq!(json.as_str(), text);
    }
    if let Ok(params) = Params::parse(text) {
        assert!(Json::parse(params.as_str()).is_ok(), "{text}");
    }
});
