// The window's parts, by name alone.
#pragma once

namespace ulpscope::views {

class CriteriaSheet;
class FindingsPanel;
class HeatmapPanel;
class InspectorPanel;
class MessageBar;
class ModulesPanel;
class RunBar;
class RunSheet;
class SessionBar;
class StartPage;
class StepStrip;

}  // namespace ulpscope::views
