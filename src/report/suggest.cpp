#include "report/suggest.h"

#include <algorithm>

namespace stepscope::report {

// Optimal string alignment; three rows of the table are enough.
std::size_t edits_between(std::string_view a, std::string_view b) {
  constexpr std::size_t kMax = 64;
  a = a.substr(0, kMax);
  b = b.substr(0, kMax);
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& choices) {
  std::string best;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& choice : choices) {
    const bool begins = word.size() >= 3 && (choice.starts_with(word) || word.starts_with(choice));
    const std::size_t edits = begins ? 1 : edits_between(word, choice);
    if (edits >= least) continue;
    least = edits;
    best = choice;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices) {
  const std::string choice = nearest(word, choices);
  return choice.empty() ? "" : " Did you mean '" + choice + "'?";
}

}  // namespace stepscope::report
