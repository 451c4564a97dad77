#include "report/html.h"

#include <fmt/format.h>

#include <iterator>

#include "report/html_parts.h"
#include "report/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

constexpr std::size_t kOpenRows = 12;  // below a picture, longer tables are folded

void put_head(std::string& out, const Page& page) {
  out += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", kPolicy);
  out += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n", escaped(page.title),
                     style_sheet());
  out += chart_patterns();
  out += "\n<main>\n";
}

/// Whether there is a picture that says as much as the numbers do.
bool put_picture(std::string& out, const Table& table) {
  if (const auto stack = stack_of(table)) put_html_stack(out, table, *stack);
  if (table.shape == Shape::flame) return put_html_flame(out, table);
  return (table.shape == Shape::curve && put_html_curve(out, table)) ||
         (table.shape == Shape::matrix && put_html_matrix(out, table));
}

void put_section(std::string& out, const Table& table, std::size_t number) {
  out += fmt::format("<section id=\"t{}\"{}>\n<h2>{}</h2>\n", number,
                     table.rows() > 20 ? " class=\"long\"" : "", escaped(table.title));
  const std::vector<Part> parts = parts_of(table);
  if (!parts.empty()) {
    put_html_whole(out, parts, table.title);
  } else {
    const bool folded = put_picture(out, table) && table.rows() > kOpenRows;
    if (folded) out += "<details><summary>Numbers</summary>\n";
    put_html_table(out, table);
    if (folded) out += "</details>\n";
  }
  out += "</section>\n";
}

void put_contents(std::string& out, const std::vector<const Table*>& tables) {
  std::string items;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (place_of(*tables[i]) != Place::rest) continue;
    items += fmt::format("<li><a href=\"#t{}\">{}</a></li>", i, escaped(tables[i]->title));
    ++shown;
  }
  if (shown > 2) out += "<nav aria-label=\"Tables\"><ul>" + items + "</ul></nav>\n";
}

void put_next(std::string& out, const Page& page) {
  if (page.next.empty()) return;
  out += "<section class=\"next\"><h2>Next</h2>";
  for (const std::string& command : page.next) out += "<code>" + escaped(command) + "</code>";
  out += "</section>\n";
}

void put_title(std::string& out, const Page& page, const std::vector<const Table*>& tables) {
  out += "<header>\n";
  const bool judged =
      !tables.empty() && place_of(*tables.front()) == Place::verdict && tables.front()->rows() > 0;
  const std::string_view tag = judged ? "p class=\"what\"" : "h1";
  out += fmt::format("<{}>{}</{}>\n", tag, escaped(page.title), judged ? "p" : "h1");
  if (judged) put_html_verdict(out, *tables.front());
  put_contents(out, tables);
  out += "</header>\n";
}

}  // namespace

std::string to_html(const Page& page) {
  const std::vector<const Table*> tables = in_order(page);
  std::string out;
  put_head(out, page);
  put_title(out, page, tables);
  bool warned = false;
  const auto warn = [&] {
    for (const std::string& note : notes_of(page)) put_html_warning(out, note);
    warned = true;
  };
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Table& table = *tables[i];
    const Place place = place_of(table);
    if (place == Place::rest && !warned) warn();
    if (place == Place::findings) put_html_findings(out, table);
    if (place == Place::health)
      for (const std::string& line : health_lines(table)) put_html_warning(out, line);
    if (place == Place::whole || place == Place::rest) put_section(out, table, i);
  }
  if (!warned) warn();
  put_next(out, page);
  out += "<footer>Written by stepscope " STEPSCOPE_VERSION
         ". This file is complete: it loads nothing.</footer>\n";
  out += "</main>\n</body>\n</html>\n";
  return out;
}

std::string to_html(const Report& report) { return to_html(Page{"stepscope: " + report.name, {report}, {}}); }

}  // namespace stepscope::report
