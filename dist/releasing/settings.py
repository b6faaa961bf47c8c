"""The tokens and programs that the uploads need. Only a person can set the tokens."""

import os
import shutil

# A job of GitHub with the permission `id-token: write` has it. npm and PyPI accept the job's identity instead of a token.
IDENTITY = "ACTIONS_ID_TOKEN_REQUEST_URL"
PAGE = "docs/src/reference/release.md"

# The step, its token, whether the identity of a job replaces the token, the program, and where a person gets the token.
NEEDED = {
    "crates": ("CARGO_REGISTRY_TOKEN", False, "cargo", "https://crates.io/settings/tokens"),
    "npm": ("NODE_AUTH_TOKEN", True, "npm", "https://www.npmjs.com/settings/USER/tokens, or a trusted publisher for each package"),
    "pypi": ("TWINE_PASSWORD", True, "python3", "https://pypi.org/manage/account/token/, or a trusted publisher for each project"),
    "github": ("GH_TOKEN", False, "gh", "a token for the repository with `contents: write`"),
    "container": ("GH_TOKEN", False, "docker", "a token with `packages: write`"),
    "action": ("GH_TOKEN", False, "gh", "a token for the repository with `contents: write`"),
    "homebrew": ("HOMEBREW_TAP_TOKEN", False, "gh", "a token for the repository homebrew-tap with `contents: write`"),
}


def drop_empty():
    """Removes empty tokens: a workflow sets them if a secret is missing, and npm then ignores the identity of the job."""
    for token, *_ in NEEDED.values():
        if os.environ.get(token) == "":
            del os.environ[token]


def drop_tokens():
    """Removes all tokens, so that no mistake can turn a dry run into a release."""
    for name in os.environ.keys() - without_tokens().keys():
        del os.environ[name]


def without_tokens():
    """The environment for commands that run the code of others, such as the build scripts of dependencies."""
    secret = {token for token, *_ in NEEDED.values()} | {IDENTITY, "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "GITHUB_TOKEN"}
    return {name: value for name, value in os.environ.items() if name not in secret}


def missing(steps):
    """Lists the settings that the steps lack."""
    lines = []
    for step in steps:
        token, or_identity, program, origin = NEEDED[step]
        if token not in os.environ and not (or_identity and IDENTITY in os.environ):
            lines.append(f"{step}: the environment variable {token}: {origin}")
        if shutil.which(program) is None:
            lines.append(f"{step}: the program {program}")
    return lines
