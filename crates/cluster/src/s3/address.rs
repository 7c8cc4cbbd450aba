//! The URL of a bucket, and the variables of the environment that go with it.
//!
//! Invariant: no error of this module contains a credential, also where one is in the URL by mistake.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use reqwest::Url;
use toolcell_i18n::{Message, message};

use super::S3Error;
use crate::tls::is_loopback;

/// The bounds of the length of a bucket's name.
const BUCKET_LENGTHS: std::ops::RangeInclusive<usize> = 3..=63;
/// The maximum length of a prefix, in bytes. The keys of objects, which the store bounds to 1024 bytes, are longer.
const MAX_PREFIX_BYTES: usize = 512;
/// The maximum length of a region, and of the name of a parameter that an error shows, in bytes.
const MAX_NAME_BYTES: usize = 32;
/// The region where none is given. Stores other than that of AWS take it.
const DEFAULT_REGION: &str = "us-east-1";
/// Parts of the names of parameters that credentials have.
const CREDENTIAL_WORDS: [&str; 6] = ["key", "secret", "token", "credential", "signature", "password"];

/// A bucket, and how it is asked.
#[derive(Clone)]
pub(super) struct Address {
    bucket: String,
    /// The start of the keys of objects: empty, or parts that end with a slash.
    prefix: String,
    endpoint: Url,
    style: BucketStyle,
    region: String,
    credentials: Credentials,
}

/// Where requests name the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BucketStyle {
    /// `https://HOST/BUCKET/KEY`
    Path,
    /// `https://BUCKET.HOST/KEY`
    Virtual,
}

/// What requests are signed with, or how it is fetched.
#[derive(Clone)]
struct Credentials(Vec<(AmazonS3ConfigKey, String)>);

/// What the parameters of a URL say.
#[derive(Default)]
struct Parameters {
    endpoint: Option<String>,
    region: Option<String>,
    style: Option<String>,
    allow_http: Option<String>,
}

impl Address {
    /// The bucket and the prefix, without the way to them: nodes may reach a store at different endpoints.
    pub(super) fn place(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.prefix.trim_end_matches('/'))
    }

    /// Reads a URL, and the variables that go with it.
    pub(super) fn parse(url: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, S3Error> {
        let variable = |name: &str| environment(name).filter(|value| !value.is_empty());
        let invalid = |reason| S3Error::Url { reason };
        if !url.starts_with("s3://") {
            return Err(invalid(message!("it does not start with `s3://`")));
        }
        let url = Url::parse(url).map_err(|error| invalid(Message::verbatim(error.to_string())))?;
        let parameters = Parameters::parse(&url).map_err(invalid)?;
        let bucket = parse_bucket(&url).map_err(invalid)?;
        let prefix = parse_prefix(url.path()).map_err(invalid)?;
        let region = parameters.region.or_else(|| variable("AWS_REGION")).or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
        if !is_name(&region, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(invalid(message!("its region has characters other than `a` to `z`, `0` to `9` and `-`")));
        }
        let allows_http = match parameters.allow_http.as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(invalid(message!("`allow_http` is neither `true` nor `false`"))),
        };
        let endpoint = parameters.endpoint.or_else(|| variable("AWS_ENDPOINT_URL_S3"));
        let endpoint = endpoint.or_else(|| variable("AWS_ENDPOINT_URL"));
        let has_endpoint = endpoint.is_some();
        let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let endpoint = parse_endpoint(&endpoint, allows_http).map_err(invalid)?;
        let style = match parameters.style.as_deref() {
            Some("path") => BucketStyle::Path,
            Some("virtual") if !is_host_label(&bucket) || endpoint.domain().is_none() => {
                return Err(invalid(message!("`style=virtual` needs a host with a name, and a bucket without dots")));
            }
            Some("virtual") => BucketStyle::Virtual,
            Some(_) => return Err(invalid(message!("`style` is neither `path` nor `virtual`"))),
            // The certificate of AWS is for names with one label before it.
            None if !has_endpoint && is_host_label(&bucket) => BucketStyle::Virtual,
            None => BucketStyle::Path,
        };
        let credentials = Credentials::find(variable).map_err(|reason| S3Error::Unusable { reason })?;
        Ok(Self { bucket, prefix, endpoint, style, region, credentials })
    }

    /// The start of the keys of objects.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether the store is on this machine.
    pub(super) fn is_on_loopback(&self) -> bool {
        is_on_loopback(&self.endpoint)
    }

    /// Texts that are not passed on.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        let is_secret = |key: &AmazonS3ConfigKey| {
            use AmazonS3ConfigKey::{AccessKeyId, SecretAccessKey, Token};
            matches!(key, AccessKeyId | SecretAccessKey | Token)
        };
        self.credentials.0.iter().filter(move |(key, _)| is_secret(key)).map(|(_, value)| value.as_str())
    }

    /// The settings of a client.
    pub(super) fn to_builder(&self) -> AmazonS3Builder {
        let mut endpoint = self.endpoint.clone();
        if self.style == BucketStyle::Virtual
            && let Some(host) = self.endpoint.host_str()
        {
            // A label before a host with a name is a host again.
            let _ = endpoint.set_host(Some(&format!("{}.{host}", self.bucket)));
        }
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&self.bucket)
            .with_region(&self.region)
            .with_endpoint(endpoint.as_str().trim_end_matches('/'))
            .with_virtual_hosted_style_request(self.style == BucketStyle::Virtual)
            .with_allow_http(self.endpoint.scheme() == "http");
        for (key, value) in &self.credentials.0 {
            builder = builder.with_config(*key, value);
        }
        builder
    }
}

impl Parameters {
    fn parse(url: &Url) -> Result<Self, Message> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(credentials_in_url());
        }
        if url.fragment().is_some() {
            return Err(message!("it has a fragment (`#`)"));
        }
        let mut parameters = Self::default();
        for (name, value) in url.query_pairs() {
            let slot = match &*name {
                "endpoint" => &mut parameters.endpoint,
                "region" => &mut parameters.region,
                "style" => &mut parameters.style,
                "allow_http" => &mut parameters.allow_http,
                other => return Err(unknown_parameter(other)),
            };
            if slot.replace(value.into_owned()).is_some() {
                return Err(message!("it has the parameter `{name}` twice", name = name.into_owned()));
            }
        }
        Ok(parameters)
    }
}

impl Credentials {
    /// Finds credentials in the order of the tools of AWS: a key, the token of a web identity, and the service of a container.
    fn find(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Message> {
        use AmazonS3ConfigKey as Key;
        let all = |names: &[(&str, Key)]| -> Option<Vec<(Key, String)>> {
            names.iter().map(|(name, key)| Some((*key, variable(name)?))).collect()
        };
        let some = |names: &[(&str, Key)]| -> Vec<(Key, String)> {
            names.iter().filter_map(|(name, key)| Some((*key, variable(name)?))).collect()
        };
        let pair = [("AWS_ACCESS_KEY_ID", Key::AccessKeyId), ("AWS_SECRET_ACCESS_KEY", Key::SecretAccessKey)];
        match *some(&pair) {
            [_, _] => return Ok(Self([some(&pair), some(&[("AWS_SESSION_TOKEN", Key::Token)])].concat())),
            // Half a pair is a mistake, and other credentials may be those of another user.
            [_] => return Err(message!("one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is missing")),
            _ => {}
        }
        let web_identity = [("AWS_WEB_IDENTITY_TOKEN_FILE", Key::WebIdentityTokenFile), ("AWS_ROLE_ARN", Key::RoleArn)];
        if let Some(found) = all(&web_identity) {
            let more = [("AWS_ROLE_SESSION_NAME", Key::RoleSessionName), ("AWS_ENDPOINT_URL_STS", Key::StsEndpoint)];
            return Ok(Self([found, some(&more)].concat()));
        }
        let container = all(&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", Key::ContainerCredentialsRelativeUri)])
            .or_else(|| {
                all(&[
                    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", Key::ContainerCredentialsFullUri),
                    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Key::ContainerAuthorizationTokenFile),
                ])
            });
        // Without any, the client library would ask the address 169.254.169.254, which is a machine of its own in some networks.
        container.map(Self).ok_or_else(|| message!("there are no credentials in the environment"))
    }
}

fn parse_bucket(url: &Url) -> Result<String, Message> {
    let bucket = url.host_str().unwrap_or_default();
    if bucket.is_empty() {
        return Err(message!("it names no bucket"));
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let has_edges = bucket.starts_with(|first: char| first.is_ascii_alphanumeric())
        && bucket.ends_with(|last: char| last.is_ascii_alphanumeric());
    if !BUCKET_LENGTHS.contains(&bucket.len())
        || !bucket.bytes().all(is_allowed)
        || !has_edges
        || bucket.contains("..")
        || url.port().is_some()
    {
        let (least, most) = BUCKET_LENGTHS.into_inner();
        return Err(message!(
            "its bucket is not a name of {least} to {most} letters, digits, `-`, `_` and `.`",
            least,
            most
        ));
    }
    Ok(bucket.to_owned())
}

fn parse_prefix(path: &str) -> Result<String, Message> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        return Ok(String::new());
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte);
    let is_part = |part: &str| !["", ".", ".."].contains(&part) && part.bytes().all(is_allowed);
    if path.len() > MAX_PREFIX_BYTES || !path.split('/').all(is_part) {
        return Err(message!(
            "its prefix is longer than {limit} bytes, or has a part that is empty or has characters other than letters, digits, \
             `-`, `_`, `.` and `=`",
            limit = MAX_PREFIX_BYTES
        ));
    }
    Ok(format!("{path}/"))
}

fn parse_endpoint(text: &str, allows_http: bool) -> Result<Url, Message> {
    let malformed = || message!("its endpoint is not a URL such as `https://s3.example.com`");
    let endpoint = Url::parse(text).map_err(|_| malformed())?;
    if !endpoint.username().is_empty() || endpoint.password().is_some() {
        return Err(credentials_in_url());
    }
    if !["http", "https"].contains(&endpoint.scheme())
        || endpoint.host_str().is_none()
        || endpoint.query().is_some()
        || endpoint.fragment().is_some()
    {
        return Err(malformed());
    }
    if endpoint.scheme() == "http" && !allows_http && !is_on_loopback(&endpoint) {
        return Err(message!(
            "its endpoint is reached over HTTP, and others in the network could read the objects: use HTTPS, or add `allow_http=true`"
        ));
    }
    Ok(endpoint)
}

fn unknown_parameter(name: &str) -> Message {
    let lower = name.to_ascii_lowercase();
    if CREDENTIAL_WORDS.iter().any(|word| lower.contains(word)) {
        return credentials_in_url();
    }
    // A credential that is there by mistake has digits or capital letters.
    if !is_name(name, |byte| byte.is_ascii_lowercase() || b"-_".contains(&byte)) {
        return message!("it has a parameter that is unknown");
    }
    message!("it has the parameter `{name}`, which is unknown", name = name.to_owned())
}

fn credentials_in_url() -> Message {
    message!("it has credentials, which belong in the environment: other users of this machine can read a URL")
}

fn is_name(text: &str, is_allowed: impl Fn(u8) -> bool) -> bool {
    (1..=MAX_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Whether the name of a bucket is one label of a host.
fn is_host_label(bucket: &str) -> bool {
    bucket.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_on_loopback(endpoint: &Url) -> bool {
    endpoint.host_str().is_some_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use toolcell_error::ErrorCode;

    use super::*;

    const KEY: &str = "AKIAIOSFODNN7EXAMPLE";
    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn environment(name: &str) -> Option<String> {
        match name {
            "AWS_ACCESS_KEY_ID" => Some(KEY.to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some(SECRET.to_owned()),
            _ => None,
        }
    }

    #[track_caller]
    fn error(url: &str, environment: impl Fn(&str) -> Option<String>) -> S3Error {
        match Address::parse(url, environment) {
            Ok(_) => panic!("{url}"),
            Err(error) => error,
        }
    }

    /// Where requests go: the URL before the key of an object.
    #[track_caller]
    fn place(url: &str, environment: impl Fn(&str) -> Option<String>) -> String {
        let address = Address::parse(url, environment).unwrap();
        let builder = address.to_builder();
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).unwrap();
        match address.style {
            BucketStyle::Path => format!("{endpoint}/{}/{}", address.bucket, address.prefix),
            BucketStyle::Virtual => format!("{endpoint}/{}", address.prefix),
        }
    }

    #[test]
    fn a_url_names_the_bucket_and_how_it_is_asked() {
        for (url, expected) in [
            ("s3://cells", "https://cells.s3.us-east-1.amazonaws.com/"),
            ("s3://cells?region=eu-west-1", "https://cells.s3.eu-west-1.amazonaws.com/"),
            ("s3://cells.example/a", "https://s3.us-east-1.amazonaws.com/cells.example/a/"),
            ("s3://cells/a/b/?style=path", "https://s3.us-east-1.amazonaws.com/cells/a/b/"),
            ("s3://cells/a?endpoint=https://s3.example:9000", "https://s3.example:9000/cells/a/"),
            ("s3://cells/a?endpoint=https://s3.example:9000/&style=virtual", "https://cells.s3.example:9000/a/"),
            ("s3://cells?endpoint=https://s3.example/storage/v1", "https://s3.example/storage/v1/cells/"),
            ("s3://cells?endpoint=http://127.0.0.1:8333", "http://127.0.0.1:8333/cells/"),
            ("s3://cells?endpoint=http://[::1]:8333", "http://[::1]:8333/cells/"),
            ("s3://cells?endpoint=http%3A%2F%2Flocalhost", "http://localhost/cells/"),
            ("s3://cells?endpoint=http://store:8333&allow_http=true", "http://store:8333/cells/"),
        ] {
            assert_eq!(place(url, environment), expected, "{url}");
        }
    }

    #[test]
    fn a_url_is_before_the_environment() {
        let with = |name: &'static str, value: &'static str| {
            move |asked: &str| if asked == name { Some(value.to_owned()) } else { environment(asked) }
        };
        let region = with("AWS_DEFAULT_REGION", "eu-west-2");
        assert_eq!(place("s3://cells", region), "https://cells.s3.eu-west-2.amazonaws.com/");
        assert_eq!(place("s3://cells?region=eu-west-1", region), "https://cells.s3.eu-west-1.amazonaws.com/");
        let endpoint = with("AWS_ENDPOINT_URL", "https://store.example");
        assert_eq!(place("s3://cells", endpoint), "https://store.example/cells/");
        assert_eq!(place("s3://cells?endpoint=https://other.example", endpoint), "https://other.example/cells/");
        let foreign = with("AWS_ENDPOINT_URL_S3", "http://store.example");
        assert_eq!(error("s3://cells", foreign).code(), ErrorCode::RequestInvalid);
    }

    #[test]
    fn a_url_that_cannot_be_right_is_refused() {
        for (url, reason) in [
            ("http://cells", "it does not start with `s3://`"),
            ("s3://", "it names no bucket"),
            ("s3:///a", "it names no bucket"),
            ("s3://ab", "its bucket is not a name of 3 to 63 letters, digits, `-`, `_` and `.`"),
            ("s3://cells:80", "its bucket is not a name of 3 to 63 letters, digits, `-`, `_` and `.`"),
            ("s3://cells?part=1", "it has the parameter `part`, which is unknown"),
            ("s3://cells?style=a", "`style` is neither `path` nor `virtual`"),
            ("s3://cells?region=EU", "its region has characters other than `a` to `z`, `0` to `9` and `-`"),
            ("s3://cells?region=a&region=b", "it has the parameter `region` twice"),
            ("s3://cells#a", "it has a fragment (`#`)"),
            ("s3://cells?allow_http=1", "`allow_http` is neither `true` nor `false`"),
            ("s3://cells?endpoint=s3.example", "its endpoint is not a URL such as `https://s3.example.com`"),
            ("s3://cells?endpoint=ftp://s3.example", "its endpoint is not a URL such as `https://s3.example.com`"),
            (
                "s3://cells?endpoint=https://10.0.0.1&style=virtual",
                "`style=virtual` needs a host with a name, and a bucket without dots",
            ),
        ] {
            let error = error(url, environment);
            assert_eq!(error.to_string(), format!("the URL of the object store is invalid: {reason}"), "{url}");
            assert_eq!(error.code(), ErrorCode::RequestInvalid);
        }
        for url in ["s3://cells/a//b", "s3://cells/a%20b", "s3://cells/a@b"] {
            assert!(error(url, environment).to_string().contains("its prefix"), "{url}");
        }
        for host in ["10.0.0.1", "store", "s3.example", "localhost.example", "127.0.0.1.example", "[2001:db8::1]"] {
            let error = error(&format!("s3://cells?endpoint=http://{host}:8333"), environment);
            assert!(error.to_string().contains("reached over HTTP"), "{error}");
        }
    }

    #[test]
    fn no_error_contains_a_credential() {
        let encoded = SECRET.replace('/', "%2F").replace('+', "%2B");
        for url in [
            format!("s3://{KEY}:{encoded}@cells"),
            format!("s3://{KEY}@cells"),
            format!("s3://{KEY}:{SECRET}@cells"),
            format!("s3://cells/{KEY}:{SECRET}"),
            format!("s3://cells?access_key_id={KEY}&secret={encoded}"),
            format!("s3://cells?X-Amz-Credential={KEY}"),
            format!("s3://cells?{KEY}={encoded}"),
            format!("s3://cells?{encoded}"),
            format!("s3://cells?endpoint=https://{KEY}:{encoded}@s3.example"),
            format!("s3://cells?endpoint={encoded}"),
            format!("s3://cells?region={encoded}"),
            format!("s3://cells?style={encoded}"),
            format!("s3://cells#{encoded}"),
        ] {
            let text = format!("{0} {0:?}", error(&url, environment));
            for part in [KEY, "wJalr", "K7MDENG", "EXAMPLEKEY"] {
                assert!(!text.contains(part), "{url}: {text}");
            }
        }
    }

    #[test]
    fn credentials_come_from_the_environment_alone() {
        let only = |pairs: &'static [(&str, &str)]| {
            move |asked: &str| pairs.iter().find(|(name, _)| *name == asked).map(|(_, value)| (*value).to_owned())
        };
        for (pairs, reason) in [
            (&[][..], "there are no credentials in the environment"),
            (&[("AWS_ACCESS_KEY_ID", "a")], "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is missing"),
            (&[("AWS_ROLE_ARN", "a")], "there are no credentials in the environment"),
        ] {
            let error = error("s3://cells", only(pairs));
            assert_eq!(error.to_string(), format!("the object store cannot be used: {reason}"));
            assert_eq!(error.code(), ErrorCode::SharedInvalid);
        }
        for (pairs, count) in [
            (
                &[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_SESSION_TOKEN", "c")]
                    as &[(&str, &str)],
                3,
            ),
            (&[("AWS_WEB_IDENTITY_TOKEN_FILE", "/a"), ("AWS_ROLE_ARN", "b")], 2),
            (&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/a")], 1),
            (
                &[
                    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/a"),
                    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/b"),
                ],
                2,
            ),
        ] {
            let found = Address::parse("s3://cells", |name| only_pairs(pairs, name)).unwrap();
            assert_eq!(found.credentials.0.len(), count, "{pairs:?}");
        }
    }

    fn only_pairs(pairs: &[(&str, &str)], asked: &str) -> Option<String> {
        pairs.iter().find(|(name, _)| *name == asked).map(|(_, value)| (*value).to_owned())
    }
}
