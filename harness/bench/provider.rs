//! Measures CPU time of the server per request, compared with a bare hyper server that sends the same
//! body.
//!
//! `cargo bench --bench provider` prints a table. `-- --memory` measures memory and latency instead. Each
//! server has its own thread and runtime, and is measured by the CPU clock of that thread. One client
//! thread sends requests to the servers in turns, so that a busy machine slows all of them equally.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

#[path = "src/figures.rs"]
mod figures;

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock, mpsc as std_mpsc};
use std::thread;
use std::time::{Duration, Instant};

use brickbat_drive::server::{Answerer, Server, ServerLimits, Writes};
use brickbat_engine::provider::{Answer, Headers, Provider, Request};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower::plans;
use brickbat_scenario::trace::RequestKind;
use figures::Wish;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::mpsc;

/// Number of connections that the client uses at the same time.
const N_CONNECTIONS: usize = 16;

const N_ROUNDS: usize = 7;

const REQUESTS_PER_ROUND: usize = 16_000;

const REQUESTS_FOR_MEMORY: usize = 200_000;

/// A short text and a tool call: 12 frames in Anthropic's stream format.
const SCENARIO: &str = "
schema: 1
comment: A reply of twelve frames.
class: [control]
tools:
  lookup: { returns: found }
turns:
  - user: Look up the order.
    replies:
      - - text: Let me look that up.
        - call: { as: a, tool: lookup, args: { key: order 17 }, deltas: 2 }
      - - text: Here it is.
";

/// The core that is measured with the server: the real one, which reads, validates and encodes each time.
struct Core(Provider);

impl Core {
    fn new() -> Core {
        let dialect = Dialect::AnthropicMessages;
        let plan = plans("bench", "bench", SCENARIO, &[dialect], 0).unwrap().remove(0);
        Core(Provider::new(Arc::new(plan), Profile::newest(dialect)))
    }
}

impl Answerer for Core {
    fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        // Always sends the first reply of the turn.
        self.0.begin_turn(0);
        let (kind, answer) = self.0.answer(request);
        assert!(matches!(kind, RequestKind::Scripted { .. }) && answer.frames.len() == 12, "{kind:?}");
        (kind, answer)
    }
}

/// Returns the frames that our core sends, so that hyper can send the same ones.
fn frames() -> &'static [Bytes] {
    static FRAMES: OnceLock<Vec<Bytes>> = OnceLock::new();
    FRAMES.get_or_init(|| {
        let body = body();
        let request =
            Request { method: "POST", path: "/v1/messages", headers: Headers::NONE, body: body.as_bytes() };
        let (_, answer) = Core::new().answer(request);
        (0..answer.frames.len()).map(|at| Bytes::copy_from_slice(answer.frames.slice(at..at + 1))).collect()
    })
}

/// A server in its own thread, and the client's connections to it.
struct Contestant {
    name: &'static str,
    clock: mpsc::UnboundedSender<std_mpsc::Sender<Duration>>,
    connections: Vec<TcpStream>,
    request: Vec<u8>,
    reply_len: usize,
    micros: Vec<f64>,
}

impl Contestant {
    /// Starts a server. `serve` reports the address where it listens, and then runs forever.
    fn start<F: Future<Output = ()>>(
        name: &'static str,
        serve: impl FnOnce(std_mpsc::Sender<(SocketAddr, String)>) -> F + Send + 'static,
    ) -> Contestant {
        let (started, address) = std_mpsc::channel();
        let (clock, mut asked) = mpsc::unbounded_channel::<std_mpsc::Sender<Duration>>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let tell_time = async move {
                while let Some(reply) = asked.recv().await {
                    let now = clock_gettime(ClockId::ThreadCPUTime);
                    let nanos = now.tv_sec * 1_000_000_000 + now.tv_nsec;
                    reply.send(Duration::from_nanos(nanos.try_into().unwrap())).unwrap();
                }
            };
            runtime.block_on(async { tokio::join!(serve(started), tell_time) });
        });
        let (address, path) = address.recv().unwrap();
        let connect = |_| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            stream
        };
        let connections: Vec<TcpStream> = (0..N_CONNECTIONS).map(connect).collect();
        let mut contestant = Contestant {
            name,
            clock,
            connections,
            request: request(&path),
            reply_len: 0,
            micros: Vec::new(),
        };
        contestant.reply_len = contestant.first_reply();
        contestant
    }

    fn first_reply(&mut self) -> usize {
        let stream = &mut self.connections[0];
        stream.write_all(&self.request).unwrap();
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n0\r\n\r\n") {
            let mut buffer = [0; 8192];
            let n = stream.read(&mut buffer).unwrap();
            assert!(n > 0, "the server has closed");
            reply.extend_from_slice(&buffer[..n]);
        }
        assert!(reply.starts_with(b"HTTP/1.1 200 OK\r\n"));
        reply.len()
    }

    fn cpu_time(&self) -> Duration {
        let (sender, time) = std_mpsc::channel();
        self.clock.send(sender).unwrap();
        time.recv().unwrap()
    }

    fn ask(&mut self, n_requests: usize) {
        let mut reply = vec![0; self.reply_len];
        for _ in 0..n_requests / N_CONNECTIONS {
            for stream in &mut self.connections {
                stream.write_all(&self.request).unwrap();
            }
            for stream in &mut self.connections {
                stream.read_exact(&mut reply).unwrap();
            }
        }
    }

    fn round(&mut self) {
        let before = self.cpu_time();
        self.ask(REQUESTS_PER_ROUND);
        let spent = self.cpu_time() - before;
        self.micros.push(spent.as_secs_f64() * 1e6 / REQUESTS_PER_ROUND as f64);
    }

    /// Returns the median time from a request to the first byte of its reply, on one connection.
    fn first_byte(&mut self) -> Duration {
        let mut reply = vec![0; self.reply_len];
        let stream = &mut self.connections[0];
        let time = |_| {
            let start = Instant::now();
            stream.write_all(&self.request).unwrap();
            stream.read_exact(&mut reply[..1]).unwrap();
            let spent = start.elapsed();
            stream.read_exact(&mut reply[1..]).unwrap();
            spent
        };
        let mut times: Vec<Duration> = (0..20_000).map(time).collect();
        times.sort();
        times[times.len() / 2]
    }
}

/// Builds a request of two kilobytes, as a client sends it in a second turn.
fn request(path: &str) -> Vec<u8> {
    let body = body();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nuser-agent: bench\r\nx-api-key: none\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

fn body() -> String {
    let tool = r#"{"name":"lookup","description":"Looks up.","input_schema":{"type":"object","properties":{"key":{"type":"string"}}}}"#;
    format!(
        r#"{{"model":"claude-haiku-4-5","stream":true,"max_tokens":1024,"tools":[{tool}],"messages":[{{"role":"user","content":"{}"}}]}}"#,
        "Look up the order. ".repeat(100)
    )
}

async fn serve_ours(writes: Writes, started: std_mpsc::Sender<(SocketAddr, String)>) {
    let server = Server::start(ServerLimits { writes, ..ServerLimits::STANDARD }).await.unwrap();
    let mut mount = server.mount(Core::new());
    let url = mount.base_url() + "/v1/messages";
    let path = url.strip_prefix(&format!("http://{}", server.addr())).unwrap();
    started.send((server.addr(), path.to_owned())).unwrap();
    while mount.next().await.is_some() {}
}

async fn serve_hyper(started: std_mpsc::Sender<(SocketAddr, String)>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    started.send((listener.local_addr().unwrap(), "/v1/messages".to_owned())).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut http = hyper::server::conn::http1::Builder::new();
        http.auto_date_header(false);
        tokio::spawn(http.serve_connection(TokioIo::new(stream), service_fn(reply_by_hyper)));
    }
}

async fn reply_by_hyper(
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<impl hyper::body::Body<Data = Bytes, Error = Infallible>>, hyper::Error> {
    // Our server reads the complete body too.
    request.into_body().collect().await?.to_bytes();
    let frames = frames().iter().map(|frame| Ok(Frame::data(frame.clone())));
    let body = StreamBody::new(futures::stream::iter(frames));
    let reply = hyper::Response::builder().header("content-type", "text/event-stream; charset=utf-8");
    Ok(reply.body(body).unwrap())
}

fn main() {
    let hyper = Contestant::start("hyper", serve_hyper);
    let start = Instant::now();
    let coalesced = Contestant::start("ours, coalesced", |started| serve_ours(Writes::Coalesced, started));
    let first_reply = start.elapsed();
    if std::env::args().any(|arg| arg == "--memory") {
        return look_at_memory(hyper, coalesced, first_reply);
    }
    let per_frame =
        Contestant::start("ours, a write per frame", |started| serve_ours(Writes::PerFrame, started));
    let mut contestants = [hyper, coalesced, per_frame];
    for contestant in &mut contestants {
        contestant.ask(REQUESTS_PER_ROUND / 4);
    }
    for _ in 0..N_ROUNDS {
        contestants.iter_mut().for_each(Contestant::round);
    }
    println!("CPU time of the server for a reply of 12 frames, {N_ROUNDS} rounds of {REQUESTS_PER_ROUND}");
    println!("{:<24} {:>10} {:>10} {:>22}", "server", "best µs", "median µs", "requests/CPU-s ÷ hyper");
    let yardstick = contestants[0].micros.clone();
    let mut wish = Wish::of_args("cargo bench --bench provider");
    for contestant in &mut contestants {
        let mut ratios: Vec<f64> =
            yardstick.iter().zip(&contestant.micros).map(|(hyper, ours)| hyper / ours).collect();
        ratios.sort_by(f64::total_cmp);
        contestant.micros.sort_by(f64::total_cmp);
        let (best, median) = (contestant.micros[0], contestant.micros[N_ROUNDS / 2]);
        let ratio = ratios[N_ROUNDS / 2];
        println!("{:<24} {best:>10.2} {median:>10.2} {ratio:>22.2}", contestant.name);
        let floors = [("bare hyper server, the same body", 1.0 / ratio)];
        let is_floor = contestant.name == "hyper";
        let what = format!("CPU time of a streamed reply of 12 frames: {}", contestant.name);
        wish.take(what, (median, "µs"), if is_floor { &[] } else { &floors });
    }
    assert!(wish.close(), "a ratio is much worse than it was");
}

fn look_at_memory(mut hyper: Contestant, mut ours: Contestant, first_reply: Duration) {
    let mut wish = Wish::of_args("cargo bench --bench provider -- --memory");
    println!("start of the server to the end of its first reply: {first_reply:.1?}");
    wish.take(
        "start of the server to the end of its first reply",
        (first_reply.as_secs_f64() * 1e3, "ms"),
        &[],
    );
    ours.ask(REQUESTS_FOR_MEMORY / 100);
    let before = resident_kib();
    ours.ask(REQUESTS_FOR_MEMORY);
    let after = resident_kib();
    println!("resident memory: {before} KiB, after {REQUESTS_FOR_MEMORY} more requests {after} KiB");
    wish.take("resident memory of client and servers, before", (before as f64 / 1024.0, "MiB"), &[]);
    wish.take(format!("the same after {REQUESTS_FOR_MEMORY} requests"), (after as f64 / 1024.0, "MiB"), &[]);
    let [floor, own] = [&mut hyper, &mut ours].map(|contestant| {
        let first_byte = contestant.first_byte().as_secs_f64() * 1e6;
        println!("request to first byte, median: {first_byte:.1} µs ({})", contestant.name);
        first_byte
    });
    wish.take("request to first byte, median", (own, "µs"), &[("bare hyper server", own / floor)]);
    assert!(wish.close(), "a ratio is much worse than it was");
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
