//! BUG: A tool that is added later is never offered: the agent reads the list when it starts. Qwen Code:
//! <https://github.com/QwenLM/qwen-code/issues/8475>

use super::prelude::*;

flaw! {
    Flaw::new("new-tool-unoffered", "tools-current").class("tools-changed");

    fn offers(&self, old: &[Tool], mut new: Vec<Tool>) -> Vec<Tool> {
        new.retain(|tool| old.iter().any(|other| other.name == tool.name));
        new
    }
}
