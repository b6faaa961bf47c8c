"""A conversation of a product from the command line, with the strict provider of `brickbat serve`."""
import json
import os
import subprocess
import urllib.request
from contextlib import contextmanager

# Seconds that a turn may take on a loaded machine. One that takes longer is reported, and counts for nothing.
PATIENCE = 900

# Each further provider of a session has a seed that is this much higher. The ids that a provider gives follow from its seed, and no
# real one gives an id twice.
NEXT_SEED = 1_000_000


class Wrong(Exception):
    """The session could not be written or taken up as planned: nothing is known of it."""


class Session:
    """A conversation of a product in folders of its own, with a provider of its own."""

    def __init__(self, program, product, kind, seed, folder):
        self.program, self.product, self.kind, self.seed = program, product, kind, seed
        self.n_providers = 0
        # Processes of the product that have read or written the session so far.
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
        """Starts the provider. It ends with its standard input, also where this program is killed."""
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
        """Runs the product, and gives what it prints."""
        self.n_processes += 1
        words = [str(word) for word in words]
        done = subprocess.run(words, cwd=self.work, env=self.env(), input="", capture_output=True, text=True,
                              timeout=PATIENCE)
        if done.returncode != 0:
            raise Wrong(f"{' '.join(words)[:300]}: exit {done.returncode}: {(done.stderr or done.stdout)[-600:]}")
        return done.stdout

    @contextmanager
    def beside(self, words, announced):
        """Runs a server of the product meanwhile, and gives the address that it prints after some words."""
        self.n_processes += 1
        words = [str(word) for word in words]
        server = subprocess.Popen(words, cwd=self.work, env=self.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        try:
            line = next((line for line in server.stdout if announced in line), None)
            if line is None:
                raise Wrong("the server of the product has ended")
            yield line.split(announced)[1].strip()
        finally:
            server.terminate()
            server.communicate(timeout=PATIENCE)

    def ask(self, *words):
        """Asks brickbat, and gives exit code and output."""
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def state(self):
        with urllib.request.urlopen(f"{self.url}/_brickbat/state") as answer:
            return json.load(answer)

    def counts(self):
        """How many requests the provider has had, and how many of them it refused."""
        dialects = self.state()["dialects"].values()
        return sum(one["requests"] for one in dialects), sum(one["refused"] for one in dialects)

    def path(self):
        """The stored session, as brickbat takes it."""
        store = self.product.store(self)
        return f"{store}#{self.id}" if store.suffix == ".db" else store

    def judged(self):
        """What `brickbat session` says of it, with its exit code."""
        code, text = self.ask("session", "--format", "json", self.path())
        try:
            [one] = json.loads(text)["sessions"]
        except ValueError as error:
            raise Wrong(f"brickbat session: exit {code}: {text[:600]}") from error
        return one | {"exit": code}
