"""The training recorder logs what a loop calls, which Ulpscope judges, and changes no number of the training.

recorder_training_test.py ULPSCOPE RESOURCES README
"""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import torch

ULPSCOPE, RESOURCES = sys.argv[1:3]
sys.path.insert(0, os.path.join(RESOURCES, "python"))
from ulpscope_recorder import RecorderError, TrainingRecorder  # noqa: E402


class CpuScaler:
    """torch.amp.GradScaler's rules on the CPU, where PyTorch 1.13 has none (its grad_scaler.py)."""

    def __init__(self, scale=1024.0):
        self._scale, self._unscaled, self._found = torch.tensor(scale), {}, {}

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
        self._scale.mul_(0.5 if any(self._found.values()) else 1.0)
        self._unscaled, self._found = {}, {}


class Loop:
    """A training of its own; `mistake` makes one in the third iteration."""

    def __init__(self, scaled=True, mistake="", steps=6):
        torch.manual_seed(5)
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(16, 3))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
        self.scaler = CpuScaler() if scaled else None
        self.x, self.y = torch.randn(64, 8), torch.randint(3, (64,))
        self.mistake, self.steps, self.losses = mistake, steps, []

    def loss(self, mistake):
        poison = float("inf") if mistake in ("overflow", "schedule_on_skipped_update") else 1.0
        with torch.autocast("cpu", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(self.model(self.x).float(), self.y) * poison
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
        for i in range(self.steps):
            self.iteration(self.mistake if i == 2 else "")
        return self

    def state(self):
        moments = [v for s in self.optimizer.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
        return torch.cat([t.detach().double().flatten() for t in [*self.model.parameters(), *moments]])


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.log = os.path.join(self.folder, "loop.jsonl")

    def recorded(self, loop, **options):
        with TrainingRecorder(self.log, loop.optimizer, **dict({"scaler": loop.scaler, "scheduler": loop.scheduler, "model": loop.model, "quiet": True}, **options)) as recorder:
            loop.run()
        return recorder

    def lines(self, path=None):
        with open(path or self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def violations(self):
        done = subprocess.run([ULPSCOPE, "train", "--check-events", self.log, "--json", "-"], env=dict(os.environ, ULPSCOPE_DATA=RESOURCES), text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(v["step"], v["rule"]) for v in json.loads(done.stdout)["violations"]]


class ChangesNoNumber(Scratch):
    def test_weights_and_moments_are_the_same_bits(self):
        for scaled in (False, True):
            self.log = os.path.join(self.folder, f"{scaled}.jsonl")
            plain, recorded = Loop(scaled).run(), Loop(scaled)
            self.recorded(recorded)
            self.assertTrue(torch.equal(plain.state(), recorded.state()))
            self.assertEqual(plain.losses, recorded.losses)

    def test_with_two_optimizers_and_accumulated_gradients(self):
        def train(recorder=lambda *_: contextlib.nullcontext()):
            torch.manual_seed(3)
            nets = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)]
            optimizers = {"generator": torch.optim.Adam(nets[0].parameters()), "critic": torch.optim.SGD(nets[1].parameters(), lr=0.1)}
            x = torch.randn(16, 4)
            with recorder(optimizers):
                for _ in range(3):
                    for name, loss in (("critic", lambda part: nets[1](nets[0](part).detach()).mean()), ("generator", lambda part: -nets[1](nets[0](part)).mean())):
                        for optimizer in optimizers.values():
                            optimizer.zero_grad()
                        for part in x.split(8):
                            loss(part).backward()
                        torch.nn.utils.clip_grad_value_(next(iter(optimizers[name].param_groups))["params"], 0.1)
                        optimizers[name].step()
            return torch.cat([p.detach().flatten() for net in nets for p in net.parameters()])
        plain = train()
        recorded = train(lambda optimizers: TrainingRecorder(self.log, optimizers, accumulation=2, quiet=True))
        self.assertTrue(torch.equal(plain, recorded))
        events = self.lines()[1:]
        self.assertEqual([e.get("optimizer") for e in events if e["event"] == "step"], ["critic", "generator"] * 3)
        self.assertEqual([e.get("optimizer") for e in events if e["event"] == "clip"], ["critic", "generator"] * 3)
        self.assertEqual({e["iteration"] for e in events}, {0, 1, 2})

    def test_waits_for_the_device_once_an_iteration_or_never(self):
        waits = []
        read = {name: getattr(torch.Tensor, name) for name in ("item", "tolist", "__bool__", "__float__", "numpy", "cpu")}

        def counting(name):
            def call(tensor, *args):
                waits.append(name)
                return read[name](tensor, *args)
            return call

        def count(ledger):
            waits.clear()
            for name in read:
                setattr(torch.Tensor, name, counting(name))
            try:
                if ledger is None:
                    Loop().run()
                else:
                    self.log = os.path.join(self.folder, f"{ledger}.jsonl")
                    self.recorded(Loop(), ledger=ledger)
            finally:
                for name, original in read.items():
                    setattr(torch.Tensor, name, original)
            return len(waits)
        plain = count(None)
        self.assertEqual(count(False), plain)
        self.assertEqual(count(True), plain + 6)

    def test_puts_everything_back(self):
        before = torch.autograd.backward, torch.nn.utils.clip_grad_norm_, torch.autocast.__enter__, torch.autocast.__exit__
        loop = Loop()
        with self.assertRaises(ZeroDivisionError):
            with TrainingRecorder(self.log, loop.optimizer, scaler=loop.scaler, scheduler=loop.scheduler, model=loop.model, quiet=True):
                loop.iteration("")
                raise ZeroDivisionError
        self.assertEqual(before, (torch.autograd.backward, torch.nn.utils.clip_grad_norm_, torch.autocast.__enter__, torch.autocast.__exit__))
        for thing, name in ((loop.scaler, "step"), (loop.scaler, "update"), (loop.model, "zero_grad"), (loop.optimizer, "zero_grad")):
            self.assertNotIn(name, vars(thing))
        self.assertFalse(loop.model._forward_pre_hooks)
        self.assertGreater(len(self.lines()), 8)  # what was called until then stands in the log


class Logs(Scratch):
    def test_the_calls_in_their_order(self):
        self.recorded(Loop(steps=1))
        head, *events = self.lines()
        self.assertEqual(head, {"ulpscope_events": 1, "optimizers": ["optimizer"], "scaler": True, "autocast": True, "accumulation": 1})
        self.assertEqual([e["event"] for e in events], ["new_scaler", "zero_grad", "autocast_begin", "forward", "autocast_end", "scale", "backward", "unscale_", "clip",
                                                        "step", "update", "scheduler_step"])
        self.assertTrue(events[9]["applied"])

    def test_an_order_that_is_right(self):
        for scaled in (True, False):
            self.log = os.path.join(self.folder, f"{scaled}.jsonl")
            self.recorded(Loop(scaled))
            self.assertEqual(self.violations(), [])

    def test_each_mistake_where_it_is_made(self):
        for mistake in ("clip_before_unscale", "backward_in_autocast", "optimizer_step_direct", "update_missing", "schedule_on_skipped_update"):
            self.log = os.path.join(self.folder, mistake + ".jsonl")
            self.recorded(Loop(mistake=mistake))
            self.assertIn((2, mistake), self.violations())
        self.log = os.path.join(self.folder, "zero.jsonl")
        self.recorded(Loop(mistake="zero_grad_missing"))
        self.assertEqual([rule for _, rule in self.violations()], ["zero_grad_missing"])

    def test_a_step_that_was_skipped(self):
        self.recorded(Loop(mistake="overflow"))
        self.assertEqual([e["applied"] for e in self.lines()[1:] if e["event"] == "step"], [True, True, False, True, True, True])
        self.assertEqual(self.violations(), [])

    def test_a_loop_without_its_own_end_of_iterations(self):
        loop = Loop(scaled=False)
        with TrainingRecorder(self.log, loop.optimizer, quiet=True) as recorder:
            for _ in range(3):
                loop.iteration("")
                recorder.next_iteration()
        self.assertEqual({e["iteration"] for e in self.lines()[1:]}, {0, 1, 2})

    def test_a_ledger_of_the_same_losses(self):
        loop = Loop(mistake="overflow")
        recorder = self.recorded(loop)
        rows = self.lines(recorder.ledger_path)
        self.assertEqual([row["iteration"] for row in rows], list(range(6)))
        self.assertEqual([row["loss"] for row in rows], ["+inf" if loss == float("inf") else loss for loss in loop.losses])
        self.assertEqual([row["scale"] for row in rows], [1024, 1024, 1024, 512, 512, 512])  # that the step was made with
        self.assertEqual([row["applied"] for row in rows], [{"optimizer": applied} for applied in (True, True, False, True, True, True)])
        self.assertEqual(rows[0]["learning_rates"], {"optimizer": [1e-2]})

    def test_says_what_it_cost(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.recorded(Loop(), quiet=False)
        self.assertRegex(said.getvalue(), r"loop\.jsonl: 67 events of 6 iterations; recording took [\d.]+ ms, [\d.]+ % of the [\d.]+ s")

    def test_never_over_a_log_that_exists(self):
        self.recorded(Loop(steps=1))
        with self.assertRaisesRegex(RecorderError, "exists; choose another name"):
            self.recorded(Loop(steps=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
