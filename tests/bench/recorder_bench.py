"""What ulpscope_recorder.py costs, as CPU ratios within one run: recorder_bench.py RESOURCES [TURNS]

record() of one batch against one bare FP32 forward; a training step under TrainingRecorder against the same step without, in turns.
"""
import os
import statistics
import sys
import tempfile
import time

import torch
import torchvision

sys.path.insert(0, os.path.join(sys.argv[1], "python"))
from ulpscope_recorder import TrainingRecorder, record  # noqa: E402


def cpu_seconds(call):
    at = time.process_time()
    call()
    return time.process_time() - at


def recording(turns):
    model, images, ratios = torchvision.models.resnet18(weights=None).eval(), torch.randn(8, 3, 224, 224), []
    for noise_floor in (True, False):
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            model(images)
            for turn in range(turns):
                bare = cpu_seconds(lambda: model(images))
                spent = cpu_seconds(lambda: record(model, images, autocast="bf16", decide="argmax", out=os.path.join(folder, f"{turn}.ulps"), noise_floor=noise_floor, quiet=True))
                ratios.append(spent / bare)
        print(f"record() of one batch, ResNet-18 b8{'' if noise_floor else ', without the noise floor'}: {statistics.median(ratios):.1f} FP32 forwards")
        ratios.clear()


def training(turns, steps=4):
    model, images, labels = torchvision.models.resnet18(weights=None), torch.randn(8, 3, 64, 64), torch.randint(1000, (8,))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def loop():
        for _ in range(steps):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    def recorded(path, options):
        with TrainingRecorder(path, optimizer, quiet=True, **options):
            loop()
    loop()
    for options in ({"ledger": False}, {}, {"gradients": True}, {"digests": True}):
        with tempfile.TemporaryDirectory() as folder:
            ratios = [cpu_seconds(lambda turn=turn: recorded(os.path.join(folder, f"{turn}.jsonl"), options)) / cpu_seconds(loop) for turn in range(turns)]
        print(f"training step, ResNet-18 b8 of 64 x 64, TrainingRecorder({', '.join(f'{k}={v}' for k, v in options.items())}): {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    recording(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    training(int(sys.argv[2]) if len(sys.argv) > 2 else 7)
