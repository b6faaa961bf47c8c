//! The texts for agents that write adapters: `docs/llms.txt`, and the skill. They name commands and pages, and
//! repeat nothing that these say.

use super::*;

const LLMS: &str = "docs/llms.txt";
const SKILL: &str = "harness/packages/skill/SKILL.md";

/// Files on the main branch, as a program that reads `llms.txt` gets them.
const FILES: &str = "https://raw.githubusercontent.com/brickbat/brickbat/main/";

/// The pages of the book in their order, each with its first sentence.
pub fn llms_pages() -> String {
    let mut text = String::new();
    for line in read("docs/src/SUMMARY.md").lines() {
        if let Some(title) = line.strip_prefix("# ").filter(|title| *title != "Summary") {
            writeln!(text, "\n## {title}\n").unwrap();
        }
        let link = line.trim_start_matches("- ").strip_prefix('[').and_then(|rest| rest.split_once("]("));
        if let Some((title, path)) = link {
            let path = format!("docs/src/{}", path.trim_end_matches(')'));
            writeln!(text, "- [{title}]({FILES}{path}): {}", first_sentence(&read(&path))).unwrap();
        }
    }
    text + "\n"
}

/// The first line of prose, without the addresses of its links.
fn first_sentence(page: &str) -> String {
    let is_prose =
        |line: &&str| line.starts_with(|first: char| first.is_alphanumeric() || "`[".contains(first));
    let prose: String = page.split("```").step_by(2).collect();
    let line = prose.lines().find(is_prose).unwrap_or_default().trim_end_matches(':');
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    text.extend(parts.map(|part| part.split_once(')').map_or(part, |(_, after)| after)));
    text.replace('[', "")
}

#[test]
fn the_texts_for_agents_name_commands_options_and_files_that_exist() {
    let page = brickbat::cli::options_page();
    let mut n_commands = 0;
    for document in [LLMS, SKILL] {
        let text = read(document);
        for line in text.split('`').skip(1).step_by(2).filter(|span| span.starts_with("brickbat ")) {
            assert_eq!(unknown(&page, line), None, "{document}: {line}");
            n_commands += 1;
        }
        for file in text.split(FILES).skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next()) {
            assert!(root().join(file).exists(), "{document}: {file}");
        }
    }
    assert!(n_commands > 10, "{n_commands} commands");
    for wrong in ["brickbat verify", "brickbat init --langs python"] {
        assert!(unknown(&page, wrong).is_some(), "{wrong}");
    }
}

/// True for a word such as `COMMAND`.
fn is_placeholder(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_uppercase())
}

/// The word of a command line that the page of the options does not have.
fn unknown<'l>(page: &str, line: &'l str) -> Option<&'l str> {
    line.split(' ').enumerate().skip(1).find_map(|(at, word)| {
        let is_known = match (at, word.starts_with("--")) {
            (_, true) => {
                word == "--help" || page.contains(&format!("`{word}`")) || page.contains(&format!("`{word} "))
            }
            (1, false) => is_placeholder(word) || page.contains(&format!("\n## {word}\n")),
            _ => true,
        };
        (!is_known).then_some(word)
    })
}

#[test]
fn the_skill_has_the_front_matter_that_agents_read() {
    let text = read(SKILL);
    let (front, _) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap();
    let keys: Vec<&str> = front.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    assert_eq!(keys, ["name", "description"]);
}
