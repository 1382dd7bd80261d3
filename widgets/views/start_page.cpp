#include "widgets/views/start_page.h"

#include "core/protocol/message.h"
#include "core/session/demo.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"
#include "widgets/views/texts.h"

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

constexpr int kPageWidth = 1080;
constexpr int kCardText = 170;     // characters of a demo's description; the rest is its tooltip
constexpr int kDemosInARow = 4;

// Up to the end of a sentence within `most` characters.
QString firstSentences(const QString& text, qsizetype most) {
  if (text.size() <= most) return text;
  const qsizetype end = text.left(most).lastIndexOf(QStringLiteral(". "));
  return end > 0 ? text.left(end + 1) : text.left(most) + QStringLiteral("…");
}

void clear(QLayout* layout) {
  while (QLayoutItem* item = layout->takeAt(0)) {
    if (item->layout() != nullptr) clear(item->layout());
    delete item->widget();
    delete item;
  }
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* page = new QWidget;
  page->setMaximumWidth(kPageWidth);
  auto* layout = new QVBoxLayout(page);
  layout->setSpacing(12);
  layout->addStretch(1);
  layout->addWidget(makeText(tr("Where does mixed precision break your model?"), 1.7, true, page));
  layout->addWidget(makeText(tr("Ulpscope runs a model in FP32 and under autocast on the same inputs and shows, op by op, where the two part: "
                                 "the first NaN or inf, the decisions that flip, and what to keep in FP32 so that it stops."), 1.0, false, page));
  layout->addSpacing(8);
  addIntents(layout);
  m_recentArea = new QWidget(page);
  m_recent = new QVBoxLayout(m_recentArea);
  m_recent->setContentsMargins(0, 8, 0, 0);
  m_recent->setSpacing(4);
  layout->addWidget(m_recentArea);
  m_recentArea->hide();
  layout->addSpacing(8);
  layout->addWidget(makeText(tr("Museum of breakages: small models after real reports, run here and now"), 1.15, true, page));
  addDemoCards(layout);
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

QWidget* StartPage::makeCard(const QString& title, const QString& text, const QString& button, const QString& buttonName, std::function<void()> act) {
  auto* card = new QFrame(this);
  card->setObjectName(QStringLiteral("card"));
  auto* inside = new QVBoxLayout(card);
  inside->setContentsMargins(14, 12, 14, 12);
  inside->addWidget(makeText(title, 1.05, true, card));
  inside->addWidget(makeText(text, 1.0, false, card));
  inside->addStretch(1);
  auto* push = new QPushButton(button, card);
  push->setAccessibleName(buttonName);
  connect(push, &QPushButton::clicked, this, std::move(act));
  inside->addWidget(push, 0, Qt::AlignLeft);
  m_cards << card;
  return card;
}

void StartPage::addIntents(QVBoxLayout* layout) {
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  row->addWidget(makeCard(tr("Find what breaks"), tr("Your model and some inputs: see where FP16 or BF16 goes wrong, keep a module in FP32, run again, see that it helped."), tr("Model and inputs…"),
                          tr("Find what breaks: choose model and inputs"), [this] { emit exploreRequested(); }), 1);
  row->addWidget(makeCard(tr("Validate a release"), tr("A fixed reference set and limits that are locked before any result is read; then a verdict that you can sign."), tr("Experiment and criteria…"),
                          tr("Validate a release: choose the experiment and its criteria"), [this] { emit validateRequested(); }), 1);
  row->addWidget(makeCard(tr("Train under autocast"), tr("A recipe of model, loss, optimizer and scaler: every skipped step and its cause, beside the same training in FP32."), tr("Training recipe…"),
                          tr("Train under autocast: choose the recipe"), [this] { emit trainRequested(); }), 1);
  row->addWidget(makeCard(tr("Open a session"), tr("Results that were made before, here or elsewhere. Or drop a session, a model or inputs on this window."), tr("Open a session…"), tr("Open a session"),
                          [this] { emit openRequested(); }), 1);
  layout->addLayout(row);
}

void StartPage::addDemoCards(QVBoxLayout* layout) {
  const base::Result<std::string> folder = protocol::findData("demo");
  const base::Result<std::vector<session::Demo>> demos =
      folder.ok() ? session::listDemos(folder.value()) : base::Result<std::vector<session::Demo>>(folder.error());
  if (!demos.ok()) {
    layout->addWidget(makeText(tr("No demos: %1").arg(qt(demos.error().message())), 1.0, false, this));
    return;
  }
  auto* cards = new QGridLayout;
  cards->setSpacing(12);
  for (const session::Demo& demo : demos.value()) {
    const QString name = qt(demo.name);
    const QString shows = demo.shows.empty() ? firstSentences(qt(demo.description), kCardText) : qt(demo.shows);
    const QString like = demo.like.empty() ? QString() : tr("\nas reported in %1").arg(qt(demo.like));
    QWidget* card = makeCard(qt(demo.title), shows + like, tr("Run"), tr("Run the demo %1").arg(name), [this, name] { emit demoChosen(name); });
    card->setToolTip(QStringLiteral("<p>%1</p>").arg(qt(demo.description).toHtmlEscaped()));
    const int at = static_cast<int>(m_demoCards.size());
    cards->addWidget(card, at / kDemosInARow, at % kDemosInARow);
    m_demoCards << card;
  }
  for (int column = 0; column < kDemosInARow; ++column) cards->setColumnStretch(column, 1);
  layout->addLayout(cards);
}

void StartPage::setRecentSessions(const QStringList& paths) {
  clear(m_recent);
  m_recentArea->setVisible(!paths.isEmpty());
  if (paths.isEmpty()) return;
  m_recent->addWidget(makeText(tr("Recent sessions"), 1.15, true, m_recentArea));
  for (const QString& path : paths) {
    const QFileInfo file(path);
    auto* button = new QPushButton(tr("%1   %2").arg(file.fileName(), file.absolutePath()), m_recentArea);
    button->setFlat(true);
    button->setStyleSheet(QStringLiteral("text-align: left; padding: 4px 2px; border: none; background: transparent;"));
    button->setAccessibleName(tr("Open %1").arg(path));
    button->setEnabled(file.exists());
    button->setToolTip(file.exists() ? path : tr("%1: not there any more").arg(path));
    connect(button, &QPushButton::clicked, this, [this, path] { emit sessionChosen(path); });
    auto* row = new QHBoxLayout;
    row->addWidget(button, 1);
    if (!file.exists()) {
      auto* locate = new QPushButton(tr("Locate…"), m_recentArea);
      locate->setAccessibleName(tr("Locate %1").arg(path));
      connect(locate, &QPushButton::clicked, this, [this, path] { emit locateRequested(path); });
      row->addWidget(locate);
    }
    m_recent->addLayout(row);
  }
}

void StartPage::setBusy(bool busy) {
  for (QWidget* card : m_demoCards) card->setEnabled(!busy);
}

void StartPage::refreshTheme() {
  const plots::Theme& theme = plots::themeOf(this);
  for (QWidget* card : m_cards)
    card->setStyleSheet(QStringLiteral("QFrame#card { background: %1; border: 1px solid %2; border-radius: 8px; }").arg(theme.base.name(), theme.line.name()));
}

}  // namespace ulpscope::views
