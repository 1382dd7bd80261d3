"""How far FP32 is from itself, as the recorder measures it: what PyTorch gives on the same samples in reverse order, and what that says of flips.

recorder_floor_test.py RESOURCES
"""
import contextlib
import json
import os
import sys
import tempfile
import unittest

import h5py
import torch

sys.path.insert(0, os.path.join(sys.argv[1], "python"))
from ulpscope_recorder import record  # noqa: E402


class Placed(torch.nn.Module):
    """Scores that hang a little on the sample's place in its batch, which is what FP32's own noise amounts to."""

    def __init__(self, step):
        super().__init__()
        self.scores, self.step = torch.nn.Linear(2, 2, bias=False), step
        with torch.no_grad():
            self.scores.weight.copy_(torch.eye(2))

    def forward(self, x):
        place = torch.arange(len(x), dtype=torch.float32)[:, None] * torch.tensor([self.step, 0.0])
        return self.scores(x) + place


class Noise(torch.nn.Module):
    def forward(self, x):
        return x @ torch.eye(2) + torch.rand(2)


class Counter(torch.nn.Module):
    """Each forward leaves another number behind."""

    def __init__(self):
        super().__init__()
        self.scores = torch.nn.Linear(2, 2)
        self.register_buffer("calls", torch.tensor(0.0))

    def forward(self, x):
        self.calls += 1
        return self.scores(x) + 100 * self.calls


# bfloat16 makes 1 of 1.001: both scores tie, and the first wins where FP32 has the second.
X = torch.tensor([[1.0, 1.001], [1.0, 1.0005], [3.0, 1.0], [1.0, 1.0025], [2.0, 5.0], [1.0, 1.003]])


class Floors(unittest.TestCase):
    def record(self, model, x=X, **options):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "x.ulps")
            found = record(model, x, autocast="bf16", decide="argmax", out=out, quiet=True, **options)
            with h5py.File(out, "r") as file:
                self.stored = json.loads(file["run_0001/record"].asstr()[()])
                self.within = dict(zip(file["run_0001/flips/sample_id"].asstr()[:], map(bool, file["run_0001/flips/within_noise_floor"][:])))
                self.sites = dict(zip(file["run_0001/sites/op"].asstr()[:], zip(file["run_0001/sites/noise_floor_rel_l2"][:], file["run_0001/sites/has_noise_floor_rel_l2"][:])))
            return found

    def other_order(self, model, size):
        """FP32 in reverse order within each batch, back in its own."""
        with torch.no_grad():
            return torch.cat([model(part) for part in X.split(size)]), torch.cat([model(part.flip(0)).flip(0) for part in X.split(size)])

    def test_outputs_are_those_of_the_reverse_order(self):
        for size in (6, 4):
            model = Placed(1e-3)
            self.record(model, batch_size=size)
            a, b = (t.double() for t in self.other_order(model, size))
            floor = self.stored["noise_floor"]
            self.assertEqual(floor["outputs"][0]["max_abs"], (b - a).abs().max().item())
            self.assertAlmostEqual(floor["outputs"][0]["rel_l2"], ((b - a).norm(dim=1) / a.norm(dim=1)).max().item(), 14)
            self.assertEqual(floor["flips"], [str(i) for i in (a.argmax(1) != b.argmax(1)).nonzero().flatten().tolist()])
            self.assertEqual(floor["skipped"], "")

    def test_marks_flips_that_fp32_could_make_itself(self):
        model = Placed(1e-4)  # moves the first score by 5e-4, 3e-4, 1e-4, 1e-4, 3e-4, 5e-4
        flips = {f["sample_id"]: f["reference_margin"] for f in self.record(model).flips}
        moved = (5e-4, 3e-4, 1e-4, 1e-4, 3e-4, 5e-4)
        a, b = self.other_order(model, 6)
        self.assertEqual(self.within, {s: margin <= 2 * moved[int(s)] + 1e-9 or bool(a[int(s)].argmax() != b[int(s)].argmax()) for s, margin in flips.items()})
        self.assertEqual(set(self.within.values()), {True, False})

    def test_of_op_sites_by_the_first_batch(self):
        self.record(Placed(1e-3))
        self.assertEqual(self.sites["aten::linear"], (0, True))
        self.assertGreater(self.sites["aten::add"][0], 1e-4)

    def test_of_one_that_is_itself_whatever_the_order_there_is_none(self):
        self.record(Placed(0.0))
        self.assertEqual(self.stored["noise_floor"]["outputs"], [{"name": "output", "max_abs": 0, "rel_l2": 0}])
        self.assertFalse(any(self.within.values()))

    def test_is_left_out_with_the_reason(self):
        self.record(Noise())
        self.assertIn("draws random numbers", self.stored["noise_floor"]["skipped"])
        self.record(Placed(1e-3), noise_floor=False)
        self.assertIsNone(self.stored["noise_floor"])
        self.assertFalse(self.sites["aten::add"][1])

    def test_leaves_the_number_of_threads(self):
        before = torch.get_num_threads()
        with contextlib.suppress(Exception):
            self.record(Placed(1e-3))
        self.assertEqual(torch.get_num_threads(), before)


class State(unittest.TestCase):
    def test_what_a_forward_leaves_behind_is_the_same_in_both_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "x.ulps")
            model = Counter()
            found = record(model, X, autocast="bf16", out=out, quiet=True, batch_size=2)
            with torch.no_grad(), h5py.File(out + ".d/run-0001.tensors.h5", "r") as file:
                self.assertTrue(torch.equal(torch.from_numpy(file["run_0001/output_0/reference"][:]), torch.cat([model(part) for part in X.split(2)])))
            self.assertEqual(found.record["probe_check"], "identical")
            self.assertLess(found.record["outputs"][0]["max_abs"], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
