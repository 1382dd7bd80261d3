// How the window's tables look and behave.
#pragma once

#include <QString>

class QAbstractItemModel;
class QTableView;
class QWidget;

namespace ulpscope::views {

// Whole rows, no grid, Ctrl+C copies the current row as tab-separated text.
QTableView* makeTable(QWidget* parent, QAbstractItemModel* model, const QString& accessibleName);
// Columns as wide as their text, none over a third of the table; the last takes the rest.
void fitColumns(QTableView* table);

}  // namespace ulpscope::views
