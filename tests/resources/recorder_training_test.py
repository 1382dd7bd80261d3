"""The training recorder logs what a loop calls, which Ulpscope judges, and changes no number of the training.

recorder_training_test.py ULPSCOPE RESOURCES README
"""
import contextlib
import inspect
import io
import sys
import unittest
from unittest import mock

import torch
from torch.nn.utils import clip_grad_norm_
from torch.utils.checkpoint import checkpoint

from training_loop import Loop, Scratch, has_cpu_scaler, make_scaler
import ulpscope_recorder
from ulpscope_recorder import RecorderError, TrainingRecorder


def is_off():
    return torch.cuda.amp.GradScaler(enabled=False)


def two_losses(recorder=lambda _: contextlib.nullcontext(), steps=3, critic_steps=1):
    """Critic and generator, each with an optimizer, gradients of two halves of the batch added up; gives the weights."""
    torch.manual_seed(3)
    nets = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)]
    optimizers = {"generator": torch.optim.Adam(nets[0].parameters()), "critic": torch.optim.SGD(nets[1].parameters(), lr=0.1)}
    x = torch.randn(16, 4)
    losses = {"critic": lambda part: nets[1](nets[0](part).detach()).mean(), "generator": lambda part: -nets[1](nets[0](part)).mean()}
    with recorder(optimizers):
        for _ in range(steps):
            for name in ["critic"] * critic_steps + ["generator"]:
                for optimizer in optimizers.values():
                    optimizer.zero_grad()
                for part in x.split(8):
                    (losses[name](part) / 2).backward()
                torch.nn.utils.clip_grad_value_(optimizers[name].param_groups[0]["params"], 0.1)
                optimizers[name].step()
    return torch.cat([p.detach().flatten() for net in nets for p in net.parameters()])


def by_closure(recorder=lambda _: contextlib.nullcontext()):
    torch.manual_seed(3)
    net, x, y = torch.nn.Linear(4, 1), torch.randn(16, 4), torch.randn(16, 1)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss
    with recorder(optimizer):
        for _ in range(3):
            optimizer.step(closure)
    return torch.cat([p.detach().flatten() for p in net.parameters()])


class ChangesNoNumber(Scratch):
    def alike(self, make, **options):
        self.log = self.path(f"{self.count}.jsonl")
        self.count += 1
        plain, state = make().run(), torch.get_rng_state()
        recorded = make()
        self.recorded(recorded, **options)
        self.assertTrue(torch.equal(plain.state(), recorded.state()))
        self.assertEqual(plain.losses, recorded.losses)
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
    count = 0

    def test_weights_buffers_and_moments_are_the_same_bits(self):
        for options in ({}, {"ledger": False}, {"gradients": True, "digests": True}):
            self.alike(Loop, **options)
            self.alike(lambda: Loop(scaled=False), **options)
            self.alike(lambda: Loop(scaled=is_off()), **options)
            self.alike(lambda: Loop(mistake="overflow"), **options)

    def test_of_the_optimizers_other_kernels(self):
        for option in ("foreach", "fused"):
            if option in inspect.signature(torch.optim.AdamW.__init__).parameters and (option == "foreach" or has_cpu_scaler()):
                self.alike(lambda option=option: Loop(**{option: True}), gradients=True)

    def test_with_two_optimizers_and_accumulated_gradients(self):
        recorded = two_losses(lambda optimizers: TrainingRecorder(self.log, optimizers, accumulation=2, quiet=True))
        self.assertTrue(torch.equal(two_losses(), recorded))
        events = self.lines()[1:]
        self.assertEqual([e.get("optimizer") for e in events if e["event"] == "step"], ["critic", "generator"] * 3)
        self.assertEqual([e.get("optimizer") for e in events if e["event"] == "clip"], ["critic", "generator"] * 3)
        self.assertEqual({e["iteration"] for e in events}, {0, 1, 2})

    def test_with_a_closure(self):
        recorded = by_closure(lambda optimizer: TrainingRecorder(self.log, optimizer, quiet=True))
        self.assertTrue(torch.equal(by_closure(), recorded))
        self.assertEqual(self.events().count("step"), 3)
        self.assertGreater(self.events().count("backward"), 3)
        self.assertEqual(self.violations(), [])

    def test_goes_on_where_recording_fails(self):
        with mock.patch.object(ulpscope_recorder, "norm_of", side_effect=RuntimeError("no norm")):
            recorder = self.recorded(loop := Loop())
        self.assertTrue(torch.equal(Loop().run().state(), loop.state()))
        self.assertIn("RuntimeError: no norm", str(recorder))
        self.assertEqual(self.events().count("step"), 6)

    def test_waits_for_the_device_once_an_iteration_or_never(self):
        waits = []
        read = {name: getattr(torch.Tensor, name) for name in ("item", "tolist", "__bool__", "__float__", "__int__", "numpy", "cpu")}

        def counting(name):
            def call(tensor, *args):
                waits.append(name)
                return read[name](tensor, *args)
            return call

        def count(**options):
            waits.clear()
            self.log = self.path(f"{len(options)}{options.get('ledger')}.jsonl")
            with contextlib.ExitStack() as stack:
                for name in read:
                    stack.enter_context(mock.patch.object(torch.Tensor, name, counting(name)))
                loop = Loop()
                loop.rows = None
                with TrainingRecorder(self.log, loop.optimizer, scaler=loop.scaler, scheduler=loop.scheduler, quiet=True, **options) if options else contextlib.nullcontext():
                    loop.run()
            return len(waits)
        plain = count()
        self.assertEqual(count(ledger=False), plain)
        self.assertEqual(count(ledger=True), plain + 6)
        self.assertEqual(count(ledger=True, gradients=True), plain + 6)

    def test_puts_everything_back(self):
        places = [(torch.autograd, "backward"), (torch.nn.utils, "clip_grad_norm_"), (sys.modules[__name__], "clip_grad_norm_"), (torch.autocast, "__enter__"), (torch.autocast, "__exit__"),
                  (type(make_scaler()), "update"), (torch.cuda.amp.GradScaler, "__init__")]
        now = lambda: [getattr(holder, name) for holder, name in places]
        before, loop = now(), Loop()
        with self.assertRaises(ZeroDivisionError):
            with TrainingRecorder(self.log, loop.optimizer, scaler=loop.scaler, scheduler=loop.scheduler, quiet=True):
                self.assertFalse(any(a is b for a, b in zip(before, now())))
                loop.iteration("")
                raise ZeroDivisionError
        self.assertEqual(before, now())
        for thing, name in ((loop.model, "zero_grad"), (loop.optimizer, "zero_grad")):
            self.assertNotIn(name, vars(thing))
        self.assertFalse(loop.model._forward_pre_hooks)
        self.assertGreater(len(self.lines()), 8)  # what was called until then stands in the log

    def test_leaves_a_wrapper_that_came_later(self):
        loop = Loop()
        with TrainingRecorder(self.log, loop.optimizer, quiet=True):
            inner = loop.optimizer.zero_grad
            loop.optimizer.zero_grad = outer = lambda *args: inner(*args)
        self.assertIs(loop.optimizer.zero_grad, outer)
        loop.run()


class Logs(Scratch):
    def test_the_calls_in_their_order(self):
        self.recorded(Loop(steps=1))
        head, *events = self.lines()
        self.assertEqual(head, {"ulpscope_events": 1, "optimizers": ["optimizer"], "scaler": True, "autocast": True, "accumulation": 1})
        self.assertEqual([e["event"] for e in events], ["new_scaler", "zero_grad", "autocast_begin", "forward", "autocast_end", "scale", "backward", "unscale_", "clip",
                                                        "step", "update", "scheduler_step"])
        self.assertTrue(events[9]["applied"])

    def test_an_order_that_is_right(self):
        for number, scaled in enumerate((True, False, is_off())):
            self.log = self.path(f"{number}.jsonl")
            self.recorded(Loop(scaled))
            self.assertEqual(self.violations(), [])
            self.assertEqual(self.lines()[0]["scaler"], scaled is True)

    def test_each_mistake_where_it_is_made(self):
        for mistake in ("backward_in_autocast", "optimizer_step_direct", "update_missing", "schedule_on_skipped_update", "clip_before_unscale"):
            if has_cpu_scaler() and mistake in ("update_missing", "optimizer_step_direct"):
                continue  # PyTorch's own raises
            self.log = self.path(mistake + ".jsonl")
            self.recorded(Loop(mistake=mistake))
            self.assertIn((2, mistake), self.violations())
        self.log = self.path("zero.jsonl")
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

    def test_a_critic_that_steps_more_often(self):
        two_losses(lambda optimizers: TrainingRecorder(self.log, optimizers, accumulation=2, quiet=True), critic_steps=2)
        self.assertEqual([(e["iteration"], e["optimizer"]) for e in self.lines()[1:] if e["event"] == "step"],
                         [(i, name) for i in (0, 2, 4) for i, name in ((i, "critic"), (i + 1, "critic"), (i + 1, "generator"))])
        self.assertEqual(self.violations(), [])

    def test_says_what_it_cost(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.recorded(Loop(), quiet=False)
        self.assertRegex(said.getvalue(), r"loop\.jsonl: 67 events of 6 iterations; recording took [\d.]+ ms \([\d.]+ to begin, [\d.]+ an iteration\), [\d.]+ % of the [\d.]+ s")

    def test_never_over_a_log_that_exists(self):
        self.recorded(Loop(steps=1))
        with self.assertRaisesRegex(RecorderError, "exists; choose another name"):
            self.recorded(Loop(steps=1))


class LoopsOfOtherMakes(Scratch):
    """One step each, `train`, whose log must hold what is wrong, and nothing that is not."""

    def setUp(self):
        super().setUp()
        self.net, self.x = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)), torch.randn(8, 4)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def log_of(self, train, steps=3, **options):
        with TrainingRecorder(self.log, self.optimizer, quiet=True, **options) as recorder:
            for _ in range(steps):
                train()
        self.recorder = recorder
        return self.events()

    def plain(self, clear=None):
        (clear or self.optimizer.zero_grad)()
        self.net(self.x).mean().backward()
        self.optimizer.step()

    def bf16(self):
        return torch.autocast("cpu", torch.bfloat16)

    def test_fp32_without_anything(self):
        self.assertEqual(self.log_of(self.plain), ["zero_grad", "forward", "backward", "step"] * 3)
        self.assertFalse(self.lines()[0]["autocast"])
        self.assertEqual(self.violations(), [])

    def test_gradients_cleared_by_hand(self):
        def drop():
            for p in self.net.parameters():
                p.grad = None

        def fill():
            for p in self.net.parameters():
                if p.grad is not None:
                    p.grad.zero_()
        for number, clear in enumerate((drop, fill, self.net.zero_grad)):
            self.log = self.path(f"{number}.jsonl")
            self.assertGreater(self.log_of(lambda clear=clear: self.plain(clear)).count("zero_grad"), 1)
            self.assertEqual(self.violations(), [])
        self.log = self.path("never.jsonl")
        self.log_of(lambda: self.plain(lambda: None))
        self.assertIn("zero_grad_missing", {rule for _, rule in self.violations()})

    def test_clipping_by_an_imported_name(self):
        def train():
            self.optimizer.zero_grad()
            self.net(self.x).mean().backward()
            clip_grad_norm_(self.net.parameters(), 1.0)
            self.optimizer.step()
        self.assertEqual(self.log_of(train).count("clip"), 3)

    def test_autocast_around_all_of_the_loop(self):
        with self.bf16():
            self.log_of(self.plain)
        self.assertTrue(self.lines()[0]["autocast"])
        self.assertEqual({rule for _, rule in self.violations()}, {"backward_in_autocast"})

    def test_a_forward_outside_autocast(self):
        def train(inside):
            self.optimizer.zero_grad()
            with self.bf16() if inside else contextlib.nullcontext():
                loss = self.net(self.x).mean()
            loss.backward()
            self.optimizer.step()
        turns = iter((True, True, False))
        self.log_of(lambda: train(next(turns)))
        self.assertEqual(self.violations(), [(2, "forward_outside_autocast")])

    def test_a_model_that_is_called_in_parts(self):
        def train():
            self.optimizer.zero_grad()
            with self.bf16():
                loss = self.net[1](self.net[0](self.x)).mean()
            loss.float().backward()
            self.optimizer.step()
        self.assertNotIn("forward", self.log_of(train))
        self.assertEqual(self.violations(), [])

    def test_a_look_at_the_validation_set_between(self):
        def train():
            self.optimizer.zero_grad()
            with self.bf16():
                loss = self.net(self.x).mean()
            loss.backward()
            self.optimizer.step()
            with torch.no_grad(), self.bf16():
                self.net(self.x)
            self.net.eval()(self.x)  # somebody forgot no_grad
            self.net.train()
        self.assertEqual(self.log_of(train).count("forward"), 3)
        self.assertEqual({e["iteration"] for e in self.lines()[1:]}, {0, 1, 2})
        self.assertEqual(self.violations(), [])

    def test_a_checkpoint_of_activations_is_no_second_backward(self):
        def train():
            self.optimizer.zero_grad()
            x = self.x.clone().requires_grad_()
            loss = self.net(checkpoint(self.net[0], x, use_reentrant=True)).mean()
            loss.backward()
            self.optimizer.step()
        self.assertEqual(self.log_of(train).count("backward"), 3)
        self.assertEqual(self.violations(), [])

    def test_a_scaler_that_nobody_gave(self):
        scaler = make_scaler()
        if not has_cpu_scaler():
            self.skipTest("a scaler of PyTorch's own, which is on without CUDA, is of 2.3 or later")

        def train():
            self.optimizer.zero_grad()
            scaler.scale(self.net(self.x).mean()).backward()
            scaler.step(self.optimizer)
            scaler.update()
        self.assertIn("scale", self.log_of(train))
        self.assertTrue(self.lines()[0]["scaler"])
        self.assertEqual(self.violations(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
