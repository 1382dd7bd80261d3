// Eight samples with one of each outcome: regressed twice, wrong to wrong, fixed, without a decision under autocast or in FP32, the same
// twice. "late" has the smallest margin.
#pragma once

#include "sample_session.h"

#include <QAbstractItemModel>
#include <QStringList>

namespace ulpscope::testing {

session::RunRecord eightDecisions();
session::Session eightSamples();
models::RunPointer loadedEight();  // in memory

QStringList idsOf(const QAbstractItemModel& model);  // the first column

}  // namespace ulpscope::testing
