#include "core/report/sample_pictures.h"

#include "core/model/positional_arguments.h"
#include "core/session/outcome.h"
#include "core/storage/input_digest.h"
#include "core/storage/input_samples.h"

#include <algorithm>
#include <filesystem>

namespace ulpscope::report {
namespace {

namespace fs = std::filesystem;

constexpr render::ThumbnailSize kMost{64, 64};

// The axis that counts the samples of the input at `place` in the file. One that nobody named is forward's argument at that place.
int sampleAxis(const session::Session& session, const session::RunRecord& run, const std::string& name, std::size_t place) {
  const std::vector<std::string> names = model::positionalArguments(session.model.arguments, !session.samples.labels.empty());
  const bool isNamed = std::find(names.begin(), names.end(), name) != names.end() || place >= names.size();
  const auto found = run.settings.batchAxis.find(isNamed ? name : names[place]);
  return found == run.settings.batchAxis.end() ? 0 : found->second;
}

struct ShownInput {
  std::string name;  // empty: the file holds none
  int axis = 0;
};
// The first that gives a picture, or the first of all.
ShownInput shownInput(const std::vector<storage::InputShape>& inputs, const session::Session& session, const session::RunRecord& run) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int axis = sampleAxis(session, run, inputs[i].name, i);
    std::vector<std::int64_t> shape = inputs[i].shape;
    if (axis >= 0 && axis < static_cast<int>(shape.size())) shape.erase(shape.begin() + axis);
    if (render::givesPicture(inputs[i].dtype, shape)) return {inputs[i].name, axis};
  }
  return inputs.empty() ? ShownInput() : ShownInput{inputs.front().name, sampleAxis(session, run, inputs.front().name, 0)};
}

// Empty path: `why` says what is wrong.
std::string inputsFile(const ReportSource& source, Absence& why) {
  std::error_code ignored;
  const std::string named = source.session.samples.path;
  std::string path = fs::exists(named, ignored) ? named : (fs::path(source.path).parent_path() / fs::path(named).filename()).string();
  if (named.empty() || !fs::exists(path, ignored)) {
    why = Absence::missing;
    return "";
  }
  const auto digest = storage::inputsDigest(path);
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
  const ShownInput shown = inputs ? shownInput(inputs.value(), source.session, run) : ShownInput();
  if (shown.name.empty()) return;
  const auto tensors = storage::readSamples(path, {shown.name, shown.axis, samples});
  if (!tensors) return;
  content.noPictures = Absence::none;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string id = cutter.cut(source.session.samples.ids[static_cast<std::size_t>(samples[i])]);
    content.pictures.push_back({id, render::thumbnailOf(tensors.value()[i], kMost, render::Theme::light), render::thumbnailOf(tensors.value()[i], kMost, render::Theme::dark)});
  }
}

}  // namespace ulpscope::report
