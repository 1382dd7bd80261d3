#include "core/storage/site_columns.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <variant>

namespace ulpscope::storage {
namespace {

using base::DType;
using nlohmann::json;
using session::Metric;
using session::NonfiniteCounts;
using session::NonfiniteRole;
using session::SiteSummary;
using Sites = std::vector<SiteSummary>;
using Shape = std::vector<std::int64_t>;
using Operands = std::optional<session::SiteOperands>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Count {
  NonfiniteCounts SiteSummary::*counts;
  std::int64_t NonfiniteCounts::*of;
};

template <typename T>
using Member = T SiteSummary::*;
using Field = std::variant<Member<std::string>, Member<int>, Member<std::int64_t>, Member<DType>, Member<NonfiniteRole>, Member<Shape>,
                           Member<std::optional<double>>, Count>;
struct Column {
  const char* name;
  Field field;
};

// Every other column must have as many entries as this one.
constexpr const char* kFirst = "module";

// Runs of format 2 say nothing of operands.
constexpr const char* kOperands = "operands";
constexpr int kFirstWithOperands = 3;

constexpr Column kBeforeMetrics[] = {{"op", &SiteSummary::op},
                                     {"overload", &SiteSummary::overload},
                                     {"source", &SiteSummary::source},
                                     {"occurrence", &SiteSummary::occurrence},
                                     {"output", &SiteSummary::output},
                                     {"dtype", &SiteSummary::candidateDtype},
                                     {"reference_dtype", &SiteSummary::referenceDtype},
                                     {"policy", &SiteSummary::policyClass},
                                     {"shape", &SiteSummary::shape},
                                     {"sample_axis", &SiteSummary::sampleAxis},
                                     {"view_of", &SiteSummary::viewOf},
                                     {"worst_sample", &SiteSummary::worstSample},
                                     {"elements", &SiteSummary::elements},
                                     {"elements_over_tolerance", &SiteSummary::elementsOverTolerance},
                                     {"differing_elements", &SiteSummary::differingElements},
                                     {"role", &SiteSummary::role}};

constexpr Column kAfterMetrics[] = {{"noise_floor_rel_l2", &SiteSummary::noiseFloorRelL2},
                                    {"reference_error_to_fp64", &SiteSummary::referenceErrorToFp64},
                                    {"candidate_error_to_fp64", &SiteSummary::candidateErrorToFp64},
                                    {"candidate_nan", Count{&SiteSummary::candidateOnly, &NonfiniteCounts::nan}},
                                    {"candidate_plus_inf", Count{&SiteSummary::candidateOnly, &NonfiniteCounts::plusInf}},
                                    {"candidate_minus_inf", Count{&SiteSummary::candidateOnly, &NonfiniteCounts::minusInf}},
                                    {"candidate_all_nan", Count{&SiteSummary::candidate, &NonfiniteCounts::nan}},
                                    {"candidate_all_plus_inf", Count{&SiteSummary::candidate, &NonfiniteCounts::plusInf}},
                                    {"candidate_all_minus_inf", Count{&SiteSummary::candidate, &NonfiniteCounts::minusInf}},
                                    {"reference_nan", Count{&SiteSummary::reference, &NonfiniteCounts::nan}},
                                    {"reference_plus_inf", Count{&SiteSummary::reference, &NonfiniteCounts::plusInf}},
                                    {"reference_minus_inf", Count{&SiteSummary::reference, &NonfiniteCounts::minusInf}}};

// Calls visit(name, field) for each column after the first, in the order of the file.
template <typename Visit>
void forEachColumn(Visit visit) {
  const auto visitNamed = [&](const Column& column) { std::visit([&](auto field) { visit(column.name, field); }, column.field); };
  for (const Column& column : kBeforeMetrics) visitNamed(column);
  for (const Metric metric : session::allMetrics()) visit(session::key(metric), metric);
  for (const Column& column : kAfterMetrics) visitNamed(column);
}

[[noreturn]] void failDamaged(const std::string& why) {
  throw h5::Failure{base::Error{base::ErrorKind::input, "a site record is damaged: " + why, "sites", ""}};
}

// Never read as some default. Quoted as JSON, so that the error stays one line whatever the word holds.
[[noreturn]] void failUnknown(const char* what, const std::string& word) {
  failDamaged(fmt::format("unknown {} {}", what, json(word).dump(-1, ' ', false, json::error_handler_t::replace)));
}

// What stands in the file for a field, and the reverse.
std::string entryOf(const SiteSummary& site, Member<std::string> text) { return site.*text; }
void setEntry(SiteSummary& site, Member<std::string> text, std::string&& entry) { site.*text = std::move(entry); }

std::int64_t entryOf(const SiteSummary& site, Member<int> number) { return site.*number; }
void setEntry(SiteSummary& site, Member<int> number, std::int64_t entry) { site.*number = static_cast<int>(entry); }

std::int64_t entryOf(const SiteSummary& site, Member<std::int64_t> number) { return site.*number; }
void setEntry(SiteSummary& site, Member<std::int64_t> number, std::int64_t entry) { site.*number = entry; }

std::int64_t entryOf(const SiteSummary& site, Count count) { return site.*count.counts.*count.of; }
void setEntry(SiteSummary& site, Count count, std::int64_t entry) { site.*count.counts.*count.of = entry; }

std::string entryOf(const SiteSummary& site, Member<DType> dtype) { return base::name(site.*dtype); }
void setEntry(SiteSummary& site, Member<DType> dtype, const std::string& entry) {
  const auto known = base::dtypeFromName(entry);
  if (!known) failUnknown("dtype", entry);
  site.*dtype = *known;
}

std::string entryOf(const SiteSummary& site, Member<NonfiniteRole> role) { return session::name(site.*role); }
void setEntry(SiteSummary& site, Member<NonfiniteRole> role, const std::string& entry) {
  const auto known = session::nonfiniteRoleFromName(entry);
  if (!known) failUnknown("role", entry);
  site.*role = *known;
}

std::string entryOf(const SiteSummary& site, Member<Shape> shape) { return fmt::format("[{}]", fmt::join(site.*shape, ",")); }
void setEntry(SiteSummary& site, Member<Shape> shape, const std::string& entry) {
  const json sizes = h5::parsedJson(entry);
  try {
    site.*shape = sizes.get<Shape>();
  } catch (const json::exception& e) {
    failDamaged(e.what());
  }
}

double entryOf(const SiteSummary& site, Metric metric) { return site.values[metric]; }
void setEntry(SiteSummary& site, Metric metric, double entry) {
  if (!std::isnan(entry)) site.values[metric] = entry;  // else not evaluated, as it is in a new site
}

std::string entryOf(const SiteSummary& site, Member<Operands> operands) {
  const Operands& recorded = site.*operands;
  return recorded ? session::toJson(*recorded).dump(-1, ' ', false, json::error_handler_t::replace) : std::string();
}
void setEntry(SiteSummary& site, Member<Operands> operands, const std::string& entry) {
  if (entry.empty()) return;
  const json recorded = h5::parsedJson(entry);
  try {
    site.*operands = session::operandsFromJson(recorded);
  } catch (const json::exception& e) {
    failDamaged(e.what());
  }
  if (!(site.*operands)) failUnknown("word in operands", entry);
}

void readEntries(hid_t group, const std::string& name, std::vector<std::string>& entries) { entries = h5::readTexts(group, name); }
void readEntries(hid_t group, const std::string& name, std::vector<std::int64_t>& entries) { entries = h5::readIntegers(group, name); }
void readEntries(hid_t group, const std::string& name, std::vector<double>& entries) { entries = h5::readDoubles(group, name); }

template <typename F>
using Entries = std::vector<decltype(entryOf(std::declval<const SiteSummary&>(), std::declval<F>()))>;

template <typename F>
void writeField(hid_t group, const std::string& name, const Sites& sites, F field) {
  Entries<F> entries;
  entries.reserve(sites.size());
  for (const SiteSummary& site : sites) entries.push_back(entryOf(site, field));
  h5::writeColumn(group, name, entries);
}

template <typename F>
void readField(hid_t group, const std::string& name, Sites& sites, F field) {
  Entries<F> entries;
  readEntries(group, name, entries);
  h5::ofLength(entries, sites.size(), name);
  for (std::size_t i = 0; i < sites.size(); ++i) setEntry(sites[i], field, std::move(entries[i]));
}

// No sign and no payload: there is one NaN.
double plain(double value) { return std::isnan(value) ? kNan : value; }

// An optional number is two columns, since NaN is a value of its own: the number, and whether there is one.
void writeField(hid_t group, const std::string& name, const Sites& sites, Member<std::optional<double>> number) {
  std::vector<double> values;
  std::vector<bool> known;
  for (const SiteSummary& site : sites) {
    values.push_back(plain((site.*number).value_or(kNan)));
    known.push_back((site.*number).has_value());
  }
  h5::writeColumn(group, name, values);
  h5::writeColumn(group, "has_" + name, known);
}

void readField(hid_t group, const std::string& name, Sites& sites, Member<std::optional<double>> number) {
  const auto values = h5::readDoubles(group, name);
  h5::ofLength(values, sites.size(), name);
  const auto known = h5::readBools(group, "has_" + name);
  h5::ofLength(known, sites.size(), "has_" + name);
  for (std::size_t i = 0; i < sites.size(); ++i)
    if (known[i]) sites[i].*number = plain(values[i]);
}

}  // namespace

void writeSiteColumns(hid_t group, const Sites& sites) {
  writeField(group, kFirst, sites, &SiteSummary::modulePath);
  forEachColumn([&](const std::string& name, auto field) { writeField(group, name, sites, field); });
  writeField(group, kOperands, sites, &SiteSummary::operands);
}

Sites readSiteColumns(hid_t group, int format) {
  auto modules = h5::readTexts(group, kFirst);
  Sites sites(modules.size());
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i].modulePath = std::move(modules[i]);
  forEachColumn([&](const std::string& name, auto field) { readField(group, name, sites, field); });
  if (format >= kFirstWithOperands) readField(group, kOperands, sites, &SiteSummary::operands);
  return sites;
}

}  // namespace ulpscope::storage
