// What compiled decorators call: the state of one class with decorators, from the TC39 proposal of November 2023.
function $D(list, make) {
  "use strict";
  const { create, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const KINDS = ["field", "accessor", "method", "getter", "setter"];
  const found = [], keys = [], starts = [], ends = [], parts = [];
  const unused = Symbol(), before = [], own = [], last = [];
  let origin, target, metadata;
  const kept = [];
  const run = (all, that) => { for (const one of all) one.call(that); };
  const owned = (nth, that) => {
    if (!kept[nth] || (that !== target && that !== origin)) throw new TypeError("a static accessor is used on what is not its class, or before it has a value");
    return kept[nth];
  };
  const callable = (value, what) => {
    if (typeof value !== "function") throw new TypeError(what + " must be a function, not " + (value === null ? "null" : typeof value));
    return value;
  };
  const named = (of, name, kind) => {
    const text = typeof name === "symbol" ? (name.description ? "[" + name.description + "]" : "") : String(name);
    return defineProperty(of, "name", { value: kind ? kind + " " + text : text, configurable: true });
  };
  const decorate = (all, value, context, adds, take) => {
    for (let at = all.length - 1; at >= 0; at--) {
      let isDone = false;
      const decorator = all[at];
      const [of, that] = decorator instanceof $B ? [decorator.of, decorator.that] : [decorator];
      const given = callable(of, "a decorator").call(that, value, { ...context, metadata, addInitializer(initializer) {
        if (isDone) throw new TypeError("addInitializer was called after its decorator had returned");
        adds.push(callable(initializer, "an initializer"));
      } });
      isDone = true;
      value = take(given, value);
    }
    return value;
  };
  const element = (at, [kind, isStatic, name, has, get, set]) => {
    const isPrivate = has !== undefined;
    if (name === undefined) name = keys[at];
    const home = isStatic ? target : target.prototype;
    const access = isPrivate ? { has } : { has: (of) => name in of };
    if (kind !== 4) access.get = isPrivate ? get : (of) => of[name];
    if (kind === 0 || kind === 1 || kind === 4) access.set = isPrivate ? set : (of, value) => { of[name] = value; };
    const context = { kind: KINDS[kind], name, static: isStatic, private: isPrivate, access };
    const init = starts[at] = [], extra = ends[at] = [];
    const adds = kind < 2 ? extra : isStatic ? own : before;
    if (kind === 0) {
      decorate(found[at], undefined, context, adds, (given) => {
        if (given !== undefined) init.unshift(callable(given, "what the decorator of a field returns"));
      });
      return;
    }
    const key = isPrivate ? keys[at] : name;
    const descriptor = getOwnPropertyDescriptor(home, key);
    if (isPrivate) delete home[key];
    const part = kind === 2 ? "value" : kind === 4 ? "set" : "get";
    if (kind === 1) {
      if (isPrivate) {
        named(descriptor.get, name, "get");
        named(descriptor.set, name, "set");
      }
      decorate(found[at], { get: descriptor.get, set: descriptor.set }, context, adds, (given, value) => {
        if (given === undefined) return value;
        if (typeof given !== "object" || given === null) throw new TypeError("the decorator of an accessor must return an object or undefined");
        if (given.get !== undefined) descriptor.get = callable(given.get, "`get` of an accessor");
        if (given.set !== undefined) descriptor.set = callable(given.set, "`set` of an accessor");
        if (given.init !== undefined) init.unshift(callable(given.init, "`init` of an accessor"));
        return { get: descriptor.get, set: descriptor.set };
      });
    } else {
      if (isPrivate) named(descriptor[part], name, kind === 2 ? "" : part);
      descriptor[part] = decorate(found[at], descriptor[part], context, adds, (given, value) =>
        given === undefined ? value : callable(given, "what the decorator of a " + KINDS[kind] + " returns"));
    }
    if (isPrivate) parts[at] = descriptor;
    else defineProperty(home, name, descriptor);
  };
  const state = {
    // The decorators of a member, evaluated where they stand: the key of a method that is taken away again.
    list: (at, decorators) => { found[at] = decorators; return unused; },
    // A key that is computed, or that stands for a private name.
    key: (at, key) => keys[at] = typeof key === "string" ? key : Reflect.ownKeys({ [key]: 0 })[0],
    same: (at) => keys[at],
    hidden: (at) => keys[at] = Symbol(),
    // Applies all decorators, and gives the class.
    apply(of, elements, name, isFixed) {
      origin = target = of;
      delete of[unused];
      const symbol = Symbol.metadata ?? Symbol.for("Symbol.metadata");
      const isDecorated = found.length > 0 || list?.length > 0;
      metadata = create(getPrototypeOf(of)?.[symbol] ?? null);
      for (const isField of [false, true]) {
        for (const isStatic of [true, false]) {
          elements.forEach((one, at) => { if (found[at] && one[1] === isStatic && (one[0] === 0) === isField) element(at, one); });
        }
      }
      if (list?.length > 0) {
        target = decorate(list, of, { kind: "class", name }, last, (given, value) =>
          given === undefined ? value : callable(given, "what the decorator of a class returns"));
      }
      if (isFixed && target !== of) {
        throw new TypeError("a decorator replaces class " + name + ", which has static private members (`static #…`): keep them in variables beside the class");
      }
      if (isDecorated) defineProperty(target, symbol, { value: metadata, configurable: true, enumerable: true, writable: true });
      run(own, target);
      return target;
    },
    before: (that) => run(before, that),
    init: (at, that, value) => { for (const one of starts[at]) value = one.call(that, value); return value; },
    extra: (at, that) => run(ends[at], that),
    // The value of a static `accessor` field, which is the class's that the decorators gave.
    keep: (nth, value) => { kept[nth] = [value]; },
    load: (nth, that) => owned(nth, that)[0],
    store: (nth, that, value) => { owned(nth, that)[0] = value; },
    last: () => run(last, target),
    value: (at) => parts[at].value,
    get: (at, that) => parts[at].get.call(that),
    set: (at, that, value) => { parts[at].set.call(that, value); },
  };
  return make ? make(state) : state;
}
// A decorator that is a member, with what it is a member of.
function $B(that, of) {
  if (!new.target) return new $B(that, of);
  this.that = that;
  this.of = of;
}
