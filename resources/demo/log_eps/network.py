"""The network of this demo in PyTorch, and its forward pass once more for the replay in numpy."""
import os
import sys
from typing import Tuple

import numpy
import torch
from torch import Tensor, nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import replay  # noqa: E402

EPS = 1e-4


class FocalLoss(nn.Module):
    """CenterNet's loss of a heatmap, one number a picture; target: 1 at a centre, less around it."""

    def __init__(self):
        super().__init__()
        self.eps = EPS

    def forward(self, logits: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
        heatmap = torch.clamp(torch.sigmoid(logits), self.eps, 1 - self.eps)  # so that neither logarithm meets a zero
        at_centre = torch.eq(target, 1.0).to(torch.float32)
        found = torch.log(heatmap) * torch.pow(1 - heatmap, 2.0) * at_centre
        empty = torch.log(1 - heatmap) * torch.pow(heatmap, 2.0) * torch.pow(1 - target, 4.0) * (1 - at_centre)
        return -torch.sum(found + empty, dim=[1, 2, 3]), heatmap


class StarFinder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2, padding=1), nn.ReLU())
        self.heatmap_head = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1))
        self.loss = FocalLoss()

    def forward(self, field: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
        return self.loss(self.heatmap_head(self.backbone(field)), target)


def forward(run, inputs):
    x = run.relu(run.conv(inputs["field"], "backbone.0", padding=1), "backbone.1")
    x = run.relu(run.conv(x, "backbone.2", stride=2, padding=1), "backbone.3")
    x = run.relu(run.conv(x, "heatmap_head.0", padding=1), "heatmap_head.1")
    return focal_loss(run, run.conv(x, "heatmap_head.2"), inputs["target"])


def focal_loss(run, logits, target):
    def rest():
        return run.plain("aten::rsub", "loss", lambda p: 1 - p, heatmap)

    def log(value):
        return run.widened("aten::log", "loss", numpy.log, value)

    def squared(value):
        return run.widened("aten::pow", "loss", numpy.square, value)

    low, high = numpy.float32(EPS), numpy.float32(1 - EPS)
    heatmap = run.plain("aten::sigmoid", "loss", replay.sigmoid, logits)
    heatmap = run.plain("aten::clamp", "loss", lambda p: numpy.clip(p, low, high), heatmap)
    at_centre = replay.Value(target == 1)
    found = run.multiply(run.multiply(log(heatmap), squared(rest()), "loss"), at_centre, "loss")
    weight = replay.Value((1 - target) ** 4)
    empty = run.multiply(run.multiply(log(rest()), squared(heatmap), "loss"), weight, "loss")
    empty = run.multiply(empty, replay.Value(target != 1), "loss")
    total = run.widened("aten::sum", "loss", lambda x: -x.sum((1, 2, 3), dtype=run.wide), run.add(found, empty, "loss"))
    return [total, heatmap]
