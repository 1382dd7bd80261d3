#include "widgets/views/run_sheet.h"

#include "core/base/number_text.h"
#include "core/storage/input_kind.h"
#include "widgets/models/site_model.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;
using models::RunField;
using models::RunForm;

constexpr int kMiB = 20;  // bits
constexpr int kDemoBudgetMiB = 256;

QString inputText(const protocol::OpenedInput& input) {
  if (input.dtype.empty()) return RunSheet::tr("%1: a constant").arg(qt(input.name));
  const QString axis = input.sampleAxis < 0 ? RunSheet::tr("shared by all samples") : RunSheet::tr("samples on axis %1").arg(input.sampleAxis);
  return QStringLiteral("%1: %2 %3, %4").arg(qt(input.name), qt(input.dtype), models::shapeText(input.shape), axis);
}

QString modelText(const model::ModelInfo& info) {
  std::int64_t parameters = 0;
  for (const model::ModuleNode& node : info.modules) parameters += node.parameterCount;
  QStringList arguments;
  for (const model::Argument& argument : info.arguments) arguments << qt(argument.name);
  return RunSheet::tr("%1: %2, %3, forward(%4)")
      .arg(info.modules.empty() ? QString() : qt(info.modules.front().typeName), qt(base::counted(static_cast<std::int64_t>(info.modules.size()), "module")),
           qt(base::counted(parameters, "parameter")), arguments.join(QStringLiteral(", ")));
}

// Whose file an error is about: it names the whole path, or the name alone, with more behind it; the longest that fits counts. What fits
// none is about what the files hold together.
RunField fieldOf(const QString& which, const RunForm& form) {
  RunField field = form.inputs.isEmpty() ? RunField::model : RunField::inputs;
  qsizetype best = 0;
  for (const auto& [candidate, path] : {std::pair{RunField::inputs, form.inputs}, {RunField::model, form.model}, {RunField::labels, form.labels}, {RunField::classNames, form.classNames}})
    for (const QString& name : {QFileInfo(path).absoluteFilePath(), QFileInfo(path).fileName()})
      if (!path.isEmpty() && name.size() > best && which.startsWith(name)) {
        field = candidate;
        best = name.size();
      }
  return field;
}

}  // namespace

RunForm RunSheet::defaults() {
  RunForm form;
  form.request.settings.verifyProbe = true;
  form.request.settings.captureBudget = std::int64_t{kDemoBudgetMiB} << kMiB;
  form.capture = QStringLiteral("*");
  return form;
}

void RunSheet::begin(Intent intent, const RunForm& form) {
  m_intent = intent;
  const bool validates = intent == Intent::validate;
  m_title->setText(validates ? tr("Validate a release: the experiment") : tr("Find what breaks"));
  m_subtitle->setText(validates ? tr("What is compared on which fixed samples. The limits come on the next sheet and are locked before the first op runs.")
                                : tr("Exploratory: everything is shown, nothing is judged. A verdict needs criteria that are locked beforehand."));
  m_goOn->setText(validates ? tr("Criteria…") : tr("Run"));
  m_sessionIsProposed = form.sessionPath.isEmpty();
  m_base = form;
  setFixed(false);
  fillPolicies();
  m_workbench.engine().warmUp();
  show(form);
}

void RunSheet::beginInSession(const RunForm& form) {
  begin(Intent::explore, form);
  m_title->setText(tr("One more run of this session"));
  m_subtitle->setText(tr("Model, inputs, batches, seed and mode of the experiment stay, or the runs could not be compared."));
  m_sessionIsProposed = false;
  setFixed(true);
  if (letMovedFilesBeFound()) m_subtitle->setText(tr("A file is no longer where it was: name its new place; it must be the same file. The rest of the experiment stays."));
  refresh();
}

// The engine holds what is named against the session's fingerprints.
bool RunSheet::letMovedFilesBeFound() {
  bool any = false;
  for (const RunField field : {RunField::model, RunField::inputs, RunField::labels, RunField::classNames}) {
    const QString path = lineEdit(field)->text();
    if (path.isEmpty() || QFileInfo(path).isFile()) continue;
    m_editors.at(field)->setEnabled(true);
    any = true;
  }
  return any;
}

void RunSheet::setFixed(bool isFixed) {
  for (const RunField field : {RunField::model, RunField::inputs, RunField::labels, RunField::classNames, RunField::session, RunField::batchSize, RunField::seed, RunField::trainMode})
    m_editors.at(field)->setEnabled(!isFixed);
}

void RunSheet::show(const RunForm& form) {
  m_isShowing = true;
  const session::RunSettings& s = form.request.settings;
  for (const auto& [field, text] : {std::pair{RunField::model, form.model}, {RunField::inputs, form.inputs}, {RunField::labels, form.labels}, {RunField::classNames, form.classNames},
                                    {RunField::session, form.sessionPath}, {RunField::decisionOutput, qt(s.decisionOutput)}, {RunField::fp32, form.fp32}, {RunField::disable, form.disable},
                                    {RunField::capture, form.capture}, {RunField::allowNonfinite, form.allowNonfinite}})
    lineEdit(field)->setText(text);
  const QString rule = form.decision.section(u':', 0, 0);
  combo(RunField::decision)->setCurrentText(rule);
  m_decisionArgument->setText(form.decision.section(u':', 1));
  combo(RunField::tie)->setCurrentText(qt(session::name(s.tie)));
  combo(RunField::autocast)->setCurrentIndex(s.autocast == base::DType::bfloat16 ? 1 : 0);
  QComboBox* policy = combo(RunField::policy);
  if (policy->findText(qt(s.policyTable)) < 0) policy->addItem(qt(s.policyTable));
  policy->setCurrentText(qt(s.policyTable));
  combo(RunField::mode)->setCurrentText(qt(session::name(s.mode)));
  combo(RunField::observe)->setCurrentText(qt(session::name(s.observe)));
  number(RunField::batchSize)->setValue(s.batchSize);
  number(RunField::captureBudget)->setValue(static_cast<int>(std::min<std::int64_t>(s.captureBudget >> kMiB, 1 << 20)));
  lineEdit(RunField::seed)->setText(QString::number(s.seed));
  for (const auto& [field, on] : {std::pair{RunField::trainMode, s.trainMode}, {RunField::noiseFloor, s.noiseFloor}, {RunField::referee, s.referee}, {RunField::verifyProbe, s.verifyProbe}, {RunField::castCache, s.castCache}})
    box(field)->setChecked(on);
  m_isShowing = false;
  m_lookProblems.clear();
  m_facts->clear();
  refresh();
  look();
}

RunForm RunSheet::form() const {
  RunForm form = m_base;
  session::RunSettings& s = form.request.settings;
  form.model = lineEdit(RunField::model)->text().trimmed();
  form.inputs = lineEdit(RunField::inputs)->text().trimmed();
  form.labels = lineEdit(RunField::labels)->text().trimmed();
  form.classNames = lineEdit(RunField::classNames)->text().trimmed();
  form.sessionPath = lineEdit(RunField::session)->text().trimmed();
  form.fp32 = lineEdit(RunField::fp32)->text();
  form.disable = lineEdit(RunField::disable)->text();
  form.capture = lineEdit(RunField::capture)->text();
  form.allowNonfinite = lineEdit(RunField::allowNonfinite)->text();
  const QString argument = m_decisionArgument->text().trimmed();
  form.decision = combo(RunField::decision)->currentText() + (argument.isEmpty() ? QString() : u':' + argument);
  s.decisionOutput = core(lineEdit(RunField::decisionOutput)->text().trimmed());
  s.tie = session::tieRuleFromName(core(combo(RunField::tie)->currentText())).value_or(session::TieRule::first);
  s.autocast = combo(RunField::autocast)->currentIndex() == 1 ? base::DType::bfloat16 : base::DType::float16;
  s.policyTable = core(combo(RunField::policy)->currentText());
  s.mode = combo(RunField::mode)->currentIndex() == 1 ? session::Mode::native : session::Mode::emulated;
  s.observe = session::observeFromName(core(combo(RunField::observe)->currentText())).value_or(session::Observe::full);
  s.batchSize = number(RunField::batchSize)->value();
  s.captureBudget = std::int64_t{number(RunField::captureBudget)->value()} << kMiB;
  s.seed = lineEdit(RunField::seed)->text().toULongLong();
  s.trainMode = box(RunField::trainMode)->isChecked();
  s.noiseFloor = box(RunField::noiseFloor)->isChecked();
  s.referee = box(RunField::referee)->isChecked();
  s.verifyProbe = box(RunField::verifyProbe)->isChecked();
  s.castCache = box(RunField::castCache)->isChecked();
  return form;
}

void RunSheet::changed() {
  if (m_isShowing) return;
  if (sender() == lineEdit(RunField::session)) m_sessionIsProposed = lineEdit(RunField::session)->text().isEmpty();
  if (m_sessionIsProposed && !m_base.request.append) {
    const QSignalBlocker quiet(lineEdit(RunField::session));
    lineEdit(RunField::session)->setText(models::proposedSession(lineEdit(RunField::model)->text().trimmed(), form().request.settings.autocast));
  }
  refresh();
}

void RunSheet::refresh() {
  std::map<RunField, QString> problems = models::problemsOf(form());
  bool isNumber = false;
  lineEdit(RunField::seed)->text().toULongLong(&isNumber);
  if (!isNumber) problems[RunField::seed] = tr("a whole number of at least 0");
  problems.insert(m_lookProblems.begin(), m_lookProblems.end());
  showProblems(problems);
  const QString rule = combo(RunField::decision)->currentText();
  m_decisionArgument->setEnabled(rule == u"argmax" || rule == u"argmin" || rule == u"topk" || rule == u"threshold");
}

QString RunSheet::meaningOf(RunField field) const {
  const bool isOpen = field == RunField::decision && combo(field)->currentText() == u"none";
  if (!isOpen) return models::textOf(field).meaning;
  const QString what = tr("none: flips will not be looked for, only errors are measured; argmax takes each sample's best class");
  return m_hasClasses ? what + tr(". These inputs have labels or class names: argmax is what they are for") : what;
}

void RunSheet::showProblems(const std::map<RunField, QString>& problems) {
  m_problems = problems;
  const plots::Theme& theme = plots::themeOf(this);
  for (const auto& [field, note] : m_notes) {
    const auto at = problems.find(field);
    const bool isBad = at != problems.end();
    // A field that nobody has filled in is no mistake yet: it says what it wants.
    const bool isOpen = isBad && (field == RunField::model || field == RunField::inputs || field == RunField::session) && lineEdit(field)->text().isEmpty();
    note->setText(!isBad ? meaningOf(field) : isOpen ? at->second : QStringLiteral("✕ ") + at->second);
    const bool isNews = field == RunField::decision && combo(field)->currentText() == u"none";
    note->setStyleSheet(QStringLiteral("color: %1;").arg((isBad && !isOpen ? theme.bad : isNews ? theme.text : theme.muted).name()));
  }
  m_goOn->setEnabled(problems.empty() && !m_workbench.isRunning());
  if (m_workbench.isRunning())
    m_summary->setText(tr("A run is going on; wait for it or cancel it (Shift+F5)."));
  else if (problems.empty())
    m_summary->setText((m_intent == Intent::validate ? tr("Next: the limits.") : tr("Ready.")) +
                       (combo(RunField::decision)->currentText() == u"none" ? tr(" Flips will not be looked for: no decision is chosen.") : QString()));
  else
    m_summary->setText(tr("%1: %2").arg(models::textOf(problems.begin()->first).name, problems.begin()->second));
}

// Asks the engine, once both files are there and nobody has typed for a moment.
void RunSheet::look() {
  m_lookProblems.clear();
  const RunForm now = form();
  const bool hasModel = QFileInfo(now.model).isFile();
  if (!hasModel || m_workbench.isRunning()) {
    m_facts->clear();
    return refresh();
  }
  session::RunRequest question;
  question.modelPath = core(QFileInfo(now.model).absoluteFilePath());
  if ((QFileInfo(now.inputs).isFile() || storage::isImageFolder(core(now.inputs))) && !models::isSameFile(now.model, now.inputs)) {
    question.inputsPath = core(QFileInfo(now.inputs).absoluteFilePath());
    if (QFileInfo(now.labels).isFile()) question.labelsPath = core(QFileInfo(now.labels).absoluteFilePath());
    if (QFileInfo(now.classNames).isFile()) question.classNamesPath = core(QFileInfo(now.classNames).absoluteFilePath());
  }
  question.settings.batchAxis = now.request.settings.batchAxis;
  m_facts->setText(tr("Looking at the files…"));
  m_workbench.engine().open(question);
}

void RunSheet::showFacts(const protocol::OpenedExperiment& experiment) {
  m_hasClasses = experiment.labels > 0 || experiment.classNames > 0;
  QStringList lines{modelText(experiment.model)};
  if (!experiment.inputs.empty()) {
    QStringList inputs;
    for (const protocol::OpenedInput& input : experiment.inputs) inputs << inputText(input);
    lines << inputs.join(QStringLiteral("; "));
    QStringList set{qt(base::counted(static_cast<std::int64_t>(experiment.sampleIds.size()), "sample"))};
    for (const auto& [kind, count] : experiment.kinds) set << QStringLiteral("%1 %2").arg(count).arg(qt(kind));
    set << (experiment.labels > 0 ? tr("labels") : experiment.targets > 0 ? tr("targets") : tr("no labels: flips cannot be told right from wrong"));
    if (experiment.classNames > 0) set << tr("%1 class names").arg(experiment.classNames);
    set << (experiment.expected.empty() ? tr("no saved FP32 outputs to hold the model against") : tr("saved FP32 outputs: the run says whether this is your model"));
    lines << set.join(QStringLiteral(" · "));
  }
  for (const std::string& warning : experiment.model.warnings) lines << qt(warning);
  m_facts->setText(lines.join(u'\n'));
  refresh();
}

void RunSheet::showLookError(const base::Error& error) {
  m_facts->clear();
  m_hasClasses = false;
  m_lookProblems[fieldOf(qt(error.which), form())] = qt(error.message());
  refresh();
}

QString RunSheet::problem(RunField field) const {
  const auto at = m_problems.find(field);
  return at == m_problems.end() ? QString() : at->second;
}

QString RunSheet::note(RunField field) const { return m_notes.at(field)->text(); }
QString RunSheet::facts() const { return m_facts->text(); }
bool RunSheet::canGoOn() const { return m_goOn->isEnabled(); }
void RunSheet::setPath(RunField field, const QString& path) { lineEdit(field)->setText(path); }

}  // namespace ulpscope::views
