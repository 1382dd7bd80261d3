// Which reader a path of inputs needs: decided by what lies there, never by its name.
#pragma once

#include "core/base/error.h"

#include <string>

namespace ulpscope::storage {

enum class InputKind {
  hdf5,         // plain datasets, or NXdata
  npy,          // numpy.save
  npz,          // numpy.savez, numpy.savez_compressed
  safetensors,
  holder,       // a TorchScript archive: a module that only holds tensors, as `ulpscope snippet` saves it
  images,       // a folder of them
};

// A folder with a preprocessing.json.
bool isImageFolder(const std::string& path);

// Error kind input: nothing there, no plain file, empty; a pickle (torch.save, pickle.dump), with the line of Python that converts it to npz;
// anything else. A folder counts as one of images.
base::Result<InputKind> inputKindOf(const std::string& path);

}  // namespace ulpscope::storage
