//! Replacements of built-ins in many forms, and names that only look like built-ins.

const DANGEROUS: &[&str] = &[
    "JSON.stringify = () => '{}'; function execute({ v }) { return JSON.stringify(v); }",
    "function execute({ v }) { const json = JSON; json['parse'] = (text) => text; return JSON.parse(v); }",
    "globalThis.parseInt = (text) => Number(text); function execute({ v }) { return parseInt(v); }",
    "parseFloat = Number; function execute({ v }) { return parseFloat(v); }",
    "function execute({ list }) { Array.prototype.map = function () { return []; }; return list.map((x) => x); }",
    "function execute() { Object.assign(Math, { double: (x) => 2 * x }); return Math.double(2); }",
    "function execute() { Object.defineProperty(Promise, 'any', { value: () => null }); return Promise.any([]); }",
    "function execute() { Object.defineProperty(globalThis, 'isNaN', { value: () => false }); return isNaN(NaN); }",
    "function execute() { Object.defineProperties(Math, { random: { value: () => 0.5 } }); return Math.random(); }",
    "function execute() { Object.setPrototypeOf(Array.prototype, null); return []; }",
    "function execute() { Reflect.set(JSON, 'stringify', () => ''); return JSON.stringify(1); }",
    "function execute() { Reflect.defineProperty(Date, 'now', { value: () => 0 }); return Date.now(); }",
    "function execute() { Reflect.deleteProperty(JSON, 'parse'); return typeof JSON.parse; }",
    "function execute() { delete Math.max; return typeof Math.max; }",
    "function execute() { [Math.max] = [Math.min]; return Math.max(1, 2); }",
    "function execute({ f }) { ({ f: JSON.parse } = { f }); return JSON.parse('1'); }",
    "function execute({ x }) { ({ parseInt } = x); return parseInt('1'); }",
    "function execute({ list }) { for (Math.max of list) Math.max(1); return 1; }",
    "const install = (target) => { target.stringify = () => ''; }; function execute() { install(JSON); return JSON.stringify(1); }",
    "if (typeof Object.groupBy !== 'function') Object.groupBy = (list, key) => ({}); function execute({ list }) { return Object.groupBy(list, (x) => x); }",
    "const lines = []; console.log = (...args) => lines.push(args.join(' ')); function execute() { console.log(1); return lines; }",
    "function execute() { Number.EPSILON++; return 1; }",
    "fetch = async () => ({ ok: true }); async function execute() { return (await fetch('x')).ok; }",
];

const BENIGN: &[&str] = &[
    "const JSON = { stringify: null }; JSON.stringify = () => ''; function execute() { return JSON.stringify(1); }",
    "function execute({ Math }) { Math.points = 3; return Math; }",
    "class Map { } Map.empty = new Map(); function execute() { return Map.empty; }",
    "class Failure extends Error { constructor(m) { super(m); this.name = 'Failure'; } } Failure.code = 3; function execute() { throw new Failure('x'); }",
    "function execute({ m }) { const error = new Error(m); error.code = 3; return Object.assign(error, { more: 1 }).message; }",
    "function execute({ text }) { const value = JSON.parse(text); value.count = 1; return value; }",
    "function execute({ list }) { const set = new Set(list); set.label = 'x'; return [...set]; }",
    "function execute({ n }) { Error.stackTraceLimit = 5; return n; }",
    "const stringify = JSON.stringify; const { max } = Math; function execute({ v }) { let longest = max(1, 2); longest += 1; return stringify(v) + longest; }",
    "function execute({ x }) { const Number = (v) => v; let String; String = Number(x); return String; }",
    "function execute({ o }) { o.JSON = 1; o.Math = { max: 2 }; delete o.Date; return o; }",
    "function execute({ v }) { return Object.assign({}, v, { Math: 1 }); }",
    "var parseInt = (text) => text; parseInt = Number; function execute({ v }) { return parseInt(v); }",
];

#[test]
fn built_ins_that_are_replaced_are_found_in_every_form() {
    super::check("prototype-pollution", DANGEROUS, BENIGN);
}
