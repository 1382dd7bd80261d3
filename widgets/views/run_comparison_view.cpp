#include "widgets/views/run_comparison_view.h"

#include "core/base/number_text.h"
#include "widgets/models/runs_model.h"
#include "widgets/models/text.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ulpscope::views {
namespace {

using models::qt;
using report::RunChanges;
using session::CriterionResult;
using session::RunRecord;
using session::Session;

constexpr std::size_t kMostLinks = 24;
constexpr int kMostCriteriaRows = 6;

QString word(const char* text) { return RunComparisonView::tr(text); }

QString comparisonOf(const Session& session, const RunRecord& a, const RunRecord& b, const RunChanges& changes) {
  QStringList parts;
  parts << RunComparisonView::tr("first non-finite: %1 → %2").arg(models::firstNonfiniteText(a), models::firstNonfiniteText(b));
  if (b.settings.decision.decides()) parts << RunComparisonView::tr("flips: %1 → %2").arg(a.flips.size()).arg(b.flips.size());
  if (!a.noDecision.empty() || !b.noDecision.empty()) parts << RunComparisonView::tr("without a decision: %1 → %2").arg(a.noDecision.size()).arg(b.noDecision.size());
  parts << RunComparisonView::tr("worst error of finite values: %1 → %2").arg(qt(base::shortNumber(changes.worstA)), qt(base::shortNumber(changes.worstB)));
  return RunComparisonView::tr("%1 → %2: ").arg(models::runTitle(session, a), models::runTitle(session, b)) + parts.join(QStringLiteral("   ·   "));
}

QString statusOf(const RunRecord& run) { return run.verdict ? qt(session::name(run.verdict->status)) : word("none"); }

QString verdictOf(const RunRecord& a, const RunRecord& b) {
  if (!a.verdict && !b.verdict) return {};
  QString text = RunComparisonView::tr("verdict: %1 → %2").arg(statusOf(a), statusOf(b));
  if (a.verdict && b.verdict && a.verdict->revision != b.verdict->revision)
    text += RunComparisonView::tr(" (criteria revision %1 and %2: not the same limits)").arg(a.verdict->revision).arg(b.verdict->revision);
  else
    text += RunComparisonView::tr(" (criteria revision %1)").arg(a.verdict ? a.verdict->revision : b.verdict->revision);
  return text;
}

// "2 (b, d)": plain, or each id a link to its sample.
QString idsText(const Session& session, const std::vector<std::string>& ids, bool asLinks) {
  if (ids.empty()) return word("none");
  QStringList shown;
  for (std::size_t i = 0; i < std::min(ids.size(), kMostLinks); ++i) {
    const auto at = std::find(session.samples.ids.begin(), session.samples.ids.end(), ids[i]);
    const QString text = asLinks ? qt(ids[i]).toHtmlEscaped() : qt(ids[i]);
    shown << (asLinks && at != session.samples.ids.end() ? QStringLiteral("<a href=\"%1\">%2</a>").arg(at - session.samples.ids.begin()).arg(text) : text);
  }
  if (ids.size() > kMostLinks) shown << RunComparisonView::tr("and %1 more").arg(ids.size() - kMostLinks);
  return RunComparisonView::tr("%1 (%2)").arg(ids.size()).arg(shown.join(QStringLiteral(", ")));
}

QString flipsOf(const Session& session, const RunChanges& changes, bool asLinks) {
  if (!changes.flipsNotCompared.empty()) return RunComparisonView::tr("flips %1").arg(asLinks ? qt(changes.flipsNotCompared).toHtmlEscaped() : qt(changes.flipsNotCompared));
  const report::Parted& p = changes.flips;
  QString text = RunComparisonView::tr("flips: cured %1, made %2, in both %3").arg(idsText(session, p.cured, asLinks), idsText(session, p.made, asLinks), idsText(session, p.kept, asLinks));
  const report::Parted& n = changes.noDecision;
  if (!n.cured.empty() || !n.made.empty() || !n.kept.empty())
    text += RunComparisonView::tr("; without a decision: cured %1, made %2, in both %3").arg(idsText(session, n.cured, asLinks), idsText(session, n.made, asLinks), idsText(session, n.kept, asLinks));
  return text;
}

QString originsOf(const RunChanges& changes) {
  const report::Parted& p = changes.origins;
  const auto list = [](const std::vector<std::string>& names) { return names.empty() ? word("none") : RunComparisonView::tr("%1 (%2)").arg(names.size()).arg(models::shortList(names, 3)); };
  return RunComparisonView::tr("non-finite origins: cured %1, made %2, in both %3").arg(list(p.cured), list(p.made), list(p.kept));
}

models::TableCell measured(const std::optional<CriterionResult>& result) {
  return result ? models::numberCell(result->measured) : models::TableCell{QStringLiteral("–"), -HUGE_VAL, true};
}
QString judged(const std::optional<CriterionResult>& result) { return result ? qt(session::name(result->status)) : word("no such criterion"); }

QLabel* makeNamedLine(QWidget* parent, const QString& accessibleName) {
  QLabel* label = makeLine(parent);
  label->setAccessibleDescription(accessibleName);
  return label;
}

}  // namespace

CriteriaChangesModel::CriteriaChangesModel(QObject* parent)
    : RowTableModel({tr("Criterion"), tr("A"), tr("B"), tr("Limit"), tr("Status A"), tr("Status B"), tr("Worst sample of B")}, parent) {}

void CriteriaChangesModel::setChanges(const std::vector<report::CriterionChange>& changes) {
  std::vector<Row> rows;
  for (const report::CriterionChange& c : changes) {
    const CriterionResult& any = c.b ? *c.b : *c.a;
    const bool otherLimit = c.a && c.b && c.a->limit != c.b->limit;
    models::TableCell limit = models::numberCell(any.limit);
    if (otherLimit) limit.text = QStringLiteral("%1 → %2").arg(qt(base::shortNumber(c.a->limit)), qt(base::shortNumber(c.b->limit)));
    models::TableCell id = models::textCell(c.id);
    id.tooltip = any.note.empty() ? id.text : QStringLiteral("%1: %2").arg(id.text, qt(any.note));
    rows.push_back({qt(c.id), {id, measured(c.a), measured(c.b), limit, models::textCell(judged(c.a)), models::textCell(judged(c.b)), models::textCell(c.b ? c.b->worstSample : std::string())}});
  }
  setRows(std::move(rows));
}

RunComparisonView::RunComparisonView(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_head = makeNamedLine(this, tr("From A to B"));
  QFont bold = m_head->font();
  bold.setBold(true);
  m_head->setFont(bold);
  m_policy = makeNamedLine(this, tr("What differs in policy"));
  m_verdict = makeNamedLine(this, tr("Verdicts"));
  m_origins = makeNamedLine(this, tr("Non-finite origins cured and made"));
  m_flips = makeNamedLine(this, tr("Flips cured and made"));
  m_flips->setTextFormat(Qt::RichText);
  m_flips->setTextInteractionFlags(Qt::TextBrowserInteraction);
  m_flips->setAccessibleName(tr("Flips cured and made; each sample is a link"));
  m_criteriaTable = makeTable(this, &m_criteria, tr("Criteria of both verdicts"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2, 4, 2, 2);
  layout->setSpacing(4);
  for (QWidget* widget : std::initializer_list<QWidget*>{m_head, m_policy, m_verdict, m_criteriaTable, m_flips, m_origins}) layout->addWidget(widget);
  layout->addStretch(1);
  connect(m_flips, &QLabel::linkActivated, this, &RunComparisonView::selectSample);
}

void RunComparisonView::selectSample(const QString& link) {
  m_workbench.selection().selectSample(link.toLongLong());
  emit m_workbench.notice(tr("sample %1 selected").arg(qt(m_workbench.session()->samples.ids[static_cast<std::size_t>(link.toLongLong())])));
}

void RunComparisonView::refresh() {
  const models::RunPointer &a = m_workbench.runA(), &b = m_workbench.runB();
  const auto& session = m_workbench.session();
  const bool isPair = session && a && b;
  for (QLabel* label : {m_policy, m_verdict, m_origins, m_flips}) label->setVisible(isPair);
  m_criteriaTable->setVisible(false);
  m_flipsText.clear();
  m_criteria.setChanges({});
  if (!isPair) {
    for (QLabel* label : {m_policy, m_verdict, m_origins, m_flips}) label->clear();
    m_head->setText(session && b ? tr("One run is shown. Choose another as A (select it, press A), or change the policy and press F5.") : QString());
    return;
  }
  const RunChanges changes = report::changesBetween(*a->run, *b->run);
  m_head->setText(comparisonOf(*session, *a->run, *b->run, changes));
  m_policy->setText(tr("differs from A: %1").arg(models::policyChangesText(changes.policy)));
  m_verdict->setText(verdictOf(*a->run, *b->run));
  m_verdict->setVisible(!m_verdict->text().isEmpty());
  m_flipsText = flipsOf(*session, changes, false);
  m_flips->setText(flipsOf(*session, changes, true));
  m_origins->setText(originsOf(changes));
  m_criteria.setChanges(changes.criteria);
  m_criteriaTable->setVisible(!changes.criteria.empty());
  fitColumns(m_criteriaTable);
  const int rows = std::min(m_criteria.rowCount(), kMostCriteriaRows);
  m_criteriaTable->setFixedHeight(m_criteriaTable->horizontalHeader()->sizeHint().height() + rows * m_criteriaTable->verticalHeader()->defaultSectionSize() + 4);
}

QString RunComparisonView::text() const { return m_workbench.runA() && m_workbench.runB() ? m_head->text() : QString(); }
QString RunComparisonView::verdictText() const { return m_verdict->text(); }
QString RunComparisonView::flipsText() const { return m_flipsText; }
QString RunComparisonView::originsText() const { return m_origins->text(); }

}  // namespace ulpscope::views
