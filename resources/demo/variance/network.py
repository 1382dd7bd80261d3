"""The network of this demo in PyTorch, and its forward pass once more for the replay in numpy."""
import os
import sys

import numpy
import torch
from torch import Tensor, nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import replay  # noqa: E402

CHANNELS, CLASSES = 16, 4


class RmsNorm(nn.Module):
    """Written by hand: divides a signal by the root of the mean of its squares."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(CHANNELS, 1))

    def forward(self, x: Tensor) -> Tensor:
        mean_square = (x * x).mean(dim=[1, 2], keepdim=True)
        return x * torch.rsqrt(mean_square + 1e-6) * self.weight


class PumpMonitor(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv1d(1, CHANNELS, 9, stride=2, padding=4), RmsNorm()
        self.conv = nn.Conv1d(CHANNELS, CHANNELS, 5, stride=2, padding=2)
        self.classifier = nn.Linear(CHANNELS, CLASSES)

    def forward(self, vibration: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.stem(vibration)))
        x = torch.relu(self.conv(x))
        return self.classifier(x.mean(2))


def rms_norm(run, x, path):
    mean = run.mean(run.multiply(x, x, path), (1, 2), path).view(lambda a: a[:, None, None])
    shifted = run.plain("aten::add", path, lambda a: a + numpy.float32(1e-6), mean)
    root = run.widened("aten::rsqrt", path, lambda a: 1 / numpy.sqrt(a), shifted)
    weight = replay.Value(run.weights[path + ".weight"])
    return run.multiply(run.multiply(x, root, path), weight, path)


def forward(run, inputs):
    x = run.relu(rms_norm(run, run.conv(inputs["vibration"], "stem", stride=2, padding=4), "norm"), "")
    x = run.relu(run.conv(x, "conv", stride=2, padding=2), "")
    return [run.linear(run.mean(x, 2, ""), "classifier")]
