#include "core/report/report_document.h"

#include "core/report/report_content.h"
#include "core/report/sections.h"

namespace ulpscope::report {
namespace {

std::string titleOf(const Teller& t) {
  const session::RunRecord* run = t.content.run();
  if (!run) return t.content.session.title;
  return t.say("report.title", {t.content.session.title, lowFormat(run->settings)});
}

std::string subtitleOf(const Teller& t) {
  const session::RunRecord* run = t.content.run();
  const std::string which = run ? runTitle(t.content.session, *run) + " · " : "";
  return which + t.content.file + " · " + timeText(t.content.madeUtc);
}

}  // namespace

Document reportDocument(const ReportContent& content, Language language) {
  const Phrasebook book(language);
  const Teller teller{content, book, content.isCovered ? nullptr : content.run()};
  Document document;
  document.language = language;
  document.title = titleOf(teller);
  document.subtitle = subtitleOf(teller);
  document.notices = notices(teller);
  document.headline = headline(teller);
  document.paragraph = plainParagraph(teller);
  document.foot = book.say("report.foot", {content.version, timeText(content.madeUtc)});
  for (const auto section : {overviewSection, comparedSection, criteriaSection, divergenceSection, flipsSection, nonfiniteSection, headroomSection, regionsSection, trainingSection, scansSection, benchmarksSection, notesSection, limitsSection, reproduceSection})
    if (Section made = section(teller); !made.blocks.empty()) document.sections.push_back(std::move(made));
  return document;
}

}  // namespace ulpscope::report
