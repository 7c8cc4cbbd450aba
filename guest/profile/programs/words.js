// Counting and rewriting words: regular expressions, Map, Set, template strings, case, padding.
function execute() {
  const text = "The quick brown fox, jumping over 13 lazy dogs; it's 2024-05-17 and mail@example.org was seen. ".repeat(60);
  let answer = 0;
  for (let round = 0; round < 4; round++) {
    const counts = new Map();
    for (const word of text.toLowerCase().match(/[a-z']+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const top = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 5);
    const slug = text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/(\d{4})-(\d\d)-(\d\d)/g, (_, y, m, d) => `${d}.${m}.${y}`);
    const mails = [...text.matchAll(/(?<user>[\w.]+)@(?<host>[\w.]+\.\w+)/g)].map(({ groups }) => groups.host);
    const unique = new Set(slug.split("-").map((part) => part.trim().padStart(8, "0")));
    answer += top.length + mails.length + unique.size + slug.length;
  }
  return answer;
}
