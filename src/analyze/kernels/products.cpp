#include "analyze/kernels/products.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyze/list.h"
#include "base/key_hash.h"
#include "derive/kernel_kind.h"
#include "derive/roof/matrix_cores.h"
#include "derive/roof/parted_attention.h"
#include "derive/roof/product_tiles.h"
#include "derive/roof/roof.h"
#include "derive/work/work.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::OpArgs;
using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Unit;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// Index of the left operand among the arguments; -1 for other operators.
int left_operand(std::string_view op) {
  if (op == "aten::mm" || op == "aten::bmm") return 0;
  return op == "aten::addmm" || op == "aten::baddbmm" || op == "aten::_addmm_activation" ? 1 : -1;
}

/// Products of one operator and one set of recorded arguments.
struct ProductSum {
  StringId op = 0;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  derive::DType dtype = derive::DType::unknown;
  derive::Work work;
  std::int64_t calls = 0, time = 0, on_units = 0, off_units = 0, small = 0, longest = 0;
  StringId longest_kernel = trace::kEmptyString;
  std::int64_t device = -1;
  Row longest_row = kNoRow;
};

/// Products of one rank by operator and recorded arguments.
class ProductGatherer {
 public:
  ProductGatherer(const trace::Trace& trace, const Rank& rank)
      : trace_(trace),
        rank_(rank),
        e_(rank.events),
        dims_(trace, rank, "Input Dims"),
        old_dims_(trace, rank, "Input dims"),
        types_(trace, rank, "Input type"),
        blocks_per_sm_(trace, rank, "blocks per SM"),
        is_product_(trace.strings, [](std::string_view op) { return left_operand(op) >= 0; }),
        units_(trace.strings,
               {rank.devices.empty() ? derive::KernelSetting{} : derive::setting_of(rank.devices.front())}) {}

  /// Adds a compute kernel; only kernels below a product count.
  void add(Row kernel) {
    const Row op = e_.op[kernel];
    if (op == kNoRow || !is_product_(e_.name[op])) return;
    ProductSum& product = products_[index_of(op)];
    if (op != last_op_) ++product.calls;
    last_op_ = op;
    const std::int64_t time = e_.duration(kernel);
    report::add_to(product.time, time);
    const derive::MatrixCoreUse use = units_(e_.name[kernel]);
    if (use.cores == derive::MatrixCores::yes)
      report::add_to(product.on_units, time);
    else if (derive::is_plain_matrix_work(use))
      report::add_to(product.off_units, time);
    if (const auto blocks = blocks_per_sm_.real(kernel); blocks && *blocks < 1)
      report::add_to(product.small, time);
    if (time < product.longest) return;
    product.longest = time;
    product.longest_kernel = e_.name[kernel];
    product.longest_row = kernel;
    product.device = rank_.tracks[e_.track[kernel]].device;
  }

  std::vector<ProductSum>& sorted() {
    std::stable_sort(products_.begin(), products_.end(), [&](const ProductSum& a, const ProductSum& b) {
      if (a.time != b.time) return a.time > b.time;
      return std::tuple(trace_.text(a.op), a.m, a.n, a.k, a.batch) <
             std::tuple(trace_.text(b.op), b.m, b.n, b.k, b.batch);
    });
    return products_;
  }

 private:
  struct UnitsOf {
    derive::KernelSetting setting;
    derive::MatrixCoreUse operator()(std::string_view kernel) const {
      return derive::matrix_cores_of(kernel, setting);
    }
  };
  struct Key {
    StringId op, dims, types;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return hash_of_all(process_hash_seed(), k.op, k.dims, k.types);
    }
  };

  std::size_t index_of(Row op) {
    const StringId dims = dims_.id(op) != trace::kEmptyString ? dims_.id(op) : old_dims_.id(op);
    const auto [found, added] = index_.try_emplace({e_.name[op], dims, types_.id(op)}, products_.size());
    if (added) products_.push_back(product_of(op, dims));
    return found->second;
  }

  ProductSum product_of(Row op, StringId dims) const {
    ProductSum product;
    product.op = e_.name[op];
    const std::string_view name = trace_.text(product.op);
    const OpArgs args = derive::parse_op_args(trace_.text(dims), types_.text(op), "", "");
    product.work = derive::work_of(name, args);
    const auto left = static_cast<std::size_t>(left_operand(name));
    const derive::Arg &a = args.at(left), &b = args.at(left + 1);
    product.dtype = a.dtype;
    const std::size_t rank = a.shape.dims.size();
    if (!a.is_tensor() || !b.is_tensor() || rank < 2 || b.shape.dims.size() != rank) return product;
    product.batch = rank > 2 ? a.shape.dims[0] : 1;
    product.m = a.shape.dims[rank - 2];
    product.k = a.shape.dims[rank - 1];
    product.n = b.shape.dims[rank - 1];
    return product;
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const EventTable& e_;
  const trace::ArgReader dims_, old_dims_, types_, blocks_per_sm_;
  trace::AskedOnce<bool (*)(std::string_view)> is_product_;
  trace::AskedOnce<UnitsOf> units_;
  Row last_op_ = kNoRow;
  std::unordered_map<Key, std::size_t, KeyHash> index_;
  std::vector<ProductSum> products_;
};

/// Min time that the device's peaks allow for one call, ns; 0 if not known.
double least_time(const trace::Trace& trace, const Rank& rank, const ProductSum& p) {
  for (const trace::Device& d : rank.devices) {
    if (d.id != p.device) continue;
    const auto peaks = derive::peaks_of(d.name, d.compute_major, d.compute_minor,
                                        static_cast<int>(d.sm_count), static_cast<double>(d.total_memory));
    if (!peaks) return 0;
    const derive::Precision precision =
        derive::precision_of(p.dtype, trace.text(p.longest_kernel), derive::setting_of(d));
    return derive::roof_of(p.work, precision, *peaks, 1, 0).seconds * 1e9;
  }
  return 0;
}

/// Waves of the product's longest kernel; kNoReal if not known.
double waves_of(const trace::Trace& trace, const Rank& rank, const ProductSum& p) {
  if (p.longest_row == kNoRow) return kNoReal;
  std::int64_t multiprocessors = 0;
  for (const trace::Device& d : rank.devices)
    if (d.id == p.device) multiprocessors = d.sm_count;
  const auto text = [&](std::string_view key) {
    return trace::ArgReader(trace, rank, key).text(p.longest_row);
  };
  const double waves = derive::waves_of(
      {p.batch, p.m, p.n, trace.text(p.longest_kernel), text("grid"), text("block"), multiprocessors});
  return waves > 0 ? waves : kNoReal;
}

Product product_of(const trace::Trace& trace, const Rank& rank, const ProductSum& p, std::int64_t compute) {
  const bool sized = p.m > 0;
  const double seconds = static_cast<double>(p.time) * 1e-9, calls = static_cast<double>(p.calls);
  const double least = p.work.flops_known && p.work.bytes_known ? least_time(trace, rank, p) : 0;
  return {rank.rank,
          std::string(trace.text(p.op)),
          p.dtype,
          sized ? p.batch : kNoInt,
          sized ? p.m : kNoInt,
          sized ? p.n : kNoInt,
          sized ? p.k : kNoInt,
          p.calls,
          p.time,
          report::ratio(p.time, compute),
          p.work.flops_known && seconds > 0 ? static_cast<double>(p.work.flops()) * calls / seconds : kNoReal,
          least > 0 && p.time > 0 ? least * calls / static_cast<double>(p.time) : kNoReal,
          report::ratio(p.on_units, p.time),
          report::ratio(p.off_units, p.time),
          report::ratio(p.small, p.time),
          waves_of(trace, rank, p),
          std::string(trace.text(p.longest_kernel))};
}

/// Device time of attention computed in parts, by the size of its scores.
class PartsGatherer {
 public:
  PartsGatherer(const trace::Trace& trace, const Rank& rank)
      : trace_(trace), e_(rank.events), attention_(derive::parted_attention(trace, rank)) {
    for (const derive::PartedAttention& one : attention_) {
      const std::int64_t rows = one.rows > 0 ? one.rows : kNoInt,
                         columns = one.rows > 0 ? one.columns : kNoInt;
      auto found = std::find_if(parts_.begin(), parts_.end(), [&](const PartedAttention& p) {
        return p.rows == rows && p.columns == columns;
      });
      if (found == parts_.end())
        found = parts_.insert(parts_.end(), PartedAttention{rank.rank, rows, columns, 0, 0, 0, kNoReal});
      ++found->count;
      of_.push_back(static_cast<std::size_t>(found - parts_.begin()));
    }
  }
  /// Adds a compute kernel; only kernels within the attention count.
  void add(Row kernel) {
    const Row op = e_.op[kernel];
    if (attention_.empty() || op == kNoRow) return;
    const auto next = std::partition_point(attention_.begin(), attention_.end(),
                                           [&](const derive::PartedAttention& a) { return a.first <= op; });
    if (next == attention_.begin() || op >= (next - 1)->end) return;
    PartedAttention& parts = parts_[of_[static_cast<std::size_t>(next - 1 - attention_.begin())]];
    const bool product = derive::kernel_kind(trace_.text(e_.name[kernel])) == derive::KernelKind::matrix;
    report::add_to(product ? parts.products : parts.others, e_.duration(kernel));
  }
  std::vector<PartedAttention> parts(std::int64_t compute) && {
    for (PartedAttention& parts : parts_)
      parts.share = report::ratio(report::plus(parts.products, parts.others), compute);
    return std::move(parts_);
  }

 private:
  const trace::Trace& trace_;
  const EventTable& e_;
  const std::vector<derive::PartedAttention> attention_;
  std::vector<std::size_t> of_;
  std::vector<PartedAttention> parts_;
};

void add_rank(Products& of, const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const EventTable& e = rank.events;
  ProductGatherer gatherer(trace, rank);
  PartsGatherer attention(trace, rank);
  std::int64_t compute = 0;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || !derived.choice().includes(rank, row)) continue;
    report::add_to(compute, e.duration(row));
    gatherer.add(row);
    attention.add(row);
  }
  for (const PartedAttention& parts : std::move(attention).parts(compute)) of.attention.push_back(parts);
  for (const ProductSum& product : gatherer.sorted())
    of.products.push_back(product_of(trace, rank, product, compute));
}

const report::Sheet<Product> kProductSheet{
    "Matrix products",
    Shape::table,
    {report::rank_field<Product>(&Product::rank),
     {"op", &Product::op},
     {"dtype",
      +[](const Product& p) {
        return std::string(p.dtype == derive::DType::unknown ? "" : derive::name_of(p.dtype));
      }},
     {"batch", &Product::batch, Unit::count, Role::key},
     {"m", &Product::m, Unit::count, Role::key},
     {"n", &Product::n, Unit::count, Role::key},
     {"k", &Product::k, Unit::count, Role::key},
     {"calls", &Product::calls, Unit::count},
     {"time", &Product::time, Unit::ns},
     {"share", &Product::share, Unit::share, Role::share},
     {"flop_rate", &Product::flop_rate, Unit::flop_per_s},
     {"share_of_roof", &Product::share_of_roof, Unit::share},
     {"matrix_unit_share", &Product::matrix_units, Unit::share, Role::detail},
     {"plain_core_share", &Product::plain_cores, Unit::share, Role::detail},
     {"small_grid_share", &Product::small_grid, Unit::share, Role::detail},
     {"waves", &Product::waves, Unit::none, Role::detail},
     {"kernel", &Product::kernel, Role::detail}}};

const report::Sheet<PartedAttention> kAttentionSheet{
    "Attention in parts",
    Shape::table,
    {report::rank_field<PartedAttention>(&PartedAttention::rank),
     {"rows", &PartedAttention::rows, Unit::count, Role::key},
     {"columns", &PartedAttention::columns, Unit::count, Role::key},
     {"count", &PartedAttention::count, Unit::count},
     {"products", &PartedAttention::products, Unit::ns},
     {"others", &PartedAttention::others, Unit::ns},
     {"share", &PartedAttention::share, Unit::share, Role::share}}};

}  // namespace

Products products_of(const Derived& derived) {
  Products of;
  for (const Rank& rank : derived.trace().ranks) add_rank(of, derived, rank);
  if (of.products.empty())
    of.notes.emplace_back("No kernel of a matrix product is recorded below its operator.");
  return of;
}

constinit const About products_about = {};

report::Report products(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  Products of = products_of(derived);
  return {"products",
          {tabulate(kProductSheet, of.products, several), tabulate(kAttentionSheet, of.attention, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
