// Golden runs of the real program that need no engine: help, versions, wrong words.
#include "program.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(CliHelp, BareCallPrintsHelpThatLeadsWithExamples) {
  const Folder folder;
  const Finished bare = ulpscope(folder, std::vector<std::string>{});
  EXPECT_EQ(bare.code, 0);
  EXPECT_THAT(bare.err, IsEmpty());
  EXPECT_THAT(bare.out, AllOf(StartsWith("Ulpscope runs a PyTorch model twice"), HasSubstr("Exit codes: 0 done, 1")));
  EXPECT_LT(bare.out.find("Examples:"), bare.out.find("Usage:"));
  EXPECT_EQ(ulpscope(folder, {"--help"}).out, bare.out);
}

TEST(CliHelp, EveryCommandHasHelp) {
  const Folder folder;
  for (const char* command : {"inspect", "run", "check", "compare", "criteria", "demo", "pack", "unpack", "repair", "doctor", "snippet", "worker", "gui"}) {
    const Finished help = ulpscope(folder, {command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr(std::string("Usage: ulpscope ") + command));
  }
}

TEST(CliHelp, NamesTheExitCodesOfItsOwnCommandOnly) {
  const Folder folder;
  const std::string train = ulpscope(folder, {"train", "--help"}).out, pack = ulpscope(folder, {"pack", "--help"}).out;
  EXPECT_THAT(train, AllOf(HasSubstr("0 done, 1 a criterion failed, or a rollback rule held, 2 usage"), HasSubstr("4 the model could not run, or FP32 itself is not finite"), HasSubstr("130 cancelled (the steps done are stored)"), Not(HasSubstr("--fail-on"))));
  EXPECT_THAT(pack, AllOf(HasSubstr("Exit codes: 0 done, 2 usage, 3 input"), Not(HasSubstr("130"))));
  EXPECT_THAT(ulpscope(folder, {"run", "--help"}).out, HasSubstr("1 a --fail-on finding"));
}

TEST(CliRecipe, SaysWhatIsNoFile) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("dir"));
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  folder.write("nul.json", R"({"model": "m\u0000.ts", "inputs": "i.h5", "loss": "output", "steps": 1, "optimizers": [{"type": "SGD", "lr": 0.1}]})");
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"train", "dir"}, "dir: is a folder, not a file; name the file itself"},
           {{"train", "pipe"}, "pipe: is a pipe, no plain file; name a file on a disk"},
           {{"train", "--check-events", "dir"}, "dir: is a folder, not a file; name the file itself"},
           {{"train", "--check-events", "pipe"}, "pipe: is a pipe, no plain file; name a file on a disk"},
           {{"run", "m.ts", "--inputs", "i.h5", "--criteria", "dir"}, "dir: is a folder, not a file; name the file itself"},
           {{"train", "nul.json"}, "nul.json, recipe, model: \"m\\u0000.ts\" holds a NUL character; take \\u0000 out"}}) {
    const Finished refused = ulpscope(folder, words);
    EXPECT_EQ(refused.code, 3) << message;
    EXPECT_EQ(refused.err, "ulpscope: " + message + "\n");
  }
}

// How long it takes: tests/bench (bench_startup).
TEST(CliVersion, IsPrinted) {
  const Folder folder;
  const Finished version = ulpscope(folder, {"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("ulpscope [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CliVersion, AsJsonNamesTheLibraries) {
  const Folder folder;
  const Finished version = ulpscope(folder, {"--version", "--json"});
  ASSERT_EQ(version.code, 0);
  const json versions = json::parse(version.out);
  EXPECT_TRUE(versions.at("built_with").contains("libtorch"));
  EXPECT_EQ(versions.at("protocol"), 1);
  EXPECT_THAT(versions.at("hdf5").get<std::string>(), StartsWith("1."));
}

struct Wrong {
  const char* name;
  std::vector<std::string> words;
  int code;
  std::string message;  // the whole of stderr
};

class CliWrongWords : public testing::TestWithParam<Wrong> {};

TEST_P(CliWrongWords, GiveOneLineAndTheExitCode) {
  const Folder folder;
  const Finished wrong = ulpscope(folder, GetParam().words);
  EXPECT_EQ(wrong.code, GetParam().code);
  EXPECT_EQ(wrong.err, "ulpscope: " + GetParam().message + "\n");
  EXPECT_THAT(wrong.out, IsEmpty());
}

std::vector<std::string> runWith(std::vector<std::string> more) {
  std::vector<std::string> words{"run", "m.ts", "--inputs", "i.h5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

INSTANTIATE_TEST_SUITE_P(
    Words, CliWrongWords,
    testing::Values(
        Wrong{"GuiOfNothing", {"gui", "none.ulps"}, 3, "none.ulps: does not exist; check the path"},
        Wrong{"Command", {"rnu"}, 2, "rnu: there is no such command; did you mean 'run' or 'gui'?"},
        Wrong{"Option", {"run", "m.ts", "--inptus", "x"}, 2, "run --inptus: there is no such option; did you mean '--inputs' or '--capture'?"},
        Wrong{"LaterCommand", {"search", "s.ulps"}, 2, "search: is not a command of this version; use 'inspect', 'run', 'scan', 'train', 'bench', 'check', 'compare', 'criteria', 'report', 'demo', 'pack', 'unpack', 'repair', 'doctor', 'snippet', 'worker' or 'gui'"},
        Wrong{"LaterCommandsHelp", {"search", "--help"}, 2, "search: is not a command of this version; use 'inspect', 'run', 'scan', 'train', 'bench', 'check', 'compare', 'criteria', 'report', 'demo', 'pack', 'unpack', 'repair', 'doctor', 'snippet', 'worker' or 'gui'"},
        Wrong{"UnknownCommandsHelp", {"insepct", "--help"}, 2, "insepct: there is no such command; did you mean 'inspect' or 'snippet'?"},
        Wrong{"UnknownCommandAfterHelp", {"--help", "rnu"}, 2, "rnu: there is no such command; did you mean 'run' or 'gui'?"},
        Wrong{"UnknownCommandsVersion", {"rnu", "--version"}, 2, "rnu: there is no such command; did you mean 'run' or 'gui'?"},
        Wrong{"NoCriteria", runWith({"--criteria", "c.json"}), 3, "c.json: cannot be opened; `ulpscope criteria new` writes a file to fill in"},
        Wrong{"ExploredWithoutCriteria", runWith({"--explored", "s.ulps"}), 2, "--explored: goes with --criteria: it says what was known when they were written; leave it out, or add --criteria F"},
        Wrong{"CheckNothing", {"check", "none.ulps"}, 3, "none.ulps: does not exist; check the path"},
        Wrong{"ReportNothing", {"report", "none.ulps", "--out", "x"}, 3, "none.ulps: does not exist; check the path"},
        Wrong{"ReportNowhere", {"report", "none.ulps"}, 2, "report: --out is required; see `ulpscope report --help`"},
        Wrong{"ReportFormat", {"report", "none.ulps", "--out", "x", "--format", "docx"}, 2, "--format docx: is no format of reports; use some of 'html', 'pdf', 'json', 'csv' or 'junit', with commas between"},
        Wrong{"ReportLanguage", {"report", "none.ulps", "--out", "x", "--lang", "de"}, 2, "--lang, de: is no language of reports; use 'en' or 'pt_BR'"},
        Wrong{"CompareNothing", {"compare", "none.ulps"}, 3, "none.ulps: does not exist; check the path"},
        Wrong{"CompareTwoWords", {"compare", "a.ulps", "run_0001"}, 2, "run_0001: is no session; for instance: ulpscope compare model-fp16.ulps run_0001 run_0002"},
        Wrong{"CriteriaWord", {"criteria", "make"}, 2, "criteria make: there is no such word; use new, show or revise"},
        Wrong{"CriteriaForNothing", {"criteria", "new"}, 2, "criteria new: criteria for what? --for is missing; for instance: ulpscope criteria new --for model.ts -o criteria.json"},
        Wrong{"CriteriaForNoFile", {"criteria", "new", "--for", "none.ts"}, 3, "none.ts: does not exist; name a model or a session"},
        Wrong{"CriteriaShowNothing", {"criteria", "show"}, 2, "criteria show: takes one session; for instance: ulpscope criteria show model-fp16.ulps"},
        Wrong{"NoModel", {"run"}, 2, "run: which model? MODEL is missing; for instance: ulpscope run model.ts --inputs inputs.h5"},
        Wrong{"NoInputs", {"run", "m.ts"}, 2, "run: on which inputs? --inputs F is missing; `ulpscope snippet` prints Python lines that save them"},
        Wrong{"Extra", runWith({"again"}), 2, "run again: is one word too many; see `ulpscope run --help`"},
        Wrong{"Autocast", runWith({"--autocast", "fp8"}), 2, "--autocast fp8: is no autocast type; use fp16 or bf16"},
        Wrong{"Policy", runWith({"--policy", "tpu"}), 2, "--policy tpu: is no policy; use cuda or cpu, or a table of one PyTorch series, such as cuda@2.6"},
        Wrong{"PolicyWithoutVersion", runWith({"--policy", "cpu@"}), 2, "--policy cpu@: is no policy; use cuda or cpu, or a table of one PyTorch series, such as cuda@2.6"},
        Wrong{"Accumulate", runWith({"--accumulate", "loosely"}), 2, "--accumulate loosely: is no way to add up; use strict or pessimistic"},
        Wrong{"AccumulateNatively", runWith({"--accumulate", "strict", "--mode", "native"}), 2, "--accumulate: is about GPUs: it goes with emulated CUDA autocast only; leave it out, or use --policy cuda"},
        Wrong{"AccumulateOnTheCpu", runWith({"--accumulate", "strict", "--policy", "cpu@2.6"}), 2, "--accumulate: is about GPUs: it goes with emulated CUDA autocast only; leave it out, or use --policy cuda"},
        Wrong{"CudaDevice", runWith({"--device", "cuda"}), 3, "--device cuda: is not in this version; use --device cpu, which emulates CUDA autocast"},
        Wrong{"Mode", runWith({"--mode", "fast"}), 2, "--mode fast: is no mode; use emulated or native"},
        Wrong{"Decision", runWith({"--decision", "best"}), 2, "--decision best: is no decision rule; use none, argmax[:DIM], argmin[:DIM], topk:K[:DIM], threshold:T[:gt|ge], exact or regression"},
        Wrong{"Tie", runWith({"--tie", "last"}), 2, "--tie last: is no tie rule; use first, flag or refuse"},
        Wrong{"BatchSize", runWith({"--batch-size", "0"}), 2, "--batch-size 0: is out of range; use a whole number from 1 to 2147483647"},
        Wrong{"BatchSizeOverInt", runWith({"--batch-size", "2147483648"}), 2, "--batch-size 2147483648: is out of range; use a whole number from 1 to 2147483647"},
        Wrong{"BatchSizeFarTooLarge", runWith({"--batch-size", "99999999999999999999"}), 2, "--batch-size 99999999999999999999: is out of range; use a whole number from 1 to 2147483647"},
        Wrong{"BatchSizeFraction", runWith({"--batch-size", "1.5"}), 2, "--batch-size 1.5: is no whole number; use a whole number from 1 to 2147483647"},
        Wrong{"SeedTooLarge", runWith({"--seed", "18446744073709551616"}), 2, "--seed 18446744073709551616: is out of range; use a whole number from 0 to 18446744073709551615"},
        Wrong{"SeedNegative", runWith({"--seed", "-1"}), 2, "--seed -1: is out of range; use a whole number from 0 to 18446744073709551615"},
        Wrong{"SeedHexadecimal", runWith({"--seed", "0x10"}), 2, "--seed 0x10: is no whole number; use a whole number from 0 to 18446744073709551615"},
        Wrong{"ObserveUnknown", runWith({"--observe", "all"}), 2, "--observe all: is nothing to observe; use outputs, stats or full"},
        Wrong{"CaptureBudgetWord", runWith({"--capture-budget", "lots"}), 2, "--capture-budget lots: is no size; use for instance 64MiB, 2GB or a number of bytes"},
        Wrong{"CaptureBudgetTooLarge", runWith({"--capture-budget", "9999999TiB"}), 2, "--capture-budget 9999999TiB: is no size; use for instance 64MiB, 2GB or a number of bytes"},
        Wrong{"CaptureOfNoOps", runWith({"--observe", "outputs", "--capture", "a"}), 2, "--observe outputs: looks at no op, so there is nothing to --capture; use --observe stats or full"},
        Wrong{"FlipsOfNoRun", runWith({"--only-samples", "flips"}), 2, "--only-samples flips: chooses from an earlier run; name a session that has one with --session F --append"},
        Wrong{"NoSample", runWith({"--only-samples", ","}), 2, "--only-samples ,: names no sample; use flips, near:N, nonfinite or ids: a,b"},
        Wrong{"BatchAxisTooLarge", runWith({"--batch-axis", "x=64"}), 2, "--batch-axis x=64: is out of range; use a whole number from 0 to 63"},
        Wrong{"BatchAxisNegative", runWith({"--batch-axis", "x=-1"}), 2, "--batch-axis x=-1: is out of range; use a whole number from 0 to 63"},
        Wrong{"DecisionAxisTooLarge", runWith({"--decision", "argmax:99999999999"}), 2, "--decision argmax:99999999999: names an axis that no tensor has; for instance argmax:1"},
        Wrong{"DecisionTwice", runWith({"--decision", "argmax", "--decision", "none"}), 2, "--decision: given twice; give it once"},
        Wrong{"SeedThreeTimes", runWith({"--seed", "1", "--seed", "1", "--seed", "1"}), 2, "--seed: given 3 times; give it once"},
        Wrong{"NoValue", runWith({"--decision"}), 2, "--decision: needs a value; see `ulpscope run --help`"},
        Wrong{"ValueOfAFlag", runWith({"--append=maybe"}), 2, "--append: takes no value; give it alone, or leave it out"},
        Wrong{"SessionOnStandardOutput", runWith({"--session", "-"}), 2, "--session -: a session cannot go to standard output; name a file"},
        Wrong{"DemoOnStandardOutput", {"demo", "--out", "-"}, 2, "--out -: a session cannot go to standard output; name a folder"},
        Wrong{"BatchSizeWord", runWith({"--batch-size", "many"}), 2, "--batch-size many: is no whole number; use a whole number from 1 to 2147483647"},
        Wrong{"BatchAxis", runWith({"--batch-axis", "x"}), 2, "--batch-axis x: is not of the form NAME=D; use the argument's name and the axis that counts samples, or NAME=none"},
        Wrong{"BatchAxisTwice", runWith({"--batch-axis", "x=0", "--batch-axis", "x=1"}), 2, "--batch-axis x=1: names an argument twice"},
        Wrong{"FailOn", runWith({"--fail-on", "rain"}), 2, "--fail-on rain: is no finding; use nonfinite, flip or both: nonfinite,flip"},
        Wrong{"FailOnFlipWithoutDecision", runWith({"--fail-on", "flip"}), 2, "--fail-on flip: needs a decision, without one nothing can flip; add --decision argmax"},
        Wrong{"EmptyModule", runWith({"--fp32", ""}), 2, "--fp32: got an empty module path; the whole model is '.'"},
        Wrong{"InspectTarget", {"inspect", "m.ts", "--target", "tpu"}, 2, "--target tpu: is no policy table that is known; use cuda or cpu (the newest), or 'cuda@1.13', 'cuda@2.6', 'cuda@2.12', 'cpu@1.13', 'cpu@2.6' or 'cpu@2.12'"},
        Wrong{"Demo", {"demo", "fireworks"}, 2, "fireworks: there is no demo of this name; use 'area', 'attention', 'digits', 'log_eps', 'overflow', 'router', 'vae' or 'variance'"}),
    [](const auto& test) { return test.param.name; });

TEST(CliUsage, AnExistingSessionIsNotTouchedWithoutAppend) {
  const Folder folder;
  folder.write("m-fp16.ulps", "precious");
  const Finished refused = ulpscope(folder, runWith({}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err, "ulpscope: m-fp16.ulps: the session exists; add the run to it with --append, or name another with --session\n");
  EXPECT_EQ(folder.read("m-fp16.ulps"), "precious");
}

TEST(CliUsage, AnUnwritablePlaceIsRefusedBeforeTheRun) {
  const Folder folder;
  const Finished session = ulpscope(folder, runWith({"--session", "nowhere/s.ulps"}));
  EXPECT_EQ(session.code, 2);
  EXPECT_THAT(session.err, HasSubstr("nowhere/s.ulps: no session can be written in " + folder.path("nowhere")));
  const Finished document = ulpscope(folder, runWith({"--json", "nowhere/j.json"}));
  EXPECT_EQ(document.code, 2);
  EXPECT_THAT(document.err, HasSubstr("--json nowhere/j.json: no file can be written"));
}

TEST(CliUsage, JsonNeverOverwritesWhatIsNoJson) {
  const Folder folder;
  for (const char* name : {"m.ts", "i.h5"}) folder.write(name, "precious");
  std::filesystem::create_symlink("m.ts", folder.path("link.json"));
  for (const char* target : {"m.ts", "./i.h5", "link.json"}) {
    const Finished refused = ulpscope(folder, runWith({"--json", target}));
    EXPECT_EQ(refused.code, 2) << target;
    EXPECT_EQ(refused.err, std::string("ulpscope: --json ") + target + ": exists and is no JSON document, it is left as it is; name another file\n");
    EXPECT_EQ(ulpscope(folder, runWith({"--tie", "last", "--json", target})).code, 2);
    EXPECT_EQ(ulpscope(folder, runWith({"--bogus", "--json", target})).code, 2);
  }
  for (const char* name : {"m.ts", "i.h5"}) EXPECT_EQ(folder.read(name), "precious");
}

TEST(CliUsage, JsonNeverTakesASessionsPlaceWhateverElseIsWrong) {
  const Folder folder;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--session", "s.ulps", "--json", "./s.ulps"}, {"--json", "m-fp16.ulps"},
                                                {"--session", "s.ulps", "--json=s.ulps.part"}, {"--json", "s.ulps.d/run-0001.metrics.h5"}}) {
    const Finished refused = ulpscope(folder, runWith(words));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, AllOf(StartsWith("ulpscope: --json "), EndsWith(": is a session's own file; name another file\n")));
    std::vector<std::string> worse = words;
    worse.push_back("--bogus");
    EXPECT_EQ(ulpscope(folder, runWith(worse)).code, 2);
    EXPECT_THAT(folder.names(), IsEmpty());
  }
}

TEST(CliUsage, JsonNeverTakesThePlaceOfAnotherFileOfTheCommand) {
  const Folder folder;
  for (const char* target : {"m.ts", "i.h5", "./x/../labels.txt", "out"}) {
    for (const bool inOneWord : {false, true}) {
      std::vector<std::string> words = runWith({"--labels=labels.txt", "--session", "out"});
      if (inOneWord)
        words.push_back("--json=" + std::string(target));
      else
        words.insert(words.begin() + 1, {"--json", target});
      const Finished refused = ulpscope(folder, words);
      EXPECT_EQ(refused.code, 2);
      EXPECT_EQ(refused.err, std::string("ulpscope: --json ") + target + ": is named elsewhere in the command too; name another file\n");
      EXPECT_THAT(folder.names(), IsEmpty());
    }
  }
}

TEST(CliUsage, ANameThatNoFileCanHaveIsRefusedBeforeTheRunAndEchoedShort) {
  const Folder folder;
  const std::string longName(5000, 'x');
  for (const char* option : {"--json", "--session"}) {
    const Finished refused = ulpscope(folder, runWith({option, longName}));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("xxx...xxx"), HasSubstr("is too long for a ")));
    EXPECT_LT(refused.err.size(), 300U);
  }
  EXPECT_EQ(ulpscope(folder, runWith({"--session", std::string(252, 'x')})).code, 2);  // .part would not fit
}

TEST(CliUsage, AnEmptyValueIsNoDefault) {
  const Folder folder;
  for (const char* option : {"--session", "--json", "--labels", "--class-names", "--decision", "--decision-output", "--policy", "--autocast", "--seed",
                             "--batch-size", "--tie", "--mode", "--device"}) {
    const Finished refused = ulpscope(folder, runWith({option, ""}));
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.err, std::string("ulpscope: run ") + option + ": got an empty value; give one, or leave it out\n");
  }
  EXPECT_EQ(ulpscope(folder, {"demo", "--out", ""}).code, 2);
  EXPECT_EQ(ulpscope(folder, {"inspect", "m.ts", "--target", ""}).code, 2);
}

TEST(CliUsage, JsonGivenTwiceIsAnErrorThatTheLastOneGets) {
  const Folder folder;
  const Finished toFile = ulpscope(folder, runWith({"--json", "-", "--json", "j.json"}));
  EXPECT_EQ(toFile.code, 2);
  EXPECT_EQ(toFile.err, "ulpscope: --json: given twice; give it once\n");
  EXPECT_THAT(toFile.out, IsEmpty());
  EXPECT_EQ(json::parse(folder.read("j.json")).at("error").at("what"), "given twice");
  const Finished toOutput = ulpscope(folder, runWith({"--json", "k.json", "--json=-"}));
  EXPECT_EQ(toOutput.code, 2);
  EXPECT_EQ(json::parse(toOutput.out).at("error").at("code"), "usage");
  EXPECT_FALSE(folder.has("k.json"));
}

TEST(CliOutput, AFullDiskIsNoSuccess) {
  const Folder folder;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"doctor"}, {"demo", "--list"}, {"snippet"}, {"--help"}, {"run", "--help"}, {"--version"}, {"--version", "--json"}, {}}) {
    for (const auto& [out, why] : {std::pair{"/dev/full", "No space left on device"}, std::pair{kClosed, "Bad file descriptor"}}) {
      Call call{words, {}, 0, "", ""};
      call.out = out;
      const Finished lost = ulpscope(folder, call);
      EXPECT_EQ(lost.code, 4) << out;
      EXPECT_EQ(lost.err, std::string("ulpscope: standard output: cannot be written: ") + why + "\n");
    }
  }
}

TEST(CliHelp, OffersOnlyWhatThereIs) {
  const Folder folder;
  const std::string run = ulpscope(folder, {"run", "--help"}).out, inspect = ulpscope(folder, {"inspect", "--help"}).out;
  EXPECT_THAT(run, HasSubstr("whose autocast lists: cuda (default) or cpu, the newest known; or of one series: cuda@1.13, cuda@2.6, cpu@2.6 ..."));
  EXPECT_THAT(run, Not(HasSubstr("@VERSION")));
  EXPECT_THAT(inspect, HasSubstr("cuda (default) or cpu, by the newest table known"));
}

TEST(CliUsage, JsonIsWrittenForUsageErrorsOfEveryKind) {
  const Folder folder;
  for (const std::vector<std::string>& words :
       {runWith({"--json", "-", "--tie", "last"}), runWith({"--explored", "c", "--json=-"}), std::vector<std::string>{"run", "--json", "-"}}) {
    const Finished refused = ulpscope(folder, words);
    EXPECT_EQ(refused.code, 2);
    const json document = json::parse(refused.out);
    EXPECT_EQ(document.at("status"), "error");
    EXPECT_EQ(document.at("error").at("code"), "usage");
  }
}

TEST(CliUsage, JsonOfAFailedInspectHasItsOwnKeys) {
  const Folder folder;
  const Finished refused = ulpscope(folder, {"inspect", "--json", "j.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.out, IsEmpty());
  const json document = json::parse(folder.read("j.json"));
  EXPECT_EQ(document.at("error").at("which"), "inspect");
  EXPECT_EQ(document.at("ops"), json::array());
}

TEST(CliDemo, ListNamesTheDemos) {
  const Folder folder;
  const Finished list = ulpscope(folder, {"demo", "--list"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, AllOf(StartsWith("area "), HasSubstr("\noverflow ")));
}

TEST(CliDemo, ListSaysWhatADemoShowsAndWhichReportItIsLike) {
  const Folder folder;
  const Finished list = ulpscope(folder, {"demo", "--list"});
  EXPECT_THAT(list.out, HasSubstr("\noverflow   One feed-forward layer overflows FP16\n"
                                  "           NaN in 3 of 64 messages; like huggingface/transformers#5651\n"
                                  "           A five-layer transformer"));
}

TEST(CliDemo, ListLeavesOutWhatADemoDoesNotSay) {
  const Folder folder;
  std::filesystem::create_directories(folder.path("demo/plain"));
  folder.write("demo/plain/demo.json", R"({"title": "Plain", "description": "Words.", "model": "m", "inputs": "i"})");
  folder.write("demo/plain/m", "");
  folder.write("demo/plain/i", "");
  const std::map<std::string, std::string> data{{"ULPSCOPE_DATA", folder.path()}};
  EXPECT_EQ(ulpscope(folder, Call{{"demo", "--list"}, data, 0, "", ""}).out, "plain      Plain\n           Words.\n");
}

TEST(CliSnippet, PrintsTheFilesAsTheyAre) {
  const Folder folder;
  folder.write("marker", "");
  std::filesystem::create_directories(folder.path("python"));
  folder.write("python/snippet_script.py", "scripted\n");
  folder.write("python/snippet_trace.py", "traced\n");
  folder.write("python/ulpscope_recorder.py", "recorder\n");
  const std::map<std::string, std::string> data{{"ULPSCOPE_DATA", folder.path()}};
  EXPECT_EQ(ulpscope(folder, Call{{"snippet"}, data, 0, "", ""}).out, "scripted\n");
  EXPECT_EQ(ulpscope(folder, Call{{"snippet", "--script"}, data, 0, "", ""}).out, "scripted\n");
  EXPECT_EQ(ulpscope(folder, Call{{"snippet", "--recorder"}, data, 0, "", ""}).out, "recorder\n");
  EXPECT_EQ(ulpscope(folder, Call{{"snippet", "--trace"}, data, 0, "", ""}).out, "traced\n");
  EXPECT_EQ(ulpscope(folder, {"snippet", "--trace", "--script"}).code, 2);
}

TEST(CliDoctor, NamesAMissingEngineAndWhatToDo) {
  const Folder folder;
  const Finished doctor = ulpscope(folder, Call{{"doctor"}, {{"ULPSCOPE_ENGINE", "/nowhere/engine"}}, 0, "", ""});
  EXPECT_EQ(doctor.code, 4);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("ok     HDF5 1."),
                                HasSubstr("fault  /nowhere/engine: $ULPSCOPE_ENGINE names no program that can be run; correct or unset it\n")));
}

TEST(CliWorker, WithoutAnEngineIsOneLine) {
  const Folder folder;
  const Finished worker = ulpscope(folder, Call{{"worker"}, {{"ULPSCOPE_ENGINE", "/nowhere/engine"}}, 0, "", ""});
  EXPECT_EQ(worker.code, 4);
  EXPECT_THAT(worker.err, AllOf(HasSubstr("/nowhere/engine"), EndsWith("unset it\n")));
}

}  // namespace
}  // namespace ulpscope::test
