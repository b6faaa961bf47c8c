//! The addresses at which an agent of our own finds the provider and the gates.

use std::collections::BTreeMap;

use crate::driver::ToolSpec;
use crate::driver::http::{Address, NotAnAddress};
use brickbat_scenario::plan::PlannedTool;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    base_url: String,
    provider: Address,
    gates: BTreeMap<String, Address>,
}

impl Endpoints {
    /// A provider at a base URL, the path below it to which the agent posts, and the gates of tools by their
    /// names.
    pub fn new<'a>(
        base_url: &str,
        path: &str,
        gates: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Endpoints, NotAnAddress> {
        let provider = Address::parse(&format!("{base_url}{path}"))?;
        let base_url = base_url.to_owned();
        let gates = gates.into_iter().map(|(tool, url)| Ok((tool.to_owned(), Address::parse(url)?)));
        Ok(Endpoints { base_url, provider, gates: gates.collect::<Result<_, _>>()? })
    }

    /// A plan's mount on our server, with the gates at the addresses that the server assigns to them.
    pub fn of_plan(base_url: &str, path: &str, tools: &[PlannedTool]) -> Result<Endpoints, NotAnAddress> {
        let gates: Vec<(&str, String)> =
            tools.iter().map(|tool| (tool.name.as_str(), format!("{base_url}/gate/{}", tool.name))).collect();
        Endpoints::new(base_url, path, gates.iter().map(|(tool, url)| (*tool, url.as_str())))
    }

    /// Makes the agent post to another path from now on.
    pub(super) fn post_to(&mut self, path: &str) -> Result<(), NotAnAddress> {
        self.provider = Address::parse(&format!("{}{path}", self.base_url))?;
        Ok(())
    }

    /// Adds the gates of tools. Those of tools that are gone stay, for calls that still run.
    pub(super) fn add_gates(&mut self, tools: &[ToolSpec]) -> Result<(), NotAnAddress> {
        for tool in tools {
            self.gates.insert(tool.name.clone(), Address::parse(&tool.gate_url)?);
        }
        Ok(())
    }

    pub(super) fn provider(&self) -> &Address {
        &self.provider
    }

    pub(super) fn gate(&self, tool: &str) -> Option<&Address> {
        self.gates.get(tool)
    }
}
