#include "core/storage/session_change.h"

#include "core/storage/atomic_file.h"
#include "core/storage/session_target.h"

namespace ulpscope::storage {

using base::Result;
using session::Session;

Result<Session> changed(const std::string& masterPath, std::chrono::milliseconds patience, const std::function<Result<Change>(Session&)>& change) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, WriteMode::append); !target) return target.error();
  auto lock = WriteLock::take(folderOfSession(master), patience);
  if (!lock) return lock.error();
  auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  Session session = std::move(view->session);
  const auto made = change(session);
  if (!made) return made.error();
  if (made.value() == Change::none) return session;
  if (auto cleared = clearLeftovers(master, view->adoption); !cleared) return cleared.error();
  ++session.generation;
  if (auto written = writeMaster(master, session); !written) return written.error();
  return session;
}

}  // namespace ulpscope::storage
