#include <fmt/format.h>

#include <iterator>

#include "report/html/parts.h"

namespace stepscope::report {
namespace {

constexpr std::string_view kRules = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 24px 64px}
.what{margin:0 0 6px;color:var(--soft);font-size:14px;overflow-wrap:anywhere}
h1{font-size:25px;line-height:1.3;font-weight:650;margin:0 0 12px;max-width:46em;letter-spacing:-.01em}
h2{font-size:18px;line-height:1.35;font-weight:650;margin:0 0 12px}
h3{font-size:15px;font-weight:650;margin:18px 0 6px}
section{margin:36px 0 0}
.facts{display:flex;flex-wrap:wrap;gap:8px;margin:0 0 16px;padding:0;list-style:none}
.facts li{background:var(--panel);border:1px solid var(--line);border-radius:999px;padding:2px 12px;font-size:14px}

nav{margin:36px 0 0}
nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0;padding:0;list-style:none}
a{color:var(--link)}
svg{display:block;width:100%;height:auto;overflow:visible}
svg.patterns{position:absolute;width:0;height:0}
svg text{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:1}
.legend{display:flex;flex-wrap:wrap;gap:6px 20px;margin:10px 0 0;padding:0;list-style:none;font-size:14px}
.legend li{display:flex;align-items:center;gap:7px}
.legend svg{width:14px;height:14px;flex:none}
.legend b{font-weight:600;font-variant-numeric:tabular-nums}
.legend span{color:var(--soft)}
ol.findings{margin:0;padding:0;list-style:none;display:grid;gap:14px}
.card{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:14px 18px}
.card header{display:flex;gap:12px;align-items:baseline;flex-wrap:wrap}
.card h3{margin:0;font-size:16px;flex:1 1 24em}
.card h3 span{color:var(--soft);font-weight:400;margin-right:8px}
.saves{font-weight:650;color:var(--good);font-variant-numeric:tabular-nums;white-space:nowrap}
.summary{width:auto;margin:0 0 14px;font-size:15px}
.summary td{padding:3px 14px 3px 0}
.summary td:first-child{color:var(--soft)}
.summary tr:nth-child(even){background:none}
.summary span{color:var(--soft);font-size:14px;margin-left:6px}
.summary .do{color:var(--soft);font-size:14px;max-width:60em}
.summary .sum td{border-top:1px solid var(--line)}
header h2{margin-top:18px;margin-bottom:6px}
.card dl{display:grid;grid-template-columns:max-content 1fr;gap:5px 14px;margin:10px 0 0;font-size:14.5px}
.card dt{color:var(--soft)}
.card dd{margin:0;overflow-wrap:anywhere}
.warning{display:flex;gap:10px;margin:10px 0 0;padding:8px 14px;border:1px solid var(--warn-line);border-left-width:5px;background:var(--warn);border-radius:6px;font-size:14.5px}
.warning p{margin:0;overflow-wrap:anywhere}
.scroll{overflow:auto;max-height:60em;border:1px solid var(--line);border-radius:8px;margin-top:14px}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th,td{padding:5px 11px;text-align:left;vertical-align:top}
thead th{position:sticky;top:0;background:var(--panel);font-weight:600;vertical-align:bottom;border-bottom:1px solid var(--line);white-space:nowrap}
thead th.number{white-space:normal}
tbody th.short{min-width:0}
tbody th{font-weight:400}
tbody tr:nth-child(even){background:var(--stripe)}
.scroll.narrow{width:max-content;max-width:100%;min-width:22em}
.number{width:1%;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.narrow .number{width:auto}
.grew{color:var(--grew)}
.fell{color:var(--fell)}
td.bar{min-width:80px;padding:10px 12px 0 0}
td.bar svg{height:10px;width:100%}
.text{overflow-wrap:anywhere;min-width:18em;max-width:40em}
.short{white-space:nowrap}
.quiet{font-weight:400;color:var(--soft);margin-left:8px}
.more{color:var(--soft);font-size:14px;margin:8px 0 0}
code{font:13.5px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}
.next code{display:block;background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:6px 12px;margin:6px 0}
.curve{fill:none;stroke:var(--host);stroke-width:1.5;stroke-linejoin:round}
.area{fill:var(--host);opacity:.14}
.heat{fill:var(--heat)}
.box{stroke:var(--page);stroke-width:1}
svg .on{pointer-events:none;font-weight:600;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}
.hatch{fill:none;stroke:var(--page);stroke-width:1.6;opacity:.55}
.hatch.open{stroke:var(--waiting);stroke-width:2.4;opacity:1}
.bar-fill{fill:var(--host)}
details{margin-top:12px}
summary{cursor:pointer;color:var(--link);font-size:14px}
.section{margin:0;border-top:1px solid var(--line)}
nav+.section{margin-top:18px}
.section>summary{padding:10px 4px;color:var(--ink)}
.section>summary h2{display:inline-block;font-size:16px;margin:0}
.section>summary h2::first-letter{text-transform:uppercase}
.section>summary span{color:var(--soft);margin-left:10px}
.section>summary i{color:var(--soft);margin-left:10px;font-style:normal;border:1px solid var(--line);border-radius:999px;padding:0 9px}
.section>div{padding:0 4px 22px;scroll-margin-top:4em}
.section h3:first-child{margin-top:6px}
.note{color:var(--soft);font-size:14px;margin:10px 0 0;padding-left:12px;border-left:3px solid var(--line)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
footer{margin-top:48px;color:var(--soft);font-size:13px;border-top:1px solid var(--line);padding-top:12px}
@media (max-width:600px){main{padding:18px 14px 40px}h1{font-size:21px}th,td{padding:4px 8px}}
@media print{main{max-width:none;padding:0}.card,svg{break-inside:avoid}.scroll{overflow:visible;max-height:none;border:0}nav,.next{display:none}tr{break-inside:avoid}thead th{position:static}}
)";

constexpr std::string_view kLight =
    "--page:#FFFFFF;--panel:#F6F8FA;--stripe:#F9FAFB;--ink:#16191D;--soft:#59636E;--line:#D9DEE4;--link:#"
    "0B5CAD;"
    "--good:#0B6BCB;--warn:#FFF8E5;--warn-line:#B7791F;--heat:#0B3C6F;--grew:#9A4B00;--fell:#0B5CAD;";
constexpr std::string_view kDark =
    "--page:#14181D;--panel:#1C2229;--stripe:#191E24;--ink:#E8EBEE;--soft:#A3ADB8;--line:#343C46;--link:#"
    "7FB8FF;"
    "--good:#5AA9FF;--warn:#2A2410;--warn-line:#C99A3A;--heat:#8EC5FF;--grew:#FFB45C;--fell:#7FB8FF;";

void put_paints(std::string& out, bool dark) {
  for (int i = 0; i < kFamilies; ++i) {
    const Paint& paint = paint_of(static_cast<Family>(i));
    out += fmt::format("--{0}:{1};--on-{0}:{2};", paint.name, dark ? paint.dark : paint.light,
                       dark ? paint.dark_text : paint.light_text);
  }
}

}  // namespace

std::string style_sheet() {
  std::string out = ":root{color-scheme:light dark;";
  out += kLight;
  put_paints(out, false);
  out += "}\n@media screen and (prefers-color-scheme:dark){:root{";
  out += kDark;
  put_paints(out, true);
  out += "}}";
  out += kRules;
  for (int i = 0; i < kFamilies; ++i) {
    const std::string_view name = paint_of(static_cast<Family>(i)).name;
    out += fmt::format(
        ".{0}{{fill:url(#hatch-{0})}}.flat.{0}{{fill:var(--{0})}}"
        "svg .on-{0}{{fill:var(--on-{0});stroke:var(--{0})}}",
        name);
  }
  for (int depth = 1; depth <= kDeepestIndent; ++depth)
    out += fmt::format(".in{}{{padding-left:{:.1f}em}}", depth, 0.9 + 1.3 * depth);
  // The hatch of `waiting` is lines on the page, so its text has the colours of the page.
  out += fmt::format("svg .on-{}{{fill:var(--ink);stroke:var(--page)}}", paint_of(Family::waiting).name);
  return out;
}

std::string chart_patterns() {
  std::string out = R"svg(<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>)svg";
  for (int i = 0; i < kFamilies; ++i) {
    const Paint& paint = paint_of(static_cast<Family>(i));
    const bool open =
        static_cast<Family>(i) == Family::waiting;  // lines on the page, for the absence of work
    fmt::format_to(
        std::back_inserter(out),
        R"svg(<pattern id="hatch-{0}" width="8" height="8" patternUnits="userSpaceOnUse">)svg"
        R"svg(<rect width="8" height="8" fill="var(--{1})"/><path class="hatch{2}" d="{3}"/></pattern>)svg",
        paint.name, open ? "page" : paint.name, open ? " open" : "", paint.hatch);
  }
  return out + "</defs></svg>";
}

}  // namespace stepscope::report
