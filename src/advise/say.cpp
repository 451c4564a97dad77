#include "advise/say.h"

namespace stepscope::advise {

std::string ns(std::int64_t time) { return report::format_value(time, report::Unit::ns); }
std::string percent(double share) { return report::format_value(share, report::Unit::share); }

std::string per_step(const Evidence& e, std::int64_t time) {
  return e.fact(&Facts::complete_steps) > 0 ? ns(time / e.steps()) + " per step"
                                            : ns(time) + " in the recording";
}

Claim claim(const Evidence& e, RuleId id, std::string title) {
  Claim f;
  f.id = id;
  f.title = std::move(title);
  f.rank = e.rank();
  return f;
}

void save(Claim& f, std::int64_t time_per_step, double low, double high) {
  f.saving_low = static_cast<std::int64_t>(static_cast<double>(time_per_step) * low);
  f.saving_high = static_cast<std::int64_t>(static_cast<double>(time_per_step) * high);
}

namespace {
std::vector<analyze::Scale> scales(std::string_view text) { return analyze::parse_scales(text).value(); }
}  // namespace

void change(Claim& f, std::string_view ideal, double pessimism) {
  f.ideal = scales(ideal);
  f.pessimism = pessimism;
}
void change(Claim& f, std::string_view ideal, std::string_view mild) {
  f.ideal = scales(ideal);
  f.mild = scales(mild);
}

void part_of(Claim& f, std::string_view removed) { f.removed = scales(removed); }

analyze::Scale scale_of(analyze::Scale::What what, std::string_view name, double factor) {
  return {std::string(name), what, std::string(name), {}, factor};
}

}  // namespace stepscope::advise
