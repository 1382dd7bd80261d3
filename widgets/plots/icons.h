// Icons from resources/icons, drawn in the theme's colour: no icon theme need be installed.
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

namespace ulpscope::plots {

// name: file stem in :/icons. Precondition: the icon exists (all are compiled in).
QIcon themedIcon(const QString& name, const QColor& color, const QColor& disabled);

}  // namespace ulpscope::plots
