#include "widgets/views/workbench.h"

#include "core/base/number_text.h"
#include "core/session/criteria.h"
#include "core/session/demo.h"
#include "core/storage/run_edit.h"
#include "widgets/models/nonfinite_model.h"
#include "widgets/models/text.h"
#include "widgets/views/run_desk.h"

#include <QDir>
#include <QFileInfo>
#include <QUndoCommand>

#include <algorithm>
#include <functional>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;

class ChangeRegions : public QUndoCommand {
 public:
  using Apply = std::function<void(const models::Fp32Regions&)>;
  ChangeRegions(const QString& text, models::Fp32Regions before, models::Fp32Regions after, Apply apply)
      : QUndoCommand(text), m_before(std::move(before)), m_after(std::move(after)), m_apply(std::move(apply)) {}
  void undo() override { m_apply(m_before); }
  void redo() override { m_apply(m_after); }

 private:
  models::Fp32Regions m_before, m_after;
  Apply m_apply;
};

}  // namespace

Workbench::Workbench(QString demoSessionFolder, QObject* parent) : QObject(parent), m_demoSessionFolder(std::move(demoSessionFolder)) {
  connect(&m_loader, &jobs::SessionLoader::loaded, this, &Workbench::onLoaded);
  connect(&m_loader, &jobs::SessionLoader::failed, this, [this](const base::Error& error) { emit problem(qt(error.message())); });
  connect(&m_revisionWriter, &jobs::RevisionWriter::written, this, [this](const QString& path) {
    emit notice(tr("The revision is locked. Run again (F5) to be judged by it."));
    if (path == m_loaded.path) showRuns(m_loaded.a ? m_loaded.a->id() : QString(), m_loaded.b ? m_loaded.b->id() : QString());
  });
  connect(&m_revisionWriter, &jobs::RevisionWriter::failed, this, [this](const base::Error& error) { emit problem(qt(error.message())); });
  connectEngine();
  m_desk = std::make_unique<RunDesk>(*this);
}

void Workbench::connectEngine() {
  connect(&m_engine, &jobs::EngineProcess::progressed, this, &Workbench::progressed);
  connect(&m_engine, &jobs::EngineProcess::logged, this, &Workbench::logged);
  connect(&m_engine, &jobs::EngineProcess::finished, this, &Workbench::onFinished);
  connect(&m_engine, &jobs::EngineProcess::trained, this, &Workbench::onTrained);
  connect(&m_engine, &jobs::EngineProcess::scanned, this, [this](const QString& path, int number) {
    emit logged(tr("finished: scan %1 in %2").arg(number).arg(path));
    emit scanned(number);
    reload(path);
  });
  connect(&m_engine, &jobs::EngineProcess::replayed, this, [this](bool isReproduced, const QString& difference) {
    m_replayText = isReproduced ? tr("Replayed: the steps are the same to the last bit. The step that made the training go back is shown op by op.")
                                : tr("Replayed, and something differs: %1").arg(difference);
  });
  connect(&m_engine, &jobs::EngineProcess::failed, this, &Workbench::onFailed);
  connect(&m_engine, &jobs::EngineProcess::experimentTold, this, [this](const protocol::LiveExperiment& experiment) { m_live.begin(experiment); });
  connect(&m_engine, &jobs::EngineProcess::cellsTold, this, [this](const protocol::CellBlock& block) {
    m_live.add(block);
    emit liveChanged();
  });
}

// A QUndoStack says "cleared" when it dies, and who listens may be half gone by then.
Workbench::~Workbench() { m_undoStack.blockSignals(true); }

void Workbench::openSession(const QString& path) { m_loader.load({QFileInfo(path).absoluteFilePath(), {}, {}}); }

void Workbench::closeSession() {
  m_loaded = {};
  m_undoStack.clear();
  m_selection.clear();
  m_scanChoice.clear();
  m_regions = {};
  emit regionsChanged();
  emit viewChanged();
}

void Workbench::showRuns(const QString& idA, const QString& idB) {
  if (!m_loaded.path.isEmpty()) m_loader.load({m_loaded.path, idA, idB});
}

void Workbench::runDemo(const QString& name) {
  const base::Result<std::string> folder = protocol::findData("demo");
  if (!folder.ok()) return onFailed(folder.error());
  base::Result<session::Demo> demo = session::findDemo(folder.value(), core(name));
  if (!demo.ok()) return onFailed(demo.error());
  if (!QDir().mkpath(m_demoSessionFolder))
    return onFailed({base::ErrorKind::input, "cannot be made", core(m_demoSessionFolder), "choose another folder with --session-dir"});
  session::RunRequest request = demo->request;
  request.sessionPath = session::freeSessionPath(core(QDir(m_demoSessionFolder).absolutePath()), demo->name);
  request.settings.capture = {"*"};  // demos are small, and the inspector's maps are part of what they show
  m_demo = demo.value();
  m_demo->request = request;
  start(request);
}

session::RunRequest Workbench::nextRequest() const {
  const session::Session& session = *m_loaded.session;
  session::RunRequest request;
  request.modelPath = session.model.path;
  request.inputsPath = session.samples.path;
  request.labelsPath = session.samples.labelsPath;
  request.classNamesPath = session.samples.classNamesPath;
  request.sessionPath = core(m_loaded.path);
  request.append = true;
  request.settings = m_loaded.b->run->settings;
  if (!session.exploratory())
    if (const auto criteria = session::criteriaFromText(session.criteria.back().canonical); criteria.ok())
      session::takeOver(criteria.value(), request.settings);
  m_regions.writeTo(request.settings);
  return request;
}

QString Workbench::whyNoRerun() const {
  if (!m_loaded.b || m_loaded.b->run->settings.mode != session::Mode::recorded) return {};
  return tr("%1 was recorded by ulpscope_recorder.py on %2; no engine can run that again: run record() in Python with append=True").arg(m_loaded.b->shortName(), qt(m_loaded.b->run->settings.device));
}

void Workbench::rerun() {
  if (const QString why = whyNoRerun(); !why.isEmpty()) return emit notice(why);
  if (m_loaded.b) start(nextRequest());
}

void Workbench::captureAndRerun(const QString& modulePath) {
  if (!m_loaded.b || !whyNoRerun().isEmpty()) return;
  session::RunRequest request = nextRequest();
  const std::string pattern = modulePath.isEmpty() ? "." : core(modulePath);
  std::vector<std::string>& capture = request.settings.capture;
  if (std::find(capture.begin(), capture.end(), pattern) == capture.end()) capture.push_back(pattern);
  start(request);
}

void Workbench::reviseCriteria(const std::string& canonical, const QString& reason) { m_revisionWriter.write(m_loaded.path, canonical, reason); }

void Workbench::runNew(const session::RunRequest& request) { start(request); }

void Workbench::train(const protocol::TrainRequest& request) {
  session::RunRequest target;
  target.sessionPath = request.sessionPath;
  target.append = request.append;
  if (isRefused(target)) return;
  emit logged(tr("train: %1, %2").arg(qt(request.recipePath), qt(request.sessionPath)));
  if (!isRunning()) {
    m_lastRequest = target;
    m_lastTraining = request;
    m_lastScan.reset();
    m_replayText.clear();
    m_wasCancelled = false;
    m_live = {};
  }
  m_engine.train(request);
  emit runningChanged();
  emit viewChanged();  // who has no session to show says that a training goes on
}

void Workbench::onTrained(const QString& path, int number) {
  emit logged(tr("finished: training %1 in %2").arg(number).arg(path));
  emit trained(number);
  reload(path);
}

void Workbench::scan(const session::ScanRequest& request) {
  session::ScanRequest ofShown = request;
  ofShown.sessionPath = core(m_loaded.path);
  session::RunRequest target;
  target.sessionPath = ofShown.sessionPath;
  target.append = true;
  if (isRefused(target)) return;
  emit logged(tr("scan: %1, %2").arg(models::shortList(request.samples), m_loaded.path));
  if (!isRunning()) {
    m_lastRequest = target;
    m_lastTraining.reset();
    m_lastScan = ofShown;
    m_wasCancelled = false;
  }
  m_engine.scan(ofShown);
  emit runningChanged();
}

// After something was added to it that is no run.
void Workbench::reload(const QString& path) {
  const bool isShown = m_loaded.session && QFileInfo(path) == QFileInfo(m_loaded.path);
  emit runEnded(true);
  m_loader.load({path, isShown && m_loaded.a ? m_loaded.a->id() : QString(), isShown && m_loaded.b ? m_loaded.b->id() : QString()});
  emit runningChanged();
}

void Workbench::runAgain() {
  if (m_lastTraining && !isRunning()) return train(*m_lastTraining);
  if (m_lastScan && !isRunning()) return scan(*m_lastScan);
  session::RunRequest request = m_lastRequest;
  if (request.modelPath.empty() || isRunning()) return;
  // What the failed run left: its session may be there by now.
  request.append = request.append || QFileInfo::exists(qt(request.sessionPath));
  start(request);
}

// The bar above says at once what the engine would find out, and once is enough.
bool Workbench::isRefused(const session::RunRequest& request) {
  if (!request.append || m_loaded.readOnlyReason.isEmpty() || qt(request.sessionPath) != m_loaded.path || !QFileInfo::exists(m_loaded.path)) return false;
  if (storage::whyReadOnly(request.sessionPath).empty()) return false;
  m_desk->repeatNote();
  emit notice(tr("Nothing was run: this session is read-only."));
  emit runEnded(false);
  return true;
}

void Workbench::start(const session::RunRequest& request) {
  if (isRefused(request)) return;
  emit logged(tr("run: %1, %2").arg(qt(request.modelPath), qt(request.sessionPath)));
  if (!isRunning()) {
    m_lastRequest = request;
    m_lastTraining.reset();
    m_lastScan.reset();
    m_wasCancelled = false;
    m_live = {};
  }
  m_engine.run(request);
  emit runningChanged();
}

void Workbench::cancel() {
  m_engine.cancel();
  emit runningChanged();
}

void Workbench::onFinished(const QString& path, const QString& runId) {
  emit logged(tr("finished: %1 in %2").arg(runId, path));
  const bool isSameSession = m_loaded.b && QFileInfo(path) == QFileInfo(m_loaded.path);
  const session::RunRecord* baseline = isSameSession ? m_loaded.session->baseline() : nullptr;
  emit runEnded(true);
  m_loader.load({path, baseline ? qt(baseline->id()) : isSameSession ? m_loaded.b->id() : QString(), runId});
  emit runningChanged();
}

void Workbench::onFailed(const base::Error& error) {
  const QString message = qt(error.message());
  m_wasCancelled = error.kind == base::ErrorKind::cancelled;
  emit logged(message);
  emit runningChanged();
  const bool isOver = !isRunning();  // else another run goes on, and this one was refused
  if (isOver) emit runEnded(false);
  if (error.kind == base::ErrorKind::cancelled)
    emit notice(m_loaded.session ? tr("Cancelled. Earlier results are kept.") : tr("Cancelled."));
  else if (error.kind == base::ErrorKind::run || error.kind == base::ErrorKind::internal)
    emit runFailed(message);
  else
    emit problem(message);
  if (isOver) showWhatIsLeft();
}

// An engine that died leaves parts of files, and perhaps a checkpoint, which reading the session shows as a partial run.
void Workbench::showWhatIsLeft() {
  const QString path = qt(m_lastRequest.sessionPath);
  if (path.isEmpty()) return;
  const bool isShown = m_loaded.b && QFileInfo(path) == QFileInfo(m_loaded.path);
  if (m_loaded.session && !isShown) return;
  m_loader.clearAndLoad({path, isShown && m_loaded.a ? m_loaded.a->id() : QString(), isShown ? m_loaded.b->id() : QString()});
}

void Workbench::onLoaded(const models::LoadedSession& loaded) {
  const bool isOther = !m_loaded.session || loaded.session->id != m_loaded.session->id || loaded.path != m_loaded.path;
  m_loaded = loaded;
  m_view = RunView::b;
  if (isOther) {
    m_undoStack.clear();
    m_selection.clear();
    m_scanChoice.clear();
    m_regions = loaded.b ? models::Fp32Regions(loaded.b->run->settings) : models::Fp32Regions();
  }
  m_selection.setRun(loaded.b ? loaded.b->id() : QString());
  emit sessionChanged();
  emit viewChanged();
  emit regionsChanged();
  if (isOther) selectFirst();
  if (!m_replayText.isEmpty()) emit replayed(std::exchange(m_replayText, {}));
  if (isOther && m_demo && loaded.path == qt(m_demo->request.sessionPath)) {
    QStringList cure;
    for (const std::string& path : m_demo->cure) cure << qt(path);
    emit demoLoaded(m_demo->shows.empty() ? qt(m_demo->title) : qt(m_demo->title + ": " + m_demo->shows), cure);
  }
}

void Workbench::setView(RunView view) {
  if (m_view == view || (view != RunView::b && !m_loaded.a)) return;
  m_view = view;
  if (shownRun()) m_selection.setRun(shownRun()->id());
  emit viewChanged();
}

void Workbench::toggle(const QString& modulePath, models::RegionKind kind) {
  if (!m_loaded.b) return;
  const QString cover = m_regions.coveredBy(modulePath, kind);
  if (!cover.isEmpty() && !m_regions.names(modulePath, kind)) {
    const QString text = kind == models::RegionKind::inputsToFp32 ? tr("%1 is kept in FP32 by %2; change it there.") : tr("Autocast is off in %1 by %2; change it there.");
    emit notice(text.arg(models::modulePathText(modulePath), cover));
    return;
  }
  const bool wasOn = m_regions.names(modulePath, kind);
  const QString name = models::modulePathText(modulePath);
  QString text = wasOn ? tr("Put %1 back under autocast").arg(name) : models::regionAction(kind, name);
  text[0] = text[0].toLower();  // "Undo: keep block in FP32"
  m_undoStack.push(new ChangeRegions(text, m_regions, m_regions.toggled(modulePath, kind), [this](const models::Fp32Regions& r) { setRegions(r); }));
}

void Workbench::setRegions(const models::Fp32Regions& regions) {
  if (m_regions == regions) return;
  m_regions = regions;
  emit regionsChanged();
}

bool Workbench::isStale() const { return m_loaded.b && !(m_regions == models::Fp32Regions(m_loaded.b->run->settings)); }

void Workbench::replaceSession(const std::shared_ptr<const session::Session>& session) {
  m_loaded.session = session;
  emit runsChanged();
}

QString Workbench::defaultA(const QString& idB) const {
  if (!m_loaded.session) return {};
  if (const session::RunRecord* baseline = m_loaded.session->baseline(); baseline && qt(baseline->id()) != idB) return qt(baseline->id());
  QString before;
  for (const session::RunRecord& run : m_loaded.session->runs) {
    if (qt(run.id()) == idB) break;
    before = qt(run.id());
  }
  return before;
}

}  // namespace ulpscope::views
