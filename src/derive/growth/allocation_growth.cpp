#include "derive/growth/allocation_growth.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/key_hash.h"
#include "derive/work/op_args.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using trace::Kind;
using trace::kNoRow;
using trace::Row;
using trace::StringId;

/// Device allocators round sizes up to this.
constexpr std::int64_t kRounding = 512;
/// Channels are padded to these in the layouts that convolutions on CPUs use.
constexpr std::int64_t kChannelBlocks[] = {8, 16};
constexpr std::int64_t kElementBytes[] = {4, 2, 8, 1, 16};
/// Scalars and flags: too small to matter, and of many shapes.
constexpr std::int64_t kSmall = 64;

/// One operator's name and recorded arguments.
struct Call {
  std::string_view name;
  OpArgs args;
  std::vector<const Shape*> shapes;  ///< of its tensors
  DType type = DType::unknown;       ///< of its first tensor of floats, else of its first tensor
};

struct CallKey {
  StringId name, dims, types, concrete;
  friend bool operator==(const CallKey&, const CallKey&) = default;
};
struct CallKeyHash {
  std::size_t operator()(const CallKey& key) const {
    return hash_of_all(process_hash_seed(), key.name, key.dims, key.types, key.concrete);
  }
};

class Calls {
 public:
  Calls(const trace::Trace& trace, const trace::Rank& rank)
      : trace_(trace),
        rank_(rank),
        dims_(trace, rank, "Input Dims"),
        types_(trace, rank, "Input type"),
        concrete_(trace, rank, "Concrete Inputs") {}

  const Call& at(Row row) {
    const CallKey key{rank_.events.name[row], dims_.id(row), types_.id(row), concrete_.id(row)};
    const auto [found, added] = known_.try_emplace(key, calls_.size());
    if (added) {
      Call& call = calls_.emplace_back();
      call.name = trace_.text(key.name);
      call.args = parse_op_args(trace_.text(key.dims), trace_.text(key.types), {}, trace_.text(key.concrete));
      fill(call);
    }
    return calls_[found->second];
  }

 private:
  static void fill(Call& call) {
    for (const Arg& arg : call.args.args) {
      if (!arg.is_tensor() && !arg.is_list()) continue;
      if (arg.is_tensor()) call.shapes.push_back(&arg.shape);
      for (const Shape& shape : arg.list) call.shapes.push_back(&shape);
      if (call.type == DType::unknown || (is_floating(arg.dtype) && !is_floating(call.type)))
        call.type = arg.dtype;
    }
  }

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader dims_, types_, concrete_;
  std::unordered_map<CallKey, std::size_t, CallKeyHash> known_;
  std::deque<Call> calls_;
};

/// What an allocation of `bytes` by an operator may be.
class Judge {
 public:
  Judge(const TensorDegrees& degrees, bool on_device) : degrees_(degrees), on_device_(on_device) {}

  /// nullopt if the call does not tell, as it has no tensors: the operator around it may.
  std::optional<AllocationGrowth> judged(const Call& call, std::int64_t bytes) {
    out_ = {};
    out_.type = call.type;
    bytes_ = bytes;
    if (const std::optional<Dims> asked = asked_for(call); asked && fits(*asked, call.type)) {
      // A new tensor's type is not recorded. Of 4 bytes are floats, and seldom integers.
      if (out_.type == DType::unknown && fits(*asked, DType::float32, true)) out_.type = DType::float32;
      return is(*asked);
    }
    if (call.shapes.empty()) return std::nullopt;
    if (const std::optional<Dims> product = product_of(call); product && fits(*product, call.type))
      return is(*product);
    if (one_of(call, true) || one_of(call, false) || padded(call) || broadcast(call) || part(call) ||
        is_scratch_of_threads(call))
      return out_;
    unclear(call);
    return out_;
  }

 private:
  AllocationGrowth is(const Dims& dims) {
    out_.degree = degrees_.of(dims);
    out_.is_parameter = degrees_.is_parameter(dims);
    return out_;
  }

  bool fits(std::int64_t elements, std::int64_t element_bytes) const {
    const Amount size = Amount(elements) * element_bytes;
    if (!size.known() || size.value() <= 0) return false;
    if (!on_device_) return size.value() == bytes_;
    return (size + kRounding - 1).known() && (size.value() + kRounding - 1) / kRounding * kRounding == bytes_;
  }
  bool fits(const Dims& dims, DType type, bool only_own_type = false) const {
    const Amount elements = numel({dims, {}});
    if (!elements.known()) return false;
    const std::int64_t own = bytes_per_element(type);
    if (own > 0 && fits(elements.value(), own)) return true;
    return !only_own_type &&
           std::ranges::any_of(kElementBytes, [&](std::int64_t of) { return fits(elements.value(), of); });
  }

  static std::optional<Dims> asked_for(const Call& call) {
    const bool empty = call.name.starts_with("aten::empty");
    if (!empty && call.name != "aten::resize_") return std::nullopt;
    return integers_of(call.args.at(empty ? 0 : 1));
  }

  static std::optional<Dims> product_of(const Call& call) {
    const bool adds = call.name == "aten::addmm" || call.name == "aten::baddbmm";
    if (!adds && call.name != "aten::mm" && call.name != "aten::bmm") return std::nullopt;
    const Arg &left = call.args.at(adds ? 1 : 0), &right = call.args.at(adds ? 2 : 1);
    if (!left.is_tensor() || !right.is_tensor() || left.shape.dims.empty() || right.shape.dims.empty())
      return std::nullopt;
    Dims dims = left.shape.dims;
    dims.back() = right.shape.dims.back();
    return dims;
  }

  void widen(const DegreeRange& by, bool first) {
    DegreeRange& all = out_.degree;
    if (first) {
      all = by;
      return;
    }
    all.low = {std::min(all.low.batch, by.low.batch), std::min(all.low.sequence, by.low.sequence)};
    all.high = {std::max(all.high.batch, by.high.batch), std::max(all.high.sequence, by.high.sequence)};
  }

  /// The shape of an input with as many bytes.
  bool one_of(const Call& call, bool own_type) {
    bool any = false;
    for (const Shape* shape : call.shapes) {
      if (!fits(shape->dims, call.type, own_type)) continue;
      widen(degrees_.of(shape->dims), !any);
      out_.is_parameter |= degrees_.is_parameter(shape->dims);
      any = true;
    }
    return any;
  }

  bool padded(const Call& call) {
    bool any = false;
    for (const Shape* shape : call.shapes)
      for (const std::int64_t block : kChannelBlocks) {
        if (shape->dims.size() < 3 || shape->dims[1] % block == 0) continue;
        Dims dims = shape->dims;
        dims[1] = (dims[1] / block + 1) * block;
        if (!fits(dims, call.type, true)) continue;
        widen(degrees_.of(shape->dims), !any);
        any = true;
      }
    return any;
  }

  bool broadcast(const Call& call) {
    Dims all;
    for (const Shape* shape : call.shapes) {
      if (shape->dims.size() > all.size()) all.insert(all.begin(), shape->dims.size() - all.size(), 1);
      for (std::size_t i = 0; i < shape->dims.size(); ++i) {
        std::int64_t& dim = all[all.size() - 1 - i];
        const std::int64_t given = shape->dims[shape->dims.size() - 1 - i];
        if (dim != 1 && given != 1 && dim != given) return false;
        dim = std::max(dim, given);
      }
    }
    if (!fits(all, call.type)) return false;
    is(all);
    return true;
  }

  /// A concatenation, rows looked up, or some of the dimensions of one input.
  bool part(const Call& call) {
    if (call.name == "aten::cat") {
      DegreeRange most;
      for (const Shape* shape : call.shapes) most = larger(most, degrees_.of(shape->dims));
      out_.degree = most;
      return true;
    }
    if (call.name == "aten::index_select" || call.name == "aten::embedding") {
      const Arg &table = call.args.at(0), &rows = call.args.at(call.name == "aten::embedding" ? 1 : 2);
      if (table.is_tensor() && rows.is_tensor() && !table.shape.dims.empty()) {
        Dims dims = rows.shape.dims;
        dims.push_back(table.shape.dims.back());
        if (fits(dims, call.type)) {
          is(dims);
          return true;
        }
      }
    }
    bool any = false;
    for (const Shape* shape : call.shapes) {
      const Dims& dims = shape->dims;
      if (dims.empty() || dims.size() > 8) continue;
      for (unsigned chosen = 0; chosen < 1U << dims.size(); ++chosen) {
        Dims some = dims;  // a dimension that is summed over has size 1, as its place tells of the others
        for (std::size_t i = 0; i < dims.size(); ++i)
          if ((chosen >> i & 1U) == 0) some[i] = 1;
        if (!fits(some, call.type)) continue;
        widen(degrees_.is_parameter(dims) ? DegreeRange{} : degrees_.of(some), !any);
        any = true;
      }
    }
    return any;
  }

  static DegreeRange larger(const DegreeRange& a, const DegreeRange& b) {
    return {{std::max(a.low.batch, b.low.batch), std::max(a.low.sequence, b.low.sequence)},
            {std::max(a.high.batch, b.high.batch), std::max(a.high.sequence, b.high.sequence)}};
  }

  /// What convolutions on CPUs need per thread, and copies of weights in other layouts: neither grows.
  bool is_scratch_of_threads(const Call& call) const {
    return !on_device_ &&
           (call.name.starts_with("aten::convolution") || call.name.starts_with("aten::mkldnn_conv"));
  }

  void unclear(const Call& call) {
    DegreeRange most;
    for (const Shape* shape : call.shapes) most = larger(most, degrees_.of(shape->dims));
    out_.degree = {{}, bytes_ > kSmall ? most.high : Degree{}};
    out_.is_scratch = true;
  }

  const TensorDegrees& degrees_;
  const bool on_device_;
  std::int64_t bytes_ = 0;
  AllocationGrowth out_;
};

}  // namespace

std::vector<AllocationGrowth> allocation_growth(const trace::Trace& trace, const trace::Rank& rank,
                                                const MemoryRecords& records, const TensorDegrees& degrees) {
  Calls calls(trace, rank);
  Judge judge(degrees, !records.device.host());
  const bool has_shapes = degrees.has_shapes();
  trace::AskedOnce is_step(trace.strings,
                           [](std::string_view name) { return name.starts_with("Optimizer.step#"); });
  std::map<std::pair<const Call*, std::int64_t>, std::optional<AllocationGrowth>>
      judged;  // by call and bytes
  std::vector<AllocationGrowth> out(records.size());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records.bytes[i] <= 0) continue;
    bool in_operator = false, in_optimizer = false;
    std::optional<AllocationGrowth> found;
    for (Row row = records.range[i]; row != kNoRow; row = rank.events.parent[row]) {
      in_optimizer |= is_step(rank.events.name[row]);
      if (rank.events.kind[row] != Kind::op || found) continue;
      in_operator = true;
      const Call& call = calls.at(row);
      const auto [known, added] = judged.try_emplace({&call, records.bytes[i]});
      if (added) known->second = judge.judged(call, records.bytes[i]);
      found = known->second;
    }
    if (found) out[i] = *found;
    out[i].in_optimizer = in_optimizer;
    if (found) continue;
    if (!in_operator || has_shapes) continue;
    out[i].degree.high = {1, 1};
    out[i].is_scratch = true;
  }
  return out;
}

void settle_by_use(std::vector<AllocationGrowth>& growth, const std::vector<MemoryUse>& uses) {
  for (std::size_t i = 0; i < growth.size(); ++i) {
    AllocationGrowth& of = growth[i];
    if (of.is_scratch) continue;
    const MemoryUse use = uses[i];
    if (of.in_optimizer || use == MemoryUse::gradient || use == MemoryUse::optimizer_state ||
        use == MemoryUse::parameter)
      of.degree.high.batch = of.degree.low.batch;
    else if (use == MemoryUse::activation || use == MemoryUse::input || use == MemoryUse::autograd_detail)
      of.degree.low.batch = of.degree.high.batch;
  }
}

}  // namespace stepscope::derive
