#include "core/report/sample_pictures.h"

#include "core/base/hashing.h"
#include "core/session/outcome.h"
#include "core/storage/input_samples.h"

#include <filesystem>

namespace ulpscope::report {
namespace {

namespace fs = std::filesystem;

constexpr render::ThumbnailSize kMost{64, 64};

int batchAxisOf(const session::RunRecord& run, const std::string& input) {
  const auto found = run.settings.batchAxis.find(input);
  return found == run.settings.batchAxis.end() ? 0 : found->second;
}

// Empty path: `why` says what is wrong.
std::string inputsFile(const ReportSource& source, Absence& why) {
  std::error_code ignored;
  const std::string named = source.session.samples.path;
  std::string path = fs::exists(named, ignored) ? named : (fs::path(source.path).parent_path() / fs::path(named).filename()).string();
  if (named.empty() || !fs::is_regular_file(path, ignored)) {
    why = Absence::missing;
    return "";
  }
  const auto digest = base::sha256OfFile(path);
  why = !digest ? Absence::unreadable : digest.value() != source.session.samples.sha256 ? Absence::otherFile : Absence::none;
  return why == Absence::none ? path : "";
}

std::vector<std::int64_t> samplesToShow(const session::Session& session, const session::RunRecord& run) {
  std::vector<std::int64_t> samples;
  for (const session::Flip* flip : session::flipsByOutcome(run))
    if (flip->sample >= 0 && static_cast<std::size_t>(flip->sample) < session.samples.ids.size() && samples.size() < kMostPictures) samples.push_back(flip->sample);
  return samples;
}

}  // namespace

void addPictures(const ReportSource& source, const PathCutter& cutter, ReportContent& content) {
  const session::RunRecord& run = *source.session.run(source.runId);
  const std::vector<std::int64_t> samples = samplesToShow(source.session, run);
  if (samples.empty()) return;
  if (run.settings.mode == session::Mode::recorded) {
    content.noPictures = Absence::recorded;
    return;
  }
  const std::string path = inputsFile(source, content.noPictures);
  if (path.empty()) return;
  content.noPictures = Absence::unreadable;
  const auto inputs = storage::inputShapes(path);
  const int shown = inputs ? render::inputToShow(inputs.value(), run.settings.batchAxis) : -1;
  if (shown < 0) return;
  const std::string& input = inputs.value()[static_cast<std::size_t>(shown)].name;
  const auto tensors = storage::readSamples(path, {input, batchAxisOf(run, input), samples});
  if (!tensors) return;
  content.noPictures = Absence::none;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string id = cutter.cut(source.session.samples.ids[static_cast<std::size_t>(samples[i])]);
    content.pictures.push_back({id, render::thumbnailOf(tensors.value()[i], kMost, render::Theme::light), render::thumbnailOf(tensors.value()[i], kMost, render::Theme::dark)});
  }
}

}  // namespace ulpscope::report
