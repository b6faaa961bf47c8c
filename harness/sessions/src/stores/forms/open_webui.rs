//! Open WebUI: an export of chats, or a chat as the database and its users have it, without the frame of the export.
//!
//! The messages of a chat are a map, and `currentId` names the last one of the active branch. Tool calls are inside the
//! texts, and are not read; a reply that was stopped before its first word is sent as an empty one
//! (<https://github.com/open-webui/open-webui/issues/25083>); newer releases have them in `output` too. Source: `backend/open_webui/models/chats.py` and `src/lib/utils/index.ts` of
//! <https://github.com/open-webui/open-webui>.

use brickbat_rules::histories::Role;

use super::{Form, Framing, Mark, Piece, Saying, Sends, Shape, Speaker, Tree};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::OpenWebui,
    generation: "export",
    file: Framing::Each(&[""], &["/chat/history/messages", "/history/messages"]),
    other: None,
    marks: &[Mark::Every(&["/role", "/content", "/parentId"])],
    skips: None,
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
        ),
        pieces: &[Piece::Whole("/content")],
    }]),
    dialect: None,
    model: &["/chat/models/0", "/models/0", "/model"],
    among: None,
    tree: Some(Tree {
        id: "/id",
        parent: "/parentId",
        current: &["/chat/history/currentId", "/history/currentId"],
    }),
    sends: Sends::AsStored,
    answer: None,
    finish: None,
};
