"""The floating dtypes: rounding to them, distances in them, and numbers as JSON."""
import math

import numpy

LOW = ("float16", "bfloat16")
FLOATING = LOW + ("float32", "float64")
INF, NAN = float("inf"), float("nan")


def to_bfloat16(x):
    """Round to nearest, ties to even, on the bits of float32."""
    single = numpy.atleast_1d(x).astype(numpy.float32)
    bits = single.view(numpy.uint32).astype(numpy.int64)
    kept = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)
    return numpy.where(numpy.isnan(single), single, kept).astype(numpy.float64).reshape(numpy.shape(x))


def rounded(x, dtype):
    """x as the dtype stores it, in float64. Low dtypes are reached through float32, which is what the kernels compute in."""
    x = numpy.asarray(x, numpy.float64)
    if dtype == "float64":
        return x
    if dtype == "float16":
        return x.astype(numpy.float32).astype(numpy.float16).astype(numpy.float64)
    if dtype == "bfloat16":
        return to_bfloat16(x)
    return x.astype(numpy.float32).astype(numpy.float64)


def ordinals(x, dtype):
    """Neighbouring values of the dtype have neighbouring numbers, -0 and 0 the same one."""
    x = numpy.asarray(x, numpy.float64)
    if dtype == "float16":
        bits, sign = x.astype(numpy.float16).view(numpy.int16).astype(numpy.int64), 0x8000
    else:
        bits, sign = x.astype(numpy.float32).view(numpy.int32).astype(numpy.int64), 0x80000000
    numbers = numpy.where(bits < 0, -(bits + sign), bits)
    return numbers >> 16 if dtype == "bfloat16" else numbers


def distance(a, b, dtype):
    """The largest distance in ULPs; NaN equals NaN."""
    both = ~(numpy.isnan(a) & numpy.isnan(b))
    return int(numpy.abs(ordinals(a, dtype) - ordinals(b, dtype))[both].max(initial=0))


def number(x):
    if isinstance(x, (bool, numpy.bool_, int, numpy.integer)):
        return int(x)
    if math.isnan(x):
        return "NaN"
    return ("+inf" if x > 0 else "-inf") if math.isinf(x) else float(x)


def numbers(x):
    return [number(v) for v in numpy.asarray(x).reshape(-1).tolist()]
