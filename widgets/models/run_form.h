// The run sheet's content: what was chosen and typed, what is wrong with it, and the request it makes.
#pragma once

#include "core/session/settings.h"

#include <QString>
#include <QStringList>

#include <map>
#include <vector>

namespace ulpscope::models {

enum class RunField {
  model, inputs, labels, classNames, session, decision, decisionOutput, tie, autocast, policy, mode, fp32, disable, batchSize, seed, trainMode, observe, capture,
  captureBudget, noiseFloor, referee, verifyProbe, castCache, allowNonfinite
};

struct RunFieldText {
  RunField field;
  QString name;     // "Batch size"
  QString meaning;  // one sentence, with the default where it has one
};
// In the order of the sheet.
const std::vector<RunFieldText>& runFieldTexts();
const RunFieldText& textOf(RunField field);

struct RunForm {
  session::RunRequest request;  // what is chosen: settings, append, criteria, explored. Its paths, decision and lists come from the texts below
  QString model, inputs, labels, classNames, sessionPath;
  QString decision = QStringLiteral("none");  // as --decision takes it
  QString fp32, disable, capture, allowNonfinite;  // separated by commas or line ends
};

RunForm formOf(const session::RunRequest& request);

// By field, in words that say what, which and what to do; empty: it can run. Looks at the disk, does not open the files.
std::map<RunField, QString> problemsOf(const RunForm& form);
// Precondition: problemsOf() is empty.
session::RunRequest requestOf(const RunForm& form);

// "/data/model-fp16.ulps" beside the model, with a number where that exists already.
QString proposedSession(const QString& model, base::DType autocast);
bool isSameFile(const QString& a, const QString& b);  // one file under two names counts; false for what does not exist
QStringList listOf(const QString& text);  // at commas and line ends, trimmed, without empty ones

}  // namespace ulpscope::models
