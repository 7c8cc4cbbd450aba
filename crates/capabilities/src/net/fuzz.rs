//! Fuzz targets for URLs and headers as tools write them.

use toolcell_protocol::Redirect;
use toolcell_tool::Scheme;
use url::Url;

use crate::net::header;
use crate::net::request::{Request, ValidRequest};

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
        let Ok(asked) = ValidRequest::parse(request) else { continue };
        assert!(Scheme::from_name(asked.url.scheme()).is_some(), "{line}");
        assert!(asked.url.username().is_empty() && asked.url.password().is_none(), "{line}");
        // Parsing is idempotent, so the URL that is authorized is the URL that is connected to.
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
    let Ok(fields) = header::parse(&headers) else { return };
    for field in fields {
        assert!(!field.value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)), "{text}");
        assert!(!["host", "content-length", "transfer-encoding"].contains(&field.name.as_str()), "{text}");
    }
});
