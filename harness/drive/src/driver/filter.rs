//! Filters in separate processes: JSON lines on standard input and output.
//!
//! The protocol is described in `harness/filters-under-test/README.md`. A filter that raises an error reports it in its
//! answer.
//! A process that dies, writes anything else or stops answering is broken, and that is not counted against
//! the filter.

mod manifest;

use std::path::{Path, PathBuf};
use std::pin::Pin;

use futures::{Stream, StreamExt};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::ChildStdin;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::error::DriverError;
use super::install::{self, Progress};
use super::lines::bounded;
use super::process::{Launch, Process};
use super::scratch::Scratch;
use super::stopwatch::within;
use brickbat_filter_suite::{Answer, Asked, Broken, Filter, Said};

pub use manifest::{FILTER_SHEET, FilterCatalogue, FilterManifest};

/// The maximum number of questions in flight. A driver answers each as soon as it can, so the window only has
/// to cover the latency of the pipe.
const WINDOW: usize = 64;

/// The number of answer bytes that are read at a time: the capacity of a pipe.
const READ_AT_ONCE: usize = 64 * 1024;

/// A filter. Its process is started when it is asked for the first time.
pub struct FilterProcess {
    launch: Launch,
    runtime: Handle,
    running: Option<Running>,
    n_asked: u64,
    /// The home folder for the process. It is removed with the last process in it.
    _scratch: Scratch,
}

/// A running process.
struct Running {
    process: Process,
    stdin: ChildStdin,
    lines: Pin<Box<dyn Stream<Item = Result<String, DriverError>> + Send>>,
}

impl FilterProcess {
    /// Installs a filter if it is not installed yet. Its process is started later.
    pub fn prepare(
        manifest: &FilterManifest,
        (cache, supervisor): (&Path, &Path),
        runtime: Handle,
        progress: Progress<'_>,
    ) -> Result<FilterProcess, DriverError> {
        let manifest = &manifest.system;
        let launch = runtime.block_on(install::launch(manifest, cache, supervisor, progress))?;
        let scratch = runtime.block_on(Scratch::create(supervisor))?;
        let launch = Launch { scratch: Some(PathBuf::from(scratch.path())), ..launch };
        Ok(FilterProcess { launch, runtime, running: None, n_asked: 0, _scratch: scratch })
    }

    async fn start(launch: &Launch) -> Result<Running, DriverError> {
        let (process, pipes) = Process::start(launch).await?;
        let stdout = BufReader::with_capacity(READ_AT_ONCE, pipes.stdout);
        let lines = bounded(stdout, launch.limits.line_bytes);
        Ok(Running { process, stdin: pipes.stdin, lines: Box::pin(lines) })
    }
}

impl Filter for FilterProcess {
    fn ask(&mut self, asked: &[Asked]) -> Result<Vec<Said>, Broken> {
        let first = self.n_asked;
        self.n_asked += asked.len() as u64;
        let lines = asked.iter().zip(first..).map(|(asked, id)| asked.to_line(id) + "\n").collect::<Vec<_>>();
        let FilterProcess { launch, runtime, running, .. } = self;
        let answers = runtime.block_on(async {
            if running.is_none() {
                *running = Some(FilterProcess::start(launch).await?);
            }
            match running {
                Some(running) => running.ask(&lines, first, launch).await,
                None => Ok(Vec::new()),
            }
        });
        answers.map_err(|error| {
            self.running = None;
            Broken(error.to_string())
        })
    }

    fn fresh(&mut self) -> Result<(), Broken> {
        if let Some(running) = self.running.take() {
            running.process.kill();
            self.runtime.block_on(running.process.ended());
        }
        Ok(())
    }
}

impl Running {
    /// Writes the questions, several at a time, and reads all answers.
    async fn ask(&mut self, lines: &[String], first: u64, launch: &Launch) -> Result<Vec<Said>, DriverError> {
        let window = Semaphore::new(WINDOW);
        let Running { process, stdin, lines: answers } = self;
        let write = async {
            let mut left = lines;
            while !left.is_empty() {
                let Ok(permit) = window.acquire().await else { break };
                permit.forget();
                let mut n = 1;
                // Everything that fits the window is written at once, because one line at a time costs both
                // ends a system call each.
                while n < left.len() && window.try_acquire().map(SemaphorePermit::forget).is_ok() {
                    n += 1;
                }
                let (next, rest) = left.split_at(n);
                // The driver does not answer what it did not read. The reader reports how it ended.
                if stdin.write_all(next.concat().as_bytes()).await.is_err() {
                    break;
                }
                left = rest;
            }
            std::future::pending::<()>().await;
        };
        let mut said: Vec<Option<Said>> = vec![None; lines.len()];
        let read = async {
            let mut n_left = lines.len();
            while n_left > 0 {
                // The first answer also waits for the SDK to start.
                let line = within(process.id(), launch.limits.start, answers.next()).await;
                let Ok(line) = line else {
                    return Err(DriverError::AnswerTimedOut {
                        method: format!("{n_left} of {} questions", lines.len()),
                        waited: launch.limits.start,
                        stderr: process.stderr(),
                    });
                };
                let Some(line) = line.transpose()? else { return Err(process.seen_off().await) };
                if line.trim().is_empty() {
                    continue;
                }
                let answer = Answer::parse(&line).map_err(|words| DriverError::violation(words, &line))?;
                let place = answer.id.checked_sub(first).and_then(|n| usize::try_from(n).ok());
                match place.and_then(|place| said.get_mut(place)) {
                    Some(free @ None) => *free = Some(answer.said),
                    _ => {
                        return Err(DriverError::violation(
                            "no open question has the id of this answer",
                            &line,
                        ));
                    }
                }
                n_left -= 1;
                window.add_permits(1);
            }
            Ok(())
        };
        tokio::select! {
            read = read => read?,
            () = write => {}
        }
        Ok(said.into_iter().flatten().collect())
    }
}
