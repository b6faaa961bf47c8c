"""The rules in a WebAssembly module, in process. The module is compiled once for each user and version."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import tempfile
import threading
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brickbat_rules._errors import BrickbatError

if TYPE_CHECKING:
    from wasmtime import Engine, Module

MODULE = Path(__file__).with_name("rules.wasm")

# The memory of an instance only grows. A larger one is replaced after the call.
MAX_MEMORY = 128 << 20

# The room for a question that an instance starts with, in bytes.
ROOM = 64 << 10

# Bytes of the checksum before the compiled code in the cache.
CHECKSUM = 32


@dataclass
class Instance:
    """A started module, and the room for questions in its memory."""

    store: Any
    take: Any
    answer: Any
    memory: Any
    at: int = 0
    room: int = 0


class Rules:
    """An instance of the module, which is replaced if it stops. Threads take turns."""

    def __init__(self, wasm: bytes | None = None, cache: Path | None = None) -> None:
        self._wasm = MODULE.read_bytes() if wasm is None else wasm
        self._cache = cache
        self._lock = threading.Lock()
        self._compiled: tuple[Engine, Module] | None = None
        self._instance: Instance | None = None

    def ask(self, question: dict[str, Any], about: bytes) -> dict[str, Any]:
        """Asks a question about some bytes."""
        with self._lock:
            told = json.loads(self._answer(json.dumps(question).encode(), about))
        if "error" in told:
            raise ValueError(told["error"])
        return told

    def _answer(self, head: bytes, about: bytes) -> bytearray:
        if self._instance is None:
            self._instance = self._start()
        # It is set again if the call comes to its end. After a trap, the memory is in an unknown state.
        own, self._instance = self._instance, None
        try:
            if len(head) + len(about) > own.room:
                own.room = max(len(head) + len(about), ROOM)
                own.at = own.take(own.store, own.room) & 0xFFFFFFFF
            own.memory.write(own.store, head + about, own.at)
            found = own.answer(own.store, len(head), len(about)) & 0xFFFFFFFFFFFFFFFF
            start = found >> 32
            told = own.memory.read(own.store, start, start + (found & 0xFFFFFFFF))
        except Exception as error:
            # The text of a trap has the backtrace after its first line.
            why = next(iter(str(error).splitlines()), type(error).__name__)
            words = f"the rules stopped at this input ({why}); please report it with the input"
            raise BrickbatError(words) from error
        if own.memory.data_len(own.store) <= MAX_MEMORY:
            self._instance = own
        return told

    def close(self) -> None:
        """Gives the memory back. The next question starts a new instance."""
        with self._lock:
            self._instance = self._compiled = None

    def _start(self) -> Instance:
        # Imported here, because it takes 40 ms, and a run of pytest imports this package even if no test uses it.
        import wasmtime

        if self._compiled is None:
            engine = wasmtime.Engine()
            self._compiled = engine, compiled(engine, self._wasm, self._cache)
        engine, module = self._compiled
        store = wasmtime.Store(engine)
        exports = wasmtime.Instance(store, module, []).exports(store)
        return Instance(store, exports["take"], exports["answer"], exports["memory"])


def compiled(engine: Engine, wasm: bytes, folder: Path | None = None) -> Module:
    """Compiles a module, or takes the compiled code from the cache. A cache that cannot be used costs time only."""
    from wasmtime import Module, WasmtimeError

    cache = None
    try:
        cache = (folder or cache_folder()) / name_of(wasm)
        kept = cache.read_bytes()
        # The runtime trusts the code that it is given, so damaged code must not reach it.
        if hashlib.sha256(kept[CHECKSUM:]).digest() == kept[:CHECKSUM]:
            return Module.deserialize(engine, kept[CHECKSUM:])
    except (OSError, RuntimeError, WasmtimeError):
        pass  # No such file or folder, or code for another machine.
    module = Module(engine, wasm)
    if cache is not None:
        code = bytes(module.serialize())
        keep(cache, hashlib.sha256(code).digest() + code)
    return module


def name_of(wasm: bytes) -> str:
    """The name of the compiled code of a module, for this version of the runtime and this kind of machine."""
    key = [hashlib.sha256(wasm).hexdigest()[:16], version("wasmtime"), sys.platform, platform.machine()]
    return "-".join(["rules", *key]) + ".cwasm"


def keep(path: Path, data: bytes) -> None:
    """Writes a file that other processes see as a complete one, or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="rules-", delete=False) as file:
            try:
                file.write(data)
                file.close()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
    except OSError:
        pass  # The folder cannot be written to, or the disk is full.


def cache_folder() -> Path:
    """The folder of this user for files that can be made again."""
    if named := os.environ.get("BRICKBAT_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "brickbat" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "brickbat"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "brickbat"
