//! An adapter as a shell script that follows the protocol.

use std::collections::BTreeMap;
use std::path::Path;

use brickbat_drive::driver::{Launch, ProcessLimits, SessionSpec};
use brickbat_rules::dialect::Dialect;

/// Starts a shell script as an adapter, with one argument.
pub fn launch(script: &str, arg: &str) -> Launch {
    Launch {
        program: "/bin/sh".into(),
        args: ["-c", script, "adapter", arg].map(str::to_owned).to_vec(),
        folder: "/".into(),
        installed: None,
        env: BTreeMap::new(),
        supervisor: env!("CARGO_BIN_EXE_brickbat").into(),
        scratch: None,
        limits: ProcessLimits::STANDARD,
    }
}

/// A session without tools.
pub fn spec(state: &Path) -> SessionSpec {
    let plain = SessionSpec::plain("http://127.0.0.1:9".into(), Dialect::AnthropicMessages, state.to_owned());
    SessionSpec { mode: "m".into(), ..plain }
}

/// Answers `initialize` and `session/new`; `$1` handles a prompt, with `$id` as the prompt's id.
pub const POLITE: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":"%s","result":%s}\n' "$id" "$1"; }
show() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"%s","status":"%s"}}}\n' "$1" "$2"; }
ask() { printf '{"jsonrpc":"2.0","id":"%s","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"%s","rawInput":{"key":"k"}},"options":[{"optionId":"no","name":"No","kind":"reject_once"},{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}\n' "ask-$1" "$1"; }
outcome() { answer '{"stopReason":"end_turn","_meta":{"brickbat":{"outcome":'"$1"'}}}'; }
able='"cancel":true,"streaming":true,"eagerTools":false,"barrier":true,"history":true,"load":true'
about='{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"_meta":{"brickbat":{"protocol":1,"sdk":"sh","version":"1","modes":["m"],"capabilities":{'"$able"'}}}}'
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
    case $line in
        *'"method":"initialize"'*) answer "$about" ;;
        *'"method":"session/new"'*) answer '{"sessionId":"s"}' ;;
        *'"method":"session/load"'*) show old completed; answer '{}' ;;
        *'"method":"_brickbat/barrier"'*) answer '{}' ;;
        *'"method":"_brickbat/history"'*) answer '{"history":["kept"]}' ;;
        *'"outcome":"selected"'* | *'"outcome":"cancelled"'*) show "$(printf '%s' "$line" | sed 's/.*"\(optionId\|outcome\)":"\([^"]*\)".*/\2/')" completed ;;
        *'"method":"session/cancel"'*) id=$turn; outcome '{"kind":"cancelled"}' ;;
        *'"method":"session/prompt"'*) turn=$id; eval "$1" ;;
    esac
done
"#;
