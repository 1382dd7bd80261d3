#include "widgets/views/tables.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>

namespace ulpscope::views {
namespace {

constexpr int kColumnRoom = 8;

void copyRow(const QTableView* table) {
  QStringList cells;
  const QModelIndex current = table->currentIndex();
  for (int column = 0; current.isValid() && column < table->model()->columnCount(); ++column)
    cells << current.siblingAtColumn(column).data().toString();
  if (!cells.isEmpty()) QGuiApplication::clipboard()->setText(cells.join(u'\t'));
}

}  // namespace

QTableView* makeTable(QWidget* parent, QAbstractItemModel* model, const QString& accessibleName) {
  auto* table = new QTableView(parent);
  table->setModel(model);
  table->setAccessibleName(accessibleName);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setAlternatingRowColors(true);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setTabKeyNavigation(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 9);
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setHighlightSections(false);
  auto* copy = new QAction(QObject::tr("Copy row"), table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  QObject::connect(copy, &QAction::triggered, table, [table] { copyRow(table); });
  table->addAction(copy);
  table->setContextMenuPolicy(Qt::ActionsContextMenu);
  return table;
}

void fitColumns(QTableView* table) {
  table->resizeColumnsToContents();
  const int most = std::max(240, table->viewport()->width() / 3);
  for (int column = 0; column < table->model()->columnCount(); ++column)
    table->setColumnWidth(column, std::min(table->columnWidth(column) + kColumnRoom, most));
}

}  // namespace ulpscope::views
