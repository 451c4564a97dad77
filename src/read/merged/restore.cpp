#include "read/merged/restore.h"

#include <map>
#include <set>

#include "read/json_members.h"

namespace stepscope::read {
namespace {

/// Undoes merging in one vocabulary and the batches that use it.
class Restorer {
 public:
  Restorer(const MergedSource& source, Vocabulary& words) : source_(source), words_(words) {
    for (const Renamed& r : source.processes) processes_[r.pid] = r.was, given_.insert(r.name);
    for (const Renamed& r : source.threads) threads_[{r.pid, r.tid}] = r.was;
    for (TrackKey& track : words.tracks) restore(track.pid, track.tid);
    id_fields_.resize(words.schemas.size());
    for (trace::SchemaId id = 0; id < words.schemas.size(); ++id) {
      std::size_t word = 0;
      for (const trace::ArgField field : words.schemas.fields(id)) {
        if (const auto space = id_space_of(words.strings[field.key]))
          id_fields_[id].push_back({word, field, *space});
        word += field.words();
      }
    }
  }

  void restore(Batch& batch, std::int64_t to_source_base) {
    std::erase_if(batch.names, [&](const NameEvent& event) {
      return words_.strings[event.what] == "process_name" && given_.contains(words_.strings[event.name]);
    });
    for (NameEvent& event : batch.names) restore(event.pid, event.tid);
    std::size_t at = batch.first_value;
    for (ParsedRow& row : batch.rows) {
      row.start += to_source_base, row.end += to_source_base;
      restore_ids(row.schema, words_.values, at, batch);
      at += words_.schemas.words(row.schema);
    }
    for (HalfEvent& half : batch.halves) {
      half.time += to_source_base;
      restore_ids(half.schema, words_.half_values, half.args_at, batch);
    }
    for (ParsedFlow& flow : batch.flows) {
      flow.time += to_source_base;
      if (!is_no_id(flow.id)) flow.id -= source_.id_shifts[static_cast<std::size_t>(IdSpace::link)];
    }
  }

 private:
  struct IdField {
    std::size_t word;
    trace::ArgField field;
    IdSpace space;
  };

  void restore(Ident& id, const std::string& was) {
    const std::int64_t number = integer_of(was, -1);
    const bool text = std::to_string(number) != was;
    id = {text ? std::int64_t{words_.strings.intern(was)} : number, text};
  }
  void restore(Ident& pid, Ident& tid) {
    if (pid.text) return;
    const auto thread = tid.text ? threads_.end() : threads_.find({pid.value, tid.value});
    const auto process = processes_.find(pid.value);
    if (thread != threads_.end()) restore(tid, thread->second);
    if (process != processes_.end()) restore(pid, process->second);
  }

  void restore_ids(trace::SchemaId schema, trace::Values& values, std::size_t at, Batch& batch) {
    for (const auto& [word, field, space] : id_fields_[schema]) {
      const std::int64_t shift = source_.id_shifts[static_cast<std::size_t>(space)];
      const std::int64_t value = values.get(at + word, field.wide);
      if (field.type == trace::ArgType::integer && !is_no_id(value))
        values.set(at + word, field.wide, value - shift);
      if (field.type != trace::ArgType::text) continue;
      const std::int64_t number = integer_of(words_.strings[static_cast<trace::StringId>(value)], 0);
      if (is_no_id(number)) continue;
      const trace::StringId was = words_.strings.intern(std::to_string(number - shift));
      values.set(at + word, field.wide, was);
      batch.first_uses.push_back(was);
    }
  }

  const MergedSource& source_;
  Vocabulary& words_;
  std::map<std::int64_t, std::string> processes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> threads_;
  std::set<std::string, std::less<>> given_;
  std::vector<std::vector<IdField>> id_fields_;  // by schema
};

}  // namespace

void restore_source(ParsedFile& file, const MergedSource& source, std::int64_t merged_base_ns) {
  for (std::uint32_t v = 0; v < file.words.size(); ++v) {
    Restorer restorer(source, file.words[v]);
    for (Batch& batch : file.batches)
      if (batch.vocabulary == v) restorer.restore(batch, merged_base_ns - file.rank.base_ns);
  }
}

}  // namespace stepscope::read
