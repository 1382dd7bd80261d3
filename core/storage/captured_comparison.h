// Activations that two runs stored, held against each other.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

struct StoredRun {
  std::string masterPath;
  const session::Session& session;
  const session::RunRecord& run;
};

// One op site, candidate of A against candidate of B.
struct ComparedCapture {
  std::string site;
  double maxAbs = 0, relL2 = 0;  // NaN: nothing finite in both
  bool identical = false;        // to the last bit
  std::string note;              // why it was not compared; empty: it was
};

// Of op sites that both captured, one after another; empty: there are none. Errors as readCapture's.
base::Result<std::vector<ComparedCapture>> compareCaptures(const StoredRun& a, const StoredRun& b);

}  // namespace ulpscope::storage
