#include "widgets/views/tables.h"

#include "widgets/plots/theme.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>

#include <algorithm>

namespace ulpscope::views {
namespace {

constexpr int kColumnRoom = 8;
constexpr int kHeaderRoom = 20;  // beside a header

void copyRow(const QTableView* table) {
  QStringList cells;
  const QModelIndex current = table->currentIndex();
  for (int column = 0; current.isValid() && column < table->model()->columnCount(); ++column)
    cells << current.siblingAtColumn(column).data().toString();
  if (!cells.isEmpty()) QGuiApplication::clipboard()->setText(cells.join(u'\t'));
}

// Columns wider than this are cut to it, so that all of them take `room`.
int widestThatFits(std::vector<int> widths, int room) {
  std::sort(widths.begin(), widths.end());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const int each = room / static_cast<int>(widths.size() - i);
    if (widths[i] > each) return each;
    room -= widths[i];
  }
  return widths.empty() ? room : widths.back();
}

// What the texts take; a header with less room around it than a column alone would give it.
int widthOf(const QTableView* table, int column) {
  QStyleOptionViewItem option;
  option.initFrom(table);
  option.font = table->font();
  int width = table->horizontalHeader()->fontMetrics().horizontalAdvance(table->model()->headerData(column, Qt::Horizontal).toString()) + kHeaderRoom;
  for (int row = 0; row < table->model()->rowCount(); ++row) {
    const QModelIndex index = table->model()->index(row, column);
    width = std::max(width, table->itemDelegateForIndex(index)->sizeHint(option, index).width() + kColumnRoom);
  }
  return width;
}

void fitIntoView(QTableView* table) {
  std::vector<int> columns, widths;
  for (int column = 0; column < table->model()->columnCount(); ++column) {
    if (table->isColumnHidden(column)) continue;
    columns.push_back(column);
    widths.push_back(widthOf(table, column));
  }
  const int most = widestThatFits(widths, table->viewport()->width());
  for (std::size_t i = 0; i < columns.size(); ++i) table->setColumnWidth(columns[i], std::min(widths[i], most));
}

class ColumnFitter : public QObject {
 public:
  explicit ColumnFitter(QTableView* table) : QObject(table), m_table(table) {
    table->viewport()->installEventFilter(this);
    connect(table->model(), &QAbstractItemModel::modelReset, this, [this] { fitIntoView(m_table); });
  }
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Resize) fitIntoView(m_table);
    return false;
  }

 private:
  QTableView* m_table;
};

class RowFitter : public QObject {
 public:
  explicit RowFitter(QTableView* table) : QObject(table), m_table(table) {
    table->viewport()->installEventFilter(this);
    connect(table->model(), &QAbstractItemModel::modelReset, table, &QTableView::resizeRowsToContents);
    connect(table->horizontalHeader(), &QHeaderView::sectionResized, table, &QTableView::resizeRowsToContents);
  }
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Resize) m_table->resizeRowsToContents();
    return false;
  }

 private:
  QTableView* m_table;
};

class StackedDelegate : public QStyledItemDelegate {
 public:
  StackedDelegate(QTableView* table, int under) : QStyledItemDelegate(table), m_under(under) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem item(option);
    initStyleOption(&item, index);
    const QString above = item.text, below = index.siblingAtColumn(m_under).data().toString();
    item.text.clear();
    QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, option.widget);
    const plots::Theme& theme = plots::themeOf(option.widget);
    const bool isSelected = option.state & QStyle::State_Selected;
    const QRect room = option.rect.adjusted(kMargin, 2, -kMargin, -2);
    const int line = room.height() / 2;
    const auto draw = [&](const QRect& rect, const QString& text, const QColor& color) {
      painter->setPen(isSelected ? theme.selectionText : color);
      painter->drawText(rect, static_cast<int>(item.displayAlignment & Qt::AlignHorizontal_Mask) | Qt::AlignVCenter, painter->fontMetrics().elidedText(text, Qt::ElideRight, rect.width()));
    };
    painter->save();
    painter->setFont(option.font);
    draw({room.left(), room.top(), room.width(), line}, above, theme.text);
    draw({room.left(), room.top() + line, room.width(), line}, below, theme.muted);
    painter->restore();
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QSize own = QStyledItemDelegate::sizeHint(option, index), other = QStyledItemDelegate::sizeHint(option, index.siblingAtColumn(m_under));
    return {std::max(own.width(), other.width()), own.height() + option.fontMetrics.height()};
  }

 private:
  static constexpr int kMargin = 4;
  int m_under;
};

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
  if (table->horizontalScrollBarPolicy() == Qt::ScrollBarAlwaysOff) return fitIntoView(table);
  table->resizeColumnsToContents();
  const int most = std::max(240, table->viewport()->width() / 3);
  for (int column = 0; column < table->model()->columnCount(); ++column)
    if (table->horizontalHeader()->sectionResizeMode(column) != QHeaderView::Stretch) table->setColumnWidth(column, std::min(table->columnWidth(column) + kColumnRoom, most));
}

void keepColumnsInSight(QTableView* table) {
  table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->horizontalHeader()->setMinimumSectionSize(24);
  new ColumnFitter(table);
  fitIntoView(table);
}

void wrapLastColumn(QTableView* table) {
  table->setWordWrap(true);
  table->setTextElideMode(Qt::ElideNone);
  table->horizontalHeader()->setStretchLastSection(false);
  table->horizontalHeader()->setSectionResizeMode(table->model()->columnCount() - 1, QHeaderView::Stretch);
  table->verticalHeader()->setMinimumSectionSize(table->fontMetrics().height() + 9);
  new RowFitter(table);
}

void stackColumns(QTableView* table, int column, int under) {
  table->setItemDelegateForColumn(column, new StackedDelegate(table, under));
  table->setColumnHidden(under, true);
  table->verticalHeader()->setDefaultSectionSize(2 * table->fontMetrics().height() + 9);
}

}  // namespace ulpscope::views
