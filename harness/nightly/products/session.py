"""A conversation with a product on the command line, using the strict provider of `brickbat serve`."""
import json
import os
import subprocess
import urllib.request
from contextlib import contextmanager

# Seconds that a turn may take on a loaded machine. A longer turn is reported and not counted.
PATIENCE = 900

# The difference between the seeds of a session's successive providers. Ids depend on the seed, and a real provider never
# repeats an id.
NEXT_SEED = 1_000_000


class Wrong(Exception):
    """The session could not be written or resumed as planned, so it has no result."""


class Session:
    """A conversation with a product, with separate folders and its own provider."""

    def __init__(self, program, product, kind, seed, folder):
        self.program, self.product, self.kind, self.seed = program, product, kind, seed
        self.n_providers = 0
        # The number of product processes that have read or written the session.
        self.n_processes = 0
        self.home, self.work = folder / "home", folder / "work"
        for path in (self.home, self.work):
            path.mkdir(parents=True)
        for name in ("one", "two", "three"):
            (self.work / f"{name}.txt").write_text(f"This is {name}.\n")

    def __enter__(self):
        self.open(*self.product.serve(self.kind))
        return self

    def open(self, *options):
        """Starts the provider. It exits when its standard input closes, even if this program is killed."""
        seed = self.seed + self.n_providers * NEXT_SEED
        self.n_providers += 1
        words = [self.program, "serve", "--port", "0", "--control", "--seed", str(seed), *options]
        self.provider = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True)
        self.url = json.loads(self.provider.stdout.readline())["url"]

    def close(self):
        self.provider.communicate(timeout=PATIENCE)

    def __exit__(self, *_):
        self.close()

    def env(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **self.product.env(self)}

    def run(self, words):
        """Runs the product and returns its output."""
        self.n_processes += 1
        words = [str(word) for word in words]
        done = subprocess.run(words, cwd=self.work, env=self.env(), input="", capture_output=True, text=True,
                              timeout=PATIENCE)
        if done.returncode != 0:
            raise Wrong(f"{' '.join(words)[:300]}: exit {done.returncode}: {(done.stderr or done.stdout)[-600:]}")
        return done.stdout

    @contextmanager
    def beside(self, words, announced):
        """Runs a server of the product during the block. Yields the address that it prints after `announced`."""
        self.n_processes += 1
        words = [str(word) for word in words]
        server = subprocess.Popen(words, cwd=self.work, env=self.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        try:
            line = next((line for line in server.stdout if announced in line), None)
            if line is None:
                raise Wrong("the product's server has exited")
            yield line.split(announced)[1].strip()
        finally:
            server.terminate()
            server.communicate(timeout=PATIENCE)

    def ask(self, *words):
        """Runs brickbat and returns its exit code and output."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def state(self):
        with urllib.request.urlopen(f"{self.url}/_brickbat/state") as answer:
            return json.load(answer)

    def counts(self):
        """Returns the number of requests to the provider and of those that it rejected."""
        dialects = self.state()["dialects"].values()
        return sum(one["requests"] for one in dialects), sum(one["refused"] for one in dialects)

    def path(self):
        """The stored session as an argument for brickbat."""
        store = self.product.store(self)
        return f"{store}#{self.id}" if store.suffix == ".db" else store

    def judged(self):
        """The report of `brickbat session`, with its exit code."""
        code, text = self.ask("session", "--format", "json", self.path())
        try:
            [one] = json.loads(text)["sessions"]
        except ValueError as error:
            raise Wrong(f"brickbat session: exit {code}: {text[:600]}") from error
        return one | {"exit": code}
