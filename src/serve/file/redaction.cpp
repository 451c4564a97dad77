#include "serve/file/redaction.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>

#include "base/text.h"
#include "read/json_text.h"
#include "serve/ascii.h"

namespace stepscope::serve {
namespace {

bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; }
bool is_slash(char c) { return c == '/' || c == '\\'; }

/// Ends a path, wherever it stands.
bool ends_path(char c) {
  return std::string_view("\"'<>|:;,()[]{}=*?`\n\t\r").find(c) != std::string_view::npos;
}

/// The end of the path at `from`. A space belongs to it if a slash inside of a word follows.
std::size_t path_end(std::string_view text, std::size_t from) {
  std::size_t end = from;
  for (std::size_t at = from; at < text.size() && !ends_path(text[at]); ++at) {
    if (text[at] != ' ') {
      if (end == at)
        end = at + 1;
      else if (is_slash(text[at]) && text[at - 1] != ' ')
        end = at + 1;
    }
  }
  return end;
}

/// "conv.weight", "train.py": what ends in a point and some letters.
bool has_ending(std::string_view name) {
  const std::size_t point = name.rfind('.');
  if (point == name.npos || point == 0 || point + 1 == name.size() || !is_letter(name[point + 1]))
    return false;
  return name.size() - point <= 10 && std::ranges::all_of(name.substr(point + 1), is_name);
}

/// "C:\", "/", "~/" at `at`.
bool is_absolute(std::string_view text, std::size_t at) {
  const bool first = at == 0 || !(is_name(text[at - 1]) || text[at - 1] == '.' || is_slash(text[at - 1]));
  if (!first) return false;
  const auto has = [&](std::size_t i, auto what) { return at + i < text.size() && what(text[at + i]); };
  if (text[at] == '/') return has(1, [](char c) { return is_name(c) || c == '.' || c == '_' || c == '-'; });
  if (text[at] == '~') return has(1, is_slash);
  if (text[at] == '\\') return has(1, is_slash) && has(2, is_name);
  return is_letter(text[at]) && has(1, [](char c) { return c == ':'; }) && has(2, is_slash) &&
         has(3, [](char c) { return c != '/'; });
}

std::string_view last_part(std::string_view path) {
  while (!path.empty() && is_slash(path.back())) path.remove_suffix(1);
  const std::size_t slash = path.find_last_of("/\\");
  return slash == path.npos ? path : path.substr(slash + 1);
}

/// "/home/ann", "C:\Users\ann": the last part is a person.
bool is_home(std::string_view path) {
  while (!path.empty() && is_slash(path.back())) path.remove_suffix(1);
  const std::size_t slash = path.find_last_of("/\\");
  if (slash == path.npos) return false;
  const std::string_view parent = last_part(path.substr(0, slash));
  return parent == "home" || parent == "Users" || parent == "users";
}

/// A relative path to a file, e.g. "src/model/train.py".
bool is_relative_path(std::string_view word) {
  return word.find('/') != word.npos && word.find("//") == word.npos && has_ending(last_part(word));
}

std::string without_paths(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (is_absolute(text, at)) {
      const std::size_t drive = is_letter(text[at]) ? 2 : 0;  // its colon does not end the path
      const std::size_t end = path_end(text, at + drive);
      const std::string_view path = text.substr(at, end - at);
      out += is_home(path) ? std::string_view("~") : last_part(path);
      at = end;
    } else if (is_name(text[at]) || text[at] == '.' || text[at] == '_') {
      std::size_t end = at;
      while (end < text.size() && !ends_path(text[end]) && text[end] != ' ') ++end;
      const std::string_view word = text.substr(at, end - at);
      if (text.substr(end).starts_with("://")) {
        std::size_t to = end + 3;
        while (to < text.size() && text[to] != ' ' && text[to] != '"') ++to;
        out.append(word) += "://";
        out += last_part(text.substr(end + 3, to - end - 3));
        at = to;
        continue;
      }
      out += is_relative_path(word) ? last_part(word) : word;
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string without_folders(std::string text, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    for (std::size_t at = 0; (at = text.find(folder, at)) != text.npos;) {
      const bool begins =
          at == 0 || !(is_name(text[at - 1]) || text[at - 1] == '.' || is_slash(text[at - 1]));
      if (begins)
        text.erase(at, folder.size());
      else
        at += folder.size();
    }
  return text;
}

std::string without_hosts(std::string text, const std::vector<std::string>& hosts) {
  for (std::size_t n = 0; n < hosts.size(); ++n) {
    const std::string& host = hosts[n];
    const std::string other = fmt::format("host{}", n + 1);
    const std::string small = lower(text);
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = small.find(lower(host), at)) != small.npos;) {
      const std::size_t end = at + host.size();
      const bool apart = (at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]));
      if (apart) {
        out.append(text, done, at - done) += other;
        done = end;
      }
      at = end;
    }
    out.append(text, done);
    text = std::move(out);
  }
  return text;
}

/// The text of a JSON literal, whose quotes are cut off.
std::string unescaped(std::string_view literal) {
  std::string out;
  read::unescape(literal, out);
  return out;
}

void redact_all(const Redaction& redaction, std::vector<std::string>& texts) {
  for (std::string& text : texts) text = redaction.text(text);
}

void redact_report(const Redaction& redaction, report::Report& report) {
  redact_all(redaction, report.notes);
  for (report::Table& table : report.tables) {
    table.title = redaction.text(table.title);
    for (report::Column& column : table.columns)
      if (auto* texts = std::get_if<report::Texts>(&column.values)) redact_all(redaction, *texts);
  }
}

void redact_verdict(const Redaction& redaction, report::Verdict& verdict) {
  redact_all(redaction, verdict.notes);
  const auto all = [&](auto&... texts) { ((texts = redaction.text(texts)), ...); };
  for (report::RankVerdict& rank : verdict.ranks) all(rank.headline, rank.found_by, rank.evidence.what);
  for (report::Finding& finding : verdict.findings) {
    all(finding.title, finding.aside, finding.because, finding.remedy, finding.verify);
    for (report::Proof& proof : finding.evidence) all(proof.what);
  }
  for (report::Health& health : verdict.health) all(health.what, health.suffers, health.remedy);
}

constexpr std::size_t kShortestHost = 3;
constexpr std::array<std::string_view, 3> kNoSecrets = {"localhost", "worker", "rank"};

void add_host(std::vector<std::string>& hosts, std::string_view name) {
  for (const std::string_view one : {name, name.substr(0, std::min(name.find('.'), name.size()))}) {
    const bool secret = one.size() >= kShortestHost &&
                        std::ranges::find(kNoSecrets, lower(one)) == kNoSecrets.end() &&
                        !std::ranges::all_of(one, is_digit);
    if (secret && std::ranges::find(hosts, one) == hosts.end()) hosts.emplace_back(one);
  }
}

/// "HOST" of "HOST_PID.TIME.pt.trace.json.gz"; "" if the file is not called like that.
std::string_view host_in(std::string_view file) {
  const std::size_t ending = file.find(".pt.trace.json");
  if (ending == file.npos) return "";
  const std::string_view head = file.substr(0, ending);
  const std::size_t line = head.rfind('_'), point = head.find('.', std::min(line, head.size()));
  if (line == head.npos || point == head.npos) return "";
  const std::string_view pid = head.substr(line + 1, point - line - 1), time = head.substr(point + 1);
  const bool numbers = !pid.empty() && !time.empty() && std::ranges::all_of(pid, is_digit) &&
                       std::ranges::all_of(time, is_digit);
  return numbers ? head.substr(0, line) : "";
}

}  // namespace

std::string Redaction::text(std::string_view text) const {
  std::string out = paths ? without_paths(without_folders(std::string(text), folders)) : std::string(text);
  return hosts ? without_hosts(std::move(out), host_names) : out;
}

std::string Redaction::json(std::string_view document) const {
  if (!changes_texts()) return std::string(document);
  std::string out;
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t quote = std::min(document.find('"', at), document.size());
    out += document.substr(at, quote - at);
    if (quote == document.size()) break;
    std::size_t end = quote + 1;
    while (end < document.size() && document[end] != '"') end += document[end] == '\\' ? 2 : 1;
    end = std::min(end, document.size());
    out += json_text(text(unescaped(document.substr(quote + 1, end - quote - 1))));
    at = std::min(end + 1, document.size());
  }
  return out;
}

void Redaction::redact(report::Page& page) const {
  if (!changes_texts()) return;
  page.title = text(page.title);
  page.headline = text(page.headline);
  redact_all(*this, page.next);
  for (report::Report& report : page.reports) redact_report(*this, report);
  if (page.verdict) redact_verdict(*this, *page.verdict);
}

Result<Redaction> redaction_of(std::string_view words) {
  Redaction redaction;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    const std::string_view word = words.substr(0, end);
    if (word == "paths")
      redaction.paths = true;
    else if (word == "hosts")
      redaction.hosts = true;
    else if (word == "args")
      redaction.args = true;
    else
      return Error{fmt::format("--redact: '{}' is none of paths, hosts and args", word), "", -1};
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return redaction;
}

std::vector<std::string> folders_of(const trace::Trace& trace, const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  // Not the folders above: what is left of another path below them would not look like a path any more.
  const auto add = [&](std::string folder) {
    if (folder.size() < 2) return;
    std::string quoted;
    for (const char c : folder) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    if (quoted != folder) folders.push_back(std::move(quoted));
    folders.push_back(std::move(folder));
  };
  const auto add_parent = [&](const std::string& path) {
    if (const std::size_t slash = path.rfind('/'); slash != path.npos) add(path.substr(0, slash + 1));
  };
  for (const std::string& path : paths) {
    add_parent(path);
    add(path + '/');
  }
  for (const trace::Rank& rank : trace.ranks) add_parent(rank.path);
  for (const trace::Companion& companion : trace.companions) add_parent(companion.path);
  std::ranges::stable_sort(folders, std::greater{}, &std::string::size);
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

std::vector<std::string> host_names_of(const trace::Trace& trace) {
  std::vector<std::string> hosts;
  std::array<char, 256> own{};
  if (::gethostname(own.data(), own.size() - 1) == 0) add_host(hosts, own.data());
  for (const trace::Rank& rank : trace.ranks) {
    add_host(hosts, host_in(std::filesystem::path(rank.path).filename().string()));
    for (const auto& [key, value] : rank.metadata) {
      const std::string name = lower(key);
      if (name != "host" && name != "hostname" && name != "host_name") continue;
      if (value.size() > 2 && value.front() == '"')
        add_host(hosts, unescaped(value.substr(1, value.size() - 2)));
    }
  }
  std::ranges::stable_sort(hosts, std::greater{}, &std::string::size);
  return hosts;
}

}  // namespace stepscope::serve
