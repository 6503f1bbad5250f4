"""Surfaces that are read once, at the start of a process: settings files, the environment, command lines."""

import json
import os
import random
import select
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from harness.processes import WITH_US

from .engine import Ended, Hung, Surface, ending
from .mutation import Members, Mutator, Raw, dumps, quoted

ALLOWED = {0, 1, 64, 69, 78}
"""The exit codes that the program may end with."""


class StartSurface(Surface):
    """Many inputs go into one process where they can: a program that tells all wrong settings has read them all."""

    most = 40  # Inputs of one process.
    batch = 2000
    restarts = 60
    within = 2.0

    def __init__(self, *args):
        super().__init__(*args)
        self.settings = None

    def known(self) -> list[dict]:
        """Returns what `locsearch config --json` says of each setting."""
        if self.settings is None:
            done = subprocess.run(
                [self.locsearch, "config", "--json"], capture_output=True, text=True, timeout=30, env=self.quiet()
            )
            self.settings = json.loads(done.stdout)
        return self.settings

    @staticmethod
    def quiet() -> dict[str, str]:
        return {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}

    def setting(self, mutate: Mutator) -> tuple[str, str]:
        """Returns a setting's name and a value that it may have or not."""
        known = mutate.pick(self.known())
        kind = mutate.chance.random()
        plain = str(
            known.get("value")
            or mutate.pick(("5s", "localhost:9092", "http://127.0.0.1:9/", "x", "a=b,c=d", "true", "10"))
        )
        if kind < 0.3:
            value = mutate.number()
        elif kind < 0.45:
            value = mutate.number() + mutate.pick(("ms", "s", "m", "h", "d", " s", "S", "%"))
        elif kind < 0.6:
            value = mutate.text()
        elif kind < 0.8:
            value = mutate.spoil(plain.encode()).decode("utf-8", "replace")
        elif kind < 0.9:
            value = mutate.pick((",", "=", ":", " ")).join(
                mutate.pick((plain, mutate.number(), mutate.text())) for _ in range(mutate.pick((2, 3, 30)))
            )
        else:
            value = plain
        return known["name"], value

    def feed(self, inputs: list[dict]) -> None:
        runs, together = [], []
        for made in inputs:
            if made["alone"]:
                runs.append([made])
            else:
                together.append(made)
        runs += self.packs(together)
        with ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
            for failure in pool.map(self.guarded, enumerate(runs)):
                if failure:
                    raise failure

    def packs(self, inputs: list[dict]) -> list[list[dict]]:
        """Puts inputs into as few runs as there may be, none of which has one setting twice."""
        packs: list[tuple[set, list]] = []
        for made in inputs:
            for names, pack in packs[-6:]:
                if made["name"] not in names and len(pack) < self.most:
                    break
            else:
                names, pack = set(), []
                packs.append((names, pack))
            names.add(made["name"])
            pack.append(made)
        return [pack for _, pack in packs]

    def guarded(self, numbered: tuple[int, list[dict]]):
        number, inputs = numbered
        try:
            self.run_one(number, inputs)
        except (Ended, Hung) as failure:
            failure.suspects = inputs
            return failure

    def run_one(self, number: int, inputs: list[dict]) -> None:
        raise NotImplementedError

    def execute(self, arguments: list, env: dict, label: str, serves: bool = False) -> int:
        """Runs the program to its end, which must come soon. With `serves`, a first line of output does as well."""
        try:
            process = subprocess.Popen(
                WITH_US + [self.locsearch, *arguments],
                env=self.quiet() | env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                preexec_fn=limited,
            )
        except (
            ValueError,
            OSError,
        ):  # The system itself refuses it: an argument with a zero byte, or far too much of it.
            return 0
        began = time.monotonic()
        try:
            if serves and process.stdout:
                select.select([process.stdout], [], [], 5)
                if process.poll() is None:
                    process.terminate()
            patience = time.monotonic() + 20
            _out, err = process.communicate(timeout=max(0.1, patience - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            _out, err = process.communicate()
            raise Hung(
                f"{label} did not end in {time.monotonic() - began:.0f} s: {err.decode(errors='replace')[-300:]}"
            ) from None
        if process.returncode not in ALLOWED and not (serves and process.returncode == -15):
            raise Ended(f"{label} ended with {ending(process.returncode)}: {err.decode(errors='replace')[-500:]}")
        return process.returncode


def limited() -> None:
    """Bounds the memory of a process that is too short-lived to be watched."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class SettingsFiles(StartSurface):
    name = "settings-files"
    about = (
        "settings files, YAML and JSON -> locsearch config; up to 40 settings in a file, 1 in 50 inputs is a whole file"
    )

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        if not mutate.often(0.02):
            name, value = self.setting(mutate)
            return {"alone": False, "name": name, "value": value, "raw": mutate.often(0.4)}
        pairs = [self.setting(mutate) for _ in range(mutate.pick((1, 3, 8)))]
        if mutate.often(0.5):
            return {"alone": True, "ending": "json", "text": mutate.json(nested(pairs), 0.5)}
        text = yaml(pairs, mutate).encode("utf-8", "replace")
        tricks = (
            b"a: &a [*a]\n",
            b"x: &x\n  <<: *x\n",
            b"- 1\n- 2\n",
            b"%YAML 9.9\n---\n",
            b"--- !!python/object:os.system x\n",
            b"worker: {concurrency: 1" + b"{" * 500,
            b"? [a, b]\n: c\n",
            b"a: |\n  b\n c\n",
            b"\t: x\n",
            b"a: &a [x,x,x,x,x,x,x,x,x]\n"
            + b"".join(
                b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % (c, c, *[c - 1] * 9) for c in range(98, 108)
            ),
            b"[" * 20_000,
            b"- " * 20_000,
            b"a: " * 5_000,
        )
        if mutate.often(0.4):
            text = mutate.pick((text + mutate.pick(tricks), mutate.pick(tricks) + text, mutate.pick(tricks)))
        return {"alone": True, "ending": "yaml", "text": mutate.spoil(text) if mutate.often(0.6) else text}

    def run_one(self, number: int, inputs: list[dict]) -> None:
        if inputs[0]["alone"]:
            kind, text = inputs[0]["ending"], inputs[0]["text"]
        else:
            kind = ("json", "yaml")[number % 2]
            if kind == "json":  # A number in JSON is one as it is written only where JSON has such numbers.
                text = dumps(
                    Members(
                        (
                            made["name"],
                            Raw(made["value"]) if made["raw"] and is_number(made["value"]) else made["value"],
                        )
                        for made in inputs
                    )
                ).encode("utf-8", "replace")
            else:
                text = "".join(
                    f"{made['name']}: "
                    f"{made['value'] if made['raw'] and is_number(made['value']) else json.dumps(made['value'])}\n"
                    for made in inputs
                ).encode("utf-8", "replace")
        file = self.folder / f"settings-{number}.{kind}"
        file.write_bytes(text)
        self.execute(["config", "--config", str(file)], {}, f"locsearch config --config {file.name}")
        file.unlink()


def is_number(text: str) -> bool:
    try:
        json.loads(text)
        return text[:1] in "-0123456789" and text.strip() == text
    except ValueError:
        return False


def nested(pairs: list[tuple[str, str]]) -> Members:
    """Returns the settings as an object, some of their names nested."""
    out = Members()
    for i, (name, value) in enumerate(pairs):
        section, _, rest = name.partition(".")
        out.append((section, Members([(rest, value)])) if i % 2 else (name, value))
    return out


def yaml(pairs: list[tuple[str, str]], mutate: Mutator) -> str:
    lines = []
    for name, value in pairs:
        shown = mutate.pick(
            (value, json.dumps(value), f"'{value}'", f"[{value}]", f"!!int {value}", f"|\n  {value}", f"&a {value}")
        )
        section, _, rest = name.partition(".")
        lines.append(f"{section}:\n  {rest}: {shown}" if mutate.often(0.4) else f"{name}: {shown}")
    return "\n".join(lines) + "\n"


class Environment(StartSurface):
    name = "environment"
    about = "environment variables -> locsearch config; up to 40 in a process"

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        setting, value = self.setting(mutate)
        name = next(known["environment"] for known in self.known() if known["name"] == setting)
        if mutate.often(0.03):
            name = (
                mutate.pick(
                    (
                        mutate.spoil(name.encode()).decode("utf-8", "replace"),
                        name.lower(),
                        name + "S",
                        mutate.text(),
                        "LOCSEARCH_CONFIG",
                    )
                ).replace("=", "_")
                or "X"
            )
        return {"alone": name == "LOCSEARCH_CONFIG", "name": name.replace("\0", "0"), "value": value.replace("\0", "0")}

    def run_one(self, number: int, inputs: list[dict]) -> None:
        self.execute(
            ["config", "--json"] if number % 2 else ["config"],
            {made["name"].encode("utf-8", "replace"): made["value"].encode("utf-8", "replace") for made in inputs},
            "locsearch config",
        )


COMMANDS = {
    "search": [
        "--latitude",
        "--longitude",
        "--radius",
        "--limit",
        "--timeout",
        "--provider",
        "--operation",
        "--category",
        "--keyword",
        "--place-id",
        "--session",
        "--language",
        "--page-token",
        "--json",
        "--key",
        "--count",
    ],
    "watch": ["--count", "--timeout", "--session", "--from-beginning", "--json", "--errors", "--provider"],
    "dead-letters list": [
        "--limit",
        "--timeout",
        "--reason",
        "--since",
        "--until",
        "--pending",
        "--json",
        "--partition",
        "--offset",
    ],
    "dead-letters redrive": [
        "--limit",
        "--rate",
        "--wait",
        "--timeout",
        "--since",
        "--until",
        "--dry-run",
        "--yes",
        "--reason",
    ],
    "topics create": ["--partitions", "--replication", "--timeout", "--dry-run", "--retention"],
    "budget": ["--json", "--timeout"],
    "budget set": ["--yes", "--timeout", "hotpepper"],
    "budget reset": ["--yes", "--timeout", "hotpepper"],
    "probe": ["--timeout", "--url"],
    "console": ["--open"],
    "demo": ["--once", "--record", "--open"],
    "worker": [],
    "config": ["--json", "--table", "--metrics"],
    "help": [],
    "": ["--version", "--help"],
}
SERVERS = {
    "broker": ["--brokers", "--partitions", "--topic", "--control"],
    "simulate": ["--port", "--host", "--latency", "--seed", "--faults"],
}


class CommandLines(StartSurface):
    """Commands that would go to a broker get a wrong setting besides, which is told after everything else has been
    read.
    """

    name = "command-lines"
    about = "command lines: flags of settings (up to 40 in a process), and 1 in 25 inputs is a command with its options"

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        if not mutate.often(0.04):
            name, value = self.setting(mutate)
            return {"alone": False, "name": name, "value": value, "form": chance.randrange(3)}
        serves = mutate.often(0.05)
        command = mutate.pick(sorted(SERVERS if serves else COMMANDS))
        options = (SERVERS if serves else COMMANDS)[command]
        arguments = [
            mutate.spoil(w.encode()).decode("utf-8", "replace") if mutate.often(0.03) else w for w in command.split()
        ]
        for _ in range(mutate.pick((0, 1, 1, 2, 3))):
            option = mutate.pick(options) if options and mutate.often(0.9) else mutate.text()
            value = mutate.pick(
                (
                    mutate.number,
                    mutate.text,
                    lambda: mutate.number() + mutate.pick(("s", "ms", "h", ":3")),
                    lambda: "2026-11-21T09:00:00Z",
                )
            )()
            arguments += mutate.pick(([option, value], [f"{option}={value}"], [option], [value]))
        return {"alone": True, "arguments": [a.replace("\0", "0") for a in arguments], "serves": serves}

    def run_one(self, number: int, inputs: list[dict]) -> None:
        if inputs[0]["alone"]:
            made = inputs[0]
            # Not of a number's form, so that no command begins its work.
            env = {} if made["serves"] else {"KAFKA_BOOTSTRAP_SERVERS": "", "WORKER_LOOPS": "none"}
            arguments = [a.encode("utf-8", "replace") for a in made["arguments"]]
            self.execute(arguments, env, "locsearch " + " ".join(map(quoted, made["arguments"]))[:300], serves=True)
            return
        arguments = []
        for made in inputs:
            flag, value = made["name"], made["value"].replace("\0", "0")
            dashed = "--" + "".join("-" + c.lower() if c.isupper() else c for c in flag).replace(".", "-")
            arguments += ([f"--{flag}={value}"], [dashed, value], [f"{dashed}={value}"])[made["form"]]
        self.execute(
            ["config", *(a.encode("utf-8", "replace") for a in arguments)],
            {},
            "locsearch config with flags of settings",
        )
