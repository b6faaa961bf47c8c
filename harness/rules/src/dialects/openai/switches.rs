//! The switches of the OpenAI Chat Completions profiles: the differences between profiles that rules ask for.

/// Differences between the OpenAI Chat Completions profiles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenaiChatSwitches {
    pub(crate) max_call_id_chars: usize,
    pub(crate) message_fields: MessageFields,
    /// The rule about alternating user and assistant messages.
    pub(crate) alternation: Alternation,
    /// The requirement for the arguments of earlier calls.
    pub(crate) arguments: Arguments,
    /// The requirement for the content of a message with calls.
    pub(crate) beside_calls: BesideCalls,
    /// Which replies must be sent back with their reasoning.
    pub(crate) reasoning: ReasoningContent,
    /// How two calls with the same id in one message are treated.
    pub(crate) twin_calls: TwinCalls,
    /// Which parts a message may have.
    pub(crate) parts: Parts,
    /// Which roles a message may have.
    pub(crate) roles: Roles,
}

/// Which roles a message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Roles {
    /// The six of OpenAI.
    Six,
    /// DeepSeek's own five, without `developer`.
    Deepseek,
}

/// Which fields a message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageFields {
    /// Any field. Unknown fields are ignored.
    Any,
    /// The fields in Groq's documentation.
    Groq,
    /// The fields in Cerebras's documentation: it has `reasoning` and rejects `reasoning_content`.
    Cerebras,
}

/// The rule about consecutive messages with the same role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alternation {
    /// They are allowed.
    Free,
    /// They are allowed, except with the model `deepseek-reasoner`.
    DeepseekReasoner,
    /// It depends on the chat template of the model.
    Template,
    /// As the chat template rejects them that comes with the model, if it is known.
    OfTemplate,
    /// They are rejected for every model.
    Always,
}

/// How two calls with the same id in one message are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TwinCalls {
    /// One answer is enough for both.
    OneAnswer,
    /// Each call needs its own answer.
    AnAnswerEach,
}

/// Which parts a message may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// Any part.
    Any,
    /// Only text, for every model.
    Text,
    /// Only text, except for models that accept images or sounds.
    ByModel,
    /// Images and sounds only for models that accept them. Of other parts, nothing is known.
    MediaByModel,
}

/// The requirement for the arguments of earlier calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// They can be any text, because the provider does not parse them.
    Any,
    /// They must be JSON.
    Json,
    /// They must be a JSON object, for the models for which the provider parses them.
    Object,
}

/// The requirement for the content of a message with calls, where other messages need some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BesideCalls {
    /// Reports disagree.
    Contested,
    /// It may.
    Empty,
}

/// Which replies must be sent back with their reasoning while the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasoningContent {
    /// None.
    Free,
    /// Replies with calls since the last user message.
    CallsOfLastTurn,
    /// All replies with calls.
    Calls,
    /// All replies of turns in which the model called a tool.
    TurnsWithCalls,
}
