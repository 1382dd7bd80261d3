"""Ulpscope's recorder: runs a PyTorch model in FP32 and under torch.autocast as it stands, on its own device, and writes an Ulpscope session.

    from ulpscope_recorder import record
    record(model, images, labels=labels, autocast="bf16", decide="argmax", out="mine.ulps")

One file to copy beside your own; it needs PyTorch 1.13 or later, h5py and numpy. What it writes is Ulpscope's format 3 (core/storage/FORMAT.md),
with `mode: recorded`; `ulpscope check`, `compare` and the window open it. The numbers' formulas are those of core/analysis/divergence.h.
What a recording cannot know (an op's introduced error, a root cause, a run in float64) stands as "not evaluated".

record()          compares the two runs op by op; fp32=[...] keeps modules in FP32, append=True adds a run to the session.
fp32_region()     keeps one module in FP32 in your own code, as the window's toggle does.
TrainingRecorder  writes the calls of your training loop and a ledger of its steps, for `ulpscope train --import`, `--check-events` and `--audit`.
"""
import contextlib
import copy
import datetime
import fnmatch
import functools
import gc
import hashlib
import inspect
import io
import itertools
import json
import math
import mmap
import os
import secrets
import sys
import tempfile
import time
import types
import weakref

import h5py
import numpy
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

try:
    import fcntl
except ImportError:  # Windows: sessions are not locked there
    fcntl = None

__all__ = ["record", "fp32_region", "TrainingRecorder", "RecorderError"]
VERSION = "0.1.0"


class RecorderError(RuntimeError):
    """What is wrong, which, and what to do."""


# --- number formats ------------------------------------------------------------------------------------------------------------------------

DTYPES = {torch.float64: "float64", torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16", torch.int64: "int64",
          torch.int32: "int32", torch.int16: "int16", torch.int8: "int8", torch.uint8: "uint8", torch.bool: "bool",
          torch.complex64: "complex64", torch.complex128: "complex128"}
AUTOCAST = {"fp16": torch.float16, "float16": torch.float16, "bf16": torch.bfloat16, "bfloat16": torch.bfloat16}
FLOATING = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


class Low:
    """A 16-bit format: its limits, the site tolerance (torch.testing's), and how far apart two numbers are in its steps."""

    def __init__(self, name, fraction_bits, smallest_exponent, largest, overflow_from, rtol):
        self.name, self.largest, self.overflow_from, self.rtol, self.atol = name, largest, overflow_from, rtol, 1e-5
        self.tiny = 2.0 ** smallest_exponent
        smallest = 2.0 ** (smallest_exponent - fraction_bits)
        self.to_zero, self.to_normal = smallest / 2, self.tiny - smallest / 2  # ties, both even downwards

    def ordered(self, x):
        """x rounded to nearest even, counted in steps from zero; infinity is one step beyond the largest. int32, of finite x."""
        if self.name == "float16":
            with numpy.errstate(over="ignore", under="ignore"):
                # numpy rounds float32 element by element, PyTorch by the processor's own instruction; of float64 numpy alone rounds once.
                half = torch.from_numpy(numpy.ascontiguousarray(x)).half().numpy() if x.dtype == numpy.float32 else x.astype(numpy.float16)
            bits = half.view(numpy.int16).astype(numpy.int32)
            steps = bits & 0x7FFF
        else:
            bits = self._odd(x).view(numpy.int32)
            steps = bits & 0x7FFFFFFF
            steps = (steps + (0x7FFF + ((steps >> 16) & 1))) >> 16
        sign = bits >> 31  # -1 or 0
        return (steps ^ sign) - sign

    @staticmethod
    def _odd(x):
        """float64 rounded to odd in float32, so that the next rounding sees on which side of a tie it lies; float32 as it is."""
        if x.dtype == numpy.float32:
            return numpy.ascontiguousarray(x)
        with numpy.errstate(over="ignore", under="ignore"):
            f = x.astype(numpy.float32)
        bits = f.view(numpy.uint32).copy()
        inexact = f.astype(numpy.float64) != x
        bits[inexact & (numpy.abs(f.astype(numpy.float64)) > numpy.abs(x))] -= 1
        bits[inexact] |= 1
        return bits.view(numpy.float32)


LOWS = {torch.float16: Low("float16", 10, -14, 65504.0, 65520.0, 1e-3),
        torch.bfloat16: Low("bfloat16", 7, -126, 2.0 ** 128 - 2.0 ** 120, 2.0 ** 128 - 2.0 ** 119, 1.6e-2)}


def json_number(x):
    x = float(x)
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "+inf" if x > 0 else "-inf"


def optional_number(x):
    return None if math.isnan(x) else json_number(x)


def short_number(x):
    if not math.isfinite(x) or x == 0:
        return json_number(x) if x != 0 else "0"
    if abs(x) < 1e-3 or abs(x) >= 1e6:
        return f"{x:.2e}"
    text = f"{x:.3g}"
    return text if "e" not in text else f"{x:.0f}"


def grouped_number(x):
    magnitude = abs(x)
    if not math.isfinite(x) or magnitude >= 1e15 or (magnitude < 100 and magnitude != math.floor(magnitude)):
        return short_number(x)
    tenths = math.floor(magnitude * 10 + 0.5) / 10
    decimal = round((tenths - math.floor(tenths)) * 10)
    text = f"{int(tenths):,}" + (f".{decimal}" if decimal and magnitude < 1e6 else "")
    return "-" + text if x < 0 else text


def counted(count, noun):
    return f"{count:,} {noun}" + ("" if count == 1 else "es" if noun.endswith("s") else "s")


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- samples in a tensor: "0" (axis 0), "0:batch*n", "0:n*batch" (folded with another axis), "whole_batch" -----------------------------------

WHOLE = "whole_batch"


def host_array(tensor):
    """The elements as numpy has them: 16-bit floats widened to float32, which is exact."""
    t = tensor.detach()
    if t.is_complex():
        t = t.resolve_conj()
    t = t.resolve_neg() if hasattr(t, "resolve_neg") else t
    t = t.cpu()
    return (t.float() if t.dtype in (torch.float16, torch.bfloat16) else t).numpy()


def fits(shape, axis, samples):
    if axis == WHOLE:
        return False
    d, _, fold = axis.partition(":")
    size = shape[int(d)] if int(d) < len(shape) else -1
    return size > 0 and (size % samples == 0 if fold else size == samples)


def sample_rows(array, axis, samples):
    """[samples, elements]; [1, elements] where the axis does not tell samples apart. May copy."""
    if not fits(array.shape, axis, samples):
        return array.reshape(1, array.size)
    d, _, fold = axis.partition(":")
    d, shape = int(d), array.shape
    if fold:
        others = shape[d] // samples
        array = array.reshape(shape[:d] + ((samples, others) if fold == "batch*n" else (others, samples)) + shape[d + 1:])
        d += fold != "batch*n"
    return numpy.moveaxis(array, d, 0).reshape(samples, array.size // samples)


def is_readable(tensor):
    return isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided and tensor.dtype in DTYPES and tensor.device.type != "meta"


def is_inexact(dtype):
    return dtype in FLOATING or dtype in (torch.complex64, torch.complex128)


# --- one pair of tensors, sample by sample (core/analysis/divergence.h) ----------------------------------------------------------------------

METRICS = ("rel_l2", "max_abs", "mean_abs", "max_rel", "cosine_distance", "sqnr_db", "max_ulp", "share_over_tolerance", "introduced_rel_l2",
           "inherited_rel_l2", "reference_min", "reference_max", "reference_max_abs", "reference_smallest", "candidate_min", "candidate_max",
           "candidate_max_abs", "candidate_smallest", "headroom_bits", "share_subnormal_reference", "share_subnormal_candidate", "share_flushed")
LABELS = ("relative L2 error", "max abs error", "mean abs error", "max relative error", "cosine distance", "SQNR [dB]",
          "max ULP distance [ULP]", "share outside tolerance", "introduced error", "inherited error", "min, FP32", "max, FP32", "max |x|, FP32",
          "smallest non-zero |x|, FP32", "min, candidate", "max, candidate", "max |x|, candidate", "smallest non-zero |x|, candidate",
          "headroom [bits]", "share subnormal, FP32", "share subnormal, candidate", "share flushed to zero")
SMALLER_IS_WORSE = {"sqnr_db", "reference_min", "reference_smallest", "candidate_min", "candidate_smallest", "headroom_bits"}
CHUNK = 1 << 16  # elements that are compared at once: their numbers stay in a processor's cache


class Divergence:
    """Sums, maxima and counts of the pair, one a sample (row)."""

    SUMS = ("elements", "pairs", "abs", "difference", "reference", "candidate", "product", "over", "differing", "flushed",
            "subnormal_a", "subnormal_b")
    MOST = ("max_abs", "max_rel", "ulp")

    def __init__(self, a, b, low, ulp=True):
        """a, b: [samples, elements] of equal shape."""
        self.low, self.with_ulp, rows = low, ulp, len(a)
        for name in self.SUMS + self.MOST:
            setattr(self, name, numpy.zeros(rows, numpy.longdouble if name in self.SUMS[2:7] else numpy.float64))
        for name in ("min_a", "max_a", "least_a", "min_b", "max_b", "least_b"):
            setattr(self, name, numpy.full(rows, numpy.nan))
        self.only, self.in_a, self.in_b = (numpy.zeros((rows, 3), numpy.int64) for _ in range(3))  # NaN, +inf, -inf
        wide = max(1, min(a.shape[1], CHUNK))
        tall = max(1, CHUNK // wide)
        with numpy.errstate(all="ignore"):
            for r in range(0, rows, tall):
                for c in range(0, a.shape[1], wide):
                    self._add(slice(r, min(r + tall, rows)), a[r:r + tall, c:c + wide], b[r:r + tall, c:c + wide])

    def _add(self, r, a, b):
        self.elements[r] += a.shape[1]
        x, y = self._values(a), self._values(b)
        magnitudes = numpy.abs(x), numpy.abs(y)
        most = [m.max() for m in magnitudes]
        finite = [None if numpy.isfinite(high) else numpy.isfinite(v) for high, v in zip(most, (x, y))]  # None: all of them
        both = None if finite[0] is finite[1] is None else numpy.logical_and(*(True if f is None else f for f in finite))
        self._pairs(r, (a, b), (x, y, magnitudes[0]), both)
        self._side(r, "a", x, magnitudes[0], finite[0])
        self._side(r, "b", y, magnitudes[1], finite[1])
        if both is not None:
            self._nonfinite(r, x, y, both)

    @staticmethod
    def _values(a):
        """As float64; of complex numbers the modulus, NaN where a part is NaN."""
        if not numpy.iscomplexobj(a):
            return a.astype(numpy.float64)
        return numpy.where(numpy.isnan(a.real) | numpy.isnan(a.imag), numpy.nan, numpy.hypot(a.real.astype(numpy.float64), a.imag.astype(numpy.float64)))

    def _pairs(self, r, given, values, both):
        a, b = given
        x, y, magnitude = values
        is_complex = numpy.iscomplexobj(a) or numpy.iscomplexobj(b)
        if is_complex:
            wide = b.astype(numpy.complex128) - a.astype(numpy.complex128)
            difference = numpy.hypot(wide.real, wide.imag)
            product = (numpy.conj(a.astype(numpy.complex128)) * b).real
        else:
            difference, product = y - x, None
            numpy.abs(difference, out=difference)
        if both is not None:
            difference, x, y, magnitude = (numpy.where(both, v, 0) for v in (difference, x, y, magnitude))
        self.pairs[r] += a.shape[1] if both is None else both.sum(1)
        large = a.dtype in (numpy.float64, numpy.complex128) or b.dtype in (numpy.float64, numpy.complex128)  # squares leave double's range
        square = (lambda v: (v.astype(numpy.longdouble) ** 2).sum(1)) if large else (lambda v: numpy.einsum("ij,ij->i", v, v))
        self.abs[r] += difference.sum(1)
        self.difference[r] += square(difference)
        self.reference[r] += square(x)
        self.candidate[r] += square(y)
        if product is not None:
            self.product[r] += (product if both is None else numpy.where(both, product, 0)).sum(1)
        else:
            self.product[r] += (x * y).sum(1) if large else numpy.einsum("ij,ij->i", x, y)
        self._most(r, "max_abs", difference)
        self._most(r, "max_rel", difference / numpy.maximum(magnitude, self.low.tiny))
        self.over[r] += (difference > self.low.atol + self.low.rtol * magnitude).sum(1)
        unequal = (a != b) if a.dtype.kind in "iub" and b.dtype.kind in "iub" else difference != 0
        self.differing[r] += unequal.sum(1)
        gone = (y == 0) & (x != 0)
        if gone.any():
            zero = self.low.to_zero
            self.flushed[r] += (gone & ((numpy.abs(a.real) <= zero) & (numpy.abs(a.imag) <= zero) if is_complex else magnitude <= zero)).sum(1)
        if self.with_ulp and is_inexact_array(a) and is_inexact_array(b):
            self._ulp(r, a, b, both)

    def _ulp(self, r, a, b, both):
        for part in (numpy.real, numpy.imag) if numpy.iscomplexobj(a) or numpy.iscomplexobj(b) else (lambda v: v,):
            x, y = part(a), part(b)
            if both is not None:
                x, y = numpy.where(both, x, x.dtype.type(0)), numpy.where(both, y, y.dtype.type(0))
            self._most(r, "ulp", numpy.abs(self.low.ordered(x) - self.low.ordered(y)))

    def _most(self, r, name, values):
        most = getattr(self, name)
        most[r] = numpy.maximum(most[r], values.max(1))

    def _side(self, r, side, x, magnitude, finite):
        """finite: where; None: everywhere."""
        low, high, least = x, x, magnitude
        if finite is not None:
            low, high, least = numpy.where(finite, x, numpy.inf), numpy.where(finite, x, -numpy.inf), numpy.where(finite, magnitude, numpy.inf)
        smallest = least.min(1)
        nonzero = smallest if smallest.all() else numpy.where(least != 0, least, numpy.inf).min(1)
        some = True if finite is None else finite.any(1)
        for name, value, there, better in (("min_", low.min(1) + 0.0, some, numpy.fmin), ("max_", high.max(1) + 0.0, some, numpy.fmax), ("least_", nonzero, nonzero < numpy.inf, numpy.fmin)):
            known = getattr(self, name + side)
            known[r] = better(known[r], numpy.where(there, value, numpy.nan))
        if (nonzero < self.low.to_normal).any():
            subnormal = getattr(self, "subnormal_" + side)
            subnormal[r] += ((magnitude > self.low.to_zero) & (magnitude < self.low.to_normal)).sum(1)

    def _nonfinite(self, r, x, y, both):
        same = (numpy.isnan(x) & numpy.isnan(y)) | (x == y)
        other = ~both & ~same
        self.over[r] += other.sum(1)
        self.differing[r] += other.sum(1)
        for counts, values, where in ((self.in_a, x, True), (self.in_b, y, True), (self.only, y, ~same)):
            counts[r] += numpy.stack([(kind & where).sum(1) for kind in (numpy.isnan(values), values == numpy.inf, values == -numpy.inf)], 1)

    def metrics(self):
        """[metric, sample] as float64 in the order of METRICS, NaN: not evaluated (core/analysis/site_metrics.cpp)."""
        with numpy.errstate(all="ignore"):
            a, b = numpy.sqrt(self.reference), numpy.sqrt(self.candidate)
            d = self.difference
            relative = numpy.where(self.reference == 0, numpy.where(d == 0, 0, numpy.inf), numpy.sqrt(d) / numpy.where(a == 0, 1, a))
            sqnr = numpy.where(d == 0, numpy.inf, numpy.where(self.reference == 0, -numpy.inf, 10 * (numpy.log10(self.reference) - numpy.log10(d))))
            most_a, most_b = (numpy.fmax(numpy.abs(low), numpy.abs(high)) for low, high in ((self.min_a, self.max_a), (self.min_b, self.max_b)))
            found = {"rel_l2": relative, "max_abs": self.max_abs, "mean_abs": self.abs / self.pairs, "max_rel": self.max_rel,
                     "cosine_distance": self._cosine(a, b), "sqnr_db": sqnr, "max_ulp": self.ulp}
            found = {key: numpy.where(self.pairs > 0, value, numpy.nan) for key, value in found.items()}
            found.update(reference_min=self.min_a, reference_max=self.max_a, reference_max_abs=most_a, reference_smallest=self.least_a,
                         candidate_min=self.min_b, candidate_max=self.max_b, candidate_max_abs=most_b, candidate_smallest=self.least_b,
                         headroom_bits=numpy.where(most_a > 0, numpy.log2(self.low.largest / most_a), numpy.nan),
                         share_over_tolerance=self.over / self.elements, share_subnormal_reference=self.subnormal_a / self.elements,
                         share_subnormal_candidate=self.subnormal_b / self.elements, share_flushed=self.flushed / self.elements)
        none = numpy.full(len(self.elements), numpy.nan)
        return numpy.stack([found.get(key, none).astype(numpy.float64) for key in METRICS])

    def _cosine(self, a, b):
        near = 4 * self.difference <= self.reference  # the norms are then alike, and nothing cancels
        gap = (self.reference - self.candidate) / (a + b)
        distance = numpy.where(near, (self.difference - gap * gap) / (2 * a * b), 1 - self.product / (a * b))
        return numpy.where((a == 0) | (b == 0), numpy.where(a == b, 0, 1), numpy.clip(distance, 0, 2))

    def flags(self, whole):
        """core/storage/session_store.h, CellFlag."""
        bits = sum((self.only[:, i] > 0) * (1 << i) for i in range(3)) + (self.in_a.sum(1) > 0) * 8 + (self.over > 0) * 64
        return (bits + 16 * whole).astype(numpy.uint8)

    def merged(self):
        """All samples as one."""
        for name in self.SUMS:
            setattr(self, name, getattr(self, name).sum(keepdims=True))
        for name in self.MOST + ("max_a", "max_b"):
            setattr(self, name, numpy.fmax.reduce(getattr(self, name), keepdims=True))
        for name in ("min_a", "least_a", "min_b", "least_b"):
            setattr(self, name, numpy.fmin.reduce(getattr(self, name), keepdims=True))
        self.only, self.in_a, self.in_b = (counts.sum(0, keepdims=True) for counts in (self.only, self.in_a, self.in_b))
        return self


def is_inexact_array(array):
    return array.dtype.kind in "fc"


def worse(metrics):
    """The worst over samples of each; what was not evaluated never wins."""
    return numpy.array([numpy.fmin.reduce(row) if key in SMALLER_IS_WORSE else numpy.fmax.reduce(row) for key, row in zip(METRICS, metrics)])


def count_names(counts):
    return {"NaN": int(counts[0]), "+inf": int(counts[1]), "-inf": int(counts[2])}


# --- decisions (core/analysis/choice.cpp, decisions.cpp, regression.cpp) ---------------------------------------------------------------------

class Rule:
    """How a decision is read off an output: "argmax[:DIM]", "argmin[:DIM]", "topk:K[:DIM]", "threshold:T[:gt|ge]", "exact", "regression", "none"."""

    def __init__(self, text):
        self.kind, *words = (text or "none").split(":")
        self.dim, self.k, self.threshold, self.or_equal = None, 1, 0.0, False
        known = {"none": 0, "argmax": 1, "argmin": 1, "topk": 2, "threshold": 2, "exact": 0, "regression": 0}
        try:
            if len(words) > known[self.kind]:
                raise ValueError
            if self.kind == "topk":
                self.k = int(words.pop(0))
            if self.kind == "threshold":
                self.threshold = float(words.pop(0))
                self.or_equal = {"gt": False, "ge": True}[words.pop(0)] if words else False
            elif words:
                self.dim = int(words[0])
            if self.k < 1 or not math.isfinite(self.threshold):
                raise ValueError
        except (KeyError, IndexError, ValueError):
            raise RecorderError(f"decide='{text}' is no decision rule; use none, argmax[:DIM], argmin[:DIM], topk:K[:DIM], threshold:T[:gt|ge], "
                                "exact or regression") from None

    has_classes = property(lambda self: self.kind in ("argmax", "argmin", "topk"))

    def text(self):
        tail = f":{self.k}" if self.kind == "topk" else f":{self.threshold:g}" + (":ge" if self.or_equal else "") if self.kind == "threshold" else ""
        return self.kind + tail + (f":{self.dim}" if self.has_classes and self.dim is not None else "")

    def ranked(self, scores, count):
        """Class numbers, best first, equal scores by the lower number; None: a NaN among the scores."""
        if numpy.isnan(scores).any():
            return None
        return numpy.argsort(scores if self.kind == "argmin" else -scores, kind="stable")[:count].tolist()

    def choose(self, scores):
        """(decision, set, margin, tied) of one position; None: undecided. scores: float64 [classes], or [1] of a rule without classes."""
        if not self.has_classes:
            score = float(scores[0])
            if math.isnan(score):
                return None
            if self.kind == "exact":
                return int(score), [], math.inf, False
            above = score >= self.threshold if self.or_equal else score > self.threshold
            return int(above), [], abs(score - self.threshold), score == self.threshold
        set_size = self.k if self.kind == "topk" else 1
        order = self.ranked(scores, set_size + 1)
        if order is None:
            return None
        alone = len(order) <= set_size
        last, out = (0.0, 0.0) if alone else (float(scores[order[-2]]), float(scores[order[-1]]))
        margin = math.inf if alone else 0.0 if last == out else abs(last - out)
        return order[0], order[:set_size] if self.kind == "topk" else [], margin, not alone and margin == 0

    def shown(self, scores, class_names):
        if not self.has_classes:
            chosen = self.choose(scores)
            return [{"index": chosen[0] if chosen else -1, "name": None, "score": json_number(scores[0])}]
        order = self.ranked(scores, self.k + 1 if self.kind == "topk" else 2) or []
        return [{"index": c, "name": class_names[c] if c < len(class_names) and class_names[c] else None, "score": json_number(scores[c])}
                for c in order[self.k - 1 if self.kind == "topk" else 0:]]


def positions_of(array, rule, axis):
    """[samples, positions, classes] as float64."""
    array = array.astype(numpy.float64)
    if not rule.has_classes:
        return numpy.moveaxis(array, axis, 0).reshape(array.shape[axis], -1, 1)
    wanted = -1 if rule.dim is None else rule.dim
    dim = wanted + array.ndim if wanted < 0 else wanted
    if not 0 <= dim < array.ndim:
        raise RecorderError(f"decide='{rule.text()}': dimension {wanted} does not exist in an output of {array.ndim} dimensions")
    if dim == axis:
        raise RecorderError(f"decide='{rule.text()}': dimension {wanted} counts the samples, not classes; name the one that counts classes")
    if rule.kind == "topk" and rule.k > array.shape[dim]:
        raise RecorderError(f"decide='{rule.text()}': the output has {counted(array.shape[dim], 'class')}, fewer than the set; choose a smaller k")
    return numpy.moveaxis(array, (axis, dim), (0, array.ndim - 1)).reshape(array.shape[axis], -1, array.shape[dim])


class Decisions:
    """What both runs decide, sample by sample."""

    def __init__(self, rule, samples, tie):
        self.rule, self.samples, self.tie = rule, samples, tie
        self.flips, self.rows, self.undecided, self.reference_undecided, self.ties = [], [], [], [], 0
        self.labelled = self.correct_a = self.correct_b = self.compared = 0

    def read(self, reference, candidate, axis):
        grid_a, grid_b = positions_of(reference, self.rule, axis), positions_of(candidate, self.rule, axis)
        self.check(grid_a, grid_b)
        for s in range(len(grid_a)):
            self._sample(s, grid_a[s], grid_b[s])
        if self.tie == "refuse" and self.ties:
            raise RecorderError(f"{counted(self.ties, 'sample')} tied for the best score, and the tie rule is 'refuse'; choose tie='first' or tie='flag'")
        return self

    def check(self, *grids):
        classes = {"threshold": 2, "exact": None}.get(self.rule.kind, grids[0].shape[2])
        for i, label in enumerate(self.samples["labels"] if grids[0].shape[1] == 1 and classes else ()):
            if not 0 <= label < classes:
                raise RecorderError(f"labels: {label} of sample '{self.samples['ids'][i]}' is none of the {classes} classes, 0 to {classes - 1}, of decide='{self.rule.text()}'")
        for grid in grids if self.rule.kind == "exact" else ():
            finite = grid[~numpy.isnan(grid)]
            if not (numpy.isfinite(finite).all() and (finite == numpy.trunc(finite)).all() and (numpy.abs(finite) < 2.0 ** 53).all()):
                raise RecorderError("decide='exact': the output holds what is no whole number; use threshold:T or regression for scores")

    def _label(self, s, positions):
        return self.samples["labels"][s] if positions == 1 and s < len(self.samples["labels"]) else None

    def _differs(self, a, b):
        if a is None or b is None:
            return False
        return (self.tie == "flag" and a[3] != b[3]) or (sorted(a[1]) != sorted(b[1]) if a[1] else a[0] != b[0])

    def _sample(self, s, scores_a, scores_b):
        pairs = [(self.rule.choose(a), self.rule.choose(b)) for a, b in zip(scores_a, scores_b)]
        label = self._label(s, len(pairs))
        margins = [min((c[2] for c in side if c is not None), default=math.nan) for side in zip(*pairs)]
        sample_id = self.samples["ids"][s]
        self.ties += any(c is not None and c[3] for pair in pairs for c in pair)
        self.compared += any(a is not None and b is not None for a, b in pairs)
        if any(a is None for a, _ in pairs):
            self.reference_undecided.append(sample_id)
        if any(b is None for _, b in pairs):
            self.undecided.append(sample_id)
            margins[1] = math.nan
        self.rows.append((margins[0], margins[1], self._largest_error(scores_a, scores_b)))
        if label is not None:
            self.labelled += 1
            self.correct_a += is_correct(pairs[0][0], label)
            self.correct_b += is_correct(pairs[0][1], label)
        flipped = [p for p, (a, b) in enumerate(pairs) if self._differs(a, b)]
        if flipped:
            self.flips.append(self._flip(s, label, flipped, pairs, (scores_a, scores_b)))

    @staticmethod
    def _largest_error(a, b):
        with numpy.errstate(invalid="ignore"):
            same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
            error = numpy.where(numpy.isfinite(a) & numpy.isfinite(b), numpy.abs(b - a), numpy.where(same, 0, numpy.inf))
        return float(error.max()) if error.size else 0.0

    def _flip(self, s, label, flipped, pairs, scores):
        first = flipped[0]
        a, b = pairs[first]
        kind = "tie made" if b[3] and not a[3] else "tie broken" if a[3] and not b[3] else "changed"
        right_a, right_b = (is_correct(c, label) for c in (a, b))
        effect = "" if label is None else ("" if right_b else "regressed") if right_a else "fixed" if right_b else "wrong to wrong"
        lead = lambda mine, other: next((c for c in mine[1] if c not in other[1]), mine[0])
        names = self.samples["class_names"]
        return {"sample_id": self.samples["ids"][s], "sample": s, "reference": lead(a, b), "candidate": lead(b, a), "sets": (a[1], b[1]),
                "reference_margin": a[2], "candidate_margin": b[2], "kind": kind, "effect": effect,
                "positions": flipped if len(pairs) > 1 else [], "reference_top": self.rule.shown(scores[0][first], names),
                "candidate_top": self.rule.shown(scores[1][first], names), "first_site_over_tolerance": -1, "within_noise_floor": False}


def is_correct(choice, label):
    return choice is not None and label is not None and (label in choice[1] if choice[1] else choice[0] == label)


def error_sizes(errors):
    if errors.size == 0:
        return {"mean": "NaN", "root_mean_square": "NaN", "max": "NaN"}
    return {"mean": json_number(errors.mean()), "root_mean_square": json_number(math.sqrt((errors * errors).mean())), "max": json_number(errors.max())}


def extremes(values):
    finite = values[numpy.isfinite(values)]
    low, high, most = (finite.min(), finite.max(), numpy.abs(finite).max()) if finite.size else (math.nan,) * 3
    return {"min": json_number(low), "max": json_number(high), "max_abs": json_number(most)}


def regression_of(reference, candidate, axis, samples):
    a, b = (numpy.moveaxis(v.astype(numpy.float64), axis, 0).reshape(v.shape[axis], -1) for v in (reference, candidate))
    targets = numpy.asarray(samples["targets"], numpy.float64)
    if targets.size not in (0, a.size):
        raise RecorderError(f"{counted(targets.size, 'target')} for an output of {counted(a.size, 'value')}; give one target for each value")
    both = numpy.isfinite(a) & numpy.isfinite(b)
    with numpy.errstate(invalid="ignore"):
        errors = numpy.where(both, numpy.abs(b - a), -1)
    against = lambda v: error_sizes(numpy.where(numpy.isfinite(v), numpy.abs(v - targets.reshape(v.shape)), numpy.inf)) if targets.size else None
    worst = samples["ids"][int(errors.max(1).argmax())] if both.any() else ""
    return {"candidate_to_reference": error_sizes(errors[both]), "elements": int(both.sum()), "not_evaluated": int((~both).sum()),
            "worst_sample": worst, "reference": extremes(a), "candidate": extremes(b),
            "reference_to_target": against(a), "candidate_to_target": against(b)}


# --- wrappers, on classes and modules: on the user's own objects copies, pickles and state_dict() would meet them ---------------------------------

_wrappers = {}  # (id of the holder, name): [wrapper, what it stands for, and once it is closed also None], the outermost last


class Patches:
    """Functions and methods in whose place others stand until undo(), in whatever order several are undone."""

    def __init__(self):
        self._undo, self._classes = [], set()

    def replace(self, holder, name, make):
        entry = [make(getattr(holder, name)), vars(holder).get(name, Patches)]  # Patches: it is inherited
        setattr(holder, name, entry[0])
        _wrappers.setdefault((id(holder), name), []).append(entry)

        def undo():
            entry.append(None)
            stack = _wrappers[id(holder), name]
            while stack and len(stack[-1]) > 2 and vars(holder).get(name) is stack[-1][0]:  # else somebody else wrapped it since
                before = stack.pop()[1]
                delattr(holder, name) if before is Patches else setattr(holder, name, before)
        self._undo.append(undo)

    def method(self, thing, name, make):
        """Wraps thing.name where its class has it; the wrapper must look which object it is called on. An object's own attribute is wrapped there."""
        place = thing if name in getattr(thing, "__dict__", ()) else next((c for c in type(thing).__mro__ if name in vars(c)), thing)
        if place is not thing and isinstance(vars(place)[name], types.FunctionType):
            return self.on_class(place, name, make)
        own = getattr(thing, name)
        bare = functools.wraps(getattr(own, "__func__", own))(lambda _, *args, **kwargs: own(*args, **kwargs))
        self.replace(thing, name, lambda _: types.MethodType(make(bare), thing))  # a method, as learning rate schedulers expect

    def on_class(self, place, name, make):
        if (place, name) not in self._classes:
            self._classes.add((place, name))
            self.replace(place, name, make)

    def replace_by_any_name(self, holder, name, make):
        """Also where a module has it by `from ... import`."""
        original, replaced = getattr(holder, name), make(getattr(holder, name))
        for module in [m for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)]:
            for key in [key for key, value in list(vars(module).items()) if value is original]:
                self.replace(module, key, lambda _: replaced)

    def undo(self):
        while self._undo:
            self._undo.pop()()
        self._classes = set()


# --- FP32 regions ----------------------------------------------------------------------------------------------------------------------------

_running = []  # the Forward at work, if any: its own casts are none of the model's ops


def map_tensors(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return type(value)((k, map_tensors(v, change)) for k, v in value.items()) if type(value) is dict else value
    if isinstance(value, (list, tuple)):
        items = [map_tensors(v, change) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def paths_matching(model, patterns):
    """Module paths as named_modules() writes them; "." is the root. A pattern that matches none is an error that names it."""
    found = []
    names = [name for name, _ in model.named_modules()]
    for pattern in patterns:
        matching = [""] if pattern == "." else [name for name in names if name and fnmatch.fnmatchcase(name, pattern)]
        if not matching:
            raise RecorderError(f"'{pattern}' is no module path of the model; list them with [name for name, _ in model.named_modules()], '.' is all")
        found += [name for name in matching if name not in found]
    return found


class fp32_region:
    """Autocast off in these modules, from now until close(), or inside a `with`: the window's "Keep in FP32".

    fp32_region(model, "encoder.layers.0.fc2"); paths may be globs, "." is the whole model. inputs="cast" makes float32 of 16-bit floating
    inputs at the border, inputs="as they are" leaves them (which may raise PyTorch's dtype error). Outputs leave as they are. A copy of the
    model is in no region; a module in several stays in FP32 until the last of them is closed.
    """

    def __init__(self, model, *paths, inputs="cast"):
        if inputs not in ("cast", "as they are"):
            raise RecorderError(f"inputs='{inputs}'; use 'cast' or 'as they are'")
        self.paths, modules = paths_matching(model, paths), dict(model.named_modules())
        self._casts, self._kind, self._patches = inputs == "cast", device_of(model).type, Patches()
        self._modules = {id(modules[path]): weakref.ref(modules[path]) for path in self.paths}
        for path in self.paths:
            self._patches.method(modules[path], "forward", self._guard)

    def _guard(self, forward):
        @functools.wraps(forward)
        def guarded(module, *args, **kwargs):
            if self._modules.get(id(module), lambda: None)() is not module:
                return forward(module, *args, **kwargs)
            with torch.autocast(self._kind, enabled=False):
                if self._casts:
                    args, kwargs = map_tensors(args, self._cast), map_tensors(kwargs, self._cast)
                return forward(module, *args, **kwargs)
        return guarded

    @staticmethod
    def _cast(tensor):
        if tensor.dtype not in LOWS:
            return tensor
        run = _running[-1] if _running else None
        with run.quiet() if run else contextlib.nullcontext():
            cast = tensor.float()
            if run:
                run.same(tensor, cast)
        return cast

    def close(self):
        self._modules = {}
        self._patches.undo()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def device_of(model):
    return next((t.device for t in itertools.chain(model.parameters(), model.buffers())), torch.device("cpu"))


# --- one forward, op by op -------------------------------------------------------------------------------------------------------------------
# A TorchFunctionMode names each ATen op as it is called (F.relu and its like are opened, so that the op inside is seen, in its module);
# a TorchDispatchMode sees what autocast made of its operands, and ops that come from nowhere else (custom kernels). Casts that autocast
# inserts are not ops of the model. Both modes exist since PyTorch 1.13.

CONVERSIONS = {"float", "half", "bfloat16", "double", "type", "type_as", "to", "cpu", "cuda"}
BITWISE = {"and", "or", "xor", "lshift", "rshift"}  # ATen has them under Python's own names
NO_OPS = {"tensor", "item", "tolist", "numpy", "size", "dim", "numel", "data_ptr", "stride", "result_type", "is_floating_point", "is_complex",
          "is_contiguous", "requires_grad_", "backward", "register_hook", "storage_offset"}
UNINITIALISED = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "resize_"}
PROMOTING = {"addcdiv", "addcmul", "atan2", "bilinear", "cat", "cross", "dot", "grid_sampler", "grid_sample", "index_put", "index_copy", "scatter_add",
             "stack", "tensordot", "vdot"}
MAYBE_COPIES = {"to", "contiguous", "reshape", "flatten"}  # a view in one run may be none in the other
MASKS = {"masked_fill", "where", "full", "full_like", "fill", "new_full", "index_fill", "constant_pad_nd"}
CHECKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
HIDDEN_FILES = tuple(os.path.join(os.path.dirname(torch.__file__), *parts) for parts in
                     (("nn", "functional.py"), ("functional.py",), ("_tensor.py",), ("overrides.py",), ("_jit_internal.py",), ("nn", "modules", "module.py"),
                      ("utils", "_python_dispatch.py"), ("_ops.py",), ("utils", "_contextlib.py"), ("autograd", "grad_mode.py")))
OWN_FILE = __file__


@functools.lru_cache(maxsize=None)
def opened(function):
    """The same Python function without its own check for modes, so that the ops in it are seen; None where it has no such check."""
    names = [name for name in CHECKS if name in getattr(function, "__globals__", ())]
    if not isinstance(function, types.FunctionType) or not names:
        return None
    never = dict(function.__globals__, **{name: lambda *_, **__: False for name in names})
    clone = types.FunctionType(function.__code__, never, function.__name__, function.__defaults__, function.__closure__)
    clone.__kwdefaults__ = function.__kwdefaults__
    return clone


@functools.lru_cache(maxsize=None)
def op_named(name):
    """ATen's name of what Python calls `name`: "__iadd__" is "add_"; None: no op."""
    if name.startswith("__") and name.endswith("__") and name.strip("_").lstrip("i") not in BITWISE:
        bare = name[2:-2]
        name = bare[1:] + "_" if bare.startswith("i") and hasattr(torch.ops.aten, bare[1:] + "_") else bare
        if name in ("get", "getitem", "setitem", "len", "bool", "float", "int", "index", "contains", "array", "deepcopy", "repr", "format"):
            return None
    if name in CONVERSIONS:
        return "to"
    return name if name not in NO_OPS and hasattr(torch.ops.aten, name) else None


@functools.lru_cache(maxsize=None)
def argument_names(op, overload):
    packet = getattr(torch.ops.aten, op, None)
    if packet is None:
        return ()
    known = packet.overloads()
    chosen = overload if overload in known else "default" if "default" in known else known[0]
    return tuple(argument.name for argument in getattr(packet, chosen)._schema.arguments)


@functools.lru_cache(maxsize=None)
def is_listed(op, device):
    """Whether autocast has a rule for it on that kind of device, as this PyTorch's dispatcher says."""
    key = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA", "xpu": "AutocastXPU", "hpu": "AutocastHPU"}.get(device, "AutocastPrivateUse1")
    packet = getattr(torch.ops.aten, op, None)
    names = [f"aten::{op}" if o == "default" else f"aten::{op}.{o}" for o in packet.overloads()] if packet else []
    try:
        return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for name in names)
    except RuntimeError:
        return False


def named_tensors(value, name="output", inner="."):
    """[(name, tensor)]: "output", "output.0", "output.1.logits"; of operands "tensors[2]"."""
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    if isinstance(value, dict):
        items = [(str(k), v) for k, v in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(str(i), v) for i, v in enumerate(value)]
    elif hasattr(value, "__dataclass_fields__"):
        items = [(k, getattr(value, k)) for k in value.__dataclass_fields__]
    else:
        return []
    return [found for key, v in items for found in named_tensors(v, f"{name}{inner}{key}" + ("]" if inner == "[" else ""), inner)]


def storage_of(tensor):
    """Where its elements lie; 0: nowhere that can be told."""
    if tensor.layout != torch.strided:
        return 0
    try:
        return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def version_of(tensor):
    return 0 if tensor.is_inference() else tensor._version


def source_line():
    """"network.py:12": who called the op, outside this file and PyTorch's own wrappers."""
    frame = sys._getframe(1)
    while frame and (frame.f_code.co_filename == OWN_FILE or frame.f_code.co_filename in HIDDEN_FILES or frame.f_code.co_filename.startswith("<")):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame else ""


class Origin:
    """What a tensor is: (kind, which) as in the session's operands, and whether it is a part of that or its elements in another order."""
    __slots__ = ("alive", "version", "kind", "which", "part", "shape", "given_by", "handed_on")

    def __init__(self, tensor, kind, which, part=False, given_by=None):
        self.alive, self.version, self.kind, self.which, self.part = weakref.ref(tensor), version_of(tensor), kind, which, part
        self.shape, self.given_by = tuple(tensor.shape), given_by  # the op output that it is, a view too
        self.handed_on = []  # outputs of conversions that had nothing to do

    def names(self):
        """As the session's operands name it; a conversion may be none in one run and an op in the other."""
        return [("site", self.given_by) if self.given_by else (self.kind, self.which)] + [("site", which) for which in self.handed_on]


class Event:
    """One op of the model, when it is over."""
    __slots__ = ("key", "module", "op", "overload", "source", "occurrence", "outputs", "view_of", "operands", "origins", "policy", "writes")


class Forward:
    """Runs the model once and tells `observer` of each op. Keys name an op's place: module path, its call, the op, the n-th there."""

    def __init__(self, model, observer, device, low=None):
        self.model, self.observer, self.device, self.low = model, observer, device, low
        self.depth, self.stack, self.calls, self.counts, self.seen, self.origins = 0, [("", 1)], {}, {}, {}, {}
        self.inner, self.last, self.autocast = [], ("", ""), False  # autocast: whether it is on, as Python's side of the op sees it
        self.learnt = {}

    @contextlib.contextmanager
    def quiet(self):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    # where tensors come from

    def put(self, tensor, kind, which, part=False, given_by=None):
        self.origins[id(tensor)] = Origin(tensor, kind, which, part, given_by)

    def same(self, tensor, cast):
        origin = self.origin(tensor)
        if origin:
            self.put(cast, origin.kind, origin.which, origin.part, origin.given_by)

    def origin(self, tensor):
        found = self.origins.get(id(tensor))
        return found if found and found.alive() is tensor and found.version == version_of(tensor) else None

    # modules

    def enter(self, path):
        self.calls[path] = self.calls.get(path, 0) + 1
        self.stack.append((path, self.calls[path]))

    def leave(self, path, output):
        while len(self.stack) > 1 and self.stack.pop()[0] != path:
            pass
        with self.quiet():
            self.observer.returned(self, path, self.calls.get(path, 1), output)

    # ops

    def call(self, op, overload, function, args, kwargs):
        module, n = self.stack[-1]
        place = (module, n, op)
        self.counts[place] = self.counts.get(place, 0) + 1
        event = Event()
        event.key = place + (self.counts[place],)
        event.module, event.op, event.source = module, op, source_line()
        at = (module, op, event.source)
        self.seen[at] = event.occurrence = self.seen.get(at, 0) + 1
        self.last = (op, module)
        self.inner = []
        with self.quiet():
            given = [t for _, t in named_tensors((args, kwargs))]
            storages = [storage_of(t) for t in given]
            before = [self.origin(t) for t in given]
        with self.quiet():
            result = function(*args, **kwargs)
        with self.quiet():
            self._tell(event, overload, args, kwargs, (given, storages, before), result)
        return result

    def _tell(self, event, overload, args, kwargs, given, result):
        tensors, storages, before = given
        event.outputs = [t for _, t in named_tensors(result)]
        if not event.outputs:
            return
        bare = event.op.split("::")[-1]
        event.overload = overload or next((o for name, o, _ in self.inner if name == bare), "")
        event.overload = "" if event.overload == "default" else event.overload
        names = argument_names(bare, event.overload) if "::" not in event.op or event.op.startswith("aten::") else ()
        event.operands = [found for i, value in enumerate(args) for found in named_tensors(value, names[i] if i < len(names) else f"argument {i}", "[")]
        event.operands += [found for key, value in kwargs.items() for found in named_tensors(value, key, "[")]
        event.origins = dict(zip(map(id, tensors), before))
        event.writes = (bare.endswith("_") and not bare.endswith("__")) or "out" in kwargs
        name_of = {storage: name for (name, t), storage in reversed(list(zip(event.operands, (storage_of(t) for _, t in event.operands)))) if storage}
        event.view_of = ["" if event.writes else name_of.get(storage_of(t), "") if t.numel() else "" for t in event.outputs]
        event.policy = self._policy(bare, event) if self.low else ""
        self.observer.met(self, event)
        self._note_outputs(event, dict(zip(storages, zip(tensors, before))))

    def _note_outputs(self, event, by_storage):
        for i, (tensor, view) in enumerate(zip(event.outputs, event.view_of)):
            if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
                continue
            base, origin = by_storage.get(storage_of(tensor), (None, None)) if view else (None, None)
            if base is tensor:
                if origin:
                    origin.handed_on.append((event.key, i))
                continue
            if origin:
                self.put(tensor, origin.kind, origin.which, origin.part or not in_same_order(base, tensor), (event.key, i))
            elif not view:
                self.put(tensor, "site", (event.key, i), given_by=(event.key, i))

    def _policy(self, op, event):
        """What autocast did here, as seen: its casts, or the dtype of the result where the operands were what it wants already."""
        if not self.autocast:
            return "off"
        if not is_listed(op, self.device):
            return "none"
        if op.rstrip("_") in PROMOTING:
            return "promote"
        made = {to for name, _, to in self.inner if name == "_to_copy" and to is not None}
        if self.low in made or torch.float32 in made:
            self.learnt[op] = "lower_precision_fp" if self.low in made else "fp32"
        result = next((t.dtype for t in event.outputs if t.dtype in FLOATING), None)
        return self.learnt.get(op, "lower_precision_fp" if result == self.low else "fp32")

    def dispatched(self, function, args, kwargs):
        name = function._schema.name
        overload = function._schema.overload_name
        if self.depth:
            to = (kwargs or {}).get("dtype") if name == "aten::_to_copy" else None
            self.inner.append((name.split("::")[-1], overload, to))
            return function(*args, **kwargs)
        if name in ("aten::_to_copy", "aten::detach", "aten::lift_fresh", "aten::_local_scalar_dense"):
            with self.quiet():
                return function(*args, **kwargs)
        return self.call(name[6:] if name.startswith("aten::") else name, overload, function, args, kwargs)

    def run(self, args, kwargs):
        functions, kernels = Functions(self), Kernels(self)
        _running.append(self)
        try:
            with functions, kernels:
                return self.model(*args, **kwargs)
        finally:
            _running.pop()


def in_same_order(base, view):
    if base.shape == view.shape:
        return base.stride() == view.stride()
    return base.numel() == view.numel() and base.is_contiguous() and view.is_contiguous()


def autocast_is_on(device):
    try:
        return torch.is_autocast_enabled(device)
    except TypeError:  # before 2.4
        return torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled()


class Functions(TorchFunctionMode):
    def __init__(self, forward):
        super().__init__()
        self.forward, self.open = forward, []  # open: Python functions whose ops are being seen

    def __torch_function__(self, function, types_, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.forward.depth or isinstance(function, torch._ops.OpOverload):
            return function(*args, **kwargs)
        self.forward.autocast = autocast_is_on(self.forward.device)  # below, PyTorch's kernels have switched it off
        # One that comes back to itself (Tensor.unflatten by way of super()) is an op.
        clone = opened(function) if isinstance(function, types.FunctionType) and function not in self.open else None
        if clone is not None:
            self.open.append(function)
            try:
                with self:
                    return clone(*args, **kwargs)
            finally:
                self.open.pop()
        op = op_named(getattr(function, "__name__", ""))
        return function(*args, **kwargs) if op is None else self.forward.call(op, "", function, args, kwargs)


class Kernels(TorchDispatchMode):
    def __init__(self, forward):
        super().__init__()
        self.forward = forward

    def __torch_dispatch__(self, function, types_, args=(), kwargs=None):
        return self.forward.dispatched(function, args, kwargs or {})


@contextlib.contextmanager
def hooked(model):
    """Each module says when it is entered and left; a module with several names counts under the first."""
    handles = []
    for path, module in model.named_modules():
        if path:
            handles.append(module.register_forward_pre_hook(lambda _m, _i, path=path: _running[-1].enter(path) if _running else None))
        handles.append(module.register_forward_hook(lambda _m, _i, out, path=path: _running[-1].leave(path, out) if _running else None))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


# --- where samples lie in an op's output: found by experiment (core/analysis/sample_axis.h, core/engine/axis_probe.h) ------------------------

class AxisEvidence:
    """What FP32 runs with one sample replaced, and one sample less, say of a tensor."""
    __slots__ = ("changed", "qualifying", "coupled", "counts", "displaced")

    def __init__(self):
        self.changed, self.qualifying, self.coupled, self.counts, self.displaced = False, [], [], None, False

    def replace(self, before, after, samples, replaced):
        if before.shape != after.shape:
            self._add([], [])
            return
        with numpy.errstate(invalid="ignore"):
            unequal, nan = before != after, before != before
            if nan.any():
                unequal &= ~(nan & (after != after))
        if not unequal.any():
            return
        qualifying, coupled = [], []
        for d, size in enumerate(before.shape):
            if not size or size % samples:
                continue
            others = tuple(o for o in range(before.ndim) if o != d)
            places = numpy.flatnonzero(unequal.any(others))
            if size == samples:
                if (places == replaced).all():
                    qualifying.append(f"{d}")
                if len(places) == size and self._is_most(before, after, unequal, others, replaced):
                    coupled.append(d)
            else:
                qualifying += [f"{d}:batch*n"] if (places // (size // samples) == replaced).all() else []
                qualifying += [f"{d}:n*batch"] if (places % samples == replaced).all() else []
        self._add(qualifying, coupled)

    @staticmethod
    def _is_most(before, after, unequal, others, replaced):
        """Whether the sample that was replaced changed at least twice as much, in squares, as any other."""
        with numpy.errstate(all="ignore"):
            difference = numpy.abs(after.astype(numpy.complex128 if numpy.iscomplexobj(after) else numpy.float64) - before)
            own = (numpy.where(unequal & numpy.isfinite(difference), difference, 0) ** 2).sum(others)
        return own[replaced] > 0 and bool((numpy.delete(own, replaced) * 2 <= own[replaced]).all())

    def _add(self, qualifying, coupled):
        self.qualifying = [a for a in self.qualifying if a in qualifying] if self.changed else qualifying
        self.coupled = [d for d in self.coupled if d in coupled] if self.changed else coupled
        self.changed = True

    def shrink(self, before, after, samples):
        """after: of the same batch without its last sample."""
        less = [(d, a - b) for d, (a, b) in enumerate(zip(before.shape, after.shape)) if a != b]
        if before.ndim == after.ndim and len(less) == 1 and less[0][1] > 0 and before.shape[less[0][0]] == samples * less[0][1]:
            self.counts = less[0]
        axis = self.axis()
        unconfined = self.changed and not self.qualifying
        if unconfined or axis == WHOLE or not fits(before.shape, axis, samples) or not fits(after.shape, axis, samples - 1):
            return
        was, now = (v if v.dtype.kind in "fc" else v.astype(numpy.float64) for v in (sample_rows(before, axis, samples)[:-1], sample_rows(after, axis, samples - 1)))
        if was.shape == now.shape:
            with numpy.errstate(invalid="ignore", over="ignore"):
                moved = now - was
                both = numpy.isfinite(moved)
                if not both.all():
                    moved, was = numpy.where(both, moved, 0), numpy.where(both, was, 0)
                self.displaced = self._energy(moved) > 1e-6 * self._energy(was)

    @staticmethod
    def _energy(v):
        """The sum of squares, added up in double."""
        parts = (v.real, v.imag) if v.dtype.kind == "c" else (v,)
        return sum(float(numpy.einsum("ij,ij->", p, p, dtype=numpy.float64)) for p in parts)

    def axis(self):
        if self.displaced:
            return WHOLE
        if self.changed and self.qualifying:
            left = self.qualifying
            if self.counts and len(left) > 1:
                left = [a for a in left if int(a.partition(":")[0]) == self.counts[0]]
            return left[0] if len(left) == 1 else WHOLE
        if not self.counts or self.counts[1] != 1 or (self.changed and self.counts[0] not in self.coupled):
            return WHOLE
        return str(self.counts[0])


class Axes:
    def __init__(self):
        self.sites, self.outputs, self.single = {}, [], False  # single: batches of one sample, which tell themselves

    def of(self, key, output):
        found = self.sites.get((key, output))
        return found.axis() if found else WHOLE

    def of_output(self, index, tensor):
        if self.single:
            return "0" if tensor.dim() > 0 and tensor.shape[0] == 1 else WHOLE
        return self.outputs[index].axis() if index < len(self.outputs) else WHOLE


class Probe:
    """Observes an FP32 run of almost the same batch, and holds it against the run before."""

    def __init__(self, axes, held, samples, replaced=None):
        self.axes, self.held, self.samples, self.replaced = axes, held, samples, replaced

    def look(self, evidence, before, after):
        if before.dtype != after.dtype:
            return
        if self.replaced is None:
            evidence.shrink(before, after, self.samples)
        else:
            evidence.replace(before, after, self.samples, self.replaced)

    def met(self, _run, event):
        known = self.held.get(event.key)
        for i, tensor in enumerate(event.outputs):
            if known and i < len(known.arrays) and known.arrays[i] is not None and is_readable(tensor):
                self.look(self.axes.sites.setdefault((event.key, i), AxisEvidence()), known.arrays[i].array(), host_array(tensor))

    def returned(self, *_):
        pass

    def model_outputs(self, before, after):
        for i, ((_, a), (_, b)) in enumerate(zip(before, after)):
            if i >= len(self.axes.outputs):
                self.axes.outputs.append(AxisEvidence())
            if is_readable(a) and is_readable(b):
                self.look(self.axes.outputs[i], host_array(a), host_array(b))


# --- the two runs, op by op (core/engine/comparison.cpp, comparison_nonfinite.cpp) -----------------------------------------------------------

class HeldTensor:
    """A copy on the host, in its own dtype."""
    __slots__ = ("tensor",)

    def __init__(self, tensor):
        t = tensor.detach()
        self.tensor = t.cpu() if t.device.type != "cpu" else t.clone()

    def array(self):
        return host_array(self.tensor)


class Held:
    """What the reference made at one place."""
    __slots__ = ("event", "dtypes", "shapes", "arrays", "operands", "given")


class Reference:
    """Observes the FP32 run of a batch and holds what it makes until the candidate ran."""

    def __init__(self, comparison):
        self.comparison, self.held, self.bytes = comparison, {}, 0

    def met(self, run, event):
        held = Held()
        held.event, held.dtypes, held.shapes = copy.copy(event), [t.dtype for t in event.outputs], [tuple(t.shape) for t in event.outputs]
        held.operands = [(name, t.dtype, event.origins.get(id(t))) for name, t in event.operands]
        held.given = [self.comparison.given_marks(t, event.origins.get(id(t))) for _, t in event.operands]
        keep = self.comparison.looks_at(event)
        held.arrays = [self._copy(event, i) if keep else None for i in range(len(event.outputs))]
        held.event.operands, held.event.outputs, held.event.origins = [], [], {}  # holds no tensor but the copies
        self.held[event.key] = held
        self.comparison.order.setdefault(event.key, len(self.comparison.order))

    def _copy(self, event, i):
        tensor = event.outputs[i]
        if not is_readable(tensor) or (event.view_of[i] and event.op not in MAYBE_COPIES and not self.comparison.probing):
            return None
        self.bytes += tensor.numel() * tensor.element_size()
        if self.bytes > self.comparison.hold_bytes:
            raise RecorderError(f"one batch's activations take more than {self.comparison.hold_bytes / 2**30:.3g} GiB (hold_bytes); choose a smaller "
                                "batch_size, or name the modules to look at: modules=['encoder.*']")
        return HeldTensor(tensor)

    def returned(self, run, path, call, output):
        self.comparison.module_returned(run, path, call, output)


class Site:
    """One output of one op, over all samples."""

    def __init__(self, held, event, output, count, axis):
        self.held, self.module, self.op, self.overload, self.source = held.event.key, event.module, event.op, event.overload, held.event.source
        self.occurrence, self.output, self.policy, self.axis = held.event.occurrence, output, event.policy, axis
        self.reference_dtype, self.dtype, self.shape = held.dtypes[output], event.outputs[output].dtype, held.shapes[output]
        self.view_of = held.event.view_of[output] if held.event.view_of[output] and event.view_of[output] else ""
        self.values, self.worst_sample = numpy.full(len(METRICS), numpy.nan), -1
        self.elements = self.over = self.differing = 0
        self.only, self.all_b, self.all_a = (numpy.zeros(3, numpy.int64) for _ in range(3))
        self.cells, self.flags = numpy.full((len(METRICS), count), numpy.nan, numpy.float32), numpy.full(count, 32, numpy.uint8)
        self.role, self.finding, self.reference_finding, self.operands = "none", None, None, []

    def name(self):
        return self.op if "::" in self.op else "aten::" + self.op


class Comparison:
    """Observes the candidate run and compares it with what the reference made at the same places."""

    def __init__(self, samples, low, axes, modules=None, hold_bytes=1 << 33, capture=None):
        self.samples, self.low, self.axes, self.modules, self.hold_bytes, self.capture = samples, LOWS[low], axes, modules, hold_bytes, capture
        self.dtype, self.order, self.sites, self.origins, self.references = low, {}, {}, {}, {}
        self.control_flow, self.not_compared, self.returns, self.lowered = [], set(), [], 0
        self.seen_returns, self.first, self.size, self.batch, self.held = {}, 0, 0, -1, {}
        self.given = {}
        self.probing = True  # in the first batch views are held too, for their axis

    def looks_at(self, event):
        return event.op not in UNINITIALISED and (self.modules is None or event.module in self.modules)

    def begin(self, first, size, held, tainted_inputs):
        self.first, self.size, self.held = first, size, held
        self.batch += 1
        self.met_keys, self.bad, self.bad_reference = set(), {}, {}  # per op output: the samples with non-finite values
        self.inputs = tainted_inputs

    def diverged(self, module, op, what):
        found = {"module": module, "op": op if "::" in op else "aten::" + op, "what": what}
        if found not in self.control_flow and len(self.control_flow) < 200:
            self.control_flow.append(found)

    def returned(self, *_):
        pass

    def module_returned(self, run, path, call, output):
        if call <= self.seen_returns.get(path, 0):
            return
        self.seen_returns[path] = call
        for name, tensor in named_tensors(output):
            origin = run.origin(tensor)
            if origin and origin.kind == "site":
                self.returns.append((path, call, name, origin.which, origin.part))

    def met(self, run, event):
        self.lowered += any(t.dtype == self.dtype for t in event.outputs)
        held = self.held.get(event.key)
        if held is None:
            return self.diverged(event.module, event.op, "ran in the candidate only")
        self.met_keys.add(event.key)
        if len(held.shapes) != len(event.outputs):
            return self.diverged(event.module, event.op, f"gives {len(held.shapes)} tensors in the reference, {len(event.outputs)} in the candidate")
        for i in range(len(event.outputs)):
            if self.looks_at(event):
                self._output(run, event, held, i)

    def _output(self, run, event, held, i):
        tensor = event.outputs[i]
        if not is_readable(tensor) or held.dtypes[i] not in DTYPES:
            self.not_compared.add(f"{event.op} (dtype {str(tensor.dtype).replace('torch.', '')}, {tensor.layout})")
            return
        place = (event.key, i)
        site = self.sites.get(place)
        if site is None:
            site = self.sites[place] = Site(held, event, i, len(self.samples["ids"]), self.axes.of(event.key, i))
            site.operands = self._operands(event, held)
        if site.view_of or held.arrays[i] is None:
            return
        if held.shapes[i] != tuple(tensor.shape):
            self.diverged(event.module, event.op, f"output is {list(held.shapes[i])} in the reference, {list(tensor.shape)} in the candidate")
            return
        a, b = held.arrays[i].array(), host_array(tensor)
        rows_a, rows_b = sample_rows(a, site.axis, self.size), sample_rows(b, site.axis, self.size)
        inexact = is_inexact(site.dtype)
        d = Divergence(rows_a, rows_b, self.low, ulp=inexact)
        self._record(site, d, d.metrics() if inexact else None)
        self.bad[place], self.bad_reference[place] = self._spread(d.only.sum(1) > 0), (self._spread(d.in_a.sum(1) > 0), self._spread(d.in_a[:, 0] > 0))
        if self.capture:
            self.capture.take(place, site, self.batch, self.first, (held.arrays[i].tensor, tensor))
        if d.only.any():
            self._judge(run, site, place, event, held, d, (rows_a, rows_b))
        if d.in_a.any():
            self._judge_reference(site, place, held, d)

    def _spread(self, rows):
        return rows if len(rows) == self.size else numpy.full(self.size, rows.any())

    def _record(self, site, d, values):
        site.elements += int(d.elements.sum())
        site.over += int(d.over.sum()) if values is not None else 0
        site.differing += int(d.differing.sum())
        site.only, site.all_b, site.all_a = site.only + d.only.sum(0), site.all_b + d.in_b.sum(0), site.all_a + d.in_a.sum(0)
        whole = len(d.elements) != self.size
        at = slice(self.first, self.first + self.size)
        site.flags[at] = d.flags(whole)
        if values is None:
            return
        relative = values[0]
        if not numpy.isnan(relative).all():
            worst = int(numpy.nanargmax(relative))
            if not relative[worst] <= site.values[0]:
                site.worst_sample = -1 if whole else self.first + worst
        site.values = worse(numpy.stack([site.values, worse(values)], 1))
        with numpy.errstate(over="ignore"):
            site.cells[:, at] = values.astype(numpy.float32)

    def _operands(self, event, held):
        cast = {"lower_precision_fp": self.dtype, "fp32": torch.float32}.get(event.policy)
        if event.policy == "promote" and any(t.dtype == torch.float32 for _, t in event.operands):
            cast = torch.float32
        listed = []
        for i, (name, dtype, origin) in enumerate(held.operands[:16]):
            row = {"name": name, "reference": dtype, "candidate": None, "cast": None, "kind": "unknown", "which": None}
            if i < len(event.operands) and event.operands[i][0] == name:
                tensor = event.operands[i][1]
                other = event.origins.get(id(tensor))
                row["candidate"] = tensor.dtype
                row["cast"] = cast if cast and tensor.dtype in FLOATING[1:] and tensor.dtype != cast else None
                common = [name for name in origin.names() if name in other.names()] if origin and other else []
                if common:
                    row["kind"], row["which"] = common[0]
            listed.append(row)
        return len(held.operands), listed

    def end(self, run, outputs):
        """After a batch in which the candidate came to its end."""
        for key, held in self.held.items():
            if key not in self.met_keys:
                self.diverged(held.event.module, held.event.op, "ran in the reference only")
        for _, tensor in outputs:
            origin = run.origin(tensor)
            if origin and origin.kind == "site" and origin.which in self.origins:
                self.origins[origin.which]["stage"] = "output"

    # non-finite values: who made them, of what

    def given_marks(self, tensor, origin):
        """(not finite, NaN) of an operand that no op made: a parameter, a buffer, a constant."""
        if (origin and origin.kind != "parameter") or not is_readable(tensor) or not is_inexact(tensor.dtype):
            return False, False
        name = origin.which if origin else None
        if name not in self.given or name is None:
            self.given[name] = not bool(torch.isfinite(tensor).all()), bool(torch.isnan(tensor).any())
        return self.given[name]

    def _marks(self, held, known, nothing, kind):
        """Samples in which an operand of the reference is non-finite (kind 0) or NaN (1), as `known` says of each op's output."""
        marks = nothing.copy()
        for (_, _, origin), given in zip(held.operands, held.given):
            if origin and origin.kind == "site":
                marks |= known(origin.which)
            elif origin and origin.kind == "input":
                marks |= self.inputs.get(origin.which, (nothing, nothing))[kind]
            else:
                marks |= given[kind]
        return marks

    def _judge(self, run, site, place, event, held, d, rows):
        nothing = numpy.zeros(self.size, bool)
        operands = [(name, t, event.origins.get(id(t))) for name, t in event.operands]
        tainted = nothing.copy()
        for _, t, origin in operands:
            if origin and origin.kind == "site":
                tainted |= self.bad.get(origin.which, nothing)
            elif origin is None and not event.writes and is_readable(t) and is_inexact(t.dtype) and not bool(torch.isfinite(t).all()):
                tainted[:] = True
        whole = len(d.only) != self.size
        candidates = [s for s in range(len(d.only)) if d.only[s].any() and not (tainted.any() if whole else tainted[s])]
        if not candidates:
            return
        site.role = "origin"
        finding = self.origins.setdefault(place, self._finding(site))
        single = self.size == 1
        if not whole or single:
            finding["sample_ids"] += [self.samples["ids"][self.first + s] for s in candidates]
        finding["whole_batch"] |= whole and not single
        for s in candidates:
            finding["counts"] = finding["counts"] + d.only[s]
            self._cause(finding, site, event, operands, s, (rows[0][s], rows[1][s], d.only[s]))
        self._state(finding)

    @staticmethod
    def _finding(site):
        return {"stage": "intermediate", "site": site, "sample_ids": [], "whole_batch": False, "counts": numpy.zeros(3, numpy.int64), "cause": "",
                "operands": {}, "reference": (math.nan,) * 3, "causes": {}, "diagnosis": "", "explained_by": None}

    def _cause(self, finding, site, event, operands, s, pair):
        """core/analysis/diagnosis.h: each sample is judged on its own elements."""
        a, b, counts = pair
        with numpy.errstate(invalid="ignore"):
            there = a[~numpy.isfinite(b) & ~((a == b) | (numpy.isnan(a) & numpy.isnan(b)))]
        there = range_of(there)
        facts = [] if event.writes else [self._operand(event, site, operand, s) for operand in operands if is_readable(operand[1]) and is_inexact(operand[1].dtype)]
        op = site.op.rstrip("_")
        cast = next((f for f in facts if f["cast"] in LOWS and f["dtype"] not in LOWS and f["range"][2] >= LOWS[f["cast"]].overflow_from), None)
        divisor = facts[0] if op in ("reciprocal", "rsqrt") and facts else facts[1] if op in ("div", "true_divide") and len(facts) > 1 else None
        infinities = counts[1] + counts[2] > 0
        if cast:
            cause = f"overflow in the cast of operand '{cast['name']}'"
        elif divisor and new_zeros(divisor):
            cause = "division by an underflowed zero"
        elif op in ("log", "log2", "log10", "log1p") and facts and new_zeros(facts[0]):
            cause = "log of an underflowed zero"
        elif infinities and there[2] >= self.low.overflow_from:
            cause = "overflow"
        else:
            cause = "infinite result" if infinities else "invalid operation"
        finding["reference"] = widened(finding["reference"], there)
        for f in facts:
            known = finding["operands"].setdefault(f["name"], {"dtype": f["dtype"], "range": (math.nan,) * 3})
            known["range"] = widened(known["range"], f["range"])
        known = finding["causes"].setdefault(cause, {"samples": 0, "there": there, "cast": cast})
        known["samples"] += 1
        if there[2] > known["there"][2]:
            known.update(there=there, cast=cast)

    def _operand(self, event, site, operand, s):
        name, tensor, origin = operand
        axis, before = WHOLE, None
        if origin and origin.kind == "site" and not origin.part:
            known = self.sites.get(origin.which)
            axis = known.axis if known and (tuple(tensor.shape) == origin.shape == known.shape or known.axis == "0") else WHOLE
            held = self.held.get(origin.which[0])
            if held and held.arrays[origin.which[1]] is not None and held.shapes[origin.which[1]] == tuple(tensor.shape):
                before = held.arrays[origin.which[1]].array()
        elif origin and origin.kind == "input":
            axis = self.input_axes.get(origin.which, WHOLE)
        row = lambda array: sample_rows(array, axis, self.size)[s if fits(array.shape, axis, self.size) else 0]
        values = row(host_array(tensor))
        same = before is None and origin is not None and origin.kind in ("input", "parameter")
        before = values if same else row(before) if before is not None else None
        cast = self.dtype if event.policy == "lower_precision_fp" and tensor.dtype in FLOATING[1:] else tensor.dtype
        if tensor.dim() == 0 and tensor.device.type == self.device and site.dtype in LOWS and not is_listed(site.op, self.device):
            cast = site.dtype
        nonzero = numpy.abs(values[(values != 0) & numpy.isfinite(values)])
        return {"name": name, "dtype": tensor.dtype, "cast": cast, "range": range_of(values), "smallest": float(nonzero.min()) if nonzero.size else math.nan,
                "zeros": int((values == 0).sum()), "reference_zeros": int((before == 0).sum()) if before is not None else int((values == 0).sum())}

    def _state(self, finding):
        site = finding["site"]
        cause, most = max(sorted(finding["causes"].items()), key=lambda item: item[1]["samples"])
        finding["cause"] = cause
        if len(finding["causes"]) > 1:
            finding["cause"] = ", ".join(f"{c} ({counted(k['samples'], 'sample')})" for c, k in sorted(finding["causes"].items()))
        place, where = site.module or "the root module", samples_text(finding)
        shown = lambda x: grouped_number(x) if abs(x) < 1e15 else short_number(x)
        cast = most["cast"]
        if cause == "overflow":
            text = f"{place} overflows in {site.name()}: |x| = {shown(most['there'][2])} > {shown(self.low.largest)} in {where}"
        elif cast:
            text = (f"{place} overflows in {site.name()}: operand '{cast['name']}' has |x| = {shown(cast['range'][2])} > {shown(self.low.largest)} "
                    f"when cast to {DTYPES[cast['cast']]}, in {where}")
        else:
            kinds = " and ".join(kind for kind, n in zip(("NaN", "+inf", "-inf"), finding["counts"]) if n)
            text = f"{place}: {site.name()} gives {kinds} ({cause}) where FP32 has |x| = {shown(most['there'][2])} at most, in {where}"
        finding["diagnosis"] = text

    def _judge_reference(self, site, place, held, d):
        nothing = numpy.zeros(self.size, bool)
        none = (nothing, nothing)
        before, nan_before = (self._marks(held, lambda which, k=k: self.bad_reference.get(which, none)[k], nothing, k) for k in (0, 1))
        whole = len(d.in_a) != self.size
        marked = lambda marks, s: marks.any() if whole else marks[s]
        made = [s for s in range(len(d.in_a)) if d.in_a[s].any() and (not marked(before, s) or (d.in_a[s][0] and not marked(nan_before, s)))]
        if not made:
            return
        finding = self.references.setdefault(place, self._finding(site))
        finding["counts"] = finding["counts"] + d.in_a[made].sum(0)
        finding["whole_batch"] |= whole and self.size > 1
        if not whole or self.size == 1:
            finding["sample_ids"] += [self.samples["ids"][self.first + s] for s in made]
        mask = site.op.rstrip("_") in MASKS
        finding["cause"] = "a constant that the model writes (a mask)" if mask else "non-finite in FP32 already"
        finding["explained_by"] = "a mask's constant" if mask and not finding["counts"][0] else None
        finding["diagnosis"] = f"{site.module or 'the root module'}: {site.name()} is non-finite in FP32 already, in {samples_text(finding)}"


def range_of(values):
    finite = values[numpy.isfinite(values)]
    finite = numpy.abs(finite) if numpy.iscomplexobj(finite) else finite
    return (float(finite.min()), float(finite.max()), float(numpy.abs(finite).max())) if finite.size else (math.nan,) * 3


def widened(a, b):
    with numpy.errstate(invalid="ignore"):
        return float(numpy.fmin(a[0], b[0])), float(numpy.fmax(a[1], b[1])), float(numpy.fmax(a[2], b[2]))


def new_zeros(fact):
    """Zeros that the reference does not have: on arrival, or made by the cast."""
    if fact["zeros"] > fact["reference_zeros"]:
        return True
    return fact["cast"] in LOWS and fact["dtype"] not in LOWS and fact["smallest"] <= LOWS[fact["cast"]].to_zero


def samples_text(finding):
    ids = finding["sample_ids"]
    if finding["whole_batch"] or not ids:
        return "the batch (samples not told apart)"
    more = f" and {len(ids) - 6} more" if len(ids) > 6 else ""
    return ("sample " if len(ids) == 1 else "samples ") + ", ".join(ids[:6]) + more


# --- what is stored in full ------------------------------------------------------------------------------------------------------------------

class Capture:
    """Op outputs of both runs, all batches, within a budget; what does not fit is named."""

    def __init__(self, budget):
        self.budget, self.used, self.blocks, self.left_out = budget, 0, {}, {}

    def take(self, place, site, batch, first, tensors):
        size = sum(t.numel() * t.element_size() for t in tensors)
        if place in self.left_out or self.used + size > self.budget:
            self.left_out[place] = self.left_out.get(place, 0) + size + sum(b[3] for b in self.blocks.get(place, ()))
            self.used -= sum(b[3] for b in self.blocks.pop(place, ()))
            return
        self.used += size
        copies = [t.detach().cpu().clone() if t.device.type == "cpu" else t.detach().cpu() for t in tensors]
        self.blocks.setdefault(place, []).append((batch, first, copies, size))

    def summary(self, numbers):
        self.places = [place for place in numbers if place in self.blocks]
        return {"budget": self.budget, "sites": [{"site": numbers[p], "bytes": sum(b[3] for b in self.blocks[p])} for p in self.places],
                "left_out": [{"site": numbers[p], "bytes": size, "why": "budget"} for p, size in self.left_out.items() if p in numbers]}


# --- how far FP32 is from itself: samples of a batch in reverse order, another number of threads (core/engine/noise_floor.h) ------------------

@contextlib.contextmanager
def other_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(1 if before > 1 else 2)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def reversed_samples(tensor, axis, samples):
    d, _, fold = axis.partition(":")
    d, shape = int(d), tuple(tensor.shape)
    if not fold:
        return tensor.flip(d)
    others = shape[d] // samples
    split = tensor.reshape(shape[:d] + ((samples, others) if fold == "batch*n" else (others, samples)) + shape[d + 1:])
    return split.flip(d + (fold != "batch*n")).reshape(shape)


class Floor:
    """Observes an FP32 run of the first batch in reverse order: `sites`, each op output's relative L2, the worst sample's."""

    def __init__(self, axes, held, samples, low):
        self.axes, self.held, self.samples, self.low, self.sites = axes, held, samples, LOWS[low], {}

    def met(self, _run, event):
        known = self.held.get(event.key)
        for i, tensor in enumerate(event.outputs):
            axis = self.axes.of(event.key, i)
            if known is None or i >= len(known.arrays) or known.arrays[i] is None or not is_readable(tensor) or not is_inexact(tensor.dtype):
                continue
            if not (known.event.view_of[i] and event.view_of[i]) and known.shapes[i] == tuple(tensor.shape) and fits(tensor.shape, axis, self.samples) and tensor.numel():
                d = Divergence(sample_rows(known.arrays[i].array(), axis, self.samples), sample_rows(host_array(tensor), axis, self.samples)[::-1], self.low, ulp=False)
                relative = d.metrics()[0]
                if not numpy.isnan(relative).all():
                    self.sites[(event.key, i)] = float(numpy.nanmax(relative))

    def returned(self, *_):
        pass


# --- outputs of both runs (core/engine/output_collector.cpp) ---------------------------------------------------------------------------------

class Output:
    def __init__(self, name, axis):
        self.name, self.axis, self.reference, self.candidate, self.sizes, self.parts, self.comparable = name, axis, [], [], [], [], True

    def add(self, a, b, size, low):
        self.reference.append(HeldTensor(a).tensor)
        self.candidate.append(HeldTensor(b).tensor)
        self.sizes.append(size)
        if is_readable(a) and is_readable(b):
            self.parts.append(Divergence(*(sample_rows(host_array(t), self.axis, size) for t in (a, b)), low))

    def joined(self, tensors):
        """Over all samples; None: several batches, and no axis tells samples apart."""
        if len(tensors) == 1:
            return tensors[0]
        if self.axis == WHOLE or not tensors:
            return None
        d, _, fold = self.axis.partition(":")
        d = int(d)
        if not fold:
            return torch.cat(tensors, d)
        major = fold == "batch*n"
        split = [t.reshape(t.shape[:d] + ((n, -1) if major else (-1, n)) + t.shape[d + 1:]) for t, n in zip(tensors, self.sizes)]
        return torch.cat(split, d if major else d + 1).flatten(d, d + 1)

    def nonfinite(self):
        """Samples of which the candidate alone is non-finite."""
        if self.axis == WHOLE:
            return []
        marks = numpy.concatenate([d.only.any(1) for d in self.parts]) if self.parts else numpy.zeros(0, bool)
        return numpy.flatnonzero(marks).tolist()

    def summary(self):
        whole = self.joined(self.reference)
        dtype = self.candidate[0].dtype
        total = together(self.parts).merged() if self.parts else None
        judged = total is not None and is_inexact(dtype) and total.pairs[0] > 0
        values = dict(zip(METRICS, total.metrics()[:, 0])) if judged else {}
        number = lambda key: json_number(values[key]) if judged else None
        return {"name": self.name, "shape": list((self.reference[0] if whole is None else whole).shape), "sample_axis": self.axis, "dtype": DTYPES.get(dtype, "float32"),
                "max_abs": number("max_abs"), "max_rel": number("max_rel"), "rel_l2": number("rel_l2"), "cosine_distance": number("cosine_distance"),
                "max_ulp": number("max_ulp"), "elements": int(total.elements[0]) if total else 0, "differing_elements": int(total.differing[0]) if total else 0,
                "nonfinite": count_names(total.only[0] if total else (0, 0, 0))}


def together(parts):
    """One Divergence of the samples of all."""
    whole = object.__new__(Divergence)
    whole.low = parts[0].low
    for name in Divergence.SUMS + Divergence.MOST + ("min_a", "max_a", "least_a", "min_b", "max_b", "least_b", "only", "in_a", "in_b"):
        setattr(whole, name, numpy.concatenate([getattr(part, name) for part in parts]))
    return whole


class Outputs:
    def __init__(self, low, axes):
        self.low, self.axes, self.all, self.differences = LOWS[low], axes, None, []

    def add(self, size, reference, candidate):
        if self.all is None:
            self.all = [Output(name, self.axes.of_output(i, t)) for i, (name, t) in enumerate(reference)]
        a, b = dict(reference), dict(candidate)
        for output in self.all:
            if not output.comparable or output.name not in a:
                continue
            if output.name in b and a[output.name].shape == b[output.name].shape:
                output.add(a[output.name], b[output.name], size, self.low)
                continue
            output.comparable = False
            what = f"is {list(a[output.name].shape)} in the reference, {list(b[output.name].shape)} in the candidate" if output.name in b else "is given by the reference only"
            self.differences.append({"module": "", "op": f"output '{output.name}'", "what": what})
        self.differences += [{"module": "", "op": f"output '{name}'", "what": "is given by the candidate only"} for name in b if name not in a]

    def compared(self):
        return [o for o in self.all or [] if o.comparable and o.reference]

    def chosen(self, rule, name):
        """The one that decisions are read off; `name` may lack what stands before its last dots, where one alone ends in it. None: it cannot be compared."""
        usable = self.compared()
        fits_rule = lambda o: (o.candidate[0].dtype in FLOATING) == (rule.kind != "exact")
        named = [o for o in self.all if o.name == name] or [o for o in self.all if o.name.endswith("." + name)]
        if name and len(named) == 1 and named[0] not in usable:
            return None  # it differs in shape, as the control flow says
        found = (named[0] if len(named) == 1 else None) if name else next(filter(fits_rule, usable), usable[0] if usable and rule.kind == "exact" else None)
        names = ", ".join(f"'{o.name}'" for o in usable) or "none"
        if found is None:
            raise RecorderError(f"decide='{rule.text()}': " + (f"'{name}' is {'more than one' if len(named) > 1 else 'no'} output of the model" if name else "no output has floating-point scores") + f"; it has {names}")
        if found.axis == WHOLE or ":" in found.axis or found.joined(found.reference) is None:
            raise RecorderError(f"decide='{rule.text()}': no axis of output '{found.name}' counts the samples one by one, so no decision can be read; "
                                "choose another decision_output, or try batch_size=1")
        return found


# --- one run -----------------------------------------------------------------------------------------------------------------------------------

class Inputs:
    """The reference set: forward's arguments, and where samples lie in each."""

    def __init__(self, model, given, ids, batch_axis):
        names = [p.name for p in inspect.signature(model.forward).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.by_name = isinstance(given, dict)
        values = list(given.items()) if self.by_name else list(enumerate(given if isinstance(given, (tuple, list)) else (given,)))
        self.items = [(str(n) if self.by_name else names[n] if n < len(names) else f"argument {n}", v) for n, v in values]
        self.axes = {}
        for name, d in (batch_axis or {}).items():
            if name not in dict(self.items):
                raise RecorderError(f"batch_axis['{name}'] is none of the inputs: " + ", ".join(f"'{n}'" for n, _ in self.items))
        self.asked = {name: -1 if d is None else int(d) for name, d in (batch_axis or {}).items()}
        counts = {}
        for name, value in self.items:
            d = self.asked.get(name, 0)
            if isinstance(value, torch.Tensor) and 0 <= d < value.dim():
                counts[name] = value.shape[d]
        if not counts:
            raise RecorderError("inputs hold no tensor with an axis of samples; give tensors [samples, ...], or name the axis: batch_axis={'tokens': 1}")
        self.count = len(ids) if ids is not None else next(iter(counts.values()))
        for name, n in counts.items():
            if n == self.count:
                self.axes[name] = self.asked.get(name, 0)
            elif name in self.asked:
                raise RecorderError(f"input '{name}' has {n} entries on axis {self.asked[name]}, there are {counted(self.count, 'sample')}")
        if not self.axes:
            raise RecorderError(f"{counted(self.count, 'sample id')}, and no input has that many entries on axis 0; name the axis: batch_axis={{'tokens': 1}}")
        if self.count == 0:
            raise RecorderError("inputs hold no samples")

    def batch(self, samples, device):
        """Copies of those samples, on the device: [(name, value)]."""
        at = torch.as_tensor(samples)
        move = lambda t: t.detach().clone().to(device)
        return [(name, move(v.index_select(self.axes[name], at.to(v.device))) if name in self.axes else map_tensors(v, move)) for name, v in self.items]

    def call(self, batch):
        return ((), dict(batch)) if self.by_name else (tuple(v for _, v in batch), {})

    def replacement(self, replaced):
        """A sample that differs from it in most inputs, of the next 64; None: they are all alike."""
        best, most = None, 0
        for step in range(1, min(self.count, 65)):
            other = (replaced + step) % self.count
            differing = sum(not torch.equal(v.select(self.axes[n], replaced), v.select(self.axes[n], other)) for n, v in self.items if n in self.axes)
            if differing > most:
                best, most = other, differing
        return best

    def sha256(self):
        digest = hashlib.sha256()
        for name, value in self.items:
            for inner, tensor in named_tensors(value, name):
                digest.update(f"{inner} {tensor.dtype} {list(tensor.shape)}\n".encode())
                digest.update(host_bytes(tensor))
        return digest.hexdigest()


def host_bytes(tensor):
    if not is_readable(tensor):  # quantised, sparse, float8: by what Python prints of it
        return repr(tensor).encode()
    t = (tensor.detach().resolve_conj() if tensor.is_complex() else tensor.detach()).cpu().contiguous()
    return (t.view(torch.int16) if t.dtype in (torch.float16, torch.bfloat16) else t).numpy().tobytes()


def precision_switches():
    """(holder, name, value for plain float32) of what makes PyTorch round operands of float32 products: its newer names where it has them."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    holders = [holder for holder in (matmul, getattr(cudnn, "conv", None), getattr(cudnn, "rnn", None)) if attribute_of(holder, "fp32_precision") is not None]
    return [(holder, "fp32_precision", "ieee") for holder in holders] or [(matmul, "allow_tf32", False), (cudnn, "allow_tf32", False)]


def attribute_of(holder, name):
    try:
        return getattr(holder, name, None)
    except (AssertionError, RuntimeError):  # how PyTorch's backends say that they have none
        return None


@contextlib.contextmanager
def without_tf32():
    """FP32 means float32: TF32 rounds the operands of products to 10 bits."""
    before = [(holder, name, getattr(holder, name), value) for holder, name, value in precision_switches()]
    for holder, name, _, value in before:
        setattr(holder, name, value)
    try:
        yield
    finally:
        for holder, name, was, _ in before:
            setattr(holder, name, was)


class PassThrough(TorchFunctionMode):
    def __torch_function__(self, function, types_, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Experiment:
    """The model with its two sides: FP32 without autocast, and torch.autocast with the FP32 regions."""

    def __init__(self, model, device, low, options):
        self.model, self.device, self.low, self.options = model, device, low, options
        self.buffers = [b for b in model.buffers() if b is not None]
        self.start = [b.detach().clone() for b in self.buffers]
        self.states, self.drew = {}, False  # states: of each run over all batches, where a forward changed them; drew: random numbers
        self.parameters = [(name, p, version_of(p)) for name, p in model.named_parameters()]

    @contextlib.contextmanager
    def side(self, candidate, chain=None):
        """chain: which run over all batches this one goes on with ("reference", "candidate", "floor"); None: begins as the first batch and leads nowhere."""
        kind = self.device.type
        versions = [version_of(b) for b in self.buffers]
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            if candidate:
                stack.enter_context(self.regions())
                stack.enter_context(torch.autocast(kind, dtype=self.low, cache_enabled=self.options["cast_cache"]))
            else:
                stack.enter_context(torch.autocast(kind, enabled=False))
                stack.enter_context(without_tf32())
            self._load(self.states.get(chain))
            torch.manual_seed(self.options["seed"])
            seeded = self._random_state()
            try:
                yield
            finally:
                self.drew |= not torch.equal(seeded, self._random_state())
                if [version_of(b) for b in self.buffers] != versions:
                    if chain:
                        self.states[chain] = [b.detach().clone() for b in self.buffers]
                    self._load(self.start)
        for label, p, version in self.parameters:
            if version_of(p) != version:
                raise RecorderError(f"parameter '{label}': the model writes it in place during forward, so the two runs cannot be compared; keep such state in a buffer")

    def _random_state(self):
        return torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else torch.get_rng_state()

    def _load(self, values):
        for buffer, value in zip(self.buffers, values or ()):
            if not torch.equal(buffer, value):
                buffer.copy_(value)

    @contextlib.contextmanager
    def regions(self):
        with contextlib.ExitStack() as stack:
            if self.options["fp32"]:
                stack.enter_context(fp32_region(self.model, *self.options["fp32"]))
            if self.options["disable"]:
                stack.enter_context(fp32_region(self.model, *self.options["disable"], inputs="as they are"))
            yield

    def observed(self, inputs, batch, observer, candidate, chain=None):
        """(forward, flattened outputs); an exception of the model goes through, with the op that raised it."""
        forward = Forward(self.model, observer, self.device.type, self.low if candidate else None)
        for name, tensor in itertools.chain(self.model.named_parameters(), self.model.named_buffers()):
            forward.put(tensor, "parameter", name)
        for name, value in batch:
            for inner, tensor in named_tensors(value, name, "["):
                forward.put(tensor, "input", inner)
        with self.side(candidate, chain):
            try:
                with hooked(self.model):
                    result = forward.run(*inputs.call(batch))
            except RecorderError:
                raise
            except Exception as error:
                raise ModelRaised(forward, error) from error
        return forward, named_tensors(result)

    def plain(self, inputs, batch, candidate, mode=contextlib.nullcontext, chain=None):
        with self.side(candidate, chain), mode():
            return named_tensors(self.model(*inputs.call(batch)[0], **inputs.call(batch)[1]))


class ModelRaised(Exception):
    def __init__(self, forward, error):
        op, module = forward.last
        self.found = {"op": "aten::" + op if op and "::" not in op else op, "module": module, "message": str(error).strip().split("\n")[0][:500]}
        super().__init__(self.found["message"])


def place_of(raised):
    return ": ".join(part for part in (raised["module"] or "the root module", raised["op"], raised["message"]) if part)


def equal_outputs(a, b):
    same = lambda x, y: x.dtype == y.dtype and x.shape == y.shape and host_bytes(x) == host_bytes(y)
    return len(a) == len(b) and all(n == m and same(x, y) for (n, x), (m, y) in zip(a, b))


class Run:
    """Drives both sides over all batches, and says what they found as a run record."""

    def __init__(self, experiment, inputs, samples, options):
        self.experiment, self.inputs, self.samples, self.options = experiment, inputs, samples, options
        self.low, self.warnings, self.axes = experiment.low, [], Axes()
        modules = options["modules"]
        chosen = None if modules is None else [name for name, _ in experiment.model.named_modules()
                                               if any(name == m or m == "." or name.startswith(m + ".") for m in paths_matching(experiment.model, modules))]
        self.capture = Capture(options["capture_budget"]) if options["observe"] == "full" else None
        self.comparison = Comparison(samples, self.low, self.axes, chosen, options["hold_bytes"], self.capture)
        self.outputs = Outputs(self.low, self.axes)
        self.candidate_error, self.complete, self.probe_check, self.floor, self.floor_sites, self.floor_outputs = None, 0, "", None, {}, {}

    def batches(self):
        size = self.options["batch_size"]
        return [list(range(first, min(first + size, self.inputs.count))) for first in range(0, self.inputs.count, size)]

    def go(self):
        self.axes.single = len(self.batches()[0]) == 1
        for number, samples in enumerate(self.batches()):
            if not self._batch(samples, number == 0):
                break
            self.complete = samples[-1] + 1
        if self.candidate_error is None and not self.comparison.lowered:
            raise RecorderError(f"nothing was autocast: no op gave {DTYPES[self.low]}; PyTorch {torch.__version__} has no {DTYPES[self.low]} autocast for "
                                f"{self.experiment.device.type}, the model switches it off itself, or all of it is in fp32")
        if self.options["noise_floor"]:
            self._measure_floor()
        return self

    def _measure_site_floor(self, samples, held):
        if self.options["noise_floor"] and not self.experiment.drew:
            floor = Floor(self.axes, held, len(samples), self.low)
            with contextlib.suppress(ModelRaised), other_threads():
                self.experiment.observed(self.inputs, self.inputs.batch(samples[::-1], self.experiment.device), floor, candidate=False)
                self.floor_sites = floor.sites

    def _measure_floor(self):
        """The model's outputs, over all samples."""
        self.floor = {"skipped": "", "threads": 0, "outputs": [], "flips": []}
        if self.candidate_error or self.experiment.drew:
            self.floor["skipped"] = "the candidate raised" if self.candidate_error else "the model draws random numbers, and in another order each sample would get others"
            self.floor_sites = {}
            return
        usable = {o.name: Output(o.name, o.axis) for o in self.outputs.compared() if o.axis != WHOLE}
        try:
            with other_threads() as self.floor["threads"]:
                for samples in self.batches():
                    for name, tensor in self.experiment.plain(self.inputs, self.inputs.batch(samples[::-1], self.experiment.device), False, PassThrough, "floor"):
                        if name in usable:
                            usable[name].reference.append(HeldTensor(reversed_samples(tensor, usable[name].axis, len(samples))).tensor)
                            usable[name].sizes.append(len(samples))
        except Exception as error:
            self.floor["skipped"] = "FP32 fails on the same samples in another order: " + (str(error).splitlines() or [type(error).__name__])[0]
            return
        for o in self.outputs.compared():
            a, b = o.joined(o.reference), usable[o.name].joined(usable[o.name].reference) if o.name in usable else None
            if a is not None and b is not None and is_readable(a) and is_readable(b) and is_inexact(a.dtype) and a.shape == b.shape:
                self.floor_outputs[o.name] = b
                d = Divergence(*(sample_rows(host_array(t), o.axis, self.inputs.count) for t in (a, b)), LOWS[self.low])
                worst = dict(zip(METRICS, worse(d.metrics())))
                self.floor["outputs"].append({"name": o.name, "max_abs": optional_number(worst["max_abs"]), "rel_l2": optional_number(worst["rel_l2"])})

    def _mark_noise(self, rule, output, decisions):
        """A flip is not autocast's where FP32 in another order decides otherwise as well, or moves a score so far that it could."""
        other = self.floor_outputs.get(output.name)
        if other is None:
            return
        reference = output.joined(output.reference)
        noise = Decisions(rule, self.samples, "first").read(host_array(reference), host_array(other), int(output.axis))
        self.floor["flips"] = [flip["sample_id"] for flip in noise.flips]
        moved = Divergence(*(sample_rows(host_array(t), output.axis, self.inputs.count) for t in (reference, other)), LOWS[self.low]).metrics()[METRICS.index("max_abs")]
        errors = 2 if rule.has_classes else 1 if rule.kind == "threshold" else 0
        for flip in decisions.flips:
            error = moved[flip["sample"]]
            flip["within_noise_floor"] = flip["sample_id"] in self.floor["flips"] or bool(error > 0 and flip["reference_margin"] <= errors * error)

    def _reference(self, batch, observer, chain=None):
        try:
            return self.experiment.observed(self.inputs, batch, observer, candidate=False, chain=chain)
        except ModelRaised as raised:
            raise RecorderError(f"the FP32 reference failed in {place_of(raised.found)}") from raised

    def _batch(self, samples, first):
        device = self.experiment.device
        make = lambda: self.inputs.batch(samples, device)
        reference = Reference(self.comparison)
        batch = make()
        marks = self._judge_inputs(batch, samples)
        _, outputs_a = self._reference(batch, reference, "reference")
        outputs_a = [(name, t.detach().clone()) for name, t in outputs_a]
        if first and len(samples) > 1:
            self._find_axes(samples, reference.held, outputs_a)
            self._measure_site_floor(samples, reference.held)
        self.comparison.probing = False
        self.comparison.input_axes = {name: str(d) for name, d in self.inputs.axes.items()}
        self.comparison.begin(samples[0], len(samples), reference.held, marks)
        try:
            forward, outputs_b = self.experiment.observed(self.inputs, make(), self.comparison, candidate=True, chain="candidate")
        except ModelRaised as raised:
            self.candidate_error = raised.found
            return False
        self.comparison.end(forward, outputs_b)
        self.outputs.add(len(samples), outputs_a, outputs_b)
        if first:
            self._check_decision()
            self._check_probe(make, outputs_a, outputs_b)
        return True

    def _check_decision(self):
        """As early as it can be known."""
        rule = Rule(self.options["decide"])
        output = self.outputs.chosen(rule, self.options["decision_output"]) if rule.kind != "none" and self.outputs.compared() else None
        if output and rule.kind != "regression":
            Decisions(rule, self.samples, "first").check(*(positions_of(host_array(side[0]), rule, int(output.axis)) for side in (output.reference, output.candidate)))

    def _find_axes(self, samples, held, outputs):
        for replaced in dict.fromkeys((0, len(samples) - 1)):
            other = self.inputs.replacement(samples[replaced])
            if other is not None:
                self._probe(samples[:replaced] + [other] + samples[replaced + 1:], Probe(self.axes, held, len(samples), replaced), outputs)
        self._probe(samples[:-1], Probe(self.axes, held, len(samples)), outputs)

    def _probe(self, samples, probe, outputs):
        _, after = self._reference(self.inputs.batch(samples, self.experiment.device), probe)
        probe.model_outputs(outputs, after)

    def _check_probe(self, make, outputs_a, outputs_b):
        """Whether looking changed anything: the same batch again, without the two modes."""
        plain = lambda mode=contextlib.nullcontext: [self.experiment.plain(self.inputs, make(), candidate, mode) for candidate in (False, True)]
        same = lambda found: equal_outputs(found[0], outputs_a) and equal_outputs(found[1], outputs_b)
        raised = ""
        try:
            self.probe_check = "identical" if same(plain()) else "differs"
        except Exception as error:  # what only the plain run raises is told, not hidden
            self.probe_check, raised = "differs", f", and raises: {str(error).splitlines()[0]}"
        with contextlib.suppress(Exception):
            if self.probe_check == "differs" and same(plain(PassThrough)):
                self.probe_check = "identical"
                self.warnings.append(f"where nobody looks PyTorch runs fused layers (its fast path for encoders and attention){raised or ', which differ in last bits'}; "
                                     "here both runs went op by op")
                raised = ""
        if raised:
            self.warnings.append("without the recorder the model differs" + raised)

    def _judge_inputs(self, batch, samples):
        marks = {}
        for name, value in batch:
            for inner, t in named_tensors(value, name, "["):
                if is_readable(t) and is_inexact(t.dtype) and not bool(torch.isfinite(t).all()):
                    axis = str(self.inputs.axes.get(name, WHOLE)) if name in self.inputs.axes else WHOLE
                    rows = sample_rows(host_array(t), axis, len(samples))
                    bad = [~numpy.isfinite(rows).all(1), numpy.isnan(rows).any(1)]
                    marks[inner] = [b if len(b) == len(samples) else numpy.full(len(samples), b.any()) for b in bad]
        return marks

    def _given(self):
        """Findings of what holds non-finite values before anything ran."""
        parameters = [("parameter", name, p) for name, p in self.experiment.model.named_parameters()]
        inputs = [("input", name, t) for outer, value in self.inputs.items for name, t in named_tensors(value, outer, "[")]
        for stage, name, t in inputs + parameters:
            if not (is_readable(t) and is_inexact(t.dtype)) or bool(torch.isfinite(t).all()):
                continue
            array = host_array(t)
            counts = [int(kind.sum()) for kind in (numpy.isnan(array), array == numpy.inf, array == -numpy.inf)]
            yield finding_json({"stage": stage, "counts": counts, "cause": "non-finite in FP32 already", "reference": range_of(array),
                                "diagnosis": f"{stage} '{name}' holds {counted(sum(counts), 'non-finite value')} before anything ran"}, op=name)

    # the record

    def record(self, settings, elapsed):
        comparison = self.comparison
        places = sorted(comparison.sites, key=lambda place: (comparison.order[place[0]], place[1]))
        numbers = {place: i for i, place in enumerate(places)}
        self.sites = [comparison.sites[place] for place in places]
        for place, site in zip(places, self.sites):
            site.floor = self.floor_sites.get(place, math.nan)
            if site.only.any() and site.role == "none":
                site.role = "consequence"
        compared = [] if self.candidate_error else self.outputs.compared()
        rule = Rule(self.options["decide"])
        decisions = Decisions(rule, self.samples, self.options["tie"])
        regression = self._decide(rule, decisions, settings) if compared else None
        for flip in decisions.flips:
            flip["first_site_over_tolerance"] = next((i for i, site in enumerate(self.sites) if site.flags[flip["sample"]] & 64), -1)
        references = list(self._given()) + self._findings(comparison.references, numbers)
        baseline = next((f for f in references if f["explained_by"] is None), None)
        if baseline:
            self.warnings.append("FP32 is no baseline, it has non-finite values itself: " + baseline["diagnosis"])
        if comparison.not_compared:
            self.warnings.append("not compared, since their elements cannot be read: " + ", ".join(sorted(comparison.not_compared)))
        kept = [(o.name, o.joined(o.reference), o.joined(o.candidate)) for o in compared]
        self.tensors = [(name, a, b) for name, a, b in kept if a is not None and is_readable(a) and is_readable(b)]
        self.warnings += [f"output '{name}' is not stored: no axis of it counts the samples of several batches" for name, a, _ in kept if a is None]
        first = lambda kinds, bits: next(({"site": i, "sample_ids": self._ids(site, bits)} for i, site in enumerate(self.sites) if site.only[kinds].any()), None)
        self.decisions = decisions
        self.module_outputs = [{"module": path, "call": call, "name": name, "site": numbers[which], "part": part}
                               for path, call, name, which, part in comparison.returns if which in numbers]
        bad = sorted({s for o in compared for s in o.nonfinite()})
        quality = {"labelled": decisions.labelled, "reference_correct": decisions.correct_a, "candidate_correct": decisions.correct_b}
        return {"created": utc_now(), "status": "partial" if self.candidate_error else "ok", "settings": settings, "libtorch": torch.__version__, "policy_table": settings["policy_table"],
                "probe_check": self.probe_check, "samples_complete": self.complete, "elapsed_seconds": elapsed, "threads_per_run": torch.get_num_threads(),
                "warnings": self.warnings, "unresolved_calls": [], "eager_check": "", "outputs": [o.summary() for o in compared],
                "nonfinite_origins": self._findings(comparison.origins, numbers), "reference_nonfinite": references,
                "consequence_sites": sum(site.role == "consequence" for site in self.sites),
                "first_nan": first(slice(0, 1), 1), "first_inf": first(slice(1, 3), 6), "candidate_error": self.candidate_error,
                "control_flow": comparison.control_flow + self.outputs.differences, "quality": quality if decisions.labelled else None, "regression": regression,
                "no_decision": decisions.undecided, "nonfinite_samples": [self.samples["ids"][s] for s in bad], "module_outputs": self.module_outputs,
                "noise_floor": self.floor, "accumulation": None, "capture": self.capture.summary(numbers) if self.capture else None, "verdict": None,
                "flip_sets": [[i, *f["sets"]] for i, f in enumerate(decisions.flips) if f["sets"][0]]}, numbers

    def _ids(self, site, bits):
        return [self.samples["ids"][s] for s in numpy.flatnonzero(site.flags & bits) if not (site.flags[s] & 16 and len(site.flags) > 1)]

    def _findings(self, found, numbers):
        ordered = sorted(found.items(), key=lambda item: numbers[item[0]])
        return [finding_json(f, f["site"], numbers[place]) for place, f in ordered]

    def _decide(self, rule, decisions, settings):
        if rule.kind == "none":
            return None
        output = self.outputs.chosen(rule, self.options["decision_output"])
        if output is None:
            return None
        if len(self.outputs.compared()) > 1 or settings["decision_output"]:
            settings["decision_output"] = output.name
        a, b = host_array(output.joined(output.reference)), host_array(output.joined(output.candidate))
        if rule.kind == "regression":
            return regression_of(a, b, int(output.axis), self.samples)
        decisions.read(a, b, int(output.axis))
        self._mark_noise(rule, output, decisions)
        if decisions.reference_undecided:
            self.warnings.append(f"{counted(len(decisions.reference_undecided), 'sample')} with NaN scores in FP32 itself: no decision to compare")
        return None


def finding_json(f, site=None, number=-1, op=""):
    ranges = lambda r: {"min": json_number(r[0]), "max": json_number(r[1]), "max_abs": json_number(r[2])}
    counts = f["counts"]
    return {"stage": f["stage"], "site": number, "op": site.name() if site else op, "overload": site.overload if site else "",
            "module": site.module if site else "", "source": site.source if site else "", "occurrence": site.occurrence if site else 1,
            "sample_ids": [] if f.get("whole_batch") else f.get("sample_ids", []), "whole_batch": bool(f.get("whole_batch")),
            "values": [kind for kind, n in zip(("NaN", "+inf", "-inf"), counts) if n], "counts": count_names(counts), "cause": f["cause"],
            "root_cause": None, "operands": [dict(ranges(o["range"]), name=name, dtype=DTYPES[o["dtype"]]) for name, o in f.get("operands", {}).items()],
            "reference": ranges(f["reference"]), "diagnosis": f["diagnosis"], "explained_by": f.get("explained_by")}


# --- XXH3-64, by which Ulpscope knows the bytes of a captured tensor (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md) ----------

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32 = (0, 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
M64 = (1 << 64) - 1
STRIPES, LANES = 16, 8


def read64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def read32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def avalanche(h):
    h &= M64
    h = ((h ^ (h >> 37)) * 0x165667919E3779F9) & M64
    return h ^ (h >> 32)


def avalanche64(h):
    h = ((h ^ (h >> 33)) * P64[2]) & M64
    h = ((h ^ (h >> 29)) * P64[3]) & M64
    return h ^ (h >> 32)


def mix16(data, at, key):
    return fold(read64(data, at) ^ read64(SECRET, key), read64(data, at + 8) ^ read64(SECRET, key + 8))


def xxh3_16(d, n):
    """Of at most 16 bytes."""
    if n == 0:
        return avalanche64(read64(SECRET, 56) ^ read64(SECRET, 64))
    if n < 4:
        combined = (d[0] << 16) | (d[n >> 1] << 24) | d[n - 1] | (n << 8)
        return avalanche64(combined ^ (read32(SECRET, 0) ^ read32(SECRET, 4)))
    if n <= 8:
        h = (read32(d, n - 4) + (read32(d, 0) << 32)) ^ (read64(SECRET, 8) ^ read64(SECRET, 16))
        turn = lambda by: ((h << by) | (h >> (64 - by))) & M64
        h = ((h ^ turn(49) ^ turn(24)) * 0x9FB21C651E98DF25) & M64
        h = ((h ^ ((h >> 35) + n)) * 0x9FB21C651E98DF25) & M64
        return h ^ (h >> 28)
    low = read64(d, 0) ^ read64(SECRET, 24) ^ read64(SECRET, 32)
    high = read64(d, n - 8) ^ read64(SECRET, 40) ^ read64(SECRET, 48)
    return avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high))


def xxh3_240(d, n):
    """Of 17 to 240 bytes."""
    h = n * P64[1]
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix16(d, 16 * i, 32 * i) + mix16(d, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h)
    h = avalanche(h + sum(mix16(d, 16 * i, 16 * i) for i in range(8)))
    return avalanche(h + sum(mix16(d, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16)) + mix16(d, n - 16, 119))


def xxh3(data):
    """data: bytes, or a flat uint8 array."""
    n = len(data)
    if n <= 240:
        d = bytes(data)
        return xxh3_16(d, n) if n <= 16 else xxh3_240(d, n)
    data, lanes = numpy.frombuffer(data, numpy.uint8), lambda at: numpy.frombuffer(SECRET, numpy.uint64, LANES, at)
    keys, scramble = numpy.stack([lanes(8 * i) for i in range(STRIPES)]), lanes(128)
    low, half, acc = numpy.uint64(0xFFFFFFFF), numpy.uint64(32), numpy.array([P32[3], *P64[1:5], P32[2], P64[5], P32[1]], numpy.uint64)
    block, swap = 64 * STRIPES, [1, 0, 3, 2, 5, 4, 7, 6]

    def added(words, with_keys):
        mixed = words ^ with_keys
        return ((mixed & low) * (mixed >> half) + words[..., swap]).sum(-2, dtype=numpy.uint64)
    with numpy.errstate(over="ignore"):
        blocks, prime, shift = (n - 1) // block, numpy.uint64(P32[1]), numpy.uint64(47)
        for first in range(0, blocks, 4096):
            last = min(first + 4096, blocks)
            for row in added(data[first * block:last * block].view(numpy.uint64).reshape(-1, STRIPES, LANES), keys):
                acc = acc + row
                acc = (acc ^ (acc >> shift) ^ scramble) * prime
        stripes = (n - 1 - blocks * block) // 64
        if stripes:
            acc = acc + added(data[blocks * block:blocks * block + 64 * stripes].view(numpy.uint64).reshape(stripes, LANES), keys[:stripes])
        acc = acc + added(data[n - 64:].copy().view(numpy.uint64).reshape(1, LANES), numpy.frombuffer(SECRET[121:185], numpy.uint64).reshape(1, LANES))
    a = [int(v) for v in acc]
    return avalanche(n * P64[1] + sum(fold(a[2 * i] ^ read64(SECRET, 11 + 16 * i), a[2 * i + 1] ^ read64(SECRET, 19 + 16 * i)) for i in range(4)))


# --- the session on disk (core/storage/FORMAT.md, format 3) ------------------------------------------------------------------------------------

RUN_FILE_MODE = 0o444


def text_dataset(group, name, texts):
    data = numpy.array([str(t) for t in texts], dtype=object)
    group.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), shape=(len(data),))


def text_attributes(holder, **values):
    for key, value in values.items():
        holder.attrs.create(key, value, dtype=h5py.string_dtype("utf-8")) if isinstance(value, str) else holder.attrs.create(
            key, numpy.array(value, dtype=object), dtype=h5py.string_dtype("utf-8"))


def new_group(parent, name, nexus_class):
    group = parent.create_group(name)
    text_attributes(group, NX_class=nexus_class)
    return group


def json_text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def plain_text(text):
    """Without NUL, which HDF5 cannot store, and without lone surrogates."""
    return str(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


@contextlib.contextmanager
def new_file(path):
    """Built in memory: where a disk is full while it writes HDF5 may end the process."""
    held = io.BytesIO()
    with h5py.File(held, "w", libver=("earliest", "v110")) as file:
        yield file
    with open(path, "wb") as out:
        out.write(held.getbuffer())


def write_header(file, kind, session_id):
    text_attributes(file, NX_class="NXroot", file_format=kind, creator="ulpscope_recorder", creator_version=VERSION,
                    HDF5_Version=h5py.version.hdf5_version, session_id=session_id)


def tensor_type(dtype):
    """The type in the file: bfloat16 and float16 by their bits, bool as h5py's enumeration, complex as the pair r, i."""
    if dtype == torch.bfloat16:
        kind = h5py.h5t.IEEE_F32LE.copy()
        kind.set_fields(15, 7, 8, 0, 7)
        kind.set_size(2)
        kind.set_ebias(127)
        return kind
    return h5py.h5t.py_create(torch.zeros((), dtype=dtype).numpy().dtype, logical=True)


def write_tensor(group, name, tensor, always_name=True):
    kind, shape = tensor_type(tensor.dtype), tuple(tensor.shape)
    space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    data = h5py.h5d.create(group.id, name.encode(), kind, space)
    if tensor.numel():
        array = tensor.contiguous().view(torch.int16).numpy() if tensor.dtype == torch.bfloat16 else tensor.contiguous().numpy()
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.ascontiguousarray(array).view(numpy.uint8) if tensor.dtype == torch.bool else array, kind)
    if always_name or tensor.dtype == torch.bfloat16:
        text_attributes(group[name], dtype=DTYPES[tensor.dtype])
    return (data.get_offset(), tensor.numel() * tensor.element_size()) if tensor.numel() else None


def label_of(site):
    return (site.module or "(root)") + ": " + site.name() + (f"#{site.occurrence}" if site.occurrence > 1 else "")


def operands_json(operands, numbers):
    if not operands:
        return ""
    count, rows = operands
    listed = []
    for row in rows:
        kind, which = row["kind"], row["which"]
        if kind == "site":
            which = numbers.get(which)
            kind = "site" if which is not None else "unknown"
        name = lambda dtype: DTYPES.get(dtype)
        listed.append([row["name"], name(row["reference"]), name(row["candidate"]), name(row["cast"]), kind, which if kind != "unknown" else None])
    return json_text({"count": count, "listed": listed})


class RunFiles:
    """A run's entry, as it stands in the master and in the metrics file, and its two files."""

    def __init__(self, run, record, numbers, session_id, title):
        self.run, self.saved, self.numbers, self.session_id, self.title, self.extents = run, record, numbers, session_id, title, []

    def id(self):
        return f"run_{self.saved['number']:04d}"

    def entry(self, parent):
        entry = new_group(parent, self.id(), "NXentry")
        text_attributes(entry, default="divergence", title=self.title)
        self._sites(entry)
        self._flips(entry)
        rows = numpy.array(self.run.decisions.rows, numpy.float64).reshape(-1, 3)
        decisions = new_group(entry, "decisions", "NXcollection")
        for i, name in enumerate(("reference_margin", "candidate_margin", "max_error")):
            decisions.create_dataset(name, data=rows[:, i])
        entry.create_dataset("record", data=plain_text(json_text(self.saved)), dtype=h5py.string_dtype("utf-8"))
        return entry

    def _sites(self, entry):
        group, sites = new_group(entry, "sites", "NXdata"), self.run.sites
        text_attributes(group, signal="rel_l2", SILX_style='{"signal_scale_type":"log"}', title="worst relative L2 over samples, by op site in execution order")
        texts = {"module": lambda s: s.module, "op": lambda s: s.name(), "overload": lambda s: s.overload, "source": lambda s: s.source,
                 "dtype": lambda s: DTYPES[s.dtype], "reference_dtype": lambda s: DTYPES[s.reference_dtype], "policy": lambda s: s.policy,
                 "shape": lambda s: "[" + ",".join(map(str, s.shape)) + "]", "sample_axis": lambda s: s.axis, "view_of": lambda s: s.view_of,
                 "role": lambda s: s.role, "operands": lambda s: operands_json(s.operands, self.numbers)}
        whole = {"occurrence": lambda s: s.occurrence, "output": lambda s: s.output, "worst_sample": lambda s: s.worst_sample, "elements": lambda s: s.elements,
                 "elements_over_tolerance": lambda s: s.over, "differing_elements": lambda s: s.differing}
        for prefix, of in (("candidate", lambda s: s.only), ("candidate_all", lambda s: s.all_b), ("reference", lambda s: s.all_a)):
            for i, kind in enumerate(("nan", "plus_inf", "minus_inf")):
                whole[f"{prefix}_{kind}"] = lambda s, of=of, i=i: of(s)[i]
        for name, of in texts.items():
            text_dataset(group, name, [plain_text(of(s)) for s in sites])
        for name, of in whole.items():
            group.create_dataset(name, data=numpy.array([of(s) for s in sites], numpy.int64))
        for i, key in enumerate(METRICS):
            group.create_dataset(key, data=numpy.array([s.values[i] for s in sites], numpy.float64))
        for key in ("noise_floor_rel_l2", "reference_error_to_fp64", "candidate_error_to_fp64"):  # the latter two: not evaluated
            values = numpy.array([s.floor if key == "noise_floor_rel_l2" else numpy.nan for s in sites], numpy.float64)
            group.create_dataset(key, data=values)
            group.create_dataset("has_" + key, data=~numpy.isnan(values))

    def _flips(self, entry):
        group, flips = new_group(entry, "flips", "NXcollection"), self.run.decisions.flips
        for key in ("sample_id", "kind", "effect"):
            text_dataset(group, key, [plain_text(f[key]) for f in flips])
        for key in ("sample", "reference", "candidate", "first_site_over_tolerance"):
            group.create_dataset(key, data=numpy.array([f[key] for f in flips], numpy.int64))
        for key in ("reference_margin", "candidate_margin"):
            group.create_dataset(key, data=numpy.array([f[key] for f in flips], numpy.float64))
        for key in ("positions", "reference_top", "candidate_top"):
            text_dataset(group, key, [plain_text(json_text(f[key])) for f in flips])
        group.create_dataset("within_noise_floor", data=numpy.array([f["within_noise_floor"] for f in flips], bool))

    def metrics(self, path):
        with new_file(path) as file:
            write_header(file, "ulpscope-metrics/3", self.session_id)
            text_attributes(file, run_id=self.id(), default=self.id())
            self._divergence(self.entry(file))

    def _divergence(self, entry):
        data, sites = new_group(entry, "divergence", "NXdata"), self.run.sites
        count = len(self.run.samples["ids"])
        cells = numpy.stack([s.cells for s in sites], 1) if sites else numpy.zeros((len(METRICS), 0, count), numpy.float32)
        stored = [i for i, key in enumerate(METRICS) if i < 2 or not numpy.isnan(cells[i]).all()]
        text_attributes(data, signal="rel_l2", auxiliary_signals=[METRICS[i] for i in stored if i], axes=["site", "sample"],
                        SILX_style='{"signal_scale_type":"log"}', title="divergence from FP32, " + self.title)
        for i in stored:
            matrix = data.create_dataset(METRICS[i], data=cells[i])
            text_attributes(matrix, long_name=LABELS[i], interpretation="image")
        data.create_dataset("flags", data=numpy.stack([s.flags for s in sites]) if sites else numpy.zeros((0, count), numpy.uint8))
        data.create_dataset("site", data=numpy.arange(len(sites), dtype=numpy.int32))
        data.create_dataset("sample", data=numpy.arange(count, dtype=numpy.int32))
        text_dataset(data, "layer_name", [plain_text(label_of(s)) for s in sites])
        text_dataset(data, "sample_ids", self.run.samples["ids"])
        for axis in ("site", "sample"):
            data[axis].make_scale(axis)
        for name in ["flags"] + [METRICS[i] for i in stored]:
            for d, axis in enumerate(("site", "sample")):
                data[name].dims[d].attach_scale(data[axis])

    def tensors(self, path):
        with new_file(path) as file:
            write_header(file, "ulpscope-tensors/1", self.session_id)
            text_attributes(file, run_id=self.id(), default=self.id())
            entry = new_group(file, self.id(), "NXentry")
            if self.run.capture and self.run.capture.blocks:
                self._captures(entry)
            text_attributes(entry, default="output_0", title=self.title)
            entry.attrs.create("outputs", len(self.run.tensors), dtype=numpy.int64)
            for i, (name, a, b) in enumerate(self.run.tensors):
                group = new_group(entry, f"output_{i}", "NXcollection")
                text_attributes(group, name=plain_text(name))
                write_tensor(group, "reference", a)
                write_tensor(group, "candidate", b)

    def _captures(self, entry):
        self.extents = []
        captures, capture = new_group(entry, "captures", "NXcollection"), self.run.capture
        for i, place in enumerate(capture.places):
            site = self.run.comparison.sites[place]
            group = new_group(captures, f"capture_{i:06d}", "NXcollection")
            text_attributes(group, label=label_of(site), module=site.module, op=site.name(), overload=site.overload, sample_axis=site.axis)
            for name, value in (("site", self.numbers[place]), ("occurrence", site.occurrence), ("output", site.output)):
                group.attrs.create(name, value, dtype=numpy.int64)
            for side, name in enumerate(("reference", "candidate")):
                parts = [(batch, copies[side]) for batch, _, copies, _ in capture.blocks[place]]
                first = parts[0][1]
                if site.axis == "0" and all(t.dtype == first.dtype and t.shape[1:] == first.shape[1:] for _, t in parts) and self._all_rows(parts):
                    self.extents.append(write_tensor(group, name, torch.cat([t for _, t in parts]), always_name=False))
                else:
                    self.extents += [write_tensor(group, f"{name}_b{batch:04d}", t, always_name=False) for batch, t in parts]
        self._module_links(entry, captures, {self.numbers[place]: i for i, place in enumerate(capture.places)})

    def _all_rows(self, parts):
        return sum(t.shape[0] for _, t in parts) == len(self.run.samples["ids"])

    def _module_links(self, entry, captures, capture_of):
        linked = [(i, output) for i, output in enumerate(self.run.module_outputs) if output["site"] in capture_of]
        modules = new_group(entry, "modules", "NXcollection") if linked else None
        for i, output in linked:
            group = new_group(modules, str(i), "NXcollection")
            text_attributes(group, module=output["module"], name=plain_text(output["name"]))
            group.attrs.create("call", output["call"], dtype=numpy.int64)
            if output["part"]:
                group.attrs.create("part", 1, dtype=numpy.int64)
            source = captures[f"capture_{capture_of[output['site']]:06d}"]
            for name in source:
                group[name] = source[name]


def seal(path, extents=()):
    """Appends the digest that Ulpscope checks, and syncs. extents: [(offset, size)] of captured tensors, which have checksums of their own."""
    digest, lines, at = hashlib.sha256(), "", 0
    with open(path, "r+b") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for offset, size in sorted(extents):
                digest.update(memoryview(data)[at:offset])
                lines += f"\nULPSCOPE RAW {offset:016x} {size:016x} {xxh3(numpy.frombuffer(data, numpy.uint8, size, offset)):016x}"
                at = offset + size
            digest.update(memoryview(data)[at:])
        lines += f"\nULPSCOPE RAW LINES {len(extents):016x}" if extents else ""
        digest.update(lines.encode())
        file.seek(0, os.SEEK_END)
        file.write(f"{lines}\nULPSCOPE SHA-256 {digest.hexdigest()}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass  # not every file system can
    finally:
        os.close(fd)


class SessionFolder:
    """name.ulps and name.ulps.d, under the writers' lock."""

    def __init__(self, path):
        self.master = os.path.abspath(path)
        self.folder = self.master + ".d"
        if not self.master.endswith(".ulps"):
            raise RecorderError(f"out='{path}': the name of a session ends in .ulps")

    def check(self, append):
        self.append = append
        if os.path.lexists(self.master) and not append:
            raise RecorderError(f"'{self.master}' exists; use append=True to add a run, or choose another name")
        parent = os.path.dirname(self.master)
        if not os.path.isdir(parent):
            raise RecorderError(f"'{parent}' is no folder; make it, or choose another out=")
        try:
            for place in filter(os.path.isdir, (parent, self.folder)):
                tempfile.TemporaryFile(dir=place).close()
        except OSError as error:
            raise RecorderError(f"nothing can be written in '{place}': {error.strerror or error}; choose another out=") from None
        if self._is_orphaned():
            raise RecorderError(f"'{self.folder}' holds runs of a session that is not there; move it away, or choose another name")

    def _is_orphaned(self):
        return not os.path.lexists(self.master) and any(name.endswith(".h5") for name in (os.listdir(self.folder) if os.path.isdir(self.folder) else ()))

    def _drop_leftovers(self):
        """Of a first recording that was killed: nothing that could be read."""
        for name in os.listdir(self.folder) if not os.path.lexists(self.master) and not self._is_orphaned() else ():
            if name.startswith("run-") and name.endswith(".part"):
                os.unlink(os.path.join(self.folder, name))

    def _numbers(self):
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return [int(n[4:8]) for n in names if n.startswith("run-") and n[4:8].isdigit() and ".h5" in n]

    @contextlib.contextmanager
    def locked(self, patience=120):
        made = not os.path.isdir(self.folder)
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, "lock"), "a+", encoding="utf-8") as lock:
            give_up = time.monotonic() + patience
            while fcntl:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if time.monotonic() > give_up:
                        raise RecorderError(f"'{lock.name}' is being written by another program; wait for it to finish, then record again") from None
                    time.sleep(0.02)
            lock.truncate(0)
            lock.write(f"ulpscope_recorder, process {os.getpid()}\n")
            lock.flush()
            try:
                self._drop_leftovers()
                yield
            except BaseException:
                if made and not os.path.lexists(self.master) and not self._numbers():
                    os.unlink(lock.name)
                    os.rmdir(self.folder)
                raise

    def add(self, session, run, record, numbers, title):
        """Puts tensors, metrics and then the master in place; gives the run's id."""
        try:
            return self._add(session, run, record, numbers, title)
        except OSError as error:
            raise RecorderError(f"'{self.master}' cannot be written: {error.strerror or error}; nothing that was there is changed. Make room, or choose another out=, and record again") from None

    def _add(self, session, run, record, numbers, title):
        with self.locked():
            self.check(self.append)
            old = self._compatible(session)
            record["number"] = max(self._numbers() + (old["numbers"] if old else []), default=0) + 1
            if record["number"] > 9999:
                raise RecorderError(f"'{self.master}' holds as many runs as a session can (9,999); record to a new one")
            files = RunFiles(run, record, numbers, old["id"] if old else session["id"], title)
            stem = os.path.join(self.folder, f"run-{record['number']:04d}")
            paths = {stem + ".tensors.h5": files.tensors, stem + ".metrics.h5": files.metrics}
            placed = []
            try:
                for path, write in paths.items():
                    self._place(path, write, placed, files)
                self._place(self.master, lambda part: self._write_master(part, session, files, old), placed, None)
            except BaseException:
                for path in placed:
                    with contextlib.suppress(OSError):
                        os.unlink(path)
                raise
            return files.id()

    def _place(self, path, write, placed, run_files):
        part = path + ".part"
        placed.append(part)
        write(part)
        seal(part, [e for e in run_files.extents if e] if run_files and path.endswith(".tensors.h5") else ())
        if run_files:
            os.chmod(part, RUN_FILE_MODE)
        os.replace(part, path)
        placed.remove(part)
        if path != self.master:
            placed.append(path)
        sync_folder(os.path.dirname(path))

    def _compatible(self, session):
        """What of the session on disk a new run needs; None: there is none. It must be one experiment."""
        if not os.path.lexists(self.master):
            return None
        try:
            with h5py.File(self.master, "r") as file:
                return self._read(file, session)
        except OSError as error:
            raise RecorderError(f"'{self.master}' cannot be read: {error}") from None

    def _read(self, file, session):
        kind = file.attrs.get("file_format", "")
        if kind != "ulpscope-session/3":
            raise RecorderError(f"'{self.master}' is of the kind '{kind}', this recorder adds to ulpscope-session/3; record to a new session")
        model, samples = json.loads(file["model"].asstr()[()]), json.loads(file["samples/origin"].asstr()[()])
        ids = file["samples/sample_ids"].asstr()[:].tolist()
        for part, was, now in (("the model's code", model["code_sha256"], session["model"]["code_sha256"]),
                               ("the model's weights", model["weights_sha256"], session["model"]["weights_sha256"]),
                               ("the inputs", samples["sha256"], session["samples"]["sha256"]), ("the sample ids", ids, session["samples"]["ids"])):
            if was != now:
                raise RecorderError(f"'{self.master}': {part} differ from what the session holds; record to a new one")
        if json.loads(file["validation"].asstr()[()])["criteria"]:
            raise RecorderError(f"'{self.master}' has locked criteria, by which every run in it is judged as it is made; record to a new session and use `ulpscope check --criteria`")
        purged = [p["number"] for p in json.loads(file["validation"].asstr()[()]).get("purged", [])]
        return {"id": file.attrs["session_id"], "numbers": purged + [int(name[4:]) for name in file if name.startswith("run_")], "generation": int(file.attrs["generation"])}

    def _write_master(self, part, session, files, old):
        with new_file(part) as file:
            write_header(file, "ulpscope-session/3", files.session_id)
            if old:
                self._copy_master(file)
            else:
                text_attributes(file, created=session["created"], session_creator_version=VERSION, title=plain_text(session["title"]))
                self._write_session(file, session)
            file.attrs.create("generation", old["generation"] + 1 if old else 1, dtype=numpy.int64)
            text_attributes(file, default=files.id())
            entry = files.entry(file)
            target = f"{os.path.basename(self.folder)}/run-{files.saved['number']:04d}.metrics.h5"
            entry["divergence"] = h5py.ExternalLink(target, f"/{files.id()}/divergence")

    def _copy_master(self, file):
        with h5py.File(self.master, "r") as before:
            for name in ("created", "session_creator_version", "title", "baseline"):
                if name in before.attrs:
                    text_attributes(file, **{name: before.attrs[name]})
            for name in before:
                before.copy(name, file)

    @staticmethod
    def _write_session(file, session):
        write = lambda name, value: file.create_dataset(name, data=plain_text(json_text(value)), dtype=h5py.string_dtype("utf-8"))
        write("model", session["model"])
        write("validation", {"criteria": [], "explored": None})
        samples, group = session["samples"], new_group(file, "samples", "NXcollection")
        origin = {"path": samples["path"], "sha256": samples["sha256"], "labels_path": "", "class_names_path": "", "preprocessing": samples["preprocessing"]}
        group.create_dataset("origin", data=plain_text(json_text(origin)), dtype=h5py.string_dtype("utf-8"))
        for name, key in (("sample_ids", "ids"), ("class_names", "class_names"), ("sample_kinds", "kinds")):
            text_dataset(group, name, samples[key])
        group.create_dataset("labels", data=numpy.asarray(samples["labels"], numpy.int64).reshape(-1))
        group.create_dataset("targets", data=numpy.asarray(samples["targets"], numpy.float64).reshape(-1))


# --- record() ------------------------------------------------------------------------------------------------------------------------------------

def model_json(model, inputs):
    aliases = {}
    for path, module in model.named_modules(remove_duplicate=False):
        aliases.setdefault(id(module), []).append(path)
    modules = [{"path": path, "type": type(module).__name__, "aliases": aliases[id(module)][1:],
                "parameters": sum(p.numel() for p in module.parameters(recurse=False))} for path, module in model.named_modules()]
    parameters = inspect.signature(model.forward).parameters
    default = lambda name: name in parameters and parameters[name].default is not inspect.Parameter.empty
    arguments = [{"name": name, "type": "Tensor" if isinstance(value, torch.Tensor) else type(value).__name__, "has_default": default(name)} for name, value in inputs.items]
    code, weights = hashlib.sha256(), hashlib.sha256()
    for text in sorted({source_of(kind) for kind in {type(module) for module in model.modules()}}):
        code.update(text.encode("utf-8", "replace"))
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, torch.Tensor):
            weights.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
            weights.update(host_bytes(tensor))
    low = sorted({DTYPES.get(p.dtype, str(p.dtype)) for p in model.parameters() if p.is_floating_point() and p.dtype != torch.float32})
    warnings = [f"has parameters in {', '.join(low)}: the reference is not pure FP32"] if low else []
    file = inspect.getsourcefile(type(model)) if type(model).__module__ != "builtins" else None
    return {"path": os.path.abspath(file) if file and os.path.exists(file) else type(model).__name__, "code_sha256": code.hexdigest(), "weights_sha256": weights.hexdigest(),
            "modules": modules, "arguments": arguments, "warnings": warnings}


def source_of(kind):
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return f"{kind.__module__}.{kind.__qualname__}"


def device_name(device):
    if device.type == "cuda":
        return f"{device} ({torch.cuda.get_device_name(device)})"
    return str(device)


def class_number(label):
    if isinstance(label, (str, bytes)) or not numpy.isreal(label) or numpy.ndim(label) or not math.isfinite(label) or int(label) != label:
        raise RecorderError(f"labels: {label!r} is no class number; give one whole number a sample, and their names as class_names=[...]")
    return int(label)


def checked_samples(inputs, ids, labels, more):
    ids = [str(i) for i in (range(inputs.count) if ids is None else ids)]
    if len(set(ids)) != len(ids) or "" in ids:
        raise RecorderError("ids: sample ids must all be different, and none empty")
    as_list = lambda values: [] if values is None else values.tolist() if hasattr(values, "tolist") else list(values)
    samples = {"ids": [plain_text(i) for i in ids], "labels": [class_number(v) for v in as_list(labels)], "targets": numpy.asarray(as_list(more["targets"]), numpy.float64).reshape(-1).tolist(),
               "class_names": [plain_text(n) for n in as_list(more["class_names"])], "kinds": as_list(more["sample_kinds"]),
               "path": "inputs given to record()", "sha256": inputs.sha256(), "preprocessing": plain_text(more["preprocessing"])}
    for key, name in (("labels", "labels"), ("kinds", "sample_kinds")):
        if samples[key] and len(samples[key]) != inputs.count:
            raise RecorderError(f"{name}: {len(samples[key])} for {counted(inputs.count, 'sample')}; give one a sample")
    if set(samples["kinds"]) - {"common", "edge", "boundary"}:
        raise RecorderError("sample_kinds: 'common', 'edge' or 'boundary' for each sample")
    if len(samples["targets"]) % inputs.count:
        raise RecorderError(f"targets: {len(samples['targets'])} do not divide among {counted(inputs.count, 'sample')}")
    return samples


def settings_json(low, device, inputs, o):
    # "cpu@2.6": whose autocast; the recorder uses no table, it sees what PyTorch does.
    series = ".".join(torch.__version__.split(".")[:2])
    return {"autocast": DTYPES[low], "policy_table": f"{device.type}@{series}", "mode": "recorded", "device": device_name(device), "batch_size": o["batch_size"],
            "seed": o["seed"], "train": o["train"], "cast_cache": o["cast_cache"], "verify_probe": True, "accumulate": None, "observe": "stats",
            "noise_floor": o["noise_floor"], "referee": False, "capture": (list(o["modules"]) if o["modules"] else ["*"]) if o["observe"] == "full" else [],
            "capture_budget": o["capture_budget"], "only_samples": [], "fp32": list(o["fp32"]), "disable": list(o["disable"]), "allow_nonfinite": [],
            "decision": Rule(o["decide"]).text(), "decision_output": o["decision_output"], "tie": o["tie"], "batch_axis": inputs.asked}


def label_of_run(settings):
    kept = [f"FP32: {', '.join(settings['fp32'])}"] if settings["fp32"] else []
    kept += [f"autocast off: {', '.join(settings['disable'])}"] if settings["disable"] else []
    return ", ".join([{"float16": "FP16", "bfloat16": "BF16"}[settings["autocast"]]] + kept)


def chosen_autocast(autocast, device):
    word = autocast or ("fp16" if device.type == "cuda" else "bf16")
    if word not in AUTOCAST and word not in LOWS:
        raise RecorderError(f"autocast='{word}'; use 'fp16' or 'bf16'")
    low = AUTOCAST.get(word, word)
    if low == torch.float16 and device.type == "cpu" and tuple(map(int, torch.__version__.split(".")[:2])) < (2, 3):
        raise RecorderError(f"PyTorch {torch.__version__} has no FP16 autocast on the CPU; use autocast='bf16', a GPU, or `ulpscope run`, which emulates it")
    return low


def check_options(model, o):
    if isinstance(model, torch.jit.ScriptModule):
        raise RecorderError("the model is TorchScript, inside of which PyTorch shows no op to Python; give the nn.Module, or use `ulpscope run`")
    if not isinstance(model, torch.nn.Module):
        raise RecorderError(f"the model is a {type(model).__name__}; give an nn.Module")
    if hasattr(model, "_orig_mod"):
        raise RecorderError("the model is compiled, and its kernels are no single ops any more; give the model that torch.compile was given")
    if o["observe"] not in ("stats", "full"):
        raise RecorderError(f"observe='{o['observe']}'; use 'stats' (numbers) or 'full' (the activations of `modules` in full as well)")
    if o["tie"] not in ("first", "flag", "refuse"):
        raise RecorderError(f"tie='{o['tie']}'; use 'first', 'flag' or 'refuse'")
    if int(o["batch_size"]) < 1:
        raise RecorderError(f"batch_size={o['batch_size']}; must be at least 1")
    for name in ("fp32", "disable", "modules"):
        if isinstance(o[name], str):
            o[name] = [o[name]]
    paths_matching(model, list(o["fp32"]) + list(o["disable"]) + list(o["modules"] or ()))
    Rule(o["decide"])


DEFAULTS = {"class_names": None, "targets": None, "sample_kinds": None, "preprocessing": "", "decide": "none", "decision_output": "", "tie": "first",
            "append": False, "observe": "stats", "modules": None, "fp32": (), "disable": (), "batch_size": 32, "batch_axis": None, "device": None, "seed": 0,
            "train": False, "noise_floor": True, "cast_cache": True, "hold_bytes": 1 << 33, "capture_budget": 1 << 30, "title": "", "quiet": False}


def record(model, inputs, ids=None, labels=None, autocast=None, out="recorded.ulps", **options):
    """Runs `model` in FP32 and under torch.autocast on the same inputs, and adds the comparison to the session `out`. Gives a Recorded.

    inputs         a tensor, a tuple of forward's arguments, or a dict by their names. Tensors have samples on axis 0; batch_axis={"tokens": 1}
                   names another, None: no axis, the same for all samples
    ids, labels    one a sample; also class_names, targets (of a regression), sample_kinds, preprocessing (an id)
    autocast       "fp16" or "bf16"; default: fp16 on a GPU, bf16 on a CPU
    decide         "argmax[:DIM]", "argmin[:DIM]", "topk:K[:DIM]", "threshold:T[:gt|ge]", "exact", "regression"; decision_output, tie
    fp32, disable  module paths or globs kept in FP32 (inputs cast to float32), or with autocast off and inputs as they are
    append         the session may exist: one more run in it, of the same model and inputs
    observe        "stats", or "full": stores the activations of both runs, too, within capture_budget bytes, of which the file takes as many in memory
    modules        look at these only (paths or globs, and all that is in them); default: everything
    noise_floor    one more FP32 run with the samples in reverse order and another number of threads: which flips are FP32's own (default: yes)
    batch_size, device (default: where the model is), seed, train (mode of the model), cast_cache, hold_bytes (of one batch's FP32 activations), title, quiet

    The model is left as it was: its mode, buffers, hooks, and PyTorch's random numbers.
    """
    unknown = set(options) - set(DEFAULTS)
    if unknown:
        raise RecorderError(f"record() knows no {', '.join(sorted(unknown))}; it knows {', '.join(sorted(DEFAULTS))}")
    o = dict(DEFAULTS, **options)
    check_options(model, o)
    folder = SessionFolder(out)
    folder.check(o["append"])
    device = torch.device(o["device"]) if o["device"] else device_of(model)
    low, started = chosen_autocast(autocast, device), time.perf_counter()
    given = Inputs(model, inputs, ids, o["batch_axis"])
    samples = checked_samples(given, ids, labels, o)
    settings = settings_json(low, device, given, o)
    with left_as_it_was(model, device, o["train"]):
        run = Run(Experiment(model, device, low, o), given, samples, o).go()
    session = {"id": secrets.token_hex(16), "created": utc_now(), "title": o["title"] or type(model).__name__, "model": model_json(model, given), "samples": samples}
    run.warnings = session["model"]["warnings"] + run.warnings
    entry, numbers = run.record(settings, time.perf_counter() - started)
    run_id = folder.add(session, run, entry, numbers, label_of_run(settings))
    note = "the model is in train mode and was recorded in eval mode, as for inference; train=True records it in train mode"
    recorded = Recorded(folder.master, run_id, entry, run, [note] if model.training and not o["train"] else [])
    if not o["quiet"]:
        print(recorded)
    return recorded


@contextlib.contextmanager
def left_as_it_was(model, device, train):
    modes, before = [(module, module.training) for module in model.modules()], device_of(model)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.to(device).train(train)
        try:
            yield
        finally:
            model.to(before)
            for module, mode in modes:
                module.training = mode


class Recorded:
    """What a recording found: `path` of the session, `run_id`, `flips`, `first_nonfinite`, and `record`, all of it as the session holds it."""

    def __init__(self, path, run_id, entry, run, notes=()):
        self.path, self.run_id, self.record, self._run, self.notes = path, run_id, entry, run, list(notes)
        self.flips = run.decisions.flips
        self.first_nonfinite = next(iter(entry["nonfinite_origins"]), None)

    def __str__(self):
        r, run, settings = self.record, self._run, self.record["settings"]
        lines = [f"{self.run_id}: {label_of_run(settings)} autocast of PyTorch {r['libtorch']} on {settings['device']} against FP32, "
                 f"{counted(len(run.samples['ids']), 'sample')}, {counted(len(run.sites), 'op site')}"]
        lines += self.notes + [f"warning: {w}" for w in r["warnings"]]
        if r["probe_check"] == "differs":
            lines.append("warning: recording changed the outputs (the same batch gave others without it)")
        if r["candidate_error"]:
            lines.append(f"the candidate raised in {place_of(r['candidate_error'])}")
        if r["control_flow"]:
            f, more = r["control_flow"][0], len(r["control_flow"]) - 1
            lines.append("the two runs do not do the same: " + (f"{f['module']}: " if f["module"] else "") + f"{f['op']} {f['what']}" + (f", and {more} more" if more else ""))
        lines.append(self.first_nonfinite["diagnosis"] if self.first_nonfinite else "no non-finite values that the reference does not have")
        if settings["decision"] not in ("none", "regression"):
            lines.append(self._said_of_decisions(r, run, settings))
        lines += [f"output '{o['name']}': relative L2 {short_number(o['rel_l2']) if isinstance(o['rel_l2'], float) else o['rel_l2']}" for o in r["outputs"] if o["rel_l2"] is not None]
        worst = max((s for s in run.sites if not math.isnan(s.values[0])), key=lambda s: s.values[0], default=None)
        if worst:
            lines.append(f"worst op site: {label_of(worst)}, relative L2 {short_number(float(worst.values[0]))}")
        return "\n".join(lines + [f"Session: {self.path} ({self.run_id}); open it with: ulpscope gui {self.path}"])

    def _said_of_decisions(self, r, run, settings):
        compared, count, ids = run.decisions.compared, len(run.samples["ids"]), [f["sample_id"] for f in self.flips]
        if not compared:
            why = "the candidate raised" if r["candidate_error"] else "every sample has NaN scores" if run.decisions.rows else "the output is not of one shape in both runs"
            return f"whether decisions flip ({settings['decision']}) cannot be said: {why}"
        own = sum(f["within_noise_floor"] for f in self.flips)
        more = f" and {len(ids) - 6} more" if len(ids) > 6 else ""
        return (f"{len(ids)} of {compared} decisions flip ({settings['decision']})" + (": " + ", ".join(ids[:6]) + more if ids else "") + (f"; {own} of them FP32's own noise explains" if own else "")
                + (f"; {count - compared} of {counted(count, 'sample')} have NaN scores and could not be compared" if compared < count else ""))


# --- training ------------------------------------------------------------------------------------------------------------------------------------

STARTS = {"forward", "loss", "scale", "backward", "unscale_", "clip", "step", "optimizer_step"}  # of a new iteration, once one is over
EVIDENCE = {"forward", "loss", "scale", "autocast_begin"}  # that a backward has something to go through
ENDS = {"step", "optimizer_step", "update", "scheduler_step"}
SAMPLED = 16      # gradients of an optimizer by which it is seen whether somebody cleared them


def owners_of(parameters):
    """The outermost modules that hold them, of all that are alive."""
    wanted, found, parents = {id(p) for p in parameters}, [], {}
    for module in [o for o in gc.get_objects() if issubclass(type(o), torch.nn.Module)]:
        with contextlib.suppress(Exception):  # half-made ones
            if any(id(p) in wanted for p in module.parameters(recurse=False)):
                found.append(module)
            for child in module.children():
                parents.setdefault(id(child), []).append(module)
    roots, seen = [], set()
    while found:
        module = found.pop()
        if id(module) not in seen:
            seen.add(id(module))
            above = parents.get(id(module), [])
            found += above
            roots += [] if above else [module]
    return roots


def wide_dtype(device):
    return torch.float32 if device.type == "mps" else torch.float64  # Apple's GPUs have no float64


def parameters_of(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def gradients_of(optimizer):
    return [p.grad.detach() for p in parameters_of(optimizer) if p.grad is not None]


def norm_of(gradients):
    """The 2-norm over all of them, on their device; None: there is none, or one is not strided."""
    if not gradients or any(g.layout != torch.strided for g in gradients):
        return None
    first = gradients[0]
    if first.device.type == "cuda" and all(g.dtype == torch.float32 and g.device == first.device for g in gradients) and hasattr(torch, "_foreach_norm"):
        norms = torch._foreach_norm(gradients)
    else:
        norms = [row_norm(g) if g.dtype == torch.float32 else torch.linalg.vector_norm(g, dtype=wide_dtype(g.device)) for g in gradients]
    return torch.linalg.vector_norm(torch.stack([n.to(first.device, wide_dtype(first.device), non_blocking=True) for n in norms]))


def row_norm(gradient, width=1024):
    """Short rows in float32, which a CPU adds up many at once, and these in double: as good as all of it in double, at a fifth of the time."""
    flat, wide = gradient.reshape(-1), wide_dtype(gradient.device)
    whole = flat.numel() // width * width
    norms = torch.linalg.vector_norm(flat[:whole].view(-1, width), dim=1).to(wide)
    return torch.linalg.vector_norm(torch.cat([norms, flat[whole:].to(wide)]))


def shares_of(gradients, tiny):
    """Of their elements, as they are: zeros, below the smallest normal of the low dtype, not finite (core/train/gradient_statistics.h)."""
    count, device = torch.count_nonzero, gradients[0].device
    counts = torch.stack([torch.stack([g.numel() - count(g), count(g.abs() < tiny), g.numel() - count(torch.isfinite(g))]).to(device, non_blocking=True) for g in gradients]).sum(0)
    counts[1] -= counts[0]
    return dict(zip(("zero_share", "subnormal_share", "nonfinite_share"), counts.to(wide_dtype(device)) / sum(g.numel() for g in gradients)))


def marked(node, depth=64):
    """[(loss, scale)] of the scaled losses that a tensor of autograd is made of; empty: of others too."""
    found, ways = node.metadata.get("ulpscope"), [n for n, _ in node.next_functions if n is not None]
    if found:
        return [found]
    losses = []
    for way in ways if depth else ():
        of_it = marked(way, depth - 1)
        if not of_it:
            return []
        losses += of_it
    return losses


def digest_of(value):
    """SHA-256 of tensors and numbers in any nesting; equal texts mean equal bits."""
    digest = hashlib.sha256()

    def add(v):
        if isinstance(v, dict):
            for key in sorted(v, key=str):
                digest.update(f"{key}:".encode())
                add(v[key])
        elif isinstance(v, (list, tuple)):
            for inner in v:
                add(inner)
        elif isinstance(v, torch.Tensor):
            digest.update(f"{v.dtype} {list(v.shape)}\n".encode())
            digest.update(host_bytes(v))
        else:
            digest.update(repr(v).encode())
        digest.update(b";")
    add(value)
    return digest.hexdigest()[:32]


class TrainingRecorder:
    """Writes what your training loop calls, in order, and what came of it; `ulpscope train` judges, audits and shows it. The loop stays as it is:

        with TrainingRecorder("loop.jsonl", optimizer, scaler=scaler, scheduler=scheduler):
            for images, labels in batches: ...

    optimizer      one, or {"name": optimizer, ...} where the loop has several
    scaler         its GradScaler, scheduler: one, or a list of them
    model          whose forward and zero_grad are seen; default: the modules that hold the optimizers' parameters
    accumulation   backward passes an update
    ledger         for each optimizer and step also loss, scale, gradient norm, learning rate and whether it was applied, as JSON lines in
                   "loop.ledger.jsonl" (resources/schema/ledger.schema.json). These are read from the device together, once an iteration, when
                   the next begins; ledger=False never waits for the device
    gradients      also the norms as backward left them and after clipping, and the shares of zeros, subnormal and non-finite elements
    digests        also digests of weights, buffers, optimizer state and PyTorch's random states as each step begins (digests=10: each tenth), by
                   which `ulpscope train --audit` says what a resumed run forgot. This copies all of them to the host
    resumed_at     steps that were done when this run was taken up again: counts go on from there
    run            the loop's name, where a log holds several

    rows(ids) says which samples the next forward trains on. An iteration is over after scaler.update(), without a scaler after a step of every optimizer,
    and at the latest when an optimizer steps again; where yours is made otherwise, call next_iteration(). A loss is the sum of what went backward since
    the gradients were cleared, unscaled: the mean over the micro-batches where your loop divides by their number. Not seen, and so not judged: backward
    by torch.autograd.grad, clipping that is not PyTorch's, forwards of parts of the model, autocast in TorchScript. It only reads: the training's
    numbers are those without it. close() says what it cost.
    """

    def __init__(self, path, optimizer, scaler=None, scheduler=None, model=None, accumulation=1, ledger=True, gradients=False, digests=False, resumed_at=None, run="", quiet=False):
        self.path, self.run, self.quiet, self.accumulation = os.path.abspath(path), run, quiet, int(accumulation)
        self.optimizers = dict(optimizer) if isinstance(optimizer, dict) else {"optimizer": optimizer}
        as_list = lambda value: [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
        self.scaler, self.schedulers, self.models = scaler, as_list(scheduler), as_list(model)
        if not self.optimizers or self.accumulation < 1:
            raise RecorderError("TrainingRecorder needs an optimizer, and accumulation of at least 1")
        self.ledger_path = os.path.splitext(self.path)[0] + ".ledger.jsonl" if ledger else None
        for taken in filter(os.path.lexists, (self.path, self.ledger_path or self.path)):
            raise RecorderError(f"'{taken}' exists; choose another name for the event log")
        self.resumed_at, self.first = resumed_at, int(resumed_at or 0)
        self._every, self._looks = int(digests), bool(gradients)
        self.iteration, self.steps, self.events, self.overhead, self.waited, self.waits = self.first, 0, 0, 0.0, 0.0, 0
        self.unseen = {}  # what could not be recorded, and why
        self._log = self._ledger = None
        self._patches, self._explicit, self._inside, self._backwards, self._busy = Patches(), False, 0, 0, set()
        self._head = {"scaler": False, "autocast": False}
        self._scalers, self._autocast, self._depth = {}, None, 0
        self._losses, self._gradients, self._marks = ({name: kind() for name in self.optimizers} for kind in (list, dict, list))
        self._updates, self._is_old, self._ids = dict.fromkeys(self.optimizers, 0), dict.fromkeys(self.optimizers, False), []  # _is_old: gradients a step has taken
        self._kinds, self._scales, self._scaling_now = (), [], False  # _scales: events whose backward is still to come
        self._open, self._waiting, self._steps = [], [], []  # events of this iteration, autocast's that may be of the next, rows of the ledger
        self._clear()
        modern = tuple(int(v) for v in torch.__version__.split(".")[:2]) >= (2, 4)  # from when torch.cuda.amp is deprecated
        self._api = lambda thing: "torch.cuda.amp" if modern and type(thing).__module__.startswith("torch.cuda.amp") else ""

    def _clear(self):
        self._over = self._begun = self._evidence = self._lone = False
        self._stepped, self._states, self._taken = set(), {}, []

    def start(self):
        self._started = time.perf_counter()
        try:
            self._log = open(self.path, "x", encoding="utf-8")
        except OSError as error:
            raise RecorderError(f"'{self.path}' cannot be written: {error.strerror}; choose another name for the event log") from None
        self._write_head()
        self._watch()
        self.beginning = self.overhead = time.perf_counter() - self._started
        return self

    __enter__ = start

    def __exit__(self, *_):
        self.close()

    # the files

    @staticmethod
    def _line(file, value):
        file.write(json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n")

    def _write_head(self):
        """In its place, so that a log whose loop dies is whole; no wider than it was."""
        at = self._log.tell()
        self._log.seek(0)
        text = json.dumps({"ulpscope_events": 1, "optimizers": list(self.optimizers), **self._head, "accumulation": self.accumulation}, separators=(",", ":"))
        self._width = getattr(self, "_width", len(text))
        self._log.write(text.ljust(self._width) + "\n")
        self._log.seek(max(at, self._log.tell()))

    def _has(self, what):
        if not self._head[what]:
            self._head[what] = True
            self._write_head()

    def _settings(self):
        scaler, parameter = self.scaler, next(p for o in self.optimizers.values() for p in parameters_of(o))
        known = {"torch": torch.__version__, "device": device_name(parameter.device), "autocast": self._autocast or "off", "accumulation": self.accumulation,
                 "scaler": type(scaler).__name__ if self._head["scaler"] and scaler is not None else "none", "model": ", ".join(type(m).__name__ for m in self.models),
                 **{f"optimizer {name}": type(o).__name__ for name, o in self.optimizers.items()}}
        for name in ("growth_factor", "backoff_factor", "growth_interval"):
            if self._head["scaler"] and isinstance(getattr(scaler, "_" + name, None), (int, float)):
                known[name] = getattr(scaler, "_" + name)
        return known

    def _lines_of(self, event):
        """A backward stands there once, or for each optimizer that it reached, where these are not all; what it takes (loss, scale) each time."""
        stale, again = event.pop("stale", ()), event.pop("again", ())
        if "reached" not in event:
            return [event]
        names = [name for name in event.pop("reached") if name not in stale]
        lines = [[dict(event, optimizer=name)] for name in names] if len(names) < len(self.optimizers) else [[event]]
        return sum([[*(again if i else ()), *line] for i, line in enumerate(lines)], [])

    def _flush(self, is_last=False):
        """The iteration's events and its rows of the ledger, read from the device at once. A backward that reached gradients which a step had taken
        already waits, with all after it: where they are cleared before they are used it was none of that optimizer's (a critic's, by the generator's loss).
        """
        rows, self._steps = self._steps, []
        if self.ledger_path and rows:
            self._read(rows)
        for row in rows:
            self._settle(row)
        ready = next((i for i, event in enumerate(self._open) if event.get("stale") and not is_last), len(self._open))
        for event in self._open[:ready]:
            row = event.pop("row", None)
            if row is not None and row["applied"] is not None:
                event["applied"] = row["applied"]
            for line in self._lines_of(event):
                self._line(self._log, line)
                self.events += 1
        self._open, self.steps = self._open[ready:], self.steps + bool(rows)
        self._log.flush()
        if self.ledger_path:
            unique = {row["optimizer"]: row for row in rows}
            if len(unique) < len(rows):
                self.unseen["ledger"] = "an optimizer stepped twice between two next_iteration(); of these the last step stands there"
            for row in unique.values():
                self._write_row(row)
            if self._ledger:
                self._ledger.flush()

    def _write_row(self, row):
        if self._ledger is None:
            self._ledger = open(self.ledger_path, "x", encoding="utf-8")
            self._line(self._ledger, {"ulpscope_ledger": 1, "optimizers": list(self.optimizers), "resumed_at": self.resumed_at, "settings": self._settings()})
        self._line(self._ledger, {key: json_number(v) if isinstance(v, float) else v for key, v in row.items() if v is not None and key != "scaler"})

    def _read(self, rows):
        asked = [(row, key, value) for row in rows for key, value in row.items() if isinstance(value, torch.Tensor)]
        for there in (True, False):
            group = [(row, key, v) for row, key, v in asked if (v.device.type == "cpu") == there]
            if group:
                at, device = time.perf_counter(), group[0][2].device
                values = torch.stack([v.reshape(()).to(device, wide_dtype(device), non_blocking=True) for _, _, v in group]).tolist()
                self.waits, self.waited = self.waits + (not there), self.waited + (0 if there else time.perf_counter() - at)
                for (row, key, _), value in zip(group, values):
                    row[key] = value

    def _settle(self, row):
        """What follows of what was read."""
        for key in [key for key, value in row.items() if isinstance(value, torch.Tensor)]:
            row[key] = None  # nobody waited for it
        if row.get("found_inf") is not None:
            row["found_inf"] = row["found_inf"] > 0
            row["applied"] = not row["found_inf"] if row["applied"] is None else row["applied"]
        if row.get("grad_norm") == math.inf and row.get("found_inf") is False:
            row["grad_norm"] = None  # its squares overflowed
        if row.get("growth_tracker") is not None:
            row["growth_tracker"] = int(row["growth_tracker"])
        known, before = row["applied"] is not None, self._updates[row["optimizer"]]
        row["rows"], row["skipped"] = self._taken or None, not row["applied"] if known else None
        row["applied_updates"] = self._updates[row["optimizer"]] = before + row["applied"] if known and before is not None else None
        row["scheduler_steps"] = getattr(self.schedulers[0], "last_epoch", None) if len(self.schedulers) == 1 else None

    # events and iterations

    def _event(self, kind, optimizer="", scaler=None, api="", row=None):
        if kind in STARTS:
            self._open_iteration(kind)
        line = {"iteration": self.iteration, "event": kind}
        name = self._scalers[id(scaler)][1] if scaler is not None else ""
        line.update((key, value) for key, value in (("optimizer", optimizer), ("scaler", name), ("run", self.run), ("api", api), ("row", row)) if value)
        self._evidence |= kind in EVIDENCE
        self._open.append(line)

    def _open_iteration(self, kind):
        if self._over and not self._explicit:
            self._begin(kind)
        if not self._begun:
            self._begun = True
            self._taken, self._ids = self._ids, []
            if self._every and self.iteration % self._every == 0:
                self._states = self._digests(kind == "forward")

    def _begin(self, by=""):
        self._flush()
        self.iteration += 1
        self._clear()
        waiting, self._waiting = self._waiting, []
        open_ = []  # what was closed before a forward was no training
        for event in waiting if by == "forward" else ():
            open_.append(event) if event[0] == "autocast_begin" or not open_ else open_.pop()
        for kind, api in open_ if by == "forward" else waiting:
            self._event(kind, api=api)

    def next_iteration(self):
        """Says that one iteration is over; from the first call on only these calls count."""
        self._explicit = True
        self._begin()

    def rows(self, ids):
        """Which samples the next forward trains on: their numbers or ids, or a tensor on the CPU, of which a digest stands in the ledger."""
        if isinstance(ids, (torch.Tensor, numpy.ndarray)):
            ids = ids.tolist() if ids.ndim == 1 and "int" in str(ids.dtype) else [digest_of(torch.as_tensor(ids))]
        taken = self._taken if self._begun and not self._over else self._ids
        taken += [ids] if isinstance(ids, str) else [i if isinstance(i, str) else int(i) for i in ids]

    def _digests(self, before_forward):
        at = time.perf_counter()
        states = {"weights": digest_of([p for o in self.optimizers.values() for p in parameters_of(o)]),
                  "optimizer_state": {name: digest_of(o.state_dict()["state"]) for name, o in self.optimizers.items()}}
        if before_forward:
            states["rng"] = digest_of([torch.get_rng_state()] + (torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else []))
            states["buffers"] = digest_of([b for m in self.models for b in m.buffers()])
        self.waited += time.perf_counter() - at
        return states

    def _split(self, name):
        """An optimizer that steps again does so in a new iteration, whose events came since the step before."""
        if name not in self._stepped or self._over or self._explicit:
            return
        cut = max(i for i, event in enumerate(self._open) if event["event"] in ENDS) + 1
        self._open, rest = self._open[:cut], self._open[cut:]
        self._begin()
        self._open += [dict(event, iteration=self.iteration) for event in rest]
        self._begun, self._evidence = True, any(event["event"] in EVIDENCE for event in rest)

    # what is watched

    def _timed(self, note, *args):
        if note is None or self._log is None:
            return
        at = time.perf_counter()
        try:
            with torch.no_grad():
                note(*args)
        except Exception as error:  # a training goes on whatever becomes of its record
            self.unseen.setdefault(getattr(note, "__name__", "a call").strip("_"), f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        self.overhead += time.perf_counter() - at

    def _around(self, before=None, after=None, of=None):
        """A wrapper that tells both of the arguments; of calls within such a call, and on objects that are not in `of`, nothing is told."""
        busy = []

        def make(original):
            @functools.wraps(original)
            def wrapped(*args, **kwargs):
                if busy or not (of is None or id(args[0]) in of):
                    return original(*args, **kwargs)
                busy.append(True)
                try:
                    self._timed(before, *args)
                    try:
                        return original(*args, **kwargs)
                    finally:
                        self._timed(after, *args)
                finally:
                    busy.pop()
            return wrapped
        return make

    def _watch(self):
        patches = self._patches
        self.models = self.models or owners_of(p for o in self.optimizers.values() for p in parameters_of(o))
        self._names, self._roots = {id(o): name for name, o in self.optimizers.items()}, {id(m) for m in self.models}
        clearing = self._around(after=lambda optimizer, *_: self._cleared(self._names[id(optimizer)]), of=self._names)
        for optimizer in self.optimizers.values():
            patches.method(optimizer, "step", self._stepping)
            patches.method(optimizer, "zero_grad", clearing)
        stepping = self._around(after=lambda *_: self._event("scheduler_step"), of={id(s) for s in self.schedulers})
        for scheduler in self.schedulers:
            patches.method(scheduler, "step", stepping)
        clearing = self._around(after=self._module_cleared)
        for model in self.models:
            patches.method(model, "forward", self._forwards)
            patches.method(model, "zero_grad", clearing)
        patches.on_class(torch.nn.Module, "zero_grad", clearing)  # of parts of a model
        for edge, note in (("__enter__", self._entered), ("__exit__", self._left)):
            patches.replace(torch.autocast, edge, self._around(after=note))
        patches.replace(torch.autograd, "backward", self._backward)
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            patches.replace_by_any_name(torch.nn.utils, name, self._clipping)
        self._watch_scalers()

    def _forwards(self, original):
        @functools.wraps(original)
        def forward(*args, **kwargs):
            if id(args[0]) not in self._roots - self._busy or self._backwards or not torch.is_grad_enabled():
                return original(*args, **kwargs)
            self._timed(self._forward, args[0])
            self._busy.add(id(args[0]))  # a class's forward may call its base's
            try:
                return original(*args, **kwargs)
            finally:
                self._busy.discard(id(args[0]))
        return forward

    def _forward(self, module):
        self._reconcile()
        if module.training or self._depth:  # else a model that is only asked something
            self._event("forward")

    def _reconcile(self, before_backward=False):
        """Autocast that was switched otherwise than by a `with` that was seen."""
        kinds = {p.device.type for o in self.optimizers.values() for p in parameters_of(o)[:1]}
        is_on = any(map(autocast_is_on, kinds))
        if is_on and not self._depth:
            self._has("autocast")
            self._autocast = self._autocast or "on"
            self._autocast_event("autocast_begin")
        while before_backward and not is_on and self._depth:
            self._autocast_event("autocast_end")

    def _entered(self, context, *_):
        if getattr(context, "_enabled", True):
            self._autocast = self._autocast or DTYPES.get(getattr(context, "fast_dtype", None), "on")
            self._has("autocast")
            self._autocast_event("autocast_begin", self._api(context))

    def _left(self, context, *_):
        if getattr(context, "_enabled", True):
            self._autocast_event("autocast_end", self._api(context))

    def _autocast_event(self, kind, api=""):
        """After an iteration it is the next one's, if something is trained in it, and nobody's else."""
        self._depth = self._depth + 1 if kind == "autocast_begin" else max(0, self._depth - 1)
        if not self._over or self._explicit or (kind == "autocast_end" and not self._waiting):
            self._event(kind, api=api)
        else:
            self._waiting.append((kind, api))

    # optimizers and their gradients

    def _stepping(self, original):
        @functools.wraps(original)
        def step(optimizer, *args, **kwargs):
            name = self._names.get(id(optimizer))
            if name is None or id(optimizer) in self._busy:
                return original(optimizer, *args, **kwargs)
            self._reached = name
            if self._inside:  # scaler.step says it
                return original(optimizer, *args, **kwargs)
            self._busy.add(id(optimizer))
            self._timed(self._before_step, name, not args and not kwargs)
            try:
                return original(optimizer, *args, **kwargs)
            finally:
                self._busy.discard(id(optimizer))
                self._timed(self._after_step, name)
        return step

    def _cleared(self, name):
        self._event("zero_grad", name)
        self._losses[name], self._marks[name], self._gradients[name], self._is_old[name] = [], [], {}, False
        for event in self._open:
            if name in event.get("stale", ()):
                event["stale"][name] = True

    def _module_cleared(self, module, *_):
        held, which = {id(p) for p in module.parameters()}, any if id(module) in self._roots else all
        for name, optimizer in self.optimizers.items():
            if which(id(p) in held for p in parameters_of(optimizer)):
                self._cleared(name)

    def _before_step(self, name, is_plain):
        if is_plain and not self._head["scaler"]:  # a closure makes gradients anew
            self._look(name, "scaled_norm", "grad_norm")
            self._look(name, "clipped_norm")

    def _after_step(self, name):
        self._row(name, "optimizer_step" if self._head["scaler"] else "step", True)
        if not self._head["scaler"] and self._stepped == set(self.optimizers):
            self._over = not self._explicit

    def _look(self, name, *keys):
        """The norm of the gradients as they are, under these keys where they have none yet. "scaled_norm" is of those that backward left."""
        noted = self._gradients[name]
        keys = [key for key in keys if key not in noted and (self._looks or key == "grad_norm") and (key != "clipped_norm" or noted.get("_clipped"))]
        if not self.ledger_path or not keys:
            return
        gradients = gradients_of(self.optimizers[name])
        noted.update(dict.fromkeys(keys, norm_of(gradients)))
        if "scaled_norm" in keys and noted["scaled_norm"] is not None:
            low = LOWS.get({"float16": torch.float16, "bfloat16": torch.bfloat16}.get(self._autocast), LOWS[torch.float16])
            noted.update(shares_of(gradients, low.tiny))

    def _row(self, name, kind, applied, scaler=None, found=None):
        for event in self._open:
            event.get("stale", {}).pop(name, None)  # this step takes them
        self._split(name)
        noted, losses, optimizer = self._gradients[name], self._losses[name], self.optimizers[name]
        self._gradients[name], self._losses[name] = {}, []
        rate = optimizer.param_groups[0]["lr"]
        loss = None if not losses or any(v is None for v in losses) else losses[0] if len(losses) == 1 else sum(v.to(wide_dtype(v.device)) for v in losses)
        row = {"step": self.iteration, "optimizer": name, "scaler": scaler, "loss": loss, "scale_before": self._number_of(scaler, "_scale"), "scale_after": None,
               "found_inf": found, "applied": applied, "lr": rate.detach().clone() if isinstance(rate, torch.Tensor) else float(rate), "growth_tracker": None,
               **{key: value for key, value in noted.items() if not key.startswith("_")}, **self._states}
        row["optimizer_state"] = self._states.get("optimizer_state", {}).get(name)
        self._event(kind, name, scaler=scaler, row=row)
        self._steps.append(row)
        self._stepped.add(name)
        self._is_old[name] = True
        self._mark(name)

    def _mark(self, name):
        held = [p for p in parameters_of(self.optimizers[name]) if p.grad is not None][:SAMPLED]
        self._marks[name] = [(p, id(p.grad), version_of(p.grad)) for p in held]

    @staticmethod
    def _number_of(scaler, name):
        value = getattr(scaler, name, None)
        return value.detach().clone() if isinstance(value, torch.Tensor) else value if isinstance(value, (int, float)) else None

    def _name_of(self, optimizer):
        found = next((name for name, o in self.optimizers.items() if o is optimizer), None)
        if found is None:
            self.unseen["optimizers"] = "the scaler has one that the recorder was not given"
        return found

    def _clipping(self, original):
        @functools.wraps(original)
        def clip(parameters, *args, **kwargs):
            given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)  # a generator can be read only once
            self._timed(self._clips, given)
            return original(given, *args, **kwargs)
        return clip

    def _clips(self, parameters):
        given = {id(p) for p in parameters}
        for name, optimizer in self.optimizers.items():
            if not any(id(p) in given for p in parameters_of(optimizer)):
                continue
            if self._head["scaler"] and not self._gradients[name].get("_unscaled"):
                self._gradients[name].update(scaled_norm=None, grad_norm=None)  # of what is clipped too early there is none
            else:
                self._look(name, "grad_norm", *(() if self._head["scaler"] else ("scaled_norm",)))
            self._gradients[name]["_clipped"] = True
            self._event("clip", name)

    # backward and losses

    def _backward(self, original):
        @functools.wraps(original)
        def backward(tensors, *args, **kwargs):
            if self._backwards:  # of activation checkpoints, within backward
                return original(tensors, *args, **kwargs)
            self._timed(self._before_backward, tensors)
            self._backwards += 1
            try:
                return original(tensors, *args, **kwargs)
            finally:
                self._backwards -= 1
                self._timed(self._after_backward)
        return backward

    def _before_backward(self, tensors):
        self._reconcile(before_backward=True)
        for name, marks in self._marks.items():
            if marks and all(p.grad is None or (id(p.grad), version_of(p.grad)) != (place, version) for p, place, version in marks):
                self._cleared(name)  # by hand
        self._before = self._arrived()
        self._loss = self._loss_of(tensors)
        self._open_iteration("backward")

    def _loss_of(self, tensors):
        tensor = tensors if isinstance(tensors, torch.Tensor) else tensors[0] if len(tensors) == 1 else None
        if tensor is None or tensor.numel() != 1:
            return None
        found = marked(tensor.grad_fn) if tensor.grad_fn is not None else []
        if found and "ulpscope" in tensor.grad_fn.metadata:
            return found[0][0]
        if found:
            return tensor.detach() / found[0][1] if found[0][1] is not None else None
        return None if self._head["scaler"] else tensor.detach().clone()  # how much of it is scale is not known

    def _after_backward(self):
        after = self._arrived()
        reached = [name for name in self.optimizers if after[name] != self._before[name]]  # a copy's, or another model's, is none of this loop
        if reached:
            self._lone |= not self._evidence
            if self._lone:  # the forward was not seen, but there is one
                self._event("loss")
            again = (self._open[-1:] if self._lone else []) + ([dict(self._scales.pop(), iteration=self.iteration)] if self._scales else [])
            self._event("backward")
            stale = {name: False for name in reached if self._is_old[name]}  # True: cleared since
            self._open[-1].update(reached=reached, stale=stale, again=again)
        for name in reached:
            self._losses[name].append(self._loss)
            for event in self._open:
                if event.get("stale", {}).get(name):  # cleared, and made anew
                    event["reached"].remove(name)
                    del event["stale"][name]
            if self._marks[name]:
                self._mark(name)
        self._before = self._loss = None

    def _arrived(self):
        """Of each optimizer what changes when gradients arrive: the gradients' identity and version, no number of theirs."""
        return {name: [(id(p.grad), version_of(p.grad)) if p.grad is not None else None for p in parameters_of(o)] for name, o in self.optimizers.items()}

    # scalers

    def _watch_scalers(self):
        self._kinds = tuple({kind for kind in (getattr(torch.amp, "GradScaler", None), getattr(getattr(torch.cuda, "amp", None), "GradScaler", None),
                                               type(self.scaler) if self.scaler is not None else None) if kind})
        if self.scaler is not None:
            self._know(self.scaler)
        makers = {"__init__": self._around(after=lambda scaler, *_: self._know(scaler, is_new=True)), "scale": self._scaling, "step": self._scaler_step,
                  "unscale_": self._around(before=self._unscales, after=self._unscaled), "update": self._around(after=self._updated)}
        for kind, name in itertools.product(self._kinds, makers):
            place = next((c for c in kind.__mro__ if name in vars(c)), None)
            if place and isinstance(vars(place)[name], types.FunctionType):
                self._patches.on_class(place, name, makers[name])
            elif name != "__init__":
                self.unseen[f"{kind.__name__}.{name}"] = "no method of its class"

    def _know(self, scaler, is_new=False):
        """Whether it is on and of this loop: the one given, the first seen where none was, or one that the loop makes."""
        if not isinstance(scaler, self._kinds) or not getattr(scaler, "is_enabled", lambda: True)():
            return False
        if id(scaler) in self._scalers:
            return True
        if not is_new and self._scalers:
            return False
        self._scalers[id(scaler)] = (scaler, "scaler" if not self._scalers else f"scaler {len(self._scalers) + 1}")
        self.scaler = scaler
        self._has("scaler")
        self._event("new_scaler", scaler=scaler, api=self._api(scaler))
        return True

    def _scaling(self, original):
        @functools.wraps(original)
        def scale(scaler, outputs, *args, **kwargs):
            if self._scaling_now:  # a subclass calls its base
                return original(scaler, outputs, *args, **kwargs)
            self._scaling_now = True
            try:
                product = original(scaler, outputs, *args, **kwargs)
            finally:
                self._scaling_now = False
            self._timed(self._was_scaled, scaler, outputs, product)
            return product
        return scale

    def _was_scaled(self, scaler, outputs, product):
        if not self._know(scaler):
            return
        self._event("scale", scaler=scaler, api=self._api(scaler))
        self._scales.append(self._open[-1])
        for loss, scaled in zip(*([v] if isinstance(v, torch.Tensor) else list(v) for v in (outputs, product))):
            if scaled.grad_fn is not None:
                scaled.grad_fn.metadata["ulpscope"] = (loss.detach().clone(), self._number_of(scaler, "_scale"))

    def _unscales(self, scaler, optimizer):
        if self._know(scaler) and self._name_of(optimizer) is not None:
            self._look(self._name_of(optimizer), "scaled_norm")

    def _unscaled(self, scaler, optimizer):
        name = self._name_of(optimizer) if self._know(scaler) else None
        if name is None:
            return
        if not self._inside:
            self._event("unscale_", name, scaler, self._api(scaler))
        self._look(name, "grad_norm")
        self._gradients[name]["_unscaled"] = True

    def _scaler_step(self, original):
        @functools.wraps(original)
        def step(scaler, optimizer, *args, **kwargs):
            if self._inside or self._log is None or not self._know(scaler) or self._name_of(optimizer) is None:
                return original(scaler, optimizer, *args, **kwargs)
            self._timed(self._before_scaler_step, scaler, optimizer)
            self._inside, self._reached = 1, None
            try:
                return original(scaler, optimizer, *args, **kwargs)
            finally:
                self._inside = 0
                self._timed(self._after_scaler_step, scaler, optimizer)
        return step

    def _before_scaler_step(self, scaler, optimizer):
        name = self._name_of(optimizer)
        noted, scale = self._gradients[name], self._number_of(scaler, "_scale")
        if noted.get("_unscaled"):
            self._look(name, "clipped_norm")
        elif getattr(optimizer, "_step_supports_amp_scaling", False) and "grad_norm" not in noted and scale is not None:
            self._look(name, "scaled_norm", "grad_norm")  # a fused step divides by the scale itself
            noted["grad_norm"] = noted["grad_norm"] / scale if noted.get("grad_norm") is not None else None

    def _after_scaler_step(self, scaler, optimizer):
        # A fused optimizer is always called, and skips on the device: whether it stepped is not known without waiting.
        is_fused = getattr(optimizer, "_step_supports_amp_scaling", False)
        state = getattr(scaler, "_per_optimizer_states", {}).get(id(optimizer), {})
        found = [t.detach().reshape(()) for t in state.get("found_inf_per_device", {}).values()]
        found = torch.stack([t.to(found[0].device, non_blocking=True) for t in found]).max() if found else None
        self._row(self._name_of(optimizer), "step", None if is_fused else self._reached is not None, scaler, found)

    def _updated(self, scaler, *_):
        if not self._know(scaler):
            return
        for row in self._steps:
            if row["scaler"] is scaler and row["scale_after"] is None:
                row["scale_after"], row["growth_tracker"] = self._number_of(scaler, "_scale"), self._number_of(scaler, "_growth_tracker")
        self._event("update", scaler=scaler, api=self._api(scaler))
        if len(self.optimizers) == 1 or self._stepped == set(self.optimizers):
            self._over = not self._explicit

    def close(self):
        """Puts everything back as it was, and prints what recording cost."""
        if self._log is None:
            return
        at = time.perf_counter()
        self._patches.undo()
        try:
            self._flush(is_last=True)
            for file in filter(None, (self._log, self._ledger)):
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # the training is done, and its numbers are worth more than the log
            self.unseen["the end of the log"] = str(error)
        for file in filter(None, (self._log, self._ledger)):
            with contextlib.suppress(OSError):
                file.close()
        self._log = self._ledger = None
        self.overhead += time.perf_counter() - at
        self.seconds = time.perf_counter() - self._started
        if not self.quiet:
            print(self)

    def __str__(self):
        seconds, name = getattr(self, "seconds", 0), os.path.basename(self.path)
        share = 100 * self.overhead / seconds if seconds else 0
        each = 1000 * (self.overhead - self.beginning) / max(1, self.steps)
        cost = f"recording took {1000 * self.overhead:.1f} ms ({1000 * self.beginning:.1f} to begin, {each:.2f} an iteration), {share:.2f} % of the {seconds:.2f} s"
        cost += f", {1000 * self.waited:.1f} ms of it in {counted(self.waits, 'wait')} for the device" if self.waits else ""
        lines = [f"{self.path}: {counted(self.events, 'event')} of {counted(self.steps, 'iteration')}; {cost}"]
        lines += [f"not recorded: {what}: {why}" for what, why in self.unseen.items()]
        return "\n".join(lines + [f"See it with: ulpscope train --import {name} --session {os.path.splitext(name)[0]}.ulps"])
