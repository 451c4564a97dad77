// How a matrix product's output is divided into tiles, and how many rounds (waves) the device needs for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope::derive {

/// Output of one block, in elements.
struct Tile {
  std::int64_t one = 0, other = 0;
};

/// The first "128x64" in the name with both sides from 16 to 512; empty if there is none.
std::optional<Tile> tile_of(std::string_view kernel_name);

struct ProductOnDevice {
  std::int64_t batch = 1, m = 0, n = 0;
  std::string_view kernel_name;
  std::string_view grid, block;  ///< as recorded: "[132, 1, 1]"
  std::int64_t multiprocessors = 0;
};

/// Tiles / multiprocessors: 2.1 is two full rounds and a tenth of a third. 0 if the name has no tile, if the
/// device's multiprocessors are not known, or if the grid does not have one block per tile, as with split-k,
/// stream-k and persistent kernels. Some recorders give the grid in threads. The grid decides which side of
/// the tile is along m; without a grid, the result is known only if both ways give the same number.
double waves_of(const ProductOnDevice& product);

}  // namespace stepscope::derive
