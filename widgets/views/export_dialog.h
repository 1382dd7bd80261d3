// What a report is made of: formats, language, folder.
#pragma once

#include "core/report/report_files.h"

#include <QDialog>

#include <array>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;

namespace ulpscope::views {

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  struct Start {
    QString folder;   // proposed
    QString about;    // "run_0002 of digits-fp16.ulps"
    bool isCovered = false;
  };
  ExportDialog(const Start& start, QWidget* parent);
  std::vector<report::Format> formats() const;
  report::Language language() const;
  QString folder() const;
  QCheckBox* formatBox(report::Format format) const { return m_formats[static_cast<std::size_t>(format)]; }
  QComboBox* languageBox() const { return m_language; }
  QLineEdit* folderField() const { return m_folder; }
  QPushButton* exportButton() const { return m_export; }

 private:
  void chooseFolder();
  void refresh();

  std::array<QCheckBox*, 5> m_formats{};
  QComboBox* m_language;
  QLineEdit* m_folder;
  QPushButton* m_export;
};

}  // namespace ulpscope::views
