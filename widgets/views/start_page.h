// What stands in the window before a session is open: demos as cards, open, recent sessions.
#pragma once

#include <QWidget>

class QVBoxLayout;

namespace ulpscope::views {

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  void setRecentSessions(const QStringList& paths);
  void setBusy(bool busy);  // no second demo while one runs
  void refreshTheme();

 signals:
  void demoChosen(const QString& name);
  void openRequested();
  void sessionChosen(const QString& path);

 private:
  void addDemoCards(QVBoxLayout* layout);

  QVBoxLayout* m_recent = nullptr;
  QWidget* m_recentArea = nullptr;
  QList<QWidget*> m_cards;
};

}  // namespace ulpscope::views
