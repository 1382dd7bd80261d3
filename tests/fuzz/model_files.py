"""Mutated model files against the engine and the command line: model_files.py ULPSCOPE ENGINE ROUNDS MODEL...

Each MODEL is mutated ROUNDS times (bytes flipped, cut off, repeated, moved; archive entries damaged). An engine may refuse a file
in one line, load it, die or fall silent; the command line must outlive it and say so in one line with a documented exit code.
Prints one RESULT line; ends with 1 when the command line did anything else. Reproducible: the seed of a round is its number."""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib

DOCUMENTED = {0, 2, 3, 4}
PATIENCE_S = 20


def flipped(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 2, 8, 64])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data, rng):
    at, length = rng.randrange(len(data)), rng.choice([1, 16, 512, 8192])
    return rng.choice([data[:at], data[:at] + data[at + length:], data[:at] + data[at:at + length] * 2 + data[at + length:]])


def numbers_replaced(data, rng):
    """Sizes and offsets are 32-bit little-endian numbers: extreme ones in their place."""
    data = bytearray(data)
    at = rng.randrange(max(1, len(data) - 4))
    data[at:at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f"])
    return bytes(data)


def entry_mutated(data, rng):
    """Damage behind a right CRC: what only the loader itself can notice."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a"), os.path.join(folder, "b")
        with open(source, "wb") as file:
            file.write(data)
        with zipfile.ZipFile(source) as read, zipfile.ZipFile(target, "w") as written:
            names = read.namelist()
            chosen = rng.choice(names)
            for name in names:
                content = read.read(name)
                if name == chosen and content:
                    content = rng.choice([flipped, cut, numbers_replaced])(content, rng)
                written.writestr(name, content)
        with open(target, "rb") as file:
            return file.read()


def mutated(data, rng):
    return rng.choice([flipped, cut, numbers_replaced, entry_mutated, entry_mutated])(data, rng)


class Engine:
    """One worker that answers file after file; started anew when it died."""

    def __init__(self, program):
        self.program, self.process, self.number = program, None, 0

    def survives(self, path):
        """Whether the engine answered `inspect` of the file, whatever the answer."""
        if self.process is None:
            self.process = subprocess.Popen([self.program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.number += 1
        watch = threading.Timer(PATIENCE_S, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(json.dumps({"id": self.number, "method": "inspect", "params": {"model": path, "target": "cuda"}}) + "\n")
            self.process.stdin.flush()
            while line := self.process.stdout.readline():
                if json.loads(line).get("id") == self.number:
                    return True
        except (BrokenPipeError, ValueError):
            pass
        finally:
            watch.cancel()
        self.process.kill()
        self.process.wait()
        self.process = None
        return False


def fault_of(ulpscope, path):
    """What is wrong with the command line's answer; empty: nothing."""
    try:
        done = subprocess.run([ulpscope, "inspect", path], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return "no answer"
    if done.returncode not in DOCUMENTED:
        return f"exit code {done.returncode}"
    said = [line for line in done.stderr.splitlines() if line.startswith("ulpscope: ")]
    return "" if done.returncode == 0 or len(said) == 1 else f"{len(said)} lines of error: {done.stderr[:300]}"


def main(arguments):
    ulpscope, program, rounds, models = arguments[0], arguments[1], int(arguments[2]), arguments[3:]
    engine, deaths, faults, tried = Engine(program), 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ts")
        for model in models:
            with open(model, "rb") as file:
                data = file.read()
            for number in range(rounds):
                with open(path, "wb") as file:
                    file.write(mutated(data, random.Random(zlib.crc32(data) * 100003 + number)))
                tried += 1
                if engine.survives(path):
                    continue
                deaths += 1
                if fault := fault_of(ulpscope, path):
                    faults.append(f"{model}, round {number}: {fault}")
    print("RESULT", json.dumps({"name": "mutated_model_files", "tried": tried, "engine_deaths": deaths, "faults": len(faults)}))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
