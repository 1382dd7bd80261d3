#include "core/session/comparable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

void compare(std::vector<Difference>& found, const std::string& part, const std::string& was, const std::string& is) {
  if (was != is) found.push_back({part, was.empty() ? "none" : was.substr(0, 16), is.empty() ? "none" : is.substr(0, 16)});
}

std::string samplesText(const SampleSet& samples) { return fmt::format("{} from '{}'", samples.ids.size(), samples.ids.empty() ? "" : samples.ids.front()); }

}  // namespace

std::vector<Difference> differences(const RunSettings& a, const RunSettings& b) {
  std::vector<Difference> found;
  compare(found, "train/eval mode", a.trainMode ? "train" : "eval", b.trainMode ? "train" : "eval");
  compare(found, "the batch size", std::to_string(a.batchSize), std::to_string(b.batchSize));
  compare(found, "the seed", std::to_string(a.seed), std::to_string(b.seed));
  compare(found, "the batch axes of the inputs", nlohmann::json(a.batchAxis).dump(), nlohmann::json(b.batchAxis).dump());
  compare(found, "the device", a.device, b.device);
  return found;
}

std::vector<Difference> differences(const Session& sessionA, const RunSettings& a, const Session& sessionB, const RunSettings& b) {
  std::vector<Difference> found;
  compare(found, "the model's code", sessionA.model.fingerprint.codeSha256, sessionB.model.fingerprint.codeSha256);
  compare(found, "the model's weights", sessionA.model.fingerprint.weightsSha256, sessionB.model.fingerprint.weightsSha256);
  compare(found, "the preprocessing", sessionA.samples.preprocessing, sessionB.samples.preprocessing);
  if (sessionA.samples.ids != sessionB.samples.ids) found.push_back({"the samples", samplesText(sessionA.samples), samplesText(sessionB.samples)});
  compare(found, "the inputs file", sessionA.samples.sha256, sessionB.samples.sha256);
  for (Difference& difference : differences(a, b)) found.push_back(std::move(difference));
  return found;
}

base::Status checkComparable(const std::vector<Difference>& differences, const std::string& which) {
  if (differences.empty()) return base::success();
  const Difference& first = differences.front();
  std::string what = fmt::format("{} {}: {} before, {} now", first.part, first.part.back() == 's' ? "differ" : "differs", first.was, first.is);
  if (differences.size() > 1) {
    what += "; so do";
    for (std::size_t i = 1; i < differences.size(); ++i) what += (i > 1 ? ", " : " ") + differences[i].part;
  }
  return base::Error{base::ErrorKind::run, what, which, "compare runs of one experiment; write a new session with --session"};
}

}  // namespace ulpscope::session
