#include "widgets/views/train_dialog.h"

#include "core/session/demo.h"
#include "widgets/models/text.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>

namespace ulpscope::views {

using models::core;
using models::qt;

TrainDialog::TrainDialog(const QString& recipe, const QString& openSession, QWidget* parent)
    : QDialog(parent), m_openPath(openSession), m_recipe(new QLineEdit(recipe, this)), m_session(new QLineEdit(this)),
      m_into(new QRadioButton(tr("Into the open session (%1), of the same model and inputs").arg(QFileInfo(openSession).fileName()), this)),
      m_new(new QRadioButton(tr("Into a new session:"), this)), m_isolate(new QCheckBox(tr("Also train autocast off/on × scaling off/on, to tell which of the two causes what"), this)) {
  setWindowTitle(tr("Train"));
  m_recipe->setAccessibleName(tr("Recipe (JSON)"));
  m_session->setAccessibleName(tr("New session"));
  auto* chooseRecipe = new QPushButton(tr("Choose…"), this);
  chooseRecipe->setAccessibleName(tr("Choose the recipe"));
  auto* chooseSession = new QPushButton(tr("Choose…"), this);
  chooseSession->setAccessibleName(tr("Choose the new session"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  m_train = buttons->addButton(tr("Train"), QDialogButtonBox::AcceptRole);
  m_train->setDefault(true);
  m_into->setVisible(!openSession.isEmpty());
  (openSession.isEmpty() ? m_new : m_into)->setChecked(true);
  auto* layout = new QGridLayout(this);
  layout->addWidget(new QLabel(tr("Recipe (JSON):"), this), 0, 0);
  layout->addWidget(m_recipe, 0, 1);
  layout->addWidget(chooseRecipe, 0, 2);
  layout->addWidget(m_into, 1, 0, 1, 3);
  layout->addWidget(m_new, 2, 0);
  layout->addWidget(m_session, 2, 1);
  layout->addWidget(chooseSession, 2, 2);
  layout->addWidget(m_isolate, 3, 0, 1, 3);
  layout->addWidget(buttons, 4, 0, 1, 3);
  connect(chooseRecipe, &QPushButton::clicked, this, &TrainDialog::chooseRecipe);
  connect(chooseSession, &QPushButton::clicked, this, &TrainDialog::chooseSession);
  connect(m_recipe, &QLineEdit::textChanged, this, &TrainDialog::proposeSession);
  connect(m_session, &QLineEdit::textChanged, this, &TrainDialog::refresh);
  connect(m_new, &QRadioButton::toggled, this, &TrainDialog::refresh);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  resize(680, sizeHint().height());
  proposeSession();
}

protocol::TrainRequest TrainDialog::request() const {
  const bool isNew = m_new->isChecked();
  return {core(m_recipe->text()), core(isNew ? m_session->text() : m_openPath), !isNew, m_isolate->isChecked()};
}

void TrainDialog::chooseRecipe() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Recipe"), QFileInfo(m_recipe->text()).absolutePath(), tr("Training recipes (*.json)"));
  if (!path.isEmpty()) m_recipe->setText(path);
}

void TrainDialog::chooseSession() {
  const QString path = QFileDialog::getSaveFileName(this, tr("New session"), m_session->text(), tr("Ulpscope sessions (*.ulps)"));
  if (path.isEmpty()) return;
  m_session->setText(path);
  m_new->setChecked(true);
}

// Beside the recipe, under a name that is free.
void TrainDialog::proposeSession() {
  const QFileInfo recipe(m_recipe->text());
  if (recipe.isFile()) m_session->setText(qt(session::freeSessionPath(core(recipe.absolutePath()), core(recipe.completeBaseName() + QStringLiteral("-training")))));
  refresh();
}

void TrainDialog::refresh() {
  m_session->setEnabled(m_new->isChecked());
  m_train->setEnabled(QFileInfo(m_recipe->text()).isFile() && (!m_new->isChecked() || m_session->text().endsWith(QStringLiteral(".ulps"))));
}

}  // namespace ulpscope::views
