# Exports a model, its inputs and its FP32 outputs for Ulpscope. Edit the two marked places, then run this file.
import inspect
from typing import List
import torch

model = torch.nn.Linear(8, 3)  # 1. EDIT: your model with its weights loaded, on the CPU
inputs = (torch.randn(16, 8),)  # 2. EDIT: forward's arguments in order, samples along dimension 0
sample_ids = [str(i) for i in range(len(inputs[0]))]  # names of your samples, if they have any
truth = {}  # {"labels": class numbers, one a sample} or {"targets": numbers}: for accuracy, and for training, where every loss but "output" takes one

class Holder(torch.nn.Module):
    sample_ids: List[str]
    expected_names: List[str]

def flatten(value, name="output"):
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    parts = value.items() if isinstance(value, dict) else enumerate(() if value is None else value)
    return [leaf for key, part in parts for leaf in flatten(part, f"{name}.{key}")]

model.float().eval()  # the FP32 model: Ulpscope lowers the precision itself
names = list(inspect.signature(model.forward).parameters)
assert len(inputs) <= len(names), "inputs has more items than forward has arguments"
tensors = [(n, t.clone()) for n, t in zip(names, inputs) if t is not None]  # None: an optional argument left out
torch.jit.script(model).save("model.ts")
with torch.no_grad():
    outputs = flatten(model(*inputs))
holder = Holder()
holder.sample_ids, holder.expected_names = sample_ids, [name for name, _ in outputs]
for name, tensor in tensors + list(truth.items()) + [(f"expected_{i}", tensor.clone()) for i, (_, tensor) in enumerate(outputs)]:
    holder.register_buffer(name, tensor)
torch.jit.script(holder).save("inputs.pt")
print("Saved model.ts and inputs.pt. Next: ulpscope run model.ts --inputs inputs.pt")
