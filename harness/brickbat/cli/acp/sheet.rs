//! The manifest of an agent that is known by its start command.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Acquaintance;
use super::acquaint::built_in;
use brickbat_drive::driver::Manifest;
use brickbat_drive::driver::catalogue::SHEET;
use brickbat_drive::driver::manifest::FileSource;
use brickbat_drive::strict_server::variables::{VARIABLES, Yields};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::parse::{self, Diagnostic};
use brickbat_scenario::wire;

/// The contents of the manifest.
#[derive(Debug, Clone)]
pub(super) struct Sheet {
    /// The folder in which the command is started.
    pub(super) folder: PathBuf,
    pub(super) command: Vec<String>,
    /// The variables of the user.
    pub(super) env: Vec<(String, String)>,
    /// The files in the working directory of each session: path and text.
    pub(super) config: Vec<(String, String)>,
    pub(super) model: Option<String>,
    pub(super) login: Option<String>,
    /// The facts that the agent has shown of itself; `None` before the first session.
    pub(super) known: Option<Acquaintance>,
}

/// Variables from which agents read the model.
const MODELS: [&str; 5] =
    ["ANTHROPIC_MODEL", "OPENAI_MODEL", "GEMINI_MODEL", "GOOGLE_GENAI_MODEL", "MISTRAL_MODEL"];

impl Sheet {
    /// The same manifest with the facts that the agent has shown of itself.
    pub(super) fn knowing(&self, known: &Acquaintance) -> Sheet {
        Sheet { known: Some(known.clone()), ..self.clone() }
    }

    /// The manifest as the runner reads it.
    pub(super) fn manifest(&self) -> Result<Manifest, Diagnostic> {
        let place = FileSource::Folder(self.folder.clone());
        let mut manifests = Manifest::parse(SHEET, &self.text(), &place)?;
        Ok(manifests.swap_remove(0))
    }

    /// A name for the manifest's folder in the cache, which is another for another command.
    pub(super) fn id(&self) -> String {
        format!("{}-{:016x}", self.name(), fnv1a(self.text().as_bytes()))
    }

    /// The name of the system: the one that the agent states, otherwise that of its program.
    fn name(&self) -> String {
        let stated =
            self.known.as_ref().map(|known| known.stated.name.as_str()).filter(|name| !name.is_empty());
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = stated.unwrap_or(program);
        // A name such as `@scope/agent` is known by its last part.
        let last = name.rsplit('/').next().unwrap_or_default();
        let name: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .collect();
        if name.is_empty() { "agent".to_owned() } else { name }
    }

    /// The text of the manifest.
    pub(super) fn text(&self) -> String {
        let known = self.known.as_ref();
        let built_in = known.and_then(|known| Some((known, sheet_of(built_in(&known.stated)?)?)));
        match built_in {
            Some((known, sheet)) => self.after(sheet, known),
            None => self.of_unknown(),
        }
    }

    /// The settings of a built-in system, for this command. JSON is YAML.
    fn after(&self, mut sheet: Value, known: &Acquaintance) -> String {
        for key in ["install", "files", "requires"] {
            sheet.as_object_mut().map(|sheet| sheet.remove(key));
        }
        sheet["versions"] = json!([{ "version": known.version_word() }]);
        // A manifest of the user names the application's tasks itself; those of a built-in system are in a table.
        for mode in sheet["modes"].as_array_mut().into_iter().flatten() {
            let left =
                built_in(&known.stated).and_then(|it| it.modes.iter().find(|own| mode["name"] == own.name));
            mode["application"] = json!(left.map_or(&[][..], |own| &own.application));
        }
        sheet["command"] = json!(self.start());
        for (name, value) in &self.env {
            sheet["env"][name] = json!(value);
        }
        let acp = &mut sheet["acp"];
        // A program of the built-in system writes given histories.
        acp.as_object_mut().map(|acp| acp.remove("give"));
        acp["maxSessions"] = json!(1);
        if let Some(method) = &self.login {
            acp["authenticate"] = json!(method);
        }
        for words in acp["words"].as_object_mut().into_iter().flat_map(|words| words.values_mut()) {
            if let Some(model) = &self.model {
                words["model"] = json!(model);
            }
        }
        let files = self.config.iter().map(|(path, content)| json!({ "path": path, "content": content }));
        let mut config = acp["config"].as_array().cloned().unwrap_or_default();
        config.extend(files);
        acp["config"] = json!(config);
        format!("{sheet:#}\n")
    }

    /// The manifest of an agent that Brickbat has met only now.
    fn of_unknown(&self) -> String {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let known = self.known.clone().unwrap_or_default();
        let name = quote(&self.name());
        let dialect = known.dialect.unwrap_or(Dialect::AnthropicMessages);
        let mut text = format!(
            "# Written by `brickbat acp`. `brickbat run --manifest` runs it.\n\
             name: {name}\n\
             sdk: {name}\n\
             description: An agent that speaks ACP.\n\
             versions: [{{ version: {} }}]\n\
             dialects: [{}]\n\
             modes:\n  - {{ name: acp, description: One session over ACP in each process. }}\n",
            quote(&known.version_word()),
            dialect.name(),
        );
        text.push_str("command:\n");
        for word in self.start() {
            text.push_str(&format!("  - {}\n", quote(&word)));
        }
        text.push_str("env:\n");
        for (name, value) in self.variables() {
            text.push_str(&format!("  {name}: {}\n", quote(&value)));
        }
        text.push_str(&format!(
            "acp:\n  capabilities: {{ cancel: true, streaming: {}, eagerTools: false, load: {} }}\n  tools: {}\n",
            known.streams,
            known.stated.loads,
            quote(known.tools.as_deref().unwrap_or("{tool}")),
        ));
        if let Some(method) = self.login.as_ref().or(known.login.as_ref()) {
            text.push_str(&format!("  authenticate: {}\n", quote(method)));
        }
        text.push_str(
            "  # The address of the provider is one for the whole process.\n  maxSessions: 1\n  words:\n",
        );
        for dialect in Dialect::ALL {
            let model = self.model.as_deref().unwrap_or_else(|| wire::of(dialect).current_model());
            text.push_str(&format!("    {}: {{ model: {} }}\n", dialect.name(), quote(model)));
        }
        if !self.config.is_empty() {
            text.push_str("  config:\n");
            for (path, content) in &self.config {
                text.push_str(&format!("    - {{ path: {}, content: {} }}\n", quote(path), quote(content)));
            }
        }
        text
    }

    /// The start command. It begins in the folder from which Brickbat was started, so that paths in it are right.
    fn start(&self) -> Vec<String> {
        let folder = self.folder.to_string_lossy().into_owned();
        let enter = ["sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh"].map(str::to_owned);
        enter.into_iter().chain([folder]).chain(self.command.clone()).collect()
    }

    /// The variables that lead the agent to the provider and the model, and those of the user.
    fn variables(&self) -> BTreeMap<String, String> {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let wanted = VARIABLES.iter().filter(|one| one.yields == Yields::Never || !is_set(one.name));
        let wanted = wanted.map(|one| (one.name.to_owned(), at_root(one.value)));
        let models = MODELS.map(|name| (name.to_owned(), "${model}".to_owned()));
        let near = ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), "127.0.0.1,localhost".to_owned()));
        wanted.chain(models).chain(near).chain(self.env.iter().cloned()).collect()
    }
}

/// The manifest of a built-in system.
fn sheet_of(manifest: &Manifest) -> Option<Value> {
    parse::document(SHEET, &manifest.text(SHEET)?, |_| None).ok()
}

/// The value of a variable for a provider that speaks one dialect, below one address for every vendor.
fn at_root(value: &str) -> String {
    let Some(path) = value.strip_prefix("{url}") else { return value.to_owned() };
    let vendors = ["/mistral", "/deepseek", "/groq/openai", "/groq", "/moonshot", "/xai"];
    let path = vendors.iter().find_map(|vendor| path.strip_prefix(vendor)).unwrap_or(path);
    format!("${{baseUrl}}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_drive::driver::Introduction;

    fn sheet() -> Sheet {
        Sheet {
            folder: "/work/here".into(),
            command: ["node", "agent.mjs", "--say", "a \"b\": ${model}"].map(str::to_owned).to_vec(),
            env: vec![("MY_URL".to_owned(), "${baseUrl}/v1".to_owned())],
            config: vec![(".agent/settings.json".to_owned(), "{\n  \"url\": \"${baseUrl}\"\n}\n".to_owned())],
            model: Some("my-model".to_owned()),
            login: None,
            known: None,
        }
    }

    #[test]
    fn the_manifest_is_one_that_the_runner_takes() {
        let known = Acquaintance {
            stated: stated("@scope/my agent"),
            dialect: Some(Dialect::OpenaiChat),
            tools: Some("mcp__{server}__{tool}".to_owned()),
            streams: true,
            login: Some("api-key".to_owned()),
        };
        let manifest = sheet().knowing(&known).manifest().unwrap();
        assert_eq!((manifest.name.as_str(), manifest.version.as_deref()), ("my-agent", Some("1.2.3")));
        assert_eq!(manifest.dialects, [Dialect::OpenaiChat]);
        assert_eq!(manifest.command[4..], ["/work/here", "node", "agent.mjs", "--say", "a \"b\": ${model}"]);
        assert_eq!(manifest.env["MY_URL"], "${baseUrl}/v1");
        assert_eq!(manifest.env["OPENAI_BASE_URL"], "${baseUrl}/v1");
        assert_eq!(manifest.env["MISTRAL_API_BASE"], "${baseUrl}/v1");
        let acp = manifest.acp.unwrap();
        assert_eq!(acp.tools.name("lookup"), "mcp__brickbat__lookup");
        assert_eq!(acp.authenticate.as_deref(), Some("api-key"));
        assert_eq!(acp.words[&Dialect::Gemini]["model"], "my-model");
        assert!(acp.config[0].content.contains("\"url\": \"${baseUrl}\""));
        assert!(acp.capabilities.load);
    }

    fn stated(name: &str) -> Introduction {
        Introduction { name: name.to_owned(), version: "1.2.3".to_owned(), loads: true }
    }

    #[test]
    fn an_agent_that_brickbat_drives_itself_gets_those_settings() {
        let known = Acquaintance { stated: stated("qwen-code"), ..Acquaintance::default() };
        let manifest = sheet().knowing(&known).manifest().unwrap();
        assert_eq!((manifest.name.as_str(), manifest.version.as_deref()), ("qwen-code", Some("1.2.3")));
        assert_eq!(manifest.command[4..6], ["/work/here", "node"]);
        assert_eq!(manifest.env["QWEN_CODE_LEGACY_MCP_BLOCKING"], "1");
        assert_eq!(manifest.env["MY_URL"], "${baseUrl}/v1");
        let acp = manifest.acp.unwrap();
        assert_eq!(acp.words[&Dialect::Gemini]["model"], "my-model");
        assert_eq!(acp.config.len(), 2);
        assert!(manifest.files.is_empty() && manifest.limits.is_empty());
    }

    #[test]
    fn the_tasks_that_a_known_agent_leaves_to_its_application_are_in_its_manifest() {
        let known = Acquaintance { stated: stated("gemini-cli"), ..Acquaintance::default() };
        let manifest = sheet().knowing(&known).manifest().unwrap();
        let own = built_in(&known.stated).unwrap();
        assert!(!own.modes[0].application.is_empty());
        assert_eq!(manifest.modes[0].application, own.modes[0].application);
    }

    /// Each vendor's agents read the model from a variable with the vendor's name. Those of Bedrock have none of their own.
    #[test]
    fn the_model_is_set_for_every_dialect() {
        let vendor = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
        for variable in Dialect::ALL.into_iter().filter_map(|dialect| wire::of(dialect).sdk_variable) {
            let is_set = MODELS.iter().any(|model| vendor(model) == vendor(variable));
            assert!(is_set || vendor(variable) == "AWS", "{variable}");
        }
    }

    #[test]
    fn a_manifest_of_an_unknown_agent_is_also_taken() {
        let bare = Sheet { command: vec!["./bin/agent".to_owned()], ..sheet() };
        assert_eq!(bare.manifest().unwrap().name, "agent");
        assert_ne!(bare.id(), sheet().id());
    }
}
