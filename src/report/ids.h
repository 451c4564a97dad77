// The ids of rules and health rows: findings and warnings have these names everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepscope::report {

/// What a finding is about; every rule belongs to one.
enum class Category : std::uint8_t {
  input,
  host,
  sync,
  copy,
  kernel,
  precision,
  communication,
  memory,
  graph
};

// clang-format off
// X(id, category)
#define STEPSCOPE_RULE_IDS(X) \
  X(A01, memory) X(A02, memory) X(A04, memory) X(A05, memory) \
  X(A06, memory) X(A07, memory) X(A08, memory) X(A09, memory) X(A10, memory) \
  X(C01, copy) X(C02, copy) X(C03, copy) X(C04, copy) X(C05, copy) X(C06, copy) \
  X(C07, copy) X(C08, copy) \
  X(G01, graph) X(G02, graph) X(G03, graph) X(G04, graph) X(G05, graph) X(G06, graph) \
  X(H01, host) X(H02, host) X(H03, host) X(H04, host) X(H05, host) X(H06, host) \
  X(H07, host) X(H08, host) X(H09, host) X(H10, host) X(H11, host) X(H12, host) X(H13, host) X(H14, host) X(H15, host) X(H16, host) X(H17, host) X(H18, host) X(H19, host) X(H20, host) X(H21, host) X(H22, host) X(H23, host) X(H24, host) \
  X(I01, input) X(I02, input) X(I03, input) X(I04, input) X(I05, input) X(I06, input) X(I07, input) X(I08, input) X(I09, input) X(I10, input) X(I11, input) \
  X(K01, kernel) X(K02, kernel) X(K03, kernel) X(K04, kernel) X(K05, kernel) X(K06, kernel) \
  X(K07, kernel) X(K08, kernel) X(K09, kernel) X(K10, kernel) \
  X(N01, communication) X(N02, communication) X(N03, communication) X(N04, communication) X(N05, communication) \
  X(N06, communication) X(N07, communication) X(N08, communication) X(N09, communication) X(N10, communication) \
  X(N11, communication) X(N12, communication) X(N13, communication) \
  X(P01, precision) X(P02, precision) X(P03, precision) \
  X(S01, sync) X(S02, sync) X(S03, sync) X(S04, sync)

#define STEPSCOPE_HEALTH_IDS(X) \
  X(Q01) X(Q02) X(Q03) X(Q04) X(Q05) X(Q06) X(Q07) X(Q08) \
  X(Q09) X(Q10) X(Q11) X(Q12) X(Q13) X(Q14) X(Q15) X(Q16) \
  X(Q17) X(Q18) X(Q19) X(Q20) X(Q21) X(Q22)
// clang-format on

// In the order of the names, so ids may be compared.
#define STEPSCOPE_ID(id, ...) id,
enum class RuleId : std::uint8_t { STEPSCOPE_RULE_IDS(STEPSCOPE_ID) };
enum class HealthId : std::uint8_t { STEPSCOPE_HEALTH_IDS(STEPSCOPE_ID) };
#undef STEPSCOPE_ID

#define STEPSCOPE_NAME(id, ...) #id,
inline constexpr std::string_view kRuleNames[] = {STEPSCOPE_RULE_IDS(STEPSCOPE_NAME)};
inline constexpr std::string_view kHealthNames[] = {STEPSCOPE_HEALTH_IDS(STEPSCOPE_NAME)};
#undef STEPSCOPE_NAME

constexpr std::string_view name_of(RuleId id) { return kRuleNames[static_cast<std::size_t>(id)]; }
constexpr std::string_view name_of(HealthId id) { return kHealthNames[static_cast<std::size_t>(id)]; }

constexpr Category category_of(RuleId id) {
#define STEPSCOPE_CATEGORY(id, category) Category::category,
  constexpr Category kCategories[] = {STEPSCOPE_RULE_IDS(STEPSCOPE_CATEGORY)};
#undef STEPSCOPE_CATEGORY
  return kCategories[static_cast<std::size_t>(id)];
}

constexpr std::string_view name_of(Category category) {
  constexpr std::string_view kNames[] = {"input",     "host",          "sync",   "copy", "kernel",
                                         "precision", "communication", "memory", "graph"};
  return kNames[static_cast<std::size_t>(category)];
}

}  // namespace stepscope::report
