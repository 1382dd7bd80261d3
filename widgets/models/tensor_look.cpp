#include "widgets/models/tensor_look.h"

#include "core/analysis/element_text.h"
#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "core/base/size_text.h"
#include "widgets/models/text.h"

#include <cmath>

namespace ulpscope::models {
namespace {

analysis::TensorView viewOf(const storage::TensorPart& part) { return {part.bytes.data(), part.dtype, part.shape}; }

// The smaller of two where NaN is "none".
double smallest(double a, double b) { return std::isnan(a) || b < a ? b : a; }
double largest(double a, double b) { return std::isnan(a) || b > a ? b : a; }

QString differenceText(const analysis::ElementPair& pair) {
  if (!std::isfinite(pair.reference) || !std::isfinite(pair.candidate))
    return analysis::isNonfiniteInOne(pair) ? QStringLiteral("non-finite in one run") : QStringLiteral("the same in both");
  return pair.difference == 0 ? QStringLiteral("the same in both") : QStringLiteral("difference ") + qt(base::shortNumber(pair.difference));
}

bool isFloatingPair(const TensorLook& look) { return base::isFloating(look.parts.reference.value.dtype) && base::isFloating(look.parts.candidate.value.dtype); }

}  // namespace

analysis::ReferenceView TensorLook::reference() const { return analysis::ReferenceView(viewOf(parts.reference.value)); }
analysis::CandidateView TensorLook::candidate() const { return analysis::CandidateView(viewOf(parts.candidate.value)); }

render::Shape TensorLook::indexOf(std::int64_t element) const {
  const storage::TensorPart& part = parts.reference.value;
  render::Shape index = render::indexOf(element, part.shape);
  if (part.sampleAxis >= 0) {
    std::int64_t& at = index[static_cast<std::size_t>(part.sampleAxis)];
    at = part.first + at * part.step;
  }
  return index;
}

std::int64_t TensorLook::mostTelling() const {
  if (!byDifference.elements.empty()) return byDifference.elements.front().element;
  return elementCount() > 0 ? 0 : -1;
}

TensorLookPointer makeTensorLook(RunPointer run, const storage::LookRequest& request, storage::SiteLook parts) {
  auto look = std::make_shared<TensorLook>();
  const base::DType low = run->run->settings.autocast;
  look->run = std::move(run);
  look->site = request.site;
  look->sample = request.sample;
  look->parts = std::move(parts);
  const analysis::ReferenceView reference = look->reference();
  const analysis::CandidateView candidate = look->candidate();
  look->referenceRange = analysis::rangeOf(reference.value);
  look->candidateRange = analysis::rangeOf(candidate.value);
  look->referenceExponents = analysis::exponentHistogram(reference.value);
  look->candidateExponents = analysis::exponentHistogram(candidate.value);
  look->byDifference = analysis::worstElements(reference, candidate, {analysis::WorstBy::difference, low});
  look->byUlp = analysis::worstElements(reference, candidate, {analysis::WorstBy::ulp, low});
  return look;
}

TensorPicturePointer makeTensorPicture(TensorLookPointer look, const render::SliceChoice* choice) {
  const render::Shape& shape = look->shape();
  const render::TensorSlice slice(shape, choice ? render::fitted(*choice, shape) : render::defaultSlice(shape));
  const session::ValueRange &a = look->referenceRange.range, &b = look->candidateRange.range;
  return std::make_shared<const TensorPicture>(TensorPicture{look, slice, render::tensorMaps(slice, look->reference(), look->candidate()),
                                                             render::valueScale(smallest(a.min, b.min), largest(a.max, b.max), analysis::typicalMagnitude(look->referenceExponents)),
                                                             render::differenceScale(look->byDifference.maxDifference)});
}

QString elementLine(const TensorLook& look, std::int64_t element) {
  if (element < 0 || element >= look.elementCount()) return {};
  const analysis::ElementPair pair = render::pairAt(look.reference(), look.candidate(), element);
  QString line = QStringLiteral("%1 · FP32 %2 · AMP %3 · %4")
                     .arg(qt(render::indexText(look.indexOf(element))), qt(analysis::elementText(look.reference().value, element)),
                          qt(analysis::elementText(look.candidate().value, element)), differenceText(pair));
  const bool hasUlps = isFloatingPair(look) && std::isfinite(pair.reference) && std::isfinite(pair.candidate);
  if (hasUlps) line += QStringLiteral(" · %1 ULP").arg(qt(base::groupedInteger(base::ulpDistance(look.run->run->settings.autocast, pair.reference, pair.candidate))));
  return line;
}

QString worstElementLine(const TensorLook& look, analysis::WorstBy by) {
  if (look.elementCount() == 0) return QStringLiteral("no elements");
  const bool byUlp = by == analysis::WorstBy::ulp;
  const auto& elements = (byUlp ? look.byUlp : look.byDifference).elements;
  if (elements.empty()) return byUlp ? QStringLiteral("no element is an ULP off") : QStringLiteral("no element differs");
  return QStringLiteral("worst element, by %1: %2").arg(byUlp ? QStringLiteral("ULP") : QStringLiteral("difference"), elementLine(look, elements.front().element));
}

QString lookLine(const TensorLook& look) {
  const auto& ids = look.run->session->samples.ids;
  const storage::TensorPart& part = look.parts.reference.value;
  const QString whose = part.sampleAxis >= 0 ? QStringLiteral("sample ") + qt(ids[static_cast<std::size_t>(look.sample)])
                                             : QStringLiteral("whole batch %1 (its samples could not be told apart)").arg(look.parts.batch + 1);
  const QString checked = look.parts.verified ? QStringLiteral("checksum verified") : QStringLiteral("checksum not looked at");
  return QStringLiteral("%1 · %2 → %3 · %4 · %5")
      .arg(whose, qt(base::name(part.dtype)), qt(base::name(look.parts.candidate.value.dtype)), qt(render::indexText(part.shape)), checked);
}

NothingStored nothingStored(const LoadedRun& run, std::int64_t site) {
  if (site < 0) return {QStringLiteral("No op site is selected."), false};
  const storage::StoredSite stored = storage::storedSite(*run.run, site);
  switch (stored.kind) {
    case storage::StoredSite::Kind::captured:
    case storage::StoredSite::Kind::output: return {};
    case storage::StoredSite::Kind::leftOut:
      return {QStringLiteral("Not stored: it would have taken %1, and the capture budget of %2 was used up.")
                  .arg(qt(base::sizeText(run.run->capture->leftOut[stored.number].bytes)), qt(base::sizeText(run.run->capture->budget))),
              false};
    case storage::StoredSite::Kind::nothing: break;
  }
  if (!run.run->sites[static_cast<std::size_t>(site)].viewOf.empty()) return {QStringLiteral("A view of another tensor: select the op that made it."), false};
  return {QStringLiteral("The values of this op site were not captured in %1.").arg(run.shortName()), true};
}

std::int64_t sampleToShow(const LoadedRun& run, std::int64_t site, std::int64_t selected) {
  if (selected >= 0) return selected;
  const std::int64_t worst = site >= 0 ? run.run->sites[static_cast<std::size_t>(site)].worstSample : -1;
  if (worst >= 0) return worst;
  const auto& ids = run.session->samples.ids;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (run.run->ran(ids[i])) return static_cast<std::int64_t>(i);
  return 0;
}

}  // namespace ulpscope::models
