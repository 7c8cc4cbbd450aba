//! Small programs that exceed any cell, and small ones that do not.

use toolcell_tool::Language;

fn check(sources: &[&str], finds: bool) {
    let wrong: Vec<&&str> = sources
        .iter()
        .filter(|source| {
            let analysis = crate::analyze(source, Language::TypeScript, None).unwrap();
            analysis.findings.iter().any(|finding| finding.rule.name() == "resource-exhaustion") != finds
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} are not told:\n{wrong:#?}", wrong.len(), sources.len());
}

#[test]
fn what_fits_into_no_cell_is_found() {
    check(
        &[
            "const f = (x) => x.repeat(1e9);",
            "const f = (x) => x.repeat(1e5).repeat(1e5);",
            "const f = (x) => { const row = x.repeat(100_000); return row.repeat(10_000) }",
            "const f = (x) => x.padEnd(2 ** 29);",
            "const l = new Array(1e8).fill(0);",
            "const l = Array(5e7).join('ab');",
            "const l = Array.from({ length: 2e7 }, (_, i) => i);",
            "const l = [...Array(3e7).keys()];",
            "const l = Array.from({ length: 1e4 }, () => new Array(1e4).fill(0));",
            "const l = Array(1e4).fill(0).map(() => Array(1e4).fill(0));",
            "const b = new ArrayBuffer(2 ** 32);",
            "const b = new Float64Array(1e8);",
            "const b = Buffer.alloc(1 << 30);",
            "const b = new Float64Array(1e7);",
            "const n = 2n ** 1_000_000_000n;",
            "const n = 9n ** 9n ** 9n;",
            "const n = 1n << 1_000_000_000n;",
            "const n = BigInt(2) ** BigInt(1e9);",
            "const a = []; a[4294967294] = 1; a.join();",
            "const a = []; a.length = 2 ** 32 - 1; a.fill(0);",
            "let s = 'x'; for (let i = 0; i < 40; i++) s += s;",
            "let s = 'x'; for (let i = 0; i < 40; i++) s = s + s;",
            "let s = 'x'; for (let i = 0; i < 40; i++) s = `${s}${s}`;",
            "let a = [1]; for (let i = 0; i < 40; i++) a = a.concat(a);",
            "let a = [1]; for (let i = 0; i < 40; i++) a = [...a, ...a];",
            "let a = [1]; for (let i = 0; i < 40; i++) a.push(...a);",
            "let a = [1]; for (let i = 0; i < 40; i++) a = a.flatMap((x) => [x, x]);",
            "let o = {}; for (let i = 0; i < 40; i++) o = { a: o, b: o };",
            "let o = []; for (let i = 0; i < 40; i++) o = [o, o];",
            "let s = 'x', i = 0; while (i < 40) { s += s; i++ }",
            "let s = 'x', i = 40; while (i-- > 0) s = s.repeat(2);",
            "let s = 'x'; while (true) s += s;",
            "let s = 'x'; while (s.length < 1e9) s += s;",
            "const s = [...Array(40)].reduce((s) => s + s, 'x');",
            "let s = 'x'; Array.from({ length: 40 }).forEach(() => { s += s });",
            "const grow = (s, n) => n === 0 ? s : grow(s + s, n - 1); grow('x', 40);",
            "function grow(l, n) { if (n === 0) return l; return grow([...l, ...l], n - 1) } const l = grow([1], 60);",
            "const twice = (s) => s + s; let s = 'x'; for (let i = 0; i < 50; i++) s = twice(s);",
            "let n = 0; for (let a = 0; a < 1e5; a++) for (let b = 0; b < 1e5; b++) n++;",
            "let n = 0; for (let i = 0; i < 1e11; i++) n += i;",
            "let n = 0, i = 0; while (i < 1e12) { n += i; i++ }",
            "const a = 'lol'; const b = a + a + a + a + a + a + a + a + a + a; const c = b + b + b + b + b + b + b + b + b + b; const d = c + c + c + c + c + c + c + c + c + c; const e = d + d + d + d + d + d + d + d + d + d; const f = e + e + e + e + e + e + e + e + e + e; const g = f + f + f + f + f + f + f + f + f + f; const h = g + g + g + g + g + g + g + g + g + g; const i = h + h + h + h + h + h + h + h + h + h;",
            "const a = ['lol']; const b = [a, a, a, a, a, a, a, a, a, a]; const c = [b, b, b, b, b, b, b, b, b, b]; const d = [c, c, c, c, c, c, c, c, c, c]; const e = [d, d, d, d, d, d, d, d, d, d]; const f = [e, e, e, e, e, e, e, e, e, e]; const g = [f, f, f, f, f, f, f, f, f, f]; const h = [g, g, g, g, g, g, g, g, g, g]; const i = [h, h, h, h, h, h, h, h, h, h];",
            "const l = []; while (true) l.push('x');",
            "const m = new Map(); for (let i = 0; ; i++) m.set(i, i);",
            "let s = ''; for (;;) { s += 'x' }",
            "const l = []; for (let i = 0; i < 1e8; i++) l.push(i);",
            "let s = ''; for (let i = 0; i < 1e9; i++) s += 'x';",
            "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); fib(60);",
            "function fib(n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2) } const x = fib(50);",
            "function hanoi(n, a, b, c) { if (n === 0) return; hanoi(n - 1, a, c, b); log(a); hanoi(n - 1, c, b, a) } hanoi(64, 1, 2, 3);",
            "const ack = (m, n) => m === 0 ? n + 1 : n === 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); ack(4, 3);",
            "const all = Promise.all(Array.from({ length: 5e6 }, (_, i) => get(i)));",
            "const r = [...Array(1e5).keys()]; const p = r.flatMap((a) => r.map((b) => [a, b]));",
            "const r = Array.from({ length: 1e5 }, (_, i) => i); let n = 0; for (const a of r) for (const b of r) n += a * b;",
            "let n = 3n; for (let i = 0; i < 40; i++) n *= n;",
            "const l = Array.apply(null, { length: 1e8 });",
            "const s = JSON.stringify({ a: 1 }, null, ' '.repeat(1e9));",
            "const b = Uint8Array.from({ length: 1e9 });",
            "const m = new WebAssembly.Memory({ initial: 65536 });",
        ],
        true,
    );
}

#[test]
fn what_fits_is_left_alone() {
    check(
        &[
            "const f = (x) => x.repeat(80);",
            "const f = ({ x, n }) => x.repeat(n);",
            "const f = (x) => x.repeat(1000).repeat(10);",
            "const f = ({ x, n }) => x.padEnd(Math.min(n, 1e9));",
            "const l = new Array(1000).fill(0);",
            "const l = Array.from({ length: 1e6 }, (_, i) => i);",
            "const b = new Uint8Array(1 << 20);",
            "const b = Buffer.alloc(1024 * 1024);",
            "const b = new Float64Array(1e6);",
            "const most = 2n ** 64n - 1n;",
            "const bit = 1n << 200n;",
            "const p = 2 ** 53;",
            "const o = {}; o[4294967294] = 1;",
            "const a = []; a.length = 0;",
            "let s = 'x'; for (let i = 0; i < 5; i++) s += s;",
            "let n = 1; for (let i = 0; i < 40; i++) n += n;",
            "let n = 1; for (let i = 0; i < 50; i++) n = n + n;",
            "let s = ' '; const f = (w) => { while (s.length < w) s += s; return s.slice(0, w) }",
            "const f = (s, n) => { let out = ''; while (n > 0) { if (n & 1) out += s; s += s; n >>= 1 } return out }",
            "let s = ''; for (let i = 0; i < 1000; i++) s += 'x';",
            "const f = (rows) => { let out = ''; for (const r of rows) out += r; return out }",
            "let a = []; for (let i = 0; i < 100; i++) a = [...a, i];",
            "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); fib(20);",
            "const memo = {}; const fib = (n) => n in memo ? memo[n] : (memo[n] = fib(n - 1) + fib(n - 2)); fib(90);",
            "const m = new Map(); function fib(n) { if (n < 2) return n; if (m.has(n)) return m.get(n); const v = fib(n - 1) + fib(n - 2); m.set(n, v); return v } fib(90);",
            "const fib = (n, a = 0n, b = 1n) => n === 0 ? a : fib(n - 1, b, a + b); fib(1000);",
            "let n = 0; for (let a = 0; a < 1000; a++) for (let b = 0; b < 1000; b++) n++;",
            "let n = 0; for (let a = 0; a < 1e6; a++) n++; for (let b = 0; b < 1e6; b++) n++;",
            "const f = (done) => { for (let i = 0; i < Number.MAX_SAFE_INTEGER; i++) { if (done(i)) return i } }",
            "const l = []; const f = (next) => { while (true) { const x = next(); if (!x) return l; l.push(x) } }",
            "for (let i = 0; i < 1000; i++) { const x = [i, i]; log(x) }",
            "const f = (a, b) => a.flatMap((x) => b.map((y) => [x, y]));",
            "const r = [...Array(100).keys()]; const p = r.flatMap((a) => r.map((b) => [a, b]));",
            "const wait = (ms) => new Promise((done) => setTimeout(done, ms)); wait(500);",
            "const all = Promise.all([1, 2, 3].map((x) => get(x)));",
            "const size = 5e9; const text = `${size / 1e9} GB`;",
            "const max = Array.isArray([]) ? 1e9 : 1; const ok = [1].length < max;",
            "const id = Math.floor(Math.random() * 1e12);",
            "const s = JSON.stringify({ a: 1 }, null, 2);",
            "let tree = null; for (const key of 'abc') tree = { left: tree, right: null, key };",
            "let n = 3n; for (let i = 0; i < 5; i++) n *= n;",
            "const pow = (b, e, m) => { let r = 1n; while (e > 0n) { if (e & 1n) r = r * b % m; b = b * b % m; e >>= 1n } return r }; pow(2n, 100n, 97n);",
            "const l = []; for (let i = 0; i < 1e5; i++) l.push(i);",
            "const counts = new Array(256).fill(0); counts[255] = 1;",
            "let x = 1; for (let i = 0; i < 64; i++) { x = Math.imul(x, x) + i }",
            "const t = [[0]]; const g = t.map((r) => [...r, ...r]);",
            "let s = 'x'; for (const n of [1, 2, 3]) s += s;",
            "function* g() { while (true) { yield 'x' } } const f = () => g().next();",
            "function* g() { const l = []; while (true) { l.push(1); yield l.length } }",
            "const build = (n) => n === 0 ? [] : [build(n - 1)]; build(40);",
        ],
        false,
    );
}

#[test]
fn texts_that_are_appended_to_themselves_are_told_at_once() {
    let texts = (1..60).map(|index| format!("let t{index} = ''; t{index} += t{0}; t{index} += t{0}; ", index - 1));
    let source = "let s = 'x'; ".to_owned() + &"s += s; ".repeat(200) + &texts.collect::<String>();
    check(&[&source], false);
}
