// A run that goes on, put together from what the engine tells meanwhile (core/protocol/cells.h): what the heatmap fills with.
#pragma once

#include "core/protocol/cells.h"
#include "widgets/models/heatmap_content.h"

#include <memory>

namespace ulpscope::models {

class LiveRun {
 public:
  void begin(const protocol::LiveExperiment& experiment);
  // Ignored before begin(). Cells of sites or samples that were never told are left out.
  void add(const protocol::CellBlock& block);
  bool isEmpty() const { return m_rows.empty(); }
  std::int64_t samplesDone() const { return m_samplesDone; }
  // Modules x samples of relative L2, "not run" where nothing was told yet. A copy: it stays as it is.
  std::shared_ptr<const HeatmapContent> content() const;

 private:
  void setSites(const std::vector<protocol::LiveSite>& sites);

  session::Session m_session;  // only what rows and columns are named by
  session::RunRecord m_run;
  std::vector<render::ModuleRow> m_rows;
  std::vector<std::int64_t> m_rowOfSite;
  render::HeatmapData m_data;
  QStringList m_sampleIds;
  std::vector<std::int64_t> m_columns;
  std::vector<bool> m_isDone;  // by sample
  std::int64_t m_samplesDone = 0;
};

}  // namespace ulpscope::models
