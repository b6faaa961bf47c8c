//! Lets Brickbat drive Rig. For an SDK of your own, replace what is said of Rig here.
use brickbat_adapter::{Adapter, Failure, Given, Session, ToolError, gate, locked, serve};
use futures::{FutureExt, StreamExt};
use rig_agent::{AgentBuilder, agent::MultiTurnStreamItem as Item};
use rig_core::message::{Message, ToolName};
use rig_core::providers::{anthropic::AnthropicConfig, openai::OpenAIConfig};
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};

fn gated(given: &Given) -> Option<DynamicTool> {
    let (tool, name) = (given.clone(), ToolName::new(&given.name).ok()?);
    let failed = |error: ToolError| ToolExecutionError::new(ToolErrorKind::Other, error.text);
    Some(DynamicTool::new(name, &given.description, given.input_schema.clone(), move |input| {
        gate(tool.clone(), input).map(move |answer| answer.map(ToolOutput::text).map_err(failed)).boxed()
    }))
}

/// A run of Rig is stopped by dropping it.
async fn turn(session: std::sync::Arc<Session>, text: String) -> Result<(), Failure> {
    let (spec, url) = (&session.spec, &session.spec.base_url);
    let claude = || AnthropicConfig::new("none").with_base_url(url).client().completion(spec.model("claude-haiku-4-5"));
    let gpt = || OpenAIConfig::new("none").with_base_url(format!("{url}/v1")).client().chat(spec.model("gpt-4.1"));
    let builder = if spec.dialect == "openai-chat" { AgentBuilder::new(gpt()) } else { AgentBuilder::new(claude()) };
    let agent = builder.dynamic_tools(session.spec.tools.iter().filter_map(gated).collect()).build();
    let mut history: Vec<Message> = session.load()?;
    let mut items = agent.prompt(text).history(history.clone()).max_turns(20).tool_concurrency(8).stream();
    while let Some(item) = items.next().await {
        match item? {
            Item::ToolCall { tool_call: call } => session.show(&call.id.wire(), "in_progress", &call.function.name),
            Item::ToolResult { tool_result: result } => session.settle(&result.call.wire(), result.is_error),
            Item::FinalResponse(response) => history.extend(response.messages),
            _ => {}
        }
    }
    session.save(&history)
}

fn main() {
    let (version, dialects) = (locked(include_str!("Cargo.lock"), "rig-agent"), ["anthropic-messages", "openai-chat"]);
    serve(Adapter::new("rig-agent", &version, &["history"], &dialects, |session, text| turn(session, text).boxed()));
}
