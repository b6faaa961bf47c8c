//! Installs an adapter into the cache folder on first use, and finds it there afterwards.
//!
//! Dependencies and adapter are in two folders, so a change to the adapter does not fetch its dependencies
//! again. The name of each folder contains a hash of its inputs. A folder that exists is therefore the right
//! one, and complete, because it is filled under another name and then renamed. A user's folder is run in
//! place if its dependencies are there, and is never written to. A working tree under test is linked into
//! the cache, so that its current files run.

mod failure;
mod kit;
mod project;
mod tools;

use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use super::error::{DriverError, InstalledIn};
use super::file_source;
use super::manifest::{FileSource, Install, MAX_FILE, Manifest, Siblings};
use super::process::{Launch, ProcessLimits};
use super::supervisor_handle;
use project::Project;
use tools::Tools;

pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// Returns how to start a system, after installing its adapter into the cache if necessary.
///
/// `supervisor` is the program `brickbat`, which supervises every process that is run.
pub async fn launch(
    manifest: &Manifest,
    cache: &Path,
    supervisor: &Path,
    progress: Progress<'_>,
) -> Result<Launch, DriverError> {
    if let FileSource::Folder(folder) = &manifest.place
        && let Some(file) = manifest.files.iter().find(|file| !folder.join(file).exists())
    {
        return Err(missing(manifest, file));
    }
    let tools = Tools { manifest, supervisor, progress };
    tools.check(manifest.requires).await?;
    let (folder, installed) = match in_place(manifest) {
        Some(folder) => (folder, None),
        None => {
            let Installed { folder, pattern } = install(manifest, cache, &tools).await?;
            (folder, made_by(manifest.install).map(|made| InstalledIn { pattern, made }))
        }
    };
    let (program, args) = manifest.command.split_first().ok_or_else(|| {
        DriverError::install(format!("system {}", manifest.name), "its manifest gives no command")
    })?;
    // A path is relative to the adapter's folder; a bare name is looked up on PATH.
    let program = if program.contains('/') {
        folder.join(program).to_string_lossy().into_owned()
    } else {
        program.clone()
    };
    Ok(Launch {
        program,
        args: args.to_vec(),
        folder,
        installed,
        env: manifest.env.clone(),
        supervisor: supervisor.to_owned(),
        scratch: None,
        limits: ProcessLimits {
            start: manifest.waits.start,
            answer: manifest.waits.answer,
            ..ProcessLimits::STANDARD
        },
    })
}

/// Installs a manifest's dependencies, and runs its command until it ends, for at most `wait`. The
/// processes that it started die with it.
pub(super) async fn run_in(
    manifest: &Manifest,
    cache: &Path,
    supervisor: &Path,
    progress: Progress<'_>,
    wait: Duration,
) -> Result<Output, DriverError> {
    let launch = launch(manifest, cache, supervisor, progress).await?;
    let words = std::iter::once(&launch.program).chain(&launch.args);
    let mut command = supervisor_handle::command(supervisor, None, words);
    command.current_dir(&launch.folder).envs(&launch.env);
    tools::run(command, wait).await.map_err(|error| DriverError::install(launch.program, error))
}

/// The cache folder: `$BRICKBAT_CACHE`, else `$XDG_CACHE_HOME/brickbat`, else `~/.cache/brickbat`.
pub fn cache_folder() -> Result<PathBuf, DriverError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("BRICKBAT_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("brickbat")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/brickbat")));
    let folder = folder.ok_or_else(|| DriverError::ProgramMissing {
        program: "a cache folder".to_owned(),
        advice: "set BRICKBAT_CACHE to a folder in which adapters may be installed".to_owned(),
    })?;
    std::path::absolute(&folder).map_err(|error| failed(&folder, error))
}

/// The user's folder, if the adapter can run there unchanged.
fn in_place(manifest: &Manifest) -> Option<PathBuf> {
    let FileSource::Folder(folder) = &manifest.place else { return None };
    let is_ready = match (manifest.install, made_by(manifest.install)) {
        (Install::None, _) => true,
        (Install::Cargo, _) | (_, None) => false,
        (_, Some(made)) => folder.join(made).is_dir(),
    };
    let is_own = manifest.folder.is_none() && manifest.pinned.is_none();
    // Brickbat writes nothing into a folder of the user, so the kit must already be there.
    let has_kit = manifest.kit.is_none_or(|kit| kit::is_among(folder, kit, manifest.install));
    (is_ready && is_own && has_kit).then(|| folder.clone())
}

/// The files that list the dependencies.
fn named_by(install: Install) -> &'static [&'static str] {
    match install {
        Install::None => &[],
        Install::Npm => &["package.json", "package-lock.json"],
        Install::Pip => &["requirements.txt"],
        Install::Cargo => &["Cargo.toml", "Cargo.lock"],
    }
}

/// The folder that an installation creates.
fn made_by(install: Install) -> Option<&'static str> {
    match install {
        Install::None => None,
        Install::Npm => Some("node_modules"),
        Install::Pip => Some(".venv"),
        Install::Cargo => Some("target"),
    }
}

/// The folder of the cache with the adapters and their dependencies.
const SYSTEMS: &str = "systems";

/// The suffix after the base name, for a folder that is being filled.
const PART: &str = ".part-";

/// The size limit, in bytes, of a file that lists dependencies. The lock file of a large repository has some
/// MB.
const MAX_LOCK: u64 = 64 << 20;

/// A file of an adapter: its path in the adapter's folder, and its text.
type AdapterFile = (String, String);

/// An adapter in the cache.
struct Installed {
    folder: PathBuf,
    /// A glob for its folders, relative to the cache folder.
    pattern: String,
}

async fn install(manifest: &Manifest, cache: &Path, tools: &Tools<'_>) -> Result<Installed, DriverError> {
    let read = |file: &str, max_bytes: u64| {
        manifest.read_text(file, max_bytes).map_err(|error| unread(manifest, file, &error.to_string()))
    };
    let own = |file: &String| match read(file, MAX_FILE)? {
        Some(text) => Ok((file.clone(), text)),
        None => Err(missing(manifest, file)),
    };
    let mut files: Vec<AdapterFile> = manifest.files.iter().map(own).collect::<Result<_, _>>()?;
    let kit = manifest.kit.map_or(&[][..], |kit| kit::files(kit, manifest.install));
    files.extend(kit.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    let named = named_by(manifest.install).iter().filter_map(|name| {
        let path = manifest.folder.as_ref().map_or((*name).to_owned(), |folder| format!("{folder}/{name}"));
        let text = read(&path, MAX_LOCK).transpose()?;
        Some(text.map(|text| ((*name).to_owned(), text)))
    });
    let named: Vec<AdapterFile> = named.collect::<Result<_, _>>()?;

    let systems = cache.join(SYSTEMS);
    std::fs::create_dir_all(&systems).map_err(|error| failed(&systems, error))?;
    // The folders contain absolute paths. In a cache that was copied or moved, they would lead to the old
    // place.
    let systems = systems.canonicalize().map_err(|error| failed(&systems, error))?;
    remove_parts(&systems);
    let project = Project::of(manifest, &named)?;
    let siblings =
        manifest.pinned.as_deref().map_or(&[][..], |version| Siblings::of(&manifest.siblings, version));
    let pinned = manifest.pinned.as_ref().map(|version| format!("{version} {}", siblings.join(" ")));
    let of = (manifest.install, &pinned, &named, &systems);
    let base = match &project {
        None => format!("{}-{:016x}", manifest.name, fingerprint(&of)),
        Some(project) => format!("{}-{:016x}", manifest.name, fingerprint(&(of, project))),
    };
    let made = made_by(manifest.install);
    let place = systems.join(format!("{base}-{:016x}", fingerprint(&files)));
    let dependencies = systems.join(&base);
    let is_there = has_files(&place, &manifest.files, &files) && (made.is_none() || dependencies.is_dir());
    let installed = Installed { pattern: format!("{SYSTEMS}/{base}*"), folder: place.clone() };
    if is_there && manifest.install != Install::Cargo {
        return Ok(installed);
    }
    // Held until the end of this function, so that two harnesses do not install the same adapter at once.
    let _lock = lock(&systems.join(format!("{base}.lock")), tools.progress).await?;
    if made.is_some() && !dependencies.is_dir() {
        let filled = fill(&systems, &base, &named)?;
        tools.fetch(filled.path(), project.as_ref()).await?;
        finish(filled, &dependencies)?;
    }
    if !has_files(&place, &manifest.files, &files) {
        if place.is_dir() {
            std::fs::remove_dir_all(&place).map_err(|error| failed(&place, error))?;
        }
        if manifest.kit.is_some_and(|kit| kit::is_among(&dependencies, kit, manifest.install)) {
            files.truncate(manifest.files.len());
        }
        let filled = fill(&systems, &base, &[files, named].concat())?;
        if let Some(made) = made {
            link(&dependencies.join(made), &filled.path().join(made))?;
        }
        finish(filled, &place)?;
    }
    if manifest.install == Install::Cargo {
        tools.build(&place, project.as_ref()).await?;
    }
    Ok(installed)
}

/// True if a cache folder contains the adapter's own files unchanged.
fn has_files(place: &Path, names: &[String], files: &[AdapterFile]) -> bool {
    let is_whole = |(file, text): &AdapterFile| {
        file_source::read(&place.join(file), MAX_FILE).is_ok_and(|found| found == *text)
    };
    place.is_dir() && files.iter().filter(|(file, _)| names.contains(file)).all(is_whole)
}

/// Removes the remains of killed installations. An installation that still runs holds the lock on its
/// base.
fn remove_parts(systems: &Path) {
    let entries = std::fs::read_dir(systems).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((base, _)) = name.split_once(PART) else { continue };
        let lock = File::open(systems.join(format!("{base}.lock")));
        let is_free = match &lock {
            // Held until the folder is gone.
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if is_free {
            // A folder that cannot be removed only takes up space.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A file that the manifest lists does not exist.
fn missing(manifest: &Manifest, file: &str) -> DriverError {
    unread(manifest, file, "there is no such file; correct the name, or add the file")
}

/// A file that the manifest lists cannot be read.
fn unread(manifest: &Manifest, file: &str, why: &str) -> DriverError {
    let place = match &manifest.place {
        FileSource::Folder(folder) => format!(" in {}", folder.display()),
        FileSource::BuiltIn(_) => String::new(),
    };
    DriverError::Misfit {
        what: format!("`files` of its manifest names {file}, which cannot be read{place}: {why}"),
    }
}

/// A hash for names in the cache. It need not resist attacks: a process that can write to the cache can write
/// anything.
fn fingerprint(of: &impl Hash) -> u64 {
    // The same keys for every run, as the standard library promises for `new`. A new algorithm means a new
    // installation.
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// A temporary folder in the cache with those files in it. Dropping it before it is finished removes it.
fn fill(systems: &Path, base: &str, files: &[AdapterFile]) -> Result<tempfile::TempDir, DriverError> {
    let filled = tempfile::Builder::new()
        .prefix(&format!("{base}{PART}"))
        .tempdir_in(systems)
        .map_err(|error| failed(systems, error))?;
    for (file, text) in files {
        let path = filled.path().join(file);
        let folder = path.parent().unwrap_or(filled.path());
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(filled)
}

/// Links the installed dependencies into the folder of an adapter: the complete folder, or each entry if the
/// folder exists.
fn link(installed: &Path, place: &Path) -> Result<(), DriverError> {
    if !place.is_dir() {
        return symlink(installed, place).map_err(|error| failed(place, error));
    }
    // If there is nothing to install, npm creates no folder.
    if !installed.exists() {
        return Ok(());
    }
    let entries = std::fs::read_dir(installed).map_err(|error| failed(installed, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(installed, error))?;
        let link = place.join(entry.file_name());
        symlink(entry.path(), &link).map_err(|error| failed(&link, error))?;
    }
    Ok(())
}

fn finish(filled: tempfile::TempDir, place: &Path) -> Result<(), DriverError> {
    std::fs::rename(filled.keep(), place).map_err(|error| failed(place, error))
}

#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as symlink;

/// The time limit for an installation: a few hundred megabytes over a slow line, or on a busy machine. The
/// 168 packages of tunacode 0.1.32 took 6 minutes at a load of 8 on two cores, and more than 10 at a load of
/// 40.
const INSTALL_WAIT: Duration = Duration::from_secs(1800);

/// How often to retry a lock that another harness holds.
const LOCK_POLL: Duration = Duration::from_millis(200);

async fn lock(path: &Path, progress: Progress<'_>) -> Result<File, DriverError> {
    let file = File::create(path).map_err(|error| failed(path, error))?;
    let deadline = Instant::now() + INSTALL_WAIT;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {}
            Err(error) => return Err(failed(path, error)),
        }
        if !told {
            progress("waiting for another harness that is installing the same adapter");
            told = true;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a file lock that another process holds gives no notice"
        )]
        tokio::time::sleep(LOCK_POLL).await;
    }
}

fn failed(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DriverError {
    DriverError::install(path.display().to_string(), error)
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Kit;
    use super::*;

    /// A program that does not exist: these tests run nothing.
    const SUPERVISOR: &str = "/nowhere/brickbat";

    fn own(folder: &Path, sheet: &str) -> Manifest {
        let path = folder.join("system.yaml");
        let head = "name: own\nsdk: sh\ndescription: Mine.\nversions: [{ version: '1' }]\ndialects: [openai-chat]\n\
                    modes: [{ name: m, description: d }]\n";
        std::fs::write(&path, format!("{head}{sheet}")).unwrap();
        Manifest::read(&path).unwrap().remove(0)
    }

    #[tokio::test]
    async fn a_system_without_dependencies_runs_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = own(folder.path(), "command: [./run.sh, now]\nenv: { A: b }\n");
        let launch =
            launch(&manifest, &folder.path().join("cache"), SUPERVISOR.as_ref(), &|_| {}).await.unwrap();
        assert_eq!(launch.folder, folder.path());
        assert_eq!(launch.program, folder.path().join("./run.sh").to_string_lossy());
        assert_eq!(launch.args, ["now"]);
        assert_eq!(launch.env["A"], "b");
        assert!(!folder.path().join("cache").exists());
    }

    #[tokio::test]
    async fn a_change_of_the_adapter_keeps_the_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let sheet = "install: pip\nfiles: [sub/adapter.py]\ncommand: [.venv/bin/python, sub/adapter.py]\n";
        let manifest = own(folder.path(), sheet);
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("requirements.txt"), "").unwrap();
        std::fs::create_dir_all(dependencies(&cache, Install::Pip, ("requirements.txt", "")).join(".venv"))
            .unwrap();
        let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
        let mut places = Vec::new();
        for text in ["one", "two", "one"] {
            std::fs::write(folder.path().join("sub/adapter.py"), text).unwrap();
            let place = install(&manifest, &cache, &tools).await.unwrap().folder;
            assert_eq!(std::fs::read_to_string(place.join("sub/adapter.py")).unwrap(), text);
            assert!(place.join(".venv").is_dir());
            places.push(place);
        }
        assert_eq!(places[0], places[2]);
        assert_ne!(places[0], places[1]);
    }

    /// The folder of the dependencies that a file lists. A real installation would need the network.
    fn dependencies(cache: &Path, install: Install, (file, text): (&str, &str)) -> PathBuf {
        let systems = cache.join(SYSTEMS);
        std::fs::create_dir_all(&systems).unwrap();
        let systems = systems.canonicalize().unwrap();
        let named = vec![(file.to_owned(), text.to_owned())];
        systems.join(format!("own-{:016x}", fingerprint(&(install, &None::<String>, &named, &systems))))
    }

    /// A folder as left by an npm installation.
    fn installed(cache: &Path, packages: &[&str]) -> PathBuf {
        let modules = dependencies(cache, Install::Npm, ("package.json", "{}")).join("node_modules");
        for package in packages {
            std::fs::create_dir_all(modules.join(package)).unwrap();
        }
        std::fs::write(modules.join(".package-lock.json"), "{}").unwrap();
        modules
    }

    #[tokio::test]
    async fn the_embedded_kit_is_written_unless_the_package_was_installed() {
        for (packages, is_own) in [(&["@me/lib"][..], false), (&["@me/lib", "brickbat-adapter"], true)] {
            let folder = tempfile::tempdir().unwrap();
            let cache = folder.path().join("cache");
            let sheet = "install: npm\nfiles: [adapter.mjs]\nkit: 1\ncommand: [node, adapter.mjs]\n";
            let manifest = own(folder.path(), sheet);
            std::fs::write(folder.path().join("adapter.mjs"), "").unwrap();
            std::fs::write(folder.path().join("package.json"), "{}").unwrap();
            let modules = installed(&cache, packages);
            let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
            let place = install(&manifest, &cache, &tools).await.unwrap().folder;
            let kit = place.join("node_modules/brickbat-adapter");
            assert_eq!(kit.join("index.js").is_file(), !is_own);
            assert_eq!(kit.canonicalize().unwrap().starts_with(&modules), is_own);
            assert!(
                place.join("node_modules/@me/lib").is_dir()
                    && !modules.join("brickbat-adapter/index.js").exists()
            );
        }
    }

    #[tokio::test]
    async fn the_kit_of_a_filter_is_written_next_to_its_driver() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let manifest = Manifest { kit: Some(Kit::Filter), ..npm(folder.path()) };
        installed(&cache, &["lib"]);
        let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
        let place = install(&manifest, &cache, &tools).await.unwrap().folder;
        assert!(place.join("brickbat-filter.mjs").is_file() && place.join("node_modules/lib").is_dir());
        assert!(!place.join("node_modules/brickbat-adapter").exists());
    }

    /// The manifest for an adapter that has nothing to fetch.
    fn npm(folder: &Path) -> Manifest {
        let manifest =
            own(folder, "install: npm\nfiles: [adapter.mjs]\nkit: 1\ncommand: [node, adapter.mjs]\n");
        std::fs::write(folder.join("adapter.mjs"), "mine").unwrap();
        std::fs::write(folder.join("package.json"), "{}").unwrap();
        manifest
    }

    #[tokio::test]
    async fn a_copied_cache_has_no_links_to_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = npm(folder.path());
        let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        installed(&old, &["lib"]);
        let place = install(&manifest, &old, &tools).await.unwrap().folder;
        std::fs::rename(&old, &new).unwrap();
        let moved = new.join(place.strip_prefix(old.canonicalize().unwrap_or(old)).unwrap());
        assert!(moved.is_dir());
        installed(&new, &["lib"]);
        let place = install(&manifest, &new, &tools).await.unwrap().folder;
        assert_ne!(place, moved.canonicalize().unwrap());
        assert!(place.join("node_modules/lib").is_dir());
    }

    #[tokio::test]
    async fn a_damaged_adapter_in_the_cache_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (manifest, cache) = (npm(folder.path()), folder.path().join("cache"));
        let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
        installed(&cache, &["lib"]);
        let place = install(&manifest, &cache, &tools).await.unwrap().folder;
        std::fs::write(place.join("adapter.mjs"), "").unwrap();
        assert_eq!(install(&manifest, &cache, &tools).await.unwrap().folder, place);
        std::fs::remove_file(place.join("adapter.mjs")).unwrap();
        install(&manifest, &cache, &tools).await.unwrap();
        assert_eq!(std::fs::read_to_string(place.join("adapter.mjs")).unwrap(), "mine");
        assert!(place.join("node_modules/lib").is_dir());
    }

    #[tokio::test]
    async fn the_remains_of_a_killed_installation_are_removed_unless_its_lock_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let (manifest, cache) = (npm(folder.path()), folder.path().join("cache"));
        let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
        let base = dependencies(&cache, Install::Npm, ("package.json", "{}"));
        let systems = base.parent().unwrap();
        let name = base.file_name().unwrap().to_string_lossy();
        let [own, other, busy] = [&*name, "other-1", "busy-1"].map(|base| {
            let part = systems.join(format!("{base}.part-XXXX"));
            std::fs::create_dir_all(part.join("node_modules/half")).unwrap();
            part
        });
        File::create(systems.join("other-1.lock")).unwrap();
        let lock = File::create(systems.join("busy-1.lock")).unwrap();
        lock.try_lock().unwrap();
        installed(&cache, &["lib"]);
        install(&manifest, &cache, &tools).await.unwrap();
        assert_eq!([own, other, busy].map(|part| part.is_dir()), [false, false, true]);
    }

    #[tokio::test]
    async fn the_files_of_a_manifest_are_regular_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let (manifest, cache) = (npm(folder.path()), folder.path().join("cache"));
        let tools = Tools { manifest: &manifest, supervisor: SUPERVISOR.as_ref(), progress: &|_| {} };
        let large = File::create(folder.path().join("large")).unwrap();
        large.set_len(MAX_LOCK + 1).unwrap();
        for (file, of) in [
            ("adapter.mjs", "/dev/zero"),
            ("adapter.mjs", "large"),
            ("package.json", "/dev/zero"),
            ("package.json", "large"),
            ("package-lock.json", "/dev/zero"),
        ] {
            npm(folder.path());
            let path = folder.path().join(file);
            let _ = std::fs::remove_file(&path);
            symlink(folder.path().join(of), &path).unwrap();
            let error = install(&manifest, &cache, &tools).await.err().unwrap().to_string();
            std::fs::remove_file(&path).unwrap();
            let why = if of == "large" { "it has more than" } else { "not a regular file" };
            assert!(
                error.contains(&format!("names {file}, which cannot be read")) && error.contains(why),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn a_folder_of_the_user_without_the_kit_is_not_run_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = own(folder.path(), "install: pip\nkit: 1\ncommand: [.venv/bin/python, a.py]\n");
        let packages = folder.path().join(".venv/lib/python3.11/site-packages");
        std::fs::create_dir_all(&packages).unwrap();
        assert_eq!(in_place(&manifest), None);
        std::fs::create_dir(packages.join("brickbat_adapter")).unwrap();
        assert_eq!(in_place(&manifest).as_deref(), Some(folder.path()));
    }

    #[tokio::test]
    async fn the_error_names_a_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let manifest =
            own(folder.path(), "install: npm\nfiles: [adapter.mjs]\ncommand: [node, adapter.mjs]\n");
        let error =
            launch(&manifest, &folder.path().join("cache"), SUPERVISOR.as_ref(), &|_| {}).await.unwrap_err();
        assert!(error.to_string().contains("names adapter.mjs, which cannot be read"), "{error}");
    }
}
