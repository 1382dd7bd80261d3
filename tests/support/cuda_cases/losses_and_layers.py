"""Pools, interpolation, losses, recurrent layers, and short chains as models have them."""
import numpy

from cuda_cases.definitions import CLOSE, SUMMED, huber, log_softmax, picked_loss, softmax, softplus, windows_of
from cuda_cases.inputs import ALL, Factor, Normal, array, whole
from cuda_cases.rounding import rounded


def pools(table):
    image = Normal(1, 2, 4, 4)
    table.add("pool", "max_pool2d", "torch.max_pool2d(a, [2, 2])", [image], lambda a: windows_of(a, 2).max((-1, -2)))
    table.add("pool", "avg_pool2d", "torch.avg_pool2d(a, [2, 2])", [image], lambda a: windows_of(a, 2).mean((-1, -2)),
              absolute=2.0 ** -23)
    table.add("pool", "adaptive_avg_pool2d", "torch.adaptive_avg_pool2d(a, [2, 2])", [image],
              lambda a: windows_of(a, 2).mean((-1, -2)), absolute=2.0 ** -23)
    table.add("pool", "adaptive_avg_pool2d to one", "torch.adaptive_avg_pool2d(a, [1, 1])", [image],
              lambda a: a.mean((2, 3), keepdims=True), absolute=2.0 ** -23)
    table.add("pool", "adaptive_max_pool2d", "torch.adaptive_max_pool2d(a, [2, 2])[0]", [image],
              lambda a: windows_of(a, 2).max((-1, -2)), ("half", "float"), dtypes=["first"])
    table.add("pool", "avg_pool1d", "torch.avg_pool1d(a, [2])", [Normal(1, 2, 4)], lambda a: a.reshape(1, 2, 2, 2).mean(3),
              ("half", "float", "bf16"))
    table.add("pool", "max_pool1d", "torch.max_pool1d(a, [2])", [Normal(1, 2, 4)], lambda a: a.reshape(1, 2, 2, 2).max(3),
              ("half", "float"), dtypes=["first"])
    # On the fp32 list of 2.x (autocast_mode.h), not yet of 1.13.
    table.add("interpolate", "nearest2d", "torch.upsample_nearest2d(a, [8, 8], None, None)", [image],
              lambda a: a.repeat(2, 2).repeat(2, 3), dtypes=["float32"])
    table.add("interpolate", "nearest1d", "torch.upsample_nearest1d(a, [8], None)", [Normal(1, 2, 4)],
              lambda a: a.repeat(2, 2), ("half", "float"), dtypes=["float32"])
    table.add("interpolate", "bilinear2d", "torch.upsample_bilinear2d(a, [7, 7], True, None, None)", [image], doubled_bilinear,
              dtypes=["float32"], absolute=2.0 ** -22)
    table.add("interpolate", "bicubic2d", "torch.upsample_bicubic2d(a, [7, 7], True, None, None)", [image], None,
              ("half", "bf16"), dtypes=["float32"])
    table.add("interpolate", "pixel_shuffle", "torch.pixel_shuffle(a, 2)", [Normal(1, 4, 2, 2)], None, ("half", "float"))
    table.add("interpolate", "reflection_pad1d", "torch.reflection_pad1d(a, [1, 1])", [Normal(1, 2, 4)],
              lambda a: numpy.pad(a, ((0, 0), (0, 0), (1, 1)), mode="reflect"), ("half", "float", "bf16"), dtypes=["first"])
    table.add("interpolate", "grid_sampler", "torch.grid_sampler(a, b, 0, 0, False)", [image, Normal(1, 2, 2, 2, scale=0.3)],
              None, ("half", "float", "mixed"))
    table.add("embedding", "embedding", "torch.embedding(a, b)", [Normal(4, 3), whole([[0, 3], [1, 1]])], lambda w, i: w[i])


def doubled_bilinear(x):
    """With aligned corners 4 points become 7: the old ones and their middles."""
    for axis in (2, 3):
        a, b = numpy.take(x, range(3), axis), numpy.take(x, range(1, 4), axis)
        pairs = numpy.stack([a, (a + b) / 2], axis + 1)
        joined = pairs.reshape(x.shape[:axis] + (6,) + x.shape[axis + 1:])
        x = numpy.concatenate([joined, numpy.take(x, [3], axis)], axis)
    return x


def losses(table):
    x, y = Normal(3, 4), Normal(3, 4)
    mean = lambda f: lambda a, b: f(a, b).mean()

    def add(label, body, inputs, reference, variants=("half", "mixed", "bf16_float"), **options):
        table.add("loss", label, body, inputs, reference, variants, absolute=SUMMED, **options)

    add("mse_loss", "torch.mse_loss(a, b)", [x, y], mean(lambda a, b: (a - b) ** 2))
    add("l1_loss", "torch.l1_loss(a, b)", [x, y], mean(lambda a, b: numpy.abs(a - b)))
    add("smooth_l1_loss", "torch.smooth_l1_loss(a, b)", [x, y], mean(huber))
    add("huber_loss", "torch.huber_loss(a, b)", [x, y], mean(huber))
    add("kl_div", "torch.kl_div(a, b)", [x, Normal(3, 4, positive=True, shift=0.1)], mean(lambda a, b: b * (numpy.log(b) - a)))
    add("soft_margin_loss", "torch.soft_margin_loss(a, b)", [x, array([[1.0, -1, 1, 1]] * 3)],
        mean(lambda a, b: numpy.log1p(numpy.exp(-a * b))))
    logits = mean(lambda a, b: softplus(a) - a * b)
    add("bce with logits", "torch.binary_cross_entropy_with_logits(a, b)", [x, Normal(3, 4, positive=True, scale=0.1)], logits)
    add("binary_cross_entropy", "torch.binary_cross_entropy(torch.sigmoid(a), b)", [x, Normal(3, 4, positive=True, scale=0.1)],
        None, ("half", "float", "bf16_float"))
    target = whole([1, 0, 3])
    add("nll_loss", "torch.nll_loss(a, b)", [x, target], picked_loss, ALL)
    # On no list: log_softmax runs in half and is rounded, nll_loss is float32 (cross_entropy_loss of native/LossNLL.cpp).
    add("cross_entropy", "torch.cross_entropy_loss(a, b)", [x, target],
        lambda a, t: picked_loss(rounded(log_softmax(a, 1), "float16"), t), ("half",))
    add("cross_entropy", "torch.cross_entropy_loss(a, b)", [x, target],
        lambda a, t: picked_loss(rounded(log_softmax(a, 1), "bfloat16"), t), ("bf16",))
    add("cross_entropy", "torch.cross_entropy_loss(a, b)", [x, target], lambda a, t: picked_loss(log_softmax(a, 1), t),
        ("float", "bf16_float"))
    add("cosine_embedding_loss", "torch.cosine_embedding_loss(a, b, c)", [x, y, whole([1, -1, 1])], None, ("half", "mixed"))
    add("margin_ranking_loss", "torch.margin_ranking_loss(a, b, c)", [Normal(3), Normal(3), array([1.0, -1.0, 1.0])], None,
        ("half", "mixed"))
    add("triplet_margin_loss", "torch.triplet_margin_loss(a, b, c)", [x, y, Normal(3, 4)], None, ("half", "mixed"))


def recurrent(table):
    """Dtypes alone."""
    x, h, c = Normal(2, 3), Normal(2, 4), Normal(2, 4)
    variants = ("half", "float", "mixed", "bf16_float")
    # lower_precision_fp (autocast_mode.cpp); the fused cells have no meta kernel.
    table.add("recurrent", "lstm_cell", "torch.lstm_cell(a, [b, c], d, e, f, g)",
              [x, h, c, Normal(16, 3), Normal(16, 4), Normal(16), Normal(16)], None, variants, results=2,
              dtypes=["low", "low"])
    table.add("recurrent", "gru_cell", "torch.gru_cell(a, b, c, d, e, f)",
              [x, h, Normal(12, 3), Normal(12, 4), Normal(12), Normal(12)], None, variants, dtypes=["low"])
    for name in ("rnn_tanh_cell", "rnn_relu_cell"):
        table.add("recurrent", name, f"torch.{name}(a, b, c, d, e, f)",
                  [x, h, Normal(4, 3), Normal(4, 4), Normal(4), Normal(4)], None, variants)
    # cuDNN's RNNs cast to float16 under bfloat16 autocast as well (cudnn/AutocastRNN.cpp; see pytorch#116925).
    sequence, state = Normal(2, 5, 3), Normal(1, 2, 4)
    table.add("recurrent", "lstm", "torch.lstm(a, [b, c], [d, e, f, g], True, 1, 0.0, False, False, True)",
              [sequence, state, state, Normal(16, 3), Normal(16, 4), Normal(16), Normal(16)], None,
              ("half", "float", "bf16_float"), results=3, dtypes=["float16"] * 3)
    table.add("recurrent", "gru", "torch.gru(a, b, [c, d, e, f], True, 1, 0.0, False, False, True)",
              [sequence, state, Normal(12, 3), Normal(12, 4), Normal(12), Normal(12)], None, ("half", "float", "bf16_float"),
              results=2, dtypes=["float16"] * 2)


def composed(table):
    """Short chains as models have them: each rounding point is stated."""
    q, k, v = Factor(1, 3, 4), Factor(1, 3, 4), Factor(1, 3, 4)
    table.add("chain", "attention",
              "scores = torch.mul(torch.bmm(a, torch.transpose(b, 1, 2)), 0.5)\ntorch.bmm(torch.softmax(scores, 2), c)",
              [q, k, v], attention, ("half", "float"), lowered=True, stores=True, absolute=2.0 ** -22)
    table.add("chain", "residual", "torch.add(a, torch.linear(a, b))", [Factor(3, 4), Factor(4, 4)],
              lambda x, w: x + rounded(rounded(x, "float16") @ rounded(w, "float16").T, "float16"), ("half", "float"))
    table.add("chain", "linear relu linear", "torch.linear(torch.relu(torch.linear(a, b)), c)",
              [Factor(3, 4), Factor(6, 4), Factor(2, 6)], lambda store, x, w, u: numpy.maximum(store(x @ w.T), 0) @ u.T,
              ("half", "float"), lowered=True, stores=True, absolute=2.0 ** -23)
    # The squares overflow in half, in torch.norm they would not.
    table.add("chain", "rms in half", "torch.mul(a, torch.rsqrt(torch.mean(torch.mul(a, a), [1], True)))",
              [array([[300.0, 200.0]])],
              lambda store, a: a / numpy.sqrt(rounded(rounded(a * a, "float16").mean(1, keepdims=True), "float16")), ("half",),
              stores=True, relative=CLOSE)


def attention(store, q, k, v):
    scores = store(store(q @ k.transpose(0, 2, 1)) * 0.5)
    return store(softmax(scores, 2)) @ v
