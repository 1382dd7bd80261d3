// The real command line with the real engine on real models; expectations are the fixtures' own (tests/support, made
// with numpy and PyTorch).
#include "program.h"
#include "tests/core/report/schema_validator.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string fixture(const std::string& name, const std::string& file) {
  return ULPSCOPE_TEST_BUILD "/testdata/models/" + name + "/" + file;
}

json readJson(const std::string& path) {
  std::ifstream stream(path);
  return json::parse(stream);
}

std::vector<std::string> runOf(const std::string& name, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"run", fixture(name, "model.ts"), "--inputs", fixture(name, "inputs.h5")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The document of a run, checked against the schema.
json documentOf(const Finished& finished) {
  EXPECT_EQ(finished.code, 0) << finished.err;
  const json document = json::parse(finished.out, nullptr, false);
  EXPECT_THAT(schemaFaults(readJson(ULPSCOPE_SCHEMA), document), IsEmpty());
  return document;
}

class CliReported : public testing::TestWithParam<const char*> {};

TEST_P(CliReported, FirstNonFiniteIsTheOneTheFixtureNames) {
  const Folder folder;
  const json expected = readJson(fixture(GetParam(), "expected.json"));
  const json document = documentOf(ulpscope(folder, runOf(GetParam(), {"--decision", expected["decision"], "--json", "-"})));
  if (expected["first_nonfinite"].is_null()) {
    EXPECT_EQ(document["first_nonfinite"], nullptr);
    EXPECT_EQ(document["nonfinite_origins"], json::array());
  } else {
    for (const char* key : {"stage", "op", "module", "sample_ids", "values"})
      EXPECT_EQ(document["first_nonfinite"][key], expected["first_nonfinite"][key]) << key;
  }
  EXPECT_EQ(document["no_decision"], expected["no_decision"]);
  EXPECT_EQ(document["flips"].size(), expected["flips"].size());
}

INSTANTIATE_TEST_SUITE_P(Models, CliReported,
                         testing::Values("ffn_wo_overflow", "attention_qk_overflow", "vae_conv_overflow", "layernorm_pow_control"));

TEST(CliRun, KeptInFp32IsCleanAndAppendedToTheSameSession) {
  const Folder folder;
  const std::vector<std::string> options{"--decision", "argmax", "--session", "s.ulps"};
  EXPECT_EQ(ulpscope(folder, runOf("ffn_wo_overflow", options)).code, 0);
  EXPECT_TRUE(folder.has("s.ulps"));
  EXPECT_TRUE(folder.has("s.ulps.d/run-0001.metrics.h5"));
  const Finished cured = ulpscope(folder, runOf("ffn_wo_overflow", {"--decision", "argmax", "--session", "s.ulps", "--append", "--fp32",
                                                                    "layers.1.feed_forward.wo", "--json", "j.json"}));
  EXPECT_EQ(cured.code, 0) << cured.err;
  EXPECT_THAT(cured.out, AllOf(HasSubstr("no non-finite values that the reference does not have"),
                               HasSubstr("Against run_0001 (FP16): non-finite origins 1 -> 0, flips 0 -> 0, without decision 2 -> 0"),
                               HasSubstr("Session: s.ulps (run_0002)")));
  const json document = readJson(folder.path("j.json"));
  EXPECT_EQ(document["candidates_tried"], 2);
  EXPECT_EQ(document["policy"]["fp32"], json{"layers.1.feed_forward.wo"});
}

// Neither sees the other's session at its start.
TEST(CliRun, TwoAppendingAtOnceToASessionThatDoesNotExistBothGetIn) {
  const Folder folder;
  const auto append = [&] { return ulpscope(folder, runOf("ffn_wo_overflow", {"--session", "s.ulps", "--append", "--json", "-"})); };
  auto one = std::async(std::launch::async, append), other = std::async(std::launch::async, append);
  const Finished a = one.get(), b = other.get();
  std::vector<std::string> runs{documentOf(a)["run_id"], documentOf(b)["run_id"]};
  EXPECT_THAT(runs, testing::UnorderedElementsAre("run_0001", "run_0002"));
  const std::string said = a.err + b.err, note = "note: s.ulps did not exist: a new session\n";
  EXPECT_THAT(said, HasSubstr(note));
  EXPECT_EQ(said.find(note), said.rfind(note)) << "one of them made it";
  for (const char* file : {"s.ulps.d/run-0001.tensors.h5", "s.ulps.d/run-0002.tensors.h5"}) EXPECT_TRUE(folder.has(file));
}

TEST(CliRun, WhatAModelPrintsGoesToStderrAndLeavesTheDocumentWhole) {
  const Folder folder;
  const Finished done = ulpscope(folder, runOf("lockstep/Prints", {"--json", "-"}));
  EXPECT_FALSE(documentOf(done)["sites"].empty());
  EXPECT_THAT(done.err, HasSubstr(R"(engine: {"a line": "that looks like the protocol"})" "\n"));
  EXPECT_THAT(done.out, Not(HasSubstr("looks like")));
}

TEST(CliRun, NamesWhereWhatItCapturedIs) {
  const Folder folder;
  const Finished done = ulpscope(folder, runOf("ffn_wo_overflow", {"--session", "s.ulps", "--capture", "layers.1.feed_forward.wo"}));
  EXPECT_THAT(done.out, AllOf(HasSubstr(" of the budget of 1 GiB\n"),
                              HasSubstr("  in s.ulps.d/run-0001.tensors.h5: /run_0001/captures/capture_NNNNNN/reference and candidate; attribute 'label' of capture_NNNNNN")));
  const std::string capture = "/run_0001/captures/capture_000000";
  for (const std::string& words : {"-H -d " + capture + "/reference", "-H -d " + capture + "/candidate", "-a " + capture + "/label"})
    EXPECT_EQ(std::system(("h5dump " + words + " " + folder.path("s.ulps.d/run-0001.tensors.h5") + " > " + folder.path("dump")).c_str()), 0) << words;
  EXPECT_THAT(folder.read("dump"), HasSubstr("layers.1.feed_forward.wo: aten::"));
}

TEST(CliRun, FailOnNonfiniteExitsOne) {
  const Folder folder;
  EXPECT_EQ(ulpscope(folder, runOf("ffn_wo_overflow", {"--fail-on", "nonfinite"})).code, 1);
  EXPECT_EQ(ulpscope(folder, runOf("layernorm_pow_control", {"--fail-on", "nonfinite", "--session", "c.ulps"})).code, 0);
}

TEST(CliRun, InputsFromATorchScriptHolderGiveTheSameDocument) {
  const Folder folder;
  json h5 = documentOf(ulpscope(folder, runOf("ffn_wo_overflow", {"--json", "-", "--session", "s.ulps"})));
  const json holder = documentOf(ulpscope(folder, {"run", fixture("ffn_wo_overflow", "model.ts"), "--inputs",
                                                   fixture("ffn_wo_overflow", "inputs.pt"), "--json", "-", "--session", "t.ulps"}));
  h5["session"] = "t.ulps";
  EXPECT_EQ(h5, holder);
}

TEST(CliRun, NothingAutocastIsInconclusiveAndLeavesNoSession) {
  const Folder folder;
  const Finished refused = ulpscope(folder, runOf("ffn_wo_overflow", {"--fp32", ".", "--session", "s.ulps"}));
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr("nothing was autocast"));
  EXPECT_FALSE(folder.has("s.ulps"));
}

TEST(CliRun, AModulePathThatMatchesNothingNamesTheNearest) {
  const Folder folder;
  const Finished refused = ulpscope(folder, runOf("ffn_wo_overflow", {"--fp32", "layers.1.feed_forward.w0"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--fp32 layers.1.feed_forward.w0: matches no module of the model; nearest: 'layers.1.feed_forward.wo'"));
}

TEST(CliRun, AnotherModelIsNotAppended) {
  const Folder folder;
  ASSERT_EQ(ulpscope(folder, runOf("ffn_wo_overflow", {"--session", "s.ulps"})).code, 0);
  const std::string before = folder.read("s.ulps");
  const Finished refused = ulpscope(folder, runOf("layernorm_pow_control", {"--session", "s.ulps", "--append"}));
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("the model's code differs"));
  EXPECT_EQ(folder.read("s.ulps"), before);
}

TEST(CliRun, CtrlCCancelsARealRunAndLeavesNoSession) {
  const Folder folder;
  const Finished cancelled =
      ulpscope(folder, Call{runOf("resnet18_script", {"--session", "s.ulps", "--verify-probe"}), {}, SIGINT, "loading", ""});
  EXPECT_EQ(cancelled.code, 130) << cancelled.err;
  EXPECT_FALSE(folder.has("s.ulps"));
}

// The one line of stderr that is no progress.
std::string complaint(const std::string& err) {
  std::string line, found;
  std::istringstream lines(err);
  int count = 0;
  while (std::getline(lines, line))
    if (line.find(": ", 10) != std::string::npos) found = line, ++count;
  EXPECT_EQ(count, 1) << err;
  return found;
}

std::string wholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeDamaged(const Folder& folder, const std::string& name, const std::string& whole, const std::string& foreign) {
  std::string corrupt = whole;
  for (std::size_t i = whole.size() / 3; i < whole.size() / 3 + 64; ++i) corrupt[i] = static_cast<char>(corrupt[i] ^ 0x5a);
  folder.write("truncated" + name, whole.substr(0, whole.size() / 2));
  folder.write("empty" + name, "");
  folder.write("foreign" + name, foreign);
  folder.write("corrupt" + name, corrupt);
}

TEST(CliBadFiles, EveryBadModelIsOneLineThatNamesItAndExitsThree) {
  const Folder folder;
  writeDamaged(folder, ".ts", wholeFile(fixture("ffn_wo_overflow", "model.ts")), wholeFile(fixture("ffn_wo_overflow", "inputs.h5")));
  for (const char* kind : {"truncated", "empty", "foreign", "corrupt", "missing"}) {
    const std::string model = std::string(kind) + ".ts";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"run", model, "--inputs", fixture("ffn_wo_overflow", "inputs.h5")},
                                                  std::vector<std::string>{"inspect", model}}) {
      const Finished refused = ulpscope(folder, words);
      EXPECT_EQ(refused.code, 3) << model << ": " << refused.err;
      EXPECT_THAT(complaint(refused.err), HasSubstr(model));
      EXPECT_THAT(refused.out, IsEmpty());
    }
    EXPECT_FALSE(folder.has(std::string(kind) + "-fp16.ulps"));
  }
}

TEST(CliBadFiles, EveryBadInputsFileIsOneLineThatNamesItAndExitsThree) {
  const Folder folder;
  writeDamaged(folder, ".h5", wholeFile(fixture("ffn_wo_overflow", "inputs.h5")), "a letter to a friend\n");
  for (const char* kind : {"truncated", "empty", "foreign", "missing"}) {
    const std::string inputs = std::string(kind) + ".h5";
    const Finished refused = ulpscope(folder, {"run", fixture("ffn_wo_overflow", "model.ts"), "--inputs", inputs, "--session", "s.ulps"});
    EXPECT_EQ(refused.code, 3) << inputs << ": " << refused.err;
    EXPECT_THAT(complaint(refused.err), HasSubstr(inputs));
    EXPECT_FALSE(folder.has("s.ulps"));
  }
}

TEST(CliBadFiles, InputsOfAnotherModelNameTheArgumentsThatForwardHas) {
  const Folder folder;
  const Finished refused = ulpscope(folder, {"run", fixture("ffn_wo_overflow", "model.ts"), "--inputs", fixture("vae_conv_overflow", "inputs.h5")});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(complaint(refused.err), AllOf(HasSubstr("'latent' is no argument of forward(embedded)")));
}

TEST(CliBadFiles, AWrongShapeNamesTheOpThatRefusedIt) {
  const Folder folder;
  const Finished refused = ulpscope(folder, {"run", fixture("resnet18_script", "model.ts"), "--inputs", fixture("loop", "inputs.h5"), "--session", "s.ulps"});
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_THAT(complaint(refused.err), AllOf(HasSubstr("aten::conv2d in conv1"), HasSubstr("the FP32 reference failed")));
  EXPECT_FALSE(folder.has("s.ulps"));
}

TEST(CliInspect, SaysWhatEachClassMeansAndThatFusedLayersAreOpened) {
  const Folder folder;
  const std::string said = ulpscope(folder, {"inspect", fixture("fused/Padded", "model.ts")}).out;
  EXPECT_THAT(said, HasSubstr("opened               aten::_transformer_encoder_layer_fwd enc.layers.0"));
  EXPECT_THAT(said, HasSubstr("  opened: a fused layer: its own ops run instead, one by one\n"));
  EXPECT_THAT(said, Not(HasSubstr("promote:")));
}

// torch._C reads the dispatcher of the same LibTorch from Python.
constexpr const char* kAskPythonsDispatcher = R"(
import json, torch
has = torch._C._dispatch_has_kernel_for_dispatch_key
for device, file in (("CPU", "cpu.json"), ("CUDA", "cuda.json")):
    document = json.load(open(file))
    assert document["target"] == {"device": device.lower(), "libtorch": torch.__version__.split("+")[0], "kernels_in_this_build": device == "CPU" or torch.backends.cuda.is_built(),
                                  "device_present": device == "CPU" or torch.cuda.is_available()}, document["target"]
    kinds = set()
    for op in document["ops"]:
        name = op["op"] + ("." + op["overload"] if op["overload"] else "")
        try:
            torch._C._dispatch_dump(name)
            known = torch._C._dispatch_has_kernel(name)
        except RuntimeError:
            known = False
        if not known:
            assert op["kernel"] == "interpreter", op
            continue
        generic = has(name, "CompositeExplicitAutograd") or has(name, "CompositeExplicitAutogradNonFunctional")
        kernel = "own" if has(name, device) else "generic" if generic else "composite" if has(name, "CompositeImplicitAutograd") else "none"
        assert (op["kernel"], op["autocast_kernel"]) == (kernel, has(name, "Autocast" + device)), (op, kernel)
        kinds.add((op["kernel"], op["autocast_kernel"]))
    assert len(kinds) > 2, kinds
)";

TEST(CliInspect, KernelsAreThoseThatPythonsDispatcherNames) {
  const Folder folder;
  for (const char* target : {"cpu", "cuda"})
    EXPECT_EQ(ulpscope(folder, {"inspect", fixture("resnet18_script", "model.ts"), "--target", target, "--json", std::string(target) + ".json"}).code, 0);
  const tests::ScratchFolder scratch;
  for (const char* file : {"cpu.json", "cuda.json"}) std::filesystem::copy_file(folder.path(file), scratch.file(file));
  EXPECT_TRUE(tests::python(scratch, kAskPythonsDispatcher));
}

TEST(CliInspect, ListsTheModulesThatPyTorchNames) {
  const Folder folder;
  for (const char* name : {"ffn_wo_overflow", "resnet18_script", "vit"}) {
    const Finished done = ulpscope(folder, {"inspect", fixture(name, "model.ts"), "--json", "-"});
    ASSERT_EQ(done.code, 0) << done.err;
    const json document = json::parse(done.out), expected = readJson(fixture(name, "expected.json"));
    ASSERT_EQ(document["model"]["modules"].size(), expected["loaded_modules"].size()) << name;
    for (std::size_t i = 0; i < expected["loaded_modules"].size(); ++i) {
      EXPECT_EQ(document["model"]["modules"][i]["path"], expected["loaded_modules"][i]["path"]);
      EXPECT_EQ(document["model"]["modules"][i]["type"], expected["loaded_modules"][i]["type"]);
    }
    EXPECT_FALSE(document["ops"].empty());
  }
}

TEST(CliDemo, OverflowIsFoundAndItsCureCommandCures) {
  const Folder folder;
  const Finished demo = ulpscope(folder, {"demo", "--out", "."});
  EXPECT_EQ(demo.code, 0) << demo.err;
  EXPECT_THAT(demo.out, AllOf(StartsWith("Demo overflow"), HasSubstr("FIRST NON-FINITE"), HasSubstr("bit-identical")));
  const std::string start = "The cure: ulpscope ";
  std::istringstream cure(demo.out.substr(demo.out.find(start) + start.size()));
  const std::vector<std::string> words{std::istream_iterator<std::string>(cure), {}};
  const Finished cured = ulpscope(folder, words);
  EXPECT_EQ(cured.code, 0) << cured.err;
  EXPECT_THAT(cured.out, AllOf(HasSubstr("non-finite origins 1 -> 0"), HasSubstr("Session: overflow.ulps (run_0002)")));
}

TEST(CliDemo, DigitsFlipsAndASecondCallTakesANewSession) {
  const Folder folder;
  for (const char* session : {"digits.ulps", "digits-2.ulps"}) {
    const Finished demo = ulpscope(folder, {"demo", "digits", "--out", "."});
    EXPECT_EQ(demo.code, 0) << demo.err;
    EXPECT_THAT(demo.out, AllOf(HasSubstr("4 of 1,200 decisions flip"), HasSubstr(std::string("Session: ") + session)));
    EXPECT_TRUE(folder.has(session));
  }
}

TEST(CliDoctor, FindsTheBuildTreeWhole) {
  const Folder folder;
  const Finished doctor = ulpscope(folder, {"doctor"});
  EXPECT_EQ(doctor.code, 0) << doctor.out;
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("ok     policy tables: cuda@1.13"), Not(HasSubstr("fault"))));
}

}  // namespace
}  // namespace ulpscope::test
