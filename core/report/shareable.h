// A session as it may leave the house: file names instead of paths. Everything that a report shows is taken from here.
#pragma once

#include "core/session/scan.h"
#include "core/session/session.h"
#include "core/session/training.h"

#include <string>
#include <vector>

namespace ulpscope::report {

// Cuts paths out of texts. An absolute path ("/a/b/c.py", "~/c.py", "C:\a\c.py", "file:///a/c.py") becomes its last part. Sample ids that are
// paths keep what tells them apart: the folder that all of them lie in becomes "…/".
class PathCutter {
 public:
  // `known`: paths that the session names; what begins with one of their folders is cut there, spaces or not.
  PathCutter(const std::vector<std::string>& sampleIds, const std::vector<std::string>& known);
  std::string cut(const std::string& text) const;

 private:
  std::string m_idFolder;               // with its slash; empty: no id is an absolute path
  std::vector<std::string> m_folders;   // with their slash, the longest first
};

// Run by run with everything that a report says; the model's, inputs' and labels' paths are file names. A run is never changed in its numbers.
session::Session shareable(const session::Session& session, const PathCutter& cutter);
session::Training shareable(const session::Training& training, const PathCutter& cutter);
session::Scan shareable(const session::Scan& scan, const PathCutter& cutter);
PathCutter cutterOf(const session::Session& session, const std::string& sessionPath);

std::string fileName(const std::string& path);

}  // namespace ulpscope::report
