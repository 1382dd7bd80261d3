#include "widgets/views/add_point_dialog.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/views/texts.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include <algorithm>
#include <set>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;

constexpr int kNotKnown = 1;  // place in the list of labels, after the question

// Class names, or the labels that the set has.
void fillLabels(QComboBox* box, const session::SampleSet& set) {
  box->addItem(AddPointDialog::tr("choose…"));
  box->addItem(AddPointDialog::tr("not known: leave the labels out"));
  std::set<std::int64_t> labels(set.labels.begin(), set.labels.end());
  for (std::size_t i = 0; i < set.classNames.size(); ++i) labels.insert(static_cast<std::int64_t>(i));
  for (const std::int64_t label : labels) {
    const bool hasName = label >= 0 && label < static_cast<std::int64_t>(set.classNames.size());
    box->addItem(hasName ? qt(set.classNames[static_cast<std::size_t>(label)]) : QString::number(label), QVariant::fromValue(static_cast<qlonglong>(label)));
  }
}

QString freePath(const QString& sessionPath, const QString& inputs) {
  const QDir folder = QFileInfo(sessionPath).dir();
  const QString stem = QFileInfo(inputs).completeBaseName() + QStringLiteral("-boundary");
  QString path = folder.filePath(stem + QStringLiteral(".h5"));
  for (int i = 2; QFileInfo::exists(path); ++i) path = folder.filePath(QStringLiteral("%1-%2.h5").arg(stem).arg(i));
  return path;
}

}  // namespace

QString boundaryId(const jobs::ScanPlace& place) {
  const session::Scan& scan = place.scan->scan;
  QStringList samples;
  for (const std::string& id : scan.sampleIds) samples << qt(id);
  const QStringList names = scan.plane ? QStringList{QStringLiteral("u"), QStringLiteral("v")} : QStringList{QStringLiteral("t")};
  QString id = QStringLiteral("boundary: %1").arg(samples.join(QStringLiteral("..")));
  for (std::size_t i = 0; i < place.coefficients.size() && static_cast<qsizetype>(i) < names.size(); ++i) id += QStringLiteral(" %1=%2").arg(names[static_cast<qsizetype>(i)], qt(base::exactNumber(place.coefficients[i])));
  const auto& ids = place.scan->session->samples.ids;
  const QString first = id;
  for (int i = 2; std::find(ids.begin(), ids.end(), core(id)) != ids.end(); ++i) id = QStringLiteral("%1 (%2)").arg(first).arg(i);
  return id;
}

AddPointDialog::AddPointDialog(const jobs::ScanPlace& place, const QString& sessionPath, QWidget* parent)
    : QDialog(parent), m_place(place), m_id(new QLineEdit(this)), m_path(new QLineEdit(this)), m_label(new QComboBox(this)), m_statement(makeLine(this)), m_problem(makeLine(this)) {
  setWindowTitle(tr("Add a boundary input"));
  makeFields(sessionPath);
  makeLayout();
  for (const QLineEdit* field : {m_id, m_path}) connect(field, &QLineEdit::textChanged, this, &AddPointDialog::refresh);
  connect(m_label, &QComboBox::currentIndexChanged, this, &AddPointDialog::refresh);
  resize(640, sizeHint().height());
  refresh();
}

QString AddPointDialog::statement() const { return m_statement->text(); }
QString AddPointDialog::problem() const { return m_problem->text(); }

void AddPointDialog::makeFields(const QString& sessionPath) {
  const session::SampleSet& set = m_place.scan->session->samples;
  m_id->setText(boundaryId(m_place));
  m_id->setAccessibleName(tr("Name of the new sample"));
  m_path->setText(freePath(sessionPath, qt(set.path)));
  m_path->setAccessibleName(tr("New inputs file"));
  m_label->setAccessibleName(tr("Its label"));
  m_label->setToolTip(tr("What is true of a point between two samples nobody knows but you"));
  fillLabels(m_label, set);
}

void AddPointDialog::makeLayout() {
  const bool hasLabels = !m_place.scan->session->samples.labels.empty();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  m_write = buttons->addButton(tr("Write and set up a new session"), QDialogButtonBox::AcceptRole);
  m_write->setDefault(true);
  auto* choose = new QPushButton(tr("Choose…"), this);
  choose->setAccessibleName(tr("Choose the new inputs file"));
  connect(choose, &QPushButton::clicked, this, &AddPointDialog::choosePath);
  auto* label = new QLabel(tr("Its label:"), this);
  auto* layout = new QGridLayout(this);
  layout->addWidget(new QLabel(tr("New sample:"), this), 0, 0);
  layout->addWidget(m_id, 0, 1, 1, 2);
  layout->addWidget(label, 1, 0);
  layout->addWidget(m_label, 1, 1, 1, 2);
  layout->addWidget(new QLabel(tr("New inputs file:"), this), 2, 0);
  layout->addWidget(m_path, 2, 1);
  layout->addWidget(choose, 2, 2);
  layout->addWidget(m_statement, 3, 0, 1, 3);
  layout->addWidget(m_problem, 4, 0, 1, 3);
  layout->addWidget(buttons, 5, 0, 1, 3);
  label->setVisible(hasLabels);
  m_label->setVisible(hasLabels);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void AddPointDialog::choosePath() {
  const QString path = QFileDialog::getSaveFileName(this, tr("New inputs file"), m_path->text(), tr("Inputs (*.h5)"));
  if (!path.isEmpty()) m_path->setText(path);
}

jobs::PointWriter::Order AddPointDialog::order() const {
  jobs::PointWriter::Order order{m_place, QFileInfo(m_path->text()).absoluteFilePath(), m_id->text().trimmed(), {}};
  if (const QVariant label = m_label->currentData(); label.isValid()) order.label = label.toLongLong();
  return order;
}

void AddPointDialog::refresh() {
  const session::SampleSet& set = m_place.scan->session->samples;
  QStringList holds{tr("The new file holds the %1 of this set and the point, of kind boundary. This session and its file stay as they are.").arg(qt(base::counted(static_cast<std::int64_t>(set.ids.size()), "sample")))};
  if (set.kinds.empty()) holds << tr("The set says no kinds: its own samples become common.");
  if (!set.labels.empty() && m_label->currentIndex() == kNotKnown) holds << tr("Labels are left out, for all samples: that of the point is not known.");
  if (!set.targets.empty()) holds << tr("Targets are left out: that of the point is not known.");
  holds << tr("Outputs that were saved with the set are left out: there is none of the point.");
  m_statement->setText(holds.join(u' '));
  QString problem;
  const QFileInfo file(m_path->text());
  if (m_id->text().trimmed().isEmpty()) problem = tr("Give the new sample a name.");
  else if (std::find(set.ids.begin(), set.ids.end(), core(m_id->text().trimmed())) != set.ids.end()) problem = tr("A sample of this set has that name.");
  else if (!set.labels.empty() && m_label->currentIndex() == 0) problem = tr("Say what is true of the point, or that it is not known.");
  else if (file.exists()) problem = tr("%1 exists already: name a new file.").arg(file.fileName());
  else if (!file.absoluteDir().exists()) problem = tr("%1 is no folder.").arg(file.absolutePath());
  m_problem->setText(problem);
  m_write->setEnabled(problem.isEmpty());
}

}  // namespace ulpscope::views
