"""The network of this demo in PyTorch, and its forward pass once more for the replay in numpy."""
import os
import sys
from typing import Tuple

import numpy
import torch
from torch import Tensor, nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import replay  # noqa: E402

LENGTH, PATCH, HIDDEN, EXPERTS, CLASSES = 128, 16, 24, 6, 5
TOKENS = LENGTH // PATCH


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(PATCH, HIDDEN), nn.Linear(HIDDEN, PATCH)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(x)))


class MixtureOfExperts(nn.Module):
    """One expert a token, the one the router scores best (as in the Switch Transformer)."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(PATCH, EXPERTS, bias=False)
        self.experts = nn.ModuleList([Expert() for _ in range(EXPERTS)])

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        scores = self.router(x)
        shares = torch.softmax(scores, dim=-1)
        chosen = torch.argmax(scores, dim=-1, keepdim=True)
        total = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            total = total + torch.where(chosen == number, shares[:, :, number:number + 1], 0.0) * expert(x)
        return total, scores


class WaveClassifier(nn.Module):
    """A token is 16 values of a signal."""

    def __init__(self):
        super().__init__()
        self.norm, self.moe = nn.LayerNorm(PATCH), MixtureOfExperts()
        self.head = nn.Sequential(nn.Linear(LENGTH, 24), nn.ReLU(), nn.Linear(24, CLASSES))
        self.patch = PATCH

    def forward(self, signal: Tensor) -> Tuple[Tensor, Tensor]:
        """Scores of the classes, and of each token's experts."""
        x = self.norm(signal.view(signal.shape[0], -1, self.patch))
        mixed, scores = self.moe(x)
        return self.head((x + mixed).flatten(1)), scores


def forward(run, inputs):
    x = run.layer_norm(replay.Value(inputs["signal"].reshape(-1, TOKENS, PATCH)), "norm")
    scores = run.linear(x, "moe.router")
    shares, chosen = run.softmax(scores, "moe"), scores.array.argmax(2)
    mixed = replay.Value(numpy.zeros(x.array.shape))
    for number in range(EXPERTS):
        path = f"moe.experts.{number}"
        answer = run.linear(run.relu(run.linear(x, path + ".fc1"), path), path + ".fc2")
        share = shares.view(lambda a: numpy.where(chosen == number, a[:, :, number], numpy.float32(0))[:, :, None])
        mixed = run.add(mixed, run.multiply(share, answer, "moe"), "moe")
    hidden = run.linear(run.add(x, mixed, "").view(lambda a: a.reshape(-1, LENGTH)), "head.0")
    return [run.linear(run.relu(hidden, "head.1"), "head.2"), scores]
