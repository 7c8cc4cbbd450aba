//! Bundles, signatures and cursors that come from elsewhere, fuzzed.

use toolcell_store::{Cursor, Import, PublicKey, Signature, ToolRef};

toolcell_fuzz::target!(bundle, |bytes| {
    if let Err(error) = Import::read(bytes) {
        assert!(error.to_string().len() <= 64 << 10, "an error of {} bytes", error.to_string().len());
    }
});

toolcell_fuzz::target!(signature, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = (Signature::parse(text), PublicKey::parse(text), Cursor::parse(text), ToolRef::parse(text));
});
