#include "widgets/views/snippet_dialog.h"

#include "core/protocol/message.h"
#include "widgets/models/text.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSaveFile>
#include <QVBoxLayout>

namespace ulpscope::views {

using models::qt;

SnippetDialog::SnippetDialog(QWidget* parent)
    : QDialog(parent), m_script(new QRadioButton(tr("torch.jit.script: keeps branches and loops"), this)),
      m_trace(new QRadioButton(tr("torch.jit.trace: for models that do not script"), this)), m_text(new QPlainTextEdit(this)) {
  setWindowTitle(tr("Export from Python"));
  auto* head = new QLabel(tr("Put your model and your inputs at the two marked places and run the file; it writes model.ts and inputs.pt, with your PyTorch's own "
                             "FP32 outputs, so that Ulpscope can say that it runs the same model."), this);
  head->setWordWrap(true);
  m_script->setChecked(true);
  m_text->setReadOnly(true);
  m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
  m_text->setAccessibleName(tr("Python lines"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* copy = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
  QPushButton* saveAs = buttons->addButton(tr("Save as…"), QDialogButtonBox::ActionRole);
  auto* layout = new QVBoxLayout(this);
  for (QWidget* widget : std::initializer_list<QWidget*>{head, m_script, m_trace}) layout->addWidget(widget);
  layout->addWidget(m_text, 1);
  layout->addWidget(buttons);
  connect(m_script, &QRadioButton::toggled, this, &SnippetDialog::refresh);
  connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text()); });
  connect(saveAs, &QPushButton::clicked, this, &SnippetDialog::save);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  resize(860, 620);
  refresh();
}

QString SnippetDialog::text() const { return m_text->toPlainText(); }

void SnippetDialog::refresh() {
  const auto path = protocol::findData(m_script->isChecked() ? "python/snippet_script.py" : "python/snippet_trace.py");
  QFile file(path.ok() ? qt(path.value()) : QString());
  if (file.open(QIODevice::ReadOnly))
    m_text->setPlainText(QString::fromUtf8(file.readAll()));
  else
    m_text->setPlainText(path.ok() ? tr("# %1 cannot be read: %2").arg(file.fileName(), file.errorString()) : QStringLiteral("# ") + qt(path.error().message()));
}

void SnippetDialog::save() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save the lines"), QStringLiteral("export.py"), tr("Python (*.py)"));
  if (path.isEmpty()) return;
  QSaveFile file(path);
  const bool isWritten = file.open(QIODevice::WriteOnly) && file.write(text().toUtf8()) >= 0 && file.commit();
  setWindowTitle(isWritten ? tr("Export from Python: saved as %1").arg(path) : tr("Export from Python: %1 cannot be written: %2").arg(path, file.errorString()));
}

}  // namespace ulpscope::views
