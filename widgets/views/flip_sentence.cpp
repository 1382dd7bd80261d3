#include "widgets/views/flip_sentence.h"

#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <algorithm>

namespace ulpscope::views {

using models::qt;
FlipSentence::FlipSentence(QWidget* parent) : QWidget(parent) {
  m_sentence = new QLabel(this);
  m_sentence->setWordWrap(true);
  m_sentence->setMinimumWidth(10);  // long names have no place to break
  m_sentence->setTextFormat(Qt::PlainText);
  m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_sentence->setAccessibleName(tr("Statement on flipped decisions"));
  m_copy = new QToolButton(this);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the statement with its conditions"));
  m_copy->setAccessibleName(tr("Copy the statement"));
  m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_sentence, 1, Qt::AlignTop);
  layout->addWidget(m_copy, 0, Qt::AlignTop);
  connect(m_copy, &QToolButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(qt(m_statement.text()));
    emit copied();
  });
  refreshIcons();
  setStatement({});
}

void FlipSentence::setStatement(const report::FlipStatement& statement) {
  m_statement = statement;
  m_sentence->setText(qt(statement.sentence));
  m_copy->setVisible(statement.isSignable);
  keepHeight();
}

// Docks do not ask how high a text is at their width, and would cut it.
void FlipSentence::keepHeight() { m_sentence->setMinimumHeight(std::max(0, m_sentence->heightForWidth(m_sentence->width()))); }

void FlipSentence::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  keepHeight();
}

QString FlipSentence::text() const { return m_sentence->text(); }

void FlipSentence::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), theme.text, theme.muted));
}

void FlipSentence::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refreshIcons();
  QWidget::changeEvent(event);
}

}  // namespace ulpscope::views
