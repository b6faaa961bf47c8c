"""Sessions of extreme size: `session` and `repair` need bounded memory and give an answer.

    python3 large.py PROGRAM SCRATCH [MEGABYTES]

Writes a line of MEGABYTES / 2, and a folder of MEGABYTES with sessions of five products and files of no product, runs
PROGRAM on both, and prints seconds and peak memory. Fails if a run ends by a signal or takes more memory than its bound.
"""

import json
import os
import shutil
import sqlite3
import sys
import time

MEGABYTE = 1 << 20

# Peak memory, in multiples of the largest file: the bytes, what is parsed of them, the messages, and the request.
MAX_RATIO = 12
# Memory of the program itself, and of small files.
FLOOR_MB = 512
# The largest file that `session` opens.
MAX_FILE_MB = 768


def text(n_bytes):
    words = "The order was looked up, and it is on its way. "
    return (words * (n_bytes // len(words) + 1))[:n_bytes]


def claude_line(n, parent, role, content):
    return json.dumps({
        "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/w", "sessionId": "s1",
        "version": "2.1.39", "type": role, "message": {"role": role, "content": content}, "uuid": f"u{n}",
        "timestamp": "2026-01-01T00:00:00.000Z",
    })


def one_line(path, n_bytes):
    """A session with a text of this size in its second line."""
    with open(path, "w") as file:
        file.write(claude_line(0, None, "user", "Look it up.") + "\n")
        file.write(claude_line(1, "u0", "assistant", [{"type": "text", "text": text(n_bytes)}]) + "\n")


def many_lines(path, n_bytes):
    with open(path, "w") as file:
        n, parent = 0, None
        while file.tell() < n_bytes:
            role = "assistant" if n % 2 else "user"
            content = [{"type": "text", "text": text(2000)}] if n % 2 else "Look it up."
            file.write(claude_line(n, parent, role, content) + "\n")
            parent, n = f"u{n}", n + 1


def message_lines(path, n_bytes):
    with open(path, "w") as file:
        while file.tell() < n_bytes:
            file.write(json.dumps({"role": "user", "content": text(500)}) + "\n")
            file.write(json.dumps({"role": "assistant", "content": text(1500)}) + "\n")


def body(path, n_bytes):
    messages = []
    for _ in range(n_bytes // 2100):
        messages += [{"role": "user", "content": text(500)}, {"role": "assistant", "content": text(1500)}]
    with open(path, "w") as file:
        json.dump({"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": messages + [{"role": "user", "content": "?"}]}, file)


def crush(path, n_bytes):
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, message_count INTEGER, prompt_tokens INTEGER);"
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, model TEXT, created_at INTEGER);"
    )
    for n in range(n_bytes // 2000):
        parts = json.dumps([{"type": "text", "data": {"text": text(1900)}}])
        role = "assistant" if n % 2 else "user"
        database.execute("INSERT INTO messages VALUES (?,?,?,?,?,?)", (f"m{n}", f"s{n // 50}", role, parts, "", n))
    database.commit()
    database.close()


def noise(path, n_bytes):
    with open(path, "w") as file:
        file.write('{"a":[')
        while file.tell() < n_bytes:
            file.write(json.dumps({"k": text(300), "n": 1}) + ",")
        file.write("0]}")


def run(program, args):
    """The exit code, seconds, and peak memory in MB of a run."""
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(program, [program, *args])
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - started, usage.ru_maxrss / 1024


def main():
    program, scratch = os.path.abspath(sys.argv[1]), sys.argv[2]
    n_mb = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(os.path.join(scratch, "mixed"))
    line = os.path.join(scratch, "line.jsonl")
    line_mb = min(n_mb // 2, MAX_FILE_MB)
    one_line(line, line_mb * MEGABYTE)
    kinds = [(many_lines, "jsonl"), (message_lines, "jsonl"), (body, "json"), (crush, "db"), (noise, "json")]
    # Each kind once as a large file, the rest as files of 4 MB.
    large_mb = max(n_mb // 20, 1)
    n_written = 0
    for make, ending in kinds:
        make(os.path.join(scratch, "mixed", f"large-{make.__name__}.{ending}"), large_mb * MEGABYTE)
        n_written += large_mb
    n = 0
    while n_written < n_mb:
        make, ending = kinds[n % len(kinds)]
        make(os.path.join(scratch, "mixed", f"{n:04}-{make.__name__}.{ending}"), 4 * MEGABYTE)
        n, n_written = n + 1, n_written + 4
    failed = False
    runs = [
        (f"session, a line of {line_mb} MB", ["session", line], line_mb),
        (f"check, a line of {line_mb} MB", ["check", line], line_mb),
        (f"repair, a line of {line_mb} MB", ["repair", line, "--out", os.path.join(scratch, "copy.jsonl")], line_mb),
        (f"session, a folder of {n_written} MB", ["session", os.path.join(scratch, "mixed")], large_mb),
    ]
    for name, args, largest_mb in runs:
        code, seconds, peak_mb = run(program, args)
        bound_mb = MAX_RATIO * largest_mb + FLOOR_MB
        is_wrong = code < 0 or code > 3 or peak_mb > bound_mb
        failed = failed or is_wrong
        print(f"{name}: exit {code}, {seconds:.0f} s, {peak_mb:.0f} MB (at most {bound_mb}){' FAILS' if is_wrong else ''}", flush=True)
    shutil.rmtree(scratch)
    sys.exit(1 if failed else 0)


main()
