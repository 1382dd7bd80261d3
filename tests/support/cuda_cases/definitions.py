"""References in float64, straight from the definitions of the ops."""
import math

import numpy

CLOSE = 2.0 ** -21  # a few ULPs of float32, the error of CUDA's mathematical functions
SUMMED = 2.0 ** -21  # what the order of a float32 sum can change, of the largest value

erf = numpy.vectorize(math.erf, otypes=[numpy.float64])


def single(scalar):
    """A Python scalar as kernels with a float32 op-math type read it."""
    return float(numpy.float32(scalar))


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def softplus(x):
    return numpy.log1p(numpy.exp(-numpy.abs(x))) + numpy.maximum(x, 0)


def softmax(x, axis):
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - x.max(axis, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis, keepdims=True))


def normalized(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / numpy.sqrt(x.var(axes, keepdims=True) + eps)


def per_channel(v, x):
    return v.reshape((1, -1) + (1,) * (x.ndim - 2))


def convolution(x, w, stride=1, padding=0, groups=1):
    spatial = x.ndim - 2
    x = numpy.pad(x, ((0, 0), (0, 0)) + ((padding, padding),) * spatial)
    windows = numpy.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=tuple(range(2, x.ndim)))
    windows = windows[(slice(None), slice(None)) + (slice(None, None, stride),) * spatial]
    axes = "uvw"[:spatial], "pqr"[:spatial]
    formula = f"nc{axes[0]}{axes[1]},oc{axes[1]}->no{axes[0]}"
    parts = zip(numpy.split(windows, groups, 1), numpy.split(w, groups, 0))
    return numpy.concatenate([numpy.einsum(formula, a, b) for a, b in parts], 1)


def transposed_convolution(x, w, stride=1):
    """Every input element adds its weights, scaled, to the output (no padding, one group)."""
    kernel = numpy.array(w.shape[2:])
    out = numpy.zeros((x.shape[0], w.shape[1]) + tuple((numpy.array(x.shape[2:]) - 1) * stride + kernel))
    for place in numpy.ndindex(*x.shape[2:]):
        region = tuple(slice(p * stride, p * stride + k) for p, k in zip(place, kernel))
        out[(slice(None), slice(None)) + region] += numpy.tensordot(x[(slice(None), slice(None)) + place], w, 1)
    return out


def biased(store, product, bias):
    """cuDNN rounds the convolution, output.add_(bias) rounds again (native/Convolution.cpp)."""
    return store(product) + per_channel(bias, product)


def windows_of(x, size):
    return numpy.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(-2, -1))[..., ::size, ::size, :, :]


def linear(x, w, bias=0.0):
    return x @ w.T + bias


def picked_loss(log_probabilities, target):
    return -log_probabilities[numpy.arange(len(target)), target].mean()


def huber(a, b):
    d = numpy.abs(a - b)
    return numpy.where(d < 1, 0.5 * d * d, d - 0.5)
