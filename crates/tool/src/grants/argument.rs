//! Grants as a user writes them on a command line: `net=api.example.com`, `timers`, `kv=notes`.
//!
//! Invariant: an argument grants nothing that it does not name, and no more than the line of a policy
//! with the same names would, except for the methods: a host that is named on a command line may be
//! sent requests of all methods.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use ipnet::IpNet;
use toolcell_i18n::{Message, message};

use super::{
    Access, CallableTools, Endpoint, FilesGrant, FolderName, GrantError, Grants, HostPattern, KvGrant, Method,
    NetGrant, Scheme, SecretGrant, SecretName, ServerName, ServerTools, ServersGrant, SpaceName,
};
use crate::{Capability, ToolName};

impl Grants {
    /// Parses the grant of one capability, as a user writes it:
    ///
    /// | argument | what it grants |
    /// |---|---|
    /// | `timers`, `clock`, `random` | the capability |
    /// | `net=HOST`, `net=HOST:PORT` | HTTPS requests to a host, `*.` and a name, or `any`; HTTP as well if the host is `localhost` or an address |
    /// | `net=http://HOST:PORT` | HTTP requests |
    /// | `kv=SPACE` | a key-value space |
    /// | `files=NAME:PATH`, `files=NAME:PATH:write` | a folder, for reading or also for writing, relative to `folder` |
    /// | `secrets=NAME@HOST` | a secret, in headers of requests to a host |
    /// | `tools=NAME`, `tools=any` | calls of stored tools |
    /// | `servers=NAME.TOOL`, `servers=NAME` | calls of one tool, or of all tools, of an MCP server |
    /// | `servers=NAME:reading` | calls of the tools that the server marks as reading, if the policy believes it |
    ///
    /// # Errors
    /// `grant-invalid`: the capability is unknown, or its resource is missing, superfluous or
    /// invalid.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    ///
    /// use toolcell_tool::Grants;
    ///
    /// let here = Path::new("/srv");
    /// assert!(Grants::parse_argument("timers", here)?.timers);
    /// assert_eq!(Grants::parse_argument("net=api.example.com:8443", here)?.net[0].ports, [8443].into());
    /// assert_eq!(Grants::parse_argument("files=in:data", here)?.files[0].path, Path::new("/srv/data"));
    /// assert_eq!(Grants::parse_argument("net", here).unwrap_err().code(), "grant-invalid");
    /// # Ok::<(), toolcell_tool::GrantError>(())
    /// ```
    pub fn parse_argument(text: &str, folder: &Path) -> Result<Self, GrantError> {
        let (name, resource) = text.split_once('=').map_or((text, None), |(name, resource)| (name, Some(resource)));
        let wrong = |why: Message| GrantError::new(message!("grant"), text, why);
        let Some(capability) = Capability::from_name(name) else {
            let known = Capability::ALL.map(Capability::name).join(", ");
            return Err(wrong(message!("the capabilities are {known}", known)));
        };
        let none = Self::default;
        match (capability, resource.filter(|resource| !resource.is_empty())) {
            (Capability::Timers, None) => Ok(Self { timers: true, ..none() }),
            (Capability::Clock, None) => Ok(Self { clock: true, ..none() }),
            (Capability::Random, None) => Ok(Self { random: true, ..none() }),
            (Capability::Timers | Capability::Clock | Capability::Random, Some(_)) => {
                Err(wrong(message!("write only `{name}`", name)))
            }
            (Capability::Net, Some(host)) => Ok(Self { net: parse_net(host)?, ..none() }),
            (Capability::Kv, Some(space)) => {
                Ok(Self { kv: Some(KvGrant::new(SpaceName::parse(space)?).validate()?), ..none() })
            }
            (Capability::Files, Some(resource)) => {
                let Some((folder_name, path)) = resource.split_once(':') else {
                    return Err(wrong(message!("write `files=NAME:PATH`, or `files=NAME:PATH:write`")));
                };
                let (path, access) =
                    path.strip_suffix(":write").map_or((path, Access::Read), |path| (path, Access::Write));
                let grant =
                    FilesGrant { access, ..FilesGrant::new(FolderName::parse(folder_name)?, folder.join(path)) };
                Ok(Self { files: vec![grant.validate()?], ..none() })
            }
            (Capability::Secrets, Some(resource)) => {
                let Some((secret, host)) = resource.split_once('@') else {
                    return Err(wrong(message!("write `secrets=NAME@HOST`")));
                };
                let grant = SecretGrant::new(SecretName::parse(secret)?, vec![HostPattern::parse(host)?]);
                Ok(Self { secrets: vec![grant.validate()?], ..none() })
            }
            (Capability::Tools, Some("any")) => Ok(Self { tools: CallableTools::Any, ..none() }),
            (Capability::Tools, Some(names)) => {
                let names = names.split(',').map(CallableTools::parse_name);
                let names: BTreeSet<ToolName> = names.collect::<Result<_, _>>()?;
                Ok(Self { tools: CallableTools::from_names(names), ..none() })
            }
            (Capability::Servers, Some(parts)) => {
                let mut servers = ServersGrant::default();
                for part in parts.split(',') {
                    match part.strip_suffix(":reading") {
                        Some(server) => servers.add(ServerName::parse(server)?, ServerTools::READING),
                        None => servers.extend(ServersGrant::parse_part(part)?),
                    }
                }
                Ok(Self { servers, ..none() })
            }
            (Capability::Servers, None) => {
                Err(wrong(message!("name the server and the tool: `servers=github.create_issue`, or `servers=github`")))
            }
            (Capability::Net, None) => Err(wrong(message!("name the host: `net=api.example.com`"))),
            (Capability::Kv, None) => Err(wrong(message!("name the space: `kv=notes`"))),
            (Capability::Files, None) => Err(wrong(message!("name the folder: `files=data:./data`"))),
            (Capability::Secrets, None) => Err(wrong(message!(
                "name the secret and the host that may get it: `secrets=API_TOKEN@api.example.com`"
            ))),
            (Capability::Tools, None) => Err(wrong(message!("name the tools: `tools=word_count`, or `tools=any`"))),
        }
    }

    /// Adds other grants: those of a capability that takes a list are put together, any other one is
    /// replaced.
    pub fn extend(&mut self, other: Self) {
        let Self { timers, clock, random, net, kv, files, secrets, tools, servers } = other;
        self.servers.extend(servers);
        self.timers |= timers;
        self.clock |= clock;
        self.random |= random;
        self.net.extend(net);
        self.files.extend(files);
        self.secrets.extend(secrets);
        self.kv = kv.or_else(|| self.kv.take());
        self.tools = match (std::mem::take(&mut self.tools), tools) {
            (CallableTools::Any, _) | (_, CallableTools::Any) => CallableTools::Any,
            (CallableTools::Named(own), CallableTools::Named(other)) => {
                CallableTools::from_names(own.into_iter().chain(other))
            }
        };
    }
}

/// Parses a host with an optional scheme and port.
fn parse_net(text: &str) -> Result<Vec<NetGrant>, GrantError> {
    let schemes = [("https://", Scheme::Https), ("http://", Scheme::Http)];
    let with_scheme = schemes.into_iter().find_map(|(prefix, scheme)| Some((text.strip_prefix(prefix)?, scheme)));
    let Endpoint { host, port } = Endpoint::parse(with_scheme.map_or(text, |(rest, _)| rest))?;
    let addresses = private_addresses(&host);
    let schemes: &[Scheme] = match with_scheme {
        Some((_, Scheme::Https)) => &[Scheme::Https],
        Some((_, Scheme::Http)) => &[Scheme::Http],
        // Services on the own machine and in the own network rarely have certificates.
        None if addresses.is_empty() => &[Scheme::Https],
        None => &[Scheme::Https, Scheme::Http],
    };
    let grants = schemes.iter().map(|scheme| {
        NetGrant {
            ports: [port.unwrap_or(scheme.default_port())].into(),
            methods: Method::ALL.into(),
            addresses: addresses.clone(),
            ..NetGrant::new(host.clone(), *scheme)
        }
        .validate()
    });
    grants.collect()
}

/// The private addresses that a host stands for by its name alone.
fn private_addresses(host: &HostPattern) -> BTreeSet<IpNet> {
    match host {
        HostPattern::Address(address) => [IpNet::from(*address)].into(),
        HostPattern::Name(domain) if domain.as_str() == "localhost" => {
            [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])].map(IpNet::from).into()
        }
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Grants, GrantError> {
        Grants::parse_argument(text, Path::new("/here"))
    }

    #[test]
    fn an_argument_grants_what_it_names() {
        let net = |text: &str| parse(text).unwrap().net;
        let [public] = net("net=api.example.com").try_into().unwrap();
        assert_eq!((public.scheme, public.ports, public.addresses.len()), (Scheme::Https, [443].into(), 0));
        assert!(public.methods.contains(&Method::Post));
        let [https, http] = net("net=127.0.0.1:8765").try_into().unwrap();
        assert_eq!((https.scheme, http.scheme, http.ports), (Scheme::Https, Scheme::Http, [8765].into()));
        assert_eq!(http.addresses, ["127.0.0.1/32".parse().unwrap()].into());
        let [plain] = net("net=http://localhost:80").try_into().unwrap();
        assert_eq!((plain.scheme, plain.addresses.len()), (Scheme::Http, 2));
        assert_eq!(net("net=any")[0].host, HostPattern::Any);
        assert_eq!(parse("kv=notes").unwrap().kv.unwrap().space.as_str(), "notes");
        let files = &parse("files=in:data:write").unwrap().files[0];
        assert_eq!((files.access, files.path.as_path()), (Access::Write, Path::new("/here/data")));
        assert_eq!(parse("files=in:/data").unwrap().files[0].access, Access::Read);
        assert_eq!(parse("secrets=KEY@api.example.com").unwrap().secrets[0].hosts.len(), 1);
        assert_eq!(parse("tools=any").unwrap().tools, CallableTools::Any);
        let servers = |text: &str| parse(text).unwrap().servers.to_string();
        assert_eq!(
            servers("servers=github.create-issue,github.search,mail"),
            "github: create_issue, search; mail: any"
        );
        assert_eq!(servers("servers=mail:reading"), "mail: reading");
    }

    #[test]
    fn what_is_no_grant_is_refused_with_what_to_write() {
        for (text, says) in [
            ("network", "net, timers"),
            ("timers=1", "write only `timers`"),
            ("net", "`net=api.example.com`"),
            ("net=", "`net=api.example.com`"),
            ("net=*", "`any`"),
            ("net=a.example:0", "1 to 65535"),
            ("kv", "`kv=notes`"),
            ("kv=a b", ""),
            ("files=data", "`files=NAME:PATH`"),
            ("files", "`files=data:./data`"),
            ("secrets=KEY", "`secrets=NAME@HOST`"),
            ("tools=", "`tools=any`"),
            ("servers", "`servers=github.create_issue`"),
            ("servers=a-b", "only ASCII letters, digits and `_`"),
            ("", "net, timers"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn grants_are_put_together() {
        let mut all = Grants::default();
        for text in ["timers", "net=a.example", "net=b.example", "tools=one", "tools=two", "kv=a", "kv=b"] {
            all.extend(parse(text).unwrap());
        }
        assert!(all.timers && all.net.len() == 2);
        assert_eq!(all.kv.unwrap().space.as_str(), "b");
        assert!(matches!(all.tools, CallableTools::Named(names) if names.len() == 2));
    }
}
