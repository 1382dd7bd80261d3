"""The network of this demo in PyTorch, and its forward pass under FP16 autocast in numpy alone."""
import numpy
import torch
from torch import Tensor, nn

VOCABULARY, LENGTH, WIDTH, HIDDEN, HEADS, LAYERS, CLASSES = 64, 16, 64, 128, 4, 5, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.value, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.heads = HEADS

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query = self.split(self.query(x) * 0.25)  # scaled before the product, as it should be
        weights = torch.softmax(torch.matmul(query, self.split(self.key(x)).transpose(2, 3)), dim=-1)
        return self.out(torch.matmul(weights, self.split(self.value(x))).transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi, self.wo = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.wo(torch.relu(self.wi(x)))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2, self.feed_forward = nn.LayerNorm(WIDTH), FeedForward()

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class MessageRouter(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.classifier = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.classifier(self.norm(x).mean(1))


def round_half(array):
    return numpy.asarray(array, numpy.float64).astype(numpy.float16).astype(numpy.float32)


class Replay:
    """The forward pass with sums in `wide`, autocast to FP16 unless reference, modules in `fp32` left out of it.
    The residual stream is float32 throughout, as type promotion makes it; outputs of linear layers are kept by path."""

    def __init__(self, weights, reference=False, fp32=(), wide=numpy.float64):
        self.weights, self.reference, self.fp32, self.wide, self.outputs = weights, reference, fp32, wide, {}

    def low(self, array, path=""):
        return numpy.asarray(array, numpy.float32) if self.reference or path in self.fp32 else round_half(array)

    def product(self, a, b, path=""):
        return self.low(a, path).astype(self.wide) @ self.low(b, path).astype(self.wide)

    def linear(self, x, path):
        result = self.product(x, self.weights[path + ".weight"].T, path)
        if path + ".bias" in self.weights:
            result = result + self.low(self.weights[path + ".bias"], path)
        self.outputs[path] = result
        return self.low(result, path)

    def norm(self, x, path):
        x = x.astype(self.wide)
        x = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return (x * self.weights[path + ".weight"] + self.weights[path + ".bias"]).astype(numpy.float32)

    def attention(self, x, path):
        def heads(a):
            return a.reshape(len(a), LENGTH, HEADS, -1).swapaxes(1, 2)
        query = heads(self.low(self.linear(x, path + ".query") * numpy.float32(0.25)))
        scores = self.low(self.product(query, heads(self.linear(x, path + ".key")).swapaxes(2, 3)))
        weights = numpy.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        mixed = self.low(self.product(weights, heads(self.linear(x, path + ".value"))))
        return self.linear(mixed.swapaxes(1, 2).reshape(x.shape), path + ".out")

    def __call__(self, tokens):
        x = self.weights["embedding.weight"][tokens] + self.weights["position"]
        for i in range(LAYERS):
            path = f"layers.{i}"
            x = x + self.attention(self.norm(x, path + ".norm1"), path + ".attention")
            hidden = numpy.maximum(self.linear(self.norm(x, path + ".norm2"), path + ".feed_forward.wi"), 0)
            x = x + self.linear(hidden, path + ".feed_forward.wo")
        return self.linear(self.norm(x, "norm").mean(1, dtype=self.wide), "classifier")
