"""The recorder on models of its own: what it sees, counts, finds and writes, and what it leaves as it was.

recorder_test.py RESOURCES. Expected numbers are worked out here, by hand or in plain Python over single elements.
"""
import json
import math
import os
import struct
import sys
import tempfile
import unittest

import h5py
import numpy
import torch

RESOURCES = sys.argv[1]
sys.path.insert(0, os.path.join(RESOURCES, "python"))
import ulpscope_recorder as recorder  # noqa: E402
from ulpscope_recorder import RecorderError, fp32_region, record  # noqa: E402

LOWS = recorder.LOWS
NAN, INF = math.nan, math.inf


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.body = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(inplace=True))
        self.head = torch.nn.ModuleDict({"scores": torch.nn.Linear(8, 3)})

    def forward(self, x, bias=None):
        hidden = self.body(x)
        return {"scores": self.head["scores"](hidden) + (0 if bias is None else bias), "hidden": hidden}


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.out = os.path.join(self.folder, "x.ulps")

    def record(self, model, inputs, **options):
        return record(model, inputs, **dict({"autocast": "bf16", "out": self.out, "quiet": True}, **options))

    def column(self, name, run="run_0001"):
        with h5py.File(self.out, "r") as file:
            data = file[f"{run}/sites/{name}"]
            return (data.asstr()[:] if h5py.check_string_dtype(data.dtype) else data[:]).tolist()

    def ops(self):
        return list(zip(self.column("module"), self.column("op")))


def low_steps(x, low):
    """By struct and fractions: how many steps of the format lie between 0 and x rounded to nearest even."""
    bits = struct.unpack("<I", struct.pack("<f", abs(x)))[0]
    steps = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 if low.name == "bfloat16" else struct.unpack("<H", struct.pack("<e", abs(x)))[0] if abs(x) < 65520 else 0x7C00
    return -steps if math.copysign(1, x) < 0 else steps


class Numbers(unittest.TestCase):
    def of(self, a, b, low=torch.float16, **options):
        d = recorder.Divergence(numpy.array([a], numpy.float32), numpy.array([b], numpy.float32), LOWS[low], **options)
        return d, dict(zip(recorder.METRICS, d.metrics()[:, 0]))

    def test_of_a_pair_by_hand(self):
        d, m = self.of([3, -4, 0, 2], [3, -4.5, 1, 2])
        self.assertEqual((m["max_abs"], m["mean_abs"]), (1.0, 1.5 / 4))
        self.assertAlmostEqual(m["rel_l2"], math.sqrt(0.25 + 1) / math.sqrt(9 + 16 + 4), delta=1e-15)
        self.assertEqual(m["max_rel"], 1 / 2.0 ** -14)  # where the reference is 0, over the smallest normal
        self.assertAlmostEqual(m["sqnr_db"], 10 * math.log10(29 / 1.25), delta=1e-12)
        cosine = (9 + 18 + 4) / math.sqrt(29) / math.sqrt(9 + 20.25 + 1 + 4)
        self.assertAlmostEqual(m["cosine_distance"], 1 - cosine, delta=1e-15)
        self.assertEqual((m["share_over_tolerance"], int(d.differing[0])), (0.5, 2))
        self.assertEqual((m["reference_min"], m["reference_max"], m["reference_max_abs"], m["reference_smallest"]), (-4, 3, 4, 2))
        self.assertEqual(m["headroom_bits"], math.log2(65504 / 4))

    def test_of_values_that_are_not_finite(self):
        d, m = self.of([NAN, INF, 1, 1, -INF, 2], [NAN, -INF, NAN, INF, -INF, 2])
        self.assertEqual(d.only[0].tolist(), [1, 1, 1])  # NaN and -inf that the reference has too are none of the candidate's own
        self.assertEqual((d.in_a[0].tolist(), d.in_b[0].tolist()), ([1, 1, 1], [2, 1, 2]))
        self.assertEqual((int(d.pairs[0]), m["rel_l2"], m["max_abs"]), (1, 0, 0))
        self.assertEqual(m["share_over_tolerance"], 3 / 6)
        self.assertEqual((m["reference_max"], m["candidate_max"]), (2, 2))
        self.assertEqual(d.flags(False)[0], 1 | 2 | 4 | 8 | 64)

    def test_without_a_finite_pair_nothing_is_evaluated(self):
        for a, b in (([], []), ([NAN], [1]), ([INF], [INF])):
            _, m = self.of(a, b)
            for name in ("rel_l2", "max_abs", "mean_abs", "max_rel", "cosine_distance", "sqnr_db", "max_ulp", "reference_max"):
                self.assertTrue(math.isnan(m[name]) or (name == "reference_max" and not a), (name, a))

    def test_of_zeros(self):
        _, m = self.of([0, -0.0], [0, 0])
        self.assertEqual((m["rel_l2"], m["cosine_distance"], m["sqnr_db"], m["max_ulp"]), (0, 0, INF, 0))
        self.assertTrue(math.isnan(m["reference_smallest"]) and math.isnan(m["headroom_bits"]))
        _, m = self.of([0], [1])
        self.assertEqual((m["rel_l2"], m["cosine_distance"], m["sqnr_db"]), (INF, 1, -INF))

    def test_flushed_and_subnormal_are_those_of_the_low_format(self):
        a, b = [2.0 ** -25, 2.0 ** -24, 2.0 ** -14, 2.0 ** -15, 0, 1], [0, 0, 2.0 ** -14, 2.0 ** -15, 0, 0]
        d, m = self.of(a, b)
        self.assertEqual(m["share_flushed"], 1 / 6)  # 2^-25 rounds to zero, 2^-24 is a subnormal, 1 is a change of value
        self.assertEqual((m["share_subnormal_reference"], m["share_subnormal_candidate"]), (2 / 6, 1 / 6))
        _, m = self.of(a, b, torch.bfloat16)
        self.assertEqual((m["share_flushed"], m["share_subnormal_reference"]), (0, 0))

    def test_ulps_are_counted_in_steps_of_the_low_format(self):
        values = [0.0, -0.0, 1.0, 1.0009765625, -1.5, 65504, 65519.99, 65520, 1e-8, 2.0 ** -24, 3.1e38, -2.5e-40, 0.1, 1 / 3]
        for low in LOWS.values():
            steps = low.ordered(numpy.array(values, numpy.float32)).tolist()
            self.assertEqual(steps, [low_steps(numpy.float32(v), low) for v in values])
        _, m = self.of([1, 1], [1 + 2 ** -10, 1])
        self.assertEqual(m["max_ulp"], 1)

    def test_float64_is_rounded_once(self):
        just_above_a_tie = 1 + 2.0 ** -8 + 2.0 ** -40  # float32 rounds it to the tie, bfloat16's even neighbour of which is below
        self.assertEqual(LOWS[torch.bfloat16].ordered(numpy.array([just_above_a_tie])).tolist(), [0x3F81])
        self.assertEqual(LOWS[torch.bfloat16].ordered(numpy.array([1 + 2.0 ** -8])).tolist(), [0x3F80])

    def test_complex_numbers_are_compared_by_modulus(self):
        a, b = numpy.array([[3 + 4j, 1 + 0j]], numpy.complex64), numpy.array([[3 + 4j, 1 + 1j]], numpy.complex64)
        d = recorder.Divergence(a, b, LOWS[torch.float16])
        m = dict(zip(recorder.METRICS, d.metrics()[:, 0]))
        self.assertEqual((m["max_abs"], m["reference_max"], m["max_ulp"]), (1, 5, low_steps(1, LOWS[torch.float16])))
        self.assertAlmostEqual(m["rel_l2"], 1 / math.sqrt(26), delta=1e-15)
        small = numpy.array([[1e-9 + 1e-9j, 1e-9 + 1j]], numpy.complex64)  # of the second one part alone vanishes
        self.assertEqual(recorder.Divergence(small, numpy.zeros_like(small), LOWS[torch.float16]).flushed[0], 1)

    def test_whole_numbers_differ_or_not(self):
        big = 2 ** 53
        d = recorder.Divergence(numpy.array([[big, 1]]), numpy.array([[big + 1, 1]]), LOWS[torch.float16], ulp=False)
        self.assertEqual(int(d.differing[0]), 1)  # though both are one double

    def test_large_tensors_are_compared_piece_by_piece(self):
        generator = torch.Generator().manual_seed(7)
        a, b = (torch.randn(3, 50, generator=generator).numpy() for _ in range(2))
        a[1, 7], b[2, 30], b[0, 49] = INF, NAN, 1e-30
        whole = recorder.Divergence(a, b, LOWS[torch.bfloat16])
        self.addCleanup(setattr, recorder, "CHUNK", recorder.CHUNK)
        for recorder.CHUNK in (7, 64):
            parts = recorder.Divergence(a, b, LOWS[torch.bfloat16])
            numpy.testing.assert_allclose(parts.metrics(), whole.metrics(), rtol=1e-14)
            numpy.testing.assert_array_equal(parts.flags(False), whole.flags(False))

    def test_xxh3_is_that_of_the_specification(self):
        # XXH3_64bits of xxHash 0.8.1 over byte i = (131 i + 7 (i >> 8)) mod 256.
        data = bytes((i * 131 + (i >> 8) * 7) & 255 for i in range(100000))
        known = {0: "2d06800538d394c2", 1: "c44bdff4074eecdb", 3: "6811538b444fc6dc", 4: "ed503340c589a28b", 8: "e5b43ab074c9c13b", 9: "089b8d25b20fb877",
                 16: "0a0ec5ae8679cb7f", 17: "57c52d21ce492c1e", 32: "8e62a5f67100f10d", 33: "bc16fc6b42571f75", 64: "7714914b0d794113",
                 97: "0c5de55821283dde", 128: "696069c4f1e6a91a", 129: "b1ada52285757beb", 240: "b80284837259eee4",
                 241: "44dbd3180a664e27", 1024: "d1abb5dbd52032f9", 1025: "a3908b116ddf0191", 2049: "e09d2fe2edf7e1d5",
                 65536: "c4717f32a25f9b2b", 99999: "d5d7111bb7d1d7e1"}
        for size, value in known.items():
            self.assertEqual(f"{recorder.xxh3(data[:size]):016x}", value, size)


class Axes(unittest.TestCase):
    def found(self, function, samples=4):
        x = torch.arange(1.0, samples * 6 + 1).reshape(samples, 6)
        evidence = recorder.AxisEvidence()
        for replaced in (0, samples - 1):
            y = x.clone()
            y[replaced] = x[1] + 0.5
            evidence.replace(function(x).numpy(), function(y).numpy(), samples, replaced)
        evidence.shrink(function(x).numpy(), function(x[:-1]).numpy(), samples)
        return evidence.axis()

    def test_are_found_by_what_a_sample_changes(self):
        for expected, function in {"0": lambda x: x * 2, "1": lambda x: x.t() * 2, "0:batch*n": lambda x: x.reshape(-1, 3), "0:n*batch": lambda x: x.t().reshape(-1),
                                   "whole_batch": lambda x: x.sum(), "2": lambda x: x.t().reshape(2, 3, len(x))}.items():
            self.assertEqual(self.found(function), expected)

    def test_are_not_taken_from_a_size(self):
        self.assertEqual(self.found(lambda x: x[:, :4].t() * 2, samples=4), "1")

    def test_are_unknown_where_two_could_be_meant(self):
        self.assertEqual(self.found(lambda x: torch.diag(x[:, 0])), "whole_batch")

    def test_of_samples_that_hang_on_each_other_stay_their_own(self):
        self.assertEqual(self.found(lambda x: x - x.mean(0) / 8), "0")

    def test_are_unknown_where_samples_are_sorted(self):
        self.assertEqual(self.found(lambda x: x.sort(0, descending=True)[0]), "whole_batch")


class WhatItSees(Scratch):
    def test_ops_in_their_modules_as_named_modules_writes_them(self):
        self.record(Net(), torch.randn(5, 6))
        self.assertEqual(self.ops(), [("body.0", "aten::linear"), ("body.1", "aten::relu_"), ("head.scores", "aten::linear"), ("", "aten::add")])
        self.assertEqual(self.column("policy")[:3], ["lower_precision_fp", "none", "lower_precision_fp"])
        self.assertEqual(self.column("sample_axis"), ["0"] * 4)
        self.assertRegex(self.column("source")[3], r"^recorder_test\.py:\d+$")

    def test_an_op_written_in_place_is_judged_before_and_after(self):
        # ReLU in place must not be taken for what the linear layer made (a defect of hooks that keep references).
        self.record(Net(), torch.randn(64, 6))
        self.assertLess(self.column("reference_min")[0], 0)
        self.assertEqual(self.column("reference_min")[1], 0)

    def test_views_have_no_numbers_of_their_own(self):
        class Views(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.fc(x).view(-1, 2, 2)[:2, 0].transpose(0, 1).contiguous()
        self.record(Views(), torch.randn(3, 4))
        by_op = dict(zip(self.column("op"), zip(self.column("view_of"), self.column("rel_l2"))))
        self.assertEqual({op for op, (view, number) in by_op.items() if view and math.isnan(number)}, {"aten::view", "aten::slice", "aten::select", "aten::transpose"})
        self.assertGreater(by_op["aten::contiguous"][1], 0)

    def test_the_fast_path_that_hides_its_ops_is_not_taken(self):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        self.record(layer, torch.randn(4, 5, 8), disable=["norm1", "norm2"])
        self.assertIn(("linear1", "aten::linear"), self.ops())
        self.assertTrue({"aten::softmax", "aten::scaled_dot_product_attention"} & set(self.column("op")))  # before 2.0, and since

    def test_control_flow_that_parts_is_a_finding(self):
        class Parting(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(4, 4)

            def forward(self, x):
                y = self.fc(x)
                return y.exp() if y.dtype == torch.float32 else y.tanh()
        found = self.record(Parting(), torch.randn(3, 4)).record["control_flow"]
        self.assertEqual({(f["op"], f["what"]) for f in found}, {("aten::exp", "ran in the reference only"), ("aten::tanh", "ran in the candidate only")})

    def test_values_that_fp32_has_itself_are_no_finding(self):
        class Overflowing(torch.nn.Module):
            def forward(self, x):
                y = torch.mm(x, torch.eye(2)) * 3e38
                return (y - y).sum(1, keepdim=True)
        inputs = torch.tensor([[1.0, 0.5], [2.0, 0.0], [0.5, 0.25]])
        found = self.record(Overflowing(), inputs, ids=["small", "large", "tiny"])
        self.assertEqual(found.record["nonfinite_origins"], [])  # FP32 overflows in the same place: no finding, and no baseline
        reference = found.record["reference_nonfinite"][0]
        self.assertEqual((reference["op"], reference["sample_ids"]), ("aten::mul", ["large"]))
        self.assertTrue(any("FP32 is no baseline" in w for w in found.record["warnings"]))

    def test_names_the_op_that_makes_a_value_non_finite(self):
        class Vanishing(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = torch.nn.Linear(1, 1, bias=False)
                self.gate.weight.data.fill_(1.0)

            def forward(self, x):
                return torch.log(1 - self.gate(x)) * 2
        found = self.record(Vanishing(), torch.tensor([[0.5], [0.9999], [0.25]]), ids=["a", "b", "c"])
        origin = found.first_nonfinite
        self.assertEqual((origin["op"], origin["sample_ids"], origin["values"], origin["cause"]), ("aten::log", ["b"], ["-inf"], "log of an underflowed zero"))
        self.assertEqual(self.column("role"), ["none", "none", "origin", "consequence"])
        self.assertEqual(found.record["first_inf"], {"site": 2, "sample_ids": ["b"]})
        self.assertEqual(found.record["consequence_sites"], 1)
        self.assertIsNone(origin["root_cause"])

    def test_a_masks_infinities_are_meant(self):
        class Masked(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.fc(x).masked_fill(torch.eye(4, dtype=torch.bool)[: len(x)], -INF).softmax(-1)
        found = self.record(Masked(), torch.randn(4, 4))
        self.assertEqual(found.record["nonfinite_origins"], [])
        self.assertEqual([f["explained_by"] for f in found.record["reference_nonfinite"]], ["a mask's constant"])

    def test_a_candidate_that_raises_is_a_finding(self):
        class Raising(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(4, 4)

            def forward(self, x):
                return torch.nn.functional.layer_norm(self.fc(x), (4,), torch.ones(4), torch.zeros(4)) if self.fc(x).dtype == torch.float32 else self.fc(x).view(7)
        found = self.record(Raising(), torch.randn(3, 4), decide="argmax")
        self.assertEqual(found.record["candidate_error"]["op"], "aten::view")
        self.assertEqual((found.record["status"], found.record["outputs"], found.record["samples_complete"]), ("partial", [], 0))


class Regions(Scratch):
    def test_keep_a_module_in_fp32_until_they_are_closed(self):
        model, x = Net().eval(), torch.randn(3, 6)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            plain = model(x)["hidden"]
            with fp32_region(model, "body"):
                inside = model(x)
            after = model(x)["hidden"]
        self.assertEqual((plain.dtype, inside["hidden"].dtype, inside["scores"].dtype), (torch.bfloat16, torch.float32, torch.bfloat16))
        self.assertTrue(torch.equal(plain, after))
        self.assertNotIn("forward", vars(model.body))
        with torch.no_grad():
            self.assertTrue(torch.equal(inside["hidden"], model(x)["hidden"]))

    def test_cast_16_bit_inputs_at_the_border_or_leave_them(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)).eval()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            with fp32_region(model, "1"):
                self.assertEqual(model(torch.randn(2, 4)).dtype, torch.float32)
            with fp32_region(model, "1", inputs="as they are"), self.assertRaises(RuntimeError):
                model(torch.randn(2, 4))

    def test_may_be_globs_and_name_what_is_not_there(self):
        self.assertEqual(fp32_region(Net(), "head.*").paths, ["head.scores"])
        with self.assertRaisesRegex(RecorderError, "'tail' is no module path"):
            fp32_region(Net(), "tail")

    def test_are_part_of_a_run_and_of_its_label(self):
        self.record(Net(), torch.randn(5, 6))
        self.record(Net(), torch.randn(5, 6, generator=torch.Generator().manual_seed(0)), out=os.path.join(self.folder, "y.ulps"), fp32=["body"])
        self.out = os.path.join(self.folder, "y.ulps")
        self.assertEqual(self.column("policy"), ["off", "off", "lower_precision_fp", "none"])
        self.assertEqual(self.column("max_abs")[:2], [0, 0])
        with h5py.File(self.out, "r") as file:
            self.assertEqual(file["run_0001"].attrs["title"], "BF16, FP32: body")


    def test_take_what_the_window_copies(self):
        """tests/widgets/recorded_test.cpp holds "Copy as Python" to this text; it is pasted into a call of record()."""
        x, pasted = torch.randn(5, 6), 'fp32=["body"], append=True'
        self.record(Net(), x)
        eval(f"self.record(Net(), x, {pasted})", {"self": self, "Net": Net, "x": x})  # pylint: disable=eval-used
        self.assertEqual(self.column("policy", "run_0002"), ["off", "off", "lower_precision_fp", "none"])
        with h5py.File(self.out, "r") as file:
            self.assertEqual(file["run_0002"].attrs["title"], "BF16, FP32: body")
        with fp32_region(Net(), *eval(f"dict({pasted})")["fp32"]) as region:  # pylint: disable=eval-used
            self.assertEqual(region.paths, ["body"])


class Leaves(Scratch):
    def test_the_model_and_the_random_numbers_as_they_were(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
        model[2].eval()
        state, random = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
        self.record(model, torch.randn(8, 4, generator=torch.Generator().manual_seed(2)), train=True, batch_size=4)
        self.assertTrue(torch.equal(torch.get_rng_state(), random))
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, state[name]), name)
        self.assertEqual([m.training for m in model], [True, True, False])
        self.assertFalse(any(m._forward_hooks or m._forward_pre_hooks for m in model.modules()))

    def test_the_outputs_as_they_are_without_it(self):
        self.assertEqual(self.record(Net(), torch.randn(5, 6)).record["probe_check"], "identical")

    def test_nothing_behind_when_the_model_fails(self):
        class Broken(torch.nn.Module):
            def forward(self, x):
                return x @ x
        with self.assertRaisesRegex(RecorderError, "the FP32 reference failed in the root module: aten::matmul"):
            self.record(Broken(), torch.randn(3, 4))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
