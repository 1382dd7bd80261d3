// The table twin of the heatmap: modules x samples, in the order that the heatmap shows.
#pragma once

#include "widgets/models/heatmap_content.h"

#include <QAbstractTableModel>

#include <memory>

namespace ulpscope::models {

class HeatmapTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit HeatmapTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setContent(std::shared_ptr<const HeatmapContent> content);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::shared_ptr<const HeatmapContent> m_content;
};

}  // namespace ulpscope::models
