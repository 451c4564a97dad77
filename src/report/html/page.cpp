#include <fmt/format.h>

#include <algorithm>

#include "report/html/parts.h"
#include "report/text/layout.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kOpenSentences = 4;

std::string_view entity_of(char32_t code) {
  constexpr std::string_view kEscaped = "&<>\"'", kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  const std::size_t at = code < 0x80 ? kEscaped.find(static_cast<char>(code)) : kEscaped.npos;
  return at == kEscaped.npos ? "" : kEntities[at];
}

void put_line(std::string& out, std::string_view label, std::string_view text) {
  if (!text.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", label, escaped(text));
}

/// "idle: …" with the analysis as a link.
std::string linked(const Proof& proof, const std::vector<const Report*>& sections) {
  const bool here = std::any_of(sections.begin(), sections.end(),
                                [&](const Report* report) { return report->name == proof.analysis; });
  if (!here) return escaped(text_of(proof));
  return fmt::format("<a href=\"#{}\">{}</a>: {}", anchor_of(proof.analysis), escaped(spoken(proof.analysis)),
                     escaped(proof.what));
}

void put_evidence(std::string& out, const std::vector<Proof>& evidence,
                  const std::vector<const Report*>& sections) {
  if (evidence.empty()) return;
  out += "<dt>See</dt><dd>";
  for (const Proof& proof : evidence) out += (out.ends_with("<dd>") ? "" : "; ") + linked(proof, sections);
  out += "</dd>";
}

void put_card(std::string& out, const Card& card, std::size_t number,
              const std::vector<const Report*>& sections) {
  out += fmt::format("<li class=\"card\" id=\"finding-{0}\"><header><h3><span>{0}</span>{1}</h3>", number,
                     escaped(card.title));
  if (const std::string saving = saving_of(card); !saving.empty())
    out += fmt::format("<span class=\"saves\">{}</span>", escaped(saving));
  out += "</header><dl>";
  const Finding& finding = *card.finding;
  put_line(out, "Do", finding.remedy);
  put_evidence(out, finding.evidence, sections);
  put_line(out, "Confidence",
           fmt::format("{}{}{}", name_of(finding.confidence), finding.because.empty() ? "" : ": ",
                       finding.because));
  put_line(out, "Check", finding.verify);
  put_line(out, "Rule", name_of(finding.id));
  out += "</dl></li>\n";
}

/// `text` is HTML.
std::string summary_row(std::string_view number, std::string_view range, std::string_view text,
                        std::string_view kind) {
  return fmt::format("<tr class=\"{}\"><td>{}</td><td class=\"saves\">{}</td><td>{}</td></tr>\n", kind,
                     number, escaped(range), text);
}

void put_sentence(std::string& out, const Sentence& sentence, std::string_view tag) {
  const std::string& text = sentence.headline;
  const std::size_t end = std::min(text.find(". "), text.size());
  out += fmt::format("<{0}>{1}{2}</{0}>\n", tag, escaped(text.substr(0, end)), end < text.size() ? "." : "");
  if (end < text.size()) out += fmt::format("<p>{}</p>\n", escaped(text.substr(end + 2)));
  out += "<ul class=\"facts\">";
  for (const std::string& fact : sentence.facts) out += "<li>" + escaped(fact) + "</li>";
  out += "</ul>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string line = one_line(text);
  std::string out;
  for (std::string_view rest = line; !rest.empty();) {
    const char32_t code = take_code_point(rest);
    const std::string_view entity = entity_of(code);
    if (entity.empty())
      append_utf8(out, code);
    else
      out += entity;
  }
  return out;
}

void put_html_headline(std::string& out, const std::string& sentence) {
  put_sentence(out, {sentence, {}}, "h1");
}

void put_html_verdict(std::string& out, const Verdict& verdict) {
  const std::vector<Sentence> sentences = sentences_of(verdict);
  const std::size_t shown = std::min(sentences.size(), kOpenSentences);
  for (std::size_t i = 0; i < shown; ++i) put_sentence(out, sentences[i], i == 0 ? "h1" : "h2");
  if (shown == sentences.size()) return;
  out +=
      fmt::format("<details><summary>{} more verdicts of other ranks</summary>\n", sentences.size() - shown);
  for (std::size_t i = shown; i < sentences.size(); ++i) put_sentence(out, sentences[i], "h2");
  out += "</details>\n";
}

void put_html_summary(std::string& out, const Verdict& verdict) {
  const std::vector<Card> cards = cards_of(verdict);
  if (cards.empty())
    out +=
        fmt::format("<h2>{}</h2>\n<p>{}</p>\n", heading_of(When::now), escaped(nothing_to_change(verdict)));
  Sum sum = together(verdict);
  const auto put_sum = [&] {
    if (!sum.range.empty())
      out += summary_row("", sum.range, fmt::format("{}: {}", escaped(sum.whose), escaped(sum.steps)), "sum");
    sum.range.clear();
  };
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const Card& card = cards[i];
    if (i > 0 && card.when() != cards[i - 1].when()) {
      put_sum();
      out += "</table>\n";
    }
    if (i == 0 || card.when() != cards[i - 1].when())
      out += fmt::format("<h2>{}{}</h2>\n<table class=\"summary\">\n", heading_of(card.when()),
                         i > 0 || card.range.empty() ? ""
                         : card.finding->per_step ? "<span class=\"quiet\">and what it saves per step</span>"
                                                  : "<span class=\"quiet\">and what it saves</span>");
    std::string text = fmt::format("<a href=\"#finding-{}\">{}</a>", i + 1, escaped(card.title));
    if (const std::string caveat = caveat_of(card); !caveat.empty())
      text += fmt::format(" <span>{}</span>", escaped(caveat));
    if (!card.finding->aside.empty())
      text += fmt::format("<div class=\"aside\">{}</div>", escaped(card.finding->aside));
    if (!card.finding->remedy.empty())
      text += fmt::format("<div class=\"do\">→ {}</div>", escaped(card.finding->remedy));
    out += summary_row(std::to_string(i + 1), range_of(card), text, "");
  }
  put_sum();
  if (!cards.empty()) out += "</table>\n";
  if (const std::size_t count = warnings_of(verdict).size(); count > 0)
    out +=
        fmt::format("<p class=\"more\"><a href=\"#health\">{} thing{} this recording cannot tell</a></p>\n",
                    count, count == 1 ? "" : "s");
}

void put_html_findings(std::string& out, const Verdict& verdict, const std::vector<const Report*>& sections) {
  const std::vector<Card> cards = cards_of(verdict);
  if (cards.empty()) return;
  out += "<section>\n<h2>How and why</h2>\n<ol class=\"findings\">\n";
  for (std::size_t i = 0; i < cards.size(); ++i) put_card(out, cards[i], i + 1, sections);
  out += "</ol>\n</section>\n";
}

void put_html_warning(std::string& out, std::string_view text) {
  out += fmt::format("<div class=\"warning\"><b aria-hidden=\"true\">!</b><p>{}</p></div>\n", escaped(text));
}

}  // namespace stepscope::report
