#include "core/report/shareable.h"

#include "sample_run.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ulpscope::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string cut(const std::string& text, const std::vector<std::string>& ids = {}, const std::vector<std::string>& known = {}) { return PathCutter(ids, known).cut(text); }

TEST(PathCutter, LeavesTheLastPartOfEveryAbsolutePath) {
  EXPECT_EQ(cut("/home/ann/net/model.py"), "model.py");
  EXPECT_EQ(cut("File \"/home/ann/net/model.py\", line 3, in forward"), "File \"model.py\", line 3, in forward");
  EXPECT_EQ(cut("cannot read /a/b.h5: and ~/c/d.h5;"), "cannot read b.h5: and d.h5;");
  EXPECT_EQ(cut("C:\\Users\\ann\\model.py and D:/x/y.pt"), "model.py and y.pt");
  EXPECT_EQ(cut("file:///home/ann/x.ts"), "x.ts");
  EXPECT_EQ(cut("/home/ann/"), "…");
}

TEST(PathCutter, LeavesWhatIsNoPath) {
  for (const char* text : {"encoder.0: aten::linear", "1/2 and/or x", "model.py:12", "rel/ative/path.py", "a / b", "", "ratio 3/4", "aten::div/true"}) EXPECT_EQ(cut(text), text);
}

TEST(PathCutter, KnownFoldersAreCutThoughTheyHoldSpaces) {
  EXPECT_EQ(cut("reads /home/ann lee/my nets/model.ts twice", {}, {"/home/ann lee/my nets/model.ts"}), "reads model.ts twice");
}

TEST(PathCutter, SampleIdsThatArePathsStayApart) {
  const std::vector<std::string> ids{"/data/ann/val/cat/1.png", "/data/ann/val/dog/1.png", "plain"};
  EXPECT_EQ(cut(ids[0], ids), "…/cat/1.png");
  EXPECT_EQ(cut(ids[1], ids), "…/dog/1.png");
  EXPECT_EQ(cut("plain", ids), "plain");
  EXPECT_EQ(cut("overflows in samples /data/ann/val/cat/1.png, /data/ann/val/dog/1.png.", ids), "overflows in samples …/cat/1.png, …/dog/1.png.");
}

session::Session session() {
  session::Session s = test::sampleSession();
  s.title = "/home/ann/net";
  s.model.path = "/home/ann/net/model.ts";
  s.samples.path = "/home/ann/data/inputs.h5";
  s.samples.labelsPath = "/home/ann/data/labels.txt";
  session::RunRecord& run = s.runs.front();
  run.warnings = {"/home/ann/net/model.ts: not pure FP32"};
  run.candidateError = session::CandidateError{"aten::mm", "head", "File \"/home/ann/net/model.py\", line 3"};
  run.nonfiniteOrigins.front().source = "/home/ann/net/model.py:12";
  run.sites.front().source = "/home/ann/net/model.py:12";
  s.runNames[1] = "as in ~/notes/today.txt";
  s.deleted = {{run, "2026-01-31T14:02:07Z"}};
  s.explored = session::Lineage{"id", "/home/ann/old", 3, "", true};
  return s;
}

TEST(Shareable, HoldsNoFolderAnywhere) {
  const session::Session s = session();
  const session::Session out = shareable(s, cutterOf(s, "/home/ann/net/net-fp16.ulps"));
  std::string all = out.title + out.model.path + out.samples.path + out.samples.labelsPath + out.runNames.at(1) + out.explored->title + toJson(out.runs.front()).dump() + toJson(out.deleted.front().run).dump();
  for (const session::SiteSummary& site : out.runs.front().sites) all += toJson(site).dump();
  EXPECT_THAT(all, Not(HasSubstr("ann")));
  EXPECT_THAT(all, Not(HasSubstr("home")));
  EXPECT_EQ(out.model.path, "model.ts");
  EXPECT_EQ(out.samples.labelsPath, "labels.txt");
  EXPECT_EQ(out.runs.front().sites.front().source, "model.py:12");
  EXPECT_THAT(out.runs.front().warnings, ElementsAre("model.ts: not pure FP32"));
}

TEST(Shareable, ChangesNoNumber) {
  const session::Session s = test::curedSession();
  const session::Session out = shareable(s, cutterOf(s, "x.ulps"));
  ASSERT_EQ(out.runs.size(), s.runs.size());
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    EXPECT_EQ(toJson(out.runs[i]).dump(), toJson(s.runs[i]).dump());
    for (std::size_t k = 0; k < s.runs[i].sites.size(); ++k) EXPECT_EQ(toJson(out.runs[i].sites[k]).dump(), toJson(s.runs[i].sites[k]).dump());
  }
  EXPECT_EQ(out.candidatesTried(), s.candidatesTried());
}

TEST(Shareable, DeletedRunsAreCountedAndNotTold) {
  const session::Session s = session();
  const session::Session out = shareable(s, cutterOf(s, "x.ulps"));
  EXPECT_EQ(out.candidatesTried(), s.candidatesTried());
  EXPECT_EQ(out.candidatesDeleted(), 1);
  EXPECT_TRUE(out.deleted.front().run.flips.empty());
}

}  // namespace
}  // namespace ulpscope::report
