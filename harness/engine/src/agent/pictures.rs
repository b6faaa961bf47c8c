//! Images that tools have returned. They are sent again with each request, so an image that the provider
//! rejects bricks the thread.

use super::Agent;
use super::thread::{CallResult, Message};
use brickbat_rules::longest_side;
use brickbat_scenario::plan::GivenPicture;
use brickbat_scenario::wire;

impl Agent {
    /// In a stored thread, replaces each image that is not sent with a text.
    pub(super) fn fit_pictures(&mut self) {
        let Agent { setup, decisions, session, .. } = self;
        let is_sent = |picture: &GivenPicture| {
            wire::of(setup.dialect).sends_pictures && decisions.sends_picture(longest_side(&picture.data))
        };
        for result in session.thread.iter_mut().filter_map(Message::results_mut).flatten() {
            if let Some(picture) = result.picture.take_if(|picture| !is_sent(picture)) {
                say(result, &word_of(&picture));
            }
        }
    }
}

/// The text that the model reads instead of an image.
pub(super) fn word_of(picture: &GivenPicture) -> String {
    format!("[a picture, {}]", picture.media_type)
}

fn say(result: &mut CallResult, word: &str) {
    if !result.text.is_empty() {
        result.text.push('\n');
    }
    result.text.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Delivery;
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::plan::{GivenBlock, GivenMessage, GivenResult};
    use brickbat_scenario::scenario::{Picture, PictureFormat};

    /// The result in a loaded thread in which a tool returned an image of this height.
    fn loaded(dialect: Dialect, height: u32) -> CallResult {
        let picture = Picture { format: PictureFormat::Png, width: 8, height, bytes: 0 };
        let picture = GivenPicture { media_type: "image/png".to_owned(), data: picture.base64() };
        let (id, tool, args) = ("a".to_owned(), "lookup".to_owned(), serde_json::json!({}));
        let given = [
            GivenMessage::User("Look.".to_owned()),
            GivenMessage::Assistant(vec![GivenBlock::Call { id: id.clone(), tool, args, raw: None }]),
            GivenMessage::Results(vec![GivenResult {
                id,
                text: "taken".to_owned(),
                is_error: false,
                picture: Some(picture),
                orphan_of: None,
            }]),
        ];
        let agent =
            Agent::reference(dialect, Delivery::Streamed, &[]).with_thread(&Agent::stored(&given)).unwrap();
        let results = agent.session.thread.iter().find_map(Message::results).unwrap();
        results[0].clone()
    }

    #[test]
    fn a_picture_is_sent_if_the_provider_accepts_it() {
        let small = loaded(Dialect::AnthropicMessages, 2000);
        assert!(small.picture.is_some() && small.text == "taken", "{small:?}");
        for (dialect, height) in [(Dialect::AnthropicMessages, 2001), (Dialect::OpenaiChat, 1)] {
            let said = loaded(dialect, height);
            assert_eq!((said.picture, said.text.as_str()), (None, "taken\n[a picture, image/png]"));
        }
    }
}
