#include "core/analysis/training_alarms.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

namespace ulpscope::analysis {
namespace {

using session::Alarm;
using session::LedgerLine;
using session::Trajectory;

class Finder {
 public:
  explicit Finder(const Trajectory& run) : m_run(run) {}

  std::vector<Alarm> find(const Trajectory* fp32) {
    for (const LedgerLine& line : m_run.ledger) {
      ofScale(line);
      ofSkips(line);
      ofForward(line);
      if (line.applied && line.has("loss") && !std::isfinite(line.loss))
        once("nonfinite_loss_applied", line.step, fmt::format("{} applies an update although the loss is {}: finite gradients of a loss that overflowed; compute the loss in FP32", line.optimizer, base::shortNumber(line.loss)), line.optimizer);
    }
    ofUpdates();
    if (fp32) ofUpdateNorms(*fp32);
    if (fp32 && fp32->firstNonfinite)
      once("fp32_nonfinite", fp32->firstNonfinite->step, fmt::format("FP32 itself is not finite in step {} (stage {}): this is no matter of precision; mend the model, the data or the learning rate first", fp32->firstNonfinite->step, fp32->firstNonfinite->stage));
    for (const std::string& buffer : m_run.poisonedBuffers)
      once("buffers_poisoned", m_run.ledger.empty() ? 0 : m_run.ledger.back().step,
           "not finite at the end: " + buffer + "; a skipped step keeps weights, not buffers: keep the layer before it in FP32, or do not run the forward that poisons it");
    return std::move(m_alarms);
  }

 private:
  const Trajectory& m_run;
  std::vector<Alarm> m_alarms;
  std::set<std::string> m_said;
  std::map<std::string, std::int64_t> m_skips;  // in a row, by optimizer

  void once(const std::string& id, std::int64_t step, const std::string& text, const std::string& of = "") {
    if (m_said.insert(id + "|" + of).second) m_alarms.push_back({id, step, text});
  }

  void ofScale(const LedgerLine& line) {
    if (line.has("scale_after") && line.scaleAfter < 1)
      once("scale_below_1", line.step, fmt::format("the scale fell to {}: it makes gradients smaller, and what it divides can become infinite unseen; the gradients overflow for another reason than the scale", base::shortNumber(line.scaleAfter)));
    if (line.has("scale_after") && std::isinf(line.scaleAfter)) once("scale_infinite", line.step, "the scale grew to infinity and never comes back (PyTorch before 2.1): every step from here on is skipped");
  }

  void ofSkips(const LedgerLine& line) {
    std::int64_t& skips = m_skips[line.optimizer];
    skips = line.skipped ? skips + 1 : 0;
    if (skips == kSkipsInARow) once("skips_in_a_row", line.step, fmt::format("{} skipped {} steps in a row", line.optimizer, kSkipsInARow), line.optimizer);
  }

  void ofForward(const LedgerLine& line) {
    if (!line.firstNonfinite) return;
    const session::FirstNonfinite& first = *line.firstNonfinite;
    if (first.stage == "gradient" || first.stage == "update") return;
    const std::string op = first.op + " in " + (first.modulePath.empty() ? "the root module" : first.modulePath);
    const std::string place = first.stage == "input" ? first.source + " holds " + first.kind : first.stage == "parameter" ? "parameter " + first.parameter + " holds " + first.kind : first.op.empty() ? "the " + first.stage : op;
    once("forward_nonfinite", line.step, "the forward is not finite whatever the scale: " + place);
  }

  void ofUpdates() {
    std::map<std::int64_t, bool> applied;  // by step
    for (const LedgerLine& line : m_run.ledger) applied[line.step] = applied[line.step] || line.applied || !line.has("applied");
    std::int64_t without = 0;
    for (const auto& [step, any] : applied) {
      without = any ? 0 : without + 1;
      if (without == kStepsWithoutUpdate) once("no_update", step, fmt::format("no update in {} steps", kStepsWithoutUpdate));
    }
  }

  void ofUpdateNorms(const Trajectory& fp32) {
    std::map<std::pair<std::int64_t, std::string>, double> norms;
    for (const LedgerLine& line : fp32.ledger)
      if (line.applied) norms[{line.step, line.optimizer}] = line.updateNorm;
    std::set<std::string> compared;
    for (const LedgerLine& line : m_run.ledger) {
      const auto found = norms.find({line.step, line.optimizer});
      if (!line.applied || found == norms.end() || !std::isfinite(found->second) || !compared.insert(line.optimizer).second) continue;
      const double own = line.updateNorm, reference = found->second;
      const bool near = std::isfinite(own) && own <= 2 * reference && own >= 0.5 * reference;
      if (!near) once("update_norm_far", line.step, fmt::format("the update of {} has the norm {}, FP32's {}", line.optimizer, base::shortNumber(own), base::shortNumber(reference)), line.optimizer);
    }
  }
};

}  // namespace

std::vector<Alarm> findAlarms(const Trajectory& run, const Trajectory* fp32) { return Finder(run).find(fp32); }

}  // namespace ulpscope::analysis
