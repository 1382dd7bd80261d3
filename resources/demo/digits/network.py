"""The network of this demo in PyTorch, and its forward pass under BF16 autocast in numpy alone."""
import numpy
from torch import Tensor, nn


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, image: Tensor) -> Tensor:
        return self.classifier(self.features(image))


def round_bfloat16(array):
    bits = numpy.ascontiguousarray(array, numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16
    return rounded.astype(numpy.uint32).view(numpy.float32).reshape(array.shape)


def exactly(array):
    return array


def product(a, b, order):
    """a @ b.T summed in float32 term by term in the given order; order None: in float64, rounded to float32 at the end."""
    if order is None:
        return (a.astype(numpy.float64) @ b.T.astype(numpy.float64)).astype(numpy.float32)
    total = numpy.zeros((len(a), len(b)), numpy.float32)
    for k in order(a.shape[1]):
        total += a[:, k, None] * b[None, :, k]
    return total


def convolution(x, weight, bias, rounding, order):
    # cuDNN: the convolution is rounded, the bias added, the sum rounded.
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3)).transpose(0, 2, 3, 1, 4, 5)
    n, height, width = windows.shape[:3]
    flat = product(windows.reshape(n * height * width, -1), weight.reshape(len(weight), -1), order)
    sums = rounding(rounding(flat) + rounding(bias))
    return sums.reshape(n, height, width, -1).transpose(0, 3, 1, 2)


def forward(image, weights, rounding=round_bfloat16, order=None):
    """weights: the state_dict as arrays. rounding=exactly gives FP32. Linear layers are fused: one rounding."""
    def rounded(name):
        return rounding(weights[name])
    x = convolution(rounding(image), rounded("features.0.weight"), weights["features.0.bias"], rounding, order)
    x = numpy.maximum(x, 0)
    x = x.reshape(len(x), x.shape[1], 4, 2, 4, 2).max((3, 5))
    x = numpy.maximum(convolution(x, rounded("features.3.weight"), weights["features.3.bias"], rounding, order), 0)
    x = x.reshape(len(x), -1)
    x = rounding(product(x, rounded("classifier.1.weight"), order) + rounded("classifier.1.bias"))
    x = numpy.maximum(x, 0)
    return rounding(product(x, rounded("classifier.3.weight"), order) + rounded("classifier.3.bias"))
