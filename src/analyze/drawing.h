// Answers that can be drawn into a copy of a recording.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "report/drawing.h"
#include "report/params.h"

namespace stepscope::analyze {

/// A drawing of one rank under construction.
class Sketch {
 public:
  explicit Sketch(const trace::Rank& rank) : rank_(rank) { drawing_.events = rank.reading.events; }

  const trace::Rank& rank() const { return rank_; }
  std::uint32_t lane_of(trace::Row row);
  /// Adds a counter to the row's process and returns its index.
  std::uint32_t counter(std::string name, std::string value_name, trace::Row row);
  report::Drawing& drawing() { return drawing_; }
  const report::Drawing& drawing() const { return drawing_; }
  std::vector<std::string> notes;

 private:
  const trace::Rank& rank_;
  report::Drawing drawing_;
  std::map<trace::TrackId, std::uint32_t> lanes_;
};

using Draw = void (*)(const Derived& derived, const report::Params& params, Sketch& sketch);
struct Drawer {
  std::string_view what;
  Draw draw;
  Draw as_hta;  ///< with the flag "hta-compat"
};
std::span<const Drawer> drawers();

/// One sentence if part of `what` cannot be drawn, or a param concerns something not in `what`; else "".
std::string undrawable(const std::vector<std::string>& what, const report::Params& params = {});
/// Draws `what`; everything if it is empty. Params: those of `critical_path`, and the flags "all-edges" and
/// "only-critical".
Sketch sketch_of(const Derived& derived, const trace::Rank& rank, const std::vector<std::string>& what,
                 const report::Params& params);
/// One sentence if "annotation" or "instance" selects a range that does not exist, else "".
std::string absent_range(const Sketch& sketch, const report::Params& params);

/// Marks the events on the path and draws its launches, dependencies and waits. With "all-edges" and without
/// "only-critical", draws every edge found.
void draw_critical_path(const Derived& derived, const report::Params& params, Sketch& sketch);
/// Draws a counter per stream: launched work that has not begun.
void draw_queue_length(const Derived& derived, const report::Params& params, Sketch& sketch);
/// Draws a counter per kind of copy, GB/s.
void draw_copy_rates(const Derived& derived, const report::Params& params, Sketch& sketch);

namespace hta {
void draw_critical_path(const Derived& derived, const report::Params& params, Sketch& sketch);
void draw_queue_length(const Derived& derived, const report::Params& params, Sketch& sketch);
void draw_copy_rates(const Derived& derived, const report::Params& params, Sketch& sketch);
}  // namespace hta

}  // namespace stepscope::analyze
