#include "widgets/views/operands_view.h"

#include "widgets/plots/theme.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

constexpr int kMostRows = 6;  // in sight without scrolling

}  // namespace

OperandsView::OperandsView(QWidget* parent) : QWidget(parent) {
  m_note = makeText({}, 1, false, this);
  m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table = makeTable(this, &m_model, tr("Operands of the op site"));
  m_table->setTextElideMode(Qt::ElideMiddle);  // paths differ at their ends
  m_table->setToolTip(tr("Enter or a double click on what an op made shows that op site"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  layout->addWidget(makeText(tr("Operands"), 1, true, this));
  layout->addWidget(m_table);
  layout->addWidget(m_note);
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    const auto site = index.data(models::RowTableModel::kKeyRole).toLongLong();
    if (site >= 0) emit siteChosen(site);
  });
}

QString OperandsView::note() const { return m_note->isHidden() ? QString() : m_note->text(); }

void OperandsView::setSite(const models::RunPointer& run, std::int64_t site) {
  m_model.setSite(run, site);
  const QString note = run ? models::operandsNote(*run, site) : QString();
  QPalette palette = m_note->palette();
  palette.setColor(QPalette::WindowText, plots::themeOf(this).muted);
  m_note->setPalette(palette);
  m_note->setText(note);
  m_note->setVisible(!note.isEmpty());
  m_table->setVisible(m_model.rowCount() > 0);
  if (m_model.rowCount() == 0) return;
  fitColumns(m_table);
  fitHeight();
  m_table->setCurrentIndex(m_model.index(0, 0));
}

void OperandsView::fitHeight() {
  const int rows = std::min(m_model.rowCount(), kMostRows);
  m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + rows * m_table->verticalHeader()->defaultSectionSize() +
                          m_table->horizontalScrollBar()->sizeHint().height() + 2 * m_table->frameWidth());
}

}  // namespace ulpscope::views
