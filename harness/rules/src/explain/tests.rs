use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::Dialect;

const VECTORS: &str = r#"{
  "schema": 1,
  "comment": "c",
  "rule": "anthropic-messages/tool-result-missing",
  "source": "s",
  "vectors": [
    {
      "name": "kept",
      "comment": "It is answered.",
      "request": { "model": "claude-sonnet-5", "messages": [{ "role": "user", "content": "<hi>" }] },
      "result": "valid",
      "violated": []
    },
    {
      "name": "broken",
      "comment": "It is `not`.",
      "request": {
        "model": "claude-sonnet-5",
        "messages": [
          { "role": "user", "content": "<b>Rain?</b>" },
          { "role": "assistant", "content": [{ "type": "tool_use", "id": "w1", "name": "weather", "input": {} }] },
          { "role": "user", "content": "Well?" }
        ]
      },
      "result": "invalid",
      "violated": ["anthropic-messages/tool-result-missing"]
    }
  ]
}"#;

fn vectors() -> BTreeMap<String, VectorFile> {
    let file = VectorFile::read(VECTORS).unwrap();
    BTreeMap::from([(file.rule.clone().unwrap(), file)])
}

#[test]
fn a_page_has_everything_about_its_rule() {
    let rule = Rule::find("ANT-TU-1").unwrap();
    let page = text(rule, vectors().get(rule.id), &Counts::default());
    for words in [
        "(ANT-TU-1)",
        rule.summary,
        rule.why,
        "with status 400",
        "invalid_request_error",
        "Before: It is `not`.",
        "messages[1] assistant: ",
        "^^^",
        "After: It is answered.",
        "=> accepted",
        "Order of checks: ",
        "Known from: public reports.",
        "Models: all models.",
        "Hosts: api.anthropic.com, *.services.ai.azure.com (claude-*), bedrock-runtime.*.amazonaws.com, bedrock-runtime-fips.*.amazonaws.com, api.deepseek.com, api.moonshot.ai, api.moonshot.cn, api.kimi.com.",
        "Enforced by: anthropic-messages@",
        "https://",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    assert!(text(rule, None, &Counts::default()).contains("Sources:"));
}

#[test]
fn every_rule_has_evidence() {
    for rule in Rule::all() {
        assert!(!Page::of(rule, None, &Counts::default()).known_from().is_empty(), "{}", rule.id);
    }
}

#[test]
fn every_link_of_the_site_has_a_target() {
    let site = site(&vectors(), &Counts::default());
    let mut n_links = 0;
    for (path, html) in &site {
        for href in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            if href.starts_with("https://") {
                continue;
            }
            let n_up = href.matches("../").count();
            let folders: Vec<&str> = path.split('/').collect();
            assert!(n_up < folders.len(), "{path}: {href}");
            let way = folders[..folders.len() - 1 - n_up].iter().copied().chain([&href[3 * n_up..]]);
            let target = way.collect::<Vec<&str>>().join("/");
            assert!(site.contains_key(&target), "{path}: {href}");
            n_links += 1;
        }
    }
    assert!(n_links > 2 * Rule::all().count());
    // No two pages have the same path, and none is missing.
    let n_rules = Rule::all().count() + StreamRule::all().count();
    let n_errors = CLIENT_ERRORS.len() + neighbours::NEIGHBOURS.len() + Reports::all().iter().count();
    let n_indexes = 1 + Dialect::ALL.len() + 4;
    assert_eq!(site.len(), n_indexes + n_rules + Profile::all().count() + n_errors);
}

#[test]
fn the_book_lists_each_page_once_under_a_name_of_its_own() {
    let mut chapters = chapters(&vectors(), &Counts::default());
    let summary = chapters.remove("SUMMARY.md").unwrap();
    let entries: Vec<(&str, &str)> =
        summary.lines().map(|line| line.split_once("- [").unwrap().1.rsplit_once("](").unwrap()).collect();
    let listed: BTreeSet<&str> = entries.iter().map(|(_, path)| path.trim_end_matches(')')).collect();
    assert!(listed.iter().eq(chapters.keys()), "{listed:?}");
    let names: BTreeSet<String> = entries.iter().map(|(name, _)| name.to_lowercase()).collect();
    assert_eq!((names.len(), entries.len()), (chapters.len(), chapters.len()));
    let missing = "anthropic-messages/tool-result-missing.md";
    assert!(
        chapters[missing].starts_with("<h1 id=\"error\">messages.…: `tool_use` ids were found"),
        "{}",
        chapters[missing]
    );
    for (path, text) in &chapters {
        assert!(!text.contains("{{"), "{path}: mdBook reads a command");
        assert!(!text.contains("<h2"), "{path}: the search shows the title twice");
        // Outside `<pre>`, a blank line would end the HTML, and Markdown would begin.
        let html = text.split("<pre>").map(|part| part.rsplit("</pre>").next().unwrap());
        assert!(
            html.into_iter().all(|part| part.trim().lines().all(|line| line.starts_with('<'))),
            "{path}: {text}"
        );
    }
}

/// Other sites link to the pages.
#[test]
fn the_address_of_a_page_depends_only_on_its_text() {
    let site = site(&vectors(), &Counts::default());
    for path in [
        "openai-responses/tool-output-missing.html",
        "clients/ai-missingtoolresultserror-ccf179.html",
        "history/1214-prompt-20c812.html",
    ] {
        assert!(site.contains_key(path), "{path}");
    }
}

#[test]
fn a_title_is_the_sentence_without_its_placeholders() {
    for (sentence, title) in [
        ("{path}: Field required", "Field required"),
        ("messages.{n}: `tool_use`\nids: {ids}.", "messages.…: `tool_use` ids: …."),
        ("{a}{b}", "{a}{b}"),
        ("{\"error\": {json}}", "{\"error\": …}"),
        ("", ""),
    ] {
        assert_eq!(site::title_of(sentence), title);
    }
}

#[test]
fn pages_are_escaped_and_have_no_scripts() {
    let site = site(&vectors(), &Counts::default());
    let page = &site["anthropic-messages/tool-result-missing.html"];
    assert!(page.contains("&lt;b&gt;Rain?&lt;/b&gt;") && !page.contains("<b>"), "{page}");
    assert!(page.contains("It is <code>not</code>."), "{page}");
    assert!(site.values().all(|html| !html.contains("<script")));
}
