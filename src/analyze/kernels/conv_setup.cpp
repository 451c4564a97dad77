#include "analyze/kernels/conv_setup.h"

#include <algorithm>
#include <map>
#include <set>

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

  ConvSizes sizes_over_steps() const {
    if (rank_.steps.size() < 2 || seen_.empty()) return ConvSizes::unknown;
    bool fixed = true;
    for (const auto& [size, steps] : seen_) {
      if (size == trace::kEmptyString) return ConvSizes::unknown;
      fixed &= steps.size() > 1;
    }
    return fixed ? ConvSizes::fixed : ConvSizes::varying;
  }

  Found fallbacks, biases;

 private:
  StringId sizes(Row op) const {
    return dims_.id(op) != trace::kEmptyString ? dims_.id(op) : old_dims_.id(op);
  }

  /// Marks the rows at and below forward convolutions whose next sibling op is a batch norm.
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

std::string_view name_of(ConvFlaw flaw) {
  return flaw == ConvFlaw::fallback ? "fallback kernels" : "bias before batch norm";
}

std::string_view name_of(ConvSizes sizes) {
  constexpr std::string_view kNames[] = {"", "fixed", "varying"};
  return kNames[static_cast<std::size_t>(sizes)];
}

void add_conv_setup(std::vector<ConvSetup>& setups, const Trace& trace, const Rank& rank,
                    const StepChoice& choice) {
  const EventTable& e = rank.events;
  Finder finder(trace, rank);
  std::int64_t compute = 0;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || !choice.includes(rank, row)) continue;
    report::add_to(compute, e.duration(row));
    finder.add(row);
  }
  const auto add = [&](ConvFlaw what, const Found& found, ConvSizes sizes) {
    if (found.kernels > 0)
      setups.push_back({rank.rank, what, found.kernels, found.time, report::ratio(found.time, compute), sizes,
                        std::string(trace.text(found.kernel))});
  };
  add(ConvFlaw::fallback, finder.fallbacks, finder.sizes_over_steps());
  add(ConvFlaw::needless_bias, finder.biases, ConvSizes::unknown);
}

const report::Sheet<ConvSetup> kConvSetupSheet{"Convolution setup",
                                               report::Shape::table,
                                               {report::rank_field<ConvSetup>(&ConvSetup::rank),
                                                {"what", report::named<&ConvSetup::what>},
                                                {"kernels", &ConvSetup::kernels, Unit::count},
                                                {"time", &ConvSetup::time, Unit::ns},
                                                {"share", &ConvSetup::share, Unit::share, Role::share},
                                                {"sizes", report::named<&ConvSetup::sizes>, Role::value},
                                                {"kernel", &ConvSetup::kernel, Role::detail}}};

}  // namespace stepscope::analyze
