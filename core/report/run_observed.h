// Private: what the summary says of a run besides its divergence: which samples, FP32's own noise, the referee, captures.
#pragma once

#include "core/session/session.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::report {

std::string lowName(const session::RunRecord& run);  // "FP16", "BF16"
std::string andMore(std::size_t total, std::size_t shown);  // "  ... and 3 more\n", or ""

// Each "" where there is nothing to say, else whole lines.
std::string subsetText(const session::RunRecord& run);                                       // of the header
std::string accumulationText(const session::RunRecord& run);                                 // "ACCUMULATION ..."
std::string decisionText(const session::Session& session, const session::RunRecord& run);    // "DECISIONS ..."
std::string noiseText(const session::RunRecord& run);                                        // "NOISE FLOOR ..."
std::string refereeText(const session::Session& session, const session::RunRecord& run);     // "REFEREE ..."
std::string captureText(const session::RunRecord& run, const std::string& sessionPath);      // "CAPTURED ..."
std::string wordsText(const session::RunRecord& run);                                        // "Words: ...": what the sections' words mean
// "50 samples", or "3 of 50 samples" of a run over some.
std::string samplesText(const session::Session& session, const session::RunRecord& run);
std::int64_t askedSamples(const session::Session& session, const session::RunRecord& run);
inline constexpr std::size_t kShownNames = 10;
// "a, b, c and 3 more".
std::string listed(const std::vector<std::string>& names);

}  // namespace ulpscope::report
