// Which of several choices a text means.
export interface Choice { key: string; words: string; hint: string }

/** Those that contain every word of the text, in any case; the ones that begin with it first. */
export function matching<T extends Choice>(choices: readonly T[], text: string): T[] {
  const query = text.trim().toLowerCase();
  if (query === '') return [...choices];
  const parts = query.split(/\s+/);
  const found = choices.filter(({ words, hint }) => {
    const whole = `${words} ${hint}`.toLowerCase();
    return parts.every((part) => whole.includes(part));
  });
  const begins = (one: T) => one.words.toLowerCase().startsWith(query);
  return [...found.filter(begins), ...found.filter((one) => !begins(one))];
}
