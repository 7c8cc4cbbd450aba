//! Secrets that are recognised by name: a random-looking value assigned to `apiKey` or `password`.
//!
//! The name is that of a variable, property, parameter or function, or a text next to the secret:
//! `set("token", …)`.

use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrayLit, AssignPat, AssignPatProp, BinExpr, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, MemberExpr,
    PrivateProp,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::msgid;

use super::{char_class_count, entropy, has_variety, is_placeholder};
use crate::rules::RuleContext;
use crate::semantics::bindings::Bindings;
use crate::semantics::value::Key;
use crate::syntax::expr::peel_parens;

const RANDOM_VALUE: &str = msgid!("a value that looks random");
const PASSWORD: &str = msgid!("a password");

/// Returns the kind of secret that a value with this name is.
pub(super) fn describe_secret(name: &str, value: &str) -> Option<&'static str> {
    let value = value.trim();
    if value.len() < 8 || value.len() > 400 {
        return None;
    }
    let words = split_words(name);
    let what = classify_name(&words)?;
    // In a header, the secret follows the scheme.
    let value = match value.rsplit_once(' ') {
        Some((scheme, rest)) if words.iter().any(|word| word == "authorization") && !scheme.contains(' ') => rest,
        _ => value,
    };
    if is_placeholder_value(value) {
        return None;
    }
    let kinds = char_class_count(value);
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let hex = value.len() >= 24 && value.chars().all(|letter| letter.is_ascii_hexdigit()) && has_variety(value);
    let mixed = value.len() >= 10 && kinds >= 3 && entropy(value) > 2.9 && digits > 0;
    let long = value.len() >= 20
        && kinds >= 2
        && digits >= 2
        && entropy(value) > 3.5
        && has_variety(value)
        && !has_words(value);
    if hex || mixed && !has_words(value) || long {
        return Some(RANDOM_VALUE);
    }
    (what == NameKind::Password && is_password(value)).then_some(PASSWORD)
}

/// Returns whether a text looks like a real password.
fn is_password(value: &str) -> bool {
    let has = |of: fn(&char) -> bool| value.chars().any(|letter| of(&letter));
    let marks = value.chars().any(|letter| "!@#$%^&*+=?~".contains(letter));
    let cases = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    let digits = has(char::is_ascii_digit);
    value.len() >= 8
        && entropy(value) > 2.4
        && (cases && digits || marks && digits && has(char::is_ascii_lowercase) || cases && marks)
}

/// Returns whether a text is a placeholder, an address, a pattern or a test value.
fn is_placeholder_value(value: &str) -> bool {
    let lower = value.to_lowercase();
    is_placeholder(value)
        || value.contains(char::is_whitespace)
        || value.contains(['(', ')', '{', '}', '<', '>', '|'])
        || value.contains("://")
        || value.starts_with(['/', '.', '#', '['])
        || [
            "test", "fake", "mock", "password", "passwort", "my-", "my_", "api-key", "api_key", "apikey", "secret",
            "demo", "none",
        ]
        .iter()
        .any(|word| lower.contains(word))
        || ["123456", "qwerty", "abc123"].iter().any(|word| lower.contains(word)) && value.len() < 16
}

/// Returns whether a text is made of separated words: `auth.token.v2`, `x-api-key-2`,
/// `Bearer-Token1`.
fn has_words(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['-', '_', '.', ':', '/', ',']).collect();
    let word = |part: &&str| {
        let letters = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let small = letters.chars().skip(1).all(|letter| letter.is_ascii_lowercase());
        let vowels = letters.chars().filter(|letter| "aeiouyAEIOUY".contains(*letter)).count();
        part.is_empty()
            || part.len() <= 3 && small
            || small && vowels * 5 >= letters.len() && letters.len() + 2 >= part.len()
    };
    parts.len() >= 2 && parts.iter().all(word)
}

#[derive(PartialEq, Eq)]
enum NameKind {
    Password,
    Key,
}

/// Words that make the name of a secret harmless: `tokenType`, `passwordHash`.
const NON_SECRET_WORDS: [&str; 44] = [
    "type",
    "url",
    "uri",
    "endpoint",
    "path",
    "name",
    "field",
    "label",
    "hint",
    "help",
    "pattern",
    "regex",
    "rule",
    "rules",
    "prefix",
    "header",
    "param",
    "format",
    "hash",
    "digest",
    "error",
    "message",
    "msg",
    "text",
    "title",
    "placeholder",
    "selector",
    "length",
    "expiry",
    "template",
    "kind",
    "algorithm",
    "strength",
    "policy",
    "version",
    "issuer",
    "public",
    "example",
    "mock",
    "fake",
    "dummy",
    "sample",
    "id",
    "checksum",
];

/// Words that make a key a secret one.
const SECRET_KEY_WORDS: [&str; 30] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "master",
    "auth",
    "hmac",
    "service",
    "subscription",
    "account",
    "storage",
    "app",
    "client",
    "session",
    "cipher",
    "aes",
    "jwt",
    "webhook",
    "license",
    "server",
    "admin",
    "deploy",
    "write",
    "ssh",
    "root",
    "shared",
    "crypto",
    "live",
];

/// Returns the kind of secret that the words of a name denote.
fn classify_name(words: &[String]) -> Option<NameKind> {
    if words.iter().any(|word| NON_SECRET_WORDS.contains(&word.as_str())) {
        return None;
    }
    for (index, word) in words.iter().enumerate().rev() {
        let previous = index.checked_sub(1).map_or("", |at| words[at].as_str());
        match word.as_str() {
            "password"
            | "passwords"
            | "passwd"
            | "pwd"
            | "passphrase"
            | "passcode"
            | "passwort"
            | "kennwort"
            | "contraseña"
            | "contrasena"
            | "senha"
            | "clave"
            | "motdepasse"
            | "пароль"
            | "密码"
            | "密碼"
            | "パスワード"
            | "비밀번호"
            | "รหัสผ่าน" => {
                return Some(NameKind::Password);
            }
            "pass" if index + 1 == words.len() => return Some(NameKind::Password),
            "secret" | "secrets" | "token" | "apikey" | "credential" | "credentials" | "jwt" | "authorization"
            | "bearer" | "authkey" | "secretkey" | "accesskey" | "privatekey" | "clientsecret" | "geheimnis"
            | "geheim" | "токен" | "密钥" | "密鑰" | "令牌" | "トークン" | "秘密鍵" | "schlüssel" | "schluessel" =>
            {
                return Some(NameKind::Key);
            }
            "key" if SECRET_KEY_WORDS.contains(&previous) => return Some(NameKind::Key),
            _ => {}
        }
    }
    None
}

/// Returns the words of a name: `apiKey`, `api_key`, `API-KEY` and `APIKey` have two.
fn split_words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = vec![String::new()];
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(index + 1).copied();
        let hump = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || before.is_some_and(char::is_uppercase) && after.is_some_and(char::is_lowercase));
        if !letter.is_alphanumeric() || hump {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Finds secrets whose name stands next to them: in calls, pairs, defaults and comparisons.
pub(super) fn find_adjacent(source: &RuleContext<'_>) -> Vec<(Span, &'static str)> {
    let mut given = AdjacentSecrets { names: source.names, found: Vec::new() };
    source.program.visit_with(&mut given);
    given.found
}

struct AdjacentSecrets<'a> {
    names: &'a Bindings<'a>,
    found: Vec<(Span, &'static str)>,
}

impl AdjacentSecrets<'_> {
    fn text(&self, expr: &Expr) -> Option<Atom> {
        // A name was checked where its value was assigned.
        if matches!(peel_parens(expr), Expr::Ident(_) | Expr::Member(_)) {
            return None;
        }
        self.names.value(expr).into_text()
    }

    /// Returns the name of a member, if it is known.
    fn key(&self, member: &MemberExpr) -> Atom {
        match self.names.key(&member.prop).as_key() {
            Key::Name(name) => name,
            Key::Dynamic => Atom::default(),
        }
    }

    fn check_pair(&mut self, name: &str, value: &Expr) {
        if let Some(text) = self.text(value)
            && let Some(what) = describe_secret(name, &text)
        {
            self.found.push((value.span(), what));
        }
    }

    /// Checks `set("token", "…")` and `["token", "…"]`.
    fn check_named_pair(&mut self, name: &Expr, value: &Expr) {
        if let Some(name) = self.text(name).filter(|name| name.len() < 40) {
            self.check_pair(&name, value);
        }
    }

    fn check_call(&mut self, callee: &Expr, args: &[ExprOrSpread]) {
        if let [name, value, ..] = args {
            self.check_named_pair(&name.expr, &value.expr);
        }
        let callee = match peel_parens(callee) {
            Expr::Ident(name) => name.sym.clone(),
            Expr::Member(member) => self.key(member),
            _ => return,
        };
        match callee.as_str() {
            // User name and password as in RFC 7617.
            "btoa" | "from" | "encode" => {
                if let Some(text) = args.first().and_then(|arg| self.text(&arg.expr))
                    && let Some((user, password)) = text.split_once(':')
                    && !user.is_empty()
                    && user.chars().all(|letter| letter.is_ascii_alphanumeric() || "._@-".contains(letter))
                    && !password.starts_with('/')
                    && describe_secret("password", password).is_some()
                    && let Some(arg) = args.first()
                {
                    self.found.push((arg.expr.span(), msgid!("HTTP basic authentication credentials")));
                }
            }
            "createHmac" | "sign" | "verify" => {
                if let Some(key) = args.get(1) {
                    self.check_pair("secretKey", &key.expr);
                }
            }
            "login" | "signIn" | "authenticate" | "auth" | "connect" | "logIn" => {
                args.iter().skip(1).for_each(|arg| self.check_pair("password", &arg.expr));
            }
            name if matches!(name.get(..3), Some("set" | "use")) || name.starts_with("with") => {
                if let [arg] = args {
                    self.check_pair(name, &arg.expr);
                }
            }
            _ => {}
        }
    }
}

impl Visit for AdjacentSecrets<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            self.check_call(callee, &call.args);
        }
        call.visit_children_with(self);
    }

    fn visit_array_lit(&mut self, list: &ArrayLit) {
        if let [Some(name), Some(value)] = list.elems.as_slice() {
            self.check_named_pair(&name.expr, &value.expr);
        }
        list.visit_children_with(self);
    }

    fn visit_assign_pat(&mut self, assign: &AssignPat) {
        if let Some(name) = assign.left.as_ident() {
            self.check_pair(&name.sym, &assign.right);
        }
        assign.visit_children_with(self);
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        if let Some(value) = &prop.value {
            self.check_pair(&prop.key.sym, value);
        }
        prop.visit_children_with(self);
    }

    fn visit_private_prop(&mut self, prop: &PrivateProp) {
        if let Some(value) = &prop.value {
            self.check_pair(&prop.key.name, value);
        }
        prop.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        // `password === "…"`: the source contains the expected password.
        if matches!(binary.op, BinaryOp::EqEqEq | BinaryOp::EqEq | BinaryOp::NotEqEq | BinaryOp::NotEq) {
            for (name, value) in [(&binary.left, &binary.right), (&binary.right, &binary.left)] {
                let name = match peel_parens(name) {
                    Expr::Ident(name) => name.sym.clone(),
                    Expr::Member(member) => self.key(member),
                    _ => continue,
                };
                self.check_pair(&name, value);
            }
        }
        binary.visit_children_with(self);
    }
}
