// Private: arrays where NeXus puts them: a group of class NXdata whose attributes `signal` and `auxiliary_signals` name its datasets
// (manual.nexusformat.org, NXdata).
#pragma once

#include "core/storage/h5.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// A dataset, wherever it is linked from: `leaf` is its own name in `parent`.
struct LinkedDataset {
  std::string name;
  h5::Group parent;
  std::string leaf;
};

struct NexusData {
  std::string place;  // "/entry/data"
  h5::Group group;
  std::vector<LinkedDataset> signals;  // the signal first
};

// Links within the file are followed by us, never by HDF5; those out of it throw h5::Failure.
// The group that the chain of `default` attributes leads to from the root. Nothing: it leads to no NXdata.
std::optional<NexusData> defaultNexusData(hid_t file);
// The only group of class NXdata in the file; several throw h5::Failure. Nothing: there is none.
std::optional<NexusData> onlyNexusData(hid_t file);

}  // namespace ulpscope::storage
