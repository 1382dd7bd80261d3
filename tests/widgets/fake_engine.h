// Shell scripts that stand in for the engine and misbehave in one way each.
#pragma once

#include <QFile>
#include <QTemporaryDir>

namespace ulpscope::testing {

// Makes $ULPSCOPE_ENGINE a script with this body; hello has id 1, the first run id 2.
inline void installFakeEngine(const QTemporaryDir& folder, const char* body) {
  const QString path = folder.filePath(QStringLiteral("fake-engine"));
  QFile file(path);
  file.open(QIODevice::WriteOnly | QIODevice::Truncate);
  file.write(QByteArray("#!/bin/sh\n") + body + "\n");
  file.close();
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  qputenv("ULPSCOPE_ENGINE", path.toUtf8());
}

inline constexpr const char* kGreets = "read hello; echo '{\"id\": 1, \"result\": {\"protocol\": 1}}'; read run\n";
inline constexpr const char* kProgresses =
    "echo '{\"id\": 2, \"progress\": {\"stage\": \"running\", \"module\": \"block.fc1\", \"op\": \"aten::linear\", \"done\": 1, \"total\": 4}}'\n";

}  // namespace ulpscope::testing
