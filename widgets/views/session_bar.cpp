#include "widgets/views/session_bar.h"

#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"
#include "widgets/views/run_desk.h"

#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace ulpscope::views {

SessionBar::SessionBar(RunDesk& desk, QWidget* parent)
    : QFrame(parent), m_desk(desk), m_text(new QLabel(this)), m_show(new QPushButton(tr("Show"), this)), m_close(new QToolButton(this)) {
  m_text->setWordWrap(true);
  m_text->setMinimumWidth(10);  // long names have no place to break
  m_text->setTextFormat(Qt::PlainText);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_show->setAccessibleName(tr("Show the new run"));
  m_close->setToolTip(tr("Close this message"));
  m_close->setAccessibleName(tr("Close the message about the session's file"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 4, 8, 4);
  layout->addWidget(m_text, 1);
  layout->addWidget(m_show);
  layout->addWidget(m_close);
  connect(m_show, &QPushButton::clicked, &desk, &RunDesk::showNewRun);
  connect(m_close, &QToolButton::clicked, &desk, &RunDesk::dismissNote);
  connect(&desk, &RunDesk::noteChanged, this, &SessionBar::refresh);
  // Some disks tell nothing of changes: coming back to the window is a good moment to look.
  connect(qGuiApp, &QGuiApplication::applicationStateChanged, &desk, [&desk](Qt::ApplicationState state) {
    if (state == Qt::ApplicationActive) desk.checkFile();
  });
  refreshColors();
  refresh();
}

QString SessionBar::text() const { return isHidden() ? QString() : m_text->text(); }

void SessionBar::refresh() {
  const QString note = m_desk.note();
  m_text->setText(note);
  setAccessibleName(note);
  const QStringList& added = m_desk.newRuns();
  m_show->setVisible(!added.isEmpty());
  m_show->setText(added.size() > 1 ? tr("Show run %1").arg(added.back().mid(4).toInt()) : tr("Show"));
  setVisible(!note.isEmpty());
}

void SessionBar::refreshColors() {
  const plots::Theme& theme = plots::themeOf(this);
  m_close->setIcon(plots::themedIcon(QStringLiteral("close"), theme.warn, theme.muted));
  const QString sheet = QStringLiteral("ulpscope--views--SessionBar { background: %1; border-bottom: 1px solid %2; } QLabel { color: %2; }").arg(theme.warnPill.name(), theme.warn.name());
  if (sheet != styleSheet()) setStyleSheet(sheet);  // a style sheet sets the palette, which brings us here again
}

void SessionBar::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refreshColors();
}

}  // namespace ulpscope::views
