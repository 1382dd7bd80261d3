"""Sums and their kin, norms, softmax and normalizations."""
import numpy

from cuda_cases.definitions import CLOSE, SUMMED, log_softmax, normalized, per_channel, softmax
from cuda_cases.inputs import ALL, EDGES, PAIRS, Factor, Normal, Pinned, array, whole
from cuda_cases.rounding import INF, rounded


def reductions(table):
    x = Normal(4, 6)
    for name, f in (("sum", numpy.sum), ("prod", numpy.prod), ("mean", numpy.mean)):
        table.add("reduction", name, f"torch.{name}(a)", [x], f, ALL + ("double",), absolute=SUMMED)
    table.add("reduction", "sum dim", "torch.sum(a, [1], True)", [x], lambda a: a.sum(1, keepdims=True), absolute=SUMMED)
    table.add("reduction", "mean dim", "torch.mean(a, [0])", [x], lambda a: a.mean(0), absolute=SUMMED)
    table.add("reduction", "prod dim", "torch.prod(a, 1)", [x], lambda a: a.prod(1), ("half", "float"), relative=2.0 ** -20)
    # A sum above the range of half is no infinity: the result is float32.
    table.add("reduction", "sum above the range", "torch.sum(a)", [array([60000.0] * 4)], numpy.sum, ("half", "float"))
    table.add("reduction", "mean above the range", "torch.mean(a)", [array([60000.0] * 4)], numpy.mean, ("half",))
    table.add("reduction", "sum empty", "torch.sum(a)", [numpy.zeros((0, 2))], numpy.sum, ("half",))
    table.add("reduction", "sum 0-dim", "torch.sum(a)", [array(0.1)], numpy.sum, ("half",))
    table.add("reduction", "sum NaN", "torch.sum(a)", [EDGES], numpy.sum, ("half",))
    reductions_with_dtype(table)
    for name, f in (("std", numpy.std), ("var", numpy.var)):
        table.add("reduction", name, f"torch.{name}(a, [1])", [x], lambda a, f=f: f(a, axis=1, ddof=1), absolute=SUMMED)
    table.add("reduction", "var_mean", "torch.var_mean(a, [1])", [x], lambda a: (a.var(1, ddof=1), a.mean(1)),
              ("half", "float"), absolute=SUMMED, results=2)
    table.add("reduction", "logsumexp", "torch.logsumexp(a, [1])", [x], lambda a: numpy.log(numpy.exp(a).sum(1)),
              absolute=SUMMED)
    table.add("reduction", "cumsum", "torch.cumsum(a, 1)", [x], lambda a: a.cumsum(1), absolute=SUMMED)
    table.add("reduction", "cumprod", "torch.cumprod(a, 1)", [x], lambda a: a.cumprod(1), relative=CLOSE)
    table.add("reduction", "amax", "torch.amax(a, [1])", [x], lambda a: a.max(1))
    table.add("reduction", "max", "torch.max(a)", [x], numpy.max, ("half", "float"))
    table.add("reduction", "min", "torch.min(a)", [x], numpy.min, ("half", "bf16"))
    table.add("reduction", "all above", "torch.all(torch.gt(a, -100.0))", [x], lambda a: (a > -100).all(), ("half",))
    norms(table)


def reductions_with_dtype(table):
    """With dtype= nothing is autocast. ReduceOpsUtils.h casts the input to that dtype first, except 16 bit to float32."""
    x, factors = Normal(4, 6), Factor(12, 4)
    for name, f in (("sum", numpy.sum), ("mean", numpy.mean)):
        table.add("reduction", name + " to low", f"torch.{name}(a, [1], dtype=LOW)", [factors], lambda a, f=f: f(a, 1),
                  ("half", "float", "bf16_float"), lowered=True)
        table.add("reduction", name + " to float", f"torch.{name}(a, dtype=torch.float32)", [x], f, ("half", "float"),
                  absolute=SUMMED)
    table.add("reduction", "sum to double", "torch.sum(a, dtype=torch.float64)", [x], None, ("half", "float"))
    table.add("reduction", "cumsum to low", "torch.cumsum(a, 1, dtype=LOW)", [x], None, ("half", "float", "bf16"))
    table.add("reduction", "prod to low", "torch.prod(a, dtype=LOW)", [x], None, ("half", "float"))
    table.add("reduction", "sum of integers", "torch.sum(a)", [whole([1, 2, 3])], numpy.sum, ("half",))


def norms(table):
    x = Normal(4, 6)
    rows = lambda a: numpy.sqrt((a * a).sum(1))
    table.add("norm", "norm", "torch.norm(a)", [x], lambda a: numpy.sqrt((a * a).sum()), relative=CLOSE)
    table.add("norm", "norm dim", "torch.norm(a, 2.0, [1])", [x], rows, relative=CLOSE)
    table.add("norm", "norm above the range", "torch.norm(a)", [array([60000.0, 60000.0])],
              lambda a: numpy.sqrt((a * a).sum()), ("half",), relative=CLOSE)
    table.add("norm", "norm to low", "torch.norm(a, 2.0, [1], False, dtype=LOW)", [x], None, ("half",))
    # On the fp32_set_opt_dtype list of 2.6 (autocast_mode.h), not yet of 1.13.
    table.add("norm", "vector norm", "torch.linalg_vector_norm(a, 2.0, [1])", [x], rows, relative=CLOSE, dtypes=["float32"])
    table.add("norm", "frobenius dim", "torch.frobenius_norm(a, [0, 1])", [x], None, ("half", "float"), dtypes=["float32"])
    table.add("norm", "dist", "torch.dist(a, b)", [x, Normal(4, 6)], lambda a, b: numpy.sqrt(((a - b) ** 2).sum()), PAIRS,
              relative=CLOSE)
    table.add("norm", "cosine_similarity", "torch.cosine_similarity(a, b, 1)", [x, Normal(4, 6)],
              lambda a, b: (a * b).sum(1) / numpy.sqrt((a * a).sum(1) * (b * b).sum(1)), PAIRS, absolute=2.0 ** -20)
    table.add("norm", "cdist", "torch.cdist(a, b)", [Normal(3, 4), Normal(2, 4)],
              lambda a, b: numpy.sqrt(((a[:, None] - b[None]) ** 2).sum(2)), PAIRS, absolute=2.0 ** -20, dtypes=["float32"])


def softmaxes(table):
    x = Normal(3, 5, scale=2)
    for name, f in (("softmax", softmax), ("log_softmax", log_softmax)):
        table.add("softmax", name, f"torch.{name}(a, 1)", [x], lambda a, f=f: f(a, 1), ALL + ("double",), relative=CLOSE,
                  absolute=2.0 ** -22)
        # With dtype= the input is cast to it, then the op runs in it (SoftMax.cpp).
        table.add("softmax", name + " to low", f"torch.{name}(a, 1, LOW)", [x], lambda a, f=f: f(a, 1),
                  ("half", "float", "bf16_float"), lowered=True, relative=CLOSE, absolute=2.0 ** -22)
        table.add("softmax", name + " to float", f"torch.{name}(a, 1, torch.float32)", [x], lambda a, f=f: f(a, 1),
                  ("half",), relative=CLOSE, absolute=2.0 ** -22)
    table.add("softmax", "softmax of scores above the range", "torch.softmax(a, 0)", [array([70000.0, 70001.0, -INF])],
              lambda a: softmax(a, 0), ("float",), relative=CLOSE)
    table.add("softmax", "softmax masked row", "torch.softmax(a, 1)", [numpy.full((1, 3), -INF)], lambda a: softmax(a, 1),
              ("half",))
    table.add("softmax", "softmax of a product", "torch.softmax(torch.mm(a, b), 1)", [Factor(3, 4), Factor(4, 5)],
              lambda a, b: softmax(rounded(a @ b, "float16"), 1), ("float",), lowered=True, relative=CLOSE)


def normalizations(table):
    x, w, b = Normal(3, 8), Normal(8), Normal(8)
    close = {"absolute": 2.0 ** -20}
    table.add("normalization", "layer_norm", "torch.layer_norm(a, [8], b, c)", [x, w, b],
              lambda a, w, b: normalized(a, 1, 1e-5) * w + b, ALL + ("mixed", "mixed_back"), **close)
    table.add("normalization", "layer_norm plain", "torch.layer_norm(a, [8])", [x], lambda a: normalized(a, 1, 1e-5),
              ALL + ("double",), **close)
    image, gain, shift = Normal(2, 4, 3, 3), Normal(4), Normal(4)
    table.add("normalization", "group_norm", "torch.group_norm(a, 2, b, c)", [image, gain, shift], in_groups, ALL + ("mixed",),
              **close)
    # On no list of autocast_mode.cpp: statistics and parameters stay float32, the result is stored in the input's dtype.
    mean, var = Pinned(array([0.1, -0.2, 0.3, 0.0]), "float32"), Pinned(array([1.1, 0.7, 0.3, 2.0]), "float32")
    own = [Pinned(array([0.9, -1.1, 0.3, 1.7]), "float32"), Pinned(array([0.1, 0.2, -0.3, 0.7]), "float32")]
    table.add("normalization", "batch_norm eval", "torch.batch_norm(a, b, c, d, e, False, 0.1, 1e-05, False)",
              [image] + own + [mean, var], batch_norm_eval, dtypes=["first"], **close)
    table.add("normalization", "batch_norm eval all low", "torch.batch_norm(a, b, c, d, e, False, 0.1, 1e-05, False)",
              [image, gain, shift, Normal(4), Normal(4, positive=True, shift=0.5)], batch_norm_eval, ("half",),
              dtypes=["first"], **close)
    table.add("normalization", "batch_norm train",
              "out = torch.batch_norm(a, b, c, d, e, True, 0.1, 1e-05, False)\n(out, d, e)", [image] + own + [mean, var],
              batch_norm_train, dtypes=["first", "float32", "float32"], results=3, **close)
    table.add("normalization", "instance_norm", "torch.instance_norm(a, b, c, None, None, True, 0.1, 1e-05, False)",
              [image] + own, lambda a, w, b: normalized(a, (2, 3), 1e-5) * per_channel(w, a) + per_channel(b, a),
              dtypes=["first"], **close)


def in_groups(x, w, b):
    """group_norm of two samples in two groups."""
    return per_channel(w, x) * normalized(x.reshape(2, 2, -1), 2, 1e-5).reshape(x.shape) + per_channel(b, x)


def batch_norm_eval(x, w, b, mean, var):
    scaled = (x - per_channel(mean, x)) / numpy.sqrt(per_channel(var, x) + 1e-5)
    return scaled * per_channel(w, x) + per_channel(b, x)


def batch_norm_train(x, w, b, mean, var):
    out = normalized(x, (0, 2, 3), 1e-5) * per_channel(w, x) + per_channel(b, x)
    unbiased = x.var((0, 2, 3), ddof=0) * (x[:, 0].size / (x[:, 0].size - 1.0))
    return out, 0.9 * mean + 0.1 * x.mean((0, 2, 3)), 0.9 * var + 0.1 * unbiased
