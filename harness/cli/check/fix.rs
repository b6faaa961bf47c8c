//! `brickbat check --fix`: the smallest edit after which a provider accepts a request.

use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::super::error::{BAD_INPUT, CliError, Outcome};
use super::super::output::{print, tell};
use super::super::private;
use super::super::requests::Inputs;
use super::super::stored;
use brickbat_rules::check::{CheckOptions, Strictness};
use brickbat_rules::{Dialect, Profile, detect, profile_for};
use brickbat_sessions::{self as sessions, Files, Mended, Repair, RepairOptions, report};

/// What is done with the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fix {
    /// A copy is written next to the file.
    Write,
    /// It is shown as a unified diff, with the content around it.
    Diff,
}

/// Fixes each file that holds one request body, or one list of messages.
pub(super) fn fix(inputs: &Inputs, options: &CheckOptions, fix: Fix) -> Outcome {
    let mut code = 0;
    for input in &inputs.files {
        let fixed = match stored::open(Path::new(&input.path)) {
            Ok(files) => one(&input.path, Files::one(files.name(), files.main()), options, fix),
            Err(words) => Err(CliError::input(words)),
        };
        code = code.max(fixed.unwrap_or_else(|error| error.report()));
    }
    match inputs.files.is_empty() {
        true => Err(CliError::input("no request to fix")),
        false => Ok(code),
    }
}

fn one(path: &str, files: Files, options: &CheckOptions, fix: Fix) -> Outcome {
    let dialect = options.dialect.or_else(|| detect(files.main())).ok_or_else(|| {
        CliError::input(format!("{path} is not one request that shows its dialect\nhint: --dialect names it"))
    })?;
    let profile = profile(dialect, options)?;
    let terms = RepairOptions {
        profile: Some(profile),
        model: None,
        body: Some(dialect),
        tail: true,
        truncate: false,
    };
    match sessions::repair(&files, 0, &terms) {
        Ok(Repair::Healthy(_)) => {
            tell(format!("{path}: accepted by {}", profile.name));
            Ok(0)
        }
        Ok(Repair::Mended(mended)) => keep(path, &files, &mended, fix),
        Ok(Repair::Beyond(beyond)) => {
            tell(format!("{path}: {}", beyond.why));
            Ok(1)
        }
        Err(error) => {
            tell(format!("error: {path}: {error}"));
            Ok(BAD_INPUT)
        }
    }
}

/// The one profile that judges. A fix is for one provider, not for a union.
fn profile(dialect: Dialect, options: &CheckOptions) -> Result<&'static Profile, CliError> {
    match options.strictness {
        Strictness::Profile(profile) => Ok(profile),
        Strictness::Union => Err(CliError::input("--fix needs one provider, and --profile names a union")),
        Strictness::Newest if options.address.host.is_empty() => Ok(Profile::newest(dialect)),
        Strictness::Newest => {
            profile_for(dialect, &options.address.host, options.model.as_deref().unwrap_or_default())
                .ok_or_else(|| {
                    CliError::input(format!("no profile known for {dialect} at {}", options.address.host))
                })
        }
    }
}

fn keep(path: &str, before: &Files, mended: &Mended, fix: Fix) -> Outcome {
    if fix == Fix::Diff {
        let (old, new) =
            (String::from_utf8_lossy(before.main()), String::from_utf8_lossy(mended.files.main()));
        let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
        print(&diff.unified_diff().header(path, path).to_string());
        return Ok(0);
    }
    print(&format!("{path}: {}", report::repaired(mended)));
    let out = fixed_name(Path::new(path));
    private::write_new_like(Path::new(path), &out, mended.files.main())
        .map_err(|error| CliError::cannot_write_new(&out, error, "move it away, or remove it"))?;
    print(&format!("wrote {}; the original is as it was.\n", out.display()));
    Ok(0)
}

/// `request.json` becomes `request.fixed.json`.
fn fixed_name(path: &Path) -> PathBuf {
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{stem}.fixed{ending}"))
}
