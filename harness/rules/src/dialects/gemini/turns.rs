//! The order of turns with calls and turns with responses.
//!
//! A *function call turn* is a content with calls; a *function response turn* is one with responses.
//! Consecutive contents of the model with calls count as one turn: `gemini-3-flash-preview` accepted a
//! call, a call, and two responses to both (<https://github.com/pydantic/pydantic-ai>,
//! `test_cross_provider_capability_replay`), although a model of November 2025 rejected that
//! (<https://github.com/lobehub/lobehub/issues/10049>).
//!
//! A content of the model with only empty texts is skipped. Gemini 3 ends each streamed reply with one,
//! and SDKs that store each piece of a stream separately
//! (<https://github.com/googleapis/go-genai/issues/298>) send it back. No report says that it separates a
//! call from its response.
//!
//! Gemini 3 rejects two forms that Gemini 2 accepts: a batch with responses in separate contents
//! (rejected: <https://github.com/cloudwego/eino-ext/issues/571>; accepted:
//! <https://github.com/Oaklight/llm-rosetta/issues/300>), and calls without any response. The model may be
//! known only at the end, so violations are kept until then.

use super::fields::{Content, GeminiRole, Part, PartPosition};
use super::switches::GeminiSwitches;
use crate::{MAX_VIOLATIONS, ModelVersion, Occurrence, Rule, Violations};

/// The facts so far that later contents are checked against.
#[derive(Debug, Default)]
pub(super) struct Turns {
    before: Before,
    /// The index of the last content, if it is the model's and does not end with a response.
    ends_with_model: Option<usize>,
    /// Contents with the former role of responses, up to the maximum that is reported.
    of_function: Vec<usize>,
    found: Vec<Found>,
    /// The number of violations found, by kind. Each kind has its own limit.
    counts: [usize; 3],
}

/// A violation in the order of turns, and the models that reject it.
#[derive(Debug)]
struct Found {
    rule: &'static Rule,
    violation: Occurrence,
    by: RefusedBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusedBy {
    /// Every model rejects it.
    All,
    /// Models that require all responses to the calls in one content reject it. Others accept it.
    Strict,
    /// Reports differ on whether it is rejected.
    Contested,
}

/// The previous content.
#[derive(Debug, Default)]
enum Before {
    #[default]
    Start,
    /// A user message, or a content that cannot be classified.
    User,
    Model,
    Calls(CallTurn),
    Responses(ResponseTurn),
}

#[derive(Debug)]
struct CallTurn {
    n_calls: usize,
    first: FirstCall,
}

/// Consecutive contents with responses.
#[derive(Debug)]
struct ResponseTurn {
    /// The number of calls before them, or 0 if there are none.
    n_calls: usize,
    n_responses: usize,
    first: usize,
    n_first: usize,
    /// The other contents, up to the maximum that is reported.
    later: Vec<usize>,
}

/// The part with the first call in a turn, and the call's field.
#[derive(Debug, Clone, Copy)]
struct FirstCall {
    place: PartPosition,
    field: &'static str,
}

/// Counts over the parts of one content.
#[derive(Debug, Default)]
pub(super) struct Count {
    n_parts: usize,
    /// Number of parts that are empty texts.
    n_blank: usize,
    pub(super) n_calls: usize,
    pub(super) n_responses: usize,
    first_call: Option<FirstCall>,
    ends_with_response: bool,
}

impl Count {
    pub(super) fn part(&mut self, part: &Part<'_, '_>) {
        self.n_parts += 1;
        self.n_blank += usize::from(part.text.is_some_and(|text| text.is_empty_str()));
        self.ends_with_response = part.response.is_some();
        self.n_responses += usize::from(self.ends_with_response);
        if let Some((field, _)) = part.call {
            self.n_calls += 1;
            self.first_call.get_or_insert(FirstCall { place: part.place, field });
        }
    }
}

impl Turns {
    pub(super) fn content(&mut self, content: Content<'_, '_>, count: &Count) {
        let (n, role) = (content.n, content.role);
        let Count { n_parts, n_blank, n_calls, n_responses, first_call, ends_with_response } = *count;
        self.ends_with_model = (role == Some(GeminiRole::Model) && !ends_with_response).then_some(n);
        if role == Some(GeminiRole::Function) && self.of_function.len() < MAX_VIOLATIONS {
            self.of_function.push(n);
        }
        if n_responses > 0 {
            self.respond(n, n_responses);
            if n_parts > n_responses + n_calls {
                self.note(&RESPONSES_MIXED, RefusedBy::All, || {
                    Occurrence::at(format!("/contents/{n}/parts"))
                });
            }
        }
        let is_blank = role == Some(GeminiRole::Model) && n_parts > 0 && n_blank == n_parts;
        if let Some(first) = first_call {
            self.ask(CallTurn { n_calls, first });
        } else if n_responses == 0 && !is_blank {
            self.end_turn();
            self.before = if role == Some(GeminiRole::Model) { Before::Model } else { Before::User };
        }
    }

    pub(super) fn finish(
        &mut self,
        switches: &GeminiSwitches,
        model: Option<(&str, ModelVersion)>,
        out: &mut Violations,
    ) {
        self.end_turn();
        let is_strict = model.is_some_and(|(_, version)| version >= switches.first_with_strict_responses);
        for Found { rule, violation, by } in self.found.drain(..) {
            match by {
                RefusedBy::All => out.add(rule, || violation),
                RefusedBy::Strict if is_strict => out.add(rule, || violation),
                RefusedBy::Strict | RefusedBy::Contested => out.warn(rule, || violation),
            }
        }
        let is_also = |name: &str| switches.also_without_them.iter().any(|own| name.contains(own));
        let knows_function =
            |(name, version)| version < switches.first_without_function_role && !is_also(name);
        if model.is_some_and(|model| !knows_function(model)) {
            for n in self.of_function.drain(..) {
                out.add(&FUNCTION_ROLE, || Occurrence::at(format!("/contents/{n}/role")));
            }
        }
        let takes_prefill = |(name, version)| version < switches.first_without_prefill && !is_also(name);
        match self.ends_with_model {
            Some(n) if model.is_some_and(|model| !takes_prefill(model)) => {
                out.add(&ENDS_WITH_MODEL, || Occurrence::at(format!("/contents/{n}")));
            }
            _ => {}
        }
    }

    /// Takes a content with responses.
    fn respond(&mut self, n: usize, n_responses: usize) {
        let turn = |n_calls| ResponseTurn {
            n_calls,
            n_responses,
            first: n,
            n_first: n_responses,
            later: Vec::new(),
        };
        self.before = Before::Responses(match std::mem::take(&mut self.before) {
            Before::Calls(calls) => turn(calls.n_calls),
            Before::Responses(mut open) => {
                open.n_responses += n_responses;
                if open.later.len() < MAX_VIOLATIONS {
                    open.later.push(n);
                }
                open
            }
            Before::Start | Before::User | Before::Model => turn(0),
        });
    }

    /// Takes a content with calls.
    fn ask(&mut self, calls: CallTurn) {
        self.before = Before::Calls(match std::mem::take(&mut self.before) {
            Before::Calls(earlier) => CallTurn { n_calls: earlier.n_calls + calls.n_calls, ..earlier },
            Before::Start => {
                self.note(&CALL_NOT_AFTER_USER, RefusedBy::All, || calls.first.violation());
                calls
            }
            // Google's own command line sends texts and calls as separate contents
            // (<https://github.com/google-gemini/gemini-cli/pull/685>). The editor extension Continue
            // reports a rejection of consecutive contents of the model
            // (<https://github.com/continuedev/continue/pull/11805>).
            Before::Model => {
                self.note(&CALL_NOT_AFTER_USER, RefusedBy::Contested, || calls.first.violation());
                calls
            }
            Before::User => calls,
            before @ Before::Responses(_) => {
                self.before = before;
                self.end_turn();
                calls
            }
        });
    }

    /// Ends a turn: checks calls without responses, or the responses so far.
    fn end_turn(&mut self) {
        match std::mem::take(&mut self.before) {
            Before::Calls(calls) => {
                self.note(&RESPONSE_MISSING, RefusedBy::Strict, || calls.first.violation())
            }
            Before::Responses(turn) => self.check_responses(&turn),
            Before::Start | Before::User | Before::Model => {}
        }
    }

    fn check_responses(&mut self, turn: &ResponseTurn) {
        let ResponseTurn { n_calls, n_responses, first, n_first, ref later } = *turn;
        let by = if n_calls == n_responses { RefusedBy::Strict } else { RefusedBy::All };
        let at = |n: usize| Occurrence::at(format!("/contents/{n}"));
        if n_calls == 0 {
            self.note(&RESPONSE_NOT_AFTER_CALL, by, || at(first));
        } else if n_calls != n_first {
            self.note(&RESPONSE_COUNT, by, || Occurrence::at(format!("/contents/{first}/parts")));
        }
        for n in later {
            self.note(&RESPONSE_NOT_AFTER_CALL, by, || at(*n));
        }
    }

    fn note(&mut self, rule: &'static Rule, by: RefusedBy, violation: impl FnOnce() -> Occurrence) {
        let count = &mut self.counts[by as usize];
        *count += 1;
        if *count <= MAX_VIOLATIONS {
            self.found.push(Found { rule, violation: violation(), by });
        }
    }
}

impl FirstCall {
    fn violation(self) -> Occurrence {
        Occurrence::at(format!("{}/{}", self.place.pointer(), self.field))
    }
}

/// Older models accepted this role, which Google's first SDKs wrote
/// (<https://github.com/UKGovernmentBEIS/inspect_ai/issues/2377>). They accept `user` as well
/// (<https://github.com/genkit-ai/genkit/pull/5777>).
pub(crate) static FUNCTION_ROLE: Rule = Rule {
    summary: "Responses have the role `user`, not `function`.",
    why: "The content with the responses has the role `function`, which was common for years. \
         Gemini 3.6 and later no longer know it. Send responses with the role `user`, which all \
         models accept.",
    sentences: &[
        "Role 'function' is not supported. Please use a valid role: SYSTEM, SYSTEM_1, USER, ASSISTANT, DEVELOPER, CONTEXT, \
         USER_CONTEXT, MODEL, USER.",
    ],
    sources: &[
        "https://github.com/blakeblackshear/frigate/pull/24013",
        "https://github.com/Sylinko/Everywhere/issues/478",
        "https://github.com/Portkey-AI/gateway/issues/1761",
        "https://github.com/genkit-ai/genkit/pull/5777",
        "https://pypi.org/project/any-llm-sdk/1.40.2/",
    ],
    ..Rule::observed("gemini/function-role", "GEM-ROLE-2", 2, "2026-07")
};

/// The provider's words if the numbers of calls and responses differ.
const UNEQUAL: &[&str] =
    &["Please ensure that the number of function response parts is equal to the number of \
     function call parts of the function call turn."];

pub(crate) static RESPONSE_COUNT: Rule = Rule {
    summary: "Calls are followed by the same number of responses, for Gemini 3 in one content.",
    why: "The turn ended before all tools of a batch had answered, a response is there twice, or \
         the responses are in several contents, which Gemini 2 accepts and later models do not. Put \
         one response for each call into the content directly after the calls.",
    sentences: UNEQUAL,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/7410",
        "https://github.com/google-gemini/gemini-cli/issues/16984",
        "https://github.com/cloudwego/eino-ext/issues/571",
        "https://github.com/docker/docker-agent/pull/2959",
        "https://github.com/Oaklight/llm-rosetta/issues/300",
    ],
    ..Rule::measured("gemini/response-count", "GEM-FR-1", 3, "2025-02")
};

/// The provider reports a wrong number of responses, because 0 differs from the number of calls
/// (<https://github.com/google-gemini/gemini-cli/issues/16974>).
pub(crate) static RESPONSE_MISSING: Rule = Rule {
    summary: "For Gemini 3, responses come after calls.",
    why: "The turn was stopped after the calls, and another message follows, or the request ends \
         there. Gemini 2 accepts that, later models do not. Add a response for each call directly \
         after, or drop the calls.",
    sentences: UNEQUAL,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/16974",
        "https://github.com/google-gemini/gemini-cli/issues/14590",
        "https://github.com/microsoft/vscode/issues/299295",
    ],
    ..Rule::secondary("gemini/response-missing", "GEM-FC-2", 3, "2025-02")
};

pub(crate) static CALL_NOT_AFTER_USER: Rule = Rule {
    summary: "Calls come directly after the user or after responses.",
    why: "The conversation begins with a call, often because trimming cut off everything before it, \
         or text of the model comes between. Begin with the user, and keep text and calls of one \
         reply in one content.",
    sentences: &[
        "Please ensure that function call turn comes immediately after a user turn or after a function \
         response turn.",
    ],
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/11814",
        "https://github.com/google-gemini/gemini-cli/issues/26486",
        "https://github.com/continuedev/continue/issues/11164",
        "https://github.com/continuedev/continue/pull/11805",
    ],
    ..Rule::measured("gemini/call-not-after-user", "GEM-FC-1", 3, "2025-04")
};

pub(crate) static RESPONSE_NOT_AFTER_CALL: Rule = Rule {
    summary: "Responses come directly after calls.",
    why: "The content with the calls is missing, or another content comes between. Keep both or \
         drop both, and keep them together.",
    sentences: &["Please ensure that function response turn comes immediately after a function call turn."],
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/27799",
        "https://github.com/lobehub/lobehub/issues/7298",
        "https://github.com/BerriAI/litellm/issues/26755",
    ],
    ..Rule::measured("gemini/response-not-after-call", "GEM-FR-2", 3, "2024-10")
};

/// "Requests ending with a model turn are not supported."
/// (<https://github.com/anomalyco/opencode/issues/45359>). Four models were tested:
/// <https://github.com/LibreChat-AI/agents/pull/323>.
pub(crate) static ENDS_WITH_MODEL: Rule = Rule {
    summary: "The last content is not a text of the model.",
    why: "The conversation ends with a text of the model, often because a turn was stopped or is \
         being retried. Drop the last content, or add one of the user.",
    sentences: &["Requests ending with a model turn are not supported."],
    sources: &[
        "https://github.com/LibreChat-AI/agents/pull/323",
        "https://github.com/pipecat-ai/pipecat/pull/5821",
        "https://github.com/anomalyco/opencode/issues/45359",
    ],
    ..Rule::measured("gemini/ends-with-model", "GEM-END-1", 4, "2026-07")
};

/// The error message is "Requests ending with a model turn are not supported.", although the request ends
/// with the user (<https://github.com/vellum-ai/vellum-assistant/pull/39495>).
pub(crate) static RESPONSES_MIXED: Rule = Rule {
    summary: "A content with responses has nothing else.",
    why: "Text of the user or of the harness is next to the responses. Newer models refuse that, \
         older ones answer nonsense. Put the text into a content of its own after the responses.",
    sentences: &["Requests ending with a model turn are not supported."],
    sources: &[
        "https://github.com/vellum-ai/vellum-assistant/pull/39495",
        "https://github.com/langchain-ai/langchainjs/pull/11477",
        "https://github.com/NousResearch/hermes-agent/pull/79791",
    ],
    ..Rule::observed("gemini/responses-mixed", "GEM-FR-3", 4, "2026-07")
};
