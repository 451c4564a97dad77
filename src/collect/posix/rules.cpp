#include "collect/posix/rules.h"

#include <iterator>
#include <span>
#include <utility>

namespace stepscope::collect::posix {
namespace {

/// What leads to a descriptor's file; those of a pair share a hint.
constexpr std::string_view kOfDescriptors[][2] = {{"/proc/self/fd/", "/proc/thread-self/fd/"},
                                                  {"/dev/fd/", "/dev/std"}};

struct Rule {
  std::string_view prefix;
  bool includes;
  std::uint8_t next = 0;  ///< rule with the same first letter, + 1; 0: none
};
constexpr std::uint32_t kMostRules = Hints::kMost - std::size(kOfDescriptors);
Rule rules[kMostRules] = {{"/proc", false}, {"/sys", false}, {"/dev", false}, {"/run", false},
                          {"/etc", false},  {"/usr", false}, {"/lib", false}, {"/lib64", false},
                          {"/bin", false},  {"/sbin", false}};
constexpr std::uint32_t kOwnRules = 10;
std::uint32_t rule_count = kOwnRules;
bool only_included = false;
std::uint8_t first_rule[256];  // by the first letter of the first component: number + 1; 0: none
const Rule* root_rule = nullptr;
char rule_texts[1U << 20];  // of 250 paths of PATH_MAX
std::size_t rule_bytes = 0;

/// Libraries and their caches, wherever they are installed.
constexpr std::string_view kLibraries[] = {"/site-packages/", "/dist-packages/", "/__pycache__/",
                                           "/lib/python3."};

void add_rule(std::string_view prefix, bool includes) {
  while (prefix.size() > 1 && prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.starts_with('/') || rule_count == kMostRules || prefix.size() > sizeof rule_texts - rule_bytes)
    return;
  std::memcpy(rule_texts + rule_bytes, prefix.data(), prefix.size());
  rules[rule_count++] = {{rule_texts + rule_bytes, prefix.size()}, includes};
  rule_bytes += prefix.size();
}

void add_rules(const char* list, bool includes) {
  for (std::string_view rest = list == nullptr ? "" : list; !rest.empty();) {
    const std::string_view prefix = rest.substr(0, rest.find(':'));
    add_rule(prefix, includes);
    only_included |= includes;
    rest.remove_prefix(prefix.size() + (prefix.size() < rest.size() ? 1 : 0));
  }
}

/// Of the bytes from `at` on.
Hint hint_of(std::string_view prefix, std::size_t at) {
  const std::size_t size = prefix.size() - at < 8 ? prefix.size() - at : 8;
  Hint hint{};
  hint.at = static_cast<std::uint16_t>(at);
  hint.length = static_cast<std::uint16_t>(prefix.size());
  std::memcpy(&hint.word, prefix.data() + at, size);
  std::memset(&hint.mask, 0xFF, size);
  return hint;
}

Hint hint_of(const Rule& rule) {
  const std::size_t size = rule.prefix.size();
  Hint hint = hint_of(rule.prefix, size < 8 ? 0 : size - 8);
  hint.is_exact = !rule.includes && size <= 8;
  return hint;
}

/// What both begin with.
Hint hint_of_either(std::string_view one, std::string_view other) {
  Hint hint = hint_of(one.substr(0, 8), 0);
  const Hint second = hint_of(other.substr(0, 8), 0);
  hint.mask &= second.mask & ~(hint.word ^ second.word);
  hint.word &= hint.mask;
  return hint;
}

void make_hints() {
  std::memset(static_cast<void*>(&hints), 0, sizeof hints);
  hints.leave_others = root_rule == nullptr ? only_included : !root_rule->includes;
  std::uint8_t count = 0;
  const auto add = [&](char letter, Hint hint) {
    hint.next = std::exchange(hints.first[static_cast<unsigned char>(letter)], ++count);
    hints.all[count] = hint;
  };
  for (const Rule& rule : std::span(rules, rule_count))
    if (&rule != root_rule && (rule.includes || !hints.leave_others)) add(rule.prefix[1], hint_of(rule));
  for (const auto& [one, other] : kOfDescriptors) add(one[1], hint_of_either(one, other));
}

void index_rules() {
  std::memset(first_rule, 0, sizeof first_rule);
  root_rule = nullptr;
  for (std::uint32_t i = 0; i < rule_count; ++i) {
    if (rules[i].prefix.size() == 1) {
      root_rule = &rules[i];
      continue;
    }
    std::uint8_t& first = first_rule[static_cast<unsigned char>(rules[i].prefix[1])];
    rules[i].next = std::exchange(first, static_cast<std::uint8_t>(i + 1));
  }
  make_hints();
}

/// Compares here: a call of memcmp costs more than the few words until the first difference.
bool begins_with(const char* text, std::string_view prefix) {
  const std::size_t size = prefix.size();
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8)
    if (word_at(text + at) != word_at(prefix.data() + at)) return false;
  if (size >= 8) return word_at(text + size - 8) == word_at(prefix.data() + size - 8);
  for (; at < size; ++at)
    if (text[at] != prefix[at]) return false;
  return true;
}

bool covers(std::string_view prefix, std::string_view path) {
  return path.size() >= prefix.size() && (path.size() == prefix.size() || path[prefix.size()] == '/') &&
         begins_with(path.data(), prefix);
}

bool is_in_a_library(std::string_view path) {
  for (const std::string_view part : kLibraries)
    if (path.find(part) != std::string_view::npos) return true;
  return false;
}

}  // namespace

constinit Hints hints{};

bool needs_normalizing(const char* path, std::size_t length) {
  for (std::size_t at = 0; at < length; ++at) {
    if (path[at] != '/') continue;
    const char* part = path + at + 1;
    if (*part == '.') part += part[1] == '.' ? 2 : 1;
    if (*part == '/' || *part == '\0') return true;
  }
  return false;
}

bool is_taken(std::string_view path) {
  const Rule* longest = root_rule;
  const std::uint8_t first = path.size() > 1 ? first_rule[static_cast<unsigned char>(path[1])] : 0;
  for (std::uint32_t number = first; number != 0; number = rules[number - 1].next) {
    const Rule& rule = rules[number - 1];
    // Of equal prefixes the newest counts; it comes first.
    if (covers(rule.prefix, path) && (longest == nullptr || rule.prefix.size() > longest->prefix.size()))
      longest = &rule;
  }
  if (longest != nullptr) return longest->includes;
  return !only_included && !is_in_a_library(path);
}

bool is_descriptors_path(const char* path) {
  for (const auto& pair : kOfDescriptors)
    for (const std::string_view beginning : pair)
      if (std::strncmp(path, beginning.data(), beginning.size()) == 0) return true;
  return false;
}

void set_rules(const char* included, const char* excluded) {
  rule_count = kOwnRules;
  rule_bytes = 0;
  only_included = false;
  add_rules(included, true);
  add_rules(excluded, false);
  index_rules();
}

void exclude(const char* folder) {
  add_rule(folder, false);
  index_rules();
}

}  // namespace stepscope::collect::posix
