//! `brickbat serve`: the strict provider on its own.

mod control;

use clap::Args;

use super::error::{CliError, Outcome};
use super::interrupt::until_interrupted;
use super::launch::block_on;
use super::output::{print, print_aside};
use super::provider::ProviderChoice;
use super::served;
use brickbat_drive::strict_server::{Seen, StrictServer};

/// Serve a strict provider on 127.0.0.1 for any program, in all dialects.
///
/// Each request is checked against the provider's rules. If it breaks one, it is rejected with the provider's own
/// message. Replies are improvised: they call several of the tools that the request offers, and answer once the results
/// have arrived.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Serve {
    /// The port; 0 selects a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8787)]
    port: u16,
    /// Read commands from standard input and write reports to standard output, one JSON line each, and exit when
    /// standard input ends. The unit-test fixtures control the provider in this way.
    #[arg(long)]
    control: bool,
    #[command(flatten)]
    provider: ProviderChoice,
}

const EXAMPLES: &str = "Examples:
  brickbat serve                                    ANTHROPIC_BASE_URL=http://127.0.0.1:8787 my-agent
  brickbat serve --port 0                           a free port, which is printed
  brickbat serve --host api.x.ai                    as strict as xAI
  brickbat serve --faults --every 5                 a fault in every fifth reply: cut off, or overloaded
  brickbat serve --usage 180000                     programs that watch their tokens compact their history
  brickbat serve --scenario mine.yaml               replies from a scenario
  curl http://127.0.0.1:8787/_brickbat/state        what has happened so far, as JSON

A base URL may name the profile: http://127.0.0.1:8787/deepseek/v1 is as strict as DeepSeek.
Ctrl-C stops the server, which prints a summary.
Exit codes: 0 no request was refused, 1 a request was refused, 3 no request arrived.";

impl Serve {
    pub(super) fn execute(&self) -> Outcome {
        let behaviour = self.provider.behaviour(Vec::new())?;
        block_on(async {
            let admission = self.provider.admitted.admission();
            let started = StrictServer::start(behaviour, self.port, admission, self.provider.stall).await;
            let mut server = started.map_err(|error| CliError::cannot_listen(self.port, &error))?;
            print_aside();
            if self.control {
                control::play(&mut server).await;
                return Ok(served::exit_code(&server.log()));
            }
            let printing = async {
                // Printed after the Ctrl-C handler is installed, because a reader may interrupt at once.
                print(&served::banner(server.base_url()));
                while let Some(seen) = server.next().await {
                    show(&server, seen);
                }
            };
            until_interrupted(printing).await;
            server.caught_up().await;
            // Requests that came just before Ctrl-C are printed too.
            for seen in server.unread() {
                show(&server, seen);
            }
            let log = server.log();
            print(&served::summary(&log));
            Ok(served::exit_code(&log))
        })?
    }
}

fn show(server: &StrictServer, seen: Seen) {
    match seen {
        Seen::Notice(notice) => print(&served::line(&notice)),
        // There is no program to end.
        Seen::EndProgram(exchange, ..) => server.release(exchange),
    }
}
