"""Sends each new feature of the providers' APIs with the newest SDKs to the strict provider, which has to accept it.

Usage: features.py BRICKBAT PAGE

PAGE is `docs/src/reference/features.md`. The SDK sends the request over a socket to `brickbat serve`, after its own types for
parameters have accepted the history. Each feature on the page that Brickbat knows needs a request here. A last request of
each SDK is broken, and has to be rejected.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anthropic
import botocore.config
import botocore.exceptions
import botocore.session
import openai
from anthropic.types.beta import BetaMessageParam
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials
from jsonschema import Draft202012Validator
from openai.types.beta import BetaResponseInputItemParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

SAID = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "content": [{"type": "output_text", "text": "x", "annotations": []}],
}
USER = {"role": "user", "content": "a"}
NEXT = {"role": "user", "content": "b"}
FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False}
CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "x"}
PROGRAM = {"caller": {"type": "program", "caller_id": "call_p"}}
CONTAINER = {"type": "code_execution_20260120", "name": "code_execution"}
QUERY = {"name": "query", "input_schema": {"type": "object"}}
USE = {"type": "tool_use", "id": "toolu_1", "name": "query", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}
INLINE = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {**QUERY, "description": "d"}}}
COMPACTED = {"type": "compaction", "content": "Summary", "signature": "sig"}


def reply(*blocks: dict) -> list[dict]:
    return [USER, {"role": "assistant", "content": list(blocks)}]


def text(words: str) -> dict:
    return {"type": "text", "text": words}


# The input, and the other parameters.
OPENAI: dict[str, tuple[list[dict], dict]] = {
    "async tool calls": ([USER, {**CALL, "async": True}, NEXT, OUTPUT], {"tools": [{**FUNCTION, "async": True}]}),
    "configuration updates": ([USER, {"type": "configuration_update", "reasoning": {"effort": "high"}}, NEXT], {}),
    "programmatic tool calls": (
        [
            USER,
            {"type": "program", "id": "prog_1", "call_id": "call_p", "code": "1", "fingerprint": "fp"},
            {**CALL, **PROGRAM},
            {**OUTPUT, **PROGRAM},
            {"type": "program_output", "id": "progo_1", "call_id": "call_p", "result": "1", "status": "completed"},
            SAID,
            NEXT,
        ],
        {"tools": [FUNCTION]},
    ),
    "additional tools": ([USER, {"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}, CALL, OUTPUT], {}),
    "tool search": (
        [
            USER,
            {"type": "tool_search_call", "call_id": "call_s", "execution": "client", "arguments": {}},
            {"type": "tool_search_output", "call_id": "call_s", "execution": "client", "tools": [FUNCTION]},
            CALL,
            OUTPUT,
            NEXT,
        ],
        {},
    ),
    "phases of messages": ([USER, {**SAID, "phase": "commentary"}, CALL, OUTPUT], {"tools": [FUNCTION]}),
    "compaction": ([{"type": "compaction", "encrypted_content": "gAAAAABo"}, NEXT], {}),
    "custom tools": (
        [
            USER,
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "c", "input": "raw"},
            {"type": "custom_tool_call_output", "call_id": "call_1", "output": "x"},
            NEXT,
        ],
        {"tools": [{"type": "custom", "name": "c"}]},
    ),
    "hosted MCP with approvals": (
        [
            USER,
            {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
            {"type": "mcp_approval_request", "id": "mcpr_1", "name": "t", "arguments": "{}", "server_label": "s"},
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        ],
        {"tools": [{"type": "mcp", "server_label": "s", "server_url": "https://example.org/mcp"}]},
    ),
    "background mode": ([USER], {"background": True}),
    "conversations": ([OUTPUT, NEXT], {"conversation": "conv_1"}),
}

HOSTED_AGENTS = {"call_id": "call_1", "action": "spawn_agent"}
OPENAI_BETA: dict[str, list[dict]] = {
    "hosted agents": [
        USER,
        {"type": "multi_agent_call", **HOSTED_AGENTS, "arguments": "{}"},
        {"type": "multi_agent_call_output", **HOSTED_AGENTS, "output": [{"type": "output_text", "text": "x"}]},
        NEXT,
    ]
}

ANTHROPIC: dict[str, tuple[list[dict], dict]] = {
    "API version 2026-10-21": (
        [
            {
                "role": "user",
                "content": [
                    {
                        "type": "search_result",
                        "source": "s",
                        "title": "t",
                        "content": [text("x")],
                        "citations": {"enabled": True},
                    }
                ],
            }
        ],
        {"extra_headers": {"anthropic-version": "2026-10-21"}},
    ),
    "inline tools": (
        [
            USER,
            {"role": "system", "content": [INLINE]},
            {"role": "assistant", "content": [USE]},
            RESULT,
        ],
        {},
    ),
    "listings of MCP tools": (
        [*reply({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}, text("x")), NEXT],
        {"mcp_servers": [{"type": "url", "name": "s", "url": "https://example.org/mcp"}]},
    ),
    "compaction on demand": ([*reply(text("x")), NEXT, *reply(text("y"))[1:]], {"compaction": {"type": "summarize"}}),
    "bound thinking": (
        [*reply({"type": "thinking", "thinking": "", "signature": "Eo"}, text("x")), NEXT],
        {"thinking": {"type": "adaptive"}},
    ),
    "state of the browser": (
        [
            *reply({**USE, "name": "click", "toolset_name": "browser"}),
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "browser_state", "tabs": []}]}
                ],
            },
        ],
        {},
    ),
    "addition and removal of tools": (
        [
            USER,
            {"role": "system", "content": [{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "query"}}]},
            {"role": "assistant", "content": [USE]},
            RESULT,
            {"role": "system", "content": [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "query"}}]},
            {"role": "assistant", "content": "x"},
            NEXT,
        ],
        {"tools": [QUERY]},
    ),
    "message threads": (
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01A", "content": "x"}]}],
        {"thread": {"type": "continue", "previous_message_id": "msg_1"}},
    ),
    "effort in a system message": (
        [USER, {"role": "assistant", "content": "x"}, NEXT, {"role": "system", "content": [], "output_config": {"effort": "high"}}],
        {},
    ),
    "fallback credit": (
        [USER, {"role": "assistant", "content": [text("x")]}],
        {"fallback_credit_token": "fct_1"},
    ),
    "fallback models": (
        [
            *reply(
                {"type": "fallback", "from": {"model": "claude-fable-5"}, "to": {"model": "claude-opus-4-8"}}, text("x")
            ),
            NEXT,
        ],
        {},
    ),
    "system messages in the conversation": ([USER, {"role": "system", "content": "s"}], {}),
    "advisor": (
        [
            *reply(
                text("x"),
                {"type": "server_tool_use", "id": "srvtoolu_01C", "name": "advisor", "input": {}},
                {
                    "type": "advisor_tool_result",
                    "tool_use_id": "srvtoolu_01C",
                    "content": {"type": "advisor_result", "text": "y"},
                },
            ),
            NEXT,
        ],
        {"tools": [{"type": "advisor_20260301", "name": "advisor", "model": "claude-opus-5-5"}]},
    ),
    "compaction at a threshold": (
        [*reply(COMPACTED, text("x")), NEXT],
        {"context_management": {"edits": [{"type": "compact_20260112"}]}},
    ),
    "programmatic tool calls": (
        [
            *reply(
                {"type": "server_tool_use", "id": "srvtoolu_01A", "name": "code_execution", "input": {"code": "x"}},
                {**USE, "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_01A"}},
            ),
            RESULT,
        ],
        {"container": "container_1", "tools": [CONTAINER, {**QUERY, "allowed_callers": ["code_execution_20260120"]}]},
    ),
    "tool search": (
        [
            *reply(
                {"type": "server_tool_use", "id": "srvtoolu_01B", "name": "tool_search_tool_regex", "input": {"query": "q"}},
                {
                    "type": "tool_search_tool_result",
                    "tool_use_id": "srvtoolu_01B",
                    "content": {
                        "type": "tool_search_tool_search_result",
                        "tool_references": [{"type": "tool_reference", "tool_name": "query"}],
                    },
                },
                USE,
            ),
            RESULT,
        ],
        {
            "tools": [
                {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
                {**QUERY, "defer_loading": True},
            ]
        },
    ),
}

SIGNATURE = {"thought_signature": b"\x00"}
ASKED = {"role": "user", "parts": [{"text": "a"}]}
CALLED = {"role": "model", "parts": [{"function_call": {"name": "f", "id": "c1", "args": {}}, **SIGNATURE}]}
ANSWERED = {"role": "user", "parts": [{"function_response": {"name": "f", "id": "c1", "response": {"a": 1}}}]}

GOOGLE: dict[str, list[dict]] = {
    "tools of the provider": [
        ASKED,
        {
            "role": "model",
            "parts": [
                {"tool_call": {"tool_type": "GOOGLE_SEARCH_WEB", "id": "t1", "args": {}}, **SIGNATURE},
                {"tool_response": {"tool_type": "GOOGLE_SEARCH_WEB", "id": "t1", "response": {}}},
                {"text": "x"},
            ],
        },
        ASKED,
    ],
    "code execution with ids": [
        ASKED,
        {
            "role": "model",
            "parts": [
                {"executable_code": {"language": "PYTHON", "code": "1", "id": "ec1"}, **SIGNATURE},
                {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1", "id": "ec1"}},
                {"text": "x"},
            ],
        },
        ASKED,
    ],
    "arguments in pieces": [
        ASKED,
        {
            "role": "model",
            "parts": [
                {
                    "function_call": {
                        "name": "f",
                        "id": "c1",
                        "partial_args": [{"json_path": "$.a", "string_value": "x"}],
                        "will_continue": False,
                    },
                    **SIGNATURE,
                }
            ],
        },
        ANSWERED,
    ],
    "parts of a function's response": [
        ASKED,
        CALLED,
        {
            "role": "user",
            "parts": [
                {
                    "function_response": {
                        "name": "f",
                        "id": "c1",
                        "response": {},
                        "parts": [{"inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}}],
                    }
                }
            ],
        },
    ],
}

AMAZON: dict[str, list[dict]] = {
    "system tools": [
        {"role": "user", "content": [{"text": "a"}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "t1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}},
                {
                    "toolResult": {
                        "toolUseId": "t1",
                        "type": "nova_grounding_result",
                        "content": [{"json": {}}],
                        "status": "success",
                    }
                },
                {"text": "x"},
            ],
        },
        {"role": "user", "content": [{"text": "b"}]},
    ]
}


UNANSWERED = [
    {"role": "user", "content": [{"text": "a"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]},
]


def described(of: object) -> Callable[[list], None]:
    """Asks the SDK's types for parameters."""
    validator = Draft202012Validator(TypeAdapter(list[of]).json_schema())

    def ask(items: list) -> None:
        for error in validator.iter_errors(items):
            raise TypeError(f"the SDK's types do not describe {error.instance}")

    return ask


def to_openai(url: str) -> Callable[[list, dict], None]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)
    describe = described(ResponseInputItemParam)

    def send(items: list, others: dict) -> None:
        describe(items)
        client.responses.create(model="gpt-6-astra", input=items, **others)

    return send


def to_openai_beta(url: str) -> Callable[[list], None]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)
    describe = described(BetaResponseInputItemParam)

    def send(items: list) -> None:
        describe(items)
        client.beta.responses.create(model="gpt-6-astra", input=items, betas=["responses_multi_agent=v1"])

    return send


def steered(url: str) -> None:
    """A response that was steered is continued with the outputs that the client has saved."""
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)
    first = client.responses.create(model="gpt-6-astra", input=[USER], tools=[FUNCTION])
    calls = [item.call_id for item in first.output if item.type == "function_call"]
    if not calls:
        raise TypeError("the strict provider called no function")
    outputs = [{**OUTPUT, "call_id": call} for call in calls]
    client.responses.create(model="gpt-6-astra", input=[*outputs, NEXT], previous_response_id=first.id, tools=[FUNCTION])


def to_anthropic(url: str) -> Callable[[list, dict], None]:
    client = anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)
    describe = described(BetaMessageParam)

    def send(messages: list, others: dict) -> None:
        describe(messages)
        client.beta.messages.create(model="claude-opus-5-5", max_tokens=100, messages=messages, **others)

    return send


def to_google(url: str) -> Callable[[list], None]:
    options = types.HttpOptions(base_url=url)
    client = genai.Client(api_key="x", http_options=options)
    # Only its other platform takes arguments in pieces.
    platform = genai.Client(
        vertexai=True, project="p", location="l", credentials=Credentials("x"), http_options=options
    )
    config = types.GenerateContentConfig(tools=[{"function_declarations": [{"name": "f"}]}])

    def send(contents: list) -> None:
        chosen = platform if "partial_args" in str(contents) else client
        chosen.models.generate_content(model="gemini-3.6-flash", contents=contents, config=config)

    return send


def to_amazon(url: str) -> Callable[[list], None]:
    session = botocore.session.get_session()
    session.set_credentials("x", "y")
    config = botocore.config.Config(retries={"total_max_attempts": 1})
    client = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config)
    tools = {"tools": [{"systemTool": {"name": "nova_grounding"}}]}

    def send(messages: list) -> None:
        client.converse(modelId="us.amazon.nova-2-lite-v1:0", messages=messages, toolConfig=tools)

    return send


REJECTED = (openai.BadRequestError, anthropic.BadRequestError, errors.ClientError, botocore.exceptions.ClientError)


def requests(url: str) -> tuple[dict[tuple[str, str], Callable[[], object]], dict[str, Callable[[], object]]]:
    """What sends each feature, and what sends a broken request of each provider."""
    responses, beta, messages = to_openai(url), to_openai_beta(url), to_anthropic(url)
    generate, converse = to_google(url), to_amazon(url)
    sound: dict[tuple[str, str], Callable[[], object]] = {}
    sound |= {("OpenAI", name): (lambda row=row: responses(*row)) for name, row in OPENAI.items()}
    sound |= {("OpenAI", name): (lambda row=row: beta(row)) for name, row in OPENAI_BETA.items()}
    sound["OpenAI", "steering of a running response"] = lambda: steered(url)
    sound |= {("Anthropic", name): (lambda row=row: messages(*row)) for name, row in ANTHROPIC.items()}
    sound |= {("Google", name): (lambda row=row: generate(row)) for name, row in GOOGLE.items()}
    sound |= {("Amazon", name): (lambda row=row: converse(row)) for name, row in AMAZON.items()}
    broken = {
        "OpenAI": lambda: responses([USER, CALL, NEXT], {}),
        "Anthropic": lambda: messages([*reply(USE), NEXT], {"tools": [QUERY]}),
        "Google": lambda: generate([ASKED, CALLED, ASKED]),
        "Amazon": lambda: converse([*UNANSWERED, UNANSWERED[0]]),
    }
    return sound, broken


def known(page: str) -> set[tuple[str, str]]:
    """The features on the page that Brickbat knows, with their providers."""
    provider, found = "", set()
    for line in Path(page).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            provider = line[3:]
        cells = [cell.strip() for cell in line.split(" | ")]
        name = re.match(r"\| \[(.+?)\]\(", line)
        if name and cells[3] != "not yet":
            found.add((provider, name[1]))
    return found


def main(program: str, page: str) -> None:
    with subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as served:
        try:
            url = next(found[0] for line in served.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line.decode())))
            failures = ask(url, known(page))
        finally:
            served.kill()
    print(*failures or ["every feature is accepted, and every broken request is rejected"], sep="\n")
    sys.exit(1 if failures else 0)


def ask(url: str, wanted: set[tuple[str, str]]) -> list[str]:
    sound, broken = requests(url)
    failures = [f"{': '.join(name)}: no request here" for name in sorted(wanted - sound.keys())]
    failures += [f"{': '.join(name)}: not on the page" for name in sorted(sound.keys() - wanted)]
    for name, send in sound.items():
        try:
            send()
            print(": ".join(name), "accepted")
        except (*REJECTED, TypeError, ValueError) as error:
            failures.append(f"{': '.join(name)}: {error}")
    for provider, send in broken.items():
        try:
            send()
            failures.append(f"{provider}: a broken request is accepted")
        except REJECTED:
            print(provider, "broken request rejected")
    return failures


main(*sys.argv[1:])
