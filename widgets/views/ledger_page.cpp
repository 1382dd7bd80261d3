#include "widgets/views/ledger_page.h"

#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

namespace ulpscope::views {

using models::LedgerModel;

LedgerPage::LedgerPage(QWidget* parent)
    : QWidget(parent), m_table(makeTable(this, &m_ledger, tr("Ledger"))), m_line(makeLine(this)), m_module(new QPushButton(this)) {
  m_table->setToolTip(tr("Enter selects the module of the first non-finite value"));
  m_line->setAccessibleName(tr("Finding of the step"));
  auto* below = new QHBoxLayout;
  below->addWidget(m_line, 1);
  below->addWidget(m_module, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_table, 1);
  layout->addLayout(below);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    showLine();
    emit stepSelected(currentStep());
  });
  connect(m_table, &QTableView::activated, this, &LedgerPage::requestModule);
  connect(m_module, &QPushButton::clicked, this, &LedgerPage::requestModule);
  showLine();
}

void LedgerPage::setLedger(const std::vector<session::LedgerLine>& ledger) {
  m_ledger.setLedger(ledger);
  for (const LedgerModel::Column column : {LedgerModel::kOptimizer, LedgerModel::kFirst, LedgerModel::kZeroShare, LedgerModel::kClippedNorm, LedgerModel::kFoundInf}) m_table->setColumnHidden(column, m_ledger.isRedundant(column));
  fitColumns(m_table);
  showLine();
}

std::optional<std::int64_t> LedgerPage::currentStep() const {
  const QModelIndex current = m_table->currentIndex();
  return current.isValid() ? std::optional<std::int64_t>(current.data(LedgerModel::kStepRole).toLongLong()) : std::nullopt;
}

void LedgerPage::selectStep(std::int64_t step) {
  if (currentStep() == step) return;
  if (const int row = m_ledger.rowOfStep(step); row >= 0) m_table->setCurrentIndex(m_ledger.index(row, 0));
}

QString LedgerPage::lineText() const { return m_line->text(); }

void LedgerPage::showLine() {
  const QModelIndex current = m_table->currentIndex();
  const QVariant path = current.data(LedgerModel::kModuleRole);
  m_line->setText(current.isValid() ? m_ledger.lineText(current.row()) : QString());
  m_line->setVisible(current.isValid());
  m_module->setVisible(path.isValid());
  const QString name = models::modulePathText(path.toString());
  m_module->setText(tr("Show %1").arg(fontMetrics().elidedText(name, Qt::ElideLeft, 18 * fontMetrics().averageCharWidth())));
  m_module->setToolTip(tr("Select %1 in the module tree (Enter in the ledger)").arg(name));
  m_module->setAccessibleName(tr("Show %1 in the module tree").arg(name));
}

void LedgerPage::requestModule() {
  const QModelIndex current = m_table->currentIndex();
  if (const QVariant path = current.data(LedgerModel::kModuleRole); path.isValid()) emit moduleRequested(path.toString(), m_ledger.lineText(current.row()));
}

}  // namespace ulpscope::views
