//! `brickbat proxy`: runs between a program and any server with a supported dialect.

mod told;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::error::{CliError, Outcome};
use super::interrupt::until_interrupted;
use super::launch::block_on;
use super::options::{duration, model, profile};
use super::output::{print, print_aside, tell};
use super::provider::{Admitted, Kinds, host, kinds};
use super::secrets::redactor;
use brickbat_drive::proxy::{Proxy as Running, ProxyTerms, Recording, Upstream};
use brickbat_engine::relay::{Refused, RelayBehaviour, Spoil};
use brickbat_engine::standalone::{Due, Faults, Strictness};
use brickbat_rules::Profile;

/// Run between a program and a real server: check requests and streams, inject faults into replies, and record the
/// conversation.
///
/// It listens on 127.0.0.1 and connects only to the given URL. The program's own keys pass through and are never
/// written. A request that breaks a rule is rejected with the provider's message and not forwarded. Each stream from
/// the server is checked against the grammar of its dialect and forwarded unchanged.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Proxy {
    /// The server, such as `https://api.anthropic.com` or `http://127.0.0.1:11434`. The path of each request is
    /// appended to it.
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// The port; 0 selects a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8788)]
    port: u16,
    /// Report requests that break a rule, but forward them anyway, and compare the server's response with the rule.
    #[arg(long)]
    let_through: bool,
    /// Append a row for each exchange to this file, without secrets; `run --from`, `recordings`, `import` and `check`
    /// can read it.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How strict the rules are in the profile's dialect; by default the server's host, the path or the model selects
    /// the profile, otherwise the newest applies.
    #[arg(long, value_name = "PROFILE", value_parser = profile, conflicts_with = "host")]
    profile: Option<&'static Profile>,
    /// Judge as this host would, such as `api.x.ai`, regardless of the server.
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<String>,
    /// Judge by the rules for this model, regardless of the model that the requests name.
    #[arg(long, value_name = "MODEL", value_parser = model)]
    model: Option<String>,
    /// Inject faults into replies at random points: eof, reset, end-early, error, overloaded, rate-limit and stall,
    /// separated by commas. Without a list, all except stall are injected.
    #[arg(long, value_name = "KINDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = kinds)]
    faults: Option<Kinds>,
    /// With --faults, inject a fault into every Nth reply to a request that offers tools.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..))]
    every: u32,
    /// Inject a fault into a reply at the given point, such as `eof after end a of reply 2` or `stall after text 1`.
    /// May be repeated.
    #[arg(long, value_name = "FAULT")]
    at: Vec<Spoil>,
    /// The time after which a stalled reply continues.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    stall: Duration,
    /// How long the server may stay silent, before and during its response.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    silence: Duration,
    /// The seed for the random points of --faults.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    admitted: Admitted,
}

const EXAMPLES: &str = "Examples:
  brickbat proxy --upstream https://api.anthropic.com      ANTHROPIC_BASE_URL=http://127.0.0.1:8788 my-agent
  brickbat proxy --upstream https://api.openai.com         OPENAI_BASE_URL=http://127.0.0.1:8788/v1 my-agent
  brickbat proxy --upstream http://127.0.0.1:11434         in front of your own server
  brickbat proxy --upstream URL --record rec.jsonl         then: brickbat run --explore singles --from rec.jsonl
  brickbat proxy --upstream URL --at 'eof after end a of reply 2'
  brickbat proxy --upstream URL --faults=eof,reset --every 5
  brickbat proxy --upstream URL --let-through              does the server refuse what the provider refuses?

Ctrl-C stops the proxy, which prints a summary.

Exit codes:
  0  every request followed the rules, and every stream was complete
  1  a request broke a rule, a stream was illegal or cut off, or the server could not be reached
  2  an option is wrong
  3  no request arrived, or the recording could not be written";

impl Proxy {
    pub(super) fn execute(&self) -> Outcome {
        let upstream = Upstream::at(&self.upstream, self.silence).map_err(CliError::input)?;
        let open = |path: &PathBuf| {
            Recording::open(path).map_err(|error| CliError::cannot_write(path.display(), error))
        };
        let recording = self.record.as_ref().map(open).transpose()?;
        let behaviour = self.behaviour(&upstream);
        let redactor = redactor().clone();
        let admission = self.admitted.admission();
        let terms =
            ProxyTerms { upstream, port: self.port, admission, stall: self.stall, recording, redactor };
        block_on(async {
            print_aside();
            let url = terms.upstream.url();
            let mut proxy = Running::start(behaviour, terms)
                .await
                .map_err(|error| CliError::cannot_listen(self.port, &error))?;
            let printing = async {
                // Printed after the Ctrl-C handler is installed, because a reader may interrupt at once.
                print(&told::banner(proxy.base_url(), &url));
                while let Some(notice) = proxy.next().await {
                    print(&told::line(&notice, &proxy.redactor()));
                }
            };
            until_interrupted(printing).await;
            // Requests that came just before Ctrl-C are printed too.
            let unread = proxy.unread();
            let redactor = proxy.redactor();
            unread.iter().for_each(|notice| print(&told::line(notice, &redactor)));
            let log = proxy.log();
            print(&told::summary(&log, &redactor));
            if let Some(path) = &self.record {
                tell(format!("brickbat: recorded in {}", path.display()));
            }
            Ok(told::exit_code(&log))
        })?
    }

    fn behaviour(&self, upstream: &Upstream) -> RelayBehaviour {
        RelayBehaviour {
            strictness: Strictness {
                profile: self.profile,
                host: self.host.clone(),
                model: self.model.clone(),
            },
            host: upstream.host().to_owned(),
            url: upstream.url(),
            refused: if self.let_through { Refused::LetThrough } else { Refused::Here },
            faults: self
                .faults
                .as_ref()
                .map(|Kinds(kinds)| Faults { kinds: kinds.clone(), due: Due::Every(self.every) }),
            spoils: self.at.clone(),
            seed: self.seed,
            records: self.record.is_some(),
        }
    }
}
