#include "core/storage/scan_store.h"

#include "core/base/clock.h"
#include "core/base/hashing.h"
#include "core/storage/atomic_file.h"
#include "core/storage/record_files.h"
#include "core/storage/session_target.h"

#include <unistd.h>

#include <algorithm>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::Session;

constexpr mode_t kFileMode = 0444;

// Precondition: the lock is held.
Result<Session> addLocked(const std::string& master, const Session& scanned, session::Scan scan) {
  auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  auto now = merged(view.value(), master, scanned);
  if (!now) return now;
  if (auto cleared = clearLeftovers(master, view->adoption); !cleared) return cleared.error();
  Session& session = now.value();
  int last = 0;
  for (const session::ScanEntry& entry : session.scans) last = std::max(last, entry.number);
  scan.number = nextScanNumber(folderOfSession(master), last);
  if (scan.number > kLargestRunNumber) return Error{ErrorKind::input, "holds as many scans as a session can", master, "copy the session and scan the copy"};
  const std::string text = recordText(session::toJson(scan), session.id);
  const std::string path = recordPath(scanRecords(), master, scan.number);
  if (auto written = writeWhole(path, text, kFileMode); !written) return written.error();
  addEntry(session.scans, {scan.number, scan.createdUtc, session::scanTitle(scan), base::sha256(text)});
  ++session.generation;
  if (auto written = writeMaster(master, session); !written) {
    ::unlink(path.c_str());
    return written.error();
  }
  return now;
}

}  // namespace

Result<Session> addScan(const std::string& masterPath, const Session& scanned, session::Scan scan) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, WriteMode::append); !target) return target.error();
  auto lock = WriteLock::take(folderOfSession(master));
  if (!lock) return lock.error();
  if (scan.createdUtc.empty()) scan.createdUtc = base::utcNow();
  return addLocked(master, scanned, std::move(scan));
}

Result<session::Scan> readScan(const std::string& masterPath, const Session& session, int number) {
  const auto stored = readNamedRecord(scanRecords(), masterPath, session, number);
  if (!stored) return stored.error();
  return session::scanFromJson(stored->json);
}

}  // namespace ulpscope::storage
