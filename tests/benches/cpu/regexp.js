// Finds, groups, alternatives, backtracking and replacement in a log.
function line(n) {
  const status = [200, 301, 404, 500][n % 4];
  return `10.0.${n % 256}.${(n * 7) % 256} - user${n % 97} [2026-03-${String(1 + (n % 28)).padStart(2, "0")}] ` +
    `"GET /items/${n}?page=${n % 10}&q=a+b HTTP/1.1" ${status} ${n * 31}`;
}

function execute({ scale }) {
  const lines = [];
  for (let n = 0; n < 600 * scale; n++) lines.push(line(n));
  const text = lines.join("\n");

  const request = /^(?<ip>\d+(?:\.\d+){3}) - (?<user>\w+) \[([^\]]+)\] "(?:GET|POST) ([^" ?]+)\??([^" ]*)[^"]*" (\d{3}) (\d+)$/gm;
  let bytes = 0;
  for (const match of text.matchAll(request)) {
    bytes += Number(match[7]) + match.groups.user.length;
  }
  const failed = text.match(/" (?:4|5)\d\d /g).length;
  const hidden = text.replace(/(\d+)\.(\d+)\.\d+\.\d+/g, "$1.$2.*.*").length;
  const camel = text.replace(/\b([a-z])([a-z]+)\b/gi, (_, first, rest) => first.toUpperCase() + rest).length;
  const repeated = (text.match(/(\d)\1/g) ?? []).length;
  return [bytes, failed, hidden, camel, repeated];
}
