"""What a case is given: seeded tensors, the values at the edges of half, and the dtypes of each variant."""
import zlib

import numpy
import torch

from cuda_cases.rounding import FLOATING, INF, NAN, numbers, rounded


def random(name):
    return numpy.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)


class Normal:
    """Normal numbers times `scale` plus `shift`, with all bits of float32, so that a missing or extra rounding shows."""

    def __init__(self, *shape, scale=1.0, shift=0.0, positive=False):
        self.shape, self.scale, self.shift, self.positive = shape, scale, shift, positive

    def make(self, generator, low):
        x = generator.standard_normal(self.shape)
        return (numpy.abs(x) if self.positive else x) * self.scale + self.shift


class Factor:
    """Factors of sums of products: multiples of 1/128 in +-[0.5, 1), enlarged by less than half an ULP of the low dtype.
    Rounded to it their sums of products are exact in float32 in every order, so that the expectation is bit equal; left
    unrounded all products are larger, and so is their sum."""

    def __init__(self, *shape):
        self.shape = shape

    def make(self, generator, low):
        grid = generator.randint(64, 128, self.shape) / 128.0
        off = generator.uniform(0.3, 0.45, self.shape) * 2.0 ** (-11 if low == "float16" else -8)
        return (grid + off) * generator.choice([-1.0, 1.0], self.shape)


class Pinned:
    """An input whose dtype no variant changes."""

    def __init__(self, values, dtype):
        self.values, self.dtype = values, dtype


def array(values):
    return numpy.asarray(values, numpy.float64)


def whole(values, shape=None):
    x = numpy.asarray(values, numpy.int64)
    return x if shape is None else x.reshape(shape)


def truth(values):
    return numpy.asarray(values, numpy.bool_)


# Zeros of both signs, subnormals of half, the largest half, both sides of 65520, infinities, NaN.
EDGES = array([0.0, -0.0, 5.9604645e-08, -3.0e-07, 6.1e-05, 0.333333343, 1.0, -1.5, 2049.0, 65504.0, 65519.0, -65520.0, 1e30,
               INF, -INF, NAN])

# The variants of a case: the low dtype and the dtypes of the first and of the other floating inputs ("" = the low dtype).
VARIANTS = {
    "half": ("float16", "", ""), "float": ("float16", "float32", "float32"), "mixed": ("float16", "", "float32"),
    "mixed_back": ("float16", "float32", ""), "double": ("float16", "float64", "float64"),
    "double_first": ("float16", "float64", "float32"), "half_and_bfloat16": ("float16", "float16", "bfloat16"),
    "bf16": ("bfloat16", "", ""), "bf16_float": ("bfloat16", "float32", "float32"), "bf16_mixed": ("bfloat16", "", "float32"),
    "half_in_bf16": ("bfloat16", "float16", "float16"),
}
ALL = ("half", "float", "bf16", "bf16_float")
THREE = ALL[:3]
PAIRS = ("half", "float", "mixed", "mixed_back", "bf16")


class Value:
    def __init__(self, spec, dtype, generator, low):
        if isinstance(spec, Pinned):
            spec, dtype = spec.values, spec.dtype
        if hasattr(spec, "make"):
            spec = spec.make(generator, low)
        self.data = numpy.asarray(spec)
        self.dtype = {"b": "bool", "i": "int64"}.get(self.data.dtype.kind, dtype)
        if self.dtype in FLOATING:
            self.data = rounded(self.data, self.dtype)
        elif self.dtype not in ("bool", "int64"):  # a pinned integer dtype
            self.data = self.data.astype(self.dtype)

    def written(self):
        return {"dtype": self.dtype, "shape": list(self.data.shape), "values": numbers(self.data)}

    def floating(self):
        return self.dtype in FLOATING

    def tensor(self, dtype=None):
        return torch.from_numpy(numpy.array(self.data)).to(getattr(torch, dtype or self.dtype))
