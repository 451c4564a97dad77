#include "derive/steps/gradient_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "derive/work/op_args.h"

namespace stepscope::derive {
namespace {

using trace::Kind;
using trace::Row;
using Dims = std::vector<std::int64_t>;

constexpr std::size_t kCutOff = 30;  ///< recorders write no more tensors of a list

class GradientShapes {
 public:
  GradientShapes(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval window)
      : trace_(trace),
        rank_(rank),
        window_(window),
        dims_(trace, rank, "Input Dims"),
        types_(trace, rank, "Input type"),
        concrete_(trace, rank, "Concrete Inputs"),
        gradient_(trace.strings.find("torch::autograd::AccumulateGrad")),
        embedding_(trace.strings.find("aten::embedding_dense_backward")) {}

  trace::Training run() {
    trace::Training of;
    if (gradient_ == trace::kNoString) return of;
    for (const Row row : rank_.host_rows()) look_at(row);
    if (by_step_.empty() || optimizer_steps_ == 0) return of;
    choose_step();
    std::int64_t passes = gradients_.begin()->second.calls;
    for (const auto& [dims, gradient] : gradients_) passes = std::min(passes, gradient.calls);
    Amount elements = 0;
    for (const auto& [dims, gradient] : gradients_) elements += elements_of(gradient, passes);
    if (!elements.known()) return of;
    of.seen = true;
    of.gradients = elements.value();
    add_embeddings(of, passes);
    add_unread(of, passes);
    return of;
  }

 private:
  struct Gradient {
    std::int64_t elements = 0, bytes = 0, calls = 0;
  };

  static std::int64_t per(std::int64_t calls, std::int64_t passes) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(calls) / static_cast<double>(passes)));
  }

  /// Of all parameters of that shape.
  static Amount elements_of(const Gradient& gradient, std::int64_t passes) {
    return Amount(gradient.elements) * Amount(per(gradient.calls, passes));
  }

  /// The step with the median number of gradients: the first and the last may be cut off.
  void choose_step() {
    std::vector<std::pair<std::int64_t, std::int32_t>> counts;
    for (const auto& [step, gradients] : by_step_) {
      if (step < 0 && by_step_.size() > 1) continue;
      std::int64_t calls = 0;
      for (const auto& [dims, gradient] : gradients) calls += gradient.calls;
      counts.emplace_back(calls, step);
    }
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    gradients_ = by_step_[middle->second];
  }

  OpArgs args_of(Row row) const {
    return parse_op_args(dims_.text(row), types_.text(row), {}, concrete_.text(row));
  }

  void look_at(Row row) {
    const trace::EventTable& e = rank_.events;
    if (!window_.contains(e.start[row])) return;
    if (is_host_range(e.kind[row]) && trace_.text(e.name[row]).starts_with("Optimizer.step#")) {
      ++optimizer_steps_;
      look_in_optimizer(row);
    } else if (e.kind[row] == Kind::op && e.name[row] == gradient_) {
      const OpArgs args = args_of(row);
      const Arg& tensor = args.at(0);
      const Amount elements = numel(tensor.shape);
      if (!tensor.is_tensor() || !elements.known()) return;
      Gradient& sum = by_step_[e.step[row]][tensor.shape.dims];
      const Amount bytes = bytes_of(elements, tensor.dtype);
      sum = {elements.value(), bytes.known() ? bytes.value() : 0, sum.calls + 1};
    } else if (e.kind[row] == Kind::op && e.name[row] == embedding_) {
      const OpArgs args = args_of(row);
      const Amount indices = numel(args.at(1).shape);
      const auto rows = integer_of(args.at(2));
      if (!args.at(0).is_tensor() || !args.at(1).is_tensor() || !indices.known() || !rows ||
          args.at(0).shape.dims.empty())
        return;
      Amount& sum = looked_up_.try_emplace({*rows, args.at(0).shape.dims.back()}, 0).first->second;
      sum += indices;
    }
  }

  /// The shapes that the operators in the range get.
  void look_in_optimizer(Row range) {
    const trace::EventTable& e = rank_.events;
    const Row end = rank_.tracks[e.track[range]].end;
    for (Row row = range + 1; row < end && e.start[row] < e.end[range]; ++row) {
      if (e.kind[row] != Kind::op || !seen_calls_.emplace(e.name[row], dims_.id(row)).second) continue;
      const std::string_view name = trace_.text(e.name[row]);
      const bool of_lists = name.starts_with("aten::_foreach") || name.starts_with("aten::_fused");
      bool has_list = false;
      const OpArgs args = args_of(row);
      for (const Arg& arg : args.args) {
        if (arg.is_tensor()) read_.insert(arg.shape.dims);
        has_list |= arg.is_list();
        for (const Shape& shape : arg.list) read_.insert(shape.dims);
        is_cut_ |= arg.list.size() >= kCutOff;
      }
      is_cut_ |= of_lists && !has_list;
    }
  }

  void add_embeddings(trace::Training& of, std::int64_t passes) const {
    for (const auto& [shape, indices] : looked_up_) {
      const auto gradient = gradients_.find(Dims{shape.first, shape.second});
      if (gradient == gradients_.end() || !indices.known()) continue;
      const std::int64_t tables = per(gradient->second.calls, passes);
      const std::int64_t touched = std::min(shape.first, indices.value() / optimizer_steps_ / tables);
      for (std::int64_t i = 0; i < std::min<std::int64_t>(tables, kMostTables); ++i)
        of.embeddings.push_back({fmt::format("an embedding of [{}, {}]", shape.first, shape.second),
                                 shape.first, touched, gradient->second.elements, gradient->second.bytes});
    }
  }

  void add_unread(trace::Training& of, std::int64_t passes) const {
    const bool some_are_read = std::any_of(gradients_.begin(), gradients_.end(),
                                           [&](const auto& one) { return read_.contains(one.first); });
    if (is_cut_ || !some_are_read) return;
    std::vector<std::pair<std::int64_t, const Dims*>> unread;  // elements, shape
    for (const auto& [dims, gradient] : gradients_) {
      if (read_.contains(dims)) continue;
      const std::int64_t elements = elements_of(gradient, passes).value();
      of.unread_parameters += per(gradient.calls, passes);
      of.unread_elements += elements;
      unread.emplace_back(elements, &dims);
    }
    std::sort(unread.rbegin(), unread.rend());
    for (std::size_t i = 0; i < std::min<std::size_t>(3, unread.size()); ++i)
      of.unread_names += fmt::format("{}[{}]", i == 0 ? "" : ", ", fmt::join(*unread[i].second, ", "));
  }

  static constexpr std::int64_t kMostTables = 1000;

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  const timeline::Interval window_;
  const trace::ArgReader dims_, types_, concrete_;
  const trace::StringId gradient_, embedding_;
  std::int64_t optimizer_steps_ = 0;
  std::map<std::int32_t, std::map<Dims, Gradient>> by_step_;
  std::map<Dims, Gradient> gradients_;                                 ///< of one step
  std::map<std::pair<std::int64_t, std::int64_t>, Amount> looked_up_;  ///< indices by rows and length
  std::set<Dims> read_;                                                ///< by the optimizers
  std::set<std::pair<trace::StringId, trace::StringId>> seen_calls_;
  bool is_cut_ = false;
};

}  // namespace

trace::Training gradients_by_shape(const trace::Trace& trace, const trace::Rank& rank,
                                   timeline::Interval window) {
  return GradientShapes(trace, rank, window).run();
}

}  // namespace stepscope::derive
