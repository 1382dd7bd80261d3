// Private: the pictures of a report, from the geometry that the window draws by.
#pragma once

#include "core/render/headroom.h"
#include "core/report/flip_statement.h"
#include "core/report/sections.h"

namespace ulpscope::report {

// Precondition: the content has metrics and the run has op sites.
Figure heatmapFigure(const Teller& teller);
// Candidate margin less reference margin against the reference's margin. Precondition: a rule with margins, decided samples.
Figure marginFigure(const Teller& teller, const FlipFacts& facts);
Figure headroomFigure(const Teller& teller, const std::vector<render::HeadroomSite>& sites);
// Loss, scale and gradients of the recipe's trajectory. Precondition: it has a ledger.
Figure trainingFigure(const Teller& teller, const session::Training& training);
render::Drawing thumbnailDrawing(const SamplePicture& picture);

}  // namespace ulpscope::report
