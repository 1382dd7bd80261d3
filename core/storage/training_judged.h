// A training of a session, held against the criteria that its trainings are judged by now.
#pragma once

#include "core/session/session.h"
#include "core/session/training.h"

#include <string>

namespace ulpscope::storage {

struct JudgedTraining {
  session::Training training;                     // its verdict by the last of:
  std::vector<session::CriteriaRevision> locked;
};
// Errors: inconclusive where no recipe of the session had criteria; input where their text was changed after the lock; as readTraining's.
base::Result<JudgedTraining> judgedTraining(const std::string& masterPath, const session::Session& session, int number);

}  // namespace ulpscope::storage
