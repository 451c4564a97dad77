#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "report/text/layout.h"
#include "report/units.h"

namespace stepscope::cli {
namespace {

using report::Unit;

constexpr std::chrono::milliseconds kPatience{1000}, kBetween{100};

}  // namespace

Progress::~Progress() {
  if (drawn_) draw("");
}

bool Progress::due() {
  const Clock::time_point now = Clock::now();
  if (!wanted_ || now - begin_ < kPatience || (drawn_ && now - last_ < kBetween)) return false;
  last_ = now;
  return true;
}

void Progress::draw(const std::string& line) {
  const std::string text = "\r\x1b[K" + line;
  const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
  drawn_ = !line.empty();
}

void Progress::tell(std::int64_t done, std::int64_t total) {
  const std::lock_guard lock(mutex_);
  if (!due()) return;
  const std::string read = report::format_value(done, Unit::bytes);
  if (total <= 0) return draw("reading " + read);
  constexpr int kBar = 24;
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(last_ - begin_).count();
  const std::string left =
      share > 0.02 && share < 1
          ? ", " + report::format_rough(seconds * (1 - share) / share * 1e9, Unit::ns) + " left"
          : "";
  const std::string bar = report::bar(share, kBar);
  draw(fmt::format("reading {:3.0f} % {}{} {} of {}{}", share * 100, bar,
                   std::string(static_cast<std::size_t>(kBar - static_cast<int>(share * kBar)), ' '), read,
                   report::format_value(total, Unit::bytes), left));
}

void Progress::tell(const std::string& activity) {
  const std::lock_guard lock(mutex_);
  if (due()) draw(activity);
}

}  // namespace stepscope::cli
