#include "widgets/models/run_form.h"

#include "core/session/demo.h"
#include "core/storage/input_kind.h"
#include "widgets/models/text.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>

namespace ulpscope::models {
namespace {

QString tr(const char* text) { return QString::fromUtf8(text); }

QString pathProblem(const QString& path, const char* missing) {
  if (path.isEmpty()) return tr(missing);
  const QFileInfo file(path);
  if (!file.exists()) return tr("does not exist");
  if (!file.isFile()) return tr("is no file");
  return file.isReadable() ? QString() : tr("cannot be read: you lack the permission");
}

QString inputsProblem(const QString& path) {
  if (storage::isImageFolder(core(path))) return {};
  if (QFileInfo(path).isDir()) return tr("is a folder without a preprocessing.json, which says what is done to its images");
  return pathProblem(path, "on which inputs? A fixed set of samples, best with labels");
}

QString sessionProblem(const RunForm& form) {
  if (form.sessionPath.isEmpty()) return tr("where is the session to be written?");
  if (!form.sessionPath.endsWith(QStringLiteral(".ulps"))) return tr("ends in .ulps");
  const QFileInfo file(form.sessionPath);
  if (form.request.append) return {};
  if (file.exists() || file.isSymLink()) return tr("exists already: name another, or open it and run again there");
  const QFileInfo folder(file.absolutePath());
  if (!folder.isDir()) return QStringLiteral("%1 is no folder").arg(file.absolutePath());
  return folder.isWritable() ? QString() : QStringLiteral("no session can be written in %1").arg(file.absolutePath());
}

std::vector<std::string> coreList(const QString& text) {
  std::vector<std::string> list;
  for (const QString& item : listOf(text)) list.push_back(core(item));
  return list;
}

QString joined(const std::vector<std::string>& list) {
  QStringList items;
  for (const std::string& item : list) items << qt(item);
  return items.join(QStringLiteral(", "));
}

QString modeProblem(const session::RunSettings& settings) {
  const bool isNative = settings.mode == session::Mode::native;
  if (isNative && settings.policyTable.rfind("cuda", 0) == 0) return tr("native runs LibTorch's own CPU autocast: choose a cpu policy, or emulated");
  return {};
}

}  // namespace

const std::vector<RunFieldText>& runFieldTexts() {
  using enum RunField;
  static const std::vector<RunFieldText> texts{
      {model, tr("Model"), tr("TorchScript file (.ts, .pt) of the FP32 model")},
      {inputs, tr("Inputs"), tr("HDF5, npz, npy or safetensors with arrays named as forward's arguments, a TorchScript module that holds tensors, or a folder of images with a preprocessing.json")},
      {labels, tr("Labels"), tr("true classes or values, one a line; empty: those of the inputs file")},
      {classNames, tr("Class names"), tr("one a line; empty: those of the inputs file")},
      {session, tr("Session"), tr("where results are written (.ulps)")},
      {decision, tr("Decision"), tr("how a sample's decision is read off the output; none: errors only")},
      {decisionOutput, tr("of output"), tr("its name; empty: the only one, or the first floating one")},
      {tie, tr("Ties"), tr("equal best scores: the first wins (as argmax), a tie is a decision of its own, or the run is refused")},
      {autocast, tr("Autocast to"), tr("FP16: 10 bits, largest 65,504; BF16: 7 bits, range of FP32")},
      {policy, tr("Policy"), tr("whose op lists; cuda: the newest PyTorch known here")},
      {mode, tr("Mode"), tr("emulated: what that autocast does, on any CPU; native: this LibTorch's own CPU autocast")},
      {fp32, tr("Keep in FP32"), tr("module paths or globs, inputs cast to float32; more can be chosen in the tree")},
      {disable, tr("Autocast off in"), tr("module paths or globs, inputs as they are")},
      {batchSize, tr("Batch size"), tr("samples a forward; default 32")},
      {seed, tr("Seed"), tr("of the model's random ops; default 0")},
      {trainMode, tr("Train mode"), tr("dropout and batch statistics as in training; default off (eval)")},
      {observe, tr("Observe"), tr("full: every op and what it adds; stats: every op; outputs: outputs and decisions only, fast")},
      {capture, tr("Capture"), tr("activations stored in full, for the inspector's maps: module paths or globs, * is all")},
      {captureBudget, tr("Capture budget"), tr("at most so many MiB of them (256 at first, 1,024 in `ulpscope run`); what is left out is listed")},
      {noiseFloor, tr("Noise floor"), tr("one more FP32 run in another order tells flips of FP32 itself apart; default on")},
      {referee, tr("Referee"), tr("measures both runs against one more in float64; default off")},
      {verifyProbe, tr("Probe check"), tr("checks that observing changes no output; default on here")},
      {castCache, tr("Cast cache"), tr("parameters are cast once a forward, as PyTorch does; default on")},
      {allowNonfinite, tr("Intended NaN or inf"), tr("where FP32 itself may have them: input:NAME, parameter:NAME, a module or an op site")},
  };
  return texts;
}

const RunFieldText& textOf(RunField field) { return runFieldTexts()[static_cast<std::size_t>(field)]; }

bool isSameFile(const QString& a, const QString& b) {
  const QString file = QFileInfo(a).canonicalFilePath();  // empty: does not exist
  return !file.isEmpty() && file == QFileInfo(b).canonicalFilePath();
}

QStringList listOf(const QString& text) {
  static const QRegularExpression separators(QStringLiteral("[,\\n]"));
  QStringList items;
  for (const QString& item : text.split(separators))
    if (!item.trimmed().isEmpty()) items << item.trimmed();
  return items;
}

RunForm formOf(const session::RunRequest& request) {
  RunForm form;
  form.request = request;
  form.model = qt(request.modelPath);
  form.inputs = qt(request.inputsPath);
  form.labels = qt(request.labelsPath);
  form.classNames = qt(request.classNamesPath);
  form.sessionPath = qt(request.sessionPath);
  form.decision = qt(request.settings.decision.text());
  form.fp32 = joined(request.settings.fp32);
  form.disable = joined(request.settings.disable);
  form.capture = joined(request.settings.capture);
  form.allowNonfinite = joined(request.settings.allowNonfinite);
  return form;
}

std::map<RunField, QString> problemsOf(const RunForm& form) {
  std::map<RunField, QString> problems;
  const auto note = [&problems](RunField field, const QString& problem) {
    if (!problem.isEmpty()) problems.emplace(field, problem);
  };
  note(RunField::model, pathProblem(form.model, "which model? A TorchScript file; \"Export from Python…\" shows how to write one"));
  note(RunField::inputs, inputsProblem(form.inputs));
  if (isSameFile(form.model, form.inputs)) note(RunField::inputs, tr("is the model's own file: choose the file that holds the samples"));
  if (!form.labels.isEmpty()) note(RunField::labels, pathProblem(form.labels, ""));
  if (!form.classNames.isEmpty()) note(RunField::classNames, pathProblem(form.classNames, ""));
  note(RunField::session, sessionProblem(form));
  const auto rule = session::parseDecisionRule(core(form.decision));
  if (!rule.ok()) note(RunField::decision, qt(rule.error().message()));
  note(RunField::mode, modeProblem(form.request.settings));
  if (form.request.settings.observe == session::Observe::outputs && !listOf(form.capture).isEmpty())
    note(RunField::capture, tr("observing outputs only looks at no op, so there is nothing to capture: observe stats or full"));
  return problems;
}

session::RunRequest requestOf(const RunForm& form) {
  session::RunRequest request = form.request;
  const auto absolute = [](const QString& path) { return path.isEmpty() ? std::string() : core(QDir::cleanPath(QFileInfo(path).absoluteFilePath())); };
  request.modelPath = absolute(form.model);
  request.inputsPath = absolute(form.inputs);
  request.labelsPath = absolute(form.labels);
  request.classNamesPath = absolute(form.classNames);
  request.sessionPath = absolute(form.sessionPath);
  request.settings.decision = session::parseDecisionRule(core(form.decision)).value();
  request.settings.fp32 = coreList(form.fp32);
  request.settings.disable = coreList(form.disable);
  request.settings.capture = coreList(form.capture);
  request.settings.allowNonfinite = coreList(form.allowNonfinite);
  return request;
}

QString proposedSession(const QString& model, base::DType autocast) {
  if (model.isEmpty()) return {};
  const QFileInfo file(model);
  const QString stem = file.completeBaseName() + (autocast == base::DType::bfloat16 ? QStringLiteral("-bf16") : QStringLiteral("-fp16"));
  return qt(session::freeSessionPath(core(file.absolutePath()), core(stem)));
}

}  // namespace ulpscope::models
