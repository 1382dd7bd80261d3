"""What record() cannot do or say it tells in one clear line, as early as it can, and loses nothing that was there.

recorder_refusal_test.py RESOURCES
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import torch

RESOURCES = sys.argv[1]
PYTHON = os.path.join(RESOURCES, "python")
sys.path.insert(0, PYTHON)
from ulpscope_recorder import RecorderError, record  # noqa: E402


class Made(torch.nn.Module):
    """What `forward` gives of a linear layer's output."""

    def __init__(self, forward=lambda y: y, outputs=8):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.of, self.calls = torch.nn.Linear(8, outputs), forward, 0

    def forward(self, x):
        self.calls += 1
        return self.of(self.a(x))


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.out = os.path.join(self.folder, "x.ulps")
        self.x = torch.randn(40, 8, generator=torch.Generator().manual_seed(1))

    def record(self, model=None, **options):
        return record((model or Made()).eval(), self.x, **dict({"autocast": "bf16", "out": self.out, "quiet": True, "decide": "argmax"}, **options))

    def refused(self, words, model=None, **options):
        with self.assertRaisesRegex(RecorderError, words):
            self.record(model, **options)
        self.assertFalse(os.path.exists(self.out))

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name != "lock":
                    with open(os.path.join(folder, name), "rb") as file:
                        found[name] = hashlib.sha256(file.read()).hexdigest()
        return found


class Places(Scratch):
    def leave(self, *names):
        os.mkdir(self.out + ".d")
        for name in names:
            with open(os.path.join(self.out + ".d", name), "w", encoding="utf-8"):
                pass

    def test_what_a_killed_first_recording_left_is_taken_over(self):
        self.leave("lock", "run-0001.tensors.h5.part", "run-0001.metrics.h5.part")
        self.assertEqual(self.record().run_id, "run_0001")
        self.assertEqual(sorted(os.listdir(self.out + ".d")), ["lock", "run-0001.metrics.h5", "run-0001.tensors.h5"])

    def test_whole_files_of_a_run_are_not(self):
        self.leave("lock", "run-0001.tensors.h5", "run-0001.metrics.h5.part")
        self.refused("holds runs of a session that is not there")
        self.assertEqual(len(os.listdir(self.out + ".d")), 3)

    def test_where_nothing_can_be_written(self):
        if not os.path.isdir("/proc/self"):
            self.skipTest("no file system that nobody can write to")
        model = Made()
        with self.assertRaisesRegex(RecorderError, "nothing can be written in '/proc'"):
            self.record(model, out="/proc/x.ulps")
        self.assertEqual(model.calls, 0)

    def test_a_disk_that_is_full_loses_nothing(self):
        if sys.platform == "win32":
            self.skipTest("no limit of a file's size")
        self.record()
        before = self.files()
        # A limit of a file's size fails as a full disk does: in the middle of a write.
        script = ("import resource, signal, sys, torch; from recorder_refusal_test import Made; from ulpscope_recorder import record, RecorderError\n"
                  "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                  "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))\n"
                  "x = torch.randn(40, 8, generator=torch.Generator().manual_seed(1))\n"
                  "try:\n    record(Made().eval(), x, autocast='bf16', out=sys.argv[3], decide='argmax', observe='full', append=True, quiet=True)\n"
                  "except RecorderError as error:\n    print(error)\n")
        for limit in (100, 20000, 60000):
            done = subprocess.run([sys.executable, "-B", "-c", script, RESOURCES, str(limit), self.out], cwd=os.path.dirname(os.path.abspath(__file__)),
                                  env=dict(os.environ, PYTHONPATH=PYTHON), text=True, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), limit)
            self.assertRegex(done.stdout, "^.*x.ulps' cannot be written: File too large; nothing that was there is changed")
            self.assertEqual(self.files(), before)
        self.assertEqual(self.record(append=True).run_id, "run_0002")


class Samples(Scratch):
    def test_labels_that_are_no_class_numbers(self):
        for labels, words in (([1.5] * 40, "labels: 1.5 is no class number"), (["a"] * 40, "labels: 'a' is no class number"), ([float("nan")] * 40, "labels: nan is no class"),
                              (torch.full((40,), 0.5), "labels: 0.5 is no class number"), (torch.zeros(40, 1), r"labels: \[0.0\] is no class number")):
            model = Made()
            self.refused(words, model, labels=labels)
            self.assertEqual(model.calls, 0)

    def test_labels_outside_of_the_classes(self):
        for label in (8, -1):
            self.refused(f"labels: {label} of sample '3' is none of the 8 classes, 0 to 7", labels=[0, 1, 7, label] + [0] * 36)
        self.refused("labels: 2 of sample '0' is none of the 2 classes", Made(outputs=1), labels=[2] * 40, decide="threshold:0")

    def test_labels_that_are_whole(self):
        self.record(labels=torch.full((40,), 7.0))
        with h5py.File(self.out, "r") as file:
            self.assertEqual(file["samples/labels"][:].tolist(), [7] * 40)


class Outputs(Scratch):
    two = staticmethod(lambda y: {"logits": y, "inner": {"logits": y * 2, "pooled": y.tanh()}})

    def test_by_its_short_name_where_that_is_one(self):
        recorded = self.record(Made(self.two), decision_output="pooled")
        self.assertEqual(recorded.record["settings"]["decision_output"], "output.inner.pooled")

    def test_a_name_of_none_or_of_several_after_the_first_batch(self):
        for name, words in (("nobody", "'nobody' is no output of the model; it has 'output.logits'"), ("logits", "'logits' is more than one output of the model")):
            model, whole = Made(self.two), Made(self.two)
            self.refused(words, model, decision_output=name, batch_size=2, noise_floor=False)
            self.record(whole, batch_size=2, noise_floor=False, out=os.path.join(self.folder, name + ".ulps"))
            self.assertLess(model.calls, whole.calls / 4)

    def test_a_rule_that_does_not_fit(self):
        for rule, words in (("argmax:7", "dimension 7 does not exist"), ("topk:9", "has 8 classes, fewer")):
            model = Made()
            self.refused(words, model, decide=rule, batch_size=2, noise_floor=False)
            self.assertLess(model.calls, 12)


class Said(Scratch):
    def raising(self, y):
        if y.dtype != torch.float32:
            raise ValueError("boom")
        return y

    def test_that_of_decisions_nothing_can_be_said(self):
        cases = {"the candidate raised": self.raising, "the output is not of one shape in both runs": lambda y: y[:, : 8 if y.dtype == torch.float32 else 7],
                 "every sample has NaN scores": lambda y: y * float("nan")}
        for number, (why, forward) in enumerate(cases.items()):
            said = str(self.record(Made(forward), out=os.path.join(self.folder, f"{number}.ulps")))
            self.assertIn(f"whether decisions flip (argmax) cannot be said: {why}", said)
            self.assertNotIn("decisions flip (", said.replace("whether decisions flip (", ""))

    def test_of_how_many_decisions(self):
        self.x[:3] = float("nan")
        self.assertRegex(str(self.record()), r"\d+ of 37 decisions flip \(argmax\).*; 3 of 40 samples have NaN scores and could not be compared")

    def test_all_flips_are_counted(self):
        recorded = self.record(Made(lambda y: y if y.dtype == torch.float32 else -y))
        self.assertEqual(len(recorded.flips), 40)
        self.assertIn("40 of 40 decisions flip (argmax): 0, 1, 2, 3, 4, 5 and 34 more", str(recorded))

    def test_that_the_runs_go_other_ways(self):
        self.assertIn("the two runs do not do the same: aten::tanh ran in the candidate only", str(self.record(Made(lambda y: y if y.dtype == torch.float32 else y.tanh()))))
        self.assertNotIn("do not do the same", str(self.record(out=os.path.join(self.folder, "same.ulps"))))

    def test_the_mode_that_was_recorded(self):
        said = lambda training, train: str(record(Made().train(training), self.x, autocast="bf16", train=train, out=os.path.join(self.folder, f"{training}{train}.ulps"), quiet=True))
        self.assertIn("the model is in train mode and was recorded in eval mode", said(True, False))
        for training, train in ((False, False), (True, True), (False, True)):
            self.assertNotIn("was recorded in eval mode", said(training, train))

    def test_where_the_reference_failed(self):
        def boom(_):
            raise ValueError("boom")
        model = Made()
        model.forward = boom
        self.refused("^the FP32 reference failed in the root module: boom$", model)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
