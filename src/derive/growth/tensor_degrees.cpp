#include "derive/growth/tensor_degrees.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "derive/memory_records.h"
#include "derive/work/op_args.h"

namespace stepscope::derive {
namespace {

using trace::Kind;
using trace::Row;

/// Shapes with more dimensions than this have none combined.
constexpr std::size_t kMostDims = 8;

/// Arguments of operators that are parameters in most programs.
struct ParameterAt {
  std::string_view op;
  std::array<int, 4> arguments;  ///< -1: none
};
constexpr std::string_view kGradient = "torch::autograd::AccumulateGrad";
constexpr ParameterAt kParameterAt[] = {
    {kGradient, {0, -1, -1, -1}},          {"aten::linear", {1, 2, -1, -1}},
    {"aten::addmm", {0, -1, -1, -1}},      {"aten::conv1d", {1, 2, -1, -1}},
    {"aten::conv2d", {1, 2, -1, -1}},      {"aten::conv3d", {1, 2, -1, -1}},
    {"aten::convolution", {1, 2, -1, -1}}, {"aten::embedding", {0, -1, -1, -1}},
    {"aten::layer_norm", {2, 3, -1, -1}},  {"aten::rms_norm", {2, -1, -1, -1}},
    {"aten::group_norm", {2, 3, -1, -1}},  {"aten::batch_norm", {1, 2, 3, 4}},
};

/// The shapes in the recording's operators.
struct Shapes {
  std::set<Dims> parameters;
  std::map<Dims, std::int64_t> others;  ///< number of uses
  std::set<Dims> data;                  ///< what linear layers take and give
  std::map<Dims, DType> weights;        ///< that operators take
  std::set<Dims> gradients;             ///< that parameters get

  Shapes(const trace::Trace& trace, const trace::Rank& rank) {
    const trace::ArgReader dims(trace, rank, "Input Dims"), types(trace, rank, "Input type");
    struct Seen {
      Row row;
      std::int64_t calls;
    };
    std::map<std::tuple<trace::StringId, trace::StringId, bool>, Seen>
        seen;  // name, dims, whether in a product
    const trace::StringId linear = trace.strings.find("aten::linear"),
                          matmul = trace.strings.find("aten::matmul");
    for (const Row row : rank.host_rows()) {
      if (rank.events.kind[row] != Kind::op) continue;
      const Row up = rank.events.parent[row];
      const bool in_product =
          up != trace::kNoRow && (rank.events.name[up] == linear || rank.events.name[up] == matmul);
      ++seen.try_emplace({rank.events.name[row], dims.id(row), in_product}, Seen{row, 0}).first->second.calls;
    }
    for (const auto& [key, call] : seen) {
      const OpArgs args = parse_op_args(dims.text(call.row), types.text(call.row), {}, {});
      for (const Arg& arg : args.args) {
        if (arg.is_tensor()) others[arg.shape.dims] += call.calls;
        if (arg.is_list())
          for (const Shape& shape : arg.list) others[shape.dims] += call.calls;
      }
      const std::string_view op = trace.text(std::get<0>(key));
      add_parameters(op, args);
      if (op == "aten::addmm") add_data(args, 1);
      if (op == "aten::mm" && std::get<2>(key)) add_data(args, 0);
    }
    for (const Dims& of : parameters) others.erase(of);
    others.erase(Dims());
  }

 private:
  /// Of a product of data with a weight: the data is argument `left`.
  void add_data(const OpArgs& args, int left) {
    const Arg &taken = args.at(left), &weight = args.at(left + 1);
    if (!taken.is_tensor() || !weight.is_tensor() || taken.shape.dims.size() != 2 ||
        weight.shape.dims.size() != 2)
      return;
    data.insert(taken.shape.dims);
    data.insert({taken.shape.dims[0], weight.shape.dims[1]});
  }

  void add_parameters(std::string_view op, const OpArgs& args) {
    const auto* const found = std::ranges::find(kParameterAt, op, &ParameterAt::op);
    if (found == std::end(kParameterAt)) return;
    for (const int i : found->arguments) {
      if (i < 0 || !args.at(i).is_tensor() || args.at(i).shape.dims.empty()) continue;
      const Dims& of = args.at(i).shape.dims;
      parameters.insert(of);
      if (of.size() == 2) parameters.insert({of[1], of[0]});
      if (op == kGradient)
        gradients.insert(of);
      else if (of.size() > 1)
        weights.emplace(of, args.at(i).dtype);
    }
  }
};

/// Least share of the uses of all shapes that have a batch size as their own first dimension.
constexpr double kBatchShare = 0.05;
/// Share of the shapes with a first dimension that also have the batch size, if that dimension stacks
/// tensors.
constexpr double kStacked = 0.8;

}  // namespace

TensorDegrees::TensorDegrees(const trace::Trace& trace, const trace::Rank& rank, RecordedSizes sizes) {
  Shapes shapes(trace, rank);
  parameters_ = std::move(shapes.parameters);
  data_ = std::move(shapes.data);
  for (const auto& [dims, type] : shapes.weights)
    if (const Amount bytes = bytes_of(numel({dims, {}}), type);
        bytes.known() && !shapes.gradients.contains(dims))
      weights_without_gradient_ =
          std::min(kMaxBytes, weights_without_gradient_ + std::min(kMaxBytes, bytes.value()));
  for (const auto& [dims, uses] : shapes.others) shapes_.insert(dims);
  has_shapes_ = !shapes_.empty();
  for (const Dims& dims : parameters_) of_parameters_.insert(dims.begin(), dims.end());
  batch_.size = sizes.batch;
  sequence_.size = sizes.sequence;
  for (Axis* axis : {&batch_, &sequence_}) {
    axis->is_of_parameters = of_parameters_.contains(axis->size);
    if (axis->size <= 1) continue;
    find_products(*axis);
    find_splits(*axis);
  }
  if (sequence_.size > 1) find_squares();
  shapes_.clear();
}

std::size_t TensorDegrees::searched(const Axis& axis, const Dims& dims) const {
  return &axis == &batch_ ? std::min<std::size_t>(2, dims.size()) : dims.size();
}

void TensorDegrees::find_products(Axis& axis) const {
  for (const Dims& dims : shapes_) {
    const auto end = dims.begin() + static_cast<std::ptrdiff_t>(searched(axis, dims));
    const auto at = std::find(dims.begin(), end, axis.size);
    if (at == end || dims.size() > kMostDims) continue;
    Dims rest = dims;
    rest.erase(rest.begin() + (at - dims.begin()));
    for (unsigned chosen = 1; chosen < 1U << rest.size(); ++chosen) {
      Amount product = axis.size;
      for (std::size_t i = 0; i < rest.size(); ++i)
        if ((chosen >> i & 1U) != 0) product *= rest[i];
      if (product.known() && product.value() > axis.size && !of_parameters_.contains(product.value()))
        axis.products.insert(product.value());
    }
    Amount rows = 1;
    for (auto dim = dims.begin(); dim != dims.end(); ++dim) {
      rows *= *dim;
      if (dim >= at && rows.known() && of_parameters_.contains(rows.value()))
        axis.colliding.insert(rows.value());
    }
  }
}

/// A tensor as large as one that has the size, and without it, has it in a dimension: [65, 3, 80] seen as
/// [65, 15, 16].
void TensorDegrees::find_splits(Axis& axis) const {
  struct OfOneSize {
    bool has_axis = false;
    std::vector<const Dims*> others;
  };
  std::map<std::int64_t, OfOneSize> by_elements;
  for (const Dims& dims : shapes_) {
    const Amount elements = numel({dims, {}});
    if (!elements.known() || elements.value() == 0 || dims.size() > kMostDims) continue;
    OfOneSize& of = by_elements[elements.value()];
    const auto end = dims.begin() + static_cast<std::ptrdiff_t>(searched(axis, dims));
    if (std::find(dims.begin(), end, axis.size) != end)
      of.has_axis = true;
    else if (std::ranges::find(dims, axis.size) == dims.end())
      of.others.push_back(&dims);
  }
  for (const auto& [elements, of] : by_elements)
    if (of.has_axis)
      for (const Dims* dims : of.others)
        for (const std::int64_t dim : *dims)
          if (dim % axis.size == 0 && !of_parameters_.contains(dim)) axis.products.insert(dim);
}

void TensorDegrees::find_squares() {
  for (const Dims& dims : shapes_) {
    if (dims.size() < 2) continue;
    const std::int64_t a = dims[dims.size() - 2], b = dims.back();
    if ((a == sequence_.size) != (b == sequence_.size))
      beside_sequence_.emplace(dims.begin(), dims.end() - 2);
  }
}

DegreeRange TensorDegrees::of(std::span<const std::int64_t> given) const {
  const Dims dims(given.begin(), given.end());
  DegreeRange out;
  if (!parameters_.contains(dims)) {
    if (batch_.size > 1) out.low.batch = out.high.batch = batch_degree(dims);
    if (sequence_.size > 1) add_sequence(dims, out);
  }
  if (dims.size() == 2 && data_.contains(dims)) {
    const auto may_be = [&](const Axis& axis) { return axis.size > 1 && axis.colliding.contains(dims[0]); };
    if (may_be(batch_)) out.high.batch = std::max<std::int8_t>(out.high.batch, 1);
    if (may_be(sequence_)) out.high.sequence = std::max<std::int8_t>(out.high.sequence, 1);
  }
  return out;
}

std::int8_t TensorDegrees::batch_degree(const Dims& dims) const {
  int count = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    count +=
        batch_.products.contains(dims[i]) || (dims[i] == batch_.size && (i < 2 || !batch_.is_of_parameters));
  const bool is_square = dims.size() == 2 && count == 2;  // each sample against each other
  return static_cast<std::int8_t>(is_square ? 2 : std::min(count, 1));
}

void TensorDegrees::add_sequence(const Dims& dims, DegreeRange& to) const {
  int alone = 0, sure = 0, all = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_product = sequence_.products.contains(dims[i]), is_size = dims[i] == sequence_.size;
    const bool is_before_last = dims.size() > 2 && i + 1 < dims.size();
    alone += is_size;
    sure += is_product || (is_size && (is_before_last || !sequence_.is_of_parameters));
    all += is_product || is_size;
  }
  const bool is_twice = alone > 1 && beside_sequence_.contains(Dims(dims.begin(), dims.end() - 2));
  to.high.sequence = static_cast<std::int8_t>(std::min(all, 2));
  to.low.sequence = static_cast<std::int8_t>(is_twice ? 2 : std::min({all, sure, alone > 1 ? 1 : 2}));
}

bool TensorDegrees::is_parameter(std::span<const std::int64_t> dims) const {
  return parameters_.contains(Dims(dims.begin(), dims.end()));
}

std::int64_t likely_batch(const trace::Trace& trace, const trace::Rank& rank) {
  const Shapes shapes(trace, rank);
  std::map<std::int64_t, std::int64_t> firsts;  // uses
  std::int64_t all = 0;
  for (const auto& [dims, uses] : shapes.others)
    if (dims.size() >= 2 && dims[0] > 1) firsts[dims[0]] += uses, all += uses;
  std::int64_t best = 0, most = 0;
  for (const auto& [candidate, own] : firsts) {
    if (static_cast<double>(own) < kBatchShare * static_cast<double>(all)) continue;
    std::int64_t count = 0;
    for (const auto& [first, uses] : firsts)
      if (first % candidate == 0) count += uses;
    if (count >= most) best = candidate, most = count;
  }
  // Queries, keys and values in one tensor: "[3, 12, 8, 64, 16]" is of a batch of 12.
  for (const auto& [candidate, own] : firsts) {
    if (candidate == best || candidate % best != 0 ||
        static_cast<double>(own) < kBatchShare * static_cast<double>(all))
      continue;
    std::int64_t inside = 0;
    for (const auto& [dims, uses] : shapes.others)
      if (dims.size() >= 2 && dims[0] == best &&
          std::find(dims.begin() + 1, dims.end(), candidate) != dims.end())
        inside += uses;
    if (static_cast<double>(inside) > kStacked * static_cast<double>(firsts[best])) return candidate;
  }
  return best;
}

}  // namespace stepscope::derive
