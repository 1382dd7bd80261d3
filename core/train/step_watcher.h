// Who is asked between the steps of a trajectory. Private to core/train.
#pragma once

namespace ulpscope::train {

class TrajectoryRun;

// Looks at each step from between two of them. May throw StepFailure.
class StepWatcher {
 public:
  virtual ~StepWatcher() = default;
  virtual void begin(TrajectoryRun& run) = 0;     // before the first step that it takes
  virtual bool stepDone(TrajectoryRun& run) = 0;  // false: the trajectory ends here, with endEarly()'s words
};

}  // namespace ulpscope::train
