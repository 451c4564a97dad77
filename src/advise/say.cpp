#include "advise/say.h"

#include <cmath>
#include <utility>

namespace stepscope::advise {

std::string ns(std::int64_t time) { return report::format_value(time, report::Unit::ns); }
std::string percent(double share) { return report::format_value(share, report::Unit::share); }

std::string per_step(const Evidence& e, std::int64_t time) {
  return e.fact(&Facts::complete_steps) > 0 ? ns(time / e.steps()) + " per step"
                                            : ns(time) + " in the recording";
}

std::string of_step(const Evidence& e, std::int64_t time) {
  return ns(time / e.steps()) + " of " + ns(e.step_length()) +
         (e.fact(&Facts::complete_steps) > 0 ? " per step" : "");
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

void change(Claim& f, std::vector<Scale> ideal, double pessimism) {
  f.ideal = std::move(ideal);
  f.pessimism = pessimism;
}
void change(Claim& f, std::vector<Scale> ideal, std::vector<Scale> mild) {
  f.ideal = std::move(ideal);
  f.mild = std::move(mild);
}

void part_of_communication(Claim& f) { f.removed = {scale_of(Scale::What::comm, 0)}; }

Scale scale_of(Scale::What what, double factor) { return {.what = what, .factor = factor}; }
Scale scale_of(Scale::What what, std::string_view name, double factor) {
  return {.what = what, .factor = factor, .name = std::string(name)};
}
Scale scale_any(Scale::What what, std::initializer_list<std::string_view> parts, double factor) {
  return {.what = what, .factor = factor, .parts = {parts.begin(), parts.end()}};
}

double rounded(double factor) { return std::round(factor * 1000) / 1000; }

}  // namespace stepscope::advise
