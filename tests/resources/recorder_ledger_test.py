"""The ledger of a recorded loop: its numbers, what `train --audit` finds in it that a checkpoint forgot, and how the training lab shows it.

recorder_ledger_test.py ULPSCOPE RESOURCES README
"""
import json
import math
import os
import sys
import unittest

import h5py
import torch

from training_loop import Loop, Scratch, has_cpu_scaler


class Ledgers(Scratch):
    def ledger(self, loop, **options):
        recorder = self.recorded(loop, **options)
        head, *rows = self.lines(recorder.ledger_path)
        self.assertEqual(head["ulpscope_ledger"], 1)
        return head, rows

    def test_holds_the_loops_own_numbers(self):
        loop = Loop(mistake="overflow")
        head, rows = self.ledger(loop)
        self.assertEqual([row["step"] for row in rows], list(range(6)))
        self.assertEqual([row["loss"] for row in rows], ["+inf" if loss == math.inf else loss for loss in loop.losses])
        self.assertEqual([row["scale_before"] for row in rows], [1024, 1024, 1024, 512, 512, 512])
        self.assertEqual([row["scale_after"] for row in rows], [1024, 1024, 512, 512, 512, 512])
        self.assertEqual([row["growth_tracker"] for row in rows], [1, 2, 0, 1, 2, 3])
        self.assertEqual([(row["applied"], row["skipped"]) for row in rows], [(True, False)] * 2 + [(False, True)] + [(True, False)] * 3)
        self.assertEqual([row["applied_updates"] for row in rows], [1, 2, 2, 3, 4, 5])
        self.assertEqual([row["scheduler_steps"] for row in rows], [1, 2, 2, 3, 4, 5])
        self.assertEqual([row["lr"] for row in rows], [1e-2, 1e-2, 1e-3, 1e-3, 1e-3, 1e-4])
        self.assertEqual((head["settings"]["autocast"], head["settings"]["torch"], head["settings"]["model"]), ("bfloat16", torch.__version__, "Sequential"))

    def test_norms_are_those_of_the_gradients(self):
        norms = []

        class Measured(Loop):
            def iteration(self, mistake):
                original = torch.nn.utils.clip_grad_norm_
                torch.nn.utils.clip_grad_norm_ = lambda parameters, most: norms.append(math.sqrt(sum((p.grad.double() ** 2).sum().item() for p in self.model.parameters()))) or original(parameters, most)
                try:
                    super().iteration(mistake)
                finally:
                    torch.nn.utils.clip_grad_norm_ = original
        Measured().run()
        _, rows = self.ledger(Loop(), gradients=True)
        for row, norm in zip(rows, norms):
            self.assertAlmostEqual(row["grad_norm"] / norm, 1, 12)
            self.assertAlmostEqual(row["scaled_norm"] / norm, row["scale_before"], 2)
            self.assertLessEqual(row["clipped_norm"], 1 + 1e-5)
            self.assertAlmostEqual(row["clipped_norm"], min(1, norm), 5)

    def test_shares_count_the_elements_that_backward_left(self):
        model = torch.nn.Linear(4, 2, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        loop = type("", (), {"optimizer": optimizer, "scaler": None, "scheduler": None, "recorder": None})()

        def run():
            gradient = torch.tensor([[0, 1e-39, 1.0, math.inf], [0, 0, 2.0, -1e-40]])  # 1e-39 and 1e-40 are below bfloat16's smallest normal, 2^-126
            with torch.autocast("cpu", torch.bfloat16):
                model(torch.zeros(1, 4))
            model.weight.grad = None
            (model.weight * gradient).sum().backward()
            optimizer.step()
        loop.run = run
        _, (row,) = self.ledger(loop, gradients=True)
        self.assertEqual((row["zero_share"], row["subnormal_share"], row["nonfinite_share"]), (3 / 8, 2 / 8, 1 / 8))

    def test_what_was_not_asked_for_is_not_there(self):
        _, rows = self.ledger(Loop(scaled=False))
        for key in ("scaled_norm", "clipped_norm", "zero_share", "update_norm", "weights", "rng", "scale_before", "scale_after", "found_inf", "growth_tracker"):
            self.assertNotIn(key, rows[0])
        self.assertIsNone(self.recorded_ledger_of("none.jsonl", ledger=False))

    def recorded_ledger_of(self, name, **options):
        self.log = self.path(name)
        recorder = self.recorded(Loop(), **options)
        self.assertFalse(os.path.exists(os.path.splitext(self.log)[0] + ".ledger.jsonl"))
        return recorder.ledger_path

    def test_a_fused_step_tells_at_the_end_whether_it_was_skipped(self):
        if not has_cpu_scaler():
            self.skipTest("fused steps that know of the scale are CUDA's before PyTorch 2.4")

        class Fused(Loop):
            def iteration(self, mistake):
                self.optimizer.zero_grad()
                self.loss(mistake)
                self.scaler.step(self.optimizer)
                self.scaler.update()
        _, rows = self.ledger(Fused(mistake="overflow", fused=True))
        self.assertEqual([row["applied"] for row in rows], [True, True, False, True, True, True])
        self.assertEqual([e["applied"] for e in self.lines()[1:] if e["event"] == "step"], [row["applied"] for row in rows])
        self.assertLess(rows[0]["grad_norm"], 100)


class Audits(Scratch):
    """12 steps, and again from the fifth on, resumed by another process's objects."""

    def record(self, name, loop, **options):
        self.log = self.path(name + ".jsonl")
        recorder = self.recorded(loop, digests=True, **options)
        return recorder.ledger_path

    def audit(self, without=""):
        ledgers = {"uninterrupted": self.record("whole", Loop(steps=12))}
        saved = Loop(steps=5).run().save()
        ledgers["resumed"] = self.record("again", Loop(steps=12, seed=99).load(saved, without), resumed_at=5)
        folder = self.path("records")
        os.mkdir(folder)
        for name, ledger in ledgers.items():
            os.rename(ledger, os.path.join(folder, name + ".jsonl"))
        return self.document("train", "--audit", folder), self.ulpscope("train", "--audit", folder)

    def test_a_resume_that_restores_everything_differs_in_nothing(self):
        audit, said = self.audit()
        self.assertIsNone(audit["first"], said)
        compared = {state["state"] for state in audit["states"] if state["compared"] > 0}
        self.assertLessEqual({"rows", "rng", "weights", "buffers", "optimizer_state", "scale_before", "growth_tracker", "loss", "lr", "scheduler_steps"}, compared)
        self.assertEqual(audit["compared"]["steps"], 7)

    def test_the_scalers_state_that_was_forgotten(self):
        # After five steps without an inf the scale has grown once, to 2048, and the tracker stands at 1.
        audit, said = self.audit("scaler")
        self.assertEqual((audit["first"]["step"], audit["first"]["state"]), (5, "scale_before"))
        self.assertEqual((audit["first"]["uninterrupted"], audit["first"]["resumed"]), ("2048", "1024"))
        self.assertIn("scale_before", said)

    def test_moments_and_random_states_that_were_forgotten(self):
        for number, (without, state) in enumerate((("optimizer", "optimizer_state"), ("rng", "rng"))):
            self.folder = os.path.join(self.folder, str(number))
            os.mkdir(self.folder)
            audit, _ = self.audit(without)
            self.assertEqual((audit["first"]["step"], audit["first"]["state"]), (5, state))


class Imports(Scratch):
    def imported(self, loop, *words, code=0, **options):
        self.recorded(loop, **options)
        return self.document("train", "--import", self.log, "--session", "loop.ulps", *words, code=code)

    def test_a_training_with_its_ledger_alarms_and_order(self):
        loop = Loop(mistake="overflow")
        training = self.imported(loop)
        self.assertEqual([row["loss"] for row in training["ledger"]], ["+inf" if loss == math.inf else loss for loss in loop.losses])
        self.assertEqual(training["skipped"], {"optimizer": [2]})
        self.assertEqual((training["steps"], training["applied_updates"], training["final_scale"]), (6, 5, 512))
        self.assertEqual((training["autocast"], training["scaling"], training["violations"], training["alarms"]), (True, True, [], []))
        self.assertEqual(training["recorded"]["log"], "loop.jsonl")
        self.assertEqual(training["libtorch"], torch.__version__)
        self.assertIsNone(training["ledger"][0]["update_norm"])
        self.assertIsNone(training["ledger"][0]["zero_share"])
        self.assertIn("update_norm", training["warnings"][0])
        with h5py.File(self.path("loop.ulps"), "r") as file:
            self.assertEqual(json.loads(file["trainings"].asstr()[()])[0]["title"], "recorded, BF16, scaler, 1 of 6 steps skipped")

    def test_mistakes_and_alarms(self):
        class Falling(Loop):
            def loss(self, mistake):
                super().loss("overflow" if self.done > 2 else "")
        training = self.imported(Falling(mistake="clip_before_unscale", steps=20))
        self.assertEqual([(v["step"], v["rule"]) for v in training["violations"]][0], (2, "clip_before_unscale"))
        self.assertEqual({a["id"] for a in training["alarms"]}, {"skips_in_a_row", "scale_below_1"})

    def test_what_is_said(self):
        self.recorded(Loop(mistake="overflow"))
        said = self.ulpscope("train", "--import", self.log)
        for line in (r"Recorded     loop.jsonl, PyTorch ", "no engine can train it again", "Updates      5 of 6 steps applied", "Skipped      steps 2", "Zero grads   not recorded", "loop.ulps (training 1)"):
            self.assertIn(line, said)

    def test_a_log_without_a_ledger(self):
        training = self.imported(Loop(scaled=False), ledger=False)
        self.assertEqual(training["applied_updates"], 6)
        self.assertIsNone(training["final_loss"])
        self.assertEqual({row["loss"] for row in training["ledger"]}, {None})
        self.assertEqual({row["scale_after"] for row in training["ledger"]}, {1})
        self.assertIn("no ledger", training["warnings"][0])

    def test_a_second_training_of_the_session(self):
        self.imported(Loop())
        self.log = self.path("second.jsonl")
        self.assertEqual(self.imported(Loop(), "--append")["number"], 2)
        self.log = self.path("third.jsonl")
        self.assertIn("exists", json.dumps(self.imported(Loop(), code=2)))

    def test_resumed_where_the_recording_says(self):
        first = Loop(steps=3).run()
        training = self.imported(Loop(steps=6, seed=1).load(first.save()), resumed_at=3)
        self.assertEqual([row["step"] for row in training["ledger"]], [3, 4, 5])
        self.assertEqual(training["resumes"][0]["step"], 3)

    def test_a_session_that_packs_and_needs_no_repair(self):
        self.imported(Loop())
        self.ulpscope("pack", "loop.ulps")
        self.assertNotRegex(self.ulpscope("repair", "loop.ulps"), "set aside|removed")
        self.assertIn("no recipe", self.ulpscope("check", "loop.ulps", code=5))

    def test_the_ledger_of_another_loop_is_refused(self):
        other = self.recorded(Loop(mistake="overflow")).ledger_path
        self.log = self.path("other.jsonl")
        self.recorded(Loop())
        os.replace(other, self.path("other.ledger.jsonl"))
        self.assertIn("the ledger beside it is of another loop", self.ulpscope("train", "--import", self.log, code=3))
        self.assertFalse(os.path.exists(self.path("other.ulps")))

    def test_goes_with_nothing_else(self):
        self.recorded(Loop())
        self.assertIn("only reads a log", self.ulpscope("train", "--import", self.log, "--isolate", code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
