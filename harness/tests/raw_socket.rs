//! Plays every ending over real sockets to a client that knows only the URLs of the server.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

mod gates;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use brickbat_drive::server::{Answerer, Mount, Server, ServerEvent, ServerLimits, Writes};
use brickbat_engine::provider::{Answer, Frames, Hold, Request, Sent};
use brickbat_scenario::plan::{Mark, Side, ToolOutcome};
use brickbat_scenario::trace::{Confidence, Ending, Event, ExchangeId, Held, RequestHead, RequestKind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;

/// How often each ending is played: all must be right.
const N_ROUNDS: usize = 200;

/// A test that hangs fails after this time instead.
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers by path, with frames `frame 0`, `frame 1` and so on.
struct Fake {
    n_asked: u32,
}

const N_FRAMES: usize = 12;

impl Answerer for Fake {
    fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        assert_ne!(request.path, "/panic", "asked for");
        let exchange = ExchangeId(self.n_asked);
        self.n_asked += 1;
        let mut frames = Frames::default();
        let held = Held { mark: Mark::Text(3), side: Side::After };
        let mut holds = Vec::new();
        let mut hold = |after| holds.push(Hold { after, at: held });
        let (status, streamed, ending, n_frames) = match request.path {
            "/end-early" => (200, true, Ending::EndEarly, 7),
            "/eof" => (200, true, Ending::Eof, 7),
            "/reset" => (200, true, Ending::Reset, 7),
            "/error" => (200, true, Ending::ErrorEvent, 7),
            "/status" => (529, false, Ending::Status, 1),
            "/cut-body" => (200, false, Ending::Eof, 1),
            "/big" => (200, true, Ending::Complete, 4000),
            _ => (200, true, Ending::Complete, N_FRAMES),
        };
        match request.path {
            "/hold" => hold(Sent::Frames(3)),
            "/hold-all" => {
                hold(Sent::Nothing);
                hold(Sent::Frames(0));
                hold(Sent::Frames(3));
                hold(Sent::Frames(N_FRAMES));
            }
            _ => {}
        }
        for idx in 0..n_frames {
            frames.push_with(|bytes| bytes.extend_from_slice(frame(idx).as_bytes()));
        }
        if request.path == "/echo" {
            frames = Frames::default();
            frames.push_with(|bytes| bytes.extend_from_slice(request.body));
        }
        let headers = vec![("content-type", "text/event-stream".into())];
        let (asked, compacted, summary) = (RequestHead::default(), false, None);
        (
            RequestKind::Surplus,
            Answer { exchange, asked, compacted, summary, status, headers, streamed, frames, holds, ending },
        )
    }
}

fn frame(idx: usize) -> String {
    format!("data: frame {idx}\n\n")
}

fn frames(n: usize) -> Vec<String> {
    (0..n).map(frame).collect()
}

/// How a body ended, for the client.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// As framed.
    Whole,
    /// FIN inside the body.
    Fin,
    /// RST.
    Rst,
}

/// A client of one connection.
struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    fn connect(url: &str) -> Client {
        let (authority, _) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let stream = TcpStream::connect(authority).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { stream, unread: Vec::new() }
    }

    fn send(&mut self, url: &str, body: &[u8]) {
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n",
            path(url),
            body.len()
        );
        self.stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    }

    fn fill(&mut self) -> Result<(), End> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(End::Fin),
            Ok(n) => {
                self.unread.extend_from_slice(&buffer[..n]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Err(End::Rst),
            Err(error) => panic!("nothing came: {error}"),
        }
    }

    fn take(&mut self, n: usize) -> Result<Vec<u8>, End> {
        while self.unread.len() < n {
            self.fill()?;
        }
        Ok(self.unread.drain(..n).collect())
    }

    fn line(&mut self) -> Result<String, End> {
        loop {
            if let Some(at) = self.unread.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.take(at + 2)?;
                return Ok(String::from_utf8(line[..at].to_vec()).unwrap());
            }
            self.fill()?;
        }
    }

    /// Status and header lines.
    fn head(&mut self) -> Result<(u16, Vec<String>), End> {
        let status = self.line()?.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            match self.line()? {
                line if line.is_empty() => return Ok((status, headers)),
                line => headers.push(line),
            }
        }
    }

    fn chunk(&mut self) -> Result<Option<String>, End> {
        let n = usize::from_str_radix(&self.line()?, 16).unwrap();
        let chunk = self.take(n + 2)?;
        assert!(chunk.ends_with(b"\r\n"));
        Ok((n > 0).then(|| String::from_utf8(chunk[..n].to_vec()).unwrap()))
    }

    /// The chunks of a body, or its complete text if it has a length, and its end.
    fn body(&mut self, headers: &[String]) -> (Vec<String>, End) {
        if let Some(n) = headers.iter().find_map(|line| line.strip_prefix("content-length: ")) {
            return match self.take(n.parse().unwrap()) {
                Ok(body) => (vec![String::from_utf8(body).unwrap()], End::Whole),
                Err(end) => (Vec::new(), end),
            };
        }
        let mut chunks = Vec::new();
        loop {
            match self.chunk() {
                Ok(Some(chunk)) => chunks.push(chunk),
                Ok(None) => return (chunks, End::Whole),
                Err(end) => return (chunks, end),
            }
        }
    }

    fn ask(&mut self, url: &str, body: &[u8]) -> (u16, Vec<String>, End) {
        self.send(url, body);
        let (status, headers) = self.head().unwrap();
        let (chunks, end) = self.body(&headers);
        (status, chunks, end)
    }
}

fn path(url: &str) -> &str {
    &url[url.strip_prefix("http://").unwrap().find('/').unwrap() + "http://".len()..]
}

/// A server with one mount. The test receives its events and releases its holds.
struct Bench {
    runtime: Runtime,
    server: Server,
    mount: Mount<Fake>,
}

impl Bench {
    fn new(limits: ServerLimits) -> Bench {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(limits)).unwrap();
        let mount = server.mount(Fake { n_asked: 0 });
        Bench { runtime, server, mount }
    }

    fn url(&self, path: &str) -> String {
        self.mount.base_url() + path
    }

    fn next(&mut self) -> ServerEvent {
        let next = async { tokio::time::timeout(PATIENCE, self.mount.next()).await };
        self.runtime.block_on(next).expect("nothing was seen").unwrap()
    }

    fn requested(&mut self) -> ExchangeId {
        match self.next() {
            ServerEvent::Trace(Event::Requested { exchange, .. }) => exchange,
            other => panic!("not a request: {other:?}"),
        }
    }
}

fn plays(path: &str, writes: Writes, expected: (u16, Vec<String>, End), ending: Ending) {
    let mut bench = Bench::new(ServerLimits { writes, ..ServerLimits::STANDARD });
    let url = bench.url(path);
    let mut client = Client::connect(&url);
    for round in 0..N_ROUNDS {
        let answer = client.ask(&url, b"{}");
        assert_eq!(answer, expected, "round {round}");
        let exchange = bench.requested();
        assert_eq!(exchange, ExchangeId(u32::try_from(round).unwrap()));
        assert_eq!(bench.next(), ServerEvent::Trace(Event::Replied { exchange, ending }));
        if matches!(ending, Ending::Eof | Ending::Reset | Ending::ErrorEvent) {
            client = Client::connect(&url);
        }
    }
}

#[test]
fn a_complete_body_arrives_completely_and_the_connection_stays() {
    plays("/complete", Writes::PerFrame, (200, frames(N_FRAMES), End::Whole), Ending::Complete);
    plays("/complete", Writes::Coalesced, (200, frames(N_FRAMES), End::Whole), Ending::Complete);
}

#[test]
fn early_end_is_a_proper_end() {
    plays("/end-early", Writes::PerFrame, (200, frames(7), End::Whole), Ending::EndEarly);
}

#[test]
fn eof_comes_inside_the_body_after_all_frames() {
    plays("/eof", Writes::PerFrame, (200, frames(7), End::Fin), Ending::Eof);
    plays("/eof", Writes::Coalesced, (200, frames(7), End::Fin), Ending::Eof);
}

#[test]
fn a_reset_loses_no_frame() {
    plays("/reset", Writes::PerFrame, (200, frames(7), End::Rst), Ending::Reset);
    plays("/reset", Writes::Coalesced, (200, frames(7), End::Rst), Ending::Reset);
}

#[test]
fn error_event_ends_the_body_and_the_connection() {
    plays("/error", Writes::PerFrame, (200, frames(7), End::Whole), Ending::ErrorEvent);
    let bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.url("/error");
    let mut client = Client::connect(&url);
    client.ask(&url, b"{}");
    assert_eq!(client.fill(), Err(End::Fin));
}

#[test]
fn status_has_a_length_and_connection_stays() {
    plays("/status", Writes::PerFrame, (529, frames(1), End::Whole), Ending::Status);
}

#[test]
fn a_cut_body_of_known_length_is_detected_as_cut() {
    plays("/cut-body", Writes::PerFrame, (200, Vec::new(), End::Fin), Ending::Eof);
}

#[test]
fn held_reply_stalls_until_released() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.url("/hold");
    let mut client = Client::connect(&url);
    for _ in 0..N_ROUNDS {
        client.send(&url, b"{}");
        let (status, _) = client.head().unwrap();
        assert_eq!(status, 200);
        let held: Vec<String> = (0..3).map(|_| client.chunk().unwrap().unwrap()).collect();
        assert_eq!(held, frames(3));
        let exchange = bench.requested();
        let at = Held { mark: Mark::Text(3), side: Side::After };
        assert_eq!(bench.next(), ServerEvent::Trace(Event::Held { exchange, at, grade: Confidence::Read }));
        client.stream.set_nonblocking(true).unwrap();
        let more = client.stream.read(&mut [0; 1]);
        assert_eq!(more.unwrap_err().kind(), ErrorKind::WouldBlock);
        client.stream.set_nonblocking(false).unwrap();
        bench.mount.release(exchange);
        let (rest, end) = client.body(&[]);
        assert_eq!((rest, end), (frames(N_FRAMES)[3..].to_vec(), End::Whole));
        assert_eq!(bench.next(), ServerEvent::Trace(Event::Replied { exchange, ending: Ending::Complete }));
    }
}

#[test]
fn reply_may_be_held_before_the_head_and_after_the_last_frame() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.url("/hold-all");
    let asked = url.clone();
    let client = thread::spawn(move || Client::connect(&asked).ask(&asked, b"{}"));
    let exchange = bench.requested();
    for _ in 0..4 {
        assert!(matches!(bench.next(), ServerEvent::Trace(Event::Held { grade: Confidence::Read, .. })));
        bench.mount.release(exchange);
    }
    assert_eq!(bench.next(), ServerEvent::Trace(Event::Replied { exchange, ending: Ending::Complete }));
    assert_eq!(client.join().unwrap(), (200, frames(N_FRAMES), End::Whole));
}

#[test]
fn peer_that_does_not_read_is_only_written_to() {
    let mut bench =
        Bench::new(ServerLimits { receipt_time: Duration::from_millis(50), ..ServerLimits::STANDARD });
    let url = bench.url("/hold");
    let mut client = Client::connect(&url);
    client.send(&url, b"{}");
    bench.requested();
    assert!(matches!(bench.next(), ServerEvent::Trace(Event::Held { grade: Confidence::Written, .. })));
}

#[test]
fn a_peer_that_closes_during_a_hold_is_detected() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.url("/hold");
    for _ in 0..N_ROUNDS {
        let mut client = Client::connect(&url);
        client.send(&url, b"{}");
        client.head().unwrap();
        for _ in 0..3 {
            client.chunk().unwrap();
        }
        let exchange = bench.requested();
        assert!(matches!(bench.next(), ServerEvent::Trace(Event::Held { grade: Confidence::Read, .. })));
        drop(client);
        assert_eq!(bench.next(), ServerEvent::Trace(Event::PeerClosed { exchange }));
    }
}

#[test]
fn chunked_and_awaited_request_bodies_are_read() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.url("/echo?api-version=1");
    let mut client = Client::connect(&url);
    let head = format!("POST {} HTTP/1.1\r\ntransfer-encoding: chunked\r\n", path(&url));
    client.stream.write_all(head.as_bytes()).unwrap();
    for byte in b"expect: 100-continue\r\n\r\n" {
        client.stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(client.head().unwrap().0, 100);
    for piece in ["4;x=y\r\nab", "cd\r", "\n3\r\nefg\r\n0", "\r\ntrailer: x\r\n", "\r\n"] {
        client.stream.write_all(piece.as_bytes()).unwrap();
    }
    let (status, headers) = client.head().unwrap();
    assert_eq!((status, client.body(&headers)), (200, (vec!["abcdefg".to_owned()], End::Whole)));
    assert!(
        matches!(bench.next(), ServerEvent::Trace(Event::Requested { body, .. }) if &*body == b"abcdefg")
    );
    let large = "x".repeat(20 << 20);
    assert_eq!(client.ask(&url, large.as_bytes()), (200, vec![large], End::Whole));
}

#[test]
fn malformed_requests_are_refused_in_json() {
    let bench = Bench::new(ServerLimits { body_bytes: 1 << 20, ..ServerLimits::STANDARD });
    let large = format!("{:x}\r\n", 2 << 20);
    let over = [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 404),
        ("GET /p/17/v1/messages HTTP/1.1\r\n\r\n".to_owned(), 404),
        (format!("GET {} HTTP/1.1\r\n\r\n", path(&bench.mount.gate_url("x"))), 405),
        ("POST / HTTP/1.1\r\ncontent-length: 1000000000\r\n\r\n".to_owned(), 413),
        ("POST / HTTP/1.1\r\ncontent-length: 99999999999999999999999\r\n\r\n".to_owned(), 413),
        (format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{large}"), 413),
        ("POST / HTTP/1.1\r\ncontent-length: +1\r\n\r\n".to_owned(), 400),
        ("POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".to_owned(), 400),
        ("POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(), 400),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(), 400),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), 505),
        ("\u{16}\u{3}\u{1}\0\u{5}not http at all\r\n\r\n".to_owned(), 400),
        (format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(70_000)), 431),
    ];
    for (bytes, expected) in over {
        let mut client = Client::connect(&bench.url("/"));
        client.stream.write_all(bytes.as_bytes()).unwrap();
        let (status, headers) = client.head().unwrap();
        assert_eq!(status, expected, "{bytes:.60}");
        let (body, end) = client.body(&headers);
        assert!(body[0].starts_with(r#"{"error":{"#) && end == End::Whole, "{body:?}");
    }
}

#[test]
fn a_foreign_host_and_a_foreign_page_are_refused_before_anything_is_answered() {
    let bench = Bench::new(ServerLimits::STANDARD);
    let path = path(&bench.mount.base_url()).to_owned() + "/complete";
    let status_of = |path: &str, headers: &str| {
        let mut client = Client::connect(&bench.url("/"));
        client.stream.write_all(format!("GET {path} HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
        client.head().unwrap().0
    };
    for headers in [
        "",
        "Host: localhost:80\r\n",
        "Host: [::1]:80\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: 127.0.0.1\r\nSec-Fetch-Site: none\r\n",
    ] {
        assert_eq!(status_of(&path, headers), 200, "{headers}");
    }
    for headers in [
        "Host: evil.example\r\n",
        "Host: 127.0.0.1\r\nHost: evil.example\r\n",
        "Host:\r\n",
        "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n",
        "Host: 127.0.0.1\r\nORIGIN: null\r\n",
        "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n",
    ] {
        assert_eq!(status_of(&path, headers), 403, "{headers}");
    }
    let absolute = format!("http://evil.example{path}");
    assert_eq!(status_of(&absolute, "Host: 127.0.0.1\r\n"), 403);
    assert_eq!(status_of(&absolute.replace("evil.example", "LOCALHOST"), "Host: 127.0.0.1\r\n"), 200);
}

#[test]
fn a_server_without_its_only_mount_asks_to_retry() {
    let Bench { runtime, server, mount } = Bench::new(ServerLimits::STANDARD);
    let root = server.mount_at_root(Fake { n_asked: 0 });
    let url = root.base_url() + "/complete";
    let mut client = Client::connect(&url);
    assert_eq!(client.ask(&url, b"{}").0, 200);
    drop(root);
    client.send(&url, b"{}");
    let (status, headers) = client.head().unwrap();
    assert!(status == 503 && headers.iter().any(|header| header == "connection: close"), "{headers:?}");
    drop((mount, server, runtime));
}

#[test]
fn a_half_sent_request_times_out() {
    let bench =
        Bench::new(ServerLimits { request_time: Duration::from_millis(50), ..ServerLimits::STANDARD });
    let mut client = Client::connect(&bench.url("/"));
    client.stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhal").unwrap();
    assert_eq!(client.head().unwrap().0, 408);
}

#[test]
fn a_panic_of_a_core_is_reported_and_affects_no_other_plan() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let other = bench.server.mount(Fake { n_asked: 0 });
    let url = bench.url("/panic");
    let mut client = Client::connect(&url);
    assert_eq!(client.ask(&url, b"{}").0, 500);
    assert_eq!(bench.next(), ServerEvent::Broken);
    let url = other.base_url() + "/complete";
    assert_eq!(client.ask(&url, b"{}"), (200, frames(N_FRAMES), End::Whole));
}

#[test]
fn unmounting_closes_only_requests_in_progress() {
    let bench = Bench::new(ServerLimits::STANDARD);
    let mut other = bench.server.mount(Fake { n_asked: 0 });
    let url = other.base_url() + "/hold";
    let mut held = Client::connect(&url);
    held.send(&url, b"{}");
    held.head().unwrap();
    for _ in 0..3 {
        held.chunk().unwrap();
    }
    let mut gate = Client::connect(&url);
    gate.send(&other.gate_url("x"), b"{}");
    let mut idle = Client::connect(&url);
    let complete = other.base_url() + "/complete";
    idle.ask(&complete, b"{}");
    let mut unread = Client::connect(&url);
    unread.send(&(other.base_url() + "/big"), b"{}");
    bench.runtime.block_on(async {
        let mut open = 0;
        while open < 2 {
            let seen = tokio::time::timeout(PATIENCE, other.next()).await.unwrap().unwrap();
            open += usize::from(matches!(
                seen,
                ServerEvent::Trace(Event::Held { .. }) | ServerEvent::GateOpened { .. }
            ));
        }
    });
    drop(other);
    assert_eq!(held.body(&[]).1, End::Fin);
    assert_eq!(gate.head(), Err(End::Fin));
    assert_eq!(idle.ask(&complete, b"{}").0, 404);
    let here = bench.url("/complete");
    assert_eq!(idle.ask(&here, b"{}"), (200, frames(N_FRAMES), End::Whole));
}

#[test]
fn last_handle_stops_the_server() {
    let Bench { runtime, server, mount } = Bench::new(ServerLimits::STANDARD);
    let url = mount.base_url();
    let mut client = Client::connect(&url);
    drop(server);
    assert_eq!(client.ask(&(url.clone() + "/complete"), b"{}").0, 200);
    drop(mount);
    assert_eq!(client.fill(), Err(End::Fin));
    drop(runtime);
}

#[test]
fn connections_beyond_the_bound_get_503() {
    let mut bench = Bench::new(ServerLimits { n_connections: 2, ..ServerLimits::STANDARD });
    let url = bench.url("/hold");
    let mut held: Vec<Client> = (0..2).map(|_| Client::connect(&url)).collect();
    for client in &mut held {
        client.send(&url, b"{}");
        client.head().unwrap();
    }
    let mut third = Client::connect(&url);
    assert_eq!(third.head().unwrap().0, 503);
    drop(held.pop());
    while !matches!(bench.next(), ServerEvent::Trace(Event::PeerClosed { .. })) {}
    let complete = bench.url("/complete");
    let retried = (0..1000).any(|_| {
        let mut client = Client::connect(&complete);
        client.send(&complete, b"{}");
        client.head().is_ok_and(|(status, _)| status == 200)
    });
    assert!(retried);
}

#[test]
fn strangers_do_not_disturb_a_plan() {
    let mut bench = Bench::new(ServerLimits::STANDARD);
    let url = bench.url("/complete");
    let (address, n_strangers) = (bench.server.addr(), n_strangers());
    let (all_here, here) = mpsc::channel();
    let (stop, stopped) = mpsc::channel::<()>();
    let strangers = thread::spawn(move || {
        let mut open = Vec::new();
        for idx in 0..n_strangers {
            let mut stream = TcpStream::connect(address).unwrap();
            let bytes: &[u8] = match idx % 5 {
                0 => b"POST /p/0/complete HTTP/1.1\r\ncontent-length: 1000000000\r\n\r\n",
                1 => b"\0\xff\xfe not http \r\n\r\n",
                2 => b"POST /p/0/complete HTTP/1.1\r\ncontent-length: 10\r\n\r\nhalf",
                3 => b"POST /p/0/comp",
                _ => b"",
            };
            // A stranger may be disconnected before it has sent anything.
            let _ = stream.write_all(bytes);
            open.push(stream);
        }
        all_here.send(()).unwrap();
        stopped.recv().unwrap();
    });
    let mut n_rounds_left = N_ROUNDS;
    while n_rounds_left > 0 {
        if here.try_recv().is_ok() || n_rounds_left < N_ROUNDS {
            n_rounds_left -= 1;
        }
        // A connection of its own for each request, so that each competes for a place.
        assert_eq!(Client::connect(&url).ask(&url, b"{}"), (200, frames(N_FRAMES), End::Whole));
        let exchange = bench.requested();
        assert_eq!(bench.next(), ServerEvent::Trace(Event::Replied { exchange, ending: Ending::Complete }));
    }
    stop.send(()).unwrap();
    strangers.join().unwrap();
}

/// 10,000, or what the limit of open files leaves when both ends are in this process.
fn n_strangers() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // If the limit may not be raised, fewer strangers connect.
    let _ = setrlimit(Resource::Nofile, raised);
    let open_files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    open_files.saturating_sub(1500).min(10_000)
}
