//! Valid and invalid histories from the vectors: which server rejects which.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::client::{Connection, Reply, post};
use crate::contestant::Contestant;
use crate::result::Histories;

/// The dialects that all of the servers speak.
const DIALECTS: [&str; 4] = ["anthropic-messages", "gemini", "openai-chat", "openai-responses"];

/// The model in the path, for requests that do not name one.
const SOME_MODEL: &str = "gemini-2.5-flash";

/// A history from the vectors.
pub struct Vector {
    dialect: &'static str,
    model: String,
    body: String,
    is_legal: bool,
}

/// Returns the vectors that any server can be asked. Vectors with their own profile are left out, since no
/// other server has profiles, and so are vectors that depend on earlier replies.
pub fn vectors(folder: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for dialect in DIALECTS {
        let mut files: Vec<_> =
            std::fs::read_dir(folder.join(dialect)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let file: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            vectors.extend(
                file["vectors"].as_array().unwrap().iter().filter_map(|entry| vector(dialect, entry)),
            );
        }
    }
    vectors
}

fn vector(dialect: &'static str, entry: &Value) -> Option<Vector> {
    let request = entry.get("request");
    // These fields refer to earlier replies. A server knows only its own replies, and the vector does not
    // say which.
    let names_earlier = request.is_some_and(|request| {
        let text = request.to_string();
        ["\"item_reference\"", "\"previous_response_id\"", "\"conversation\""]
            .iter()
            .any(|name| text.contains(name))
    });
    let is_plain = entry.get("profile").is_none() && entry.get("earlier").is_none() && !names_earlier;
    let body = match (request, entry.get("body")) {
        (Some(request), _) => request.to_string(),
        (None, body) => body?.as_str()?.to_owned(),
    };
    let named = request.and_then(|request| request["model"].as_str()).unwrap_or(SOME_MODEL);
    let model = named.trim_start_matches("models/").to_owned();
    is_plain.then(|| Vector { dialect, model, body, is_legal: entry["result"] != "invalid" })
}

/// Counts the histories that the server accepts and rejects.
pub fn ask(contestant: &Contestant, vectors: &[Vector]) -> BTreeMap<String, Histories> {
    let mut all: BTreeMap<String, Histories> = BTreeMap::new();
    for vector in vectors {
        let counts = all.entry(vector.dialect.to_owned()).or_default();
        // Each vector gets its own connection, because a server may close it after a rejected request.
        let mut connection = Connection::open(contestant.at).unwrap();
        connection.send(&post(&contestant.who.path(vector.dialect, &vector.model), &vector.body));
        let status = connection.receive().map(|Reply { status, .. }| status);
        let is_refused = matches!(status, Some(400..=499));
        match vector.is_legal {
            true => {
                counts.legal += 1;
                counts.legal_refused += usize::from(status != Some(200));
            }
            false => {
                counts.illegal += 1;
                counts.illegal_refused += usize::from(is_refused);
            }
        }
    }
    all
}
