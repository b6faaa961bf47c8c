//! Checks that a history is unchanged after a conversion to another dialect and back, as far as that
//! dialect can represent it.

use super::{Check, Evidence, Finding, pairs_kept, words_kept};
use crate::{Said, State};

pub(super) const CHECK: Check = Check {
    id: "there-and-back",
    summary: "a round trip loses nothing that both dialects can express",
    applies: |evidence| evidence.back.is_some() && evidence.input.state == State::Valid,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(back) = evidence.back else { return Vec::new() };
    if let Said::Raised { kind, message } = back {
        return vec![CHECK.finding(kind.clone(), format!("on the way back it raised {kind}: {message}"))];
    }
    // Other checks report losses on the way there.
    let there = [&words_kept::CHECK, &pairs_kept::CHECK].map(|check| (check.find)(evidence));
    let known: Vec<&str> = there.iter().flatten().map(|finding| finding.cause.as_str()).collect();
    // The dialect is that of the input again, but thinking and ids may be missing anyway.
    let evidence = evidence.returned(back);
    let found = [&words_kept::CHECK, &pairs_kept::CHECK].map(|check| (check.find)(&evidence));
    let new = found.into_iter().flatten().filter(|finding| !known.contains(&finding.cause.as_str()));
    let ours = new.map(|finding| Finding {
        check: CHECK.id,
        words: format!("back again, {}", finding.words),
        ..finding
    });
    ours.collect()
}
