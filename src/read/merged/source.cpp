#include "read/merged/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "read/json_members.h"
#include "read/losses.h"

namespace stepscope::read {

MergedSource source_of(std::string_view entry) {
  const auto members = members_of(entry);
  MergedSource source;
  source.name = text_of(member(members, "source"));
  source.rank = integer_of(member(members, "rank"), -1);
  source.foreign = member(members, "kind") == "\"foreign\"";
  source.dftracer = source.foreign && member(members, "lines") == "true";
  source.head = members_of(member(members, "head"));
  source.alignment = member(members, "alignment");
  for (const std::string& text : elements_of(member(members, "processes"))) {
    const auto process = members_of(text);
    source.processes.push_back({integer_of(member(process, "pid"), -1), 0, text_of(member(process, "was")),
                                text_of(member(process, "name"))});
  }
  for (const std::string& text : elements_of(member(members, "threads"))) {
    const auto thread = members_of(text);
    source.threads.push_back({integer_of(member(thread, "pid"), -1), integer_of(member(thread, "tid"), -1),
                              text_of(member(thread, "was")), ""});
  }
  for (const std::string& shift : elements_of(member(members, "id_shifts")))
    source.id_shifts.push_back(integer_of(shift, 0));
  source.id_shifts.resize(kIdSpaces);
  return source;
}

MergedTotal total_of(std::string_view entry) {
  const auto members = members_of(entry);
  MergedTotal total;
  total.name = text_of(member(members, "source"));
  total.events = integer_of(member(members, "events"), -1);
  trace::Reading& damage = total.damage;
  damage.losses = integer_of(member(members, "damaged_stretches"), 0);
  damage.lost_bytes = integer_of(member(members, "lost_bytes"), 0);
  damage.complete = member(members, "complete") != "false";
  for (const std::string& text : elements_of(member(members, "losses"))) {
    const auto loss = members_of(text);
    damage.first_losses.push_back({integer_of(member(loss, "byte"), -1),
                                   integer_of(member(loss, "bytes"), -1), text_of(member(loss, "reason"))});
  }
  return total;
}

void add_damage(trace::Reading& reading, const trace::Reading& damage, const std::string& since) {
  constexpr std::int64_t kMax = std::int64_t{1} << 50;
  for (trace::Loss loss : damage.first_losses) {
    if (!loss.reason.ends_with(since)) loss.reason += since;
    describe(reading.first_losses, std::move(loss));
  }
  reading.losses += std::clamp<std::int64_t>(damage.losses, 0, kMax);
  reading.lost_bytes += std::clamp<std::int64_t>(damage.lost_bytes, 0, kMax);
  reading.complete &= damage.complete;
}

void count_merged(trace::Reading& reading, const std::optional<MergedTotal>& total) {
  if (!total) return;
  add_damage(reading, total->damage, "; already damaged in " + total->name + " when it was merged");
  if (total->events < 0 || total->events == reading.events) return;
  ++reading.losses;
  describe(reading.first_losses,
           {0, -1,
            fmt::format(
                "{} events of {} were merged but {} are here: the merged file was damaged later; merge the "
                "ranks again",
                total->events, total->name, reading.events)});
}

}  // namespace stepscope::read
