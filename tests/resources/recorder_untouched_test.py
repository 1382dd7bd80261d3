"""The recorder changes nothing of the user's: no copy, pickle or state_dict meets it, and it tells what a loop does of which objects.

recorder_untouched_test.py ULPSCOPE RESOURCES README
"""
import copy
import io
import sys
import unittest
from unittest import mock

import torch

from training_loop import CpuScaler, Scratch, make_scaler
from ulpscope_recorder import RecorderError, TrainingRecorder, fp32_region, record


def saved(value):
    """As torch.save writes it, without the archive's own name and times."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


class CopiesInALoop(Scratch):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.net, self.x = torch.nn.Sequential(torch.nn.Linear(4, 3)), torch.randn(2, 4)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)

    def recorder(self):
        return TrainingRecorder(self.log, self.optimizer, scheduler=self.scheduler, quiet=True)

    def train(self):
        self.optimizer.zero_grad()
        self.net(self.x).sum().backward()
        self.optimizer.step()
        self.scheduler.step()

    def test_a_copys_gradients_are_its_own(self):
        with self.recorder():
            self.train()
            twin = copy.deepcopy(self.net)
            twin(self.x).sum().backward()
            twin.zero_grad(set_to_none=True)
            self.assertIsNone(twin[0].weight.grad)
            self.assertIsNotNone(self.net[0].weight.grad)
        self.assertFalse(twin._forward_pre_hooks or twin._forward_hooks)
        self.assertEqual(self.events(), ["zero_grad", "forward", "backward", "step", "scheduler_step"])

    def test_a_copied_optimizer_and_scheduler_are_none_of_the_loops(self):
        with self.recorder():
            self.train()
            net, scheduler = copy.deepcopy((self.net, self.scheduler))
            for thing in (scheduler.optimizer, scheduler):
                thing.step()
            scheduler.optimizer.zero_grad()
            net.zero_grad()
        self.assertEqual(self.scheduler.last_epoch, 1)
        self.assertEqual(scheduler.last_epoch, 2)
        self.assertEqual(self.events().count("step") + self.events().count("scheduler_step"), 2)

    def test_what_is_saved_is_what_is_saved_without_it(self):
        parts = lambda: {"model": self.net, "optimizer": self.optimizer.state_dict(), "scheduler": self.scheduler.state_dict(), "weights": self.net.state_dict()}
        self.train()
        plain, names = saved(parts()), set(vars(self.net))
        with self.recorder():
            self.assertEqual(saved(parts()), plain)
            self.assertEqual(set(vars(self.net)), names)
        self.assertEqual(saved(parts()), plain)

    def test_a_schedulers_state_in_a_fresh_one(self):
        with self.recorder():
            self.train()
            state = copy.deepcopy(self.scheduler.state_dict())
        fresh = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(self.net.parameters(), 0.1), 2)
        fresh.load_state_dict(state)
        fresh.optimizer.step()
        fresh.step()
        self.assertEqual((fresh.last_epoch, self.scheduler.last_epoch), (2, 1))

    def test_another_model_of_the_class_is_not_the_loops(self):
        other = torch.nn.Sequential(torch.nn.Linear(4, 3))
        with self.recorder():
            other(self.x).sum().backward()
            other.zero_grad()
            torch.optim.SGD(other.parameters(), 0.1).step()
            self.train()
        self.assertEqual([e for e in self.events() if e != "loss"].count("step"), 1)
        self.assertEqual(self.events().count("forward"), 1)

    def test_two_recorders_closed_in_the_order_they_were_opened(self):
        places = [(torch.optim.SGD, "step"), (torch.optim.Optimizer, "zero_grad"), (torch.nn.Module, "zero_grad"), (torch.nn.Sequential, "forward"), (torch.autograd, "backward")]
        before = [getattr(*place) for place in places]
        a = self.recorder().start()
        b = TrainingRecorder(self.path("b.jsonl"), self.optimizer, quiet=True).start()
        self.train()
        a.close()
        self.train()
        b.close()
        self.assertEqual(before, [getattr(*place) for place in places])
        self.assertEqual((self.events().count("step"), [e["event"] for e in self.lines(b.path)[1:]].count("step")), (1, 2))


    def test_a_log_that_cannot_be_written_is_refused_before_and_told_after(self):
        self.log = self.path("none/loop.jsonl")
        with self.assertRaisesRegex(RecorderError, "none/loop.jsonl' cannot be written: No such file or directory; choose another name"):
            self.recorder().start()
        self.log = self.path("loop.jsonl")
        with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
            with self.recorder() as recorder:
                self.train()
        self.assertIn("not recorded: the end of the log: [Errno 28] No space left on device", str(recorder))
        self.assertEqual(self.scheduler.last_epoch, 1)

    def test_a_scripted_model(self):
        self.net = torch.jit.script(self.net)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
        with TrainingRecorder(self.log, self.optimizer, model=self.net, quiet=True):
            self.train()
        self.assertEqual(self.events(), ["zero_grad", "forward", "backward", "step"])


class Regions(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.net, self.x = torch.nn.Sequential(torch.nn.Linear(4, 3)), torch.randn(2, 4)

    def dtype(self, net=None):
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            return (net or self.net)(self.x).dtype

    def test_are_closed_in_any_order(self):
        plain = torch.nn.Linear.forward
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)):
            regions = [fp32_region(self.net, "0") for _ in range(3)]
            for which in order:
                self.assertEqual(self.dtype(), torch.float32)
                regions[which].close()
            self.assertEqual(self.dtype(), torch.bfloat16)
            self.assertIs(torch.nn.Linear.forward, plain)

    def test_a_copy_computes_with_its_own_weights_and_can_be_saved(self):
        with fp32_region(self.net, "0"):
            twin = copy.deepcopy(self.net)
            twin[0].weight.data.zero_()
            twin[0].bias.data.zero_()
            self.assertFalse(twin(self.x).any())
            self.assertEqual((self.dtype(), self.dtype(twin)), (torch.float32, torch.bfloat16))
            saved(self.net)
            self.assertNotIn("forward", vars(self.net[0]))

    def test_an_own_forward_stays_the_modules(self):
        own = self.net[0].forward = lambda x: torch.nn.functional.linear(x, self.net[0].weight) * 2
        with fp32_region(self.net, "0"):
            self.assertEqual(self.dtype(), torch.float32)
        self.assertIs(self.net[0].forward, own)


class ARecordedModel(Scratch):
    def test_keeps_weights_buffers_and_modes_to_the_bit(self):
        for number, (training, train) in enumerate(((False, False), (True, False), (True, True))):
            torch.manual_seed(1)
            net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3)).train(training)
            net(torch.randn(5, 6))
            net[0].weight.data[0, 0], net[1].running_mean[1] = -0.0, -0.0
            bits = lambda: {name: t.numpy().tobytes() for name, t in net.state_dict().items()}
            before, modes, names = bits(), [m.training for m in net.modules()], [sorted(vars(m)) for m in net.modules()]
            record(net, torch.randn(40, 6), autocast="bf16", train=train, fp32=["3"], out=self.path(f"{number}.ulps"), decide="argmax", batch_size=16, quiet=True)
            self.assertEqual(before, bits())
            self.assertEqual((modes, names), ([m.training for m in net.modules()], [sorted(vars(m)) for m in net.modules()]))


class LoopsOfSeveral(Scratch):
    """Optimizers that share a backward."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.net, self.x = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)), torch.randn(8, 4)

    def parts(self, *names):
        return {name: torch.optim.SGD(part.parameters(), lr=0.01) for name, part in zip(names, self.net)}

    def test_one_scaled_loss(self):
        def train(reached):
            for optimizer in optimizers.values():
                optimizer.zero_grad()
            hidden = self.net[0](self.x)
            out = self.net[2](self.net[1](hidden if reached == 3 else hidden.detach()))
            scaler.scale(out.mean()).backward()
            for name in list(optimizers)[3 - reached:]:
                scaler.step(optimizers[name])
            scaler.update()
        for reached in (3, 2):
            self.log, optimizers, scaler = self.path(f"{reached}.jsonl"), self.parts("a", "b", "c"), make_scaler()
            with TrainingRecorder(self.log, optimizers, scaler=scaler, quiet=True) as recorder:
                for _ in range(3):
                    train(reached)
                    recorder.next_iteration()
            self.assertEqual(self.violations(), [])

    def test_one_scaled_and_one_forgotten(self):
        optimizers, scaler = self.parts("a", "b", "c"), make_scaler()
        with TrainingRecorder(self.log, optimizers, scaler=scaler, quiet=True):
            for number in range(3):
                for optimizer in optimizers.values():
                    optimizer.zero_grad()
                loss = self.net(self.x).mean()
                (loss if number == 1 else scaler.scale(loss)).backward()
                for optimizer in optimizers.values():
                    scaler.step(optimizer)
                scaler.update()
        self.assertEqual(self.violations(), [(1, "loss_not_scaled")])

    def adversaries(self, clear, steps=4):
        """The loop of pytorch/examples' DCGAN: the generator's loss reaches the critic, which is cleared before its own."""
        critic = torch.nn.Linear(4, 1)
        optimizers = {"generator": torch.optim.SGD(self.net[0].parameters(), lr=0.01), "critic": torch.optim.SGD(critic.parameters(), lr=0.01)}
        whole = torch.nn.ModuleDict({"critic": critic, "generator": self.net[0]})
        with TrainingRecorder(self.log, optimizers, model=whole, quiet=True):
            for _ in range(steps):
                clear(critic, optimizers["critic"])
                critic(self.x).mean().backward()
                fake = self.net[0](self.x)
                (-critic(fake.detach()).mean()).backward()
                optimizers["critic"].step()
                self.net[0].zero_grad()
                critic(fake).mean().backward()
                optimizers["generator"].step()
        return [rule for _, rule in self.violations()]

    def test_a_critic_that_is_cleared_before_it_is_used(self):
        def by_hand(critic, _):
            for p in critic.parameters():
                p.grad = None
        clears = [lambda critic, _: critic.zero_grad(), lambda _, optimizer: optimizer.zero_grad(), by_hand]
        for number, clear in enumerate(clears):
            self.log = self.path(f"{number}.jsonl")
            self.assertEqual(self.adversaries(clear), [])
            backwards = [(e["iteration"], e["optimizer"]) for e in self.lines()[1:] if e["event"] == "backward"]
            self.assertEqual(backwards, [(i, name) for i in range(4) for name in ("critic", "critic", "generator")], number)

    def test_a_critic_that_nobody_clears(self):
        self.assertIn("zero_grad_missing", self.adversaries(lambda *_: None))


class ScalersOfOtherMakes(Scratch):
    class Inherited(CpuScaler):
        pass

    class Extended(CpuScaler):
        def scale(self, loss):
            return super().scale(loss)

        def step(self, optimizer, *args):
            return super().step(optimizer, *args)

    def train(self, scaler, loss_of, steps=3):
        torch.manual_seed(0)
        net, x = torch.nn.Linear(4, 1), torch.randn(8, 4)
        optimizer, self.losses = torch.optim.SGD(net.parameters(), lr=0.01), []
        with TrainingRecorder(self.log, optimizer, scaler=scaler, quiet=True) as self.recorder:
            for _ in range(steps):
                optimizer.zero_grad()
                loss = net(x).square().mean()
                self.losses.append(loss.item())
                loss_of(loss, net).backward()
                scaler.step(optimizer)
                scaler.update()
        return [row.get("loss") for row in self.lines(self.recorder.ledger_path)[1:]]

    def test_by_inheritance(self):
        for number, kind in enumerate((self.Inherited, self.Extended)):
            self.log, scaler = self.path(f"{number}.jsonl"), kind(1024, 4)
            self.assertEqual(self.train(scaler, lambda loss, _: scaler.scale(loss)), self.losses)
            self.assertEqual(self.events()[1:7], ["zero_grad", "forward", "scale", "backward", "step", "update"])
            self.assertEqual(self.violations(), [])

    def test_the_loss_is_exact_or_nothing(self):
        scaler = CpuScaler(1024, 100)
        losses = {"half": (lambda loss, _: scaler.scale(loss) / 2, 0.5), "sum": (lambda loss, _: scaler.scale(loss) + scaler.scale(loss), 2),
                  "unseen": (lambda loss, _: loss * scaler._scale, None), "penalty": (lambda loss, net: scaler.scale(loss) + net.weight.sum(), None)}
        for name, (loss_of, share) in losses.items():
            self.log = self.path(name + ".jsonl")
            found = self.train(scaler, loss_of)
            self.assertEqual(found, [None] * 3 if share is None else [share * loss for loss in self.losses], name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
