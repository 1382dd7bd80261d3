// Where a run's results go: a session that exists, or one that the run makes.
#pragma once

#include "core/base/error.h"
#include "core/model/model_info.h"
#include "core/session/session.h"
#include "core/storage/run_writer.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::worker {

// With request.append the session need not exist, and another process may make it at any moment: the run is then added to that one.
// Thread: one.
class RunTarget {
 public:
  explicit RunTarget(const session::RunRequest& request) : m_request(request) {}

  // Better now than after minutes of work. Errors as storage::checkWritable's.
  base::Status check() const;
  // Reserves the run's place. Error kind run where anything but the precision policy differs from the runs of the session.
  base::Result<storage::RunWriter*> open(const model::ModelInfo& model, const session::SampleSet& samples);
  // Precondition: open() succeeded. Errors as RunWriter::finish's and open()'s: another process may have added the first run meanwhile.
  base::Result<session::Session> finish(session::RunRecord run, const storage::RunMetrics& metrics, const std::vector<storage::OutputTensors>& outputs);
  std::string runId() const { return m_writer->runId(); }
  bool madeSession() const { return m_made; }

 private:
  base::Status begin(const model::ModelInfo& model, const session::SampleSet& samples);
  base::Status add(const model::ModelInfo& model, const session::SampleSet& samples);

  const session::RunRequest& m_request;
  std::optional<storage::RunWriter> m_writer;
  bool m_made = false;
};

}  // namespace ulpscope::worker
