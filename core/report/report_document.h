// A report as headings, tables and pictures in one language: what the HTML page and the PDF both set.
#pragma once

#include "core/render/drawing.h"
#include "core/report/phrasebook.h"
#include "core/report/report_text.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ulpscope::report {

struct ReportContent;

enum class Tone { plain, good, bad, warn, muted };

struct Paragraph {
  Text text;
  Tone tone = Tone::plain;
};
struct Bullets {
  std::vector<Text> items;
};
// Terms and what they are.
struct Facts {
  struct Fact {
    std::string term;
    Text value;
  };
  std::vector<Fact> facts;
};
struct Cell {
  Text text;
  Tone tone = Tone::plain;
  std::optional<render::Drawing> picture = {};  // before the text, which also says what it shows
};
struct Column {
  std::string title;
  bool isNumber = false;
};
struct Table {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string note;  // below; empty: none
};
struct Figure {
  render::Drawing drawing;
  std::string caption;
  std::string words;  // what it shows, for those who do not see it
};
struct Listing {
  std::string caption;
  std::string text;  // lines, as they are typed
};
using Block = std::variant<Paragraph, Bullets, Facts, Table, Figure, Listing>;

struct Section {
  std::string id;  // "criteria"
  std::string title;
  std::vector<Block> blocks;
};

struct Notice {
  std::string code;  // "exploratory", "covered", "partial", ...: report.schema.json lists them
  Text text;
  Tone tone = Tone::warn;
};

struct Headline {
  Tone tone = Tone::muted;
  std::string word;  // "PASS"
  Text line;         // why, in one sentence
};

struct Document {
  Language language = Language::english;
  std::string title;     // "digits: FP16 against FP32"
  std::string subtitle;  // session file, run, date
  std::vector<Notice> notices;
  Headline headline;
  Text paragraph;        // what was done and found, in plain language
  std::vector<Section> sections;
  std::string foot;
};

Document reportDocument(const ReportContent& content, Language language);

}  // namespace ulpscope::report
