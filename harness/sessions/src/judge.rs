//! Judges whether the provider would accept the next request of a session.

use std::collections::BTreeSet;

use brickbat_rules::histories::{self, Role, render};
use brickbat_rules::{
    Dialect, MAX_VIOLATIONS, Profile, Rule, Severity, Violation, list_of, validate_list_to, validate_to,
};

use crate::recorded::{self, Recorded};
use crate::{Message, Place, Sent, Session, Verdict, clients, halves, store_of};

/// The verdict on a session, with the evidence.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The provider profile that was used.
    pub profile: &'static Profile,
    /// True if the store does not show the dialect, so that one was assumed.
    pub is_assumed: bool,
    /// The messages that the product sends.
    pub sent: Sent,
    /// The body of the next request.
    pub body: Vec<u8>,
    /// The reasons for a rejection, in the order in which the provider checks.
    pub refusals: Vec<Refusal>,
    /// The reasons for which a later model rejects the request. Only set if the store does not show the
    /// model.
    pub by_later_models: Vec<Refusal>,
    /// The rules that this provider does not apply and that older or stricter ones do.
    pub warnings: Vec<Refusal>,
    /// The refusal that the store has of the last request, if a rule is behind it.
    pub recorded: Option<Recorded>,
}

impl Judgement {
    /// The next request as a value; null if the stored one is not JSON.
    pub fn request(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The places of calls with arguments that are not JSON, if this provider accepts them and servers that parse them
    /// do not (`openai-chat/arguments-not-json`).
    pub fn unparsable_arguments(&self) -> Vec<&Place> {
        let rule = Rule::find("openai-chat/arguments-not-json");
        let has_rule = rule.is_some_and(|rule| rule.dialect() == self.profile.dialect);
        let is_meant = has_rule && self.refusals.is_empty();
        let blocks = self.sent.messages.iter().filter(|_| is_meant).flat_map(|message| &message.blocks);
        let is_broken = |block: &&crate::Block| {
            let histories::Block::Call(call) = &block.content else { return false };
            serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_err()
        };
        blocks.filter(is_broken).map(|block| &block.place).collect()
    }
}

/// A reason for which a request is rejected.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The violated rule of the provider. `None` if the product itself gives up.
    pub rule: Option<&'static Rule>,
    /// The provider's error message, or the product's error.
    pub message: String,
    /// The place in the store from which the rejected block came.
    pub place: Option<Place>,
    /// The JSON pointer into the request.
    pub pointer: String,
}

/// The user message of the next turn. It is never stored.
const NEXT: &str = "Go on.";

/// Judges the next request of a session. The dialect and profile are the given ones, or the ones that the
/// store shows, or Anthropic Messages, which has the strictest checks.
pub fn judge(session: &Session, profile: Option<&'static Profile>) -> Judgement {
    judge_for(session, profile, None)
}

/// Like [`judge`], with the model for the next request, for stores that may not show it.
pub fn judge_for(session: &Session, profile: Option<&'static Profile>, model: Option<&str>) -> Judgement {
    let model = session.model.as_deref().or(model);
    let is_assumed = profile.is_none() && session.dialect.is_none();
    let is_given = profile.is_some();
    let dialect = session.dialect.unwrap_or(Dialect::AnthropicMessages);
    let own = || session.profile.and_then(Profile::named);
    let profile = profile.or_else(own).unwrap_or_else(|| Profile::newest(dialect));
    let store = store_of(session.product);
    // Some products send different requests in different dialects. A given profile is worth more than what the store shows.
    let known = match is_given && session.dialect != Some(profile.dialect) {
        true => &Session { dialect: Some(profile.dialect), ..session.clone() },
        false => session,
    };
    let mut sent = match store {
        Some(store) => store.send(known),
        None => Sent::as_stored(session),
    };
    let fills = store.and_then(|store| store.fills_open_tail(session));
    let is_open = session.has_open_tail() && fills.is_some();
    let request = match &session.body {
        Some(body) => Request::stored(body, &sent.messages),
        None if is_open => Request::next(&mut closed(&sent.messages), model, profile),
        None => Request::next(&mut sent.messages, model, profile),
    };
    let mut refusals = match &sent.gives_up {
        Some((message, place)) => vec![Refusal {
            rule: None,
            message: message.clone(),
            place: Some(place.clone()),
            pointer: String::new(),
        }],
        None => request.refusals(&sent, profile, model),
    };
    let is_obeyed =
        |refusal: &Refusal| refusal.rule.is_some_and(|rule| store.is_some_and(|store| store.may_obey(rule)));
    refusals.retain(|refusal| !is_obeyed(refusal));
    // The provider parses the body before any other check.
    if let Some((violation, place)) = halves::refusal(session, &sent, profile) {
        let (rule, message) = (Some(violation.rule), violation.message);
        refusals.insert(0, Refusal { rule, message, place: Some(place), pointer: violation.pointer });
    }
    // The provider's own words about the stored messages are worth more than the send model of this version.
    let recorded = recorded::of(session, profile).filter(|_| session.body.is_none());
    let mut request = request;
    if refusals.is_empty()
        && let Some(Recorded { rule, .. }) = &recorded
    {
        let mut stored = recorded::messages(session);
        let own = Request::next(&mut stored, model, profile);
        let as_stored = Sent { messages: stored, mended: Vec::new(), gives_up: None };
        refusals = own.refusals(&as_stored, profile, model);
        refusals.retain(|refusal| refusal.rule.is_some_and(|own| own.id == rule.id));
        let hollow = recorded::hollow(rule, &as_stored.messages).into_iter().map(|place| Refusal {
            rule: Some(rule),
            message: String::new(),
            place: Some(place.clone()),
            pointer: String::new(),
        });
        if refusals.is_empty() {
            refusals = hollow.collect();
        }
        if !refusals.is_empty() {
            (sent, request) = (as_stored, own);
        }
    }
    let by_later_models = match model {
        None if refusals.is_empty() && !is_assumed => request.refusals_by_later_models(&sent, profile),
        _ => Vec::new(),
    };
    let warnings = match &sent.gives_up {
        Some(_) => Vec::new(),
        None => request.found(&sent, profile, model, Severity::Warning),
    };
    let warnings = warnings.into_iter().filter(|warning| !is_obeyed(warning)).collect();
    if session.foreign.has_results {
        refusals.clear();
    }
    let verdict = if !refusals.is_empty() {
        Verdict::Refused
    } else if session.messages.is_empty() && !session.troubles.is_empty() {
        Verdict::Unreadable
    } else if !session.foreign.keys.is_empty() {
        Verdict::Incomplete
    } else if !by_later_models.is_empty() {
        Verdict::Undecided
    } else if session.cut.is_some() {
        Verdict::Cut
    } else if is_open {
        Verdict::OpenTail
    } else if session.is_excerpt {
        Verdict::Excerpt
    } else {
        Verdict::Accepted
    };
    Judgement {
        verdict,
        profile,
        is_assumed,
        sent,
        body: request.body,
        refusals,
        by_later_models,
        warnings,
        recorded,
    }
}

/// A request and the blocks from which it was made.
struct Request {
    body: Vec<u8>,
    /// True if the body is a bare list of messages.
    is_list: bool,
    /// Each block's pointer, and its place in the store.
    rendered: histories::Rendered,
}

impl Request {
    /// The request after another user message, so that the conversation does not end with the model.
    ///
    /// The messages are unchanged afterwards.
    fn next(messages: &mut [Message], model: Option<&str>, profile: &Profile) -> Request {
        // Sessions may be large and several copies exist already, so the blocks are lent instead of copied.
        let mut lent: Vec<histories::Message> = messages.iter_mut().map(lend).collect();
        if lent.last().is_none_or(|last| last.role != Role::User) {
            lent.push(histories::Message::text(Role::User, NEXT));
        }
        let mut rendered = render(profile.dialect, model, &lent);
        for (message, lent) in messages.iter_mut().zip(lent) {
            for (block, content) in message.blocks.iter_mut().zip(lent.blocks) {
                block.content = content;
            }
        }
        let body = rendered.body.take().to_string().into_bytes();
        Request { body, is_list: false, rendered }
    }

    /// The stored request, unchanged.
    fn stored(body: &[u8], messages: &[Message]) -> Request {
        let mut blocks = Vec::new();
        for (n_message, message) in messages.iter().enumerate() {
            let places = message.blocks.iter().enumerate();
            blocks.extend(places.map(|(n, block)| (block.place.pointer.clone(), n_message, n)));
        }
        let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        let rendered = histories::Rendered { body: serde_json::Value::Null, blocks };
        Request { body: body.to_vec(), is_list, rendered }
    }

    /// The reasons for which a later model rejects the request, if the conversation may have used a later
    /// model.
    fn refusals_by_later_models(&self, sent: &Sent, profile: &'static Profile) -> Vec<Refusal> {
        let is_unsigned =
            |message: &Message| message.calls().next().is_some_and(|first| first.signature.is_none());
        match clients::of(Some(profile.dialect)).later_model {
            Some(later) if !sent.messages.iter().any(is_unsigned) => {
                self.refusals(sent, profile, Some(later))
            }
            Some(_) | None => Vec::new(),
        }
    }

    fn refusals(&self, sent: &Sent, profile: &'static Profile, model: Option<&str>) -> Vec<Refusal> {
        self.found(sent, profile, model, Severity::Error)
    }

    /// The violations of this severity.
    fn found(
        &self,
        sent: &Sent,
        profile: &'static Profile,
        model: Option<&str>,
        severity: Severity,
    ) -> Vec<Refusal> {
        let violations = match self.is_list {
            true => validate_list_to(profile, model, &self.body),
            false => validate_to(profile, model, &self.body),
        };
        let list = format!("/{}", list_of(profile.dialect));
        // Products leave old images out of what they send, so the size of a store is not that of a request.
        let is_of_size =
            |violation: &Violation| profile.max_body.is_some_and(|limit| limit.rule.id == violation.rule.id);
        let errors = violations
            .into_iter()
            .filter(|violation| violation.severity == severity && !is_of_size(violation));
        let place = |pointer: &str| {
            let pointer = if self.is_list { pointer.strip_prefix(&list).unwrap_or(pointer) } else { pointer };
            // A warning is for people. The role of a message is not in a block, so its first block shows the message.
            let around = pointer.rsplit_once('/').map(|(around, _)| around).filter(|around| *around != list);
            let around = around.filter(|_| severity == Severity::Warning);
            let at = |pointer: &str| self.rendered.block_at(pointer);
            let (message, block) = at(pointer).or_else(|| at(around?))?;
            Some(sent.messages.get(message)?.blocks.get(block)?.place.clone())
        };
        let refusal = |violation: Violation| Refusal {
            rule: Some(violation.rule),
            message: violation.message,
            place: place(&violation.pointer),
            pointer: violation.pointer,
        };
        errors.take(MAX_VIOLATIONS).map(refusal).collect()
    }
}

/// Moves the content of a message into a new one, and leaves empty blocks behind.
fn lend(message: &mut Message) -> histories::Message {
    let nothing = || histories::Block::Text(String::new());
    let blocks =
        message.blocks.iter_mut().map(|block| std::mem::replace(&mut block.content, nothing())).collect();
    histories::Message { role: message.role, blocks }
}

/// The messages with a result for each trailing open call, as the product writes them when it resumes.
pub(crate) fn closed(messages: &[Message]) -> Vec<Message> {
    let mut closed = messages.to_vec();
    let Some(last) = messages.iter().rposition(|message| message.role == Role::Assistant) else {
        return closed;
    };
    let answered: BTreeSet<&str> =
        messages[last..].iter().flat_map(Message::results).map(|result| result.call.as_str()).collect();
    let is_open = |call: &&histories::Call| !answered.contains(call.id.as_str());
    let place = &messages[last].place;
    let result = |call: &histories::Call| {
        let content = histories::Block::Result(call.failed(crate::NOT_RECORDED));
        crate::Block { place: place.clone(), content, state: None }
    };
    let blocks: Vec<crate::Block> = messages[last].calls().filter(is_open).map(result).collect();
    if !blocks.is_empty() {
        let (place, ending) = (place.clone(), crate::Ending::Whole);
        closed.push(Message { role: Role::Tool, blocks, id: None, place, ending });
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Files, Repair, RepairOptions, read, repair};

    /// A Gemini contents list with an unanswered call, signed or not.
    fn unanswered(signature: &str) -> Files {
        let list = format!(
            r#"[{{"role":"user","parts":[{{"text":"Look."}}]}},
            {{"role":"model","parts":[{{"functionCall":{{"name":"look","args":{{}}}}{signature}}}]}},
            {{"role":"user","parts":[{{"text":"Well?"}}]}}]"#
        );
        Files::one("history.json", list)
    }

    #[test]
    fn a_refusal_by_later_models_is_undecided_without_a_model() {
        let files = unanswered(r#","thoughtSignature":"c2lnbmVk""#);
        let session = read(&files).unwrap().remove(0);
        let judgement = judge(&session, None);
        assert_eq!(judgement.verdict, Verdict::Undecided);
        let rules: Vec<_> = judgement.by_later_models.iter().filter_map(|refusal| refusal.rule).collect();
        assert_eq!(rules.iter().map(|rule| rule.id).collect::<Vec<_>>(), ["gemini/response-missing"]);
        let named = |model| judge_for(&session, None, Some(model)).verdict;
        assert_eq!(named("gemini-2.5-flash"), Verdict::Accepted);
        assert_eq!(named("gemini-3-flash-preview"), Verdict::Refused);
        let Ok(Repair::Beyond(beyond)) = repair(&files, 0, &RepairOptions::default()) else {
            panic!("it is repaired without a model")
        };
        assert!(beyond.why.contains("depends on the model"), "{}", beyond.why);
        let mended = |model: &str| {
            let options = RepairOptions { model: Some(model.to_owned()), ..RepairOptions::default() };
            repair(&files, 0, &options)
        };
        assert!(matches!(mended("gemini-2.5-flash"), Ok(Repair::Healthy(_))));
        assert!(matches!(mended("gemini-3-flash-preview"), Ok(Repair::Mended(_))));
    }

    #[test]
    fn the_size_of_a_store_is_not_judged() {
        let line = |text: &str| {
            format!(
                r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let long = line(&"A".repeat(33 << 20));
        let session = read(&Files::one("session.jsonl", long)).unwrap().remove(0);
        let judgement = judge(&session, None);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    }

    #[test]
    fn a_list_without_signatures_is_from_an_older_model() {
        let session = read(&unanswered("")).unwrap().remove(0);
        assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
    }
}
