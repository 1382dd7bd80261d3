// Progress on stderr: a bar on a terminal, otherwise one line a stage.
#pragma once

#include "core/base/progress.h"

#include <chrono>
#include <string>

namespace ulpscope::cli {

// "running aten::linear in encoder.0, 32 of 256 samples": what stood last, for the bar and for errors. unit: what is counted.
std::string progressText(const base::Progress& progress, const std::string& unit);

class ProgressDisplay {
 public:
  ProgressDisplay();
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const base::Progress& progress, const std::string& unit);
  // A line of the engine's log (what the model prints), above the bar.
  void log(const std::string& line);
  // A line of our own, above the bar.
  void note(const std::string& line);
  // Takes the bar away; called before anything else is printed.
  void clear();

 private:
  void draw(const std::string& text);

  bool m_terminal;
  bool m_drawn = false;
  std::string m_stage;
  std::chrono::steady_clock::time_point m_lastDrawn;
};

}  // namespace ulpscope::cli
