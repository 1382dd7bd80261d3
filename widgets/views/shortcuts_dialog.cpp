#include "widgets/views/shortcuts_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace ulpscope::views {

ShortcutsDialog::ShortcutsDialog(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keys"));
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(24);
  const auto add = [&grid](const QString& keys, const QString& text) {
    auto* key = new QLabel(keys);
    QFont bold = key->font();
    bold.setBold(true);
    key->setFont(bold);
    const int row = grid->rowCount();
    grid->addWidget(key, row, 0);
    grid->addWidget(new QLabel(text), row, 1);
  };
  for (const QAction* action : actions) {
    if (action->shortcut().isEmpty()) continue;
    QString text = action->text();
    add(action->shortcut().toString(QKeySequence::NativeText), text.remove(u'&'));
  }
  add(tr("Arrows, +, −, 0"), tr("In the heatmap: move the cell cursor, zoom, show all"));
  add(tr("Enter"), tr("In the heatmap: unfold a module's op sites, or fold them"));
  add(tr("Ctrl+C, Ctrl+Shift+C"), tr("In the heatmap: copy the cell, copy what is in sight"));
  add(tr("Space, Shift+Space"), tr("In the module tree: keep the module in FP32, or its parent"));
  add(tr("Ctrl+Return"), tr("In a message above the views: what its button offers"));
  add(tr("Ctrl+B, F2, Del"), tr("In the table of runs: baseline, rename, delete"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(grid);
  layout->addWidget(buttons);
}

}  // namespace ulpscope::views
