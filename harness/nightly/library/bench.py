"""How long a call takes in Python, next to a start of the program: `bench.py BRICKBAT FOLDER` prints JSON. CPU time, in
microseconds, the median of five rounds; a start of the program is measured in real time."""

import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

program, folder = sys.argv[1:]
vectors = json.loads(Path(folder, "expected.json").read_text())["vectors"]
own = [one for one in vectors if one["profile"] == "anthropic-messages" and 500 < len(one["text"]) < 3000]
good = [json.loads(one["text"]) for one in own if one["verdict"]["verdict"] == "accepted"]
bad = [json.loads(one["text"]) for one in own if one["verdict"]["verdict"] == "refused"]

before = time.process_time()
import brickbat_rules  # noqa: E402

brickbat_rules.check(good[0], dialect="anthropic-messages")
start = time.process_time() - before


def measured(bodies):
    def one_round():
        began = time.process_time()
        for n in range(2000):
            brickbat_rules.check(bodies[n % len(bodies)], dialect="anthropic-messages")
        return (time.process_time() - began) / 2000

    one_round()
    return round(statistics.median(one_round() for _ in range(5)) * 1e6, 1)


def spawned():
    began = time.perf_counter()
    subprocess.run([program, "check", "--dialect", "anthropic-messages", "-"], input=json.dumps(good[0]), text=True, capture_output=True)
    return time.perf_counter() - began


told = {
    "runtime": f"Python {platform.python_version()}",
    "start_us": round(start * 1e6),
    "accepted_us": measured(good),
    "refused_us": measured(bad),
    "module_bytes": Path(brickbat_rules.__file__).with_name("rules.wasm").stat().st_size,
    "spawn_wall_us": round(statistics.median(spawned() for _ in range(5)) * 1e6),
}
print(json.dumps(told))
