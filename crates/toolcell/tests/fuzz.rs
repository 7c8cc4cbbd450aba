//! Texts that tools, models and projects hand to the host, fuzzed: policies, receipts, schemas and profiles.

use std::path::Path;

use toolcell::policy::{Layer, PolicyFile};
use toolcell::{CreateTool, Profile, Receipt, Schema, read_request};

toolcell_fuzz::target!(policy, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for layer in [Layer::User, Layer::Project] {
        if let Err(error) = PolicyFile::parse(layer, text, Path::new("toolcell.toml")) {
            assert!(error.to_string().len() <= 64 << 10, "an error of {} bytes", error.to_string().len());
        }
    }
});

toolcell_fuzz::target!(receipt, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(receipt) = Receipt::parse(text) {
        assert_eq!(receipt.to_text(), text);
    }
});

// An object with the schema as `schema` and the parameters as `params`.
toolcell_fuzz::target!(schema, |bytes| {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    let Ok(schema) = Schema::compile(&value["schema"]) else { return };
    if let Ok(args) = schema.check_value(value["params"].clone()) {
        let again = args.value().cloned().unwrap_or(value["params"].clone());
        assert!(schema.check_value(again).is_ok(), "what passed does not pass again");
    }
});

toolcell_fuzz::target!(profile, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Profile::parse(text);
});

toolcell_fuzz::target!(request, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = read_request::<CreateTool>(text);
});
