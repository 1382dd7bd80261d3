"""The table and its cases: one case per variant of an op, its expectation and how closely that must be met."""
import math

import numpy

from cuda_cases.definitions import SUMMED
from cuda_cases.inputs import ALL, VARIANTS, Pinned, Value, random
from cuda_cases.oracle import ask, compile_for_cpp, compiled_ops, for_cpp, for_python, mixed, outputs_of, source_text
from cuda_cases.rounding import FLOATING, distance, numbers, rounded


class Table:
    """An entry of cases, as it is written:
      source          def case(...) for torch.jit.CompilationUnit of Python; cpp_source: for torch::jit::compile of C++
      low, inputs     the autocast dtype; [{"dtype", "shape", "values"}], values flat, "NaN", "+inf" and "-inf" as strings
      dtypes, raises  of the outputs, or the first line of PyTorch's message; the other one is null
      values          flat, per output, or null where only the dtype is known; right within tolerance_ulp ULPs of the
                      output's dtype, or within tolerance_abs of the output's largest finite magnitude
      op, mixed       the one aten op of the source, or ""; whether that op, in plain CPU eager, refuses a float64 first
                      input among float32 ones (null where it does not apply)
    left_out has {"name", "why"} for the cases whose dtypes fake tensors cannot tell."""

    def __init__(self):
        self.cases, self.left_out, self.names = [], [], set()

    def add(self, family, label, body, inputs, reference=None, variants=ALL, **options):
        """One case per variant. Options: see Case."""
        for variant in variants:
            case = Case(family, label, body, inputs, reference, variant, **options)
            assert case.name not in self.names, case.name
            self.names.add(case.name)
            entry = case.entry()
            if entry is None:
                self.left_out.append({"name": case.name, "why": case.answer[1]})
            else:
                self.cases.append(entry)


class Case:
    """lowered: CUDA casts all floating inputs to the low dtype first. relative, absolute: how far float32 arithmetic can be
    from the exact result, relative to each value and to the largest one; the tolerance follows from where that can change
    the rounding, so that it stays far below a missing or extra rounding (errors of float64 arithmetic are 2 ** -29 of those
    of float32). stores: the reference takes the rounding to the result's dtype as its first argument. dtypes, raises: the
    expectation by hand, where fake tensors are known to differ from CUDA; a comment beside it names the source ("low",
    "first": the low dtype, the first input's). results: the number of outputs."""

    def __init__(self, family, label, body, inputs, reference, variant, lowered=False, relative=0.0, absolute=0.0,
                 stores=False, dtypes=None, raises=None, results=1):
        self.family, self.name, self.reference = family, f"{family}/{label}/{variant}", reference
        self.low, first, other = VARIANTS[variant]
        self.lowered, self.relative, self.absolute, self.stores = lowered, relative, absolute, stores
        if first == "float64" and lowered:  # doubles are not on the grid on which the sums are exact
            self.absolute = SUMMED
        body = body.replace("LOW", "torch." + self.low)
        plain = source_text(body, len(inputs), results)
        self.source, self.cpp_source = for_python(plain), for_cpp(plain)
        self.values, generator, dtype = [], random(self.name), first or self.low
        for spec in inputs:
            self.values.append(Value(spec, dtype, generator, self.low))
            if self.values[-1].floating() and not isinstance(spec, Pinned):
                dtype = other or self.low
        self.answer = self.by_hand(dtypes, raises) or ask(self.source, self.values, self.low)

    def by_hand(self, dtypes, raises):
        if raises:
            return "raises", raises.replace("LOW", {"float16": "at::Half", "bfloat16": "at::BFloat16"}[self.low])
        if dtypes:
            return "dtypes", [self.low if d == "low" else self.values[0].dtype if d == "first" else d for d in dtypes]
        return None

    def entry(self):
        ops = compiled_ops(self.source)
        compile_for_cpp(self.cpp_source)
        kind, answer = self.answer
        if kind == "left out":
            return None
        op = ops[0] if len(ops) == 1 else ""
        entry = {"name": self.name, "family": self.family, "low": self.low, "source": self.source,
                 "cpp_source": self.cpp_source, "inputs": [value.written() for value in self.values], "op": op,
                 "dtypes": answer if kind == "dtypes" else None, "raises": answer if kind == "raises" else None,
                 "values": None, "tolerance_ulp": 0, "tolerance_abs": 0, "mixed": mixed(self.source, self.values, op)}
        if kind == "dtypes" and self.reference:
            self.fill_values(entry, answer)
        return entry

    def read(self, value):
        """An input as the kernel reads it."""
        return rounded(value.data, self.low) if self.lowered and value.floating() and value.dtype != "float64" else value.data

    def fill_values(self, entry, dtypes):
        arguments = [self.read(value) for value in self.values]
        if self.stores:
            arguments.insert(0, lambda x: rounded(x, dtypes[0]))
        with numpy.errstate(all="ignore"):
            exact = outputs_of(self.reference(*arguments))
            assert len(exact) == len(dtypes), (self.name, dtypes)
            stored = [rounded(x, d) if d in FLOATING else numpy.asarray(x) for x, d in zip(exact, dtypes)]
            entry["tolerance_ulp"] = max(self.ulps(x, y, d) for x, y, d in zip(exact, stored, dtypes))
        entry["tolerance_abs"] = 2 * self.absolute * (2.0 ** -29 if dtypes[0] == "float64" else 1)
        entry["values"] = [numbers(x) for x in stored]

    def ulps(self, exact, stored, dtype):
        """How many ULPs float32's errors can move the stored result by."""
        if dtype == "float64":
            return math.ceil(self.relative * 2 ** 24)
        if dtype not in FLOATING:
            return 0
        exact = numpy.asarray(exact, numpy.float64)
        size = numpy.where(numpy.isfinite(exact), numpy.abs(exact), 0.0)
        moved = lambda error: max(distance(rounded(exact + s * error, dtype), stored, dtype) for s in (-1, 1))
        own = moved(self.relative * size)
        if self.absolute and moved(self.relative * size + self.absolute * size.max(initial=0.0)):
            own = max(own, 1)
        return own
