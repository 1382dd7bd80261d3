// One sample of an op output in both runs, and what there is to say of it: read and worked out once, shared, never changed.
#pragma once

#include "core/analysis/exponent_histogram.h"
#include "core/analysis/worst_elements.h"
#include "core/render/tensor_map.h"
#include "core/storage/site_look.h"
#include "widgets/models/loaded_run.h"

namespace ulpscope::models {

struct TensorLook {
  RunPointer run;
  std::int64_t site = -1;
  std::int64_t sample = 0;  // index into the session's samples
  storage::SiteLook parts;
  analysis::RangeSummary referenceRange, candidateRange;
  analysis::ExponentHistogram referenceExponents, candidateExponents;
  analysis::WorstElements byDifference, byUlp;

  analysis::ReferenceView reference() const;  // borrowed from parts
  analysis::CandidateView candidate() const;
  const render::Shape& shape() const { return parts.reference.value.shape; }
  std::int64_t elementCount() const { return reference().value.elementCount(); }
  // In the stored tensor, as h5py would be asked for it.
  render::Shape indexOf(std::int64_t element) const;
  // The first of the worst, else the first of all; -1: no elements.
  std::int64_t mostTelling() const;
};
using TensorLookPointer = std::shared_ptr<const TensorLook>;

// Works out all but `parts`, which are given. low: the run's low format, for ULPs.
TensorLookPointer makeTensorLook(RunPointer run, const storage::LookRequest& request, storage::SiteLook parts);

// A look cut into its picture.
struct TensorPicture {
  TensorLookPointer look;
  render::TensorSlice slice;
  render::TensorMaps maps;
  render::ValueScale values, difference;
};
using TensorPicturePointer = std::shared_ptr<const TensorPicture>;
// choice: of a slice shown before, brought into this shape; nullptr: the default one.
TensorPicturePointer makeTensorPicture(TensorLookPointer look, const render::SliceChoice* choice);

// "[3, 17] · FP32 1.25 · AMP 1.2497 · difference -3e-04 · 2 ULP".
QString elementLine(const TensorLook& look, std::int64_t element);
// "worst element, by difference: [3, 17] · FP32 1.25 · ..."; that none differs, or that there is none.
QString worstElementLine(const TensorLook& look, analysis::WorstBy by);
// "sample c · float32 → float16 · [64, 56, 56] · checksum verified".
QString lookLine(const TensorLook& look);

// Why there is nothing to show of a site, in one line; empty: it was stored. canCapture: running again with the module captured helps.
struct NothingStored {
  QString why;
  bool canCapture = false;
};
NothingStored nothingStored(const LoadedRun& run, std::int64_t site);
// The sample to look at: the selected one, else the site's worst, else the first that ran.
std::int64_t sampleToShow(const LoadedRun& run, std::int64_t site, std::int64_t selected);

}  // namespace ulpscope::models
