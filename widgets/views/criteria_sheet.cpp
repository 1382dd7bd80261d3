#include "widgets/views/criteria_sheet.h"

#include "core/base/number_text.h"
#include "core/session/criteria.h"
#include "widgets/models/text.h"
#include "widgets/plots/theme.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <nlohmann/json.hpp>

#include <QCheckBox>
#include <QEvent>
#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <QStyle>
#include <QTableView>
#include <QUndoCommand>
#include <QVBoxLayout>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::core;
using models::CriteriaModel;
using models::qt;
using nlohmann::json;

constexpr double kNamesShare = 0.65;  // of the table, for all but what is measured
constexpr qint64 kMostBytes = 16 << 20;
constexpr const char* kDecisions = "decisions";
constexpr const char* kNoDecision = "no_decision_is_flip";
constexpr const char* kNoise = "flips_within_noise_floor_count";

class ChangeDocument : public QUndoCommand {
 public:
  ChangeDocument(const QString& text, std::string before, std::string after, std::function<void(const std::string&)> apply)
      : QUndoCommand(text), m_before(std::move(before)), m_after(std::move(after)), m_apply(std::move(apply)) {}
  void undo() override { m_apply(m_before); }
  void redo() override { m_apply(m_after); }

 private:
  std::string m_before, m_after;
  std::function<void(const std::string&)> m_apply;
};

json parsed(const std::string& text) { return json::parse(text, nullptr, false); }

bool flagOf(const json& document, const char* key) {
  const json section = document.is_object() ? document.value(kDecisions, json::object()) : json::object();
  return !section.is_object() || !section.contains(key) || section[key] != json(false);
}

}  // namespace

CriteriaSheet::CriteriaSheet(QWidget* parent) : QWidget(parent) {
  m_confirm = [this](const QString& text) {
    QMessageBox box(QMessageBox::Question, tr("Lock the criteria"), text, QMessageBox::Cancel, this);
    const QPushButton* yes = box.addButton(m_lock->text().remove(QStringLiteral("…")), QMessageBox::AcceptRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    return box.clickedButton() == yes;
  };
  QLabel* title = makeText(tr("Acceptance criteria"), 1.5, true, this);
  m_about = makeText({}, 1, false, this);
  m_name = new QLineEdit(this);
  m_name->setPlaceholderText(tr("Title of these criteria, for verdict and reports"));
  m_name->setAccessibleName(tr("Title of the criteria"));
  m_table = makeTable(this, &m_model, tr("Limits"));
  m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed | QAbstractItemView::AnyKeyPressed);
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->setWordWrap(true);
  m_table->viewport()->installEventFilter(this);
  m_problem = makeText({}, 1, false, this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 14, 16, 8);
  for (QWidget* widget : std::initializer_list<QWidget*>{title, m_about, m_name, makeTools()}) layout->addWidget(widget);
  layout->addWidget(m_table, 1);
  layout->addWidget(m_problem);
  layout->addWidget(makeButtons());

  connect(&m_model, &CriteriaModel::modelReset, this, &CriteriaSheet::fitTable);
  connect(&m_model, &CriteriaModel::dataChanged, this, [this] {
    if (const int needed = widthOf(CriteriaModel::kLimit); needed > m_table->columnWidth(CriteriaModel::kLimit)) m_table->setColumnWidth(CriteriaModel::kLimit, needed);
  });
  connect(m_table->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
    if (!m_isFitting && column < CriteriaModel::kMeaning) m_hasOwnWidths = true;
    if (!m_isFitting) m_table->resizeRowsToContents();
  });
  connect(&m_model, &CriteriaModel::limitEdited, this, [this](const QString& pointer, std::optional<double> limit) {
    change(tr("limit"), session::withLimit(parsed(m_document), core(pointer), limit).dump());
  });
  connect(&m_model, &CriteriaModel::refused, this, [this](const QString& why) {
    m_problem->setText(QStringLiteral("✕ ") + why);
    m_problem->setStyleSheet(QStringLiteral("color: %1;").arg(plots::themeOf(this).bad.name()));
  });
  connect(m_name, &QLineEdit::editingFinished, this, [this] {
    json document = parsed(m_document);
    if (!document.is_object() || qt(document.value("title", std::string())) == m_name->text()) return;
    document["title"] = core(m_name->text());
    change(tr("title"), document.dump());
  });
}

int CriteriaSheet::widthOf(int column) const {
  int text = 0;
  for (int row = 0; row < m_model.rowCount(); ++row) text = std::max(text, m_table->fontMetrics().horizontalAdvance(m_model.index(row, column).data().toString()));
  const int margins = 2 * (m_table->style()->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, m_table) + 1);
  return std::max(text + margins, m_table->horizontalHeader()->sectionSizeHint(column)) + m_table->fontMetrics().averageCharWidth();
}

// Each column as wide as its text, and what is long wraps; widths that somebody chose stay until other criteria are written.
void CriteriaSheet::fitTable() {
  m_isFitting = true;
  const int room = m_table->viewport()->width();
  const int about = widthOf(CriteriaModel::kAbout), name = widthOf(CriteriaModel::kName), limit = widthOf(CriteriaModel::kLimit);
  const double most = kNamesShare * room;
  const double share = about + name + limit > most ? std::max(0.0, most - limit) / (about + name) : 1;
  if (!m_hasOwnWidths) {
    m_table->setColumnWidth(CriteriaModel::kAbout, static_cast<int>(share * about));
    m_table->setColumnWidth(CriteriaModel::kName, static_cast<int>(share * name));
    m_table->setColumnWidth(CriteriaModel::kLimit, limit);
  }
  m_table->resizeRowsToContents();
  m_isFitting = false;
}

bool CriteriaSheet::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table->viewport() && event->type() == QEvent::Resize) fitTable();
  return QWidget::eventFilter(watched, event);
}

// A QUndoStack says "cleared" when it dies, and who listens may be half gone by then.
CriteriaSheet::~CriteriaSheet() { m_undoStack.blockSignals(true); }

QWidget* CriteriaSheet::makeTools() {
  auto* bar = new QWidget(this);
  auto* layout = new FlowLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  const auto add = [&](const QString& text, auto&& act) {
    auto* button = new QPushButton(text, bar);
    connect(button, &QPushButton::clicked, this, act);
    layout->addWidget(button);
    return button;
  };
  add(tr("Open…"), [this] {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open criteria"), {}, tr("Criteria (*.json);;All files (*)"));
    if (!path.isEmpty()) open(path);
  });
  add(tr("Save as…"), [this] {
    const QString path = QFileDialog::getSaveFileName(this, tr("Save the criteria"), QStringLiteral("criteria.json"), tr("Criteria (*.json)"));
    if (!path.isEmpty()) saveAs(path);
  });
  add(tr("Add output…"), [this] { addSection(false); });
  add(tr("Add op sites…"), [this] { addSection(true); });
  add(tr("Remove"), [this] { removeSection(); })->setToolTip(tr("Takes the selected line's whole group out"));
  m_noDecisionCounts = new QCheckBox(tr("NaN scores count as a flip"), bar);
  m_noiseCounts = new QCheckBox(tr("flips of FP32's own noise count"), bar);
  m_showAll = new QCheckBox(tr("every limit"), bar);
  m_showAll->setToolTip(tr("Also the limits that are seldom set"));
  const int line = bar->findChild<QPushButton*>()->sizeHint().height();
  for (QCheckBox* box : {m_noDecisionCounts, m_noiseCounts, m_showAll}) {
    box->setMinimumHeight(line);
    layout->addWidget(box);
  }
  connect(m_noDecisionCounts, &QCheckBox::clicked, this, [this](bool on) { setFlag(kDecisions, kNoDecision, on); });
  connect(m_noiseCounts, &QCheckBox::clicked, this, [this](bool on) { setFlag(kDecisions, kNoise, on); });
  connect(m_showAll, &QCheckBox::toggled, this, &CriteriaSheet::refresh);
  return bar;
}

QWidget* CriteriaSheet::makeButtons() {
  auto* bar = new QWidget(this);
  auto* back = new QPushButton(tr("Back"), bar);
  m_lock = new QPushButton(tr("Lock and run…"), bar);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(makeText(tr("A limit is edited by a double click or F2. None is proposed: only you know what is acceptable."), 1, false, bar), 1);
  layout->addWidget(back);
  layout->addWidget(m_lock);
  connect(back, &QPushButton::clicked, this, &CriteriaSheet::cancelled);
  connect(m_lock, &QPushButton::clicked, this, &CriteriaSheet::lock);
  return bar;
}

void CriteriaSheet::begin(const QString& about, const std::vector<std::string>& outputs, const std::string& decisionRule) {
  m_about->setText(about);
  m_lock->setText(tr("Lock and run…"));
  const auto rule = session::parseDecisionRule(decisionRule);
  m_undoStack.clear();
  m_hasOwnWidths = false;
  fitTable();
  setDocument(session::criteriaTemplate(outputs.empty() ? std::vector<std::string>{"*"} : outputs, rule.ok() ? rule.value() : session::DecisionRule()).dump());
  m_isChanged = false;
}

void CriteriaSheet::beginRevision(const QString& about, const std::string& canonical) {
  m_about->setText(about);
  m_lock->setText(tr("Lock the revision…"));
  m_undoStack.clear();
  m_hasOwnWidths = false;
  fitTable();
  setDocument(canonical);
  m_isChanged = false;
}

void CriteriaSheet::change(const QString& what, std::string document) {
  if (document == m_document) return;
  m_undoStack.push(new ChangeDocument(what, m_document, std::move(document), [this](const std::string& text) { setDocument(text); }));
}

void CriteriaSheet::setDocument(const std::string& document) {
  m_document = document;
  m_isChanged = true;
  refresh();
}

void CriteriaSheet::setFlag(const char* section, const char* key, bool on) {
  json document = parsed(m_document);
  if (!document.is_object()) return;
  document[section][key] = on;
  change(tr("rule"), document.dump());
}

void CriteriaSheet::addSection(bool ofSites) {
  bool isChosen = false;
  const QString name = QInputDialog::getText(this, ofSites ? tr("Limits of op sites") : tr("Limits of an output"),
                                             ofSites ? tr("Module path, op site or glob (. is all):") : tr("Name of the output, or a glob (* is every one):"), QLineEdit::Normal, {}, &isChosen);
  if (!isChosen || name.trimmed().isEmpty()) return;
  const json document = parsed(m_document);
  change(tr("group"), (ofSites ? session::withSites(document, core(name.trimmed())) : session::withOutput(document, core(name.trimmed()))).dump());
  m_showAll->setChecked(true);
}

void CriteriaSheet::removeSection() {
  const QString pointer = m_table->currentIndex().data(CriteriaModel::kPointerRole).toString();
  if (!pointer.isEmpty()) change(tr("remove"), session::withoutSection(parsed(m_document), core(pointer)).dump());
}

QString CriteriaSheet::problem() const {
  const auto criteria = session::criteriaFromJson(session::withoutEmptyLimits(parsed(m_document)));
  return criteria.ok() ? QString() : qt(criteria.error().message());
}

void CriteriaSheet::refresh() {
  const json document = parsed(m_document);
  const auto lines = session::criteriaLines(document);
  m_model.setLines(lines.ok() ? lines.value() : std::vector<session::CriteriaLine>(), m_showAll->isChecked());
  m_name->setText(document.is_object() ? qt(document.value("title", std::string())) : QString());
  m_noDecisionCounts->setChecked(flagOf(document, kNoDecision));
  m_noiseCounts->setChecked(flagOf(document, kNoise));
  const bool decides = document.is_object() && document.contains(kDecisions);
  m_noDecisionCounts->setEnabled(decides);
  m_noiseCounts->setEnabled(decides);
  const QString problem = this->problem();
  const plots::Theme& theme = plots::themeOf(this);
  m_problem->setText(problem.isEmpty() ? tr("Complete: lines that are not judged are left out of the lock.") : problem);
  m_problem->setStyleSheet(QStringLiteral("color: %1;").arg((problem.isEmpty() ? theme.good : theme.muted).name()));
  m_lock->setEnabled(problem.isEmpty());
}

bool CriteriaSheet::open(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > kMostBytes) {
    m_problem->setText(tr("%1 cannot be read: %2").arg(path, file.size() > kMostBytes ? tr("it is too large for criteria") : file.errorString()));
    return false;
  }
  const json document = parsed(file.readAll().toStdString());
  const auto lines = document.is_discarded() ? base::Result<std::vector<session::CriteriaLine>>(base::Error{base::ErrorKind::input, "is no JSON", core(path), "choose a criteria file"}) : session::criteriaLines(document);
  if (!lines.ok()) {
    m_problem->setText(qt(lines.error().within(core(path)).message()));
    return false;
  }
  change(tr("open %1").arg(path), document.dump());
  m_isChanged = false;
  return true;
}

bool CriteriaSheet::saveAs(const QString& path) {
  QSaveFile file(path);
  const std::string text = parsed(m_document).dump(2) + "\n";
  const bool isWritten = file.open(QIODevice::WriteOnly) && file.write(text.data(), static_cast<qint64>(text.size())) >= 0 && file.commit();
  m_isChanged = m_isChanged && !isWritten;
  m_problem->setText(isWritten ? tr("Saved as %1.").arg(path) : tr("%1 cannot be written: %2").arg(path, file.errorString()));
  return isWritten;
}

void CriteriaSheet::lock() {
  const auto criteria = session::criteriaFromJson(session::withoutEmptyLimits(parsed(m_document)));
  if (!criteria.ok()) return refresh();
  const QString text = tr("%1 will be locked with the session and judged by every run in it (SHA-256 %2).\n\nA lock is never undone. A later revision is possible; it says that results had been seen.")
                           .arg(qt(base::counted(static_cast<std::int64_t>(criteria->list.size()), "limit")), qt(criteria->sha256.substr(0, 12)));
  if (!m_confirm(text)) return;
  m_isChanged = false;
  emit locked(criteria->canonical);
}

}  // namespace ulpscope::views
