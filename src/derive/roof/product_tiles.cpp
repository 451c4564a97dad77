#include "derive/roof/product_tiles.h"

#include <charconv>
#include <cmath>

#include "derive/arg_text.h"

namespace stepscope::derive {
namespace {

constexpr std::int64_t kMinSide = 16, kMaxSide = 512;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that begins at `at`, which then moves to its end; 0 if there is no number.
std::int64_t number_at(std::string_view text, std::size_t& at) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc{}) return 0;
  at = static_cast<std::size_t>(end - text.data());
  return number;
}

bool is_side(std::int64_t number) { return number >= kMinSide && number <= kMaxSide; }

/// Product of the sizes in "[132, 1, 1]"; 0 if the text is not such a list.
double volume_of(std::string_view text) {
  const auto sizes = integer_array(text);
  double volume = 1;
  for (const std::int64_t size : sizes.value_or(std::vector<std::int64_t>{0}))
    volume *= static_cast<double>(size);
  return volume;
}

double rounds(std::int64_t length, std::int64_t side) {
  return std::ceil(static_cast<double>(length) / static_cast<double>(side));
}

}  // namespace

std::optional<Tile> tile_of(std::string_view name) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (!is_digit(name[at]) || (at > 0 && is_digit(name[at - 1]))) continue;
    Tile tile;
    std::size_t end = at;
    tile.one = number_at(name, end);
    if (end >= name.size() || name[end] != 'x' || !is_side(tile.one)) continue;
    ++end;
    if (end >= name.size() || !is_digit(name[end])) continue;
    tile.other = number_at(name, end);
    if (is_side(tile.other)) return tile;
  }
  return std::nullopt;
}

double waves_of(const ProductOnDevice& p) {
  const std::optional<Tile> tile = tile_of(p.kernel_name);
  if (!tile || p.multiprocessors <= 0 || p.batch <= 0 || p.m <= 0 || p.n <= 0) return 0;
  const auto batch = static_cast<double>(p.batch);
  const double along = batch * rounds(p.m, tile->one) * rounds(p.n, tile->other),
               across = batch * rounds(p.n, tile->one) * rounds(p.m, tile->other);
  const double blocks = volume_of(p.grid), threads = volume_of(p.block);
  const auto fits = [&](double tiles) { return blocks == tiles || blocks == tiles * threads; };
  double tiles = 0;
  if (p.grid.empty())
    tiles = along == across ? along : 0;
  else if (fits(along) || fits(across))
    tiles = fits(along) ? along : across;
  return tiles / static_cast<double>(p.multiprocessors);
}

}  // namespace stepscope::derive
