//! Prototype pollution in many forms, and code that looks like it.

const DANGEROUS: &[&str] = &[
    "function extend(a, b) { for (const k in b) { if (b.hasOwnProperty(k)) { if (typeof b[k] === 'object') { a[k] = a[k] || {}; extend(a[k], b[k]); } else a[k] = b[k]; } } return a; }
     function execute(p) { return extend({}, p.more); }",
    "const deep = (to, from) => { Object.keys(from).forEach((k) => { if (from[k] instanceof Object && to[k]) deep(to[k], from[k]); else to[k] = from[k]; }); return to; };
     export const execute = ({ a, b }) => deep(a, b);",
    "function mergeDeep(target, ...sources) { const source = sources.shift(); if (!source) return target;
       for (const key in source) { if (isObject(source[key])) { if (!target[key]) Object.assign(target, { [key]: {} }); mergeDeep(target[key], source[key]); } else Object.assign(target, { [key]: source[key] }); }
       return mergeDeep(target, ...sources); }
     const isObject = (x) => x && typeof x === 'object';
     function execute({ base, more }) { return mergeDeep(base, more); }",
    "function execute({ obj, path, value }) { const parts = path.split('.'); let cur = obj;
       while (parts.length > 1) { const p = parts.shift(); if (!(p in cur)) cur[p] = {}; cur = cur[p]; } cur[parts[0]] = value; return obj; }",
    "function execute({ flat }) { const out = {}; for (const key of Object.keys(flat)) {
       key.split('.').reduce((acc, part, i, all) => { if (i === all.length - 1) { acc[part] = flat[key]; return acc; } return (acc[part] = acc[part] || {}); }, out); } return out; }",
    "function execute({ flat }) { const out = {}; Object.entries(flat).forEach(([path, value]) => { const keys = path.split('.'); const last = keys.pop(); let o = out; keys.forEach((k) => { o[k] ??= {}; o = o[k]; }); o[last] = value; }); return out; }",
    "function execute({ into, from }) { const stack = [[into, from]]; while (stack.length) { const [t, s] = stack.pop(); for (const k of Object.keys(s)) { if (s[k] && typeof s[k] === 'object') { if (!t[k]) t[k] = {}; stack.push([t[k], s[k]]); } else t[k] = s[k]; } } return into; }",
    "function execute({ into, from }) { const jobs = [{ to: into, of: from }]; for (const job of jobs) { for (const [k, v] of Object.entries(job.of)) { if (typeof v === 'object') { job.to[k] ||= {}; jobs.push({ to: job.to[k], of: v }); } else job.to[k] = v; } } return into; }",
    "const copy = (to, from) => { for (const k of Reflect.ownKeys(from)) { const v = Reflect.get(from, k); if (v && typeof v === 'object') copy(Reflect.get(to, k) ?? {}, v); else Reflect.set(to, k, v); } };
     function execute({ a, b }) { copy(a, b); return a; }",
    "function execute({ obj, a, b, v }) { const t = obj[a]; t[b] = v; return obj; }",
    "function execute({ settings, section, patch }) { Object.assign(settings[section], patch); return settings; }",
    "function execute({ store, ns, name, value }) { Object.defineProperty(store[ns], name, { value }); return store; }",
    "class Store { constructor() { this.data = {}; } set(path, value) { let at = this.data; const keys = path.split('/'); for (let i = 0; i < keys.length - 1; i++) { at = at[keys[i]] = at[keys[i]] || {}; } at[keys[keys.length - 1]] = value; } }
     function execute({ path, value }) { const s = new Store(); s.set(path, value); return s.data; }",
    "class Tree { merge(target, source) { for (const name in source) { if (typeof source[name] === 'object') target[name] = this.merge(target[name] || {}, source[name]); else target[name] = source[name]; } return target; } }
     export default { execute(params) { return new Tree().merge(params.a, params.b); } };",
    "function execute({ text }) { return JSON.parse(text, function (key, value) { this[key] = value; return value; }); }",
    "const _ = { set(obj, path, value) { const [head, ...rest] = Array.isArray(path) ? path : path.split('.'); if (!rest.length) obj[head] = value; else { if (obj[head] === undefined) obj[head] = {}; _.set(obj[head], rest, value); } return obj; } };
     function execute({ o, p, v }) { return _.set(o, p, v); }",
    "function defaults(o, d) { for (const k in d) { if (o[k] === undefined) o[k] = d[k]; else if (typeof o[k] === 'object') defaults(o[k], d[k]); } return o; }
     function execute(params) { return defaults(params.options, params.defaults); }",
    "function execute({ rows }) { const t = {}; for (const r of rows) { t[r.group] = t[r.group] ?? {}; t[r.group][r.name] = r.value; } return t; }",
    "function execute({ rows }) { return rows.reduce((t, { section, key, value }) => { t[section] ||= {}; t[section][key] = value; return t; }, {}); }",
    "function execute({ ini }) { const out = {}; let section = ''; for (const line of ini.split('\\n')) { const m = /^\\[(.+)\\]$/.exec(line); if (m) { section = m[1]; out[section] = out[section] || {}; continue; } const [k, v] = line.split('='); out[section][k.trim()] = v; } return out; }",
    "function execute({ query }) { const out = {}; for (const pair of query.split('&')) { const [name, value] = pair.split('='); const keys = name.replace(/\\]/g, '').split('['); let at = out; keys.slice(0, -1).forEach((k) => { at = at[k] ??= {}; }); at[keys.at(-1)] = decodeURIComponent(value); } return out; }",
    "Object.prototype.isAdmin = true; function execute() { return {}.isAdmin; }",
    "function execute({ x }) { String.prototype['shout'] = function () { return this.toUpperCase(); }; return x.shout(); }",
    "function execute({ list }) { list.constructor.prototype.sum = function () { return 1; }; return list.sum(); }",
    "function execute() { ({}).__proto__.polluted = 1; return ({}).polluted; }",
    "function execute() { Object.getPrototypeOf([]).last = function () { return 1; }; return [].last(); }",
    "function execute({ v }) { const key = ['__pro', 'to__'].join(''); const o = {}; o[key].x = v; return ({}).x; }",
    "function execute({ o, v }) { o['__proto__'] = v; return o; }",
    "function execute() { Object.setPrototypeOf(Object.prototype, null); Reflect.setPrototypeOf(Array.prototype, {}); return 1; }",
    "function execute() { Array.prototype.__defineGetter__('x', () => 1); return [].x; }",
    "function execute() { Object.defineProperties(Number.prototype, { double: { get() { return this * 2; } } }); return 1; }",
    "function execute() { for (const C of [Array, String]) { C.prototype.size = function () { return this.length; }; } return [].size(); }",
    "function execute({ names }) { [Object, Array].forEach((C) => { C.prototype.tag = names; }); return {}.tag; }",
    "function install(target) { target.sum = function () { return 0; }; } function execute() { install(Array.prototype); return [].sum(); }",
    "const install = (target, methods) => { for (const [k, f] of Object.entries(methods)) target[k] = f; };
     function execute() { install(String.prototype, { shout() { return 1; } }); return 1; }",
    "function execute({ v }) { [Object.prototype.a] = [v]; return {}.a; }",
    "function execute({ v }) { ({ x: Object.prototype.y } = { x: v }); return {}.y; }",
    "function execute({ o, k, v }) { const inner = k.reduce((t, s) => t[s], o); for (const [n, x] of Object.entries(v)) inner[n] = x; return o; }",
    "const put = (o, k, v) => { o[k] = v; }; function execute({ table, row, column, value }) { put(table[row], column, value); return table; }",
    "const child = (o, k) => (o[k] ??= {}); function execute({ o, a, b, v }) { child(o, a)[b] = v; return o; }",
    "function execute({ doc, ops }) { for (const op of ops) { const steps = op.path.split('/').slice(1); const last = steps.pop(); let at = doc; for (const step of steps) { at = at[step]; } if (op.op === 'add') at[last] = op.value; else delete at[last]; } return doc; }",
    "function execute({ items }) { Reflect.defineProperty(Object.prototype, 'x', { value: 1 }); return items; }",
    "function execute() { Function.prototype.call = () => 0; return 1; }",
    "const proto = Object.prototype; function execute({ extras }) { Object.entries(extras).forEach(([k, v]) => { proto[k] = v; }); return {}; }",
];

const BENIGN: &[&str] = &[
    "function merge(a, b) { for (const k in b) { if (k === '__proto__' || k === 'constructor') continue; if (typeof b[k] === 'object') a[k] = merge(a[k] || {}, b[k]); else a[k] = b[k]; } return a; } function execute(p) { return merge({}, p.x); }",
    "const BLOCKED = new Set(['__proto__', 'constructor', 'prototype']); function execute({ o, path, v }) { const keys = path.split('.'); if (keys.some((k) => BLOCKED.has(k))) throw new Error('no'); let at = o; for (const k of keys.slice(0, -1)) at = at[k] ??= {}; at[keys.at(-1)] = v; return o; }",
    "const BAD = ['__proto__', 'constructor', 'prototype']; const ok = (k) => !BAD.includes(k); function execute({ o, a, b, v }) { if (!ok(a) || !ok(b)) return o; o[a] ??= {}; o[a][b] = v; return o; }",
    "function execute({ o, path, v }) { if (/__proto__|constructor|prototype/.test(path)) throw new Error('no'); let at = o; const keys = path.split('.'); const last = keys.pop(); for (const k of keys) at = at[k] ??= {}; at[last] = v; return o; }",
    "function merge(a, b) { for (const k of Object.keys(b)) { if (Object.hasOwn(a, k) && typeof b[k] === 'object') merge(a[k], b[k]); else a[k] = b[k]; } return a; } function execute(p) { return merge(p.a, p.b); }",
    "function execute({ rows }) { const t = Object.create(null); for (const r of rows) { t[r.a] ??= Object.create(null); t[r.a][r.b] = r.v; } return t; }",
    "function execute({ rows }) { const t = new Map(); for (const r of rows) { if (!t.has(r.a)) t.set(r.a, new Map()); t.get(r.a).set(r.b, r.v); } return [...t]; }",
    "function execute({ words }) { const n = {}; for (const w of words) n[w] = (n[w] || 0) + 1; return n; }",
    "function execute({ rows }) { const g = {}; for (const r of rows) (g[r.kind] ||= []).push(r); return g; }",
    "function execute({ rows }) { return rows.reduce((g, r) => { g[r.kind] = g[r.kind] || { count: 0 }; g[r.kind].count += 1; return g; }, {}); }",
    "function execute({ board, row, column, mark }) { const next = board.map((line) => [...line]); next[row][column] = mark; return next; }",
    "function execute({ width, height }) { const grid = Array.from({ length: height }, () => Array(width).fill(0)); for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) grid[y][x] = x * y; return grid; }",
    "function flood(grid, x, y, c) { if (y < 0 || x < 0 || y >= grid.length || grid[y][x] !== 0) return; grid[y][x] = c; flood(grid, x + 1, y, c); flood(grid, x, y + 1, c); } function execute({ grid, x, y }) { flood(grid, x, y, 2); return grid; }",
    "const clone = (v) => { if (Array.isArray(v)) return v.map(clone); if (v && typeof v === 'object') { const out = {}; for (const k of Object.keys(v)) out[k] = clone(v[k]); return out; } return v; }; function execute({ tree }) { return clone(tree); }",
    "function camel(value) { if (value === null || typeof value !== 'object') return value; const out = {}; for (const [k, v] of Object.entries(value)) out[k.replace(/_(.)/g, (_, c) => c.toUpperCase())] = camel(v); return out; } function execute({ value }) { return camel(value); }",
    "function get(o, path) { return path.split('.').reduce((at, k) => at?.[k], o); } function execute({ o, path }) { return get(o, path); }",
    "class Point { constructor(x) { this.x = x; } } Point.prototype.norm = function () { return this.x; }; function execute({ x }) { return new Point(x).norm(); }",
    "function Animal(n) { this.n = n; } function Dog(n) { Animal.call(this, n); } Dog.prototype = Object.create(Animal.prototype); Dog.prototype.constructor = Dog; Object.assign(Dog.prototype, { bark() { return this.n; } }); function execute({ n }) { return new Dog(n).bark(); }",
    "function execute({ a, b }) { return { ...a, ...b }; }",
    "function execute({ a, b }) { return Object.assign({}, a, b); }",
    "function execute({ user, patch }) { for (const k of ['name', 'mail']) if (k in patch) user[k] = patch[k]; return user; }",
    "const FIELDS = new Set(['theme', 'size']); function execute({ s, key, value }) { if (!FIELDS.has(key)) throw new Error('no such setting'); s.view ??= {}; s.view[key] = value; return s; }",
    "const SECTIONS = { view: {}, edit: {} }; const NAMES = ['a', 'b']; function execute({ section, name, v }) { if (!Object.hasOwn(SECTIONS, section) || !NAMES.includes(name)) return null; SECTIONS[section][name] = v; return SECTIONS; }",
    "function execute({ pairs }) { return Object.fromEntries(pairs.map(([k, v]) => [k.trim(), v])); }",
    "function execute({ text }) { return Object.prototype.hasOwnProperty.call(JSON.parse(text), 'x') && Object.prototype.toString.call(text); }",
    "function execute({ word }) { const root = { next: new Map(), end: false }; let at = root; for (const ch of word) { if (!at.next.has(ch)) at.next.set(ch, { next: new Map(), end: false }); at = at.next.get(ch); } at.end = true; return word; }",
    "function execute({ xs }: { xs: number[][] }) { const out: number[][] = xs[0].map(() => []); xs.forEach((row, i) => row.forEach((v, j) => { out[j][i] = v; })); return out; }",
    "function execute({ m, n }: { m: number; n: number }) { const dp: number[][] = []; for (let i = 0; i <= m; i++) { dp[i] = []; for (let j = 0; j <= n; j++) dp[i][j] = i + j; } return dp[m][n]; }",
    "function execute({ cells }) { const sheet = {}; for (const { row, value } of cells) { const r = Math.trunc(row); sheet[`r${r}`] ??= {}; sheet[`r${r}`].value = value; } return sheet; }",
    "function execute({ key, value }) { const out = {}; out[key] = value; return out; }",
    "function merge(a, b) { for (const k of Object.keys(b)) { if (k.startsWith('__')) continue; a[k] = b[k] && typeof b[k] === 'object' ? merge(a[k] ?? {}, b[k]) : b[k]; } return a; } function execute({ a, b }) { return merge(a, b); }",
    "function merge(a, b) { for (const k of Object.keys(b)) { switch (k) { case '__proto__': case 'constructor': continue; } a[k] = b[k] && typeof b[k] === 'object' ? merge(a[k] ?? {}, b[k]) : b[k]; } return a; } function execute({ a, b }) { return merge(a, b); }",
    "const counts = { __proto__: null, a: {} }; function execute({ a, b }) { counts[a] ??= {}; counts[a][b] = 1; return counts; }",
    "function execute({ obj }) { const proto = Object.getPrototypeOf(obj); return proto === Object.prototype || proto === null; }",
    "function isPlain(v, base) { return Object.getPrototypeOf(v) === base; } function execute({ v }) { return isPlain(v, Object.prototype); }",
    "function execute({ items }) { const set = new Proxy({}, { set(o, k, v) { o[k] = v; return true; } }); for (const { id, v } of items) set[id] = v; return { ...set }; }",
    "class Matrix { constructor(r, c) { this.rows = Array.from({ length: r }, () => new Array(c).fill(0)); } set(r, c, v) { this.rows[r][c] = v; } } function execute({ r, c, v }) { const m = new Matrix(4, 4); m.set(r, c, v); return m.rows; }",
    "class Base { constructor(v) { Object.assign(this, v); } clone() { return new this.constructor({ ...this }); } } function execute({ v }) { return new Base(v).clone(); }",
    "function execute({ edges }) { const d = {}; for (const e of edges) d[e.from] = Math.min(d[e.from] ?? Infinity, e.cost); return d; }",
    "class Stack extends Array { peek() { return this[this.length - 1]; } } Object.setPrototypeOf(Stack.prototype, Array.prototype); function execute({ x }) { const s = new Stack(); s.push(x); return s.peek(); }",
    "function inherit(child, parent) { child.prototype = Object.create(parent.prototype); child.prototype.constructor = child; } function Failure(m) { this.message = m; } inherit(Failure, Error); function execute({ m }) { return new Failure(m).message; }",
    "const slice = Array.prototype.slice; const { toString } = Object.prototype; function execute({ list }) { return [slice.call(list, 1), toString.call(list)]; }",
    "function execute({ text }) { return JSON.parse(text, (k, v) => (typeof v === 'string' ? v.trim() : v)); }",
];

#[test]
fn prototype_pollution_is_found_in_every_form() {
    super::check("prototype-pollution", DANGEROUS, BENIGN);
}
