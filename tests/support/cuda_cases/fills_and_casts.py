"""Fills and their range checks, in-place and out= ops, factories and casts."""
import numpy

from cuda_cases.definitions import CLOSE, SUMMED, single, softmax
from cuda_cases.indexing import put
from cuda_cases.inputs import EDGES, THREE, Factor, Normal, array, truth, whole
from cuda_cases.rounding import INF, rounded

OVERFLOW = "value cannot be converted to type LOW without overflow"


def fills(table):
    """Scalar.to<scalar_t>() checks the range: the limit of half is 65504, infinities pass (c10/util/TypeCast.h). Meta
    kernels do not check, hence the expectations by hand."""
    x, mask = Normal(3), truth([1, 0, 1])
    ways = [
        ("masked_fill", "torch.masked_fill(a, b, VALUE)", mask, lambda a, m, v: numpy.where(m, v, a)),
        ("where scalar", "torch.where(b, a, VALUE)", mask, lambda a, m, v: numpy.where(m, a, v)),
        ("index_fill", "torch.index_fill(a, 0, b, VALUE)", whole([0, 2]), put),
        ("scatter value", "torch.scatter(a, 0, b, VALUE)", whole([0, 2]), put),
    ]
    for name, body, second, reference in ways:
        def add(label, value, variants, name=name, body=body, second=second, f=reference, **options):
            text = 'float("-inf")' if value == -INF else repr(value)
            table.add("fill", f"{name} {label}", body.replace("VALUE", text), [x, second], lambda a, i: f(a, i, value),
                      variants, **options)
        add("in range", 65504.0, THREE, dtypes=["first"])
        add("infinite", -INF, ("half", "bf16"), dtypes=["first"])
        add("above", 65505.0, ("half",), raises=OVERFLOW)
        add("above", 65505.0, ("float",), dtypes=["first"])
        add("far below", -1e9, ("half",), raises=OVERFLOW)
        add("lowest of float32", -3.4028234663852886e+38, ("bf16",), raises=OVERFLOW)
        add("far below", -1e9, ("float", "bf16"), dtypes=["first"])
    more_fills(table, x, mask)


def more_fills(table, x, mask):
    filled = [("full_like", "torch.full_like(a, VALUE)"), ("fill_", "torch.fill_(torch.clone(a), VALUE)"),
              ("pad", "torch.constant_pad_nd(a, [1, 1], VALUE)"), ("new_full", "torch.new_full(a, [2], VALUE)")]
    for name, body in filled:
        table.add("fill", name + " above", body.replace("VALUE", "65505.0"), [x], None, ("half",), raises=OVERFLOW)
        table.add("fill", name + " in range", body.replace("VALUE", "0.1"), [x], None, ("half", "float"), dtypes=["first"])
    table.add("fill", "masked_fill 0-dim", "torch.masked_fill(a, c, b)", [x, array(0.1), mask],
              lambda store, a, v, m: numpy.where(m, store(v), a), ("half", "mixed", "bf16_mixed"), stores=True,
              dtypes=["first"])
    table.add("fill", "masked_fill 0-dim above", "torch.masked_fill(a, c, b)", [x, array(-1e9), mask], None, ("mixed",),
              raises=OVERFLOW)
    table.add("fill", "masked_fill then softmax", "torch.softmax(torch.masked_fill(a, b, float(\"-inf\")), 0)",
              [x, truth([1, 0, 0])], lambda a, m: softmax(numpy.where(m, -INF, a), 0), ("half", "float"), relative=CLOSE)
    table.add("fill", "pad values", "torch.constant_pad_nd(a, [1, 1], 0.1)", [x],
              lambda store, a: numpy.pad(a, 1, constant_values=store(0.1)), ("half", "float", "bf16"), stores=True,
              dtypes=["first"])
    table.add("fill", "full_like values", "torch.full_like(a, 0.1)", [x], lambda a: numpy.full(3, 0.1),
              ("half", "float", "bf16"))


def in_place(table):
    """In-place ops and out= are not autocast. Every op of a chain rounds."""
    x, y = Normal(2, 4), Normal(2, 4)

    def add(label, body, reference, variants=("half", "mixed", "bf16", "bf16_mixed"), inputs=(x, y), **options):
        table.add("in place", label, body, list(inputs), reference, variants, **options)

    add("add_", "torch.add_(torch.clone(a), b)", lambda p, q: p + q)
    add("add_ to half", "torch.add_(torch.clone(a), b)", lambda p, q: p + q, ("mixed_back",))
    add("mul_ scalar", "torch.mul_(torch.clone(a), 0.1)", lambda p, q: p * single(0.1), ("half", "float", "bf16"))
    add("chain", "c = a.to(LOW)\nc.add_(b)\nc.mul_(0.1)\nc.relu_()\nc",
        lambda store, p, q: numpy.maximum(store(store(store(p) + q) * single(0.1)), 0),
        ("half", "float", "mixed", "bf16_float"), stores=True)
    add("clamp_", "c = a.to(LOW)\nc.clamp_(-0.3, 0.7)\nc", lambda store, p, q: numpy.clip(store(p), single(-0.3), single(0.7)),
        ("half", "float"), stores=True)
    add("masked_fill_", "c = a.to(LOW)\nc.masked_fill_(b > 0.0, 0.1)\nc",
        lambda store, p, q: numpy.where(q > 0, store(0.1), store(p)), ("half", "float"), stores=True)
    add("index_put_", "d = torch.clone(a)\nd.index_put_([c], b)\nd", lambda p, q, i: q, ("half", "float"),
        (x, y, whole([0, 1])))
    for variant, got in (("mixed", "Half for the destination and Float"),
                         ("mixed_back", "Float for the destination and Half")):
        add("index_put_ mixed", "torch.index_put_(torch.clone(a), [c], b)", None, (variant,), (x, y, whole([0, 1])),
            raises=f"Index put requires the source and destination dtypes match, got {got} for the source.")
    add("copy_", "torch.copy_(torch.zeros_like(a), b)", lambda store, p, q: store(q), ("half", "mixed", "mixed_back"),
        stores=True)
    add("fill of a view", "c = torch.clone(a)\ntorch.select(c, 0, 0).mul_(torch.select(b, 0, 0))\nc",
        lambda p, q: numpy.stack([p[0] * q[0], p[1]]), ("half", "mixed"))
    add("bool add_", "torch.add_(torch.gt(a, 0.0), b)", None, ("half",))
    add("int add_", "torch.add_(torch.ones_like(a, dtype=torch.int64), b)", None, ("half", "float"))
    add("add out", "torch.add(a, b, out=torch.zeros_like(a))", lambda p, q: p + q, ("half", "float", "mixed", "mixed_back"))
    add("exp out", "torch.exp(a, out=torch.zeros_like(a))", lambda p, q: numpy.exp(p), ("half", "float", "bf16"),
        relative=CLOSE)
    m = (Factor(2, 4), Factor(4, 3))
    add("mm out", "torch.mm(a, b, out=torch.empty([2, 3], dtype=LOW, device=a.device))", numpy.matmul, ("half", "bf16"), m)
    add("mm out float", "torch.mm(a, b, out=torch.empty([2, 3], dtype=torch.float32, device=a.device))", numpy.matmul,
        ("float",), m, absolute=SUMMED)
    # cuBLAS takes one dtype.
    add("mm out mixed", "torch.mm(a, b, out=torch.empty([2, 3], dtype=LOW, device=a.device))", None, ("mixed",), m,
        raises="expected mat1 and mat2 to have the same dtype, but got: c10::Half != float")
    add("addmm_", "torch.addmm_(torch.clone(c), a, b)", lambda a, b, c: c + a @ b, ("half", "bf16"), m + (Factor(2, 3),))


def factories(table):
    x = Normal(2, 3)
    for name in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
        known = {"zeros_like": numpy.zeros_like, "ones_like": numpy.ones_like}.get(name)
        table.add("factory", name, f"torch.{name}(a)", [x], known, ("half", "float", "bf16"))
    table.add("factory", "ones_like to low", "torch.ones_like(a, dtype=LOW)", [x], numpy.ones_like, ("float", "bf16_float"))
    table.add("factory", "new_zeros", "torch.new_zeros(a, [2])", [x], lambda a: numpy.zeros(2), ("half", "float"))
    table.add("factory", "arange to low", "torch.arange(5, dtype=LOW, device=a.device)", [x], lambda a: numpy.arange(5.0),
              ("half", "bf16"))
    table.add("factory", "arange", "torch.arange(5, device=a.device)", [x], lambda a: numpy.arange(5), ("half",))
    table.add("factory", "zeros plus", "torch.add(torch.zeros([2, 3], device=a.device), a)", [x], lambda a: a,
              ("half", "bf16"))
    table.add("factory", "scalar tensor", "torch.mul(a, torch.scalar_tensor(0.1, device=a.device))", [x],
              lambda store, a: a * store(0.1), ("half", "bf16"), stores=True)


def casts(table):
    x, m, n = Normal(3, 4), Factor(3, 4), Factor(4, 2)
    table.add("cast", "to half of edges", "a.to(torch.float16)", [EDGES], lambda a: a, ("float", "bf16"))
    table.add("cast", "to bfloat16 of edges", "a.to(torch.bfloat16)", [EDGES], lambda a: a, ("float", "half"))
    table.add("cast", "to float", "a.to(torch.float32)", [EDGES], lambda a: a, ("half", "bf16", "double"))
    table.add("cast", "half", "torch.add(a.half(), a)", [x], lambda a: rounded(a, "float16") + a, ("half", "float"))
    table.add("cast", "float", "torch.mul(a.float(), 0.1)", [x], lambda a: a * single(0.1), ("half", "bf16"))
    table.add("cast", "float then mm", "torch.mm(a.float(), b.float())", [m, n], numpy.matmul, ("half", "float"), lowered=True)
    table.add("cast", "double then mm", "torch.mm(a.double(), b.double())", [m, n], numpy.matmul, ("half", "float"),
              absolute=SUMMED)
    # Doubles are never cast, and the kernel takes one dtype (cuda/Blas.cpp).
    table.add("cast", "double of one then mm", "torch.mm(a.double(), b)", [m, n], None, ("half",),
              raises="expected mat1 and mat2 to have the same dtype, but got: double != c10::Half")
    table.add("cast", "other low then mm", "torch.mm(a.to(torch.bfloat16), b)", [m, n],
              lambda a, b: rounded(rounded(a, "bfloat16"), "float16") @ rounded(b, "float16"), ("float",))
    table.add("cast", "other low then add", "torch.add(a.to(torch.bfloat16), a.to(torch.float16))", [x],
              lambda a: rounded(a, "bfloat16") + rounded(a, "float16"), ("float",))
    table.add("cast", "half then exp", "torch.exp(a.half())", [x], lambda a: numpy.exp(rounded(a, "float16")), ("float",),
              relative=CLOSE)
    table.add("cast", "half then double", "a.half().double()", [x], lambda a: rounded(a, "float16"), ("float", "double"))
    table.add("cast", "type_as", "torch.type_as(a, b)", [x, Normal(1)], lambda a, b: a, ("mixed", "mixed_back"))
    table.add("cast", "exp of doubles", "torch.exp(a)", [x], numpy.exp, ("double",), relative=CLOSE)
    table.add("cast", "softmax of doubles", "torch.softmax(a, 1)", [x], None, ("double",))
    table.add("cast", "layer_norm of doubles", "torch.layer_norm(a, [4], b)", [x, Normal(4)], None, ("double",))
    # Doubles are never cast, and the kernel reads the weight in the input's dtype (layer_norm_kernel.cu).
    table.add("cast", "layer_norm of doubles", "torch.layer_norm(a, [4], b)", [x, Normal(4)], None, ("double_first",),
              raises="expected scalar type Double but found Float")
    table.add("cast", "integers to half", "a.to(torch.float16)", [whole([1, 2049, 70000])], lambda a: a, ("half",))
