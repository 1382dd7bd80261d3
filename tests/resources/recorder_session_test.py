"""What the recorder writes is a session: Ulpscope's programs open it, h5py reads it, a second run joins it, and what is wrong is refused.

recorder_session_test.py ULPSCOPE RESOURCES README
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import h5py
import numpy
import torch

ULPSCOPE, RESOURCES, README = sys.argv[1:4]
sys.path[:0] = [os.path.join(RESOURCES, "python"), os.path.join(RESOURCES, "demo", "digits")]
from network import DigitNet  # noqa: E402
from ulpscope_recorder import RecorderError, record  # noqa: E402

DIGITS = os.path.join(RESOURCES, "demo", "digits")


def digits(count=300):
    model = DigitNet()
    model.load_state_dict(torch.jit.load(os.path.join(DIGITS, "model.ts")).state_dict())
    with h5py.File(os.path.join(DIGITS, "inputs.h5"), "r") as file:
        return model, torch.from_numpy(file["image"][-count:]), file["sample_ids"].asstr()[-count:].tolist(), file["labels"][-count:]


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.out = os.path.join(self.folder, "x.ulps")

    def record(self, **options):
        model, images, ids, labels = digits()
        return record(model, images, ids, labels, **dict({"autocast": "bf16", "decide": "argmax", "out": self.out, "quiet": True, "batch_size": 100}, **options))

    def ulpscope(self, *words, code=0):
        done = subprocess.run([ULPSCOPE, *words], cwd=self.folder, env=dict(os.environ, ULPSCOPE_DATA=RESOURCES, NO_COLOR="1"), text=True, capture_output=True)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done.stdout + done.stderr


class OpenedByTheProgram(Scratch):
    def criteria(self, flips):
        path = os.path.join(self.folder, "criteria.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "title": "digits", "decision": {"rule": "argmax"}, "decisions": {"id": "decisions", "max_flips": flips}}, file)
        return path

    def test_gives_a_verdict_by_criteria(self):
        self.record()
        self.assertIn("no criteria", self.ulpscope("check", self.out, code=5))
        self.ulpscope("check", self.out, "--criteria", self.criteria(4), code=0)
        said = self.ulpscope("check", self.out, "--criteria", self.criteria(0), code=1)
        self.assertIn("flips", said)

    def test_compares_a_second_run_with_the_first(self):
        self.record()
        self.assertIn("record(..., append=True) in Python", self.ulpscope("compare", self.out, code=5))
        second = self.record(append=True, fp32=["classifier"])
        self.assertEqual(second.run_id, "run_0002")
        said = self.ulpscope("compare", self.out)
        self.assertIn("FP32: classifier", said)
        self.assertIn("run_0002", said)

    def test_no_engine_runs_it_again(self):
        self.record()
        said = self.ulpscope("run", os.path.join(DIGITS, "model.ts"), "--inputs", os.path.join(DIGITS, "inputs.h5"), "--session", self.out, "--append", code=4)
        self.assertIn("the model's code differs", said)

    def test_packs_with_every_checksum_right(self):
        # Which hashes all that was written, captured activations by their own checksums.
        self.record(observe="full")
        self.ulpscope("pack", self.out)
        with zipfile.ZipFile(self.out + ".zip") as packed:
            self.assertIn("x.ulps.d/run-0001.tensors.h5", packed.namelist())

    def test_finds_a_byte_that_changed(self):
        self.record(observe="full")
        path = self.out + ".d/run-0001.tensors.h5"
        with h5py.File(path, "r") as file:
            offset = file["run_0001/captures/capture_000000/candidate"].id.get_offset()
        os.chmod(path, 0o644)
        with open(path, "r+b") as file:
            file.seek(offset + 40)
            byte = file.read(1)
            file.seek(offset + 40)
            file.write(bytes([byte[0] ^ 1]))
        self.assertIn("damaged", self.ulpscope("pack", self.out, code=3))

    def test_a_run_that_the_master_does_not_name_yet_is_found(self):
        # As a recorder leaves it that dies before its last rename.
        self.record()
        with open(self.out, "rb") as file:
            before = file.read()
        self.record(append=True, fp32=["classifier"])
        with open(self.out, "wb") as file:
            file.write(before)
        said = self.ulpscope("compare", self.out)
        self.assertIn("run_0002", said)

    def test_needs_no_repair(self):
        self.record()
        self.assertNotRegex(self.ulpscope("repair", self.out), "set aside|removed|names run")


class ReadByH5py(Scratch):
    def test_outputs_are_what_the_model_gives(self):
        self.record()
        model, images, _, _ = digits()
        with torch.no_grad(), h5py.File(self.out + ".d/run-0001.tensors.h5", "r") as file:
            output = file["run_0001/output_0"]
            numpy.testing.assert_array_equal(output["reference"][:], torch.cat([model(part) for part in images.split(100)]).numpy())
            with torch.autocast("cpu", torch.bfloat16):
                candidate = torch.cat([model(part) for part in images.split(100)])
            numpy.testing.assert_array_equal(output["candidate"][:], candidate.float().numpy())
            self.assertEqual(output["candidate"].attrs["dtype"], "bfloat16")
            self.assertEqual(output["candidate"].id.get_type().get_size(), 2)

    def test_activations_in_full_under_their_modules_names(self):
        self.record(observe="full", modules=["features.*"])
        with h5py.File(self.out + ".d/run-0001.tensors.h5", "r") as file:
            modules = {group.attrs["module"]: group["candidate"][:] for group in file["run_0001/modules"].values()}
        model, images, _, _ = digits()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            expected = torch.cat([model.features[0](part) for part in images.split(100)]).float().numpy()
        numpy.testing.assert_array_equal(modules["features.0"], expected)
        self.assertIn("features", modules)
        with h5py.File(self.out, "r") as file:
            self.assertLess(set(file["run_0001/sites/module"].asstr()[:]), {f"features.{i}" for i in range(6)})

    def test_what_does_not_fit_into_the_budget_is_named(self):
        found = self.record(observe="full", capture_budget=1_000_000).record["capture"]
        self.assertEqual({site["why"] for site in found["left_out"]}, {"budget"})
        self.assertLessEqual(sum(site["bytes"] for site in found["sites"]), 1_000_000)
        self.assertTrue(found["sites"])

    def test_each_file_ends_in_its_digest(self):
        self.record()
        for path in (self.out, self.out + ".d/run-0001.metrics.h5", self.out + ".d/run-0001.tensors.h5"):
            with open(path, "rb") as file:
                data = file.read()
            mark = re.fullmatch(rb"\nULPSCOPE SHA-256 ([0-9a-f]{64})\n", data[-83:])
            self.assertEqual(mark.group(1).decode(), hashlib.sha256(data[:-83]).hexdigest())

    def test_run_files_are_read_only_and_nothing_else_is_left(self):
        self.record()
        self.assertEqual(sorted(os.listdir(self.folder)), ["x.ulps", "x.ulps.d"])
        self.assertEqual(sorted(os.listdir(self.out + ".d")), ["lock", "run-0001.metrics.h5", "run-0001.tensors.h5"])
        self.assertEqual(os.stat(self.out + ".d/run-0001.metrics.h5").st_mode & 0o777, 0o444)


class Refused(Scratch):
    def bytes(self):
        with open(self.out, "rb") as file:
            return file.read()

    def refuses(self, message, **options):
        with self.assertRaisesRegex(RecorderError, message):
            self.record(**options)

    def test_a_session_that_exists(self):
        self.record()
        before = self.bytes()
        self.refuses("exists; use append=True")
        self.assertEqual(self.bytes(), before)

    def test_another_experiment_in_the_same_session(self):
        self.record()
        model, images, ids, labels = digits()
        with self.assertRaisesRegex(RecorderError, "the inputs differ"):
            record(model, images + 1, ids, labels, autocast="bf16", out=self.out, append=True, quiet=True)
        model.classifier[3].bias.data[0] += 1
        with self.assertRaisesRegex(RecorderError, "the model's weights differ"):
            record(model, images, ids, labels, autocast="bf16", out=self.out, append=True, quiet=True)
        with h5py.File(self.out, "r") as file:
            self.assertEqual(file.attrs["generation"], 1)

    def test_a_run_in_which_nothing_was_autocast(self):
        self.refuses("nothing was autocast", fp32=["."])
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_by_name(self):
        self.refuses("knows no batchsize", batchsize=3)
        self.refuses("'classifer' is no module path", fp32=["classifer"])
        self.refuses("is no decision rule", decide="argmaxx")
        self.refuses("counts the samples, not classes", decide="argmax:0")
        self.refuses("autocast='fp8'", autocast="fp8")
        self.refuses("ends in .ulps", out=os.path.join(self.folder, "x.h5"))

    def test_torchscript_which_hides_its_ops(self):
        with self.assertRaisesRegex(RecorderError, "is TorchScript"):
            record(torch.jit.load(os.path.join(DIGITS, "model.ts")), torch.randn(2, 1, 8, 8), out=self.out)

    def test_ids_that_are_not_all_different(self):
        model, images, ids, _ = digits()
        with self.assertRaisesRegex(RecorderError, "all be different"):
            record(model, images, ids[:-1] + ids[:1], out=self.out)


class Readme(Scratch):
    def test_five_lines_from_my_py_to_the_first_finding(self):
        """The README's lines, in a folder that holds a user's my.py."""
        with open(README, encoding="utf-8") as file:
            block = re.search(r"From your own \.py.*?```\n(.*?)```", file.read(), re.S).group(1)
        lines = [line for line in block.splitlines() if line.strip()]
        self.assertEqual(len(lines), 5, lines)
        with open(os.path.join(self.folder, "my.py"), "w", encoding="utf-8") as file:
            file.write("import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))\n"
                       "inputs, labels = torch.randn(20, 8), torch.randint(3, (20,))\n")
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        os.symlink(ULPSCOPE, os.path.join(tools, "ulpscope"))
        os.symlink(sys.executable, os.path.join(tools, "python3"))
        environment = dict(os.environ, ULPSCOPE_DATA=RESOURCES, PATH=tools + os.pathsep + os.environ["PATH"])
        done = subprocess.run(["bash", "-e", "-c", "\n".join(lines)], cwd=self.folder, env=environment, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("worst op site", done.stdout)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "mine.ulps")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
