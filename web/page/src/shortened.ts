// Returns `text` in at most `most` characters. An ellipsis replaces the middle of longer text, since
// names often differ at their ends.
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - end).join("")}…${end > 0 ? letters.slice(-end).join("") : ""}`;
}
