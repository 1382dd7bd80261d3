// A report on paper: the same document as the page's, set on A4 with text and plots as vectors.
#pragma once

#include "core/report/report_document.h"

#include <QByteArray>

namespace ulpscope::plots {

// The file's bytes. Needs a QGuiApplication (its fonts), no display; any thread.
QByteArray reportPdf(const report::Document& document);

}  // namespace ulpscope::plots
