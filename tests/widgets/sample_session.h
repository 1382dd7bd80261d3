// A small made-up session on disk: root with block.fc1, block.fc2, block.norm and head; four samples, c is bad.
// fc2 overflows (origin), norm and head follow (consequence); sample b flips.
#pragma once

#include "core/session/session.h"
#include "core/storage/session_store.h"
#include "widgets/models/loaded_run.h"

#include <QString>
#include <QTemporaryDir>

#include <functional>

namespace ulpscope::testing {

enum class Sick { yes, no };

session::Session sampleSession();
session::RunRecord sampleRun(Sick sick);
storage::RunMetrics sampleMetrics(Sick sick);
// In memory, run 1 sick.
models::RunPointer loadedSample(Sick sick);

// Writes the session with one run (sick) or two (sick, then clean with block.fc2 in FP32).
QString writeSample(const QTemporaryDir& folder, int runs);

// Runs the event loop until the condition holds; false after the time limit.
bool waitFor(const std::function<bool()>& condition, int limitMs = 20000);

}  // namespace ulpscope::testing
