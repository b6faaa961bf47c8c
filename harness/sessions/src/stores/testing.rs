//! Shared functions of the stores' tests.

use brickbat_rules::histories::Block as Content;

use super::Store;
use crate::{
    Edit, Files, Judgement, Place, Product, ReadError, Reason, Repair, RepairOptions, Session, Verdict,
    judge, read, repair, store_of,
};

/// A store under test.
pub(crate) struct Tested(pub(crate) &'static dyn Store);

impl Tested {
    /// The first session in files that the store recognises.
    pub(crate) fn read(&self, files: &Files) -> Session {
        assert!(self.0.recognises(files));
        self.0.read(files).unwrap().remove(0)
    }

    /// The first session in the files, with its judgement.
    pub(crate) fn judged(&self, files: &Files) -> (Session, Judgement) {
        let session = self.read(files);
        let judgement = judge(&session, None);
        (session, judgement)
    }

    /// The files after an edit of the first session.
    pub(crate) fn written(&self, files: &Files, edit: Edit) -> Files {
        self.0.write(files, &self.read(files), &[edit]).unwrap()
    }
}

/// The verdict and the reasons for a rejection: rule ids, or the product's own error.
pub(crate) fn verdict(session: &Session) -> (Verdict, Vec<String>) {
    let judgement = judge(session, None);
    let reasons = judgement.refusals.iter().map(|refusal| match refusal.rule {
        Some(rule) => rule.id.to_string(),
        None => refusal.message.clone(),
    });
    (judgement.verdict, reasons.collect())
}

/// The only session in the files, which are of this product.
pub(crate) fn only(product: Product, files: &Files) -> Session {
    let mut sessions = read(files).unwrap();
    assert_eq!((sessions.len(), sessions[0].product), (1, product));
    sessions.remove(0)
}

/// The ids of the broken rules.
pub(crate) fn rules(judgement: &Judgement) -> Vec<&'static str> {
    judgement.refusals.iter().filter_map(|refusal| refusal.rule).map(|rule| rule.id).collect()
}

/// Checks that the next request is accepted as the store has it, under a profile that the store shows.
pub(crate) fn assert_accepted_as_stored(judgement: &Judgement) {
    let verdict = (judgement.verdict, judgement.is_assumed);
    assert_eq!(verdict, (Verdict::Accepted, false), "{:?}", judgement.refusals);
    assert!(judgement.sent.mended.is_empty());
}

/// The place of the first block with this content, on the branch or off it.
pub(crate) fn place(session: &Session, is_meant: impl Fn(&Content) -> bool) -> Place {
    let blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    blocks.filter(|block| is_meant(&block.content)).map(|block| block.place.clone()).next().unwrap()
}

/// Finds a call by its id.
pub(crate) fn call_of(id: &str) -> impl Fn(&Content) -> bool {
    move |content| matches!(content, Content::Call(call) if call.id == id)
}

/// Finds a result by the id of its call.
pub(crate) fn result_of(id: &str) -> impl Fn(&Content) -> bool {
    move |content| matches!(content, Content::Result(result) if result.call == id)
}

/// Changes bytes at these places, and in a third of the cases cuts them off.
pub(crate) fn damaged(mut bytes: Vec<u8>, damage: Vec<(usize, u8)>, cut: usize) -> Vec<u8> {
    for (at, byte) in damage {
        let at = at % bytes.len();
        bytes[at] = byte;
    }
    if cut.is_multiple_of(3) {
        bytes.truncate(cut % bytes.len());
    }
    bytes
}

/// Reads and judges damaged files, and writes every edit of every block. Nothing of it may panic, and each
/// written file must be readable or unknown.
pub(crate) fn assert_unharmed(files: &Files) {
    for session in read(files).unwrap_or_default() {
        judge(&session, None);
        let store = store_of(session.product).unwrap();
        for block in session.messages.iter().flat_map(|message| &message.blocks) {
            let place = || block.place.clone();
            let edits = [
                Edit::Drop { block: place() },
                Edit::Synthesise { call: place(), id: "c1".to_owned() },
                Edit::Truncate { last: place() },
            ];
            for edit in edits {
                if let Ok(written) = store.write(files, &session, &[edit]) {
                    assert!(matches!(read(&written), Ok(_) | Err(ReadError::Unknown)));
                }
            }
        }
    }
}

/// The outcome of a repair with the default options: the files, the reasons of the edits, and the verdict. `None` if
/// there is nothing to repair, or no way to.
pub(crate) fn repaired(files: &Files) -> Option<(Files, Vec<Reason>, Verdict)> {
    let outcome = repair(files, 0, &RepairOptions::default());
    let Ok(Repair::Mended(own)) = outcome else { return None }; // quoted: the name of the variant
    let reasons = own.edits.iter().map(|edit| edit.reason).collect();
    Some((own.files, reasons, own.after.verdict))
}
