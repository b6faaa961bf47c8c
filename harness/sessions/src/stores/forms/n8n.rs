//! n8n: the rows of `n8n_chat_histories`, in which its Postgres memory keeps LangChain messages.
//!
//! A row is `{id, session_id, message}`, and the message has its fields beside its type. Source: `addMessage` in
//! `libs/langchain-community/src/stores/message/postgres.ts` of <https://github.com/langchain-ai/langchainjs>, which n8n
//! uses, and <https://community.n8n.io/t/tool-response-json-schema-for-ai-agent-node/195078>. n8n sends only the last
//! messages, as many as its context window has, which the rows do not show (<https://github.com/n8n-io/n8n/issues/34187>).

use std::collections::BTreeMap;

use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::langgraph_state::{PIECES, ROLES, TYPES};
use super::{BASE, Form, Saying, Shape, Speaker};
use crate::stores::Look;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::N8n,
    generation: "rows",
    other: Some(Assembly { owns: is_rows, assemble }),
    shape: Shape::Speakers(&[Speaker { at: "", role: Saying::Named("/type", ROLES), pieces: PIECES }]),
    model: &["/response_metadata/model_name"],
    finish: Some(crate::names::note_provider_of_model),
    ..BASE
};

fn is_rows(look: &Look<'_>) -> bool {
    #[cfg(feature = "sqlite")]
    if look.database().is_some_and(super::langchain_rows::is_n8n) {
        return true;
    }
    look.is_list(|root| root.items().next().is_some() && root.items().all(is_row))
}

fn is_row(row: Json<'_, '_>) -> bool {
    let [session, message] = row.pick(["session_id", "message"]);
    session.is_some()
        && message.is_some_and(|message| {
            let kind = message.field("type").as_str();
            kind.is_some_and(|kind| TYPES.contains(&kind.as_ref())) && message.get("content").is_some()
        })
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    #[cfg(feature = "sqlite")]
    if crate::sqlite::is_database(files.main()) {
        return super::langchain_rows::n8n(files, FORM.generation);
    }
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
    for (n, row) in document.root().items().enumerate() {
        let own = row.field("session_id");
        let id = own.as_str().map_or_else(|| own.raw().to_owned(), |id| id.into_owned());
        let session = sessions.entry(id.clone()).or_insert_with(|| Assembled {
            id: Some(id),
            generation: FORM.generation,
            ..Assembled::default()
        });
        let message = row.field("message");
        let span = message.span();
        let place = Place::in_file(span.start as u64..span.end as u64, format!("/{n}/message"));
        session.records.push((place, message.raw().to_owned()));
    }
    Ok(sessions.into_values().collect())
}
