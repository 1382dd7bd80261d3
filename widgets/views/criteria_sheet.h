// Acceptance criteria before the lock: a table to fill in, a file to open or to write; locking is a step of its own.
#pragma once

#include "widgets/models/criteria_model.h"

#include <QUndoStack>
#include <QWidget>

#include <functional>
#include <string>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace ulpscope::views {

class CriteriaSheet : public QWidget {
  Q_OBJECT

 public:
  explicit CriteriaSheet(QWidget* parent = nullptr);
  ~CriteriaSheet() override;

  // A template for these outputs ("*": every one) and this decision rule. about: what is validated, in words.
  void begin(const QString& about, const std::vector<std::string>& outputs, const std::string& decisionRule);
  // Another revision of locked ones.
  void beginRevision(const QString& about, const std::string& canonical);
  void refreshTheme() { refresh(); }
  // The document as it stands, JSON.
  const std::string& document() const { return m_document; }
  QString problem() const;  // why it cannot be locked; empty: it can
  bool isChanged() const { return m_isChanged; }
  bool open(const QString& path);
  bool saveAs(const QString& path);
  QTableView* table() const { return m_table; }
  QPushButton* lockButton() const { return m_lock; }
  QUndoStack& undoStack() { return m_undoStack; }
  // Asks before the lock; replaced by tests.
  void setConfirm(std::function<bool(const QString& text)> confirm) { m_confirm = std::move(confirm); }

 signals:
  // Confirmed: canonical JSON of the criteria, without the limits that were left open.
  void locked(const std::string& canonical);
  void cancelled();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fitTable();
  int widthOf(int column) const;
  QWidget* makeTools();
  QWidget* makeButtons();
  void change(const QString& what, std::string document);
  void setDocument(const std::string& document);
  void addSection(bool ofSites);
  void removeSection();
  void setFlag(const char* section, const char* key, bool on);
  void lock();
  void refresh();

  models::CriteriaModel m_model;
  std::string m_document;
  bool m_isChanged = false, m_isFitting = false, m_hasOwnWidths = false;
  QUndoStack m_undoStack;
  std::function<bool(const QString&)> m_confirm;
  QLabel* m_about = nullptr;
  QLineEdit* m_name = nullptr;
  QTableView* m_table = nullptr;
  QCheckBox* m_showAll = nullptr;
  QCheckBox* m_noDecisionCounts = nullptr;
  QCheckBox* m_noiseCounts = nullptr;
  QLabel* m_problem = nullptr;
  QPushButton* m_lock = nullptr;
};

}  // namespace ulpscope::views
