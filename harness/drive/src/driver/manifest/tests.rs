use super::*;

const SHEET: &str = "name: own\nsdk: own-sdk\ndescription: Mine.\nversions:\n  - { version: 1.2.0, folder: v1 }\n  \
    - { version: 2.0.0, requires: { python: \">=3.11\" }, modes: [new] }\ndialects: [openai-chat]\nmodes:\n  \
    - { name: old, description: Old. }\n  - { name: new, description: New. }\nrequires: { python: \">=3.9\" }\n\
    install: pip\nfiles: [adapter.py]\ncommand: [.venv/bin/python, adapter.py]\n";

fn parse(text: &str) -> Result<Vec<Manifest>, Diagnostic> {
    let place = FileSource::Folder("/nowhere".into());
    Manifest::parse("system.yaml", text, &place)
}

#[test]
fn each_version_is_a_manifest_of_its_own() {
    let found = parse(SHEET).unwrap();
    let names: Vec<String> = found.iter().map(|manifest| manifest.full_name("new")).collect();
    assert_eq!(names, ["own@1.2.0/new", "own@2.0.0/new"]);
    assert_eq!(found[0].folder.as_deref(), Some("v1"));
    assert_eq!(found[0].modes.len(), 2);
    assert_eq!(found[0].requires.python, Some(AtLeast(3, 9)));
    assert_eq!(found[1].modes.len(), 1);
    assert_eq!(found[1].requires.python, Some(AtLeast(3, 11)));
    assert_eq!(found[1].install, Install::Pip);
    assert_eq!(found[1].waits, Waits::STANDARD);
}

#[test]
fn a_working_tree_has_no_version() {
    let text = "name: own\nsdk: own-sdk\ndescription: Mine.\nproject: ..\ndialects: [openai-chat]\n\
                modes: [{ name: m, description: d }]\ncommand: [./run.sh]\n";
    let found = parse(text).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].full_name("m"), "own/m");
    assert_eq!(found[0].project.as_deref(), Some(Path::new("/nowhere/..")));
}

#[test]
fn waits_can_be_set_and_are_multiplied_by_the_patience() {
    let sheet = SHEET.replacen("install: pip", "waits: { start: 90, silence: 20 }\ninstall: pip", 1);
    let waits = parse(&sheet).unwrap().remove(0).with_patience(2.0).waits;
    let seconds = [waits.start, waits.answer, waits.silence].map(|wait| wait.as_secs());
    assert_eq!(seconds, [180, 40, 40]);
}

#[test]
fn a_mode_lists_the_duties_of_the_application() {
    let text = SHEET.replace("Old. }", "Old., application: [store, states] }");
    let found = parse(&text.replace("New. }", "New., application: [store], repairs: true }")).unwrap();
    let [old, new] = [0, 1].map(|at| found[0].modes[at].application());
    assert!(old.does_any(&[Duty::States]) && old.does_any(&[Duty::Repair]) && !old.does_any(&[Duty::Loop]));
    assert!(new.does_any(&[Duty::Store]) && !new.does_any(&[Duty::Repair]));
    assert_eq!(parse(SHEET).unwrap()[0].modes[0].application(), Application::default());
}

#[test]
fn a_mode_may_lack_what_others_have() {
    let sheet = SHEET.replace("[openai-chat]", "[gemini, mistral]");
    let sheet = sheet.replace("Old. }", "Old., lacks: [streaming], dialects: [mistral] }");
    let manifest = parse(&sheet).unwrap().remove(0);
    let able = |mode| manifest.capabilities_of(mode, Capabilities::all());
    assert!(!able("old").has("streaming") && able("old").has("cancel"));
    assert_eq!(able("new"), Capabilities::all());
    let n_dialects = |mode| manifest.dialects_of(mode).len();
    assert_eq!([n_dialects(Some("old")), n_dialects(Some("new")), n_dialects(None)], [1, 2, 2]);
}

#[test]
fn mistakes_are_shown_at_their_place() {
    for (from, to, text) in [
        ("install: pip", "install: uv", "unknown word `uv`"),
        ("sdk: own-sdk\n", "", "the key `sdk` is missing"),
        ("install:", "instal:", "did you mean `install`?"),
        ("[adapter.py]", "[../adapter.py]", "a path below the manifest's folder"),
        ("[adapter.py]", "[/etc/passwd]", "a path below the manifest's folder"),
        ("sdk: own-sdk\n", "sdk: own-sdk\nproject: ..\n", "but not both"),
        ("modes: [new]", "modes: [newer]", "only modes that `modes` above lists"),
        ("name: own", "name: own/1", "a name is made of"),
        ("\">=3.11\"", "\"^3.11\"", "expected a minimum version"),
        ("[openai-chat]", "[]", "needs at least one entry"),
        ("install: pip", "env: { HOME: /root }\ninstall: pip", "the run sets this"),
        ("install: pip", "env: { XDG_DATA_HOME: /x }\ninstall: pip", "the run sets this"),
        ("Old. }", "Old., application: [stor] }", "did you mean `store`?"),
        ("Old. }", "Old., application: [store, repair] }", "write `repairs: true`"),
        ("Old. }", "Old., application: [loop, loop] }", "this is listed twice"),
        ("Old. }", "Old., lacks: [stream] }", "there is no capability of that name"),
        ("Old. }", "Old., dialects: [mistral] }", "this is not one of the system's dialects"),
        ("Old. }", "Old., repairs: true }", "use this with `application: [store]`"),
        ("python, adapter.py]", "python, adapter.py, \"${baseUrl}\"]", "one session in each process"),
        ("install: pip", "env: { URL: \"${baseUrl}/v1\" }\ninstall: pip", "one session in each process"),
    ] {
        let error = parse(&SHEET.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.contains(text) && error.contains("system.yaml"), "{error}");
    }
}

#[test]
fn versions_are_compared_by_their_numbers() {
    assert!(AtLeast::of("3.9.2") < AtLeast::of("3.10"));
    assert_eq!(AtLeast::of("20"), Some(AtLeast(20, 0)));
    assert_eq!(AtLeast::of("v20"), None);
}

#[test]
fn packages_beside_the_sdk_follow_its_version() {
    let siblings =
        |since: &str, package: &str| Siblings { since: since.to_owned(), packages: vec![package.to_owned()] };
    let all = [siblings("1.10.0", "b==2"), siblings("1.2.1", "b==1")];
    let of = |version: &str| Siblings::of(&all, version).first().map(String::as_str);
    assert_eq!(of("1.12.0"), Some("b==2"));
    assert_eq!(of("1.9.3"), Some("b==1"));
    assert_eq!(of("1.2.0"), None);
    assert_eq!(of("latest"), None);
}
