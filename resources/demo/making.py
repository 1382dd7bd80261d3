"""What the make.py of the demos share: training in FP32 and the two files of a demo."""
import inspect
import os

import h5py
import numpy
import torch


def train(model, tensors, loss, epochs, rate=2e-3):
    """loss(model, *rows of tensors) in batches of 32; the same seed gives the same weights on the same machine and PyTorch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        for batch in torch.randperm(len(tensors[0])).split(32):
            optimizer.zero_grad()
            loss(model, *[tensor[batch] for tensor in tensors]).backward()
            optimizer.step()
    return model.eval()


def widest_gap(peaks, fewest, most):
    """(count, value): the limit that lies farthest, by ratio, from all peaks while `count` of them, in these bounds, lie above it."""
    ranked = numpy.sort(numpy.asarray(peaks, numpy.float64))[::-1]
    count = max(range(fewest, most + 1), key=lambda n: ranked[n - 1] / ranked[n])
    return count, numpy.sqrt(ranked[count - 1] * ranked[count])


def scripted(model, folder):
    """torch.jit.script of a model of network.py in this folder, its source lines without the folder's name on this machine."""
    source_file, before = inspect.getsourcefile, os.getcwd()

    def short(thing):
        path = source_file(thing)
        return os.path.basename(path) if path and os.path.dirname(path) == folder else path
    os.chdir(folder)  # where the short names are found
    inspect.getsourcefile = short
    try:
        return torch.jit.script(model.eval())
    finally:
        inspect.getsourcefile = source_file
        os.chdir(before)


def save(folder, model, inputs, ids, labels=None, class_names=None):
    """model.ts by scripting and inputs.h5 with the FP32 outputs; inputs: {argument name: float32 array}. Returns the outputs."""
    script = scripted(model, folder)
    with torch.no_grad():
        outputs = script(*[torch.from_numpy(array) for array in inputs.values()])
    torch.jit.save(script, os.path.join(folder, "model.ts"))
    named = {"output": outputs} if isinstance(outputs, torch.Tensor) else {f"output.{i}": o for i, o in enumerate(outputs)}
    with h5py.File(os.path.join(folder, "inputs.h5"), "w") as file:
        for name, array in inputs.items():
            file.create_dataset(name, data=array, compression="gzip", shuffle=True)
        file["sample_ids"] = ids
        if labels is not None:
            file["labels"] = numpy.asarray(labels, numpy.int64)
        if class_names is not None:
            file["class_names"] = class_names
        for name, output in named.items():
            file.create_dataset(f"expected/{name}", data=output.numpy(), compression="gzip", shuffle=True)
    return [output.numpy() for output in named.values()]
