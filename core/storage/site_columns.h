// Private: the op sites of a run as columns of an HDF5 group, one entry a site in execution order (FORMAT.md, "A run").
#pragma once

#include "core/session/site_summary.h"
#include "core/storage/h5_data.h"

#include <vector>

namespace ulpscope::storage {

void writeSiteColumns(hid_t group, const std::vector<session::SiteSummary>& sites);
// Fails when a column is missing, of another kind or length, or holds a word that this version does not know.
// format: of the file, as its header says; 2 has no operands.
std::vector<session::SiteSummary> readSiteColumns(hid_t group, int format);

}  // namespace ulpscope::storage
