// What a tool must not find: code from strings by any road, the global object by name, and the engine's own extras.
//
// Invariant: after this ran, no function that compiles text is reachable from anything that a tool can reach. The
// constructors of functions hang on four prototypes and nowhere else; each is replaced by one that refuses, so
// that `instanceof Function` goes on working.

const { defineProperty, getPrototypeOf } = Object;
const TypeErrorConstructor = TypeError;

const HIDDEN = [
  "eval",
  "globalThis",
  "global",
  "self",
  "window",
  "Atomics",
  "SharedArrayBuffer",
  "WebAssembly",
  "Javy",
  "performance",
  "navigator",
  "gc",
  "print",
  "std",
  "os",
  "bjson",
];

/** Takes away what is left of it on the global object. */
export function lockdown(globalObject) {
  const examples = [function () {}, async function () {}, function* () {}, async function* () {}];
  const names = ["Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"];
  for (let index = 0; index < examples.length; index++) {
    const prototype = getPrototypeOf(examples[index]);
    const name = names[index];
    const refuse = function () {
      throw new TypeErrorConstructor(name + ": code from strings is not available, what was analysed is what runs");
    };
    defineProperty(refuse, "name", { value: name, configurable: true });
    defineProperty(refuse, "length", { value: 1, configurable: true });
    defineProperty(refuse, "prototype", { value: prototype, writable: false });
    defineProperty(prototype, "constructor", { value: refuse, writable: false, configurable: false });
    if (index === 0) defineProperty(globalObject, name, { value: refuse, writable: true, configurable: true });
  }
  for (const name of HIDDEN) {
    if (!delete globalObject[name]) throw new TypeErrorConstructor(name + " cannot be hidden");
  }
  // The hook stays in force; what goes is the property through which a tool would get frames with live functions.
  delete Error.prepareStackTrace;
}
