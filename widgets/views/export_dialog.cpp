#include "widgets/views/export_dialog.h"


#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>

#include <algorithm>

namespace ulpscope::views {

using report::Format;

ExportDialog::ExportDialog(const Start& start, QWidget* parent) : QDialog(parent), m_language(new QComboBox(this)), m_folder(new QLineEdit(start.folder, this)) {
  setWindowTitle(tr("Export report"));
  auto* layout = new QGridLayout(this);
  auto* about = new QLabel(start.isCovered ? tr("A covered report of %1: what was compared and what is locked, no result").arg(start.about) : tr("A report of %1").arg(start.about), this);
  about->setTextFormat(Qt::PlainText);
  about->setWordWrap(true);
  layout->addWidget(about, 0, 0, 1, 3);
  const std::array words{tr("HTML: one page, light and dark, no network"), tr("PDF: the same on paper"), tr("JSON: everything, for programs"), tr("CSV: op sites and changed decisions as tables"), tr("JUnit: the verdict, for a CI job")};
  for (std::size_t i = 0; i < m_formats.size(); ++i) {
    m_formats[i] = new QCheckBox(words[i], this);
    m_formats[i]->setChecked(i == static_cast<std::size_t>(Format::html) || i == static_cast<std::size_t>(Format::pdf));
    connect(m_formats[i], &QCheckBox::toggled, this, &ExportDialog::refresh);
    layout->addWidget(m_formats[i], static_cast<int>(i) + 1, 1, 1, 2);
  }
  layout->addWidget(new QLabel(tr("Formats"), this), 1, 0);
  m_language->addItem(QStringLiteral("English"));
  m_language->addItem(QStringLiteral("Português (Brasil)"));
  m_language->setCurrentIndex(QLocale().language() == QLocale::Portuguese ? 1 : 0);
  m_language->setAccessibleName(tr("Language of the report"));
  layout->addWidget(new QLabel(tr("Language"), this), 6, 0);
  layout->addWidget(m_language, 6, 1);
  m_folder->setAccessibleName(tr("Folder"));
  auto* choose = new QPushButton(tr("Choose…"), this);
  choose->setAccessibleName(tr("Choose the folder"));
  layout->addWidget(new QLabel(tr("Folder"), this), 7, 0);
  layout->addWidget(m_folder, 7, 1);
  layout->addWidget(choose, 7, 2);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  m_export = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
  m_export->setDefault(true);
  layout->addWidget(buttons, 8, 0, 1, 3);
  layout->setColumnStretch(1, 1);
  connect(choose, &QPushButton::clicked, this, &ExportDialog::chooseFolder);
  connect(m_folder, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  resize(620, sizeHint().height());
  refresh();
}

std::vector<Format> ExportDialog::formats() const {
  std::vector<Format> chosen;
  for (std::size_t i = 0; i < m_formats.size(); ++i)
    if (m_formats[i]->isChecked()) chosen.push_back(static_cast<Format>(i));
  return chosen;
}

report::Language ExportDialog::language() const { return m_language->currentIndex() == 1 ? report::Language::portuguese : report::Language::english; }

QString ExportDialog::folder() const { return m_folder->text().trimmed(); }

void ExportDialog::chooseFolder() {
  const QString chosen = QFileDialog::getExistingDirectory(this, tr("Folder of the report"), folder());
  if (!chosen.isEmpty()) m_folder->setText(chosen);
}

void ExportDialog::refresh() { m_export->setEnabled(!folder().isEmpty() && !formats().empty()); }

}  // namespace ulpscope::views
