"""The network of this demo in PyTorch, and its forward pass once more for the replay in numpy."""
import os
import sys
from typing import Tuple

import numpy
import torch
from torch import Tensor, nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import replay  # noqa: E402

CELLS, STRIDE, OVERLAP = 4, 128.0, 0.5  # 4x4 cells of a photo of 512x512, of which the network sees every 16th pixel


class NonMaximumSuppression(nn.Module):
    """A box goes when one of a higher score overlaps it by more than half (IoU), all at once as in YOLACT."""

    def __init__(self):
        super().__init__()
        self.overlap = OVERLAP

    def forward(self, boxes: Tensor, scores: Tensor) -> Tensor:
        area = (boxes[:, :, 2] - boxes[:, :, 0]) * (boxes[:, :, 3] - boxes[:, :, 1])
        low = torch.maximum(boxes[:, :, None, :2], boxes[:, None, :, :2])
        high = torch.minimum(boxes[:, :, None, 2:], boxes[:, None, :, 2:])
        size = torch.clamp(high - low, min=0.0)
        both = size[..., 0] * size[..., 1]
        iou = both / (area[:, :, None] + area[:, None, :] - both)
        found = scores > 0
        better = (scores[:, None, :] > scores[:, :, None]) & found[:, None, :]
        return found & ~torch.any(better & (iou > self.overlap), dim=2)


class ContainerCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.ReLU())
        self.score_head, self.box_head = nn.Conv2d(32, 1, 3, padding=1), nn.Conv2d(32, 4, 3, padding=1)
        self.nms = NonMaximumSuppression()
        middle = STRIDE * (torch.arange(CELLS) + 0.5)
        self.register_buffer("centres", torch.stack([middle.repeat(CELLS), middle.repeat_interleave(CELLS)], 1))
        self.stride = STRIDE

    def boxes_and_scores(self, photo: Tensor) -> Tuple[Tensor, Tensor]:
        """Left, top, right, bottom in pixels of the photo, and a score, of each cell."""
        x = self.backbone(photo)
        sides = torch.relu(self.box_head(x).flatten(2).transpose(1, 2)) * self.stride
        centres = self.centres.to(sides.dtype)
        boxes = torch.cat([centres - sides[:, :, :2], centres + sides[:, :, 2:]], 2)
        return boxes, self.score_head(x).flatten(1)

    def forward(self, photo: Tensor) -> Tuple[Tensor, Tensor]:
        boxes, scores = self.boxes_and_scores(photo)
        kept = self.nms(boxes, scores)
        return kept.sum(1), boxes


def forward(run, inputs):
    x = inputs["photo"]
    for layer in ("backbone.0", "backbone.2", "backbone.4"):
        x = run.relu(run.conv(x, layer, stride=2, padding=1), layer)
    sides = run.conv(x, "box_head", padding=1).view(lambda a: a.reshape(len(a), 4, -1).swapaxes(1, 2))
    sides = run.plain("aten::mul", "", lambda a: a * numpy.float32(STRIDE), run.relu(sides, ""))
    centres = replay.Value(run.weights["centres"], sides.low)  # multiples of 64: the same in half
    low = run.plain("aten::sub", "", numpy.subtract, centres, sides.view(lambda a: a[:, :, :2]))
    high = run.add(centres, sides.view(lambda a: a[:, :, 2:]), "")
    scores = run.conv(x, "score_head", padding=1).array.reshape(len(sides.array), -1)
    return [suppress(run, low, high, scores), replay.Value(numpy.concatenate([low.array, high.array], 2))]


def suppress(run, low, high, scores):
    def product(sizes):
        return run.multiply(sizes.view(lambda a: a[..., 0]), sizes.view(lambda a: a[..., 1]), "nms")

    def pairs(name, function, value):
        return run.plain(name, "nms", function, value.view(lambda a: a[:, :, None]), value.view(lambda a: a[:, None]))

    area = product(run.plain("aten::sub", "nms", numpy.subtract, high, low))
    first, last = pairs("aten::maximum", numpy.maximum, low), pairs("aten::minimum", numpy.minimum, high)
    size = run.plain("aten::sub", "nms", numpy.subtract, last, first)
    both = product(run.plain("aten::clamp", "nms", lambda a: numpy.maximum(a, 0), size))
    union = run.plain("aten::sub", "nms", numpy.subtract, pairs("aten::add", numpy.add, area), both)
    iou = run.plain("aten::div", "nms", numpy.divide, both, union).array
    found = scores > 0
    better = (scores[:, None] > scores[:, :, None]) & found[:, None]
    return (found & ~(better & (iou > OVERLAP)).any(2)).sum(1)
