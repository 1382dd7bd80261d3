#include "widgets/models/drop_plan.h"

#include "core/storage/input_kind.h"
#include "widgets/models/text.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace ulpscope::models {
namespace {

const QString kPreprocessing = QStringLiteral("preprocessing.json");

QStringList expanded(const QStringList& paths) {
  QStringList files;
  for (const QString& path : paths) {
    if (QFileInfo(path).fileName() == kPreprocessing) {
      files << QFileInfo(path).absolutePath();  // the statement stands for the folder of images
      continue;
    }
    if (!QFileInfo(path).isDir() || storage::isImageFolder(core(path))) {
      files << path;
      continue;
    }
    for (const QFileInfo& entry : QDir(path).entryInfoList(QDir::Files | QDir::Readable, QDir::Name)) files << entry.filePath();
  }
  return files;
}

bool nameSays(const QFileInfo& file, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return file.completeBaseName().contains(QLatin1String(word), Qt::CaseInsensitive); });
}

QString* placeOf(DropPlan& plan, const QFileInfo& file) {
  if (file.isDir()) return &plan.inputs;  // of images: other folders stand for their files
  const QString ending = file.suffix().toLower();
  const auto endsIn = [&](std::initializer_list<const char*> endings) {
    return std::any_of(endings.begin(), endings.end(), [&](const char* e) { return ending == QLatin1String(e); });
  };
  if (ending == u"ulps") return &plan.session;
  if (ending == u"json") return &plan.recipe;
  if (endsIn({"txt", "csv"})) return nameSays(file, {"class", "name"}) ? &plan.classNames : nameSays(file, {"label", "target", "truth"}) ? &plan.labels : nullptr;
  if (endsIn({"h5", "hdf5", "nxs", "npz", "npy", "safetensors"})) return nameSays(file, {"label"}) ? &plan.labels : &plan.inputs;
  // TorchScript is both: a model, or a module that holds inputs.
  if (endsIn({"ts", "pt", "pth", "torchscript"})) return nameSays(file, {"input", "sample", "batch"}) ? &plan.inputs : &plan.model;
  return nullptr;
}

}  // namespace

DropPlan dropPlan(const QStringList& paths) {
  DropPlan plan;
  for (const QString& path : expanded(paths)) {
    QString* place = placeOf(plan, QFileInfo(path));
    if (place == &plan.model && !plan.model.isEmpty() && plan.inputs.isEmpty()) place = &plan.inputs;  // the second TorchScript file
    if (place != nullptr && place->isEmpty())
      *place = path;
    else
      plan.unused << path;
  }
  if (!plan.recipe.isEmpty() && !(plan.session.isEmpty() && plan.model.isEmpty() && plan.inputs.isEmpty())) plan.unused << std::exchange(plan.recipe, {});
  return plan;
}

QString DropPlan::text() const {
  QStringList parts;
  for (const auto& [path, use] : {std::pair{session, QStringLiteral("session")}, {model, QStringLiteral("model")}, {inputs, QStringLiteral("inputs")}, {labels, QStringLiteral("labels")}, {classNames, QStringLiteral("class names")}, {recipe, QStringLiteral("training recipe")}})
    if (!path.isEmpty()) parts << QFileInfo(path).fileName() + QStringLiteral(": ") + use;
  if (!unused.isEmpty()) parts << QStringLiteral("not used: %1").arg(QFileInfo(unused.front()).fileName() + (unused.size() > 1 ? QStringLiteral(" and %1 more").arg(unused.size() - 1) : QString()));
  return parts.join(QStringLiteral(" · "));
}

}  // namespace ulpscope::models
