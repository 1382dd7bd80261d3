"""Ops that move elements: joins, indexing, scatters, orders and views."""
import numpy

from cuda_cases.inputs import PAIRS, Normal, array, truth, whole
from cuda_cases.rounding import rounded


def joining(table):
    a, b = Normal(2, 3), Normal(2, 3)
    variants = PAIRS + ("half_and_bfloat16", "double_first")
    table.add("join", "cat", "torch.cat([a, b])", [a, b], lambda x, y: numpy.concatenate([x, y]), variants)
    table.add("join", "cat of integers", "torch.cat([a, b])", [array([0.1]), whole([2049])],
              lambda store, x, y: numpy.concatenate([x, store(y)]), ("half", "float"), stores=True)
    table.add("join", "stack", "torch.stack([a, b])", [a, b], lambda x, y: numpy.stack([x, y]), variants)
    table.add("join", "cat empty", "torch.cat([a, b])", [numpy.zeros((0, 3)), b], lambda x, y: y,
              ("half", "mixed", "mixed_back"))


def indexing(table):
    x, i = Normal(4, 3), whole([[0, 2, 1], [3, 0, 0]])
    rows = whole([2, 0])
    table.add("index", "gather", "torch.gather(a, 0, b)", [x, i], lambda a, i: numpy.take_along_axis(a, i, 0),
              ("half", "float", "bf16"))
    table.add("index", "index_select", "torch.index_select(a, 0, b)", [x, rows], lambda a, i: a[i], ("half", "float", "bf16"))
    table.add("index", "index", "torch.index(a, [b])", [x, rows], lambda a, i: a[i], ("half", "float"))
    table.add("index", "take", "torch.take(a, b)", [x, whole([0, 5, 11])], lambda a, i: a.reshape(-1)[i], ("half", "float"),
              dtypes=["first"])
    # The number of elements depends on data, which fake tensors do not have.
    table.add("index", "masked_select", "torch.masked_select(a, b)", [x, truth(numpy.eye(4, 3))], lambda a, m: a[m],
              ("half", "float", "bf16"), dtypes=["first"])
    scatters(table)


def put(a, i, b, add=False):
    a = numpy.array(a)
    a[i] = a[i] + b if add else b
    return a


def scatters(table):
    x, src, i = Normal(4, 3), Normal(2, 3), whole([[0, 2, 1], [3, 0, 0]])
    rows = whole([2, 0])
    table.add("index", "scatter", "torch.scatter(a, 0, c, b)", [x, src, i], scattered, PAIRS)
    # Every add rounds (cuda/Atomic.cuh): 2048 + 0.75 is 2048 in half however often, and 2049.5 in one float32 sum, which is
    # no half. All addends are equal, so that the order of the atomic additions does not matter.
    start, addends, same = array([2048.0, 0.0]), array([0.75, 0.75]), whole([0, 0])
    table.add("index", "scatter_add", "torch.scatter_add(a, 0, c, b)", [start, addends, same], lambda a, b, i: a, ("half",))
    table.add("index", "scatter_add", "torch.scatter_add(a, 0, c, b)", [start, addends, same],
              lambda a, b, i: put(a, 0, 2049.5), ("float", "mixed", "mixed_back", "bf16_mixed"))
    table.add("index", "index_add", "torch.index_add(a, 0, c, b)", [start, addends, same], lambda a, b, i: a, ("half",))
    table.add("index", "index_add", "torch.index_add(a, 0, c, b)", [start, addends, same], lambda a, b, i: put(a, 0, 2049.5),
              ("float",))
    # index_add wants one dtype (TensorAdvancedIndexing.cpp).
    table.add("index", "index_add", "torch.index_add(a, 0, c, b)", [start, addends, same], None, ("mixed", "mixed_back"))
    table.add("index", "index_copy", "torch.index_copy(a, 0, c, b)", [x, Normal(2, 3), rows], lambda a, b, i: put(a, i, b),
              PAIRS)
    table.add("index", "index_put", "torch.index_put(a, [c], b)", [x, Normal(2, 3), rows], lambda a, b, i: put(a, i, b), PAIRS)
    # Rows of two: newer kernels for single elements sum the addends in float32 first (Indexing.cu).
    rowwise = [numpy.stack([start, start], 1), numpy.stack([addends, addends], 1), same]
    table.add("index", "index_put accumulate", "torch.index_put(a, [c], b, True)", rowwise, lambda a, b, i: a, ("half",))
    table.add("index", "index_put accumulate", "torch.index_put(a, [c], b, True)", rowwise, lambda a, b, i: put(a, 0, 2049.5),
              ("float", "mixed", "mixed_back"))
    table.add("index", "index_put accumulate apart", "torch.index_put(a, [c], b, True)", [x, Normal(2, 3), rows],
              lambda a, b, i: put(a, i, b, True), PAIRS)
    table.add("index", "masked_scatter", "torch.masked_scatter(a, c, b)",
              [array([1.0, 2.0, 3.0]), array([5.0, 6.0, 7.0]), truth([1, 0, 1])], lambda a, b, m: array([5.0, 2.0, 6.0]),
              ("half", "float"))
    table.add("index", "masked_scatter", "torch.masked_scatter(a, c, b)",
              [array([1.0, 2.0, 3.0]), array([5.0, 6.0, 7.0]), truth([1, 0, 1])], None, ("mixed",),
              raises="masked_scatter: expected self and source to have same dtypes but gotHalf and Float")


def scattered(a, b, i):
    a = numpy.array(a)
    # Row after row; where two elements meet, here 0 and 0 of one row, they lie in different columns.
    for (row, column), target in numpy.ndenumerate(i):
        a[target, column] = b[row, column]
    return a


def orders(table):
    # 2049 and 2048 are one number in half, so are 1.0001 and 1: ties of the rounded values.
    x = array([2048.0, 2049.0, 1.0, 1.0001, 3.0])
    half = lambda f: lambda a: f(rounded(a, "float16"))
    ascending = lambda a: (numpy.sort(a), numpy.argsort(a, kind="stable"))
    table.add("order", "argmax", "torch.argmax(a)", [x], numpy.argmax, ("half", "float"))
    table.add("order", "argmax of rounded", "torch.argmax(a.to(torch.float16))", [x], half(numpy.argmax), ("float",))
    table.add("order", "argmin of rounded", "torch.argmin(a.to(torch.float16))", [x], half(numpy.argmin), ("float",))
    table.add("order", "max dim", "torch.max(a, 0)", [x], lambda a: (a.max(), a.argmax()), ("half", "float"), results=2)
    table.add("order", "stable sort", "torch.sort(a, stable=True, dim=0, descending=False)", [x], ascending,
              ("half", "float", "bf16"), results=2)
    table.add("order", "stable sort of rounded", "torch.sort(a.to(torch.float16), stable=True, dim=0, descending=False)", [x],
              half(ascending), ("float",), results=2)
    table.add("order", "argsort", "torch.argsort(a)", [Normal(6)], numpy.argsort, ("half", "float"))
    # Which of the tied elements topk and kthvalue point at is not defined: values alone.
    table.add("order", "topk of rounded", "torch.topk(a.to(torch.float16), 3)[0]", [x],
              half(lambda a: numpy.sort(a)[::-1][:3]), ("float",), dtypes=["float16"])
    table.add("order", "topk", "torch.topk(a, 2)", [Normal(6)],
              lambda a: (numpy.sort(a)[::-1][:2], numpy.argsort(a)[::-1][:2]), ("half", "float", "bf16"), results=2)
    table.add("order", "kthvalue", "torch.kthvalue(a, 2)", [Normal(6)], lambda a: (numpy.sort(a)[1], numpy.argsort(a)[1]),
              ("half", "float"), results=2, dtypes=["first", "int64"])
    table.add("order", "median", "torch.median(a)", [Normal(5)], numpy.median, ("half", "float"), dtypes=["first"])


def views(table):
    x = Normal(2, 3, 4)
    made = [
        ("transpose", "torch.transpose(a, 0, 2)", lambda a: a.transpose(2, 1, 0)),
        ("reshape", "torch.reshape(a, [6, 4])", lambda a: a.reshape(6, 4)),
        ("view", "a.view([4, 6])", lambda a: a.reshape(4, 6)),
        ("permute", "torch.permute(a, [1, 0, 2])", lambda a: a.transpose(1, 0, 2)),
        ("expand", "torch.expand(torch.narrow(a, 0, 0, 1), [2, 3, 4])", lambda a: numpy.repeat(a[:1], 2, 0)),
        ("select", "torch.select(a, 1, 2)", lambda a: a[:, 2]),
        ("narrow", "torch.narrow(a, 2, 1, 2)", lambda a: a[..., 1:3]),
        ("chunk", "torch.chunk(a, 2, 2)[1]", lambda a: a[..., 2:]),
        ("slice", "torch.slice(a, 2, 0, 4, 2)", lambda a: a[..., ::2]),
        ("flip", "torch.flip(a, [0])", lambda a: a[::-1]),
        ("roll", "torch.roll(a, [1], [2])", lambda a: numpy.roll(a, 1, 2)),
        ("repeat", "torch.repeat(a, [1, 2, 1])", lambda a: numpy.tile(a, (1, 2, 1))),
        ("tril", "torch.tril(a)", numpy.tril),
        ("unbind", "torch.unbind(a, 0)[1]", lambda a: a[1]),
        ("contiguous", "torch.contiguous(torch.transpose(a, 0, 1))", lambda a: a.transpose(1, 0, 2)),
        ("clone", "torch.clone(a)", lambda a: a),
        ("dropout off", "torch.dropout(a, 0.5, False)", lambda a: a),
    ]
    for name, body, reference in made:
        table.add("view", name, body, [x], reference, ("half", "bf16"))
