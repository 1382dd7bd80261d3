#include "core/report/report_html.h"

#include "core/base/xml_text.h"
#include "core/render/svg.h"
#include "core/report/report_style.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::report {
namespace {

using base::xmlText;

std::string toneClass(Tone tone) {
  switch (tone) {
    case Tone::plain: return "";
    case Tone::good: return "good";
    case Tone::bad: return "bad";
    case Tone::warn: return "warn";
    case Tone::muted: return "muted";
  }
  return "";
}

std::string classed(const std::string& name) { return name.empty() ? "" : " class=\"" + name + "\""; }

// A long name may be broken after a dot or an underscore, before it is broken anywhere.
std::string breakable(const std::string& escaped) {
  std::string out;
  for (const char c : escaped) {
    out += c;
    if (c == '.' || c == '_') out += "<wbr/>";
  }
  return out;
}

std::string htmlOf(const Text& text) {
  std::string out;
  for (const Span& span : text) {
    const std::string words = xmlText(span.text);
    switch (span.style) {
      case Span::Style::plain: out += words; break;
      case Span::Style::strong: out += "<strong>" + words + "</strong>"; break;
      case Span::Style::code: out += "<code dir=\"auto\">" + breakable(words) + "</code>"; break;
      case Span::Style::muted: out += "<span class=\"muted\">" + words + "</span>"; break;
    }
  }
  return out;
}

std::string htmlOf(const Paragraph& paragraph) { return fmt::format("<p{}>{}</p>\n", classed(toneClass(paragraph.tone)), htmlOf(paragraph.text)); }

std::string htmlOf(const Bullets& bullets) {
  std::string out = "<ul>\n";
  for (const Text& item : bullets.items) out += "<li dir=\"auto\">" + htmlOf(item) + "</li>\n";
  return out + "</ul>\n";
}

std::string htmlOf(const Facts& facts) {
  std::string out = "<dl>\n";
  for (const Facts::Fact& fact : facts.facts) out += fmt::format("<div><dt>{}</dt><dd dir=\"auto\">{}</dd></div>\n", xmlText(fact.term), htmlOf(fact.value));
  return out + "</dl>\n";
}

std::string cellHtml(const Cell& cell, const Column& column, bool isFirst) {
  std::string name = column.isNumber ? "number" : "";
  if (const std::string tone = toneClass(cell.tone); !tone.empty()) name += (name.empty() ? "" : " ") + tone;
  const std::string picture = cell.picture ? "<span class=\"picture\">" + render::svgOf(*cell.picture, cell.text.plain()) + "</span>" : "";
  return fmt::format("<{0}{1}{2} dir=\"auto\">{3}{4}</{0}>", isFirst ? "th" : "td", isFirst ? " scope=\"row\"" : "", classed(name), picture, htmlOf(cell.text));
}

std::string htmlOf(const Table& table) {
  std::string out = fmt::format("<div class=\"table\"><table>\n<caption>{}</caption>\n<thead><tr>", xmlText(table.caption));
  for (const Column& column : table.columns) out += fmt::format("<th scope=\"col\"{}>{}</th>", column.isNumber ? " class=\"number\"" : "", xmlText(column.title));
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    const bool isPictured = std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.picture.has_value(); });
    out += isPictured ? "<tr class=\"pictured\">" : "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) out += cellHtml(row[i], table.columns[i], i == 0);
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  return table.note.empty() ? out : out + "<p class=\"note\">" + xmlText(table.note) + "</p>\n";
}

std::string htmlOf(const Figure& figure) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", render::svgOf(figure.drawing, figure.words), xmlText(figure.caption));
}

// An option of a command is not broken after its dashes.
std::string withWholeOptions(const std::string& escaped) {
  std::string out;
  for (std::size_t at = 0; at < escaped.size();) {
    const std::size_t option = escaped.find(" --", at);
    out += escaped.substr(at, option == std::string::npos ? option : option + 1 - at);
    if (option == std::string::npos) break;
    at = std::min(escaped.find_first_of(" \n", option + 1), escaped.size());
    out += "<span class=\"word\">" + escaped.substr(option + 1, at - option - 1) + "</span>";
  }
  return out;
}

std::string htmlOf(const Listing& listing) {
  return fmt::format("<figure class=\"listing\"><figcaption>{}</figcaption><pre dir=\"ltr\"><code>{}</code></pre></figure>\n", xmlText(listing.caption), withWholeOptions(xmlText(listing.text)));
}

std::string noticesHtml(const Document& document) {
  std::string out;
  for (const Notice& notice : document.notices) out += fmt::format("<p class=\"notice {}\" data-code=\"{}\">{}</p>\n", toneClass(notice.tone), notice.code, htmlOf(notice.text));
  return out;
}

std::string headlineHtml(const Headline& headline) {
  const char* sign = headline.tone == Tone::good ? "✓" : headline.tone == Tone::bad ? "✕" : "–";
  return fmt::format("<p class=\"verdict {}\"><span class=\"sign\" aria-hidden=\"true\">{}</span><strong>{}</strong><span class=\"why\">{}</span></p>\n", toneClass(headline.tone), sign, xmlText(headline.word), htmlOf(headline.line));
}

std::string contentsHtml(const Document& document) {
  std::string out = "<nav><ol>\n";
  for (const Section& section : document.sections) out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, xmlText(section.title));
  return out + "</ol></nav>\n";
}

std::string sectionHtml(const Section& section) {
  std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, xmlText(section.title));
  for (const Block& block : section.blocks) out += std::visit([](const auto& b) { return htmlOf(b); }, block);
  return out + "</section>\n";
}

}  // namespace

std::string reportHtml(const Document& document) {
  const std::string language = Phrasebook(document.language).htmlName(), title = xmlText(document.title);
  std::string out = fmt::format("<!DOCTYPE html>\n{}\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"{}\" xml:lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"generator\" content=\"Ulpscope\"/>\n"
                                "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
                                kHtmlMark, language, language, title, reportStyle());
  out += fmt::format("<header>\n<p class=\"brand\">Ulpscope</p>\n<h1>{}</h1>\n<p class=\"sub\" dir=\"auto\">{}</p>\n</header>\n<main>\n", title, xmlText(document.subtitle));
  out += noticesHtml(document) + headlineHtml(document.headline) + "<p class=\"lead\">" + htmlOf(document.paragraph) + "</p>\n";
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    out += sectionHtml(document.sections[i]);
    if (i == 0) out += contentsHtml(document);
  }
  return out + fmt::format("</main>\n<footer><p>{}</p></footer>\n</body>\n</html>\n", xmlText(document.foot));
}

}  // namespace ulpscope::report
