// How the output of a matrix product is cut into tiles, and how many rounds of them the device makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope::derive {

/// What one block computes, in elements.
struct Tile {
  std::int64_t one = 0, other = 0;
};

/// By the first "128x64" of the name with both sides from 16 to 512; nothing when there is none.
std::optional<Tile> tile_of(std::string_view kernel_name);

struct ProductOnDevice {
  std::int64_t batch = 1, m = 0, n = 0;
  std::string_view kernel_name;
  std::string_view grid, block;  ///< as recorded: "[132, 1, 1]"
  std::int64_t multiprocessors = 0;
};

/// Tiles / multiprocessors: 2.1 is two full rounds and a tenth of a third one. 0 where the name tells no
/// tile, the device's multiprocessors are not known, or the grid does not have one block per tile, as with
/// split-k, stream-k and persistent kernels (some recorders give the grid in threads). Which side of the tile
/// lies along m the grid decides; without a grid it is known only where both give the same number.
double waves_of(const ProductOnDevice& product);

}  // namespace stepscope::derive
