#include "advise/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "advise/rules/rules.h"
#include "advise/say.h"
#include "analyze/replay/replayed_rank.h"
#include "base/text.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::ReplayedRank;
using report::kNoInt;
using report::kNoReal;
using report::Unit;

const Rule& rule_of(RuleId id) {
  const auto found =
      std::find_if(rules().begin(), rules().end(), [&](const Rule& rule) { return rule.id == id; });
  CHECK(found != rules().end());
  return *found;
}

const HealthRule& rule_of(HealthId id) {
  const auto found = std::find_if(health_rules().begin(), health_rules().end(),
                                  [&](const HealthRule& rule) { return rule.id == id; });
  CHECK(found != health_rules().end());
  return *found;
}

class Numbers {
 public:
  void time(std::string what, std::int64_t value) {
    if (value != kNoInt)
      rows.push_back({std::move(what), "", ns(value), static_cast<double>(value), Unit::ns});
  }
  void share(std::string what, double value) {
    rows.push_back({std::move(what), "", report::format_value(value, Unit::share), value, Unit::share});
  }
  void text(std::string what, std::string value) {
    rows.push_back({std::move(what), "", std::move(value), kNoReal, Unit::none});
  }
  std::vector<Asked> rows;
};

std::string spelled(const std::vector<Scale>& scales) {
  std::string out;
  for (const Scale& scale : scales) out += (out.empty() ? "" : "; ") + analyze::spelled(scale);
  return out;
}

void add_change(Numbers& out, const std::string& name, const std::vector<Scale>& scales,
                const Evidence& evidence, const ReplayedRank& replayed) {
  if (scales.empty()) return;
  const analyze::Change change = replayed.change_of(scales);
  out.text(name, change.found ? spelled(scales) : spelled(scales) + " (nothing of that name)");
  if (!change.found || !replayed.usable()) return;
  const bool without_first = slow_first_step(evidence, replayed).has_value();
  out.time("step with the " + name, report::mean(replayed.length(change), replayed.steps()));
  out.time("saved by the " + name, saved_per_step(replayed, change, without_first));
  if (const double pace = unrecorded_pace(evidence); pace < 1)
    out.time(
        "the same without the cost of recording on the host",
        report::mean(replayed.length({}, without_first, pace) - replayed.length(change, without_first, pace),
                     replayed.steps() - (without_first ? 1 : 0)));
}

void add_replay(Numbers& out, const Evidence& evidence, const ReplayedRank& replayed) {
  out.time("step in the window (T)", evidence.step_length());
  if (!replayed.has_device()) return out.text("replay", "no device events to replay");
  out.time("recorded step, replayed part", report::mean(replayed.recorded(), replayed.steps()));
  out.time("step replayed unchanged", report::mean(replayed.identity(), replayed.steps()));
  out.share("error of that replay", replayed.error());
  if (const auto slow = slow_first_step(evidence, replayed))
    out.text("first step, excluded from savings",
             fmt::format("{}, the median step {}", format_value(slow->length, Unit::ns),
                         format_value(slow->median, Unit::ns)));
  if (const double pace = unrecorded_pace(evidence); pace < 1) {
    out.share("what recording cost the host (Q05)", 1 - pace);
    if (replayed.usable())
      out.time("step without that cost on the host",
               report::mean(replayed.length({}, false, pace), replayed.steps()));
  }
  out.text("savings come from", replayable(replayed) ? "the replay" : "the rule's estimate");
}

/// `raw`: the rule's claim. `f`: the same claim, priced.
std::vector<Asked> numbers_of(const Claim& raw, const Ranked& f, const Evidence& evidence,
                              const ReplayedRank& replayed, const Range& together) {
  Numbers out;
  add_replay(out, evidence, replayed);
  if (!f.saving.known()) return out.rows;
  add_change(out, "ideal change", f.claim.ideal, evidence, replayed);
  add_change(out, "mild change", f.claim.mild, evidence, replayed);
  if (!f.claim.ideal.empty() && f.claim.mild.empty())
    out.share("low end, as a share of the ideal saving", f.claim.pessimism);
  if (f.claim.ideal.empty() || !replayable(replayed)) {
    out.time("the rule's estimate, low", raw.saving_low);
    out.time("the rule's estimate, high", raw.saving_high);
  }
  if (f.claim.shortens_kernels)
    out.text("bound", "none, the change shortens kernels");
  else
    out.time("bound: T - compute time", most_saving(evidence));
  out.time("smaller savings are not shown", least_saving(evidence));
  if (f.margin > 0) out.time("added at both ends, as steps vary", f.margin);
  const Range& alone = f.unshared.known() ? f.unshared : f.saving;
  out.time("alone, low", alone.low);
  out.time("alone, high", alone.high);
  if (f.others > 0) {
    out.time("late idle time that it covers", f.claim.leftover);
    out.time("part of it claimed by other findings", f.others);
    out.time("left by them, low", f.saving.low);
    out.time("left by them, high", f.saving.high);
  }
  out.time("after those above, low", f.after.low);
  out.time("after those above, high", f.after.high);
  out.time("all together, low", together.low);
  out.time("all together, high", together.high);
  return std::move(out.rows);
}

std::vector<std::string> reasons_of(const Claim& raw, const Ranked& f) {
  std::vector<std::string> reasons = {raw.because};
  if (raw.confidence != f.confidence)
    reasons.front().insert(0, fmt::format("{} by the rule: ", name_of(raw.confidence)));
  reasons.insert(reasons.end(), f.reasons.begin(), f.reasons.end());
  return reasons;
}

/// A sentence with the last input, except those that only divide other numbers.
std::string last_read(const std::vector<Asked>& inputs) {
  for (auto asked = inputs.rbegin(); asked != inputs.rend(); ++asked)
    if (asked->what != "window" && asked->what != "complete_steps")
      return fmt::format(" The last value that it read was {}: {}.", asked->what, asked->value);
  return "";
}

/// `text` with the value of each constant after its name.
std::string with_values(std::string_view text) {
  std::string out;
  std::size_t told = 0;
  visit_constants(text, [&](const Constant* constant, std::size_t end) {
    out += text.substr(told, end - told);
    if (constant != nullptr) out += fmt::format(" ({})", constant->value);
    told = end;
  });
  return out += text.substr(told);
}

/// The constants that `text` names, in the order of kConstants.
std::vector<Constant> constants_in(std::string_view text) {
  std::set<const Constant*> named;
  visit_constants(text, [&](const Constant* constant, std::size_t) { named.insert(constant); });
  named.erase(nullptr);
  std::vector<Constant> constants;
  for (const Constant* constant : named) constants.push_back(*constant);
  return constants;
}

/// The part of a rule's text from "Fires" to the end of that sentence; "" if there is none.
std::string when_it_fires(std::string_view doc) {
  const std::size_t from = std::min(doc.find("Fires "), doc.find("fires "));
  if (from == std::string_view::npos) return "";
  const std::size_t stop = std::min(doc.find(". ", from), doc.find(".\n", from));
  std::string sentence(doc.substr(from, stop == std::string_view::npos ? stop : stop - from));
  std::erase_if(sentence, [](char c) { return c == '`' || c == '*'; });
  sentence.front() = 'f';
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  while (sentence.ends_with('.') || sentence.ends_with(' ')) sentence.pop_back();
  return " It " + with_values(sentence) + ".";
}

/// Other bounds with which the rule would have fired: "'host-bound' or 'mixed'".
std::string verdicts_it_needs(const Rule& rule, const Evidence& evidence, Bound bound) {
  std::string names;
  for (const Bound other : {Bound::host, Bound::communication, Bound::device, Bound::mixed})
    if (other != bound && rule.find(evidence, other))
      names += fmt::format("{}'{}'", names.empty() ? "" : " or ", name_of(other));
  return names;
}

/// " I04, to which it leaves such cases, fires: …" of the first rule that the text's end, "Silent on: …",
/// names and that made a finding; else "".
std::string told_by_another(std::string_view doc, const std::vector<Ranked>& findings) {
  const std::string_view silent_on = doc.substr(std::min(doc.find("Silent on"), doc.size()));
  for (const Ranked& f : findings)
    if (has(silent_on, name_of(f.claim.id)))
      return fmt::format(" {}, to which it leaves such cases, fires: {}.", name_of(f.claim.id),
                         f.claim.title);
  return "";
}

std::string why_silent(const Rule& rule, const Evidence& evidence, Bound bound,
                       const std::vector<Asked>& inputs, const std::vector<Ranked>& findings) {
  if (const std::string told = told_by_another(rule.doc.text, findings); !told.empty())
    return "Silent." + told + when_it_fires(rule.doc.text);
  if (const std::string needed = verdicts_it_needs(rule, evidence, bound); !needed.empty())
    return fmt::format("Silent because the verdict is '{}': it needs {}.", name_of(bound), needed);
  return "Silent." + last_read(inputs) + when_it_fires(rule.doc.text);
}

void fires(Explained& out, const Claim& raw, const Ranked& f, const Range& together, const Evidence& evidence,
           const ReplayedRank& replayed) {
  out.outcome = f.small ? "small" : "fires";
  out.sentence = f.small ? fmt::format("Fires, but saves too little to show: {}.", f.claim.title)
                         : fmt::format("Fires: {}.", f.claim.title);
  out.numbers = numbers_of(raw, f, evidence, replayed, together);
  out.confidence = name_of(f.confidence);
  out.because = reasons_of(raw, f);
}

void explain_rule(Explained& out, const Rule& rule, Judged judged, const Evidence& evidence,
                  const ReplayedRank& replayed) {
  std::vector<Ranked>& findings = judged.prices.findings;
  std::sort(findings.begin(), findings.end(), ranks_before);
  const bool undecided = rule.needs_device && judged.bound == Bound::unknown;
  if (undecided || judged.bound == Bound::too_little) {
    out.outcome = "not asked";
    out.sentence = "Not asked. " + headline(evidence, judged.bound, judged.health);
    return;
  }
  out.inputs.push_back({"the verdict", "verdict", std::string(name_of(judged.bound)), kNoReal, Unit::none});
  const std::optional<Claim> raw = rule.find(evidence.logged(out.inputs), judged.bound);
  const auto is = [&](const Ranked& f) { return f.claim.id == rule.id; };
  const auto tells = [&](const Ranked& f) {
    return std::find(f.claim.within.begin(), f.claim.within.end(), rule.id) != f.claim.within.end();
  };
  out.outcome = "fires";
  if (const auto at = std::find_if(findings.begin(), findings.end(), is); raw && at != findings.end())
    return fires(out, *raw, *at, judged.prices.together, evidence, replayed);
  if (const auto at = std::find_if(findings.begin(), findings.end(), tells); raw && at != findings.end()) {
    out.sentence = fmt::format("Fires, as part of {}: {}.", name_of(at->claim.id), raw->title);
    return;
  }
  out.outcome = "silent";
  out.sentence = raw ? fmt::format("Silent: other findings already claim this saving: {}.", raw->title)
                     : why_silent(rule, evidence, judged.bound, out.inputs, findings);
}

void explain_health(Explained& out, const HealthRule& rule, const Evidence& evidence) {
  const std::optional<Health> row = rule.check(evidence.logged(out.inputs));
  out.outcome = row ? "fires" : "silent";
  if (!row) {
    out.sentence = "Silent." + last_read(out.inputs);
    return;
  }
  const char* does = row->grade == HealthClass::A   ? "stops the conclusions that it affects"
                     : row->grade == HealthClass::B ? "lowers confidence"
                                                    : "informs";
  out.sentence = fmt::format("Fires, class {} ({}): {}", static_cast<char>(row->grade), does, row->what);
  if (!row->suffers.empty()) out.sentence += fmt::format(" Affects {}.", row->suffers);
  if (!row->remedy.empty()) out.sentence += fmt::format(" {}", row->remedy);
}

}  // namespace

std::string_view name_of(const ExplainedId& id) {
  return std::visit([](auto known) { return name_of(known); }, id);
}

std::vector<ExplainedId> explainable_ids() {
  std::vector<ExplainedId> ids;
  for (const Rule& rule : rules()) ids.emplace_back(rule.id);
  std::sort(ids.begin(), ids.end());
  for (const HealthRule& rule : health_rules()) ids.emplace_back(rule.id);
  return ids;
}

std::vector<std::string> explainable_names() {
  std::vector<std::string> names;
  for (const ExplainedId& id : explainable_ids()) names.emplace_back(name_of(id));
  return names;
}

std::optional<ExplainedId> id_of(std::string_view typed) {
  const auto upper = [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); };
  for (const ExplainedId& id : explainable_ids())
    if (std::equal(typed.begin(), typed.end(), name_of(id).begin(), name_of(id).end(),
                   [&](char a, char b) { return upper(a) == b; }))
      return id;
  return std::nullopt;
}

Entry entry_of(const ExplainedId& id) {
  if (const auto* health = std::get_if<HealthId>(&id))
    return {id, "health", rule_of(*health).one_line, "", {}};
  const Rule& rule = rule_of(std::get<RuleId>(id));
  return {id, name_of(category_of(rule.id)), rule.one_line, rule.doc.text, constants_in(rule.doc.text)};
}

std::vector<Explained> explain(const ExplainedId& id, const analyze::Derived& derived, const Reports& reports,
                               unsigned threads) {
  std::vector<Explained> out;
  for (const trace::Rank& rank : derived.trace().ranks) {
    const ReplayedRank& replayed = derived.replayed(rank);
    const std::vector<trace::Rank>& ranks = derived.trace().ranks;
    const Evidence evidence(reports, rank.rank,
                            reports.launched[static_cast<std::size_t>(&rank - ranks.data())]);
    Explained of_rank;
    of_rank.rank = rank.rank;
    if (const auto* health = std::get_if<HealthId>(&id))
      explain_health(of_rank, rule_of(*health), evidence);
    else
      explain_rule(of_rank, rule_of(std::get<RuleId>(id)), judge(derived, evidence, rank, threads), evidence,
                   replayed);
    out.push_back(std::move(of_rank));
  }
  return out;
}

}  // namespace stepscope::advise
