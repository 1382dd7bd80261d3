#include "core/report/report_style.h"

#include "core/render/drawing.h"

#include <fmt/format.h>

namespace ulpscope::report {
namespace {

using render::Ink;

std::string variablesOf(render::Theme theme) {
  std::string out;
  for (int i = 1; i < render::kInkCount; ++i) {
    const render::Rgb c = render::inkColor(static_cast<Ink>(i), theme);
    out += fmt::format("--{}:#{:02x}{:02x}{:02x};", render::name(static_cast<Ink>(i)), c.r, c.g, c.b);
  }
  return out;
}

constexpr const char* kLightPills = "--page:#f4f6f8;--stripe:#f5f7f9;--code:#eef1f4;--goodPill:#dff1e7;--badPill:#fbe0da;--warnPill:#fcefc9;--mutedPill:#e9ecf0;";
constexpr const char* kDarkPills = "--page:#17191c;--stripe:#212327;--code:#2a2d32;--goodPill:#1d3a2c;--badPill:#4c241c;--warnPill:#42371a;--mutedPill:#33373d;";

std::string inkClasses() {
  std::string out = ".f-none{fill:none}.s-none{stroke:none}";
  for (int i = 1; i < render::kInkCount; ++i) {
    const std::string ink = render::name(static_cast<Ink>(i));
    out += fmt::format(".f-{0}{{fill:var(--{0})}}.s-{0}{{stroke:var(--{0})}}", ink);
  }
  return out + "\n";
}

constexpr const char* kRules =
    "*{box-sizing:border-box}\n"
    "html{background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;-webkit-text-size-adjust:100%}\n"
    "body{max-width:960px;margin:0 auto;padding:32px 24px 48px}\n"
    "header{margin-bottom:20px}.brand{margin:0;color:var(--muted);font-size:13px;letter-spacing:.04em}\n"
    "h1{margin:2px 0 0;font-size:26px;line-height:1.25;font-weight:650}\n"
    ".sub{margin:4px 0 0;color:var(--muted);font-size:13px;unicode-bidi:isolate}\n"
    ".notice{margin:8px 0;padding:9px 14px;border-left:4px solid var(--warn);background:var(--warnPill);border-radius:3px}\n"
    ".notice.bad{border-color:var(--bad);background:var(--badPill)}\n"
    ".verdict{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 12px;margin:16px 0 14px;padding:14px 18px;border-radius:8px;background:var(--mutedPill)}\n"
    ".verdict.good{background:var(--goodPill)}.verdict.bad{background:var(--badPill)}.verdict.warn{background:var(--warnPill)}\n"
    ".verdict .sign,.verdict strong{font-size:22px;line-height:1.2;font-weight:700}.verdict.good .sign,.verdict.good strong{color:var(--good)}\n"
    ".verdict.bad .sign,.verdict.bad strong{color:var(--bad)}.verdict.warn .sign,.verdict.warn strong{color:var(--warn)}.verdict .why{flex:1 1 320px}\n"
    ".lead{font-size:17px;margin:0 0 8px}\n"
    "section{margin:18px 0;padding:18px 20px 14px;background:var(--paper);border:1px solid var(--line);border-radius:8px}\n"
    "h2{margin:0 0 10px;font-size:18px;font-weight:650}\n"
    "p{margin:8px 0}.note{color:var(--muted);font-size:13px;margin:4px 0 10px}\n"
    "nav li{margin:0 0 3px;break-inside:avoid}nav ol{columns:3;column-gap:24px;margin:14px 0;padding-left:22px;font-size:13px;color:var(--muted)}a{color:var(--series);text-decoration:none}a:hover{text-decoration:underline}a:focus-visible{outline:2px solid var(--series);outline-offset:2px}\n"
    "ul{margin:8px 0;padding-left:20px}li{margin:3px 0;unicode-bidi:isolate}\n"
    "dl{margin:0}dl div{display:grid;grid-template-columns:190px 1fr;gap:0 16px;padding:4px 0;border-top:1px solid var(--line)}dl div:first-child{border-top:0}\n"
    "dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere;unicode-bidi:isolate}\n"
    ".table{overflow-x:auto;margin:12px 0 4px}table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;font-size:14px;padding-bottom:4px}\n"
    "th,td{padding:5px 10px 5px 0;text-align:left;vertical-align:top;border-top:1px solid var(--line);overflow-wrap:break-word;unicode-bidi:isolate;font-weight:400}\n"
    "thead th{color:var(--muted);border-top:0;vertical-align:bottom;overflow-wrap:normal}.number{text-align:right;white-space:nowrap;padding-left:10px}thead .number{white-space:normal}.pictured th{min-width:150px}.number+:not(.number){padding-left:12px}.pictured>*{vertical-align:middle}tr>:last-child{padding-right:0}\n"
    "code{font:.92em/1.4 ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;unicode-bidi:isolate;overflow-wrap:anywhere}\n"
    "figure{margin:12px 0}figcaption{font-weight:600;font-size:14px;margin-bottom:2px}figure:not(.listing){display:flex;flex-direction:column-reverse}\n"
    "figure>svg{width:100%}svg{max-width:100%;height:auto;font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}svg image{image-rendering:pixelated}\n"
    ".picture{display:inline-block;vertical-align:middle;margin-right:8px}.picture svg{display:block;max-width:none}\n"
    "pre{margin:4px 0;padding:10px 12px;background:var(--code);border-radius:5px;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere;max-height:none}.word{white-space:nowrap}\n"
    "strong{font-weight:650}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.muted{color:var(--muted)}.verdict,.notice{color:var(--text)}\n"
    "footer{color:var(--muted);font-size:13px}\n"
    "@media(max-width:640px){dl div{grid-template-columns:1fr}nav ol{columns:1}body{padding:16px 12px}section{padding:14px 12px}}\n";

// On paper: dark ink on white, whole figures, table heads on each page.
constexpr const char* kPrint =
    "@page{margin:16mm 14mm}\n"
    "@media print{html{background:#fff;font-size:12px}body{max-width:none;padding:0}.lead{font-size:13.5px}section{border:0;padding:0;margin:14px 0}nav{display:none}thead{display:table-header-group}"
    "tr,figure,dl div,.notice,.verdict{break-inside:avoid}h2,caption{break-after:avoid}.verdict,.notice{print-color-adjust:exact;-webkit-print-color-adjust:exact}a{color:inherit}}\n";

}  // namespace

std::string reportStyle() {
  const std::string light = variablesOf(render::Theme::light), dark = variablesOf(render::Theme::dark);
  std::string out = fmt::format(":root{{color-scheme:light dark;{}{}}}\nsvg .dark{{display:none}}\n", light, kLightPills);
  out += fmt::format("@media screen and (prefers-color-scheme:dark){{:root{{{}{}}}svg .light{{display:none}}svg .dark{{display:inline}}}}\n", dark, kDarkPills);
  return out + inkClasses() + kRules + kPrint;
}

}  // namespace ulpscope::report
