// Which op is to blame for a non-finite value that another one made: run once more on one sample, keeping what the ops saw. Private to
// core/engine.
#pragma once

#include "core/engine/lockstep.h"
#include "core/engine/module_returns.h"
#include "core/session/run_record.h"

#include <memory>
#include <optional>
#include <vector>

namespace ulpscope::engine {

// An observer of both runs on one sample. From the op `origin` it goes upstream along the operand that is most wrong where the result is
// non-finite (relative L2 over those elements, a whole operand where they cannot be followed), as long as it is about as wrong as what came
// of it; where that ends, the value was lost. If a clamp or an added eps before it lost its bound to rounding there, that one is to blame.
class RootCauseSearch : public MeetingObserver {
 public:
  explicit RootCauseSearch(SiteKey origin);
  ~RootCauseSearch() override;
  void meet(OpEvent& reference, OpEvent& candidate) override;
  void alone(Side, OpEvent&) override {}

  // Empty: the origin did not recur, is itself to blame, or the way back could not be followed.
  std::optional<session::RootCause> found() const;

 private:
  struct Trace;  // the ops so far
  SiteKey m_origin;
  std::unique_ptr<Trace> m_trace;
};

}  // namespace ulpscope::engine
