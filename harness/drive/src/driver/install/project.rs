//! A working tree under test: the user's own, in any version.
//!
//! It is linked rather than copied, so that changes are tested without another installation. It is installed
//! again only when its dependencies may have changed.

use std::path::{Path, PathBuf};

use super::super::error::DriverError;
use super::super::file_source;
use super::super::manifest::{FileSource, Install, Manifest};
use super::{AdapterFile, MAX_LOCK, symlink};

/// The parts of a working tree that decide what is installed.
#[derive(Debug, Hash)]
pub(super) struct Project {
    /// The manifest's folder, to which the paths in `requirements.txt` are relative.
    pub(super) folder: PathBuf,
    /// The tree that the manifest names. `None` if only `requirements.txt` names one.
    pub(super) tree: Option<PathBuf>,
    /// The files that list its dependencies.
    depends: Vec<AdapterFile>,
}

/// The files in which a project lists its dependencies.
const DEPENDENCY_FILES: [&str; 5] =
    ["pyproject.toml", "setup.py", "setup.cfg", "package.json", "package-lock.json"];

impl Project {
    /// The working tree of a manifest. `None` if everything comes from a registry. `named` are the files that
    /// list the dependencies.
    pub(super) fn of(manifest: &Manifest, named: &[AdapterFile]) -> Result<Option<Project>, DriverError> {
        let FileSource::Folder(folder) = &manifest.place else { return Ok(None) };
        let requirements = named.iter().filter(|_| manifest.install == Install::Pip);
        let mut trees: Vec<PathBuf> =
            requirements.flat_map(|(_, text)| local_lines(text)).map(|path| folder.join(path)).collect();
        if manifest.project.is_none() && trees.is_empty() {
            return Ok(None);
        }
        let tree = match &manifest.project {
            Some(project) => Some(std::fs::canonicalize(project).map_err(|error| DriverError::Misfit {
                what: format!(
                    "`project` of its manifest names {}, which cannot be read ({error}); correct the path",
                    project.display()
                ),
            })?),
            None => None,
        };
        trees.extend(tree.clone());
        let read = |path: PathBuf| {
            let text =
                file_source::read_if_there(&path, MAX_LOCK).map_err(|error| super::failed(&path, error));
            text.map(|text| Some((path.to_string_lossy().into_owned(), text?))).transpose()
        };
        let depends = trees.iter().flat_map(|tree| DEPENDENCY_FILES.map(|name| tree.join(name)));
        let depends = depends.filter_map(read).collect::<Result<_, _>>()?;
        Ok(Some(Project { folder: folder.clone(), tree, depends }))
    }

    /// Links an npm working tree into the `node_modules` of a folder, under the name in its `package.json`.
    /// It has its own `node_modules`.
    pub(super) fn link(&self, folder: &Path) -> Result<(), DriverError> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let failed = |path: &Path, error: std::io::Error| super::failed(path, error);
        let path = tree.join("package.json");
        let text = file_source::read(&path, MAX_LOCK).map_err(|error| failed(&path, error))?;
        let name = serde_json::from_str::<serde_json::Value>(&text)
            .ok()
            .and_then(|package| package.get("name")?.as_str().map(str::to_owned))
            .filter(|name| is_package_name(name))
            .ok_or_else(|| DriverError::install(path.display().to_string(), "it does not name a package"))?;
        let link = folder.join("node_modules").join(name);
        if let Ok(found) = link.symlink_metadata() {
            let remove = if found.is_dir() { std::fs::remove_dir_all } else { std::fs::remove_file };
            remove(&link).map_err(|error| failed(&link, error))?;
        }
        let around = link.parent().unwrap_or(folder);
        std::fs::create_dir_all(around).map_err(|error| failed(around, error))?;
        symlink(tree, &link).map_err(|error| failed(&link, error))
    }
}

/// The folders that lines of `requirements.txt` such as `-e ..` name.
fn local_lines(requirements: &str) -> impl Iterator<Item = &str> {
    requirements.lines().filter_map(|line| {
        let line = line.trim();
        let path =
            line.strip_prefix("-e ").or_else(|| line.strip_prefix("--editable ")).unwrap_or(line).trim();
        let path = path.split(['[', ' ', ';']).next().unwrap_or(path);
        (path.starts_with('.') || path.starts_with('/')).then_some(path)
    })
}

/// True if a name identifies one folder below `node_modules`: `name` or `@scope/name`.
fn is_package_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_letter)
    };
    match name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, own)) => is_part(scope) && is_part(own),
        None => is_part(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_name_a_folder_are_found() {
        let text = "anyio==4.1 \\\n    --hash=sha256:0\n-e ..\n--editable ../lib[extra]\n./wheels/a.whl\nhttpx\n# -e x\n";
        assert_eq!(local_lines(text).collect::<Vec<_>>(), ["..", "../lib", "./wheels/a.whl"]);
    }

    #[test]
    fn a_linked_npm_tree_replaces_the_package_from_the_registry() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, cache) = (folder.path().join("tree"), folder.path().join("cache"));
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::create_dir_all(cache.join("node_modules/@me/lib")).unwrap();
        std::fs::write(cache.join("node_modules/@me/lib/old.js"), "").unwrap();
        std::fs::write(tree.join("package.json"), r#"{"name": "@me/lib"}"#).unwrap();
        let project =
            |tree: PathBuf| Project { folder: cache.clone(), tree: Some(tree), depends: Vec::new() };
        for _ in 0..2 {
            project(tree.clone()).link(&cache).unwrap();
            let link = cache.join("node_modules/@me/lib");
            assert_eq!(std::fs::read_link(&link).unwrap(), tree);
            assert!(!link.join("old.js").exists());
        }
        std::fs::write(tree.join("package.json"), r#"{"name": "../lib"}"#).unwrap();
        let error = project(tree).link(&cache).unwrap_err();
        assert!(error.to_string().contains("it does not name a package"), "{error}");
    }

    #[test]
    fn a_package_name_cannot_leave_node_modules() {
        assert!(is_package_name("tiny-agent") && is_package_name("@me/tiny.agent"));
        for name in ["", "..", "../x", "@me/../x", "a/b", "@/x", ".bin"] {
            assert!(!is_package_name(name), "{name}");
        }
    }
}
