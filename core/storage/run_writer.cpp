#include "core/storage/run_writer.h"

#include "core/storage/atomic_file.h"
#include "core/storage/h5_guard.h"
#include "core/storage/run_files.h"
#include "core/storage/session_target.h"
#include "core/storage/tensor_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using session::RunRecord;
using session::Session;

constexpr mode_t kRunFileMode = 0444;

void addInOrder(Session& session, RunRecord run) {
  const auto after = std::upper_bound(session.runs.begin(), session.runs.end(), run.number, [](int number, const RunRecord& other) { return number < other.number; });
  session.runs.insert(after, std::move(run));
  ++session.generation;
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) { lines.insert(lines.end(), more.begin(), more.end()); }

}  // namespace

struct RunWriter::State {
  std::string master;
  Session session;
  WriteMode mode = WriteMode::create;
  int number = 0;
  std::vector<std::string> lines;  // of what begin() tidied
  int fd = -1;                     // of the tensors file, locked: this run is being written
  std::unique_ptr<TensorWriter> tensors;
  std::size_t captures = 0;
  bool madeMaster = false, ended = false;

  std::string folder() const { return folderOfSession(master); }
  std::string tensorsPath() const { return runFilePath(master, number, RunFileKind::tensors); }
  std::string metricsPath() const { return runFilePath(master, number, RunFileKind::metrics); }
  WriteMode modeNow() const { return madeMaster ? WriteMode::append : mode; }

  Status reserve();
  Status openPart();
  Status makeMaster();
  Status makeMasterLocked();
  Result<Session> add(RunRecord run, const RunMetrics& metrics, const std::vector<OutputTensors>& outputs);
  Result<Session> addLocked(RunRecord run, const RunMetrics& metrics);
  Status placeFiles(const std::vector<std::byte>& metricsImage);
  void removeFiles() const;
  void abandon();
};

// Precondition: the lock is held.
Status RunWriter::State::reserve() {
  if (!exists(master) && someRunIsBeingWritten(folder()))
    return Error{ErrorKind::usage, "is being made by another run right now", master, "wait for its end and use --append, or choose another name"};
  if (exists(master)) {
    const auto view = viewSession(master, Viewer::writer);
    if (!view) return view.error();
    auto now = merged(view.value(), master, session);
    if (!now) return now.error();
    const auto aside = clearLeftovers(master, view->adoption);
    if (!aside) return aside.error();
    lines = aside.value();
    session = std::move(now).value();
    // That of a run that shares it and is not over: whoever fails last takes it away. Any other was there before us, and stays.
    madeMaster = session.holdsNothing() && someRunIsBeingWritten(folder());
  }
  if (const auto removed = removeParts(master); !removed) return removed.error();
  number = nextRunNumber(folder(), session.lastNumber());
  if (number > kLargestRunNumber)
    return Error{ErrorKind::input, "holds as many runs as a session can (9,999)", master, "write the run to a new session"};
  return openPart();
}

// What holds the number, and says by its lock that its writer lives. A reader's look may hold the lock for a moment.
Status RunWriter::State::openPart() {
  const std::string part = tensorsPath() + kPart;
  fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kRunFileMode);
  if (fd < 0) return systemError("cannot be created", part, errno);
  afterStep("part created");
  while (::flock(fd, LOCK_EX) != 0)
    if (errno != EINTR) return systemError("cannot be locked", part, errno);
  afterStep("number reserved");
  tensors = std::make_unique<TensorWriter>(fd, part, session.id, runIdOf(number));
  return base::success();
}

Status RunWriter::State::makeMaster() {
  if (exists(master) && modeNow() == WriteMode::append) return base::success();
  auto lock = WriteLock::take(folder());
  return lock ? makeMasterLocked() : Status(lock.error());
}

// Precondition: the lock is held.
Status RunWriter::State::makeMasterLocked() {
  if (auto target = checkTarget(master, modeNow()); !target) return target;
  Session empty = session;
  empty.runs.clear();
  ++empty.generation;
  if (auto written = writeMaster(master, empty); !written) return written;
  session = std::move(empty);
  madeMaster = true;
  return base::success();
}

// Tensors first: until the metrics file is in its place, what stands of the run is its last checkpoint. The master comes last: until
// its rename nothing names the run.
Status RunWriter::State::placeFiles(const std::vector<std::byte>& metricsImage) {
  if (auto placed = placeNew(tensorsPath() + kPart, tensorsPath()); !placed) return placed;
  if (auto written = writeWhole(metricsPath() + kPart, metricsImage, kRunFileMode); !written) return written;
  return placeNew(metricsPath() + kPart, metricsPath());
}

Result<Session> RunWriter::State::add(RunRecord run, const RunMetrics& metrics, const std::vector<OutputTensors>& outputs) {
  run.number = number;
  append(run.warnings, lines);
  const std::size_t named = run.capture ? run.capture->sites.size() : 0;
  if (named != captures)
    return Error{ErrorKind::internal, "names " + std::to_string(named) + " captured op sites, " + std::to_string(captures) + " were captured", run.id(), "report this"};
  if (auto finished = tensors->finish(run, outputs); !finished) return finished.error();
  auto lock = WriteLock::take(folder());
  if (!lock) return lock.error();
  // Much may have happened since begin().
  if (auto target = checkTarget(master, modeNow()); !target) return target.error();
  return addLocked(std::move(run), metrics);
}

// Precondition: the lock is held.
Result<Session> RunWriter::State::addLocked(RunRecord run, const RunMetrics& metrics) {
  Session now = session;
  if (exists(master)) {
    const auto view = viewSession(master, Viewer::writer);
    if (!view) return view.error();
    auto onDisk = merged(view.value(), master, session);
    if (!onDisk) return onDisk;
    const auto aside = clearLeftovers(master, view->adoption);
    if (!aside) return aside.error();
    append(run.warnings, aside.value());
    now = std::move(onDisk).value();
  }
  const auto image = h5::guarded(master, [&] { return metricsImage(now, run, metrics); });
  if (!image) return image.error();
  addInOrder(now, std::move(run));
  if (auto placed = placeFiles(image.value()); !placed) return placed.error();
  if (auto written = writeMaster(master, now); !written) return written.error();
  return now;
}

void RunWriter::State::removeFiles() const {
  for (const std::string& path : {metricsPath(), tensorsPath()})
    for (const std::string& name : {path, path + kPart, path + kPart + kPart}) ::unlink(name.c_str());
}

// A run that fails leaves nothing: neither its files, nor a session or a folder that there was not before.
void RunWriter::State::abandon() {
  constexpr auto kPatience = std::chrono::seconds(3);
  tensors.reset();
  if (std::exchange(ended, true) || fd < 0) return;
  removeFiles();
  ::close(std::exchange(fd, -1));
  if (!isFolder(folder())) return;
  auto lock = WriteLock::take(folder(), kPatience);
  if (!lock) return;
  if (madeMaster) {
    const auto view = viewSession(master, Viewer::writer);
    if (view && view->session.id == session.id && view->session.holdsNothing() && !someRunIsBeingWritten(folder())) ::unlink(master.c_str());
  }
  if (!exists(master)) lock.value().removeFolderIfBare();
}

Result<RunWriter> RunWriter::begin(const std::string& masterPath, Session session, WriteMode mode) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, mode); !target) return target.error();
  auto lock = WriteLock::take(folderOfSession(master));
  if (!lock) return lock.error();
  // Another writer may have made or moved it while we waited.
  Status status = checkTarget(master, mode);
  auto state = std::make_unique<State>();
  state->master = master;
  state->session = std::move(session);
  state->mode = mode;
  if (status) status = state->reserve();
  // Locked criteria stand on the disk before the first op runs.
  if (status && (mode == WriteMode::share || !state->session.exploratory()) && !exists(master)) status = state->makeMasterLocked();
  if (status) return RunWriter(std::move(state));
  if (state->fd >= 0) {
    state->removeFiles();
    ::close(state->fd);
  }
  if (!exists(master)) lock.value().removeIfMade();
  state->ended = true;
  return status.error();
}

RunWriter::RunWriter(std::unique_ptr<State> state) : m_state(std::move(state)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() {
  if (m_state) m_state->abandon();
}

std::string RunWriter::runId() const { return runIdOf(m_state->number); }

std::size_t RunWriter::addCapture(const CapturePlan& plan) {
  ++m_state->captures;
  return m_state->tensors->addCapture(plan);
}

Status RunWriter::capture(const CaptureBlock& block) { return m_state->tensors->capture(block); }

Status RunWriter::checkpoint(RunRecord run, const RunMetrics& metrics) {
  State& state = *m_state;
  ULPSCOPE_CHECK(!state.ended);
  run.number = state.number;
  run.status = session::RunStatus::partial;
  append(run.warnings, state.lines);
  run.warnings.push_back(interruptedWarning(run.samplesComplete, static_cast<std::int64_t>(state.session.samples.ids.size())));
  if (auto made = state.makeMaster(); !made) return made;
  const auto image = h5::guarded(state.metricsPath(), [&] { return metricsImage(state.session, run, metrics); });
  return image ? writeWhole(state.metricsPath() + kPart, image.value(), kRunFileMode) : Status(image.error());
}

Result<Session> RunWriter::finish(RunRecord run, const RunMetrics& metrics, const std::vector<OutputTensors>& outputs) {
  State& state = *m_state;
  ULPSCOPE_CHECK(!state.ended);
  auto written = state.add(std::move(run), metrics, outputs);
  if (written) {
    state.ended = true;
    ::close(std::exchange(state.fd, -1));
  }
  state.abandon();
  return written;
}

}  // namespace ulpscope::storage
