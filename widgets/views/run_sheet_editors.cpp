// The run sheet's widgets: one editor a field, its name before it, its meaning or its problem below it.
#include "widgets/views/run_sheet.h"

#include "widgets/models/text.h"
#include "widgets/views/snippet_dialog.h"
#include "widgets/views/texts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::RunField;

constexpr int kPageWidth = 860;
constexpr int kLookDelayMs = 400;
constexpr int kMostBatch = 1 << 20;
constexpr int kMostBudgetMiB = 1 << 20;
const QStringList kRules{QStringLiteral("none"), QStringLiteral("argmax"), QStringLiteral("argmin"), QStringLiteral("topk"), QStringLiteral("threshold"), QStringLiteral("exact"), QStringLiteral("regression")};

// The editor may stand in a row of its own with a button.
template <typename T>
T* inside(QWidget* editor) {
  auto* self = qobject_cast<T*>(editor);
  return self != nullptr ? self : editor->findChild<T*>();
}

}  // namespace

RunSheet::RunSheet(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  auto* page = new QWidget;
  page->setMaximumWidth(kPageWidth);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(16, 14, 16, 14);
  layout->addWidget(makeHead());
  auto* grid = new QGridLayout;
  addSection(grid, tr("Experiment"), {RunField::model, RunField::inputs, RunField::labels, RunField::classNames, RunField::session});
  addSection(grid, tr("Decisions"), {RunField::decision, RunField::decisionOutput, RunField::tie});
  addSection(grid, tr("Precision"), {RunField::autocast, RunField::policy, RunField::mode, RunField::fp32, RunField::disable});
  layout->addLayout(grid);
  m_more = new QToolButton(page);
  m_more->setText(tr("More: batches, seed, what is observed and stored"));
  m_more->setCheckable(true);
  m_more->setArrowType(Qt::RightArrow);
  m_more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  layout->addWidget(m_more);
  m_moreArea = new QWidget(page);
  auto* more = new QGridLayout(m_moreArea);
  more->setContentsMargins(0, 0, 0, 0);
  addSection(more, tr("Run"), {RunField::batchSize, RunField::seed, RunField::trainMode, RunField::observe, RunField::capture, RunField::captureBudget, RunField::noiseFloor, RunField::referee,
                               RunField::verifyProbe, RunField::castCache, RunField::allowNonfinite});
  m_moreArea->hide();
  layout->addWidget(m_moreArea);
  layout->addStretch(1);
  auto* scroll = new QScrollArea(this);
  auto* centred = new QWidget;
  auto* row = new QHBoxLayout(centred);
  row->setContentsMargins(0, 0, 0, 0);
  row->addStretch(1);
  row->addWidget(page, 100);
  row->addStretch(1);
  scroll->setWidget(centred);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setAccessibleName(tr("Run sheet"));
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->setSpacing(0);
  outer->addWidget(scroll, 1);
  outer->addWidget(makeButtons());
  connect(m_more, &QToolButton::toggled, this, [this](bool open) {
    m_moreArea->setVisible(open);
    m_more->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
  });
  m_lookTimer.setSingleShot(true);
  m_lookTimer.setInterval(kLookDelayMs);
  connect(&m_lookTimer, &QTimer::timeout, this, &RunSheet::look);
  for (const RunField field : {RunField::model, RunField::inputs, RunField::labels, RunField::classNames})
    connect(lineEdit(field), &QLineEdit::textChanged, this, [this] { m_isShowing ? void() : m_lookTimer.start(); });
  connect(&workbench.engine(), &jobs::EngineProcess::opened, this, &RunSheet::showFacts);
  connect(&workbench.engine(), &jobs::EngineProcess::openFailed, this, &RunSheet::showLookError);
  connect(&workbench.engine(), &jobs::EngineProcess::greeted, this, &RunSheet::fillPolicies);
  connect(&workbench, &Workbench::runningChanged, this, &RunSheet::refresh);
}

void RunSheet::fillPolicies() {
  for (const QString& table : m_workbench.engine().policyTables())
    if (combo(RunField::policy)->findText(table) < 0) combo(RunField::policy)->addItem(table);
}

QWidget* RunSheet::makeHead() {
  auto* head = new QWidget(this);
  m_title = makeText({}, 1.5, true, head);
  m_subtitle = makeText({}, 1.0, false, head);
  m_facts = makeText({}, 1.0, false, head);
  m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_facts->setMinimumHeight(3 * m_facts->fontMetrics().lineSpacing());  // nothing below jumps when they come
  m_facts->setAlignment(Qt::AlignTop);
  m_facts->setObjectName(QStringLiteral("facts"));
  m_facts->setAccessibleName(tr("What was found in model and inputs"));
  auto* snippet = new QPushButton(tr("Export from Python…"), head);
  connect(snippet, &QPushButton::clicked, this, [this] { SnippetDialog(this).exec(); });
  auto* layout = new QGridLayout(head);
  layout->setContentsMargins(0, 0, 0, 6);
  layout->addWidget(m_title, 0, 0);
  layout->addWidget(snippet, 0, 1, Qt::AlignRight | Qt::AlignTop);
  layout->addWidget(m_subtitle, 1, 0, 1, 2);
  layout->addWidget(m_facts, 2, 0, 1, 2);
  layout->setColumnStretch(0, 1);
  return head;
}

QWidget* RunSheet::makeButtons() {
  auto* bar = new QWidget(this);
  m_summary = new QLabel(bar);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setMinimumWidth(10);
  auto* cancel = new QPushButton(tr("Back"), bar);
  m_goOn = new QPushButton(tr("Run"), bar);
  m_goOn->setDefault(true);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(16, 8, 16, 8);
  layout->addWidget(m_summary, 1);
  layout->addWidget(cancel);
  layout->addWidget(m_goOn);
  connect(cancel, &QPushButton::clicked, this, &RunSheet::cancelled);
  connect(m_goOn, &QPushButton::clicked, this, [this] {
    refresh();
    if (m_problems.empty()) emit goOn(form());
  });
  return bar;
}

void RunSheet::addSection(QGridLayout* grid, const QString& title, std::initializer_list<RunField> fields) {
  grid->setColumnMinimumWidth(0, fontMetrics().horizontalAdvance(QStringLiteral("Intended NaN or inf  ")));
  grid->setColumnStretch(1, 1);
  grid->setVerticalSpacing(2);
  int row = grid->rowCount();
  QLabel* head = makeText(title, 1.12, true, this);
  head->setContentsMargins(0, 12, 0, 2);
  grid->addWidget(head, row++, 0, 1, 2);
  for (const RunField field : fields) {
    QWidget* editor = makeEditor(field);
    m_editors[field] = editor;
    auto* name = new QLabel(models::textOf(field).name, this);
    name->setBuddy(editor);
    name->setContentsMargins(0, 6, 0, 0);
    auto* note = makeText(models::textOf(field).meaning, 0.9, false, this);
    m_notes[field] = note;
    grid->addWidget(name, row, 0, Qt::AlignTop);
    grid->addWidget(editor, row++, 1);
    grid->addWidget(note, row++, 1);
    grid->setRowMinimumHeight(row - 1, 22);
  }
}

QComboBox* RunSheet::makeCombo(RunField field, const QStringList& items) {
  auto* combo = new QComboBox(this);
  combo->addItems(items);
  combo->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  combo->setAccessibleName(models::textOf(field).name);
  connect(combo, &QComboBox::currentIndexChanged, this, &RunSheet::changed);
  return combo;
}

QWidget* RunSheet::makeEditor(RunField field) {
  const auto makeBox = [&] {
    auto* box = new QCheckBox(tr("on"), this);
    box->setAccessibleName(models::textOf(field).name);
    connect(box, &QCheckBox::toggled, this, &RunSheet::changed);
    return box;
  };
  const auto makeNumber = [&](int least, int most, const QString& unit) {
    auto* number = new QSpinBox(this);
    number->setRange(least, most);
    number->setSuffix(unit);
    number->setGroupSeparatorShown(true);
    number->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    number->setAccessibleName(models::textOf(field).name);
    connect(number, &QSpinBox::valueChanged, this, &RunSheet::changed);
    return number;
  };
  switch (field) {
    case RunField::model: case RunField::inputs: case RunField::labels: case RunField::classNames: case RunField::session: return makePathEditor(field);
    case RunField::decision: return makeDecisionEditor();
    case RunField::tie: return makeCombo(field, {QStringLiteral("first"), QStringLiteral("flag"), QStringLiteral("refuse")});
    case RunField::autocast: return makeCombo(field, {QStringLiteral("FP16"), QStringLiteral("BF16")});
    case RunField::policy: return makeCombo(field, {QStringLiteral("cuda"), QStringLiteral("cpu")});
    case RunField::mode: return makeCombo(field, {QStringLiteral("emulated"), QStringLiteral("native")});
    case RunField::observe: return makeCombo(field, {QStringLiteral("full"), QStringLiteral("stats"), QStringLiteral("outputs")});
    case RunField::trainMode: case RunField::noiseFloor: case RunField::referee: case RunField::verifyProbe: case RunField::castCache: return makeBox();
    case RunField::batchSize: return makeNumber(1, kMostBatch, {});
    case RunField::captureBudget: return makeNumber(0, kMostBudgetMiB, QStringLiteral(" MiB"));
    default: break;
  }
  auto* line = new QLineEdit(this);
  line->setAccessibleName(models::textOf(field).name);
  connect(line, &QLineEdit::textChanged, this, &RunSheet::changed);
  return line;
}

QWidget* RunSheet::makePathEditor(RunField field) {
  auto* editor = new QWidget(this);
  auto* line = new QLineEdit(editor);
  line->setAccessibleName(models::textOf(field).name);
  auto* browse = new QPushButton(tr("…"), editor);
  browse->setStyleSheet(QStringLiteral("padding-left: 9px; padding-right: 9px;"));  // one character needs no more
  browse->setToolTip(tr("Choose the file"));
  browse->setAccessibleName(tr("Choose the file: %1").arg(models::textOf(field).name));
  auto* layout = new QHBoxLayout(editor);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(line, 1);
  layout->addWidget(browse);
  editor->setFocusProxy(line);
  connect(line, &QLineEdit::textChanged, this, &RunSheet::changed);
  connect(browse, &QPushButton::clicked, this, [this, field] { choosePath(field); });
  return editor;
}

QWidget* RunSheet::makeDecisionEditor() {
  auto* editor = new QWidget(this);
  QComboBox* rule = makeCombo(RunField::decision, kRules);
  m_decisionArgument = new QLineEdit(editor);
  m_decisionArgument->setAccessibleName(tr("Parameters of the decision"));
  m_decisionArgument->setPlaceholderText(tr("argmax, argmin: axis · topk: K or K:axis · threshold: T, T:gt or T:ge"));
  auto* layout = new QHBoxLayout(editor);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(rule);
  layout->addWidget(m_decisionArgument, 1);
  editor->setFocusProxy(rule);
  connect(m_decisionArgument, &QLineEdit::textChanged, this, &RunSheet::changed);
  return editor;
}

void RunSheet::choosePath(RunField field) {
  QLineEdit* line = lineEdit(field);
  const QString start = line->text().isEmpty() ? QFileInfo(lineEdit(RunField::model)->text()).absolutePath() : line->text();
  const QString title = models::textOf(field).name;
  QString path;
  switch (field) {
    case RunField::session: path = QFileDialog::getSaveFileName(this, title, start, tr("Ulpscope sessions (*.ulps)"), nullptr, QFileDialog::DontConfirmOverwrite); break;
    case RunField::model: path = QFileDialog::getOpenFileName(this, title, start, tr("TorchScript (*.ts *.pt *.pth *.torchscript);;All files (*)")); break;
    case RunField::inputs: path = QFileDialog::getOpenFileName(this, title, start, tr("Inputs (*.h5 *.hdf5 *.nxs *.pt *.ts *.npz *.npy *.safetensors preprocessing.json);;All files (*)")); break;
    default: path = QFileDialog::getOpenFileName(this, title, start); break;
  }
  if (field == RunField::inputs && QFileInfo(path).fileName() == u"preprocessing.json") path = QFileInfo(path).absolutePath();  // of a folder of images
  if (!path.isEmpty()) line->setText(path);
}

QLineEdit* RunSheet::lineEdit(RunField field) const { return inside<QLineEdit>(m_editors.at(field)); }
QComboBox* RunSheet::combo(RunField field) const { return inside<QComboBox>(m_editors.at(field)); }
QCheckBox* RunSheet::box(RunField field) const { return inside<QCheckBox>(m_editors.at(field)); }
QSpinBox* RunSheet::number(RunField field) const { return inside<QSpinBox>(m_editors.at(field)); }

}  // namespace ulpscope::views
