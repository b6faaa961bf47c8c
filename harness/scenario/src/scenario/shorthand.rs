//! The two short forms that the format accepts: a reply that is only a list of blocks, and a name or a count
//! for a call.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value};
use serde::{Serialize, Serializer};

use super::{Block, Indices, Reply, Stop, Which};

/// The long form of a reply. Give exactly one of `blocks` and `attempts`.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LongReply {
    /// The blocks of the reply.
    blocks: Option<Vec<Block>>,
    /// The blocks of each attempt.
    attempts: Option<Vec<Vec<Block>>>,
    /// The argument deltas of the calls are interleaved instead of sent one call after the other.
    #[serde(default)]
    interleave: bool,
    /// The stop reason to send, whatever the reply contains. After a search, `pause` leaves the turn open:
    /// the system sends the reply back as the last message, and the next reply continues it.
    stop: Option<Stop>,
    /// How the calls in the stream are numbered, if not in sequence. Only `openai-chat` and `mistral` number
    /// them.
    indices: Option<Indices>,
}

impl<'de> Deserialize<'de> for Reply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReplyVisitor;

        impl<'de> Visitor<'de> for ReplyVisitor {
            type Value = Reply;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of blocks, or an object with `blocks` or `attempts`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Reply, A::Error> {
                let blocks = Vec::<Block>::deserialize(value::SeqAccessDeserializer::new(seq))?;
                Ok(Reply::new(blocks))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Reply, A::Error> {
                let long = LongReply::deserialize(value::MapAccessDeserializer::new(map))?;
                let attempts = match (long.blocks, long.attempts) {
                    (Some(blocks), None) => vec![blocks],
                    (None, Some(attempts)) if !attempts.is_empty() => attempts,
                    _ => {
                        return Err(de::Error::custom(
                            "a reply has either `blocks` or at least one of `attempts`",
                        ));
                    }
                };
                Ok(Reply { attempts, interleave: long.interleave, stop: long.stop, indices: long.indices })
            }
        }

        deserializer.deserialize_any(ReplyVisitor)
    }
}

impl JsonSchema for Reply {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reply".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let short = generator.subschema_for::<Vec<Block>>();
        let long = generator.subschema_for::<LongReply>();
        json_schema!({
            "description": "One reply of the model: a list of blocks, or an object where there is more to say.",
            "anyOf": [short, long],
        })
    }
}

impl<'de> Deserialize<'de> for Which {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WhichVisitor;

        impl Visitor<'_> for WhichVisitor {
            type Value = Which;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the name of a call, or a count")
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Which, E> {
                u32::try_from(count).map(Which::Count).map_err(|_| E::custom("the count is too large"))
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Which, E> {
                u32::try_from(count).map(Which::Count).map_err(|_| E::custom("a count is not negative"))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Which, E> {
                Ok(Which::Call(name.to_owned()))
            }
        }

        deserializer.deserialize_any(WhichVisitor)
    }
}

impl Serialize for Which {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Which::Count(count) => serializer.serialize_u32(*count),
            Which::Call(name) => serializer.serialize_str(name),
        }
    }
}

impl JsonSchema for Which {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A call by its name, or a count.",
            "type": ["string", "integer"],
            "minimum": 0,
        })
    }
}
