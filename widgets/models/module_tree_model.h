// The module tree: type, dtype it ran in, worst error by its tolerance, badge and FP32 checkbox.
#pragma once

#include "widgets/models/badge.h"
#include "widgets/models/fp32_regions.h"
#include "widgets/models/loaded_run.h"
#include "widgets/models/module_dtypes.h"

#include <QAbstractItemModel>

#include <map>
#include <memory>
#include <vector>

namespace ulpscope::models {

class ModuleTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kModule, kDtype, kRatio, kBadge, kFp32, kColumnCount };
  // kBadgeRole: a Badge; kRegionRole: a RegionState as int; kExecutionRole: index of the first op site in the module or below it, after
  // all others where there is none; kStaleRole: the numbers belong to another policy than the one chosen.
  enum Role { kPathRole = Qt::UserRole + 1, kTypeRole, kBadgeRole, kRegionRole, kExecutionRole, kStaleRole };
  using RegionState = models::RegionState;

  explicit ModuleTreeModel(QObject* parent = nullptr);
  ~ModuleTreeModel() override;

  // Resets only when the module tree is another one; a new run of the same model changes badges in place.
  void setRun(const RunPointer& run);
  // The modules of a session that has no run: without numbers, and nothing to toggle. nullptr: no modules.
  void setModules(const std::shared_ptr<const session::Session>& session);
  void setRegions(const Fp32Regions& regions);
  void setStale(bool isStale);
  QString coverText(const QString& modulePath) const;  // "Kept in FP32 by block"; empty: nothing covers it
  QModelIndex indexOf(const QString& modulePath, int column = kModule) const;  // invalid: no such module

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // A change of the checkbox changes nothing here: it asks by toggleRequested, so that undo sees it.
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 signals:
  void toggleRequested(const QString& modulePath);

 private:
  struct Node;

  void setContent(const std::shared_ptr<const session::Session>& session, const RunPointer& run);
  void build();
  void announceChanges(int firstColumn, int lastColumn);
  QVariant moduleData(const Node& node, int role) const;
  QVariant dtypeData(const Node& node, int role) const;
  Badge badgeOf(const Node& node) const;
  QVariant ratioData(const Node& node, int role) const;
  QVariant badgeData(const Node& node, int role) const;
  QVariant fp32Data(const Node& node, int role) const;
  static const Node* nodeOf(const QModelIndex& index);

  std::shared_ptr<const session::Session> m_session;
  RunPointer m_run;
  Fp32Regions m_regions;
  std::unique_ptr<Node> m_top;  // invisible, holds the root module
  std::map<QString, Node*> m_nodeOf;
  std::map<std::string, Badge> m_badges;
  std::map<std::string, ModuleDtypes> m_dtypes;
  std::map<std::string, int> m_firstSite;
  bool m_isStale = false;
};

}  // namespace ulpscope::models
