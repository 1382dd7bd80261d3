#include "widgets/plots/icons.h"

#include "core/base/error.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

// Resources of a static library are linked only when asked for; the macro needs the global namespace.
static void initIconResources() { Q_INIT_RESOURCE(icons); }

namespace ulpscope::plots {
namespace {

constexpr int kSizes[] = {16, 20, 24, 32, 40, 48, 64};

void addPixmaps(QIcon& icon, const QByteArray& svg, const QColor& color, QIcon::Mode mode) {
  QByteArray tinted = svg;
  tinted.replace("currentColor", color.name().toLatin1());
  QSvgRenderer renderer(tinted);
  for (const int size : kSizes) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    icon.addPixmap(pixmap, mode);
  }
}

}  // namespace

QIcon themedIcon(const QString& name, const QColor& color, const QColor& disabled) {
  initIconResources();
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  ULPSCOPE_CHECK(file.open(QIODevice::ReadOnly));
  const QByteArray svg = file.readAll();
  QIcon icon;
  addPixmaps(icon, svg, color, QIcon::Normal);
  addPixmaps(icon, svg, disabled, QIcon::Disabled);
  return icon;
}

}  // namespace ulpscope::plots
