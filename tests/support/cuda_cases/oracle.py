"""What PyTorch answers about dtypes and refusals: its AutocastCUDA kernels on fake CUDA tensors, which need no GPU."""
import re
import typing

import torch
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import (DataDependentOutputException, DynamicOutputShapeException, FakeTensor,
                                           UnsupportedFakeTensorException)
from torch.jit import CompilationUnit

# What TorchScript compiles. In a case's body torch.NAME stands for aten::NAME; the script frontend of Python calls it
# torch.ops.aten.NAME, the C++ frontend torch.NAME.
DTYPES = {"uint8": 0, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7, "bool": 11, "bfloat16": 15}


def source_text(body, count, results):
    arguments = ", ".join(f"{name}: Tensor" for name in "abcdefgh"[:count])
    returned = "Tensor" if results == 1 else f"Tuple[{', '.join(['Tensor'] * results)}]"
    lines = body.strip().split("\n")
    lines[-1] = "return " + lines[-1]
    return f"def case({arguments}) -> {returned}:\n" + "".join(f"    {line.strip()}\n" for line in lines)


def for_python(text):
    return re.sub(r"\btorch\.(\w+)\(", r"torch.ops.aten.\1(", text)


def for_cpp(text):
    """torch::jit::compile knows no dtype names: their numbers instead."""
    return re.sub(rf"\btorch\.({'|'.join(DTYPES)})\b", lambda found: str(DTYPES[found.group(1)]), text)


def compiled_ops(source):
    unit = CompilationUnit(source)
    return [node.kind() for node in unit.case.inlined_graph.nodes() if not node.kind().startswith("prim::")]


class AtenModule(type(torch)):
    """Stands in for C++'s name lookup, where torch.NAME is aten::NAME."""

    def __getattr__(self, name):
        return getattr(torch.ops.aten, name)


def compile_for_cpp(source, torch=AtenModule("torch")):
    CompilationUnit(source)


def eager(source):
    names = {"torch": torch, "Tensor": torch.Tensor, "Tuple": typing.Tuple}
    exec(source, names)
    return names["case"]


def outputs_of(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def dtype_name(tensor):
    return str(tensor.dtype).replace("torch.", "")


def first_line(error):
    return str(error).split("\n")[0].strip()


# Limits of fake tensors, not of CUDA.
LIMITS = (NotImplementedError, UnsupportedFakeTensorException, DynamicOutputShapeException, DataDependentOutputException)

# PyTorch's refusals of a dtype; any other error says nothing about CUDA.
REFUSAL = re.compile(r"scalar ?type|dtype|data type|did not match|unsafe to autocast|without overflow|can't be cast", re.I)


def ask(source, values, low):
    """('dtypes', list) or ('raises', message) from the AutocastCUDA kernels; ('left out', why) where fakes cannot say."""
    mode = FakeTensorMode()
    fakes = [FakeTensor(mode, torch.empty(v.data.shape, dtype=getattr(torch, v.dtype), device="meta"), torch.device("cuda:0"))
             for v in values]
    torch.set_autocast_enabled(True)
    torch.set_autocast_gpu_dtype(getattr(torch, low))
    torch.autocast_increment_nesting()
    try:
        with mode, torch.no_grad():
            return "dtypes", [dtype_name(t) for t in outputs_of(eager(source)(*fakes))]
    except LIMITS as error:
        return "left out", f"{type(error).__name__}: {first_line(error)}"
    except Exception as error:
        return ("raises" if REFUSAL.search(str(error)) else "left out"), first_line(error)
    finally:
        torch.autocast_decrement_nesting()
        torch.clear_autocast_cache()
        torch.set_autocast_enabled(False)


def refuses(source, values, first):
    """Whether plain CPU eager raises with `first` as the first floating input's dtype and float32 as the others'."""
    tensors, dtype = [], first
    for value in values:
        tensors.append(value.tensor(dtype if value.floating() else None))
        dtype = "float32" if value.floating() else dtype
    try:
        with torch.no_grad():
            eager(source)(*tensors)
        return False
    except Exception:
        return True


def mixed(source, values, op):
    """Does the plain op need one dtype? None where that question makes no sense: one floating input, empty ones, whose kernels
    nobody calls, or an op that fails in float32 as well."""
    floating = [value for value in values if value.floating()]
    if not op or len(floating) < 2 or any(not v.data.size for v in floating) or refuses(source, values, "float32"):
        return None
    return refuses(source, values, "float64")
