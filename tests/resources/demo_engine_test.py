"""The real engine finds in a demo what the demo's check.py finds in numpy alone, and the demo's cure cures.

demo_engine_test.py ULPSCOPE RESOURCES NAME: both sides are held to "finding" in demo.json (check.py by demo_test.py). Exit 1 on a difference.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ULPSCOPE = RESOURCES = NAME = ""
OPTIONS = {"autocast": "--autocast", "batch_size": "--batch-size", "decision": "--decision", "decision_output": "--decision-output"}
WORDS = {"float16": "fp16", "bfloat16": "bf16"}


def ulpscope(*words):
    environment = dict(os.environ, ULPSCOPE_DATA=RESOURCES, NO_COLOR="1")
    done = subprocess.run([ULPSCOPE, *words], env=environment, text=True, capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def found(document):
    """What an engine's run document says, in the words of "finding"."""
    first = document["first_nonfinite"]
    root = first and first["root_cause"]
    return {
        "first_nonfinite": first and {"op": first["op"], "module": first["module"], "samples": first["sample_ids"], "values": first["values"]},
        "root_cause": root and {"op": root["op"], "module": root["module"]},
        "flips": {flip["sample_id"]: [flip["reference"], flip["candidate"]] for flip in document["flips"]},
        "no_decision": document["no_decision"],
        "nonfinite_samples": document["nonfinite_samples"]}


class DemoByTheEngine(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch, self.folder = scratch.name, os.path.join(RESOURCES, "demo", NAME)
        with open(os.path.join(self.folder, "demo.json"), encoding="utf-8") as file:
            self.demo = json.load(file)

    def run_document(self, *more):
        words = ["run", os.path.join(self.folder, "model.ts"), "--inputs", os.path.join(self.folder, "inputs.h5"), "--no-noise-floor"]
        for key, option in OPTIONS.items():
            if key in self.demo["settings"]:
                value = self.demo["settings"][key]
                words += [option, WORDS.get(value, str(value))]
        return json.loads(ulpscope(*words, "--session", os.path.join(self.scratch, "runs.ulps"), "--append", "--json", "-", *more))

    def test_runs_by_its_name_and_leaves_a_session(self):
        said = ulpscope("demo", NAME, "--out", self.scratch)
        self.assertTrue(said.startswith(f"Demo {NAME}: {self.demo['title']}"), said)
        self.assertIn("bit-identical", said)
        self.assertTrue(os.path.exists(os.path.join(self.scratch, NAME + ".ulps")))
        for module in self.demo["cure"]:
            self.assertIn(f"--fp32 {module}", said)

    def test_settings_are_all_known_here(self):
        self.assertLessEqual(set(self.demo["settings"]), {*OPTIONS, "verify_probe"})

    def test_finds_what_numpy_finds_and_the_cure_cures(self):
        document = self.run_document()
        self.assertEqual(found(document), self.demo["finding"])
        if self.demo["cure"]:
            cured = self.run_document(*[word for module in self.demo["cure"] for word in ("--fp32", module)])
            self.assertFalse(any(found(cured).values()), found(cured))
            self.assertEqual(cured["nonfinite_origins"], [])


if __name__ == "__main__":
    ULPSCOPE, RESOURCES, NAME = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
