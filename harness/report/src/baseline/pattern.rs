//! Names of systems in a baseline: without a version, they refer to every version, and without a mode, to
//! every mode.

/// True if a name such as `ai-sdk`, `ai-sdk/ui-messages`, `ai-sdk@6` or `ai-sdk@6.0/ui-messages` refers to a
/// system.
pub fn is_of(name: &str, system: &str) -> bool {
    let of = |text| Parts::of(text);
    let (Parts { name: wanted, version: pin, mode: only }, known) = (of(name), of(system));
    let unpinned = |text: &str| match known.mode {
        // A name without a version may still have a mode.
        Some(mode) => {
            text == known.name
                || text.strip_suffix(mode).is_some_and(|rest| rest.strip_suffix('/') == Some(known.name))
        }
        None => text == known.name,
    };
    match pin {
        None => unpinned(wanted),
        Some(pin) => {
            wanted == known.name
                && known.version.is_some_and(|version| begins(version, pin))
                && only.is_none_or(|mode| known.mode == Some(mode))
        }
    }
}

/// The parts of a name: `ai-sdk`, `6.0.326`, `ui-messages`. Without a version, all of it is the name.
pub(super) struct Parts<'a> {
    pub(super) name: &'a str,
    pub(super) version: Option<&'a str>,
    pub(super) mode: Option<&'a str>,
}

impl Parts<'_> {
    pub(super) fn of(text: &str) -> Parts<'_> {
        // The `@` of a scope, as in `@scope/package`, does not begin a version.
        let at = text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
        let Some(at) = at else { return Parts { name: text, version: None, mode: None } };
        let rest = &text[at + 1..];
        let (version, mode) =
            rest.split_once('/').map_or((rest, None), |(version, mode)| (version, Some(mode)));
        Parts { name: &text[..at], version: Some(version), mode }
    }
}

/// True if a version begins with the numbers of another: `6.0.326` begins with `6` and `6.0`, but not with
/// `6.0.3`.
fn begins(version: &str, with: &str) -> bool {
    version.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_version_or_mode_means_all_of_them() {
        let system = "ai-sdk@6.0.326/ui-messages";
        for name in
            ["ai-sdk", "ai-sdk/ui-messages", "ai-sdk@6", "ai-sdk@6.0/ui-messages", "ai-sdk@6.0.326", system]
        {
            assert!(is_of(name, system), "{name}");
        }
        for name in
            ["ai", "ai-sdk/ui", "ai-sdk@7", "ai-sdk@6.0.3", "ai-sdk@6/ui", "ai-sdk/ui-messages-clean", "*"]
        {
            assert!(!is_of(name, system), "{name}");
        }
    }

    #[test]
    fn a_name_means_a_system_without_a_version() {
        let system = "canary/dangling-on-abort/acp";
        assert!(is_of(system, system) && !is_of("canary/dangling-on-abort", system));
        let scoped = "@scope/package@1.2.0/mode";
        assert!(
            is_of("@scope/package", scoped)
                && is_of("@scope/package/mode", scoped)
                && is_of("@scope/package@1", scoped)
        );
    }
}
