"""Repairs the sessions of the corpus, and has the library that wrote each of them read the repaired copy.

    python3 readers.py PROGRAM CORPUS CACHE [PRODUCTS…]

PROGRAM is `brickbat`, CORPUS the folder of sessions, CACHE the folder of installed systems, and PRODUCTS all of them. A library that is not
installed there is named, and not counted.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

# For each product: the system that has its library, and the program that reads the file named by `path`.
READERS = {
    "agno": (
        "agno",
        "from agno.run.agent import RunOutput\nassert all(RunOutput.from_dict(run).messages for run in load()['runs'])",
    ),
    "autogen": (
        "autogen",
        "import asyncio\n"
        "from autogen_core.model_context import UnboundedChatCompletionContext\n"
        "context = UnboundedChatCompletionContext()\n"
        "asyncio.run(context.load_state(load()['llm_context']))\n"
        "assert asyncio.run(context.get_messages())",
    ),
    "haystack": ("haystack", "from haystack.dataclasses import ChatMessage\nassert [ChatMessage.from_dict(m) for m in load()]"),
    "langchain": (
        "langgraph-python",
        "from langchain_core.messages import messages_from_dict\n"
        "read = load()\nassert messages_from_dict(read if isinstance(read, list) else read['messages'])",
    ),
    "langgraph": (
        "langgraph-python",
        "import sqlite3\n"
        "from langgraph.checkpoint.sqlite import SqliteSaver\n"
        "saver = SqliteSaver(sqlite3.connect(path))\n"
        "rows = saver.conn.execute('SELECT type, checkpoint FROM checkpoints').fetchall()\n"
        "found = [saver.serde.loads_typed(row)['channel_values'].get('messages') for row in rows]\n"
        "assert any(found) and all(hasattr(m, 'content') for messages in found for m in messages or [])",
    ),
    "langgraph-state": (
        "langgraph-python",
        "from langchain_core.messages import convert_to_messages\n"
        "assert convert_to_messages(load()['values']['messages'])",
    ),
    "openai-agents": (
        "openai-agents-python",
        "import asyncio, sqlite3\n"
        "from agents import SQLiteSession\n"
        "ids = [row[0] for row in sqlite3.connect(path).execute('SELECT DISTINCT session_id FROM agent_messages')]\n"
        "assert ids\n"
        "for id in ids: assert asyncio.run(SQLiteSession(id, path).get_items())",
    ),
    "pydantic-ai": (
        "pydantic-ai",
        "from pydantic_ai.messages import ModelMessagesTypeAdapter\n"
        "assert ModelMessagesTypeAdapter.validate_json(open(path, 'rb').read())",
    ),
    "semantic-kernel": (
        "semantic-kernel",
        "from semantic_kernel.contents import ChatHistory\nassert ChatHistory.restore_chat_history(open(path).read()).messages",
    ),
    "tunacode": (
        "tunacode",
        "from pydantic_ai.messages import ModelMessagesTypeAdapter\n"
        "assert ModelMessagesTypeAdapter.validate_python(load()['messages'])",
    ),
    "cline": (
        "anthropic-sdk-python",
        "from anthropic.types import MessageParam\nfrom pydantic import TypeAdapter\n"
        "assert TypeAdapter(list[MessageParam]).validate_python([{k: m[k] for k in ('role', 'content')} for m in load()])",
    ),
}
CHAT = (
    "from openai.types.chat import ChatCompletionMessageParam\nfrom pydantic import TypeAdapter\n"
    "rows = [row for row in lines() if not str(row['role']).startswith('_')]\n"
    "assert TypeAdapter(list[ChatCompletionMessageParam]).validate_python(rows)"
)
# Products in other languages that store the messages of the OpenAI SDK: its types read them.
READERS |= {"kimi": ("openai-agents-python", CHAT), "message-lines": ("openai-agents-python", CHAT)}

PRELUDE = """import json, sys
path = sys.argv[1]
load = lambda: json.load(open(path))
lines = lambda: [json.loads(line) for line in open(path) if line.strip()]
"""

program, corpus, cache = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])


def python_of(system):
    """The Python of a system in the cache."""
    found = sorted((cache / "systems").glob(f"{system}-*/.venv/bin/python"))
    return next((python for python in found if python.parents[2].name.startswith(f"{system}-")), None)


def store_of(file, scratch):
    """The store in a file of the corpus. A database is kept as SQL."""
    if file.suffix != ".sql":
        return file
    path = scratch / f"{file.stem}.db"
    with sqlite3.connect(path) as database:
        database.executescript(file.read_text())
    database.close()
    return path


def sessions_in(store):
    """The ids that `brickbat repair` takes for the sessions of a store."""
    said = subprocess.run([program, "session", "--list", store], capture_output=True, text=True, check=False).stdout
    return [line.split("  ")[0] for line in said.splitlines()]


failed, missing = [], []
chosen = sys.argv[4:] or READERS
for product, (system, reader) in ((product, READERS[product]) for product in chosen):
    python = python_of(system)
    if python is None:
        missing.append(product)
        continue
    n_read = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for file in sorted((corpus / product).iterdir()):
            if file.suffix == ".yaml" or file.is_dir():
                continue
            for n, session in enumerate(sessions_in(store_of(file, scratch))):
                copy = scratch / f"{file.stem}-{n}.repaired{'.db' if file.suffix == '.sql' else file.suffix}"
                subprocess.run([program, "repair", session, "--out", copy], capture_output=True, check=False)
                if not copy.exists():
                    continue
                read = subprocess.run(
                    [python, "-c", PRELUDE + reader, copy], capture_output=True, text=True, check=False,
                    env={**os.environ, "OTEL_SDK_DISABLED": "true"},
                )
                n_read += 1
                if read.returncode != 0:
                    last = (read.stderr.strip().splitlines() or ["no error"])[-1]
                    failed.append(f"{product}: {file.name}: {last}")
    print(json.dumps({"product": product, "reader": system, "repaired": n_read}))
    if n_read == 0:
        failed.append(f"{product}: no session was repaired")
for words in failed:
    print(words)
if missing:
    print("not installed, and not read:", ", ".join(missing))
sys.exit(1 if failed else 0)
