#include "widgets/views/run_bar.h"

#include "core/base/clock.h"
#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

namespace ulpscope::views {

using models::qt;

RunBar::RunBar(Workbench& workbench, QWidget* parent)
    : QFrame(parent), m_workbench(workbench), m_text(new QLabel(this)), m_bar(new QProgressBar(this)), m_cancel(new QPushButton(tr("Cancel"), this)) {
  m_text->setTextFormat(Qt::PlainText);
  m_bar->setFixedWidth(220);
  m_bar->setTextVisible(false);
  m_bar->setFixedHeight(10);
  m_bar->setAccessibleName(tr("Progress of the run"));
  m_cancel->setAccessibleName(tr("Cancel the run"));
  m_cancel->setToolTip(tr("Cancel the run (Shift+F5); earlier results are kept"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 4, 12, 4);
  layout->addWidget(m_text, 1);
  layout->addWidget(m_bar);
  layout->addWidget(m_cancel);
  connect(m_cancel, &QPushButton::clicked, &workbench, &Workbench::cancel);
  connect(&workbench, &Workbench::runningChanged, this, &RunBar::refresh);
  connect(&workbench, &Workbench::progressed, this, &RunBar::showProgress);
  connect(&workbench.engine(), &jobs::EngineProcess::silent, this, [this](int seconds) {
    m_text->setText(tr("No word from the engine for %1 s · last: %2 · it may be in a long op; Cancel ends it and keeps earlier results").arg(seconds).arg(m_last));
  });
  hide();
}

QString RunBar::text() const { return m_text->text(); }

void RunBar::refresh() {
  setVisible(m_workbench.isRunning());
  m_cancel->setEnabled(!m_workbench.isCancelling());
  if (m_workbench.isCancelling()) {
    m_text->setText(m_workbench.isTraining() ? tr("Cancelling after this step; what was done is stored…") : m_workbench.isScanning() ? tr("Cancelling the scan; nothing of it is stored…") : tr("Cancelling after this op…"));
  } else if (m_workbench.isRunning()) {
    m_last = tr("starting");
    m_text->setText(tr("Starting the engine…"));
    m_bar->setRange(0, 0);
  }
}

void RunBar::showProgress(const base::Progress& progress) {
  if (m_workbench.isCancelling()) return;
  QString text = qt(progress.stage);
  if (!progress.modulePath.empty()) text += QStringLiteral(" · ") + qt(progress.modulePath);
  if (!progress.op.empty()) text += QStringLiteral(" · ") + qt(progress.op);
  if (progress.total > 0) text += QStringLiteral(" · ") + (m_workbench.isTraining() ? tr("%1 of %2 steps") : m_workbench.isScanning() ? tr("%1 of %2 inputs") : tr("%1 of %2 samples")).arg(qt(base::groupedInteger(progress.done)), qt(base::groupedInteger(progress.total)));
  if (progress.total > 0 && progress.secondsLeft >= 0) text += QStringLiteral(" · ") + tr("%1 left").arg(qt(base::durationText(progress.secondsLeft)));
  m_last = text;
  m_text->setText(text);
  m_bar->setRange(0, static_cast<int>(progress.total));
  m_bar->setValue(static_cast<int>(progress.done));
}

}  // namespace ulpscope::views
