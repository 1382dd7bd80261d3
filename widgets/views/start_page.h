// What stands in the window before a session is open: the intents, recent sessions, the museum of breakages.
#pragma once

#include <QWidget>

#include <functional>

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
  void exploreRequested();   // find what breaks
  void validateRequested();  // validate a release
  void trainRequested();     // by a recipe
  // A recent session that is not where it was; the user chooses where it is now.
  void locateRequested(const QString& path);
  void demoChosen(const QString& name);
  void openRequested();
  void sessionChosen(const QString& path);

 private:
  void addIntents(QVBoxLayout* layout);
  void addDemoCards(QVBoxLayout* layout);
  QWidget* makeCard(const QString& title, const QString& text, const QString& button, const QString& buttonName, std::function<void()> act);

  QVBoxLayout* m_recent = nullptr;
  QWidget* m_recentArea = nullptr;
  QList<QWidget*> m_cards;  // all
  QList<QWidget*> m_demoCards;
};

}  // namespace ulpscope::views
