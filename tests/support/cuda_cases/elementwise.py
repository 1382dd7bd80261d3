"""Unary, binary and ternary ops, comparisons and the promotion of mixed dtypes."""
import math

import numpy

from cuda_cases.definitions import CLOSE, erf, sigmoid, single, softplus
from cuda_cases.inputs import ALL, EDGES, PAIRS, THREE, VARIANTS, Normal, Pinned, array, truth, whole
from cuda_cases.rounding import INF, NAN, rounded

EXACT_UNARY = [
    ("abs", numpy.abs), ("neg", numpy.negative), ("relu", lambda x: numpy.where(x < 0, 0, x)), ("floor", numpy.floor),
    ("ceil", numpy.ceil), ("round", numpy.round), ("trunc", numpy.trunc), ("sqrt", numpy.sqrt),
    ("reciprocal", lambda x: 1 / x), ("sign", numpy.sign),
]
CLOSE_UNARY = [
    ("silu", lambda x: x * sigmoid(x)), ("sigmoid", sigmoid), ("tanh", numpy.tanh), ("exp", numpy.exp), ("expm1", numpy.expm1),
    ("sin", numpy.sin), ("cos", numpy.cos), ("erf", erf), ("softplus", softplus), ("log_sigmoid", lambda x: -softplus(-x)),
    ("mish", lambda x: x * numpy.tanh(softplus(x))), ("sinh", numpy.sinh), ("cosh", numpy.cosh), ("tan", numpy.tan),
    ("atan", numpy.arctan), ("exp2", numpy.exp2), ("hardswish", lambda x: x * numpy.clip(x + 3, 0, 6) / 6),
    ("hardsigmoid", lambda x: numpy.clip(x + 3, 0, 6) / 6),
]
POSITIVE_UNARY = [("log", numpy.log), ("log2", numpy.log2), ("log10", numpy.log10), ("log1p", numpy.log1p),
                  ("rsqrt", lambda x: 1 / numpy.sqrt(x))]


def unary(table):
    for name, reference in EXACT_UNARY:
        positive = name == "sqrt"
        table.add("unary", name, f"torch.{name}(a)", [Normal(3, 4, scale=3, positive=positive)], reference, THREE)
    for name, reference in CLOSE_UNARY:
        table.add("unary", name, f"torch.{name}(a)", [Normal(3, 4)], reference, THREE, relative=CLOSE, absolute=2.0 ** -24)
    for name, reference in POSITIVE_UNARY:
        table.add("unary", name, f"torch.{name}(a)", [Normal(3, 4, positive=True, shift=1.5)], reference, THREE,
                  relative=CLOSE)
    # 1 + erf cancels for negative x: an error relative to the largest value.
    table.add("unary", "gelu", "torch.gelu(a)", [Normal(3, 4)], lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))),
              relative=CLOSE, absolute=2.0 ** -23)
    for name in ("acos", "asin", "erfinv"):
        table.add("unary", name, f"torch.{name}(a)", [Normal(2, 3, scale=0.2)], None, THREE)
    unary_edges(table)
    unary_scalars(table)


def unary_edges(table):
    """0-dim, empty, and values at the limits of half."""
    for name, reference in EXACT_UNARY[:7]:
        table.add("unary", name + " edges", f"torch.{name}(a)", [EDGES], reference, THREE)
    table.add("unary", "sqrt edges", "torch.sqrt(a)", [numpy.abs(EDGES)], numpy.sqrt, THREE)
    table.add("unary", "exp edges", "torch.exp(a)", [EDGES], numpy.exp, THREE, relative=CLOSE)
    table.add("unary", "sigmoid edges", "torch.sigmoid(a)", [EDGES], sigmoid, THREE, relative=CLOSE)
    table.add("unary", "relu 0-dim", "torch.relu(a)", [array(1.7)], lambda x: numpy.maximum(x, 0), THREE)
    table.add("unary", "tanh empty", "torch.tanh(a)", [numpy.zeros((0, 3))], numpy.tanh, THREE)
    table.add("unary", "log empty", "torch.log(a)", [numpy.zeros((2, 0))], numpy.log, THREE)


def unary_scalars(table):
    """Scalar arguments stay float32 where the kernel computes in float32 (clamp, leaky_relu, elu, hardtanh)."""
    x = Normal(4, 5)
    table.add("unary", "clamp", "torch.clamp(a, -0.3, 0.7)", [x], lambda a: numpy.clip(a, single(-0.3), single(0.7)))
    # TensorCompare.cu: the limits are op-math, so one above 65504 is no error and clamps inf to a value that rounds to inf.
    table.add("unary", "clamp_max above the range", "torch.clamp_max(a, 100000.0)", [array([INF, 5.0, -INF, NAN])],
              lambda a: numpy.minimum(a, 1e5), ("half", "float"))
    table.add("unary", "leaky_relu", "torch.leaky_relu(a, 0.1)", [x], lambda a: numpy.where(a > 0, a, a * single(0.1)))
    table.add("unary", "elu", "torch.elu(a, 0.7)", [x], lambda a: numpy.where(a > 0, a, numpy.expm1(a) * single(0.7)),
              relative=CLOSE, absolute=2.0 ** -23)
    table.add("unary", "hardtanh", "torch.hardtanh(a, -0.1, 0.3)", [x], lambda a: numpy.clip(a, single(-0.1), single(0.3)))
    table.add("unary", "square plus relu", "torch.add(torch.mul(a, a), torch.relu(a))", [x],
              lambda store, a: store(a * a) + numpy.maximum(a, 0), stores=True)
    # Activation{Threshold,Hardshrink,Softshrink}Kernel.cu read their scalars with to<scalar_t>(): in the tensor's dtype, with
    # its range check.
    for variant in ALL:
        low, first, _ = VARIANTS[variant]
        read = lambda s, dtype=first or low: float(rounded(s, dtype))
        table.add("unary", "threshold", "torch.threshold(a, 0.1, 0.3)", [array([read(0.1), 0.2, -1.0, 0.099, NAN])],
                  lambda a, read=read: numpy.where(a <= read(0.1), read(0.3), a), (variant,))
        table.add("unary", "hardshrink", "torch.hardshrink(a, 0.3)", [array([read(0.3), -read(0.3), 0.31, -0.29, 2.0])],
                  lambda a, read=read: numpy.where((a >= -read(0.3)) & (a <= read(0.3)), 0, a), (variant,))
        table.add("unary", "softshrink", "torch.softshrink(a, 0.3)", [x],
                  lambda a, read=read: numpy.where(a > read(0.3), a - read(0.3),
                                                   numpy.where(a < -read(0.3), a + read(0.3), 0)), (variant,))
    table.add("unary", "threshold above the range", "torch.threshold(a, 0.1, 1e6)", [x], None, ("half",),
              raises="value cannot be converted to type LOW without overflow")


BINARY = [("add", numpy.add), ("sub", numpy.subtract), ("mul", numpy.multiply), ("div", numpy.divide),
          ("maximum", numpy.maximum), ("minimum", numpy.minimum)]


def binary(table):
    a, b = Normal(3, 4), Normal(4)
    for name, reference in BINARY:
        table.add("binary", name, f"torch.{name}(a, b)", [a, b], reference, PAIRS + ("half_and_bfloat16",))
        # A 0-dim tensor on the device takes the dtype of the other one before the kernel reads it (pytorch#98691).
        table.add("binary", name + " 0-dim", f"torch.{name}(a, b)", [a, array(0.1)],
                  lambda store, x, y, f=reference: f(x, store(y)), ("half", "mixed", "bf16_mixed"), stores=True)
    for name, reference in BINARY[:3]:
        table.add("binary", name + " scalar", f"torch.{name}(a, 0.1)", [a], lambda x, f=reference: f(x, single(0.1)))
    # A division by a host scalar is a product with its reciprocal in float32 (BinaryDivTrueKernel.cu).
    table.add("binary", "div scalar", "torch.div(a, 3.0)", [a], lambda x: x * single(1 / 3.0), relative=2.0 ** -23)
    table.add("binary", "rsub scalar", "torch.rsub(a, 1.0)", [a], lambda x: 1 - x)
    table.add("binary", "mul scalar above the range", "torch.mul(a, 100000.0)", [array([0.5, 0.001, 3.0e-07, -1.0])],
              lambda x: x * 1e5, ("half", "float"))
    for name, reference in (("add", lambda x, y: x + single(0.1) * y), ("sub", lambda x, y: x - single(0.1) * y)):
        table.add("binary", name + " alpha", f"torch.{name}(a, b, alpha=0.1)", [a, b], reference, PAIRS, absolute=2.0 ** -23)
    table.add("binary", "atan2", "torch.atan2(a, b)", [a, b], numpy.arctan2, PAIRS, relative=CLOSE)
    table.add("binary", "add edges", "torch.add(a, b)", [EDGES, EDGES[::-1].copy()], numpy.add, PAIRS)
    table.add("binary", "mul edges", "torch.mul(a, b)", [EDGES, EDGES[::-1].copy()], numpy.multiply, PAIRS)
    table.add("binary", "add empty", "torch.add(a, b)", [numpy.zeros((0, 4)), Normal(4)], numpy.add, ("half", "mixed"))
    table.add("binary", "add both 0-dim", "torch.add(a, b)", [array(1.7), array(0.1)], numpy.add,
              ("half", "mixed", "mixed_back"))
    table.add("binary", "mul of doubles", "torch.mul(a, b)", [a, b], numpy.multiply, ("double", "double_first"))
    divisions(table)
    powers(table)
    comparisons(table)
    integers(table)


def divisions(table):
    # Quotients away from whole numbers, so that rounding the quotient first does not matter.
    a, b = array([7.25, -7.25, 100.5, 5.5]), array([2.0, 2.0, -7.0, 0.75])
    for mode, f in (("floor", numpy.floor), ("trunc", numpy.trunc)):
        table.add("binary", "div " + mode, f'torch.div(a, b, rounding_mode="{mode}")', [a, b], lambda x, y, f=f: f(x / y),
                  PAIRS)
    table.add("binary", "floor_divide", "torch.floor_divide(a, b)", [a, b], lambda x, y: numpy.floor(x / y),
              ("half", "float", "mixed"))
    table.add("binary", "remainder", "torch.remainder(a, b)", [a, b], numpy.remainder, ("half", "float", "mixed"))
    table.add("binary", "fmod", "torch.fmod(a, b)", [a, b], numpy.fmod, ("half", "float", "mixed"))
    # BinaryRemainderKernel.cu: the scalar is read in the tensor's dtype.
    for variant in ("half", "float"):
        s = float(rounded(0.3, VARIANTS[variant][1] or "float16"))
        table.add("binary", "remainder scalar", "torch.remainder(a, 0.3)", [Normal(6, scale=3)],
                  lambda x, s=s: numpy.remainder(x, s), (variant,))
        table.add("binary", "fmod scalar", "torch.fmod(a, 0.3)", [Normal(6, scale=3)], lambda x, s=s: numpy.fmod(x, s),
                  (variant,))


def powers(table):
    base = Normal(3, 4, positive=True, shift=0.1)
    table.add("binary", "pow square", "torch.pow(a, 2)", [base], lambda x: x * x, relative=2.0 ** -24)
    table.add("binary", "pow scalar", "torch.pow(a, 1.7)", [base], lambda x: x ** single(1.7), relative=2.0 ** -20)
    table.add("binary", "pow of scalar", "torch.pow(1.7, a)", [base], lambda x: single(1.7) ** x, relative=2.0 ** -20)
    table.add("binary", "pow tensors", "torch.pow(a, b)", [base, Normal(4)], numpy.power, PAIRS + ("half_and_bfloat16",),
              relative=2.0 ** -20)
    table.add("binary", "pow above the range", "torch.pow(a, 3)", [array([100.0, 300.0])], lambda x: x ** 3, ("half", "float"),
              relative=2.0 ** -22)


def comparisons(table):
    for name, reference in (("gt", numpy.greater), ("le", numpy.less_equal), ("eq", numpy.equal), ("ne", numpy.not_equal)):
        table.add("comparison", name, f"torch.{name}(a, b)", [array([0.3, 0.3, -1.0, NAN]), array([0.3, 0.1, 2.0, NAN])],
                  reference, ("half", "float", "mixed"))
        # The scalar is read in the tensor's dtype: half(0.3) > 0.3 is false (CompareKernels.cu, CompareEQKernel.cu).
        for variant in ALL:
            low, first, _ = VARIANTS[variant]
            s = float(rounded(0.3, first or low))
            table.add("comparison", name + " scalar", f"torch.{name}(a, 0.3)", [array([0.3, s, 0.29, 0.31, INF])],
                      lambda x, s=s, f=reference: f(x, s), (variant,))
    # 1e6 is an infinity in half, and infinity <= infinity.
    table.add("comparison", "le scalar above the range", "torch.le(a, 1000000.0)", [array([INF, 65504.0, NAN])],
              lambda x: ~numpy.isnan(x), ("half",))
    # Likewise a 0-dim float32 tensor on the device.
    s = float(rounded(0.3, "float16"))
    table.add("comparison", "gt 0-dim", "torch.gt(a, b)", [array([0.3, 0.31, 0.29]), array(0.3)], lambda x, y: x > s,
              ("mixed",))
    table.add("comparison", "logical_and", "torch.logical_and(a, b)", [array([0.0, 1.0, NAN]), array([1.0, 2.0, 3.0])],
              numpy.logical_and, ("half", "mixed"))
    table.add("comparison", "isnan", "torch.isnan(a)", [EDGES], numpy.isnan, ("half", "float"))
    table.add("comparison", "isclose", "torch.isclose(a, b)", [Normal(4), Normal(4)], None, ("half", "float", "mixed"))


def integers(table):
    # The integers are cast to the common dtype before the kernel reads them: half(2049) is 2048, so 2049 + 1 gives 2048.
    n = whole([2049, 3, -4097, 70000])
    for name, reference in (("add", numpy.add), ("mul", numpy.multiply)):
        table.add("promotion", name + " int64", f"torch.{name}(a, b)", [array([1.0, 0.1, 3.0, 1.0]), n],
                  lambda store, x, y, f=reference: f(x, store(y)), ALL, stores=True)
    table.add("promotion", "int64 mul 0-dim", "torch.mul(a, b)", [whole([1, 2, 2049]), array(0.1)],
              lambda store, x, y: store(x) * y, ("half", "float"), stores=True)
    table.add("promotion", "int64 mul scalar", "torch.mul(a, 0.1)", [whole([1, 2, 3])], lambda x: x * single(0.1), ("half",))
    table.add("promotion", "int64 div", "torch.div(a, b)", [whole([1, 2, 3]), whole([3, 3, 7])], numpy.divide, ("half",))
    table.add("promotion", "add bool", "torch.add(a, b)", [Normal(3), truth([1, 0, 1])], lambda x, y: x + y, ALL)
    table.add("promotion", "mul bool", "torch.mul(b, a)", [Normal(3), truth([1, 0, 1])], lambda x, y: x * y, ALL)
    table.add("promotion", "add int scalar", "torch.add(a, 2049)", [Normal(3)], lambda x: x + 2049, ALL)
    table.add("promotion", "half and double", "torch.add(a, b)",
              [Pinned(array([0.1, 1.0]), "float16"), Pinned(array([0.1, 1e-9]), "float64")], numpy.add, ("half",))


def ternary(table):
    a, b, c = Normal(3, 4), Normal(3, 4), Normal(3, 4, positive=True, shift=0.5)
    variants = PAIRS + ("half_and_bfloat16", "bf16_float")
    table.add("ternary", "addcmul", "torch.addcmul(a, b, c, value=0.1)", [a, b, c], lambda x, y, z: x + single(0.1) * (y * z),
              variants, absolute=2.0 ** -22)
    table.add("ternary", "addcdiv", "torch.addcdiv(a, b, c, value=0.1)", [a, b, c], lambda x, y, z: x + single(0.1) * (y / z),
              variants, absolute=2.0 ** -22)
    # lerp wants one dtype (native/Lerp.cpp).
    table.add("ternary", "lerp scalar", "torch.lerp(a, b, 0.3)", [a, b], lambda x, y: x + single(0.3) * (y - x),
              ("half", "float", "mixed", "mixed_back"), absolute=2.0 ** -22)
    table.add("ternary", "lerp tensor", "torch.lerp(a, b, c)", [a, b, c], None, ("half", "float", "mixed"))
    table.add("ternary", "where", "torch.where(c, a, b)", [a, b, truth(numpy.eye(3, 4))], lambda x, y, m: numpy.where(m, x, y),
              PAIRS)
    table.add("ternary", "where 0-dim", "torch.where(c, a, b)", [a, array(0.1), truth(numpy.eye(3, 4))],
              lambda store, x, y, m: numpy.where(m, x, store(y)), ("half", "mixed"), stores=True)
    table.add("ternary", "where scalar", "torch.where(b, a, 0.5)", [a, truth(numpy.eye(3, 4))],
              lambda x, m: numpy.where(m, x, 0.5), ("half", "float", "bf16"))
    table.add("ternary", "clamp tensors", "torch.clamp(a, b, c)", [a, b, c], None, ("half", "float", "mixed"))
