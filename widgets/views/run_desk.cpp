#include "widgets/views/run_desk.h"

#include "widgets/models/runs_model.h"
#include "widgets/models/text.h"
#include "widgets/views/workbench.h"

#include <utility>

namespace ulpscope::views {

using models::core;
using models::qt;
using storage::RunEdit;

namespace {

constexpr qsizetype kMostNamed = 12;

QString runWord(const RunEdit& edit) { return RunDesk::tr("run %1").arg(qt(edit.runId).mid(4).toInt()); }

QString doneText(const RunEdit& edit) {
  switch (edit.kind) {
    case RunEdit::Kind::rename: return edit.name.empty() ? RunDesk::tr("%1 has no name any more.").arg(runWord(edit)) : RunDesk::tr("%1 is called '%2'.").arg(runWord(edit), qt(edit.name));
    case RunEdit::Kind::baseline: return edit.runId.empty() ? RunDesk::tr("No run is the baseline any more.") : RunDesk::tr("%1 is the baseline: the A of every new run.").arg(runWord(edit));
    case RunEdit::Kind::remove: return RunDesk::tr("%1 deleted (Ctrl+Z brings it back). Its files are kept, and it still counts as tried.").arg(runWord(edit));
    case RunEdit::Kind::restore: return RunDesk::tr("%1 restored.").arg(runWord(edit));
  }
  return {};
}

// "runs 3, 4 and 5 were added by another program"; of very many, the ends.
QString addedText(const QStringList& ids) {
  QStringList numbers;
  for (const QString& id : ids) numbers << QString::number(id.mid(4).toInt());
  if (numbers.size() == 1) return RunDesk::tr("run %1 was added by another program").arg(numbers.front());
  if (numbers.size() > kMostNamed) return RunDesk::tr("%1 runs were added by another program, run %2 to run %3").arg(numbers.size()).arg(numbers.front(), numbers.back());
  const QString last = numbers.takeLast();
  return RunDesk::tr("runs %1 and %2 were added by another program").arg(numbers.join(QStringLiteral(", ")), last);
}

bool contains(const session::Session& session, const QString& runId) { return session.run(core(runId)) != nullptr; }

}  // namespace

// Pushed once its first write is done, so that what could not be written never stands on the stack.
class RunDesk::Command : public QUndoCommand {
 public:
  Command(RunDesk& desk, const Pending& done) : QUndoCommand(done.text), m_desk(desk), m_done(done) {}
  void undo() override { send(Pending::By::undo, m_done.inverse, m_done.edit); }
  void redo() override {
    if (!std::exchange(m_isFirst, false)) send(Pending::By::redo, m_done.edit, m_done.inverse);
  }

 private:
  void send(Pending::By by, const RunEdit& edit, const RunEdit& inverse) {
    if (m_desk.m_isRealigning) return;
    Pending pending = m_done;
    pending.by = by;
    pending.edit = edit;
    pending.inverse = inverse;
    pending.command = this;
    m_desk.write(pending);
  }

  RunDesk& m_desk;
  Pending m_done;
  bool m_isFirst = true;
};

RunDesk::RunDesk(Workbench& workbench) : m_workbench(workbench) {
  connect(&m_editor, &jobs::SessionEditor::written, this, &RunDesk::onWritten);
  connect(&m_editor, &jobs::SessionEditor::failed, this, &RunDesk::onFailed);
  connect(&m_editor, &jobs::SessionEditor::waiting, this, [this](const QString& holder) {
    m_waiting = holder;
    emit noteChanged();
  });
  connect(&m_watch, &jobs::SessionWatch::changed, this, &RunDesk::onDisk);
  connect(&m_watch, &jobs::SessionWatch::unreadable, this, [this](const base::Error& error) { setFileNote(tr("%1. What was read before stays on screen.").arg(qt(error.message()))); });
  connect(&m_watch, &jobs::SessionWatch::vanished, this, [this] {
    setFileNote(tr("%1 was moved or deleted. Its results stay on screen; put it back, or open it where it is now, to go on with it.").arg(m_path));
  });
  connect(&m_watch, &jobs::SessionWatch::returned, this, [this] { setFileNote({}); });
  connect(&workbench, &Workbench::sessionChanged, this, &RunDesk::onSession);
  connect(&workbench, &Workbench::viewChanged, this, [this] {
    if (!m_workbench.session()) onSession();
  });
  connect(&workbench, &Workbench::runningChanged, this, &RunDesk::compareWithDisk);
}

RunDesk::~RunDesk() = default;

void RunDesk::onSession() {
  const auto& session = m_workbench.session();
  const QString path = session ? m_workbench.sessionPath() : QString();
  const QString id = session ? qt(session->id) : QString();
  const bool isOther = path != m_path || id != m_sessionId;
  m_path = path;
  m_sessionId = id;
  m_readOnly = m_workbench.readOnlyReason();
  if (isOther) {
    m_disk.reset();
    m_pending.clear();
    m_fileNote.clear();
    m_waiting.clear();
    m_newRuns.clear();
    m_isDismissed = false;
    m_watch.watch(path);
  }
  if (session && m_workbench.runB()) m_newRuns.removeAll(m_workbench.runB()->id());
  compareWithDisk();
  emit noteChanged();
  // After the window has said what the session is.
  if (!m_toSay.isEmpty()) QMetaObject::invokeMethod(this, [this, text = std::exchange(m_toSay, QString())] { emit m_workbench.notice(text); }, Qt::QueuedConnection);
}

// --- what the user asks for ---

void RunDesk::rename(const QString& runId, const QString& name) {
  const auto& session = m_workbench.session();
  const session::RunRecord* run = session ? session->run(core(runId)) : nullptr;
  const std::string clean = session::cleanRunName(core(name));
  if (!run || session->runName(run->number) == clean) return;
  ask({RunEdit::Kind::rename, core(runId), clean}, {RunEdit::Kind::rename, core(runId), session->runName(run->number)}, tr("rename run %1").arg(run->number));
}

void RunDesk::chooseBaseline(const QString& runId) {
  const auto& session = m_workbench.session();
  if (!session) return;
  const session::RunRecord* before = session->baseline();
  const std::string wanted = core(runId), was = before ? before->id() : std::string();
  if (wanted != was) ask({RunEdit::Kind::baseline, wanted}, {RunEdit::Kind::baseline, was}, wanted.empty() ? tr("no baseline") : tr("baseline %1").arg(runWord({RunEdit::Kind::baseline, wanted})));
}

void RunDesk::remove(const QString& runId) {
  const RunEdit edit{RunEdit::Kind::remove, core(runId)};
  if (m_workbench.session() && contains(*m_workbench.session(), runId)) ask(edit, {RunEdit::Kind::restore, core(runId)}, tr("delete %1").arg(runWord(edit)));
}

void RunDesk::restore(const QString& runId) {
  const RunEdit edit{RunEdit::Kind::restore, core(runId)};
  if (m_workbench.session()) ask(edit, {RunEdit::Kind::remove, core(runId)}, tr("restore %1").arg(runWord(edit)));
}

void RunDesk::ask(const RunEdit& edit, const RunEdit& inverse, const QString& text) {
  const auto idOf = [](const models::RunPointer& run) { return run ? run->id() : QString(); };
  write({Pending::By::user, edit, inverse, text, nullptr, idOf(m_workbench.runA()), idOf(m_workbench.runB())});
}

void RunDesk::write(const Pending& pending) { m_pending[m_editor.write(m_path, m_sessionId, pending.edit)] = pending; }

// --- what came of it ---

void RunDesk::onWritten(int ticket, const std::shared_ptr<const session::Session>& session) {
  const auto at = m_pending.find(ticket);
  if (at == m_pending.end()) return;  // of a session closed meanwhile: it stands in its file
  const Pending done = at->second;
  m_pending.erase(at);
  m_waiting.clear();
  takeOver(session);
  if (done.by == Pending::By::user) m_workbench.undoStack().push(new Command(*this, done));
  follow(done);
  if (m_workbench.isLoading())
    m_toSay = doneText(done.edit);
  else
    emit m_workbench.notice(doneText(done.edit));
  compareWithDisk();
  emit noteChanged();
}

void RunDesk::onFailed(int ticket, const base::Error& error) {
  const auto at = m_pending.find(ticket);
  if (at != m_pending.end()) {
    const Pending failed = at->second;
    m_pending.erase(at);
    if (failed.by != Pending::By::user) realign(failed);
  }
  m_waiting.clear();
  emit m_workbench.problem(qt(error.message()));
  compareWithDisk();
  emit noteChanged();
}

// What could not be undone is still done: the stack steps back to where the file is, unless it went on meanwhile.
void RunDesk::realign(const Pending& failed) {
  QUndoStack& stack = m_workbench.undoStack();
  const bool wasUndo = failed.by == Pending::By::undo;
  const int at = wasUndo ? stack.index() : stack.index() - 1;
  if (at < 0 || at >= stack.count() || stack.command(at) != failed.command) return;
  m_isRealigning = true;
  wasUndo ? stack.redo() : stack.undo();
  m_isRealigning = false;
}

// A and B after a run went or came back.
void RunDesk::follow(const Pending& done) {
  const session::Session& session = *m_workbench.session();
  const auto idOf = [](const models::RunPointer& run) { return run ? run->id() : QString(); };
  QString a = idOf(m_workbench.runA()), b = idOf(m_workbench.runB());
  const QString beforeA = a, beforeB = b;
  if (done.edit.kind == RunEdit::Kind::restore) {
    const QString back = qt(done.edit.runId);
    if (done.by != Pending::By::user && (done.shownA == back || done.shownB == back)) {
      a = done.shownA;
      b = done.shownB;
    }
    if (b.isEmpty()) b = back;
  }
  if (done.edit.kind == RunEdit::Kind::baseline && !done.edit.runId.empty() && qt(done.edit.runId) != b) a = qt(done.edit.runId);
  if (!contains(session, b)) b = session.latest() ? qt(session.latest()->id()) : QString();
  if (!contains(session, a)) a.clear();
  if (a.isEmpty() && done.edit.kind == RunEdit::Kind::remove) a = m_workbench.defaultA(b);
  if (a == b) a.clear();
  if (a != beforeA || b != beforeB) m_workbench.showRuns(a, b);
}

void RunDesk::takeOver(const std::shared_ptr<const session::Session>& session) { m_workbench.replaceSession(session); }

// --- what others do ---

void RunDesk::onDisk(const std::shared_ptr<const session::Session>& session) {
  setFileNote({});
  m_disk = session;
  compareWithDisk();
}

void RunDesk::compareWithDisk() {
  if (!m_disk || m_editor.isBusy() || m_workbench.isRunning() || m_workbench.isLoading()) return;
  const auto disk = std::exchange(m_disk, nullptr);
  const auto& shown = m_workbench.session();
  if (!shown) return;
  if (disk->id != shown->id) return setFileNote(tr("%1 is another session now. What was read before stays on screen; open it again to see the new one.").arg(m_path));
  if (disk->generation <= shown->generation) return;
  for (const session::RunRecord& run : disk->runs)
    if (run.number > shown->lastNumber()) {
      m_newRuns << qt(run.id());
      m_isDismissed = false;
    }
  m_newRuns.removeIf([&](const QString& id) { return !contains(*disk, id); });
  takeOver(disk);
  const models::RunPointer& b = m_workbench.runB();
  if (b && !contains(*disk, b->id())) setFileNote(tr("%1 was deleted by another program; it stays on screen until another run is shown.").arg(b->shortName()));
  emit noteChanged();
}

void RunDesk::setFileNote(const QString& note) {
  if (m_fileNote == note) return;
  m_fileNote = note;
  m_isDismissed = false;
  emit noteChanged();
}

QString RunDesk::note() const {
  if (!m_waiting.isEmpty()) return tr("Waiting for %1, which is writing to this session…").arg(m_waiting);
  if (m_isDismissed) return {};
  if (!m_fileNote.isEmpty()) return m_fileNote;
  if (!m_newRuns.isEmpty()) return addedText(m_newRuns);
  return m_readOnly.isEmpty() ? QString() : tr("Read-only: %1. Results can be looked at; runs cannot be added, named or deleted.").arg(m_readOnly);
}

void RunDesk::showNewRun() {
  const QStringList ids = std::exchange(m_newRuns, QStringList());
  if (!ids.isEmpty()) m_workbench.showRuns(m_workbench.defaultA(ids.back()), ids.back());
  emit noteChanged();
}

void RunDesk::repeatNote() {
  m_isDismissed = false;
  emit noteChanged();
}

void RunDesk::dismissNote() {
  m_isDismissed = true;
  m_newRuns.clear();
  emit noteChanged();
}

}  // namespace ulpscope::views
