#include "core/analysis/recorded_training.h"

#include "core/analysis/event_order.h"
#include "core/analysis/training_alarms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace ulpscope::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using session::EventKind;
using session::LedgerLine;
using session::LedgerState;
using session::RecordedLine;
using session::Training;
using session::Trajectory;

using StepKey = std::pair<std::int64_t, std::string>;                    // step, optimizer
using LoggedSteps = std::map<StepKey, std::optional<bool>>;              // applied; empty: not known

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool isStep(EventKind kind) { return kind == EventKind::step || kind == EventKind::optimizerStep; }

// An event without an optimizer is of all.
LoggedSteps stepsOf(const session::EventLog& log) {
  LoggedSteps steps;
  for (const session::TrainingEvent& event : log.events)
    if (isStep(event.kind))
      for (const std::string& optimizer : log.facts.optimizers)
        if (event.optimizer.empty() || event.optimizer == optimizer) steps[{event.iteration, optimizer}] = event.applied;
  return steps;
}

std::string nameIn(const session::EventLog& log, const RecordedLine& line) {
  return line.optimizer.empty() && log.facts.optimizers.size() == 1 ? log.facts.optimizers.front() : line.optimizer;
}

std::optional<double> numberOf(const RecordedLine& line, LedgerState state) {
  const auto found = line.values.find(state);
  if (found == line.values.end() || !std::holds_alternative<double>(found->second)) return std::nullopt;
  return std::get<double>(found->second);
}

// Reads the values of one line, and keeps what is not there.
class LineMaker {
 public:
  LineMaker(const RecordedLine& recorded, bool hasScaler) : m_recorded(recorded), m_hasScaler(hasScaler) {}

  LedgerLine make(const std::string& optimizer, std::optional<bool> logged) {
    m_line.step = m_recorded.step;
    m_line.optimizer = optimizer;
    for (const auto& [state, to] : {std::pair(LedgerState::loss, &m_line.loss), std::pair(LedgerState::scaledNorm, &m_line.scaledNorm), std::pair(LedgerState::gradNorm, &m_line.gradNorm),
                                    std::pair(LedgerState::clippedNorm, &m_line.clippedNorm), std::pair(LedgerState::zeroShare, &m_line.zeroShare), std::pair(LedgerState::subnormalShare, &m_line.subnormalShare),
                                    std::pair(LedgerState::nonfiniteShare, &m_line.nonfiniteShare), std::pair(LedgerState::lr, &m_line.lr), std::pair(LedgerState::updateNorm, &m_line.updateNorm)})
      *to = number(state).value_or(kNan);
    for (const auto& [state, to] : {std::pair(LedgerState::scaleBefore, &m_line.scaleBefore), std::pair(LedgerState::scaleAfter, &m_line.scaleAfter)}) *to = number(state, m_hasScaler ? std::nullopt : std::optional(1.0)).value_or(kNan);
    takeOutcome(logged);
    for (const auto& [state, to] : {std::pair(LedgerState::appliedUpdates, &m_line.appliedUpdates), std::pair(LedgerState::schedulerSteps, &m_line.schedulerSteps)})
      *to = static_cast<std::int64_t>(number(state).value_or(0));
    m_line.growthTracker = static_cast<std::int64_t>(number(LedgerState::growthTracker, m_hasScaler ? std::nullopt : std::optional(0.0)).value_or(0));
    return std::move(m_line);
  }

 private:
  const RecordedLine& m_recorded;
  bool m_hasScaler;
  LedgerLine m_line;

  std::optional<double> number(LedgerState state, std::optional<double> otherwise = std::nullopt) {
    const auto found = numberOf(m_recorded, state);
    if (!found && !otherwise) m_line.unrecorded.insert(session::name(state));
    return found ? found : otherwise;
  }

  void takeOutcome(std::optional<bool> logged) {
    const auto flagOf = [](std::optional<bool> flag) { return flag ? std::optional(*flag ? 1.0 : 0.0) : std::nullopt; };
    const auto notOf = [](std::optional<double> flag) { return flag ? std::optional(1 - *flag) : std::nullopt; };
    const auto applied = number(LedgerState::applied, logged ? flagOf(logged) : notOf(numberOf(m_recorded, LedgerState::skipped)));
    m_line.applied = applied.value_or(0) != 0;
    m_line.skipped = number(LedgerState::skipped, notOf(applied)).value_or(0) != 0;
    m_line.foundInf = number(LedgerState::foundInf).value_or(0) != 0;
  }
};

Error notOfOneLoop(const LoopRecord& record, const std::string& what) { return {ErrorKind::input, what + ": the ledger beside it is of another loop", record.logName, "put the ledger of the same loop beside it, or none"}; }

// The ledger's lines, or where there is none the log's steps without a number.
Result<std::vector<RecordedLine>> recordedLines(const LoopRecord& record, const LoggedSteps& steps) {
  std::vector<RecordedLine> lines;
  if (!record.ledger) {
    for (const auto& [key, applied] : steps) lines.push_back({key.first, key.second, {}});
    return lines;
  }
  for (const RecordedLine& line : record.ledger->lines) {
    const auto logged = steps.find({line.step, nameIn(record.log, line)});
    if (logged == steps.end()) return notOfOneLoop(record, fmt::format("has no step of {} in iteration {}", line.optimizer.empty() ? "the optimizer" : line.optimizer, line.step));
    if (const auto applied = numberOf(line, LedgerState::applied); applied && logged->second && (*applied != 0) != *logged->second)
      return notOfOneLoop(record, fmt::format("says of iteration {} that the step was {}, the ledger the reverse", line.step, *logged->second ? "applied" : "skipped"));
  }
  return record.ledger->lines;
}

void count(Trajectory& run, const session::EventLog& log) {
  std::set<std::int64_t> applied;
  for (const LedgerLine& line : run.ledger)
    if (line.applied) applied.insert(line.step);
  const LedgerLine& last = run.ledger.back();
  const auto scheduled = std::count_if(log.events.begin(), log.events.end(), [](const auto& event) { return event.kind == EventKind::schedulerStep; });
  run.steps = run.countedSteps();
  run.appliedUpdates = static_cast<std::int64_t>(applied.size());
  run.schedulerSteps = last.has("scheduler_steps") ? last.schedulerSteps : scheduled;
  run.finalScale = last.scaleAfter;
}

// What no line has, in one sentence.
std::string notRecorded(const LoopRecord& record, const Trajectory& run) {
  if (!record.ledger) return "there is no ledger beside the log: losses, scales and gradients are not recorded";
  std::string list;
  for (const LedgerState state : session::ledgerStates()) {
    const std::string key = session::name(state);
    const bool isShown = std::any_of(run.ledger.begin(), run.ledger.end(), [&](const LedgerLine& line) { return line.unrecorded.contains(key); });
    const bool isEver = run.recordsAny(key);
    if (isShown && !isEver) list += (list.empty() ? "" : ", ") + key;
  }
  return list.empty() ? "" : "not recorded: " + list + ", and which op was the first that was not finite";
}

std::vector<session::Violation> violationsOf(const session::EventLog& log) {
  std::vector<session::Violation> violations;
  for (const OrderViolation& v : checkOrder(log)) violations.push_back({v.step, v.event, name(v.rule), v.optimizer, (v.run.empty() ? "" : "in " + v.run + ": ") + explanation(v.rule)});
  return violations;
}

}  // namespace

Result<Training> recordedTraining(const LoopRecord& record) {
  const LoggedSteps steps = stepsOf(record.log);
  if (steps.empty()) return Error{ErrorKind::input, "holds no step of an optimizer", record.logName, "record one iteration at least"};
  const auto lines = recordedLines(record, steps);
  if (!lines) return lines.error();
  if (lines->empty()) return Error{ErrorKind::input, "has a ledger without a line beside it", record.logName, "record one iteration at least, or take the ledger away"};
  Trajectory run;
  run.name = "recorded";
  run.autocast = record.log.facts.hasAutocast;
  run.scaling = record.log.facts.hasScaler;
  for (const RecordedLine& line : lines.value()) {
    const std::string optimizer = nameIn(record.log, line);
    run.ledger.push_back(LineMaker(line, run.scaling).make(optimizer, steps.at({line.step, optimizer})));
  }
  count(run, record.log);
  run.violations = violationsOf(record.log);
  run.alarms = findAlarms(run, nullptr);
  std::stable_sort(run.alarms.begin(), run.alarms.end(), [](const session::Alarm& a, const session::Alarm& b) { return a.step < b.step; });
  Training training;
  training.recorded = session::RecordedLoop{record.logName, record.ledger.has_value(), record.ledger ? record.ledger->settings : std::map<std::string, std::string>()};
  training.libtorchVersion = training.recorded->setting("torch");
  if (const std::string missing = notRecorded(record, run); !missing.empty()) training.warnings.push_back(missing);
  if (record.ledger && record.ledger->resumedAt) training.resumes.push_back({*record.ledger->resumedAt, "", "", "", {}});
  training.runs.push_back(std::move(run));
  return training;
}

}  // namespace ulpscope::analysis
