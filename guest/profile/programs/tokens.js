// A tokenizer and a recursive-descent evaluator: character codes, switches, small objects, recursion.
function tokenize(text) {
  const tokens = [];
  for (let i = 0; i < text.length; ) {
    const code = text.charCodeAt(i);
    if (code === 32) {
      i++;
    } else if (code >= 48 && code <= 57) {
      let value = 0;
      while (i < text.length && text.charCodeAt(i) >= 48 && text.charCodeAt(i) <= 57) {
        value = value * 10 + (text.charCodeAt(i++) - 48);
      }
      tokens.push({ type: "number", value });
    } else {
      tokens.push({ type: text[i++] });
    }
  }
  return tokens;
}

class Parser {
  constructor(tokens) {
    this.tokens = tokens;
    this.at = 0;
  }
  peek() {
    return this.at < this.tokens.length ? this.tokens[this.at].type : "end";
  }
  sum() {
    let left = this.product();
    for (;;) {
      switch (this.peek()) {
        case "+":
          this.at++;
          left += this.product();
          break;
        case "-":
          this.at++;
          left -= this.product();
          break;
        default:
          return left;
      }
    }
  }
  product() {
    let left = this.atom();
    while (this.peek() === "*") {
      this.at++;
      left = (left * this.atom()) % 1000003;
    }
    return left;
  }
  atom() {
    if (this.peek() === "(") {
      this.at++;
      const value = this.sum();
      this.at++;
      return value;
    }
    return this.tokens[this.at++].value;
  }
}

function execute() {
  const text = "(12 + 7 * (3 - 45)) * 6 + ".repeat(200) + "1";
  let total = 0;
  for (let round = 0; round < 10; round++) {
    total += new Parser(tokenize(text)).sum();
  }
  return total;
}
