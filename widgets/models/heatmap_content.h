// What heatmap and table twin show, and its texts: one place for tooltip, status bar, screen reader and clipboard.
#pragma once

#include "core/render/heatmap.h"
#include "core/render/sample_order.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

namespace ulpscope::models {

// Immutable once it is shown; share it by pointer.
struct HeatmapContent {
  std::vector<render::ModuleRow> rows;                 // as many as cells has
  std::shared_ptr<const render::HeatmapData> cells;    // never nullptr where there are rows
  std::vector<std::int64_t> columns;                   // cells' sample at each column
  std::vector<render::SampleGroup> groups;             // of columns, to be told apart; may be empty
  QStringList sampleIds;                               // by sample
  QString metric;                                      // "relative L2 error"

  const render::HeatmapData& data() const { return *cells; }
  std::int64_t rowCount() const { return cells ? static_cast<std::int64_t>(rows.size()) : 0; }
  std::int64_t columnCount() const { return static_cast<std::int64_t>(columns.size()); }
  std::int64_t sampleAt(std::int64_t column) const { return columns[static_cast<std::size_t>(column)]; }
  render::Cell cellAt(std::int64_t row, std::int64_t column) const { return cells->at(row, sampleAt(column)); }
  QString sampleId(std::int64_t sample) const { return sampleIds.value(sample, QString::number(sample)); }
};

// "encoder.0.fc2", "(root)"; of an op site "aten::linear#2".
QString rowText(const render::ModuleRow& row);
// "encoder.0.fc2 · Linear"; of an op site "encoder.0.fc2: aten::linear#2 · Linear".
QString rowTitle(const render::ModuleRow& row);

// Rows and columns, the ends exclusive.
struct CellBlock {
  std::int64_t firstRow = 0, lastRow = 0, firstColumn = 0, lastColumn = 0;
  std::int64_t cellCount() const { return (lastRow - firstRow) * (lastColumn - firstColumn); }
};
// One line: module, op site (empty: the module's worst), type, sample, metric, exact value.
QString cellLine(const HeatmapContent& content, std::int64_t row, std::int64_t column);
// A line of headings (module, op site, type, then sample ids), then one a row, exact values; separated by tabs.
QString blockLines(const HeatmapContent& content, const CellBlock& block);

}  // namespace ulpscope::models
