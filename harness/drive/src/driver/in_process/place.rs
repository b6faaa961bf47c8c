//! Where an agent of our own finds the provider and the gates.

use std::collections::BTreeMap;

use brickbat_scenario::plan::PlannedTool;

/// Where the agent finds what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    provider: Address,
    gates: BTreeMap<String, Address>,
}

/// An HTTP address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::driver) struct Address {
    /// The host and the port, as the head of a request says them.
    pub(in crate::driver) authority: String,
    /// The path and what follows it.
    pub(in crate::driver) path: String,
}

impl Place {
    /// A provider at a base URL, the path below it to which the agent posts, and the gates of tools by their names.
    pub fn new<'a>(
        base_url: &str,
        path: &str,
        gates: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Place, NotAnAddress> {
        let provider = Address::parse(&format!("{base_url}{path}"))?;
        let gates = gates.into_iter().map(|(tool, url)| Ok((tool.to_owned(), Address::parse(url)?)));
        Ok(Place { provider, gates: gates.collect::<Result<_, _>>()? })
    }

    /// The mount of a plan on our server, with the gates where the server has them.
    pub fn of_plan(base_url: &str, path: &str, tools: &[PlannedTool]) -> Result<Place, NotAnAddress> {
        let gates: Vec<(&str, String)> =
            tools.iter().map(|tool| (tool.name.as_str(), format!("{base_url}/gate/{}", tool.name))).collect();
        Place::new(base_url, path, gates.iter().map(|(tool, url)| (*tool, url.as_str())))
    }

    pub(super) fn provider(&self) -> &Address {
        &self.provider
    }

    pub(super) fn gate(&self, tool: &str) -> Option<&Address> {
        self.gates.get(tool)
    }
}

/// A text that is no address of a plain HTTP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnAddress(String);

impl std::fmt::Display for NotAnAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected an address such as `http://127.0.0.1:4010/p/7`, got `{}`", self.0)
    }
}

impl std::error::Error for NotAnAddress {}

impl Address {
    pub(in crate::driver) fn parse(url: &str) -> Result<Address, NotAnAddress> {
        let wrong = || NotAnAddress(url.to_owned());
        let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
        // A space or a line break would end the line of the request early.
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong());
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.is_empty() {
            return Err(wrong());
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        Ok(Address { authority, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_with_a_port_and_a_path() {
        let parsed = |url| Address::parse(url).map(|address| (address.authority, address.path));
        let ok = |authority: &str, path: &str| Ok((authority.to_owned(), path.to_owned()));
        assert_eq!(parsed("http://127.0.0.1:4010/p/7/gate/a?b"), ok("127.0.0.1:4010", "/p/7/gate/a?b"));
        assert_eq!(parsed("http://localhost"), ok("localhost:80", "/"));
        for url in [
            "https://127.0.0.1/",
            "127.0.0.1:4010",
            "http://",
            "http:///p",
            "http://a/b c",
            "http://a/\r\nx:",
        ] {
            assert_eq!(parsed(url), Err(NotAnAddress(url.to_owned())));
        }
    }
}
