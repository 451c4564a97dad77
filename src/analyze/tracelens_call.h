// The calls of one kind that a sheet makes into one row, and the columns that several sheets share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/question.h"
#include "analyze/tracelens.h"
#include "analyze/tracelens_spread.h"

namespace stepscope::analyze::lens {

/// What tells two rows apart: ids of texts and small numbers.
using CallKey = std::array<std::uint32_t, 9>;

/// Numbers keys as they come.
class Keys {
 public:
  std::uint32_t of(const CallKey& key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const CallKey& key) const {
      std::uint64_t h = 0;
      for (const std::uint32_t part : key) h = (h ^ part) * 0x9E3779B97F4A7C15ULL;
      return static_cast<std::size_t>(h ^ (h >> 31));
    }
  };
  std::unordered_map<CallKey, std::uint32_t, Hash> numbers_;
};

/// Reads the arguments of an op as texts, and names its thread.
class Arguments {
 public:
  explicit Arguments(const Lens& lens);
  struct Texts {
    trace::StringId dims, types, strides, concrete;
  };
  Texts of(trace::Row row) const;
  /// Tracks of equal process and thread names have equal numbers.
  std::uint32_t thread(trace::Row row) const { return thread_[lens_.e.track[row]]; }

 private:
  const Lens& lens_;
  trace::ArgReader dims_, old_dims_, types_, strides_, concrete_;
  std::vector<std::uint32_t> thread_;
};

/// thread, process, input_dims, input_types, input_strides, concrete_inputs.
class ArgumentColumns {
 public:
  ArgumentColumns(report::Table& table, report::Role role);
  void add(const Lens& lens, const Arguments& arguments, trace::Row row);

 private:
  report::Texts &process_, &thread_, &dims_, &types_, &strides_, &concrete_;
};

/// Numbers calls by name, first kernel, category, thread and arguments, as they come.
class CallGroups {
 public:
  CallGroups(const Lens& lens, const Arguments& arguments) : lens_(lens), arguments_(arguments) {}
  std::uint32_t of(trace::Row op, trace::StringId kernel, std::string_view category);

 private:
  const Lens& lens_;
  const Arguments& arguments_;
  std::map<std::string_view, std::uint32_t> categories_;
  Keys keys_;
};

/// share, cumulative_share: of a total, row by row.
class ShareColumns {
 public:
  explicit ShareColumns(report::Table& table)
      : share_(table.reals("share", report::Unit::share, report::Role::share)),
        cumulative_(table.reals("cumulative_share", report::Unit::share, report::Role::detail)) {}
  /// Before a rank's rows.
  void begin(double total) {
    total_ = total;
    so_far_ = 0;
  }
  void add(double part);

 private:
  report::Reals &share_, &cumulative_;
  double total_ = 0, so_far_ = 0;
};

/// A second table: what each row's calls launched, place by place. `first_event` joins it to the first table.
class KernelDetails {
 public:
  explicit KernelDetails(const trace::Trace& trace);
  /// One list of device events per call, in launch order. Calls with another number of them than the first
  /// are left out.
  void add(const Lens& lens, std::uint32_t first_event, const std::vector<std::vector<trace::Row>>& calls);
  report::Table take() { return std::move(table_); }

 private:
  report::Table table_{"Kernels", report::Shape::table, {}};
  RankColumn rank_;
  report::Ints &first_event_, &place_;
  report::Texts& name_;
  report::Ints &stream_, &count_, &sum_;
  SpreadColumns duration_;
};

}  // namespace stepscope::analyze::lens
