//! SSRF protection: the classification of IP addresses.
//!
//! Invariant: an address passes only if it is globally reachable or granted, and so is every IPv4
//! address that it embeds. An IPv6 address that no registry lists as global is not global.
//!
//! The tables are IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its
//! updates), without the globally reachable exceptions in them, which are of no use to a tool.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 4], prefix: u8) -> Ipv6Net {
    let [a, b, c, d] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), prefix)
}

const SPECIAL_V4: &[(Ipv4Net, &str)] = &[
    (v4(0, 0, 0, 0, 8), "this network (RFC 791)"),
    (v4(10, 0, 0, 0, 8), "private (RFC 1918)"),
    (v4(100, 64, 0, 0, 10), "shared by carrier-grade NAT (RFC 6598)"),
    (v4(127, 0, 0, 0, 8), "loopback (RFC 1122)"),
    (v4(169, 254, 0, 0, 16), "link-local, where clouds keep credentials (RFC 3927)"),
    (v4(172, 16, 0, 0, 12), "private (RFC 1918)"),
    (v4(192, 0, 0, 0, 24), "reserved for protocols (RFC 6890)"),
    (v4(192, 0, 2, 0, 24), "reserved for documentation (RFC 5737)"),
    (v4(192, 88, 99, 0, 24), "a 6to4 relay (RFC 7526)"),
    (v4(192, 168, 0, 0, 16), "private (RFC 1918)"),
    (v4(198, 18, 0, 0, 15), "reserved for benchmarks (RFC 2544)"),
    (v4(198, 51, 100, 0, 24), "reserved for documentation (RFC 5737)"),
    (v4(203, 0, 113, 0, 24), "reserved for documentation (RFC 5737)"),
    (v4(224, 0, 0, 0, 4), "multicast (RFC 5771)"),
    (v4(240, 0, 0, 0, 4), "reserved, or broadcast (RFC 1112, RFC 919)"),
    // Not in a registry: virtual machines of Azure reach their host at this address.
    (v4(168, 63, 129, 16, 32), "an endpoint of a cloud platform"),
];

const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0, 0], 3);

/// The special ranges inside of the global range, and the named ranges outside of it.
const SPECIAL_V6: &[(Ipv6Net, &str)] = &[
    (Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 128), "unspecified (RFC 4291)"),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), "loopback (RFC 4291)"),
    (Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 96), "an IPv4-compatible address (RFC 4291)"),
    (v6([0x64, 0xff9b, 1, 0], 48), "a local translation to IPv4 (RFC 8215)"),
    (v6([0x100, 0, 0, 0], 64), "discard-only (RFC 6666)"),
    (v6([0x100, 0, 0, 1], 64), "a dummy prefix (RFC 9780)"),
    (v6([0x2001, 0, 0, 0], 32), "Teredo (RFC 4380)"),
    (v6([0x2001, 2, 0, 0], 48), "reserved for benchmarks (RFC 5180)"),
    (v6([0x2001, 0, 0, 0], 23), "reserved for protocols (RFC 2928)"),
    (v6([0x2001, 0xdb8, 0, 0], 32), "reserved for documentation (RFC 3849)"),
    (v6([0x2002, 0, 0, 0], 16), "6to4 (RFC 3056)"),
    (v6([0x3fff, 0, 0, 0], 20), "reserved for documentation (RFC 9637)"),
    (v6([0x5f00, 0, 0, 0], 16), "reserved for segment routing (RFC 9602)"),
    (v6([0xfc00, 0, 0, 0], 7), "unique local (RFC 4193)"),
    (v6([0xfe80, 0, 0, 0], 10), "link-local (RFC 4291)"),
    (v6([0xfec0, 0, 0, 0], 10), "site-local (RFC 3879)"),
    (v6([0xff00, 0, 0, 0], 8), "multicast (RFC 4291)"),
];

const NAT64_WELL_KNOWN: Ipv6Net = v6([0x64, 0xff9b, 0, 0], 96);
const NAT64_LOCAL: Ipv6Net = v6([0x64, 0xff9b, 1, 0], 48);
const SIX_TO_FOUR: Ipv6Net = v6([0x2002, 0, 0, 0], 16);
const TEREDO: Ipv6Net = v6([0x2001, 0, 0, 0], 32);
const V4_COMPATIBLE: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 96);

/// The error of a host whose address is neither global nor granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` has the address {address}, which is {what}")]
pub(super) struct BlockedAddress {
    pub(super) host: String,
    pub(super) address: IpAddr,
    pub(super) what: &'static str,
}

/// Rejects an address that is neither global nor granted.
pub(super) fn check_address(host: &str, address: IpAddr, granted: &[IpNet]) -> Result<(), BlockedAddress> {
    // An IPv4-mapped address is only another notation of an IPv4 address.
    let address = address.to_canonical();
    for one in [Some(address)].into_iter().chain(embedded_v4(address)).flatten() {
        if let Some(what) = special_range(one)
            && !granted.iter().any(|range| range.contains(&one))
        {
            return Err(BlockedAddress { host: host.to_owned(), address: one, what });
        }
    }
    Ok(())
}

/// Returns why an address is not global, or `None` if it is.
fn special_range(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => SPECIAL_V4.iter().find(|(range, _)| range.contains(&address)).map(|(_, what)| *what),
        IpAddr::V6(address) => {
            let named = SPECIAL_V6.iter().find(|(range, _)| range.contains(&address)).map(|(_, what)| *what);
            let global = GLOBAL_V6.contains(&address) || NAT64_WELL_KNOWN.contains(&address);
            named.or((!global).then_some("in no global range"))
        }
    }
}

/// Returns the IPv4 addresses that an IPv6 address embeds.
fn embedded_v4(address: IpAddr) -> [Option<IpAddr>; 2] {
    let IpAddr::V6(address) = address else { return [None, None] };
    let octets = address.octets();
    let at = |places: [usize; 4]| Ipv4Addr::from(places.map(|place| octets[place]));
    let last = at([12, 13, 14, 15]);
    let found = if SIX_TO_FOUR.contains(&address) {
        [Some(at([2, 3, 4, 5])), None]
    } else if TEREDO.contains(&address) {
        // The server, and the client with all bits inverted (RFC 4380, section 4).
        [Some(at([4, 5, 6, 7])), Some(Ipv4Addr::from_bits(!last.to_bits()))]
    } else if NAT64_LOCAL.contains(&address) {
        // The position depends on the prefix length of the network (RFC 6052, section 2.2): 48 or
        // 96.
        [Some(at([6, 7, 9, 10])), Some(last)]
    } else if NAT64_WELL_KNOWN.contains(&address) || V4_COMPATIBLE.contains(&address) {
        [Some(last), None]
    } else {
        [None, None]
    };
    found.map(|found| found.map(IpAddr::V4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_address(address: &str, granted: &[&str]) -> Option<String> {
        let granted: Vec<IpNet> = granted.iter().map(|range| range.parse().unwrap()).collect();
        super::check_address("h", address.parse().unwrap(), &granted).err().map(|refused| refused.address.to_string())
    }

    #[test]
    fn addresses_of_the_world_pass() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "168.63.129.15",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450::1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ] {
            assert_eq!(check_address(address, &[]), None, "{address}");
        }
    }

    #[test]
    fn special_addresses_are_refused() {
        for address in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.0",
            "127.255.255.255",
            "169.254.0.0",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.192",
            "192.0.2.255",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "::",
            "::1",
            "::2",
            "100::1",
            "100:0:0:1::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:101:101::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b:1::1.1.1.1",
            "64:ff9c::1",
            "::ffff:0:1.1.1.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::1.1.1.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
        ] {
            assert!(check_address(address, &[]).is_some(), "{address}");
        }
    }

    #[test]
    fn a_granted_range_lets_its_addresses_pass_and_not_what_they_stand_for() {
        assert_eq!(check_address("127.0.0.1", &["127.0.0.0/8"]), None);
        assert_eq!(check_address("::ffff:127.0.0.1", &["127.0.0.0/8"]), None);
        assert_eq!(check_address("10.0.0.1", &["127.0.0.0/8"]), Some("10.0.0.1".to_owned()));
        assert_eq!(check_address("64:ff9b::10.0.0.1", &["64:ff9b::/96"]), Some("10.0.0.1".to_owned()));
        assert_eq!(check_address("64:ff9b::10.0.0.1", &["10.0.0.0/8"]), None);
        assert_eq!(check_address("2002:a00:1::1", &["2002::/16"]), Some("10.0.0.1".to_owned()));
        assert_eq!(check_address("2002:a00:1::1", &["2002::/16", "10.0.0.0/8"]), None);
        assert_eq!(check_address("2001:0:101:101::f5ff:fffe", &["2001::/32"]), Some("10.0.0.1".to_owned()));
        assert_eq!(check_address("2001:0:a00:1::fefe:fefe", &["2001::/32"]), Some("10.0.0.1".to_owned()));
        assert_eq!(check_address("64:ff9b:1:a00:0:100::", &["64:ff9b:1::/48"]), Some("10.0.0.1".to_owned()));
        assert_eq!(check_address("::10.0.0.1", &["::/96"]), Some("10.0.0.1".to_owned()));
    }
}
