use std::collections::BTreeMap;

use super::*;

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
    let n_rules = Rule::all().count() + StreamRule::all().count();
    assert_eq!(site.len(), 1 + n_rules + Profile::all().count());
}

#[test]
fn pages_are_escaped_and_have_no_scripts() {
    let site = site(&vectors(), &Counts::default());
    let page = &site["anthropic-messages/tool-result-missing.html"];
    assert!(page.contains("&lt;b&gt;Rain?&lt;/b&gt;") && !page.contains("<b>"), "{page}");
    assert!(page.contains("It is <code>not</code>."), "{page}");
    assert!(site.values().all(|html| !html.contains("<script")));
}
