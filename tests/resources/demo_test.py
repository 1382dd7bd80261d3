"""Each demo is small, complete and shows what it says by its own check.py, and check.py fails on a spoilt demo.

demo_test.py RESOURCES
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py

RESOURCES = ""
SIZE_LIMIT = 2 * 1024 * 1024


def check(folder):
    return subprocess.run([sys.executable, "-B", os.path.join(folder, "check.py")], text=True, capture_output=True)


class Demos(unittest.TestCase):
    def folder(self, name):
        return os.path.join(RESOURCES, "demo", name)

    def names(self):
        names = sorted(os.listdir(os.path.join(RESOURCES, "demo")))
        self.assertEqual(names, ["digits", "overflow"])
        return names

    def spoilt_copy(self, name, spoil):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        copy = shutil.copytree(self.folder(name), os.path.join(scratch.name, name))
        spoil(copy)
        return copy

    def test_each_is_under_two_megabytes(self):
        for name in self.names():
            files = [os.path.join(self.folder(name), file) for file in os.listdir(self.folder(name))]
            self.assertLess(sum(os.path.getsize(file) for file in files), SIZE_LIMIT, name)

    def test_each_says_what_it_is_and_under_which_licence(self):
        for name in self.names():
            with open(os.path.join(self.folder(name), "demo.json"), encoding="utf-8") as file:
                demo = json.load(file)
            self.assertEqual(set(demo), {"title", "description", "model", "inputs", "settings", "cure", "licence"})
            for key in ("title", "description", "licence"):
                self.assertTrue(demo[key], (name, key))

    def test_each_shows_what_it_says(self):
        for name in self.names():
            result = check(self.folder(name))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_digits_check_fails_on_other_scores(self):
        def spoil(folder):
            with h5py.File(os.path.join(folder, "inputs.h5"), "r+") as file:
                file["expected/output"][3, 4] += 1.0
        result = check(self.spoilt_copy("digits", spoil))
        self.assertEqual(result.returncode, 1)
        self.assertIn("differ from the saved ones", result.stderr)

    def test_overflow_check_fails_on_a_cure_that_is_none(self):
        def spoil(folder):
            path = os.path.join(folder, "demo.json")
            with open(path, encoding="utf-8") as file:
                demo = json.load(file)
            demo["cure"] = ["layers.2.feed_forward.wo"]
            with open(path, "w", encoding="utf-8") as file:
                json.dump(demo, file)
        result = check(self.spoilt_copy("overflow", spoil))
        self.assertEqual(result.returncode, 1)
        self.assertIn("not what the demo is there to show", result.stderr)


if __name__ == "__main__":
    RESOURCES = sys.argv.pop(1)
    unittest.main()
