"""What the recorder writes of a demo in this Python's PyTorch is what the engine's native BF16 run of the same model writes, number by number.

recorder_engine_test.py ULPSCOPE RESOURCES NAME. Where the kernels are the same (they are: both are this machine's LibTorch, one thread a run) everything that is a
count, an extreme or an element is equal to the last bit; sums of doubles are added up in another order, so means, norms and what is made of them
agree to 1e-12. Exit 1 on a difference.
"""
import difflib
import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import unittest

# As the engine's runs have it: the order in which a product is added up hangs on it.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import h5py
import numpy
import torch

ULPSCOPE = RESOURCES = NAME = ""
SUMMED = {"noise_floor_rel_l2", "rel_l2", "mean_abs", "cosine_distance", "sqnr_db"}
NOT_RECORDED = {"introduced_rel_l2", "inherited_rel_l2"}
PLACES = {"module", "op", "overload", "source", "occurrence", "operands"}  # compared apart, or said otherwise by Python than by TorchScript
# TorchScript makes two ops of 1 - x, Python one.
OTHER_OPS = {"log_eps": {"aten::neg", "aten::add", "aten::rsub"}}


def demo_model():
    """The nn.Module of the demo with its weights; the network's root is the last class."""
    folder = os.path.join(RESOURCES, "demo", NAME)
    sys.path[:0] = [folder, os.path.dirname(folder), os.path.join(RESOURCES, "python")]
    network = importlib.import_module("network")
    root = [c for c in vars(network).values() if inspect.isclass(c) and issubclass(c, torch.nn.Module) and c.__module__ == "network"][-1]
    model = root()
    model.load_state_dict(torch.jit.load(os.path.join(folder, "model.ts")).state_dict())
    return model


class Session:
    def __init__(self, path):
        self.master = h5py.File(path, "r")
        self.entry = self.master["run_0001"]
        self.record = json.loads(self.entry["record"].asstr()[()])
        self.metrics = h5py.File(path + ".d/run-0001.metrics.h5", "r")["run_0001/divergence"]
        self.tensors = h5py.File(path + ".d/run-0001.tensors.h5", "r")["run_0001"]

    def texts(self, name):
        return self.entry["sites/" + name].asstr()[:].tolist()

    def places(self):
        return list(zip(self.texts("module"), self.texts("op"), self.entry["sites/output"][:].tolist()))


class RecordedAgainstNative(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        with open(os.path.join(RESOURCES, "demo", NAME, "demo.json"), encoding="utf-8") as file:
            cls.settings = json.load(file)["settings"]
        cls.paths = [os.path.join(cls.scratch.name, name) for name in ("recorded.ulps", "native.ulps")]
        cls.record()
        cls.run_natively()
        cls.recorded, cls.native = (Session(path) for path in cls.paths)
        cls.pairs = cls.aligned()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def record(cls):
        model = demo_model()
        from ulpscope_recorder import record
        with h5py.File(os.path.join(RESOURCES, "demo", NAME, "inputs.h5"), "r") as file:
            texts = lambda name: file[name].asstr()[:].tolist() if name in file else None
            inputs = {name: torch.from_numpy(file[name][:]) for name in inspect.signature(model.forward).parameters}
            labels = file["labels"][:] if "labels" in file else None
            record(model, inputs, texts("sample_ids"), labels, autocast="bf16", out=cls.paths[0], class_names=texts("class_names"), quiet=True,
                   decide=cls.settings["decision"], decision_output=cls.settings.get("decision_output", ""), batch_size=cls.settings.get("batch_size", 32))

    @classmethod
    def run_natively(cls):
        folder = os.path.join(RESOURCES, "demo", NAME)
        words = [ULPSCOPE, "run", os.path.join(folder, "model.ts"), "--inputs", os.path.join(folder, "inputs.h5"), "--autocast", "bf16", "--mode", "native",
                 "--decision", cls.settings["decision"], "--batch-size", str(cls.settings.get("batch_size", 32)), "--session", cls.paths[1]]
        words += ["--decision-output", cls.settings["decision_output"]] if "decision_output" in cls.settings else []
        done = subprocess.run(words, env=dict(os.environ, ULPSCOPE_DATA=RESOURCES, NO_COLOR="1"), text=True, capture_output=True)
        if done.returncode not in (0, 4):  # 4: the candidate raises, in both
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")

    @classmethod
    def aligned(cls):
        """[(recorded site, native site)]: one after another, but for what Python and TorchScript call otherwise."""
        mine, theirs = cls.recorded.places(), cls.native.places()
        blocks = difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
        return [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]

    def test_every_op_site_is_there_in_the_same_order(self):
        for session, aligned in ((self.recorded, {a for a, _ in self.pairs}), (self.native, {b for _, b in self.pairs})):
            others = {place[1] for i, place in enumerate(session.places()) if i not in aligned}
            self.assertLessEqual(others, OTHER_OPS.get(NAME, set()))
        self.assertGreater(len(self.pairs), 5)

    def test_sites_have_the_same_numbers(self):
        mine, theirs = [a for a, _ in self.pairs], [b for _, b in self.pairs]
        for name in sorted(set(self.native.entry["sites"]) - NOT_RECORDED - PLACES):
            a, b = (session.texts(name) if h5py.check_string_dtype(session.entry["sites/" + name].dtype) else session.entry["sites/" + name][:]
                    for session in (self.recorded, self.native))
            a, b = [a[i] for i in mine], [b[i] for i in theirs]
            if name in SUMMED:
                numpy.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-18, err_msg=name)
            elif isinstance(a[0], numpy.floating):
                numpy.testing.assert_array_equal(a, b, err_msg=name)
            else:
                self.assertEqual(a, b, name)

    def test_what_a_recording_cannot_know_is_not_evaluated(self):
        for name in ("introduced_rel_l2", "inherited_rel_l2", "candidate_error_to_fp64"):
            self.assertTrue(numpy.isnan(self.recorded.entry["sites/" + name][:]).all(), name)
        self.assertNotIn("introduced_rel_l2", self.recorded.metrics)

    def test_fp32_is_as_far_from_itself(self):
        mine, theirs = (session.record["noise_floor"] for session in (self.recorded, self.native))
        self.assertEqual((mine["skipped"], mine["flips"], mine["threads"]), (theirs["skipped"], theirs["flips"], theirs["threads"]))
        self.assertEqual([o["name"] for o in mine["outputs"]], [o["name"] for o in theirs["outputs"]])
        for a, b in zip(mine["outputs"], theirs["outputs"]):  # the engine gives its BLAS another thread as well, from Python that cannot be told
            self.assertEqual(a["max_abs"] == 0, b["max_abs"] == 0)
            self.assertLess(abs(a["max_abs"] - b["max_abs"]), 1e-5)

    def test_operands_come_from_the_same_places(self):
        to_native = dict(self.pairs)
        for a, b in self.pairs:
            mine, theirs = (json.loads(session.texts("operands")[i] or "null") for session, i in ((self.recorded, a), (self.native, b)))
            for row in mine["listed"] if mine else ():
                if row[4] == "site":
                    row[5] = to_native.get(row[5], "another op")
            if NAME not in OTHER_OPS:
                self.assertEqual(mine, theirs, self.recorded.places()[a])

    def test_heatmaps_have_the_same_cells(self):
        mine, theirs = [a for a, _ in self.pairs], [b for _, b in self.pairs]
        numpy.testing.assert_array_equal(self.recorded.metrics["flags"][:][mine], self.native.metrics["flags"][:][theirs])
        for name in self.recorded.metrics:
            if self.recorded.metrics[name].dtype != numpy.float32:
                continue
            a, b = self.recorded.metrics[name][:][mine], self.native.metrics[name][:][theirs]
            if name in SUMMED:  # a double between two floats may fall to either
                numpy.testing.assert_allclose(a, b, rtol=2 ** -23, atol=1e-16, err_msg=name)
            else:
                numpy.testing.assert_array_equal(a, b, err_msg=name)

    def test_decides_the_same(self):
        for group in ("flips", "decisions"):
            for name in self.native.entry[group]:
                a, b = (session.entry[f"{group}/{name}"][:] for session in (self.recorded, self.native))
                if name == "first_site_over_tolerance":
                    a = [dict(self.pairs)[i] for i in a]
                numpy.testing.assert_array_equal(a, b, err_msg=f"{group}/{name}")
        for key in ("quality", "no_decision", "nonfinite_samples", "samples_complete", "status", "probe_check" if "verify_probe" in self.native.record else "status"):
            self.assertEqual(self.recorded.record[key], self.native.record[key], key)

    def test_finds_the_same_non_finite_values(self):
        for key in ("nonfinite_origins", "reference_nonfinite"):
            mine, theirs = self.recorded.record[key], self.native.record[key]
            self.assertEqual(len(mine), len(theirs))
            for a, b in zip(mine, theirs):
                self.assertEqual({k: v for k, v in a.items() if k not in ("site", "source", "overload", "root_cause", "diagnosis", "operands", "occurrence")},
                                 {k: v for k, v in b.items() if k not in ("site", "source", "overload", "root_cause", "diagnosis", "operands", "occurrence")})
                self.assertTrue(b["diagnosis"].startswith(a["diagnosis"]), (a["diagnosis"], b["diagnosis"]))  # the engine adds the root cause
                self.assertEqual(sorted(a["operands"], key=str), sorted(b["operands"], key=str))

    def test_candidate_fails_in_the_same_place(self):
        mine, theirs = (session.record["candidate_error"] for session in (self.recorded, self.native))
        self.assertEqual(mine and (mine["op"], mine["module"]), theirs and (theirs["op"], theirs["module"]))

    def test_outputs_are_the_same_bits(self):
        self.assertEqual(self.recorded.tensors.attrs["outputs"], self.native.tensors.attrs["outputs"])
        for i in range(self.native.tensors.attrs["outputs"]):
            for side in ("reference", "candidate"):
                a, b = (session.tensors[f"output_{i}/{side}"] for session in (self.recorded, self.native))
                self.assertEqual((a.dtype, a.attrs["dtype"]), (b.dtype, b.attrs["dtype"]))
                numpy.testing.assert_array_equal(a[:], b[:])
        for a, b in zip(self.recorded.record["outputs"], self.native.record["outputs"]):
            for key in b:
                if key in SUMMED and isinstance(b[key], float):
                    self.assertAlmostEqual(a[key], b[key], delta=1e-12 * abs(b[key]))
                else:
                    self.assertEqual(a[key], b[key], key)

    def test_modules_return_what_the_same_ops_made(self):
        to_native = dict(self.pairs)
        mine = [dict(output, site=to_native.get(output["site"])) for output in self.recorded.record["module_outputs"]]
        self.assertEqual(mine, self.native.record["module_outputs"])


if __name__ == "__main__":
    ULPSCOPE, RESOURCES, NAME = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
