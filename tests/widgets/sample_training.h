// A training by hand: three steps of one optimizer; step 0 overflows in block.fc2 and is skipped, which halves the scale; step 1 has a loss of
// NaN. FP32 beside it does all three.
#pragma once

#include "core/session/training.h"

#include <QAbstractItemModel>
#include <QStringList>

namespace ulpscope::testing {

session::Trajectory recipeRun();
session::Training sampleTraining();
QStringList cells(const QAbstractItemModel& model, int row);  // texts of a row

}  // namespace ulpscope::testing
