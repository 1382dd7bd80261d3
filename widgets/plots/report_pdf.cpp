#include "widgets/plots/report_pdf.h"

#include "widgets/models/text.h"
#include "widgets/plots/page_flow.h"

#include <QBuffer>

namespace ulpscope::plots {
namespace {

using models::qt;

constexpr int kDpi = 600;
const QMarginsF kMargins{16, 15, 16, 13};  // mm

struct Setter {
  PageFlow& flow;
  void operator()(const report::Paragraph& block) const {
    flow.text(block.text, {9, false, block.tone});
    flow.space(3);
  }
  void operator()(const report::Bullets& block) const { flow.bullets(block); }
  void operator()(const report::Facts& block) const { flow.facts(block); }
  void operator()(const report::Table& block) const { flow.table(block); }
  void operator()(const report::Figure& block) const { flow.figure(block); }
  void operator()(const report::Listing& block) const { flow.listing(block); }
};

// Gives how many pages it took.
int setDocument(const report::Document& document, int pages, QByteArray& bytes) {
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setResolution(kDpi);
  writer.setPageSize(QPageSize(QPageSize::A4));
  writer.setPageMargins(kMargins, QPageLayout::Millimeter);
  writer.setTitle(qt(document.title));
  writer.setCreator(QStringLiteral("Ulpscope"));
  PageFlow flow(writer, qt(document.foot), pages);
  flow.text("Ulpscope", {8, false, report::Tone::muted});
  flow.text(document.title, {17, true});
  flow.text(document.subtitle, {8, false, report::Tone::muted});
  flow.space(8);
  for (const report::Notice& notice : document.notices) flow.notice(notice);
  flow.space(3);
  flow.verdict(document.headline);
  flow.space(8);
  flow.text(document.paragraph, {10.5});
  for (const report::Section& section : document.sections) {
    flow.heading(section);
    for (const report::Block& block : section.blocks) std::visit(Setter{flow}, block);
  }
  flow.finish();
  return flow.pageCount();
}

}  // namespace

QByteArray reportPdf(const report::Document& document) {
  QByteArray counted, bytes;
  const int pages = setDocument(document, 0, counted);
  setDocument(document, pages, bytes);
  return bytes;
}

}  // namespace ulpscope::plots
