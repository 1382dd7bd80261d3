#include "widgets/models/heatmap_content.h"

#include "widgets/models/text.h"

namespace ulpscope::models {
namespace {

// A tab or a line break inside a name would break the table.
QString field(QString text) { return text.replace(u'\t', u' ').replace(u'\n', u' '); }

QStringList rowFields(const render::ModuleRow& row) { return {field(modulePathText(qt(row.path))), field(qt(row.opSite)), field(qt(row.typeName))}; }

}  // namespace

QString rowText(const render::ModuleRow& row) { return row.isOpSite() ? qt(row.opSite) : modulePathText(qt(row.path)); }

QString rowTitle(const render::ModuleRow& row) {
  QString text = modulePathText(qt(row.path));
  if (row.isOpSite()) text += QStringLiteral(": ") + qt(row.opSite);
  if (!row.typeName.empty()) text += QStringLiteral(" · ") + qt(row.typeName);
  return text;
}

QString cellLine(const HeatmapContent& content, std::int64_t row, std::int64_t column) {
  QStringList fields = rowFields(content.rows[static_cast<std::size_t>(row)]);
  fields << field(content.sampleId(content.sampleAt(column))) << field(content.metric) << qt(render::exactText(content.cellAt(row, column)));
  return fields.join(u'\t');
}

QString blockLines(const HeatmapContent& content, const CellBlock& block) {
  QStringList headings{QStringLiteral("module"), QStringLiteral("op site"), QStringLiteral("type")};
  for (std::int64_t column = block.firstColumn; column < block.lastColumn; ++column) headings << field(content.sampleId(content.sampleAt(column)));
  QString text = headings.join(u'\t') + u'\n';
  for (std::int64_t row = block.firstRow; row < block.lastRow; ++row) {
    text += rowFields(content.rows[static_cast<std::size_t>(row)]).join(u'\t');
    for (std::int64_t column = block.firstColumn; column < block.lastColumn; ++column) text += u'\t' + qt(render::exactText(content.cellAt(row, column)));
    text += u'\n';
  }
  return text;
}

}  // namespace ulpscope::models
