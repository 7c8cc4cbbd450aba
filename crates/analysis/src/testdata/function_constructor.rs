//! Ways to reach the function constructor, and uses of constructors and of `Function` that compile
//! nothing.

const DANGEROUS: &[&str] = &[
    "const F = Function.prototype.constructor; function execute({ code }) { return F(code)(); }",
    "function execute({ code }) { return Function.prototype.constructor(code)(); }",
    "const { constructor: F } = Function.prototype; function execute({ code }) { return new F(code)(); }",
    "const { prototype: { constructor: F } } = Function; function execute({ code }) { return new F(code)(); }",
    "const F = (function () {}).constructor; function execute({ code }) { return F(code)(); }",
    "const F = (() => {}).constructor; function execute({ code }) { return F(code)(); }",
    "const F = (async () => {}).constructor; async function execute({ code }) { return F(code)(); }",
    "const F = (function* () {}).constructor; function execute({ code }) { return [...F(code)()]; }",
    "const F = (async function* () {}).constructor; function execute({ code }) { return F(code)(); }",
    "const F = Object.getPrototypeOf(async function () {}).constructor; function execute({ code }) { return F(code)(); }",
    "const F = Reflect.get(() => {}, 'constructor'); function execute({ code }) { return F(code)(); }",
    "function run(make, code) { return make(code)(); } function execute({ code }) { return run(Reflect.get(() => {}, 'constructor'), code); }",
    "const F = Object.getOwnPropertyDescriptor(Function.prototype, 'constructor').value; function execute({ code }) { return F(code)(); }",
    "const f = () => {}; const F = f['const' + 'ructor']; function execute({ code }) { return F(code)(); }",
    "const { constructor: F } = function () {}; function execute({ code }) { return F(code)(); }",
    "let F; ({ constructor: F } = () => {}); function execute({ code }) { return F(code)(); }",
    "const { constructor } = () => {}; function execute({ code }) { return constructor(code)(); }",
    "const F = Array.prototype.map.constructor; function execute({ code }) { return F(code)(); }",
    "const F = Object.prototype.toString.constructor; function execute({ code }) { return F(code)(); }",
    "class A { m() {} } const F = A.prototype.m.constructor; function execute({ code }) { return F(code)(); }",
    "class A {} function execute({ code }) { return A.constructor(code)(); }",
    "function execute({ code }) { return execute.constructor(code)(); }",
    "function execute({ code }) { return Function.call(null, code)(); }",
    "function execute() { return Function.call(null, 'return 1')(); }",
    "function execute({ code }) { return Function.apply(null, [code])(); }",
    "function execute() { return Function.bind(null, 'return 1')()(); }",
    "function execute({ code }) { return Function?.call(null, code)(); }",
    "function execute({ code }) { return Function.call.call(Function, null, code)(); }",
    "function execute({ code }) { return Function.call.bind(Function)(null, code)(); }",
    "const make = Function; function execute({ code }) { return make.apply(null, [code])(); }",
    "function execute({ code }) { return Reflect.apply(Function.call, Function, [null, code])(); }",
    "import * as std from 'std'; export function execute({ code }) { return std.evalScript(code); }",
];

const BENIGN: &[&str] = &[
    "const uncurry = (f) => Function.call.bind(f); const slice = uncurry(Array.prototype.slice); function execute({ list }) { return slice(list, 1); }",
    "const slice = Function.call.bind(Array.prototype.slice); function execute({ list }) { return slice(list, 1); }",
    "const slice = Function.prototype.call.bind(Array.prototype.slice); function execute({ list }) { return slice(list, 1); }",
    "const uncurry = Function.bind.bind(Function.call); function execute({ list }) { return uncurry(Array.prototype.slice)(list, 1); }",
    "const max = Function.apply.bind(Math.max, null); function execute({ list }) { return max(list); }",
    "function execute({ list }) { return Function.apply.call(Math.max, null, list); }",
    "const { call, bind } = Function.prototype; const has = call.bind(Object.prototype.hasOwnProperty); function execute({ o }) { return has(o, 'x'); }",
    "function execute({ f }) { return Function.prototype.toString.call(f) + Function.toString.call(f); }",
    "function execute({ f }) { return f instanceof Function || typeof f === 'function'; }",
    "class A { name() { return this.constructor.name; } copy() { return new this.constructor(); } } function execute() { return new A().copy().name(); }",
    "function execute({ v }) { return v.constructor === Object || v?.constructor?.name === 'Point'; }",
    "function execute({ v }) { return Object.getPrototypeOf(v).constructor === Array || Array.prototype.constructor === Array; }",
    "class Base { static make() { return new this(); } get kind() { return this.constructor.kind; } } Base.kind = 1; function execute() { return Base.make().kind; }",
    "class A {} function execute() { return A.prototype.constructor === A && new A().constructor.name; }",
    "function Dog() {} Dog.prototype.constructor = Dog; function execute() { return new Dog().constructor.name; }",
    "function execute({ list }) { const Kind = list.constructor; return Kind.name; }",
    "const handler = { get: (target, key) => Reflect.get(target, key) }; function execute({ o }) { return new Proxy(o, handler).x; }",
    "function execute({ o }) { const d = Object.getOwnPropertyDescriptor(o, 'x'); return d?.get ? 'accessor' : d?.value; }",
];

#[test]
fn the_constructor_of_functions_is_found_by_every_road() {
    super::check("eval-usage", DANGEROUS, BENIGN);
}
