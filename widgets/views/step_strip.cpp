#include "widgets/views/step_strip.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"

#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr int kSignSize = 16;

QPixmap signPixmap(const QString& shape, const QColor& color, const QColor& mark, double ratio) {
  QPixmap pixmap(QSize(kSignSize, kSignSize) * ratio);
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(QRectF(0.5, 0.5, kSignSize - 1, kSignSize - 1));
  painter.setPen(QPen(mark, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  if (shape == u"check") painter.drawPolyline(QPolygonF({{4.5, 8.2}, {7, 10.8}, {11.5, 5.5}}));
  if (shape == u"cross") {
    painter.drawLine(QPointF(5.3, 5.3), QPointF(10.7, 10.7));
    painter.drawLine(QPointF(10.7, 5.3), QPointF(5.3, 10.7));
  }
  if (shape == u"dots")
    for (const double x : {4.8, 8.0, 11.2}) painter.drawPoint(QPointF(x, 8));
  return pixmap;
}

}  // namespace

StepStrip::StepStrip(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 5, 12, 5);
  layout->setSpacing(6);
  m_model = addStep(layout, tr("Model"), nullptr);
  m_inputs = addStep(layout, tr("Inputs"), nullptr);
  m_criteria = addStep(layout, tr("Criteria"), &StepStrip::criteriaClicked);
  m_run = addStep(layout, tr("Run"), &StepStrip::runClicked);
  m_finding = addStep(layout, tr("Findings"), &StepStrip::findingClicked);
  m_verdict = new QLabel(this);
  m_verdict->setObjectName(QStringLiteral("verdict"));
  m_verdict->setMinimumWidth(20);
  m_stale = new QPushButton(this);
  m_stale->setCursor(Qt::PointingHandCursor);
  layout->addSpacing(10);
  layout->addStretch(1);
  layout->addWidget(m_verdict);
  layout->addWidget(m_stale);
  connect(m_stale, &QPushButton::clicked, this, &StepStrip::rerunClicked);
  connect(&workbench, &Workbench::sessionChanged, this, &StepStrip::refresh);
  connect(&workbench, &Workbench::viewChanged, this, &StepStrip::refresh);
  connect(&workbench, &Workbench::regionsChanged, this, &StepStrip::refresh);
  connect(&workbench, &Workbench::runningChanged, this, &StepStrip::refresh);
  refresh();
}

StepStrip::Step StepStrip::addStep(QHBoxLayout* layout, const QString& name, void (StepStrip::*clicked)()) {
  Step step{new QLabel(this), nullptr, new QLabel(name, this), new QLabel(this)};
  if (layout->count() > 0) {
    auto* line = new QLabel(QStringLiteral("—"), this);
    line->setEnabled(false);
    layout->addWidget(line);
  }
  QFont bold = step.name->font();
  bold.setBold(true);
  layout->addWidget(step.sign);
  if (clicked != nullptr) {
    step.link = new QPushButton(name, this);
    step.link->setFlat(true);
    step.link->setFont(bold);
    step.link->setCursor(Qt::PointingHandCursor);
    step.link->setToolTip(tr("Show the tab below"));
    step.link->setAccessibleName(tr("Go to %1").arg(name));
    step.link->setStyleSheet(QStringLiteral("QPushButton { border: none; padding: 0; background: transparent; font-weight: bold; } QPushButton:hover, QPushButton:focus { text-decoration: underline; }"));
    step.name->hide();
    connect(step.link, &QPushButton::clicked, this, clicked);
    layout->addWidget(step.link);
  } else {
    step.name->setFont(bold);
    layout->addWidget(step.name);
  }
  step.detail->setMinimumWidth(20);  // of one long name the end is cut off
  step.detail->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  layout->addWidget(step.detail);
  return step;
}

void StepStrip::setStep(const Step& step, State state, const QString& detail) {
  const plots::Theme& theme = plots::themeOf(this);
  const QColor mark = theme.isDark ? theme.base : QColor(Qt::white);
  const double ratio = devicePixelRatioF();
  switch (state) {
    case State::done: step.sign->setPixmap(signPixmap(QStringLiteral("check"), theme.good, mark, ratio)); break;
    case State::bad: step.sign->setPixmap(signPixmap(QStringLiteral("cross"), theme.bad, mark, ratio)); break;
    case State::busy: step.sign->setPixmap(signPixmap(QStringLiteral("dots"), theme.accent, mark, ratio)); break;
    case State::none: step.sign->setPixmap(signPixmap(QString(), theme.line, mark, ratio)); break;
  }
  step.detail->setText(detail);
  for (QWidget* part : {static_cast<QWidget*>(step.detail), static_cast<QWidget*>(step.name)}) part->setToolTip(detail);
  if (step.link != nullptr) step.link->setToolTip(tr("%1 (click: show the tab below)").arg(detail));
  QPalette palette = step.detail->palette();
  palette.setColor(QPalette::WindowText, theme.muted);
  step.detail->setPalette(palette);
}

QString StepStrip::staleText() const { return m_stale->isHidden() ? QString() : m_stale->text(); }

// What does not fit is left out, the least telling first; the steps' tooltips have it all.
void StepStrip::fit() {
  const Step* const steps[] = {&m_model, &m_inputs, &m_criteria, &m_run, &m_finding};
  for (const Step* step : steps) step->detail->show();
  for (const Step* step : steps) {
    if (layout()->sizeHint().width() <= width()) return;
    step->detail->hide();
  }
}

void StepStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

void StepStrip::setTraining(const std::optional<models::TrainingStanding>& training) {
  m_training = training;
  refresh();
}

QString StepStrip::text() const {
  QStringList parts;
  for (const Step* step : {&m_model, &m_inputs, &m_criteria, &m_run, &m_finding}) parts << QStringLiteral("%1 %2").arg(step->link != nullptr ? step->link->text() : step->name->text(), step->detail->text());
  if (!m_verdict->isHidden()) parts << m_verdict->text();
  return parts.join(QStringLiteral(" | "));
}

void StepStrip::setName(const Step& step, const QString& name) {
  step.link->setText(name);
  step.link->setAccessibleName(tr("Go to %1").arg(name));
}

void StepStrip::refresh() {
  const auto& session = m_workbench.session();
  setStep(m_model, session ? State::done : State::none, session ? QFileInfo(qt(session->model.path)).fileName() : tr("none"));
  const auto samples = session ? static_cast<std::int64_t>(session->samples.ids.size()) : 0;
  setStep(m_inputs, samples > 0 ? State::done : State::none, samples > 0 ? qt(base::counted(samples, "sample")) : session ? tr("not recorded") : tr("none"));  // of a loop in Python
  setName(m_run, m_training ? tr("Training") : tr("Run"));
  m_training ? showTraining() : showRun();
  fit();
}

void StepStrip::showRun() {
  const auto& session = m_workbench.session();
  const models::RunPointer& run = m_workbench.shownRun();
  const bool isLocked = session && !session->exploratory();
  setStep(m_criteria, isLocked ? State::done : State::none, isLocked ? tr("revision %1 locked").arg(session->criteria.back().number) : tr("none"));
  const bool running = m_workbench.isRunning();
  setStep(m_run, running ? State::busy : run ? State::done : State::none, running ? tr("running") : run ? run->label() : tr("none"));
  m_findingText = run ? models::outcome(*run->run) : QString();
  const bool isBad = run && (run->run->unexplained() != nullptr || !run->run->nonfiniteOrigins.empty() || run->run->candidateError || !run->run->flips.empty());
  const bool stale = m_workbench.isStale();
  setStep(m_finding, !run || stale ? State::none : isBad ? State::bad : State::done, m_findingText);
  m_stale->setVisible(stale && !running);
  const QString noRerun = m_workbench.whyNoRerun();
  m_stale->setText(noRerun.isEmpty() ? tr("stale: policy changed, Re-run (F5)") : tr("stale: policy changed, record it again"));
  m_stale->setAccessibleName(m_stale->text());
  m_stale->setToolTip(noRerun);
  const plots::Theme& theme = plots::themeOf(this);
  m_stale->setStyleSheet(QStringLiteral("QPushButton { background: %1; color: %2; border: 1px solid %2; border-radius: 11px; padding: 3px 14px; font-weight: bold; }"
                                        "QPushButton:focus { border-width: 2px; }").arg(theme.warnPill.name(), theme.warn.name()));
  const bool isShown = run && !stale;
  setVerdict(isShown && session ? models::verdictLine(*session, *run->run) : QString(), isShown && run->run->verdict ? run->run->verdict->status : session::JudgedAs::notEvaluated);
}

void StepStrip::showTraining() {
  const bool running = m_workbench.isTraining();
  const auto signOf = [](session::JudgedAs judged) { return judged == session::JudgedAs::pass ? State::done : judged == session::JudgedAs::fail ? State::bad : State::none; };
  setStep(m_criteria, running ? State::none : signOf(m_training->judged), running ? tr("judged at the end") : m_training->criteria);
  setStep(m_run, running ? State::busy : State::done, m_training->name);
  m_findingText = m_training->finding;
  setStep(m_finding, m_findingText.isEmpty() ? State::none : m_training->isBad ? State::bad : running ? State::none : State::done, m_findingText);
  m_stale->hide();
  setVerdict(running ? QString() : m_training->verdict.section(u':', 0, 1).toLower(), m_training->judged);
}

void StepStrip::setVerdict(const QString& text, session::JudgedAs judged) {
  const plots::Theme& theme = plots::themeOf(this);
  m_verdict->setVisible(!text.isEmpty());
  m_verdict->setText(text);
  m_verdict->setToolTip(text);
  const QColor colour = judged == session::JudgedAs::notEvaluated ? theme.muted : judged == session::JudgedAs::pass ? theme.good : theme.bad;
  m_verdict->setStyleSheet(QStringLiteral("color: %1;").arg(colour.name()));
}

void StepStrip::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refresh();
}

}  // namespace ulpscope::views
