#include "core/report/shareable.h"

#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

namespace ulpscope::report {
namespace {

using nlohmann::json;

constexpr std::string_view kEndsPath = " \t\n\r\"'`<>|,;:()[]{}=";

bool isAbsolute(std::string_view text) {
  if (text.starts_with("/") || text.starts_with("~/")) return true;
  return text.size() > 2 && std::isalpha(static_cast<unsigned char>(text[0])) != 0 && text[1] == ':' && (text[2] == '\\' || text[2] == '/');
}

// Of "/a/b/c.py" the folder with its slash.
std::string folderIn(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string commonFolder(const std::vector<std::string>& ids) {
  std::string common;
  bool isFirst = true;
  for (const std::string& id : ids) {
    if (!isAbsolute(id)) continue;
    const std::string folder = folderIn(id);
    if (std::exchange(isFirst, false)) common = folder;
    while (!common.empty() && folder.compare(0, common.size(), common) != 0) common = folderIn(common.substr(0, common.size() - 1));
  }
  return common;
}

// Where an absolute path ends that begins at `at`; at: none does. A lone slash, or one between words ("and/or", "/s"), is none.
std::size_t endOfPath(const std::string& text, std::size_t at) {
  const bool isInsideWord = at > 0 && kEndsPath.find(text[at - 1]) == std::string_view::npos;
  const std::string_view rest = std::string_view(text).substr(at);
  const bool isAddress = rest.starts_with("//") && at > 0 && text[at - 1] == ':';  // https://...
  if (isInsideWord || isAddress || !isAbsolute(rest)) return at;
  std::size_t end = rest[0] == '/' || rest[0] == '~' ? 1 : 3;  // "C:\"
  while (end < rest.size() && kEndsPath.find(rest[end]) == std::string_view::npos) ++end;
  return rest.substr(0, end).find_last_of("/\\") == 0 ? at : at + end;  // "/etc" tells nothing of anyone
}

void replaceAll(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

// Every string below, wherever it stands.
void cutStrings(json& value, const PathCutter& cutter) {
  if (value.is_string()) value = cutter.cut(value.get_ref<const std::string&>());
  else if (value.is_structured())
    for (json& part : value) cutStrings(part, cutter);
}

void cutEach(std::vector<std::string>& texts, const PathCutter& cutter) {
  for (std::string& text : texts) text = cutter.cut(text);
}

session::SiteSummary shareable(session::SiteSummary site, const PathCutter& cutter) {
  for (std::string* text : {&site.modulePath, &site.op, &site.overload, &site.source, &site.viewOf, &site.policyClass}) *text = cutter.cut(*text);
  if (site.operands)
    for (session::SiteOperand& operand : site.operands->listed) operand.name = cutter.cut(operand.name), operand.origin = cutter.cut(operand.origin);
  return site;
}

session::RunRecord shareable(const session::RunRecord& run, const PathCutter& cutter) {
  std::vector<session::SiteSummary> sites;
  for (const session::SiteSummary& site : run.sites) sites.push_back(shareable(site, cutter));
  json record = toJson(run);
  cutStrings(record, cutter);
  auto read = session::runFromJson(record, std::move(sites));
  ULPSCOPE_CHECK(read.ok());
  return std::move(read).value();
}

session::Benchmark shareable(const session::Benchmark& benchmark, const PathCutter& cutter) {
  json record = toJson(benchmark);
  cutStrings(record, cutter);
  return session::benchmarkFromJson(record);
}

void cutSamples(session::SampleSet& samples, const PathCutter& cutter) {
  for (std::string* path : {&samples.path, &samples.labelsPath, &samples.classNamesPath}) *path = fileName(*path);
  samples.preprocessing = cutter.cut(samples.preprocessing);
  cutEach(samples.ids, cutter);
  cutEach(samples.classNames, cutter);
}

void cutRevisions(std::vector<session::CriteriaRevision>& revisions, const PathCutter& cutter) {
  for (session::CriteriaRevision& revision : revisions) {
    revision.canonical = cutter.cut(revision.canonical);
    revision.reason = cutter.cut(revision.reason);
  }
}

void cutModel(model::ModelInfo& model, const PathCutter& cutter) {
  model.path = fileName(model.path);
  for (model::ModuleNode& module : model.modules) module.path = cutter.cut(module.path), module.typeName = cutter.cut(module.typeName);
  cutEach(model.warnings, cutter);
}

}  // namespace

std::string fileName(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

PathCutter::PathCutter(const std::vector<std::string>& sampleIds, const std::vector<std::string>& known) : m_idFolder(commonFolder(sampleIds)) {
  for (const std::string& path : known)
    if (const std::string folder = isAbsolute(path) ? folderIn(path) : ""; folder.size() > 1) m_folders.push_back(folder);
  std::sort(m_folders.begin(), m_folders.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string PathCutter::cut(const std::string& text) const {
  if (text.find_first_of("/\\") == std::string::npos) return text;
  std::string out = text;
  if (m_idFolder.size() > 1) replaceAll(out, m_idFolder, "…/");
  for (const std::string& folder : m_folders) replaceAll(out, folder, "");
  replaceAll(out, "file://", "");
  for (std::size_t at = 0; at < out.size(); ++at) {
    const std::size_t end = endOfPath(out, at);
    if (end == at) continue;
    const std::string last = fileName(out.substr(at, end - at));
    out.replace(at, end - at, last.empty() ? "…" : last);
    at += last.size();
  }
  return out;
}

PathCutter cutterOf(const session::Session& session, const std::string& sessionPath) {
  std::error_code ignored;
  const std::string absolute = std::filesystem::absolute(sessionPath, ignored).lexically_normal().string();
  return {session.samples.ids, {session.model.path, session.samples.path, session.samples.labelsPath, session.samples.classNamesPath, absolute}};
}

session::Session shareable(const session::Session& session, const PathCutter& cutter) {
  session::Session out = session;
  out.title = cutter.cut(fileName(session.title));
  cutModel(out.model, cutter);
  cutSamples(out.samples, cutter);
  for (session::RunRecord& run : out.runs) run = shareable(run, cutter);
  for (session::DeletedRun& deleted : out.deleted) {  // what was taken away is counted, not shown
    session::RunRecord counted;
    counted.number = deleted.run.number;
    counted.settings.onlySamples = deleted.run.settings.onlySamples.empty() ? std::vector<std::string>() : std::vector<std::string>{""};
    deleted.run = counted;
  }
  for (auto& [number, runName] : out.runNames) runName = cutter.cut(runName);
  for (auto* entries : {&out.trainings, &out.scans})
    for (session::RecordEntry& entry : *entries) entry.title = cutter.cut(entry.title);
  for (session::Benchmark& benchmark : out.benchmarks) benchmark = shareable(benchmark, cutter);
  cutRevisions(out.criteria, cutter);
  cutRevisions(out.trainingCriteria, cutter);
  if (out.explored) out.explored->title = cutter.cut(fileName(out.explored->title));
  return out;
}

session::Training shareable(const session::Training& training, const PathCutter& cutter) {
  json record = toJson(training);
  cutStrings(record, cutter);
  return session::trainingFromJson(record);
}

session::Scan shareable(const session::Scan& scan, const PathCutter& cutter) {
  json record = toJson(scan);
  cutStrings(record, cutter);
  return session::scanFromJson(record);
}

}  // namespace ulpscope::report
