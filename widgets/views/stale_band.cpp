#include "widgets/views/stale_band.h"

#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace ulpscope::views {
namespace {

constexpr qsizetype kMostChanges = 4;

}  // namespace

StaleBand::StaleBand(Workbench& workbench, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_text(new QLabel(this)), m_rerun(new QPushButton(tr("Re-run (F5)"), this)) {
  setObjectName(QStringLiteral("staleBand"));
  setAttribute(Qt::WA_StyledBackground);
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setMinimumWidth(10);  // long names have no place to break
  m_text->setAccessibleName(tr("Stale results"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 4, 8, 4);
  layout->addWidget(m_text, 1);
  layout->addWidget(m_rerun);
  connect(m_rerun, &QPushButton::clicked, this, [this] { m_workbench.whyNoRerun().isEmpty() ? m_workbench.rerun() : copyAsPython(); });
  for (const auto signal : {&Workbench::regionsChanged, &Workbench::viewChanged, &Workbench::runningChanged}) connect(&workbench, signal, this, &StaleBand::refresh);
  refresh();
}

QString StaleBand::text() const { return isHidden() ? QString() : m_text->text(); }

void StaleBand::refresh() {
  const bool isStale = m_workbench.isStale() && !m_workbench.isRunning();
  setVisible(isStale);
  if (!isStale) return;
  const models::RunPointer& run = m_workbench.runB();
  QStringList changes = m_workbench.regions().changesFrom(models::Fp32Regions(run->run->settings));
  const QString all = changes.join(u'\n');
  if (const qsizetype more = changes.size() - kMostChanges; more > 0) changes = changes.mid(0, kMostChanges) << tr("and %1 more").arg(more);
  m_text->setText(tr("Stale: %1 was made with another policy:  %2").arg(run->shortName(), changes.join(QStringLiteral("   "))));
  m_text->setToolTip(all);
  const QString noRerun = m_workbench.whyNoRerun();
  m_rerun->setText(noRerun.isEmpty() ? tr("Re-run (F5)") : tr("Copy as Python"));
  m_rerun->setAccessibleName(noRerun.isEmpty() ? tr("Re-run with the changed policy") : tr("Copy the changed policy as Python, for the recorder"));
  m_rerun->setToolTip(noRerun);
  refreshColors();
}

// The recorder is where such a run goes on.
void StaleBand::copyAsPython() {
  const QString text = models::asPython(m_workbench.regions());
  QGuiApplication::clipboard()->setText(text);
  emit m_workbench.notice(tr("Copied for record(): %1").arg(text));
}

void StaleBand::refreshColors() {
  const plots::Theme& theme = plots::themeOf(this);
  setStyleSheet(QStringLiteral("#staleBand { background: %1; } QLabel { color: %2; }").arg(theme.warnPill.name(), theme.warn.name()));
}

void StaleBand::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  // A style sheet of one's own sends PaletteChange itself: only another theme is news.
  if (event->type() == QEvent::PaletteChange && !styleSheet().contains(plots::themeOf(this).warnPill.name())) refreshColors();
}

}  // namespace ulpscope::views
