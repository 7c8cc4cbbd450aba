// Builds, slices, searches and compares strings.
function execute({ scale }) {
  let built = "";
  for (let n = 0; n < 30_000 * scale; n++) built += n % 3 === 0 ? "ab" : String.fromCharCode(97 + (n % 26));

  let vowels = 0;
  for (let i = 0; i < built.length; i++) if ("aeiou".includes(built[i])) vowels++;

  let found = 0;
  for (let at = built.indexOf("abh"); at >= 0; at = built.indexOf("abh", at + 1)) found++;

  const parts = [];
  for (let i = 0; i + 8 <= built.length; i += 8) parts.push(built.slice(i, i + 8).toUpperCase());
  const joined = parts.join("-");
  const words = joined.split("-").filter((word) => word.startsWith("A")).map((word) => word.padEnd(10, ".").trim());

  let hash = 0;
  for (let i = 0; i < joined.length; i++) hash = (Math.imul(hash, 31) + joined.charCodeAt(i)) | 0;
  return [built.length, vowels, found, words.length, hash];
}
