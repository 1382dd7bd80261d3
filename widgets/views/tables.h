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
// The same without sideways scrolling: where there is no room for all, the widest are cut, their whole text is in the tooltip. Kept so as
// the table's width changes.
void keepColumnsInSight(QTableView* table);
// The last column takes the rest of the width and shows its text whole, in as many lines as it needs.
void wrapLastColumn(QTableView* table);
// Draws the text of `under` as a second, smaller line of `column`; `under` is hidden. For tables in narrow docks: copying and the model
// know nothing of it.
void stackColumns(QTableView* table, int column, int under);

}  // namespace ulpscope::views
