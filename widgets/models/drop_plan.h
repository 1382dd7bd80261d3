// What files dropped on the window would be used as.
#pragma once

#include <QString>
#include <QStringList>

namespace ulpscope::models {

struct DropPlan {
  QString session, model, inputs, labels, classNames;  // paths; empty: none among them
  QString recipe;  // of a training; not beside a model, inputs or a session, which need none
  QStringList unused;
  bool isEmpty() const { return session.isEmpty() && model.isEmpty() && inputs.isEmpty() && labels.isEmpty() && classNames.isEmpty() && recipe.isEmpty(); }
  QString text() const;  // "model.ts: model · inputs.h5: inputs"
};

// By name and ending only; a folder stands for the files directly in it, one with a preprocessing.json is inputs itself (so is that file). Of several of a kind the first, by name, is used.
DropPlan dropPlan(const QStringList& paths);

}  // namespace ulpscope::models
