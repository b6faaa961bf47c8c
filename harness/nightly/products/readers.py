"""Repairs the sessions of the corpus, and has the library that wrote each of them read the repaired copy.

    python3 readers.py PROGRAM CORPUS CACHE [PRODUCTS…]

PROGRAM is `brickbat`, CORPUS the folder of sessions, CACHE the folder of installed systems, and PRODUCTS all of them. A library that is not
installed there is named, and not counted.

The library prints what it has read. Every text of the request that Brickbat makes from the copy must be in it.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

# For each product: the system that has its library, and the program that reads the file named by `path`.
READERS = {
    "agno": (
        "agno",
        "from agno.session.agent import AgentSession\nshow([run.messages for run in AgentSession.from_dict(load()).runs])",
    ),
    "autogen": (
        "autogen",
        "import asyncio\n"
        "from autogen_core.model_context import UnboundedChatCompletionContext\n"
        "context = UnboundedChatCompletionContext()\n"
        "asyncio.run(context.load_state(load()['llm_context']))\n"
        "show(asyncio.run(context.get_messages()))",
    ),
    "haystack": ("haystack", "from haystack.dataclasses import ChatMessage\nshow([ChatMessage.from_dict(m) for m in load()])"),
    "langchain": (
        "langgraph-python",
        "from langchain_core.messages import messages_from_dict\n"
        "read = load()\nshow(messages_from_dict(read if isinstance(read, list) else read['messages']))",
    ),
    "langgraph": (
        "langgraph-python",
        "import sqlite3\n"
        "from langgraph.checkpoint.sqlite import SqliteSaver\n"
        "saver = SqliteSaver(sqlite3.connect(path))\n"
        "found = [row.checkpoint['channel_values'].get('messages') for row in saver.list(None)]\n"
        "assert all(hasattr(m, 'content') for messages in found for m in messages or [])\n"
        "show([messages for messages in found if messages])",
    ),
    "langgraph-state": (
        "langgraph-python",
        "from langchain_core.messages import convert_to_messages\n"
        "show(convert_to_messages(load()['values']['messages']))",
    ),
    "openai-agents": (
        "openai-agents-python",
        "import asyncio, sqlite3\n"
        "from agents import SQLiteSession\n"
        "ids = [row[0] for row in sqlite3.connect(path).execute('SELECT DISTINCT session_id FROM agent_messages')]\n"
        "show([asyncio.run(SQLiteSession(id, path).get_items()) for id in ids])",
    ),
    "pydantic-ai": (
        "pydantic-ai",
        "from pydantic_ai.messages import ModelMessagesTypeAdapter\n"
        "show(ModelMessagesTypeAdapter.validate_json(open(path, 'rb').read()))",
    ),
    "semantic-kernel": (
        "semantic-kernel",
        "from semantic_kernel.contents import ChatHistory\nshow(ChatHistory.restore_chat_history(open(path).read()).messages)",
    ),
    "tunacode": (
        "tunacode",
        "from pydantic_ai.messages import ModelMessagesTypeAdapter\n"
        "show(ModelMessagesTypeAdapter.validate_python(load()['messages']))",
    ),
    "cline": (
        "anthropic-sdk-python",
        "from anthropic.types import ContentBlockParam\nfrom pydantic import TypeAdapter\n"
        "assert all(TypeAdapter(str | list[ContentBlockParam]).validate_python(m['content']) for m in load())\nshow(load())",
    ),
}
CHAT = (
    "from openai.types.chat import ChatCompletionMessageParam\nfrom pydantic import TypeAdapter\n"
    "rows = [row for row in lines() if not str(row['role']).startswith('_')]\n"
    # The types check a list of calls only when it is read.
    "read = TypeAdapter(list[ChatCompletionMessageParam]).validate_python(rows)\n"
    "show([{**m, 'tool_calls': list(m.get('tool_calls', []))} for m in read])"
)
# Messages of no product: the types of the OpenAI SDK read them.
READERS |= {"message-lines": ("openai-agents-python", CHAT)}

# Products in Python outside the systems: the package that is installed for them, the Python that it needs, and the program.
PACKAGES = {
    "kimi": (
        "kimi-cli==1.52.0",
        (3, 12),
        "import asyncio\nfrom pathlib import Path\n"
        "from kimi_cli.soul.context import Context\n"
        "context = Context(Path(path))\nassert asyncio.run(context.restore())\nshow(context.history)",
    ),
}

# For each product in JavaScript: the system that has its library, and the library. `readers.mjs` has the programs.
JAVASCRIPT = {
    "ag-ui-events": ("tanstack-ai", "@ag-ui/client"),
    "ag-ui-messages": ("tanstack-ai", "@ag-ui/client"),
    "ai-sdk-model-messages": ("ai-sdk", "ai"),
    "genkit": ("genkit", "@genkit-ai/ai"),
    "pi": ("pi", "@earendil-works/pi-coding-agent"),
    "tanstack": ("tanstack-ai", "@tanstack/ai"),
    "twenty": ("twenty", "ai"),
}

PRELUDE = """import json, sys
path = sys.argv[1]
load = lambda: json.load(open(path))
lines = lambda: [json.loads(line) for line in open(path) if line.strip()]
def show(read):
    assert read
    print(read)
"""

# The words of the user's next message, which brickbat adds to a request.
ADDED = {"Go", "on"}

program, corpus, cache = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])


def folders_of(system):
    """The folders of a system's releases in the cache, without those of its adapters."""
    return [path for path in sorted((cache / "systems").glob(f"{system}-*")) if re.fullmatch(rf"{system}-[0-9a-f]+", path.name)]


def python_of(system):
    """The Python of a system in the cache."""
    return next((python for folder in folders_of(system) if (python := folder / ".venv/bin/python").exists()), None)


def python_since(release):
    """A Python of this release or a later one, if there is one."""
    pythons = ["python3", "python3.12", "python3.13", "python3.14", *sorted(Path.home().glob(".pyenv/versions/*/bin/python"))]
    for python in pythons:
        asked = [python, "-c", f"import sys\nsys.exit(sys.version_info < {release})"]
        try:
            if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
                return python
        except FileNotFoundError:
            continue
    return None


def python_with(package, release):
    """A Python with this package, which is installed if it is not there."""
    folder = cache / "readers" / package
    if not (folder / "installed").exists():
        python = python_since(release)
        if python is None:
            return None
        subprocess.run([python, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", package], check=True)
        (folder / "installed").touch()
    return folder / "bin/python"


def readers_of(product):
    """For each release of the product's library that is there: its name, and the words that run its reader."""
    if product in JAVASCRIPT:
        script = Path(__file__).with_name("readers.mjs")
        system, library = JAVASCRIPT[product]
        folders = [folder / "node_modules" for folder in folders_of(system)]
        return [(library, ["node", script, product, folder]) for folder in folders if (folder / library).exists()]
    if product in PACKAGES:
        name, release, reader = PACKAGES[product]
        python = python_with(name, release)
    else:
        name, reader = READERS[product]
        python = python_of(name)
    return [(name, [python, "-c", PRELUDE + reader])] if python else []


def store_of(file, scratch):
    """The store in a file of the corpus. A database is kept as SQL."""
    if file.suffix != ".sql":
        return file
    path = scratch / f"{file.stem}.db"
    with sqlite3.connect(path) as database:
        database.executescript(file.read_text())
    database.close()
    return path


def asked(*words):
    """What brickbat prints."""
    return subprocess.run([program, *words], capture_output=True, text=True, check=False).stdout


def repaired_in(folder, scratch):
    """The repaired copies of the sessions in a folder of the corpus, each with the name of its file."""
    for file in sorted(folder.iterdir()):
        if file.suffix == ".yaml" or file.is_dir():
            continue
        store = store_of(file, scratch)
        for n, line in enumerate(asked("session", "--list", store).splitlines()):
            session = line.split("  ")[0]
            copy = scratch / f"{file.stem}-{n}.repaired{'.db' if file.suffix == '.sql' else file.suffix}"
            asked("repair", session, "--out", copy)
            if copy.exists():
                yield file.name, copy, session.replace(str(store), str(copy), 1)


def texts_in(value):
    """The texts of a request's messages."""
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    if isinstance(value, dict):
        named = [value[key] for key in ("text", "content", "output") if isinstance(value.get(key), str)]
        return named + [text for item in value.values() if isinstance(item, (dict, list)) for text in texts_in(item)]
    return []


def lost(session, read):
    """Words of the copy's next request that a library has not read."""
    request = json.loads(asked("session", "--request", session))
    # A list of messages has no other fields.
    messages = request if isinstance(request, list) else [request.get(key) for key in ("messages", "input", "contents")]
    words = {word for text in texts_in(messages) for word in re.findall("[A-Za-z]+", text)}
    # A line break is two characters of the output.
    return sorted(words - ADDED - set(re.findall("[A-Za-z]+", re.sub(r"\\[a-z]", " ", read))))


def fault_of(command, copy, session):
    """Why a library has not read a copy, if it has not."""
    read = subprocess.run(
        [*command, copy], capture_output=True, text=True, check=False, env={**os.environ, "OTEL_SDK_DISABLED": "true"},
    )
    if read.returncode != 0:
        return (read.stderr.strip().splitlines() or ["no error"])[-1]
    missing = lost(session, read.stdout)
    return f"not read: {' '.join(missing)}" if missing else None


failed, missing = [], []
for product in sys.argv[4:] or sorted([*READERS, *PACKAGES, *JAVASCRIPT]):
    readers = readers_of(product)
    if not readers:
        missing.append(product)
        continue
    with tempfile.TemporaryDirectory() as folder:
        copies = list(repaired_in(corpus / product, Path(folder)))
        for _, command in readers:
            failed += [f"{product}: {name}: {fault}" for name, copy, session in copies if (fault := fault_of(command, copy, session))]
    print(json.dumps({"product": product, "reader": readers[0][0], "releases": len(readers), "repaired": len(copies)}), flush=True)
    if not copies:
        failed.append(f"{product}: no session was repaired")
for words in failed:
    print(words)
if missing:
    print("not installed, and not read:", ", ".join(missing))
sys.exit(1 if failed else 0)
