//! MCP servers, and how Toolcell authenticates to them.

use std::path::Path;

use super::policy;
use crate::{Layer, OAuth, OAuthClient, OAuthGrant, PolicyFile, ServerAuth, ServerTransport};

fn auth(text: &str) -> Option<ServerAuth> {
    let policy = policy(&format!("[servers.s]\nurl = \"https://mcp.example/mcp\"\nauth = {text}"), "");
    match &policy.servers()[0].transport {
        ServerTransport::Http { auth, .. } => auth.clone(),
        ServerTransport::Command { .. } => None,
    }
}

#[test]
fn a_server_is_reached_with_tokens_of_an_authorization_server() {
    let secret = |name: &str| toolcell_tool::SecretName::parse(name).unwrap();
    assert_eq!(auth("{ bearer = \"{{secret:KEY}}\" }"), Some(ServerAuth::Bearer(secret("KEY"))));
    let code = |client, redirect_port| OAuthGrant::AuthorizationCode { client, redirect_port };
    let oauth = |grant, issuer: Option<&str>, scopes: &[&str]| {
        let scopes = scopes.iter().map(ToString::to_string).collect();
        Some(ServerAuth::OAuth(OAuth { grant, issuer: issuer.map(str::to_owned), scopes }))
    };
    assert_eq!(auth("{ oauth = {} }"), oauth(code(None, None), None, &[]));
    let public = OAuthClient { id: "app".to_owned(), secret: None };
    let expect = oauth(code(Some(public), Some(8_123)), None, &["read:issues", "write"]);
    assert_eq!(
        auth("{ oauth = { client_id = \"app\", redirect_port = 8123, scopes = [\"read:issues\", \"write\"] } }"),
        expect
    );
    let whole = "client_id = \"app\", client_secret = \"{{secret:APP}}\", issuer = \"https://auth.example/\"";
    let confidential = OAuthClient { id: "app".to_owned(), secret: Some(secret("APP")) };
    let expect = oauth(code(Some(confidential), None), Some("https://auth.example/"), &[]);
    assert_eq!(auth(&format!("{{ oauth = {{ {whole} }} }}")), expect);
    let robot = OAuthGrant::ClientCredentials { id: "app".to_owned(), secret: secret("APP") };
    let found = auth(&format!("{{ oauth = {{ grant_type = \"client_credentials\", {whole} }} }}"));
    assert_eq!(found, oauth(robot, Some("https://auth.example/"), &[]));
    assert_eq!(found.unwrap().secret(), Some(&secret("APP")));
}

#[test]
fn what_would_not_work_or_not_be_safe_is_refused() {
    let refused = |text: &str, expect: &str| {
        let file = PolicyFile::parse(Layer::User, &format!("[servers.s]\n{text}"), Path::new("user.toml"));
        let error = file.unwrap_err().to_string();
        assert!(error.contains(expect), "{text}: {error}");
        assert!(!error.contains("sk-12345678"), "{error}");
    };
    let oauth = |text: &str, expect: &str| {
        refused(&format!("url = \"https://mcp.example/\"\nauth = {{ oauth = {{ {text} }} }}"), expect);
    };
    let both = "url = \"https://x.example/\"\nauth = { bearer = \"{{secret:A}}\", oauth = {} }";
    refused(both, "`auth` has either a `bearer` or `oauth`");
    refused("url = \"https://x.example/\"\nauth = {}", "`servers.s.auth` needs a `bearer` or a `oauth`");
    refused("url = \"https://x.example/\"\nauth = { bearer = \"sk-12345678\" }", "is written as `{{secret:NAME}}`");
    refused("url = \"http://x.example/\"\nauth = { oauth = {} }", "the token would be sent unencrypted: use `https`");
    refused("command = [\"x\"]\nauth = { oauth = {} }", "only a server with a `url` has `auth`");
    oauth(
        "client_id = \"a\", client_secret = \"sk-12345678\", issuer = \"https://a/\"",
        "is written as `{{secret:NAME}}`",
    );
    oauth("client_id = \"a\", client_secret = \"{{secret:A}}\"", "needs a `client_id`, and the `issuer`");
    oauth("client_secret = \"{{secret:A}}\", issuer = \"https://a/\"", "needs a `client_id`, and the `issuer`");
    oauth("grant_type = \"client_credentials\", client_id = \"a\"", "client credentials are");
    let robot = "grant_type = \"client_credentials\", client_id = \"a\", client_secret = \"{{secret:A}}\", issuer = \"https://a/\"";
    oauth(&format!("{robot}, redirect_port = 1"), "no browser returns to Toolcell");
    oauth("grant_type = \"password\"", "grant_type");
    oauth("client_id = \"\"", "1 to 512 visible ASCII characters");
    oauth("client_id = \"a b\"", "1 to 512 visible ASCII characters");
    oauth("redirect_port = 0", "1 to 65535");
    oauth("scopes = [\"a b\"]", "`a b` is not a scope");
    oauth("scopes = [\"a\\\"\"]", "is not a scope");
    let many = format!("scopes = [{}]", "\"a\",".repeat(65));
    oauth(&many, "there are 65 scopes, the limit is 64");
    for issuer in
        ["http://auth.example", "javascript:alert(1)", "https://a.example/?x", "https://a.example/#x", "auth.example"]
    {
        oauth(&format!("issuer = \"{issuer}\""), "is not the URL of an authorization server");
    }
}
