"""The export snippets, edited as a user edits them, leave files that hold this model, these inputs and its outputs.

snippet_test.py RESOURCES
"""
import os
import subprocess
import sys
import tempfile
import unittest

import torch

RESOURCES = ""

# A user's model: dropout, an optional argument that is left out, nested outputs, a forward that writes into its input.
USERS_MODEL = '''
from typing import Dict, Optional, Tuple
import torch

class UsersModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.layer, self.dropout = torch.nn.Linear(6, 2), torch.nn.Dropout(0.5)

    def forward(self, image, bias: Optional[torch.Tensor] = None) \\
            -> Tuple[torch.Tensor, Dict[str, Tuple[torch.Tensor, torch.Tensor]]]:
        image.mul_(2.0)
        logits = self.dropout(self.layer(image))
        if bias is not None:
            logits = logits + bias
        return logits, {"parts": (logits.softmax(-1), logits.argmax(-1))}
'''
USERS_INPUTS = "torch.manual_seed(4); inputs = (torch.randn(5, 6),)"


def edited(text):
    """The snippet with the user's model and inputs in the two marked places."""
    lines = text.splitlines()
    marked = [i for i, line in enumerate(lines) if "EDIT:" in line]
    assert len(marked) == 2, marked
    lines[marked[0]] = "from users_model import UsersModel; model = UsersModel()"
    lines[marked[1]] = USERS_INPUTS
    return "\n".join(lines) + "\n"


def run_in(folder, text):
    for name, content in (("export.py", text), ("users_model.py", USERS_MODEL)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    return subprocess.run([sys.executable, "-B", "export.py"], cwd=folder, check=True, text=True, capture_output=True).stdout


class Snippets(unittest.TestCase):
    def snippet(self, how):
        with open(os.path.join(RESOURCES, "python", f"snippet_{how}.py"), encoding="utf-8") as file:
            return file.read()

    def export(self, how, change=edited):
        with tempfile.TemporaryDirectory() as folder:
            said = run_in(folder, change(self.snippet(how)))
            load = lambda name: torch.jit.load(os.path.join(folder, name))
            return said, load("model.ts"), load("inputs.pt")

    def check_users_files(self, model, holder):
        expected_input = torch.randn(5, 6, generator=torch.Generator().manual_seed(4))
        self.assertTrue(torch.equal(holder.image, expected_input))  # as it was before forward wrote into it
        self.assertEqual(holder.sample_ids, ["0", "1", "2", "3", "4"])
        self.assertEqual(holder.expected_names, ["output.0", "output.1.parts.0", "output.1.parts.1"])
        names = [name for name, _ in holder.named_buffers()]
        self.assertEqual(names, ["image", "expected_0", "expected_1", "expected_2"])
        logits, rest = model(holder.image.clone())
        for saved, now in zip((holder.expected_0, holder.expected_1, holder.expected_2), (logits, *rest["parts"])):
            torch.testing.assert_close(saved, now)  # dropout was off in both

    def test_scripted_export_holds_model_inputs_and_outputs(self):
        said, model, holder = self.export("script")
        self.check_users_files(model, holder)
        self.assertIn("ulpscope run model.ts --inputs inputs.pt", said.splitlines()[-1])

    def test_traced_export_holds_them_too_and_warns_of_what_tracing_drops(self):
        said, model, holder = self.export("trace")
        self.check_users_files(model, holder)
        self.assertIn("autocast region", said)
        self.assertIn("ulpscope run model.ts --inputs inputs.pt", said.splitlines()[-1])

    def test_unedited_snippets_run(self):
        for how in ("script", "trace"):
            _, model, holder = self.export(how, change=lambda text: text)
            torch.testing.assert_close(model(holder.input), holder.expected_0)

    def test_truth_is_saved_beside_the_inputs(self):
        for how in ("script", "trace"):
            _, _, holder = self.export(how, change=lambda text: edited(text).replace("truth = {}", 'truth = {"labels": torch.tensor([0, 1, 1, 0, 1])}'))
            self.assertEqual(holder.labels.tolist(), [0, 1, 1, 0, 1])

    def test_more_inputs_than_arguments_are_refused(self):
        three = lambda text: edited(text).replace(USERS_INPUTS, "inputs = (torch.ones(5, 6),) * 3")
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            self.export("script", change=three)
        self.assertIn("inputs has more items than forward has arguments", caught.exception.stderr)


if __name__ == "__main__":
    RESOURCES = sys.argv.pop(1)
    unittest.main()
