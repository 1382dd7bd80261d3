#include "core/session/demo.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ulpscope::session {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kWhole = R"({"title": "T", "description": "D", "shows": "NaN in 3 of 64", "like": "owner/name#12", "model": "m.ts", "inputs": "i.h5", "cure": ["a.b"],
  "settings": {"autocast": "bfloat16", "decision": "argmax:1", "batch_size": 7}})";

class Demos : public testing::Test {
 protected:
  Demos() {
    std::string pattern = (fs::temp_directory_path() / "ulpscope-demos-XXXXXX").string();
    m_folder = fs::canonical(::mkdtemp(pattern.data()));
  }
  ~Demos() override {
    std::error_code ignored;
    fs::remove_all(m_folder, ignored);
  }
  void write(const std::string& name, const std::string& description) const {
    fs::create_directories(m_folder / name);
    std::ofstream(m_folder / name / "demo.json") << description;
    std::ofstream(m_folder / name / "m.ts") << "model";
    std::ofstream(m_folder / name / "i.h5") << "inputs";
  }
  // The complaint about one demo of this description.
  std::string faultOf(const std::string& description) const {
    write("broken", description);
    const auto demos = listDemos(m_folder.string());
    EXPECT_FALSE(demos.ok());
    if (demos.ok()) return "";
    EXPECT_EQ(demos.error().kind, base::ErrorKind::input);
    return demos.error().message();
  }
  fs::path m_folder;
};

TEST_F(Demos, AreListedInAlphabeticalOrderAndOtherFoldersLeftOut) {
  write("overflow", kWhole);
  write("digits", kWhole);
  fs::create_directories(m_folder / "notes");
  const auto demos = listDemos(m_folder.string());
  ASSERT_TRUE(demos.ok());
  ASSERT_EQ(demos->size(), 2U);
  EXPECT_EQ(demos->at(0).name, "digits");
  EXPECT_EQ(demos->at(1).name, "overflow");
}

TEST_F(Demos, KeepTheDefaultsThatTheyDoNotChange) {
  write("one", kWhole);
  const auto demo = findDemo(m_folder.string(), "one");
  ASSERT_TRUE(demo.ok());
  EXPECT_EQ(demo->request.settings.autocast, base::DType::bfloat16);
  EXPECT_EQ(demo->request.settings.decision.text(), "argmax:1");
  EXPECT_EQ(demo->request.settings.batchSize, 7);
  EXPECT_EQ(demo->request.settings.policyTable, RunSettings{}.policyTable);
  EXPECT_EQ(demo->request.modelPath, (m_folder / "one" / "m.ts").string());
  EXPECT_EQ(demo->request.inputsPath, (m_folder / "one" / "i.h5").string());
  EXPECT_EQ(demo->request.sessionPath, "");
  EXPECT_THAT(demo->cure, ElementsAre("a.b"));
  EXPECT_EQ(demo->shows, "NaN in 3 of 64");
  EXPECT_EQ(demo->like, "owner/name#12");
}

TEST_F(Demos, NeedNotSayWhatTheyShowOrResemble) {
  write("plain", R"({"title": "T", "description": "D", "model": "m.ts", "inputs": "i.h5"})");
  const auto demo = findDemo(m_folder.string(), "plain");
  ASSERT_TRUE(demo.ok()) << demo.error().message();
  EXPECT_EQ(demo->shows, "");
  EXPECT_EQ(demo->like, "");
  EXPECT_THAT(demo->cure, IsEmpty());
}

TEST_F(Demos, ThatDoNotExistNameThoseThatDo) {
  write("digits", kWhole);
  const auto demo = findDemo(m_folder.string(), "digit");
  ASSERT_FALSE(demo.ok());
  EXPECT_EQ(demo.error().kind, base::ErrorKind::usage);
  EXPECT_EQ(demo.error().message(), "digit: there is no demo of this name; use 'digits'");
}

TEST_F(Demos, ThatAreDamagedNameTheFileAndTheFault) {
  EXPECT_THAT(faultOf("{"), HasSubstr("broken/demo.json: is no JSON object"));
  EXPECT_THAT(faultOf(R"({"title": "T"})"), HasSubstr("'description' not found"));
  EXPECT_THAT(faultOf(R"({"title": 1, "description": "D", "model": "m.ts", "inputs": "i.h5"})"), HasSubstr("type must be string"));
  EXPECT_THAT(faultOf(R"({"title": "T", "description": "D", "shows": ["NaN"], "model": "m.ts", "inputs": "i.h5"})"), HasSubstr("type must be string"));
  EXPECT_THAT(faultOf(R"({"title": "T", "description": "D", "like": 5651, "model": "m.ts", "inputs": "i.h5"})"), HasSubstr("type must be string"));
  EXPECT_THAT(faultOf(R"({"title": "T", "description": "D", "model": "gone.ts", "inputs": "i.h5"})"), HasSubstr("gone.ts: the file is missing"));
  EXPECT_THAT(faultOf(R"({"title": "T", "description": "D", "model": "m.ts", "inputs": "i.h5", "settings": {"batchsize": 7}})"),
              HasSubstr("settings.batchsize: is no setting of a run"));
}

TEST_F(Demos, AFolderThatIsNotThereIsNamed) {
  const auto demos = listDemos((m_folder / "gone").string());
  ASSERT_FALSE(demos.ok());
  EXPECT_THAT(demos.error().message(), HasSubstr("gone: cannot be read"));
}

TEST_F(Demos, FreeSessionPathSkipsSessionsAndLeftOverData) {
  const auto file = [&](const char* name) { return (m_folder / name).string(); };
  EXPECT_EQ(freeSessionPath(m_folder.string(), "d"), file("d.ulps"));
  std::ofstream(file("d.ulps")) << "x";
  EXPECT_EQ(freeSessionPath(m_folder.string(), "d"), file("d-2.ulps"));
  fs::create_directories(file("d-2.ulps.d"));
  EXPECT_EQ(freeSessionPath(m_folder.string(), "d"), file("d-3.ulps"));
}

}  // namespace
}  // namespace ulpscope::session
