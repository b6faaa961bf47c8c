"""Renders histories with the chat templates of a folder, as vLLM does, and records the templates that raise.

Usage: ask_templates.py FOLDER HISTORIES VERDICTS

Only distinct templates that call `raise_exception` are used. Each line of VERDICTS has, for every template, null if it renders
the history, or else its error. vLLM rejects wrong types before it renders, so histories with wrong types have no verdicts.
Other differences that do not concern roles or calls are converted as in vLLM: contents become texts, and arguments objects.
"""

import json
import re
import sys
from pathlib import Path

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Raised(TemplateError):
    """An error that a template raises deliberately."""


def raise_exception(message: str) -> None:
    raise Raised(message)


def templates(folder: str) -> dict:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: "2026-09-01"
    found = {}
    for path in sorted(Path(folder).rglob("*.jinja")):
        text = path.read_text(encoding="utf-8")
        is_of_chat = "pooling" not in path.parts
        if is_of_chat and "raise_exception" in text and text not in [known for known, _ in found.values()]:
            found[path.stem] = (text, environment.from_string(text))
    return {name: template for name, (_, template) in found.items()}


def text_of(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text") or "" for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def call_of(call: dict) -> dict:
    return {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}


def message_of(message: dict) -> dict:
    made = {key: value for key, value in message.items() if key in ("role", "name", "tool_call_id")}
    made["content"] = text_of(message.get("content"))
    if calls := message.get("tool_calls"):
        made["tool_calls"] = [call_of(call) for call in calls]
    return made


def tool_of(tool: dict) -> dict:
    return {**tool, "function": {"description": None, **tool["function"]}}


def has_types(message: dict) -> bool:
    calls = message.get("tool_calls") or []
    texts = [call.get("id") for call in calls] + [call["function"]["arguments"] for call in calls]
    return isinstance(message.get("content"), str | list | None) and all(isinstance(text, str | None) for text in texts)


def verdict(template: object, messages: list, tools: list | None) -> dict | None:
    try:
        template.render(
            messages=messages, tools=tools, bos_token="<s>", eos_token="</s>", add_generation_prompt=True
        )
    except Raised as raised:
        # Drop the value after the position.
        return {"kind": re.sub(r"( \(\d\)).*", r"\1", raised.message)}
    except Exception as error:
        # An error that the template does not expect.
        return {"kind": type(error).__name__}
    return None


def main(folder: str, histories: str, verdicts: str) -> None:
    asked = templates(folder)
    with open(histories, encoding="utf-8") as bodies, open(verdicts, "w", encoding="utf-8") as out:
        for line in bodies:
            body = json.loads(line)
            found = {}
            if all(has_types(message) for message in body["messages"]):
                messages = [message_of(message) for message in body["messages"]]
                tools = [tool_of(tool) for tool in body["tools"]] if "tools" in body else None
                found = {name: verdict(template, messages, tools) for name, template in asked.items()}
            out.write(json.dumps(found) + "\n")


main(*sys.argv[1:])
