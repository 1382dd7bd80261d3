#!/usr/bin/env python3
"""Asks PyTorch for what the tests of core/train expect: make_training_cases.py OUTDIR DEMO

scaler.json: torch.cuda.amp.GradScaler's own Python over random gradients, two optimizers on one scaler; its two kernels, which this
build lacks on the CPU, are numpy's float32 here. steps.json: weights after some FP32 steps of torch.optim and torch.optim.lr_scheduler. digits.ts: the network of
the demo in the folder DEMO, before any training.
"""
import json
import os
import sys
import warnings

import numpy
import torch
from torch.cuda.amp import grad_scaler


def check_and_unscale(grads, found_inf, inv_scale):
    inverse = numpy.float32(inv_scale.item())
    for grad in grads:
        values = grad.numpy()
        if not numpy.isfinite(values).all():
            found_inf.fill_(1.0)
        if inverse != 1:
            values[...] = values * inverse


def update_scale(scale, tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    old = numpy.float32(scale.item())
    if found_inf.item():
        scale.fill_(float(numpy.float32(float(old) * backoff_factor)))
        tracker.fill_(0)
    elif tracker.item() + 1 == growth_interval:
        scale.fill_(float(numpy.float32(float(old) * growth_factor)))
        tracker.fill_(0)
    else:
        tracker.add_(1)


class Replicator(grad_scaler._MultiDeviceReplicator):
    def __init__(self, tensor):  # the original takes CUDA tensors only
        self.master = tensor
        self._per_device_tensors = {}

    def get(self, device):
        return self._per_device_tensors.setdefault(device, self.master.clone())


def patch():
    grad_scaler.amp_definitely_not_available = lambda: False
    grad_scaler._MultiDeviceReplicator = Replicator
    torch._amp_foreach_non_finite_check_and_unscale_ = check_and_unscale
    torch._amp_update_scale_ = update_scale


def numbers(tensor):
    return [float(value) for value in tensor.detach().reshape(-1)]


def texts(tensor):
    return [repr(float(value)) for value in tensor.detach().reshape(-1)]


def norm(tensors):
    return float(sum((tensor.double() ** 2).sum() for tensor in tensors)) ** 0.5


def scaler_trace(random, options, steps):
    scaler = grad_scaler.GradScaler(**options)
    scaler._lazy_init_scale_growth_tracker(torch.device("cpu"))
    weights = [torch.nn.Parameter(torch.zeros(5)) for _ in range(2)]
    optimizers = [torch.optim.SGD([weight], lr=1.0) for weight in weights]
    trace = []
    for _ in range(steps):
        step = {"gradients": [], "unscaled": [], "weights": []}
        for weight, optimizer in zip(weights, optimizers):
            values = (random.normal(size=5) * 10.0 ** random.uniform(-3, 3)).astype(numpy.float32)
            if random.uniform() < 0.15:
                values[random.integers(5)] = random.choice([numpy.inf, -numpy.inf, numpy.nan])
            weight.grad = torch.from_numpy(values)
            step["gradients"].append(texts(weight.grad))
            if random.uniform() < 0.5:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            step["unscaled"].append(texts(weight.grad))
            step["weights"].append(texts(weight))
        scaler.update()
        step["scale"], step["tracker"] = repr(scaler.get_scale()), scaler._get_growth_tracker()
        trace.append(step)
    return {"options": options, "steps": trace}


def scaler_traces():
    patch()
    random = numpy.random.default_rng(44710)
    choices = [dict(init_scale=65536.0, growth_interval=3), dict(init_scale=0.7, growth_factor=1.7, backoff_factor=0.3, growth_interval=2),
               dict(init_scale=3e37, growth_interval=2), dict(init_scale=1.0, growth_interval=1000)]
    return [scaler_trace(random, options, 60) for options in choices]


# Three layers with a kink, sums exact enough for the order not to matter much.
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(6, 8)
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


class Holder(torch.nn.Module):
    def __init__(self, tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


OPTIMIZERS = {
    "sgd": ("SGD", dict(lr=0.1)),
    "sgd_momentum": ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.02)),
    "sgd_nesterov": ("SGD", dict(lr=0.05, momentum=0.8, nesterov=True)),
    "adam": ("Adam", dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.05)),
    "adam_amsgrad": ("Adam", dict(lr=0.02, amsgrad=True)),
    "adamw": ("AdamW", dict(lr=0.03, weight_decay=0.1)),
}
SCHEDULERS = {
    "none": None,
    "step": lambda o: torch.optim.lr_scheduler.StepLR(o, step_size=2, gamma=0.3),
    "exponential": lambda o: torch.optim.lr_scheduler.ExponentialLR(o, gamma=0.7),
    "warmup": lambda o: torch.optim.lr_scheduler.LinearLR(o, start_factor=0.25, end_factor=1.0, total_iters=3),
}


def trained(net, x, labels, kind, options, schedule):
    """Five updates of two micro-batches of four rows each, rows wrapping round the ten there are; the loss is divided by two."""
    optimizer = getattr(torch.optim, kind)(net.parameters(), **options)
    scheduler = schedule(optimizer) if schedule else None
    losses, rates, updates, gradients, row = [], [], [], [], 0
    for _ in range(5):
        optimizer.zero_grad()
        total = 0.0
        for _ in range(2):
            rows = [(row + i) % 10 for i in range(4)]
            row += 4
            loss = torch.nn.functional.cross_entropy(net(x[rows]), labels[rows])
            (loss / 2).backward()
            total += loss.item() / 2
        rates.append(optimizer.param_groups[0]["lr"])
        gradients.append(norm([p.grad for p in net.parameters()]))
        before = [p.detach().clone() for p in net.parameters()]
        optimizer.step()
        updates.append(norm([p.detach() - b for p, b in zip(net.parameters(), before)]))
        if scheduler:
            scheduler.step()
        losses.append(total)
    with torch.no_grad():
        accuracy = (net(x).argmax(1) == labels).double().mean().item()
    return {"losses": losses, "rates": rates, "updates": updates, "gradients": gradients, "accuracy": accuracy,
            "weights": {name: numbers(p) for name, p in net.named_parameters()}}


def optimizer_steps(outdir):
    torch.manual_seed(7)
    start, x, labels = Net(), torch.randn(10, 6), torch.randint(3, (10,))
    torch.jit.save(torch.jit.script(start.train()), os.path.join(outdir, "net.ts"))
    torch.jit.save(torch.jit.script(Holder({"x": x, "labels": labels})), os.path.join(outdir, "net_inputs.pt"))
    found = []
    for name, (kind, options) in OPTIMIZERS.items():
        for schedule in SCHEDULERS:
            net = Net()
            net.load_state_dict(start.state_dict())
            run = trained(net, x, labels, kind, options, SCHEDULERS[schedule])
            found.append({"optimizer": name, "type": kind, "options": options, "scheduler": schedule, **run})
    return found


def untrained_digits(outdir, demo):
    sys.path.insert(0, demo)
    from network import DigitNet
    torch.manual_seed(8)
    torch.jit.save(torch.jit.script(DigitNet().train()), os.path.join(outdir, "digits.ts"))


def main(arguments):
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    numpy.seterr(all="ignore")
    outdir = arguments[1]
    untrained_digits(outdir, arguments[2])
    for name, content in (("steps", optimizer_steps(outdir)), ("scaler", scaler_traces())):
        with open(os.path.join(outdir, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file)


if __name__ == "__main__":
    main(sys.argv)
