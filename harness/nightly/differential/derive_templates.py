"""Derives which conversations a model's chat template rejects, by rendering probes with it.

Usage: derive_templates.py FOLDER VERSION TABLE [--check]

FOLDER has the chat templates that llama.cpp ships, each named after its model (`models/templates` in the source of
llama-cpp-python VERSION). TABLE is the Rust table that the rules read. With `--check`, it is compared
and not written. Only deliberate errors (`raise_exception`) count; a template that fails on a probe in another way, or that
rejects the plain conversation, says nothing. Ollama's templates are written in Go and have no way to reject, so they are not
asked.
"""

import json
import sys
from pathlib import Path

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Raised(TemplateError):
    """An error that a template raises deliberately."""


def raise_exception(message: str) -> None:
    raise Raised(message)


def user(text: str = "hi") -> dict:
    return {"role": "user", "content": text}


def reply(text: str = "hello") -> dict:
    return {"role": "assistant", "content": text}


PLAIN = [user(), reply(), user("bye")]

# The probes, by the name of the variant of `Probe` in the rules.
PROBES = {
    "SuccessiveUsers": [user(), user("are you there?")],
    "SuccessiveReplies": [user(), reply(), reply("again"), user("bye")],
    "NoUser": [{"role": "system", "content": "Be brief."}, reply()],
}


def environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    made.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: "2026-11-01"
    return made


def error(template: object, messages: list) -> str | None:
    """The text that the template raises for these messages."""
    try:
        template.render(messages=messages, tools=None, bos_token="<s>", eos_token="</s>", add_generation_prompt=True)
    except Raised as raised:
        return " ".join(raised.message.split())
    except Exception:
        return None
    return None


def renders(template: object, messages: list) -> bool:
    try:
        template.render(messages=messages, tools=None, bos_token="<s>", eos_token="</s>", add_generation_prompt=True)
    except Exception:
        return False
    return True


def derived(folder: str) -> tuple[list[tuple[str, dict]], int]:
    made, found, n_asked = environment(), [], 0
    for path in sorted(Path(folder).rglob("*.jinja"), key=lambda path: path.stem.lower()):
        try:
            template = made.from_string(path.read_text(encoding="utf-8"))
        except TemplateError:
            # A tag that only another library knows.
            continue
        if not renders(template, PLAIN):
            continue
        n_asked += 1
        errors = {name: text for name, probe in PROBES.items() if (text := error(template, probe))}
        if errors:
            found.append((path.stem.lower(), errors))
    return found, n_asked


def table(folder: str, version: str) -> str:
    found, n_asked = derived(folder)
    lines = [
        "//! Which conversations the chat templates of models reject, derived by rendering them.",
        "//!",
        f"//! The templates are in llama_cpp_python {version} (`vendor/llama.cpp/models/templates`). {n_asked} of them were asked,",
        "//! and those that are not listed render every probe. `harness/nightly/differential/derive_templates.py` writes this",
        "//! file. Do not edit it.",
        "",
        "use super::template::{Probe, Template};",
        "",
        "#[rustfmt::skip]",
        "pub(super) static TEMPLATES: &[Template] = &[",
    ]
    for name, errors in found:
        rejects = ", ".join(f"(Probe::{probe}, {json.dumps(text, ensure_ascii=False)})" for probe, text in errors.items())
        lines.append(f'    Template {{ model: "{name}", rejects: &[{rejects}] }},')
    return "\n".join([*lines, "];", ""])


def main(folder: str, version: str, path: str, *check: str) -> None:
    made, kept = table(folder, version), Path(path)
    if not check:
        kept.write_text(made, encoding="utf-8")
    elif kept.read_text(encoding="utf-8") != made:
        sys.exit(f"{path} differs from what the templates of {version} reject; write it again without --check")
    print(made.count("Template {"), "templates reject a probe")


main(*sys.argv[1:])
