#include "analyze/kernels/conv_setup.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "derive/kernel_class.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;
using trace::Trace;

bool is_convolution(std::string_view op) { return op.find("conv") != op.npos || op.find("Conv") != op.npos; }
bool is_forward_convolution(std::string_view op) {
  return op == "aten::conv1d" || op == "aten::conv2d" || op == "aten::conv3d";
}
bool is_addition(std::string_view op) { return op == "aten::add_" || op == "aten::add"; }

struct Found {
  std::int64_t kernels = 0, time = 0, longest = -1;
  StringId kernel = trace::kEmptyString;

  void add(const EventTable& e, Row row) {
    ++kernels;
    report::add_to(time, e.duration(row));
    if (e.duration(row) <= longest) return;
    longest = e.duration(row);
    kernel = e.name[row];
  }
};

class Finder {
 public:
  Finder(const Trace& trace, const Rank& rank)
      : rank_(rank),
        e_(rank.events),
        dims_(trace, rank, "Input Dims"),
        old_dims_(trace, rank, "Input dims"),
        fallback_(trace.strings, derive::is_fallback_convolution),
        convolution_(trace.strings, is_convolution),
        addition_(trace.strings, is_addition) {
    find_biases(trace);
  }

  void add(Row kernel) {
    const Row op = e_.op[kernel];
    if (op == kNoRow) return;
    if (fallback_(e_.name[kernel]) && convolution_(e_.name[op])) {
      fallbacks.add(e_, kernel);
      seen_[sizes(op)].insert(e_.step[kernel]);
    } else if (bias_[op] && addition_(e_.name[op])) {
      biases.add(e_, kernel);
    }
  }

  /// "fixed" where each size comes in more than one step, "varying" where one does not; "" where sizes are
  /// not recorded or there is one step only.
  std::string_view sizes_over_steps() const {
    if (rank_.steps.size() < 2 || seen_.empty()) return "";
    bool fixed = true;
    for (const auto& [size, steps] : seen_) {
      if (size == trace::kEmptyString) return "";
      fixed &= steps.size() > 1;
    }
    return fixed ? "fixed" : "varying";
  }

  Found fallbacks, biases;

 private:
  StringId sizes(Row op) const {
    return dims_.id(op) != trace::kEmptyString ? dims_.id(op) : old_dims_.id(op);
  }

  /// Marks the rows below forward convolutions whose next sibling is a batch norm.
  void find_biases(const Trace& trace) {
    trace::AskedOnce forward(trace.strings, is_forward_convolution);
    trace::AskedOnce norm(trace.strings, [](std::string_view op) { return op == "aten::batch_norm"; });
    bias_.assign(e_.size(), false);
    Row convolution = kNoRow;
    for (const Row row : rank_.host_rows()) {
      if (e_.kind[row] != Kind::op) continue;
      if (forward(e_.name[row])) {
        convolution = row;
      } else if (convolution != kNoRow && e_.parent[row] == e_.parent[convolution]) {
        if (e_.track[row] == e_.track[convolution] && norm(e_.name[row]))
          for (Row inside = convolution; inside < row; ++inside) bias_[inside] = true;
        convolution = kNoRow;
      }
    }
  }

  const Rank& rank_;
  const EventTable& e_;
  const trace::ArgReader dims_, old_dims_;
  trace::AskedOnce<bool (*)(std::string_view)> fallback_, convolution_, addition_;
  std::vector<bool> bias_;
  std::map<StringId, std::set<std::int32_t>> seen_;  // steps by recorded sizes
};

}  // namespace

ConvSetup::ConvSetup(const Trace& trace)
    : table_{"Convolution setup", report::Shape::table, {}},
      rank_(table_, trace),
      what_(table_.texts("what")),
      kernels_(table_.ints("kernels", Unit::count)),
      time_(table_.ints("time", Unit::ns)),
      share_(table_.reals("share", Unit::share, Role::share)),
      sizes_(table_.texts("sizes", Role::value)),
      kernel_(table_.texts("kernel", Role::detail)) {}

void ConvSetup::add(const Trace& trace, const Rank& rank, const StepChoice& choice) {
  const EventTable& e = rank.events;
  Finder finder(trace, rank);
  std::int64_t compute = 0;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || !choice.includes(rank, row)) continue;
    report::add_to(compute, e.duration(row));
    finder.add(row);
  }
  const auto put = [&](const char* what, const Found& found, std::string_view sizes) {
    if (found.kernels == 0) return;
    rank_.add(rank);
    what_.emplace_back(what);
    kernels_.push_back(found.kernels);
    time_.push_back(found.time);
    share_.push_back(report::ratio(found.time, compute));
    sizes_.emplace_back(sizes);
    kernel_.emplace_back(trace.text(found.kernel));
  };
  put("fallback kernels", finder.fallbacks, finder.sizes_over_steps());
  put("bias before batch norm", finder.biases, "");
}

}  // namespace stepscope::analyze
