//! Families of rules: what is wrong with a refused request, in the words of no dialect.
//!
//! A call without a result breaks one rule in each dialect, and all of them are one mistake of the system.
//! Reports therefore compare families. A new rule needs its line in [`FAMILIES`]: a test fails until it has
//! one.

/// The mistake in a request, whatever the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// A call has no result.
    UnansweredCall,
    /// A result has no call.
    OrphanResult,
    /// A call has two results.
    RepeatedResult,
    /// A result, or a call, is in a message where the provider does not look for it.
    MisplacedResult,
    /// A result has a content that the provider does not take.
    ResultContent,
    /// Two calls, or two items, have one id.
    RepeatedId,
    /// An id has a form that the provider does not take.
    IdForm,
    /// A tool has a name that the provider does not take.
    ToolName,
    /// The arguments of a call are not an object.
    Arguments,
    /// A message or a text is empty.
    Empty,
    /// The roles of the messages do not alternate as they should.
    MessageOrder,
    /// The conversation ends with a reply of the model.
    EndsWithReply,
    /// Text is beside or behind the calls of a reply.
    TextBesideCalls,
    /// A reply is not sent back as it came: its thinking or its signature is missing or changed, or it is
    /// split.
    ReplyAltered,
    /// Thinking is not possible with the settings of the request.
    ThinkingSettings,
    /// An item or a response that is referred to is unknown to the provider.
    LostReference,
    /// A call of a tool that the provider runs is incomplete.
    ServerTool,
    /// The history has calls, and the request offers no tools.
    ToolsAbsent,
    /// A system message is in a place where the provider does not take it.
    SystemMessage,
    /// A marker for the cache is in a wrong place.
    CacheControl,
    /// A picture is too large.
    Picture,
    /// A field is missing, or is one of another API.
    Shape,
    /// The body is not JSON.
    Body,
}

impl Family {
    /// Returns the family of a rule, by the name of the rule without its dialect. `None` if there is no such
    /// rule.
    pub fn of(short_name: &str) -> Option<Family> {
        let mut families = FAMILIES.iter();
        families.find(|(_, names)| names.contains(&short_name)).map(|(family, _)| *family)
    }

    /// Returns the name in records, which never changes.
    pub fn name(self) -> &'static str {
        match self {
            Family::UnansweredCall => "unanswered-call",
            Family::OrphanResult => "orphan-result",
            Family::RepeatedResult => "repeated-result",
            Family::MisplacedResult => "misplaced-result",
            Family::ResultContent => "result-content",
            Family::RepeatedId => "repeated-id",
            Family::IdForm => "id-form",
            Family::ToolName => "tool-name",
            Family::Arguments => "arguments",
            Family::Empty => "empty",
            Family::MessageOrder => "message-order",
            Family::EndsWithReply => "ends-with-reply",
            Family::TextBesideCalls => "text-beside-calls",
            Family::ReplyAltered => "reply-altered",
            Family::ThinkingSettings => "thinking-settings",
            Family::LostReference => "lost-reference",
            Family::ServerTool => "server-tool",
            Family::ToolsAbsent => "tools-absent",
            Family::SystemMessage => "system-message",
            Family::CacheControl => "cache-control",
            Family::Picture => "picture",
            Family::Shape => "shape",
            Family::Body => "body",
        }
    }
}

/// The rules of each family, by their names without the dialect.
const FAMILIES: &[(Family, &[&str])] = &[
    (
        Family::UnansweredCall,
        &[
            "tool-message-missing",
            "tool-output-missing",
            "tool-result-missing",
            "model-tool-result-missing",
            "response-missing",
            "response-count",
            "call-and-result-counts",
        ],
    ),
    (
        Family::OrphanResult,
        &[
            "tool-message-orphan",
            "tool-message-unknown-id",
            "tool-output-orphan",
            "tool-result-orphan",
            "tool-results-exceed",
            "result-id-unknown",
            "response-not-after-call",
        ],
    ),
    (
        Family::RepeatedResult,
        &[
            "tool-message-duplicate",
            "tool-output-duplicate",
            "tool-result-duplicate",
            "result-id-duplicate",
            "async-output-duplicate",
        ],
    ),
    (
        Family::MisplacedResult,
        &[
            "tool-result-not-first",
            "model-tool-result-not-first",
            "tool-outputs-interrupted",
            "tool-result-outside-user",
            "tool-use-outside-assistant",
            "responses-mixed",
            "function-role",
        ],
    ),
    (
        Family::ResultContent,
        &[
            "response-not-object",
            "tool-result-error-empty",
            "tool-result-error-not-text",
            "model-tool-result-error-not-text",
        ],
    ),
    (
        Family::RepeatedId,
        &[
            "call-id-duplicate",
            "tool-call-id-duplicate",
            "tool-use-id-duplicate",
            "tool-use-id-reused",
            "item-duplicate",
        ],
    ),
    (
        Family::IdForm,
        &[
            "call-id-form",
            "call-id-length",
            "call-id-too-long",
            "tool-id-pattern",
            "model-tool-id-pattern",
            "server-tool-id-pattern",
            "item-id-form",
            "item-id-too-long",
            "tool-call-id-required",
            "tool-result-id-required",
        ],
    ),
    (
        Family::ToolName,
        &[
            "function-name",
            "function-name-empty",
            "function-name-pattern",
            "tool-name-pattern",
            "declaration-name-pattern",
            "tool-names-not-unique",
            "namespace-missing",
        ],
    ),
    (
        Family::Arguments,
        &["args-not-object", "arguments-not-json", "tool-input-not-object", "value-not-object"],
    ),
    (
        Family::Empty,
        &[
            "assistant-message-empty",
            "user-message-empty",
            "message-empty",
            "messages-empty",
            "contents-empty",
            "content-empty",
            "content-list-empty",
            "content-null",
            "parts-empty",
            "part-empty",
            "text-blank",
            "model-text-blank",
            "text-empty",
            "tool-calls-empty",
        ],
    ),
    (
        Family::MessageOrder,
        &[
            "first-message-not-user",
            "user-message-missing",
            "conversation-start",
            "role-order",
            "roles-not-alternating",
            "successive-roles",
        ],
    ),
    (
        Family::EndsWithReply,
        &[
            "ends-with-model",
            "last-message-assistant",
            "prefill-not-supported",
            "model-prefill",
            "model-prefill-with-tools",
            "prefix-not-last",
            "final-text-trailing-space",
            "model-trailing-space",
        ],
    ),
    (
        Family::TextBesideCalls,
        &["content-and-calls", "text-after-tool-use", "model-text-after-tool-use", "model-text-beside-tools"],
    ),
    (
        Family::ReplyAltered,
        &[
            "thinking-bound-elsewhere",
            "encrypted-content-foreign",
            "reasoning-content",
            "thinking-last",
            "thinking-missing",
            "model-thinking-missing",
            "thinking-modified",
            "thinking-not-first",
            "thinking-not-returned",
            "signature-invalid",
            "model-signature-invalid",
            "thought-signature-corrupted",
            "thought-signature-missing",
            "call-not-after-user",
            "reasoning-content-missing",
            "reasoning-content-not-returned",
            "item-without-reasoning",
            "reasoning-without-item",
        ],
    ),
    (
        Family::ThinkingSettings,
        &["thinking-when-disabled", "thinking-with-forced-tool", "model-thinking-with-forced-tool"],
    ),
    (Family::LostReference, &["item-not-found", "previous-response-not-found"]),
    (
        Family::ServerTool,
        &["server-tool-not-offered", "server-tool-result-missing", "server-tool-result-orphan"],
    ),
    (Family::ToolsAbsent, &["tool-config-missing", "tools-empty"]),
    (
        Family::SystemMessage,
        &[
            "system-message-content",
            "system-message-first",
            "system-message-model",
            "system-message-not-after-user",
            "system-message-not-before-assistant",
        ],
    ),
    (Family::CacheControl, &["cache-control-on-empty-text", "cache-control-order", "cache-control-too-many"]),
    (
        Family::Picture,
        &[
            "image-too-wide",
            "image-too-wide-among-many",
            "image-empty",
            "image-media-type",
            "image-not-base64",
            "image-unreadable",
            "image-type-differs",
            "image-outside-user",
            "input-not-enabled",
        ],
    ),
    (
        Family::Shape,
        &[
            "item-field-unknown",
            "request-shape",
            "block-type-foreign",
            "block-without-key",
            "content-part-type",
            "part-not-text",
            "document-without-text",
            "document-outside-user",
            "citations-outside-assistant",
            "sampling-parameter",
            "unknown-role",
            "name-unknown",
            "extra-key",
            "unknown-message-field",
            "item-type",
            "item-field-required",
            "tool-call-shape",
            "tool-call-not-function",
            "tool-use-field-required",
            "thinking-field-required",
        ],
    ),
    (Family::Body, &["body-not-json", "body-too-large"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_has_one_family() {
        for rule in Rule::all() {
            let is_of = |(_, names): &&(Family, &[&str])| names.contains(&rule.short_name());
            let n_families = FAMILIES.iter().filter(is_of).count();
            assert_eq!(n_families, 1, "{}: add it to one family in `family.rs`", rule.id);
        }
    }

    #[test]
    fn families_list_rules_that_exist_and_have_names_of_their_own() {
        let rules: BTreeSet<&str> = Rule::all().map(Rule::short_name).collect();
        let listed = || FAMILIES.iter().flat_map(|(_, names)| *names);
        for name in listed() {
            assert!(rules.contains(name), "there is no rule `{name}`");
        }
        let names: BTreeSet<&str> = FAMILIES.iter().map(|(family, _)| family.name()).collect();
        assert_eq!(names.len(), FAMILIES.len());
        // A record that names a family is never taken for one that names a rule.
        assert!(names.is_disjoint(&rules));
    }
}
