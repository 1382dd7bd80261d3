// Private: what a file of ours may be made of, looked at as a whole before any of it is read.
#pragma once

#include "core/storage/h5.h"

#include <string>

namespace ulpscope::storage {

enum class Links { none, ownHeatmaps };

// Walks every group of the file. Throws h5::Failure, naming the place, for links out of it (`ownHeatmaps` lets those pass
// that a master holds for other readers), soft and user-defined links, groups that contain themselves or stand at two
// places, nesting and numbers that no writer of ours makes, external storage, virtual datasets and sizes no file holds.
// Gives the folder that the first heatmap link names ("s.ulps.d"), or nothing.
std::string refuseStrangeStructure(hid_t file, Links allowed);

}  // namespace ulpscope::storage
