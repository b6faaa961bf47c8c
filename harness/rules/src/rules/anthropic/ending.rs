//! The last check: how the conversation may end.

use super::super::profile::{AnthropicSwitches, ModelVersion};
use super::super::violation::{Breach, Breaches};
use super::block::{Kind, Role, Text};
use super::table::*;
use super::turns::{Seen, Turn};
use crate::json::Json;

/// Checks that the model can go on from the last turn.
pub(super) fn check_final_message(switches: &AnthropicSwitches, body: Json, last: &Turn, out: &mut Breaches) {
    if last.role != Role::Assistant {
        return;
    }
    let model = body.field("model").as_str();
    let Some(version) = model.as_deref().and_then(ModelVersion::of_claude) else { return };
    let block = last.last_block();
    if version >= switches.first_without_prefill {
        // A reply that paused in a server tool is sent back as it is, to be continued.
        let is_paused = |block: Seen| {
            matches!(block.kind, Kind::ServerUse | Kind::McpUse | Kind::ServerResult | Kind::Other)
        };
        if !block.is_some_and(is_paused) {
            out.add(&PREFILL_NOT_SUPPORTED, || Breach::at(format!("/messages/{}", last.first)));
        }
    } else if let Some(Seen { place, kind: Kind::Text(Text::Ragged | Text::Blank) }) = block {
        out.add(&FINAL_TEXT_TRAILING_SPACE, || Breach::at(place.pointer()));
    }
}
