//! The test itself: data, steps and assertion as lines of a language.

use std::fmt::Write;

use serde_json::Value;

use super::assertion::Assertion;
use super::page::Page;
use super::story::Step;
use super::template::{self, Values};
use super::words;
use super::{ExportFile, Framework, Language, Refusal};
use brickbat_scenario::plan::{CallKey, MARKER};
use brickbat_scenario::wire;

/// The frame of every test in a language: the stub, the tools, and placeholders for the parts that differ.
const JAVASCRIPT: &str = include_str!("parts/test.mjs");
const PYTHON: &str = include_str!("parts/test.py");

impl Page<'_> {
    /// The subject of the test, in a sentence.
    pub(super) fn title(&self) -> String {
        format!("{} {}: {}", self.target.sdk, self.target.version, words::title(self))
    }

    pub(super) fn test(&self) -> Result<ExportFile, Refusal> {
        let language = self.framework.language();
        if language == Language::Python && self.is_deaf() {
            return Err(Refusal::Story("a tool that continues after a stop, in Python".to_owned()));
        }
        let frame = match language {
            Language::JavaScript => JAVASCRIPT,
            Language::Python => PYTHON,
        };
        let function = self.slug().replace('-', "_");
        let title = self.title();
        let title_line =
            if language == Language::Python { commented(&title, language) } else { title.clone() };
        let about: Vec<String> = words::about(self).iter().map(|line| commented(line, language)).collect();
        let (framework, context, cleanup) = match self.framework {
            Framework::Vitest => ("import { test } from 'vitest';", "{ onTestFinished }", "onTestFinished"),
            Framework::NodeTest => ("import { test } from 'node:test';", "context", "context.after"),
            Framework::Pytest => ("", "", ""),
        };
        let problem = match self.assertion {
            Assertion::Accepted { rule, .. } => {
                format!("{}{}", rule.in_language(language), after_problem(language))
            }
            _ => String::new(),
        };
        let spare = literal(&self.replies.spare, language);
        let (name, story, assertion) =
            (Value::from(title.clone()).to_string(), self.steps(), self.asserted());
        let (application, about) = (self.application()?, about.join("\n"));
        let (tools, calls, recorded) = (self.tools(), self.calls(), self.recorded());
        let values = [
            ("title", title_line.as_str()),
            ("name", &name),
            ("function", &function),
            ("about", &about),
            ("framework", framework),
            ("context", context),
            ("cleanup", cleanup),
            ("application", application.trim_end()),
            ("story", story.trim_end()),
            ("assertion", assertion.trim_end()),
            ("problem", &problem),
            ("tools", tools.trim_end()),
            ("calls", calls.trim_end()),
            ("replies", recorded.trim_end()),
            ("spare", &spare),
        ];
        let text = self.fill(frame, &values)?;
        let text = if language == Language::Python { with_imports(&text) } else { text };
        let text = text.replace("= {\n\n}", "= {}");
        let name = match language {
            Language::JavaScript => format!("{}.test.mjs", self.slug()),
            Language::Python => format!("test_{function}.py"),
        };
        Ok(ExportFile { name, text })
    }

    /// True if a running tool ignores a stop.
    fn is_deaf(&self) -> bool {
        let tools = self.record.plan.tools.as_array().into_iter().flatten();
        let deaf: Vec<&Value> = tools.filter(|tool| tool["deaf"] == true).map(|tool| &tool["name"]).collect();
        let calls = self.story.calls.iter().filter_map(|key| self.record.call(*key));
        calls.into_iter().any(|call| deaf.iter().any(|name| **name == *call.tool))
    }

    /// The case as a part of a file name.
    pub(super) fn slug(&self) -> String {
        let words = self.record.case.plan.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }

    /// The code with which an application uses the SDK.
    fn application(&self) -> Result<String, Refusal> {
        let major = self.target.version.split('.').next().unwrap_or_default();
        let model = self.model();
        let values: Values<'_> = &[
            ("dialect", self.record.plan.dialect.name()),
            ("mode", self.target.mode),
            ("major", major),
            ("model", &model),
        ];
        let text = self.fill(self.target.template, values)?;
        match text.lines().find_map(|line| line.split_once("refuse: ")) {
            Some((_, why)) => {
                Err(Refusal::Template { system: self.target.system.to_owned(), why: why.to_owned() })
            }
            None => Ok(text),
        }
    }

    /// Fills in a template of the system.
    pub(super) fn fill(&self, text: &str, values: Values<'_>) -> Result<String, Refusal> {
        let wrong = |source| Refusal::WrongTemplate { system: self.target.system.to_owned(), source };
        template::fill(text, values).map_err(wrong)
    }

    /// The model in the requests.
    fn model(&self) -> String {
        let first = self.record.observed.iter().flat_map(|observed| &observed.exchanges).next();
        let named = first.and_then(|first| {
            let route = wire::of(self.record.plan.dialect).route(&first.method, &first.path);
            let body: Value = serde_json::from_slice(&first.body).unwrap_or_default();
            let in_path = route.and_then(|route| route.model).map(std::borrow::Cow::into_owned);
            in_path.or_else(|| body["model"].as_str().map(str::to_owned))
        });
        named.unwrap_or_default()
    }

    fn language(&self) -> Language {
        self.framework.language()
    }

    fn tools(&self) -> String {
        let tools = self.record.plan.tools.as_array().into_iter().flatten();
        tools.fold(String::new(), |mut text, tool| {
            let name = tool["name"].as_str().unwrap_or_default();
            let params = tool["params"].as_array().into_iter().flatten();
            let params = params.filter_map(|param| Some((param[0].as_str()?.to_owned(), param[1].clone())));
            let params = params.map(|(name, kind)| (name, serde_json::json!({ "type": kind })));
            let marker = (MARKER.to_owned(), serde_json::json!({ "type": "string" }));
            let properties: serde_json::Map<String, Value> = params.chain([marker]).collect();
            let mut offered = serde_json::json!({
                "name": name,
                "description": format!("The tool `{name}` of the test."),
                "inputSchema": {
                    "type": "object", "properties": properties, "required": [MARKER], "additionalProperties": false
                },
            });
            if let (Some(true), Some(fields)) = (tool["deaf"].as_bool(), offered.as_object_mut()) {
                fields.insert("deaf".to_owned(), true.into());
            }
            let _ = writeln!(text, "{}{},", self.indent(), literal(&offered, self.language()));
            text
        })
    }

    fn calls(&self) -> String {
        self.story.calls.iter().fold(String::new(), |mut text, key| {
            let Some(call) = self.record.call(*key) else { return text };
            // The text of a tool may contain a lone surrogate, which only an escape can express.
            let outcome = call.outcome.gate_answer();
            let (name, marker) = (self.name(*key), Value::from(call.marker.as_str()));
            let _ = writeln!(text, "{}{name}: {{\"ref\":{marker},{},", self.indent(), &outcome[1..]);
            text
        })
    }

    /// A call's name in the test, quoted: the scenario's name, with a number if calls in several attempts
    /// share it.
    fn name(&self, key: CallKey) -> String {
        let calls = &self.record.plan.calls;
        let at = key.0 as usize;
        let name = calls.get(at).map_or("", |call| call.name.as_str());
        let before = calls.iter().take(at).filter(|call| call.name == name).count();
        let name = if before == 0 { name.to_owned() } else { format!("{name}-{}", before + 1) };
        quoted(&name, self.language())
    }

    fn recorded(&self) -> String {
        self.replies.recorded.iter().fold(String::new(), |mut text, reply| {
            let (frames, language) = (reply["frames"].as_array(), self.language());
            let mut head = reply.clone();
            head.as_object_mut().map(|fields| fields.shift_remove("frames"));
            let head = literal(&head, language);
            let indent = self.indent();
            let _ = writeln!(text, "{indent}{}, \"frames\": [", &head[..head.len() - 1]);
            for frame in frames.into_iter().flatten() {
                let _ = writeln!(text, "{indent}{indent}{},", literal(frame, language));
            }
            let _ = writeln!(text, "{indent}] }},");
            text
        })
    }

    fn indent(&self) -> &'static str {
        match self.language() {
            Language::JavaScript => "  ",
            Language::Python => "    ",
        }
    }

    fn steps(&self) -> String {
        let last = self.assertion.last_turn();
        self.story.steps.iter().fold(String::new(), |mut text, step| {
            let line = match self.language() {
                Language::JavaScript => self.javascript(step, last),
                Language::Python => self.python(step, last),
            };
            line.lines().for_each(|line| {
                let _ = writeln!(text, "{}{line}", if line.is_empty() { "" } else { self.indent() });
            });
            text
        })
    }

    fn javascript(&self, step: &Step, last: usize) -> String {
        let named = |keys: &[CallKey]| keys.iter().map(|key| self.name(*key)).collect::<Vec<_>>().join(", ");
        match step {
            Step::Begin { turn, text } => {
                let (text, number) = (quoted(text, Language::JavaScript), turn + 1);
                format!("// Turn {number}.\nconst turn{number} = begin(app, {text});")
            }
            Step::Started(calls) => {
                format!("await turn{}.until(tools.started({}));", self.turn(step), named(calls))
            }
            Step::Holding(number) => {
                format!("await turn{}.until(provider.holds({number}));", self.turn(step))
            }
            Step::GoOn(number) => format!("provider.goOn({number});"),
            Step::Settle(call) => format!("await tools.settle({});", self.name(*call)),
            Step::Stop => format!("turn{}.stop();", self.turn(step)),
            Step::Ended { turn } if *turn == last => format!("const error = await turn{}.ended();", turn + 1),
            Step::Ended { turn } => format!("await turn{}.ended();\n\n", turn + 1),
        }
    }

    fn python(&self, step: &Step, last: usize) -> String {
        let named = |keys: &[CallKey]| {
            let started = keys.iter().map(|key| format!("tools.started({})", self.name(*key)));
            started.collect::<Vec<_>>().join(", ")
        };
        match step {
            Step::Begin { turn, text } => {
                let (text, number) = (quoted(text, Language::Python), turn + 1);
                format!("# Turn {number}.\nturn_{number} = Turn(app, {text})")
            }
            Step::Started(calls) => format!("await turn_{}.until({})", self.turn(step), named(calls)),
            Step::Holding(number) => {
                format!("await turn_{}.until(provider.holds({number}))", self.turn(step))
            }
            Step::GoOn(number) => format!("provider.go_on({number})"),
            Step::Settle(call) => format!("await tools.settle({})", self.name(*call)),
            Step::Stop => format!("turn_{}.stop()", self.turn(step)),
            Step::Ended { turn } if *turn == last => format!("error = await turn_{}.ended()", turn + 1),
            Step::Ended { turn } => format!("await turn_{}.ended()\n\n", turn + 1),
        }
    }

    /// The number of the turn that a step belongs to, from 1.
    fn turn(&self, step: &Step) -> usize {
        let before = self.story.steps.iter().take_while(|known| !std::ptr::eq(*known, step));
        before.filter(|step| matches!(step, Step::Begin { .. })).count()
    }

    /// The lines that fail because of the finding.
    fn asserted(&self) -> String {
        let said = self.story.steps.iter().rev().find_map(|step| match step {
            Step::Begin { text, .. } => Some(quoted(text, self.language())),
            _ => None,
        });
        let said = said.unwrap_or_default();
        let lines = match self.language() {
            Language::JavaScript => asserted_in_javascript(self.assertion, &said),
            Language::Python => asserted_in_python(self.assertion, &said),
        };
        lines.lines().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{}{line}", self.indent());
            text
        })
    }
}

fn asserted_in_javascript(assertion: &Assertion, said: &str) -> String {
    const LANGUAGE: Language = Language::JavaScript;
    match assertion {
        Assertion::Accepted { .. } => format!(
            "const problems = provider.requests.flatMap((body) => problem(JSON.parse(body)) ?? []);\n\
             assert.equal(problems.join('\\n'), '', problems.join('\\n'));\n\
             assert.ok(provider.requests.some((body) => body.includes({said})), `the last turn sent no request: ${{error}}`);"
        ),
        Assertion::Works { .. } => "assert.ifError(error);".to_owned(),
        Assertion::Kept { what, texts, .. } => {
            let texts: Vec<String> = texts.iter().map(|text| quoted(text, LANGUAGE)).collect();
            format!(
                "const last = provider.requests.at(-1);\n\
                 assert.ok(last.includes({said}), `the last turn sent no request: ${{error}}`);\n\
                 const lost = [{}].filter((text) => !last.includes(JSON.stringify(text).slice(1, -1)));\n\
                 assert.deepEqual(lost, [], `the last request lacks {what}: ${{lost}}`);",
                texts.join(", ")
            )
        }
        Assertion::Fails { .. } => {
            "assert.ok(error, 'the reply was cut off, and the turn ended as if it were complete');".to_owned()
        }
        Assertion::WholeArguments { whole, .. } => {
            let whole: Vec<String> = whole.iter().map(|args| literal(args, LANGUAGE)).collect();
            format!(
                "const whole = [{}].map((args) => JSON.stringify(args));\n\
                 const broken = tools.runs.filter(({{ args }}) => !whole.includes(JSON.stringify(args)));\n\
                 assert.deepEqual(broken, [], `a tool ran with arguments that the model had not finished: ${{JSON.stringify(broken)}}`);",
                whole.join(", ")
            )
        }
        Assertion::Once { name, .. } => {
            let name = quoted(name, LANGUAGE);
            format!(
                "assert.equal(tools.runs.filter((run) => run.name === {name}).length, 1, 'the tool has run again');"
            )
        }
    }
}

fn asserted_in_python(assertion: &Assertion, said: &str) -> String {
    const LANGUAGE: Language = Language::Python;
    match assertion {
        Assertion::Accepted { .. } => format!(
            "problems = [problem(json.loads(body)) for body in provider.requests]\n\
             assert [found for found in problems if found] == []\n\
             assert any({said} in body for body in provider.requests), f\"the last turn sent no request: {{error!r}}\""
        ),
        Assertion::Works { .. } => "assert error is None, repr(error)".to_owned(),
        Assertion::Kept { what, texts, .. } => {
            let texts: Vec<String> = texts.iter().map(|text| quoted(text, LANGUAGE)).collect();
            format!(
                "last = provider.requests[-1]\n\
                 assert {said} in last, f\"the last turn sent no request: {{error!r}}\"\n\
                 lost = [text for text in [{}] if text not in last]\n\
                 assert lost == [], \"the last request lacks {what}\"",
                texts.join(", ")
            )
        }
        Assertion::Fails { .. } => {
            "assert error is not None, \"the reply was cut off, and the turn ended as if it were complete\""
                .to_owned()
        }
        Assertion::WholeArguments { whole, .. } => {
            let whole: Vec<String> = whole.iter().map(|args| literal(args, LANGUAGE)).collect();
            format!(
                "whole = [{}]\n\
                 broken = [arguments for _, arguments in tools.runs if arguments not in whole]\n\
                 assert broken == [], \"a tool ran with arguments that the model had not finished\"",
                whole.join(", ")
            )
        }
        Assertion::Once { name, .. } => {
            let name = quoted(name, LANGUAGE);
            format!("assert [name for name, _ in tools.runs].count({name}) == 1")
        }
    }
}

/// A line at the head of a test: a comment, or a docstring line.
fn commented(line: &str, language: Language) -> String {
    match language {
        Language::JavaScript => format!("// {line}").trim_end().to_owned(),
        Language::Python => line.replace('\\', r"\\").replace('"', "'"),
    }
}

/// The blank lines between the function `problem` and the next code.
fn after_problem(language: Language) -> &'static str {
    match language {
        Language::JavaScript => "\n",
        Language::Python => "\n\n",
    }
}

/// Modules that a Python rule may use, each with the import that follows it.
const OPTIONAL_MODULES: [(&str, &str); 2] = [("itertools", "json"), ("re", "socket")];

/// The imports of a Python test, with those that its rule uses.
fn with_imports(text: &str) -> String {
    OPTIONAL_MODULES.iter().fold(text.to_owned(), |text, (module, next)| {
        if !text.contains(&format!(" {module}.")) {
            return text;
        }
        text.replacen(&format!("import {next}\n"), &format!("import {module}\nimport {next}\n"), 1)
    })
}

/// A text as a literal.
fn quoted(text: &str, language: Language) -> String {
    literal(&Value::from(text), language)
}

/// A value as a literal.
fn literal(value: &Value, language: Language) -> String {
    match (value, language) {
        (_, Language::JavaScript) => value.to_string(),
        (Value::Null, _) => "None".to_owned(),
        (Value::Bool(value), _) => if *value { "True" } else { "False" }.to_owned(),
        (Value::Number(_) | Value::String(_), _) => value.to_string(),
        (Value::Array(values), _) => {
            let values: Vec<String> = values.iter().map(|value| literal(value, language)).collect();
            format!("[{}]", values.join(", "))
        }
        (Value::Object(fields), _) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), literal(value, language))
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}
