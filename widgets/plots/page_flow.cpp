#include "widgets/plots/page_flow.h"

#include "widgets/models/text.h"
#include "widgets/plots/column_widths.h"
#include "widgets/plots/drawing_paint.h"
#include "widgets/plots/theme.h"

#include <QFontDatabase>

#include <algorithm>

namespace ulpscope::plots {
namespace {

using models::core;
using models::qt;
using report::Span;
using report::Tone;

constexpr double kBody = 9, kSmall = 8, kCode = 7.6, kPictureSide = 26;

QColor colorOf(Tone tone) {
  const Theme& theme = lightTheme();
  switch (tone) {
    case Tone::good: return theme.good;
    case Tone::bad: return theme.bad;
    case Tone::warn: return theme.warn;
    case Tone::muted: return theme.muted;
    case Tone::plain: break;
  }
  return theme.text;
}

QColor pillOf(Tone tone) {
  if (tone == Tone::good) return QColor(0xdf, 0xf1, 0xe7);
  if (tone == Tone::bad) return lightTheme().badPill;
  return tone == Tone::warn ? lightTheme().warnPill : QColor(0xe9, 0xec, 0xf0);
}

// A line break inside a cell or paragraph stays one.
QString layoutText(const std::string& text) { return qt(text).replace(u'\n', QChar::LineSeparator); }

report::Text withMarks(const report::Text& text) { return text.empty() ? report::Text("–") : text; }

}  // namespace

PageFlow::PageFlow(QPdfWriter& writer, QString foot, int pages) : m_writer(writer), m_painter(&writer), m_foot(std::move(foot)), m_pages(pages) {
  m_unit = writer.resolution() / 72.0;
  m_width = writer.width();
  m_height = writer.height();
}

PageFlow::Set PageFlow::set(const report::Text& text, const TextLook& look, double width) const {
  QFont font(QStringLiteral("DejaVu Sans"));
  font.setPixelSize(std::max(1, qRound(pt(look.points))));
  font.setBold(look.isBold);
  keepLetters(font);
  QString all;
  QList<QTextLayout::FormatRange> formats;
  for (const Span& span : text) {
    QTextCharFormat format;
    format.setForeground(span.style == Span::Style::muted ? colorOf(Tone::muted) : colorOf(look.tone));
    if (span.style == Span::Style::strong) format.setFontWeight(QFont::Bold);
    if (span.style == Span::Style::code) {
      format.setFontFamilies({QStringLiteral("DejaVu Sans Mono")});
      format.setProperty(QTextFormat::FontPixelSize, std::max(1, qRound(pt(look.points * 0.92))));
    }
    const QString words = layoutText(span.text);
    formats << QTextLayout::FormatRange{static_cast<int>(all.size()), static_cast<int>(words.size()), format};
    all += words;
  }
  Set made{std::make_unique<QTextLayout>(all, font), 0};
  QTextOption option(look.alignment);
  option.setWrapMode(look.wrap);
  made.layout->setTextOption(option);
  made.layout->setFormats(formats);
  made.layout->beginLayout();
  for (QTextLine line = made.layout->createLine(); line.isValid(); line = made.layout->createLine()) {
    line.setLineWidth(width);
    line.setPosition({0, made.height});
    made.height += line.height() * 1.12;
  }
  made.layout->endLayout();
  return made;
}

double PageFlow::naturalWidth(const report::Text& text, const TextLook& look) const {
  const Set one = set(text, look, 1e7);
  double widest = 0;
  for (int i = 0; i < one.layout->lineCount(); ++i) widest = std::max(widest, one.layout->lineAt(i).naturalTextWidth());
  return widest + pt(1);
}

double PageFlow::longestWord(const report::Text& text, TextLook look) const {
  look.wrap = QTextOption::WordWrap;
  const Set one = set(text, look, 1);
  double widest = 0;
  for (int i = 0; i < one.layout->lineCount(); ++i) widest = std::max(widest, one.layout->lineAt(i).naturalTextWidth());
  return widest + pt(1);
}

void PageFlow::draw(const Set& set, double x, double y) { set.layout->draw(&m_painter, {x, y}); }

void PageFlow::pageFoot() {
  const QString number = m_pages > 0 ? QStringLiteral("%1 / %2").arg(m_page).arg(m_pages) : QString::number(m_page);
  draw(set(core(m_foot), {7.5, false, Tone::muted}, m_width), 0, m_height - pt(12));
  draw(set(core(number), {7.5, false, Tone::muted, Qt::AlignRight}, m_width), 0, m_height - pt(12));
}

void PageFlow::newPage() {
  pageFoot();
  m_writer.newPage();
  ++m_page;
  m_y = 0;
  m_isAtTop = true;
}

void PageFlow::ensure(double height) {
  if (m_y + height > bottom() && !m_isAtTop) newPage();
  m_isAtTop = false;
}

void PageFlow::finish() {
  pageFoot();
  m_painter.end();
}

void PageFlow::rule(double y) {
  m_painter.setPen(QPen(lightTheme().line, pt(0.5)));
  m_painter.drawLine(QPointF(0, y), QPointF(m_width, y));
}

// Line by line, so that a long text goes on over the page.
void PageFlow::text(const report::Text& text, const TextLook& look, double indent) {
  const Set made = set(text, look, m_width - indent);
  for (int i = 0; i < made.layout->lineCount(); ++i) {
    const QTextLine line = made.layout->lineAt(i);
    const double height = line.height() * 1.12;
    ensure(height);
    line.draw(&m_painter, QPointF(indent, m_y - line.y()));
    m_y += height;
  }
}

double PageFlow::openingHeight(const report::Section& section) const {
  double height = pt(22);
  for (const report::Block& block : section.blocks) {
    if (const auto* paragraph = std::get_if<report::Paragraph>(&block)) height += set(paragraph->text, {kBody}, m_width).height + pt(3);
    else return height + (std::holds_alternative<report::Figure>(block) ? figureHeight(std::get<report::Figure>(block)) : pt(56));
  }
  return height;
}

void PageFlow::heading(const report::Section& section) {
  space(m_isAtTop ? 0 : 12);
  ensure(std::min(openingHeight(section), bottom()));
  text(section.title, {12.5, true});
  space(3);
}

void PageFlow::verdict(const report::Headline& headline) {
  const char* sign = headline.tone == Tone::good ? "✓ " : headline.tone == Tone::bad ? "✕ " : "– ";
  const Set word = set(sign + headline.word, {16, true, headline.tone == Tone::muted ? Tone::plain : headline.tone}, m_width - pt(24));
  const Set line = set(withMarks(headline.line), {10}, m_width - pt(24));
  const double height = word.height + line.height + pt(18);
  ensure(height);
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(pillOf(headline.tone));
  m_painter.drawRoundedRect(QRectF(0, m_y, m_width, height), pt(5), pt(5));
  draw(word, pt(12), m_y + pt(8));
  draw(line, pt(12), m_y + pt(10) + word.height);
  m_y += height;
}

void PageFlow::notice(const report::Notice& notice) {
  const Set line = set(notice.text, {kBody}, m_width - pt(22));
  const double height = line.height + pt(9);
  ensure(height);
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(pillOf(notice.tone));
  m_painter.drawRect(QRectF(0, m_y, m_width, height));
  m_painter.setBrush(colorOf(notice.tone));
  m_painter.drawRect(QRectF(0, m_y, pt(3), height));
  draw(line, pt(11), m_y + pt(4));
  m_y += height;
  space(4);
}

void PageFlow::bullets(const report::Bullets& bullets) {
  for (const report::Text& item : bullets.items) {
    const double before = m_y;
    const int page = m_page;
    text(item, {kBody}, pt(11));
    if (page == m_page) draw(set("•", {kBody}, pt(10)), pt(1), before);
    space(2);
  }
}

void PageFlow::facts(const report::Facts& facts) {
  const double left = pt(118);
  for (std::size_t i = 0; i < facts.facts.size(); ++i) {
    const Set term = set(facts.facts[i].term, {kBody, false, Tone::muted}, left - pt(8)), value = set(withMarks(facts.facts[i].value), {kBody}, m_width - left);
    const double height = std::max(term.height, value.height) + pt(5);
    ensure(height);
    if (i > 0) rule(m_y);
    draw(term, 0, m_y + pt(2.5));
    draw(value, left, m_y + pt(2.5));
    m_y += height;
  }
  space(4);
}

// Numbers are not broken; a long name is where it must be.
ColumnNeed PageFlow::needOf(const report::Cell& cell, bool isNumber) const {
  const double picture = cell.picture ? pt(kPictureSide + 5) : 0, natural = naturalWidth(withMarks(cell.text), {kSmall});
  if (isNumber) return {natural + picture, natural + picture};
  const double wanted = std::min(pt(230), natural);
  return {std::min({pt(96), wanted, longestWord(withMarks(cell.text), {kSmall})}) + picture, wanted + picture};
}

std::vector<double> PageFlow::widthsOf(const report::Table& table) const {
  std::vector<ColumnNeed> needs;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    ColumnNeed need = needOf({table.columns[c].title}, false);
    need.wanted = std::max(need.least, std::min(need.wanted, pt(table.columns[c].isNumber ? 62 : 120)));
    for (const auto& row : table.rows) {
      const ColumnNeed cell = needOf(row[c], table.columns[c].isNumber);
      need = {std::max(need.least, cell.least), std::max(need.wanted, cell.wanted)};
    }
    needs.push_back(need);
  }
  return columnWidths(needs, m_width - pt(9) * static_cast<double>(table.columns.size() - 1));
}

void PageFlow::tableHead(const report::Table& table, const std::vector<double>& widths) {
  double height = 0, x = 0;
  std::vector<Set> sets;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    sets.push_back(set(table.columns[c].title, {kSmall, false, Tone::muted, table.columns[c].isNumber ? Qt::AlignRight : Qt::AlignLeft}, widths[c]));
    height = std::max(height, sets.back().height);
  }
  for (std::size_t c = 0; c < widths.size(); ++c) {
    draw(sets[c], x, m_y + height - sets[c].height);
    x += widths[c] + pt(9);
  }
  m_y += height + pt(2);
}

void PageFlow::tableRow(const report::Table& table, const std::vector<report::Cell>& row, const std::vector<double>& widths) {
  double height = 0, x = 0;
  std::vector<Set> sets;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const double picture = row[c].picture ? pt(kPictureSide + 5) : 0;
    sets.push_back(set(withMarks(row[c].text), {kSmall, false, row[c].tone, table.columns[c].isNumber ? Qt::AlignRight : Qt::AlignLeft}, std::max(pt(10), widths[c] - picture)));
    height = std::max({height, sets.back().height, row[c].picture ? pt(kPictureSide) : 0});
  }
  height += pt(5);
  if (m_y + height > bottom() && !m_isAtTop) {
    newPage();
    tableHead(table, widths);
  }
  m_isAtTop = false;
  rule(m_y);
  for (std::size_t c = 0; c < widths.size(); ++c) {
    double left = x;
    if (row[c].picture) {
      const double scale = pt(kPictureSide) / std::max({row[c].picture->width, row[c].picture->height, 1.0});
      paintDrawing(m_painter, *row[c].picture, {x, m_y + pt(2.5)}, scale);
      left += pt(kPictureSide + 5);
    }
    draw(sets[c], left, m_y + pt(2.5));
    x += widths[c] + pt(9);
  }
  m_y += height;
}

void PageFlow::table(const report::Table& table) {
  const std::vector<double> widths = widthsOf(table);
  space(5);
  ensure(pt(56));
  text(table.caption, {9.5, true});
  space(2);
  tableHead(table, widths);
  for (const auto& row : table.rows) tableRow(table, row, widths);
  if (!table.note.empty()) text(table.note, {kSmall, false, Tone::muted});
  space(5);
}

double PageFlow::scaleOf(const report::Figure& figure) const { return std::min(m_width / figure.drawing.width, (bottom() - pt(30)) / figure.drawing.height); }

double PageFlow::figureHeight(const report::Figure& figure) const { return figure.drawing.height * scaleOf(figure) + pt(23); }

void PageFlow::figure(const report::Figure& figure) {
  const double scale = scaleOf(figure);
  ensure(figureHeight(figure));
  space(5);
  text(figure.caption, {9.5, true});
  space(3);
  paintDrawing(m_painter, figure.drawing, {0, m_y}, scale);
  m_y += figure.drawing.height * scale;
  space(5);
}

void PageFlow::listing(const report::Listing& listing) {
  space(4);
  ensure(pt(40));
  text(listing.caption, {kBody, true});
  space(2);
  for (const QString& line : qt(listing.text).split(u'\n')) {
    const Set made = set(report::code(core(line.isEmpty() ? QStringLiteral(" ") : line)), {kCode / 0.92}, m_width - pt(12));
    ensure(made.height);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(QColor(0xee, 0xf1, 0xf4));
    m_painter.drawRect(QRectF(0, m_y, m_width, made.height + pt(0.5)));
    draw(made, pt(6), m_y);
    m_y += made.height;
  }
  space(5);
}

}  // namespace ulpscope::plots
