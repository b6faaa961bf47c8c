//! Takes a new list of tools.
//!
//! The list may change at any moment: a server of tools goes away, the user allows less, a plugin is loaded. The request
//! that the model is answering has offered the old list, so its calls still run and keep their results. The next request
//! offers the new list. The thread keeps what it has of the old list: a call that was made is a fact.

use super::{Agent, Tool};

impl Agent {
    /// The same agent with these tools.
    pub fn offering(mut self, tools: Vec<Tool>) -> Agent {
        self.setup.tools = tools;
        self.setup.declared = self.setup.declared_at(self.setup.dialect);
        self
    }

    /// Notes a new list of tools, which the next request offers.
    pub(super) fn takes_tools(&mut self, tools: &[Tool]) {
        self.setup.next_tools = Some(tools.to_vec());
    }

    /// Takes the noted list of tools, before a request.
    pub(super) fn update_tools(&mut self) {
        let Some(tools) = self.setup.next_tools.take() else { return };
        self.setup.tools = self.decisions.offers(&self.setup.tools, tools);
        self.setup.declared = self.setup.declared_at(self.setup.dialect);
        self.decisions.tools_change(&self.setup.tools, &mut self.session.thread);
    }
}
