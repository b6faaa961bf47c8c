//! The messages and results of each run of a program, and their remains in the thread of a later run.
//!
//! Only requests that contain the user's message of the run count. Other requests are for titles, or for other
//! agents of the program: their threads are not resumed. Only results of calls that this provider made up count,
//! because a program may have its own names for calls.
//!
//! A thread that a program has compacted is not judged: its summary may stand for everything. A summary is a block
//! that cannot be read, or a long text outside the model's messages that no earlier request contains.

use std::collections::BTreeSet;

use serde::Serialize;

use brickbat_scenario::history::{Content, History, Role};

/// The runs of a program, in order.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    all: Vec<ProgramRun>,
    /// The ids of the calls in all replies.
    minted: BTreeSet<String>,
    /// The lines in the texts of all requests.
    lines: BTreeSet<String>,
}

/// One run of the program.
#[derive(Debug, Clone, Default)]
struct ProgramRun {
    /// Texts. One of them is the user's message.
    candidates: Vec<String>,
    /// The lines of the user's message, as soon as a request contains it.
    said: Vec<String>,
    /// The results that its requests contain.
    results: BTreeSet<String>,
    /// The earlier runs. Its thread contains their messages.
    has_message_of: BTreeSet<usize>,
    /// The largest number of results under names of the program's own.
    n_renamed: usize,
    /// The number of blocks from the model and from tools in its first request.
    n_before: usize,
    /// True if its thread may contain a summary of the thread before.
    is_opaque: bool,
    /// The reply that was cut off last, unless another reply followed.
    cut: Option<CutReply>,
    /// The cut reply of the run before, which its thread contains as if it were complete.
    kept: Option<CutReply>,
}

/// A reply that was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutReply {
    /// Its 1-based number.
    pub reply: u32,
    /// The fault.
    pub words: String,
    #[serde(skip)]
    text: String,
}

/// The parts of an earlier run that the thread of a resumed run lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The 1-based number of the resumed run.
    pub run: usize,
    /// The 1-based number of the earlier run.
    pub of: usize,
    /// True if the user's message is missing.
    pub message: bool,
    /// The number of results that are missing.
    pub results: usize,
}

/// The maximum number of calls and results that are remembered. A run has a few.
const MAX_IDS: usize = 10_000;

/// The maximum number of lines that are remembered.
const MAX_LINES: usize = 100_000;

/// The fewest characters of a summary. A line with the date or the folder has less.
const MIN_SUMMARY: usize = 80;

/// The fewest characters of a line that can be recognised in another text.
const MIN_LINE: usize = 4;

impl Runs {
    /// Begins a run. The user's message is one of these texts; if no request contains any of them, it is the last
    /// text of the user in the run's first request.
    pub(super) fn begin(&mut self, candidates: Vec<String>) {
        self.all.push(ProgramRun { candidates, ..ProgramRun::default() });
    }

    /// Takes in a reply that was sent to the end, with the ids of its calls.
    pub(super) fn replied(&mut self, calls: impl Iterator<Item = String>) {
        if let Some(run) = self.all.last_mut() {
            run.cut = None;
            if self.minted.len() < MAX_IDS {
                self.minted.extend(calls);
            }
        }
    }

    /// Takes in a reply that was cut off.
    pub(super) fn cut(&mut self, reply: u32, words: &str, text: String) {
        if let Some(run) = self.all.last_mut() {
            run.cut = Some(CutReply { reply, words: words.to_owned(), text });
        }
    }

    /// Takes in a request that offers tools.
    pub(super) fn request(&mut self, history: &History) {
        let Some((run, earlier)) = self.all.split_last_mut() else { return };
        let is_first = run.said.is_empty();
        if is_first {
            run.said = message(&run.candidates, history);
        }
        if run.said.is_empty() || !contains(history, &run.said) {
            if is_first {
                run.said.clear();
            }
            return;
        }
        if is_first {
            run.n_before = n_of_model(history);
            // The system prompt of the first run is not a summary, as nothing comes before it.
            run.is_opaque |= !earlier.is_empty() && n_unknown(history, &self.lines, &run.said) >= MIN_SUMMARY;
            run.kept = earlier.last().and_then(|last| last.cut.clone()).filter(|cut| cut.is_in(history));
        }
        if self.lines.len() < MAX_LINES {
            self.lines.extend(lines_beside_model(history).map(str::to_owned));
        }
        run.is_opaque |= history.items.iter().any(|item| matches!(item.content, Content::Raw { .. }));
        let found = (0..).zip(&*earlier).filter(|(_, other)| contains(history, &other.said));
        run.has_message_of.extend(found.map(|(at, _)| at));
        let results = || {
            history.items.iter().filter_map(|item| match &item.content {
                Content::Result { id, .. } => Some(id),
                _ => None,
            })
        };
        let n_renamed = results().filter(|id| !self.minted.contains(*id)).count();
        run.n_renamed = run.n_renamed.max(n_renamed);
        if run.results.len() < MAX_IDS {
            run.results.extend(results().filter(|id| self.minted.contains(*id)).cloned());
        }
    }

    /// The losses of the resumed runs. Each is listed for the first run that lacks the message or the results.
    pub fn losses(&self) -> Vec<Loss> {
        let mut losses: Vec<Loss> = Vec::new();
        for (at, run) in self.all.iter().enumerate().skip(1).filter(|(_, run)| run.is_readable()) {
            for (of, earlier) in self.all[..at].iter().enumerate() {
                if losses.iter().any(|loss| loss.of == of + 1) {
                    continue;
                }
                let loss = Loss {
                    run: at + 1,
                    of: of + 1,
                    message: run.lacks_message(of, earlier),
                    results: run.lacks_results(&self.results_first_in(of)),
                };
                losses.extend(Some(loss).filter(|loss| loss.message || loss.results > 0));
            }
        }
        losses
    }

    /// True if a resumed run has shown that the command that resumes the program continues a thread.
    pub fn has_continued(&self) -> bool {
        (1..self.all.len()).any(|at| self.continues(at))
    }

    /// True if the last run began a thread with nothing of the earlier ones in it, and none before it continued
    /// one. Then the command that resumes the program may always begin a new thread, and one more run tells.
    pub fn is_unclear(&self) -> bool {
        self.all.len() > 1 && self.all.last().is_some_and(ProgramRun::is_readable) && !self.has_continued()
    }

    /// The cut replies that a later thread contains as if they were complete, each with the 1-based number of that
    /// later run.
    pub fn kept_cuts(&self) -> impl Iterator<Item = (usize, &CutReply)> {
        (1..).zip(&self.all).filter_map(|(nth, run)| run.kept.as_ref().map(|cut| (nth, cut)))
    }

    fn continues(&self, at: usize) -> bool {
        let (run, first) = (&self.all[at], &self.all[0]);
        let has_results = self.all[..at].iter().any(|other| !other.results.is_disjoint(&run.results));
        // A program may begin every thread with examples.
        !run.has_message_of.is_empty() || has_results || run.n_before > first.n_before
    }

    /// The results that no run before this one contains.
    fn results_first_in(&self, at: usize) -> BTreeSet<&String> {
        let is_new = |id: &&String| self.all[..at].iter().all(|other| !other.results.contains(*id));
        self.all[at].results.iter().filter(is_new).collect()
    }
}

impl ProgramRun {
    /// True if its thread is known, so that it can be said what is missing.
    fn is_readable(&self) -> bool {
        !self.said.is_empty() && !self.is_opaque
    }

    fn lacks_message(&self, of: usize, earlier: &ProgramRun) -> bool {
        let is_like_this = earlier.said.iter().any(|line| self.said.contains(line));
        !earlier.said.is_empty() && !is_like_this && !self.has_message_of.contains(&of)
    }

    fn lacks_results(&self, expected: &BTreeSet<&String>) -> usize {
        let n_missing = expected.iter().filter(|id| !self.results.contains(**id)).count();
        n_missing.saturating_sub(self.n_renamed)
    }
}

impl CutReply {
    /// True if the model's last text before the user's message is the beginning of this reply.
    fn is_in(&self, history: &History) -> bool {
        let mut before = history.items.iter().rev().skip_while(|item| item.role != Role::Assistant);
        match before.next().map(|item| &item.content) {
            Some(Content::Text { text }) => !text.trim().is_empty() && self.text.starts_with(text.trim()),
            _ => false,
        }
    }
}

/// The lines of the longest candidate that the user's texts contain, otherwise of the user's last text.
fn message(candidates: &[String], history: &History) -> Vec<String> {
    let of_user = || {
        history.items.iter().filter_map(|item| match &item.content {
            Content::Text { text } if item.role == Role::User => Some(text.as_str()),
            _ => None,
        })
    };
    let is_said = |candidate: &&String| {
        let candidate = candidate.trim();
        !lines(candidate).is_empty() && of_user().any(|text| text.contains(candidate))
    };
    // The name of a program may occur in a message, too.
    match candidates.iter().filter(is_said).max_by_key(|candidate| candidate.len()) {
        Some(candidate) => lines(candidate),
        None => of_user().next_back().map(lines).unwrap_or_default(),
    }
}

/// The lines of a text that can be recognised in another one.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| line.chars().count() >= MIN_LINE);
    lines.map(str::to_owned).collect()
}

/// True if any text of a history contains one of these lines. A program may add notes to a message, or quote it.
fn contains(history: &History, lines: &[String]) -> bool {
    history.items.iter().any(|item| match &item.content {
        Content::Text { text } | Content::Result { text, .. } => {
            lines.iter().any(|line| text.contains(line.as_str()))
        }
        Content::Thought { .. } | Content::Call { .. } | Content::Raw { .. } => false,
    })
}

/// The lines of the texts that are not the model's.
fn lines_beside_model(history: &History) -> impl Iterator<Item = &str> {
    let texts = history.items.iter().filter_map(|item| match &item.content {
        Content::Text { text } if item.role != Role::Assistant => Some(text.as_str()),
        _ => None,
    });
    texts.flat_map(str::lines).map(str::trim)
}

/// The number of characters in lines that are neither known nor the user's message.
fn n_unknown(history: &History, known: &BTreeSet<String>, said: &[String]) -> usize {
    let is_new = |line: &&str| !known.contains(*line) && !said.iter().any(|own| line.contains(own.as_str()));
    lines_beside_model(history).filter(is_new).map(|line| line.chars().count()).sum()
}

fn n_of_model(history: &History) -> usize {
    let is_of_user = |role| matches!(role, Role::User | Role::Other);
    history.items.iter().filter(|item| !is_of_user(item.role)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::history::Item;

    fn item(role: Role, content: Content) -> Item {
        Item { pointer: String::new(), message: 0, role, content }
    }

    /// A history in a short notation: `u:text`, `a:text` and `r:id`.
    fn history(words: &[&str]) -> History {
        let items = words.iter().map(|word| {
            let (kind, rest) = word.split_once(':').expect(word);
            match kind {
                "u" => item(Role::User, Content::Text { text: rest.to_owned() }),
                "a" => item(Role::Assistant, Content::Text { text: rest.to_owned() }),
                _ => item(
                    Role::Tool,
                    Content::Result { id: rest.to_owned(), text: "found".to_owned(), is_error: None },
                ),
            }
        });
        History { items: items.collect() }
    }

    /// The runs of a program that begins with two results, and is then resumed with these threads.
    fn runs(resumed: &[&[&str]]) -> Runs {
        let mut runs = Runs::default();
        runs.begin(vec!["agent".to_owned(), "Look around.".to_owned()]);
        runs.replied(["call_1".to_owned(), "call_2".to_owned()].into_iter());
        runs.request(&history(&["u:Look around."]));
        runs.request(&history(&["u:Look around.", "a:Looking.", "r:call_1", "r:call_2"]));
        for (nth, thread) in resumed.iter().enumerate() {
            runs.begin(vec![format!("Next, {nth}.")]);
            runs.request(&history(thread));
        }
        runs
    }

    fn loss(run: usize, of: usize, message: bool, results: usize) -> Loss {
        Loss { run, of, message, results }
    }

    #[test]
    fn a_resumed_thread_lacks_what_none_of_its_requests_contains() {
        let whole = ["u:Look around.", "a:Looking.", "r:call_1", "r:call_2", "u:Next, 0."];
        for (thread, losses) in [
            (&whole[..], vec![]),
            (&["u:Look around.", "a:Looking.", "r:call_1", "u:Next, 0."], vec![loss(2, 1, false, 1)]),
            (&["a:Looking.", "r:call_1", "r:call_2", "u:Next, 0."], vec![loss(2, 1, true, 0)]),
            (&["u:Look around.", "u:Next, 0."], vec![loss(2, 1, false, 2)]),
            // Calls under other names, and a message with a note of the program's.
            (&["u:<now/>\nLook around.\n<note/>", "a:Looking.", "r:x", "r:y", "u:Next, 0."], vec![]),
            // A summary that quotes the user.
            (&["u:So far: Look around. It was done.", "a:Looking.", "r:x", "r:y", "u:Next, 0."], vec![]),
        ] {
            let runs = runs(&[thread]);
            assert_eq!(runs.losses(), losses, "{thread:?}");
            assert!(runs.has_continued() && !runs.is_unclear(), "{thread:?}");
        }
    }

    #[test]
    fn whether_a_new_thread_is_a_loss_shows_in_another_run() {
        let alone = runs(&[&["u:Next, 0."]]);
        assert_eq!(alone.losses(), [loss(2, 1, true, 2)]);
        assert!(alone.is_unclear() && !alone.has_continued());
        let continued = runs(&[&["u:Next, 0."], &["u:Next, 0.", "a:Yes.", "u:Next, 1."]]);
        assert_eq!(continued.losses(), [loss(2, 1, true, 2)]);
        assert!(continued.has_continued() && !continued.is_unclear());
        let never = runs(&[&["u:Next, 0."], &["u:Next, 1."]]);
        assert!(!never.has_continued());
        assert_eq!(never.losses(), [loss(2, 1, true, 2), loss(3, 2, true, 0)]);
    }

    #[test]
    fn what_cannot_be_read_is_not_missing() {
        let mut runs = runs(&[]);
        runs.begin(vec!["Next.".to_owned()]);
        let mut compacted = history(&["u:Next."]);
        compacted.items.insert(0, item(Role::Other, Content::Raw { value: serde_json::Value::Null }));
        runs.request(&compacted);
        assert!(runs.losses().is_empty() && !runs.is_unclear());
        // The program has summarised the thread in its own words.
        let summary =
            "u:The earlier conversation in short: two places were examined, and both were found as expected.";
        assert!(summary.len() > MIN_SUMMARY);
        let summarised = self::runs(&[&[summary, "u:Next, 0."]]);
        assert!(summarised.losses().is_empty() && !summarised.is_unclear());
        // A new date or a long message of the user is not taken for a summary.
        let dated = self::runs(&[&["u:Today is Sunday.", "u:Next, 0."]]);
        assert_eq!(dated.losses(), [loss(2, 1, true, 2)]);
        let long = format!("u:Next, 0. {}", "Please be thorough. ".repeat(10));
        assert_eq!(self::runs(&[&[&long]]).losses(), [loss(2, 1, true, 2)]);
        // A request without the user's message belongs to another agent of the program.
        runs.begin(vec!["And now?".to_owned()]);
        runs.request(&history(&["u:Look around.", "r:call_1", "r:call_2", "u:Next.", "u:And now?"]));
        runs.request(&history(&["u:You are a helper.", "r:call_1"]));
        assert!(runs.losses().is_empty());
    }

    #[test]
    fn a_cut_reply_is_kept_if_the_next_thread_ends_with_its_beginning() {
        for (text, is_kept) in
            [("That is all", true), ("That is all I ne [cut off]", false), ("Other.", false)]
        {
            let mut runs = runs(&[]);
            runs.cut(2, "end-early after text 1", "That is all I needed. Done.".to_owned());
            runs.begin(vec!["Next.".to_owned()]);
            let last = format!("a:{text}");
            runs.request(&history(&["u:Look around.", "r:call_1", "r:call_2", &last, "u:Next."]));
            let kept: Vec<usize> = runs.kept_cuts().map(|(nth, _)| nth).collect();
            assert_eq!(kept, if is_kept { vec![2] } else { vec![] }, "{text}");
        }
        let mut retried = runs(&[]);
        retried.cut(2, "eof after text 1", "That is all I needed. Done.".to_owned());
        retried.replied(std::iter::empty());
        retried.begin(vec!["Next.".to_owned()]);
        retried.request(&history(&["u:Look around.", "a:That is all", "u:Next."]));
        assert_eq!(retried.kept_cuts().count(), 0);
    }
}
