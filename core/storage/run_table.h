// Private: a RunRecord as an HDF5 group: sites, flips and decisions as columns, the rest as JSON.
#pragma once

#include "core/session/run_record.h"
#include "core/storage/h5_data.h"

namespace ulpscope::storage {

// Writes `record`, `sites`, `flips` and `decisions` into `entry`.
void writeRun(hid_t entry, const session::RunRecord& run);
// Fails when a column is missing, of another length, or the JSON is damaged.
// format: of the file that it stands in, as its header says.
session::RunRecord readRun(hid_t entry, int format);

}  // namespace ulpscope::storage
