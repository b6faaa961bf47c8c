//! Checks that the instructions for CI systems in README, the book and the workflows work as written. Each is
//! read from its file, and run in an empty folder outside of the clone, like on a GitHub runner.
//!
//! Only the build is left out: a `cargo` that records its arguments installs the program of these tests, and
//! the arguments are compared with this repository.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::BRICKBAT;

/// The branch that has the newest commit, in the absence of a release.
const BRANCH: &str = "main";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

fn sheet() -> toml::Table {
    read("Cargo.toml").parse().unwrap()
}

fn repository() -> String {
    sheet()["workspace"]["package"]["repository"].as_str().unwrap().to_owned()
}

/// A machine that runs steps: it has a home, a workspace, and the software of a runner.
struct Machine {
    folder: TempDir,
}

type Variables = BTreeMap<String, String>;

impl Machine {
    fn new() -> Machine {
        let folder = TempDir::new().unwrap();
        let machine = Machine { folder };
        for name in ["home", "tools", "temp", "workspace", "artifacts"] {
            fs::create_dir(machine.at(name)).unwrap();
        }
        for name in ["path", "output", "summary", "cargo"] {
            fs::write(machine.at(name), "").unwrap();
        }
        machine.tool("rustup", "exit 0");
        let cargo = "printf '%s\\n' \"$PWD\" \"$*\" >>\"$ASKED_OF_CARGO\"\nroot=$HOME/.cargo\n\
                     while [ $# -gt 0 ]; do if [ \"$1\" = --root ]; then root=$2; fi; shift; done\n\
                     mkdir -p \"$root/bin\" && cp \"$BUILT\" \"$root/bin/brickbat\"";
        machine.tool("cargo", cargo);
        // In its own folder: only an installation puts it on PATH.
        fs::create_dir(machine.at("built")).unwrap();
        machine.script("built/brickbat", &format!("exec '{BRICKBAT}' \"$@\""));
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, body: &str) {
        let path = self.at(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn tool(&self, name: &str, body: &str) {
        self.script(&format!("tools/{name}"), body);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at("workspace").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A repository of an agent, with its manifest, and a baseline of its known findings.
    fn with_an_agent(self) -> Machine {
        let manifest = "name: my-agent\nsdk: brickbat-reference\ndescription: Mine.\nversions: [{ version: 0.1.0 }]\n\
                        dialects: [openai-chat]\nmodes: [{ name: thread, description: Its only one. }]\n\
                        command: [brickbat, agent, --canary, dangling-on-abort]\n";
        self.write("brickbat/system.yaml", manifest);
        // The complete suite takes minutes.
        self.write("brickbat.toml", "scenarios = [\"abort/mid-batch\"]\n");
        let write = format!(
            "PATH='{}':$PATH\nbrickbat run --manifest brickbat/system.yaml --no-out \\\n  \
             --write-baseline brickbat/baseline.yaml || [ $? -eq 1 ]",
            self.at("built").display()
        );
        let done = self.bash(&write, &self.at("workspace"), &Variables::new());
        assert!(done.status.success(), "{done:?}");
        self
    }

    /// Runs a script as a runner does.
    fn bash(&self, script: &str, folder: &Path, variables: &Variables) -> Output {
        let added = fs::read_to_string(self.at("path")).unwrap();
        let added: Vec<PathBuf> = added.lines().map(PathBuf::from).collect();
        let known = std::env::var_os("PATH").unwrap();
        let first = added.into_iter().chain([self.at("tools"), self.at("home/.cargo/bin")]);
        let path = std::env::join_paths(first.chain(std::env::split_paths(&known))).unwrap();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder);
        bash.env("PATH", path).env("HOME", self.at("home")).env("RUNNER_TEMP", self.at("temp"));
        bash.env("BRICKBAT_CACHE", self.at("home/cache")).env("BUILT", self.at("built/brickbat"));
        bash.env("ASKED_OF_CARGO", self.at("cargo")).env("GITHUB_ACTION_PATH", root());
        for (name, file) in
            [("GITHUB_PATH", "path"), ("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")]
        {
            bash.env(name, self.at(file));
        }
        bash.envs(variables).output().unwrap()
    }

    /// Runs a step. Expressions are replaced by their values in `context`.
    fn step(&self, step: &Value, variables: &Variables, context: &Variables) {
        let with = |key: &str| step["with"][key].as_str().map(|text| filled(text, context));
        if let Some(script) = step["run"].as_str() {
            let script = filled(script, context);
            let done = self.bash(&script, &self.at("workspace"), variables);
            assert!(done.status.success(), "{script}: {done:#?}");
            return;
        }
        let uses = step["uses"].as_str().unwrap();
        let (action, _) = uses.split_once('@').unwrap();
        match action {
            "actions/checkout" => assert_eq!(step["with"]["repository"], Value::Null, "not known here"),
            "actions/setup-node" => {}
            "actions/upload-artifact" => {
                let place = self.at("artifacts").join(with("name").unwrap());
                fs::create_dir_all(&place).unwrap();
                for path in with("path").unwrap().lines() {
                    let (from, to) = (self.at("workspace").join(path), place.join(file_name(path)));
                    fs::copy(&from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
                    // An artifact keeps no permissions.
                    fs::set_permissions(&to, fs::Permissions::from_mode(0o644)).unwrap();
                }
            }
            "actions/download-artifact" => {
                let place = self.at("workspace").join(with("path").unwrap());
                fs::create_dir_all(&place).unwrap();
                let names: Vec<PathBuf> = match with("name") {
                    Some(name) => vec![self.at("artifacts").join(name)],
                    None => entries(&self.at("artifacts")),
                };
                for file in names.iter().flat_map(|name| entries(name)) {
                    fs::copy(&file, place.join(file.file_name().unwrap())).unwrap();
                }
            }
            "brickbat/brickbat" => {
                assert_eq!(uses, format!("brickbat/brickbat@{BRANCH}"), "there is no release yet");
                self.action(step, context);
            }
            _ => panic!("{uses} is not known here"),
        }
    }

    /// Runs our own Action.
    fn action(&self, step: &Value, context: &Variables) {
        let action = yaml(&read("action.yml"));
        let inputs = action["inputs"].as_object().unwrap().iter();
        let mut given: Variables = inputs
            .map(|(name, input)| (format!("inputs.{name}"), input["default"].as_str().unwrap().to_owned()))
            .collect();
        for (name, value) in step["with"].as_object().into_iter().flatten() {
            let known = given.insert(format!("inputs.{name}"), filled(value.as_str().unwrap(), context));
            assert!(known.is_some(), "the Action has no input {name}");
        }
        for step in action["runs"]["steps"].as_array().unwrap() {
            let variables = step["env"].as_object().into_iter().flatten();
            let variables =
                variables.map(|(name, value)| (name.clone(), filled(value.as_str().unwrap(), &given)));
            self.step(step, &variables.collect(), &given);
        }
    }

    /// A workspace without the files of an earlier job.
    fn next_job(&self) {
        fs::remove_dir_all(self.at("workspace")).unwrap();
        fs::create_dir(self.at("workspace")).unwrap();
    }

    /// Checks that the arguments of cargo install this repository.
    fn has_installed_this(&self) {
        let asked = fs::read_to_string(self.at("cargo")).unwrap();
        let asked: Vec<&str> = asked.lines().collect();
        assert!(!asked.is_empty(), "nothing was installed");
        for call in asked.chunks(2) {
            assert_eq!(complaint(Path::new(call[0]), call[1]), None, "cargo {}", call[1]);
        }
    }
}

/// The fault of a cargo command that should install Brickbat from a folder, if it has one.
fn complaint(folder: &Path, asked: &str) -> Option<String> {
    let mut words = asked.split_ascii_whitespace();
    if words.next() != Some("install") {
        return Some("it installs nothing".to_owned());
    }
    let (mut from, mut package, mut is_locked) = (None, None, false);
    while let Some(word) = words.next() {
        match word {
            "--locked" => is_locked = true,
            "--path" | "--git" => from = words.next().map(|place| (word, place)),
            "--root" | "--rev" => drop(words.next()),
            _ if word.starts_with('-') => return Some(format!("{word} is not known here")),
            _ => package = Some(word),
        }
    }
    let sheet = sheet();
    let own = sheet["package"]["name"].as_str().unwrap();
    let is_here = match from {
        Some(("--git", url)) => url == repository(),
        Some((_, path)) => {
            folder.join(path).canonicalize().is_ok_and(|path| path == root().canonicalize().unwrap())
        }
        None => return Some("no registry has it until the first release".to_owned()),
    };
    let has_program =
        sheet["bin"].as_array().unwrap().iter().any(|bin| bin["name"].as_str() == Some("brickbat"));
    if !is_here || !has_program {
        return Some("there is no brickbat".to_owned());
    }
    if package.is_some_and(|package| package != own) {
        return Some(format!("the package is {own}"));
    }
    (!is_locked || !root().join("Cargo.lock").is_file()).then(|| "it is not locked".to_owned())
}

/// A text with its expressions filled in.
fn filled(text: &str, context: &Variables) -> String {
    let mut parts = text.split("${{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap();
        filled.push_str(context.get(name.trim()).unwrap_or_else(|| panic!("{name} is not known here")));
        filled.push_str(rest);
    }
    filled
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().unwrap().to_string_lossy().into_owned()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    entries
}

/// README and all pages of the book.
fn pages() -> Vec<(String, String)> {
    let mut folders = vec!["docs/src".to_owned()];
    let mut pages = vec!["README.md".to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&root().join(&folder)) {
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            match path.is_dir() {
                true => folders.push(name),
                false if name.ends_with(".md") => pages.push(name),
                false => {}
            }
        }
    }
    pages.into_iter().map(|page| (read(&page), page)).map(|(text, page)| (page, text)).collect()
}

/// The blocks of a page in one language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1);
    blocks.map(|rest| rest.split("\n```").next().unwrap()).collect()
}

#[test]
fn the_steps_in_readme_and_book_work_in_the_repository_of_an_agent() {
    let mut n_run = 0;
    for (page, text) in pages() {
        for block in blocks(&text, "yaml") {
            let parsed: Value = serde_saphyr::from_str(block).unwrap_or_default();
            let steps = parsed.as_array().map(Vec::as_slice).unwrap_or_default();
            let is_step = |step: &Value| step.get("run").is_some() || step.get("uses").is_some();
            if steps.is_empty() || !steps.iter().all(is_step) {
                continue;
            }
            println!("{page}");
            let machine = Machine::new().with_an_agent();
            for step in steps {
                machine.step(step, &Variables::new(), &Variables::new());
            }
            machine.has_installed_this();
            n_run += 1;
        }
    }
    assert_eq!(n_run, 2, "README has one such block, and so has the page about the installation");
}

#[test]
fn the_workflow_works_when_it_is_copied() {
    let workflow = yaml(&read(".github/workflows/conformance.yml"));
    let mut variables: Variables = workflow["env"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect();
    // As the reader is told to do: another system, without known findings.
    for (name, value) in [("SYSTEM", "--system reference/simulated abort/mid-batch"), ("BASELINE", "")] {
        assert!(variables.insert(name.to_owned(), value.to_owned()).is_some(), "{name}");
    }
    let machine = Machine::new();
    for name in ["build", "shard", "merge"] {
        let job = &workflow["jobs"][name];
        let matrix = job["strategy"]["matrix"]["shard"].as_array();
        let shards: Vec<String> = matrix.into_iter().flatten().map(Value::to_string).collect();
        let total = shards.len().max(1).to_string();
        for shard in if shards.is_empty() { vec![String::new()] } else { shards } {
            machine.next_job();
            let context = [("matrix.shard", shard), ("strategy.job-total", total.clone())];
            let context = context.map(|(name, value)| (name.to_owned(), value)).into();
            for step in job["steps"].as_array().unwrap() {
                machine.step(step, &variables, &context);
            }
        }
    }
    assert_eq!(workflow["jobs"].as_object().unwrap().len(), 3);
    machine.has_installed_this();
    let merged = fs::read_to_string(machine.at("artifacts/conformance/conformance.json")).unwrap();
    assert!(merged.contains("abort/mid-batch"), "{merged}");
}

#[test]
fn the_pre_commit_hook_exists() {
    let hooks = yaml(&read(".pre-commit-hooks.yaml"));
    let page = read("docs/src/howto/install.md");
    let block =
        blocks(&page, "yaml").into_iter().map(yaml).find(|block| block[0]["repo"].is_string()).unwrap();
    assert_eq!(block[0]["repo"], repository());
    assert_eq!(block[0]["rev"], BRANCH, "there is no release yet");
    for used in block[0]["hooks"].as_array().unwrap() {
        let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == used["id"]).unwrap();
        assert_eq!(hook["language"], "rust");
        let machine = Machine::new();
        fs::copy(root().join("docs/fixtures/readme/request.json"), machine.at("workspace/request.json"))
            .unwrap();
        // As pre-commit does it, in its clone.
        let root_of_hook = machine.at("home/env");
        let install = format!("cargo install --locked --root '{}' --path .", root_of_hook.display());
        assert!(machine.bash(&install, root(), &Variables::new()).status.success());
        fs::write(machine.at("path"), root_of_hook.join("bin").display().to_string()).unwrap();
        let entry = format!("{} request.json", hook["entry"].as_str().unwrap());
        let done = machine.bash(&entry, &machine.at("workspace"), &Variables::new());
        assert_eq!(done.status.code(), Some(1), "{done:#?}");
    }
}

/// A command that names a package of ours directly, or a release, leads to nothing.
#[test]
fn no_document_installs_what_no_registry_has() {
    let files =
        ["README.md", "action.yml", ".github/workflows/conformance.yml", "harness/packages/npm/README.md"];
    let mut texts: Vec<(String, String)> = files.map(|file| (file.to_owned(), read(file))).into();
    texts.extend(pages());
    texts.push(("harness/packages/python/README.md".to_owned(), read("harness/packages/python/README.md")));
    for (file, text) in texts {
        for line in text.lines() {
            assert_eq!(unreleased(line), None, "{file}: {line}");
        }
        let shows_a_package = text.contains("uvx brickbat") || text.contains("npx brickbat check");
        assert!(
            !shows_a_package || text.contains("dist/build"),
            "{file} does not say where the package comes from"
        );
    }
    for line in [
        "cargo install --locked brickbat",
        "- run: cargo install --locked --path brickbat",
        "- uses: brickbat/brickbat@v0.1.0",
        "  rev: v0.1.0",
        "pip install brickbat",
        "`npm install --save-dev brickbat`",
    ] {
        assert!(unreleased(line).is_some(), "{line}");
    }
}

/// The fault of a line of a document, if it has one.
fn unreleased(line: &str) -> Option<String> {
    if let Some((_, asked)) = line.split_once("cargo install ") {
        let asked = asked.split(['`', '#', '&', ';']).next().unwrap_or_default();
        let is_other = asked.split(' ').any(|word| word.starts_with("cargo-") || word.starts_with("mdbook"));
        // A variable is checked where the workflow is run.
        let is_filled_in = asked.contains('$');
        return if is_other || is_filled_in { None } else { complaint(root(), &format!("install {asked}")) };
    }
    let names_a_release = line.contains("brickbat@v") || line.trim_start().starts_with("rev: v");
    let by_name = ["pip install ", "npm install ", "npm i ", "uv add "].iter().find_map(|command| {
        let (_, packages) = line.split_once(command)?;
        let packages = packages.split(['`', '#', ';']).next().unwrap_or_default();
        packages.split(' ').find(|package| ["brickbat", "brickbat-adapter"].contains(package))
    });
    (names_a_release || by_name.is_some()).then(|| "there is no release yet".to_owned())
}
