//! The scenario's tools as an MCP server, for agents that speak ACP themselves.
//!
//! The agent starts `brickbat mcp` for each session. It only relays: a call becomes one POST to its tool's
//! gate, with the agent's arguments unchanged, and the gate's answer becomes the result. It has no state,
//! so the harness ledger counts MCP calls as it counts adapter calls.
//!
//! Each answer from the gate becomes what a real server would send:
//! - `return`: a result;
//! - `error`: a result with `isError`, as the MCP SDKs send for a tool that reports a failure;
//! - `throw`: a JSON-RPC error, as a server sends when its handler throws;
//! - `deny`: a result with `isError`. The user's refusal is handled by the agent, and a server can only pass
//!   it on.
//!
//! A call that the agent cancels (`notifications/cancelled`) drops its gate connection, unless the tool is
//! deaf.
//!
//! While a call waits at its gate, the relay reports progress to an agent that has asked for it. Many agents
//! time out a tool that is silent for a minute, and on a slow machine the harness may need longer.

use std::borrow::Cow;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior};

use super::error::DriverError;
use super::http::{Address, Post};
use super::protocol::ToolSpec;
use brickbat_scenario::plan::ToolOutcome;

/// The name under which agents know this server. Many agents prefix the tool names with it.
pub const SERVER: &str = "brickbat";

/// Reads the tools that the harness wrote to a file for a session.
pub fn read_tools(path: &Path) -> Result<Vec<ToolSpec>, DriverError> {
    let what = || format!("cannot read {}", path.display());
    let text = std::fs::read(path).map_err(|error| DriverError::harness(what(), error))?;
    serde_json::from_slice(&text)
        .map_err(|error| DriverError::harness(what(), format!("not a list of tools: {error}")))
}

/// Serves the tools on standard input and output until the agent disconnects.
pub async fn serve(tools: Vec<ToolSpec>) -> Result<(), DriverError> {
    let relay = Relay { tools: tools.into() };
    let (gone, agent_gone) = oneshot::channel();
    let stdin = StdinWatch { stdin: tokio::io::stdin(), gone: Some(gone) };
    let serving = relay
        .serve((stdin, tokio::io::stdout()))
        .await
        .map_err(|error| DriverError::harness("the MCP server could not start", error))?;
    // However the agent disconnects, the relay is done. Open calls must leave their gates at once, but the
    // crate would give them some seconds.
    tokio::select! {
        _ = serving.waiting() => {}
        _ = agent_gone => {}
    }
    Ok(())
}

/// Standard input that reports when it has ended.
struct StdinWatch {
    stdin: tokio::io::Stdin,
    gone: Option<oneshot::Sender<()>>,
}

impl AsyncRead for StdinWatch {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let n_before = buffer.filled().len();
        let polled = Pin::new(&mut self.stdin).poll_read(context, buffer);
        let is_over = match &polled {
            Poll::Ready(read) => read.is_err() || buffer.filled().len() == n_before,
            Poll::Pending => false,
        };
        if is_over {
            // Dropping the sender reports the end.
            self.gone = None;
        }
        polled
    }
}

#[derive(Debug, Clone)]
struct Relay {
    tools: Arc<[ToolSpec]>,
}

impl ServerHandler for Relay {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(SERVER, env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(offered).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool `{}`", call.name), None));
        };
        let args = Value::Object(call.arguments.unwrap_or_default()).to_string();
        let answer = with_progress(&context, ask(&tool.gate_url, args.into_bytes()));
        let outcome = if tool.deaf {
            answer.await
        } else {
            tokio::select! {
                biased;
                outcome = answer => outcome,
                // Dropping the post closes the gate's connection; the answer is no longer needed.
                () = context.ct.cancelled() => Err(internal("the call was cancelled")),
            }
        };
        match outcome? {
            ToolOutcome::Return(text) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            ToolOutcome::Error(text) | ToolOutcome::Deny(text) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
            }
            ToolOutcome::Throw(text) => Err(internal(text)),
        }
    }
}

/// A tool as the agent sees it.
fn offered(tool: &ToolSpec) -> Tool {
    let schema: Map<String, Value> = tool.input_schema.as_object().cloned().unwrap_or_default();
    let description: Cow<'static, str> = tool.description.clone().into();
    Tool::new(tool.name.clone(), description, Arc::new(schema))
}

/// The interval at which a waiting call reports progress. The TypeScript MCP SDK gives up after 60 s without
/// any, and its users may set less. The margin is for a busy machine that delays the relay.
const PROGRESS: Duration = Duration::from_secs(2);

/// Waits for an answer. Until it arrives, reports progress at intervals if the agent has asked for
/// it.
async fn with_progress<T>(context: &RequestContext<RoleServer>, answer: impl Future<Output = T>) -> T {
    let Some(token) = context.meta.get_progress_token() else { return answer.await };
    let mut answer = pin!(answer);
    let mut ticks = tokio::time::interval_at(Instant::now() + PROGRESS, PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut n_ticks = 0.0;
    loop {
        tokio::select! {
            biased;
            outcome = answer.as_mut() => return outcome,
            _ = ticks.tick() => n_ticks += 1.0,
        }
        let progress = ProgressNotificationParam::new(token.clone(), n_ticks);
        // An agent that is gone needs no progress, and the relay ends with it.
        let _ = context.peer.notify_progress(progress).await;
    }
}

/// Posts to a gate and waits for the answer without a time limit.
async fn ask(gate_url: &str, args: Vec<u8>) -> Result<ToolOutcome, ErrorData> {
    let gate = Address::parse(gate_url).map_err(|error| internal(error.to_string()))?;
    let body = Post::new(&gate, args).body().await;
    let body = body.ok_or_else(|| internal("the gate's answer was cut off"))?;
    ToolOutcome::of_gate(&body).map_err(|error| internal(format!("the gate gave an invalid answer: {error}")))
}

/// The JSON-RPC error of a call without a result.
fn internal(text: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::internal_error(text, None)
}
