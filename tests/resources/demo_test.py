"""Each demo is small, complete and shows what it says by its own check.py, and check.py fails on a spoilt demo.

demo_test.py RESOURCES
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import zipfile

import h5py
import numpy

RESOURCES = ""
SIZE_LIMIT = 2 * 1024 * 1024
NAMES = ["area", "attention", "digits", "log_eps", "overflow", "router", "vae", "variance"]
KEYS = {"title", "description", "shows", "like", "model", "inputs", "settings", "cure", "finding", "licence"}
# A module that is innocent: in FP32 it cures nothing.
INNOCENT = {"area": "backbone", "attention": "blocks.1", "log_eps": "backbone", "overflow": "layers.2.feed_forward.wo",
            "router": "moe.experts", "vae": "decoder.up_blocks.1.resnets.0.conv2", "variance": "conv"}


def check(folder):
    return subprocess.run([sys.executable, "-B", os.path.join(folder, "check.py")], text=True, capture_output=True)


class Demos(unittest.TestCase):
    def folder(self, name):
        return os.path.join(RESOURCES, "demo", name)

    def names(self):
        names = sorted(os.listdir(os.path.join(RESOURCES, "demo")))
        self.assertEqual([name for name in names if "." not in name], NAMES)
        return NAMES

    def demo(self, name):
        with open(os.path.join(self.folder(name), "demo.json"), encoding="utf-8") as file:
            return json.load(file)

    def sample_ids(self, name):
        with h5py.File(os.path.join(self.folder(name), "inputs.h5")) as file:
            return list(file["sample_ids"].asstr()[:])

    def spoilt_copy(self, name, spoil):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        copy = shutil.copytree(self.folder(name), os.path.join(scratch.name, name))
        shutil.copy(os.path.join(RESOURCES, "demo", "replay.py"), scratch.name)
        spoil(copy)
        return copy

    def checked_with(self, name, change):
        """check.py on a copy whose demo.json went through change."""
        def spoil(folder):
            path = os.path.join(folder, "demo.json")
            with open(path, encoding="utf-8") as file:
                demo = json.load(file)
            change(demo)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(demo, file)
        return check(self.spoilt_copy(name, spoil))

    def test_each_is_under_two_megabytes(self):
        for name in self.names():
            files = [os.path.join(self.folder(name), file) for file in os.listdir(self.folder(name))]
            self.assertLess(sum(os.path.getsize(file) for file in files), SIZE_LIMIT, name)

    def test_each_says_what_it_is_and_under_which_licence(self):
        for name in self.names():
            demo = self.demo(name)
            self.assertEqual(set(demo), KEYS)
            for key in ("title", "description", "shows", "licence"):
                self.assertTrue(demo[key], (name, key))
            self.assertRegex(demo["like"], r"^[\w.-]+/[\w.-]+#\d+$", name)

    def test_each_counts_in_shows_the_samples_of_its_finding(self):
        for name in self.names():
            demo = self.demo(name)
            finding = demo["finding"]
            broken = {*finding["flips"], *finding["no_decision"], *finding["nonfinite_samples"]}
            ids = self.sample_ids(name)
            self.assertIn(f"{len(broken)} of {len(ids):,} ", demo["shows"], name)
            self.assertLessEqual(broken, set(ids), name)

    def test_no_model_names_a_folder_of_the_machine_that_made_it(self):
        for name in self.names():
            with zipfile.ZipFile(os.path.join(self.folder(name), "model.ts")) as archive:
                sources = archive.read("model/code/__torch__/network.py.debug_pkl")
            self.assertEqual(set(re.findall(rb"[^\x00-\x1f]*network\.py", sources)), {b"network.py"}, name)

    def test_each_shows_what_it_says(self):
        with concurrent.futures.ThreadPoolExecutor(2) as two:
            for name, result in zip(self.names(), two.map(lambda name: check(self.folder(name)), NAMES)):
                self.assertEqual(result.returncode, 0, name + result.stdout + result.stderr)

    def test_each_check_fails_on_a_cure_that_is_none(self):
        def with_innocent(name):
            return self.checked_with(name, lambda demo: demo.update(cure=[INNOCENT[name]]))
        self.assertEqual(set(INNOCENT), {name for name in NAMES if self.demo(name)["cure"]})
        with concurrent.futures.ThreadPoolExecutor(2) as two:
            for name, result in zip(INNOCENT, two.map(with_innocent, INNOCENT)):
                self.assertEqual(result.returncode, 1, name)
                self.assertIn("the cure does not cure", result.stderr, name)

    def test_check_fails_on_a_finding_or_root_cause_that_is_none(self):
        def another_sample(demo):
            demo["finding"]["first_nonfinite"]["samples"][0] = "disc-00"

        def another_cause(demo):
            demo["finding"]["root_cause"]["op"] = "aten::sigmoid"
        for name, change in (("attention", another_sample), ("log_eps", another_cause)):
            result = self.checked_with(name, change)
            self.assertEqual(result.returncode, 1, name)
            self.assertIn("not what the demo is there to show", result.stderr, name)

    def test_digits_check_fails_on_other_scores(self):
        def spoil(folder):
            with h5py.File(os.path.join(folder, "inputs.h5"), "r+") as file:
                file["expected/output"][3, 4] += 1.0
        result = check(self.spoilt_copy("digits", spoil))
        self.assertEqual(result.returncode, 1)
        self.assertIn("differ from the saved ones", result.stderr)

    def test_values_near_the_limit_of_half_are_refused(self):
        sys.path.insert(0, os.path.join(RESOURCES, "demo"))
        import replay

        def with_peak(peak):
            exact = numpy.array([[1.0, -peak], [numpy.nan, numpy.inf]])
            return types.SimpleNamespace(ops=[replay.Op("aten::mul", "m", exact, exact)])
        for far in (64_800.0, 66_300.0):  # 1.1 and 1.2 % off
            replay.refuse_near_limit(with_peak(far))
        for near in (64_900.0, 65_504.0, 66_100.0):
            with self.assertRaises(SystemExit):
                replay.refuse_near_limit(with_peak(near))


if __name__ == "__main__":
    RESOURCES = sys.argv.pop(1)
    unittest.main()
