//! Busy waits in many forms, and loops that read the clock but do work.

const DANGEROUS: &[&str] = &[
    "function execute({ ms }) { const end = Date.now() + ms; while (Date.now() < end) {} return 1; }",
    "function execute({ ms }) { const start = Date.now(); while (Date.now() - start < ms); return 1; }",
    "function execute({ ms }) { const start = performance.now(); let n = 0; while (performance.now() - start < ms) n++; return n; }",
    "function execute({ ms }) { const start = new Date().getTime(); let now = start; while (now < start + ms) { now = new Date().getTime(); } }",
    "function execute({ ms }) { const start = +new Date(); do { } while (+new Date() - start < ms); }",
    "function execute({ ms }) { let now; const from = Date.now(); do { now = Date.now(); } while (now - from < ms); return now; }",
    "function execute({ ms }) { const t = Date.now() + ms; for (;;) if (Date.now() > t) break; return 1; }",
    "function execute({ ms }) { const t = Date.now() + ms; while (true) { const now = Date.now(); if (now >= t) return now; } }",
    "function execute({ ms }) { const t = Date.now() + ms; for (let now = Date.now(); now < t; now = Date.now()); return 1; }",
    "const sleep = (ms) => { const end = Date.now() + ms; while (Date.now() < end) { /* wait */ } }; function execute() { sleep(100); return 1; }",
    "const { now } = Date; function execute({ ms }) { const end = now() + ms; while (now() < end) {} }",
    "const clock = globalThis['Date']['now']; function execute({ ms }) { const end = clock() + ms; while (clock() < end) {} }",
    "function execute({ ms }) { const end = Date.now() + ms; const late = () => Date.now() >= end; while (!late()) {} return 1; }",
    "class Timer { constructor(ms) { this.end = Date.now() + ms; } over() { return Date.now() >= this.end; } wait() { while (!this.over()) {} } } function execute({ ms }) { new Timer(ms).wait(); }",
    "function execute({ ms }) { let waited = 0, last = Date.now(); while (waited < ms) { const now = Date.now(); waited += now - last; last = now; } return waited; }",
    "async function execute({ ms }) { const end = Date.now() + ms; while (Date.now() < end) await null; return 1; }",
    "async function execute({ ms }) { const end = Date.now() + ms; while (Date.now() < end) { await Promise.resolve(); } return 1; }",
    "function execute({ ms }) { const end = Date.now() + ms; while (Date.now() < end) { for (let i = 0; i < 1000; i++) Math.sqrt(i); } }",
    "function execute({ ms }) { const end = Date.now() + ms; outer: for (;;) { for (;;) { if (Date.now() > end) break outer; } } }",
    "function execute({ ms }) { const end = Date.now() + ms; let done = false; setTimeout(() => { done = true; }, ms); while (!done && Date.now() < end) {} return done; }",
    "function execute({ seconds }) { const end = Math.floor(Date.now() / 1000) + seconds; while (Math.floor(Date.now() / 1000) < end) console.log('waiting'); }",
    "function execute({ ms }: { ms: number }): void { const end: number = Date.now() + ms; while ((Date.now() as number) < end) { /* */ } }",
    "function execute() { const cell = new Int32Array(new SharedArrayBuffer(4)); Atomics.wait(cell, 0, 0, 1000); return 1; }",
    "const { wait } = Atomics; function execute() { wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }",
    "function execute({ ms }) { globalThis.Atomics['wait'](new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); }",
    "function execute({ cell }) { while (Atomics.load(cell, 0) === 0) {} return 1; }",
    "function execute({ lock }) { while (Atomics.compareExchange(lock, 0, 0, 1) !== 0); return 1; }",
    "import * as os from 'os'; export function execute() { os.sleep(1000); return 1; }",
    "function execute() { Bun.sleepSync(1000); return 1; }",
];

const BENIGN: &[&str] = &[
    "function execute({ expires }) { return Date.now() < expires ? 'valid' : 'expired'; }",
    "function execute({ items }) { const start = Date.now(); const out = items.map((x) => x * 2); return { out, ms: Date.now() - start }; }",
    "async function execute({ url, ms }) { const end = Date.now() + ms; while (Date.now() < end) { const r = await fetch(url); if (r.ok) return r.json(); await sleep(500); } return null; }",
    "async function execute({ ms }) { const end = Date.now() + ms; while (Date.now() < end) await new Promise((done) => setTimeout(done, 50)); return 1; }",
    "function execute({ start, ms }) { const end = Date.now() + ms; let best = start; while (Date.now() < end) { best = improve(best); } return best; } function improve(x) { let y = x; for (const d of [1, 2]) y += d; return y; }",
    "function execute({ queue, ms }) { const end = Date.now() + ms; const done = []; while (queue.length > 0 && Date.now() < end) done.push(queue.shift() * 2); return done; }",
    "function execute({ items, ms }) { const end = Date.now() + ms; let sum = 0, i = 0; while (Date.now() < end && i < items.length) { sum += items[i]; i++; } return sum; }",
    "function execute({ items, ms }) { const end = Date.now() + ms; let sum = 0, i = 0; for (;;) { if (Date.now() > end) break; if (i >= items.length) return sum; sum += items[i++]; } return sum; }",
    "function execute({ rows, ms }) { const end = Date.now() + ms; const out = []; for (const row of rows) { if (Date.now() > end) break; out.push(row); } return out; }",
    "function execute({ n, ms }) { const end = Date.now() + ms; const primes = []; let x = 2; while (Date.now() < end) { if (primes.every((p) => x % p)) primes.push(x); x++; if (primes.length >= n) break; } return primes; }",
    "function execute({ from, until }) { const days = []; for (let day = new Date(from); day <= new Date(until); day.setDate(day.getDate() + 1)) days.push(day.toISOString()); return days; }",
    "function execute({ from, until }) { let count = 0; let at = new Date(from).getTime(); while (at < new Date(until).getTime()) { at += 86400000; count++; } return count; }",
    "function execute({ list }) { const now = Date.now(); let i = 0; while (i < list.length && list[i] < now) i++; return i; }",
    "const Date = { now: () => 1 }; function execute({ n }) { let i = 0; while (Date.now() + i < n) i++; return i; }",
    "function execute({ view }) { let old; do { old = Atomics.load(view, 0); } while (Atomics.compareExchange(view, 0, old, old + 1) !== old); return old; }",
    "function execute({ view }) { return Atomics.add(view, 0, 1) + Atomics.load(view, 0); }",
    "function execute() { return typeof Atomics === 'undefined' || typeof Atomics.wait === 'undefined'; }",
    "function* execute({ ms }) { const end = Date.now() + ms; while (Date.now() < end) yield 1; }",
    "function execute({ ms }) { const stats = { n: 0 }; const end = Date.now() + ms; while (Date.now() < end) { stats.n += 1; } return stats.n; }",
];

#[test]
fn waiting_without_giving_way_is_found_in_every_form() {
    super::check("resource-exhaustion", DANGEROUS, BENIGN);
}
