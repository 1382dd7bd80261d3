// Private: small pictures of the samples that flipped, from the inputs file that a session names.
#pragma once

#include "core/report/report_content.h"
#include "core/report/shareable.h"

namespace ulpscope::report {

// Fills `pictures`, or says in `noPictures` why there are none. The file is where the session says, or beside the session; one with another
// SHA-256 is not the run's.
void addPictures(const ReportSource& source, const PathCutter& cutter, ReportContent& content);

}  // namespace ulpscope::report
