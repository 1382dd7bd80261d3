// A fixed set with one sample more, as an inputs file of its own. The set that it comes from stays as it is.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/storage/input_file.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// The set as a session has it, and where its inputs lie.
struct SampleSource {
  std::string inputsPath;  // of any kind (input_kind.h)
  const session::SampleSet& set;
  std::map<std::string, int> batchAxis;  // as RunSettings'
  std::vector<std::string> arguments = {};  // model::positionalArguments: what inputs without names are
};
struct AddedSample {
  std::string id;                  // not one of the set's
  std::string kind = "boundary";   // where the set says no kinds, its own samples become "common"
  std::vector<RawTensor> inputs;   // named as forward's arguments: one of each input that has a sample axis, that axis taken out
  std::optional<std::int64_t> label;  // what is true of it; empty: the new file has no labels
};

// Puts the sample after the set's and writes `path` (HDF5, inputs named as forward's arguments), where nothing may stand (kind usage), whole or not at all. Ids, kinds, class names, labels
// and `preprocessing` are the set's; targets and saved eager outputs are left out: there is none of the new sample. Error kind input for inputs that
// are not the set's, a sample that does not fit, an id that the set has, and inputs of over 4 GiB: they are in memory three times meanwhile.
base::Status writeWithSample(const std::string& path, const SampleSource& source, const AddedSample& sample);

}  // namespace ulpscope::storage
