//! Fuzz targets for HTTP access control: token files and the `Host` header.

use super::host_check;
use super::tokens::TokenStore;

toolcell_fuzz::target!(tokens, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(bearers) = TokenStore::parse(text) {
        assert!(bearers.principals().count() > 0, "{text}");
    }
});

toolcell_fuzz::target!(hosts, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for line in text.lines().take(64) {
        if let Some((name, _)) = host_check::parse_host(line) {
            assert!(!name.contains(['@', '/', '\\', ' ']), "{line}");
        }
    }
});
