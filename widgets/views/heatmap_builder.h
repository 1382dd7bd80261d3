// From the runs A and B and the user's choice to what heatmap, profile and colour bar show. Keeps what a next choice needs again.
#pragma once

#include "core/render/sample_order.h"
#include "widgets/models/heatmap_content.h"
#include "widgets/models/loaded_run.h"
#include "widgets/plots/heatmap_view.h"
#include "widgets/views/workbench.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace ulpscope::views {

struct HeatmapChoice {
  render::Metric metric = render::Metric::relL2;
  bool moduleOutputs = false;  // rows: what modules returned, where the run recorded it
  render::Scale scale = render::Scale::logarithmic;
  render::SampleOrder order = render::SampleOrder::asGiven;
  render::ColorMap colors = render::ColorMap::viridis;  // of A or B; a difference has its own
};

struct HeatmapPicture {
  std::shared_ptr<const models::HeatmapContent> content;
  std::vector<render::Cell> rowMaxima;
  plots::HeatmapLook look;
  bool isDifference = false;
  double tolerance = 0;  // of the metric; 0: it has none
  bool valuesBelow = false, valuesAbove = false;  // beyond the range
};

class HeatmapBuilder {
 public:
  // Precondition: the run that `view` shows is there with its metrics, for a difference both.
  // selected: module path and op site whose row orders the samples, where the choice says so.
  const HeatmapPicture& build(const Workbench& workbench, const HeatmapChoice& choice);
  const HeatmapPicture& picture() const { return m_picture; }
  // Of run A or B at the same place as the content's cell, for the texts of a difference; "not run" where it has no such row.
  render::Cell cellOfA(std::int64_t row, std::int64_t sample) const;
  render::Cell cellOfB(std::int64_t row, std::int64_t sample) const;

  std::int64_t rowOfModule(const std::string& path) const;   // -1: none
  std::int64_t rowOfSite(std::int64_t site) const;           // of an unfolded op site; -1: none
  std::int64_t columnOf(std::int64_t sample) const;          // -1: none
  bool isUnfolded(const std::string& path) const;
  void toggleFold(const std::string& path);
  void foldAll() { m_unfolded.clear(); }
  // What the samples are ordered by with SampleOrder::byRowError.
  void setOrderRow(const std::string& path, std::int64_t site);
  bool isOrderOld() const { return m_order == render::SampleOrder::byRowError && m_orderedBy != orderRow(); }  // build() would give another
  render::Metric metric() const { return m_b.metric; }

 private:
  // One run's cells and what they were made from.
  struct Map {
    models::RunPointer run;
    render::Metric metric{};
    bool moduleOutputs = false;
    std::vector<std::string> unfolded;
    std::vector<render::ModuleRow> rows;
    std::shared_ptr<const render::HeatmapData> cells;
    render::Magnitudes magnitudes;
  };
  bool refresh(Map& map, const models::RunPointer& run, const HeatmapChoice& choice) const;  // true: made anew
  void makeContent(const Workbench& workbench, const HeatmapChoice& choice, std::shared_ptr<const render::HeatmapData> cells);
  void makeColumns(models::HeatmapContent& content, const Workbench& workbench, render::SampleOrder order);
  void makeIndex();
  void makeMarks(const models::LoadedRun& run);
  void makeRange(const Workbench& workbench, const HeatmapChoice& choice);
  std::int64_t orderRow() const;

  Map m_a, m_b;
  std::shared_ptr<const render::HeatmapData> m_difference;
  render::Magnitudes m_differenceMagnitudes;
  RunView m_view = RunView::b;
  render::SampleOrder m_order = render::SampleOrder::asGiven;
  std::int64_t m_orderedBy = -1;  // row
  std::string m_orderPath;
  std::int64_t m_orderSite = -1;
  std::vector<std::string> m_unfolded;  // sorted
  std::vector<std::int64_t> m_rowInA;   // of each row of the content
  std::unordered_map<std::string, std::int64_t> m_rowOfModule;
  std::unordered_map<std::int64_t, std::int64_t> m_rowOfSite;
  std::vector<std::int64_t> m_columnOf;  // by sample
  HeatmapPicture m_picture;
};

}  // namespace ulpscope::views
