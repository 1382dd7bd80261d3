#include "progress_display.h"

#include "core/base/clock.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ulpscope::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};

// The bar moves the cursor but uses no colours, so NO_COLOR asks for nothing more; a dumb terminal cannot do even that.
bool canRedraw() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal && std::string_view(terminal) != "dumb";
}

std::size_t terminalColumns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(const base::Progress& progress) {
  constexpr std::int64_t kWidth = 20;
  if (progress.total <= 0) return "";
  const std::int64_t filled = std::clamp(kWidth * progress.done / progress.total, std::int64_t{0}, kWidth);
  return fmt::format("[{:.<{}}] ", std::string(static_cast<std::size_t>(filled), '#'), kWidth);
}

std::string timeLeft(double seconds) { return seconds < 0 ? "" : ", " + base::durationText(seconds) + " left"; }

}  // namespace

std::string progressText(const base::Progress& progress, const std::string& unit) {
  std::string text = progress.stage;
  if (!progress.op.empty()) text += " " + progress.op;
  if (!progress.modulePath.empty()) text += " in " + progress.modulePath;
  if (progress.total > 0) text += fmt::format(", {} of {} {}", progress.done, progress.total, unit);
  else if (progress.done > 0) text += fmt::format(", {} {}", progress.done, unit);
  return text + timeLeft(progress.secondsLeft);
}

ProgressDisplay::ProgressDisplay() : m_terminal(canRedraw()) {}

void ProgressDisplay::show(const base::Progress& progress, const std::string& unit) {
  const bool newStage = progress.stage != m_stage;
  m_stage = progress.stage;
  if (!m_terminal) {
    if (newStage) std::fprintf(stderr, "ulpscope: %s\n", m_stage.c_str());
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!newStage && now - m_lastDrawn < kRedraw) return;
  m_lastDrawn = now;
  draw(bar(progress) + progressText(progress, unit));
}

void ProgressDisplay::log(const std::string& line) {
  clear();
  std::fprintf(stderr, "engine: %s\n", line.c_str());
}

void ProgressDisplay::note(const std::string& line) {
  clear();
  std::fprintf(stderr, "ulpscope: %s\n", line.c_str());
}

void ProgressDisplay::clear() {
  if (m_drawn) std::fputs("\r\033[K", stderr);
  m_drawn = false;
}

void ProgressDisplay::draw(const std::string& text) {
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, terminalColumns() - 1).c_str());
  std::fflush(stderr);
  m_drawn = true;
}

}  // namespace ulpscope::cli
