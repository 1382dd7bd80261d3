#include "core/session/outcome.h"

#include "core/session/command_line.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::session {
namespace {

using testing::ElementsAre;

Flip flip(std::int64_t sample, const std::string& effect, double margin) {
  Flip f;
  f.sample = sample;
  f.sampleId = std::string(1, static_cast<char>('a' + sample));
  f.effect = effect;
  f.referenceMargin = margin;
  return f;
}

TEST(Outcome, OfEachSample) {
  Session session;
  session.samples.ids = {"a", "b", "c", "d", "e"};
  RunRecord run;
  run.decisions = {{1, 1, 0}, {1, 1, 0}, {1, std::nan(""), 0}, {1, 1, 0}, {std::nan(""), 1, 0}};
  run.noDecision = {"d"};
  run.flips = {flip(1, "regressed", 1)};
  std::vector<Outcome> outcomes;
  for (const SampleOutcome& o : sampleOutcomes(session, run)) outcomes.push_back(o.outcome);
  EXPECT_THAT(outcomes, ElementsAre(Outcome::same, Outcome::regressed, Outcome::noDecision, Outcome::noDecision, Outcome::noDecision));
  run.settings.onlySamples = {"b"};
  EXPECT_EQ(sampleOutcomes(session, run)[0].outcome, Outcome::notRun);
  EXPECT_EQ(sampleOutcomes(session, run)[1].flip, &run.flips.front());
}

TEST(Outcome, FlipsStandByOutcomeThenByMarginWithNanLast) {
  RunRecord run;
  run.flips = {flip(0, "fixed", 1), flip(1, "regressed", std::nan("")), flip(2, "regressed", 2), flip(3, "regressed", 0.5), flip(4, "", 1), flip(5, "wrong to wrong", 1)};
  std::string order;
  for (const Flip* f : flipsByOutcome(run)) order += f->sampleId;
  EXPECT_EQ(order, "dcbefa");
}

TEST(RunCommand, NamesWhatDiffersFromTheDefaultsAndQuotesForAShell) {
  RunRequest request;
  request.modelPath = "my model.ts";
  request.inputsPath = "inputs.h5";
  request.sessionPath = "s.ulps";
  EXPECT_EQ(runCommand(request), "ulpscope run 'my model.ts' --inputs inputs.h5 --session s.ulps");
  request.settings.fp32 = {"it's; rm -rf x"};
  request.settings.policyTable = "cuda@2.6";
  request.settings.decision = parseDecisionRule("topk:5").value();
  EXPECT_EQ(runCommand(request), "ulpscope run 'my model.ts' --inputs inputs.h5 --policy cuda@2.6 --decision topk:5 --fp32 'it'\\''s; rm -rf x' --session s.ulps");
}

}  // namespace
}  // namespace ulpscope::session
