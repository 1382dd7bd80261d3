#include "core/storage/run_table.h"

#include "core/base/number_text.h"
#include "core/storage/site_columns.h"

#include <nlohmann/json.hpp>

namespace ulpscope::storage {
namespace {

using nlohmann::json;
using session::RunRecord;

// What a table of JSON objects is made of, key by key (the keys of the run document).
// optionalText: "" is null; optionalIndex: -1 is null; nested: JSON text.
enum class Kind { text, optionalText, integer, optionalIndex, number, nested, flag };
struct Key {
  const char* name;
  Kind kind;
};

constexpr Key kFlipKeys[] = {{"sample_id", Kind::text},          {"sample", Kind::integer},
                             {"reference", Kind::integer},       {"candidate", Kind::integer},
                             {"reference_margin", Kind::number}, {"candidate_margin", Kind::number},
                             {"kind", Kind::text},               {"effect", Kind::optionalText},
                             {"positions", Kind::nested},        {"reference_top", Kind::nested},
                             {"candidate_top", Kind::nested},    {"first_site_over_tolerance", Kind::optionalIndex},
                             {"within_noise_floor", Kind::flag}};

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

template <typename T, typename F>
std::vector<T> column(const std::vector<json>& rows, F value) {
  std::vector<T> values;
  for (const json& row : rows) values.push_back(value(row));
  return values;
}

std::string textOr(const json& value, const std::string& ifNull) { return value.is_null() ? ifNull : value.get<std::string>(); }
std::int64_t integerOr(const json& value, std::int64_t ifNull) { return value.is_null() ? ifNull : value.get<std::int64_t>(); }

void writeKey(hid_t group, const std::vector<json>& rows, const Key& key) {
  switch (key.kind) {
    case Kind::text:
    case Kind::optionalText:
      return h5::writeColumn(group, key.name, column<std::string>(rows, [&](const json& r) { return textOr(r.at(key.name), ""); }));
    case Kind::integer:
    case Kind::optionalIndex:
      return h5::writeColumn(group, key.name, column<std::int64_t>(rows, [&](const json& r) { return integerOr(r.at(key.name), -1); }));
    case Kind::number:
      return h5::writeColumn(group, key.name, column<double>(rows, [&](const json& r) { return base::numberFromJson(r.at(key.name)); }));
    case Kind::flag:
      return h5::writeColumn(group, key.name, column<bool>(rows, [&](const json& r) { return r.at(key.name).get<bool>(); }));
    case Kind::nested:
      return h5::writeColumn(group, key.name, column<std::string>(rows, [&](const json& r) { return dumped(r.at(key.name)); }));
  }
}

// How a column's value stands in its JSON object.
json cell(const std::string& text, Kind kind) {
  if (kind == Kind::nested) return h5::parsedJson(text);
  return kind == Kind::optionalText && text.empty() ? json(nullptr) : json(text);
}
json cell(std::int64_t value, Kind kind) { return kind == Kind::optionalIndex && value < 0 ? json(nullptr) : json(value); }
json cell(double value, Kind) { return base::jsonNumber(value); }

template <typename T>
void fill(std::vector<json>& rows, const Key& key, const std::vector<T>& values) {
  h5::ofLength(values, rows.size(), key.name);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][key.name] = cell(values[i], key.kind);
}

void readKey(hid_t group, std::vector<json>& rows, const Key& key) {
  switch (key.kind) {
    case Kind::text:
    case Kind::optionalText:
    case Kind::nested: return fill(rows, key, h5::readTexts(group, key.name));
    case Kind::integer:
    case Kind::optionalIndex: return fill(rows, key, h5::readIntegers(group, key.name));
    case Kind::number: return fill(rows, key, h5::readDoubles(group, key.name));
    case Kind::flag: {
      const auto values = h5::readBools(group, key.name);
      h5::ofLength(values, rows.size(), key.name);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i][key.name] = static_cast<bool>(values[i]);
      return;
    }
  }
}

void writeSites(hid_t entry, const RunRecord& run) {
  const h5::Group group = h5::createGroup(entry, "sites", "NXdata");
  h5::writeAttribute(group, "signal", "rel_l2");
  h5::writeAttribute(group, "SILX_style", R"({"signal_scale_type":"log"})");
  h5::writeAttribute(group, "title", "worst relative L2 over samples, by op site in execution order");
  writeSiteColumns(group, run.sites);
}

void writeFlips(hid_t entry, const std::vector<json>& rows) {
  const h5::Group group = h5::createGroup(entry, "flips", "NXcollection");
  for (const Key& key : kFlipKeys) writeKey(group, rows, key);
}

std::vector<json> readFlips(hid_t entry) {
  const h5::Group group = h5::openGroup(entry, "flips");
  std::vector<json> rows(h5::readTexts(group, "sample_id").size());
  for (const Key& key : kFlipKeys) readKey(group, rows, key);
  return rows;
}

void writeDecisions(hid_t entry, const RunRecord& run) {
  std::vector<double> reference, candidate, errors;
  for (const session::SampleDecision& d : run.decisions) {
    reference.push_back(d.referenceMargin);
    candidate.push_back(d.candidateMargin);
    errors.push_back(d.maxError);
  }
  const h5::Group group = h5::createGroup(entry, "decisions", "NXcollection");
  h5::writeColumn(group, "reference_margin", reference);
  h5::writeColumn(group, "candidate_margin", candidate);
  h5::writeColumn(group, "max_error", errors);
}

std::vector<session::SampleDecision> readDecisions(hid_t entry) {
  const h5::Group group = h5::openGroup(entry, "decisions");
  const auto reference = h5::readDoubles(group, "reference_margin");
  const auto candidate = h5::readDoubles(group, "candidate_margin");
  h5::ofLength(candidate, reference.size(), "candidate_margin");
  const auto errors = h5::readDoubles(group, "max_error");
  h5::ofLength(errors, reference.size(), "max_error");
  std::vector<session::SampleDecision> decisions;
  for (std::size_t i = 0; i < reference.size(); ++i) decisions.push_back({reference[i], candidate[i], errors[i]});
  return decisions;
}

// The sets of top-k decisions stand in the record; the columns of the flips have the best class that the other set lacks.
json takeSets(std::vector<json>& flips, const RunRecord& run) {
  json sets = json::array();
  for (std::size_t i = 0; i < flips.size(); ++i) {
    if (run.flips[i].referenceSet.empty()) continue;
    sets.push_back({i, flips[i].at("reference"), flips[i].at("candidate")});
    flips[i]["reference"] = run.flips[i].referenceDecision;
    flips[i]["candidate"] = run.flips[i].candidateDecision;
  }
  return sets;
}

void putSets(std::vector<json>& flips, const json& sets) {
  for (const json& set : sets) {
    const auto i = set.at(0).get<std::size_t>();
    if (i >= flips.size()) h5::fail("points outside the flips", "record, flip_sets", "the file is damaged; restore it from a copy");
    flips[i]["reference"] = set.at(1);
    flips[i]["candidate"] = set.at(2);
  }
}

}  // namespace

void writeRun(hid_t entry, const RunRecord& run) {
  json record = session::toJson(run);
  writeSites(entry, run);
  auto flips = record.at("flips").get<std::vector<json>>();
  record["flip_sets"] = takeSets(flips, run);
  writeFlips(entry, flips);
  writeDecisions(entry, run);
  record.erase("flips");
  record.erase("decisions");
  h5::writeText(entry, "record", dumped(record));
}

RunRecord readRun(hid_t entry, int format) {
  json record = h5::parsedJson(h5::readText(entry, "record"));
  std::vector<json> flips = readFlips(entry);
  putSets(flips, record.at("flip_sets"));
  record["flips"] = flips;
  record["decisions"] = json::array();
  auto run = session::runFromJson(record, readSiteColumns(h5::openGroup(entry, "sites"), format));
  if (!run) throw h5::Failure{run.error()};
  run.value().decisions = readDecisions(entry);
  return std::move(run).value();
}

}  // namespace ulpscope::storage
