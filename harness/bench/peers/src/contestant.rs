//! A server process: how to start it, where it listens, and how much it has used.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

/// The argument that turns this program into the server of the crate `wiremock`.
pub const WIREMOCK: &str = "wiremock";

/// The longest time that a server may take to start on a busy machine.
const START: Duration = Duration::from_secs(300);

/// `/proc` counts processor time in hundredths of a second.
const MICROS_PER_TICK: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Ours,
    Aimock,
    Llmock,
    Llmposter,
    Wiremock,
}

/// A running server. Dropping it stops the server.
pub struct Contestant {
    pub who: Who,
    pub at: SocketAddr,
    child: Child,
    /// Closing this pipe ends `brickbat serve --control`.
    pub orders: Option<ChildStdin>,
    pub said: Option<BufReader<std::process::ChildStdout>>,
}

impl Who {
    pub const ALL: [Who; 5] = [Who::Ours, Who::Aimock, Who::Llmock, Who::Llmposter, Who::Wiremock];

    pub fn name(self) -> &'static str {
        match self {
            Who::Ours => "brickbat serve",
            Who::Aimock => "aimock",
            Who::Llmock => "llmock",
            Who::Llmposter => "llmposter",
            Who::Wiremock => WIREMOCK,
        }
    }

    /// Returns whether the server is installed. A missing server is left out of the result.
    pub fn is_installed(self, folder: &Path) -> bool {
        match self {
            Who::Ours | Who::Wiremock => true,
            Who::Aimock => folder.join("npm/node_modules").is_dir(),
            Who::Llmock => folder.join("python/bin/llmock").exists(),
            Who::Llmposter => folder.join("cargo/bin/llmposter").exists(),
        }
    }

    /// Returns the number of requests over which memory is watched; other servers get `n_requests`.
    ///
    /// llmock takes 3.6 ms of a core per request, so 200,000 requests would take two hours next to the
    /// others. A tenth of them is enough to show the memory that it keeps.
    pub fn n_watched(self, n_requests: usize) -> usize {
        match self {
            Who::Llmock => n_requests / 10,
            Who::Ours | Who::Aimock | Who::Llmposter | Who::Wiremock => n_requests,
        }
    }

    /// Returns the path for a dialect. `wiremock` answers on any path.
    pub fn path(self, dialect: &str, model: &str) -> String {
        let before = match (self, dialect) {
            (Who::Llmock, "anthropic-messages") => "/anthropic",
            (Who::Llmock, "gemini") => "/gemini",
            _ => "",
        };
        match dialect {
            "anthropic-messages" => format!("{before}/v1/messages"),
            "openai-chat" => "/v1/chat/completions".to_owned(),
            "openai-responses" => "/v1/responses".to_owned(),
            _ => format!("{before}/v1beta/models/{model}:generateContent"),
        }
    }

    pub fn version(self, brickbat: &Path, folder: &Path, root: &Path) -> String {
        match self {
            Who::Ours => said(Command::new(brickbat).arg("--version")),
            Who::Aimock => {
                let package = folder.join("npm/node_modules/@copilotkit/aimock/package.json");
                let package: Value =
                    serde_json::from_str(&std::fs::read_to_string(package).unwrap()).unwrap();
                package["version"].as_str().unwrap().to_owned()
            }
            Who::Llmock => {
                let code = "import importlib.metadata as m; print(m.version('llmock'))";
                said(Command::new(folder.join("python/bin/python")).args(["-c", code]))
            }
            // llmposter does not print its version, so it is read from Cargo's list of installed crates.
            Who::Llmposter => {
                let list = std::fs::read_to_string(folder.join("cargo/.crates.toml")).unwrap();
                let (_, entry) = list.split_once("\"llmposter ").unwrap();
                entry.split(' ').next().unwrap().to_owned()
            }
            Who::Wiremock => {
                let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap();
                let (_, entry) = lock.split_once("name = \"wiremock\"\nversion = \"").unwrap();
                entry.split('"').next().unwrap().to_owned()
            }
        }
    }
}

/// Returns the last word that a command prints.
fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().last().unwrap().to_owned()
}

impl Contestant {
    pub fn start(who: Who, brickbat: &Path, folder: &Path) -> Contestant {
        // Another process could take the port before the server does.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut command = match who {
            Who::Ours => {
                let mut command = Command::new(brickbat);
                command.args(["serve", "--port", "0", "--control"]).stdin(Stdio::piped());
                command
            }
            Who::Aimock => {
                let mut command = Command::new("node");
                command.arg(folder.join("npm/node_modules/@copilotkit/aimock/dist/cli.js"));
                command.args(["--port", &free, "--log-level", "silent", "--fixtures"]);
                command.arg(folder.join("aimock.json"));
                command
            }
            Who::Llmock => {
                let mut command = Command::new(folder.join("python/bin/llmock"));
                command.args(["serve", "--port", &free, "--log-level", "critical"]);
                command
            }
            Who::Llmposter => {
                let mut command = Command::new(folder.join("cargo/bin/llmposter"));
                command.args(["--port", &free, "--fixtures"]).arg(folder.join("llmposter.yaml"));
                command
            }
            Who::Wiremock => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.arg(WIREMOCK);
                command
            }
        };
        let says_where = matches!(who, Who::Ours | Who::Wiremock);
        command.stdout(if says_where { Stdio::piped() } else { Stdio::null() }).stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", who.name()));
        let (orders, said) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let at = format!("127.0.0.1:{free}").parse().unwrap();
        // From here on, dropping `contestant` stops the server.
        let mut contestant = Contestant { who, at, child, orders, said };
        contestant.find();
        contestant
    }

    /// Finds out where the server listens, and waits until it does.
    fn find(&mut self) {
        if let Some(said) = &mut self.said {
            let mut line = String::new();
            said.read_line(&mut line).unwrap();
            let address = match self.who {
                Who::Ours => {
                    let ready: Value = serde_json::from_str(&line).unwrap();
                    ready["url"].as_str().unwrap().trim_start_matches("http://").to_owned()
                }
                _ => line.trim().to_owned(),
            };
            self.at = address.parse().unwrap();
        }
        let started = Instant::now();
        while TcpStream::connect(self.at).is_err() {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && started.elapsed() < START,
                "{} does not listen: {ended:?}",
                self.who.name()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the processor time that the process has used.
    pub fn cpu_micros(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name in parentheses may contain spaces. User and system time are fields 14 and 15.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
        ticks.sum::<u64>() * MICROS_PER_TICK
    }

    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers every request with the same reply, as a test with that crate does. Never returns.
pub fn serve_wiremock() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = MockServer::start().await;
        let reply = ResponseTemplate::new(200).set_body_raw(reply(), "text/event-stream");
        Mock::given(any()).respond_with(reply).mount(&server).await;
        println!("{}", server.address());
        std::future::pending::<()>().await;
    });
}

/// A fixed copy of the reply that the other servers give.
fn reply() -> String {
    let mut events = vec![
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1}}}"#.to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
    ];
    let words: Vec<&str> = crate::fixtures::TEXT.split_inclusive(' ').collect();
    for part in words.chunks(4) {
        let part = part.concat();
        events.push(format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{part}"}}}}"#
        ));
    }
    events.extend(
        [
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"Oslo\"}"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":40}}"#,
            r#"{"type":"message_stop"}"#,
        ]
        .map(str::to_owned),
    );
    let framed = |event: &String| {
        let kind = event.split('"').nth(3).unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(framed).collect()
}
