#include "widgets/views/scan_controls.h"

#include "widgets/models/text.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/texts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringListModel>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;
using models::ScanChoice;
using session::ScanKind;

constexpr int kIdLetters = 11;
constexpr std::array kKinds{ScanKind::segment, ScanKind::near, ScanKind::plane};

QString kindText(ScanKind kind) {
  switch (kind) {
    case ScanKind::segment: return ScanControls::tr("Segment");
    case ScanKind::near: return ScanControls::tr("Nearest flip");
    case ScanKind::plane: return ScanControls::tr("Plane");
  }
  return {};
}

QString kindMeaning(ScanKind kind) {
  switch (kind) {
    case ScanKind::segment: return ScanControls::tr("From one sample to another: where each run puts the boundary");
    case ScanKind::near: return ScanControls::tr("From each sample along its margin's gradient: the smallest step that flips each run");
    case ScanKind::plane: return ScanControls::tr("The plane through three samples: both runs' boundaries, and where the runs differ");
  }
  return {};
}

}  // namespace

ScanControls::ScanControls(Workbench& workbench, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_ids(new QStringListModel(this)), m_kind(new QComboBox(this)), m_steps(new QSpinBox(this)), m_grid(new QSpinBox(this)), m_limit(new QDoubleSpinBox(this)),
      m_regions(new QCheckBox(tr("with the pending FP32 regions"), this)), m_swap(new QToolButton(this)), m_scan(new QPushButton(tr("Scan"), this)), m_reason(makeLine(this)) {
  makeEditors();
  makeLayout();
  connectEditors();
  refreshSession();
}

QString ScanControls::reason() const { return m_reason->text(); }

void ScanControls::makeEditors() {
  for (const ScanKind kind : kKinds) {
    m_kind->addItem(kindText(kind));
    m_kind->setItemData(m_kind->count() - 1, kindMeaning(kind), Qt::ToolTipRole);
  }
  m_kind->setAccessibleName(tr("Kind of scan"));
  for (int i = 0; i < ScanChoice::kSlotCount; ++i) {
    const auto slot = static_cast<ScanChoice::Slot>(i);
    auto* field = new QLineEdit(this);
    field->setAccessibleName(tr("%1: sample").arg(ScanChoice::slotName(slot)));
    field->setToolTip(tr("A sample's id; or right-click a sample in flips, gallery or heatmap"));
    field->setFixedWidth(field->fontMetrics().averageCharWidth() * kIdLetters + 40);
    auto* completer = new QCompleter(m_ids, field);
    completer->setFilterMode(Qt::MatchContains);
    field->setCompleter(completer);
    m_fields[slot] = field;
  }
  m_swap->setText(QStringLiteral("⇄"));
  m_swap->setToolTip(tr("Swap From and To"));
  m_swap->setAccessibleName(m_swap->toolTip());
  m_steps->setRange(2, static_cast<int>(session::kMostSteps));
  m_steps->setToolTip(tr("Points of the grid, both ends among them. Crossings between them are found to the last float step, and closer where the error reaches the margin"));
  m_grid->setRange(2, static_cast<int>(session::kMostGrid));
  m_grid->setToolTip(tr("Points on a side of the plane"));
  m_limit->setRange(0.001, session::kMostLimit);
  m_limit->setDecimals(3);
  m_limit->setToolTip(tr("The largest step that is tried, in parts of the input's L2 norm"));
  m_steps->setAccessibleName(tr("Steps"));
  m_grid->setAccessibleName(tr("Grid"));
  m_limit->setAccessibleName(tr("Largest step"));
}

QWidget* ScanControls::labelled(const QString& text, QWidget* editor) {
  auto* group = new QWidget(this);
  auto* label = new QLabel(text, group);
  label->setBuddy(editor);
  auto* layout = new QHBoxLayout(group);
  layout->setContentsMargins(0, 0, 6, 0);
  layout->setSpacing(4);
  layout->addWidget(label);
  layout->addWidget(editor);
  return group;
}

void ScanControls::makeLayout() {
  auto* row = new QWidget(this);
  auto* flow = new FlowLayout(row);
  flow->setContentsMargins(0, 0, 0, 0);
  flow->addWidget(labelled(tr("Scan"), m_kind));
  for (int i = 0; i < ScanChoice::kSlotCount; ++i) {
    const auto slot = static_cast<ScanChoice::Slot>(i);
    m_slots[slot] = labelled(ScanChoice::slotName(slot), m_fields[slot]);
    flow->addWidget(m_slots[slot]);
    if (slot == ScanChoice::kFrom) flow->addWidget(m_swap);
  }
  m_stepsGroup = labelled(tr("Steps"), m_steps);
  m_gridGroup = labelled(tr("Grid"), m_grid);
  m_limitGroup = labelled(tr("Up to, × norm"), m_limit);
  for (QWidget* each : std::initializer_list<QWidget*>{m_stepsGroup, m_gridGroup, m_limitGroup, m_regions, m_scan}) flow->addWidget(each);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(row);
  layout->addWidget(m_reason);
}

void ScanControls::connectEditors() {
  ScanChoice& choice = m_workbench.scanChoice();
  connect(m_kind, &QComboBox::currentIndexChanged, this, [&choice](int index) { choice.setKind(kKinds[static_cast<std::size_t>(index)]); });
  for (int i = 0; i < ScanChoice::kSlotCount; ++i) {
    const auto slot = static_cast<ScanChoice::Slot>(i);
    connect(m_fields[slot], &QLineEdit::textChanged, this, [&choice, slot](const QString& text) { choice.setSample(slot, text.trimmed()); });
    connect(m_fields[slot], &QLineEdit::returnPressed, this, [this] {
      if (m_scan->isEnabled() && !m_workbench.isScanning()) start();
    });
  }
  connect(m_swap, &QToolButton::clicked, this, [&choice] { choice.swapEnds(); });
  const auto numbers = [this, &choice] { choice.setNumbers(m_steps->value(), m_grid->value(), m_limit->value()); };
  connect(m_steps, &QSpinBox::valueChanged, this, numbers);
  connect(m_grid, &QSpinBox::valueChanged, this, numbers);
  connect(m_limit, &QDoubleSpinBox::valueChanged, this, numbers);
  connect(m_regions, &QCheckBox::toggled, this, [&choice](bool isOn) { choice.setWithRegions(isOn); });
  connect(m_scan, &QPushButton::clicked, this, [this] { m_workbench.isScanning() ? m_workbench.cancel() : start(); });
  connect(&choice, &ScanChoice::changed, this, &ScanControls::refresh);
  connect(&m_workbench, &Workbench::viewChanged, this, &ScanControls::refreshSession);
  connect(&m_workbench, &Workbench::sessionChanged, this, &ScanControls::refreshSession);
  for (const auto signal : {&Workbench::regionsChanged, &Workbench::runningChanged}) connect(&m_workbench, signal, this, &ScanControls::refresh);
}

void ScanControls::refreshSession() {
  if (const auto& session = m_workbench.session(); session != m_session) {
    m_session = session;
    QStringList ids;
    if (session)
      for (const std::string& id : session->samples.ids) ids << qt(id);
    m_ids->setStringList(ids);
  }
  refresh();
}

void ScanControls::refresh() {
  const ScanChoice& choice = m_workbench.scanChoice();
  const ScanKind kind = choice.kind();
  const auto quietly = [](auto* editor, const auto& value) {
    const QSignalBlocker blocker(editor);
    if (editor->value() != value) editor->setValue(value);
  };
  m_kind->setCurrentIndex(static_cast<int>(std::find(kKinds.begin(), kKinds.end(), kind) - kKinds.begin()));
  m_kind->setToolTip(kindMeaning(kind));
  for (int i = 0; i < ScanChoice::kSlotCount; ++i) {
    const auto slot = static_cast<ScanChoice::Slot>(i);
    m_slots[slot]->setVisible(i < ScanChoice::slotsOf(kind));
    const QSignalBlocker blocker(m_fields[slot]);
    if (m_fields[slot]->text().trimmed() != choice.sample(slot)) m_fields[slot]->setText(choice.sample(slot));
    m_fields[slot]->setPlaceholderText(kind == ScanKind::near ? tr("all samples") : tr("sample id"));
  }
  quietly(m_steps, static_cast<int>(choice.request().steps));
  quietly(m_grid, static_cast<int>(choice.request().grid));
  quietly(m_limit, choice.request().limit);
  m_swap->setVisible(kind != ScanKind::near);
  m_stepsGroup->setVisible(kind == ScanKind::segment);
  m_gridGroup->setVisible(kind == ScanKind::plane);
  m_limitGroup->setVisible(kind == ScanKind::near);

  const models::RunPointer& run = m_workbench.shownRun();
  const auto added = run ? models::addedRegions(run->run->settings, m_workbench.regions()) : std::nullopt;
  const bool hasPending = run && !(models::Fp32Regions(run->run->settings) == m_workbench.regions());
  m_regions->setVisible(hasPending);
  m_regions->setEnabled(added.has_value());
  m_regions->setChecked(choice.withRegions() && added.has_value());
  m_regions->setToolTip(added ? tr("Scans with %1, beside the regions of %2").arg(added->changesFrom({}).join(QStringLiteral(", ")), run->shortName())
                              : tr("The pending choice takes regions of the shown run away; a scan can only add to them: show a run without them, or re-run (F5)"));
  const QString whyNot = models::whyNoScan(run, m_workbench.readOnlyReason());
  const bool isScanning = m_workbench.isScanning(), isBusy = m_workbench.isRunning() && !isScanning;
  const QString problem = !whyNot.isEmpty() ? whyNot : models::scanProblem(choice, *run->session);
  m_reason->setText(isBusy ? tr("A run is going on; scan when it has ended.") : isScanning ? QString() : problem);
  m_reason->setVisible(!m_reason->text().isEmpty());
  for (QWidget* each : std::initializer_list<QWidget*>{m_kind, m_slots[0], m_slots[1], m_slots[2], m_swap, m_stepsGroup, m_gridGroup, m_limitGroup}) each->setEnabled(whyNot.isEmpty() && !isScanning);
  m_scan->setText(isScanning ? tr("Cancel") : tr("Scan"));
  m_scan->setToolTip(isScanning ? tr("End the scan (Shift+F5); nothing of it is stored") : tr("Evaluate both runs between these samples"));
  m_scan->setEnabled(isScanning ? !m_workbench.isCancelling() : problem.isEmpty() && !isBusy);
}

void ScanControls::start() {
  const models::RunPointer& run = m_workbench.shownRun();
  m_workbench.scan(models::scanRequest(m_workbench.scanChoice(), run, m_workbench.regions()));
}

}  // namespace ulpscope::views
