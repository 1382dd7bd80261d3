#include "widgets/views/train_dialog.h"

#include "core/base/number_text.h"
#include "core/session/demo.h"
#include "core/session/recipe.h"
#include "widgets/models/text.h"
#include "widgets/views/texts.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>

namespace ulpscope::views {

using models::core;
using models::qt;

TrainDialog::TrainDialog(const Start& start, QWidget* parent)
    : QDialog(parent), m_start(start), m_recipe(new QLineEdit(start.recipe, this)), m_session(new QLineEdit(this)), m_change(new QLineEdit(this)),
      m_into(new QRadioButton(tr("Into the open session (%1), of the same model and inputs").arg(QFileInfo(start.openSession).fileName()), this)),
      m_new(new QRadioButton(tr("Into a new session:"), this)), m_isolate(new QCheckBox(tr("Also train autocast off/on × scaling off/on, to tell which of the two causes what"), this)),
      m_every(new QSpinBox(this)), m_steps(makeLine(this)) {
  makeFields();
  makeLayout();
  connect(m_recipe, &QLineEdit::textChanged, this, &TrainDialog::proposeSession);
  connect(m_session, &QLineEdit::textChanged, this, &TrainDialog::refresh);
  connect(m_new, &QRadioButton::toggled, this, &TrainDialog::refresh);
  resize(680, sizeHint().height());
  proposeSession();
}

void TrainDialog::makeFields() {
  const bool resumes = !m_start.checkpoint.isEmpty();
  setWindowTitle(resumes ? tr("Resume after %1").arg(qt(base::counted(m_start.stepsDone, "step"))) : tr("Train"));
  m_recipe->setAccessibleName(tr("Recipe (JSON)"));
  m_session->setAccessibleName(tr("New session"));
  m_change->setAccessibleName(tr("Name of the change"));
  m_change->setPlaceholderText(tr("empty: nothing changes"));
  m_change->setToolTip(tr("Of a recipe that differs from the checkpoint's in precision or scaling: the name that ledger, verdict and report show"));
  m_every->setRange(0, 1000000);
  m_every->setSpecialValueText(tr("as the recipe says"));
  m_every->setAccessibleName(tr("Steps between checkpoints"));
  m_every->setToolTip(tr("A checkpoint each so many steps, and before the first and after the last"));
  m_into->setVisible(!m_start.openSession.isEmpty());
  (m_start.openSession.isEmpty() ? m_new : m_into)->setChecked(true);
  m_isolate->setVisible(!resumes);
  m_change->setVisible(resumes);
}

void TrainDialog::makeLayout() {
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  m_train = buttons->addButton(m_start.checkpoint.isEmpty() ? tr("Train") : tr("Resume"), QDialogButtonBox::AcceptRole);
  m_train->setDefault(true);
  auto* layout = new QGridLayout(this);
  layout->addWidget(new QLabel(tr("Recipe (JSON):"), this), 0, 0);
  layout->addWidget(m_recipe, 0, 1);
  layout->addWidget(makeChoice(tr("Choose the recipe"), &TrainDialog::chooseRecipe), 0, 2);
  layout->addWidget(m_steps, 1, 1, 1, 2);
  layout->addWidget(m_into, 2, 0, 1, 3);
  layout->addWidget(m_new, 3, 0);
  layout->addWidget(m_session, 3, 1);
  layout->addWidget(makeChoice(tr("Choose the new session"), &TrainDialog::chooseSession), 3, 2);
  layout->addWidget(new QLabel(tr("Steps between checkpoints:"), this), 4, 0);
  layout->addWidget(m_every, 4, 1, Qt::AlignLeft);
  if (!m_start.checkpoint.isEmpty()) layout->addWidget(new QLabel(tr("Name of the change:"), this), 5, 0);
  layout->addWidget(m_change, 5, 1);
  layout->addWidget(m_isolate, 6, 0, 1, 3);
  layout->addWidget(buttons, 7, 0, 1, 3);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

QPushButton* TrainDialog::makeChoice(const QString& name, void (TrainDialog::*choose)()) {
  auto* button = new QPushButton(tr("Choose…"), this);
  button->setAccessibleName(name);
  connect(button, &QPushButton::clicked, this, choose);
  return button;
}

QString TrainDialog::stepsText() const { return m_steps->text(); }

protocol::TrainRequest TrainDialog::request() const {
  protocol::TrainRequest request;
  request.recipePath = core(m_recipe->text());
  request.append = !m_new->isChecked();
  request.sessionPath = core(request.append ? m_start.openSession : m_session->text());
  request.isolate = m_isolate->isChecked();
  request.checkpointEvery = m_every->value();
  request.resume = core(m_start.checkpoint);
  request.change = core(m_change->text().trimmed());
  return request;
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

// Beside the recipe, or the session whose training goes on, under a name that is free.
void TrainDialog::proposeSession() {
  const QFileInfo beside(m_start.checkpoint.isEmpty() || m_start.openSession.isEmpty() ? m_recipe->text() : m_start.openSession);
  const QString suffix = m_start.checkpoint.isEmpty() ? QStringLiteral("-training") : QStringLiteral("-resumed");
  if (beside.isFile()) m_session->setText(qt(session::freeSessionPath(core(beside.absolutePath()), core(beside.completeBaseName() + suffix))));
  refresh();
}

void TrainDialog::refresh() {
  m_session->setEnabled(m_new->isChecked());
  const bool isFile = QFileInfo(m_recipe->text()).isFile();
  const auto recipe = isFile ? session::readRecipe(core(m_recipe->text())) : base::Result<session::Recipe>(base::Error{base::ErrorKind::input, "", "", ""});
  QString text = recipe.ok() ? tr("The recipe asks for %1").arg(qt(base::counted(recipe->steps, "step"))) : isFile ? qt(recipe.error().message()) : QString();
  if (recipe.ok() && !m_start.checkpoint.isEmpty()) text += tr("; %1 are done").arg(qt(base::groupedInteger(m_start.stepsDone)));
  m_steps->setText(text);
  m_train->setEnabled(isFile && (!m_new->isChecked() || m_session->text().endsWith(QStringLiteral(".ulps"))));
}

}  // namespace ulpscope::views
