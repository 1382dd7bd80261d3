"""Matrix products, linear layers and convolutions."""
import numpy

from cuda_cases.definitions import SUMMED, biased, convolution, linear, per_channel, transposed_convolution
from cuda_cases.inputs import PAIRS, Factor, Normal, array

PRODUCT_VARIANTS = PAIRS + ("bf16_float", "double", "half_and_bfloat16")


def products(table):
    def add(label, body, inputs, reference, variants=PAIRS + ("double",), **options):
        table.add("product", label, body, inputs, reference, variants, lowered=True, **options)

    m, n, v, u = Factor(3, 6), Factor(6, 5), Factor(6), Factor(3)
    add("mm", "torch.mm(a, b)", [m, n], numpy.matmul, PRODUCT_VARIANTS + ("half_in_bf16",))
    # Doubles are never cast, and the kernel takes one dtype (cuda/Blas.cpp); the meta kernel does not look.
    add("mm", "torch.mm(a, b)", [m, n], None, ("double_first",),
        raises="expected mat1 and mat2 to have the same dtype, but got: double != c10::Half")
    add("mv", "torch.mv(a, b)", [m, v], numpy.matmul)
    add("dot in matmul", "torch.matmul(a, b)", [v, Factor(6)], numpy.dot)
    add("bmm", "torch.bmm(a, b)", [Factor(2, 3, 4), Factor(2, 4, 5)], numpy.matmul)
    # beta and alpha are float32 and the sum is rounded once.
    add("addmm", "torch.addmm(c, a, b)", [m, n, Factor(5)], lambda a, b, c: c + a @ b, PRODUCT_VARIANTS)
    add("addmm scaled", "torch.addmm(c, a, b, beta=0.5, alpha=2.0)", [m, n, Factor(3, 5)],
        lambda a, b, c: 0.5 * c + 2 * (a @ b), PAIRS)
    add("addmv", "torch.addmv(c, a, b)", [m, v, u], lambda a, b, c: c + a @ b, PAIRS)
    add("baddbmm", "torch.baddbmm(c, a, b, beta=0.5, alpha=2.0)", [Factor(2, 3, 4), Factor(2, 4, 5), Factor(2, 3, 5)],
        lambda a, b, c: 0.5 * c + 2 * (a @ b))
    # LinearAlgebra.cpp adds the batches one after the other to the low result (result.addmm_): each rounds.
    add("addbmm", "torch.addbmm(c, a, b)", [Factor(3, 3, 4), Factor(3, 4, 5), Factor(3, 5)], batch_after_batch, PAIRS,
        stores=True)
    # LinearAlgebra.cu computes addr in scalar_t: the product is rounded, then the sum.
    add("addr", "torch.addr(c, a, b)", [Factor(3), Factor(5), Factor(3, 5)],
        lambda store, a, b, c: c + store(numpy.outer(a, b)), PAIRS, stores=True)
    ranks = [((6,), (6, 5)), ((3, 6), (6,)), ((2, 3, 6), (6, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 5)),
             ((4,), (2, 4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5))]
    for left, right in ranks:
        label = f"matmul {'x'.join(map(str, left))} by {'x'.join(map(str, right))}"
        add(label, "torch.matmul(a, b)", [Factor(*left), Factor(*right)], numpy.matmul, ("half", "mixed", "bf16_float"))
    add("einsum", 'torch.einsum("bij,bkj->bik", [a, b])', [Factor(2, 3, 4), Factor(2, 5, 4)],
        lambda a, b: numpy.einsum("bij,bkj->bik", a, b), PAIRS)
    add("multi_dot", "torch.linalg_multi_dot([a, b])", [m, n], numpy.matmul, ("half", "mixed"))
    add("mm above the range", "torch.mm(a, b)", [numpy.full((1, 2), 300.0), numpy.array([[200.0, 150.0], [100.0, 150.0]])],
        numpy.matmul, ("half", "float"))
    # A weight above the range is an infinity before the product, and inf - inf is NaN.
    add("mm of inputs above the range", "torch.mm(a, b)", [array([[1.0, 1.0]]), array([[65519.0, 70000.0], [0.0, -70000.0]])],
        numpy.matmul, ("float",))
    add("mm of subnormals", "torch.mm(a, b)", [array([[2.0, 1.0]]), array([[5.9604645e-08, 3e-8], [1.2e-07, 2.9e-8]])],
        numpy.matmul, ("float",))
    promoted_products(table)
    linears(add)


def batch_after_batch(store, a, b, c):
    for left, right in zip(a, b):
        c = store(c + left @ right)
    return c


def promoted_products(table):
    """dot, bilinear, tensordot, cross are on the promote list, outer is a multiplication."""
    variants = PAIRS + ("double", "half_and_bfloat16")
    table.add("product", "dot", "torch.dot(a, b)", [Normal(6), Normal(6)], numpy.dot, variants, absolute=SUMMED)
    table.add("product", "vdot", "torch.vdot(a, b)", [Normal(6), Normal(6)], numpy.dot, ("half", "float", "bf16"),
              absolute=SUMMED)
    # On the promote list of 2.6 (autocast_mode.h), not yet of 1.13.
    table.add("product", "vdot", "torch.vdot(a, b)", [Normal(6), Normal(6)], numpy.dot, ("mixed", "mixed_back"),
              absolute=SUMMED, dtypes=["float32"])
    table.add("product", "outer", "torch.outer(a, b)", [Normal(3), Normal(4)], numpy.outer, variants)
    # In half CrossKernel.cu and _trilinear round inside, in ways that are not stated here: values in float32 alone.
    three = [
        ("cross", "torch.cross(a, b, 1)", [Normal(2, 3), Normal(2, 3)], lambda a, b: numpy.cross(a, b)),
        ("tensordot", "torch.tensordot(a, b, [1], [0])", [Normal(3, 4), Normal(4, 5)], numpy.matmul),
        ("bilinear", "torch.bilinear(a, b, c, None)", [Normal(2, 3), Normal(2, 4), Normal(2, 3, 4)],
         lambda a, b, w: numpy.einsum("ni,oij,nj->no", a, w, b)),
    ]
    for name, body, inputs, reference in three:
        table.add("product", name, body, inputs, reference, ("float", "mixed", "mixed_back"), absolute=SUMMED)
        table.add("product", name, body, inputs, None, ("half", "bf16"))
    table.add("product", "prelu", "torch.prelu(a, b)", [Normal(3, 4), array([0.3])], lambda x, w: numpy.where(x > 0, x, w * x),
              PAIRS + ("bf16_float", "double"), lowered=True)
    table.add("product", "prelu per channel", "torch.prelu(a, b)", [Normal(2, 3, 2), Normal(3)],
              lambda x, w: numpy.where(x > 0, x, per_channel(w, x) * x), ("half", "float", "mixed"), lowered=True)


def linears(add):
    w, b = Factor(5, 6), Factor(5)
    for shape in ((3, 6), (2, 3, 6), (2, 2, 3, 6), (6,), (0, 6)):
        label = f"linear {len(shape)}-D" if shape[0] else "linear empty"
        add(label, "torch.linear(a, b)", [Factor(*shape), w], linear, ("half", "float", "mixed", "bf16_float"))
        # One rounding: the newest series fuses every contiguous input with a 1-D bias (native/Linear.cpp).
        if len(shape) > 1:
            add(label + " bias", "torch.linear(a, b, c)", [Factor(*shape), w, b], linear, PAIRS + ("bf16_float",))
    # Not contiguous: matmul, then add_(bias) rounds again (Linear.cpp).
    add("linear transposed bias", "torch.linear(torch.transpose(a, 1, 2), b, c)", [Factor(2, 6, 3), w, b],
        lambda store, a, w, b: store(a.transpose(0, 2, 1) @ w.T) + b, ("half", "float"), stores=True)
    add("two linears", "torch.linear(torch.linear(a, b), c)", [Factor(3, 4), Factor(6, 4), Factor(2, 6)],
        lambda store, a, w, v: store(a @ w.T) @ v.T, ("half", "float"), stores=True, absolute=2.0 ** -23)
    add("linear double", "torch.linear(a, b, c)", [Factor(3, 6), w, b], linear, ("double", "double_first"))


def convolutions(table):
    def add(label, body, inputs, reference, variants=("half", "float", "mixed", "bf16_float"), **options):
        table.add("convolution", label, body, inputs, reference, variants, lowered=True, **options)

    add("conv2d", "torch.conv2d(a, b)", [Factor(2, 3, 5, 5), Factor(4, 3, 3, 3)], convolution,
        PAIRS + ("bf16_float", "double"))
    # Doubles are never cast, and _convolution takes one dtype (Convolution.cpp); the meta kernel does not look.
    add("conv2d", "torch.conv2d(a, b)", [Factor(2, 3, 5, 5), Factor(4, 3, 3, 3)], None, ("double_first",),
        raises="Input type (torch.cuda.DoubleTensor) and weight type (torch.cuda.HalfTensor) should be the same")
    add("conv2d bias", "torch.conv2d(a, b, c)", [Factor(2, 3, 5, 5), Factor(4, 3, 3, 3), Factor(4)],
        lambda store, x, w, b: biased(store, convolution(x, w), b), PAIRS + ("bf16_float",), stores=True)
    add("conv2d stride and padding", "torch.conv2d(a, b, c, [2, 2], [1, 1])",
        [Factor(1, 2, 5, 5), Factor(3, 2, 3, 3), Factor(3)], lambda store, x, w, b: biased(store, convolution(x, w, 2, 1), b),
        stores=True)
    add("conv2d groups", "torch.conv2d(a, b, c, [1, 1], [0, 0], [1, 1], 2)",
        [Factor(1, 4, 4, 4), Factor(6, 2, 2, 2), Factor(6)],
        lambda store, x, w, b: biased(store, convolution(x, w, groups=2), b), stores=True)
    # The native depthwise kernel adds the bias inside the float32 sum: one rounding (DepthwiseConv2d.cu).
    add("conv2d depthwise", "torch.conv2d(a, b, c, [1, 1], [0, 0], [1, 1], 3)",
        [Factor(1, 3, 4, 4), Factor(3, 1, 3, 3), Factor(3)], lambda x, w, b: convolution(x, w, groups=3) + per_channel(b, x))
    add("conv2d above the range", "torch.conv2d(a, b, c)",
        [numpy.full((1, 1, 1, 1), 35000.0), array([2.0, 1.0]).reshape(2, 1, 1, 1), array([-10000.0, -70000.0])],
        lambda store, x, w, b: biased(store, convolution(x, w), b), ("half", "float"), stores=True)
    add("conv1d", "torch.conv1d(a, b)", [Factor(2, 3, 6), Factor(4, 3, 3)], convolution)
    add("conv1d bias", "torch.conv1d(a, b, c)", [Factor(2, 3, 6), Factor(4, 3, 3), Factor(4)],
        lambda store, x, w, b: biased(store, convolution(x, w), b), stores=True)
    add("conv3d bias", "torch.conv3d(a, b, c)", [Factor(1, 2, 3, 4, 4), Factor(3, 2, 2, 2, 2), Factor(3)],
        lambda store, x, w, b: biased(store, convolution(x, w), b), stores=True)
    add("conv3d", "torch.conv3d(a, b)", [Factor(1, 2, 3, 4, 4), Factor(3, 2, 2, 2, 2)], convolution, ("half", "float"))
    shapes = {1: ((2, 3, 4), (3, 2, 3)), 2: ((2, 3, 4, 4), (3, 2, 3, 3)), 3: ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2))}
    for rank, (x, w) in shapes.items():
        name = f"conv_transpose{rank}d"
        add(name, f"torch.{name}(a, b)", [Factor(*x), Factor(*w)], transposed_convolution)
        add(name + " bias", f"torch.{name}(a, b, c)", [Factor(*x), Factor(*w), Factor(2)],
            lambda store, x, w, b: biased(store, transposed_convolution(x, w), b), stores=True)
    add("conv_transpose2d stride", "torch.conv_transpose2d(a, b, c, [2, 2])",
        [Factor(1, 3, 3, 3), Factor(3, 2, 2, 2), Factor(2)],
        lambda store, x, w, b: biased(store, transposed_convolution(x, w, 2), b), ("half", "float"), stores=True)
    add("_convolution", "torch._convolution(a, b, c, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, True, True)",
        [Factor(2, 3, 4, 4), Factor(4, 3, 3, 3), Factor(4)], lambda store, x, w, b: biased(store, convolution(x, w), b),
        ("half", "float", "mixed"), stores=True, dtypes=["low"])
