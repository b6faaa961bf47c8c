//! Brickbat, killed with `kill -9` at random moments, leaves no process and no temporary folder.
//!
//! This is a program of its own, because each run is also a process that can be killed. `BRICKBAT_KILLS` sets
//! how many runs are killed, and `BRICKBAT_KILL_SEED` when. The victim is a small owner of nasty adapters, or
//! brickbat itself with the arguments in `BRICKBAT_KILL_COMMAND`, such as `run --system ai-sdk abort/`.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "common/polite.rs"]
mod polite;

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
    #[cfg(not(target_os = "linux"))]
    println!("processes are counted through /proc: nothing is tested here");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io::{Read, Write, pipe};
    use std::path::Path;
    use std::process::{Command, ExitStatus, Stdio};
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use brickbat_drive::driver::{Adapter, Launch, Scratch, SessionEvent};
    use rustix::io::{FdFlags, fcntl_setfd};
    use tempfile::TempDir;

    use crate::polite::{POLITE, launch, spec};

    const SUPERVISOR: &str = env!("CARGO_BIN_EXE_brickbat");

    /// The argument that makes this program the owner.
    const OWNER: &str = "--owner";

    /// Runs that are killed: enough to meet each stage of a run, in some seconds.
    const N_KILLS: u64 = 30;

    /// Runs that are not killed, to measure how long one takes.
    const N_WHOLE: u64 = 3;

    /// The variable that identifies each process of a run: all of them inherit it.
    const MARKER: &str = "BRICKBAT_TEST_RUN";

    /// All remains disappear within milliseconds; longer than this counts as forever.
    const PATIENCE: Duration = Duration::from_secs(60);

    pub(super) fn main() {
        let args: Vec<String> = std::env::args().skip(1).collect();
        if args.iter().any(|arg| arg == OWNER) {
            return own();
        }
        // `cargo test NAME` passes the name to every test program.
        if args.iter().any(|arg| !arg.starts_with('-') && !"kills".contains(arg.as_str())) {
            return println!("kills: filtered out");
        }
        if args.iter().any(|arg| arg == "--list") {
            return println!("kills: test");
        }
        leftovers_are_found();
        kills();
    }

    fn number(name: &str, otherwise: u64) -> u64 {
        std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
    }

    fn kills() {
        let (n_kills, seed) = (number("BRICKBAT_KILLS", N_KILLS), number("BRICKBAT_KILL_SEED", 1));
        // The quickest of some: a moment after the end of a run would prove nothing.
        let length = (0..N_WHOLE).map(whole).min().unwrap();
        let (mut random, mut n_early, mut slowest) = (seed, 0, Duration::ZERO);
        for n in 0..n_kills {
            random = mixed(random);
            let victim = Victim::start(&format!("{seed}-{n}"));
            let moment = length.mul_f64((random >> 11) as f64 / (1_u64 << 53) as f64);
            #[expect(
                clippy::disallowed_methods,
                reason = "a run is killed at a moment in time, whatever it does just then"
            )]
            thread::sleep(moment);
            let (status, cleaning) = victim.end(Some(n));
            n_early += u64::from(status.code().is_none());
            slowest = slowest.max(cleaning);
        }
        println!(
            "kills: {n_kills} runs of {length:?} killed with seed {seed}, {n_early} of them before their end; \
             nothing is left; the slowest was cleaned up in {slowest:?}"
        );
        assert!(2 * n_early >= n_kills, "most runs were over before they were killed");
    }

    /// How long a run takes that is not killed.
    fn whole(n: u64) -> Duration {
        let started = Instant::now();
        let (status, _) = Victim::start(&format!("whole-{n}")).end(None);
        // A run with findings is fine, too, but one that fails to run would prove nothing.
        assert!(matches!(status.code(), Some(0 | 1)), "the run by itself ended with {status}");
        started.elapsed()
    }

    /// The next number of a sequence that looks random.
    fn mixed(state: u64) -> u64 {
        let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A run that can be killed.
    struct Victim {
        child: std::process::Child,
        marker: String,
        temporary: TempDir,
        /// Every process of the run holds the other end.
        alive: std::io::PipeReader,
    }

    impl Victim {
        fn start(name: &str) -> Victim {
            let marker = format!("{}-{name}", std::process::id());
            let temporary = TempDir::new().unwrap();
            let (alive, held) = pipe().unwrap();
            fcntl_setfd(&held, FdFlags::empty()).unwrap();
            let mut command = match std::env::var("BRICKBAT_KILL_COMMAND") {
                Ok(words) => {
                    let mut command = Command::new(SUPERVISOR);
                    command.args(words.split_whitespace());
                    command
                }
                Err(_) => {
                    let mut command = Command::new(std::env::current_exe().unwrap());
                    command.arg(OWNER);
                    command
                }
            };
            command.env(MARKER, &marker).env("TMPDIR", temporary.path());
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            Victim { child: child.unwrap(), marker, temporary, alive }
        }

        /// Kills it, or lets it exit by itself, and waits until no process holds the pipe. Nothing may be
        /// left then.
        fn end(mut self, killed: Option<u64>) -> (ExitStatus, Duration) {
            if killed.is_some() {
                self.child.kill().unwrap();
            }
            let status = self.child.wait().unwrap();
            let ended = Instant::now();
            let (sender, over) = mpsc::channel();
            let mut alive = self.alive;
            thread::spawn(move || sender.send(alive.read_to_end(&mut Vec::new()).unwrap()));
            let over = over.recv_timeout(PATIENCE);
            let cleaning = ended.elapsed();
            let (processes, folders) = (processes(&self.marker), entries(self.temporary.path()));
            let left = format!("run {killed:?} left the processes {processes:?} and the folders {folders:?}");
            assert!(over.is_ok() && processes.is_empty() && folders.is_empty(), "{left}");
            (status, cleaning)
        }
    }

    /// The command lines of the processes that have the marker.
    fn processes(marker: &str) -> Vec<String> {
        let wanted = format!("{MARKER}={marker}");
        let carries = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        };
        let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let marked = all.filter(|process| carries(process));
        marked.map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default()).collect()
    }

    fn entries(folder: &Path) -> Vec<String> {
        let all = fs::read_dir(folder).unwrap();
        all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// Checks that the search finds leftovers.
    fn leftovers_are_found() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("brickbat-left")).unwrap();
        assert_eq!(entries(folder.path()), ["brickbat-left"]);
        let marker = format!("{}-left", std::process::id());
        let mut left = Command::new("cat")
            .env(MARKER, &marker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that has not finished its `exec` has no environment to read yet. One that answers has.
        left.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        left.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(processes(&marker), ["cat\0"]);
        left.kill().unwrap();
        left.wait().unwrap();
        assert!(processes(&marker).is_empty());
    }

    /// Adapters of the owner, one after the other.
    const N_ADAPTERS: usize = 3;

    /// The leftovers of an adapter: a child, a daemon in a session of its own, a process that ignores
    /// signals, files.
    const NASTY: &str = r#"
sleep 600 &
setsid sh -c 'setsid sh -c "trap \"\" TERM INT HUP; sleep 600; sleep 600" &'
trap '' TERM INT HUP
mkdir -p "$XDG_DATA_HOME/sh" && echo x > "$XDG_DATA_HOME/sh/x"
echo y > "$TMPDIR/y"
"#;

    /// The part of a run that uses adapters, without judging them.
    fn own() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = Scratch::create(Path::new(SUPERVISOR)).await.unwrap();
            for _ in 0..N_ADAPTERS {
                turn(&folder).await;
            }
        });
    }

    async fn turn(folder: &Scratch) {
        let script = format!("{NASTY}{POLITE}");
        let answer = r#"outcome '{"kind":"returned"}'"#;
        let launch = Launch { scratch: Some(folder.path().to_owned()), ..launch(&script, answer) };
        let adapter = Adapter::start(&launch).await.unwrap();
        let spec = spec(&folder.path().join("state"));
        let mut session = adapter.open(&spec).await.unwrap();
        session.prompt("hello").await.unwrap();
        assert!(matches!(session.next().await, Some(SessionEvent::Ended(_))));
    }
}
