// Where a session's inputs are, and whether the file there is still the one that it was run on.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <QDateTime>
#include <QHash>
#include <QString>

#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace ulpscope::jobs {

// Where inputs are: as the session says, or a file or folder of that name beside the session.
struct InputSource {
  QString path;
  QString besideSession;
  std::string sha256;
  std::map<std::string, int> batchAxis;
  std::vector<std::string> arguments;  // forward's tensors, which inputs without names take in their order

  int axisOf(const std::string& argument) const;  // counts the samples; -1: all samples share it
  friend bool operator==(const InputSource&, const InputSource&) = default;
};
InputSource inputSource(const session::Session& session, const session::RunSettings& settings, const QString& sessionPath);

// SHA-256 of files and folders by path, size and time. For one thread.
class FileDigests {
 public:
  base::Result<std::string> of(const QString& path, const std::stop_token& stop);

 private:
  QHash<QString, std::pair<std::pair<qint64, QDateTime>, std::string>> m_known;
};

struct FoundInputs {
  QString path;
  QString problem;  // one line; empty: it is the run's file
};
// Reads the whole file where its digest is not known yet.
FoundInputs findInputs(const InputSource& source, FileDigests& digests, const std::stop_token& stop);

}  // namespace ulpscope::jobs
