"""Commands for each product: how to run a turn, a compaction, a fork and a rewind, and where its store is."""
import json
import sqlite3
import urllib.request
from pathlib import Path

# The folder in which npm has installed the products. The scripts set it.
MODULES = Path("node_modules")


def package(name):
    return MODULES / name


def version_of(name):
    return json.loads((package(name) / "package.json").read_text())["version"]


class ClaudeCode:
    """`claude -p`. The session is a file of JSON lines. `--resume-session-at` goes back to a message of the model."""

    name = "claude-code"
    kinds = ("resumed", "compacted", "forked", "rewound")
    PACKAGE = "@anthropic-ai/claude-agent-sdk-linux-x64"

    def version(self, _):
        return version_of(self.PACKAGE)

    def env(self, session):
        return {
            "ANTHROPIC_BASE_URL": session.url, "ANTHROPIC_API_KEY": "sk-ant-brickbat", "IS_SANDBOX": "1",
            "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false",
        }

    def serve(self, _):
        return []

    def program(self):
        return [package(self.PACKAGE) / "claude"]

    def say(self, session, text, *more):
        resume = ["--resume", session.id] if hasattr(session, "id") else []
        printed = session.run([
            *self.program(), "-p", text, *resume, *more, "--output-format", "json",
            "--model", "claude-haiku-4-5", "--tools", "Read,Glob,Grep", "--permission-mode", "bypassPermissions",
        ])
        session.id = json.loads(printed)["session_id"]

    def compacted(self, session):
        self.say(session, "/compact")

    def forked(self, session):
        self.say(session, "Look from here.", "--fork-session")

    def rewound(self, session):
        records = [json.loads(line) for line in self.store(session).read_text().splitlines()]
        # Go back to the last reply of the first turn, which removes the second turn.
        prompts = [at for at, record in enumerate(records)
                   if record.get("type") == "user" and isinstance(record["message"]["content"], str)]
        last = [record["uuid"] for record in records[:prompts[1]] if record.get("type") == "assistant"][-1]
        self.say(session, "Look at something else.", "--resume-session-at", last)

    def store(self, session):
        [file] = session.home.glob(f".claude/projects/*/{session.id}.jsonl")
        return file


class OlderClaudeCode(ClaudeCode):
    """A version that sends duplicates in its store twice. It is a Node.js package."""

    name = "older-claude-code"
    PACKAGE = "@anthropic-ai/claude-code"

    def program(self):
        return ["node", package(self.PACKAGE) / "cli.js"]


class OpenCode:
    """`opencode run`, and the HTTP API of `opencode serve` for operations that the command line lacks."""

    name = "opencode"
    kinds = ("resumed", "compacted", "forked", "rewound")
    PACKAGE = "opencode-linux-x64"
    MODEL = "brickbat/claude-haiku-4-5"

    def version(self, _):
        return version_of(self.PACKAGE)

    def env(self, session):
        provider, model = self.MODEL.split("/")
        config = {
            "model": self.MODEL, "small_model": self.MODEL, "enabled_providers": [provider], "share": "disabled",
            "autoupdate": False, "snapshot": False, "lsp": False, "formatter": False,
            "permission": {"*": "deny", "read": "allow", "glob": "allow", "grep": "allow", "list": "allow"},
            "provider": {provider: {
                "npm": "@ai-sdk/anthropic", "options": {"baseURL": f"{session.url}/v1", "apiKey": "sk-ant-brickbat"},
                "models": {model: {"tool_call": True, "limit": {"context": 200000, "output": 8192}}},
            }},
        }
        off = ["AUTOUPDATE", "CLAUDE_CODE", "DEFAULT_PLUGINS", "EXTERNAL_SKILLS", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE",
               "AUTOCOMPACT"]
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config), **{f"OPENCODE_DISABLE_{word}": "1" for word in off},
            # Nothing listens at this address, so no plugins are installed.
            "BUN_CONFIG_REGISTRY": "http://127.0.0.1:9", "npm_config_registry": "http://127.0.0.1:9",
        }

    def serve(self, _):
        return []

    def program(self):
        return package(self.PACKAGE) / "bin" / "opencode"

    def say(self, session, text, *more):
        resume = ["--session", session.id] if hasattr(session, "id") else []
        printed = session.run([self.program(), "run", *resume, *more, "--format", "json", text])
        events = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        session.id = events[-1]["sessionID"]

    def compacted(self, session):
        provider, model = self.MODEL.split("/")
        self.order(session, "summarize", {"providerID": provider, "modelID": model})

    def forked(self, session):
        self.say(session, "Look from here.", "--fork")

    def rewound(self, session):
        with self.database(session) as database:
            rows = database.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
                                    [session.id]).fetchall()
        prompts = [id for id, data in rows if json.loads(data)["role"] == "user"]
        # The reverted messages are hidden until the next prompt deletes them.
        self.order(session, "revert", {"messageID": prompts[-1]})

    def order(self, session, what, body):
        with session.beside([self.program(), "serve", "--port", "0"], "listening on ") as url:
            request = urllib.request.Request(f"{url}/session/{session.id}/{what}", json.dumps(body).encode(),
                                             {"content-type": "application/json"})
            with urllib.request.urlopen(request) as answer:
                answer.read()

    def store(self, session):
        return session.home / ".local" / "share" / "opencode" / "opencode.db"

    def database(self, session):
        return sqlite3.connect(f"file:{self.store(session)}?mode=ro", uri=True)


class Codex:
    """`codex exec`. The session is a rollout. Above a token limit, it compacts by itself before a turn."""

    name = "codex"
    kinds = ("resumed", "compacted", "forked")
    PACKAGE = "@openai/codex-linux-x64"
    # Later models get their tools in an input item, which the improvised model does not read.
    MODEL = "gpt-5"
    # The provider reports TOKENS for each request. LIMIT, which is lower, is set only for a compaction.
    TOKENS, LIMIT = 5000, 1000

    def version(self, _):
        return version_of("@openai/codex")

    def env(self, _):
        return {"OPENAI_API_KEY": "sk-brickbat"}

    def serve(self, kind):
        return ["--usage", str(self.TOKENS)] if kind == "compacted" else []

    def say(self, session, text, *more, how="resume", model=("-m", MODEL)):
        provider = {"name": "brickbat", "base_url": f"{session.url}/v1", "env_key": "OPENAI_API_KEY",
                    "wire_api": "responses"}
        options = [*model, "-c", 'model_provider="brickbat"', "--json", "--skip-git-repo-check", *more]
        for key, value in provider.items():
            options += ["-c", f"model_providers.brickbat.{key}={json.dumps(value)}"]
        words = [how, *options, session.id, text] if hasattr(session, "id") else [*options, "-s", "read-only", text]
        [program] = package(self.PACKAGE).glob("vendor/*/bin/codex")
        printed = session.run([program, "exec", *words])
        events = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        session.id = next(event["thread_id"] for event in events if event["type"] == "thread.started")

    def compacted(self, session):
        # If the turn had calls, Codex would compact after each of them and never end.
        limit = f"model_auto_compact_token_limit={self.LIMIT}"
        self.say(session, "Say something.", "-c", limit, model=())

    def forked(self, session):
        self.say(session, "Look from here.", how="fork")

    def store(self, session):
        [file] = session.home.glob(f".codex/sessions/*/*/*/rollout-*-{session.id}.jsonl")
        return file


class QwenCode:
    """`qwen`. The session is a tree of JSON lines."""

    name = "qwen-code"
    kinds = ("resumed", "compacted")
    PACKAGE = "@qwen-code/qwen-code"

    def version(self, _):
        return version_of(self.PACKAGE)

    def env(self, session):
        return {"OPENAI_API_KEY": "sk-brickbat", "OPENAI_BASE_URL": f"{session.url}/v1", "OPENAI_MODEL": "gpt-4.1"}

    def serve(self, _):
        return []

    def say(self, session, text):
        resume = ["--resume", session.id] if hasattr(session, "id") else []
        printed = session.run([
            "node", package(self.PACKAGE) / "cli.js", "--auth-type", "openai", "--approval-mode", "plan",
            "--output-format", "json", *resume, text,
        ])
        session.id = json.loads(printed)[0]["session_id"]

    def compacted(self, session):
        self.say(session, "/compress")

    def store(self, session):
        [file] = session.home.glob(f".qwen/projects/*/chats/{session.id}.jsonl")
        return file


class CopilotCli:
    """`copilot -p`, with a provider of the user's. The session is a folder with a chain of events as JSON lines."""

    name = "copilot-cli"
    kinds = ("resumed", "compacted")
    PACKAGE = "@github/copilot-linux-x64"

    def version(self, _):
        return version_of(self.PACKAGE)

    def env(self, session):
        return {
            "COPILOT_OFFLINE": "true", "COPILOT_ALLOW_ALL": "true", "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": session.url, "COPILOT_PROVIDER_API_KEY": "sk-brickbat", "COPILOT_MODEL": "claude-haiku-4-5",
        }

    def serve(self, _):
        return []

    def say(self, session, text):
        resume = [f"--resume={session.id}"] if hasattr(session, "id") else []
        printed = session.run([
            package(self.PACKAGE) / "copilot", "-p", text, *resume, "--no-auto-update", "--output-format", "json",
            "--available-tools", "view,glob,grep",
        ])
        session.id = [json.loads(line) for line in printed.splitlines() if line.startswith("{")][-1]["sessionId"]

    def compacted(self, session):
        self.say(session, "/compact")

    def store(self, session):
        return session.home / ".copilot" / "session-state" / session.id / "events.jsonl"


class GeminiCli:
    """`gemini -p`. The session is a file of JSON lines with patches. Since 0.60 it stores each result twice, so resumed
    sessions are rejected (https://github.com/google-gemini/gemini-cli/issues/29365)."""

    name = "gemini-cli"
    PACKAGE = "@google/gemini-cli"
    SETTINGS = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}

    def version(self, _):
        return version_of(self.PACKAGE)

    def env(self, session):
        return {"GEMINI_API_KEY": "brickbat", "GOOGLE_GEMINI_BASE_URL": session.url}

    def serve(self, _):
        return []

    def say(self, session, text):
        settings = session.home / ".gemini" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps(self.SETTINGS))
        resume = ["--resume", "latest"] if hasattr(session, "id") else []
        printed = session.run([
            "node", package(self.PACKAGE) / "bundle" / "gemini.js", "--skip-trust", "--approval-mode", "plan",
            "-o", "json", "-m", "gemini-2.5-pro", *resume, "-p", text,
        ])
        session.id = json.loads(printed)["session_id"]

    def store(self, session):
        [file] = session.home.glob(f".gemini/tmp/*/chats/session-*-{session.id.split('-')[0]}.jsonl")
        return file


# Products that write healthy sessions, older versions that fail in other ways, and products that break their own sessions.
PRODUCTS = [ClaudeCode(), OpenCode(), Codex(), QwenCode(), CopilotCli()]
OLDER = [OlderClaudeCode()]
BREAKS_ITS_OWN = [GeminiCli()]
