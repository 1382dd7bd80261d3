#include "core/storage/training_judged.h"

#include "core/analysis/training_verdict.h"
#include "core/storage/training_store.h"

namespace ulpscope::storage {

using base::Error;
using base::ErrorKind;

base::Result<JudgedTraining> judgedTraining(const std::string& masterPath, const session::Session& session, int number) {
  JudgedTraining judged;
  judged.locked = lockedTrainingCriteria(masterPath, session);
  if (judged.locked.empty())
    return Error{ErrorKind::inconclusive, "has no criteria for its trainings: no recipe of them had any", masterPath, "train with `criteria` in the recipe, into a session of its own"};
  for (const session::CriteriaRevision& revision : judged.locked)
    if (auto untouched = session::checkUntouched(revision); !untouched) return untouched.error().within(masterPath);
  auto training = readTraining(masterPath, session, number);
  if (!training) return training.error();
  const auto criteria = session::trainingCriteriaFromText(judged.locked.back().canonical);
  if (!criteria) return criteria.error().within(masterPath);
  session::Recipe recipe;
  recipe.criteria = criteria.value();
  judged.training = std::move(training).value();
  judged.training.verdict = analysis::judgeTraining(recipe, judged.training);
  judged.training.verdict->revision = judged.locked.back().number;
  return judged;
}

}  // namespace ulpscope::storage
