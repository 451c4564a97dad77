#include "merge/drawn_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/text.h"
#include "merge/rewrite.h"
#include "read/drawn.h"
#include "read/json_members.h"
#include "read/json_text.h"

namespace stepscope::merge {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// A number as a number, a text in quotes.
std::string ident_text(const std::string& ident) {
  const std::size_t sign = ident.starts_with('-') ? 1 : 0;
  const bool number = ident.size() > sign && ident.size() < 19 &&
                      ident.find_first_not_of("0123456789", sign) == std::string::npos &&
                      (ident[sign] != '0' || ident.size() == sign + 1);
  return number ? ident : json_text(ident);
}

std::string microseconds(std::int64_t ns) {
  std::string text;
  append_microseconds(ns, text);
  return text;
}

/// Lanes as fields: "pid":1,"tid":2
std::vector<std::string> lane_fields(const report::Drawing& drawing) {
  std::vector<std::string> fields;
  for (const report::Drawing::Lane& lane : drawing.lanes)
    fields.push_back(fmt::format(R"("pid":{},"tid":{})", ident_text(lane.pid), ident_text(lane.tid)));
  return fields;
}

void append_arrow(const report::Drawing::Arrow& arrow, std::size_t id, const std::vector<std::string>& lanes,
                  std::string& out) {
  const std::string args = fmt::format(R"({{"weight":{},"critical":{},"type":"critical_path_{}"}})",
                                       microseconds(arrow.weight), arrow.critical ? 1 : 0, arrow.type);
  const auto end = [&](std::string_view phase, std::uint32_t lane, std::int64_t time) {
    fmt::format_to(
        std::back_inserter(out),
        "\n{{\"ph\":{0},\"id\":{1},{2},\"ts\":{3},\"cat\":\"{4}\",\"name\":\"{4}\",\"args\":{5}}},", phase,
        id, lanes[lane], microseconds(time), read::kDrawnArrow, args);
  };
  end(R"("s")", arrow.from_lane, arrow.from);
  end(R"("f","bp":"e")", arrow.to_lane, arrow.to);
}

}  // namespace

void append_critical(const EventText& event, std::string& out) {
  constexpr std::string_view kArg = "\"critical\":1";
  const bool object = event.args && *event.args.begin == '{';
  if (event.args && !object) {
    out += event.whole.text();
    return;
  }
  const char* at = object ? event.args.begin + 1 : event.whole.end - 1;
  out.append(event.whole.begin, at);
  if (object && event.args.text().find("\"critical\"") != std::string_view::npos) {
    at = event.args.end;
    out += kArg;
    for (const auto& [key, value] : read::members_of(event.args.text()))
      if (key != "critical") out += fmt::format(",\"{}\":{}", key, value);
    out += '}';
  } else if (object) {
    out += kArg;
    if (*read::skip_space(at) != '}') out += ',';
  } else {
    out += fmt::format(",\"args\":{{{}}}", kArg);
  }
  out.append(at, event.whole.end);
}

void drawn_events(const report::Drawing& drawing, const std::function<void(std::string_view)>& put) {
  const std::vector<std::string> lanes = lane_fields(drawing);
  std::string text;
  const auto give = [&](std::size_t least) {
    if (text.size() < least) return;
    put(text);
    text.clear();
  };
  for (std::size_t i = 0; i < drawing.arrows.size(); ++i) {
    append_arrow(drawing.arrows[i], i + 1, lanes, text);
    give(kPiece);
  }
  std::vector<std::string> heads, values;
  for (const report::Drawing::Counter& counter : drawing.counters) {
    heads.push_back(fmt::format(R"({{"ph":"C","cat":"{}","name":{},"pid":{},"ts":)", read::kDrawnCounter,
                                json_text(counter.name), ident_text(counter.pid)));
    values.push_back(json_text(counter.value_name));
  }
  for (const report::Drawing::Point& point : drawing.points) {
    if (!std::isfinite(point.value)) continue;
    text += fmt::format("\n{}{},\"args\":{{{}:{}}}}},", heads[point.counter], microseconds(point.time),
                        values[point.counter], point.value);
    give(kPiece);
  }
  give(1);
}

std::string overlay_mark(const report::Drawing& drawing) {
  const std::vector<std::string> lanes = lane_fields(drawing);
  return fmt::format("\n{{\"ph\":\"M\",\"name\":\"{}\",{},\"args\":{{\"by\":\"stepscope\"}}}}",
                     read::kOverlayMark, lanes.empty() ? R"("pid":0,"tid":0)" : lanes.front());
}

}  // namespace stepscope::merge
