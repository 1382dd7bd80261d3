#include "widgets/views/nonfinite_panel.h"

#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"
#include "widgets/views/tables.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace ulpscope::views {

using models::qt;
using models::RowTableModel;

NonfinitePanel::NonfinitePanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_diagnosis = new QLabel(this);
  m_diagnosis->setWordWrap(true);
  m_diagnosis->setTextFormat(Qt::PlainText);
  m_diagnosis->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont bold = m_diagnosis->font();
  bold.setBold(true);
  m_diagnosis->setFont(bold);
  m_copy = new QToolButton(this);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the diagnosis"));
  m_copy->setAccessibleName(tr("Copy the diagnosis"));
  m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_table = makeTable(this, &m_model, tr("Non-finite origins"));
  auto* top = new QHBoxLayout;
  top->addWidget(m_diagnosis, 1);
  top->addWidget(m_copy, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addLayout(top);
  layout->addWidget(m_table, 1);

  connect(&m_workbench, &Workbench::viewChanged, this, &NonfinitePanel::refreshRun);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &NonfinitePanel::refreshSelection);
  connect(m_copy, &QToolButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(diagnosis());
    emit m_workbench.notice(tr("Diagnosis copied."));
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &NonfinitePanel::selectRow);
}

QString NonfinitePanel::diagnosis() const { return m_diagnosis->text(); }

void NonfinitePanel::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), theme.text, theme.muted));
}

void NonfinitePanel::selectRow(const QModelIndex& current) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (m_isRefreshing || !current.isValid() || !run) return;
  const auto places = m_workbench.findings();
  const FindingPlace& place = places[static_cast<std::size_t>(current.data(RowTableModel::kKeyRole).toInt())];
  m_workbench.selection().select(place.modulePath, place.site, place.sample);
}

void NonfinitePanel::refreshRun() {
  m_isRefreshing = true;
  m_model.setRun(m_workbench.shownRun());
  fitColumns(m_table);
  m_isRefreshing = false;
  refreshSelection();
}

void NonfinitePanel::refreshDiagnosis() {
  const models::RunPointer& run = m_workbench.shownRun();
  const bool hasFinding = run && !run->run->nonfiniteOrigins.empty();
  m_copy->setVisible(hasFinding);
  m_table->setVisible(hasFinding);
  if (!run) return m_diagnosis->clear();
  if (!hasFinding) return m_diagnosis->setText(tr("%1: no NaN or inf that FP32 does not have.").arg(run->label()));
  std::size_t shown = 0;
  for (std::size_t i = 0; i < run->run->nonfiniteOrigins.size(); ++i)
    if (run->run->nonfiniteOrigins[i].site == m_workbench.selection().site()) shown = i;
  m_diagnosis->setText(qt(run->run->nonfiniteOrigins[shown].diagnosis));
}

void NonfinitePanel::refreshSelection() {
  m_isRefreshing = true;
  refreshDiagnosis();
  const models::RunPointer& run = m_workbench.shownRun();
  const models::Selection& selection = m_workbench.selection();
  int originRow = -1;
  if (run)
    for (std::size_t i = 0; i < run->run->nonfiniteOrigins.size(); ++i)
      if (selection.site() >= 0 && run->run->nonfiniteOrigins[i].site == selection.site()) originRow = static_cast<int>(i);
  if (originRow >= 0)
    m_table->setCurrentIndex(m_model.index(originRow, 0));
  else
    m_table->selectionModel()->clear();
  m_isRefreshing = false;
}

}  // namespace ulpscope::views
