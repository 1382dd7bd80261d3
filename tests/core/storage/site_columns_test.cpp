// The op sites' columns: every field of a site comes back as it was, and what no writer of ours puts there is refused.
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace ulpscope;
using session::Metric;
using session::SiteSummary;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// -0.0, the smallest subnormal, the largest value and thirds would show a detour by way of text.
constexpr double kAwkward[] = {kNan, kInf, -kInf, 0.0, -0.0, 5e-324, std::numeric_limits<double>::max(), 1.0 / 3.0, 0.1, 81920.0, 1e300};

// Another value a metric, so that two columns that change places are seen.
double valueOf(Metric metric, double value) { return metric == Metric::relL2 ? value : value * (1 + static_cast<double>(metric)); }

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// As FORMAT.md lists them.
std::vector<std::string> allColumns() {
  std::vector<std::string> columns{"module", "op", "overload", "source", "dtype", "reference_dtype", "policy", "sample_axis", "view_of", "role", "shape",
                                   "occurrence", "output", "worst_sample", "elements", "elements_over_tolerance", "differing_elements",
                                   "candidate_nan", "candidate_plus_inf", "candidate_minus_inf", "candidate_all_nan", "candidate_all_plus_inf",
                                   "candidate_all_minus_inf", "reference_nan", "reference_plus_inf", "reference_minus_inf", "operands"};
  for (const Metric metric : session::allMetrics()) columns.push_back(session::key(metric));
  for (const std::string optional : {"noise_floor_rel_l2", "reference_error_to_fp64", "candidate_error_to_fp64"})
    columns.insert(columns.end(), {optional, "has_" + optional});
  return columns;
}

class SiteColumns : public testing::Test {
 protected:
  // Writes a session of these sites and opens it again.
  std::vector<SiteSummary> writeAndRead(const std::vector<SiteSummary>& sites) {
    session::RunRecord run;
    run.sites = sites;
    storage::RunMetrics metrics;
    const std::size_t cells = sites.size() * tests::sampleSession().samples.ids.size();
    for (const Metric metric : {Metric::relL2, Metric::maxAbs})
      metrics[metric] = {static_cast<std::int64_t>(sites.size()), 3, std::vector<float>(cells)};
    metrics.flags.resize(cells);
    const auto written = storage::addRun(m_master, tests::sampleSession(), run, metrics, {}, storage::WriteMode::create);
    EXPECT_TRUE(written.ok()) << written.error().message();
    const auto read = storage::openSession(m_master);
    EXPECT_TRUE(read.ok()) << read.error().message();
    return read.ok() && read->runs.size() == 1 ? read->runs[0].sites : std::vector<SiteSummary>();
  }
  // What opening says once the Python lines changed the group of the columns, `s`.
  std::string afterEdit(const std::string& lines) {
    const std::string whole = tests::readFile(m_master);
    EXPECT_TRUE(tests::python(m_folder, "import h5py, numpy as np\nwith h5py.File('s.ulps', 'r+') as f:\n  s = f['run_0001/sites']\n  " + lines));
    const std::string said = openError("s.ulps");
    tests::writeFile(m_master, whole);
    return said;
  }
  std::string openError(const std::string& file) {
    const auto opened = storage::openSession(m_folder.file(file));
    return opened.ok() ? "opened" : opened.error().message();
  }

  tests::ScratchFolder m_folder;
  std::string m_master = m_folder.file("s.ulps");
};

TEST_F(SiteColumns, KeepEveryBitOfEveryNumber) {
  std::vector<SiteSummary> sites;
  for (const double value : kAwkward) {
    SiteSummary& site = sites.emplace_back();
    for (const Metric metric : session::allMetrics()) site.values[metric] = valueOf(metric, value);
    site.noiseFloorRelL2 = value;
    site.referenceErrorToFp64 = -value;
    site.candidateErrorToFp64 = value / 2;
  }
  const auto read = writeAndRead(sites);
  ASSERT_EQ(read.size(), sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    SCOPED_TRACE(kAwkward[i]);
    for (const Metric metric : session::allMetrics()) EXPECT_TRUE(same(read[i].values[metric], sites[i].values[metric])) << session::key(metric);
    EXPECT_TRUE(same(read[i].noiseFloorRelL2.value_or(-1), *sites[i].noiseFloorRelL2));
    EXPECT_TRUE(same(read[i].referenceErrorToFp64.value_or(-1), *sites[i].referenceErrorToFp64));
    EXPECT_TRUE(same(read[i].candidateErrorToFp64.value_or(-1), *sites[i].candidateErrorToFp64));
  }
}

TEST_F(SiteColumns, TellNoValueFromNan) {
  std::vector<SiteSummary> sites(2);
  sites[1].noiseFloorRelL2 = sites[1].candidateErrorToFp64 = kNan;
  const auto read = writeAndRead(sites);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_FALSE(read[0].noiseFloorRelL2.has_value());
  EXPECT_TRUE(read[1].noiseFloorRelL2.has_value());
  EXPECT_FALSE(read[1].referenceErrorToFp64.has_value());
  EXPECT_TRUE(read[1].candidateErrorToFp64.has_value());
}

TEST_F(SiteColumns, KeepEveryOtherField) {
  SiteSummary site;
  site.modulePath = "encoder.layers.0.fc2";
  site.op = "aten::linear";
  site.overload = "Tensor_out";
  site.source = "model.py:12";
  site.occurrence = 3;
  site.output = 1;
  site.candidateDtype = base::DType::float16;
  site.referenceDtype = base::DType::float64;
  site.policyClass = "promote";
  site.shape = {2, 0, 1LL << 40};
  site.sampleAxis = "1:n*batch";
  site.viewOf = "self";
  site.worstSample = 2;
  site.elements = 21;
  site.elementsOverTolerance = std::numeric_limits<std::int64_t>::max();
  site.differingElements = 4;
  site.candidateOnly = {1, 2, 3};
  site.candidate = {4, 5, 6};
  site.reference = {7, 8, 9};
  site.role = session::NonfiniteRole::consequence;
  site.noiseFloorRelL2 = 0.25;
  site.referenceErrorToFp64 = 0.5;
  site.candidateErrorToFp64 = 0.75;
  const auto read = writeAndRead({site, SiteSummary{}});
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].modulePath, site.modulePath);
  EXPECT_EQ(read[0].op, site.op);
  EXPECT_EQ(read[0].overload, site.overload);
  EXPECT_EQ(read[0].source, site.source);
  EXPECT_EQ(read[0].occurrence, 3);
  EXPECT_EQ(read[0].output, 1);
  EXPECT_EQ(read[0].candidateDtype, base::DType::float16);
  EXPECT_EQ(read[0].referenceDtype, base::DType::float64);
  EXPECT_EQ(read[0].policyClass, "promote");
  EXPECT_EQ(read[0].shape, site.shape);
  EXPECT_EQ(read[0].sampleAxis, "1:n*batch");
  EXPECT_EQ(read[0].viewOf, "self");
  EXPECT_EQ(read[0].worstSample, 2);
  EXPECT_EQ(read[0].elements, 21);
  EXPECT_EQ(read[0].elementsOverTolerance, site.elementsOverTolerance);
  EXPECT_EQ(read[0].differingElements, 4);
  const auto counts = [](const session::NonfiniteCounts& c) { return std::vector<std::int64_t>{c.nan, c.plusInf, c.minusInf}; };
  EXPECT_THAT(counts(read[0].candidateOnly), ElementsAre(1, 2, 3));
  EXPECT_THAT(counts(read[0].candidate), ElementsAre(4, 5, 6));
  EXPECT_THAT(counts(read[0].reference), ElementsAre(7, 8, 9));
  EXPECT_EQ(read[0].role, session::NonfiniteRole::consequence);
  EXPECT_TRUE(read[1].shape.empty());
  EXPECT_EQ(read[1].worstSample, -1);
  // Reader and writer share a table of names, so that each column holds what its name says is seen from outside only.
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py
sites = h5py.File('s.ulps')['run_0001/sites']
texts = {'module': 'encoder.layers.0.fc2', 'op': 'aten::linear', 'overload': 'Tensor_out', 'source': 'model.py:12', 'dtype': 'float16',
         'reference_dtype': 'float64', 'policy': 'promote', 'shape': '[2,0,1099511627776]', 'sample_axis': '1:n*batch', 'view_of': 'self',
         'role': 'consequence'}
numbers = {'occurrence': 3, 'output': 1, 'worst_sample': 2, 'elements': 21, 'elements_over_tolerance': 2**63 - 1, 'differing_elements': 4,
           'candidate_nan': 1, 'candidate_plus_inf': 2, 'candidate_minus_inf': 3, 'candidate_all_nan': 4, 'candidate_all_plus_inf': 5,
           'candidate_all_minus_inf': 6, 'reference_nan': 7, 'reference_plus_inf': 8, 'reference_minus_inf': 9,
           'noise_floor_rel_l2': 0.25, 'reference_error_to_fp64': 0.5, 'candidate_error_to_fp64': 0.75}
for name, text in texts.items(): assert sites[name].asstr()[0] == text, name
for name, number in numbers.items(): assert sites[name][0] == number, name
for name in ('noise_floor_rel_l2', 'reference_error_to_fp64', 'candidate_error_to_fp64'):
    assert sites['has_' + name][()].tolist() == [True, False], name
)"));
}

TEST_F(SiteColumns, AreNamedWhenTheyAreMissingOrOfAnotherLength) {
  writeAndRead(std::vector<SiteSummary>(2));
  std::string columns;
  for (const std::string& column : allColumns()) columns += column + " ";
  ASSERT_TRUE(tests::python(m_folder, "columns = '" + columns + R"('.split()
import h5py, shutil
assert sorted(columns) == sorted(h5py.File('s.ulps')['run_0001/sites'])
for column in columns:
    for edit in ('missing', 'short'):
        shutil.copy('s.ulps', edit + '-' + column + '.ulps')
        with h5py.File(edit + '-' + column + '.ulps', 'r+') as f:
            sites = f['run_0001/sites']
            first, dtype = sites[column][:1], sites[column].dtype
            del sites[column]
            if edit == 'short': sites.create_dataset(column, data=first, dtype=dtype)
)"));
  for (const std::string& column : allColumns()) {
    EXPECT_THAT(openError("missing-" + column + ".ulps"), HasSubstr("run_0001, " + column + ": is missing"));
    // All are held to the number of modules, so when that column is the short one the next is told of.
    const std::string said = column == "module" ? "op: has 2 entries, 1 expected" : column + ": has 1 entries, 2 expected";
    EXPECT_THAT(openError("short-" + column + ".ulps"), HasSubstr("run_0001, " + said)) << column;
  }
}

TEST_F(SiteColumns, WordsThatAreUnknownAreNeverReadAsADefault) {
  writeAndRead(std::vector<SiteSummary>(2));
  for (const std::string column : {"dtype", "reference_dtype", "role"}) {
    const std::string said = column == "role" ? "role" : "dtype";
    EXPECT_THAT(afterEdit("s['" + column + "'][1] = 'nonsense'"),
                HasSubstr("run_0001, sites: a site record is damaged: unknown " + said + " \"nonsense\""));
    EXPECT_THAT(afterEdit("s['" + column + "'][1] = ''"), HasSubstr("unknown " + said + " \"\""));
    EXPECT_THAT(afterEdit("s['" + column + "'][1] = 'two\\nlines'"), AllOf(HasSubstr("unknown " + said), Not(HasSubstr("\n"))));
  }
}

TEST_F(SiteColumns, AShapeThatIsNoListOfNumbersIsRefused) {
  writeAndRead(std::vector<SiteSummary>(2));
  for (const char* text : {"", "[1, 2", "[1, 2] 3"}) EXPECT_THAT(afterEdit(std::string("s['shape'][1] = '") + text + "'"), HasSubstr("holds damaged JSON"));
  for (const char* text : {"3", "null", "{}", "[\"a\"]", "[[1]]"})
    EXPECT_THAT(afterEdit(std::string("s['shape'][1] = '") + text + "'"), HasSubstr("run_0001, sites: a site record is damaged"));
  EXPECT_EQ(afterEdit("s['shape'][1] = ' [ 1, 2 ]'"), "opened");
}

session::SiteOperands everyKindOfOperand() {
  using From = session::SiteOperand::From;
  using base::DType;
  return {{{"input", DType::float32, DType::float16, {}, From::site, 1, ""},
           {"weight", DType::float32, DType::float32, DType::float16, From::parameter, -1, "größe.weight"},
           {"index", DType::int64, DType::int64, {}, From::input, -1, "x"},
           {"tensors[0]", DType::bfloat16, {}, {}, From::unknown, -1, ""},
           {"odd", {}, {}, {}, From::unknown, -1, ""}},
          1000};
}

TEST_F(SiteColumns, KeepOperandsAndTellNoneFromThoseNotRecorded) {
  std::vector<SiteSummary> sites(3);
  sites[0].operands = everyKindOfOperand();
  sites[1].operands = session::SiteOperands{};
  const auto read = writeAndRead(sites);
  ASSERT_EQ(read.size(), 3U);
  ASSERT_TRUE(read[0].operands && read[1].operands);
  EXPECT_FALSE(read[2].operands);
  EXPECT_TRUE(read[1].operands->listed.empty());
  EXPECT_EQ(read[0].operands->count, 1000);
  const auto expected = everyKindOfOperand().listed;
  ASSERT_EQ(read[0].operands->listed.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const session::SiteOperand& operand = read[0].operands->listed[i];
    EXPECT_EQ(operand.name, expected[i].name);
    EXPECT_EQ(operand.referenceDtype, expected[i].referenceDtype) << i;
    EXPECT_EQ(operand.candidateDtype, expected[i].candidateDtype) << i;
    EXPECT_EQ(operand.castTo, expected[i].castTo) << i;
    EXPECT_EQ(operand.from, expected[i].from) << i;
    EXPECT_EQ(operand.site, expected[i].site) << i;
    EXPECT_EQ(operand.origin, expected[i].origin) << i;
  }
  EXPECT_TRUE(tests::python(m_folder, R"(
import h5py, json
operands = [json.loads(text) if text else None for text in h5py.File('s.ulps')['run_0001/sites/operands'].asstr()]
assert operands[1:] == [{'count': 0, 'listed': []}, None]
assert operands[0] == {'count': 1000, 'listed': [
    ['input', 'float32', 'float16', None, 'site', 1], ['weight', 'float32', 'float32', 'float16', 'parameter', 'gr\u00f6\u00dfe.weight'],
    ['index', 'int64', 'int64', None, 'input', 'x'], ['tensors[0]', 'bfloat16', None, None, 'unknown', None],
    ['odd', None, None, None, 'unknown', None]]}, operands[0]
)"));
}

TEST_F(SiteColumns, OperandsThatNoWriterOfOursPutsThereAreRefused) {
  std::vector<SiteSummary> sites(2);
  sites[1].operands = everyKindOfOperand();
  writeAndRead(sites);
  const auto after = [&](const std::string& row) { return afterEdit("s['operands'][1] = '{\"count\": 1, \"listed\": [" + row + "]}'"); };
  EXPECT_EQ(after(R"(["a", "float32", null, null, "unknown", null])"), "opened");
  for (const char* row : {R"(["a", "float33", null, null, "unknown", null])", R"(["a", null, null, null, "thin air", "x"])"})
    EXPECT_THAT(after(row), HasSubstr("a site record is damaged: unknown word in operands")) << row;
  for (const char* row : {R"(["a", null, null, null, "site", "x"])", R"(["a", null, null, null, "input", 3])", R"(["a"])", R"([7, null, null, null, "unknown", null])", "3"})
    EXPECT_THAT(after(row), HasSubstr("run_0001, sites: a site record is damaged")) << row;
  EXPECT_THAT(afterEdit("s['operands'][1] = '{'"), HasSubstr("holds damaged JSON"));
}

// As a version before operands wrote it.
TEST_F(SiteColumns, OfFormat2SayNothingOfOperandsAndAreKeptByANewerWriter) {
  std::vector<SiteSummary> sites(2);
  sites[0].op = "aten::linear";
  sites[0].operands = everyKindOfOperand();
  writeAndRead(sites);
  ASSERT_TRUE(tests::python(m_folder, R"(
import h5py, os
os.chmod('s.ulps.d/run-0001.metrics.h5', 0o600)
for name, kind in (('s.ulps', 'session'), ('s.ulps.d/run-0001.metrics.h5', 'metrics')):
    with h5py.File(name, 'r+') as f:
        assert f.attrs['file_format'] == 'ulpscope-' + kind + '/3'
        f.attrs['file_format'] = 'ulpscope-' + kind + '/2'
        del f['run_0001/sites/operands']
)"));
  const auto older = storage::openSession(m_master);
  ASSERT_TRUE(older.ok()) << older.error().message();
  EXPECT_EQ(older->runs.at(0).sites.at(0).op, "aten::linear");
  EXPECT_FALSE(older->runs[0].sites[0].operands);
  EXPECT_TRUE(storage::readMetrics(m_master, older.value(), "run_0001").ok());

  session::RunRecord run;
  run.sites = sites;
  storage::RunMetrics metrics;
  for (const Metric metric : {Metric::relL2, Metric::maxAbs}) metrics[metric] = {2, 3, std::vector<float>(6)};
  metrics.flags.resize(6);
  const auto both = storage::addRun(m_master, older.value(), run, metrics, {}, storage::WriteMode::append);
  ASSERT_TRUE(both.ok()) << both.error().message();
  const auto newer = storage::openSession(m_master);
  ASSERT_TRUE(newer.ok()) << newer.error().message();
  ASSERT_EQ(newer->runs.size(), 2U);
  EXPECT_EQ(newer->runs[0].sites.at(0).op, "aten::linear");
  EXPECT_FALSE(newer->runs[0].sites[0].operands);
  EXPECT_TRUE(newer->runs[1].sites.at(0).operands);
}

// A format 3 file that lacks the column is damaged, not older.
TEST_F(SiteColumns, OfTheMetricsFileAreReadByItsOwnFormat) {
  writeAndRead(std::vector<SiteSummary>(2));
  ASSERT_TRUE(tests::python(m_folder, R"(
import h5py, os
os.chmod('s.ulps.d/run-0001.metrics.h5', 0o600)
with h5py.File('s.ulps.d/run-0001.metrics.h5', 'r+') as f:
    f.attrs['file_format'] = 'ulpscope-metrics/2'
    del f['run_0001/sites/operands']
with h5py.File('s.ulps', 'r+') as f: del f['run_0001']
)"));
  const auto adopted = storage::openSession(m_master);  // by the master that does not name it
  ASSERT_TRUE(adopted.ok()) << adopted.error().message();
  ASSERT_EQ(adopted->runs.size(), 1U);
  EXPECT_FALSE(adopted->runs[0].sites.at(0).operands);
}

}  // namespace
