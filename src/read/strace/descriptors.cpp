#include "read/strace/descriptors.h"

#include <algorithm>
#include <utility>

namespace stepscope::read {
namespace {

constexpr std::size_t kMostDescriptors = std::size_t{1} << 20;  // of a process

bool makes_thread(std::string_view args) { return args.find("CLONE_THREAD") != std::string_view::npos; }

}  // namespace

StraceFile* StraceDescriptors::find(std::int64_t descriptor) const {
  const auto at = slots_.find(descriptor);
  return at == slots_.end() ? nullptr : at->second.file.get();
}

void StraceDescriptors::open(std::int64_t descriptor, StraceFile file, bool closes_at_exec) {
  if (slots_.size() < kMostDescriptors)
    slots_[descriptor] = {std::make_shared<StraceFile>(std::move(file)), closes_at_exec};
}

void StraceDescriptors::close(std::int64_t first, std::int64_t last, bool at_exec_only) {
  if (first > last) return;
  const auto begin = slots_.lower_bound(first), end = slots_.upper_bound(last);
  if (!at_exec_only) {
    slots_.erase(begin, end);
    return;
  }
  for (auto at = begin; at != end; ++at) at->second.closes_at_exec = true;
}

void StraceDescriptors::duplicate(std::int64_t from, std::int64_t to, bool closes_at_exec) {
  if (from == to) return;
  const auto at = slots_.find(from);
  if (at == slots_.end())
    slots_.erase(to);
  else if (slots_.size() < kMostDescriptors)
    slots_[to] = {at->second.file, closes_at_exec};
}

void StraceDescriptors::set_close_at_exec(std::int64_t descriptor, bool closes) {
  if (const auto at = slots_.find(descriptor); at != slots_.end()) at->second.closes_at_exec = closes;
}

void StraceDescriptors::exec() {
  std::erase_if(slots_, [](const auto& slot) { return slot.second.closes_at_exec; });
}

void StraceProcesses::seen(std::int64_t thread) {
  if (processes_.contains(thread) || processes_.size() >= kMost) return;
  Fork* only = nullptr;
  std::int64_t parent = 0;
  for (auto& [by, fork] : forking_) {
    if (fork.child != 0) continue;
    if (only != nullptr) {  // it may be the child of any
      only = nullptr;
      break;
    }
    only = &fork;
    parent = by;
  }
  processes_[thread] = 0;
  if (only == nullptr) return;
  only->child = thread;
  start(parent, thread, only->is_thread);
}

std::int64_t StraceProcesses::process_of(std::int64_t thread) const {
  const auto found = processes_.find(thread);
  return found == processes_.end() || found->second == 0 ? thread : found->second;
}

void StraceProcesses::forks(std::int64_t thread, std::string_view args) {
  if (forking_.size() < kMost) forking_[thread] = {.is_thread = makes_thread(args)};
}

void StraceProcesses::forked(std::int64_t thread, std::int64_t child, std::string_view args) {
  const auto fork = forking_.find(thread);
  const bool is_known = fork != forking_.end() && fork->second.child == child;
  if (fork != forking_.end()) forking_.erase(fork);
  if (child <= 0 || is_known) return;
  const auto seen = processes_.find(child);
  if (seen != processes_.end() && seen->second != 0) ended(child);  // its number had another owner
  start(thread, child, makes_thread(args));
}

void StraceProcesses::start(std::int64_t parent, std::int64_t child, bool is_thread) {
  if (processes_.size() >= kMost) return;
  const std::int64_t process = process_of(parent);
  processes_[child] = is_thread ? process : child;
  const auto found = files_.find(process);
  if (is_thread || found == files_.end() || found->second.size() > kMost - inherited_) return;
  const StraceDescriptors from = found->second;
  inherited_ += from.size();
  files_[child].inherit(from);
}

void StraceProcesses::ended(std::int64_t thread) {
  forking_.erase(thread);
  const auto found = files_.find(thread);
  if (process_of(thread) == thread && found != files_.end()) {
    inherited_ -= std::min(inherited_, found->second.size());
    files_.erase(found);
  }
  processes_.erase(thread);
}

}  // namespace stepscope::read
