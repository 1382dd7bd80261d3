// Golden runs of the real program against an engine that fails in every way, and one that answers with a session made
// by hand.
#include "answered.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace ulpscope::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

json schema() {
  std::ifstream stream(ULPSCOPE_SCHEMA);
  return json::parse(stream);
}

constexpr const char* kWhere = "(while running aten::linear in encoder.0, 32 of 256 samples); "
                               "sessions already written are whole; `ulpscope doctor` checks the engine\n";

struct Failure {
  const char* mode;
  int code;
  std::string message;
};

class CliEngineFails : public testing::TestWithParam<Failure> {};

TEST_P(CliEngineFails, OneLineTheExitCodeAndAValidDocument) {
  const Folder folder;
  const Finished failed = withFakeEngine(folder, GetParam().mode, {runWords({"--json", "j.json"}), {}, 0, "", ""});
  EXPECT_EQ(failed.code, GetParam().code);
  EXPECT_EQ(failed.err, kStages + ("ulpscope: " + GetParam().message));
  EXPECT_THAT(failed.out, IsEmpty());
  const json document = json::parse(folder.read("j.json"));
  EXPECT_THAT(schemaFaults(schema(), document), IsEmpty());
  EXPECT_EQ(document["error"]["which"], "m.ts");
  EXPECT_FALSE(folder.has("m-fp16.ulps"));
  EXPECT_THAT(folder.names(), Not(testing::Contains(EndsWith(".part"))));
}

INSTANTIATE_TEST_SUITE_P(
    Modes, CliEngineFails,
    testing::Values(Failure{"crash", 4, std::string("m.ts: the engine was ended by signal 11 (Segmentation fault) ") + kWhere},
                    Failure{"kill", 4, std::string("m.ts: the engine was ended by signal 9 (Killed) ") + kWhere},
                    Failure{"exit", 4, std::string("m.ts: the engine exited with code 3 ") + kWhere},
                    Failure{"garbage", 4, std::string("m.ts: the engine cannot be trusted, it sent what is not a message of protocol 1: "
                                                      "no JSON object: 'Segmentation fault, probably' ") + kWhere},
                    Failure{"long_line", 4, std::string("m.ts: the engine sent a line that is too long for a message ") + kWhere},
                    Failure{"odd_result", 4, "m.ts: the engine's answer names no session and run\n"},
                    Failure{"error:usage", 2, "m.ts: is not good; take another\n"},
                    Failure{"error:input", 3, "m.ts: is not good; take another\n"},
                    Failure{"error:run", 4, "m.ts: is not good; take another\n"},
                    Failure{"error:inconclusive", 5, "m.ts: is not good; take another\n"},
                    Failure{"error:no_such_code", 4, "m.ts: is not good; take another\n"}),
    [](const auto& test) {
      std::string name = test.param.mode;
      for (char& c : name)
        if (c == ':') c = '_';
      return name;
    });

TEST(CliEngine, ThatDoesNotStartIsNamedWithItsLastWords) {
  const Folder folder;
  const Finished failed = withFakeEngine(folder, "exit_at_start", {runWords(), {}, 0, "", ""});
  EXPECT_EQ(failed.code, 4);
  EXPECT_THAT(failed.err, AllOf(StartsWith("engine: error while loading shared libraries: libtorch.so\nulpscope: "),
                                HasSubstr("the engine exited with code 127 (while starting the engine)")));
}

TEST(CliEngine, ThatNeverSaysHelloIsEnded) {
  const Folder folder;
  const Finished failed = withFakeEngine(folder, "silent", {runWords(), {{"ULPSCOPE_ENGINE_TIMEOUT", "1"}}, 0, "", ""});
  EXPECT_EQ(failed.code, 4);
  EXPECT_THAT(failed.err, HasSubstr("the engine gave no answer in time and was ended"));
}

TEST(CliEngine, ATimeLimitThatIsNoNumberIsRefused) {
  const Folder folder;
  for (const char* limit : {"0", "-1", "soon", "99999999999999999999"}) {
    const Finished refused = withFakeEngine(folder, "ok", {runWords(), {{"ULPSCOPE_ENGINE_TIMEOUT", limit}}, 0, "", ""});
    EXPECT_EQ(refused.code, 2) << limit;
    EXPECT_THAT(refused.err, HasSubstr(std::string("$ULPSCOPE_ENGINE_TIMEOUT ") + limit + ": is "));
  }
}

TEST(CliEngine, OfAnotherProtocolIsRefused) {
  const Folder folder;
  const Finished failed = withFakeEngine(folder, "other_protocol", {runWords(), {}, 0, "", ""});
  EXPECT_EQ(failed.code, 4);
  EXPECT_THAT(failed.err, HasSubstr("speaks protocol 99, this ulpscope speaks 1; install ulpscope and its engine from the same version"));
}

TEST(CliCancel, CtrlCAsksTheEngineAndExits130) {
  const Folder folder;
  const Finished cancelled = withFakeEngine(folder, "cancel", {runWords({"--json", "j.json"}), {}, SIGINT, "running", ""});
  EXPECT_EQ(cancelled.code, 130);
  EXPECT_EQ(cancelled.err, std::string(kStages) + "ulpscope: m.ts: cancelled by the user\n");
  EXPECT_EQ(json::parse(folder.read("j.json"))["status"], "cancelled");
}

TEST(CliCancel, AnEngineThatDoesNotListenIsKilled) {
  const Folder folder;
  const auto start = std::chrono::steady_clock::now();
  const Finished cancelled = withFakeEngine(folder, "hang", {runWords(), {}, SIGTERM, "running", ""});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(cancelled.code, 130);
  EXPECT_THAT(cancelled.err, HasSubstr("cancelled while running aten::linear in encoder.0"));
  EXPECT_LT(took, std::chrono::seconds(10));
}

class CliTraining : public testing::Test {
 protected:
  CliTraining() {
    m_folder.write("r.json", R"({"model": "m.ts", "inputs": "i.h5", "loss": "output", "steps": 256, "optimizers": [{"type": "SGD", "lr": 0.1}]})");
  }
  Finished train(const std::string& mode, int signal, const std::string& again = "") {
    return withFakeEngine(m_folder, mode, {{"train", "r.json"}, {}, signal, "training", "", again});
  }
  Folder m_folder;
};

// `timeout -s INT` and a terminal send it to the program and to its group.
TEST_F(CliTraining, TwoCtrlCAtOnceAreOneAndWhatWasDoneIsStored) {
  const Finished cancelled = train("cancel", SIGINT, "cancel heard");
  EXPECT_THAT(cancelled.err, HasSubstr("ulpscope: cancelling: what was done until now is being stored (Ctrl+C again gives it up)\n"));
  EXPECT_THAT(cancelled.err, EndsWith("ulpscope: r.json: was stored after the cancel\n")) << "the engine's answer was waited for";
  EXPECT_EQ(cancelled.code, 4);
}

TEST_F(CliTraining, ACrashCountsStepsAndSaysThatTheyAreLost) {
  const Finished crashed = train("crash", 0);
  EXPECT_EQ(crashed.code, 4);
  EXPECT_THAT(crashed.err, HasSubstr("r.json: the engine was ended by signal 11 (Segmentation fault) (while training recipe, 32 of 256 steps); the steps of this training are lost, but for its checkpoints; "
                                     "sessions already written are whole; `ulpscope doctor` checks the engine\n"));
}

TEST(CliRequest, CarriesEveryOption) {
  const Folder folder;
  folder.write("c.json", R"({"schema": 1, "allow_nonfinite": ["fill"], "nonfinite": {"max_samples": 0}})");
  const Finished failed = withFakeEngine(
      folder, "error:input",
      {runWords({"--labels", "l.txt", "--class-names", "c.txt", "--autocast", "bf16", "--policy", "cuda@1.13", "--accumulate", "pessimistic", "--batch-size", "8", "--fp32", "a.0",
                 "--fp32", "b*", "--disable", "c", "--decision", "argmax:-1", "--decision-output", "logits", "--tie", "flag", "--no-cast-cache",
                 "--batch-axis", "x=1", "--batch-axis", "mask=none", "--seed", "18446744073709551615", "--train", "--verify-probe",
                 "--observe", "stats", "--no-noise-floor", "--referee", "--capture", "encoder.*", "--capture", "head", "--capture-budget", "64MiB", "--only-samples", "a,c", "--criteria", "c.json", "--append"}),
       {{"FAKE_REQUEST", folder.path("request.json")}}, 0, "", ""});
  ASSERT_EQ(failed.code, 3) << failed.err;
  const json expected = json::parse(R"({"model": "m.ts", "inputs": "i.h5", "labels": "l.txt", "class_names": "c.txt", "session": "m-bf16.ulps",
    "append": true, "criteria": "{\"allow_nonfinite\":[\"fill\"],\"nonfinite\":{\"max_samples\":0},\"schema\":1}", "explored": null,
    "settings": {"allow_nonfinite": ["fill"], "accumulate": "pessimistic", "autocast": "bfloat16", "policy_table": "cuda@1.13", "mode": "emulated", "device": "cpu", "batch_size": 8,
    "seed": 18446744073709551615, "train": true, "cast_cache": false, "verify_probe": true, "observe": "stats", "noise_floor": false, "referee": true, "capture": ["encoder.*", "head"], "capture_budget": 67108864, "only_samples": ["a", "c"], "fp32": ["a.0", "b*"], "disable": ["c"],
    "decision": "argmax:-1", "decision_output": "logits", "tie": "flag", "batch_axis": {"x": 1, "mask": -1}}})");
  json request = json::parse(folder.read("request.json"));
  for (const char* key : {"model", "inputs", "labels", "class_names", "session"}) {
    EXPECT_EQ(request[key], folder.path(expected[key]));
    request[key] = expected[key];
  }
  EXPECT_EQ(request, expected);
}

TEST(CliRun, PrintsTheSummaryAndTheNextStep) {
  const Answered answered;
  const Finished done = answered.run({"--decision", "argmax"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, testing::StrEq(kStages));
  EXPECT_THAT(done.out, AllOf(HasSubstr("FIRST NON-FINITE\n  encoder.0.ffn.wo overflows: |x| = 81,920 > 65,504"),
                              HasSubstr("Session: made.ulps (run_0001); open it with: ulpscope gui made.ulps\n"),
                              HasSubstr("Next, keep it in FP32 and compare: ulpscope run m.ts --inputs i.h5 --decision argmax "
                                        "--fp32 encoder.0.ffn.wo --session m-fp16.ulps --append\n")));
}

TEST(CliRun, AppendToASessionThatDoesNotExistSaysThatItIsNew) {
  const Answered answered;
  const Finished done = answered.run({"--append"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.err, std::string(kStages) + "note: made.ulps did not exist: a new session\n");
}

TEST(CliRun, WithJsonOnStandardOutputPrintsNothingElseThere) {
  const Answered answered;
  const Finished done = answered.run({"--json", "-"});
  EXPECT_EQ(done.code, 0);
  const json document = json::parse(done.out);
  EXPECT_THAT(schemaFaults(schema(), document), IsEmpty());
  EXPECT_EQ(document["run_id"], "run_0001");
  EXPECT_EQ(document["session"], "made.ulps");
  EXPECT_EQ(document["sites"].size(), 5U);
  EXPECT_EQ(document["flips"].size(), 3U);
}

TEST(CliRun, WhoseDocumentCannotBeWrittenExitsFourWithOneLine) {
  const Answered answered;
  const std::string line = "ulpscope: standard output: the JSON document cannot be written: ";
  for (const auto& [out, why] : {std::pair{"/dev/full", "No space left on device"}, std::pair{kClosed, "Bad file descriptor"}}) {
    const Finished lost = withFakeEngine(answered.folder, "ok", {runWords({"--json", "-"}), {{"FAKE_SESSION", answered.folder.path("made.ulps")}}, 0, "", out});
    EXPECT_EQ(lost.code, 4) << out;
    EXPECT_EQ(lost.err, kStages + line + why + "; name another file with --json\n");
  }
}

TEST(CliRun, NextStepRepeatsTheOptionsOfTheRun) {
  const Answered answered;
  const Finished done = answered.run({"--observe", "stats", "--seed", "7"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("ulpscope run m.ts --inputs i.h5 --seed 7 --observe stats --fp32 encoder.0.ffn.wo --session m-fp16.ulps --append\n"));
}

TEST(CliRun, WithJsonInAFilePrintsTheSummaryToo) {
  const Answered answered;
  answered.folder.write("j.json", "{\"old\": true}");
  const Finished done = answered.run({"--json", "j.json"});
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, HasSubstr("FIRST NON-FINITE"));
  EXPECT_EQ(json::parse(answered.folder.read("j.json"))["status"], "ok");
  EXPECT_THAT(answered.folder.names(), Not(testing::Contains(EndsWith(".part"))));
}

TEST(CliRun, FailOnGivesOneForItsFindingsOnly) {
  const Answered answered;
  const Finished failed = answered.run({"--decision", "argmax", "--fail-on", "nonfinite,flip"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("ulpscope: failed: non-finite values (--fail-on nonfinite); 3 flips (--fail-on flip)\n"));
  session::Session clean = curedSession();
  clean.runs.erase(clean.runs.begin());
  for (auto& site : clean.runs[0].sites) site.candidateOnly = {};
  EXPECT_EQ(Answered(clean).run({"--decision", "argmax", "--fail-on", "nonfinite,flip"}).code, 0);
}

TEST(CliRun, SamplesWithoutDecisionAreNoPassForFailOnFlip) {
  session::Session session = sampleSession();
  session.runs[0].flips.clear();
  session.runs[0].nonfiniteSamples = session.runs[0].noDecision;
  const Finished failed = Answered(session).run({"--decision", "argmax", "--fail-on", "flip"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("2 samples without a decision (scores are NaN) (--fail-on flip)"));
}

TEST(CliRun, ScoresThatAreNaNInFp32TooFailNothing) {
  session::Session session = sampleSession();
  session::RunRecord& run = session.runs[0];
  run.flips.clear();
  run.nonfiniteOrigins.clear();
  run.nonfiniteSamples.clear();
  for (auto& site : run.sites) site.candidateOnly = {};
  ASSERT_FALSE(run.noDecision.empty());
  EXPECT_EQ(Answered(session).run({"--decision", "argmax", "--fail-on", "nonfinite,flip"}).code, 0);
}

TEST(CliRun, ACandidateThatRaisedExitsFour) {
  session::Session session = sampleSession();
  session.runs[0].candidateError = session::CandidateError{"aten::mm", "block", "expected Half but found Float"};
  const Finished raised = Answered(session).run({"--fail-on", "nonfinite"});
  EXPECT_EQ(raised.code, 4);
  EXPECT_THAT(raised.out, HasSubstr("THE FP16 RUN RAISED\n  aten::mm in block: expected Half but found Float"));
}

TEST(CliRun, APartialRunIsInconclusive) {
  session::Session session = sampleSession();
  session.runs[0].status = session::RunStatus::partial;
  EXPECT_EQ(Answered(session).run({}).code, 5);
}

TEST(CliRun, WhatTheModelPrintsGoesToStderr) {
  const Answered answered;
  const Finished done = answered.run({"--json", "-"}, "prints");
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.err, HasSubstr("engine: a line that the model prints\n"));
  EXPECT_TRUE(json::accept(done.out));
}

TEST(CliRun, AnEngineThatDoesNotShutDownCostsNoResult) {
  const Answered answered;
  EXPECT_EQ(answered.run({}, "no_shutdown").code, 0);
}

TEST(CliDemo, LeavesItsSessionInTheCacheAndPrintsTheCure) {
  const Answered answered;
  const Finished done = withFakeEngine(answered.folder, "ok",
                                       {{"demo"}, {{"FAKE_SESSION", answered.folder.path("made.ulps")}, {"FAKE_REQUEST", answered.folder.path("r.json")},
                                                   {"XDG_CACHE_HOME", answered.folder.path("cache")}}, 0, "", ""});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(StartsWith("Demo overflow: "), HasSubstr("Session: made.ulps"), HasSubstr("The cure: ulpscope run ")));
  const json request = json::parse(answered.folder.read("r.json"));
  EXPECT_EQ(request["session"], answered.folder.path("cache/ulpscope/demos/overflow.ulps"));
  EXPECT_EQ(request["settings"]["verify_probe"], true);
}

TEST(CliDoctor, ShowsWhatTheEngineSays) {
  const Folder folder;
  const Finished doctor = withFakeEngine(folder, "ok", {{"doctor"}, {}, 0, "", ""});
  EXPECT_EQ(doctor.code, 0);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("ok     engine answers: protocol 1, LibTorch 1.13.0\n"), HasSubstr("ok     policy tables: cuda@1.13\n"),
                                HasSubstr("ok     threads 2, BLAS openblas\n"), Not(HasSubstr("fault"))));
}

// Runs with stderr on a terminal of the given kind and gives what the terminal got.
std::string onTerminal(const Answered& answered, const char* kind) {
  int master = -1, slave = -1;
  EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(slave, STDERR_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::close(master);
    ::setenv("TERM", kind, 1);
    ::setenv("ULPSCOPE_ENGINE", ULPSCOPE_TEST_DATA "/fake_engine.py", 1);
    ::setenv("FAKE_SESSION", answered.folder.path("made.ulps").c_str(), 1);
    if (::chdir(answered.folder.path().c_str()) != 0) ::_exit(126);
    ::execl(ULPSCOPE_TEST_BUILD "/bin/ulpscope", "ulpscope", "run", "m.ts", "--inputs", "i.h5", nullptr);
    ::_exit(127);
  }
  ::close(slave);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(master, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
  ::close(master);
  ::waitpid(pid, nullptr, 0);
  return text;
}

TEST(CliProgress, IsABarOnATerminalThatIsTakenAwayAtTheEnd) {
  const std::string text = onTerminal(Answered(), "xterm");
  EXPECT_THAT(text, HasSubstr("\r\033[K[##..................] running aten::linear in encoder.0, 32 of 256 samples"));
  EXPECT_THAT(text, EndsWith("\r\033[K"));
}

TEST(CliProgress, IsPlainLinesOnADumbTerminal) {
  const std::string text = onTerminal(Answered(), "dumb");
  EXPECT_THAT(text, AllOf(HasSubstr("ulpscope: running"), Not(HasSubstr("\033"))));
}

}  // namespace
}  // namespace ulpscope::test
