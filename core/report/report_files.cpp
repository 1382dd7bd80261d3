#include "core/report/report_files.h"

#include "core/base/nearest_names.h"
#include "core/report/report_csv.h"
#include "core/report/report_html.h"
#include "core/report/report_json.h"
#include "core/report/sections.h"
#include "core/report/verdict_text.h"
#include "core/storage/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ulpscope::report {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr std::array kFormats{Format::html, Format::pdf, Format::json, Format::csv, Format::junit};
constexpr const char* kJUnitMark = "<!-- Ulpscope report -->";

// As a PDF's information dictionary holds the program that made it: UTF-16.
std::string wide(const std::string& ascii) {
  std::string out;
  for (const char c : ascii) out += std::string{'\0', c};
  return out;
}

bool isMarked(const std::string& file, const std::string& bytes) {
  const auto has = [&](const std::string& mark, std::size_t within) { return bytes.substr(0, within).find(mark) != std::string::npos; };
  if (file.ends_with(".html")) return has(kHtmlMark, 300);
  if (file.ends_with(".json")) return bytes.starts_with(kJsonMark);
  if (file.ends_with("-sites.csv")) return bytes.starts_with(kSitesHead);
  if (file.ends_with("-flips.csv")) return bytes.starts_with(kFlipsHead);
  if (file.ends_with(".xml")) return has(kJUnitMark, 300);
  return bytes.starts_with("%PDF") && (has(wide("Ulpscope"), bytes.size()) || has("Ulpscope", bytes.size()));
}

// What stands there may be replaced.
bool isOurs(const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(fs::symlink_status(path, failed))) return true;
  if (!fs::is_regular_file(path, failed)) return false;
  if (fs::file_size(path, failed) == 0) return true;
  std::ifstream stream(path, std::ios::binary);
  std::stringstream bytes;
  bytes << stream.rdbuf();
  return isMarked(path.filename().string(), bytes.str());
}

// The folder beside a session, or something in it.
bool isSessions(const fs::path& folder) {
  for (const fs::path& part : fs::absolute(folder).lexically_normal())
    if (part.string().ends_with(".ulps.d") || part.string().ends_with(".ulps")) return true;
  return false;
}

std::string junitOf(const ReportContent& content) {
  session::Verdict none;
  none.reason = content.isCovered || (!content.run() && content.trainings.empty()) ? "covered: nothing has been run against the criteria, or they are not locked yet" : "exploratory: no criteria were locked";
  std::string suite = content.session.title + (content.run() ? "." + content.runId : "");
  const bool isTraining = !content.run() && !content.trainings.empty();
  const std::optional<session::Verdict>& verdict = isTraining ? content.trainings.back().verdict : content.verdict;
  if (isTraining) suite += fmt::format(".training_{:04}", content.trainings.back().number);
  std::string xml = verdictJUnit(suite, isTraining ? "training" : "run", verdict && !content.isCovered ? *verdict : none);
  xml.insert(xml.find('\n') + 1, std::string(kJUnitMark) + "\n");
  return xml;
}

}  // namespace

std::string name(Format format) {
  constexpr const char* kNames[] = {"html", "pdf", "json", "csv", "junit"};
  return kNames[static_cast<std::size_t>(format)];
}

Result<std::vector<Format>> formatsFromText(const std::string& text) {
  std::vector<std::string> names;
  for (const Format format : kFormats) names.push_back(name(format));
  std::array<bool, kFormats.size()> isChosen{};
  std::stringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) return Error{ErrorKind::usage, "is no format of reports", "--format " + word, "use some of " + base::quotedChoice(names) + ", with commas between"};
    isChosen[static_cast<std::size_t>(found - names.begin())] = true;
  }
  std::vector<Format> formats;
  for (const Format format : kFormats)
    if (isChosen[static_cast<std::size_t>(format)]) formats.push_back(format);
  if (formats.empty()) return Error{ErrorKind::usage, "names no format", "--format", "use some of " + base::quotedChoice(names) + ", with commas between"};
  return formats;
}

std::vector<std::string> fileNames(Format format) {
  switch (format) {
    case Format::html: return {"report.html"};
    case Format::pdf: return {"report.pdf"};
    case Format::json: return {"report.json"};
    case Format::csv: return {"report-sites.csv", "report-flips.csv"};
    case Format::junit: return {"report-junit.xml"};
  }
  return {};
}

std::vector<ReportFile> reportFiles(const ReportContent& content, Language language, const std::vector<Format>& formats) {
  const auto wants = [&](Format format) { return std::find(formats.begin(), formats.end(), format) != formats.end(); };
  std::vector<ReportFile> files;
  Document document;
  if (wants(Format::html) || wants(Format::json)) document = reportDocument(content, language);
  if (wants(Format::html)) files.push_back({"report.html", reportHtml(document)});
  if (wants(Format::json)) files.push_back({"report.json", reportJson(content, document)});
  if (wants(Format::csv)) files.push_back({"report-sites.csv", sitesCsv(content)});
  if (wants(Format::csv)) files.push_back({"report-flips.csv", flipsCsv(content)});
  if (wants(Format::junit)) files.push_back({"report-junit.xml", junitOf(content)});
  return files;
}

Status checkReportFile(const std::string& path) {
  if (isOurs(path)) return base::success();
  return Error{ErrorKind::usage, "exists and is no report of Ulpscope, it is left as it is", path, "choose another place with --out"};
}

Status checkReportFolder(const std::string& folder, const std::vector<Format>& formats) {
  std::error_code ignored;
  const std::string which = "--out " + folder;
  if (isSessions(folder)) return Error{ErrorKind::usage, "is a session's own folder", which, "name another folder"};
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) return Error{ErrorKind::usage, "is no folder", which, "name a folder; it is made where it is missing"};
  for (const Format format : formats)
    for (const std::string& file : fileNames(format))
      if (auto free = checkReportFile((fs::path(folder) / file).string()); !free) return free;
  return base::success();
}

Result<std::vector<std::string>> writeReportFiles(const std::string& folder, const std::vector<ReportFile>& files) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed && !fs::is_directory(folder)) return Error{failed == std::errc::no_space_on_device ? ErrorKind::run : ErrorKind::input, "cannot be made: " + failed.message(), folder, "name another folder with --out"};
  std::vector<std::string> paths;
  for (const ReportFile& file : files) {
    const std::string path = (fs::path(folder) / file.name).string();
    if (auto written = storage::writeWholeFile(path, file.bytes); !written) return written.error();
    paths.push_back(path);
  }
  return paths;
}

}  // namespace ulpscope::report
