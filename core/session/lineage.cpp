#include "core/session/lineage.h"

namespace ulpscope::session {

Lineage lineageOf(const Session& explored) { return {explored.id, explored.title, explored.candidatesTried(), explored.samples.sha256, false}; }

}  // namespace ulpscope::session
