#include "widgets/views/message_bar.h"

#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <utility>

namespace ulpscope::views {

MessageBar::MessageBar(QWidget* parent) : QFrame(parent), m_text(new QLabel(this)), m_act(new QToolButton(this)), m_copy(new QToolButton(this)), m_close(new QToolButton(this)) {
  m_act->setObjectName(QStringLiteral("act"));
  m_text->setWordWrap(true);
  m_text->setMinimumWidth(10);  // a long path has no place to break
  m_text->setTextFormat(Qt::PlainText);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_copy->setText(tr("Copy details"));
  m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_copy->setAccessibleName(tr("Copy the message"));
  m_close->setToolTip(tr("Close this message"));
  m_close->setAccessibleName(tr("Close the message"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 6, 8, 6);
  layout->addWidget(m_text, 1);
  layout->addWidget(m_act);
  layout->addWidget(m_copy);
  layout->addWidget(m_close);
  connect(m_copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_text->text()); });
  connect(m_close, &QToolButton::clicked, this, &MessageBar::drop);
  connect(m_act, &QToolButton::clicked, this, [this] {
    const std::function<void()> act = std::exchange(m_remedy, {});
    drop();
    if (act) act();
  });
  hide();
}

void MessageBar::drop() {
  m_text->clear();
  m_act->setShortcut(QKeySequence());
  hide();
}

void MessageBar::dropHint() {
  if (m_kind == Kind::hint) drop();
}

void MessageBar::dropProblem() {
  if (m_kind == Kind::problem) drop();
}

void MessageBar::showProblem(const QString& message) { showProblem(message, {}, {}); }

void MessageBar::showProblem(const QString& message, const QString& remedy, std::function<void()> act) { showText(Kind::problem, message, remedy, std::move(act)); }

void MessageBar::showHint(const QString& hint, const QString& remedy, std::function<void()> act) { showText(Kind::hint, hint, remedy, std::move(act)); }

void MessageBar::showText(Kind kind, const QString& text, const QString& remedy, std::function<void()> act) {
  m_kind = kind;
  m_text->setText(text);
  m_act->setText(remedy.isEmpty() ? remedy : tr("%1  (Ctrl+Return)").arg(remedy));
  m_act->setAccessibleName(remedy);
  m_act->setVisible(!remedy.isEmpty());
  m_act->setShortcut(remedy.isEmpty() ? QKeySequence() : QKeySequence(tr("Ctrl+Return")));
  m_act->setToolTip(remedy.isEmpty() ? QString() : tr("%1 (Ctrl+Return)").arg(remedy));
  m_copy->setVisible(kind == Kind::problem);
  m_remedy = std::move(act);
  setAccessibleName(text);
  refreshIcons();
  show();
}

QString MessageBar::message() const { return isHidden() || m_kind == Kind::hint ? QString() : m_text->text(); }
QString MessageBar::hint() const { return isHidden() || m_kind == Kind::problem ? QString() : m_text->text(); }

void MessageBar::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  const bool isProblem = m_kind == Kind::problem;
  const QColor ink = isProblem ? theme.bad : theme.text, paper = isProblem ? theme.badPill : theme.alternate, line = isProblem ? theme.bad : theme.line;
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), ink, theme.muted));
  m_close->setIcon(plots::themedIcon(QStringLiteral("close"), ink, theme.muted));
  setStyleSheet(QStringLiteral("ulpscope--views--MessageBar { background: %1; border-bottom: 1px solid %3; } QLabel, QToolButton { color: %2; } QToolButton#act { border: 1px solid %2; font-weight: bold; }")
                    .arg(paper.name(), ink.name(), line.name()));
}

}  // namespace ulpscope::views
