//! A map of the checks to two public texts about interrupted and resumed agents.

use std::fmt::Write;

use super::pages::{self, Depth};
use super::table::{Cell, Row, columns, table};

/// A requirement of a public text, and the part of it that Brickbat judges.
pub(super) struct Requirement {
    /// Its name or its sentence, in our words.
    name: &'static str,
    /// The checks that judge it; none if it is not judged.
    pub(super) checks: &'static [&'static str],
    /// The part that is judged, and the part that is not.
    judged: &'static str,
}

/// The six properties of the paper, in its order. The failure that each excludes is as in the table of its companion package,
/// <https://pypi.org/project/remit-contract/>.
pub(super) const PROPERTIES: [Requirement; 6] = [
    Requirement {
        name: "prefix continuation: completed work does not run again after a resume",
        checks: &[
            "executed-once",
            "results-kept",
            "calls-remembered",
            "results-once",
            "texts-once",
            "prefix-stable",
        ],
        judged: "The requests after a stop or a kill contain the calls and the results from before it, begin with the requests \
                 that were accepted, and no tool runs again. Steps of a workflow outside the conversation are not observed.",
    },
    Requirement {
        name: "effect exactly-once: a crash and a resume do not repeat the effect of a tool",
        checks: &["executed-once", "stops-when-stopped", "success-honest", "failure-honest"],
        judged: "Brickbat holds each tool call at its gate, so it counts the calls that really started. A repeated call in one \
                 process, in a resumed process or in a later turn is a finding.",
    },
    Requirement {
        name: "fork determinism: a fork gets its own answer, and not that of an earlier resume",
        checks: &[],
        judged: "Not judged. No scenario forks a thread at a checkpoint and resumes both branches.",
    },
    Requirement {
        name: "checkpoint validity: an invalid state is not stored without an error",
        checks: &[
            "thread-survives",
            "calls-answered",
            "arguments-whole",
            "arguments-complete",
            "parts-settled",
            "views-agree",
            "order-kept",
            "steps-kept-apart",
            "user-message-kept",
            "old-thread-heals",
        ],
        judged: "Judged for the history: the provider accepts it, and the store, the display and the requests agree. Other \
                 state, such as variables of a graph, is not inspected.",
    },
    Requirement {
        name: "consume-once: a second resume does not repeat the effect that the first one released",
        checks: &[],
        judged: "Not judged. No scenario answers one approval twice, or from two processes at once.",
    },
    Requirement {
        name: "recovery determinism: the result of a recovery does not depend on the order of writes",
        checks: &["repair-stable", "healthy-untouched"],
        judged: "Judged in part. The checks on the turns after a fault require that a repair stays as it is and that healthy \
                 turns stay unchanged, and scenarios in persist/ and store/ kill the process between two writes. Brickbat \
                 does not compare two recoveries from one state.",
    },
];

/// The rules of AG-UI for runs that end with a question and runs that continue from them, from
/// <https://docs.ag-ui.com/spec/1.0/basic/patterns/interrupt-resume>.
pub(super) const INTERRUPTS: [Requirement; 8] = [
    Requirement {
        name: "A producer must not report an interrupted run as a success.",
        checks: &[],
        judged: "Not judged. An adapter reports how a turn ended; a turn that waits for consent has not ended.",
    },
    Requirement {
        name: "A run that calls a frontend tool ends as a success, and the answer is in the messages of the next run.",
        checks: &["calls-answered", "results-kept", "thread-survives"],
        judged: "Judged by the scenarios in client/, in the requests to the provider. pendingToolCallIds is not read.",
    },
    Requirement {
        name: "A run that stops on request ends as cancelled, and asks for nothing.",
        checks: &["stops-when-stopped", "turn-ends", "parts-settled", "requests-bounded"],
        judged: "Judged by the scenarios in abort/: the turn ends, starts no more tools and leaves no call open.",
    },
    Requirement {
        name: "The answers of a resume cover every open interrupt; the consumer rejects a resume that does not.",
        checks: &[],
        judged: "Not judged. It is a rule for the client, and the harness is the client: it always answers each question.",
    },
    Requirement {
        name: "A producer must not perform the interrupted action if the answer is missing.",
        checks: &["consent-given"],
        judged: "Judged by the scenarios in approval/ and interrupt/: a tool that needs consent does not start before it, \
                 even after a stop, a kill or a new message in between.",
    },
    Requirement {
        name: "A producer must not treat a missing answer as a refusal.",
        checks: &["calls-answered", "failure-honest"],
        judged: "Judged in part: a call without an answer must be answered in the history, and not as a tool that failed after \
                 it had succeeded.",
    },
    Requirement {
        name: "The thread, the messages and the state continue in the run that resumes.",
        checks: &["user-message-kept", "results-kept", "prefix-stable", "views-agree", "tools-current"],
        judged: "Judged for messages and tools. State beside the messages is not inspected.",
    },
    Requirement {
        name: "An interrupt that has expired can be abandoned, and not answered.",
        checks: &[],
        judged: "Not judged. No scenario has a question that expires.",
    },
];

/// The checks that belong to neither text, with the reason.
pub(super) const OUTSIDE: [(&str, &str); 5] = [
    ("rewind-honoured", "The user takes messages back. Neither text is about edited threads."),
    ("truncation-noticed", "A reply is cut off by the provider or the network, and no run is resumed."),
    ("pause-heeded", "It is about the provider's request to wait."),
    ("refusal-heeded", "It is about a request that cannot succeed."),
    ("requests-end-with-turn", "It is about requests that a client repeats in the background."),
];

/// The page of the map.
pub(super) fn page() -> String {
    let mut html = String::from(
        "<h1>Properties</h1>\n<p>Two public texts state how an agent must continue after an interruption. The tables list the \
         checks of Brickbat that judge each requirement, and the requirements that it does not judge.</p>\n\
         <h2>The six properties of “Resume Means Resume”</h2>\n<p>Source: \
         <a href=\"https://arxiv.org/abs/2608.03836\">arXiv 2608.03836</a>; the wording follows its \
         <a href=\"https://pypi.org/project/remit-contract/\">companion package</a>.</p>\n",
    );
    html.push_str(&of_requirements("The six properties", &PROPERTIES));
    html.push_str(
        "<h2>Interrupts in AG-UI 1.0</h2>\n<p>Source: \
         <a href=\"https://docs.ag-ui.com/spec/1.0/basic/patterns/interrupt-resume\">AG-UI, Interrupts and Resume</a>. Brickbat \
         does not read AG-UI events: it judges the same requirements in the requests, the store and the tool calls.</p>\n",
    );
    html.push_str(&of_requirements("Interrupts in AG-UI", &INTERRUPTS));
    html.push_str("<h2>Checks outside both texts</h2>\n<ul>\n");
    for (check, reason) in &OUTSIDE {
        let _ = writeln!(html, "<li><strong>{check}</strong>: {reason}</li>");
    }
    html.push_str("</ul>\n");
    pages::sheet("Properties", Depth::Top, &html)
}

fn of_requirements(name: &str, requirements: &[Requirement]) -> String {
    let row = |requirement: &Requirement| {
        let Requirement { name, checks, judged } = requirement;
        let checks = match checks {
            [] => Cell::html("none").with_class("warn"),
            checks => Cell::text(&checks.join(", ")),
        };
        Row::new(vec![Cell::text(name), checks, Cell::text(judged)])
    };
    let rows: Vec<Row> = requirements.iter().map(row).collect();
    table(name, &columns(["requirement", "checks", "judged"]), &rows, "")
}
