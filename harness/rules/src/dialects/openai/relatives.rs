//! Optional rules, which only some providers of the dialect have.
//!
//! Several of them apply only to some models, or only while the model thinks. Both depend on fields that
//! may come after the conversation, so a bounded number of possible violations is kept until the end.

mod model;
mod reasoning;
mod template;
mod templates;

use hashbrown::HashMap;

use super::switches::{Alternation, Arguments, BesideCalls, MessageFields, OpenaiChatSwitches, Parts};
use super::{ChatMessage, ChatRole};
use crate::json::{Document, Json};
use crate::{MAX_VIOLATIONS, Occurrence, Profile, Rule, Violations, Waiting};
use model::Certainty;
use reasoning::Reasoning;
use template::Probe;

/// The optional rules for one request.
pub(super) struct Relatives {
    switches: &'static OpenaiChatSwitches,
    reasoning: Reasoning,
    /// The role of the previous message, if it is user or assistant.
    speaker: Option<Speaker>,
    /// True if a message is the user's. `None` before the first message.
    has_user: Option<bool>,
    /// Messages with the same role as the previous one.
    successive: Vec<(usize, Speaker)>,
    /// Calls with arguments that this provider may not accept. The key is true for JSON that is not an
    /// object.
    arguments: Waiting<bool, UnreadArguments>,
    /// Parts that are not text.
    parts: Waiting<PartKind, OtherPart>,
    profile: &'static Profile,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

/// A call with arguments that are not a JSON object in a string.
struct UnreadArguments {
    pointer: String,
    id: String,
    /// Their length in characters.
    n_chars: usize,
}

/// The kind of a part that is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PartKind {
    ImageOfUser,
    /// An image in another message.
    StrayImage,
    Sound,
    /// A file, or an unknown kind.
    Other,
}

/// A message part that is not text.
struct OtherPart {
    pointer: String,
    n: usize,
    kind: String,
}

impl Relatives {
    /// Returns the optional rules of a profile. `None` if it has none, so that other profiles lose no
    /// time.
    pub(super) fn of(profile: &'static Profile, switches: &'static OpenaiChatSwitches) -> Option<Relatives> {
        (!profile.added.is_empty()).then(|| Relatives {
            switches,
            reasoning: Reasoning::new(switches.reasoning),
            speaker: None,
            has_user: None,
            successive: Vec::new(),
            arguments: Waiting::new(),
            parts: Waiting::new(),
            profile,
        })
    }

    pub(super) fn message(&mut self, said: ChatMessage<'_, '_>, out: &mut Violations) {
        let speaker = match said.role {
            Some(ChatRole::Assistant) => Some(Speaker::Assistant),
            Some(ChatRole::User) => Some(Speaker::User),
            _ => None,
        };
        let n = said.n;
        check_fields(self.switches.message_fields, said, out);
        check_content(self.switches.beside_calls, said, out);
        self.note_parts(said);
        for (k, call) in said.calls().enumerate() {
            check_kind(n, k, call, out);
            self.note_arguments(n, k, call);
        }
        // Templates pass over calls and results, so that a user message behind results follows the one before
        // the calls.
        let is_skipped = self.switches.alternation == Alternation::Template
            && (said.role == Some(ChatRole::Tool) || said.calls().next().is_some());
        if !is_skipped {
            if let Some(speaker) = speaker.filter(|speaker| self.speaker == Some(*speaker))
                && self.successive.len() < MAX_VIOLATIONS
            {
                self.successive.push((n, speaker));
            }
            self.speaker = speaker;
        }
        self.has_user = Some(self.has_user == Some(true) || speaker == Some(Speaker::User));
        self.reasoning.message(said, speaker);
    }

    /// Reports the possible violations that apply, depending on the fields of the body.
    pub(super) fn finish(&mut self, body: Json, out: &mut Violations) {
        let model = body.field("model").as_str();
        let model = model.as_deref();
        let of_known_template = model::template_sentence(model);
        let alternates = match self.switches.alternation {
            Alternation::Free => Certainty::No,
            Alternation::DeepseekReasoner => model::is_deepseek_reasoner(model),
            Alternation::Template => match of_known_template {
                Some(_) => Certainty::Perhaps,
                None => Certainty::No,
            },
            Alternation::OfTemplate | Alternation::Always => Certainty::Yes,
        };
        let profile = self.profile;
        // The template of a model has one of the profile's sentences for each probe that it rejects.
        let form = |rule, probe| match self.switches.alternation {
            Alternation::OfTemplate => template::form(profile, rule, model?, probe),
            Alternation::Template if probe != Probe::NoUser => Some(of_known_template.unwrap_or(0)),
            Alternation::Template
            | Alternation::Free
            | Alternation::DeepseekReasoner
            | Alternation::Always => Some(0),
        };
        for (n, speaker) in self.successive.drain(..) {
            let probe = match speaker {
                Speaker::User => Probe::SuccessiveUsers,
                Speaker::Assistant => Probe::SuccessiveReplies,
            };
            let Some(form) = form(&SUCCESSIVE_ROLES, probe) else { continue };
            alternates.note(out, &SUCCESSIVE_ROLES, || {
                Occurrence::at(format!("/messages/{n}")).form(form).with("first", n - 1).with("n", n)
            });
        }
        if self.has_user == Some(false)
            && let Some(form) = form(&USER_MESSAGE_MISSING, Probe::NoUser)
        {
            out.add(&USER_MESSAGE_MISSING, || Occurrence::at("/messages").form(form));
        }
        let reads = match self.switches.arguments {
            Arguments::Any => Certainty::No,
            Arguments::Json => Certainty::Yes,
            Arguments::Object => model::reads_arguments_at_dashscope(model),
        };
        for (is_json, UnreadArguments { pointer, id, n_chars }) in self.arguments.take() {
            // MiniMax's error message is only about text that is not JSON.
            let is_contested = is_json && self.switches.arguments == Arguments::Json;
            let certainty = if is_contested { reads.min(Certainty::Perhaps) } else { reads };
            certainty.note(out, &ARGUMENTS_NOT_JSON, || {
                // A parser stops at the end of arguments that were cut off.
                let end = [("line", 1), ("column", n_chars + 1), ("char", n_chars)];
                let found = Occurrence::at(pointer).with("id", id).with("error", "unexpected end of input");
                end.into_iter().fold(found, |found, (name, n)| found.with(name, n))
            });
        }
        for (part, OtherPart { pointer, n, kind }) in self.parts.take() {
            let certainty = match self.switches.parts {
                Parts::Any => Certainty::No,
                Parts::Text => Certainty::Yes,
                Parts::MediaByModel if part == PartKind::Other => Certainty::No,
                Parts::ByModel | Parts::MediaByModel => model::reads_only_text(self.profile, model, part),
            };
            certainty.note(out, &PART_NOT_TEXT, || Occurrence::at(pointer).with("n", n).with("type", kind));
        }
        self.reasoning.finish(model, body, out);
    }

    fn note_parts(&mut self, said: ChatMessage<'_, '_>) {
        if self.switches.parts == Parts::Any {
            return;
        }
        let n = said.n;
        for (k, part) in said.content.into_iter().flat_map(Json::items).enumerate() {
            let Some(kind) = part.field("type").as_str().filter(|kind| kind != "text") else { continue };
            let part = match (said.role, kind.as_ref()) {
                (Some(ChatRole::User), "image_url") => PartKind::ImageOfUser,
                (_, "image_url") => PartKind::StrayImage,
                (_, "input_audio") => PartKind::Sound,
                _ => PartKind::Other,
            };
            self.parts.push(part, || OtherPart {
                pointer: format!("/messages/{n}/content/{k}/type"),
                n,
                kind: kind.into_owned(),
            });
        }
    }

    fn note_arguments(&mut self, n: usize, k: usize, call: Json) {
        if self.switches.arguments == Arguments::Any {
            return;
        }
        let Some(arguments) = call.field("function").get("arguments") else { return };
        let text = arguments.as_str();
        let read = text.as_deref().and_then(|text| Document::parse(text.as_bytes()).ok());
        if read.as_ref().is_some_and(|read| read.root().is_object()) {
            return;
        }
        self.arguments.push(read.is_some(), || UnreadArguments {
            pointer: format!("/messages/{n}/tool_calls/{k}/function/arguments"),
            n_chars: text.as_deref().unwrap_or_default().chars().count(),
            id: call.field("id").as_str().unwrap_or_default().into_owned(),
        });
    }
}

/// The message fields that every provider of the dialect documents.
const KNOWN_FIELDS: [&str; 6] = ["role", "content", "name", "tool_calls", "tool_call_id", "function_call"];

/// Fields that OpenAI documents for assistant replies. No provider is known to reject them.
const UNTRIED_FIELDS: [&str; 2] = ["refusal", "audio"];

fn check_fields(known: MessageFields, said: ChatMessage<'_, '_>, out: &mut Violations) {
    if known == MessageFields::Any || said.role.is_none() {
        return;
    }
    let (n, message) = (said.n, said.json);
    let role = said.written_role.and_then(|role| role.as_str()).unwrap_or_default();
    // If a name is repeated, only the last field counts.
    let names =
        || message.fields().enumerate().filter_map(|(index, (name, _))| Some((name.as_str()?, index)));
    let last: HashMap<_, _> = names().collect();
    for (field, index) in names() {
        if last.get(&field) != Some(&index) {
            continue;
        }
        let field = field.as_ref();
        if KNOWN_FIELDS.contains(&field) || UNTRIED_FIELDS.contains(&field) {
            continue;
        }
        let violation = || {
            let pointer = format!("/messages/{n}/{}", field.replace('~', "~0").replace('/', "~1"));
            Occurrence::at(pointer).with("n", n).with("role", &role).with("field", field)
        };
        match (known, field) {
            // Groq's error message suggests a name for a misspelt one. It is known to do so for these two:
            // https://github.com/chatboxai/chatbox/issues/2083.
            (MessageFields::Groq, "id") => out.add(&UNKNOWN_MESSAGE_FIELD, || violation().form(GUESSED)),
            // Rejected in recordings of 2025, but Groq's own client has documented the field since then:
            // https://github.com/groq/groq-python/pull/185.
            (MessageFields::Groq, "reasoning") => {}
            (MessageFields::Groq, _) => out.add(&UNKNOWN_MESSAGE_FIELD, violation),
            // Measured in https://github.com/proxysoul/Empryo/pull/209: `reasoning` is accepted,
            // `reasoning_content` is rejected.
            (MessageFields::Cerebras, "reasoning") => {}
            (MessageFields::Cerebras, "reasoning_content") => out.add(&UNKNOWN_MESSAGE_FIELD, violation),
            // The same source says that any unknown property is rejected, but no other message field was
            // tested.
            (MessageFields::Cerebras, _) => out.warn(&UNKNOWN_MESSAGE_FIELD, violation),
            (MessageFields::Any, _) => {}
        }
    }
}

/// The error message that suggests another name.
const GUESSED: usize = 1;

/// Reports empty content, or warns about it.
///
/// An empty list was rejected in a message without calls
/// (<https://github.com/AstrBotDevs/AstrBot/pull/6551>) and accepted, in recordings, in messages with
/// calls. For these, one report says that null is rejected and an empty string is not
/// (<https://github.com/langchain-ai/langchain/issues/34140>), and another says that null is accepted (the
/// pull request above). So the two are only warnings in a message with calls. An empty tool message was
/// not tested.
fn check_content(beside_calls: BesideCalls, said: ChatMessage<'_, '_>, out: &mut Violations) {
    let is_empty_list = said.content.is_some_and(|content| content.is_array() && content.is_empty());
    let is_empty = said.lacks_content() || said.content.is_some_and(Json::is_empty_str) || is_empty_list;
    if said.role.is_none() || !is_empty {
        return;
    }
    let role = said.written_role.and_then(|role| role.as_str()).unwrap_or_default();
    let violation = || {
        let at = match said.content {
            Some(_) => Occurrence::at(format!("/messages/{}/content", said.n)),
            None => Occurrence::at(format!("/messages/{}", said.n)),
        };
        at.with("n", said.n).with("role", &role)
    };
    let has_calls = said.calls().next().is_some();
    // Both reports say that an empty string beside calls is accepted; it is what the API itself sends.
    let is_empty_text = said.content.is_some_and(Json::is_empty_str);
    if has_calls && (beside_calls == BesideCalls::Empty || is_empty_text) {
        return;
    }
    if has_calls || (said.role == Some(ChatRole::Tool) && !is_empty_list) {
        out.warn(&CONTENT_EMPTY, violation)
    } else {
        out.add(&CONTENT_EMPTY, violation)
    }
}

fn check_kind(n: usize, k: usize, call: Json, out: &mut Violations) {
    let at = |name: &str| Occurrence::at(format!("/messages/{n}/tool_calls/{k}{name}"));
    if !call.is_object() {
        return out.add(&TOOL_CALL_NOT_FUNCTION, || at("").form(NO_OBJECT));
    }
    if call.get("type").is_some_and(|kind| !kind.is("function")) {
        out.add(&TOOL_CALL_NOT_FUNCTION, || at("/type"));
    }
}

/// The error message for a call that is not an object.
const NO_OBJECT: usize = 1;

pub(crate) static UNKNOWN_MESSAGE_FIELD: Rule = Rule {
    summary: "A message has only fields that the provider knows.",
    why: "The message carries a field of another provider, or one of the client's own, such as \
         `reasoning_content`, `annotations` or `timestamp`. Leave it out of what is sent.",
    sentences: &[
        "'messages.{n}' : for 'role:{role}' the following must be satisfied[('messages.{n}' : property \
         '{field}' is unsupported)]",
        "'messages.{n}' : for 'role:{role}' the following must be satisfied[('messages.{n}' : property \
         '{field}' is unsupported, did you mean 'role'?)]",
    ],
    is_optional: true,
    sources: &[
        "https://github.com/NousResearch/hermes-agent/issues/11089",
        "https://github.com/ServiceStack/llms/issues/17",
        "https://github.com/chatboxai/chatbox/issues/2083",
        "https://github.com/Kilo-Org/kilocode/issues/10375",
        "https://github.com/proxysoul/Empryo/pull/209",
    ],
    ..Rule::measured("openai-chat/unknown-message-field", "GROQ-EXTRA-1", 1, "2025-02")
};

pub(crate) static TOOL_CALL_NOT_FUNCTION: Rule = Rule {
    summary: "A call in the history is an object of the type `function`.",
    why: "The list of calls has something other than function calls, such as a custom tool's call \
         of another provider. Leave such calls and their results out, or send them as text.",
    sentences: &[
        "chat completions only support assistant tool_calls of type 'function'.",
        "assistant tool_calls entries must be objects.",
    ],
    is_optional: true,
    sources: &["https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/chat_utils.py"],
    ..Rule::measured("openai-chat/tool-call-not-function", "VLLM-TC", 1, "2026-01")
};

pub(crate) static CONTENT_EMPTY: Rule = Rule {
    summary: "A message has at least one piece of content.",
    why: "The content is an empty list, an empty string or null, often because a reply was stopped before \
         its first word or all of it was reasoning. Drop the message, or give it content.",
    sentences: &["Invalid request content: Each message must have at least one content element."],
    is_optional: true,
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/34140",
        "https://github.com/AstrBotDevs/AstrBot/pull/6551",
    ],
    ..Rule::measured("openai-chat/content-empty", "XAI-CONTENT-1", 1, "2025-11")
};

/// Found by sending conversations with and without a message of the user to GLM-4.5.
pub(crate) static USER_MESSAGE_MISSING: Rule = Rule {
    summary: "The conversation has a message of the user.",
    why: "A trimmer or a summary dropped all messages of the user, or the task was sent as a system prompt. Send the \
          task or the summary as the user's.",
    sentences: &["The messages parameter is illegal. Please check the documentation."],
    is_optional: true,
    sources: &[
        "https://github.com/anomalyco/opencode/issues/2557",
        "https://github.com/MetaGLM/zhipuai-sdk-python-v4/issues/14",
    ],
    ..Rule::observed("openai-chat/user-message-missing", "ZAI-USER-1", 1, "2024-03")
};

/// DeepSeek's V4.1 Flash has accepted images since September 2026, and an experimental model since August:
/// <https://api-docs.deepseek.com/guides/vision/>. The rest of the message gives the column of the parse
/// error.
pub(crate) static PART_NOT_TEXT: Rule = Rule {
    summary: "The parts of messages are text, unless the model accepts images or sounds.",
    why: "An image, a file or a sound stayed in the thread when the model was changed, or came from \
         a tool. Leave it out of requests to this model, or replace it with a text.",
    sentences: &[
        "Failed to deserialize the JSON body into the target type: messages[{n}]: unknown variant `{type}`, expected \
         `text`",
    ],
    is_optional: true,
    sources: &[
        "https://github.com/1jehuang/jcode/issues/310",
        "https://github.com/BigPizzaV3/CodexPlusPlus/issues/631",
        "https://github.com/nesquena/hermes-webui/issues/2297",
        "https://github.com/DayuanJiang/next-ai-draw-io/pull/326",
        "https://github.com/rikkahub/rikkahub/issues/1433",
    ],
    ..Rule::measured("openai-chat/part-not-text", "DS-PART-1", 1, "2025-12")
};

pub(crate) static ARGUMENTS_NOT_JSON: Rule = Rule {
    summary: "The arguments of a call in the history are a JSON object, written as a string.",
    why: "A call was stored before its arguments were complete, or with none at all, and this provider \
         parses them again. Store `{}` for a call without arguments, and drop a call that was cut off.",
    sentences: &[
        "<400> InternalError.Algo.InvalidParameter: The \"function.arguments\" parameter of the code model \
         must be in JSON format.",
    ],
    is_optional: true,
    sources: &[
        "https://github.com/HKUDS/nanobot/issues/1487",
        "https://github.com/HKUDS/nanobot/issues/2469",
        "https://github.com/continuedev/continue/issues/11556",
        "https://github.com/earendil-works/pi/issues/5468",
    ],
    ..Rule::measured("openai-chat/arguments-not-json", "QWEN-ARG-1", 1, "2026-03")
};

pub(crate) static SUCCESSIVE_ROLES: Rule = Rule {
    summary: "User and assistant messages alternate.",
    why: "Two messages of the user, or two of the assistant, follow each other, as happens when a turn is \
         stopped and the user writes again. Merge them into one.",
    sentences: &[
        "deepseek-reasoner does not support successive user or assistant messages (messages[{first}] and \
         messages[{n}] in your input). You should interleave the user/assistant messages in the message \
         sequence.",
    ],
    is_optional: true,
    sources: &[
        "https://github.com/microsoft/autogen/pull/7229",
        "https://github.com/vllm-project/vllm/issues/6862",
        "https://github.com/weaviate/Verba/issues/150",
    ],
    ..Rule::observed("openai-chat/successive-roles", "DS-R1", 2, "2025-03")
};

/// "Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer
/// to <https://api-docs.deepseek.com/guides/thinking_mode#tool-calls>"
/// (<https://github.com/abhigyanpatwari/GitNexus/issues/43>).
pub(crate) static REASONING_CONTENT_MISSING: Rule = Rule {
    summary: "With thinking on, a message with calls brings back its `reasoning_content`.",
    why: "The reasoning that came with the calls was not stored or not sent back. Keep `reasoning_content` \
         with the message; where it is lost, some providers accept a placeholder.",
    sentences: &[
        "Missing `reasoning_content` field in the assistant message at message index {n}. For more \
         information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    ],
    is_optional: true,
    sources: &[
        "https://github.com/abhigyanpatwari/GitNexus/issues/43",
        "https://github.com/openai/openai-agents-python/issues/2155",
        "https://github.com/continuedev/continue/issues/11600",
        "https://github.com/openclaw/openclaw/pull/74846",
        "https://github.com/spacedriveapp/spacebot/pull/364",
    ],
    ..Rule::measured("openai-chat/reasoning-content-missing", "DS-RC-1", 3, "2025-12")
};

pub(crate) static REASONING_CONTENT_NOT_RETURNED: Rule = Rule {
    summary: "With thinking on, every reply of a turn that used tools brings back its `reasoning_content`.",
    why: "A reply of a turn with calls, be it the calls or the text after them, came back without its \
         reasoning. Keep `reasoning_content` with each reply; where it is lost, an empty string will do.",
    sentences: &["The `reasoning_content` in the thinking mode must be passed back to the API."],
    is_optional: true,
    sources: &[
        "https://github.com/earendil-works/pi/issues/3636",
        "https://github.com/NousResearch/hermes-agent/issues/15353",
        "https://github.com/Gitlawb/openclaude/issues/878",
        "https://api-docs.deepseek.com/guides/thinking_mode.md",
    ],
    ..Rule::measured("openai-chat/reasoning-content-not-returned", "DS-RC-2", 3, "2026-04")
};
