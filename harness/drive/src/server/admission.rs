//! Decides which requests are accepted: those from programs on this machine, and from pages that they
//! serve.
//!
//! A page on a foreign site can make a browser send requests to 127.0.0.1, and with a host name that resolves
//! to it, the page could read the answers as well. A browser always names the host that it means and, for all
//! but the simplest requests, the origin of the page. Both are checked before anything else. A request
//! without these headers does not come from a browser.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::http::HttpRefusal;

/// Hosts and origins that are accepted in addition to this machine's own.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// Names of hosts without a port, such as `host.docker.internal`; `*` is any.
    pub hosts: Vec<String>,
    /// Origins as browsers send them, such as `https://app.example`; `*` is any.
    pub origins: Vec<String>,
}

impl Admission {
    /// Only this machine.
    pub const LOCAL: Admission = Admission { hosts: Vec::new(), origins: Vec::new() };

    pub(super) fn host(&self, authority: &str) -> Result<(), HttpRefusal> {
        let host = host_of(authority);
        let is_named = |known: &String| known == "*" || host_of(known).eq_ignore_ascii_case(host);
        match is_loopback(host) || self.hosts.iter().any(is_named) {
            true => Ok(()),
            false => Err(HttpRefusal::ForeignHost),
        }
    }

    pub(super) fn origin(&self, origin: &str) -> Result<(), HttpRefusal> {
        let page = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
        let is_own = page.is_some_and(|authority| is_loopback(host_of(authority)));
        let is_named =
            |known: &String| known == "*" || known.trim_end_matches('/').eq_ignore_ascii_case(origin);
        match is_own || self.origins.iter().any(is_named) {
            true => Ok(()),
            false => Err(HttpRefusal::ForeignOrigin),
        }
    }

    /// For an image or a link in a page, a browser sends no origin, only the relation of the two sites.
    pub(super) fn site(&self, site: &str) -> Result<(), HttpRefusal> {
        let is_foreign = site.eq_ignore_ascii_case("cross-site");
        match is_foreign && self.origins.is_empty() {
            true => Err(HttpRefusal::ForeignOrigin),
            false => Ok(()),
        }
    }
}

/// The host of an authority, without its port and the brackets of IPv6.
fn host_of(authority: &str) -> &str {
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((address, _)) => address,
        // An address of IPv6 without brackets has no port.
        None if authority.matches(':').count() > 1 => authority,
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// True if a host is this machine by its own name (RFC 6761, 6.3) or address.
fn is_loopback(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let name = host.to_ascii_lowercase();
    let is_v4 = |address: Ipv4Addr| address.is_loopback();
    name == "localhost"
        || name.ends_with(".localhost")
        || host.parse().is_ok_and(is_v4)
        || host.parse::<Ipv6Addr>().is_ok_and(|v6| v6.is_loopback() || v6.to_ipv4_mapped().is_some_and(is_v4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_accepted_and_others_are_not() {
        for own in [
            "localhost",
            "LOCALHOST:8787",
            "localhost.",
            "a.localhost:1",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.8.9.1",
            "[::1]",
            "[::1]:8787",
            "::1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert_eq!(Admission::LOCAL.host(own), Ok(()), "{own}");
            let (http, https) = (format!("http://{own}"), format!("https://{own}"));
            assert_eq!(Admission::LOCAL.origin(&http).and(Admission::LOCAL.origin(&https)), Ok(()), "{own}");
        }
        for foreign in [
            "",
            "evil.example",
            "evil.example:8787",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "10.0.0.1:8787",
            "0.0.0.0",
            "[2001:db8::1]:80",
            "host.docker.internal:8787",
            "localhostx",
            "127.0.0.1x",
        ] {
            assert_eq!(Admission::LOCAL.host(foreign), Err(HttpRefusal::ForeignHost), "{foreign}");
            let origin = format!("http://{foreign}");
            assert_eq!(Admission::LOCAL.origin(&origin), Err(HttpRefusal::ForeignOrigin), "{foreign}");
        }
        for foreign in ["null", "", "file://", "chrome-extension://abc", "localhost", "ftp://localhost"] {
            assert_eq!(Admission::LOCAL.origin(foreign), Err(HttpRefusal::ForeignOrigin), "{foreign}");
        }
    }

    #[test]
    fn hosts_and_origins_of_the_user_are_accepted() {
        let named = Admission {
            hosts: vec!["Host.Docker.Internal".to_owned(), "gateway:8787".to_owned()],
            origins: vec!["https://app.example/".to_owned(), "null".to_owned()],
        };
        for host in ["host.docker.internal:8787", "gateway", "GATEWAY:1"] {
            assert_eq!(named.host(host), Ok(()), "{host}");
        }
        assert_eq!(named.host("evil.example"), Err(HttpRefusal::ForeignHost));
        assert_eq!(named.origin("https://app.example").and(named.origin("null")), Ok(()));
        for foreign in ["http://app.example", "https://app.example:444", "https://app.example.evil"] {
            assert_eq!(named.origin(foreign), Err(HttpRefusal::ForeignOrigin), "{foreign}");
        }
        let any = Admission { hosts: vec!["*".to_owned()], origins: vec!["*".to_owned()] };
        assert_eq!(any.host("evil.example").and(any.origin("null")).and(any.site("cross-site")), Ok(()));
        assert_eq!(Admission::LOCAL.site("cross-site"), Err(HttpRefusal::ForeignOrigin));
        assert_eq!(Admission::LOCAL.site("same-origin").and(Admission::LOCAL.site("none")), Ok(()));
    }
}
