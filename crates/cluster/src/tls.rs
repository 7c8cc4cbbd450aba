//! TLS to engines, and what is wrong with a connection.

use std::error::Error;
use std::iter::successors;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

/// Trusts the root certificates of the system, or those of the file that `SSL_CERT_FILE` names.
///
/// # Errors
/// The text of the library.
pub(crate) fn client_config() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    // A machine without certificates can still reach a server on itself.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(builder.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth())
}

/// Whether a host is this machine: its address does not leave it.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Whether the certificate of a server was refused, or the server does not speak TLS as this client does.
pub(crate) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(<dyn Error>::is::<rustls::Error>)
}

/// An error, and what caused it.
pub(crate) fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |error| {
        // What an error of input and output wraps is not its source.
        let within = (**error).downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        within.map(|within| within as &(dyn Error + 'static)).or_else(|| (**error).source())
    })
}
