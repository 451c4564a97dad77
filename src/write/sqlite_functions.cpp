// The functions that a query may call beside SQLite's own.
#include <regex.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "write/sqlite_state.h"

namespace stepscope::write {
namespace {

/// The numbers of a group. A long double holds every 64-bit integer.
struct Numbers {
  std::vector<long double> values;
  bool whole = true;    ///< all are integers
  double percent = 50;  ///< which percentile is wanted
  const char* wrong = nullptr;
};

/// The numbers of the present group; null before its first row, unless `make`.
Numbers* numbers_of(sqlite3_context* context, bool make) {
  auto** place = static_cast<Numbers**>(sqlite3_aggregate_context(context, make ? sizeof(Numbers*) : 0));
  if (place == nullptr) return nullptr;
  if (*place == nullptr && make) *place = new Numbers;
  return *place;
}

void take(sqlite3_context* context, int count, sqlite3_value** given) {
  Numbers* numbers = numbers_of(context, true);
  if (numbers == nullptr) return sqlite3_result_error_nomem(context);
  if (count == 2) numbers->percent = sqlite3_value_double(given[1]);
  if (count == 2 && !(numbers->percent >= 0 && numbers->percent <= 100))
    numbers->wrong = "percentile(x, p) needs a p from 0 to 100";
  switch (sqlite3_value_numeric_type(given[0])) {
    case SQLITE_NULL:
      return;
    case SQLITE_INTEGER:
      return numbers->values.push_back(static_cast<long double>(sqlite3_value_int64(given[0])));
    case SQLITE_FLOAT:
      numbers->whole = false;
      return numbers->values.push_back(sqlite3_value_double(given[0]));
    default:
      numbers->wrong = "median, percentile and stddev need numbers, not texts";
  }
}

void give(sqlite3_context* context, const Numbers& numbers, long double value) {
  if (numbers.whole && value == std::floor(value))
    sqlite3_result_int64(context, static_cast<sqlite3_int64>(value));
  else
    sqlite3_result_double(context, static_cast<double>(value));
}

/// The value at `index` in ascending order.
long double at_place(std::vector<long double>& values, std::size_t index) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

void give_median(sqlite3_context* context, Numbers& numbers) {
  std::vector<long double>& values = numbers.values;
  const long double upper = at_place(values, values.size() / 2);
  give(context, numbers,
       values.size() % 2 != 0 ? upper : (at_place(values, values.size() / 2 - 1) + upper) / 2);
}

/// Nearest rank, as in the analyses.
void give_percentile(sqlite3_context* context, Numbers& numbers) {
  const std::size_t size = numbers.values.size();
  const auto rank = static_cast<std::size_t>(std::ceil(numbers.percent / 100 * static_cast<double>(size)));
  give(context, numbers, at_place(numbers.values, std::clamp<std::size_t>(rank, 1, size) - 1));
}

/// Of a sample: NULL for less than two values.
void give_deviation(sqlite3_context* context, Numbers& numbers) {
  if (numbers.values.size() < 2) return sqlite3_result_null(context);
  const auto count = static_cast<long double>(numbers.values.size());
  long double sum = 0, squares = 0;
  for (const long double value : numbers.values) sum += value;
  for (const long double value : numbers.values) squares += (value - sum / count) * (value - sum / count);
  sqlite3_result_double(context, static_cast<double>(std::sqrt(squares / (count - 1))));
}

template <void (*give_answer)(sqlite3_context*, Numbers&)>
void finish(sqlite3_context* context) {
  const std::unique_ptr<Numbers> numbers(numbers_of(context, false));
  if (numbers == nullptr) return sqlite3_result_null(context);
  if (numbers->wrong != nullptr) return sqlite3_result_error(context, numbers->wrong, -1);
  if (numbers->values.empty()) return sqlite3_result_null(context);
  give_answer(context, *numbers);
}

/// Why a pattern is refused: matching it could take forever, or all memory. Null if it is not.
const char* pattern_refused(std::string_view pattern) {
  constexpr std::size_t kMaxBytes = 1000;
  if (pattern.size() > kMaxBytes) return "the pattern of regexp is longer than 1000 bytes";
  constexpr std::int64_t kMaxRepeats = 1000;
  std::int64_t product = 1;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\0') return "the pattern of regexp contains a zero byte";
    if (pattern[i] == '\\' && i + 1 < pattern.size() && pattern[++i] >= '1' && pattern[i] <= '9')
      return "the pattern of regexp refers back to a group (\\1), which is not supported";
    if (pattern[i] != '{') continue;
    std::int64_t number = 0, largest = 1;
    for (++i; i < pattern.size() && pattern[i] != '}'; ++i) {
      const bool digit = pattern[i] >= '0' && pattern[i] <= '9';
      number = digit ? std::min<std::int64_t>(number * 10 + pattern[i] - '0', kMaxRepeats + 1) : 0;
      largest = std::max(largest, number);
    }
    product *= largest;
    if (product > kMaxRepeats) return "the pattern of regexp repeats more than 1000 times; use * or +";
  }
  return nullptr;
}

class Pattern {
 public:
  explicit Pattern(const char* text) : code_(::regcomp(&compiled_, text, REG_EXTENDED)) {}
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() {
    if (code_ == 0) ::regfree(&compiled_);
  }
  std::string wrong() const {
    char reason[200] = "";
    if (code_ != 0) ::regerror(code_, &compiled_, reason, sizeof reason);
    return reason;
  }
  /// Whether it matches somewhere in `text`.
  bool in(std::string_view text) const {
    regmatch_t part[1] = {{0, static_cast<regoff_t>(text.size())}};
    return ::regexec(&compiled_, text.data(), 1, part, REG_STARTEND) == 0;
  }

 private:
  regex_t compiled_{};
  int code_;
};

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

/// regexp(pattern, text), which SQLite also calls for `text REGEXP pattern`. A pattern is compiled once.
void regexp(sqlite3_context* context, int, sqlite3_value** given) {
  for (int i = 0; i < 2; ++i)
    if (sqlite3_value_type(given[i]) == SQLITE_NULL) return sqlite3_result_null(context);
  auto* pattern = static_cast<Pattern*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<Pattern> made;
  if (pattern == nullptr) {
    const std::string_view text = text_of(given[0]);
    if (const char* why = pattern_refused(text)) return sqlite3_result_error(context, why, -1);
    made = std::make_unique<Pattern>(text.data() == nullptr ? "" : text.data());
    if (const std::string why = made->wrong(); !why.empty())
      return sqlite3_result_error(context, ("the pattern of regexp is wrong: " + why).c_str(), -1);
    pattern = made.get();
  }
  sqlite3_result_int(context, pattern->in(text_of(given[1])) ? 1 : 0);
  if (made != nullptr)
    sqlite3_set_auxdata(context, 0, made.release(), [](void* old) { delete static_cast<Pattern*>(old); });
}

}  // namespace

bool add_functions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  using Final = void (*)(sqlite3_context*);
  const auto add = [&](const char* name, int count, Final end) {
    return sqlite3_create_function_v2(db, name, count, kFlags, nullptr, nullptr, take, end, nullptr) ==
           SQLITE_OK;
  };
  return add("median", 1, finish<give_median>) && add("percentile", 2, finish<give_percentile>) &&
         add("stddev", 1, finish<give_deviation>) &&
         sqlite3_create_function_v2(db, "regexp", 2, kFlags, nullptr, regexp, nullptr, nullptr, nullptr) ==
             SQLITE_OK;
}

}  // namespace stepscope::write
