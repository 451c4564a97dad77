#include "report/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace stepscope::report {
namespace {

struct Scale {
  double factor;  ///< raw units in one of these
  std::string_view suffix;
  double before = 999.5;  ///< values below this many of the previous unit stay in it
};

constexpr Scale kTime[] = {{1, "ns"},  {1e3, "µs"},   {1e6, "ms"},
                           {1e9, "s"}, {60e9, "min"}, {3600e9, "h", 119.5}};
constexpr double kKi = 1024;
constexpr Scale kBytes[] = {{1, "B"},
                            {kKi, "KiB"},
                            {kKi * kKi, "MiB"},
                            {kKi * kKi * kKi, "GiB"},
                            {kKi * kKi * kKi * kKi, "TiB"},
                            {kKi * kKi * kKi * kKi * kKi, "PiB"}};
constexpr Scale kFlop[] = {{1, "FLOP"},     {1e3, "kFLOP"},  {1e6, "MFLOP"}, {1e9, "GFLOP"},
                           {1e12, "TFLOP"}, {1e15, "PFLOP"}, {1e18, "EFLOP"}};
constexpr Scale kFlopRate[] = {{1, "FLOP/s"},     {1e3, "kFLOP/s"},  {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"},
                               {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}, {1e18, "EFLOP/s"}};
constexpr Scale kByteRate[] = {{1, "B/s"},    {1e3, "kB/s"},  {1e6, "MB/s"},
                               {1e9, "GB/s"}, {1e12, "TB/s"}, {1e15, "PB/s"}};
constexpr Scale kIntensity[] = {{1, "FLOP/B"}};
constexpr Scale kShare[] = {{0.01, "%"}};
constexpr Scale kCount[] = {{1, ""}, {1e6, "M", 1e7}, {1e9, "G"}, {1e12, "T"}};
constexpr Scale kPlain[] = {{1, ""}};

constexpr double kMax = 1e15;  // numbers this large are written with an exponent

std::span<const Scale> scales_of(Unit unit) {
  static constexpr std::span<const Scale> kOfUnit[] = {kPlain, kCount,    kTime,     kBytes,    kShare,
                                                       kFlop,  kFlopRate, kByteRate, kIntensity};
  return kOfUnit[static_cast<std::size_t>(unit)];
}

Scale scale_for(double magnitude, Unit unit) {
  const std::span<const Scale> scales = scales_of(unit);
  std::size_t best = 0;
  while (best + 1 < scales.size() && magnitude / scales[best].factor >= scales[best + 1].before) ++best;
  return scales[best];
}

/// Decimals that leave three significant digits of `scaled`.
int decimals_of(double scaled) {
  if (scaled >= 99.95) return 0;
  if (scaled >= 9.995) return 1;
  if (scaled >= 0.9995 || scaled == 0) return 2;
  return std::min(2 - static_cast<int>(std::floor(std::log10(scaled))), 9);
}

std::string grouped(std::string digits) {
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string with_suffix(std::string number, std::string_view suffix) {
  return suffix.empty() ? number : std::move(number) + " " + std::string(suffix);
}

std::string format_share(double value) {
  const double percent = std::abs(value) * 100;
  const std::string_view sign = value < 0 ? "-" : "";
  if (percent < 0.005) return value < 0 ? ">-0.01 %" : "<0.01 %";
  if (percent >= kMax) return fmt::format("{}{:.2e} %", sign, percent);
  return fmt::format("{}{:.{}f} %", sign, percent, std::min(decimals_of(percent), 2));
}

std::string format_scaled(double value, Unit unit) {
  const Scale scale = scale_for(std::abs(value), unit);
  const double scaled = value / scale.factor;
  const double size = std::abs(scaled);
  if (size >= kMax || size < 1e-9) return with_suffix(fmt::format("{:.2e}", scaled), scale.suffix);
  std::string digits = fmt::format("{:.{}f}", scaled, decimals_of(size));
  return with_suffix(unit == Unit::count ? grouped(std::move(digits)) : std::move(digits), scale.suffix);
}

bool whole_at_base(Unit unit) {
  return unit == Unit::ns || unit == Unit::bytes || unit == Unit::flop || unit == Unit::count;
}

struct ColumnRange {
  double least = std::numeric_limits<double>::infinity();  ///< smallest magnitude that is not zero
  double most = 0;
};

ColumnRange range_of(const Column& column) {
  ColumnRange range;
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (column.missing(row)) continue;
    const double size = std::abs(number_at(column, row));
    range.most = std::max(range.most, size);
    if (size > 0) range.least = std::min(range.least, size);
  }
  return range;
}

/// Counts and plain integers are exact: every digit is shown.
std::string digits_cell(std::int64_t value, Unit unit) {
  std::string digits = std::to_string(value);
  return unit == Unit::count ? grouped(std::move(digits)) : digits;
}

std::string share_cell(double value) {
  if (value == 0) return "0.0 %";
  if (std::abs(value) < 0.0005) return value < 0 ? ">-0.1 %" : "<0.1 %";
  return fmt::format("{:.1f} %", value * 100);
}

/// One unit and number of decimals for a whole column.
struct Common {
  Scale scale;
  int decimals;
};

/// The unit of the largest value; decimals for two digits of the smallest, while the largest keeps four.
Common common_scale(std::span<const Column> columns) {
  ColumnRange range;
  for (const Column& column : columns) {
    const ColumnRange of = range_of(column);
    range.most = std::max(range.most, of.most);
    range.least = std::min(range.least, of.least);
  }
  const Column& column = columns.front();
  const Scale scale = scale_for(range.most, column.unit);
  const double most = range.most / scale.factor, least = range.least / scale.factor;
  if (range.most == 0 || (scale.factor == 1 && std::holds_alternative<Ints>(column.values)))
    return {scale, 0};
  const int for_least = least >= 9.95 ? 0 : least >= 0.995 ? 1 : least >= 0.095 ? 2 : 3;
  const int room = most >= 99.95 ? 1 : most >= 9.995 ? 2 : 3;
  return {scale, std::min(room, std::max(for_least, std::min(decimals_of(most), 2)))};
}

std::string scaled_cell(double value, Common common) {
  const double scaled = value / common.scale.factor;
  if (std::abs(scaled) >= kMax) return with_suffix(fmt::format("{:.2e}", scaled), common.scale.suffix);
  const double least = std::pow(10.0, -common.decimals);
  const bool vanishes = value != 0 && std::abs(scaled) < least / 2;
  const std::string digits = fmt::format("{:.{}f}", vanishes ? least : std::abs(scaled), common.decimals);
  const std::string_view bound = !vanishes ? "" : value < 0 ? ">" : "<";
  return with_suffix(fmt::format("{}{}{}", bound, value < 0 ? "-" : "", digits), common.scale.suffix);
}

std::vector<std::string> cells_with(const Column& column, Common common) {
  if (const auto* texts = std::get_if<Texts>(&column.values)) return *texts;
  const auto* ints = std::get_if<Ints>(&column.values);
  const bool exact = ints != nullptr && (column.unit == Unit::none || column.unit == Unit::count);
  std::vector<std::string> cells(column.size());
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (column.missing(row)) continue;
    if (exact)
      cells[row] = digits_cell((*ints)[row], column.unit);
    else if (column.unit == Unit::share)
      cells[row] = share_cell(number_at(column, row));
    else
      cells[row] = scaled_cell(number_at(column, row), common);
    if (column.role == Role::change && number_at(column, row) > 0) cells[row].insert(0, "+");
  }
  return cells;
}

}  // namespace

std::string format_value(std::int64_t value, Unit unit) {
  if (value == kNoInt) return "";
  if (unit == Unit::none) return std::to_string(value);
  const double real = static_cast<double>(value);
  const Scale base = scales_of(unit).front();
  if (whole_at_base(unit) && scale_for(std::abs(real), unit).suffix == base.suffix) {
    const std::string digits = std::to_string(value);
    return with_suffix(unit == Unit::count ? grouped(digits) : digits, base.suffix);
  }
  return format_value(real, unit);
}

std::string format_value(double value, Unit unit) {
  if (!std::isfinite(value)) return "";
  if (value == 0) return with_suffix("0", scales_of(unit).front().suffix);
  return unit == Unit::share ? format_share(value) : format_scaled(value, unit);
}

std::string format_value(const Column& column, std::size_t row) {
  if (const auto* ints = std::get_if<Ints>(&column.values)) return format_value((*ints)[row], column.unit);
  if (const auto* reals = std::get_if<Reals>(&column.values)) return format_value((*reals)[row], column.unit);
  return std::get<Texts>(column.values)[row];
}

std::string format_rough(double value, Unit unit) {
  if (!std::isfinite(value) || value == 0) return format_value(value, unit);
  const double step = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 1);
  std::string text = format_value(std::round(value / step) * step, unit);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view digits = std::string_view(text).substr(0, end);
  if (digits.find('.') == std::string_view::npos) return text;
  const std::size_t kept = digits.find_last_not_of('0');
  return text.substr(0, text[kept] == '.' ? kept : kept + 1) + text.substr(end);
}

double number_at(const Column& column, std::size_t row) {
  if (column.missing(row)) return 0;
  if (const auto* ints = std::get_if<Ints>(&column.values)) return static_cast<double>((*ints)[row]);
  if (const auto* reals = std::get_if<Reals>(&column.values)) return (*reals)[row];
  return 0;
}

std::vector<std::string> format_cells(const Column& column) {
  return cells_with(column, common_scale({&column, 1}));
}

std::vector<std::vector<std::string>> format_cells(const Table& table) {
  std::vector<std::vector<std::string>> cells;
  for (const Column& column : table.columns) {
    cells.push_back(format_cells(column));
    const std::size_t i = cells.size() - 1;
    if (column.role != Role::change || i < 2) continue;
    const std::span<const Column> family(&table.columns[i - 2], 3);
    if (is_text(family[0]) || family[0].unit != column.unit || family[1].unit != column.unit) continue;
    const Common common = common_scale(family);
    for (std::size_t k = 0; k < family.size(); ++k) cells[i - 2 + k] = cells_with(family[k], common);
  }
  return cells;
}

}  // namespace stepscope::report
