#include "widgets/views/start_page.h"

#include "core/protocol/message.h"
#include "core/session/demo.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr int kPageWidth = 880;
constexpr int kCardText = 330;  // characters of a demo's description; the rest is its tooltip

// Up to the end of a sentence within `most` characters.
QString firstSentences(const QString& text, qsizetype most) {
  if (text.size() <= most) return text;
  const qsizetype end = text.left(most).lastIndexOf(QStringLiteral(". "));
  return end > 0 ? text.left(end + 1) : text.left(most) + QStringLiteral("…");
}

QLabel* makeLabel(const QString& text, double scale, bool bold, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() * scale);
  font.setBold(bold);
  label->setFont(font);
  return label;
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* page = new QWidget;
  page->setMaximumWidth(kPageWidth);
  auto* layout = new QVBoxLayout(page);
  layout->setSpacing(12);
  layout->addStretch(1);
  layout->addWidget(makeLabel(tr("Where does mixed precision break your model?"), 1.7, true, page));
  layout->addWidget(makeLabel(tr("Ulpscope runs a model in FP32 and under autocast on the same inputs and shows, op by op, where the two part: "
                                 "the first NaN or inf, the decisions that flip, and what to keep in FP32 so that it stops."), 1.0, false, page));
  layout->addSpacing(8);
  layout->addWidget(makeLabel(tr("Try it: a real model, run here and now"), 1.15, true, page));
  addDemoCards(layout);
  layout->addSpacing(8);
  auto* openRow = new QHBoxLayout;
  auto* open = new QPushButton(tr("Open a session…"), page);
  open->setAccessibleName(tr("Open a session"));
  connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
  openRow->addWidget(open);
  openRow->addWidget(makeLabel(tr("or drop a .ulps file on this window. Your own model: ulpscope run MODEL --inputs FILE, then open its session."), 1.0, false, page), 1);
  layout->addLayout(openRow);
  m_recentArea = new QWidget(page);
  m_recent = new QVBoxLayout(m_recentArea);
  m_recent->setContentsMargins(0, 8, 0, 0);
  m_recent->setSpacing(4);
  layout->addWidget(m_recentArea);
  m_recentArea->hide();
  layout->addStretch(2);
  auto* centred = new QWidget;
  auto* row = new QHBoxLayout(centred);
  row->addStretch(1);
  row->addWidget(page, 100);
  row->addStretch(1);
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(centred);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setAccessibleName(tr("Start page"));
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(scroll);
}

void StartPage::addDemoCards(QVBoxLayout* layout) {
  const base::Result<std::string> folder = protocol::findData("demo");
  const base::Result<std::vector<session::Demo>> demos =
      folder.ok() ? session::listDemos(folder.value()) : base::Result<std::vector<session::Demo>>(folder.error());
  if (!demos.ok()) {
    layout->addWidget(makeLabel(tr("No demos: %1").arg(qt(demos.error().message())), 1.0, false, this));
    return;
  }
  auto* cards = new QHBoxLayout;
  cards->setSpacing(12);
  for (const session::Demo& demo : demos.value()) {
    auto* card = new QFrame(this);
    card->setObjectName(QStringLiteral("card"));
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(16, 14, 16, 14);
    inside->addWidget(makeLabel(qt(demo.title), 1.05, true, card));
    QLabel* text = makeLabel(firstSentences(qt(demo.description), kCardText), 1.0, false, card);
    card->setToolTip(qt(demo.description));
    inside->addWidget(text);
    inside->addStretch(1);
    auto* button = new QPushButton(tr("Run this demo"), card);
    button->setAccessibleName(tr("Run the demo %1").arg(qt(demo.name)));
    connect(button, &QPushButton::clicked, this, [this, name = qt(demo.name)] { emit demoChosen(name); });
    inside->addWidget(button, 0, Qt::AlignLeft);
    cards->addWidget(card, 1);
    m_cards << card;
  }
  layout->addLayout(cards);
}

void StartPage::setRecentSessions(const QStringList& paths) {
  while (QLayoutItem* item = m_recent->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  m_recentArea->setVisible(!paths.isEmpty());
  if (paths.isEmpty()) return;
  m_recent->addWidget(makeLabel(tr("Recent sessions"), 1.15, true, m_recentArea));
  for (const QString& path : paths) {
    const QFileInfo file(path);
    auto* button = new QPushButton(tr("%1   %2").arg(file.fileName(), file.absolutePath()), m_recentArea);
    button->setFlat(true);
    button->setStyleSheet(QStringLiteral("text-align: left; padding: 4px 2px; border: none; background: transparent;"));
    button->setAccessibleName(tr("Open %1").arg(path));
    button->setEnabled(file.exists());
    button->setToolTip(file.exists() ? path : tr("%1: not there any more").arg(path));
    connect(button, &QPushButton::clicked, this, [this, path] { emit sessionChosen(path); });
    m_recent->addWidget(button);
  }
}

void StartPage::setBusy(bool busy) {
  for (QWidget* card : m_cards) card->setEnabled(!busy);
}

void StartPage::refreshTheme() {
  const plots::Theme& theme = plots::themeOf(this);
  for (QWidget* card : m_cards)
    card->setStyleSheet(QStringLiteral("QFrame#card { background: %1; border: 1px solid %2; border-radius: 8px; }").arg(theme.base.name(), theme.line.name()));
}

}  // namespace ulpscope::views
