#include "widgets/views/flip_sentence.h"

#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/theme.h"

#include <QClipboard>
#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QToolButton>

namespace ulpscope::views {
namespace {

using models::qt;

QLabel* makeLabel(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

}  // namespace

FlipSentence::FlipSentence(QWidget* parent) : QWidget(parent) {
  m_sentence = makeLabel(this);
  m_sentence->setAccessibleName(tr("Statement on flipped decisions"));
  m_conditions = makeLabel(this);
  m_conditions->setAccessibleName(tr("Conditions of the statement"));
  m_conditions->hide();
  m_copy = new QToolButton(this);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the statement with its conditions"));
  m_copy->setAccessibleName(tr("Copy the statement"));
  m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_more = new QToolButton(this);
  m_more->setCheckable(true);
  m_more->setToolTip(tr("What the statement does not claim, and which files it is about"));
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setVerticalSpacing(2);
  layout->addWidget(m_sentence, 0, 0);
  layout->addWidget(m_more, 0, 1, Qt::AlignTop);
  layout->addWidget(m_copy, 0, 2, Qt::AlignTop);
  layout->addWidget(m_conditions, 1, 0, 1, 3);
  layout->setColumnStretch(0, 1);
  connect(m_more, &QToolButton::toggled, m_conditions, &QWidget::setVisible);
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
  QStringList lines;
  for (const std::string& condition : statement.conditions) lines << QStringLiteral("• ") + qt(condition);
  m_conditions->setText(lines.join(u'\n'));
  m_more->setText(tr("Conditions (%1)").arg(lines.size()));
  m_more->setVisible(!lines.isEmpty());
  if (lines.isEmpty()) m_more->setChecked(false);
  m_copy->setVisible(statement.isSignable);
}

QString FlipSentence::text() const { return m_sentence->text(); }
QString FlipSentence::conditions() const { return m_conditions->text(); }

void FlipSentence::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), theme.text, theme.muted));
}

void FlipSentence::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refreshIcons();
  QWidget::changeEvent(event);
}

}  // namespace ulpscope::views
