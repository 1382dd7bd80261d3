// Private: paper that text, tables and pictures are put on from top to bottom, a new page where one is full.
#pragma once

#include "core/report/report_document.h"
#include "widgets/plots/column_widths.h"

#include <QFont>
#include <QPainter>
#include <QPdfWriter>
#include <QTextLayout>
#include <QTextOption>

#include <memory>
#include <vector>

namespace ulpscope::plots {

struct TextLook {
  double points = 9;
  bool isBold = false;
  report::Tone tone = report::Tone::plain;
  Qt::Alignment alignment = Qt::AlignLeft;
  QTextOption::WrapMode wrap = QTextOption::WrapAtWordBoundaryOrAnywhere;
};

class PageFlow {
 public:
  // title, foot: of the lines at the foot of each page; pages: how many there will be, 0: not known yet.
  PageFlow(QPdfWriter& writer, QString foot, int pages);

  void text(const report::Text& text, const TextLook& look, double indent = 0);
  void heading(const report::Section& section);  // on the page of its first table's beginning, or its first picture
  void space(double points) { m_y += pt(points); }
  // A coloured box with a large word and a line.
  void verdict(const report::Headline& headline);
  void notice(const report::Notice& notice);
  void bullets(const report::Bullets& bullets);
  void facts(const report::Facts& facts);
  void table(const report::Table& table);
  void figure(const report::Figure& figure);
  void listing(const report::Listing& listing);
  int pageCount() const { return m_page; }
  void finish();  // the last page's foot

 private:
  // Text that is broken into lines of a width.
  struct Set {
    std::unique_ptr<QTextLayout> layout;
    double height = 0;
  };
  Set set(const report::Text& text, const TextLook& look, double width) const;
  double naturalWidth(const report::Text& text, const TextLook& look) const;
  void draw(const Set& set, double x, double y);
  double longestWord(const report::Text& text, TextLook look) const;
  ColumnNeed needOf(const report::Cell& cell, bool isNumber) const;
  std::vector<double> widthsOf(const report::Table& table) const;
  double scaleOf(const report::Figure& figure) const;
  double figureHeight(const report::Figure& figure) const;
  double openingHeight(const report::Section& section) const;
  void tableHead(const report::Table& table, const std::vector<double>& widths);
  void tableRow(const report::Table& table, const std::vector<report::Cell>& row, const std::vector<double>& widths);
  void rule(double y);
  void ensure(double height);  // room for that much, or a new page
  void newPage();
  void pageFoot();
  double pt(double points) const { return points * m_unit; }
  double bottom() const { return m_height - pt(22); }

  QPdfWriter& m_writer;
  QPainter m_painter;
  QString m_foot;
  int m_page = 1, m_pages = 0;
  double m_unit = 1;  // of a point
  double m_width = 0, m_height = 0, m_y = 0;
  bool m_isAtTop = true;
};

}  // namespace ulpscope::plots
