//! URLs, headers and answers, fuzzed: what a tool or a server writes.

use toolcell_tool::Scheme;
use url::Url;

use crate::net::field;
use crate::net::request::{Asked, Redirect, Request};

toolcell_fuzz::target!(urls, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for line in text.lines().take(64) {
        let request = Request {
            url: line.to_owned(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            redirect: Redirect::Follow,
            body: None,
        };
        let Ok(asked) = Asked::parse(request) else { continue };
        assert!(Scheme::named(asked.url.scheme()).is_some(), "{line}");
        assert!(asked.url.username().is_empty() && asked.url.password().is_none(), "{line}");
        // What is checked against the grants is what is connected to, however often it is read.
        assert_eq!(Url::parse(asked.url.as_str()).as_ref(), Ok(&asked.url), "{line}");
    }
});

toolcell_fuzz::target!(headers, |bytes| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let headers: Vec<(String, String)> = text
        .split('\n')
        .take(300)
        .map(|line| line.split_once(':').unwrap_or((line, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let Ok(fields) = field::parse(&headers) else { return };
    for field in fields {
        assert!(!field.value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)), "{text}");
        assert!(!["host", "content-length", "transfer-encoding"].contains(&field.name.as_str()), "{text}");
    }
});
