// Loops as PyTorch's "Automatic Mixed Precision examples" write them, and each mistake made on purpose.
#include "core/analysis/event_order.h"

#include <gmock/gmock.h>

#include <sstream>

using namespace ulpscope;
using analysis::OrderRule;
using session::EventLog;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

constexpr const char* kRight = "zero_grad autocast_begin forward loss autocast_end scale backward unscale_ clip step update scheduler_step";

// "step-" is a step that was skipped, "step+" one that was applied; "clip:a" is optimizer a's.
class Loop {
 public:
  explicit Loop(session::LoopFacts facts = {{"adam"}, true, true, 1}) { m_log.facts = std::move(facts); }

  Loop& iterate(const std::string& words, const std::string& run = "", const std::string& scaler = "") {
    std::istringstream stream(words);
    for (std::string word; stream >> word;) {
      session::TrainingEvent event;
      if (word.back() == '-' || word.back() == '+') event.applied = word.back() == '+';
      if (event.applied) word.pop_back();
      const auto parsed = session::parseRecipeEvent(word);
      EXPECT_TRUE(parsed.ok()) << word;
      event.kind = parsed->kind;
      event.optimizer = parsed->optimizer;
      event.iteration = m_iterations[run];
      event.run = run;
      event.scaler = scaler;
      m_log.events.push_back(event);
    }
    ++m_iterations[run];
    return *this;
  }
  EventLog& log() { return m_log; }

  std::vector<std::string> violations() const {
    std::vector<std::string> texts;
    for (const auto& v : analysis::checkOrder(m_log)) texts.push_back(std::to_string(v.step) + " " + v.event + " " + name(v.rule) + (v.optimizer.empty() || v.optimizer == "adam" ? "" : " " + v.optimizer));
    return texts;
  }

 private:
  EventLog m_log;
  std::map<std::string, std::int64_t> m_iterations;
};

std::string without(const std::string& word) {
  std::string words = kRight;
  return words.erase(words.find(word), word.size());
}
std::string with(const std::string& word, const std::string& replacement) {
  std::string words = kRight;
  return words.replace(words.find(word), word.size(), replacement);
}

TEST(EventOrder, FindsNothingInTheRightOrder) {
  EXPECT_THAT(Loop().iterate(std::string("new_scaler ") + kRight).iterate(kRight).iterate(without("clip")).iterate(without("unscale_ clip")).iterate(without("scheduler_step")).violations(), IsEmpty());
  EXPECT_THAT(Loop().iterate(with("step update scheduler_step", "step- update")).iterate(kRight).violations(), IsEmpty()) << "a skipped step is still followed by update()";
  EXPECT_THAT(Loop().violations(), IsEmpty());
}

TEST(EventOrder, NamesEachMistakeByItsRule) {
  EXPECT_THAT(Loop().iterate(with("unscale_ clip", "clip unscale_")).violations(), ElementsAre("0 clip clip_before_unscale"));
  EXPECT_THAT(Loop().iterate(without("unscale_ ")).violations(), ElementsAre("0 clip clip_before_unscale"));
  EXPECT_THAT(Loop().iterate(with("unscale_", "unscale_ unscale_")).violations(), ElementsAre("0 unscale_ unscale_twice"));
  EXPECT_THAT(Loop().iterate(with("unscale_ clip step", "step unscale_")).violations(), ElementsAre("0 unscale_ unscale_after_step"));
  EXPECT_THAT(Loop().iterate(with("step", "step step")).violations(), ElementsAre("0 step step_twice"));
  EXPECT_THAT(Loop().iterate(with("autocast_end scale backward", "scale backward autocast_end")).violations(), ElementsAre("0 backward backward_in_autocast"));
  EXPECT_THAT(Loop().iterate(with("loss autocast_end", "autocast_end loss")).violations(), ElementsAre("0 loss forward_outside_autocast"));
  EXPECT_THAT(Loop().iterate(without("scale ")).violations(), ElementsAre("0 backward loss_not_scaled"));
  EXPECT_THAT(Loop().iterate(without("update ")).iterate(kRight).violations(), ElementsAre("0 update update_missing"));
  EXPECT_THAT(Loop().iterate(without("update ")).violations(), ElementsAre("0 update update_missing")) << "also in the last iteration";
  EXPECT_THAT(Loop().iterate(with("update", "update update")).violations(), ElementsAre("0 update update_twice"));
  EXPECT_THAT(Loop().iterate(with("unscale_ clip step", "")).violations(), testing::Contains("0 update update_without_step"));
  EXPECT_THAT(Loop().iterate(with(" step", " optimizer_step")).violations(), ElementsAre("0 optimizer_step optimizer_step_direct"));
  EXPECT_THAT(Loop().iterate(with("step", "step-")).violations(), ElementsAre("0 scheduler_step schedule_on_skipped_update"));
  EXPECT_THAT(Loop().iterate("scheduler_step " + without("scheduler_step")).violations(), ElementsAre("0 scheduler_step schedule_before_step"));
  EXPECT_THAT(Loop().iterate(kRight).iterate(without("zero_grad")).violations(), ElementsAre("1 backward zero_grad_missing"));
}

TEST(EventOrder, SaysThatAZeroGradThrewTheGradientsAway) {
  EXPECT_THAT(Loop().iterate(with("unscale_ clip step", "zero_grad step")).violations(), ElementsAre("0 step zero_grad_before_step"));
  EXPECT_THAT(Loop().iterate(with("unscale_", "unscale_ zero_grad")).violations(), ElementsAre("0 step zero_grad_before_step"));
  EXPECT_THAT(Loop({{"a", "b"}, true, true, 1}).iterate("zero_grad autocast_begin forward loss autocast_end scale backward zero_grad:b step update").violations(), ElementsAre("0 step zero_grad_before_step b"));
  EXPECT_THAT(Loop().iterate(with("unscale_ clip step update scheduler_step", "zero_grad")).iterate(kRight).violations(), IsEmpty()) << "an update that the loop skips by itself";
  EXPECT_THAT(Loop().iterate(with("backward unscale_ clip step", "backward zero_grad forward loss scale backward step")).violations(), testing::Not(testing::Contains(testing::HasSubstr("zero_grad_before_step")))) << "gradients came again";
}

TEST(EventOrder, WantsGradientsBeforeAStep) {
  EXPECT_THAT(Loop().iterate("zero_grad step update").violations(), ElementsAre("0 step step_without_gradients"));
  EXPECT_THAT(Loop().iterate(kRight).iterate("zero_grad step+ update").violations(), ElementsAre("1 step step_without_gradients"));
  EXPECT_THAT(Loop({{"a", "b"}, true, true, 1}).iterate("zero_grad autocast_begin forward loss autocast_end scale backward:a step update").violations(), ElementsAre("0 step step_without_gradients b"));
  EXPECT_THAT(Loop({{"adam"}, false, false, 1}).iterate("zero_grad step").violations(), ElementsAre("0 step step_without_gradients"));
  EXPECT_THAT(Loop().iterate(with("autocast_begin forward loss autocast_end scale backward unscale_", "unscale_ autocast_begin forward loss autocast_end scale backward")).violations(), ElementsAre("0 backward unscale_before_accumulated")) << "of gradients that come later";
}

TEST(EventOrder, WantsALossBeforeABackward) {
  EXPECT_THAT(Loop({{"adam"}, false, false, 1}).iterate("zero_grad backward step").violations(), ElementsAre("0 backward backward_without_forward"));
  EXPECT_THAT(Loop({{"adam"}, false, false, 1}).iterate("zero_grad forward backward step").iterate("zero_grad backward step").violations(), ElementsAre("1 backward backward_without_forward")) << "the loss before was used up";
  EXPECT_THAT(Loop().iterate(with("scale backward", "scale scale backward backward")).violations(), ElementsAre("0 scale scale_twice", "0 backward backward_without_forward")) << "the same loss again";
  EXPECT_THAT(Loop().iterate(with("forward loss", "")).violations(), IsEmpty()) << "a log that names autocast and scale alone saw no forward";
}

TEST(EventOrder, NamesALossThatIsScaledTwice) {
  EXPECT_THAT(Loop().iterate(with("scale ", "scale scale ")).violations(), ElementsAre("0 scale scale_twice"));
  const std::string micro = "autocast_begin forward loss autocast_end scale backward ";
  EXPECT_THAT(Loop({{"adam"}, true, true, 2}).iterate("zero_grad " + micro + micro + "step update").violations(), IsEmpty());
  EXPECT_THAT(Loop().iterate(with("loss autocast_end scale backward", "loss loss autocast_end scale scale backward backward")).violations(), IsEmpty()) << "two losses";
}

TEST(EventOrder, WantsAZeroGradSomewhere) {
  EXPECT_THAT(Loop().iterate(without("zero_grad")).violations(), ElementsAre("0 zero_grad zero_grad_missing"));
  EXPECT_THAT(Loop().iterate(without("zero_grad") + " zero_grad").violations(), IsEmpty()) << "after the update it is as good";
}

TEST(EventOrder, WantsIterationsToGoOn) {
  Loop loop;
  loop.iterate(kRight).iterate(kRight);
  for (auto& event : loop.log().events) event.iteration = event.iteration == 0 ? 5 : 2;
  EXPECT_THAT(loop.violations(), ElementsAre("2 zero_grad iteration_backwards"));
  Loop apart;
  EXPECT_THAT(apart.iterate(kRight, "a").iterate(kRight, "a").iterate(kRight, "b").violations(), IsEmpty()) << "each run counts its own";
}

TEST(EventOrder, HoldsALogAgainstItsHead) {
  const std::string plain = "zero_grad autocast_begin forward loss autocast_end backward ";
  EXPECT_THAT(Loop({{"adam"}, false, true, 1}).iterate(plain + "unscale_ step").iterate(plain + "unscale_ step").violations(), ElementsAre("0 unscale_ not_in_head")) << "once in all";
  EXPECT_THAT(Loop({{"adam"}, false, true, 1}).iterate(plain + "step update").violations(), ElementsAre("0 update not_in_head"));
  EXPECT_THAT(Loop({{"adam"}, false, false, 1}).iterate(plain + "step").violations(), ElementsAre("0 autocast_begin not_in_head"));
  EXPECT_THAT(Loop({{"adam"}, false, true, 1}).iterate(plain + "step").violations(), IsEmpty());
}

TEST(EventOrder, CallsNoLogRightThatHasNoStep) {
  const auto ofUser = [](Loop loop) {
    loop.log().ofUser = true;
    return loop.violations();
  };
  EXPECT_THAT(ofUser(Loop()), ElementsAre("0 step nothing_to_judge"));
  EXPECT_THAT(ofUser(Loop().iterate("zero_grad").iterate("zero_grad")), ElementsAre("1 step nothing_to_judge"));
  EXPECT_THAT(ofUser(Loop().iterate(kRight)), IsEmpty());
  EXPECT_THAT(ofUser(Loop({{"adam"}, true, true, 1}).iterate(with(" step", " optimizer_step"))), testing::Not(testing::Contains("0 step nothing_to_judge")));
  EXPECT_THAT(Loop().iterate("zero_grad").violations(), IsEmpty()) << "a training of ours that ended before its first step";
}

TEST(EventOrder, NamesScalersThatAreMadeAnewOrShared) {
  const std::string anew = std::string("new_scaler ") + kRight;
  EXPECT_THAT(Loop().iterate(anew).iterate(anew).iterate(anew).violations(), ElementsAre("1 new_scaler scaler_recreated", "2 new_scaler scaler_recreated"));
  EXPECT_THAT(Loop().iterate(kRight, "fp32", "s1").iterate(kRight, "amp", "s1").iterate(kRight, "amp", "s1").violations(), ElementsAre("0 zero_grad scaler_shared"));
  EXPECT_THAT(Loop().iterate(kRight, "fp32", "s1").iterate(kRight, "amp", "s2").violations(), IsEmpty());
}

TEST(EventOrder, NamesTheDeprecatedApiOnce) {
  Loop loop;
  loop.iterate(kRight).iterate(kRight);
  for (auto& event : loop.log().events)
    if (event.kind == session::EventKind::autocastBegin) event.api = "torch.cuda.amp";
  EXPECT_THAT(loop.violations(), ElementsAre("0 autocast_begin deprecated_api"));
}

TEST(EventOrder, WantsACheckpointAfterUpdate) {
  EXPECT_THAT(Loop().iterate(std::string("checkpoint ") + kRight + " checkpoint").iterate(std::string(kRight) + " checkpoint").violations(), IsEmpty());
  EXPECT_THAT(Loop().iterate(with(" scheduler_step", " checkpoint scheduler_step")).iterate(with("zero_grad", "zero_grad checkpoint")).violations(), IsEmpty());
  const auto wrong = ElementsAre("0 checkpoint checkpoint_before_update");
  EXPECT_THAT(Loop().iterate(with("backward", "backward checkpoint")).violations(), wrong) << "gradients that no step took";
  EXPECT_THAT(Loop().iterate(with("unscale_", "unscale_ checkpoint")).violations(), wrong);
  EXPECT_THAT(Loop().iterate(with(" update", " checkpoint update")).violations(), wrong);
  EXPECT_THAT(Loop().iterate(with(" step update", " step- checkpoint update")).violations(), testing::Contains("0 checkpoint checkpoint_before_update")) << "a skipped step waits for update() as well";
  EXPECT_THAT(Loop({{"adam"}, false, true, 1}).iterate("zero_grad autocast_begin forward autocast_end backward step checkpoint").violations(), IsEmpty()) << "without a scaler nothing comes after step";
  const std::string micro = "autocast_begin forward loss autocast_end scale backward ";
  EXPECT_THAT(Loop({{"adam"}, true, true, 2}).iterate("zero_grad " + micro + "checkpoint " + micro + "step update checkpoint").violations(), wrong) << "half of an accumulation";
  EXPECT_THAT(Loop({{"a", "b"}, true, true, 1}).iterate("zero_grad " + micro + "step:a checkpoint step:b update checkpoint").violations(), wrong) << "a stepped, b did not";
}

TEST(EventOrder, WantsTheScalerInACheckpoint) {
  using Saved = std::optional<std::vector<std::string>>;
  const auto saving = [](const Saved& saved, bool scaler = true) {
    const std::string words = scaler ? kRight : "zero_grad autocast_begin forward autocast_end backward step";
    Loop loop({{"adam"}, scaler, true, 1});
    loop.iterate(words + " checkpoint").iterate(words + " checkpoint");
    for (auto& event : loop.log().events)
      if (event.kind == session::EventKind::checkpoint) event.saved = saved;
    return loop.violations();
  };
  EXPECT_THAT(saving(std::vector<std::string>{"model", "optimizer"}), ElementsAre("0 checkpoint checkpoint_without_scaler")) << "once in all";
  EXPECT_THAT(saving(std::vector<std::string>{}), ElementsAre("0 checkpoint checkpoint_without_scaler")) << "nothing was saved";
  EXPECT_THAT(saving(std::vector<std::string>{"model", "scaler"}), IsEmpty());
  EXPECT_THAT(saving(std::nullopt), IsEmpty()) << "not known";
  EXPECT_THAT(saving(std::vector<std::string>{"model"}, false), IsEmpty()) << "there is no scaler";
}

TEST(EventOrder, CountsMicroBatches) {
  const std::string micro = "autocast_begin forward loss autocast_end scale backward ";
  const session::LoopFacts three{{"adam"}, true, true, 3};
  EXPECT_THAT(Loop(three).iterate("zero_grad " + micro + micro + micro + "unscale_ clip step update").iterate("zero_grad " + micro + micro + micro + "step update").violations(), IsEmpty());
  EXPECT_THAT(Loop(three).iterate("zero_grad " + micro + micro + "step update").violations(), ElementsAre("0 step step_before_accumulated"));
  EXPECT_THAT(Loop(three).iterate("zero_grad " + micro + micro + "unscale_ " + micro + "step update").violations(), ElementsAre("0 unscale_ unscale_before_accumulated")) << "once an iteration";
  EXPECT_THAT(Loop(three).iterate("zero_grad " + micro + "zero_grad " + micro + micro + "step update").violations(), ElementsAre("0 zero_grad zero_grad_while_accumulating", "0 step step_before_accumulated"));
}

TEST(EventOrder, KeepsOptimizersApart) {
  const session::LoopFacts two{{"a", "b"}, true, true, 1};
  const std::string front = "zero_grad autocast_begin forward loss autocast_end scale backward ";
  EXPECT_THAT(Loop(two).iterate(front + "unscale_:a clip:a step:a step:b update scheduler_step").violations(), IsEmpty());
  EXPECT_THAT(Loop(two).iterate(front + "unscale_:a clip:b step update").violations(), ElementsAre("0 clip clip_before_unscale b"));
  EXPECT_THAT(Loop(two).iterate(front + "step:a- step:b+ update scheduler_step").violations(), IsEmpty()) << "one of them stepped";
  EXPECT_THAT(Loop(two).iterate(front + "step:a- step:b- update scheduler_step").violations(), ElementsAre("0 scheduler_step schedule_on_skipped_update"));
  EXPECT_THAT(Loop(two).iterate("zero_grad autocast_begin forward loss loss autocast_end scale scale backward:a step:a backward:b step:b update").violations(), IsEmpty()) << "a loss each";
}

TEST(EventOrder, WithoutAScalerAsksForNone) {
  const session::LoopFacts plain{{"adam"}, false, false, 1};
  EXPECT_THAT(Loop(plain).iterate("zero_grad forward loss backward clip step scheduler_step").iterate("zero_grad forward loss backward step").violations(), IsEmpty());
}

TEST(EventOrder, ExplainsEveryRule) {
  for (int i = 0; i <= static_cast<int>(OrderRule::checkpointWithoutScaler); ++i) {
    const auto rule = static_cast<OrderRule>(i);
    EXPECT_FALSE(name(rule).empty());
    EXPECT_NE(explanation(rule).find(": "), std::string::npos) << name(rule) << " says what is wrong and what to do";
  }
  EXPECT_EQ(name(OrderRule::deprecatedApi), "deprecated_api");
}

}  // namespace
