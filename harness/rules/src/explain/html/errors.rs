//! The pages about errors without a rule.

use std::fmt::Write;

use super::super::ClientError;
use super::super::neighbours::Neighbour;
use super::super::reported::{Reported, Subject, UNCHECKED};
use super::super::site::{WebPage, file_name, title_of};
use super::{COMMANDS, HELP, code, escaped, sources};

/// The folder of the pages about a subject.
pub(in super::super) fn folder(subject: Subject) -> &'static str {
    match subject {
        Subject::Client => "clients",
        Subject::History => "history",
        Subject::Neighbour => "others",
        Subject::Frame => "frames",
    }
}

fn path(subject: Subject, text: &str) -> String {
    format!("{}/{}", folder(subject), file_name(text))
}

pub(in super::super) fn of_client(error: &ClientError) -> WebPage {
    let ClientError { name, sdk, says, means, advice, .. } = error;
    let mut body = format!("<p>An error of {}.</p>\n", escaped(sdk));
    let title = if name.to_lowercase().contains(&says.to_lowercase()) {
        (*name).to_owned()
    } else {
        format!("{name}: … {says} …")
    };
    let _ = writeln!(body, "<p>{}</p>\n<h2>What to do</h2>\n<p>{}</p>", code(means), code(advice));
    body.push_str(COMMANDS);
    sources(&mut body, error.sources);
    WebPage {
        path: path(Subject::Client, name),
        title,
        distinction: (*sdk).to_owned(),
        note: escaped(sdk),
        body,
        help: HELP,
    }
}

pub(in super::super) fn of_neighbour(neighbour: &Neighbour) -> WebPage {
    let Neighbour { name, says, means, advice, .. } = neighbour;
    let mut body =
        format!("<p>{}</p>\n<p>Such errors contain one of these texts:</p>\n", Subject::Neighbour.lead());
    let _ = writeln!(body, "<pre>{}</pre>\n<p>{}</p>", escaped(&says.join("\n")), code(means));
    let _ = writeln!(body, "<h2>What to do</h2>\n<p>{}</p>", code(advice));
    sources(&mut body, neighbour.sources);
    WebPage {
        path: path(Subject::Neighbour, name),
        title: (*name).to_owned(),
        distinction: String::new(),
        note: code(means),
        body,
        help: &[],
    }
}

pub(in super::super) fn of_reported(own: &Reported) -> WebPage {
    let Reported { says, by, means, advice, .. } = own;
    let mut body = format!("<p>{}</p>\n<pre>{}</pre>\n", own.about.lead(), escaped(says));
    let _ = writeln!(body, "<p>Said by: {}</p>\n<p>{}</p>", escaped(by), code(means));
    let _ = writeln!(body, "<h2>What to do</h2>\n<p>{}</p>", code(advice));
    match own.rule() {
        Some(rule) => {
            let _ = write!(
                body,
                "<p><a href=\"../{id}.html\">{id}</a> is about the same fault: {}</p>\n{COMMANDS}",
                code(rule.summary),
                id = rule.id
            );
        }
        None if own.about == Subject::History => {
            let _ = writeln!(body, "<p>{}</p>", code(UNCHECKED));
        }
        None if own.about == Subject::Neighbour => {}
        None => body.push_str(COMMANDS),
    }
    sources(&mut body, own.source.as_slice());
    WebPage {
        path: path(own.about, says),
        title: title_of(says),
        distinction: by.clone(),
        note: escaped(by),
        body,
        help: if own.about == Subject::Neighbour { &[] } else { HELP },
    }
}
