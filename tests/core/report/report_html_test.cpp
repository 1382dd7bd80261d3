#include "core/report/report_html.h"

#include "report_case.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

namespace ulpscope::report {
namespace {

using test::ReportCase;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string page(const ReportCase& on, Language language = Language::english, bool isCovered = false) { return reportHtml(reportDocument(on.content(isCovered), language)); }

// Python's XML parser reads the page, so it is well-formed; then its headings, tables and texts are asked for.
::testing::AssertionResult inPython(const std::string& html, const std::string& checks) {
  const tests::ScratchFolder folder;
  tests::writeFile(folder.file("report.html"), html);
  return tests::python(folder, R"(
import re, xml.etree.ElementTree as tree
text = open('report.html', encoding='utf-8').read()
root = tree.fromstring(text)
H = '{http://www.w3.org/1999/xhtml}'
S = '{http://www.w3.org/2000/svg}'
words = lambda e: ' '.join(''.join(e.itertext()).split())
sections = {s.get('id'): s for s in root.iter(H + 'section')}
def rows(section, caption):
    for table in sections[section].iter(H + 'table'):
        if words(table.find(H + 'caption')).startswith(caption):
            return [[words(c) for c in row] for row in table.find(H + 'tbody')]
    raise AssertionError(caption)
notices = [p.get('data-code') for p in root.iter(H + 'p') if (p.get('class') or '').startswith('notice')]
verdict = next(p for p in root.iter(H + 'p') if (p.get('class') or '').startswith('verdict'))
)" + checks);
}

TEST(ReportHtml, IsWellFormedWithoutScriptOrAnythingFromElsewhere) {
  const ReportCase on(test::lockedSession());
  EXPECT_TRUE(inPython(page(on), R"(
assert not list(root.iter(H + 'script')) and not list(root.iter(H + 'link')) and not list(root.iter(H + 'iframe'))
for e in root.iter():
    for name, value in e.attrib.items():
        assert not name.lower().startswith('on'), name
        if name.split('}')[-1] in ('href', 'src', 'srcset', 'action', 'data'): assert value.startswith(('#', 'data:image/png;base64,')), value[:80]
style = words(root.find(H + 'head').find(H + 'style'))
assert 'url(' not in style and '@import' not in style
assert 'prefers-color-scheme:dark' in style and '@media print' in style
assert [s for s in set(re.findall(r'https?://[^"\s<]+', text)) if not s.startswith('http://www.w3.org/')] == []
assert root.get('lang') == 'en'
)"));
}

TEST(ReportHtml, HasHeadingsCaptionsAndWordsForEveryPicture) {
  const ReportCase on(test::curedSession());
  EXPECT_TRUE(inPython(page(on), R"(
assert len(list(root.iter(H + 'h1'))) == 1
for s in sections.values(): assert [e.tag for e in s if e.tag == H + 'h2'] == [H + 'h2']
for table in root.iter(H + 'table'):
    assert words(table.find(H + 'caption'))
    for row in table.find(H + 'tbody'): assert row[0].tag == H + 'th' and row[0].get('scope') == 'row'
    width = len(table.find(H + 'thead')[0])
    assert all(len(row) == width for row in table.find(H + 'tbody'))
pictures = list(root.iter(S + 'svg'))
assert len(pictures) >= 2
for svg in pictures: assert svg.get('role') == 'img' and svg.get('aria-label') and svg.find(S + 'title').text
ids = [e.get('id') for e in root.iter() if e.get('id')]
assert len(ids) == len(set(ids))
assert all(a.get('href')[1:] in ids for a in root.iter(H + 'a'))
)"));
}

TEST(ReportHtml, BeginsWithTheVerdictAndTheFourRowsThatAlwaysStand) {
  const ReportCase on(test::lockedSession());
  EXPECT_TRUE(inPython(page(on), R"(
main = root.find(H + 'body').find(H + 'main')
assert (main[0].get('class') or '').startswith('verdict'), main[0].get('class')
assert words(verdict).startswith('✕ FAIL'.replace(' ', '')) and '2 of 3 limits do not hold: nonfinite.samples, decisions.flips' in words(verdict), words(verdict)
assert main[2].get('id') == 'overview'
table = rows('overview', 'Both runs')
assert [r[0] for r in table] == ['Finite', 'Deviation', 'Decision', 'Quality']
assert table[0][2:] == ['NaN or inf in 2 samples, 1 origin', 'nonfinite.samples ≤ 0', '✕ does not hold'], table[0]
assert table[1][2:] == ['relative L2 0.012, worst output, over finite values', 'logits.rel_l2 ≤ 0.05', '✓ holds'], table[1]
assert table[2][1] == '254 decided by argmax' and '3 change (3 of 254, 1.2 %' in table[2][2] and '2 without a decision (NaN)' in table[2][2], table[2]
assert table[3] == ['Quality', 'not evaluated: no labels or targets', 'not evaluated: no labels or targets', 'none', 'not judged'], table[3]
assert '1 candidate was tried' in words(sections['overview'])
)"));
}

TEST(ReportHtml, SaysAtTheTopWhatHindersAVerdict) {
  EXPECT_TRUE(inPython(page(ReportCase()), "assert notices == ['exploratory'], notices\nassert words(verdict).startswith('–NO VERDICT')"));
  EXPECT_TRUE(inPython(page(ReportCase(test::lockedSession(true))), "assert notices == ['revised_after_results'], notices"));
  session::Session partial = test::sampleSession();
  partial.runs.front().status = session::RunStatus::partial;
  partial.runs.front().samplesComplete = 64;
  EXPECT_TRUE(inPython(page(ReportCase(partial)), "assert notices == ['exploratory', 'partial'], notices\nassert '64 of 256' in text"));
  session::Session chosen = test::sampleSession();
  chosen.runs.front().settings.onlySamples = {"s1", "s5", "s17"};
  EXPECT_TRUE(inPython(page(ReportCase(chosen)), "assert notices == ['exploratory', 'chosen_samples'], notices\nassert '95 %' not in words(sections['flips'])"));
}

TEST(ReportHtml, ACoveredOneHoldsNoResult) {
  const ReportCase on(test::lockedSession());
  const std::string html = page(on, Language::english, true);
  EXPECT_TRUE(inPython(html, R"(
assert notices == ['covered'], notices
assert words(verdict).startswith('–COVERED')
assert set(sections) == {'compared', 'criteria', 'limits', 'reproduce'}, sections
for result in ('s142', '0.012', '81,920', 'overflow', 'FAIL', 'not hold', 'encoder.0'): assert result not in words(root.find(H + 'body')), result
)"));
}

TEST(ReportHtml, ALockWithoutARunIsCoveredOfItself) {
  session::Session s = test::lockedSession();
  s.runs.clear();
  tests::ScratchFolder folder;
  const auto content = reportContent({folder.file("x.ulps"), s, "", false}).value();
  EXPECT_TRUE(inPython(reportHtml(reportDocument(content, Language::english)), "assert notices == ['covered'], notices\nassert '\"max_flips\": 1' in text.replace('&quot;', '\"')"));
}

session::Session hostile() {
  session::Session s = test::sampleSession();
  s.title = "<img src=x onerror=alert(1)>";
  s.samples.ids[5] = "\u202Egnp.exe & \"co\"";
  session::RunRecord& run = s.runs.front();
  run.sites[3].modulePath = "head</td><script>alert('1')</script>";
  run.sites[0].modulePath = "bell\x01here";
  run.nonfiniteOrigins.front().modulePath = "מודול🙂";
  run.nonfiniteOrigins.front().diagnosis = "a ]]> b <b>c</b>";
  run.flips[0].sampleId = s.samples.ids[5];
  run.warnings = {"javascript:alert(1)", "<!-- --> -- ]]>"};
  run.settings.fp32 = {"a b'; rm -rf x"};
  s.runNames[1] = "<b onclick='x'>{0}</b>";
  return s;
}

TEST(ReportHtml, HostileTextsStayTexts) {
  const ReportCase on(hostile());
  const std::string html = page(on);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img")), Not(HasSubstr("<b "))));
  EXPECT_TRUE(inPython(html, R"(
for e in root.iter():
    if e.text and '\u202e' in e.text: assert e.tag in (H + 'code', S + 'title'), e.tag
flips = rows('flips', 'Changed')
assert any(r[0] == '\u202egnp.exe & "co"' for r in flips), flips
assert any(r[7] == "head</td><script>alert('1')</script>: aten::linear#2" for r in flips), flips
assert 'מודול🙂' in words(sections['nonfinite'])
assert any(r[0] == 'bell here: aten::linear' for r in rows('divergence', 'Where it starts'))
assert "--fp32 'a b'\\''; rm -rf x'" in words(sections['reproduce']), words(sections['reproduce'])
assert '“<b onclick=\'x\'>{0}</b>”' in words(root.find(H + 'body').find(H + 'header')), words(root.find(H + 'body').find(H + 'header'))
)"));
}

TEST(ReportHtml, PortugueseLeavesNoEnglishOfItsOwn) {
  const ReportCase on(test::curedSession());
  const std::string html = page(on, Language::portuguese);
  EXPECT_TRUE(inPython(html, R"(
assert root.get('lang') == 'pt-BR'
titles = [words(h) for h in root.iter(H + 'h2')]
assert titles == ['Em resumo', 'O que foi comparado', 'Critérios', 'Onde as execuções divergem', 'Decisões', 'Valores não finitos', 'Folga de faixa (headroom)', 'Regiões em FP32 e o que cada uma mudou', 'Nomes e avisos', 'Limites do que foi mostrado', 'Como reproduzir'], titles
assert words(verdict).startswith('–SEM VEREDITO')
for english in ('sample', 'flip', 'decision', 'margin', 'worst', 'locked', ' the '): assert english not in words(sections['overview']) + words(sections['flips']) + words(verdict), english
)"));
  EXPECT_THAT(html, Not(HasSubstr("{0}")));
}

TEST(ReportHtml, ANumberInItIsTheWindowsAndTheCommandLines) {
  const ReportCase on;
  EXPECT_TRUE(inPython(page(on), R"(
sites = rows('divergence', 'Where it starts')
assert sites[0] == ['head: aten::linear#2', 'float16', '5.00e-04', '0.012', '0.75', 's17'], sites[0]
outputs = rows('divergence', 'Outputs')
assert outputs == [['logits', 'float16', '0.012', '0.75', '–', '–', '20 NaN, 0 +inf, 0 -inf']], outputs
origins = rows('nonfinite', 'Origins')
assert origins == [['encoder.0.ffn.wo aten::linear model.py:12', 'overflow', 'input float16, |x| ≤ 512', '0 NaN, 3 +inf, 1 -inf', 's142, s17']], origins
flips = rows('flips', 'Changed')
assert flips[0] == ['s5', '–', 'three', '8', '4.00e-04', '+inf', 'regressed', 'head: aten::linear#2'], flips[0]
)"));
}

}  // namespace
}  // namespace ulpscope::report
