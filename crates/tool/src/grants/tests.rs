use proptest::prelude::*;
use serde_json::json;
use toolcell_i18n::Lang;

use super::*;

fn grants(value: Value) -> Grants {
    serde_json::from_value(value).unwrap()
}

#[track_caller]
fn refuses(value: Value, expect: &str) {
    let error = serde_json::from_value::<Grants>(value).unwrap_err().to_string();
    assert_eq!(error, expect);
}

#[test]
fn the_canonical_form_says_also_what_nobody_said() {
    let net = json!({ "host": "Api.Example.com", "scheme": "https", "ports": [443], "methods": ["GET", "HEAD"],
        "path": "/", "addresses": [], "request_bytes": 1_048_576, "response_bytes": 10_485_760, "calls": 100 });
    let expect = json!({ "net": [{ "host": "api.example.com", "scheme": "https", "ports": [443],
        "methods": ["GET", "HEAD"], "path": "/", "addresses": [], "request_bytes": 1_048_576,
        "response_bytes": 10_485_760, "calls": 100 }] });
    assert_eq!(grants(json!({ "net": [net] })).to_value(), expect);
    assert_eq!(grants(json!({ "net": [{ "host": "api.example.com" }] })).to_value(), expect);
    assert_eq!(grants(json!({})).to_value(), json!({}));
    assert_eq!(grants(json!({ "timers": true, "clock": false })).to_value(), json!({ "timers": true }));
    let all = grants(json!({
        "timers": true, "clock": true, "random": true,
        "net": [{ "host": "b" }, { "host": "a", "per_minute": 3 }], "kv": { "space": "notes" },
        "files": [{ "name": "data", "path": "/srv/data" }],
        "secrets": [{ "name": "TOKEN", "hosts": ["b", "a"] }], "tools": ["sum", "avg"],
        "servers": { "github": ["create-issue"] },
    }));
    assert_eq!(grants(all.to_value()), all);
    assert_eq!(all.to_value()["tools"], json!(["avg", "sum"]));
    assert_eq!(all.to_value()["secrets"], json!([{ "name": "TOKEN", "hosts": ["a", "b"], "into": ["header"] }]));
    assert_eq!(all.to_value()["servers"], json!({ "github": ["create_issue"] }));
    assert_eq!(all.capabilities().len(), 9);
    assert_eq!(grants(json!({ "tools": "any" })).to_value(), json!({ "tools": "any" }));
}

#[test]
fn what_many_rules_grant_together_is_no_more_than_a_grant_may_say() {
    let nets = |shift: u16| {
        let ports = |at: u16| (0..32).map(|port| 1 + port).filter(move |port| (port + at * shift) % 5 != at % 5);
        let net = |at: u16| json!({ "host": "any", "ports": ports(at).collect::<Vec<_>>(), "calls": 1 + at });
        grants(json!({ "net": (0..32).map(net).collect::<Vec<_>>() }))
    };
    let met = (2..40).fold(nets(1), |met, shift| met.intersect(&nets(shift)));
    assert!((1..=INTERSECTION_LIMIT).contains(&met.net.len()), "{}", met.net.len());
    assert_eq!(met.intersect(&met), met);
    let named = (0..20_000).map(|at| format!("h{at}.example")).collect();
    let any = grants(json!({ "net": [{ "host": "any" }] }));
    assert_eq!(any.restrict_to(Capability::Net, &named).net.len(), INTERSECTION_LIMIT);
    let hosts: Vec<String> = (0..65).map(|at| format!("h{at}.example")).collect();
    refuses(
        json!({ "secrets": [{ "name": "T", "hosts": hosts }] }),
        "`T` is not a valid secret grant: it has 65 hosts, the limit is 64",
    );
    let ranges: Vec<String> = (0..65).map(|at| format!("10.0.{at}.0/24")).collect();
    refuses(
        json!({ "net": [{ "host": "a.example", "addresses": ranges }] }),
        "`a.example` is not a valid host for private addresses: it has 65 address ranges, the limit is 64",
    );
}

#[test]
fn the_same_is_read_from_toml() {
    let text =
        "timers = true\ntools = \"any\"\n[kv]\nspace = \"notes\"\n[[net]]\nhost = \"a.example\"\nports = [443]\n";
    let read: Grants = toml::from_str(text).unwrap();
    let net = json!([{ "host": "a.example" }]);
    assert_eq!(read, grants(json!({ "timers": true, "tools": "any", "kv": { "space": "notes" }, "net": net })));
}

#[test]
fn what_cannot_be_is_named_with_what_can() {
    refuses(
        json!({ "timer": true }),
        "unknown field `timer`, expected one of `timers`, `clock`, `random`, `net`, `kv`, `files`, `secrets`, `tools`, `servers`",
    );
    let net = |more: Value| {
        let mut net = json!({ "host": "a.example" });
        net.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "net": [net] })
    };
    refuses(net(json!({ "host": "*" })), "`*` is not a valid host: to grant every host, write `any`");
    refuses(net(json!({ "ports": [0] })), "`0` is not a valid port: at least one port is required, each 1 to 65535");
    refuses(net(json!({ "path": "v1" })), "`v1` is not a valid URL path: it must begin with `/`");
    refuses(
        net(json!({ "methods": ["get"] })),
        "unknown variant `get`, expected one of `GET`, `HEAD`, `OPTIONS`, `POST`, `PUT`, `PATCH`, `DELETE`",
    );
    refuses(
        net(json!({ "host": "any", "addresses": ["10.0.0.0/8"] })),
        "`any` is not a valid host for private addresses: private addresses \
         can only be granted to named hosts: name them instead of `any`",
    );
    refuses(
        net(json!({ "addresses": ["10.0.0.1/8"] })),
        "`10.0.0.1/8` is not a valid address range: it has host bits set; write `10.0.0.0/8`",
    );
    refuses(
        net(json!({ "addresses": ["0.0.0.0/0"] })),
        "`0.0.0.0/0` is not a valid private address range: it covers all addresses",
    );
    refuses(net(json!({ "calls": 0 })), "`0` is not a valid number of calls: it must be 1 to 4294967295");
    refuses(
        json!({ "secrets": [{ "name": "T", "hosts": [] }] }),
        "`T` is not a valid secret grant: it has no host; name the hosts to which the secret may be sent",
    );
    refuses(
        json!({ "files": [{ "name": "all", "path": "/" }] }),
        "`/` is not a valid folder: it is the whole file system; name the folder that the tool needs",
    );
    let twice = json!([{ "name": "d", "path": "/a" }, { "name": "d", "path": "/b" }]);
    refuses(json!({ "files": twice }), "`d` is not a valid folder name: two folders have it");
    refuses(
        json!({ "tools": ["any"] }),
        "`any` is not a valid tool name here: to grant all tools, write `\"any\"` without a list",
    );
    refuses(json!({ "tools": "all" }), "`all` is not a valid tools grant: write a list of names, or `any`");
}

#[test]
fn a_host_is_a_name_an_address_or_a_word() {
    let check = |text: &str, expect: &str| {
        let actual = HostPattern::parse(text).map_or_else(|error| error.to_string(), |host| host.to_string());
        assert_eq!(actual, expect, "{text}");
    };
    for sound in
        ["api.example.com", "*.example.com", "localhost", "*.internal", "any", "127.0.0.1", "[::1]", "_x.example"]
    {
        check(sound, sound);
    }
    check("API.Example.COM.", "api.example.com");
    check("::1", "[::1]");
    check("[::ffff:10.0.0.1]", "10.0.0.1");
    let wrong = |text: &str, why: &str| check(text, &format!("`{text}` is not a valid host: {why}"));
    for all in ["*", "*.", "*.*", "."] {
        wrong(all, "to grant every host, write `any`");
    }
    wrong("*.com", "it covers a whole top-level domain; name at least two labels, or write `any`");
    wrong("a.*.com", "a `*` may only stand for leading labels, as in `*.example.com`");
    wrong("a*.example.com", "a `*` may only stand for leading labels, as in `*.example.com`");
    wrong("https://a.example", "it is a URL; write only the host, with `scheme`, `ports` and `path` as separate keys");
    wrong("a.example:80", "write only the host, with `ports` as a separate key");
    wrong("münchen.example", "write an internationalized name in its `xn--` form");
    for address in ["127.1", "0x7f.1", "2130706433", "1.2.3.0x4", "010.0.0.1"] {
        wrong(address, "it reads as an address; write all four numbers in decimal");
    }
    for odd in ["a..b", "-a.example", "a b", "a.example-"] {
        wrong(odd, "labels have 1 to 63 letters, digits, `-` and `_`, separated by dots");
    }
}

#[test]
fn a_prefix_does_not_cover_what_leads_out_of_it() {
    let below = PathPrefix::parse("/public").unwrap();
    for inside in ["/public", "/public/", "/public/x/y", "/public//x", "/public/a.b"] {
        assert!(below.covers(inside), "{inside}");
    }
    for outside in [
        "/publicity",
        "/",
        "public",
        "/public/../admin",
        "/public/%2e%2e/admin",
        "/public/.%2E/admin",
        "/public/..;/admin",
        "/public/..%2fadmin",
        "/public/%252e%252e/admin",
        "/public/%25252fadmin",
        "/public/..%5cadmin",
        "/public/..\\admin",
    ] {
        assert!(!below.covers(outside), "{outside}");
    }
    assert!(PathPrefix::default().covers("/a/../b"));
    for wrong in ["", "v1", "/a?b", "/a#b", "/*", "/a b", "/a/..", "/%2e%2e", "/ä"] {
        assert!(PathPrefix::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_granted_is_one_line_for_a_person() {
    let all = grants(json!({
        "timers": true,
        "net": [
            { "host": "b.example", "scheme": "http", "ports": [8080, 80], "path": "/v1", "methods": ["POST"], "calls": 5 },
            { "host": "a.example", "addresses": ["10.0.0.7"] },
        ],
        "kv": { "space": "notes" },
        "files": [{ "name": "data", "path": "/srv/da\u{1b}ta", "access": "write", "bytes": 5 }],
        "secrets": [{ "name": "TOKEN", "hosts": ["a.example"], "into": ["query", "header"] }],
        "tools": ["sum"],
    }));
    assert_eq!(
        all.to_string(),
        "net (GET, HEAD https://a.example at 10.0.0.7/32; POST http://b.example:80,8080/v1, at most 5 requests per \
         run), \
         timers, kv (write space notes, at most 1048576 bytes in 1000 keys, 65536 per value), \
         files (write data at /srv/da\\u{1b}ta, at most 5 bytes written), secrets (TOKEN in header, query to \
         a.example), \
         tools (sum)"
    );
    assert_eq!(Grants::default().to_string(), "nothing");
}

#[test]
fn what_is_granted_is_shown_in_the_language_of_the_person() {
    let all = grants(json!({
        "timers": true,
        "net": [{ "host": "a.example", "addresses": ["10.0.0.7"], "calls": 5 }, { "host": "b.example" }],
        "files": [{ "name": "data", "path": "/srv/data", "access": "write", "bytes": 5 }],
        "secrets": [{ "name": "TOKEN", "hosts": ["a.example"] }],
        "tools": ["avg", "sum"],
    }));
    let shown = all.localize();
    assert_eq!(
        shown.to_text(Lang::Ja),
        "net（GET, HEAD https://a.example（アドレス: 10.0.0.7/32）、1 回の実行につき最大 5 リクエスト; \
         GET, HEAD https://b.example）、timers、files（/srv/data を data として読み書き、書き込みは最大 5 バイト）、\
         secrets（a.example へのリクエストの header で TOKEN）、tools（avg、sum）"
    );
    assert_eq!(
        shown.to_text(Lang::Zh),
        "net（GET, HEAD https://a.example（地址：10.0.0.7/32）、每次运行最多 5 个请求；\
         GET, HEAD https://b.example）、timers、files（以 data 为名读写 /srv/data、最多写入 5 字节）、\
         secrets（在发往 a.example 的请求的 header 中使用 TOKEN）、tools（avg、sum）"
    );
    let nothing = Grants::default().localize();
    assert_eq!((nothing.to_text(Lang::Ja), nothing.to_text(Lang::Zh)), ("なし".to_owned(), "无".to_owned()));
}

#[test]
fn an_invalid_grant_is_explained_in_the_language_of_the_person() {
    let error = HostPattern::parse("*").unwrap_err().localize();
    assert_eq!(
        error.to_text(Lang::Ja),
        "`*` はホストとして正しくありません: すべてのホストを許可するには `any` と書いてください"
    );
    assert_eq!(error.to_text(Lang::Zh), "`*` 不是有效的主机：如需授予所有主机，请写 `any`");
}

#[test]
fn a_tool_gets_no_more_than_it_names() {
    let all = grants(json!({
        "net": [{ "host": "*.example.com", "ports": [443, 8443] }, { "host": "other.example" }],
        "kv": { "space": "notes" }, "files": [{ "name": "a", "path": "/a" }, { "name": "b", "path": "/b" }],
        "secrets": [{ "name": "T", "hosts": ["any"] }], "tools": "any", "timers": true,
    }));
    let check = |capability, named: &[&str], expect: &str| {
        let named = named.iter().map(ToString::to_string).collect();
        assert_eq!(all.restrict_to(capability, &named).to_string(), expect);
    };
    check(Capability::Net, &["api.example.com"], "net (GET, HEAD https://api.example.com:443,8443)");
    check(Capability::Net, &["api.example.com:8443"], "net (GET, HEAD https://api.example.com:8443)");
    check(Capability::Net, &["third.example", "api.example.com:80", "not a host"], "nothing");
    check(Capability::Net, &["any"], &all.for_capability(Capability::Net).to_string());
    check(Capability::Files, &["b"], "files (read b at /b)");
    check(Capability::Kv, &["others"], "nothing");
    check(Capability::Secrets, &["T", "U"], "secrets (T in header to any)");
    check(Capability::Tools, &["sum"], "tools (sum)");
    check(Capability::Timers, &[], "timers");
}

#[test]
fn folders_intersect_only_if_they_are_the_same_folder() {
    let folder = |path: &str, access: &str| json!({ "files": [{ "name": "d", "path": path, "access": access }] });
    let wide = grants(folder("/srv", "write"));
    assert_eq!(wide.intersect(&grants(folder("/srv", "read"))), grants(folder("/srv", "read")));
    // A subfolder may be a symlink that leads elsewhere.
    assert!(wide.intersect(&grants(folder("/srv/below", "read"))).is_empty());
    let names = |names: Value| grants(json!({ "tools": names }));
    assert_eq!(names(json!(["Sum-Up", "b"])).intersect(&names(json!(["sum_up"]))), names(json!(["Sum-Up"])));
    assert_eq!(names(json!(["sum_up"])).intersect(&names(json!(["Sum-Up", "b"]))), names(json!(["Sum-Up"])));
}

fn any_net() -> impl Strategy<Value = NetGrant> {
    let hosts = ["a.b.test", "*.b.test", "b.test", "*.test", "any", "10.0.0.1", "[::1]"];
    let host = proptest::sample::select(hosts.to_vec()).prop_map(|host| HostPattern::parse(host).unwrap());
    let scheme = prop_oneof![Just(Scheme::Https), Just(Scheme::Http)];
    let ports = proptest::collection::btree_set(prop_oneof![Just(80_u16), Just(443), Just(8443)], 1..3);
    let methods = proptest::sample::subsequence(Method::ALL.to_vec(), 1..4);
    let path = proptest::sample::select(vec!["/", "/v1", "/v1/", "/v1/x", "/v2"]);
    let ranges = proptest::sample::subsequence(vec!["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "fd00::/8"], 0..3);
    let caps = (0..3_u64, 0..3_u64, 1..4_u32, proptest::option::of(1..3_u32));
    (host, scheme, ports, methods, path, ranges, caps).prop_map(|(host, scheme, ports, methods, path, ranges, caps)| {
        let ranges = ranges.into_iter().filter(|_| host != HostPattern::Any);
        let grant = NetGrant {
            ports,
            methods: methods.into_iter().collect(),
            path: PathPrefix::parse(path).unwrap(),
            addresses: ranges.map(|range| parse_address_range(range).unwrap()).collect(),
            request_bytes: caps.0,
            response_bytes: caps.1,
            calls: caps.2,
            per_minute: caps.3.and_then(std::num::NonZeroU32::new),
            ..NetGrant::new(host, scheme)
        };
        grant.validate().unwrap()
    })
}

fn any_grants() -> impl Strategy<Value = Grants> {
    proptest::collection::vec(any_net(), 0..4).prop_map(|net| Grants { net, ..Grants::default() }.canonicalize())
}

/// A request with everything that decides whether it is permitted: destination, usage so far, and
/// the private address that the host resolves to.
type RequestProbe = (&'static str, Scheme, u16, Method, &'static str, (u64, u64, u32, u32), Option<&'static str>);

fn any_request_probe() -> impl Strategy<Value = RequestProbe> {
    let hosts = vec!["a.b.test", "x.a.b.test", "b.test", "c.test", "test", "10.0.0.1", "::1", "A.B.test."];
    let paths = vec!["/", "/v1", "/v1/", "/v1/x", "/v10", "/v1/x/y", "/v1/../v2", "/v2"];
    let addresses = vec!["10.0.0.9", "10.1.0.9", "10.1.2.3", "fd00::1", "192.168.0.1"];
    (
        proptest::sample::select(hosts),
        prop_oneof![Just(Scheme::Https), Just(Scheme::Http)],
        prop_oneof![Just(80_u16), Just(443), Just(8443)],
        proptest::sample::select(Method::ALL.to_vec()),
        proptest::sample::select(paths),
        (0..3_u64, 0..3_u64, 0..4_u32, 0..3_u32),
        proptest::option::of(proptest::sample::select(addresses)),
    )
}

/// Returns whether one of the grants permits a request, given the usage so far.
fn permits(grants: &Grants, taken: &RequestProbe) -> bool {
    let (host, scheme, port, method, path, (up, down, calls, minute), private) = *taken;
    grants.net.iter().any(|grant| {
        grant.allows(&NetRequest { scheme, host, port, method, path })
            && up <= grant.request_bytes
            && down <= grant.response_bytes
            && calls < grant.calls
            && grant.per_minute.is_none_or(|most| minute < most.get())
            && private.is_none_or(|at| {
                grant.addresses.iter().any(|range| range.contains(&at.parse::<std::net::IpAddr>().unwrap()))
            })
    })
}

proptest! {
    #[test]
    fn the_meet_permits_what_both_permit_and_nothing_else(
        one in any_grants(), two in any_grants(), taken in proptest::collection::vec(any_request_probe(), 64),
    ) {
        let both = one.intersect(&two);
        for taken in &taken {
            prop_assert_eq!(permits(&both, taken), permits(&one, taken) && permits(&two, taken), "{:?}", taken);
        }
        prop_assert_eq!(&both, &two.intersect(&one));
        prop_assert!(both.is_subset_of(&one) && both.is_subset_of(&two));
        prop_assert_eq!(one.intersect(&one), one.clone());
        let read: Grants = serde_json::from_value(both.to_value()).unwrap();
        prop_assert_eq!(read, both);
    }
}
