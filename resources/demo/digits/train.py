#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself, and untrained.ts, from which training.json starts: train.py [SEED]

Data: the 8x8 handwritten digits that Debian's python3-sklearn ships (sklearn.datasets.load_digits), which are the test
part of "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, UCI Machine Learning Repository,
https://doi.org/10.24432/C50P49, CC BY 4.0; pixels divided by 16. 597 digits train, the other 1,200 are held out.
The same seed gives the same weights on the same machine and PyTorch; another CPU may round the training differently.
"""
import os
import sys

import h5py
import numpy
import sklearn.datasets
import torch

from network import DigitNet

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from making import scripted  # noqa: E402

SEED, EPOCHS, TRAINING_SAMPLES = 8, 16, 597


def split():
    digits = sklearn.datasets.load_digits()
    images = (digits.images / 16).astype(numpy.float32)[:, None]
    order = numpy.random.RandomState(0).permutation(len(images))
    return images, digits.target, order[:TRAINING_SAMPLES], numpy.sort(order[TRAINING_SAMPLES:])


def train(images, labels, seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = DigitNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
    return model.eval()


def write_untrained(seed):
    torch.manual_seed(seed)
    torch.jit.save(scripted(DigitNet(), HERE), os.path.join(HERE, "untrained.ts"))


def write_inputs(path, images, labels, indices, scores):
    with h5py.File(path, "w") as file:
        file.create_dataset("image", data=images, compression="gzip", shuffle=True)
        file["sample_ids"] = [f"digit-{index:04d}" for index in indices]
        file["labels"] = labels.astype(numpy.int64)
        file["class_names"] = [str(digit) for digit in range(10)]
        file.create_dataset("expected/output", data=scores)


def main(arguments):
    images, labels, training, held_out = split()
    seed = int(arguments[1]) if len(arguments) > 1 else SEED
    model = train(torch.from_numpy(images[training]), torch.from_numpy(labels[training]), seed)
    with torch.no_grad():
        scores = model(torch.from_numpy(images[held_out])).numpy()
    torch.jit.save(scripted(model, HERE), os.path.join(HERE, "model.ts"))
    write_untrained(seed)
    write_inputs(os.path.join(HERE, "inputs.h5"), images[held_out], labels[held_out], held_out, scores)
    print(f"seed {seed}: {100 * (scores.argmax(1) == labels[held_out]).mean():.1f} % of {len(held_out)} held-out digits")


if __name__ == "__main__":
    main(sys.argv)
