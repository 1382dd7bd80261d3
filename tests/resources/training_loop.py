"""Training loops of a user's, for the tests of TrainingRecorder: their mistakes, their scaler, and what a checkpoint of them may forget."""
import copy
import inspect
import json
import os
import subprocess
import sys
import tempfile
import unittest

import torch

ULPSCOPE, RESOURCES = sys.argv[1:3]
sys.path.insert(0, os.path.join(RESOURCES, "python"))
from ulpscope_recorder import TrainingRecorder  # noqa: E402


class CpuScaler:
    """torch.amp.GradScaler's rules on the CPU, where PyTorch before 2.3 has none (its grad_scaler.py)."""

    def __init__(self, init_scale, growth_interval):
        self._scale, self._growth_tracker, self._growth_interval = torch.tensor(float(init_scale)), torch.tensor(0, dtype=torch.int32), growth_interval
        self._unscaled, self._found = {}, {}

    def is_enabled(self):
        return True

    def scale(self, loss):
        return loss * self._scale

    def unscale_(self, optimizer):
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        self._found[id(optimizer)] = any(not torch.isfinite(g).all() for g in gradients)
        for gradient in gradients:
            gradient.div_(self._scale)
        self._unscaled[id(optimizer)] = True

    def step(self, optimizer, *args):
        if not self._unscaled.get(id(optimizer)):
            self.unscale_(optimizer)
        return None if self._found[id(optimizer)] else optimizer.step(*args)

    def update(self):
        if any(self._found.values()):
            self._scale.mul_(0.5)
            self._growth_tracker.zero_()
        elif int(self._growth_tracker) + 1 == self._growth_interval:
            self._scale.mul_(2)
            self._growth_tracker.zero_()
        else:
            self._growth_tracker.add_(1)
        self._unscaled, self._found = {}, {}

    def state_dict(self):
        return {"scale": self._scale.item(), "_growth_tracker": self._growth_tracker.item()}

    def load_state_dict(self, state):
        self._scale.fill_(state["scale"])
        self._growth_tracker.fill_(state["_growth_tracker"])


def has_cpu_scaler():
    return hasattr(torch.amp, "GradScaler") and "device" in inspect.signature(torch.amp.GradScaler.__init__).parameters


def make_scaler():
    return torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4) if has_cpu_scaler() else CpuScaler(1024, 4)


class Loop:
    """A training of its own; `mistake` makes one in the third iteration."""

    def __init__(self, scaled=True, mistake="", steps=6, seed=5, **options):
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(16, 3))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2, **options)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
        self.scaler = make_scaler() if scaled is True else scaled or None
        self.data = torch.Generator().manual_seed(7)
        self.x, self.y = torch.randn(64, 8, generator=self.data), torch.randint(3, (64,), generator=self.data)
        self.mistake, self.steps, self.done, self.losses, self.recorder = mistake, steps, 0, [], None

    def loss(self, mistake):
        poison = float("inf") if mistake in ("overflow", "schedule_on_skipped_update") else 1.0
        rows = torch.randint(64, (32,), generator=self.data)
        if self.recorder:
            self.recorder.rows(rows)
        with torch.autocast("cpu", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(self.model(self.x[rows]).float(), self.y[rows]) * poison
            if mistake == "backward_in_autocast":
                self.backward(loss)
        if mistake != "backward_in_autocast":
            self.backward(loss)
        self.losses.append(loss.item())

    def backward(self, loss):
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def iteration(self, mistake):
        if mistake != "zero_grad_missing":
            self.optimizer.zero_grad()
        self.loss(mistake)
        if self.scaler and mistake != "clip_before_unscale":
            self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if self.scaler is None or mistake == "optimizer_step_direct":
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
        if self.scaler and mistake != "update_missing":
            self.scaler.update()
        if mistake != "overflow":
            self.scheduler.step()

    def run(self):
        while self.done < self.steps:
            self.iteration(self.mistake if self.done == 2 else "")
            self.done += 1
        return self

    def state(self):
        moments = [v for s in self.optimizer.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
        return torch.cat([t.detach().double().flatten() for t in [*self.model.parameters(), *self.model.buffers(), *moments]])

    def save(self):
        parts = {name: getattr(self, name).state_dict() for name in ("model", "optimizer", "scheduler", "scaler")}
        return copy.deepcopy({**parts, "rng": torch.get_rng_state(), "data": self.data.get_state(), "done": self.done})

    def load(self, saved, without=""):
        for name in ("model", "optimizer", "scheduler", "scaler"):
            if name != without:
                getattr(self, name).load_state_dict(copy.deepcopy(saved[name]))
        self.data.set_state(saved["data"])
        if without != "rng":
            torch.set_rng_state(saved["rng"])
        self.done = saved["done"]
        return self


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.log = self.path("loop.jsonl")

    def path(self, name):
        return os.path.join(self.folder, name)

    def recorded(self, loop, **options):
        with TrainingRecorder(self.log, loop.optimizer, **dict({"scaler": loop.scaler, "scheduler": loop.scheduler, "quiet": True}, **options)) as recorder:
            loop.recorder = recorder
            loop.run()
        return recorder

    def lines(self, path=None):
        with open(path or self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def events(self):
        return [e["event"] for e in self.lines()[1:]]

    def ulpscope(self, *words, code=0):
        done = subprocess.run([ULPSCOPE, *words], cwd=self.folder, env=dict(os.environ, ULPSCOPE_DATA=RESOURCES, NO_COLOR="1"), text=True, capture_output=True)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def document(self, *words, code=0):
        self.ulpscope(*words, "--json", self.path("document.json"), code=code)
        with open(self.path("document.json"), encoding="utf-8") as file:
            return json.load(file)

    def violations(self):
        return [(v["step"], v["rule"]) for v in self.document("train", "--check-events", self.log)["violations"]]
