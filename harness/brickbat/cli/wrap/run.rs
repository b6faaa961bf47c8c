//! One run of the wrapped program, and how it ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use crate::cli::error::CliError;
use crate::cli::interrupt::asked_to_end;
use crate::cli::output::tell;
use crate::cli::served;
use brickbat_drive::driver::program::Program;
use brickbat_drive::strict_server::{Seen, StrictServer};
use brickbat_engine::standalone::{Log, ProgramEnd};
use brickbat_scenario::trace::ExchangeId;

/// How programs are started.
pub(super) struct Starter<'a> {
    pub(super) supervisor: &'a Path,
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) without: &'a [&'a str],
    pub(super) timeout: Duration,
}

/// A finished run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) ended: Ended,
    /// The number of requests for a reply in this run.
    pub(super) n_requests: u64,
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The program ended on its own.
    ByItself(ExitStatus),
    /// It was ended at the chosen point.
    AtPoint { end: ProgramEnd, status: Option<ExitStatus> },
    /// It exceeded the time limit.
    TimedOut,
    /// The user interrupted Brickbat.
    Interrupted,
}

/// How long an interrupted program may take while its reply is held, and then while the reply continues. It
/// saves its session meanwhile.
const HELD_WAIT: Duration = Duration::from_secs(10);
const FLOWING_WAIT: Duration = Duration::from_secs(20);

impl Starter<'_> {
    /// Runs a program to its end, and prints the provider's notices meanwhile.
    pub(super) async fn run(&self, command: &[String], server: &mut StrictServer) -> Result<Ended, CliError> {
        let program = Program::start(command, self.variables, self.without, self.supervisor).await;
        let mut program = program.map_err(CliError::input)?;
        let ended = self.watch(&mut program, server).await;
        program.kill();
        // After this, no process of the program can send a request.
        let _ = program.ended().await;
        server.caught_up().await;
        for seen in server.unread() {
            match seen {
                Seen::Notice(notice) => tell(prefixed(&served::line(&notice))),
                Seen::EndProgram(exchange, ..) => server.release(exchange),
            }
        }
        ended
    }

    async fn watch(&self, program: &mut Program, server: &mut StrictServer) -> Result<Ended, CliError> {
        let timeout = tokio::time::timeout(self.timeout, std::future::pending::<()>());
        tokio::pin!(timeout);
        // The end for which the time has begun, with its exchange.
        let mut pending = None;
        let mut delay = Box::pin(tokio::time::timeout(self.timeout, std::future::pending::<()>()));
        loop {
            tokio::select! {
                status = program.ended() => return Ok(Ended::ByItself(status.map_err(CliError::start)?)),
                seen = server.next() => match seen {
                    Some(Seen::Notice(notice)) => tell(prefixed(&served::line(&notice))),
                    Some(Seen::EndProgram(exchange, end, later)) if !later.is_zero() => {
                        pending = Some((exchange, end));
                        delay = Box::pin(tokio::time::timeout(later, std::future::pending::<()>()));
                    }
                    // The next request has come before the time was over.
                    Some(Seen::EndProgram(exchange, end, _)) => {
                        server.end_program_no_more();
                        return end_program(program, server, exchange, end).await;
                    }
                    None => return Err(CliError::start("the provider has ended")),
                },
                _ = &mut delay, if pending.is_some() => {
                    if let Some((exchange, end)) = pending {
                        server.end_program_no_more();
                        return end_program(program, server, exchange, end).await;
                    }
                }
                _ = &mut timeout => return Ok(Ended::TimedOut),
                () = asked_to_end() => return Ok(Ended::Interrupted),
            }
        }
    }
}

/// Ends a program at its point. The reply is held until the program has ended, or only for a while if the
/// program waits for the rest of the reply.
async fn end_program(
    program: &mut Program,
    server: &StrictServer,
    exchange: ExchangeId,
    end: ProgramEnd,
) -> Result<Ended, CliError> {
    match end {
        ProgramEnd::Interrupt => program.interrupt(),
        ProgramEnd::Kill => program.kill(),
    }
    let mut status = program.ended_within(HELD_WAIT).await;
    server.release(exchange);
    if status.is_none() {
        status = program.ended_within(FLOWING_WAIT).await;
    }
    let status = status.transpose().map_err(CliError::start)?;
    Ok(Ended::AtPoint { end, status })
}

impl Ended {
    /// Describes the end, with the number of requests in the run.
    pub(super) fn words(&self, before: &Log, after: &Log) -> String {
        let n_requests = after.n_requests() - before.n_requests();
        let n_refused = after.n_refused() - before.n_refused();
        let how = match self {
            Ended::ByItself(status) => format!("the program ended with {status}"),
            Ended::AtPoint { end: ProgramEnd::Kill, .. } => "the program was killed at its point".to_owned(),
            Ended::AtPoint { status: Some(status), .. } => {
                format!("the program was interrupted at its point, and ended with {status}")
            }
            Ended::AtPoint { .. } => {
                "the program was interrupted at its point, did not end, and was killed".to_owned()
            }
            Ended::TimedOut => "the program took too long and was killed".to_owned(),
            Ended::Interrupted => "interrupted; the program was killed".to_owned(),
        };
        format!("{how}; {n_requests} requests, {n_refused} refused")
    }

    /// The program's exit code, if it has one.
    pub(super) fn status(&self) -> Option<i32> {
        match self {
            Ended::ByItself(status) | Ended::AtPoint { status: Some(status), .. } => status.code(),
            Ended::AtPoint { status: None, .. } | Ended::TimedOut | Ended::Interrupted => None,
        }
    }
}

fn prefixed(lines: &str) -> String {
    let lines: Vec<String> = lines.trim_end().lines().map(|line| format!("brickbat: {line}")).collect();
    lines.join("\n")
}
