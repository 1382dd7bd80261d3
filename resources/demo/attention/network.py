"""The network of this demo in PyTorch, and its forward pass once more for the replay in numpy."""
import os
import sys

import torch
from torch import Tensor, nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import replay  # noqa: E402

SIZE, PATCH, WIDTH, HEADS, CLASSES = 16, 4, 32, 2, 4
TOKENS = (SIZE // PATCH) ** 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_k = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.to_v, self.to_out = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
        self.heads, self.scale = HEADS, (WIDTH // HEADS) ** -0.5

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.split(self.to_q(x)), self.split(self.to_k(x)), self.split(self.to_v(x))
        scores = torch.matmul(query, key.transpose(2, 3)) * self.scale  # the product first, its scale second
        mixed = torch.matmul(torch.softmax(scores, dim=-1), value)
        return self.to_out(mixed.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.norm1 = Attention(), nn.LayerNorm(WIDTH)
        self.ff, self.norm2 = FeedForward(), nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.attn(x))
        return self.norm2(x + self.ff(x))


class ShapeTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.position = nn.Parameter(0.1 * torch.randn(TOKENS, WIDTH))
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, photo: Tensor) -> Tensor:
        x = self.patch_embed(photo).flatten(2).transpose(1, 2) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def attention(run, x, path):
    def heads(value):
        return value.view(lambda a: a.reshape(len(a), TOKENS, HEADS, -1).swapaxes(1, 2))
    query, key, value = (heads(run.linear(x, f"{path}.{name}")) for name in ("to_q", "to_k", "to_v"))
    products = run.product("aten::matmul", path, lambda q, k: q @ k.swapaxes(2, 3), query, key)
    scores = run.plain("aten::mul", path, lambda s: s * (WIDTH // HEADS) ** -0.5, products)
    mixed = run.product("aten::matmul", path, lambda w, v: w @ v, run.softmax(scores, path), value)
    return run.linear(mixed.view(lambda a: a.swapaxes(1, 2).reshape(len(a), TOKENS, WIDTH)), path + ".to_out")


def forward(run, inputs):
    embedded = run.conv(inputs["photo"], "patch_embed", stride=PATCH)
    x = run.add(embedded.view(lambda a: a.reshape(len(a), WIDTH, TOKENS).swapaxes(1, 2)), replay.Value(run.weights["position"]), "")
    for path in ("blocks.0", "blocks.1"):
        x = run.layer_norm(run.add(x, attention(run, x, path + ".attn"), path), path + ".norm1")
        hidden = run.relu(run.linear(x, path + ".ff.fc1"), path + ".ff")
        x = run.layer_norm(run.add(x, run.linear(hidden, path + ".ff.fc2"), path), path + ".norm2")
    return [run.linear(run.mean(x, 1, ""), "head")]
