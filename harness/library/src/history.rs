//! `histories`: conversations from bytes, for the strategies of property tests.

use arbitrary::Unstructured;
use brickbat_rules::histories::generate::Outline;
use brickbat_rules::{Dialect, list_of};
use serde::Deserialize;
use serde_json::json;

use crate::question::OfHistory;
use crate::text_of;

/// The kind of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The provider accepts it.
    #[default]
    Valid,
    /// The provider refuses it, and `repair` has an edit for it.
    Repairable,
    /// The provider refuses it, and no edit is known that loses nothing.
    Unrepairable,
}

/// Makes a conversation. Bytes that have run out choose the plainest, so that a strategy over bytes shrinks.
pub(crate) fn history(of: &OfHistory, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let dialect = Dialect::from_name(&of.dialect).ok_or_else(|| format!("no dialect `{}`", of.dialect))?;
    let mut choices = Unstructured::new(bytes);
    let outline = match of.kind {
        Kind::Valid => Outline::valid(dialect, &mut choices),
        Kind::Repairable => Outline::mendable(dialect, &mut choices),
        Kind::Unrepairable => Outline::broken(dialect, &mut choices),
    };
    let history = outline.history();
    Ok(text_of(&json!({
        "dialect": dialect.name(),
        "model": history.model,
        "fault": history.fault.map(|fault| fault.name()),
        "can_repair": history.fault.map(|_| of.kind == Kind::Repairable),
        "list": list_of(dialect),
        "body": history.request().body,
    })))
}
