//! What decides who comes in over HTTP, fuzzed: files of tokens, and the `Host` header.

use super::bearers::Bearers;
use super::hosts;

toolcell_fuzz::target!(tokens, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(bearers) = Bearers::read(text) {
        assert!(bearers.principals().count() > 0, "{text}");
    }
});

toolcell_fuzz::target!(hosts, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for line in text.lines().take(64) {
        if let Some((name, _)) = hosts::parsed(line) {
            assert!(!name.contains(['@', '/', '\\', ' ']), "{line}");
        }
    }
});
