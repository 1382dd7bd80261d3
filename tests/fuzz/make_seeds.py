"""The seed corpus of the readers' fuzz targets: make_seeds.py FOLDER makes FOLDER/READER/NAME, a few hundred bytes each."""
import io
import json
import os
import pickle
import struct
import sys
import warnings

import h5py
import numpy as np
import torch
from PIL import Image

ARRAYS = {
    "f4": np.arange(6, dtype="f4").reshape(3, 2), "f2_fortran": np.asfortranarray(np.arange(6, dtype="f2").reshape(3, 2)),
    "big": np.arange(4, dtype=">i4"), "bool": np.array([True, False]), "text": np.array(["a", "b\u00e9"]), "bytes": np.array([b"ab", b"c"]),
    "scalar": np.array(1.5), "empty": np.zeros((0, 3), "f8"), "u8": np.array([1, 2], "u8"), "complex": np.array([1 + 2j], ">c8"),
}
HOW = {"resize": {"size": 6, "filter": "bilinear"}, "crop": [4, 5], "channels": "BGR", "divide": 255, "mean": [0.1, 0.2, 0.3], "std": [1, 2, 3],
       "layout": "NHWC", "dtype": "bfloat16", "exif_orientation": "ignore", "input": "x"}


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npy_seeds():
    seeds = {name: npy(array) for name, array in ARRAYS.items()}
    for version in (2, 3):
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.lib.format.write_array(buffer, ARRAYS["f4"], (version, 0))
        seeds[f"version{version}"] = buffer.getvalue()
    seeds["bfloat16"] = npy(ARRAYS["f2_fortran"].view("u2").view("V2").copy()).replace(b"|V2", b"<V2")
    return seeds


def npz_seeds():
    seeds = npy_seeds()
    for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        buffer = io.BytesIO()
        save(buffer, x=ARRAYS["f4"], labels=np.arange(3), sample_ids=np.array(["a", "b", "c"]), **{"expected/out": np.zeros(3)})
        seeds[name] = buffer.getvalue()
    return seeds


def safetensors_seeds():
    header = {"__metadata__": {"sample_ids": '["a", "b"]', "preprocessing": "none"}, "x": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
              "labels": {"dtype": "I64", "shape": [2], "data_offsets": [16, 32]}}
    text = json.dumps(header).encode()
    fills = {"only": {"x": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]}}, "two": {"x": {"dtype": "U8", "shape": [], "data_offsets": [0, 1]},
             "m": {"dtype": "BOOL", "shape": [63], "data_offsets": [1, 64]}}}
    return {"whole": struct.pack("<Q", len(text)) + text + np.arange(8, dtype="i4").tobytes(), **{name: json.dumps(fill).encode() for name, fill in fills.items()}}


def h5(fill):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="earliest") as file:
        fill(file)
    return buffer.getvalue()


def plain(file):
    file["x"] = ARRAYS["f4"]
    file["labels"] = np.arange(3)
    file["sample_ids"] = ["a", "b", "c"]
    file.create_dataset("z", data=np.zeros((3, 4), "f2"), chunks=(1, 4), compression="gzip")


def nexus(file):
    file.attrs["default"] = "entry"
    data = file.create_group("entry/data")
    file["entry"].attrs.update({"NX_class": "NXentry", "default": "data"})
    data.attrs.update({"NX_class": "NXdata", "signal": "image", "auxiliary_signals": ["other"]})
    file["stored"] = ARRAYS["f4"]
    file.move("stored", "entry/stored")
    data["image"] = h5py.SoftLink("/entry/stored")
    data["other"] = np.arange(3, dtype="i2")


class Holder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("x", torch.arange(6.).view(3, 2))
        self.register_buffer("labels", torch.arange(3))


def holder_seeds():
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Holder()), buffer)
    whole = buffer.getvalue()
    with __import__("zipfile").ZipFile(io.BytesIO(whole)) as archive:
        data = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        return {"whole": whole, "data": archive.read(data)}


def image(save_as, mode="RGB", **options):
    buffer = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 256, (9, 12, 3), dtype="u1")
    Image.fromarray(pixels).convert(mode).save(buffer, save_as, **options)
    return buffer.getvalue()


def image_seeds():
    exif = Image.Exif()
    exif[0x0112] = 6
    return {"rgb.png": image("PNG"), "palette.png": image("PNG", "P"), "grey.png": image("PNG", "L"), "alpha.png": image("PNG", "RGBA"), "bits.png": image("PNG", "1"),
            "turned.png": image("PNG", exif=exif), "jpeg": image("JPEG"), "grey.jpeg": image("JPEG", "L"), "progressive.jpeg": image("JPEG", progressive=True),
            "turned.jpeg": image("JPEG", exif=exif), "cmyk.jpeg": image("JPEG", "CMYK"), "how": json.dumps(HOW).encode(), "least": b'{"channels": "grey", "layout": "NCHW", "dtype": "uint8"}'}


def other_seeds():
    new, legacy = io.BytesIO(), io.BytesIO()
    torch.save({"x": torch.zeros(2)}, new)
    torch.save([torch.zeros(2)], legacy, _use_new_zipfile_serialization=False)
    return {"labels": b"1\n2\r\n-3\n", "targets": b"0.5\n1e3\n", "names": "cat\nd\u00f6g\n".encode(), "torch": new.getvalue(), "legacy": legacy.getvalue(),
            "pickle": pickle.dumps({"x": [1, 2]}), "json": b'{"a": 1}'}


def main(folder):
    seeds = {"npy": npy_seeds(), "npz": npz_seeds(), "safetensors": safetensors_seeds(), "hdf5": {"plain": h5(plain), "nexus": h5(nexus)},
             "holder": holder_seeds(), "images": image_seeds(), "other": other_seeds()}
    for reader, files in seeds.items():
        os.makedirs(os.path.join(folder, reader), exist_ok=True)
        for name, content in files.items():
            with open(os.path.join(folder, reader, name), "wb") as file:
                file.write(content)


if __name__ == "__main__":
    main(sys.argv[1])
