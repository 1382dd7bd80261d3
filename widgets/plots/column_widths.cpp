#include "widgets/plots/column_widths.h"

namespace ulpscope::plots {

std::vector<double> columnWidths(const std::vector<ColumnNeed>& columns, double room) {
  double least = 0, wanted = 0;
  for (const ColumnNeed& column : columns) least += column.least, wanted += column.wanted;
  std::vector<double> widths;
  for (const ColumnNeed& column : columns) {
    if (wanted <= room) widths.push_back(wanted > 0 ? column.wanted * room / wanted : room / static_cast<double>(columns.size()));
    else if (least <= room) widths.push_back(column.least + (room - least) * (column.wanted - column.least) / (wanted - least));
    else widths.push_back(column.least * room / least);
  }
  return widths;
}

}  // namespace ulpscope::plots
