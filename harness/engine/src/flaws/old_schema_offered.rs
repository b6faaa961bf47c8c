//! BUG: After its schema has changed, a tool is offered with the old one, because the agent keeps what it has read of a tool
//! under its name.

use super::prelude::*;

flaw! {
    Flaw::new("old-schema-offered", "tools-current").class("tools-changed");

    fn offers(&self, old: &[Tool], new: Vec<Tool>) -> Vec<Tool> {
        let known = |tool: Tool| old.iter().find(|other| other.name == tool.name).cloned().unwrap_or(tool);
        new.into_iter().map(known).collect()
    }
}
