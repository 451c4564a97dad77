#include "advise/read_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/rules/constants.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

std::string size_of(std::int64_t bytes) { return report::format_value(bytes, report::Unit::bytes); }

}  // namespace

double ReadAgain::times() const { return distinct > 0 ? report::ratio(read, distinct) : 0; }

bool ReadAgain::is_again() const {
  const double least = rounds > 1 ? kAgainPerRound * static_cast<double>(rounds) : kOftenAgain;
  return times() >= std::max<double>(kReadAgain, least);
}

bool ReadAgain::is_much(std::int64_t time) const {
  return static_cast<double>(read - distinct) >= kAgainRate * static_cast<double>(time);
}

std::string ReadAgain::told() const {
  return fmt::format("read {} times over, {} of {}",
                     times() < 10 ? fmt::format("{:.1f}", times())
                                  : report::format_value(static_cast<std::int64_t>(std::llround(times())),
                                                         report::Unit::count),
                     size_of(read), size_of(distinct));
}

std::string ReadAgain::remedy() const {
  const bool opened_each_time = 2 * static_cast<double>(opens) >= times();
  return fmt::format(
      "Read {} once{}, before the loop (in __init__ of a dataset), and index what is in memory, or map it "
      "(np.load(..., mmap_mode='r') of an .npy file, np.memmap, torch.load(..., mmap=True)). {}ead "
      "compressed data in order, or store it uncompressed or in chunks of a sample.",
      group, opened_each_time ? " per worker" : "",
      opened_each_time ? "Keep an archive (zip, tar, HDF5) that is too large for memory open: so its index "
                         "is read once. Each access to a member of a .npz or .zip unpacks it again. R"
                       : "Else r");
}

}  // namespace stepscope::advise
