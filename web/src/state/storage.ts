// What the browser keeps for this address. It may be closed, as in a notebook: then a choice lasts as long as the page.
export function kept(key: string): string | null {
  try { return localStorage.getItem(key); } catch { return null; }
}
export function keep(key: string, value: string) {
  try { localStorage.setItem(key, value); } catch { /* it lasts as long as the page */ }
}
