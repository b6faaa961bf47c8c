//! Makes the system change its history.

use super::Live;
use crate::driver::{DriverError, ToolSpec};
use brickbat_scenario::plan::Change;
use brickbat_scenario::trace::Event;

impl Live<'_> {
    /// Requests a change of the history, and notes it, unless nothing was changed.
    pub(super) async fn change_history(&mut self, change: Change) -> Result<(), DriverError> {
        if let Change::Tools { change } = &change {
            self.tool_changes.push(change.clone());
            self.settings.tools = self.plan.tools_after(&self.tool_changes);
        }
        if self.conductor.is_dead() {
            // The next process gets the settings when it loads the session.
            self.observe(Event::Changed { change });
            return Ok(());
        }
        let is_between_turns = self.conductor.is_between_turns();
        if is_between_turns {
            self.come_to_rest().await?;
            self.mount.with_core(|core| core.provider.begin_change());
        }
        let n_before = self.trace.events().len();
        let is_moving = self.session.is_plain() && matches!(change, Change::Provider { .. });
        if let Change::Provider { dialect } = change {
            self.settings.dialect = dialect;
        }
        let is_changed = match &change {
            Change::Tools { .. } => self.offer_tools().await?,
            _ if is_moving => {
                self.move_over().await?;
                true
            }
            change => self.session.change(change).await?,
        };
        if is_between_turns {
            self.come_to_rest().await?;
            self.mount.with_core(|core| core.provider.end_change());
        }
        // Its requests to the provider for this change come before its answer.
        self.catch_up().await?;
        // An agent without an adapter does not report it, but it cannot summarise without the provider.
        let mut since = self.trace.events().iter().skip(n_before);
        let is_told = !self.session.is_plain() || is_moving;
        let is_seen = is_told || since.any(|event| matches!(event, Event::Requested { .. }));
        if is_changed && is_seen {
            self.observe(Event::Changed { change });
        } else {
            self.todo.extend(self.conductor.forgo_change());
        }
        Ok(())
    }

    /// Gives the system the present list of tools.
    async fn offer_tools(&self) -> Result<bool, DriverError> {
        let base_url = format!("http://{}{}", self.address, self.base_path);
        self.session.offer(ToolSpec::all(&self.settings.tools, &base_url)).await
    }
}
