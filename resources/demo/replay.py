"""What autocast does to a model, in numpy alone: the common part of the checks of the demos beside this file.

A demo's network.py says its forward pass once more with `Replay`; `check` runs that in FP32, under autocast and with the
cure, with sums in float64 and in float32, and holds all of it to the "finding" of demo.json. The rules are those of CUDA
autocast (PyTorch, "Autocast Op Reference"): matrix products and convolutions round their operands and, once, their result
(a convolution's bias is added to the rounded sum, and rounded again); ops of the float32 list widen; all others follow
type promotion, compute in float32 and round.
"""
import json
import os
import sys

import h5py
import numpy
import torch

HALF_OVERFLOW = 65520.0  # the smallest magnitude that rounds to infinity


def round_half(array):
    return numpy.asarray(array, numpy.float64).astype(numpy.float16).astype(numpy.float32)


def round_bfloat16(array):
    array = numpy.ascontiguousarray(array, numpy.float32)
    bits = array.view(numpy.uint32).astype(numpy.uint64)
    rounded = (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(numpy.uint32).view(numpy.float32)
    return numpy.where(numpy.isfinite(array), rounded, array)


class Value:
    """Float32 numbers, sample axis first, and whether their dtype is the low one."""

    def __init__(self, array, low=False):
        self.array, self.low = numpy.asarray(array, numpy.float32), low

    def view(self, function):
        return Value(function(self.array), self.low)


class Op:
    def __init__(self, name, module, exact, result):
        self.name, self.module, self.exact, self.result = name, module, exact, result


class Replay:
    """One forward pass. rounding None: FP32. Modules at or below a path in fp32 run without autocast on float32 inputs;
    op number `exact_op` alone leaves its result unrounded."""

    def __init__(self, weights, rounding=None, fp32=(), wide=numpy.float64, exact_op=None):
        self.weights, self.rounding, self.fp32, self.wide, self.exact_op = weights, rounding, tuple(fp32), wide, exact_op
        self.ops = []

    def autocasts(self, module):
        return self.rounding is not None and not any((module + ".").startswith(path + ".") for path in self.fp32)

    def done(self, name, module, exact, low):
        low = low and len(self.ops) != self.exact_op
        result = self.rounding(exact) if low else numpy.asarray(exact, numpy.float32)
        self.ops.append(Op(name, module, exact, result))
        return Value(result, low)

    def operand(self, value, low):
        value = value if isinstance(value, Value) else Value(value)
        return (self.rounding(value.array) if low else value.array).astype(self.wide)

    def product(self, name, module, function, *operands):
        """An op of the lower-precision list."""
        low = self.autocasts(module)
        return self.done(name, module, function(*[self.operand(o, low) for o in operands]), low)

    def widened(self, name, module, function, *operands):
        """An op of the float32 list."""
        return self.done(name, module, function(*[o.array for o in operands]), False)

    def plain(self, name, module, function, *operands):
        """An op of no list."""
        low = self.autocasts(module) and all(o.low for o in operands)
        return self.done(name, module, function(*[o.array for o in operands]), low)

    def linear(self, x, module):
        weight, bias = self.weights[module + ".weight"], self.weights.get(module + ".bias", numpy.float32(0))
        return self.product("aten::linear", module, lambda x, w, b: x @ w.T + b, x, weight, bias)

    def conv(self, x, module, stride=1, padding=0):
        """Of one or two dimensions, square in both."""
        weight, bias = self.weights[module + ".weight"], self.weights[module + ".bias"]
        low, dims = self.autocasts(module), weight.ndim - 2
        summed = windowed(self.operand(x, low), stride, padding, weight.shape[2:]) @ self.operand(weight, low).reshape(len(weight), -1).T
        rounded = self.rounding(summed) if low else summed
        biased = rounded + self.operand(bias, low)
        result = self.done(f"aten::conv{dims}d", module, numpy.moveaxis(biased, -1, 1), low)
        self.ops[-1].exact = numpy.moveaxis(numpy.maximum(numpy.abs(summed), numpy.abs(summed + bias)), -1, 1)
        return result

    def relu(self, x, module):
        return self.plain("aten::relu", module, lambda x: numpy.where(x < 0, numpy.float32(0), x), x)

    def silu(self, x, module):
        return self.plain("aten::silu", module, lambda x: x * sigmoid(x), x)

    def add(self, a, b, module):
        return self.plain("aten::add", module, numpy.add, a, b)

    def multiply(self, a, b, module):
        return self.plain("aten::mul", module, numpy.multiply, a, b)

    def mean(self, x, axes, module):
        return self.plain("aten::mean", module, lambda x: x.mean(axes, dtype=self.wide), x)

    def softmax(self, x, module):
        def function(x):
            powers = numpy.exp(x - x.max(-1, keepdims=True))
            return powers / powers.sum(-1, keepdims=True)
        return self.widened("aten::softmax", module, function, x)

    def layer_norm(self, x, module):
        return self.widened("aten::layer_norm", module, lambda x: self.normalised(x, -1) * self.weights[module + ".weight"] + self.weights[module + ".bias"], x)

    def group_norm(self, x, module, groups):
        def function(x):
            shape = (1, -1) + (1,) * (x.ndim - 2)
            normed = self.normalised(x.reshape(len(x), groups, -1), -1).reshape(x.shape)
            return normed * self.weights[module + ".weight"].reshape(shape) + self.weights[module + ".bias"].reshape(shape)
        return self.widened("aten::group_norm", module, function, x)

    def normalised(self, x, axis):
        x = x.astype(self.wide)
        return (x - x.mean(axis, keepdims=True)) / numpy.sqrt(x.var(axis, keepdims=True) + 1e-5)


def sigmoid(x):
    return (1 / (1 + numpy.exp(-numpy.asarray(x, numpy.float64)))).astype(numpy.float32)


def gelu(x):
    error_function = torch.erf(torch.from_numpy(numpy.asarray(x, numpy.float64) / numpy.sqrt(2.0))).numpy()
    return (x * 0.5 * (1 + error_function)).astype(numpy.float32)


def windowed(x, stride, padding, kernel):
    """[N, C, *size] as [N, *places, C * kernel]."""
    dims = len(kernel)
    padded = numpy.pad(x, ((0, 0), (0, 0)) + ((padding, padding),) * dims)
    axes = tuple(range(2, 2 + dims))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, kernel, axes)
    windows = numpy.moveaxis(windows[(slice(None), slice(None)) + (slice(None, None, stride),) * dims], 1, 1 + dims)
    return windows.reshape(windows.shape[:1 + dims] + (-1,))


def first_change(before, after):
    return next([a, b] for a, b in zip(before, after) if a != b)


def rows(mask):
    return numpy.flatnonzero(mask.reshape(len(mask), -1).any(1))


def kinds(values):
    return [kind for kind, found in (("NaN", numpy.isnan(values)), ("+inf", numpy.isposinf(values)), ("-inf", numpy.isneginf(values))) if found.any()]


class Demo:
    """The files of one folder. forward(replay, inputs) -> the outputs, as Values or arrays of whole numbers."""

    def __init__(self, folder, forward):
        self.forward = forward
        self.weights = {n: t.numpy() for n, t in torch.jit.load(os.path.join(folder, "model.ts")).state_dict().items()}
        with open(os.path.join(folder, "demo.json"), encoding="utf-8") as file:
            self.says = json.load(file)
        with h5py.File(os.path.join(folder, "inputs.h5")) as file:
            self.ids = list(file["sample_ids"].asstr()[:])
            self.inputs = {n: file[n][:] for n in file if n not in ("sample_ids", "labels", "class_names", "expected")}
            self.expected = {n: file["expected"][n][:] for n in file["expected"]}
        settings = self.says["settings"]
        self.rounding = {"float16": round_half, "bfloat16": round_bfloat16}[settings["autocast"]]
        self.rule, self.decides_by = settings.get("decision", "none"), settings.get("decision_output", "")

    def run(self, **how):
        replay = Replay(self.weights, **how)
        outputs = [o.array if isinstance(o, Value) else o for o in self.forward(replay, self.inputs)]
        return replay, outputs

    def decisions(self, outputs):
        """Of each sample those of its positions; None: there is none."""
        scores = outputs[int(self.decides_by.split(".")[1]) if self.decides_by else 0]
        if self.rule == "argmax":
            return [None if numpy.isnan(row).any() else row.argmax(-1).ravel().tolist() for row in scores]
        return [[int(number)] for number in scores] if self.rule == "exact" else [[]] * len(scores)

    def named(self, sample_rows):
        return [self.ids[row] for row in sample_rows]

    def finding(self, fp32=(), wide=numpy.float64, exact_op=None):
        reference, before = self.run(wide=wide)
        candidate, after = self.run(rounding=self.rounding, fp32=fp32, wide=wide, exact_op=exact_op)
        if self.rounding is round_half and exact_op is None:
            refuse_near_limit(candidate)
        left, right = self.decisions(before), self.decisions(after)
        broken = [numpy.isfinite(a) & ~numpy.isfinite(b) for a, b in zip(before, after) if a.dtype == numpy.float32]
        changed = {self.ids[i]: first_change(a, b) for i, (a, b) in enumerate(zip(left, right)) if b is not None and a != b}
        return {"first_nonfinite": self.first_nonfinite(candidate, reference), "flips": changed,
                "no_decision": self.named(i for i, b in enumerate(right) if b is None),
                "nonfinite_samples": self.named(sorted({row for mask in broken for row in rows(mask)}))}

    def first_nonfinite(self, candidate, reference):
        number = first_bad(candidate, reference)
        if number is None:
            return None
        op, bad = candidate.ops[number], ~numpy.isfinite(candidate.ops[number].result)
        bad &= numpy.isfinite(reference.ops[number].result)
        return {"op": op.name, "module": op.module, "samples": self.named(rows(bad)), "values": kinds(op.result[bad])}

    def root_cause(self):
        """The latest op before the first non-finite one whose result, kept in FP32, undoes every fault: what it rounded away is missed."""
        candidate, reference = self.run(rounding=self.rounding)[0], self.run()[0]
        for number in reversed(range(first_bad(candidate, reference))):
            if is_clean(self.finding(exact_op=number)):
                return {"op": candidate.ops[number].name, "module": candidate.ops[number].module}
        return None


def first_bad(candidate, reference):
    """Number of the first op that is non-finite where FP32 is not."""
    assert [(op.name, op.module) for op in candidate.ops] == [(op.name, op.module) for op in reference.ops]
    pairs = enumerate(zip(candidate.ops, reference.ops))
    return next((i for i, (a, b) in pairs if (~numpy.isfinite(a.result) & numpy.isfinite(b.result)).any()), None)


def refuse_near_limit(replay):
    """Of samples: their largest finite magnitude, op by op."""
    for op in replay.ops:
        peaks = numpy.nan_to_num(numpy.abs(op.exact), nan=0, posinf=0).reshape(len(op.exact), -1).max(1)
        near = numpy.abs(peaks / HALF_OVERFLOW - 1) < 0.01
        if near.any():
            sys.exit(f"{op.module} {op.name}: a sample's peak {peaks[near][0]:.0f} is within 1 % of the FP16 limit")


def is_clean(finding):
    return not any(finding.values())


def hold(says, found):
    """Exit unless the demo shows what its demo.json says."""
    told = {key: says["finding"][key] for key in found}
    if told != found:
        sys.exit(f"that is not what the demo is there to show: demo.json says {json.dumps(told)}, numpy finds {json.dumps(found)}")


def compare_outputs(demo, tolerance=1e-4):
    for saved, now in zip(demo.expected.values(), demo.run()[1]):
        if not numpy.allclose(saved, now, rtol=tolerance, atol=tolerance * numpy.abs(saved).max()):
            sys.exit(f"numpy's FP32 outputs differ from the saved ones by {numpy.abs(saved - now).max()}")


def check(folder, forward):
    numpy.seterr(all="ignore")
    demo = Demo(folder, forward)
    compare_outputs(demo)
    for wide in (numpy.float64, numpy.float32):
        found = demo.finding(wide=wide)
        print(f"sums in {wide.__name__}: {json.dumps(found)}")
        hold(demo.says, found)
        cured = demo.finding(fp32=demo.says["cure"], wide=wide)
        if not is_clean(cured):
            sys.exit(f"the cure does not cure: {json.dumps(cured)}")
        print(f"with {demo.says['cure']} in FP32: clean")
    if demo.says["finding"]["root_cause"]:
        hold(demo.says, {"root_cause": demo.root_cause()})
    return demo
