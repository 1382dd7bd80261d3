#include "widgets/views/message_bar.h"

#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace ulpscope::views {

MessageBar::MessageBar(QWidget* parent) : QFrame(parent), m_text(new QLabel(this)), m_copy(new QToolButton(this)), m_close(new QToolButton(this)) {
  m_text->setWordWrap(true);
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
  layout->addWidget(m_copy);
  layout->addWidget(m_close);
  connect(m_copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_text->text()); });
  connect(m_close, &QToolButton::clicked, this, [this] {
    m_text->clear();
    hide();
  });
  hide();
}

void MessageBar::showProblem(const QString& message) {
  m_text->setText(message);
  setAccessibleName(message);
  show();
}

QString MessageBar::message() const { return isHidden() ? QString() : m_text->text(); }

void MessageBar::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), theme.bad, theme.muted));
  m_close->setIcon(plots::themedIcon(QStringLiteral("close"), theme.bad, theme.muted));
  setStyleSheet(QStringLiteral("ulpscope--views--MessageBar { background: %1; border-bottom: 1px solid %2; } QLabel, QToolButton { color: %2; }")
                    .arg(theme.badPill.name(), theme.bad.name()));
}

}  // namespace ulpscope::views
