//! BUG: A tool that was withdrawn is still offered, because the agent adds new tools to its list and removes none.
//! Qwen Code, in the other direction: <https://github.com/QwenLM/qwen-code/issues/8475>

use super::prelude::*;

flaw! {
    Flaw::new("withdrawn-tool-offered", "tools-current").class("tools-changed");

    fn offers(&self, old: &[Tool], new: Vec<Tool>) -> Vec<Tool> {
        let is_gone = |tool: &&Tool| new.iter().all(|other| other.name != tool.name);
        let gone: Vec<Tool> = old.iter().filter(is_gone).cloned().collect();
        new.into_iter().chain(gone).collect()
    }
}
