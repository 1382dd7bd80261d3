// Private: a list of named tensors in one group, in order and bit for bit. A name can hold anything ("a/b", "", "."), so the datasets
// are numbered and the name is an attribute.
#pragma once

#include "core/storage/h5.h"
#include "core/storage/input_file.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

// Makes the group `name`. Throws h5::Failure, naming the tensor, for a name that is not UTF-8 and for more than 32 dimensions.
void writeTensors(hid_t parent, const std::string& name, const std::vector<RawTensor>& tensors);
void writeTensors(hid_t parent, const std::string& name, const std::vector<const RawTensor*>& tensors);
// Throws h5::Failure, naming the place, unless the group holds just that.
std::vector<RawTensor> readTensors(hid_t parent, const std::string& name);

// One tensor as the dataset `place`, without an attribute for its name, which is `place` when it is read.
void writeTensor(hid_t parent, const std::string& place, const RawTensor& tensor);
RawTensor readStoredTensor(hid_t parent, const std::string& place);

// The text itself; fails where HDF5 would not give it back ("is not UTF-8").
const std::string& checkedText(const std::string& text, const std::string& which);

}  // namespace ulpscope::storage
