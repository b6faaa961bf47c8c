//! OpenAI Chat Completions: the rules, and the order in which they are checked.
//!
//! The types of fields come first, then the pairing of calls and tool messages in the order of the conversation.
//! Missing content was measured to be found last. Messages are not merged, and their roles need not alternate.

mod content;
mod pairing;
mod relatives;
mod said;
mod schema;
mod table;

use super::judge::{Book, Judge};
use super::profile::{OpenaiChatSwitches, Profile, Switches};
use super::violation::{Breach, Breaches};
use super::{Memory, Rule};
use crate::json::Json;
use pairing::Pairing;
use relatives::Relatives;
use said::{Role, Said};

pub(super) use relatives::*;
pub(super) use table::*;

/// The rules of OpenAI Chat Completions.
pub(super) struct OpenaiChat;

impl Book for OpenaiChat {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn list(&self) -> &'static str {
        "messages"
    }

    fn bare(&self) -> &'static [u8] {
        br#"{"messages":[]}"#
    }

    fn judge<'a>(&self, profile: &'static Profile, _: &'a Memory) -> Box<dyn Judge<'a> + 'a> {
        let Switches::OpenaiChat(switches) = &profile.switches else {
            unreachable!("the profiles of a dialect have its switches, as a test makes sure")
        };
        let relatives = Relatives::of(profile, switches);
        Box::new(Request { switches, pairing: Pairing::default(), relatives })
    }

    /// The whole sentence is quoted in <https://github.com/ChatGPTNextWeb/NextChat/issues/4064>.
    fn refuse_unreadable(&self, _: &[u8], _: &serde_json::Error, out: &mut Breaches) {
        out.add(&BODY_NOT_JSON, || Breach::at(""));
    }
}

/// A request that is being judged.
struct Request<'a> {
    switches: &'static OpenaiChatSwitches,
    pairing: Pairing<'a>,
    /// The optional rules, if the profile has any.
    relatives: Option<Relatives>,
}

impl<'a> Judge<'a> for Request<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        let said = Said::of(n, message);
        schema::check_message(self.switches, said, out);
        self.pairing.message(said, out);
        content::check(said, out);
        if let Some(relatives) = &mut self.relatives {
            relatives.message(said, out);
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        schema::check_body(body, n_messages, out);
        self.pairing.finish(out);
        if let Some(relatives) = &mut self.relatives {
            relatives.finish(body, out);
        }
    }
}
