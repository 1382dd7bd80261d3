// What a scan found, for people.
#pragma once

#include "core/session/scan.h"
#include "core/session/session.h"

#include <string>

namespace ulpscope::report {

// Plain text. Of a segment: where each run crosses, the strips of disagreement with their widths, flicker, the noise floor. Around samples: how far
// the nearest flips are, and who is decided within the error. Of a plane: the share of its points that flip.
std::string scanSummary(const session::Scan& scan, const session::SampleSet& samples);

// A row a scan: number, time, title.
std::string scanListText(const session::Session& session);

}  // namespace ulpscope::report
