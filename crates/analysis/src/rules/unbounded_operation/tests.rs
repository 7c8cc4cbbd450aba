//! Small programs that never end, and small ones that always end.

use toolcell_tool::Language;

fn check(sources: &[&str], finds: bool) {
    let wrong: Vec<&&str> = sources
        .iter()
        .filter(|source| {
            let analysis = crate::analyze(source, Language::TypeScript, None).unwrap();
            analysis.findings.iter().any(|finding| finding.rule.name() == "unbounded-operation") != finds
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} are not told:\n{wrong:#?}", wrong.len(), sources.len());
}

#[test]
fn loops_without_an_exit_are_found() {
    check(
        &[
            "let n = 0; while (true) n++;",
            "let n = 0; while (!0) { n++ }",
            "let n = 0; while ([]) { n++ }",
            "let n = 0; while ('x') { n++ }",
            "const on = true; let n = 0; do { n++ } while (on)",
            "let n = 0; for (;;) { switch (n) { case 1: break; default: n++ } }",
            "let n = 0; while (true) { for (const x of [1, 2]) { if (x) break; } n++ }",
            "const f = (list) => { while (true) { list.forEach((x) => { if (x) return; }); } }",
            "outer: while (true) { for (;;) { continue outer; } }",
            "function f() { while (true) { try { return 1 } finally { continue } } }",
            "function f(x) { while (true) { try { if (x) throw 1 } catch { x = 0 } } }",
            "function f(x) { while (true) { if (false) break; x++ } }",
            "function f(x) { while (true) { x++; continue; break; } }",
            "const f = (n) => { for (let i = 0; i < n; i--) { log(n) } }",
            "const f = (n) => { let s = 0; for (let i = n; i > 0; i++) s += i; return s }",
            "const f = (n) => { let s = 0; for (let i = 0; i < n; i += 0) s += i; return s }",
            "let s = 0; for (let x = 0; x !== 1; x += 0.1) s += x;",
            "let s = 0; for (let x = 0; x != 7; x += 2) s += x;",
            "const f = (n) => { let j = 0, s = 0; for (let i = 0; i < n; j++) s += j; return s }",
            "const f = (l) => { let i = 0, o = []; while (i < l.length) { const x = l[i]; if (!x) continue; o.push(x); i++ } }",
            "const f = (l) => { for (let i = 0; i < l.length; i++) l.push(l[i]) }",
            "const f = (l) => { const q = [l]; for (const x of q) { q.push(x.next) } }",
            "const s = new Set([1]); for (const x of s) s.add(x + 1);",
            "const f = async (job) => { let done = false; while (!done) { await wait(100); log(job) } }",
            "let ready = false; setTimeout(() => { ready = true }, 10); let n = 0; while (!ready) { n++ }",
            "const execute = async (params) => { while (params.status !== 'done') { await new Promise((r) => setTimeout(r, 10)) } }",
            "let i = 0; while (i < 10) { i = i++ }",
            "let i = 0; while (i < 10) { i =+ 1 }",
            "let i = 0, s = 0; while (i < 10) { s += i; i = (i + 1) % 10 }",
            "let i = 0; while (i < 100) { i *= 2 }",
            "const f = (x) => { while (x !== NaN) { x = x / 2 } }",
            "const f = (s) => { while (s.length >= 0) { s = s.slice(1) } }",
            "const f = (s) => { let n = 0; while (s.indexOf('a') >= -1) { n++ } }",
            "const f = (x) => { while (x !== 1 || x !== 2) { x++ } }",
            "const f = (q) => { while (q.length > 0) { const job = q.shift(); q.push(job) } }",
            "const f = (s) => { let i = 0, n = 0; while (i < s.length) { if (s[i] === 'a') { n++; i++ } } }",
            "const f = (n) => { while (n > 0) { work(n) } }",
            "const f = (node) => { let d = 0; while (node.parent) { d++ } return d }",
            "class A { on = true; async run() { while (this.on) { await this.tick() } } async tick() { return 1 } }",
            "const f = (x) => { for (let i = 0; i < Infinity; i++) x += i }",
            "const forever = () => true; let n = 0; while (forever()) n++;",
            "const f = (l) => { for (let i = 0; i < 10; i++) { i = 0; l(i) } }",
            "const f = (a) => { for (let i = 0; i < a.length; i++) { for (let j = 0; j < a.length; i++) { a[i] = j } } }",
            "const f = (x) => { label: { while (true) { x++; } break label; } }",
            "const f = (n) => { let i = n; do { i = i + 1 } while (i > 0) }",
        ],
        true,
    );
}

#[test]
fn recursion_without_a_base_is_found() {
    check(
        &[
            "function f(n) { return f(n - 1) }",
            "const f = (n) => n + f(n - 1);",
            "function a(n) { return b(n) } function b(n) { return a(n - 1) }",
            "const a = () => b(); const b = () => c(); const c = () => a();",
            "class A { run() { this.step(); } step() { this.run(); } }",
            "class A { get name() { return this.name } }",
            "class A { set name(v) { this.name = v } }",
            "const o = { get x() { return this.x + 1 } };",
            "class A { toString() { return `${this}` } }",
            "class A { toString() { return 'A' + this } }",
            "class A { toJSON() { return JSON.stringify(this) } }",
            "class A { valueOf() { return Number(this) } }",
            "function f(x = f()) { return x }",
            "const p = new Proxy({}, { get(target, key) { return p[key] } });",
            "const p = new Proxy({}, { get(target, key, receiver) { return receiver[key] } });",
            "function f(n) { if (n <= 1) return 1; return n * f(n) }",
            "function f(n) { if (n % 2) { return f(n + 1) } else { return f(n / 2) } }",
            "function f(n) { if (n <= 0) return 0; return f(n + 1) }",
            "async function poll() { await wait(10); return poll() }",
            "const loop = () => Promise.resolve().then(loop);",
            "const loop = () => Promise.resolve().then(() => loop());",
            "function tick() { work(); setTimeout(tick, 100) }",
            "function tick() { queueMicrotask(() => tick()) }",
            "setInterval(() => work(), 10);",
            "const o = { run() { return o.run() } };",
            "class A { static make() { return A.make() } }",
            "class A { constructor() { this.child = new A() } }",
            "class A { child = new A(); }",
            "function f(n) { const next = f.call(null, n); return next }",
            "function f(list) { try { return f(list.slice(1)) } finally { list = [] } }",
            "function f(n) { switch (n) { case 0: return f(1); default: return f(0) } }",
            "((f) => f(f))((f) => f(f));",
        ],
        true,
    );
}

#[test]
fn endless_generators_that_are_drained_are_found() {
    check(
        &[
            "function* g() { while (true) yield 1 } const f = () => [...g()];",
            "function* g() { let i = 0; for (;;) yield i++ } const f = () => Array.from(g());",
            "function* g() { let i = 0; for (;;) yield i++ } let s = 0; for (const x of g()) s += x;",
            "function* g() { yield 1; yield* g() } const all = new Set(g());",
            "function* g() { while (true) yield 1 } const it = g(); const l = []; for (const x of it) l.push(x);",
            "function* g() { while (true) yield 1 } const [a, ...rest] = g();",
            "class A { *[Symbol.iterator]() { while (true) yield 1 } } const l = [...new A()];",
            "class A { *ids() { let i = 0; while (true) yield i++ } all() { return [...this.ids()] } }",
            "function* g() { while (true) yield 1 } function* h() { yield* g() } const l = [...h()];",
            "function* g() { while (true) yield 1 } const l = g().map((x) => x + 1).toArray();",
            "async function* g() { while (true) { yield 1 } } const f = async () => { for await (const x of g()) log(x) }",
            "function* g() { while (true) yield 1 } Math.max(...g());",
        ],
        true,
    );
}

#[test]
fn work_that_ends_is_left_alone() {
    check(
        &[
            "for (let i = 0; i < 10; i++) work(i);",
            "const f = (n) => { while (n > 0) n--; }",
            "const f = (n) => { while (true) { if (n > 3) break; n++ } }",
            "const f = (n) => { outer: while (true) { for (;;) { if (n++ > 3) break outer } } }",
            "const f = (q) => { while (q.length) { const x = q.shift(); if (x.more) q.push(x.more) } }",
            "const f = (q) => { while (q.length) { const x = q.pop(); for (const y of x.list) q.push(y) } }",
            "class P { pos = 0; parse(s) { while (this.pos < s.length) { this.step() } } step() { this.pos++ } }",
            "let pos = 0; const next = () => { pos++ }; const f = (s) => { while (pos < s.length) { next() } }",
            "const f = async () => { for (let i = 0; i < 5; i++) { try { return await get() } catch { await wait(i) } } }",
            "function* g() { while (true) yield 1 } for (const x of g()) { if (x) break }",
            "function* g() { while (true) yield 1 } const it = g(); it.next();",
            "function* g() { while (true) yield 1 } const [a, b] = g();",
            "function* g() { while (true) yield 1 } const l = g().take(3).toArray();",
            "function* g(n) { let i = 0; while (true) { if (i > n) return; yield i++ } } const l = [...g(3)];",
            "function f(n) { return n <= 1 ? 1 : n * f(n - 1) }",
            "function f(n) { if (n === 0) return 0; return f(n - 1) }",
            "const even = (n) => n === 0 || odd(n - 1); const odd = (n) => n !== 0 && even(n - 1);",
            "class A { #x = 1; get x() { return this.#x } set x(v) { this.#x = v } }",
            "class A { toString() { return `A ${this.name}` } toJSON() { return { ...this } } }",
            "let t; function tick() { t = setTimeout(tick, 100) } const stop = () => clearTimeout(t);",
            "function tick(n) { if (n > 0) setTimeout(() => tick(n - 1), 100) }",
            "const t = setInterval(() => { if (done()) clearInterval(t) }, 10);",
            "const f = async () => { let done = false; get().then(() => { done = true }); while (!done) await wait(10) }",
            "const f = async (job) => { while (!job.done) { await job.step() } }",
            "const f = (s) => { const re = /a/g; let m; while ((m = re.exec(s)) !== null) log(m) }",
            "const f = (s) => { const re = /a/g; while (re.test(s)) { log(re.lastIndex) } }",
            "const f = (n) => { let node = n; while (node) { node = node.next } }",
            "const f = (a, b) => { while (b) { [a, b] = [b, a % b] } return a }",
            "const f = (l) => { let lo = 0, hi = l.length; while (lo < hi) { const m = (lo + hi) >> 1; if (l[m]) lo = m + 1; else hi = m } }",
            "const f = (x) => { do { x-- } while (false) }",
            "const f = (l) => { for (const x of l) { l = l.concat(x) } }",
            "const s = new Set([1]); for (const x of s) s.add(x);",
            "const f = (q) => { for (const x of q) { if (x.next) q.push(x.next) } }",
            "const f = (s) => { let i = 0; while (i < s.length) { if (s[i] === 'a') { i++; continue } i += 2 } }",
            "const f = (s) => { let i = 0; while (i < s.length) { i++; if (s[i] === 'a') continue; log(i) } }",
            "const f = (s) => { let i = 0; while (s[i] === ' ') i++; return i }",
            "const f = async (r) => { for (;;) { const { done, value } = await r.read(); if (done) return; log(value) } }",
            "const f = (t) => { const step = () => { if (t.end) throw new Error('x'); t.at++ }; try { while (true) step() } catch { return } }",
            "const f = (it) => { let r = it.next(); while (!r.done) { log(r.value); r = it.next() } }",
            "const f = (x) => { while (x > 1) { x = x % 2 ? 3 * x + 1 : x / 2 } }",
            "const f = (x) => { let e = 1; while (1 + e > 1) e /= 2; return e }",
            "const f = (n) => { for (let i = n; i--;) log(i) }",
            "const f = (n) => { for (let i = n - 1; i >= 0; i--) log(i) }",
            "for (let x = 0; x !== 6; x += 2) log(x);",
            "for (let x = 1; x !== 1024; x *= 2) log(x);",
            "const f = (s) => { while (s.startsWith(' ')) s = s.slice(1) }",
            "const f = (s) => { const seen = new Set(); while (seen.has(s)) { s += '1' } }",
            "const f = (root) => { const walk = (node) => { for (const c of node.children) walk(c) }; walk(root) }",
            "class Node { size() { return this.child ? this.child.size() + 1 : 1 } }",
            "class L { head = null; *[Symbol.iterator]() { let n = this.head; while (n) { yield n.value; n = n.next } } } const l = [...new L()];",
            "const p = new Proxy({}, { get(target, key) { return target[key] ?? 0 } });",
            "const p = new Proxy({}, { get(target, key, receiver) { return Reflect.get(target, key, receiver) } });",
            "const f = (n) => { let t = n; const next = () => t--; while (t > 0) { next() } }",
            "const q = []; const drain = () => { while (q.length > 0) { take() } }; const take = () => q.shift();",
            "const f = (m) => { let k = 0; while (m.has(`a${k}`)) k++; return k }",
            "const f = (text, w) => { let out = text; while (out.length < w) out += ' '; return out }",
            "const f = (x) => { const state = { n: 0 }; const go = () => { state.n++ }; while (state.n < x) go() }",
            "function f(i) { if (i === 10) return; f(i + 1) }",
            "function f(q) { if (q.length === 0) return; q.pop(); f(q) }",
            "const f = (lim) => { for (let i = 0, j = lim; i < j; i++, j--) log(i) }",
            "const f = (g) => { let changed = true; while (changed) { changed = false; for (const x of g) if (x.fix()) changed = true } }",
            "const f = (g) => { let changed; do { changed = false; g.forEach((x) => { if (x) changed = true }) } while (changed) }",
            "function f(n) { const ok = check(n); if (!ok) return n; return f(n) }",
            "async function get(url, left) { try { return await fetch(url) } catch (e) { if (left === 0) throw e; return get(url, left - 1) } }",
            "const tick = () => { if (!stopped) setTimeout(tick, 10) }; let stopped = false; tick(); const stop = () => { stopped = true };",
            "const f = (s) => { let depth = 0, i = 0; do { if (s[i] === '(') depth++; else if (s[i] === ')') depth--; i++ } while (depth > 0 && i < s.length) }",
            "const f = () => { const end = Date.now() + 10; while (Date.now() < end) { } }",
            "const f = (a, b) => { let i = 0, j = 0; while (i < a.length && j < b.length) { if (a[i] < b[j]) i++; else if (a[i] > b[j]) j++; else { i++; j++ } } }",
            "let p = 0; function block(s) { while (p < s.length && s[p] !== '}') { if (s[p] === '{') { p++; block(s) } else p++ } p++ }",
            "const f = (rows) => { let i = 0; while (i < rows.length) { switch (rows[i]) { case 'a': i++; break; default: i += 2 } } }",
            "function even(n) { if (n === 0) return true; return odd(n - 1) } function odd(n) { if (n === 0) return false; return even(n - 1) }",
            "const f = (list) => { while (list.some((x) => x.open)) { list = list.filter((x) => !x.open) } }",
            "const f = (s) => { let out; while ((out = s.replace('aa', 'a')) !== s) s = out; return s }",
        ],
        false,
    );
}
