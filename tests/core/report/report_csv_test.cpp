#include "core/report/report_csv.h"

#include "report_case.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <clocale>

namespace ulpscope::report {
namespace {

using test::ReportCase;
using testing::HasSubstr;

::testing::AssertionResult inPython(const ReportContent& content, const std::string& checks) {
  const tests::ScratchFolder folder;
  tests::writeFile(folder.file("sites.csv"), sitesCsv(content));
  tests::writeFile(folder.file("flips.csv"), flipsCsv(content));
  return tests::python(folder, R"(
import csv, math, os
os.environ['LC_ALL'] = 'de_DE.UTF-8'
def read(name):
    with open(name, newline='', encoding='utf-8') as file: return list(csv.DictReader(file, strict=True))
sites, flips = read('sites.csv'), read('flips.csv')
)" + checks);
}

TEST(ReportCsv, PythonReadsEveryNumberBack) {
  EXPECT_TRUE(inPython(ReportCase().content(), R"(
assert [s['module'] for s in sites] == ['encoder.0.ffn.wi', 'encoder.0.ffn.wo', '', 'head', 'head']
assert float(sites[0]['rel_l2']) == 3e-4 and math.isinf(float(sites[1]['rel_l2'])) and float(sites[1]['max_abs']) == 2.25
assert float(sites[1]['headroom_bits']) == -0.32
assert sites[2]['rel_l2'] == '' and sites[2]['nan'] == '4'   # not evaluated is no zero
assert sites[4]['view_of'] == 'head: weight' and sites[4]['rel_l2'] == ''
assert sites[1]['role'] == 'origin' and (sites[1]['plus_inf'], sites[1]['minus_inf']) == ('3', '1')
assert sites[0]['worst_sample'] == 's17' and sites[3]['occurrence'] == '2'
assert [f['sample_id'] for f in flips] == ['s5', 's17', 's142']   # the worst first
assert float(flips[0]['reference_margin']) == 0.0004 and float(flips[0]['candidate_margin']) == math.inf
assert (flips[0]['reference'], flips[0]['candidate'], flips[0]['effect'], flips[0]['label']) == ('3', '8', 'regressed', '')
assert flips[0]['first_site_over_tolerance'] == 'head: aten::linear#2' and flips[1]['first_site_over_tolerance'] == ''
)"));
}

TEST(ReportCsv, LinesEndAsRfc4180HasThem) {
  const std::string text = sitesCsv(ReportCase().content());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) EXPECT_EQ(text[at - 1], '\r');
  EXPECT_THAT(text, HasSubstr(kSitesHead));
  EXPECT_THAT(text.substr(text.find('\n')), testing::Not(HasSubstr(",nan,")));  // the head has a column of that name
}

// A German program has a comma before decimals; ours has none of it.
TEST(ReportCsv, TheLocaleChangesNothing) {
  const ReportContent content = ReportCase().content();
  const std::string plain = sitesCsv(content) + flipsCsv(content);
  for (const char* locale : {"de_DE.UTF-8", "de_DE", "pt_BR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);  // where it is not installed nothing changes
    EXPECT_EQ(sitesCsv(content) + flipsCsv(content), plain) << locale;
  }
  std::setlocale(LC_ALL, "C");
}

TEST(ReportCsv, TextsOfOthersStayTexts) {
  session::Session s = test::sampleSession();
  s.samples.ids[5] = "=HYPERLINK(\"http://x\")";
  s.runs.front().flips[0].sampleId = s.samples.ids[5];
  s.runs.front().sites[0].modulePath = "a,\"b\"\nc";
  s.runs.front().sites[1].modulePath = "@sum(1)";
  EXPECT_TRUE(inPython(ReportCase(s).content(), R"py(
assert flips[0]['sample_id'] == '\'=HYPERLINK("http://x")', flips[0]
assert sites[0]['module'] == 'a,"b"\nc', sites[0]
assert sites[1]['module'] == "'@sum(1)"
assert sites[1]['headroom_bits'] == '-0.32'   # a number is none of it
)py"));
}

TEST(ReportCsv, ACoveredReportHasTheHeadAlone) {
  const ReportContent content = ReportCase().content(true);
  const std::string sites = sitesCsv(content);
  EXPECT_EQ(std::count(sites.begin(), sites.end(), '\n'), 1);
  EXPECT_THAT(flipsCsv(content), testing::StartsWith(kFlipsHead));
}

}  // namespace
}  // namespace ulpscope::report
