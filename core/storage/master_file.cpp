#include "core/storage/master_file.h"

#include "core/storage/format_header.h"
#include "core/storage/run_table.h"
#include "core/storage/session_paths.h"
#include "core/storage/structure.h"

#include <nlohmann/json.hpp>

namespace ulpscope::storage {
namespace {

using nlohmann::json;
using session::SampleSet;
using session::Session;

constexpr const char* kFormat = "ulpscope-session";
constexpr const char* kHeatmap = "divergence";  // the group of that name in a metrics file

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

void writeSamples(hid_t file, const SampleSet& samples) {
  const h5::Group group = h5::createGroup(file, "samples", "NXcollection");
  h5::writeText(group, "origin", dumped({{"path", samples.path}, {"sha256", samples.sha256},
                                         {"labels_path", samples.labelsPath}, {"class_names_path", samples.classNamesPath}, {"preprocessing", samples.preprocessing}}));
  h5::writeColumn(group, "sample_ids", samples.ids);
  h5::writeColumn(group, "labels", samples.labels);
  h5::writeColumn(group, "targets", samples.targets);
  h5::writeColumn(group, "class_names", samples.classNames);
  h5::writeColumn(group, "sample_kinds", samples.kinds);
}

SampleSet readSamples(hid_t file) {
  const h5::Group group = h5::openGroup(file, "samples");
  const json origin = h5::parsedJson(h5::readText(group, "origin"));
  SampleSet samples;
  samples.path = origin.at("path");
  samples.sha256 = origin.at("sha256");
  samples.labelsPath = origin.at("labels_path");
  samples.classNamesPath = origin.at("class_names_path");
  samples.ids = h5::readTexts(group, "sample_ids");
  samples.labels = h5::readIntegers(group, "labels");
  samples.targets = h5::readDoubles(group, "targets");
  samples.classNames = h5::readTexts(group, "class_names");
  samples.kinds = h5::readTexts(group, "sample_kinds");
  samples.preprocessing = origin.at("preprocessing");
  if (!samples.labels.empty()) h5::ofLength(samples.labels, samples.ids.size(), "labels");
  if (!samples.kinds.empty()) h5::ofLength(samples.kinds, samples.ids.size(), "sample_kinds");
  if (!samples.ids.empty() && samples.targets.size() % samples.ids.size() != 0) h5::fail("do not divide among the samples", "targets", "the file is damaged; restore it from a copy");
  return samples;
}

// For h5py, silx and H5Web only; our own reader goes by the strict file name.
void writeHeatmapLink(hid_t entry, const session::RunRecord& run, const std::string& folderName) {
  const std::string file = folderName + "/" + runFileName(run.number, RunFileKind::metrics);
  const std::string object = "/" + run.id() + "/" + kHeatmap;
  h5::check(H5Lcreate_external(file.c_str(), object.c_str(), entry, kHeatmap, H5P_DEFAULT, H5P_DEFAULT), "cannot be made", kHeatmap);
}

struct EntryMarks {
  std::string name, deletedUtc;  // empty: none, not deleted
};

void writeEntry(hid_t file, const session::RunRecord& run, const EntryMarks& marks, const std::string& folderName) {
  const h5::Group entry = h5::createGroup(file, run.id(), "NXentry");
  h5::writeAttribute(entry, "default", kHeatmap);
  h5::writeAttribute(entry, "title", session::runLabel(run));
  if (!marks.name.empty()) h5::writeAttribute(entry, "name", marks.name);
  if (!marks.deletedUtc.empty()) h5::writeAttribute(entry, "deleted", marks.deletedUtc);
  writeRun(entry, run);
  writeHeatmapLink(entry, run, folderName);
}

bool isIndex(std::int64_t index, std::size_t count) { return index >= -1 && index < static_cast<std::int64_t>(count); }

std::string textAttributeOr(hid_t object, const char* name) { return h5::hasAttribute(object, name) ? h5::readTextAttribute(object, name) : std::string(); }

void addRun(hid_t entry, session::RunRecord run, Session& session) {
  if (const std::string name = session::cleanRunName(textAttributeOr(entry, "name")); !name.empty()) session.runNames[run.number] = name;
  const std::string deletedUtc = textAttributeOr(entry, "deleted");
  if (deletedUtc.empty())
    session.runs.push_back(std::move(run));
  else
    session.deleted.push_back({std::move(run), deletedUtc});
}

void readRuns(hid_t file, Session& session, int format) {
  for (const h5::LinkName& link : h5::links(file)) {
    const auto number = runNumberOfId(link.name);
    if (!number) continue;
    const h5::Group entry = h5::openGroup(file, link.name);
    try {
      session::RunRecord run = readRun(entry, format);
      checkIndices(run, session.samples.ids.size());
      if (run.number != *number) h5::fail("says that it is run " + std::to_string(run.number), "", "the file is damaged");
      addRun(entry, std::move(run), session);
    } catch (const h5::Failure& failure) {
      throw h5::Failure{failure.error.within(link.name)};
    }
  }
}

json purgedJson(const std::vector<session::PurgedRun>& purged) {
  json list = json::array();
  for (const session::PurgedRun& run : purged) list.push_back({{"number", run.number}, {"whole", run.whole}});
  return list;
}

std::vector<session::PurgedRun> purgedFrom(const json& validation) {
  std::vector<session::PurgedRun> purged;
  for (const json& run : validation.value("purged", json::array())) purged.push_back({run.at("number"), run.at("whole")});
  return purged;
}

json entriesJson(const std::vector<session::RecordEntry>& entries) {
  json list = json::array();
  for (const session::RecordEntry& t : entries) list.push_back({{"number", t.number}, {"created", t.createdUtc}, {"title", t.title}, {"sha256", t.sha256}});
  return list;
}

std::vector<session::RecordEntry> readEntries(hid_t file, const char* name) {
  std::vector<session::RecordEntry> entries;
  if (!h5::hasLink(file, name)) return entries;
  for (const json& t : h5::parsedJson(h5::readText(file, name))) {
    entries.push_back({t.at("number"), t.at("created"), t.at("title"), t.at("sha256")});
    if (entries.back().number < 1 || entries.back().number > kLargestRunNumber) h5::fail("has a number that nothing in it has", name, "the file is damaged");
  }
  return entries;
}

json benchmarksJson(const std::vector<session::Benchmark>& benchmarks) {
  json list = json::array();
  for (const session::Benchmark& benchmark : benchmarks) list.push_back(session::toJson(benchmark));
  return list;
}

void readBenchmarks(hid_t file, Session& session) {
  if (!h5::hasLink(file, "benchmarks")) return;
  for (const json& benchmark : h5::parsedJson(h5::readText(file, "benchmarks"))) session.benchmarks.push_back(session::benchmarkFromJson(benchmark));
}

// Deleted runs stand where they stood: an older Ulpscope shows them again, and no try is ever lost.
void writeEntries(hid_t file, const Session& session, const std::string& folderName) {
  for (const session::RunRecord& run : session.runs) writeEntry(file, run, {session.runName(run.number), ""}, folderName);
  for (const session::DeletedRun& d : session.deleted) writeEntry(file, d.run, {session.runName(d.run.number), d.deletedUtc}, folderName);
}

}  // namespace

void checkIndices(const session::RunRecord& run, std::size_t samples) {
  const auto need = [](bool right, const char* where) {
    if (!right) h5::fail("points outside the session's sites or samples", where, "the file is damaged; restore it from a copy");
  };
  for (const session::SiteSummary& site : run.sites) {
    need(isIndex(site.worstSample, samples), "sites/worst_sample");
    if (!site.operands) continue;
    for (const session::SiteOperand& operand : site.operands->listed) need(isIndex(operand.site, run.sites.size()), "sites/operands");
  }
  for (const auto& finding : run.nonfiniteOrigins) need(isIndex(finding.site, run.sites.size()), "record, nonfinite_origins");
  for (const auto& finding : run.referenceNonfinite) need(isIndex(finding.site, run.sites.size()), "record, reference_nonfinite");
  for (const session::Flip& flip : run.flips)
    need(isIndex(flip.sample, samples) && isIndex(flip.firstSiteOverTolerance, run.sites.size()), "flips");
  need(run.decisions.empty() || run.decisions.size() == samples, "decisions");
}

std::vector<std::byte> masterImage(const Session& session, const std::string& folderName) {
  const h5::File file = h5::createInMemory();
  writeHeader(file, kFormat, kSessionFormat, session.id);
  h5::writeAttribute(file, "created", session.createdUtc);
  h5::writeAttribute(file, "session_creator_version", session.creatorVersion);
  h5::writeAttribute(file, "generation", session.generation);
  h5::writeAttribute(file, "title", session.title);
  if (const session::RunRecord* latest = session.latest()) h5::writeAttribute(file, "default", latest->id());
  h5::writeText(file, "model", dumped(model::toJson(session.model)));
  if (session.baselineNumber > 0) h5::writeAttribute(file, "baseline", runIdOf(session.baselineNumber));
  json validation = {{"criteria", session::toJson(session.criteria)}, {"explored", session::toJson(session.explored)}};
  if (!session.purged.empty()) validation["purged"] = purgedJson(session.purged);
  if (!session.trainingCriteria.empty()) validation["training_criteria"] = session::toJson(session.trainingCriteria);
  h5::writeText(file, "validation", dumped(validation));
  writeSamples(file, session.samples);
  if (!session.trainings.empty()) h5::writeText(file, "trainings", dumped(entriesJson(session.trainings)));
  if (!session.scans.empty()) h5::writeText(file, "scans", dumped(entriesJson(session.scans)));
  if (!session.benchmarks.empty()) h5::writeText(file, "benchmarks", dumped(benchmarksJson(session.benchmarks)));
  writeEntries(file, session, folderName);
  return h5::imageOf(file);
}

Master readMaster(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::none);
  const int format = checkHeader(file, kFormat, kSessionFormat);
  Master master;
  master.linkedFolder = refuseStrangeStructure(file, Links::ownHeatmaps);
  Session& session = master.session;
  session.id = h5::readTextAttribute(file, "session_id");
  session.createdUtc = h5::readTextAttribute(file, "created");
  session.creatorVersion = h5::readTextAttribute(file, "session_creator_version");
  session.generation = h5::readIntegerAttribute(file, "generation");
  session.title = h5::readTextAttribute(file, "title");
  auto model = model::modelInfoFromJson(h5::parsedJson(h5::readText(file, "model")));
  if (!model) throw h5::Failure{model.error()};
  session.model = std::move(model).value();
  const json validation = h5::parsedJson(h5::readText(file, "validation"));
  session.criteria = session::revisionsFromJson(validation.at("criteria"));
  session.explored = session::lineageFromJson(validation.at("explored"));
  session.purged = purgedFrom(validation);
  session.trainingCriteria = session::revisionsFromJson(validation.value("training_criteria", json::array()));
  session.baselineNumber = runNumberOfId(textAttributeOr(file, "baseline")).value_or(0);
  session.samples = readSamples(file);
  session.trainings = readEntries(file, "trainings");
  session.scans = readEntries(file, "scans");
  readBenchmarks(file, session);
  readRuns(file, session, format);
  return master;
}

}  // namespace ulpscope::storage
