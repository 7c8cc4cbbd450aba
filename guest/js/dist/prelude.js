// Built by `npm run build`; do not edit. The licences of what is bundled are in LICENSES.txt.
"use strict";
(() => {
  var __create = Object.create;
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __getProtoOf = Object.getPrototypeOf;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __name = (target, value) => __defProp(target, "name", { __proto__: null, value, configurable: true });
  var __commonJS = (cb, mod) => function __require() {
    try {
      return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
    } catch (e) {
      throw mod = 0, e;
    }
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
    // If the importer is in node compatibility mode or this is not an ESM
    // file that has been converted to a CommonJS file using a Babel-
    // compatible transform (i.e. "__esModule" has not been set), then set
    // "default" to the CommonJS "module.exports" for node compatibility.
    isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
    mod
  ));

  // node_modules/core-js-pure/internals/global-this.js
  var require_global_this = __commonJS({
    "node_modules/core-js-pure/internals/global-this.js"(exports, module) {
      "use strict";
      var check2 = /* @__PURE__ */ __name(function(it) {
        return it && it.Math === Math && it;
      }, "check");
      module.exports = // eslint-disable-next-line es/no-global-this -- safe
      check2(typeof globalThis == "object" && globalThis) || check2(typeof window == "object" && window) || // eslint-disable-next-line no-restricted-globals -- safe
      check2(typeof self == "object" && self) || check2(typeof global == "object" && global) || check2(typeof exports == "object" && exports) || // eslint-disable-next-line no-new-func -- fallback
      /* @__PURE__ */ (function() {
        return this;
      })() || Function("return this")();
    }
  });

  // node_modules/core-js-pure/internals/fails.js
  var require_fails = __commonJS({
    "node_modules/core-js-pure/internals/fails.js"(exports, module) {
      "use strict";
      module.exports = function(exec) {
        try {
          return !!exec();
        } catch (error) {
          return true;
        }
      };
    }
  });

  // node_modules/core-js-pure/internals/function-bind-native.js
  var require_function_bind_native = __commonJS({
    "node_modules/core-js-pure/internals/function-bind-native.js"(exports, module) {
      "use strict";
      var fails = require_fails();
      module.exports = !fails(function() {
        var test2 = function() {
        }.bind();
        return typeof test2 != "function" || test2.hasOwnProperty("prototype");
      });
    }
  });

  // node_modules/core-js-pure/internals/function-apply.js
  var require_function_apply = __commonJS({
    "node_modules/core-js-pure/internals/function-apply.js"(exports, module) {
      "use strict";
      var NATIVE_BIND = require_function_bind_native();
      var FunctionPrototype = Function.prototype;
      var apply2 = FunctionPrototype.apply;
      var call2 = FunctionPrototype.call;
      module.exports = typeof Reflect == "object" && Reflect.apply || (NATIVE_BIND ? call2.bind(apply2) : function() {
        return call2.apply(apply2, arguments);
      });
    }
  });

  // node_modules/core-js-pure/internals/function-uncurry-this.js
  var require_function_uncurry_this = __commonJS({
    "node_modules/core-js-pure/internals/function-uncurry-this.js"(exports, module) {
      "use strict";
      var NATIVE_BIND = require_function_bind_native();
      var FunctionPrototype = Function.prototype;
      var call2 = FunctionPrototype.call;
      var uncurryThisWithBind = NATIVE_BIND && FunctionPrototype.bind.bind(call2, call2);
      module.exports = NATIVE_BIND ? uncurryThisWithBind : function(fn) {
        return function() {
          return call2.apply(fn, arguments);
        };
      };
    }
  });

  // node_modules/core-js-pure/internals/classof-raw.js
  var require_classof_raw = __commonJS({
    "node_modules/core-js-pure/internals/classof-raw.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var toString2 = uncurryThis2({}.toString);
      var stringSlice = uncurryThis2("".slice);
      module.exports = function(it) {
        return stringSlice(toString2(it), 8, -1);
      };
    }
  });

  // node_modules/core-js-pure/internals/function-uncurry-this-clause.js
  var require_function_uncurry_this_clause = __commonJS({
    "node_modules/core-js-pure/internals/function-uncurry-this-clause.js"(exports, module) {
      "use strict";
      var classofRaw = require_classof_raw();
      var uncurryThis2 = require_function_uncurry_this();
      module.exports = function(fn) {
        if (classofRaw(fn) === "Function") return uncurryThis2(fn);
      };
    }
  });

  // node_modules/core-js-pure/internals/is-callable.js
  var require_is_callable = __commonJS({
    "node_modules/core-js-pure/internals/is-callable.js"(exports, module) {
      "use strict";
      var documentAll = typeof document == "object" && document.all;
      module.exports = typeof documentAll == "undefined" && documentAll !== void 0 ? function(argument) {
        return typeof argument == "function" || argument === documentAll;
      } : function(argument) {
        return typeof argument == "function";
      };
    }
  });

  // node_modules/core-js-pure/internals/descriptors.js
  var require_descriptors = __commonJS({
    "node_modules/core-js-pure/internals/descriptors.js"(exports, module) {
      "use strict";
      var fails = require_fails();
      module.exports = !fails(function() {
        return Object.defineProperty({}, 1, { get: /* @__PURE__ */ __name(function() {
          return 7;
        }, "get") })[1] !== 7;
      });
    }
  });

  // node_modules/core-js-pure/internals/function-call.js
  var require_function_call = __commonJS({
    "node_modules/core-js-pure/internals/function-call.js"(exports, module) {
      "use strict";
      var NATIVE_BIND = require_function_bind_native();
      var call2 = Function.prototype.call;
      module.exports = NATIVE_BIND ? call2.bind(call2) : function() {
        return call2.apply(call2, arguments);
      };
    }
  });

  // node_modules/core-js-pure/internals/object-property-is-enumerable.js
  var require_object_property_is_enumerable = __commonJS({
    "node_modules/core-js-pure/internals/object-property-is-enumerable.js"(exports) {
      "use strict";
      var $propertyIsEnumerable = {}.propertyIsEnumerable;
      var getOwnPropertyDescriptor3 = Object.getOwnPropertyDescriptor;
      var NASHORN_BUG = getOwnPropertyDescriptor3 && !$propertyIsEnumerable.call({ 1: 2 }, 1);
      exports.f = NASHORN_BUG ? /* @__PURE__ */ __name(function propertyIsEnumerable(V) {
        var descriptor = getOwnPropertyDescriptor3(this, V);
        return !!descriptor && descriptor.enumerable;
      }, "propertyIsEnumerable") : $propertyIsEnumerable;
    }
  });

  // node_modules/core-js-pure/internals/create-property-descriptor.js
  var require_create_property_descriptor = __commonJS({
    "node_modules/core-js-pure/internals/create-property-descriptor.js"(exports, module) {
      "use strict";
      module.exports = function(bitmap, value) {
        return {
          enumerable: !(bitmap & 1),
          configurable: !(bitmap & 2),
          writable: !(bitmap & 4),
          value
        };
      };
    }
  });

  // node_modules/core-js-pure/internals/indexed-object.js
  var require_indexed_object = __commonJS({
    "node_modules/core-js-pure/internals/indexed-object.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var fails = require_fails();
      var classof = require_classof_raw();
      var $Object = Object;
      var split = uncurryThis2("".split);
      module.exports = fails(function() {
        return !$Object("z").propertyIsEnumerable(0);
      }) ? function(it) {
        return classof(it) === "String" ? split(it, "") : $Object(it);
      } : $Object;
    }
  });

  // node_modules/core-js-pure/internals/is-null-or-undefined.js
  var require_is_null_or_undefined = __commonJS({
    "node_modules/core-js-pure/internals/is-null-or-undefined.js"(exports, module) {
      "use strict";
      module.exports = function(it) {
        return it === null || it === void 0;
      };
    }
  });

  // node_modules/core-js-pure/internals/require-object-coercible.js
  var require_require_object_coercible = __commonJS({
    "node_modules/core-js-pure/internals/require-object-coercible.js"(exports, module) {
      "use strict";
      var isNullOrUndefined = require_is_null_or_undefined();
      var $TypeError = TypeError;
      module.exports = function(it) {
        if (isNullOrUndefined(it)) throw new $TypeError("Can't call method on " + it);
        return it;
      };
    }
  });

  // node_modules/core-js-pure/internals/to-indexed-object.js
  var require_to_indexed_object = __commonJS({
    "node_modules/core-js-pure/internals/to-indexed-object.js"(exports, module) {
      "use strict";
      var IndexedObject = require_indexed_object();
      var requireObjectCoercible = require_require_object_coercible();
      module.exports = function(it) {
        return IndexedObject(requireObjectCoercible(it));
      };
    }
  });

  // node_modules/core-js-pure/internals/is-object.js
  var require_is_object = __commonJS({
    "node_modules/core-js-pure/internals/is-object.js"(exports, module) {
      "use strict";
      var isCallable = require_is_callable();
      module.exports = function(it) {
        return typeof it == "object" ? it !== null : isCallable(it);
      };
    }
  });

  // node_modules/core-js-pure/internals/path.js
  var require_path = __commonJS({
    "node_modules/core-js-pure/internals/path.js"(exports, module) {
      "use strict";
      module.exports = {};
    }
  });

  // node_modules/core-js-pure/internals/get-built-in.js
  var require_get_built_in = __commonJS({
    "node_modules/core-js-pure/internals/get-built-in.js"(exports, module) {
      "use strict";
      var path = require_path();
      var globalThis2 = require_global_this();
      var isCallable = require_is_callable();
      var aFunction = /* @__PURE__ */ __name(function(variable) {
        return isCallable(variable) ? variable : void 0;
      }, "aFunction");
      module.exports = function(namespace, method) {
        return arguments.length < 2 ? aFunction(path[namespace]) || aFunction(globalThis2[namespace]) : path[namespace] && path[namespace][method] || globalThis2[namespace] && globalThis2[namespace][method];
      };
    }
  });

  // node_modules/core-js-pure/internals/object-is-prototype-of.js
  var require_object_is_prototype_of = __commonJS({
    "node_modules/core-js-pure/internals/object-is-prototype-of.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      module.exports = uncurryThis2({}.isPrototypeOf);
    }
  });

  // node_modules/core-js-pure/internals/environment-user-agent.js
  var require_environment_user_agent = __commonJS({
    "node_modules/core-js-pure/internals/environment-user-agent.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var navigator = globalThis2.navigator;
      var userAgent = navigator && navigator.userAgent;
      module.exports = userAgent ? String(userAgent) : "";
    }
  });

  // node_modules/core-js-pure/internals/environment-v8-version.js
  var require_environment_v8_version = __commonJS({
    "node_modules/core-js-pure/internals/environment-v8-version.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var userAgent = require_environment_user_agent();
      var process2 = globalThis2.process;
      var Deno2 = globalThis2.Deno;
      var versions = process2 && process2.versions || Deno2 && Deno2.version;
      var v8 = versions && versions.v8;
      var match;
      var version;
      if (v8) {
        match = v8.split(".");
        version = match[0] > 0 && match[0] < 4 ? 1 : +(match[0] + match[1]);
      }
      if (!version && userAgent) {
        match = userAgent.match(/Edge\/(\d+)/);
        if (!match || match[1] >= 74) {
          match = userAgent.match(/Chrome\/(\d+)/);
          if (match) version = +match[1];
        }
      }
      module.exports = version;
    }
  });

  // node_modules/core-js-pure/internals/symbol-constructor-detection.js
  var require_symbol_constructor_detection = __commonJS({
    "node_modules/core-js-pure/internals/symbol-constructor-detection.js"(exports, module) {
      "use strict";
      var V8_VERSION = require_environment_v8_version();
      var fails = require_fails();
      var globalThis2 = require_global_this();
      var $String = globalThis2.String;
      module.exports = !!Object.getOwnPropertySymbols && !fails(function() {
        var symbol = /* @__PURE__ */ Symbol("symbol detection");
        return !$String(symbol) || !(Object(symbol) instanceof Symbol) || // Chrome 38-40 symbols are not inherited from DOM collections prototypes to instances
        !Symbol.sham && V8_VERSION && V8_VERSION < 41;
      });
    }
  });

  // node_modules/core-js-pure/internals/use-symbol-as-uid.js
  var require_use_symbol_as_uid = __commonJS({
    "node_modules/core-js-pure/internals/use-symbol-as-uid.js"(exports, module) {
      "use strict";
      var NATIVE_SYMBOL = require_symbol_constructor_detection();
      module.exports = NATIVE_SYMBOL && !Symbol.sham && typeof Symbol.iterator == "symbol";
    }
  });

  // node_modules/core-js-pure/internals/is-symbol.js
  var require_is_symbol = __commonJS({
    "node_modules/core-js-pure/internals/is-symbol.js"(exports, module) {
      "use strict";
      var getBuiltIn = require_get_built_in();
      var isCallable = require_is_callable();
      var isPrototypeOf = require_object_is_prototype_of();
      var USE_SYMBOL_AS_UID = require_use_symbol_as_uid();
      var $Object = Object;
      module.exports = USE_SYMBOL_AS_UID ? function(it) {
        return typeof it == "symbol";
      } : function(it) {
        var $Symbol = getBuiltIn("Symbol");
        return isCallable($Symbol) && isPrototypeOf($Symbol.prototype, $Object(it));
      };
    }
  });

  // node_modules/core-js-pure/internals/try-to-string.js
  var require_try_to_string = __commonJS({
    "node_modules/core-js-pure/internals/try-to-string.js"(exports, module) {
      "use strict";
      var $String = String;
      module.exports = function(argument) {
        try {
          return $String(argument);
        } catch (error) {
          return "Object";
        }
      };
    }
  });

  // node_modules/core-js-pure/internals/a-callable.js
  var require_a_callable = __commonJS({
    "node_modules/core-js-pure/internals/a-callable.js"(exports, module) {
      "use strict";
      var isCallable = require_is_callable();
      var tryToString = require_try_to_string();
      var $TypeError = TypeError;
      module.exports = function(argument) {
        if (isCallable(argument)) return argument;
        throw new $TypeError(tryToString(argument) + " is not a function");
      };
    }
  });

  // node_modules/core-js-pure/internals/get-method.js
  var require_get_method = __commonJS({
    "node_modules/core-js-pure/internals/get-method.js"(exports, module) {
      "use strict";
      var aCallable = require_a_callable();
      var isNullOrUndefined = require_is_null_or_undefined();
      module.exports = function(V, P) {
        var func = V[P];
        return isNullOrUndefined(func) ? void 0 : aCallable(func);
      };
    }
  });

  // node_modules/core-js-pure/internals/ordinary-to-primitive.js
  var require_ordinary_to_primitive = __commonJS({
    "node_modules/core-js-pure/internals/ordinary-to-primitive.js"(exports, module) {
      "use strict";
      var call2 = require_function_call();
      var isCallable = require_is_callable();
      var isObject = require_is_object();
      var $TypeError = TypeError;
      module.exports = function(input, pref) {
        var fn, val;
        if (pref === "string" && isCallable(fn = input.toString) && !isObject(val = call2(fn, input))) return val;
        if (isCallable(fn = input.valueOf) && !isObject(val = call2(fn, input))) return val;
        if (pref !== "string" && isCallable(fn = input.toString) && !isObject(val = call2(fn, input))) return val;
        throw new $TypeError("Can't convert object to primitive value");
      };
    }
  });

  // node_modules/core-js-pure/internals/is-pure.js
  var require_is_pure = __commonJS({
    "node_modules/core-js-pure/internals/is-pure.js"(exports, module) {
      "use strict";
      module.exports = true;
    }
  });

  // node_modules/core-js-pure/internals/define-global-property.js
  var require_define_global_property = __commonJS({
    "node_modules/core-js-pure/internals/define-global-property.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var defineProperty5 = Object.defineProperty;
      module.exports = function(key, value) {
        try {
          defineProperty5(globalThis2, key, { value, configurable: true, writable: true });
        } catch (error) {
          globalThis2[key] = value;
        }
        return value;
      };
    }
  });

  // node_modules/core-js-pure/internals/shared-store.js
  var require_shared_store = __commonJS({
    "node_modules/core-js-pure/internals/shared-store.js"(exports, module) {
      "use strict";
      var IS_PURE = require_is_pure();
      var globalThis2 = require_global_this();
      var defineGlobalProperty = require_define_global_property();
      var SHARED = "__core-js_shared__";
      var store = module.exports = globalThis2[SHARED] || defineGlobalProperty(SHARED, {});
      (store.versions || (store.versions = [])).push({
        version: "3.51.0",
        mode: IS_PURE ? "pure" : "global",
        copyright: "\xA9 2013\u20132025 Denis Pushkarev (zloirock.ru), 2025\u20132026 CoreJS Company (core-js.io). All rights reserved.",
        license: "https://github.com/zloirock/core-js/blob/v3.51.0/LICENSE",
        source: "https://github.com/zloirock/core-js"
      });
    }
  });

  // node_modules/core-js-pure/internals/shared.js
  var require_shared = __commonJS({
    "node_modules/core-js-pure/internals/shared.js"(exports, module) {
      "use strict";
      var store = require_shared_store();
      var create = Object.create || Object;
      module.exports = function(key, value) {
        return store[key] || (store[key] = value || create(null));
      };
    }
  });

  // node_modules/core-js-pure/internals/to-object.js
  var require_to_object = __commonJS({
    "node_modules/core-js-pure/internals/to-object.js"(exports, module) {
      "use strict";
      var requireObjectCoercible = require_require_object_coercible();
      var $Object = Object;
      module.exports = function(argument) {
        return $Object(requireObjectCoercible(argument));
      };
    }
  });

  // node_modules/core-js-pure/internals/has-own-property.js
  var require_has_own_property = __commonJS({
    "node_modules/core-js-pure/internals/has-own-property.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var toObject = require_to_object();
      var hasOwnProperty = uncurryThis2({}.hasOwnProperty);
      module.exports = Object.hasOwn || /* @__PURE__ */ __name(function hasOwn(it, key) {
        return hasOwnProperty(toObject(it), key);
      }, "hasOwn");
    }
  });

  // node_modules/core-js-pure/internals/uid.js
  var require_uid = __commonJS({
    "node_modules/core-js-pure/internals/uid.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var id = 0;
      var postfix = 0.5;
      var toString2 = uncurryThis2(1.1.toString);
      module.exports = function(key) {
        return "Symbol(" + (key === void 0 ? "" : key) + ")_" + toString2(++id + postfix, 36);
      };
    }
  });

  // node_modules/core-js-pure/internals/well-known-symbol.js
  var require_well_known_symbol = __commonJS({
    "node_modules/core-js-pure/internals/well-known-symbol.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var shared = require_shared();
      var hasOwn = require_has_own_property();
      var uid = require_uid();
      var NATIVE_SYMBOL = require_symbol_constructor_detection();
      var USE_SYMBOL_AS_UID = require_use_symbol_as_uid();
      var Symbol2 = globalThis2.Symbol;
      var WellKnownSymbolsStore = shared("wks");
      var createWellKnownSymbol = USE_SYMBOL_AS_UID ? Symbol2["for"] || Symbol2 : Symbol2 && Symbol2.withoutSetter || uid;
      module.exports = function(name) {
        if (!hasOwn(WellKnownSymbolsStore, name)) {
          WellKnownSymbolsStore[name] = NATIVE_SYMBOL && hasOwn(Symbol2, name) ? Symbol2[name] : createWellKnownSymbol("Symbol." + name);
        }
        return WellKnownSymbolsStore[name];
      };
    }
  });

  // node_modules/core-js-pure/internals/to-primitive.js
  var require_to_primitive = __commonJS({
    "node_modules/core-js-pure/internals/to-primitive.js"(exports, module) {
      "use strict";
      var call2 = require_function_call();
      var isObject = require_is_object();
      var isSymbol = require_is_symbol();
      var getMethod = require_get_method();
      var ordinaryToPrimitive = require_ordinary_to_primitive();
      var wellKnownSymbol = require_well_known_symbol();
      var $TypeError = TypeError;
      var TO_PRIMITIVE = wellKnownSymbol("toPrimitive");
      module.exports = function(input, pref) {
        if (!isObject(input) || isSymbol(input)) return input;
        var exoticToPrim = getMethod(input, TO_PRIMITIVE);
        var result;
        if (exoticToPrim) {
          if (pref === void 0) pref = "default";
          result = call2(exoticToPrim, input, pref);
          if (!isObject(result) || isSymbol(result)) return result;
          throw new $TypeError("Can't convert object to primitive value");
        }
        if (pref === void 0) pref = "number";
        return ordinaryToPrimitive(input, pref);
      };
    }
  });

  // node_modules/core-js-pure/internals/to-property-key.js
  var require_to_property_key = __commonJS({
    "node_modules/core-js-pure/internals/to-property-key.js"(exports, module) {
      "use strict";
      var toPrimitive = require_to_primitive();
      var isSymbol = require_is_symbol();
      module.exports = function(argument) {
        var key = toPrimitive(argument, "string");
        return isSymbol(key) ? key : key + "";
      };
    }
  });

  // node_modules/core-js-pure/internals/document-create-element.js
  var require_document_create_element = __commonJS({
    "node_modules/core-js-pure/internals/document-create-element.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var isObject = require_is_object();
      var document2 = globalThis2.document;
      var EXISTS = isObject(document2) && isObject(document2.createElement);
      module.exports = function(it) {
        return EXISTS ? document2.createElement(it) : {};
      };
    }
  });

  // node_modules/core-js-pure/internals/ie8-dom-define.js
  var require_ie8_dom_define = __commonJS({
    "node_modules/core-js-pure/internals/ie8-dom-define.js"(exports, module) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var fails = require_fails();
      var createElement = require_document_create_element();
      module.exports = !DESCRIPTORS && !fails(function() {
        return Object.defineProperty(createElement("div"), "a", {
          get: /* @__PURE__ */ __name(function() {
            return 7;
          }, "get")
        }).a !== 7;
      });
    }
  });

  // node_modules/core-js-pure/internals/object-get-own-property-descriptor.js
  var require_object_get_own_property_descriptor = __commonJS({
    "node_modules/core-js-pure/internals/object-get-own-property-descriptor.js"(exports) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var call2 = require_function_call();
      var propertyIsEnumerableModule = require_object_property_is_enumerable();
      var createPropertyDescriptor = require_create_property_descriptor();
      var toIndexedObject = require_to_indexed_object();
      var toPropertyKey = require_to_property_key();
      var hasOwn = require_has_own_property();
      var IE8_DOM_DEFINE = require_ie8_dom_define();
      var $getOwnPropertyDescriptor = Object.getOwnPropertyDescriptor;
      exports.f = DESCRIPTORS ? $getOwnPropertyDescriptor : /* @__PURE__ */ __name(function getOwnPropertyDescriptor3(O, P) {
        O = toIndexedObject(O);
        P = toPropertyKey(P);
        if (IE8_DOM_DEFINE) try {
          return $getOwnPropertyDescriptor(O, P);
        } catch (error) {
        }
        if (hasOwn(O, P)) return createPropertyDescriptor(!call2(propertyIsEnumerableModule.f, O, P), O[P]);
      }, "getOwnPropertyDescriptor");
    }
  });

  // node_modules/core-js-pure/internals/is-forced.js
  var require_is_forced = __commonJS({
    "node_modules/core-js-pure/internals/is-forced.js"(exports, module) {
      "use strict";
      var fails = require_fails();
      var isCallable = require_is_callable();
      var replacement = /#|\.prototype\./;
      var isForced = /* @__PURE__ */ __name(function(feature, detection) {
        var value = data[normalize(feature)];
        return value === POLYFILL ? true : value === NATIVE ? false : isCallable(detection) ? fails(detection) : !!detection;
      }, "isForced");
      var normalize = isForced.normalize = function(string) {
        return String(string).replace(replacement, ".").toLowerCase();
      };
      var data = isForced.data = {};
      var NATIVE = isForced.NATIVE = "N";
      var POLYFILL = isForced.POLYFILL = "P";
      module.exports = isForced;
    }
  });

  // node_modules/core-js-pure/internals/function-bind-context.js
  var require_function_bind_context = __commonJS({
    "node_modules/core-js-pure/internals/function-bind-context.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this_clause();
      var aCallable = require_a_callable();
      var NATIVE_BIND = require_function_bind_native();
      var bind2 = uncurryThis2(uncurryThis2.bind);
      module.exports = function(fn, that) {
        aCallable(fn);
        return that === void 0 ? fn : NATIVE_BIND ? bind2(fn, that) : function() {
          return fn.apply(that, arguments);
        };
      };
    }
  });

  // node_modules/core-js-pure/internals/v8-prototype-define-bug.js
  var require_v8_prototype_define_bug = __commonJS({
    "node_modules/core-js-pure/internals/v8-prototype-define-bug.js"(exports, module) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var fails = require_fails();
      module.exports = DESCRIPTORS && fails(function() {
        return Object.defineProperty(function() {
        }, "prototype", {
          value: 42,
          writable: false
        }).prototype !== 42;
      });
    }
  });

  // node_modules/core-js-pure/internals/an-object.js
  var require_an_object = __commonJS({
    "node_modules/core-js-pure/internals/an-object.js"(exports, module) {
      "use strict";
      var isObject = require_is_object();
      var $String = String;
      var $TypeError = TypeError;
      module.exports = function(argument) {
        if (isObject(argument)) return argument;
        throw new $TypeError($String(argument) + " is not an object");
      };
    }
  });

  // node_modules/core-js-pure/internals/object-define-property.js
  var require_object_define_property = __commonJS({
    "node_modules/core-js-pure/internals/object-define-property.js"(exports) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var IE8_DOM_DEFINE = require_ie8_dom_define();
      var V8_PROTOTYPE_DEFINE_BUG = require_v8_prototype_define_bug();
      var anObject = require_an_object();
      var toPropertyKey = require_to_property_key();
      var $TypeError = TypeError;
      var $defineProperty = Object.defineProperty;
      var $getOwnPropertyDescriptor = Object.getOwnPropertyDescriptor;
      var ENUMERABLE = "enumerable";
      var CONFIGURABLE = "configurable";
      var WRITABLE = "writable";
      exports.f = DESCRIPTORS ? V8_PROTOTYPE_DEFINE_BUG ? /* @__PURE__ */ __name(function defineProperty5(O, P, Attributes) {
        anObject(O);
        P = toPropertyKey(P);
        anObject(Attributes);
        if (typeof O === "function" && P === "prototype" && "value" in Attributes && WRITABLE in Attributes && !Attributes[WRITABLE]) {
          var current = $getOwnPropertyDescriptor(O, P);
          if (current && current[WRITABLE]) {
            O[P] = Attributes.value;
            Attributes = {
              configurable: CONFIGURABLE in Attributes ? Attributes[CONFIGURABLE] : current[CONFIGURABLE],
              enumerable: ENUMERABLE in Attributes ? Attributes[ENUMERABLE] : current[ENUMERABLE],
              writable: false
            };
          }
        }
        return $defineProperty(O, P, Attributes);
      }, "defineProperty") : $defineProperty : /* @__PURE__ */ __name(function defineProperty5(O, P, Attributes) {
        anObject(O);
        P = toPropertyKey(P);
        anObject(Attributes);
        if (IE8_DOM_DEFINE) try {
          return $defineProperty(O, P, Attributes);
        } catch (error) {
        }
        if ("get" in Attributes || "set" in Attributes) throw new $TypeError("Accessors not supported");
        if ("value" in Attributes) O[P] = Attributes.value;
        return O;
      }, "defineProperty");
    }
  });

  // node_modules/core-js-pure/internals/create-non-enumerable-property.js
  var require_create_non_enumerable_property = __commonJS({
    "node_modules/core-js-pure/internals/create-non-enumerable-property.js"(exports, module) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var definePropertyModule = require_object_define_property();
      var createPropertyDescriptor = require_create_property_descriptor();
      module.exports = DESCRIPTORS ? function(object, key, value) {
        return definePropertyModule.f(object, key, createPropertyDescriptor(1, value));
      } : function(object, key, value) {
        object[key] = value;
        return object;
      };
    }
  });

  // node_modules/core-js-pure/internals/export.js
  var require_export = __commonJS({
    "node_modules/core-js-pure/internals/export.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var apply2 = require_function_apply();
      var uncurryThis2 = require_function_uncurry_this_clause();
      var isCallable = require_is_callable();
      var getOwnPropertyDescriptor3 = require_object_get_own_property_descriptor().f;
      var isForced = require_is_forced();
      var path = require_path();
      var bind2 = require_function_bind_context();
      var createNonEnumerableProperty = require_create_non_enumerable_property();
      var hasOwn = require_has_own_property();
      require_shared_store();
      var wrapConstructor = /* @__PURE__ */ __name(function(NativeConstructor) {
        var Wrapper = /* @__PURE__ */ __name(function(a, b, c) {
          if (this instanceof Wrapper) {
            switch (arguments.length) {
              case 0:
                return new NativeConstructor();
              case 1:
                return new NativeConstructor(a);
              case 2:
                return new NativeConstructor(a, b);
            }
            return new NativeConstructor(a, b, c);
          }
          return apply2(NativeConstructor, this, arguments);
        }, "Wrapper");
        Wrapper.prototype = NativeConstructor.prototype;
        return Wrapper;
      }, "wrapConstructor");
      module.exports = function(options, source) {
        var TARGET = options.target;
        var GLOBAL = options.global;
        var STATIC = options.stat;
        var PROTO = options.proto;
        var nativeSource = GLOBAL ? globalThis2 : STATIC ? globalThis2[TARGET] : globalThis2[TARGET] && globalThis2[TARGET].prototype;
        var target = GLOBAL ? path : path[TARGET] || createNonEnumerableProperty(path, TARGET, {})[TARGET];
        var targetPrototype = target.prototype;
        var FORCED, USE_NATIVE, VIRTUAL_PROTOTYPE;
        var key, sourceProperty, targetProperty, nativeProperty, resultProperty, descriptor;
        for (key in source) {
          FORCED = isForced(GLOBAL ? key : TARGET + (STATIC ? "." : "#") + key, options.forced);
          USE_NATIVE = !FORCED && nativeSource && hasOwn(nativeSource, key);
          targetProperty = target[key];
          if (USE_NATIVE) if (options.dontCallGetSet) {
            descriptor = getOwnPropertyDescriptor3(nativeSource, key);
            nativeProperty = descriptor && descriptor.value;
          } else nativeProperty = nativeSource[key];
          sourceProperty = USE_NATIVE && nativeProperty ? nativeProperty : source[key];
          if (!FORCED && !PROTO && typeof targetProperty == typeof sourceProperty) continue;
          if (options.bind && USE_NATIVE) resultProperty = bind2(sourceProperty, globalThis2);
          else if (options.wrap && USE_NATIVE) resultProperty = wrapConstructor(sourceProperty);
          else if (PROTO && isCallable(sourceProperty)) resultProperty = uncurryThis2(sourceProperty);
          else resultProperty = sourceProperty;
          if (options.sham || sourceProperty && sourceProperty.sham || targetProperty && targetProperty.sham) {
            createNonEnumerableProperty(resultProperty, "sham", true);
          }
          createNonEnumerableProperty(target, key, resultProperty);
          if (PROTO) {
            VIRTUAL_PROTOTYPE = TARGET + "Prototype";
            if (!hasOwn(path, VIRTUAL_PROTOTYPE)) {
              createNonEnumerableProperty(path, VIRTUAL_PROTOTYPE, {});
            }
            createNonEnumerableProperty(path[VIRTUAL_PROTOTYPE], key, sourceProperty);
            if (options.real && targetPrototype && (FORCED || !targetPrototype[key])) {
              createNonEnumerableProperty(targetPrototype, key, sourceProperty);
            }
          }
        }
      };
    }
  });

  // node_modules/core-js-pure/internals/environment.js
  var require_environment = __commonJS({
    "node_modules/core-js-pure/internals/environment.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var userAgent = require_environment_user_agent();
      var classof = require_classof_raw();
      var userAgentStartsWith = /* @__PURE__ */ __name(function(string) {
        return userAgent.slice(0, string.length) === string;
      }, "userAgentStartsWith");
      module.exports = (function() {
        if (userAgentStartsWith("Bun/")) return "BUN";
        if (userAgentStartsWith("Cloudflare-Workers")) return "CLOUDFLARE";
        if (userAgentStartsWith("Deno/")) return "DENO";
        if (userAgentStartsWith("Node.js/")) return "NODE";
        if (globalThis2.Bun && typeof Bun.version == "string") return "BUN";
        if (globalThis2.Deno && typeof Deno.version == "object") return "DENO";
        if (classof(globalThis2.process) === "process") return "NODE";
        if (globalThis2.window && globalThis2.document) return "BROWSER";
        return "REST";
      })();
    }
  });

  // node_modules/core-js-pure/internals/environment-is-node.js
  var require_environment_is_node = __commonJS({
    "node_modules/core-js-pure/internals/environment-is-node.js"(exports, module) {
      "use strict";
      var ENVIRONMENT = require_environment();
      module.exports = ENVIRONMENT === "NODE";
    }
  });

  // node_modules/core-js-pure/internals/get-built-in-node-module.js
  var require_get_built_in_node_module = __commonJS({
    "node_modules/core-js-pure/internals/get-built-in-node-module.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var IS_NODE = require_environment_is_node();
      module.exports = function(name) {
        if (IS_NODE) {
          try {
            return globalThis2.process.getBuiltinModule(name);
          } catch (error) {
          }
          try {
            return Function('return require("' + name + '")')();
          } catch (error) {
          }
        }
      };
    }
  });

  // node_modules/core-js-pure/internals/math-trunc.js
  var require_math_trunc = __commonJS({
    "node_modules/core-js-pure/internals/math-trunc.js"(exports, module) {
      "use strict";
      var ceil = Math.ceil;
      var floor = Math.floor;
      module.exports = Math.trunc || /* @__PURE__ */ __name(function trunc(x) {
        var n = +x;
        return (n > 0 ? floor : ceil)(n);
      }, "trunc");
    }
  });

  // node_modules/core-js-pure/internals/to-integer-or-infinity.js
  var require_to_integer_or_infinity = __commonJS({
    "node_modules/core-js-pure/internals/to-integer-or-infinity.js"(exports, module) {
      "use strict";
      var trunc = require_math_trunc();
      module.exports = function(argument) {
        var number = +argument;
        return number !== number || number === 0 ? 0 : trunc(number);
      };
    }
  });

  // node_modules/core-js-pure/internals/to-absolute-index.js
  var require_to_absolute_index = __commonJS({
    "node_modules/core-js-pure/internals/to-absolute-index.js"(exports, module) {
      "use strict";
      var toIntegerOrInfinity = require_to_integer_or_infinity();
      var max = Math.max;
      var min = Math.min;
      module.exports = function(index, length) {
        var integer = toIntegerOrInfinity(index);
        return integer < 0 ? max(integer + length, 0) : min(integer, length);
      };
    }
  });

  // node_modules/core-js-pure/internals/to-length.js
  var require_to_length = __commonJS({
    "node_modules/core-js-pure/internals/to-length.js"(exports, module) {
      "use strict";
      var toIntegerOrInfinity = require_to_integer_or_infinity();
      var min = Math.min;
      module.exports = function(argument) {
        var len = toIntegerOrInfinity(argument);
        return len > 0 ? min(len, 9007199254740991) : 0;
      };
    }
  });

  // node_modules/core-js-pure/internals/length-of-array-like.js
  var require_length_of_array_like = __commonJS({
    "node_modules/core-js-pure/internals/length-of-array-like.js"(exports, module) {
      "use strict";
      var toLength = require_to_length();
      module.exports = function(obj) {
        return toLength(obj.length);
      };
    }
  });

  // node_modules/core-js-pure/internals/array-includes.js
  var require_array_includes = __commonJS({
    "node_modules/core-js-pure/internals/array-includes.js"(exports, module) {
      "use strict";
      var toIndexedObject = require_to_indexed_object();
      var toAbsoluteIndex = require_to_absolute_index();
      var lengthOfArrayLike = require_length_of_array_like();
      var createMethod = /* @__PURE__ */ __name(function(IS_INCLUDES) {
        return function($this, el, fromIndex) {
          var O = toIndexedObject($this);
          var length = lengthOfArrayLike(O);
          if (length === 0) return !IS_INCLUDES && -1;
          var index = toAbsoluteIndex(fromIndex, length);
          var value;
          if (IS_INCLUDES && el !== el) while (length > index) {
            value = O[index++];
            if (value !== value) return true;
          }
          else for (; length > index; index++) {
            if ((IS_INCLUDES || index in O) && O[index] === el) return IS_INCLUDES || index || 0;
          }
          return !IS_INCLUDES && -1;
        };
      }, "createMethod");
      module.exports = {
        // `Array.prototype.includes` method
        // https://tc39.es/ecma262/#sec-array.prototype.includes
        includes: createMethod(true),
        // `Array.prototype.indexOf` method
        // https://tc39.es/ecma262/#sec-array.prototype.indexof
        indexOf: createMethod(false)
      };
    }
  });

  // node_modules/core-js-pure/internals/hidden-keys.js
  var require_hidden_keys = __commonJS({
    "node_modules/core-js-pure/internals/hidden-keys.js"(exports, module) {
      "use strict";
      module.exports = {};
    }
  });

  // node_modules/core-js-pure/internals/object-keys-internal.js
  var require_object_keys_internal = __commonJS({
    "node_modules/core-js-pure/internals/object-keys-internal.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var hasOwn = require_has_own_property();
      var toIndexedObject = require_to_indexed_object();
      var indexOf = require_array_includes().indexOf;
      var hiddenKeys = require_hidden_keys();
      var push = uncurryThis2([].push);
      module.exports = function(object, names) {
        var O = toIndexedObject(object);
        var i = 0;
        var result = [];
        var key;
        for (key in O) !hasOwn(hiddenKeys, key) && hasOwn(O, key) && push(result, key);
        while (names.length > i) if (hasOwn(O, key = names[i++])) {
          ~indexOf(result, key) || push(result, key);
        }
        return result;
      };
    }
  });

  // node_modules/core-js-pure/internals/enum-bug-keys.js
  var require_enum_bug_keys = __commonJS({
    "node_modules/core-js-pure/internals/enum-bug-keys.js"(exports, module) {
      "use strict";
      module.exports = [
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf"
      ];
    }
  });

  // node_modules/core-js-pure/internals/object-keys.js
  var require_object_keys = __commonJS({
    "node_modules/core-js-pure/internals/object-keys.js"(exports, module) {
      "use strict";
      var internalObjectKeys = require_object_keys_internal();
      var enumBugKeys = require_enum_bug_keys();
      module.exports = Object.keys || /* @__PURE__ */ __name(function keys3(O) {
        return internalObjectKeys(O, enumBugKeys);
      }, "keys");
    }
  });

  // node_modules/core-js-pure/internals/object-define-properties.js
  var require_object_define_properties = __commonJS({
    "node_modules/core-js-pure/internals/object-define-properties.js"(exports) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var V8_PROTOTYPE_DEFINE_BUG = require_v8_prototype_define_bug();
      var definePropertyModule = require_object_define_property();
      var anObject = require_an_object();
      var toIndexedObject = require_to_indexed_object();
      var objectKeys = require_object_keys();
      exports.f = DESCRIPTORS && !V8_PROTOTYPE_DEFINE_BUG ? Object.defineProperties : /* @__PURE__ */ __name(function defineProperties(O, Properties) {
        anObject(O);
        var props = toIndexedObject(Properties);
        var keys3 = objectKeys(Properties);
        var length = keys3.length;
        var index = 0;
        var key;
        while (length > index) definePropertyModule.f(O, key = keys3[index++], props[key]);
        return O;
      }, "defineProperties");
    }
  });

  // node_modules/core-js-pure/internals/html.js
  var require_html = __commonJS({
    "node_modules/core-js-pure/internals/html.js"(exports, module) {
      "use strict";
      var getBuiltIn = require_get_built_in();
      module.exports = getBuiltIn("document", "documentElement");
    }
  });

  // node_modules/core-js-pure/internals/shared-key.js
  var require_shared_key = __commonJS({
    "node_modules/core-js-pure/internals/shared-key.js"(exports, module) {
      "use strict";
      var shared = require_shared();
      var uid = require_uid();
      var keys3 = shared("keys");
      module.exports = function(key) {
        return keys3[key] || (keys3[key] = uid(key));
      };
    }
  });

  // node_modules/core-js-pure/internals/object-create.js
  var require_object_create = __commonJS({
    "node_modules/core-js-pure/internals/object-create.js"(exports, module) {
      "use strict";
      var anObject = require_an_object();
      var definePropertiesModule = require_object_define_properties();
      var enumBugKeys = require_enum_bug_keys();
      var hiddenKeys = require_hidden_keys();
      var html = require_html();
      var documentCreateElement = require_document_create_element();
      var sharedKey = require_shared_key();
      var GT = ">";
      var LT = "<";
      var PROTOTYPE = "prototype";
      var SCRIPT = "script";
      var IE_PROTO = sharedKey("IE_PROTO");
      var EmptyConstructor = /* @__PURE__ */ __name(function() {
      }, "EmptyConstructor");
      var scriptTag = /* @__PURE__ */ __name(function(content) {
        return LT + SCRIPT + GT + content + LT + "/" + SCRIPT + GT;
      }, "scriptTag");
      var NullProtoObjectViaActiveX = /* @__PURE__ */ __name(function(activeXDocument2) {
        activeXDocument2.write(scriptTag(""));
        activeXDocument2.close();
        var temp = activeXDocument2.parentWindow.Object;
        activeXDocument2 = null;
        return temp;
      }, "NullProtoObjectViaActiveX");
      var NullProtoObjectViaIFrame = /* @__PURE__ */ __name(function() {
        var iframe = documentCreateElement("iframe");
        var JS = "java" + SCRIPT + ":";
        var iframeDocument;
        iframe.style.display = "none";
        html.appendChild(iframe);
        iframe.src = String(JS);
        iframeDocument = iframe.contentWindow.document;
        iframeDocument.open();
        iframeDocument.write(scriptTag("document.F=Object"));
        iframeDocument.close();
        return iframeDocument.F;
      }, "NullProtoObjectViaIFrame");
      var activeXDocument;
      var NullProtoObject = /* @__PURE__ */ __name(function() {
        try {
          activeXDocument = new ActiveXObject("htmlfile");
        } catch (error) {
        }
        NullProtoObject = typeof document != "undefined" ? document.domain && activeXDocument ? NullProtoObjectViaActiveX(activeXDocument) : NullProtoObjectViaIFrame() : NullProtoObjectViaActiveX(activeXDocument);
        var length = enumBugKeys.length;
        while (length--) delete NullProtoObject[PROTOTYPE][enumBugKeys[length]];
        return NullProtoObject();
      }, "NullProtoObject");
      hiddenKeys[IE_PROTO] = true;
      module.exports = Object.create || /* @__PURE__ */ __name(function create(O, Properties) {
        var result;
        if (O !== null) {
          EmptyConstructor[PROTOTYPE] = anObject(O);
          result = new EmptyConstructor();
          EmptyConstructor[PROTOTYPE] = null;
          result[IE_PROTO] = O;
        } else result = NullProtoObject();
        return Properties === void 0 ? result : definePropertiesModule.f(result, Properties);
      }, "create");
    }
  });

  // node_modules/core-js-pure/internals/define-built-in.js
  var require_define_built_in = __commonJS({
    "node_modules/core-js-pure/internals/define-built-in.js"(exports, module) {
      "use strict";
      var createNonEnumerableProperty = require_create_non_enumerable_property();
      module.exports = function(target, key, value, options) {
        if (options && options.enumerable) target[key] = value;
        else createNonEnumerableProperty(target, key, value);
        return target;
      };
    }
  });

  // node_modules/core-js-pure/internals/define-built-in-accessor.js
  var require_define_built_in_accessor = __commonJS({
    "node_modules/core-js-pure/internals/define-built-in-accessor.js"(exports, module) {
      "use strict";
      var defineProperty5 = require_object_define_property();
      module.exports = function(target, name, descriptor) {
        return defineProperty5.f(target, name, descriptor);
      };
    }
  });

  // node_modules/core-js-pure/internals/an-instance.js
  var require_an_instance = __commonJS({
    "node_modules/core-js-pure/internals/an-instance.js"(exports, module) {
      "use strict";
      var isPrototypeOf = require_object_is_prototype_of();
      var $TypeError = TypeError;
      module.exports = function(it, Prototype) {
        if (isPrototypeOf(Prototype, it)) return it;
        throw new $TypeError("Incorrect invocation");
      };
    }
  });

  // node_modules/core-js-pure/internals/to-string-tag-support.js
  var require_to_string_tag_support = __commonJS({
    "node_modules/core-js-pure/internals/to-string-tag-support.js"(exports, module) {
      "use strict";
      var wellKnownSymbol = require_well_known_symbol();
      var TO_STRING_TAG = wellKnownSymbol("toStringTag");
      var test2 = {};
      test2[TO_STRING_TAG] = "z";
      module.exports = String(test2) === "[object z]";
    }
  });

  // node_modules/core-js-pure/internals/classof.js
  var require_classof = __commonJS({
    "node_modules/core-js-pure/internals/classof.js"(exports, module) {
      "use strict";
      var TO_STRING_TAG_SUPPORT = require_to_string_tag_support();
      var isCallable = require_is_callable();
      var classofRaw = require_classof_raw();
      var wellKnownSymbol = require_well_known_symbol();
      var TO_STRING_TAG = wellKnownSymbol("toStringTag");
      var $Object = Object;
      var CORRECT_ARGUMENTS = classofRaw(/* @__PURE__ */ (function() {
        return arguments;
      })()) === "Arguments";
      var tryGet = /* @__PURE__ */ __name(function(it, key) {
        try {
          return it[key];
        } catch (error) {
        }
      }, "tryGet");
      module.exports = TO_STRING_TAG_SUPPORT ? classofRaw : function(it) {
        var O, tag, result;
        return it === void 0 ? "Undefined" : it === null ? "Null" : typeof (tag = tryGet(O = $Object(it), TO_STRING_TAG)) == "string" ? tag : CORRECT_ARGUMENTS ? classofRaw(O) : (result = classofRaw(O)) === "Object" && isCallable(O.callee) ? "Arguments" : result;
      };
    }
  });

  // node_modules/core-js-pure/internals/to-string.js
  var require_to_string = __commonJS({
    "node_modules/core-js-pure/internals/to-string.js"(exports, module) {
      "use strict";
      var classof = require_classof();
      var $String = String;
      module.exports = function(argument) {
        if (classof(argument) === "Symbol") throw new TypeError("Cannot convert a Symbol value to a string");
        return $String(argument);
      };
    }
  });

  // node_modules/core-js-pure/internals/normalize-string-argument.js
  var require_normalize_string_argument = __commonJS({
    "node_modules/core-js-pure/internals/normalize-string-argument.js"(exports, module) {
      "use strict";
      var toString2 = require_to_string();
      module.exports = function(argument, $default) {
        return argument === void 0 ? arguments.length < 2 ? "" : $default : toString2(argument);
      };
    }
  });

  // node_modules/core-js-pure/internals/error-to-string.js
  var require_error_to_string = __commonJS({
    "node_modules/core-js-pure/internals/error-to-string.js"(exports, module) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var fails = require_fails();
      var anObject = require_an_object();
      var normalizeStringArgument = require_normalize_string_argument();
      var nativeErrorToString = Error.prototype.toString;
      var INCORRECT_TO_STRING = fails(function() {
        if (DESCRIPTORS) {
          var object = Object.create(Object.defineProperty({}, "name", { get: /* @__PURE__ */ __name(function() {
            return this === object;
          }, "get") }));
          if (nativeErrorToString.call(object) !== "true") return true;
        }
        return nativeErrorToString.call({ message: 1, name: 2 }) !== "2: 1" || nativeErrorToString.call({}) !== "Error";
      });
      module.exports = INCORRECT_TO_STRING ? /* @__PURE__ */ __name(function toString2() {
        var O = anObject(this);
        var name = normalizeStringArgument(O.name, "Error");
        var message = normalizeStringArgument(O.message);
        return !name ? message : !message ? name : name + ": " + message;
      }, "toString") : nativeErrorToString;
    }
  });

  // node_modules/core-js-pure/internals/dom-exception-constants.js
  var require_dom_exception_constants = __commonJS({
    "node_modules/core-js-pure/internals/dom-exception-constants.js"(exports, module) {
      "use strict";
      module.exports = {
        IndexSizeError: { s: "INDEX_SIZE_ERR", c: 1, m: 1 },
        DOMStringSizeError: { s: "DOMSTRING_SIZE_ERR", c: 2, m: 0 },
        HierarchyRequestError: { s: "HIERARCHY_REQUEST_ERR", c: 3, m: 1 },
        WrongDocumentError: { s: "WRONG_DOCUMENT_ERR", c: 4, m: 1 },
        InvalidCharacterError: { s: "INVALID_CHARACTER_ERR", c: 5, m: 1 },
        NoDataAllowedError: { s: "NO_DATA_ALLOWED_ERR", c: 6, m: 0 },
        NoModificationAllowedError: { s: "NO_MODIFICATION_ALLOWED_ERR", c: 7, m: 1 },
        NotFoundError: { s: "NOT_FOUND_ERR", c: 8, m: 1 },
        NotSupportedError: { s: "NOT_SUPPORTED_ERR", c: 9, m: 1 },
        InUseAttributeError: { s: "INUSE_ATTRIBUTE_ERR", c: 10, m: 1 },
        InvalidStateError: { s: "INVALID_STATE_ERR", c: 11, m: 1 },
        SyntaxError: { s: "SYNTAX_ERR", c: 12, m: 1 },
        InvalidModificationError: { s: "INVALID_MODIFICATION_ERR", c: 13, m: 1 },
        NamespaceError: { s: "NAMESPACE_ERR", c: 14, m: 1 },
        InvalidAccessError: { s: "INVALID_ACCESS_ERR", c: 15, m: 1 },
        ValidationError: { s: "VALIDATION_ERR", c: 16, m: 0 },
        TypeMismatchError: { s: "TYPE_MISMATCH_ERR", c: 17, m: 1 },
        SecurityError: { s: "SECURITY_ERR", c: 18, m: 1 },
        NetworkError: { s: "NETWORK_ERR", c: 19, m: 1 },
        AbortError: { s: "ABORT_ERR", c: 20, m: 1 },
        URLMismatchError: { s: "URL_MISMATCH_ERR", c: 21, m: 1 },
        QuotaExceededError: { s: "QUOTA_EXCEEDED_ERR", c: 22, m: 1 },
        TimeoutError: { s: "TIMEOUT_ERR", c: 23, m: 1 },
        InvalidNodeTypeError: { s: "INVALID_NODE_TYPE_ERR", c: 24, m: 1 },
        DataCloneError: { s: "DATA_CLONE_ERR", c: 25, m: 1 }
      };
    }
  });

  // node_modules/core-js-pure/internals/error-stack-clear.js
  var require_error_stack_clear = __commonJS({
    "node_modules/core-js-pure/internals/error-stack-clear.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var $Error = Error;
      var replace = uncurryThis2("".replace);
      var TEST = (function(arg) {
        return String(new $Error(arg).stack);
      })("zxcasd");
      var V8_OR_CHAKRA_STACK_ENTRY = /\n\s*at [^:]*:[^\n]*/;
      var IS_V8_OR_CHAKRA_STACK = V8_OR_CHAKRA_STACK_ENTRY.test(TEST);
      module.exports = function(stack, dropEntries) {
        if (IS_V8_OR_CHAKRA_STACK && typeof stack == "string" && !$Error.prepareStackTrace) {
          while (dropEntries--) stack = replace(stack, V8_OR_CHAKRA_STACK_ENTRY, "");
        }
        return stack;
      };
    }
  });

  // node_modules/core-js-pure/internals/weak-map-basic-detection.js
  var require_weak_map_basic_detection = __commonJS({
    "node_modules/core-js-pure/internals/weak-map-basic-detection.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var isCallable = require_is_callable();
      var WeakMap2 = globalThis2.WeakMap;
      module.exports = isCallable(WeakMap2) && /native code/.test(String(WeakMap2));
    }
  });

  // node_modules/core-js-pure/internals/internal-state.js
  var require_internal_state = __commonJS({
    "node_modules/core-js-pure/internals/internal-state.js"(exports, module) {
      "use strict";
      var NATIVE_WEAK_MAP = require_weak_map_basic_detection();
      var globalThis2 = require_global_this();
      var isObject = require_is_object();
      var createNonEnumerableProperty = require_create_non_enumerable_property();
      var hasOwn = require_has_own_property();
      var shared = require_shared_store();
      var sharedKey = require_shared_key();
      var hiddenKeys = require_hidden_keys();
      var OBJECT_ALREADY_INITIALIZED = "Object already initialized";
      var TypeError3 = globalThis2.TypeError;
      var WeakMap2 = globalThis2.WeakMap;
      var set;
      var get;
      var has;
      var enforce = /* @__PURE__ */ __name(function(it) {
        return has(it) ? get(it) : set(it, {});
      }, "enforce");
      var getterFor = /* @__PURE__ */ __name(function(TYPE) {
        return function(it) {
          var state;
          if (!isObject(it) || (state = get(it)).type !== TYPE) {
            throw new TypeError3("Incompatible receiver, " + TYPE + " required");
          }
          return state;
        };
      }, "getterFor");
      if (NATIVE_WEAK_MAP || shared.state) {
        store = shared.state || (shared.state = new WeakMap2());
        store.get = store.get;
        store.has = store.has;
        store.set = store.set;
        set = /* @__PURE__ */ __name(function(it, metadata) {
          if (store.has(it)) throw new TypeError3(OBJECT_ALREADY_INITIALIZED);
          metadata.facade = it;
          store.set(it, metadata);
          return metadata;
        }, "set");
        get = /* @__PURE__ */ __name(function(it) {
          return store.get(it) || {};
        }, "get");
        has = /* @__PURE__ */ __name(function(it) {
          return store.has(it);
        }, "has");
      } else {
        STATE = sharedKey("state");
        hiddenKeys[STATE] = true;
        set = /* @__PURE__ */ __name(function(it, metadata) {
          if (hasOwn(it, STATE)) throw new TypeError3(OBJECT_ALREADY_INITIALIZED);
          metadata.facade = it;
          createNonEnumerableProperty(it, STATE, metadata);
          return metadata;
        }, "set");
        get = /* @__PURE__ */ __name(function(it) {
          return hasOwn(it, STATE) ? it[STATE] : {};
        }, "get");
        has = /* @__PURE__ */ __name(function(it) {
          return hasOwn(it, STATE);
        }, "has");
      }
      var store;
      var STATE;
      module.exports = {
        set,
        get,
        has,
        enforce,
        getterFor
      };
    }
  });

  // node_modules/core-js-pure/modules/web.dom-exception.constructor.js
  var require_web_dom_exception_constructor = __commonJS({
    "node_modules/core-js-pure/modules/web.dom-exception.constructor.js"() {
      "use strict";
      var $2 = require_export();
      var getBuiltIn = require_get_built_in();
      var getBuiltInNodeModule = require_get_built_in_node_module();
      var fails = require_fails();
      var create = require_object_create();
      var createPropertyDescriptor = require_create_property_descriptor();
      var defineProperty5 = require_object_define_property().f;
      var defineBuiltIn = require_define_built_in();
      var defineBuiltInAccessor = require_define_built_in_accessor();
      var hasOwn = require_has_own_property();
      var anInstance = require_an_instance();
      var anObject = require_an_object();
      var errorToString = require_error_to_string();
      var normalizeStringArgument = require_normalize_string_argument();
      var DOMExceptionConstants = require_dom_exception_constants();
      var clearErrorStack = require_error_stack_clear();
      var InternalStateModule = require_internal_state();
      var DESCRIPTORS = require_descriptors();
      var IS_PURE = require_is_pure();
      var DOM_EXCEPTION = "DOMException";
      var DATA_CLONE_ERR = "DATA_CLONE_ERR";
      var Error3 = getBuiltIn("Error");
      var NativeDOMException = getBuiltIn(DOM_EXCEPTION) || (function() {
        try {
          var MessageChannel = getBuiltIn("MessageChannel") || getBuiltInNodeModule("worker_threads").MessageChannel;
          new MessageChannel().port1.postMessage(/* @__PURE__ */ new WeakMap());
        } catch (error) {
          if (error.name === DATA_CLONE_ERR && error.code === 25) return error.constructor;
        }
      })();
      var NativeDOMExceptionPrototype = NativeDOMException && NativeDOMException.prototype;
      var ErrorPrototype2 = Error3.prototype;
      var setInternalState = InternalStateModule.set;
      var getInternalState = InternalStateModule.getterFor(DOM_EXCEPTION);
      var HAS_STACK = "stack" in new Error3(DOM_EXCEPTION);
      var codeFor = /* @__PURE__ */ __name(function(name) {
        return hasOwn(DOMExceptionConstants, name) && DOMExceptionConstants[name].m ? DOMExceptionConstants[name].c : 0;
      }, "codeFor");
      var $DOMException = /* @__PURE__ */ __name(function DOMException3() {
        anInstance(this, DOMExceptionPrototype);
        var argumentsLength = arguments.length;
        var message = normalizeStringArgument(argumentsLength < 1 ? void 0 : arguments[0]);
        var name = normalizeStringArgument(argumentsLength < 2 ? void 0 : arguments[1], "Error");
        var code = codeFor(name);
        setInternalState(this, {
          type: DOM_EXCEPTION,
          name,
          message,
          code
        });
        if (!DESCRIPTORS) {
          this.name = name;
          this.message = message;
          this.code = code;
        }
        if (HAS_STACK) {
          var error = new Error3(message);
          error.name = DOM_EXCEPTION;
          defineProperty5(this, "stack", createPropertyDescriptor(1, clearErrorStack(error.stack, 1)));
        }
      }, "DOMException");
      var DOMExceptionPrototype = $DOMException.prototype = create(ErrorPrototype2);
      var createGetterDescriptor = /* @__PURE__ */ __name(function(get) {
        return { enumerable: true, configurable: true, get };
      }, "createGetterDescriptor");
      var getterFor = /* @__PURE__ */ __name(function(key2) {
        return createGetterDescriptor(function() {
          return getInternalState(this)[key2];
        });
      }, "getterFor");
      if (DESCRIPTORS) {
        defineBuiltInAccessor(DOMExceptionPrototype, "code", getterFor("code"));
        defineBuiltInAccessor(DOMExceptionPrototype, "message", getterFor("message"));
        defineBuiltInAccessor(DOMExceptionPrototype, "name", getterFor("name"));
      }
      defineProperty5(DOMExceptionPrototype, "constructor", createPropertyDescriptor(1, $DOMException));
      var INCORRECT_CONSTRUCTOR = fails(function() {
        return !(new NativeDOMException() instanceof Error3);
      });
      var INCORRECT_TO_STRING = INCORRECT_CONSTRUCTOR || fails(function() {
        return ErrorPrototype2.toString !== errorToString || String(new NativeDOMException(1, 2)) !== "2: 1";
      });
      var INCORRECT_CODE = INCORRECT_CONSTRUCTOR || fails(function() {
        return new NativeDOMException(1, "DataCloneError").code !== 25;
      });
      var MISSED_CONSTANTS = INCORRECT_CONSTRUCTOR || NativeDOMException[DATA_CLONE_ERR] !== 25 || NativeDOMExceptionPrototype[DATA_CLONE_ERR] !== 25;
      var FORCED_CONSTRUCTOR = IS_PURE ? INCORRECT_TO_STRING || INCORRECT_CODE || MISSED_CONSTANTS : INCORRECT_CONSTRUCTOR;
      $2({ global: true, constructor: true, forced: FORCED_CONSTRUCTOR }, {
        DOMException: FORCED_CONSTRUCTOR ? $DOMException : NativeDOMException
      });
      var PolyfilledDOMException = getBuiltIn(DOM_EXCEPTION);
      var PolyfilledDOMExceptionPrototype = PolyfilledDOMException.prototype;
      if (INCORRECT_TO_STRING && (IS_PURE || NativeDOMException === PolyfilledDOMException)) {
        defineBuiltIn(PolyfilledDOMExceptionPrototype, "toString", errorToString);
      }
      if (INCORRECT_CODE && DESCRIPTORS && NativeDOMException === PolyfilledDOMException) {
        defineBuiltInAccessor(PolyfilledDOMExceptionPrototype, "code", createGetterDescriptor(function() {
          return codeFor(anObject(this).name);
        }));
      }
      for (key in DOMExceptionConstants) if (hasOwn(DOMExceptionConstants, key)) {
        constant = DOMExceptionConstants[key];
        constantName = constant.s;
        descriptor = createPropertyDescriptor(6, constant.c);
        if (!hasOwn(PolyfilledDOMException, constantName)) {
          defineProperty5(PolyfilledDOMException, constantName, descriptor);
        }
        if (!hasOwn(PolyfilledDOMExceptionPrototype, constantName)) {
          defineProperty5(PolyfilledDOMExceptionPrototype, constantName, descriptor);
        }
      }
      var constant;
      var constantName;
      var descriptor;
      var key;
    }
  });

  // node_modules/core-js-pure/internals/function-uncurry-this-accessor.js
  var require_function_uncurry_this_accessor = __commonJS({
    "node_modules/core-js-pure/internals/function-uncurry-this-accessor.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var aCallable = require_a_callable();
      module.exports = function(object, key, method) {
        try {
          return uncurryThis2(aCallable(Object.getOwnPropertyDescriptor(object, key)[method]));
        } catch (error) {
        }
      };
    }
  });

  // node_modules/core-js-pure/internals/is-possible-prototype.js
  var require_is_possible_prototype = __commonJS({
    "node_modules/core-js-pure/internals/is-possible-prototype.js"(exports, module) {
      "use strict";
      var isObject = require_is_object();
      module.exports = function(argument) {
        return isObject(argument) || argument === null;
      };
    }
  });

  // node_modules/core-js-pure/internals/a-possible-prototype.js
  var require_a_possible_prototype = __commonJS({
    "node_modules/core-js-pure/internals/a-possible-prototype.js"(exports, module) {
      "use strict";
      var isPossiblePrototype = require_is_possible_prototype();
      var $String = String;
      var $TypeError = TypeError;
      module.exports = function(argument) {
        if (isPossiblePrototype(argument)) return argument;
        throw new $TypeError("Can't set " + $String(argument) + " as a prototype");
      };
    }
  });

  // node_modules/core-js-pure/internals/object-set-prototype-of.js
  var require_object_set_prototype_of = __commonJS({
    "node_modules/core-js-pure/internals/object-set-prototype-of.js"(exports, module) {
      "use strict";
      var uncurryThisAccessor = require_function_uncurry_this_accessor();
      var isObject = require_is_object();
      var requireObjectCoercible = require_require_object_coercible();
      var aPossiblePrototype = require_a_possible_prototype();
      module.exports = Object.setPrototypeOf || ("__proto__" in {} ? (function() {
        var CORRECT_SETTER = false;
        var test2 = {};
        var setter;
        try {
          setter = uncurryThisAccessor(Object.prototype, "__proto__", "set");
          setter(test2, []);
          CORRECT_SETTER = test2 instanceof Array;
        } catch (error) {
        }
        return /* @__PURE__ */ __name(function setPrototypeOf2(O, proto) {
          requireObjectCoercible(O);
          aPossiblePrototype(proto);
          if (!isObject(O)) return O;
          if (CORRECT_SETTER) setter(O, proto);
          else O.__proto__ = proto;
          return O;
        }, "setPrototypeOf");
      })() : void 0);
    }
  });

  // node_modules/core-js-pure/internals/inherit-if-required.js
  var require_inherit_if_required = __commonJS({
    "node_modules/core-js-pure/internals/inherit-if-required.js"(exports, module) {
      "use strict";
      var isCallable = require_is_callable();
      var isObject = require_is_object();
      var setPrototypeOf2 = require_object_set_prototype_of();
      module.exports = function($this, dummy, Wrapper) {
        var NewTarget, NewTargetPrototype;
        if (
          // it can work only with native `setPrototypeOf`
          setPrototypeOf2 && // we haven't completely correct pre-ES6 way for getting `new.target`, so use this
          isCallable(NewTarget = dummy.constructor) && NewTarget !== Wrapper && isObject(NewTargetPrototype = NewTarget.prototype) && NewTargetPrototype !== Wrapper.prototype
        ) setPrototypeOf2($this, NewTargetPrototype);
        return $this;
      };
    }
  });

  // node_modules/core-js-pure/modules/web.dom-exception.stack.js
  var require_web_dom_exception_stack = __commonJS({
    "node_modules/core-js-pure/modules/web.dom-exception.stack.js"() {
      "use strict";
      var $2 = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var createPropertyDescriptor = require_create_property_descriptor();
      var defineProperty5 = require_object_define_property().f;
      var hasOwn = require_has_own_property();
      var anInstance = require_an_instance();
      var inheritIfRequired = require_inherit_if_required();
      var normalizeStringArgument = require_normalize_string_argument();
      var DOMExceptionConstants = require_dom_exception_constants();
      var clearErrorStack = require_error_stack_clear();
      var DESCRIPTORS = require_descriptors();
      var IS_PURE = require_is_pure();
      var DOM_EXCEPTION = "DOMException";
      var Error3 = getBuiltIn("Error");
      var NativeDOMException = getBuiltIn(DOM_EXCEPTION);
      var $DOMException = /* @__PURE__ */ __name(function DOMException3() {
        anInstance(this, DOMExceptionPrototype);
        var argumentsLength = arguments.length;
        var message = normalizeStringArgument(argumentsLength < 1 ? void 0 : arguments[0]);
        var name = normalizeStringArgument(argumentsLength < 2 ? void 0 : arguments[1], "Error");
        var that = new NativeDOMException(message, name);
        var error = new Error3(message);
        error.name = DOM_EXCEPTION;
        defineProperty5(that, "stack", createPropertyDescriptor(1, clearErrorStack(error.stack, 1)));
        inheritIfRequired(that, this, $DOMException);
        return that;
      }, "DOMException");
      var DOMExceptionPrototype = $DOMException.prototype = NativeDOMException.prototype;
      var ERROR_HAS_STACK = "stack" in new Error3(DOM_EXCEPTION);
      var DOM_EXCEPTION_HAS_STACK = "stack" in new NativeDOMException(1, 2);
      var descriptor = NativeDOMException && DESCRIPTORS && Object.getOwnPropertyDescriptor(globalThis2, DOM_EXCEPTION);
      var BUGGY_DESCRIPTOR = !!descriptor && !(descriptor.writable && descriptor.configurable);
      var FORCED_CONSTRUCTOR = ERROR_HAS_STACK && !BUGGY_DESCRIPTOR && !DOM_EXCEPTION_HAS_STACK;
      $2({ global: true, constructor: true, forced: IS_PURE || FORCED_CONSTRUCTOR }, {
        // TODO: fix export logic
        DOMException: FORCED_CONSTRUCTOR ? $DOMException : NativeDOMException
      });
      var PolyfilledDOMException = getBuiltIn(DOM_EXCEPTION);
      var PolyfilledDOMExceptionPrototype = PolyfilledDOMException.prototype;
      if (PolyfilledDOMExceptionPrototype.constructor !== PolyfilledDOMException) {
        if (!IS_PURE) {
          defineProperty5(PolyfilledDOMExceptionPrototype, "constructor", createPropertyDescriptor(1, PolyfilledDOMException));
        }
        for (key in DOMExceptionConstants) if (hasOwn(DOMExceptionConstants, key)) {
          constant = DOMExceptionConstants[key];
          constantName = constant.s;
          if (!hasOwn(PolyfilledDOMException, constantName)) {
            defineProperty5(PolyfilledDOMException, constantName, createPropertyDescriptor(6, constant.c));
          }
        }
      }
      var constant;
      var constantName;
      var key;
    }
  });

  // node_modules/core-js-pure/internals/object-to-string.js
  var require_object_to_string = __commonJS({
    "node_modules/core-js-pure/internals/object-to-string.js"(exports, module) {
      "use strict";
      var TO_STRING_TAG_SUPPORT = require_to_string_tag_support();
      var classof = require_classof();
      module.exports = TO_STRING_TAG_SUPPORT ? {}.toString : /* @__PURE__ */ __name(function toString2() {
        return "[object " + classof(this) + "]";
      }, "toString");
    }
  });

  // node_modules/core-js-pure/internals/set-to-string-tag.js
  var require_set_to_string_tag = __commonJS({
    "node_modules/core-js-pure/internals/set-to-string-tag.js"(exports, module) {
      "use strict";
      var TO_STRING_TAG_SUPPORT = require_to_string_tag_support();
      var defineProperty5 = require_object_define_property().f;
      var createNonEnumerableProperty = require_create_non_enumerable_property();
      var hasOwn = require_has_own_property();
      var toString2 = require_object_to_string();
      var wellKnownSymbol = require_well_known_symbol();
      var TO_STRING_TAG = wellKnownSymbol("toStringTag");
      module.exports = function(it, TAG, STATIC, SET_METHOD) {
        var target = STATIC ? it : it && it.prototype;
        if (target) {
          if (!hasOwn(target, TO_STRING_TAG)) {
            defineProperty5(target, TO_STRING_TAG, { configurable: true, value: TAG });
          }
          if (SET_METHOD && !TO_STRING_TAG_SUPPORT) {
            createNonEnumerableProperty(target, "toString", toString2);
          }
        }
      };
    }
  });

  // node_modules/core-js-pure/modules/web.dom-exception.to-string-tag.js
  var require_web_dom_exception_to_string_tag = __commonJS({
    "node_modules/core-js-pure/modules/web.dom-exception.to-string-tag.js"() {
      "use strict";
      var getBuiltIn = require_get_built_in();
      var setToStringTag = require_set_to_string_tag();
      var DOM_EXCEPTION = "DOMException";
      setToStringTag(getBuiltIn(DOM_EXCEPTION), DOM_EXCEPTION);
    }
  });

  // node_modules/core-js-pure/internals/validate-arguments-length.js
  var require_validate_arguments_length = __commonJS({
    "node_modules/core-js-pure/internals/validate-arguments-length.js"(exports, module) {
      "use strict";
      var $TypeError = TypeError;
      module.exports = function(passed, required) {
        if (passed < required) throw new $TypeError("Not enough arguments");
        return passed;
      };
    }
  });

  // node_modules/core-js-pure/internals/base64-map.js
  var require_base64_map = __commonJS({
    "node_modules/core-js-pure/internals/base64-map.js"(exports, module) {
      "use strict";
      var commonAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
      var base64Alphabet = commonAlphabet + "+/";
      var base64UrlAlphabet = commonAlphabet + "-_";
      var inverse = /* @__PURE__ */ __name(function(characters) {
        var result = {};
        var index = 0;
        for (; index < 64; index++) result[characters.charAt(index)] = index;
        return result;
      }, "inverse");
      module.exports = {
        i2c: base64Alphabet,
        c2i: inverse(base64Alphabet),
        i2cUrl: base64UrlAlphabet,
        c2iUrl: inverse(base64UrlAlphabet)
      };
    }
  });

  // node_modules/core-js-pure/modules/web.atob.js
  var require_web_atob = __commonJS({
    "node_modules/core-js-pure/modules/web.atob.js"() {
      "use strict";
      var $2 = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var uncurryThis2 = require_function_uncurry_this();
      var call2 = require_function_call();
      var fails = require_fails();
      var toString2 = require_to_string();
      var validateArgumentsLength = require_validate_arguments_length();
      var c2i = require_base64_map().c2i;
      var disallowed = /[^\d+/a-z]/i;
      var whitespaces = /[\t\n\f\r ]+/g;
      var finalEq = /[=]{1,2}$/;
      var $atob = getBuiltIn("atob");
      var $Array = Array;
      var fromCharCode = String.fromCharCode;
      var charAt = uncurryThis2("".charAt);
      var replace = uncurryThis2("".replace);
      var join2 = uncurryThis2([].join);
      var exec = uncurryThis2(disallowed.exec);
      var BASIC = !!$atob && !fails(function() {
        return $atob("aGk=") !== "hi";
      });
      var NO_SPACES_IGNORE = BASIC && fails(function() {
        return $atob(" ") !== "";
      });
      var NO_ENCODING_CHECK = BASIC && !fails(function() {
        $atob("a");
      });
      var NO_ARG_RECEIVING_CHECK = BASIC && !fails(function() {
        $atob();
      });
      var WRONG_ARITY = BASIC && $atob.length !== 1;
      var FORCED = !BASIC || NO_SPACES_IGNORE || NO_ENCODING_CHECK || NO_ARG_RECEIVING_CHECK || WRONG_ARITY;
      $2({ global: true, bind: true, enumerable: true, forced: FORCED }, {
        atob: /* @__PURE__ */ __name(function atob2(data) {
          validateArgumentsLength(arguments.length, 1);
          if (BASIC && !NO_SPACES_IGNORE && !NO_ENCODING_CHECK) return call2($atob, globalThis2, data);
          var string = replace(toString2(data), whitespaces, "");
          var position = 0;
          var bc = 0;
          var length, chr, bs;
          if (!(string.length & 3)) {
            string = replace(string, finalEq, "");
          }
          length = string.length;
          var lenmod = length & 3;
          if (lenmod === 1 || exec(disallowed, string)) {
            throw new (getBuiltIn("DOMException"))("The string is not correctly encoded", "InvalidCharacterError");
          }
          var output = new $Array((length >> 2) * 3 + (lenmod ? lenmod - 1 : 0));
          var outputIndex = 0;
          while (position < length) {
            chr = charAt(string, position++);
            bs = bc & 3 ? (bs << 6) + c2i[chr] : c2i[chr];
            if (bc++ & 3) output[outputIndex++] = fromCharCode(255 & bs >> (-2 * bc & 6));
          }
          return join2(output, "");
        }, "atob")
      });
    }
  });

  // node_modules/core-js-pure/modules/web.btoa.js
  var require_web_btoa = __commonJS({
    "node_modules/core-js-pure/modules/web.btoa.js"() {
      "use strict";
      var $2 = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var uncurryThis2 = require_function_uncurry_this();
      var call2 = require_function_call();
      var fails = require_fails();
      var toString2 = require_to_string();
      var validateArgumentsLength = require_validate_arguments_length();
      var i2c = require_base64_map().i2c;
      var $btoa = getBuiltIn("btoa");
      var $Array = Array;
      var join2 = uncurryThis2([].join);
      var charAt = uncurryThis2("".charAt);
      var charCodeAt = uncurryThis2("".charCodeAt);
      var BASIC = !!$btoa && !fails(function() {
        return $btoa("hi") !== "aGk=";
      });
      var NO_ARG_RECEIVING_CHECK = BASIC && !fails(function() {
        $btoa();
      });
      var WRONG_ARG_CONVERSION = BASIC && fails(function() {
        return $btoa(null) !== "bnVsbA==";
      });
      var WRONG_ARITY = BASIC && $btoa.length !== 1;
      $2({ global: true, bind: true, enumerable: true, forced: !BASIC || NO_ARG_RECEIVING_CHECK || WRONG_ARG_CONVERSION || WRONG_ARITY }, {
        btoa: /* @__PURE__ */ __name(function btoa2(data) {
          validateArgumentsLength(arguments.length, 1);
          if (BASIC) return call2($btoa, globalThis2, toString2(data));
          var string = toString2(data);
          var output = new $Array((string.length + 2) / 3 << 2);
          var outputIndex = 0;
          var position = 0;
          var map = i2c;
          var block, charCode;
          while (charAt(string, position) || (map = "=", position % 1)) {
            charCode = charCodeAt(string, position += 3 / 4);
            if (charCode > 255) {
              throw new (getBuiltIn("DOMException"))("The string contains characters outside of the Latin1 range", "InvalidCharacterError");
            }
            block = block << 8 | charCode;
            output[outputIndex++] = charAt(map, 63 & block >> 8 - position % 1 * 8);
          }
          return join2(output, "");
        }, "btoa")
      });
    }
  });

  // node_modules/base64-js/index.js
  var require_base64_js = __commonJS({
    "node_modules/base64-js/index.js"(exports) {
      "use strict";
      exports.byteLength = byteLength;
      exports.toByteArray = toByteArray;
      exports.fromByteArray = fromByteArray;
      var lookup = [];
      var revLookup = [];
      var Arr = typeof Uint8Array !== "undefined" ? Uint8Array : Array;
      var code = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      for (i = 0, len = code.length; i < len; ++i) {
        lookup[i] = code[i];
        revLookup[code.charCodeAt(i)] = i;
      }
      var i;
      var len;
      revLookup["-".charCodeAt(0)] = 62;
      revLookup["_".charCodeAt(0)] = 63;
      function getLens(b64) {
        var len2 = b64.length;
        if (len2 % 4 > 0) {
          throw new Error("Invalid string. Length must be a multiple of 4");
        }
        var validLen = b64.indexOf("=");
        if (validLen === -1) validLen = len2;
        var placeHoldersLen = validLen === len2 ? 0 : 4 - validLen % 4;
        return [validLen, placeHoldersLen];
      }
      __name(getLens, "getLens");
      function byteLength(b64) {
        var lens = getLens(b64);
        var validLen = lens[0];
        var placeHoldersLen = lens[1];
        return (validLen + placeHoldersLen) * 3 / 4 - placeHoldersLen;
      }
      __name(byteLength, "byteLength");
      function _byteLength(b64, validLen, placeHoldersLen) {
        return (validLen + placeHoldersLen) * 3 / 4 - placeHoldersLen;
      }
      __name(_byteLength, "_byteLength");
      function toByteArray(b64) {
        var tmp;
        var lens = getLens(b64);
        var validLen = lens[0];
        var placeHoldersLen = lens[1];
        var arr = new Arr(_byteLength(b64, validLen, placeHoldersLen));
        var curByte = 0;
        var len2 = placeHoldersLen > 0 ? validLen - 4 : validLen;
        var i2;
        for (i2 = 0; i2 < len2; i2 += 4) {
          tmp = revLookup[b64.charCodeAt(i2)] << 18 | revLookup[b64.charCodeAt(i2 + 1)] << 12 | revLookup[b64.charCodeAt(i2 + 2)] << 6 | revLookup[b64.charCodeAt(i2 + 3)];
          arr[curByte++] = tmp >> 16 & 255;
          arr[curByte++] = tmp >> 8 & 255;
          arr[curByte++] = tmp & 255;
        }
        if (placeHoldersLen === 2) {
          tmp = revLookup[b64.charCodeAt(i2)] << 2 | revLookup[b64.charCodeAt(i2 + 1)] >> 4;
          arr[curByte++] = tmp & 255;
        }
        if (placeHoldersLen === 1) {
          tmp = revLookup[b64.charCodeAt(i2)] << 10 | revLookup[b64.charCodeAt(i2 + 1)] << 4 | revLookup[b64.charCodeAt(i2 + 2)] >> 2;
          arr[curByte++] = tmp >> 8 & 255;
          arr[curByte++] = tmp & 255;
        }
        return arr;
      }
      __name(toByteArray, "toByteArray");
      function tripletToBase64(num) {
        return lookup[num >> 18 & 63] + lookup[num >> 12 & 63] + lookup[num >> 6 & 63] + lookup[num & 63];
      }
      __name(tripletToBase64, "tripletToBase64");
      function encodeChunk(uint8, start3, end) {
        var tmp;
        var output = [];
        for (var i2 = start3; i2 < end; i2 += 3) {
          tmp = (uint8[i2] << 16 & 16711680) + (uint8[i2 + 1] << 8 & 65280) + (uint8[i2 + 2] & 255);
          output.push(tripletToBase64(tmp));
        }
        return output.join("");
      }
      __name(encodeChunk, "encodeChunk");
      function fromByteArray(uint8) {
        var tmp;
        var len2 = uint8.length;
        var extraBytes = len2 % 3;
        var parts = [];
        var maxChunkLength = 16383;
        for (var i2 = 0, len22 = len2 - extraBytes; i2 < len22; i2 += maxChunkLength) {
          parts.push(encodeChunk(uint8, i2, i2 + maxChunkLength > len22 ? len22 : i2 + maxChunkLength));
        }
        if (extraBytes === 1) {
          tmp = uint8[len2 - 1];
          parts.push(
            lookup[tmp >> 2] + lookup[tmp << 4 & 63] + "=="
          );
        } else if (extraBytes === 2) {
          tmp = (uint8[len2 - 2] << 8) + uint8[len2 - 1];
          parts.push(
            lookup[tmp >> 10] + lookup[tmp >> 4 & 63] + lookup[tmp << 2 & 63] + "="
          );
        }
        return parts.join("");
      }
      __name(fromByteArray, "fromByteArray");
    }
  });

  // node_modules/ieee754/index.js
  var require_ieee754 = __commonJS({
    "node_modules/ieee754/index.js"(exports) {
      exports.read = function(buffer, offset, isLE, mLen, nBytes) {
        var e, m;
        var eLen = nBytes * 8 - mLen - 1;
        var eMax = (1 << eLen) - 1;
        var eBias = eMax >> 1;
        var nBits = -7;
        var i = isLE ? nBytes - 1 : 0;
        var d = isLE ? -1 : 1;
        var s = buffer[offset + i];
        i += d;
        e = s & (1 << -nBits) - 1;
        s >>= -nBits;
        nBits += eLen;
        for (; nBits > 0; e = e * 256 + buffer[offset + i], i += d, nBits -= 8) {
        }
        m = e & (1 << -nBits) - 1;
        e >>= -nBits;
        nBits += mLen;
        for (; nBits > 0; m = m * 256 + buffer[offset + i], i += d, nBits -= 8) {
        }
        if (e === 0) {
          e = 1 - eBias;
        } else if (e === eMax) {
          return m ? NaN : (s ? -1 : 1) * Infinity;
        } else {
          m = m + Math.pow(2, mLen);
          e = e - eBias;
        }
        return (s ? -1 : 1) * m * Math.pow(2, e - mLen);
      };
      exports.write = function(buffer, value, offset, isLE, mLen, nBytes) {
        var e, m, c;
        var eLen = nBytes * 8 - mLen - 1;
        var eMax = (1 << eLen) - 1;
        var eBias = eMax >> 1;
        var rt = mLen === 23 ? Math.pow(2, -24) - Math.pow(2, -77) : 0;
        var i = isLE ? 0 : nBytes - 1;
        var d = isLE ? 1 : -1;
        var s = value < 0 || value === 0 && 1 / value < 0 ? 1 : 0;
        value = Math.abs(value);
        if (isNaN(value) || value === Infinity) {
          m = isNaN(value) ? 1 : 0;
          e = eMax;
        } else {
          e = Math.floor(Math.log(value) / Math.LN2);
          if (value * (c = Math.pow(2, -e)) < 1) {
            e--;
            c *= 2;
          }
          if (e + eBias >= 1) {
            value += rt / c;
          } else {
            value += rt * Math.pow(2, 1 - eBias);
          }
          if (value * c >= 2) {
            e++;
            c /= 2;
          }
          if (e + eBias >= eMax) {
            m = 0;
            e = eMax;
          } else if (e + eBias >= 1) {
            m = (value * c - 1) * Math.pow(2, mLen);
            e = e + eBias;
          } else {
            m = value * Math.pow(2, eBias - 1) * Math.pow(2, mLen);
            e = 0;
          }
        }
        for (; mLen >= 8; buffer[offset + i] = m & 255, i += d, m /= 256, mLen -= 8) {
        }
        e = e << mLen | m;
        eLen += mLen;
        for (; eLen > 0; buffer[offset + i] = e & 255, i += d, e /= 256, eLen -= 8) {
        }
        buffer[offset + i - d] |= s * 128;
      };
    }
  });

  // node_modules/buffer/index.js
  var require_buffer = __commonJS({
    "node_modules/buffer/index.js"(exports) {
      "use strict";
      var base64 = require_base64_js();
      var ieee754 = require_ieee754();
      var customInspectSymbol = typeof Symbol === "function" && typeof Symbol["for"] === "function" ? Symbol["for"]("nodejs.util.inspect.custom") : null;
      exports.Buffer = Buffer3;
      exports.SlowBuffer = SlowBuffer;
      exports.INSPECT_MAX_BYTES = 50;
      var K_MAX_LENGTH = 2147483647;
      exports.kMaxLength = K_MAX_LENGTH;
      Buffer3.TYPED_ARRAY_SUPPORT = typedArraySupport();
      if (!Buffer3.TYPED_ARRAY_SUPPORT && typeof console !== "undefined" && typeof console.error === "function") {
        console.error(
          "This browser lacks typed array (Uint8Array) support which is required by `buffer` v5.x. Use `buffer` v4.x if you require old browser support."
        );
      }
      function typedArraySupport() {
        try {
          const arr = new Uint8Array(1);
          const proto = { foo: /* @__PURE__ */ __name(function() {
            return 42;
          }, "foo") };
          Object.setPrototypeOf(proto, Uint8Array.prototype);
          Object.setPrototypeOf(arr, proto);
          return arr.foo() === 42;
        } catch (e) {
          return false;
        }
      }
      __name(typedArraySupport, "typedArraySupport");
      Object.defineProperty(Buffer3.prototype, "parent", {
        enumerable: true,
        get: /* @__PURE__ */ __name(function() {
          if (!Buffer3.isBuffer(this)) return void 0;
          return this.buffer;
        }, "get")
      });
      Object.defineProperty(Buffer3.prototype, "offset", {
        enumerable: true,
        get: /* @__PURE__ */ __name(function() {
          if (!Buffer3.isBuffer(this)) return void 0;
          return this.byteOffset;
        }, "get")
      });
      function createBuffer(length) {
        if (length > K_MAX_LENGTH) {
          throw new RangeError('The value "' + length + '" is invalid for option "size"');
        }
        const buf = new Uint8Array(length);
        Object.setPrototypeOf(buf, Buffer3.prototype);
        return buf;
      }
      __name(createBuffer, "createBuffer");
      function Buffer3(arg, encodingOrOffset, length) {
        if (typeof arg === "number") {
          if (typeof encodingOrOffset === "string") {
            throw new TypeError(
              'The "string" argument must be of type string. Received type number'
            );
          }
          return allocUnsafe(arg);
        }
        return from(arg, encodingOrOffset, length);
      }
      __name(Buffer3, "Buffer");
      Buffer3.poolSize = 8192;
      function from(value, encodingOrOffset, length) {
        if (typeof value === "string") {
          return fromString(value, encodingOrOffset);
        }
        if (ArrayBuffer.isView(value)) {
          return fromArrayView(value);
        }
        if (value == null) {
          throw new TypeError(
            "The first argument must be one of type string, Buffer, ArrayBuffer, Array, or Array-like Object. Received type " + typeof value
          );
        }
        if (isInstance(value, ArrayBuffer) || value && isInstance(value.buffer, ArrayBuffer)) {
          return fromArrayBuffer(value, encodingOrOffset, length);
        }
        if (typeof SharedArrayBuffer !== "undefined" && (isInstance(value, SharedArrayBuffer) || value && isInstance(value.buffer, SharedArrayBuffer))) {
          return fromArrayBuffer(value, encodingOrOffset, length);
        }
        if (typeof value === "number") {
          throw new TypeError(
            'The "value" argument must not be of type number. Received type number'
          );
        }
        const valueOf = value.valueOf && value.valueOf();
        if (valueOf != null && valueOf !== value) {
          return Buffer3.from(valueOf, encodingOrOffset, length);
        }
        const b = fromObject(value);
        if (b) return b;
        if (typeof Symbol !== "undefined" && Symbol.toPrimitive != null && typeof value[Symbol.toPrimitive] === "function") {
          return Buffer3.from(value[Symbol.toPrimitive]("string"), encodingOrOffset, length);
        }
        throw new TypeError(
          "The first argument must be one of type string, Buffer, ArrayBuffer, Array, or Array-like Object. Received type " + typeof value
        );
      }
      __name(from, "from");
      Buffer3.from = function(value, encodingOrOffset, length) {
        return from(value, encodingOrOffset, length);
      };
      Object.setPrototypeOf(Buffer3.prototype, Uint8Array.prototype);
      Object.setPrototypeOf(Buffer3, Uint8Array);
      function assertSize(size) {
        if (typeof size !== "number") {
          throw new TypeError('"size" argument must be of type number');
        } else if (size < 0) {
          throw new RangeError('The value "' + size + '" is invalid for option "size"');
        }
      }
      __name(assertSize, "assertSize");
      function alloc(size, fill, encoding) {
        assertSize(size);
        if (size <= 0) {
          return createBuffer(size);
        }
        if (fill !== void 0) {
          return typeof encoding === "string" ? createBuffer(size).fill(fill, encoding) : createBuffer(size).fill(fill);
        }
        return createBuffer(size);
      }
      __name(alloc, "alloc");
      Buffer3.alloc = function(size, fill, encoding) {
        return alloc(size, fill, encoding);
      };
      function allocUnsafe(size) {
        assertSize(size);
        return createBuffer(size < 0 ? 0 : checked(size) | 0);
      }
      __name(allocUnsafe, "allocUnsafe");
      Buffer3.allocUnsafe = function(size) {
        return allocUnsafe(size);
      };
      Buffer3.allocUnsafeSlow = function(size) {
        return allocUnsafe(size);
      };
      function fromString(string, encoding) {
        if (typeof encoding !== "string" || encoding === "") {
          encoding = "utf8";
        }
        if (!Buffer3.isEncoding(encoding)) {
          throw new TypeError("Unknown encoding: " + encoding);
        }
        const length = byteLength(string, encoding) | 0;
        let buf = createBuffer(length);
        const actual = buf.write(string, encoding);
        if (actual !== length) {
          buf = buf.slice(0, actual);
        }
        return buf;
      }
      __name(fromString, "fromString");
      function fromArrayLike(array) {
        const length = array.length < 0 ? 0 : checked(array.length) | 0;
        const buf = createBuffer(length);
        for (let i = 0; i < length; i += 1) {
          buf[i] = array[i] & 255;
        }
        return buf;
      }
      __name(fromArrayLike, "fromArrayLike");
      function fromArrayView(arrayView) {
        if (isInstance(arrayView, Uint8Array)) {
          const copy = new Uint8Array(arrayView);
          return fromArrayBuffer(copy.buffer, copy.byteOffset, copy.byteLength);
        }
        return fromArrayLike(arrayView);
      }
      __name(fromArrayView, "fromArrayView");
      function fromArrayBuffer(array, byteOffset, length) {
        if (byteOffset < 0 || array.byteLength < byteOffset) {
          throw new RangeError('"offset" is outside of buffer bounds');
        }
        if (array.byteLength < byteOffset + (length || 0)) {
          throw new RangeError('"length" is outside of buffer bounds');
        }
        let buf;
        if (byteOffset === void 0 && length === void 0) {
          buf = new Uint8Array(array);
        } else if (length === void 0) {
          buf = new Uint8Array(array, byteOffset);
        } else {
          buf = new Uint8Array(array, byteOffset, length);
        }
        Object.setPrototypeOf(buf, Buffer3.prototype);
        return buf;
      }
      __name(fromArrayBuffer, "fromArrayBuffer");
      function fromObject(obj) {
        if (Buffer3.isBuffer(obj)) {
          const len = checked(obj.length) | 0;
          const buf = createBuffer(len);
          if (buf.length === 0) {
            return buf;
          }
          obj.copy(buf, 0, 0, len);
          return buf;
        }
        if (obj.length !== void 0) {
          if (typeof obj.length !== "number" || numberIsNaN(obj.length)) {
            return createBuffer(0);
          }
          return fromArrayLike(obj);
        }
        if (obj.type === "Buffer" && Array.isArray(obj.data)) {
          return fromArrayLike(obj.data);
        }
      }
      __name(fromObject, "fromObject");
      function checked(length) {
        if (length >= K_MAX_LENGTH) {
          throw new RangeError("Attempt to allocate Buffer larger than maximum size: 0x" + K_MAX_LENGTH.toString(16) + " bytes");
        }
        return length | 0;
      }
      __name(checked, "checked");
      function SlowBuffer(length) {
        if (+length != length) {
          length = 0;
        }
        return Buffer3.alloc(+length);
      }
      __name(SlowBuffer, "SlowBuffer");
      Buffer3.isBuffer = /* @__PURE__ */ __name(function isBuffer(b) {
        return b != null && b._isBuffer === true && b !== Buffer3.prototype;
      }, "isBuffer");
      Buffer3.compare = /* @__PURE__ */ __name(function compare(a, b) {
        if (isInstance(a, Uint8Array)) a = Buffer3.from(a, a.offset, a.byteLength);
        if (isInstance(b, Uint8Array)) b = Buffer3.from(b, b.offset, b.byteLength);
        if (!Buffer3.isBuffer(a) || !Buffer3.isBuffer(b)) {
          throw new TypeError(
            'The "buf1", "buf2" arguments must be one of type Buffer or Uint8Array'
          );
        }
        if (a === b) return 0;
        let x = a.length;
        let y = b.length;
        for (let i = 0, len = Math.min(x, y); i < len; ++i) {
          if (a[i] !== b[i]) {
            x = a[i];
            y = b[i];
            break;
          }
        }
        if (x < y) return -1;
        if (y < x) return 1;
        return 0;
      }, "compare");
      Buffer3.isEncoding = /* @__PURE__ */ __name(function isEncoding(encoding) {
        switch (String(encoding).toLowerCase()) {
          case "hex":
          case "utf8":
          case "utf-8":
          case "ascii":
          case "latin1":
          case "binary":
          case "base64":
          case "ucs2":
          case "ucs-2":
          case "utf16le":
          case "utf-16le":
            return true;
          default:
            return false;
        }
      }, "isEncoding");
      Buffer3.concat = /* @__PURE__ */ __name(function concat(list, length) {
        if (!Array.isArray(list)) {
          throw new TypeError('"list" argument must be an Array of Buffers');
        }
        if (list.length === 0) {
          return Buffer3.alloc(0);
        }
        let i;
        if (length === void 0) {
          length = 0;
          for (i = 0; i < list.length; ++i) {
            length += list[i].length;
          }
        }
        const buffer = Buffer3.allocUnsafe(length);
        let pos = 0;
        for (i = 0; i < list.length; ++i) {
          let buf = list[i];
          if (isInstance(buf, Uint8Array)) {
            if (pos + buf.length > buffer.length) {
              if (!Buffer3.isBuffer(buf)) buf = Buffer3.from(buf);
              buf.copy(buffer, pos);
            } else {
              Uint8Array.prototype.set.call(
                buffer,
                buf,
                pos
              );
            }
          } else if (!Buffer3.isBuffer(buf)) {
            throw new TypeError('"list" argument must be an Array of Buffers');
          } else {
            buf.copy(buffer, pos);
          }
          pos += buf.length;
        }
        return buffer;
      }, "concat");
      function byteLength(string, encoding) {
        if (Buffer3.isBuffer(string)) {
          return string.length;
        }
        if (ArrayBuffer.isView(string) || isInstance(string, ArrayBuffer)) {
          return string.byteLength;
        }
        if (typeof string !== "string") {
          throw new TypeError(
            'The "string" argument must be one of type string, Buffer, or ArrayBuffer. Received type ' + typeof string
          );
        }
        const len = string.length;
        const mustMatch = arguments.length > 2 && arguments[2] === true;
        if (!mustMatch && len === 0) return 0;
        let loweredCase = false;
        for (; ; ) {
          switch (encoding) {
            case "ascii":
            case "latin1":
            case "binary":
              return len;
            case "utf8":
            case "utf-8":
              return utf8ToBytes(string).length;
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return len * 2;
            case "hex":
              return len >>> 1;
            case "base64":
              return base64ToBytes(string).length;
            default:
              if (loweredCase) {
                return mustMatch ? -1 : utf8ToBytes(string).length;
              }
              encoding = ("" + encoding).toLowerCase();
              loweredCase = true;
          }
        }
      }
      __name(byteLength, "byteLength");
      Buffer3.byteLength = byteLength;
      function slowToString(encoding, start3, end) {
        let loweredCase = false;
        if (start3 === void 0 || start3 < 0) {
          start3 = 0;
        }
        if (start3 > this.length) {
          return "";
        }
        if (end === void 0 || end > this.length) {
          end = this.length;
        }
        if (end <= 0) {
          return "";
        }
        end >>>= 0;
        start3 >>>= 0;
        if (end <= start3) {
          return "";
        }
        if (!encoding) encoding = "utf8";
        while (true) {
          switch (encoding) {
            case "hex":
              return hexSlice(this, start3, end);
            case "utf8":
            case "utf-8":
              return utf8Slice(this, start3, end);
            case "ascii":
              return asciiSlice(this, start3, end);
            case "latin1":
            case "binary":
              return latin1Slice(this, start3, end);
            case "base64":
              return base64Slice(this, start3, end);
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return utf16leSlice(this, start3, end);
            default:
              if (loweredCase) throw new TypeError("Unknown encoding: " + encoding);
              encoding = (encoding + "").toLowerCase();
              loweredCase = true;
          }
        }
      }
      __name(slowToString, "slowToString");
      Buffer3.prototype._isBuffer = true;
      function swap(b, n, m) {
        const i = b[n];
        b[n] = b[m];
        b[m] = i;
      }
      __name(swap, "swap");
      Buffer3.prototype.swap16 = /* @__PURE__ */ __name(function swap16() {
        const len = this.length;
        if (len % 2 !== 0) {
          throw new RangeError("Buffer size must be a multiple of 16-bits");
        }
        for (let i = 0; i < len; i += 2) {
          swap(this, i, i + 1);
        }
        return this;
      }, "swap16");
      Buffer3.prototype.swap32 = /* @__PURE__ */ __name(function swap32() {
        const len = this.length;
        if (len % 4 !== 0) {
          throw new RangeError("Buffer size must be a multiple of 32-bits");
        }
        for (let i = 0; i < len; i += 4) {
          swap(this, i, i + 3);
          swap(this, i + 1, i + 2);
        }
        return this;
      }, "swap32");
      Buffer3.prototype.swap64 = /* @__PURE__ */ __name(function swap64() {
        const len = this.length;
        if (len % 8 !== 0) {
          throw new RangeError("Buffer size must be a multiple of 64-bits");
        }
        for (let i = 0; i < len; i += 8) {
          swap(this, i, i + 7);
          swap(this, i + 1, i + 6);
          swap(this, i + 2, i + 5);
          swap(this, i + 3, i + 4);
        }
        return this;
      }, "swap64");
      Buffer3.prototype.toString = /* @__PURE__ */ __name(function toString2() {
        const length = this.length;
        if (length === 0) return "";
        if (arguments.length === 0) return utf8Slice(this, 0, length);
        return slowToString.apply(this, arguments);
      }, "toString");
      Buffer3.prototype.toLocaleString = Buffer3.prototype.toString;
      Buffer3.prototype.equals = /* @__PURE__ */ __name(function equals(b) {
        if (!Buffer3.isBuffer(b)) throw new TypeError("Argument must be a Buffer");
        if (this === b) return true;
        return Buffer3.compare(this, b) === 0;
      }, "equals");
      Buffer3.prototype.inspect = /* @__PURE__ */ __name(function inspect4() {
        let str = "";
        const max = exports.INSPECT_MAX_BYTES;
        str = this.toString("hex", 0, max).replace(/(.{2})/g, "$1 ").trim();
        if (this.length > max) str += " ... ";
        return "<Buffer " + str + ">";
      }, "inspect");
      if (customInspectSymbol) {
        Buffer3.prototype[customInspectSymbol] = Buffer3.prototype.inspect;
      }
      Buffer3.prototype.compare = /* @__PURE__ */ __name(function compare(target, start3, end, thisStart, thisEnd) {
        if (isInstance(target, Uint8Array)) {
          target = Buffer3.from(target, target.offset, target.byteLength);
        }
        if (!Buffer3.isBuffer(target)) {
          throw new TypeError(
            'The "target" argument must be one of type Buffer or Uint8Array. Received type ' + typeof target
          );
        }
        if (start3 === void 0) {
          start3 = 0;
        }
        if (end === void 0) {
          end = target ? target.length : 0;
        }
        if (thisStart === void 0) {
          thisStart = 0;
        }
        if (thisEnd === void 0) {
          thisEnd = this.length;
        }
        if (start3 < 0 || end > target.length || thisStart < 0 || thisEnd > this.length) {
          throw new RangeError("out of range index");
        }
        if (thisStart >= thisEnd && start3 >= end) {
          return 0;
        }
        if (thisStart >= thisEnd) {
          return -1;
        }
        if (start3 >= end) {
          return 1;
        }
        start3 >>>= 0;
        end >>>= 0;
        thisStart >>>= 0;
        thisEnd >>>= 0;
        if (this === target) return 0;
        let x = thisEnd - thisStart;
        let y = end - start3;
        const len = Math.min(x, y);
        const thisCopy = this.slice(thisStart, thisEnd);
        const targetCopy = target.slice(start3, end);
        for (let i = 0; i < len; ++i) {
          if (thisCopy[i] !== targetCopy[i]) {
            x = thisCopy[i];
            y = targetCopy[i];
            break;
          }
        }
        if (x < y) return -1;
        if (y < x) return 1;
        return 0;
      }, "compare");
      function bidirectionalIndexOf(buffer, val, byteOffset, encoding, dir) {
        if (buffer.length === 0) return -1;
        if (typeof byteOffset === "string") {
          encoding = byteOffset;
          byteOffset = 0;
        } else if (byteOffset > 2147483647) {
          byteOffset = 2147483647;
        } else if (byteOffset < -2147483648) {
          byteOffset = -2147483648;
        }
        byteOffset = +byteOffset;
        if (numberIsNaN(byteOffset)) {
          byteOffset = dir ? 0 : buffer.length - 1;
        }
        if (byteOffset < 0) byteOffset = buffer.length + byteOffset;
        if (byteOffset >= buffer.length) {
          if (dir) return -1;
          else byteOffset = buffer.length - 1;
        } else if (byteOffset < 0) {
          if (dir) byteOffset = 0;
          else return -1;
        }
        if (typeof val === "string") {
          val = Buffer3.from(val, encoding);
        }
        if (Buffer3.isBuffer(val)) {
          if (val.length === 0) {
            return -1;
          }
          return arrayIndexOf(buffer, val, byteOffset, encoding, dir);
        } else if (typeof val === "number") {
          val = val & 255;
          if (typeof Uint8Array.prototype.indexOf === "function") {
            if (dir) {
              return Uint8Array.prototype.indexOf.call(buffer, val, byteOffset);
            } else {
              return Uint8Array.prototype.lastIndexOf.call(buffer, val, byteOffset);
            }
          }
          return arrayIndexOf(buffer, [val], byteOffset, encoding, dir);
        }
        throw new TypeError("val must be string, number or Buffer");
      }
      __name(bidirectionalIndexOf, "bidirectionalIndexOf");
      function arrayIndexOf(arr, val, byteOffset, encoding, dir) {
        let indexSize = 1;
        let arrLength = arr.length;
        let valLength = val.length;
        if (encoding !== void 0) {
          encoding = String(encoding).toLowerCase();
          if (encoding === "ucs2" || encoding === "ucs-2" || encoding === "utf16le" || encoding === "utf-16le") {
            if (arr.length < 2 || val.length < 2) {
              return -1;
            }
            indexSize = 2;
            arrLength /= 2;
            valLength /= 2;
            byteOffset /= 2;
          }
        }
        function read2(buf, i2) {
          if (indexSize === 1) {
            return buf[i2];
          } else {
            return buf.readUInt16BE(i2 * indexSize);
          }
        }
        __name(read2, "read");
        let i;
        if (dir) {
          let foundIndex = -1;
          for (i = byteOffset; i < arrLength; i++) {
            if (read2(arr, i) === read2(val, foundIndex === -1 ? 0 : i - foundIndex)) {
              if (foundIndex === -1) foundIndex = i;
              if (i - foundIndex + 1 === valLength) return foundIndex * indexSize;
            } else {
              if (foundIndex !== -1) i -= i - foundIndex;
              foundIndex = -1;
            }
          }
        } else {
          if (byteOffset + valLength > arrLength) byteOffset = arrLength - valLength;
          for (i = byteOffset; i >= 0; i--) {
            let found = true;
            for (let j = 0; j < valLength; j++) {
              if (read2(arr, i + j) !== read2(val, j)) {
                found = false;
                break;
              }
            }
            if (found) return i;
          }
        }
        return -1;
      }
      __name(arrayIndexOf, "arrayIndexOf");
      Buffer3.prototype.includes = /* @__PURE__ */ __name(function includes(val, byteOffset, encoding) {
        return this.indexOf(val, byteOffset, encoding) !== -1;
      }, "includes");
      Buffer3.prototype.indexOf = /* @__PURE__ */ __name(function indexOf(val, byteOffset, encoding) {
        return bidirectionalIndexOf(this, val, byteOffset, encoding, true);
      }, "indexOf");
      Buffer3.prototype.lastIndexOf = /* @__PURE__ */ __name(function lastIndexOf(val, byteOffset, encoding) {
        return bidirectionalIndexOf(this, val, byteOffset, encoding, false);
      }, "lastIndexOf");
      function hexWrite(buf, string, offset, length) {
        offset = Number(offset) || 0;
        const remaining = buf.length - offset;
        if (!length) {
          length = remaining;
        } else {
          length = Number(length);
          if (length > remaining) {
            length = remaining;
          }
        }
        const strLen = string.length;
        if (length > strLen / 2) {
          length = strLen / 2;
        }
        let i;
        for (i = 0; i < length; ++i) {
          const parsed = parseInt(string.substr(i * 2, 2), 16);
          if (numberIsNaN(parsed)) return i;
          buf[offset + i] = parsed;
        }
        return i;
      }
      __name(hexWrite, "hexWrite");
      function utf8Write(buf, string, offset, length) {
        return blitBuffer(utf8ToBytes(string, buf.length - offset), buf, offset, length);
      }
      __name(utf8Write, "utf8Write");
      function asciiWrite(buf, string, offset, length) {
        return blitBuffer(asciiToBytes(string), buf, offset, length);
      }
      __name(asciiWrite, "asciiWrite");
      function base64Write(buf, string, offset, length) {
        return blitBuffer(base64ToBytes(string), buf, offset, length);
      }
      __name(base64Write, "base64Write");
      function ucs2Write(buf, string, offset, length) {
        return blitBuffer(utf16leToBytes(string, buf.length - offset), buf, offset, length);
      }
      __name(ucs2Write, "ucs2Write");
      Buffer3.prototype.write = /* @__PURE__ */ __name(function write4(string, offset, length, encoding) {
        if (offset === void 0) {
          encoding = "utf8";
          length = this.length;
          offset = 0;
        } else if (length === void 0 && typeof offset === "string") {
          encoding = offset;
          length = this.length;
          offset = 0;
        } else if (isFinite(offset)) {
          offset = offset >>> 0;
          if (isFinite(length)) {
            length = length >>> 0;
            if (encoding === void 0) encoding = "utf8";
          } else {
            encoding = length;
            length = void 0;
          }
        } else {
          throw new Error(
            "Buffer.write(string, encoding, offset[, length]) is no longer supported"
          );
        }
        const remaining = this.length - offset;
        if (length === void 0 || length > remaining) length = remaining;
        if (string.length > 0 && (length < 0 || offset < 0) || offset > this.length) {
          throw new RangeError("Attempt to write outside buffer bounds");
        }
        if (!encoding) encoding = "utf8";
        let loweredCase = false;
        for (; ; ) {
          switch (encoding) {
            case "hex":
              return hexWrite(this, string, offset, length);
            case "utf8":
            case "utf-8":
              return utf8Write(this, string, offset, length);
            case "ascii":
            case "latin1":
            case "binary":
              return asciiWrite(this, string, offset, length);
            case "base64":
              return base64Write(this, string, offset, length);
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return ucs2Write(this, string, offset, length);
            default:
              if (loweredCase) throw new TypeError("Unknown encoding: " + encoding);
              encoding = ("" + encoding).toLowerCase();
              loweredCase = true;
          }
        }
      }, "write");
      Buffer3.prototype.toJSON = /* @__PURE__ */ __name(function toJSON() {
        return {
          type: "Buffer",
          data: Array.prototype.slice.call(this._arr || this, 0)
        };
      }, "toJSON");
      function base64Slice(buf, start3, end) {
        if (start3 === 0 && end === buf.length) {
          return base64.fromByteArray(buf);
        } else {
          return base64.fromByteArray(buf.slice(start3, end));
        }
      }
      __name(base64Slice, "base64Slice");
      function utf8Slice(buf, start3, end) {
        end = Math.min(buf.length, end);
        const res = [];
        let i = start3;
        while (i < end) {
          const firstByte = buf[i];
          let codePoint = null;
          let bytesPerSequence = firstByte > 239 ? 4 : firstByte > 223 ? 3 : firstByte > 191 ? 2 : 1;
          if (i + bytesPerSequence <= end) {
            let secondByte, thirdByte, fourthByte, tempCodePoint;
            switch (bytesPerSequence) {
              case 1:
                if (firstByte < 128) {
                  codePoint = firstByte;
                }
                break;
              case 2:
                secondByte = buf[i + 1];
                if ((secondByte & 192) === 128) {
                  tempCodePoint = (firstByte & 31) << 6 | secondByte & 63;
                  if (tempCodePoint > 127) {
                    codePoint = tempCodePoint;
                  }
                }
                break;
              case 3:
                secondByte = buf[i + 1];
                thirdByte = buf[i + 2];
                if ((secondByte & 192) === 128 && (thirdByte & 192) === 128) {
                  tempCodePoint = (firstByte & 15) << 12 | (secondByte & 63) << 6 | thirdByte & 63;
                  if (tempCodePoint > 2047 && (tempCodePoint < 55296 || tempCodePoint > 57343)) {
                    codePoint = tempCodePoint;
                  }
                }
                break;
              case 4:
                secondByte = buf[i + 1];
                thirdByte = buf[i + 2];
                fourthByte = buf[i + 3];
                if ((secondByte & 192) === 128 && (thirdByte & 192) === 128 && (fourthByte & 192) === 128) {
                  tempCodePoint = (firstByte & 15) << 18 | (secondByte & 63) << 12 | (thirdByte & 63) << 6 | fourthByte & 63;
                  if (tempCodePoint > 65535 && tempCodePoint < 1114112) {
                    codePoint = tempCodePoint;
                  }
                }
            }
          }
          if (codePoint === null) {
            codePoint = 65533;
            bytesPerSequence = 1;
          } else if (codePoint > 65535) {
            codePoint -= 65536;
            res.push(codePoint >>> 10 & 1023 | 55296);
            codePoint = 56320 | codePoint & 1023;
          }
          res.push(codePoint);
          i += bytesPerSequence;
        }
        return decodeCodePointsArray(res);
      }
      __name(utf8Slice, "utf8Slice");
      var MAX_ARGUMENTS_LENGTH = 4096;
      function decodeCodePointsArray(codePoints) {
        const len = codePoints.length;
        if (len <= MAX_ARGUMENTS_LENGTH) {
          return String.fromCharCode.apply(String, codePoints);
        }
        let res = "";
        let i = 0;
        while (i < len) {
          res += String.fromCharCode.apply(
            String,
            codePoints.slice(i, i += MAX_ARGUMENTS_LENGTH)
          );
        }
        return res;
      }
      __name(decodeCodePointsArray, "decodeCodePointsArray");
      function asciiSlice(buf, start3, end) {
        let ret = "";
        end = Math.min(buf.length, end);
        for (let i = start3; i < end; ++i) {
          ret += String.fromCharCode(buf[i] & 127);
        }
        return ret;
      }
      __name(asciiSlice, "asciiSlice");
      function latin1Slice(buf, start3, end) {
        let ret = "";
        end = Math.min(buf.length, end);
        for (let i = start3; i < end; ++i) {
          ret += String.fromCharCode(buf[i]);
        }
        return ret;
      }
      __name(latin1Slice, "latin1Slice");
      function hexSlice(buf, start3, end) {
        const len = buf.length;
        if (!start3 || start3 < 0) start3 = 0;
        if (!end || end < 0 || end > len) end = len;
        let out = "";
        for (let i = start3; i < end; ++i) {
          out += hexSliceLookupTable[buf[i]];
        }
        return out;
      }
      __name(hexSlice, "hexSlice");
      function utf16leSlice(buf, start3, end) {
        const bytes = buf.slice(start3, end);
        let res = "";
        for (let i = 0; i < bytes.length - 1; i += 2) {
          res += String.fromCharCode(bytes[i] + bytes[i + 1] * 256);
        }
        return res;
      }
      __name(utf16leSlice, "utf16leSlice");
      Buffer3.prototype.slice = /* @__PURE__ */ __name(function slice2(start3, end) {
        const len = this.length;
        start3 = ~~start3;
        end = end === void 0 ? len : ~~end;
        if (start3 < 0) {
          start3 += len;
          if (start3 < 0) start3 = 0;
        } else if (start3 > len) {
          start3 = len;
        }
        if (end < 0) {
          end += len;
          if (end < 0) end = 0;
        } else if (end > len) {
          end = len;
        }
        if (end < start3) end = start3;
        const newBuf = this.subarray(start3, end);
        Object.setPrototypeOf(newBuf, Buffer3.prototype);
        return newBuf;
      }, "slice");
      function checkOffset(offset, ext, length) {
        if (offset % 1 !== 0 || offset < 0) throw new RangeError("offset is not uint");
        if (offset + ext > length) throw new RangeError("Trying to access beyond buffer length");
      }
      __name(checkOffset, "checkOffset");
      Buffer3.prototype.readUintLE = Buffer3.prototype.readUIntLE = /* @__PURE__ */ __name(function readUIntLE(offset, byteLength2, noAssert) {
        offset = offset >>> 0;
        byteLength2 = byteLength2 >>> 0;
        if (!noAssert) checkOffset(offset, byteLength2, this.length);
        let val = this[offset];
        let mul = 1;
        let i = 0;
        while (++i < byteLength2 && (mul *= 256)) {
          val += this[offset + i] * mul;
        }
        return val;
      }, "readUIntLE");
      Buffer3.prototype.readUintBE = Buffer3.prototype.readUIntBE = /* @__PURE__ */ __name(function readUIntBE(offset, byteLength2, noAssert) {
        offset = offset >>> 0;
        byteLength2 = byteLength2 >>> 0;
        if (!noAssert) {
          checkOffset(offset, byteLength2, this.length);
        }
        let val = this[offset + --byteLength2];
        let mul = 1;
        while (byteLength2 > 0 && (mul *= 256)) {
          val += this[offset + --byteLength2] * mul;
        }
        return val;
      }, "readUIntBE");
      Buffer3.prototype.readUint8 = Buffer3.prototype.readUInt8 = /* @__PURE__ */ __name(function readUInt8(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 1, this.length);
        return this[offset];
      }, "readUInt8");
      Buffer3.prototype.readUint16LE = Buffer3.prototype.readUInt16LE = /* @__PURE__ */ __name(function readUInt16LE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 2, this.length);
        return this[offset] | this[offset + 1] << 8;
      }, "readUInt16LE");
      Buffer3.prototype.readUint16BE = Buffer3.prototype.readUInt16BE = /* @__PURE__ */ __name(function readUInt16BE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 2, this.length);
        return this[offset] << 8 | this[offset + 1];
      }, "readUInt16BE");
      Buffer3.prototype.readUint32LE = Buffer3.prototype.readUInt32LE = /* @__PURE__ */ __name(function readUInt32LE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 4, this.length);
        return (this[offset] | this[offset + 1] << 8 | this[offset + 2] << 16) + this[offset + 3] * 16777216;
      }, "readUInt32LE");
      Buffer3.prototype.readUint32BE = Buffer3.prototype.readUInt32BE = /* @__PURE__ */ __name(function readUInt32BE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 4, this.length);
        return this[offset] * 16777216 + (this[offset + 1] << 16 | this[offset + 2] << 8 | this[offset + 3]);
      }, "readUInt32BE");
      Buffer3.prototype.readBigUInt64LE = defineBigIntMethod(/* @__PURE__ */ __name(function readBigUInt64LE(offset) {
        offset = offset >>> 0;
        validateNumber(offset, "offset");
        const first = this[offset];
        const last = this[offset + 7];
        if (first === void 0 || last === void 0) {
          boundsError(offset, this.length - 8);
        }
        const lo = first + this[++offset] * 2 ** 8 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 24;
        const hi = this[++offset] + this[++offset] * 2 ** 8 + this[++offset] * 2 ** 16 + last * 2 ** 24;
        return BigInt(lo) + (BigInt(hi) << BigInt(32));
      }, "readBigUInt64LE"));
      Buffer3.prototype.readBigUInt64BE = defineBigIntMethod(/* @__PURE__ */ __name(function readBigUInt64BE(offset) {
        offset = offset >>> 0;
        validateNumber(offset, "offset");
        const first = this[offset];
        const last = this[offset + 7];
        if (first === void 0 || last === void 0) {
          boundsError(offset, this.length - 8);
        }
        const hi = first * 2 ** 24 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + this[++offset];
        const lo = this[++offset] * 2 ** 24 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + last;
        return (BigInt(hi) << BigInt(32)) + BigInt(lo);
      }, "readBigUInt64BE"));
      Buffer3.prototype.readIntLE = /* @__PURE__ */ __name(function readIntLE(offset, byteLength2, noAssert) {
        offset = offset >>> 0;
        byteLength2 = byteLength2 >>> 0;
        if (!noAssert) checkOffset(offset, byteLength2, this.length);
        let val = this[offset];
        let mul = 1;
        let i = 0;
        while (++i < byteLength2 && (mul *= 256)) {
          val += this[offset + i] * mul;
        }
        mul *= 128;
        if (val >= mul) val -= Math.pow(2, 8 * byteLength2);
        return val;
      }, "readIntLE");
      Buffer3.prototype.readIntBE = /* @__PURE__ */ __name(function readIntBE(offset, byteLength2, noAssert) {
        offset = offset >>> 0;
        byteLength2 = byteLength2 >>> 0;
        if (!noAssert) checkOffset(offset, byteLength2, this.length);
        let i = byteLength2;
        let mul = 1;
        let val = this[offset + --i];
        while (i > 0 && (mul *= 256)) {
          val += this[offset + --i] * mul;
        }
        mul *= 128;
        if (val >= mul) val -= Math.pow(2, 8 * byteLength2);
        return val;
      }, "readIntBE");
      Buffer3.prototype.readInt8 = /* @__PURE__ */ __name(function readInt8(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 1, this.length);
        if (!(this[offset] & 128)) return this[offset];
        return (255 - this[offset] + 1) * -1;
      }, "readInt8");
      Buffer3.prototype.readInt16LE = /* @__PURE__ */ __name(function readInt16LE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 2, this.length);
        const val = this[offset] | this[offset + 1] << 8;
        return val & 32768 ? val | 4294901760 : val;
      }, "readInt16LE");
      Buffer3.prototype.readInt16BE = /* @__PURE__ */ __name(function readInt16BE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 2, this.length);
        const val = this[offset + 1] | this[offset] << 8;
        return val & 32768 ? val | 4294901760 : val;
      }, "readInt16BE");
      Buffer3.prototype.readInt32LE = /* @__PURE__ */ __name(function readInt32LE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 4, this.length);
        return this[offset] | this[offset + 1] << 8 | this[offset + 2] << 16 | this[offset + 3] << 24;
      }, "readInt32LE");
      Buffer3.prototype.readInt32BE = /* @__PURE__ */ __name(function readInt32BE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 4, this.length);
        return this[offset] << 24 | this[offset + 1] << 16 | this[offset + 2] << 8 | this[offset + 3];
      }, "readInt32BE");
      Buffer3.prototype.readBigInt64LE = defineBigIntMethod(/* @__PURE__ */ __name(function readBigInt64LE(offset) {
        offset = offset >>> 0;
        validateNumber(offset, "offset");
        const first = this[offset];
        const last = this[offset + 7];
        if (first === void 0 || last === void 0) {
          boundsError(offset, this.length - 8);
        }
        const val = this[offset + 4] + this[offset + 5] * 2 ** 8 + this[offset + 6] * 2 ** 16 + (last << 24);
        return (BigInt(val) << BigInt(32)) + BigInt(first + this[++offset] * 2 ** 8 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 24);
      }, "readBigInt64LE"));
      Buffer3.prototype.readBigInt64BE = defineBigIntMethod(/* @__PURE__ */ __name(function readBigInt64BE(offset) {
        offset = offset >>> 0;
        validateNumber(offset, "offset");
        const first = this[offset];
        const last = this[offset + 7];
        if (first === void 0 || last === void 0) {
          boundsError(offset, this.length - 8);
        }
        const val = (first << 24) + // Overflow
        this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + this[++offset];
        return (BigInt(val) << BigInt(32)) + BigInt(this[++offset] * 2 ** 24 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + last);
      }, "readBigInt64BE"));
      Buffer3.prototype.readFloatLE = /* @__PURE__ */ __name(function readFloatLE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 4, this.length);
        return ieee754.read(this, offset, true, 23, 4);
      }, "readFloatLE");
      Buffer3.prototype.readFloatBE = /* @__PURE__ */ __name(function readFloatBE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 4, this.length);
        return ieee754.read(this, offset, false, 23, 4);
      }, "readFloatBE");
      Buffer3.prototype.readDoubleLE = /* @__PURE__ */ __name(function readDoubleLE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 8, this.length);
        return ieee754.read(this, offset, true, 52, 8);
      }, "readDoubleLE");
      Buffer3.prototype.readDoubleBE = /* @__PURE__ */ __name(function readDoubleBE(offset, noAssert) {
        offset = offset >>> 0;
        if (!noAssert) checkOffset(offset, 8, this.length);
        return ieee754.read(this, offset, false, 52, 8);
      }, "readDoubleBE");
      function checkInt(buf, value, offset, ext, max, min) {
        if (!Buffer3.isBuffer(buf)) throw new TypeError('"buffer" argument must be a Buffer instance');
        if (value > max || value < min) throw new RangeError('"value" argument is out of bounds');
        if (offset + ext > buf.length) throw new RangeError("Index out of range");
      }
      __name(checkInt, "checkInt");
      Buffer3.prototype.writeUintLE = Buffer3.prototype.writeUIntLE = /* @__PURE__ */ __name(function writeUIntLE(value, offset, byteLength2, noAssert) {
        value = +value;
        offset = offset >>> 0;
        byteLength2 = byteLength2 >>> 0;
        if (!noAssert) {
          const maxBytes2 = Math.pow(2, 8 * byteLength2) - 1;
          checkInt(this, value, offset, byteLength2, maxBytes2, 0);
        }
        let mul = 1;
        let i = 0;
        this[offset] = value & 255;
        while (++i < byteLength2 && (mul *= 256)) {
          this[offset + i] = value / mul & 255;
        }
        return offset + byteLength2;
      }, "writeUIntLE");
      Buffer3.prototype.writeUintBE = Buffer3.prototype.writeUIntBE = /* @__PURE__ */ __name(function writeUIntBE(value, offset, byteLength2, noAssert) {
        value = +value;
        offset = offset >>> 0;
        byteLength2 = byteLength2 >>> 0;
        if (!noAssert) {
          const maxBytes2 = Math.pow(2, 8 * byteLength2) - 1;
          checkInt(this, value, offset, byteLength2, maxBytes2, 0);
        }
        let i = byteLength2 - 1;
        let mul = 1;
        this[offset + i] = value & 255;
        while (--i >= 0 && (mul *= 256)) {
          this[offset + i] = value / mul & 255;
        }
        return offset + byteLength2;
      }, "writeUIntBE");
      Buffer3.prototype.writeUint8 = Buffer3.prototype.writeUInt8 = /* @__PURE__ */ __name(function writeUInt8(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 1, 255, 0);
        this[offset] = value & 255;
        return offset + 1;
      }, "writeUInt8");
      Buffer3.prototype.writeUint16LE = Buffer3.prototype.writeUInt16LE = /* @__PURE__ */ __name(function writeUInt16LE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 2, 65535, 0);
        this[offset] = value & 255;
        this[offset + 1] = value >>> 8;
        return offset + 2;
      }, "writeUInt16LE");
      Buffer3.prototype.writeUint16BE = Buffer3.prototype.writeUInt16BE = /* @__PURE__ */ __name(function writeUInt16BE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 2, 65535, 0);
        this[offset] = value >>> 8;
        this[offset + 1] = value & 255;
        return offset + 2;
      }, "writeUInt16BE");
      Buffer3.prototype.writeUint32LE = Buffer3.prototype.writeUInt32LE = /* @__PURE__ */ __name(function writeUInt32LE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 4, 4294967295, 0);
        this[offset + 3] = value >>> 24;
        this[offset + 2] = value >>> 16;
        this[offset + 1] = value >>> 8;
        this[offset] = value & 255;
        return offset + 4;
      }, "writeUInt32LE");
      Buffer3.prototype.writeUint32BE = Buffer3.prototype.writeUInt32BE = /* @__PURE__ */ __name(function writeUInt32BE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 4, 4294967295, 0);
        this[offset] = value >>> 24;
        this[offset + 1] = value >>> 16;
        this[offset + 2] = value >>> 8;
        this[offset + 3] = value & 255;
        return offset + 4;
      }, "writeUInt32BE");
      function wrtBigUInt64LE(buf, value, offset, min, max) {
        checkIntBI(value, min, max, buf, offset, 7);
        let lo = Number(value & BigInt(4294967295));
        buf[offset++] = lo;
        lo = lo >> 8;
        buf[offset++] = lo;
        lo = lo >> 8;
        buf[offset++] = lo;
        lo = lo >> 8;
        buf[offset++] = lo;
        let hi = Number(value >> BigInt(32) & BigInt(4294967295));
        buf[offset++] = hi;
        hi = hi >> 8;
        buf[offset++] = hi;
        hi = hi >> 8;
        buf[offset++] = hi;
        hi = hi >> 8;
        buf[offset++] = hi;
        return offset;
      }
      __name(wrtBigUInt64LE, "wrtBigUInt64LE");
      function wrtBigUInt64BE(buf, value, offset, min, max) {
        checkIntBI(value, min, max, buf, offset, 7);
        let lo = Number(value & BigInt(4294967295));
        buf[offset + 7] = lo;
        lo = lo >> 8;
        buf[offset + 6] = lo;
        lo = lo >> 8;
        buf[offset + 5] = lo;
        lo = lo >> 8;
        buf[offset + 4] = lo;
        let hi = Number(value >> BigInt(32) & BigInt(4294967295));
        buf[offset + 3] = hi;
        hi = hi >> 8;
        buf[offset + 2] = hi;
        hi = hi >> 8;
        buf[offset + 1] = hi;
        hi = hi >> 8;
        buf[offset] = hi;
        return offset + 8;
      }
      __name(wrtBigUInt64BE, "wrtBigUInt64BE");
      Buffer3.prototype.writeBigUInt64LE = defineBigIntMethod(/* @__PURE__ */ __name(function writeBigUInt64LE(value, offset = 0) {
        return wrtBigUInt64LE(this, value, offset, BigInt(0), BigInt("0xffffffffffffffff"));
      }, "writeBigUInt64LE"));
      Buffer3.prototype.writeBigUInt64BE = defineBigIntMethod(/* @__PURE__ */ __name(function writeBigUInt64BE(value, offset = 0) {
        return wrtBigUInt64BE(this, value, offset, BigInt(0), BigInt("0xffffffffffffffff"));
      }, "writeBigUInt64BE"));
      Buffer3.prototype.writeIntLE = /* @__PURE__ */ __name(function writeIntLE(value, offset, byteLength2, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) {
          const limit = Math.pow(2, 8 * byteLength2 - 1);
          checkInt(this, value, offset, byteLength2, limit - 1, -limit);
        }
        let i = 0;
        let mul = 1;
        let sub = 0;
        this[offset] = value & 255;
        while (++i < byteLength2 && (mul *= 256)) {
          if (value < 0 && sub === 0 && this[offset + i - 1] !== 0) {
            sub = 1;
          }
          this[offset + i] = (value / mul >> 0) - sub & 255;
        }
        return offset + byteLength2;
      }, "writeIntLE");
      Buffer3.prototype.writeIntBE = /* @__PURE__ */ __name(function writeIntBE(value, offset, byteLength2, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) {
          const limit = Math.pow(2, 8 * byteLength2 - 1);
          checkInt(this, value, offset, byteLength2, limit - 1, -limit);
        }
        let i = byteLength2 - 1;
        let mul = 1;
        let sub = 0;
        this[offset + i] = value & 255;
        while (--i >= 0 && (mul *= 256)) {
          if (value < 0 && sub === 0 && this[offset + i + 1] !== 0) {
            sub = 1;
          }
          this[offset + i] = (value / mul >> 0) - sub & 255;
        }
        return offset + byteLength2;
      }, "writeIntBE");
      Buffer3.prototype.writeInt8 = /* @__PURE__ */ __name(function writeInt8(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 1, 127, -128);
        if (value < 0) value = 255 + value + 1;
        this[offset] = value & 255;
        return offset + 1;
      }, "writeInt8");
      Buffer3.prototype.writeInt16LE = /* @__PURE__ */ __name(function writeInt16LE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 2, 32767, -32768);
        this[offset] = value & 255;
        this[offset + 1] = value >>> 8;
        return offset + 2;
      }, "writeInt16LE");
      Buffer3.prototype.writeInt16BE = /* @__PURE__ */ __name(function writeInt16BE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 2, 32767, -32768);
        this[offset] = value >>> 8;
        this[offset + 1] = value & 255;
        return offset + 2;
      }, "writeInt16BE");
      Buffer3.prototype.writeInt32LE = /* @__PURE__ */ __name(function writeInt32LE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 4, 2147483647, -2147483648);
        this[offset] = value & 255;
        this[offset + 1] = value >>> 8;
        this[offset + 2] = value >>> 16;
        this[offset + 3] = value >>> 24;
        return offset + 4;
      }, "writeInt32LE");
      Buffer3.prototype.writeInt32BE = /* @__PURE__ */ __name(function writeInt32BE(value, offset, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) checkInt(this, value, offset, 4, 2147483647, -2147483648);
        if (value < 0) value = 4294967295 + value + 1;
        this[offset] = value >>> 24;
        this[offset + 1] = value >>> 16;
        this[offset + 2] = value >>> 8;
        this[offset + 3] = value & 255;
        return offset + 4;
      }, "writeInt32BE");
      Buffer3.prototype.writeBigInt64LE = defineBigIntMethod(/* @__PURE__ */ __name(function writeBigInt64LE(value, offset = 0) {
        return wrtBigUInt64LE(this, value, offset, -BigInt("0x8000000000000000"), BigInt("0x7fffffffffffffff"));
      }, "writeBigInt64LE"));
      Buffer3.prototype.writeBigInt64BE = defineBigIntMethod(/* @__PURE__ */ __name(function writeBigInt64BE(value, offset = 0) {
        return wrtBigUInt64BE(this, value, offset, -BigInt("0x8000000000000000"), BigInt("0x7fffffffffffffff"));
      }, "writeBigInt64BE"));
      function checkIEEE754(buf, value, offset, ext, max, min) {
        if (offset + ext > buf.length) throw new RangeError("Index out of range");
        if (offset < 0) throw new RangeError("Index out of range");
      }
      __name(checkIEEE754, "checkIEEE754");
      function writeFloat(buf, value, offset, littleEndian, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) {
          checkIEEE754(buf, value, offset, 4, 34028234663852886e22, -34028234663852886e22);
        }
        ieee754.write(buf, value, offset, littleEndian, 23, 4);
        return offset + 4;
      }
      __name(writeFloat, "writeFloat");
      Buffer3.prototype.writeFloatLE = /* @__PURE__ */ __name(function writeFloatLE(value, offset, noAssert) {
        return writeFloat(this, value, offset, true, noAssert);
      }, "writeFloatLE");
      Buffer3.prototype.writeFloatBE = /* @__PURE__ */ __name(function writeFloatBE(value, offset, noAssert) {
        return writeFloat(this, value, offset, false, noAssert);
      }, "writeFloatBE");
      function writeDouble(buf, value, offset, littleEndian, noAssert) {
        value = +value;
        offset = offset >>> 0;
        if (!noAssert) {
          checkIEEE754(buf, value, offset, 8, 17976931348623157e292, -17976931348623157e292);
        }
        ieee754.write(buf, value, offset, littleEndian, 52, 8);
        return offset + 8;
      }
      __name(writeDouble, "writeDouble");
      Buffer3.prototype.writeDoubleLE = /* @__PURE__ */ __name(function writeDoubleLE(value, offset, noAssert) {
        return writeDouble(this, value, offset, true, noAssert);
      }, "writeDoubleLE");
      Buffer3.prototype.writeDoubleBE = /* @__PURE__ */ __name(function writeDoubleBE(value, offset, noAssert) {
        return writeDouble(this, value, offset, false, noAssert);
      }, "writeDoubleBE");
      Buffer3.prototype.copy = /* @__PURE__ */ __name(function copy(target, targetStart, start3, end) {
        if (!Buffer3.isBuffer(target)) throw new TypeError("argument should be a Buffer");
        if (!start3) start3 = 0;
        if (!end && end !== 0) end = this.length;
        if (targetStart >= target.length) targetStart = target.length;
        if (!targetStart) targetStart = 0;
        if (end > 0 && end < start3) end = start3;
        if (end === start3) return 0;
        if (target.length === 0 || this.length === 0) return 0;
        if (targetStart < 0) {
          throw new RangeError("targetStart out of bounds");
        }
        if (start3 < 0 || start3 >= this.length) throw new RangeError("Index out of range");
        if (end < 0) throw new RangeError("sourceEnd out of bounds");
        if (end > this.length) end = this.length;
        if (target.length - targetStart < end - start3) {
          end = target.length - targetStart + start3;
        }
        const len = end - start3;
        if (this === target && typeof Uint8Array.prototype.copyWithin === "function") {
          this.copyWithin(targetStart, start3, end);
        } else {
          Uint8Array.prototype.set.call(
            target,
            this.subarray(start3, end),
            targetStart
          );
        }
        return len;
      }, "copy");
      Buffer3.prototype.fill = /* @__PURE__ */ __name(function fill(val, start3, end, encoding) {
        if (typeof val === "string") {
          if (typeof start3 === "string") {
            encoding = start3;
            start3 = 0;
            end = this.length;
          } else if (typeof end === "string") {
            encoding = end;
            end = this.length;
          }
          if (encoding !== void 0 && typeof encoding !== "string") {
            throw new TypeError("encoding must be a string");
          }
          if (typeof encoding === "string" && !Buffer3.isEncoding(encoding)) {
            throw new TypeError("Unknown encoding: " + encoding);
          }
          if (val.length === 1) {
            const code = val.charCodeAt(0);
            if (encoding === "utf8" && code < 128 || encoding === "latin1") {
              val = code;
            }
          }
        } else if (typeof val === "number") {
          val = val & 255;
        } else if (typeof val === "boolean") {
          val = Number(val);
        }
        if (start3 < 0 || this.length < start3 || this.length < end) {
          throw new RangeError("Out of range index");
        }
        if (end <= start3) {
          return this;
        }
        start3 = start3 >>> 0;
        end = end === void 0 ? this.length : end >>> 0;
        if (!val) val = 0;
        let i;
        if (typeof val === "number") {
          for (i = start3; i < end; ++i) {
            this[i] = val;
          }
        } else {
          const bytes = Buffer3.isBuffer(val) ? val : Buffer3.from(val, encoding);
          const len = bytes.length;
          if (len === 0) {
            throw new TypeError('The value "' + val + '" is invalid for argument "value"');
          }
          for (i = 0; i < end - start3; ++i) {
            this[i + start3] = bytes[i % len];
          }
        }
        return this;
      }, "fill");
      var errors = {};
      function E(sym, getMessage, Base) {
        errors[sym] = class NodeError extends Base {
          static {
            __name(this, "NodeError");
          }
          constructor() {
            super();
            Object.defineProperty(this, "message", {
              value: getMessage.apply(this, arguments),
              writable: true,
              configurable: true
            });
            this.name = `${this.name} [${sym}]`;
            this.stack;
            delete this.name;
          }
          get code() {
            return sym;
          }
          set code(value) {
            Object.defineProperty(this, "code", {
              configurable: true,
              enumerable: true,
              value,
              writable: true
            });
          }
          toString() {
            return `${this.name} [${sym}]: ${this.message}`;
          }
        };
      }
      __name(E, "E");
      E(
        "ERR_BUFFER_OUT_OF_BOUNDS",
        function(name) {
          if (name) {
            return `${name} is outside of buffer bounds`;
          }
          return "Attempt to access memory outside buffer bounds";
        },
        RangeError
      );
      E(
        "ERR_INVALID_ARG_TYPE",
        function(name, actual) {
          return `The "${name}" argument must be of type number. Received type ${typeof actual}`;
        },
        TypeError
      );
      E(
        "ERR_OUT_OF_RANGE",
        function(str, range, input) {
          let msg = `The value of "${str}" is out of range.`;
          let received = input;
          if (Number.isInteger(input) && Math.abs(input) > 2 ** 32) {
            received = addNumericalSeparator(String(input));
          } else if (typeof input === "bigint") {
            received = String(input);
            if (input > BigInt(2) ** BigInt(32) || input < -(BigInt(2) ** BigInt(32))) {
              received = addNumericalSeparator(received);
            }
            received += "n";
          }
          msg += ` It must be ${range}. Received ${received}`;
          return msg;
        },
        RangeError
      );
      function addNumericalSeparator(val) {
        let res = "";
        let i = val.length;
        const start3 = val[0] === "-" ? 1 : 0;
        for (; i >= start3 + 4; i -= 3) {
          res = `_${val.slice(i - 3, i)}${res}`;
        }
        return `${val.slice(0, i)}${res}`;
      }
      __name(addNumericalSeparator, "addNumericalSeparator");
      function checkBounds(buf, offset, byteLength2) {
        validateNumber(offset, "offset");
        if (buf[offset] === void 0 || buf[offset + byteLength2] === void 0) {
          boundsError(offset, buf.length - (byteLength2 + 1));
        }
      }
      __name(checkBounds, "checkBounds");
      function checkIntBI(value, min, max, buf, offset, byteLength2) {
        if (value > max || value < min) {
          const n = typeof min === "bigint" ? "n" : "";
          let range;
          if (byteLength2 > 3) {
            if (min === 0 || min === BigInt(0)) {
              range = `>= 0${n} and < 2${n} ** ${(byteLength2 + 1) * 8}${n}`;
            } else {
              range = `>= -(2${n} ** ${(byteLength2 + 1) * 8 - 1}${n}) and < 2 ** ${(byteLength2 + 1) * 8 - 1}${n}`;
            }
          } else {
            range = `>= ${min}${n} and <= ${max}${n}`;
          }
          throw new errors.ERR_OUT_OF_RANGE("value", range, value);
        }
        checkBounds(buf, offset, byteLength2);
      }
      __name(checkIntBI, "checkIntBI");
      function validateNumber(value, name) {
        if (typeof value !== "number") {
          throw new errors.ERR_INVALID_ARG_TYPE(name, "number", value);
        }
      }
      __name(validateNumber, "validateNumber");
      function boundsError(value, length, type) {
        if (Math.floor(value) !== value) {
          validateNumber(value, type);
          throw new errors.ERR_OUT_OF_RANGE(type || "offset", "an integer", value);
        }
        if (length < 0) {
          throw new errors.ERR_BUFFER_OUT_OF_BOUNDS();
        }
        throw new errors.ERR_OUT_OF_RANGE(
          type || "offset",
          `>= ${type ? 1 : 0} and <= ${length}`,
          value
        );
      }
      __name(boundsError, "boundsError");
      var INVALID_BASE64_RE = /[^+/0-9A-Za-z-_]/g;
      function base64clean(str) {
        str = str.split("=")[0];
        str = str.trim().replace(INVALID_BASE64_RE, "");
        if (str.length < 2) return "";
        while (str.length % 4 !== 0) {
          str = str + "=";
        }
        return str;
      }
      __name(base64clean, "base64clean");
      function utf8ToBytes(string, units) {
        units = units || Infinity;
        let codePoint;
        const length = string.length;
        let leadSurrogate = null;
        const bytes = [];
        for (let i = 0; i < length; ++i) {
          codePoint = string.charCodeAt(i);
          if (codePoint > 55295 && codePoint < 57344) {
            if (!leadSurrogate) {
              if (codePoint > 56319) {
                if ((units -= 3) > -1) bytes.push(239, 191, 189);
                continue;
              } else if (i + 1 === length) {
                if ((units -= 3) > -1) bytes.push(239, 191, 189);
                continue;
              }
              leadSurrogate = codePoint;
              continue;
            }
            if (codePoint < 56320) {
              if ((units -= 3) > -1) bytes.push(239, 191, 189);
              leadSurrogate = codePoint;
              continue;
            }
            codePoint = (leadSurrogate - 55296 << 10 | codePoint - 56320) + 65536;
          } else if (leadSurrogate) {
            if ((units -= 3) > -1) bytes.push(239, 191, 189);
          }
          leadSurrogate = null;
          if (codePoint < 128) {
            if ((units -= 1) < 0) break;
            bytes.push(codePoint);
          } else if (codePoint < 2048) {
            if ((units -= 2) < 0) break;
            bytes.push(
              codePoint >> 6 | 192,
              codePoint & 63 | 128
            );
          } else if (codePoint < 65536) {
            if ((units -= 3) < 0) break;
            bytes.push(
              codePoint >> 12 | 224,
              codePoint >> 6 & 63 | 128,
              codePoint & 63 | 128
            );
          } else if (codePoint < 1114112) {
            if ((units -= 4) < 0) break;
            bytes.push(
              codePoint >> 18 | 240,
              codePoint >> 12 & 63 | 128,
              codePoint >> 6 & 63 | 128,
              codePoint & 63 | 128
            );
          } else {
            throw new Error("Invalid code point");
          }
        }
        return bytes;
      }
      __name(utf8ToBytes, "utf8ToBytes");
      function asciiToBytes(str) {
        const byteArray = [];
        for (let i = 0; i < str.length; ++i) {
          byteArray.push(str.charCodeAt(i) & 255);
        }
        return byteArray;
      }
      __name(asciiToBytes, "asciiToBytes");
      function utf16leToBytes(str, units) {
        let c, hi, lo;
        const byteArray = [];
        for (let i = 0; i < str.length; ++i) {
          if ((units -= 2) < 0) break;
          c = str.charCodeAt(i);
          hi = c >> 8;
          lo = c % 256;
          byteArray.push(lo);
          byteArray.push(hi);
        }
        return byteArray;
      }
      __name(utf16leToBytes, "utf16leToBytes");
      function base64ToBytes(str) {
        return base64.toByteArray(base64clean(str));
      }
      __name(base64ToBytes, "base64ToBytes");
      function blitBuffer(src, dst, offset, length) {
        let i;
        for (i = 0; i < length; ++i) {
          if (i + offset >= dst.length || i >= src.length) break;
          dst[i + offset] = src[i];
        }
        return i;
      }
      __name(blitBuffer, "blitBuffer");
      function isInstance(obj, type) {
        return obj instanceof type || obj != null && obj.constructor != null && obj.constructor.name != null && obj.constructor.name === type.name;
      }
      __name(isInstance, "isInstance");
      function numberIsNaN(obj) {
        return obj !== obj;
      }
      __name(numberIsNaN, "numberIsNaN");
      var hexSliceLookupTable = (function() {
        const alphabet = "0123456789abcdef";
        const table = new Array(256);
        for (let i = 0; i < 16; ++i) {
          const i16 = i * 16;
          for (let j = 0; j < 16; ++j) {
            table[i16 + j] = alphabet[i] + alphabet[j];
          }
        }
        return table;
      })();
      function defineBigIntMethod(fn) {
        return typeof BigInt === "undefined" ? BufferBigIntNotDefined : fn;
      }
      __name(defineBigIntMethod, "defineBigIntMethod");
      function BufferBigIntNotDefined() {
        throw new Error("BigInt not supported");
      }
      __name(BufferBigIntNotDefined, "BufferBigIntNotDefined");
    }
  });

  // node_modules/core-js-pure/internals/inspect-source.js
  var require_inspect_source = __commonJS({
    "node_modules/core-js-pure/internals/inspect-source.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var isCallable = require_is_callable();
      var store = require_shared_store();
      var functionToString = uncurryThis2(Function.toString);
      if (!isCallable(store.inspectSource)) {
        store.inspectSource = function(it) {
          return functionToString(it);
        };
      }
      module.exports = store.inspectSource;
    }
  });

  // node_modules/core-js-pure/internals/is-constructor.js
  var require_is_constructor = __commonJS({
    "node_modules/core-js-pure/internals/is-constructor.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var fails = require_fails();
      var isCallable = require_is_callable();
      var classof = require_classof();
      var getBuiltIn = require_get_built_in();
      var inspectSource = require_inspect_source();
      var noop = /* @__PURE__ */ __name(function() {
      }, "noop");
      var construct = getBuiltIn("Reflect", "construct");
      var constructorRegExp = /^\s*(?:class|function)\b/;
      var exec = uncurryThis2(constructorRegExp.exec);
      var INCORRECT_TO_STRING = !constructorRegExp.test(noop);
      var isConstructorModern = /* @__PURE__ */ __name(function isConstructor(argument) {
        if (!isCallable(argument)) return false;
        try {
          construct(noop, [], argument);
          return true;
        } catch (error) {
          return false;
        }
      }, "isConstructor");
      var isConstructorLegacy = /* @__PURE__ */ __name(function isConstructor(argument) {
        if (!isCallable(argument)) return false;
        switch (classof(argument)) {
          case "AsyncFunction":
          case "GeneratorFunction":
          case "AsyncGeneratorFunction":
            return false;
        }
        try {
          return INCORRECT_TO_STRING || !!exec(constructorRegExp, inspectSource(argument));
        } catch (error) {
          return true;
        }
      }, "isConstructor");
      isConstructorLegacy.sham = true;
      module.exports = !construct || fails(function() {
        var called;
        return isConstructorModern(isConstructorModern.call) || !isConstructorModern(Object) || !isConstructorModern(function() {
          called = true;
        }) || called;
      }) ? isConstructorLegacy : isConstructorModern;
    }
  });

  // node_modules/core-js-pure/internals/iterators.js
  var require_iterators = __commonJS({
    "node_modules/core-js-pure/internals/iterators.js"(exports, module) {
      "use strict";
      module.exports = Object.create ? /* @__PURE__ */ Object.create(null) : {};
    }
  });

  // node_modules/core-js-pure/internals/is-array-iterator-method.js
  var require_is_array_iterator_method = __commonJS({
    "node_modules/core-js-pure/internals/is-array-iterator-method.js"(exports, module) {
      "use strict";
      var wellKnownSymbol = require_well_known_symbol();
      var Iterators = require_iterators();
      var ITERATOR = wellKnownSymbol("iterator");
      var ArrayPrototype = Array.prototype;
      module.exports = function(it) {
        return it !== void 0 && (Iterators.Array === it || ArrayPrototype[ITERATOR] === it);
      };
    }
  });

  // node_modules/core-js-pure/internals/get-internal-iterator.js
  var require_get_internal_iterator = __commonJS({
    "node_modules/core-js-pure/internals/get-internal-iterator.js"(exports, module) {
      "use strict";
      var classof = require_classof();
      var hasOwn = require_has_own_property();
      var Iterators = require_iterators();
      module.exports = function(it) {
        var klass = classof(it);
        if (klass === "Arguments") klass = "Array";
        return hasOwn(Iterators, klass) ? Iterators[klass] : void 0;
      };
    }
  });

  // node_modules/core-js-pure/internals/get-iterator-method-internal.js
  var require_get_iterator_method_internal = __commonJS({
    "node_modules/core-js-pure/internals/get-iterator-method-internal.js"(exports, module) {
      "use strict";
      var getMethod = require_get_method();
      var isNullOrUndefined = require_is_null_or_undefined();
      var getInternalIterator = require_get_internal_iterator();
      var wellKnownSymbol = require_well_known_symbol();
      var ITERATOR = wellKnownSymbol("iterator");
      module.exports = function(it) {
        if (!isNullOrUndefined(it)) return getMethod(it, ITERATOR) || getMethod(it, "@@iterator") || getInternalIterator(it);
      };
    }
  });

  // node_modules/core-js-pure/internals/get-iterator-internal.js
  var require_get_iterator_internal = __commonJS({
    "node_modules/core-js-pure/internals/get-iterator-internal.js"(exports, module) {
      "use strict";
      var call2 = require_function_call();
      var isCallable = require_is_callable();
      var anObject = require_an_object();
      var tryToString = require_try_to_string();
      var getIteratorMethod = require_get_iterator_method_internal();
      var $TypeError = TypeError;
      module.exports = function(argument, usingIterator) {
        var iteratorMethod = arguments.length < 2 ? getIteratorMethod(argument) : usingIterator;
        if (isCallable(iteratorMethod)) return anObject(call2(iteratorMethod, argument));
        throw new $TypeError(tryToString(argument) + " is not iterable");
      };
    }
  });

  // node_modules/core-js-pure/internals/iterator-close.js
  var require_iterator_close = __commonJS({
    "node_modules/core-js-pure/internals/iterator-close.js"(exports, module) {
      "use strict";
      var call2 = require_function_call();
      var anObject = require_an_object();
      var getMethod = require_get_method();
      module.exports = function(iterator, kind, value) {
        var innerResult, innerError;
        anObject(iterator);
        try {
          innerResult = getMethod(iterator, "return");
          if (!innerResult) {
            if (kind === "throw") throw value;
            return value;
          }
          innerResult = call2(innerResult, iterator);
        } catch (error) {
          innerError = true;
          innerResult = error;
        }
        if (kind === "throw") throw value;
        if (innerError) throw innerResult;
        anObject(innerResult);
        return value;
      };
    }
  });

  // node_modules/core-js-pure/internals/iterate.js
  var require_iterate = __commonJS({
    "node_modules/core-js-pure/internals/iterate.js"(exports, module) {
      "use strict";
      var bind2 = require_function_bind_context();
      var call2 = require_function_call();
      var anObject = require_an_object();
      var tryToString = require_try_to_string();
      var isArrayIteratorMethod = require_is_array_iterator_method();
      var lengthOfArrayLike = require_length_of_array_like();
      var isPrototypeOf = require_object_is_prototype_of();
      var getIterator = require_get_iterator_internal();
      var getIteratorMethod = require_get_iterator_method_internal();
      var iteratorClose = require_iterator_close();
      var $TypeError = TypeError;
      var Result = /* @__PURE__ */ __name(function(stopped, result) {
        this.stopped = stopped;
        this.result = result;
      }, "Result");
      var ResultPrototype = Result.prototype;
      module.exports = function(iterable, unboundFunction, options) {
        var that = options && options.that;
        var AS_ENTRIES = !!(options && options.AS_ENTRIES);
        var IS_RECORD = !!(options && options.IS_RECORD);
        var IS_ITERATOR = !!(options && options.IS_ITERATOR);
        var INTERRUPTED = !!(options && options.INTERRUPTED);
        var fn = bind2(unboundFunction, that);
        var iterator, iterFn, index, length, result, next, step;
        var stop = /* @__PURE__ */ __name(function(condition) {
          var $iterator = iterator;
          iterator = void 0;
          if ($iterator) iteratorClose($iterator, "normal");
          return new Result(true, condition);
        }, "stop");
        var callFn = /* @__PURE__ */ __name(function(value2) {
          if (AS_ENTRIES) {
            anObject(value2);
            return INTERRUPTED ? fn(value2[0], value2[1], stop) : fn(value2[0], value2[1]);
          }
          return INTERRUPTED ? fn(value2, stop) : fn(value2);
        }, "callFn");
        if (IS_RECORD) {
          iterator = iterable.iterator;
        } else if (IS_ITERATOR) {
          iterator = iterable;
        } else {
          iterFn = getIteratorMethod(iterable);
          if (!iterFn) throw new $TypeError(tryToString(iterable) + " is not iterable");
          if (isArrayIteratorMethod(iterFn)) {
            for (index = 0, length = lengthOfArrayLike(iterable); length > index; index++) {
              result = callFn(iterable[index]);
              if (result && isPrototypeOf(ResultPrototype, result)) return result;
            }
            return new Result(false);
          }
          iterator = getIterator(iterable, iterFn);
        }
        next = IS_RECORD ? iterable.next : iterator.next;
        while (!(step = call2(next, iterator)).done) {
          var value = step.value;
          try {
            result = callFn(value);
          } catch (error) {
            if (iterator) iteratorClose(iterator, "throw", error);
            else throw error;
          }
          if (typeof result == "object" && result && isPrototypeOf(ResultPrototype, result)) return result;
        }
        return new Result(false);
      };
    }
  });

  // node_modules/core-js-pure/internals/create-property.js
  var require_create_property = __commonJS({
    "node_modules/core-js-pure/internals/create-property.js"(exports, module) {
      "use strict";
      var DESCRIPTORS = require_descriptors();
      var definePropertyModule = require_object_define_property();
      var createPropertyDescriptor = require_create_property_descriptor();
      module.exports = function(object, key, value) {
        if (DESCRIPTORS) definePropertyModule.f(object, key, createPropertyDescriptor(0, value));
        else object[key] = value;
      };
    }
  });

  // node_modules/core-js-pure/internals/regexp-flags-detection.js
  var require_regexp_flags_detection = __commonJS({
    "node_modules/core-js-pure/internals/regexp-flags-detection.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var fails = require_fails();
      var RegExp2 = globalThis2.RegExp;
      var FLAGS_GETTER_IS_CORRECT = !fails(function() {
        var INDICES_SUPPORT = true;
        try {
          RegExp2(".", "d");
        } catch (error) {
          INDICES_SUPPORT = false;
        }
        var O = {};
        var calls = "";
        var expected = INDICES_SUPPORT ? "dgimsy" : "gimsy";
        var addGetter = /* @__PURE__ */ __name(function(key2, chr) {
          Object.defineProperty(O, key2, { get: /* @__PURE__ */ __name(function() {
            calls += chr;
            return true;
          }, "get") });
        }, "addGetter");
        var pairs = {
          dotAll: "s",
          global: "g",
          ignoreCase: "i",
          multiline: "m",
          sticky: "y"
        };
        if (INDICES_SUPPORT) pairs.hasIndices = "d";
        for (var key in pairs) addGetter(key, pairs[key]);
        var result = Object.getOwnPropertyDescriptor(RegExp2.prototype, "flags").get.call(O);
        return result !== expected || calls !== expected;
      });
      module.exports = { correct: FLAGS_GETTER_IS_CORRECT };
    }
  });

  // node_modules/core-js-pure/internals/regexp-flags.js
  var require_regexp_flags = __commonJS({
    "node_modules/core-js-pure/internals/regexp-flags.js"(exports, module) {
      "use strict";
      var anObject = require_an_object();
      module.exports = function() {
        var that = anObject(this);
        var result = "";
        if (that.hasIndices) result += "d";
        if (that.global) result += "g";
        if (that.ignoreCase) result += "i";
        if (that.multiline) result += "m";
        if (that.dotAll) result += "s";
        if (that.unicode) result += "u";
        if (that.unicodeSets) result += "v";
        if (that.sticky) result += "y";
        return result;
      };
    }
  });

  // node_modules/core-js-pure/internals/regexp-get-flags.js
  var require_regexp_get_flags = __commonJS({
    "node_modules/core-js-pure/internals/regexp-get-flags.js"(exports, module) {
      "use strict";
      var call2 = require_function_call();
      var hasOwn = require_has_own_property();
      var isPrototypeOf = require_object_is_prototype_of();
      var regExpFlagsDetection = require_regexp_flags_detection();
      var regExpFlagsGetterImplementation = require_regexp_flags();
      var RegExpPrototype = RegExp.prototype;
      module.exports = regExpFlagsDetection.correct ? function(it) {
        return it.flags;
      } : function(it) {
        return !regExpFlagsDetection.correct && isPrototypeOf(RegExpPrototype, it) && !hasOwn(it, "flags") ? call2(regExpFlagsGetterImplementation, it) : it.flags;
      };
    }
  });

  // node_modules/core-js-pure/internals/caller.js
  var require_caller = __commonJS({
    "node_modules/core-js-pure/internals/caller.js"(exports, module) {
      "use strict";
      module.exports = function(methodName, numArgs) {
        return numArgs === 1 ? function(object, arg) {
          return object[methodName](arg);
        } : function(object, arg1, arg2) {
          return object[methodName](arg1, arg2);
        };
      };
    }
  });

  // node_modules/core-js-pure/internals/map-helpers.js
  var require_map_helpers = __commonJS({
    "node_modules/core-js-pure/internals/map-helpers.js"(exports, module) {
      "use strict";
      var getBuiltIn = require_get_built_in();
      var caller = require_caller();
      var Map3 = getBuiltIn("Map");
      module.exports = {
        Map: Map3,
        set: caller("set", 2),
        get: caller("get", 1),
        has: caller("has", 1),
        remove: caller("delete", 1),
        proto: Map3.prototype
      };
    }
  });

  // node_modules/core-js-pure/internals/set-helpers.js
  var require_set_helpers = __commonJS({
    "node_modules/core-js-pure/internals/set-helpers.js"(exports, module) {
      "use strict";
      var getBuiltIn = require_get_built_in();
      var caller = require_caller();
      var Set3 = getBuiltIn("Set");
      var SetPrototype = Set3.prototype;
      module.exports = {
        Set: Set3,
        add: caller("add", 1),
        has: caller("has", 1),
        remove: caller("delete", 1),
        proto: SetPrototype
      };
    }
  });

  // node_modules/core-js-pure/internals/iterate-simple.js
  var require_iterate_simple = __commonJS({
    "node_modules/core-js-pure/internals/iterate-simple.js"(exports, module) {
      "use strict";
      var call2 = require_function_call();
      module.exports = function(record, fn, ITERATOR_INSTEAD_OF_RECORD) {
        var iterator = ITERATOR_INSTEAD_OF_RECORD ? record : record.iterator;
        var next = record.next;
        var step, result;
        while (!(step = call2(next, iterator)).done) {
          result = fn(step.value);
          if (result !== void 0) return result;
        }
      };
    }
  });

  // node_modules/core-js-pure/internals/set-iterate.js
  var require_set_iterate = __commonJS({
    "node_modules/core-js-pure/internals/set-iterate.js"(exports, module) {
      "use strict";
      var iterateSimple = require_iterate_simple();
      module.exports = function(set, fn, interruptible) {
        return interruptible ? iterateSimple(set.keys(), fn, true) : set.forEach(fn);
      };
    }
  });

  // node_modules/core-js-pure/internals/structured-clone-proper-transfer.js
  var require_structured_clone_proper_transfer = __commonJS({
    "node_modules/core-js-pure/internals/structured-clone-proper-transfer.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var fails = require_fails();
      var V8 = require_environment_v8_version();
      var ENVIRONMENT = require_environment();
      var structuredClone2 = globalThis2.structuredClone;
      module.exports = !!structuredClone2 && !fails(function() {
        if (ENVIRONMENT === "DENO" && V8 > 92 || ENVIRONMENT === "NODE" && V8 > 94 || ENVIRONMENT === "BROWSER" && V8 > 97) return false;
        var buffer = new ArrayBuffer(8);
        var clone = structuredClone2(buffer, { transfer: [buffer] });
        return buffer.byteLength !== 0 || clone.byteLength !== 8;
      });
    }
  });

  // node_modules/core-js-pure/internals/detach-transferable.js
  var require_detach_transferable = __commonJS({
    "node_modules/core-js-pure/internals/detach-transferable.js"(exports, module) {
      "use strict";
      var globalThis2 = require_global_this();
      var getBuiltInNodeModule = require_get_built_in_node_module();
      var PROPER_STRUCTURED_CLONE_TRANSFER = require_structured_clone_proper_transfer();
      var structuredClone2 = globalThis2.structuredClone;
      var $ArrayBuffer = globalThis2.ArrayBuffer;
      var $MessageChannel = globalThis2.MessageChannel;
      var detach = false;
      var WorkerThreads;
      var channel;
      var buffer;
      var $detach;
      if (PROPER_STRUCTURED_CLONE_TRANSFER) {
        detach = /* @__PURE__ */ __name(function(transferable) {
          structuredClone2(transferable, { transfer: [transferable] });
        }, "detach");
      } else if ($ArrayBuffer) try {
        if (!$MessageChannel) {
          WorkerThreads = getBuiltInNodeModule("worker_threads");
          if (WorkerThreads) $MessageChannel = WorkerThreads.MessageChannel;
        }
        if ($MessageChannel) {
          channel = new $MessageChannel();
          buffer = new $ArrayBuffer(2);
          $detach = /* @__PURE__ */ __name(function(transferable) {
            channel.port1.postMessage(null, [transferable]);
          }, "$detach");
          if (buffer.byteLength === 2) {
            $detach(buffer);
            if (buffer.byteLength === 0) detach = $detach;
          }
        }
      } catch (error) {
      }
      module.exports = detach;
    }
  });

  // node_modules/core-js-pure/internals/error-stack-installable.js
  var require_error_stack_installable = __commonJS({
    "node_modules/core-js-pure/internals/error-stack-installable.js"(exports, module) {
      "use strict";
      var fails = require_fails();
      var createPropertyDescriptor = require_create_property_descriptor();
      module.exports = !fails(function() {
        var error = new Error("a");
        if (!("stack" in error)) return true;
        Object.defineProperty(error, "stack", createPropertyDescriptor(1, 7));
        return error.stack !== 7;
      });
    }
  });

  // node_modules/core-js-pure/modules/web.structured-clone.js
  var require_web_structured_clone = __commonJS({
    "node_modules/core-js-pure/modules/web.structured-clone.js"() {
      "use strict";
      var IS_PURE = require_is_pure();
      var $2 = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var uncurryThis2 = require_function_uncurry_this();
      var fails = require_fails();
      var uid = require_uid();
      var isCallable = require_is_callable();
      var isConstructor = require_is_constructor();
      var isNullOrUndefined = require_is_null_or_undefined();
      var isObject = require_is_object();
      var isSymbol = require_is_symbol();
      var iterate = require_iterate();
      var anObject = require_an_object();
      var classof = require_classof();
      var hasOwn = require_has_own_property();
      var createProperty = require_create_property();
      var createNonEnumerableProperty = require_create_non_enumerable_property();
      var lengthOfArrayLike = require_length_of_array_like();
      var validateArgumentsLength = require_validate_arguments_length();
      var getRegExpFlags = require_regexp_get_flags();
      var MapHelpers = require_map_helpers();
      var SetHelpers = require_set_helpers();
      var setIterate = require_set_iterate();
      var detachTransferable = require_detach_transferable();
      var ERROR_STACK_INSTALLABLE = require_error_stack_installable();
      var PROPER_STRUCTURED_CLONE_TRANSFER = require_structured_clone_proper_transfer();
      var Object2 = globalThis2.Object;
      var Array2 = globalThis2.Array;
      var Date2 = globalThis2.Date;
      var Error3 = globalThis2.Error;
      var TypeError3 = globalThis2.TypeError;
      var PerformanceMark = globalThis2.PerformanceMark;
      var DOMException3 = getBuiltIn("DOMException");
      var Map3 = MapHelpers.Map;
      var mapHas = MapHelpers.has;
      var mapGet = MapHelpers.get;
      var mapSet = MapHelpers.set;
      var Set3 = SetHelpers.Set;
      var setAdd = SetHelpers.add;
      var setHas = SetHelpers.has;
      var objectKeys = getBuiltIn("Object", "keys");
      var push = uncurryThis2([].push);
      var thisBooleanValue = uncurryThis2(true.valueOf);
      var thisNumberValue = uncurryThis2(1.1.valueOf);
      var thisStringValue = uncurryThis2("".valueOf);
      var thisTimeValue = uncurryThis2(Date2.prototype.getTime);
      var PERFORMANCE_MARK = uid("structuredClone");
      var DATA_CLONE_ERROR = "DataCloneError";
      var TRANSFERRING = "Transferring";
      var checkBasicSemantic = /* @__PURE__ */ __name(function(structuredCloneImplementation) {
        return !fails(function() {
          var set1 = new globalThis2.Set([7]);
          var set2 = structuredCloneImplementation(set1);
          var number = structuredCloneImplementation(Object2(7));
          return set2 === set1 || !set2.has(7) || !isObject(number) || +number !== 7;
        }) && structuredCloneImplementation;
      }, "checkBasicSemantic");
      var checkErrorsCloning = /* @__PURE__ */ __name(function(structuredCloneImplementation, $Error) {
        return !fails(function() {
          var error = new $Error();
          var test2 = structuredCloneImplementation({ a: error, b: error });
          return !(test2 && test2.a === test2.b && test2.a instanceof $Error && test2.a.stack === error.stack);
        });
      }, "checkErrorsCloning");
      var checkNewErrorsCloningSemantic = /* @__PURE__ */ __name(function(structuredCloneImplementation) {
        return !fails(function() {
          var test2 = structuredCloneImplementation(new globalThis2.AggregateError([1], PERFORMANCE_MARK, { cause: 3 }));
          return test2.name !== "AggregateError" || test2.errors[0] !== 1 || test2.message !== PERFORMANCE_MARK || test2.cause !== 3;
        });
      }, "checkNewErrorsCloningSemantic");
      var nativeStructuredClone = globalThis2.structuredClone;
      var FORCED_REPLACEMENT = IS_PURE || !checkErrorsCloning(nativeStructuredClone, Error3) || !checkErrorsCloning(nativeStructuredClone, DOMException3) || !checkNewErrorsCloningSemantic(nativeStructuredClone);
      var structuredCloneFromMark = !nativeStructuredClone && checkBasicSemantic(function(value) {
        return new PerformanceMark(PERFORMANCE_MARK, { detail: value }).detail;
      });
      var nativeRestrictedStructuredClone = checkBasicSemantic(nativeStructuredClone) || structuredCloneFromMark;
      var throwUncloneable = /* @__PURE__ */ __name(function(type) {
        throw new DOMException3("Uncloneable type: " + type, DATA_CLONE_ERROR);
      }, "throwUncloneable");
      var throwUnpolyfillable = /* @__PURE__ */ __name(function(type, action) {
        throw new DOMException3((action || "Cloning") + " of " + type + " cannot be properly polyfilled in this engine", DATA_CLONE_ERROR);
      }, "throwUnpolyfillable");
      var tryNativeRestrictedStructuredClone = /* @__PURE__ */ __name(function(value, type) {
        if (!nativeRestrictedStructuredClone) throwUnpolyfillable(type);
        return nativeRestrictedStructuredClone(value);
      }, "tryNativeRestrictedStructuredClone");
      var createDataTransfer = /* @__PURE__ */ __name(function() {
        var dataTransfer;
        try {
          dataTransfer = new globalThis2.DataTransfer();
        } catch (error) {
          try {
            dataTransfer = new globalThis2.ClipboardEvent("").clipboardData;
          } catch (error2) {
          }
        }
        return dataTransfer && dataTransfer.items && dataTransfer.files ? dataTransfer : null;
      }, "createDataTransfer");
      var cloneBuffer = /* @__PURE__ */ __name(function(value, map, $type) {
        if (mapHas(map, value)) return mapGet(map, value);
        var type = $type || classof(value);
        var clone, length, options, source, target, i;
        if (type === "SharedArrayBuffer") {
          if (nativeRestrictedStructuredClone) clone = nativeRestrictedStructuredClone(value);
          else clone = value;
        } else {
          var DataView2 = globalThis2.DataView;
          if (!DataView2 && !isCallable(value.slice)) throwUnpolyfillable("ArrayBuffer");
          try {
            if (isCallable(value.slice) && !value.resizable) {
              clone = value.slice(0);
            } else {
              length = value.byteLength;
              options = "maxByteLength" in value ? { maxByteLength: value.maxByteLength } : void 0;
              clone = new ArrayBuffer(length, options);
              source = new DataView2(value);
              target = new DataView2(clone);
              for (i = 0; i < length; i++) {
                target.setUint8(i, source.getUint8(i));
              }
            }
          } catch (error) {
            throw new DOMException3("ArrayBuffer is detached", DATA_CLONE_ERROR);
          }
        }
        mapSet(map, value, clone);
        return clone;
      }, "cloneBuffer");
      var cloneView = /* @__PURE__ */ __name(function(value, type, offset, length, map) {
        var C = globalThis2[type];
        if (!isObject(C)) throwUnpolyfillable(type);
        return new C(cloneBuffer(value.buffer, map), offset, length);
      }, "cloneView");
      var structuredCloneInternal = /* @__PURE__ */ __name(function(value, map) {
        if (isSymbol(value)) throwUncloneable("Symbol");
        if (!isObject(value)) return value;
        if (map) {
          if (mapHas(map, value)) return mapGet(map, value);
        } else map = new Map3();
        var type = classof(value);
        var C, name, cloned, dataTransfer, i, length, keys3, key;
        switch (type) {
          case "Array":
            cloned = Array2(lengthOfArrayLike(value));
            break;
          case "Object":
            cloned = {};
            break;
          case "Map":
            cloned = new Map3();
            break;
          case "Set":
            cloned = new Set3();
            break;
          case "RegExp":
            cloned = new RegExp(value.source, getRegExpFlags(value));
            break;
          case "Error":
            name = value.name;
            switch (name) {
              case "AggregateError":
                cloned = new (getBuiltIn(name))([]);
                break;
              case "EvalError":
              case "RangeError":
              case "ReferenceError":
              case "SuppressedError":
              case "SyntaxError":
              case "TypeError":
              case "URIError":
                cloned = new (getBuiltIn(name))();
                break;
              case "CompileError":
              case "LinkError":
              case "RuntimeError":
                cloned = new (getBuiltIn("WebAssembly", name))();
                break;
              default:
                cloned = new Error3();
            }
            break;
          case "DOMException":
            cloned = new DOMException3(value.message, value.name);
            break;
          case "ArrayBuffer":
          case "SharedArrayBuffer":
            cloned = cloneBuffer(value, map, type);
            break;
          case "DataView":
          case "Int8Array":
          case "Uint8Array":
          case "Uint8ClampedArray":
          case "Int16Array":
          case "Uint16Array":
          case "Int32Array":
          case "Uint32Array":
          case "Float16Array":
          case "Float32Array":
          case "Float64Array":
          case "BigInt64Array":
          case "BigUint64Array":
            length = type === "DataView" ? value.byteLength : value.length;
            cloned = cloneView(value, type, value.byteOffset, length, map);
            break;
          case "DOMQuad":
            try {
              cloned = new DOMQuad(
                structuredCloneInternal(value.p1, map),
                structuredCloneInternal(value.p2, map),
                structuredCloneInternal(value.p3, map),
                structuredCloneInternal(value.p4, map)
              );
            } catch (error) {
              cloned = tryNativeRestrictedStructuredClone(value, type);
            }
            break;
          case "File":
            if (nativeRestrictedStructuredClone) try {
              cloned = nativeRestrictedStructuredClone(value);
              if (classof(cloned) !== type) cloned = void 0;
            } catch (error) {
            }
            if (!cloned) try {
              cloned = new File([value], value.name, value);
            } catch (error) {
            }
            if (!cloned) throwUnpolyfillable(type);
            break;
          case "FileList":
            dataTransfer = createDataTransfer();
            if (dataTransfer) {
              for (i = 0, length = lengthOfArrayLike(value); i < length; i++) {
                dataTransfer.items.add(structuredCloneInternal(value[i], map));
              }
              cloned = dataTransfer.files;
            } else cloned = tryNativeRestrictedStructuredClone(value, type);
            break;
          case "ImageData":
            try {
              cloned = new ImageData(
                structuredCloneInternal(value.data, map),
                value.width,
                value.height,
                { colorSpace: value.colorSpace }
              );
            } catch (error) {
              cloned = tryNativeRestrictedStructuredClone(value, type);
            }
            break;
          default:
            if (nativeRestrictedStructuredClone) {
              cloned = nativeRestrictedStructuredClone(value);
            } else switch (type) {
              case "BigInt":
                cloned = Object2(value.valueOf());
                break;
              case "Boolean":
                cloned = Object2(thisBooleanValue(value));
                break;
              case "Number":
                cloned = Object2(thisNumberValue(value));
                break;
              case "String":
                cloned = Object2(thisStringValue(value));
                break;
              case "Date":
                cloned = new Date2(thisTimeValue(value));
                break;
              case "Blob":
                try {
                  cloned = value.slice(0, value.size, value.type);
                } catch (error) {
                  throwUnpolyfillable(type);
                }
                break;
              case "DOMPoint":
              case "DOMPointReadOnly":
                C = globalThis2[type];
                try {
                  cloned = C.fromPoint ? C.fromPoint(value) : new C(value.x, value.y, value.z, value.w);
                } catch (error) {
                  throwUnpolyfillable(type);
                }
                break;
              case "DOMRect":
              case "DOMRectReadOnly":
                C = globalThis2[type];
                try {
                  cloned = C.fromRect ? C.fromRect(value) : new C(value.x, value.y, value.width, value.height);
                } catch (error) {
                  throwUnpolyfillable(type);
                }
                break;
              case "DOMMatrix":
              case "DOMMatrixReadOnly":
                C = globalThis2[type];
                try {
                  cloned = C.fromMatrix ? C.fromMatrix(value) : new C(value);
                } catch (error) {
                  throwUnpolyfillable(type);
                }
                break;
              case "AudioData":
              case "VideoFrame":
                if (!isCallable(value.clone)) throwUnpolyfillable(type);
                try {
                  cloned = value.clone();
                } catch (error) {
                  throwUncloneable(type);
                }
                break;
              case "CropTarget":
              case "CryptoKey":
              case "FileSystemDirectoryHandle":
              case "FileSystemFileHandle":
              case "FileSystemHandle":
              case "GPUCompilationInfo":
              case "GPUCompilationMessage":
              case "ImageBitmap":
              case "RTCCertificate":
              case "WebAssembly.Module":
                throwUnpolyfillable(type);
              // break omitted
              default:
                throwUncloneable(type);
            }
        }
        mapSet(map, value, cloned);
        switch (type) {
          case "Array":
          case "Object":
            keys3 = objectKeys(value);
            for (i = 0, length = lengthOfArrayLike(keys3); i < length; i++) {
              key = keys3[i];
              createProperty(cloned, key, structuredCloneInternal(value[key], map));
            }
            break;
          case "Map":
            value.forEach(function(v, k) {
              mapSet(cloned, structuredCloneInternal(k, map), structuredCloneInternal(v, map));
            });
            break;
          case "Set":
            value.forEach(function(v) {
              setAdd(cloned, structuredCloneInternal(v, map));
            });
            break;
          case "Error":
            createNonEnumerableProperty(cloned, "message", structuredCloneInternal(value.message, map));
            if (hasOwn(value, "cause")) {
              createNonEnumerableProperty(cloned, "cause", structuredCloneInternal(value.cause, map));
            }
            if (name === "AggregateError") {
              cloned.errors = structuredCloneInternal(value.errors, map);
            } else if (name === "SuppressedError") {
              cloned.error = structuredCloneInternal(value.error, map);
              cloned.suppressed = structuredCloneInternal(value.suppressed, map);
            }
          // break omitted
          case "DOMException":
            if (ERROR_STACK_INSTALLABLE) {
              createNonEnumerableProperty(cloned, "stack", structuredCloneInternal(value.stack, map));
            }
        }
        return cloned;
      }, "structuredCloneInternal");
      var tryToTransfer = /* @__PURE__ */ __name(function(rawTransfer, map) {
        if (!isObject(rawTransfer)) throw new TypeError3("Transfer option cannot be converted to a sequence");
        var transfer = [];
        iterate(rawTransfer, function(value2) {
          push(transfer, anObject(value2));
        });
        var i = 0;
        var length = lengthOfArrayLike(transfer);
        var buffers = new Set3();
        var value, type, C, transferred, canvas, context;
        while (i < length) {
          value = transfer[i++];
          type = classof(value);
          transferred = void 0;
          if (type === "ArrayBuffer" ? setHas(buffers, value) : mapHas(map, value)) {
            throw new DOMException3("Duplicate transferable", DATA_CLONE_ERROR);
          }
          if (type === "ArrayBuffer") {
            setAdd(buffers, value);
            continue;
          }
          if (PROPER_STRUCTURED_CLONE_TRANSFER) {
            transferred = nativeStructuredClone(value, { transfer: [value] });
          } else switch (type) {
            case "ImageBitmap":
              C = globalThis2.OffscreenCanvas;
              if (!isConstructor(C)) throwUnpolyfillable(type, TRANSFERRING);
              try {
                canvas = new C(value.width, value.height);
                context = canvas.getContext("bitmaprenderer");
                context.transferFromImageBitmap(value);
                transferred = canvas.transferToImageBitmap();
              } catch (error) {
              }
              break;
            case "AudioData":
            case "VideoFrame":
              if (!isCallable(value.clone) || !isCallable(value.close)) throwUnpolyfillable(type, TRANSFERRING);
              try {
                transferred = value.clone();
                value.close();
              } catch (error) {
              }
              break;
            case "MediaSourceHandle":
            case "MessagePort":
            case "MIDIAccess":
            case "OffscreenCanvas":
            case "ReadableStream":
            case "RTCDataChannel":
            case "TransformStream":
            case "WebTransportReceiveStream":
            case "WebTransportSendStream":
            case "WritableStream":
              throwUnpolyfillable(type, TRANSFERRING);
          }
          if (transferred === void 0) throw new DOMException3("This object cannot be transferred: " + type, DATA_CLONE_ERROR);
          mapSet(map, value, transferred);
        }
        return buffers;
      }, "tryToTransfer");
      var detachBuffers = /* @__PURE__ */ __name(function(buffers) {
        setIterate(buffers, function(buffer) {
          if (PROPER_STRUCTURED_CLONE_TRANSFER) {
            nativeStructuredClone(buffer, { transfer: [buffer] });
          } else if (isCallable(buffer.transfer)) {
            buffer.transfer();
          } else if (detachTransferable) {
            detachTransferable(buffer);
          } else {
            throwUnpolyfillable("ArrayBuffer", TRANSFERRING);
          }
        });
      }, "detachBuffers");
      $2({ global: true, enumerable: true, sham: !PROPER_STRUCTURED_CLONE_TRANSFER, forced: FORCED_REPLACEMENT }, {
        structuredClone: /* @__PURE__ */ __name(function structuredClone2(value) {
          var options = validateArgumentsLength(arguments.length, 1) > 1 && !isNullOrUndefined(arguments[1]) ? anObject(arguments[1]) : void 0;
          var transfer = options ? options.transfer : void 0;
          var map, buffers;
          if (transfer !== void 0) {
            map = new Map3();
            buffers = tryToTransfer(transfer, map);
          }
          var clone = structuredCloneInternal(value, map);
          if (buffers) detachBuffers(buffers);
          return clone;
        }, "structuredClone")
      });
    }
  });

  // src/intrinsics.js
  var { bind, call } = Function.prototype;
  var uncurryThis = bind.bind(call);
  function getter(prototype, name) {
    return uncurryThis(Object.getOwnPropertyDescriptor(prototype, name).get);
  }
  __name(getter, "getter");
  function optionalGetter(prototype, name) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
    return descriptor === void 0 ? () => void 0 : uncurryThis(descriptor.get);
  }
  __name(optionalGetter, "optionalGetter");
  var { Error: Error2, Map: Map2, Number: Number2, Promise: Promise2, RangeError: RangeError2, Set: Set2, String: String2, TypeError: TypeError2, Uint8Array: Uint8Array2 } = globalThis;
  var {
    create: ObjectCreate,
    defineProperty: ObjectDefineProperty,
    freeze: ObjectFreeze,
    getOwnPropertyDescriptor: ObjectGetOwnPropertyDescriptor,
    getPrototypeOf: ObjectGetPrototypeOf,
    is: ObjectIs,
    keys: ObjectKeys,
    setPrototypeOf: ObjectSetPrototypeOf
  } = Object;
  var ObjectPrototype = Object.prototype;
  var ObjectPrototypeHasOwnProperty = uncurryThis(Object.prototype.hasOwnProperty);
  var { apply: ReflectApply, deleteProperty: ReflectDeleteProperty, ownKeys: ReflectOwnKeys } = Reflect;
  var ErrorPrototype = Error2.prototype;
  var FunctionPrototypeToString = uncurryThis(Function.prototype.toString);
  var ArrayIsArray = Array.isArray;
  var ArrayPrototypePush = uncurryThis(Array.prototype.push);
  var ArrayPrototypePop = uncurryThis(Array.prototype.pop);
  var ArrayPrototypeShift = uncurryThis(Array.prototype.shift);
  var ArrayPrototypeSort = uncurryThis(Array.prototype.sort);
  var StringPrototypeCharCodeAt = uncurryThis(String2.prototype.charCodeAt);
  var StringPrototypeIncludes = uncurryThis(String2.prototype.includes);
  var StringPrototypeIndexOf = uncurryThis(String2.prototype.indexOf);
  var StringPrototypePadStart = uncurryThis(String2.prototype.padStart);
  var StringPrototypeRepeat = uncurryThis(String2.prototype.repeat);
  var StringPrototypeSlice = uncurryThis(String2.prototype.slice);
  var StringPrototypeStartsWith = uncurryThis(String2.prototype.startsWith);
  var StringPrototypeIsWellFormed = uncurryThis(String2.prototype.isWellFormed);
  var StringPrototypeToLowerCase = uncurryThis(String2.prototype.toLowerCase);
  var StringPrototypeToUpperCase = uncurryThis(String2.prototype.toUpperCase);
  var StringPrototypeToWellFormed = uncurryThis(String2.prototype.toWellFormed);
  var StringPrototypeTrimEnd = uncurryThis(String2.prototype.trimEnd);
  var NumberPrototypeToFixed = uncurryThis(Number2.prototype.toFixed);
  var NumberPrototypeToString = uncurryThis(Number2.prototype.toString);
  var NumberPrototypeValueOf = uncurryThis(Number2.prototype.valueOf);
  var StringPrototypeValueOf = uncurryThis(String2.prototype.valueOf);
  var BooleanPrototypeValueOf = uncurryThis(Boolean.prototype.valueOf);
  var BigIntPrototypeValueOf = uncurryThis(BigInt.prototype.valueOf);
  var SymbolPrototypeValueOf = uncurryThis(Symbol.prototype.valueOf);
  var SymbolPrototypeToString = uncurryThis(Symbol.prototype.toString);
  var NumberParseFloat = Number2.parseFloat;
  var NumberParseInt = Number2.parseInt;
  var DateNow = Date.now;
  var DatePrototypeGetTime = uncurryThis(Date.prototype.getTime);
  var DatePrototypeToISOString = uncurryThis(Date.prototype.toISOString);
  var RegExpPrototypeExec = uncurryThis(RegExp.prototype.exec);
  var RegExpPrototypeToString = uncurryThis(RegExp.prototype.toString);
  var RegExpPrototypeGetSource = getter(RegExp.prototype, "source");
  var MapPrototypeDelete = uncurryThis(Map2.prototype.delete);
  var MapPrototypeEntries = uncurryThis(Map2.prototype.entries);
  var MapPrototypeGet = uncurryThis(Map2.prototype.get);
  var MapPrototypeSet = uncurryThis(Map2.prototype.set);
  var MapPrototypeGetSize = getter(Map2.prototype, "size");
  var SetPrototypeAdd = uncurryThis(Set2.prototype.add);
  var SetPrototypeDelete = uncurryThis(Set2.prototype.delete);
  var SetPrototypeValues = uncurryThis(Set2.prototype.values);
  var SetPrototypeGetSize = getter(Set2.prototype, "size");
  var MapIteratorPrototypeNext = uncurryThis(new Map2().entries().next);
  var SetIteratorPrototypeNext = uncurryThis(new Set2().values().next);
  var { parse: JSONParse, stringify: JSONStringify } = JSON;
  var { asyncIterator: SymbolAsyncIterator, iterator: SymbolIterator, toStringTag: SymbolToStringTag } = Symbol;
  var IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  var AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {
  }.prototype));
  var ArrayBufferIsView = ArrayBuffer.isView;
  var ArrayBufferPrototypeGetByteLength = getter(ArrayBuffer.prototype, "byteLength");
  var ArrayBufferPrototypeGetResizable = optionalGetter(ArrayBuffer.prototype, "resizable");
  var SharedArrayBufferPrototypeGetByteLength = typeof SharedArrayBuffer === "function" ? getter(SharedArrayBuffer.prototype, "byteLength") : void 0;
  var TypedArrayPrototype = Object.getPrototypeOf(Uint8Array2.prototype);
  var TypedArrayPrototypeGetBuffer = getter(TypedArrayPrototype, "buffer");
  var TypedArrayPrototypeGetByteLength = getter(TypedArrayPrototype, "byteLength");
  var TypedArrayPrototypeGetByteOffset = getter(TypedArrayPrototype, "byteOffset");
  var TypedArrayPrototypeGetLength = getter(TypedArrayPrototype, "length");
  var TypedArrayPrototypeGetToStringTag = getter(TypedArrayPrototype, Symbol.toStringTag);
  var TypedArrayPrototypeSet = uncurryThis(TypedArrayPrototype.set);
  var Uint8ArrayFromBase64 = Uint8Array2.fromBase64;
  var Uint8ArrayFromHex = Uint8Array2.fromHex;
  var Uint8ArrayPrototypeToBase64 = Uint8Array2.prototype.toBase64 && uncurryThis(Uint8Array2.prototype.toBase64);
  var Uint8ArrayPrototypeToHex = Uint8Array2.prototype.toHex && uncurryThis(Uint8Array2.prototype.toHex);
  var DataViewPrototypeGetBuffer = getter(DataView.prototype, "buffer");
  var DataViewPrototypeGetByteLength = getter(DataView.prototype, "byteLength");
  var DataViewPrototypeGetByteOffset = getter(DataView.prototype, "byteOffset");
  var ResolvedPromise = Promise2.resolve();
  var PromiseResolve = uncurryThis(Promise2.resolve);
  var PromisePrototypeThen = uncurryThis(Promise2.prototype.then);
  function afterThisTask(callback) {
    PromisePrototypeThen(ResolvedPromise, callback);
  }
  __name(afterThisTask, "afterThisTask");

  // src/native.js
  var native = globalThis.__toolcell_native;
  if (native === void 0) throw new TypeError2("the prelude needs __toolcell_native");
  ReflectDeleteProperty(globalThis, "__toolcell_native");
  var { absolute: nativeUrlAbsolute, parse: nativeUrlParse, set: nativeUrlSet } = native.url;
  var { parse: nativeFormParse, serialize: nativeFormSerialize } = native.form;
  var { encode: nativeUtf8Encode, decode: nativeUtf8Decode } = native.utf8;
  var { log: nativeLog } = native;

  // node_modules/event-target-shim/index.mjs
  function assertType(condition, message, ...args) {
    if (!condition) {
      throw new TypeError(format(message, args));
    }
  }
  __name(assertType, "assertType");
  function format(message, args) {
    let i = 0;
    return message.replace(/%[os]/gu, () => anyToString(args[i++]));
  }
  __name(format, "format");
  function anyToString(x) {
    if (typeof x !== "object" || x === null) {
      return String(x);
    }
    return Object.prototype.toString.call(x);
  }
  __name(anyToString, "anyToString");
  var currentErrorHandler;
  function setErrorHandler(value) {
    assertType(typeof value === "function" || value === void 0, "The error handler must be a function or undefined, but got %o.", value);
    currentErrorHandler = value;
  }
  __name(setErrorHandler, "setErrorHandler");
  function reportError(maybeError) {
    try {
      const error = maybeError instanceof Error ? maybeError : new Error(anyToString(maybeError));
      if (currentErrorHandler) {
        currentErrorHandler(error);
        return;
      }
      if (typeof dispatchEvent === "function" && typeof ErrorEvent === "function") {
        dispatchEvent(new ErrorEvent("error", { error, message: error.message }));
      } else if (typeof process !== "undefined" && typeof process.emit === "function") {
        process.emit("uncaughtException", error);
        return;
      }
      console.error(error);
    } catch (_a) {
    }
  }
  __name(reportError, "reportError");
  var Global = typeof window !== "undefined" ? window : typeof self !== "undefined" ? self : typeof global !== "undefined" ? global : typeof globalThis !== "undefined" ? globalThis : void 0;
  var currentWarnHandler;
  function setWarningHandler(value) {
    assertType(typeof value === "function" || value === void 0, "The warning handler must be a function or undefined, but got %o.", value);
    currentWarnHandler = value;
  }
  __name(setWarningHandler, "setWarningHandler");
  var Warning = class {
    static {
      __name(this, "Warning");
    }
    constructor(code, message) {
      this.code = code;
      this.message = message;
    }
    /**
     * Report this warning.
     * @param args The arguments of the warning.
     */
    warn(...args) {
      var _a;
      try {
        if (currentWarnHandler) {
          currentWarnHandler({ ...this, args });
          return;
        }
        const stack = ((_a = new Error().stack) !== null && _a !== void 0 ? _a : "").replace(/^(?:.+?\n){2}/gu, "\n");
        console.warn(this.message, ...args, stack);
      } catch (_b) {
      }
    }
  };
  var InitEventWasCalledWhileDispatching = new Warning("W01", "Unable to initialize event under dispatching.");
  var FalsyWasAssignedToCancelBubble = new Warning("W02", "Assigning any falsy value to 'cancelBubble' property has no effect.");
  var TruthyWasAssignedToReturnValue = new Warning("W03", "Assigning any truthy value to 'returnValue' property has no effect.");
  var NonCancelableEventWasCanceled = new Warning("W04", "Unable to preventDefault on non-cancelable events.");
  var CanceledInPassiveListener = new Warning("W05", "Unable to preventDefault inside passive event listener invocation.");
  var EventListenerWasDuplicated = new Warning("W06", "An event listener wasn't added because it has been added already: %o, %o");
  var OptionWasIgnored = new Warning("W07", "The %o option value was abandoned because the event listener wasn't added as duplicated.");
  var InvalidEventListener = new Warning("W08", "The 'callback' argument must be a function or an object that has 'handleEvent' method: %o");
  var InvalidAttributeHandler = new Warning("W09", "Event attribute handler must be a function: %o");
  var Event = class {
    static {
      __name(this, "Event");
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-none
     */
    static get NONE() {
      return NONE;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-capturing_phase
     */
    static get CAPTURING_PHASE() {
      return CAPTURING_PHASE;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-at_target
     */
    static get AT_TARGET() {
      return AT_TARGET;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-bubbling_phase
     */
    static get BUBBLING_PHASE() {
      return BUBBLING_PHASE;
    }
    /**
     * Initialize this event instance.
     * @param type The type of this event.
     * @param eventInitDict Options to initialize.
     * @see https://dom.spec.whatwg.org/#dom-event-event
     */
    constructor(type, eventInitDict) {
      Object.defineProperty(this, "isTrusted", {
        value: false,
        enumerable: true
      });
      const opts = eventInitDict !== null && eventInitDict !== void 0 ? eventInitDict : {};
      internalDataMap.set(this, {
        type: String(type),
        bubbles: Boolean(opts.bubbles),
        cancelable: Boolean(opts.cancelable),
        composed: Boolean(opts.composed),
        target: null,
        currentTarget: null,
        stopPropagationFlag: false,
        stopImmediatePropagationFlag: false,
        canceledFlag: false,
        inPassiveListenerFlag: false,
        dispatchFlag: false,
        timeStamp: Date.now()
      });
    }
    /**
     * The type of this event.
     * @see https://dom.spec.whatwg.org/#dom-event-type
     */
    get type() {
      return $(this).type;
    }
    /**
     * The event target of the current dispatching.
     * @see https://dom.spec.whatwg.org/#dom-event-target
     */
    get target() {
      return $(this).target;
    }
    /**
     * The event target of the current dispatching.
     * @deprecated Use the `target` property instead.
     * @see https://dom.spec.whatwg.org/#dom-event-srcelement
     */
    get srcElement() {
      return $(this).target;
    }
    /**
     * The event target of the current dispatching.
     * @see https://dom.spec.whatwg.org/#dom-event-currenttarget
     */
    get currentTarget() {
      return $(this).currentTarget;
    }
    /**
     * The event target of the current dispatching.
     * This doesn't support node tree.
     * @see https://dom.spec.whatwg.org/#dom-event-composedpath
     */
    composedPath() {
      const currentTarget = $(this).currentTarget;
      if (currentTarget) {
        return [currentTarget];
      }
      return [];
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-none
     */
    get NONE() {
      return NONE;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-capturing_phase
     */
    get CAPTURING_PHASE() {
      return CAPTURING_PHASE;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-at_target
     */
    get AT_TARGET() {
      return AT_TARGET;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-bubbling_phase
     */
    get BUBBLING_PHASE() {
      return BUBBLING_PHASE;
    }
    /**
     * The current event phase.
     * @see https://dom.spec.whatwg.org/#dom-event-eventphase
     */
    get eventPhase() {
      return $(this).dispatchFlag ? 2 : 0;
    }
    /**
     * Stop event bubbling.
     * Because this shim doesn't support node tree, this merely changes the `cancelBubble` property value.
     * @see https://dom.spec.whatwg.org/#dom-event-stoppropagation
     */
    stopPropagation() {
      $(this).stopPropagationFlag = true;
    }
    /**
     * `true` if event bubbling was stopped.
     * @deprecated
     * @see https://dom.spec.whatwg.org/#dom-event-cancelbubble
     */
    get cancelBubble() {
      return $(this).stopPropagationFlag;
    }
    /**
     * Stop event bubbling if `true` is set.
     * @deprecated Use the `stopPropagation()` method instead.
     * @see https://dom.spec.whatwg.org/#dom-event-cancelbubble
     */
    set cancelBubble(value) {
      if (value) {
        $(this).stopPropagationFlag = true;
      } else {
        FalsyWasAssignedToCancelBubble.warn();
      }
    }
    /**
     * Stop event bubbling and subsequent event listener callings.
     * @see https://dom.spec.whatwg.org/#dom-event-stopimmediatepropagation
     */
    stopImmediatePropagation() {
      const data = $(this);
      data.stopPropagationFlag = data.stopImmediatePropagationFlag = true;
    }
    /**
     * `true` if this event will bubble.
     * @see https://dom.spec.whatwg.org/#dom-event-bubbles
     */
    get bubbles() {
      return $(this).bubbles;
    }
    /**
     * `true` if this event can be canceled by the `preventDefault()` method.
     * @see https://dom.spec.whatwg.org/#dom-event-cancelable
     */
    get cancelable() {
      return $(this).cancelable;
    }
    /**
     * `true` if the default behavior will act.
     * @deprecated Use the `defaultPrevented` proeprty instead.
     * @see https://dom.spec.whatwg.org/#dom-event-returnvalue
     */
    get returnValue() {
      return !$(this).canceledFlag;
    }
    /**
     * Cancel the default behavior if `false` is set.
     * @deprecated Use the `preventDefault()` method instead.
     * @see https://dom.spec.whatwg.org/#dom-event-returnvalue
     */
    set returnValue(value) {
      if (!value) {
        setCancelFlag($(this));
      } else {
        TruthyWasAssignedToReturnValue.warn();
      }
    }
    /**
     * Cancel the default behavior.
     * @see https://dom.spec.whatwg.org/#dom-event-preventdefault
     */
    preventDefault() {
      setCancelFlag($(this));
    }
    /**
     * `true` if the default behavior was canceled.
     * @see https://dom.spec.whatwg.org/#dom-event-defaultprevented
     */
    get defaultPrevented() {
      return $(this).canceledFlag;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-composed
     */
    get composed() {
      return $(this).composed;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-istrusted
     */
    //istanbul ignore next
    get isTrusted() {
      return false;
    }
    /**
     * @see https://dom.spec.whatwg.org/#dom-event-timestamp
     */
    get timeStamp() {
      return $(this).timeStamp;
    }
    /**
     * @deprecated Don't use this method. The constructor did initialization.
     */
    initEvent(type, bubbles = false, cancelable = false) {
      const data = $(this);
      if (data.dispatchFlag) {
        InitEventWasCalledWhileDispatching.warn();
        return;
      }
      internalDataMap.set(this, {
        ...data,
        type: String(type),
        bubbles: Boolean(bubbles),
        cancelable: Boolean(cancelable),
        target: null,
        currentTarget: null,
        stopPropagationFlag: false,
        stopImmediatePropagationFlag: false,
        canceledFlag: false
      });
    }
  };
  var NONE = 0;
  var CAPTURING_PHASE = 1;
  var AT_TARGET = 2;
  var BUBBLING_PHASE = 3;
  var internalDataMap = /* @__PURE__ */ new WeakMap();
  function $(event, name = "this") {
    const retv = internalDataMap.get(event);
    assertType(retv != null, "'%s' must be an object that Event constructor created, but got another one: %o", name, event);
    return retv;
  }
  __name($, "$");
  function setCancelFlag(data) {
    if (data.inPassiveListenerFlag) {
      CanceledInPassiveListener.warn();
      return;
    }
    if (!data.cancelable) {
      NonCancelableEventWasCanceled.warn();
      return;
    }
    data.canceledFlag = true;
  }
  __name(setCancelFlag, "setCancelFlag");
  Object.defineProperty(Event, "NONE", { enumerable: true });
  Object.defineProperty(Event, "CAPTURING_PHASE", { enumerable: true });
  Object.defineProperty(Event, "AT_TARGET", { enumerable: true });
  Object.defineProperty(Event, "BUBBLING_PHASE", { enumerable: true });
  var keys = Object.getOwnPropertyNames(Event.prototype);
  for (let i = 0; i < keys.length; ++i) {
    if (keys[i] === "constructor") {
      continue;
    }
    Object.defineProperty(Event.prototype, keys[i], { enumerable: true });
  }
  if (typeof Global !== "undefined" && typeof Global.Event !== "undefined") {
    Object.setPrototypeOf(Event.prototype, Global.Event.prototype);
  }
  function createInvalidStateError(message) {
    if (Global.DOMException) {
      return new Global.DOMException(message, "InvalidStateError");
    }
    if (DOMException == null) {
      DOMException = class DOMException3 extends Error {
        static {
          __name(this, "DOMException");
        }
        constructor(msg) {
          super(msg);
          if (Error.captureStackTrace) {
            Error.captureStackTrace(this, DOMException3);
          }
        }
        // eslint-disable-next-line class-methods-use-this
        get code() {
          return 11;
        }
        // eslint-disable-next-line class-methods-use-this
        get name() {
          return "InvalidStateError";
        }
      };
      Object.defineProperties(DOMException.prototype, {
        code: { enumerable: true },
        name: { enumerable: true }
      });
      defineErrorCodeProperties(DOMException);
      defineErrorCodeProperties(DOMException.prototype);
    }
    return new DOMException(message);
  }
  __name(createInvalidStateError, "createInvalidStateError");
  var DOMException;
  var ErrorCodeMap = {
    INDEX_SIZE_ERR: 1,
    DOMSTRING_SIZE_ERR: 2,
    HIERARCHY_REQUEST_ERR: 3,
    WRONG_DOCUMENT_ERR: 4,
    INVALID_CHARACTER_ERR: 5,
    NO_DATA_ALLOWED_ERR: 6,
    NO_MODIFICATION_ALLOWED_ERR: 7,
    NOT_FOUND_ERR: 8,
    NOT_SUPPORTED_ERR: 9,
    INUSE_ATTRIBUTE_ERR: 10,
    INVALID_STATE_ERR: 11,
    SYNTAX_ERR: 12,
    INVALID_MODIFICATION_ERR: 13,
    NAMESPACE_ERR: 14,
    INVALID_ACCESS_ERR: 15,
    VALIDATION_ERR: 16,
    TYPE_MISMATCH_ERR: 17,
    SECURITY_ERR: 18,
    NETWORK_ERR: 19,
    ABORT_ERR: 20,
    URL_MISMATCH_ERR: 21,
    QUOTA_EXCEEDED_ERR: 22,
    TIMEOUT_ERR: 23,
    INVALID_NODE_TYPE_ERR: 24,
    DATA_CLONE_ERR: 25
  };
  function defineErrorCodeProperties(obj) {
    const keys3 = Object.keys(ErrorCodeMap);
    for (let i = 0; i < keys3.length; ++i) {
      const key = keys3[i];
      const value = ErrorCodeMap[key];
      Object.defineProperty(obj, key, {
        get() {
          return value;
        },
        configurable: true,
        enumerable: true
      });
    }
  }
  __name(defineErrorCodeProperties, "defineErrorCodeProperties");
  var EventWrapper = class extends Event {
    static {
      __name(this, "EventWrapper");
    }
    /**
     * Wrap a given event object to control states.
     * @param event The event-like object to wrap.
     */
    static wrap(event) {
      return new (getWrapperClassOf(event))(event);
    }
    constructor(event) {
      super(event.type, {
        bubbles: event.bubbles,
        cancelable: event.cancelable,
        composed: event.composed
      });
      if (event.cancelBubble) {
        super.stopPropagation();
      }
      if (event.defaultPrevented) {
        super.preventDefault();
      }
      internalDataMap$1.set(this, { original: event });
      const keys3 = Object.keys(event);
      for (let i = 0; i < keys3.length; ++i) {
        const key = keys3[i];
        if (!(key in this)) {
          Object.defineProperty(this, key, defineRedirectDescriptor(event, key));
        }
      }
    }
    stopPropagation() {
      super.stopPropagation();
      const { original } = $$1(this);
      if ("stopPropagation" in original) {
        original.stopPropagation();
      }
    }
    get cancelBubble() {
      return super.cancelBubble;
    }
    set cancelBubble(value) {
      super.cancelBubble = value;
      const { original } = $$1(this);
      if ("cancelBubble" in original) {
        original.cancelBubble = value;
      }
    }
    stopImmediatePropagation() {
      super.stopImmediatePropagation();
      const { original } = $$1(this);
      if ("stopImmediatePropagation" in original) {
        original.stopImmediatePropagation();
      }
    }
    get returnValue() {
      return super.returnValue;
    }
    set returnValue(value) {
      super.returnValue = value;
      const { original } = $$1(this);
      if ("returnValue" in original) {
        original.returnValue = value;
      }
    }
    preventDefault() {
      super.preventDefault();
      const { original } = $$1(this);
      if ("preventDefault" in original) {
        original.preventDefault();
      }
    }
    get timeStamp() {
      const { original } = $$1(this);
      if ("timeStamp" in original) {
        return original.timeStamp;
      }
      return super.timeStamp;
    }
  };
  var internalDataMap$1 = /* @__PURE__ */ new WeakMap();
  function $$1(event) {
    const retv = internalDataMap$1.get(event);
    assertType(retv != null, "'this' is expected an Event object, but got", event);
    return retv;
  }
  __name($$1, "$$1");
  var wrapperClassCache = /* @__PURE__ */ new WeakMap();
  wrapperClassCache.set(Object.prototype, EventWrapper);
  if (typeof Global !== "undefined" && typeof Global.Event !== "undefined") {
    wrapperClassCache.set(Global.Event.prototype, EventWrapper);
  }
  function getWrapperClassOf(originalEvent) {
    const prototype = Object.getPrototypeOf(originalEvent);
    if (prototype == null) {
      return EventWrapper;
    }
    let wrapper = wrapperClassCache.get(prototype);
    if (wrapper == null) {
      wrapper = defineWrapper(getWrapperClassOf(prototype), prototype);
      wrapperClassCache.set(prototype, wrapper);
    }
    return wrapper;
  }
  __name(getWrapperClassOf, "getWrapperClassOf");
  function defineWrapper(BaseEventWrapper, originalPrototype) {
    class CustomEventWrapper extends BaseEventWrapper {
      static {
        __name(this, "CustomEventWrapper");
      }
    }
    const keys3 = Object.keys(originalPrototype);
    for (let i = 0; i < keys3.length; ++i) {
      Object.defineProperty(CustomEventWrapper.prototype, keys3[i], defineRedirectDescriptor(originalPrototype, keys3[i]));
    }
    return CustomEventWrapper;
  }
  __name(defineWrapper, "defineWrapper");
  function defineRedirectDescriptor(obj, key) {
    const d = Object.getOwnPropertyDescriptor(obj, key);
    return {
      get() {
        const original = $$1(this).original;
        const value = original[key];
        if (typeof value === "function") {
          return value.bind(original);
        }
        return value;
      },
      set(value) {
        const original = $$1(this).original;
        original[key] = value;
      },
      configurable: d.configurable,
      enumerable: d.enumerable
    };
  }
  __name(defineRedirectDescriptor, "defineRedirectDescriptor");
  function createListener(callback, capture, passive, once, signal, signalListener) {
    return {
      callback,
      flags: (capture ? 1 : 0) | (passive ? 2 : 0) | (once ? 4 : 0),
      signal,
      signalListener
    };
  }
  __name(createListener, "createListener");
  function setRemoved(listener) {
    listener.flags |= 8;
  }
  __name(setRemoved, "setRemoved");
  function isCapture(listener) {
    return (listener.flags & 1) === 1;
  }
  __name(isCapture, "isCapture");
  function isPassive(listener) {
    return (listener.flags & 2) === 2;
  }
  __name(isPassive, "isPassive");
  function isOnce(listener) {
    return (listener.flags & 4) === 4;
  }
  __name(isOnce, "isOnce");
  function isRemoved(listener) {
    return (listener.flags & 8) === 8;
  }
  __name(isRemoved, "isRemoved");
  function invokeCallback({ callback }, target, event) {
    try {
      if (typeof callback === "function") {
        callback.call(target, event);
      } else if (typeof callback.handleEvent === "function") {
        callback.handleEvent(event);
      }
    } catch (thrownError) {
      reportError(thrownError);
    }
  }
  __name(invokeCallback, "invokeCallback");
  function findIndexOfListener({ listeners }, callback, capture) {
    for (let i = 0; i < listeners.length; ++i) {
      if (listeners[i].callback === callback && isCapture(listeners[i]) === capture) {
        return i;
      }
    }
    return -1;
  }
  __name(findIndexOfListener, "findIndexOfListener");
  function addListener(list, callback, capture, passive, once, signal) {
    let signalListener;
    if (signal) {
      signalListener = removeListener.bind(null, list, callback, capture);
      signal.addEventListener("abort", signalListener);
    }
    const listener = createListener(callback, capture, passive, once, signal, signalListener);
    if (list.cow) {
      list.cow = false;
      list.listeners = [...list.listeners, listener];
    } else {
      list.listeners.push(listener);
    }
    return listener;
  }
  __name(addListener, "addListener");
  function removeListener(list, callback, capture) {
    const index = findIndexOfListener(list, callback, capture);
    if (index !== -1) {
      return removeListenerAt(list, index);
    }
    return false;
  }
  __name(removeListener, "removeListener");
  function removeListenerAt(list, index, disableCow = false) {
    const listener = list.listeners[index];
    setRemoved(listener);
    if (listener.signal) {
      listener.signal.removeEventListener("abort", listener.signalListener);
    }
    if (list.cow && !disableCow) {
      list.cow = false;
      list.listeners = list.listeners.filter((_, i) => i !== index);
      return false;
    }
    list.listeners.splice(index, 1);
    return true;
  }
  __name(removeListenerAt, "removeListenerAt");
  function createListenerListMap() {
    return /* @__PURE__ */ Object.create(null);
  }
  __name(createListenerListMap, "createListenerListMap");
  function ensureListenerList(listenerMap, type) {
    var _a;
    return (_a = listenerMap[type]) !== null && _a !== void 0 ? _a : listenerMap[type] = {
      attrCallback: void 0,
      attrListener: void 0,
      cow: false,
      listeners: []
    };
  }
  __name(ensureListenerList, "ensureListenerList");
  var EventTarget = class {
    static {
      __name(this, "EventTarget");
    }
    /**
     * Initialize this instance.
     */
    constructor() {
      internalDataMap$2.set(this, createListenerListMap());
    }
    // Implementation
    addEventListener(type0, callback0, options0) {
      const listenerMap = $$2(this);
      const { callback, capture, once, passive, signal, type } = normalizeAddOptions(type0, callback0, options0);
      if (callback == null || (signal === null || signal === void 0 ? void 0 : signal.aborted)) {
        return;
      }
      const list = ensureListenerList(listenerMap, type);
      const i = findIndexOfListener(list, callback, capture);
      if (i !== -1) {
        warnDuplicate(list.listeners[i], passive, once, signal);
        return;
      }
      addListener(list, callback, capture, passive, once, signal);
    }
    // Implementation
    removeEventListener(type0, callback0, options0) {
      const listenerMap = $$2(this);
      const { callback, capture, type } = normalizeOptions(type0, callback0, options0);
      const list = listenerMap[type];
      if (callback != null && list) {
        removeListener(list, callback, capture);
      }
    }
    // Implementation
    dispatchEvent(e) {
      const list = $$2(this)[String(e.type)];
      if (list == null) {
        return true;
      }
      const event = e instanceof Event ? e : EventWrapper.wrap(e);
      const eventData = $(event, "event");
      if (eventData.dispatchFlag) {
        throw createInvalidStateError("This event has been in dispatching.");
      }
      eventData.dispatchFlag = true;
      eventData.target = eventData.currentTarget = this;
      if (!eventData.stopPropagationFlag) {
        const { cow, listeners } = list;
        list.cow = true;
        for (let i = 0; i < listeners.length; ++i) {
          const listener = listeners[i];
          if (isRemoved(listener)) {
            continue;
          }
          if (isOnce(listener) && removeListenerAt(list, i, !cow)) {
            i -= 1;
          }
          eventData.inPassiveListenerFlag = isPassive(listener);
          invokeCallback(listener, this, event);
          eventData.inPassiveListenerFlag = false;
          if (eventData.stopImmediatePropagationFlag) {
            break;
          }
        }
        if (!cow) {
          list.cow = false;
        }
      }
      eventData.target = null;
      eventData.currentTarget = null;
      eventData.stopImmediatePropagationFlag = false;
      eventData.stopPropagationFlag = false;
      eventData.dispatchFlag = false;
      return !eventData.canceledFlag;
    }
  };
  var internalDataMap$2 = /* @__PURE__ */ new WeakMap();
  function $$2(target, name = "this") {
    const retv = internalDataMap$2.get(target);
    assertType(retv != null, "'%s' must be an object that EventTarget constructor created, but got another one: %o", name, target);
    return retv;
  }
  __name($$2, "$$2");
  function normalizeAddOptions(type, callback, options) {
    var _a;
    assertCallback(callback);
    if (typeof options === "object" && options !== null) {
      return {
        type: String(type),
        callback: callback !== null && callback !== void 0 ? callback : void 0,
        capture: Boolean(options.capture),
        passive: Boolean(options.passive),
        once: Boolean(options.once),
        signal: (_a = options.signal) !== null && _a !== void 0 ? _a : void 0
      };
    }
    return {
      type: String(type),
      callback: callback !== null && callback !== void 0 ? callback : void 0,
      capture: Boolean(options),
      passive: false,
      once: false,
      signal: void 0
    };
  }
  __name(normalizeAddOptions, "normalizeAddOptions");
  function normalizeOptions(type, callback, options) {
    assertCallback(callback);
    if (typeof options === "object" && options !== null) {
      return {
        type: String(type),
        callback: callback !== null && callback !== void 0 ? callback : void 0,
        capture: Boolean(options.capture)
      };
    }
    return {
      type: String(type),
      callback: callback !== null && callback !== void 0 ? callback : void 0,
      capture: Boolean(options)
    };
  }
  __name(normalizeOptions, "normalizeOptions");
  function assertCallback(callback) {
    if (typeof callback === "function" || typeof callback === "object" && callback !== null && typeof callback.handleEvent === "function") {
      return;
    }
    if (callback == null || typeof callback === "object") {
      InvalidEventListener.warn(callback);
      return;
    }
    throw new TypeError(format(InvalidEventListener.message, [callback]));
  }
  __name(assertCallback, "assertCallback");
  function warnDuplicate(listener, passive, once, signal) {
    EventListenerWasDuplicated.warn(isCapture(listener) ? "capture" : "bubble", listener.callback);
    if (isPassive(listener) !== passive) {
      OptionWasIgnored.warn("passive");
    }
    if (isOnce(listener) !== once) {
      OptionWasIgnored.warn("once");
    }
    if (listener.signal !== signal) {
      OptionWasIgnored.warn("signal");
    }
  }
  __name(warnDuplicate, "warnDuplicate");
  var keys$1 = Object.getOwnPropertyNames(EventTarget.prototype);
  for (let i = 0; i < keys$1.length; ++i) {
    if (keys$1[i] === "constructor") {
      continue;
    }
    Object.defineProperty(EventTarget.prototype, keys$1[i], { enumerable: true });
  }
  if (typeof Global !== "undefined" && typeof Global.EventTarget !== "undefined") {
    Object.setPrototypeOf(EventTarget.prototype, Global.EventTarget.prototype);
  }
  function getEventAttributeValue(target, type) {
    var _a, _b;
    const listMap = $$2(target, "target");
    return (_b = (_a = listMap[type]) === null || _a === void 0 ? void 0 : _a.attrCallback) !== null && _b !== void 0 ? _b : null;
  }
  __name(getEventAttributeValue, "getEventAttributeValue");
  function setEventAttributeValue(target, type, callback) {
    if (callback != null && typeof callback !== "function") {
      InvalidAttributeHandler.warn(callback);
    }
    if (typeof callback === "function" || typeof callback === "object" && callback !== null) {
      upsertEventAttributeListener(target, type, callback);
    } else {
      removeEventAttributeListener(target, type);
    }
  }
  __name(setEventAttributeValue, "setEventAttributeValue");
  function upsertEventAttributeListener(target, type, callback) {
    const list = ensureListenerList($$2(target, "target"), String(type));
    list.attrCallback = callback;
    if (list.attrListener == null) {
      list.attrListener = addListener(list, defineEventAttributeCallback(list), false, false, false, void 0);
    }
  }
  __name(upsertEventAttributeListener, "upsertEventAttributeListener");
  function removeEventAttributeListener(target, type) {
    const listMap = $$2(target, "target");
    const list = listMap[String(type)];
    if (list && list.attrListener) {
      removeListener(list, list.attrListener.callback, false);
      list.attrCallback = list.attrListener = void 0;
    }
  }
  __name(removeEventAttributeListener, "removeEventAttributeListener");
  function defineEventAttributeCallback(list) {
    return function(event) {
      const callback = list.attrCallback;
      if (typeof callback === "function") {
        callback.call(this, event);
      }
    };
  }
  __name(defineEventAttributeCallback, "defineEventAttributeCallback");

  // src/webidl.js
  var inspectCustom = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");
  function toText(value) {
    if (typeof value === "symbol") throw new TypeError2("Cannot convert a symbol to a string");
    return String2(value);
  }
  __name(toText, "toText");
  function toUSVString(value) {
    return StringPrototypeToWellFormed(toText(value));
  }
  __name(toUSVString, "toUSVString");
  function shapeClass(Class, name, members) {
    for (let i = 0; i < members.length; i++) {
      ObjectDefineProperty(Class.prototype, members[i], { __proto__: null, enumerable: true });
    }
    ObjectDefineProperty(Class.prototype, SymbolToStringTag, {
      __proto__: null,
      value: name,
      writable: false,
      enumerable: false,
      configurable: true
    });
  }
  __name(shapeClass, "shapeClass");
  function requireArguments(actual, needed, what) {
    if (actual < needed) {
      throw new TypeError2(what + " needs " + needed + " argument" + (needed === 1 ? "" : "s") + ", but got " + actual);
    }
  }
  __name(requireArguments, "requireArguments");
  function addErrorProperty(error, name, value) {
    ObjectDefineProperty(error, name, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true
    });
  }
  __name(addErrorProperty, "addErrorProperty");

  // src/inspect.js
  var maxElements = 100;
  var maxStringLength = 1e4;
  var maxBytes = 100;
  var maxPrototypes = 100;
  var maxNesting = 32;
  function inspect(value, depth, limit) {
    try {
      return show({ room: limit, depth, ancestors: [] }, value);
    } catch (error) {
      return uninspectable(error);
    }
  }
  __name(inspect, "inspect");
  function uninspectable(error) {
    let reason = "unknown reason";
    try {
      reason = isError(error) ? errorTitle(error) : "threw " + typeof error;
    } catch {
    }
    return "[uninspectable: " + cut(reason, 200) + "]";
  }
  __name(uninspectable, "uninspectable");
  function cut(text2, limit) {
    if (text2.length <= limit) return text2;
    const last = StringPrototypeCharCodeAt(text2, limit - 1);
    const end = last >= 55296 && last <= 56319 ? limit - 1 : limit;
    const more = text2.length - end;
    return StringPrototypeSlice(text2, 0, end) + "... " + more + " more character" + (more === 1 ? "" : "s");
  }
  __name(cut, "cut");
  function showNumber(value) {
    return ObjectIs(value, -0) ? "-0" : "" + value;
  }
  __name(showNumber, "showNumber");
  function show(state, value) {
    if (typeof value === "function" || typeof value === "object" && value !== null) return showObject(state, value);
    const text2 = showPrimitive(state, value);
    state.room -= text2.length;
    return text2;
  }
  __name(show, "show");
  function showPrimitive(state, value) {
    switch (typeof value) {
      case "string":
        return showString(value, state.room);
      case "number":
        return showNumber(value);
      case "bigint":
        return value + "n";
      case "symbol":
        return SymbolPrototypeToString(value);
      default:
        return "" + value;
    }
  }
  __name(showPrimitive, "showPrimitive");
  function showObject(state, value) {
    for (let i = 0; i < state.ancestors.length; i++) {
      if (state.ancestors[i] === value) return "[Circular]";
    }
    if (state.ancestors.length >= maxNesting) return "[...]";
    ArrayPrototypePush(state.ancestors, value);
    const text2 = showCustom(state, value) ?? showPlainly(state, value);
    ArrayPrototypePop(state.ancestors);
    return text2;
  }
  __name(showObject, "showObject");
  function showPlainly(state, value) {
    const tooDeep = state.ancestors.length > state.depth + 1;
    if (typeof value === "function") return showFunction(state, value, tooDeep);
    return tooDeep ? "[" + (nameOf(value) ?? "Object: null prototype") + "]" : showByKind(state, value);
  }
  __name(showPlainly, "showPlainly");
  function showCustom(state, value) {
    const custom = value[inspectCustom];
    if (typeof custom !== "function") return void 0;
    const depth = state.depth - state.ancestors.length + 1;
    const options = { depth, stylize: /* @__PURE__ */ __name((text3) => text3, "stylize") };
    const result = ReflectApply(custom, value, [depth, options, (inner) => show(state, inner)]);
    if (result === value) return void 0;
    if (typeof result !== "string") return show(state, result);
    const text2 = cut(result, state.room > 0 ? state.room : 0);
    state.room -= text2.length;
    return text2;
  }
  __name(showCustom, "showCustom");
  function showByKind(state, value) {
    if (ArrayIsArray(value)) return showArray(state, value);
    const typedArray = TypedArrayPrototypeGetToStringTag(value);
    if (typedArray !== void 0) return showTypedArray(state, value, typedArray);
    const text2 = kindOf(value)?.(state, value);
    if (text2 !== void 0) return text2;
    const prefix = nameOf(value) === "Object" && tagOf(value) === "" ? "" : prefixOf(value, "Object", "");
    const properties = showProperties(state, value, noKeys);
    return prefix + (properties === "" ? "{}" : "{ " + properties + " }");
  }
  __name(showByKind, "showByKind");
  function kindOf(value) {
    let prototype = ObjectGetPrototypeOf(value);
    for (let i = 0; i < maxPrototypes && prototype !== null; i++) {
      const kind = MapPrototypeGet(kinds, prototype);
      if (kind !== void 0) return kind;
      prototype = ObjectGetPrototypeOf(prototype);
    }
    return void 0;
  }
  __name(kindOf, "kindOf");
  function attempt(method, value) {
    try {
      return method(value);
    } catch {
      return void 0;
    }
  }
  __name(attempt, "attempt");
  function nameOf(value) {
    let prototype = value;
    for (let i = 0; i < maxPrototypes && prototype !== null; i++) {
      const constructor = ObjectGetOwnPropertyDescriptor(prototype, "constructor")?.value;
      if (typeof constructor === "function" && prototype !== value) {
        const name = functionName(constructor);
        if (name !== "") return name;
      }
      prototype = ObjectGetPrototypeOf(prototype);
    }
    return void 0;
  }
  __name(nameOf, "nameOf");
  function functionName(value) {
    const name = ObjectGetOwnPropertyDescriptor(value, "name")?.value;
    return typeof name === "string" ? cut(name, 200) : "";
  }
  __name(functionName, "functionName");
  function prefixOf(value, fallback3, size) {
    const name = nameOf(value);
    const tag = tagOf(value);
    if (name === void 0) {
      return "[" + fallback3 + size + ": null prototype] " + (tag === "" || tag === fallback3 ? "" : "[" + tag + "] ");
    }
    return name + size + " " + (tag === "" || tag === name ? "" : "[" + tag + "] ");
  }
  __name(prefixOf, "prefixOf");
  function readTag(value) {
    return value[SymbolToStringTag];
  }
  __name(readTag, "readTag");
  function tagOf(value) {
    if (ObjectGetOwnPropertyDescriptor(value, SymbolToStringTag)?.enumerable) return "";
    const tag = attempt(readTag, value);
    return typeof tag === "string" ? cut(tag, 200) : "";
  }
  __name(tagOf, "tagOf");
  var plainKey = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
  var needsEscape = /[\x00-\x1f\\\x7f-\x9f\ud800-\udfff]/;
  function showString(value, room) {
    const limit = room > maxStringLength ? maxStringLength : room > 0 ? room : 0;
    let shown = value;
    let rest = "";
    if (value.length > limit) {
      shown = StringPrototypeSlice(value, 0, limit);
      const more = value.length - limit;
      rest = "... " + more + " more character" + (more === 1 ? "" : "s");
    }
    return quote(shown) + rest;
  }
  __name(showString, "showString");
  function quote(text2) {
    const mark = !StringPrototypeIncludes(text2, "'") ? "'" : !StringPrototypeIncludes(text2, '"') ? '"' : !StringPrototypeIncludes(text2, "`") && !StringPrototypeIncludes(text2, "${") ? "`" : "'";
    const escapesMark = mark === "'" && StringPrototypeIncludes(text2, "'");
    if (!escapesMark && RegExpPrototypeExec(needsEscape, text2) === null) return mark + text2 + mark;
    let out = mark;
    let copied = 0;
    for (let i = 0; i < text2.length; i++) {
      const escape = escapeOf(text2, i, escapesMark);
      if (escape === "") continue;
      out += StringPrototypeSlice(text2, copied, i) + escape;
      copied = i + 1;
    }
    return out + StringPrototypeSlice(text2, copied) + mark;
  }
  __name(quote, "quote");
  function escapeOf(text2, i, escapesMark) {
    const unit = StringPrototypeCharCodeAt(text2, i);
    if (unit === 39) return escapesMark ? "\\'" : "";
    if (unit === 92) return "\\\\";
    if (unit < 32) {
      if (unit === 8) return "\\b";
      if (unit === 9) return "\\t";
      if (unit === 10) return "\\n";
      if (unit === 12) return "\\f";
      if (unit === 13) return "\\r";
      return hexEscape(unit);
    }
    if (unit >= 127 && unit <= 159) return hexEscape(unit);
    if (unit >= 55296 && unit <= 57343) {
      const before = i > 0 ? StringPrototypeCharCodeAt(text2, i - 1) : 0;
      const after = i + 1 < text2.length ? StringPrototypeCharCodeAt(text2, i + 1) : 0;
      const paired = unit <= 56319 ? after >= 56320 && after <= 57343 : before >= 55296 && before <= 56319;
      return paired ? "" : "\\u" + NumberPrototypeToString(unit, 16);
    }
    return "";
  }
  __name(escapeOf, "escapeOf");
  var hexDigits = "0123456789ABCDEF";
  function hexEscape(unit) {
    return "\\x" + hexDigits[unit >> 4] + hexDigits[unit & 15];
  }
  __name(hexEscape, "hexEscape");
  function showList(state, count, max, showItem) {
    let text2 = "";
    let i = 0;
    while (i < count && i < max && state.room > 0) {
      if (i > 0) text2 += ", ";
      state.room -= 2;
      text2 += showItem(i);
      i++;
    }
    return i < count ? text2 + (i > 0 ? ", " : "") + moreItems(count - i) : text2;
  }
  __name(showList, "showList");
  function moreItems(count) {
    return "... " + count + " more item" + (count === 1 ? "" : "s");
  }
  __name(moreItems, "moreItems");
  var noKeys = /* @__PURE__ */ __name(() => false, "noKeys");
  function showProperties(state, value, isShown) {
    let text2 = "";
    const keys3 = ReflectOwnKeys(value);
    for (let i = 0; i < keys3.length; i++) {
      const key = keys3[i];
      state.room -= 1;
      if (isShown(key)) continue;
      const descriptor = ObjectGetOwnPropertyDescriptor(value, key);
      if (descriptor === void 0 || !descriptor.enumerable) continue;
      if (text2 !== "") text2 += ", ";
      if (state.room <= 0) return text2 + moreItems(keys3.length - i);
      const name = showKey(key);
      state.room -= name.length + 4;
      text2 += name + ": " + showPropertyValue(state, descriptor);
    }
    return text2;
  }
  __name(showProperties, "showProperties");
  function showKey(key) {
    if (typeof key === "symbol") return "[" + SymbolPrototypeToString(key) + "]";
    return RegExpPrototypeExec(plainKey, key) === null ? quote(cut(key, maxStringLength)) : cut(key, maxStringLength);
  }
  __name(showKey, "showKey");
  function showPropertyValue(state, descriptor) {
    if (ObjectPrototypeHasOwnProperty(descriptor, "value")) return show(state, descriptor.value);
    if (descriptor.set === void 0) return "[Getter]";
    return descriptor.get === void 0 ? "[Setter]" : "[Getter/Setter]";
  }
  __name(showPropertyValue, "showPropertyValue");
  function withProperties(state, value, text2, isShown) {
    state.room -= text2.length;
    const properties = showProperties(state, value, isShown);
    return properties === "" ? text2 : text2 + " { " + properties + " }";
  }
  __name(withProperties, "withProperties");
  function showFunction(state, value, tooDeep) {
    const source = FunctionPrototypeToString(value);
    const name = functionName(value);
    let base;
    if (StringPrototypeStartsWith(source, "class")) {
      const parent = ObjectGetPrototypeOf(value);
      const parentName = typeof parent === "function" ? functionName(parent) : "";
      base = "[class " + (name === "" ? "(anonymous)" : name) + (parentName === "" ? "" : " extends " + parentName) + "]";
    } else {
      const kind = nameOf(value) ?? "Function";
      base = "[" + kind + (name === "" ? " (anonymous)" : ": " + name) + "]";
    }
    return tooDeep ? base : withProperties(state, value, base, noKeys);
  }
  __name(showFunction, "showFunction");
  function showArray(state, value) {
    const length = value.length;
    const prefix = nameOf(value) === "Array" ? "" : prefixOf(value, "Array", "(" + length + ")");
    const parts = [];
    let i = 0;
    let shown = 0;
    while (i < length && i < 10 * maxElements && shown < maxElements && state.room > 0) {
      shown++;
      state.room -= 2;
      let holes = 0;
      while (i < length && i < 10 * maxElements && !ObjectPrototypeHasOwnProperty(value, i)) {
        holes++;
        i++;
      }
      if (holes > 0) {
        ArrayPrototypePush(parts, "<" + holes + " empty item" + (holes === 1 ? "" : "s") + ">");
      } else {
        ArrayPrototypePush(parts, showPropertyValue(state, ObjectGetOwnPropertyDescriptor(value, i)));
        i++;
      }
    }
    if (i < length) {
      ArrayPrototypePush(parts, moreItems(length - i));
    } else if (length <= 10 * maxElements) {
      const properties = showProperties(state, value, (key) => typeof key === "string" && isIndex(key, length));
      if (properties !== "") ArrayPrototypePush(parts, properties);
    }
    return parts.length === 0 ? prefix + "[]" : prefix + "[ " + join(parts) + " ]";
  }
  __name(showArray, "showArray");
  function isIndex(key, length) {
    const index = +key;
    return index >= 0 && index < length && "" + index === key;
  }
  __name(isIndex, "isIndex");
  function join(parts) {
    let text2 = "";
    for (let i = 0; i < parts.length; i++) text2 += i === 0 ? parts[i] : ", " + parts[i];
    return text2;
  }
  __name(join, "join");
  function showTypedArray(state, value, kind) {
    const length = TypedArrayPrototypeGetLength(value);
    const prefix = prefixOf(value, kind, "(" + length + ")");
    const text2 = showList(state, length, maxElements, (i) => show(state, value[i]));
    return length === 0 ? prefix + "[]" : prefix + "[ " + text2 + " ]";
  }
  __name(showTypedArray, "showTypedArray");
  function showMap(state, value) {
    const size = attempt(MapPrototypeGetSize, value);
    if (size === void 0) return void 0;
    const entries = MapPrototypeEntries(value);
    const items = showList(state, size, maxElements, () => {
      const entry = MapIteratorPrototypeNext(entries).value;
      return show(state, entry[0]) + " => " + show(state, entry[1]);
    });
    return showCollection(state, value, prefixOf(value, "Map", "(" + size + ")"), items);
  }
  __name(showMap, "showMap");
  function showSet(state, value) {
    const size = attempt(SetPrototypeGetSize, value);
    if (size === void 0) return void 0;
    const values = SetPrototypeValues(value);
    const items = showList(state, size, maxElements, () => show(state, SetIteratorPrototypeNext(values).value));
    return showCollection(state, value, prefixOf(value, "Set", "(" + size + ")"), items);
  }
  __name(showSet, "showSet");
  function showCollection(state, value, prefix, items) {
    const properties = showProperties(state, value, noKeys);
    const text2 = items === "" || properties === "" ? items + properties : items + ", " + properties;
    return text2 === "" ? prefix + "{}" : prefix + "{ " + text2 + " }";
  }
  __name(showCollection, "showCollection");
  function showDate(state, value) {
    const time = attempt(DatePrototypeGetTime, value);
    if (time === void 0) return void 0;
    return withProperties(state, value, time === time ? DatePrototypeToISOString(value) : "Invalid Date", noKeys);
  }
  __name(showDate, "showDate");
  function showRegExp(state, value) {
    const source = attempt(RegExpPrototypeGetSource, value);
    if (source === void 0) return void 0;
    return withProperties(state, value, attempt(RegExpPrototypeToString, value) ?? "/" + source + "/", noKeys);
  }
  __name(showRegExp, "showRegExp");
  function showArrayBuffer(state, value) {
    const length = attempt(ArrayBufferPrototypeGetByteLength, value);
    if (length === void 0) return void 0;
    const prefix = prefixOf(value, "ArrayBuffer", "");
    let contents;
    try {
      contents = new Uint8Array2(value);
    } catch {
      return prefix + "{ (detached), byteLength: 0 }";
    }
    const bytes = showBytes(contents, maxBytes);
    state.room -= bytes.length + 30;
    return prefix + "{ [Uint8Contents]: <" + bytes + ">, byteLength: " + length + " }";
  }
  __name(showArrayBuffer, "showArrayBuffer");
  function showBytes(bytes, max) {
    const length = TypedArrayPrototypeGetLength(bytes);
    let text2 = "";
    for (let i = 0; i < length && i < max; i++) {
      text2 += (i > 0 ? " " : "") + StringPrototypePadStart(NumberPrototypeToString(bytes[i], 16), 2, "0");
    }
    return length > max ? text2 + " ... " + (length - max) + " more byte" + (length - max === 1 ? "" : "s") : text2;
  }
  __name(showBytes, "showBytes");
  function showBoxed(kind, valueOf) {
    return (state, value) => {
      const inner = attempt(valueOf, value);
      if (inner === void 0) return void 0;
      const length = kind === "String" ? inner.length : 0;
      const text2 = "[" + kind + ": " + show(state, inner) + "]";
      if (length > 10 * maxElements) return text2;
      const properties = showProperties(state, value, (key) => typeof key === "string" && isIndex(key, length));
      return properties === "" ? text2 : text2 + " { " + properties + " }";
    };
  }
  __name(showBoxed, "showBoxed");
  function isError(value) {
    if (typeof value !== "object" || value === null) return false;
    let prototype = ObjectGetPrototypeOf(value);
    for (let i = 0; i < maxPrototypes && prototype !== null; i++) {
      if (prototype === ErrorPrototype) return true;
      prototype = ObjectGetPrototypeOf(prototype);
    }
    return false;
  }
  __name(isError, "isError");
  function errorTitle(error) {
    const name = textOf(error.name, "Error");
    const message = textOf(error.message, "");
    return message === "" ? name : name === "" ? message : name + ": " + message;
  }
  __name(errorTitle, "errorTitle");
  function textOf(value, fallback3) {
    if (value === void 0) return fallback3;
    return typeof value === "string" ? value : typeof value === "symbol" ? SymbolPrototypeToString(value) : String2(value);
  }
  __name(textOf, "textOf");
  function showError(state, error) {
    const title = cut(errorTitle(error), state.room > 0 ? state.room : 0);
    let text2 = "[" + title + "]";
    if (state.ancestors.length === 1) {
      const stack = error.stack;
      if (typeof stack === "string" && stack !== "") {
        const shown = StringPrototypeTrimEnd(cut(stack, maxStringLength));
        text2 = StringPrototypeStartsWith(shown, title) ? shown : title + "\n" + shown;
      }
    }
    state.room -= text2.length;
    const parts = [];
    const hidden = ["cause", "errors"];
    for (let i = 0; i < hidden.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(error, hidden[i]);
      if (descriptor !== void 0 && !descriptor.enumerable) {
        ArrayPrototypePush(parts, "[" + hidden[i] + "]: " + showPropertyValue(state, descriptor));
      }
    }
    const properties = showProperties(state, error, (key) => key === "stack" || key === "message" || key === "name");
    if (properties !== "") ArrayPrototypePush(parts, properties);
    return parts.length === 0 ? text2 : text2 + " { " + join(parts) + " }";
  }
  __name(showError, "showError");
  var kinds = new Map2();
  MapPrototypeSet(kinds, ArrayBuffer.prototype, showArrayBuffer);
  MapPrototypeSet(kinds, BigInt.prototype, showBoxed("BigInt", BigIntPrototypeValueOf));
  MapPrototypeSet(kinds, Boolean.prototype, showBoxed("Boolean", BooleanPrototypeValueOf));
  MapPrototypeSet(kinds, Date.prototype, showDate);
  MapPrototypeSet(kinds, ErrorPrototype, showError);
  MapPrototypeSet(kinds, Map2.prototype, showMap);
  MapPrototypeSet(kinds, Number2.prototype, showBoxed("Number", NumberPrototypeValueOf));
  MapPrototypeSet(kinds, RegExp.prototype, showRegExp);
  MapPrototypeSet(kinds, Set2.prototype, showSet);
  MapPrototypeSet(kinds, String2.prototype, showBoxed("String", StringPrototypeValueOf));
  MapPrototypeSet(kinds, Symbol.prototype, showBoxed("Symbol", SymbolPrototypeValueOf));

  // src/console.js
  var DEBUG = 0;
  var LOG = 1;
  var INFO = 2;
  var WARN = 3;
  var ERROR = 4;
  var argumentLimit = 64 * 1024;
  var inspectDepth = 4;
  var maxGroups = 64;
  var groups = 0;
  var counts = new Map2();
  var timers = new Map2();
  function write(level, text2) {
    if (groups > 0) text2 = indented(text2, StringPrototypeRepeat("  ", groups < maxGroups ? groups : maxGroups));
    nativeLog(level, StringPrototypeToWellFormed(text2));
  }
  __name(write, "write");
  function indented(text2, indent) {
    let out = indent;
    let copied = 0;
    for (; ; ) {
      const newline = StringPrototypeIndexOf(text2, "\n", copied);
      if (newline === -1) return out + StringPrototypeSlice(text2, copied);
      out += StringPrototypeSlice(text2, copied, newline + 1) + indent;
      copied = newline + 1;
    }
  }
  __name(indented, "indented");
  function writeArguments(level, args) {
    write(level, format2(args));
  }
  __name(writeArguments, "writeArguments");
  function reportUncaught(error) {
    write(ERROR, "Uncaught " + show2(error));
  }
  __name(reportUncaught, "reportUncaught");
  function show2(value) {
    return typeof value === "string" ? cut(value, argumentLimit) : inspectValue(value, inspectDepth);
  }
  __name(show2, "show");
  function inspectValue(value, depth) {
    return cut(inspect(value, depth, argumentLimit), argumentLimit);
  }
  __name(inspectValue, "inspectValue");
  function format2(args) {
    if (args.length === 0) return "";
    let used = 1;
    let text2;
    if (typeof args[0] === "string" && args.length > 1) {
      const template = cut(args[0], argumentLimit);
      text2 = "";
      let copied = 0;
      for (let i = 0; i < template.length - 1; i++) {
        if (StringPrototypeCharCodeAt(template, i) !== 37) continue;
        const directive = template[++i];
        let replacement;
        if (directive === "%") {
          replacement = "%";
        } else if (used < args.length && StringPrototypeIndexOf("sdifjoOc", directive) !== -1) {
          replacement = convert(directive, args[used++]);
        } else {
          continue;
        }
        text2 += StringPrototypeSlice(template, copied, i - 1) + replacement;
        copied = i + 1;
      }
      text2 += StringPrototypeSlice(template, copied);
    } else {
      text2 = show2(args[0]);
    }
    for (; used < args.length; used++) text2 += " " + show2(args[used]);
    return text2;
  }
  __name(format2, "format");
  function convert(directive, value) {
    try {
      return cut(convertUnchecked(directive, value), argumentLimit);
    } catch (error) {
      return uninspectable(error);
    }
  }
  __name(convert, "convert");
  function convertUnchecked(directive, value) {
    const isSymbol = typeof value === "symbol";
    switch (directive) {
      case "s":
        return showAsString(value);
      case "d":
        return typeof value === "bigint" ? value + "n" : isSymbol ? "NaN" : showNumber(Number2(value));
      case "i":
        return typeof value === "bigint" ? value + "n" : isSymbol ? "NaN" : showNumber(NumberParseInt(value));
      case "f":
        return isSymbol ? "NaN" : showNumber(NumberParseFloat(value));
      case "j":
        return showAsJson(value);
      case "c":
        return "";
      default:
        return inspectValue(value, inspectDepth);
    }
  }
  __name(convertUnchecked, "convertUnchecked");
  function showAsString(value) {
    switch (typeof value) {
      case "string":
        return value;
      case "number":
        return showNumber(value);
      case "bigint":
        return value + "n";
      case "object":
        return value === null || !hasOwnWay(value) ? inspectValue(value, 0) : String2(value);
      default:
        return String2(value);
    }
  }
  __name(showAsString, "showAsString");
  var { toString: arrayToString } = [];
  var { toString: dateToString } = Date.prototype;
  var builtInToStrings = [ObjectPrototype.toString, ErrorPrototype.toString, arrayToString, dateToString];
  function hasOwnWay(value) {
    const method = value.toString;
    if (typeof method !== "function") return false;
    for (let i = 0; i < builtInToStrings.length; i++) {
      if (method === builtInToStrings[i]) return false;
    }
    return true;
  }
  __name(hasOwnWay, "hasOwnWay");
  var circularMessage = (() => {
    const loop = {};
    loop.loop = loop;
    try {
      return JSONStringify(loop);
    } catch (error) {
      return firstLine(error.message);
    }
  })();
  function showAsJson(value) {
    try {
      return "" + JSONStringify(value);
    } catch (error) {
      if (isError(error) && firstLine(String2(error.message)) === circularMessage) {
        return "[Circular]";
      }
      throw error;
    }
  }
  __name(showAsJson, "showAsJson");
  function firstLine(text2) {
    const newline = StringPrototypeIndexOf(text2, "\n");
    return newline === -1 ? text2 : StringPrototypeSlice(text2, 0, newline);
  }
  __name(firstLine, "firstLine");
  function labelOf(label) {
    return label === void 0 ? "default" : convert("s", label);
  }
  __name(labelOf, "labelOf");
  function writeTime(label, args) {
    const started = MapPrototypeGet(timers, label);
    if (started === void 0) {
      write(WARN, "Warning: No such label '" + label + "' for console.time");
      return;
    }
    const elapsed = DateNow() - started;
    const time = elapsed < 1e3 ? elapsed + "ms" : NumberPrototypeToFixed(elapsed / 1e3, 3) + "s";
    write(LOG, label + ": " + time + (args.length === 0 ? "" : " " + formatEach(args)));
  }
  __name(writeTime, "writeTime");
  function formatEach(args) {
    let text2 = "";
    for (let i = 0; i < args.length; i++) text2 += (i === 0 ? "" : " ") + show2(args[i]);
    return text2;
  }
  __name(formatEach, "formatEach");
  function openGroup(label) {
    if (label.length > 0) writeArguments(LOG, label);
    groups++;
  }
  __name(openGroup, "openGroup");
  var console2 = {
    debug(...args) {
      writeArguments(DEBUG, args);
    },
    log(...args) {
      writeArguments(LOG, args);
    },
    info(...args) {
      writeArguments(INFO, args);
    },
    warn(...args) {
      writeArguments(WARN, args);
    },
    error(...args) {
      writeArguments(ERROR, args);
    },
    // Without a stack: its frames would mostly be those of this prelude.
    trace(...args) {
      write(LOG, args.length === 0 ? "Trace" : "Trace: " + format2(args));
    },
    table(...args) {
      writeArguments(LOG, args);
    },
    dir(value) {
      write(LOG, inspectValue(value, inspectDepth));
    },
    dirxml(...args) {
      writeArguments(LOG, args);
    },
    group(...label) {
      openGroup(label);
    },
    groupCollapsed(...label) {
      openGroup(label);
    },
    groupEnd() {
      if (groups > 0) groups--;
    },
    count(label = void 0) {
      label = labelOf(label);
      const count = (MapPrototypeGet(counts, label) ?? 0) + 1;
      MapPrototypeSet(counts, label, count);
      write(LOG, label + ": " + count);
    },
    countReset(label = void 0) {
      label = labelOf(label);
      if (!MapPrototypeDelete(counts, label)) write(WARN, "Warning: Count for '" + label + "' does not exist");
    },
    assert(condition = void 0, ...args) {
      if (condition) return;
      const colon = typeof args[0] === "string" ? ":" : "";
      write(ERROR, args.length === 0 ? "Assertion failed" : "Assertion failed" + colon + " " + format2(args));
    },
    time(label = void 0) {
      label = labelOf(label);
      if (MapPrototypeGet(timers, label) !== void 0) {
        write(WARN, "Warning: Label '" + label + "' already exists for console.time");
        return;
      }
      MapPrototypeSet(timers, label, DateNow());
    },
    timeLog(label = void 0, ...args) {
      writeTime(labelOf(label), args);
    },
    timeEnd(label = void 0) {
      label = labelOf(label);
      writeTime(label, []);
      MapPrototypeDelete(timers, label);
    }
  };
  ObjectDefineProperty(console2, SymbolToStringTag, {
    __proto__: null,
    value: "console",
    writable: false,
    enumerable: false,
    configurable: true
  });

  // src/dom-exception.js
  function fallback() {
    require_web_dom_exception_constructor();
    require_web_dom_exception_stack();
    require_web_dom_exception_to_string_tag();
    return require_path().DOMException;
  }
  __name(fallback, "fallback");
  var DOMException2 = globalThis.DOMException ?? fallback();

  // src/abort.js
  setErrorHandler(reportUncaught);
  setWarningHandler(() => {
  });
  var dispatchEvent2 = uncurryThis(EventTarget.prototype.dispatchEvent);
  var constructionKey = {};
  var abortSignal;
  var waitForSignal;
  var isSignal;
  var isAborted;
  var reasonOf;
  var follower;
  var alarm;
  var AbortSignal = class _AbortSignal extends EventTarget {
    static {
      __name(this, "AbortSignal");
    }
    #aborted = false;
    #reason = void 0;
    #algorithms = new Set2();
    // A signal made by `any` follows signals that were not; those know whom to abort along with them.
    #sources = void 0;
    #dependents = new Set2();
    static {
      abortSignal = /* @__PURE__ */ __name((signal, reason) => signal.#abort(reason), "abortSignal");
      waitForSignal = /* @__PURE__ */ __name((signal, algorithm) => {
        const algorithms = signal.#algorithms;
        SetPrototypeAdd(algorithms, algorithm);
        return () => {
          SetPrototypeDelete(algorithms, algorithm);
        };
      }, "waitForSignal");
      isSignal = /* @__PURE__ */ __name((value) => typeof value === "object" && value !== null && #aborted in value, "isSignal");
      isAborted = /* @__PURE__ */ __name((signal) => signal.#aborted, "isAborted");
      reasonOf = /* @__PURE__ */ __name((signal) => signal.#reason, "reasonOf");
      follower = /* @__PURE__ */ __name((signals) => {
        const signal = new _AbortSignal(constructionKey);
        signal.#follow(signals);
        return signal;
      }, "follower");
    }
    constructor(key = void 0) {
      if (key !== constructionKey) throw new TypeError2("Illegal constructor");
      super();
    }
    static abort(reason = void 0) {
      const signal = new _AbortSignal(constructionKey);
      signal.#abort(reason);
      return signal;
    }
    static any(signals) {
      const checked = [];
      for (const signal of signals) {
        if (!isSignal(signal)) {
          throw new TypeError2("AbortSignal.any needs an iterable of AbortSignal objects");
        }
        ArrayPrototypePush(checked, signal);
      }
      return follower(checked);
    }
    static timeout(milliseconds) {
      const delay = Number2(milliseconds);
      if (!(delay >= 0 && delay <= Number2.MAX_SAFE_INTEGER)) {
        throw new TypeError2("The delay of AbortSignal.timeout must be a number of milliseconds, zero or more");
      }
      if (alarm === void 0) {
        throw new DOMException2(
          "AbortSignal.timeout is not available: it needs the grant `net` or `timers`, which this call does not have",
          "NotSupportedError"
        );
      }
      const signal = new _AbortSignal(constructionKey);
      alarm(delay, () => {
        signal.#abort(new DOMException2("The operation was aborted due to timeout", "TimeoutError"));
      });
      return signal;
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    get onabort() {
      void this.#aborted;
      return getEventAttributeValue(this, "abort");
    }
    set onabort(value) {
      void this.#aborted;
      setEventAttributeValue(this, "abort", value);
    }
    [inspectCustom]() {
      return "AbortSignal { aborted: " + this.#aborted + " }";
    }
    #follow(signals) {
      this.#sources = new Set2();
      for (let i = 0; i < signals.length; i++) {
        if (signals[i].#aborted) {
          this.#settle(signals[i].#reason);
          return;
        }
      }
      for (let i = 0; i < signals.length; i++) {
        if (signals[i].#sources === void 0) {
          this.#followSource(signals[i]);
        } else {
          forEachInSet(signals[i].#sources, (source) => this.#followSource(source));
        }
      }
    }
    #followSource(source) {
      SetPrototypeAdd(this.#sources, source);
      SetPrototypeAdd(source.#dependents, this);
    }
    #settle(reason) {
      this.#aborted = true;
      this.#reason = reason === void 0 ? new DOMException2("This operation was aborted", "AbortError") : reason;
    }
    #abort(reason) {
      if (this.#aborted) return;
      this.#settle(reason);
      const aborted = [this];
      forEachInSet(this.#dependents, (dependent) => {
        if (dependent.#aborted) return;
        dependent.#settle(this.#reason);
        ArrayPrototypePush(aborted, dependent);
      });
      this.#dependents = new Set2();
      for (let i = 0; i < aborted.length; i++) aborted[i].#runAlgorithms();
      for (let i = 0; i < aborted.length; i++) dispatchEvent2(aborted[i], new Event("abort"));
    }
    #runAlgorithms() {
      const algorithms = this.#algorithms;
      this.#algorithms = new Set2();
      forEachInSet(algorithms, (algorithm) => algorithm(this.#reason));
    }
  };
  function forEachInSet(set, visit) {
    const values = SetPrototypeValues(set);
    for (let step = SetIteratorPrototypeNext(values); !step.done; step = SetIteratorPrototypeNext(values)) {
      visit(step.value);
    }
  }
  __name(forEachInSet, "forEachInSet");
  var AbortController = class {
    static {
      __name(this, "AbortController");
    }
    #signal = new AbortSignal(constructionKey);
    get signal() {
      return this.#signal;
    }
    abort(reason = void 0) {
      abortSignal(this.#signal, reason);
    }
    [inspectCustom](depth, options, inspect4) {
      return "AbortController { signal: " + inspect4(this.#signal, options) + " }";
    }
  };
  shapeClass(Event, "Event", []);
  shapeClass(EventTarget, "EventTarget", []);
  shapeClass(AbortSignal, "AbortSignal", ["aborted", "reason", "throwIfAborted", "onabort"]);
  shapeClass(AbortController, "AbortController", ["signal", "abort"]);
  function isAbortSignal(value) {
    return isSignal(value);
  }
  __name(isAbortSignal, "isAbortSignal");
  function isSignalAborted(signal) {
    return isAborted(signal);
  }
  __name(isSignalAborted, "isSignalAborted");
  function signalReason(signal) {
    return reasonOf(signal);
  }
  __name(signalReason, "signalReason");
  function signalFollowing(signals) {
    return follower(signals);
  }
  __name(signalFollowing, "signalFollowing");
  function grantAlarm(start3) {
    alarm = start3;
  }
  __name(grantAlarm, "grantAlarm");
  function onSignalAbort(signal, algorithm) {
    return waitForSignal(signal, algorithm);
  }
  __name(onSignalAbort, "onSignalAbort");

  // src/base64.js
  function fallback2(name) {
    require_web_atob();
    require_web_btoa();
    return require_path()[name];
  }
  __name(fallback2, "fallback");
  var atob = globalThis.atob ?? fallback2("atob");
  var btoa = globalThis.btoa ?? fallback2("btoa");

  // src/buffer.js
  var import_buffer = __toESM(require_buffer(), 1);

  // src/bytes.js
  function bytesOf(source, what) {
    if (!ArrayBufferIsView(source)) {
      return new Uint8Array2(plainBuffer(source, what));
    }
    if (TypedArrayPrototypeGetToStringTag(source) !== void 0) {
      return new Uint8Array2(
        plainBuffer(TypedArrayPrototypeGetBuffer(source), what),
        TypedArrayPrototypeGetByteOffset(source),
        TypedArrayPrototypeGetByteLength(source)
      );
    }
    return new Uint8Array2(
      plainBuffer(DataViewPrototypeGetBuffer(source), what),
      DataViewPrototypeGetByteOffset(source),
      DataViewPrototypeGetByteLength(source)
    );
  }
  __name(bytesOf, "bytesOf");
  function plainBuffer(buffer, what) {
    if (!isArrayBuffer(buffer)) {
      throw new TypeError2(
        isSharedArrayBuffer(buffer) ? what + " must not be backed by a SharedArrayBuffer" : what + " must be an ArrayBuffer or a view of one"
      );
    }
    if (ArrayBufferPrototypeGetResizable(buffer)) {
      throw new TypeError2(what + " must not be backed by a resizable ArrayBuffer");
    }
    if (isDetached(buffer)) {
      throw new TypeError2(what + " must not be backed by a detached ArrayBuffer");
    }
    return buffer;
  }
  __name(plainBuffer, "plainBuffer");
  function isArrayBuffer(value) {
    try {
      ArrayBufferPrototypeGetByteLength(value);
      return true;
    } catch {
      return false;
    }
  }
  __name(isArrayBuffer, "isArrayBuffer");
  function isSharedArrayBuffer(value) {
    if (SharedArrayBufferPrototypeGetByteLength === void 0) return false;
    try {
      SharedArrayBufferPrototypeGetByteLength(value);
      return true;
    } catch {
      return false;
    }
  }
  __name(isSharedArrayBuffer, "isSharedArrayBuffer");
  function isDetached(buffer) {
    try {
      new Uint8Array2(buffer);
      return false;
    } catch {
      return true;
    }
  }
  __name(isDetached, "isDetached");
  function viewOf(bytes, start3, end) {
    return new Uint8Array2(
      TypedArrayPrototypeGetBuffer(bytes),
      TypedArrayPrototypeGetByteOffset(bytes) + start3,
      end - start3
    );
  }
  __name(viewOf, "viewOf");
  function copyFrom(bytes, start3) {
    return new Uint8Array2(viewOf(bytes, start3, TypedArrayPrototypeGetLength(bytes)));
  }
  __name(copyFrom, "copyFrom");

  // src/encoding.js
  var TextEncoder = class {
    static {
      __name(this, "TextEncoder");
    }
    get encoding() {
      void this.#brand;
      return "utf-8";
    }
    encode(input = "") {
      void this.#brand;
      return nativeUtf8Encode(toUSVString(input));
    }
    encodeInto(source, destination) {
      void this.#brand;
      const text2 = toText(source);
      if (TypedArrayPrototypeGetToStringTag(destination) !== "Uint8Array") {
        throw new TypeError2("The destination of encodeInto must be a Uint8Array");
      }
      const room = bytesOf(destination, "The destination of encodeInto");
      const size = TypedArrayPrototypeGetLength(room);
      const bytes = nativeUtf8Encode(StringPrototypeToWellFormed(StringPrototypeSlice(text2, 0, size)));
      let written = TypedArrayPrototypeGetLength(bytes);
      if (written > size) {
        written = size;
        while (written > 0 && (bytes[written] & 192) === 128) written--;
      }
      TypedArrayPrototypeSet(room, viewOf(bytes, 0, written));
      return { read: utf16Length(bytes, written), written };
    }
    // Reading a private field of something else throws the TypeError the standard wants for a wrong receiver.
    #brand = void 0;
  };
  function utf16Length(bytes, end) {
    let units = 0;
    for (let i = 0; i < end; i++) {
      const byte = bytes[i];
      if ((byte & 192) !== 128) units += byte < 240 ? 1 : 2;
    }
    return units;
  }
  __name(utf16Length, "utf16Length");
  var labels = ObjectCreate(null);
  function addLabels(encoding, names) {
    for (let i = 0; i < names.length; i++) labels[names[i]] = encoding;
  }
  __name(addLabels, "addLabels");
  addLabels("utf-8", ["unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"]);
  addLabels("utf-16le", [
    "csunicode",
    "iso-10646-ucs-2",
    "ucs-2",
    "unicode",
    "unicodefeff",
    "utf-16",
    "utf-16le"
  ]);
  addLabels("windows-1252", [
    "ansi_x3.4-1968",
    "ascii",
    "cp1252",
    "cp819",
    "csisolatin1",
    "ibm819",
    "iso-8859-1",
    "iso-ir-100",
    "iso8859-1",
    "iso88591",
    "iso_8859-1",
    "iso_8859-1:1987",
    "l1",
    "latin1",
    "us-ascii",
    "windows-1252",
    "x-cp1252"
  ]);
  var asciiTrimmed = /^[\t\n\f\r ]*([^\t\n\f\r ]*)[\t\n\f\r ]*$/;
  function encodingOf(label) {
    const text2 = toText(label);
    const match = RegExpPrototypeExec(asciiTrimmed, text2);
    const encoding = match === null ? void 0 : labels[StringPrototypeToLowerCase(match[1])];
    if (encoding === void 0) {
      throw new RangeError2(
        "The encoding label " + text2 + " is not supported; supported are utf-8, utf-16le and windows-1252 (latin1)"
      );
    }
    return encoding;
  }
  __name(encodingOf, "encodingOf");
  var noBytes = new Uint8Array2(0);
  var TextDecoder = class {
    static {
      __name(this, "TextDecoder");
    }
    #encoding;
    #fatal;
    #ignoreBOM;
    #pending = noBytes;
    #started = false;
    constructor(label = "utf-8", options = void 0) {
      this.#encoding = encodingOf(label);
      const { fatal, ignoreBOM } = dictionary(options);
      this.#fatal = !!fatal;
      this.#ignoreBOM = !!ignoreBOM;
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(input = void 0, options = void 0) {
      const stream = !!dictionary(options).stream;
      let bytes = joined(this.#pending, input === void 0 ? noBytes : bytesOf(input, "The input of decode"));
      this.#pending = noBytes;
      const started = this.#started;
      this.#started = false;
      let pending = noBytes;
      if (stream) {
        const length = TypedArrayPrototypeGetLength(bytes);
        const whole = length - unfinishedLength(this.#encoding, bytes, length);
        if (whole < length) pending = copyFrom(bytes, whole);
        bytes = viewOf(bytes, 0, whole);
      }
      const text2 = decodeWhole(this.#encoding, bytes, this.#fatal);
      if (text2 === void 0) {
        throw encodingError(this.#encoding);
      }
      this.#pending = pending;
      this.#started = stream && (started || text2 !== "");
      return !started && !this.#ignoreBOM && StringPrototypeCharCodeAt(text2, 0) === 65279 ? StringPrototypeSlice(text2, 1) : text2;
    }
  };
  function encodingError(encoding) {
    const error = new TypeError2("The encoded data was not valid for encoding " + encoding);
    addErrorProperty(error, "code", "ERR_ENCODING_INVALID_ENCODED_DATA");
    return error;
  }
  __name(encodingError, "encodingError");
  function dictionary(options) {
    if (options === void 0 || options === null) return ObjectCreate(null);
    if (typeof options !== "object" && typeof options !== "function") {
      throw new TypeError2("The options must be an object");
    }
    return options;
  }
  __name(dictionary, "dictionary");
  function joined(head, tail) {
    const length = TypedArrayPrototypeGetLength(head);
    if (length === 0) return tail;
    const bytes = new Uint8Array2(length + TypedArrayPrototypeGetLength(tail));
    TypedArrayPrototypeSet(bytes, head);
    TypedArrayPrototypeSet(bytes, tail, length);
    return bytes;
  }
  __name(joined, "joined");
  function unfinishedLength(encoding, bytes, length) {
    if (encoding === "utf-8") return unfinishedUtf8(bytes, length);
    if (encoding === "utf-16le") return unfinishedUtf16(bytes, length);
    return 0;
  }
  __name(unfinishedLength, "unfinishedLength");
  function unfinishedUtf8(bytes, length) {
    for (let back = 1; back <= 3 && back <= length; back++) {
      const lead = bytes[length - back];
      if ((lead & 192) === 128) continue;
      if (utf8Length(lead) <= back) return 0;
      if (back > 1) {
        const second = bytes[length - back + 1];
        const low = lead === 224 ? 160 : lead === 240 ? 144 : 128;
        const high = lead === 237 ? 159 : lead === 244 ? 143 : 191;
        if (second < low || second > high) return 0;
      }
      return back;
    }
    return 0;
  }
  __name(unfinishedUtf8, "unfinishedUtf8");
  function utf8Length(lead) {
    if (lead >= 194 && lead <= 223) return 2;
    if (lead >= 224 && lead <= 239) return 3;
    return lead >= 240 && lead <= 244 ? 4 : 1;
  }
  __name(utf8Length, "utf8Length");
  function unfinishedUtf16(bytes, length) {
    const odd = length % 2;
    const even = length - odd;
    const highSurrogate = even >= 2 && (bytes[even - 1] & 252) === 216;
    return highSurrogate ? odd + 2 : odd;
  }
  __name(unfinishedUtf16, "unfinishedUtf16");
  function decodeWhole(encoding, bytes, fatal) {
    if (encoding === "utf-16le") bytes = utf16ToUtf8(bytes, fatal);
    else if (encoding === "windows-1252") bytes = windows1252ToUtf8(bytes);
    return bytes === void 0 ? void 0 : decodeUtf8(bytes, fatal);
  }
  __name(decodeWhole, "decodeWhole");
  function decodeUtf8(bytes, fatal) {
    return nativeUtf8Decode(
      TypedArrayPrototypeGetBuffer(bytes),
      TypedArrayPrototypeGetByteOffset(bytes),
      TypedArrayPrototypeGetLength(bytes),
      fatal
    );
  }
  __name(decodeUtf8, "decodeUtf8");
  function encodeUtf8(text2) {
    return nativeUtf8Encode(StringPrototypeToWellFormed(text2));
  }
  __name(encodeUtf8, "encodeUtf8");
  function putCodePoint(out, at, code) {
    if (code < 128) {
      out[at++] = code;
    } else if (code < 2048) {
      out[at++] = 192 | code >> 6;
      out[at++] = 128 | code & 63;
    } else if (code < 65536) {
      out[at++] = 224 | code >> 12;
      out[at++] = 128 | code >> 6 & 63;
      out[at++] = 128 | code & 63;
    } else {
      out[at++] = 240 | code >> 18;
      out[at++] = 128 | code >> 12 & 63;
      out[at++] = 128 | code >> 6 & 63;
      out[at++] = 128 | code & 63;
    }
    return at;
  }
  __name(putCodePoint, "putCodePoint");
  function utf16ToUtf8(bytes, fatal) {
    const length = TypedArrayPrototypeGetLength(bytes);
    const even = length - length % 2;
    const out = new Uint8Array2(even / 2 * 3 + 3);
    let size = 0;
    let i = 0;
    let endedInError = false;
    while (i < even) {
      let code = bytes[i] | bytes[i + 1] << 8;
      i += 2;
      if (code >= 55296 && code <= 57343) {
        const next = i < even ? bytes[i] | bytes[i + 1] << 8 : 0;
        if (code <= 56319 && next >= 56320 && next <= 57343) {
          code = 65536 + (code - 55296 << 10) + (next - 56320);
          i += 2;
        } else {
          if (fatal) return void 0;
          endedInError = code <= 56319 && i >= even;
          code = 65533;
        }
      }
      size = putCodePoint(out, size, code);
    }
    if (even < length && !endedInError) {
      if (fatal) return void 0;
      size = putCodePoint(out, size, 65533);
    }
    return viewOf(out, 0, size);
  }
  __name(utf16ToUtf8, "utf16ToUtf8");
  var windows1252 = [
    8364,
    129,
    8218,
    402,
    8222,
    8230,
    8224,
    8225,
    710,
    8240,
    352,
    8249,
    338,
    141,
    381,
    143,
    144,
    8216,
    8217,
    8220,
    8221,
    8226,
    8211,
    8212,
    732,
    8482,
    353,
    8250,
    339,
    157,
    382,
    376
  ];
  function windows1252ToUtf8(bytes) {
    const length = TypedArrayPrototypeGetLength(bytes);
    const out = new Uint8Array2(length * 3);
    let size = 0;
    for (let i = 0; i < length; i++) {
      const byte = bytes[i];
      size = putCodePoint(out, size, byte >= 128 && byte <= 159 ? windows1252[byte - 128] : byte);
    }
    return viewOf(out, 0, size);
  }
  __name(windows1252ToUtf8, "windows1252ToUtf8");
  shapeClass(TextEncoder, "TextEncoder", ["encoding", "encode", "encodeInto"]);
  shapeClass(TextDecoder, "TextDecoder", ["encoding", "fatal", "ignoreBOM", "decode"]);

  // src/buffer.js
  function isUtf8(encoding) {
    if (typeof encoding !== "string" || encoding === "") return true;
    const name = StringPrototypeToLowerCase(encoding);
    return name === "utf8" || name === "utf-8";
  }
  __name(isUtf8, "isUtf8");
  var base64url = ObjectFreeze({ __proto__: null, alphabet: "base64url", omitPadding: true });
  function isBase64url(encoding) {
    return typeof encoding === "string" && StringPrototypeToLowerCase(encoding) === "base64url";
  }
  __name(isBase64url, "isBase64url");
  function replaceMethod(target, name, wrap) {
    const method = wrap(target[name]);
    ObjectDefineProperty(target, name, { __proto__: null, value: method });
    ObjectDefineProperty(method, "name", { __proto__: null, value: name });
  }
  __name(replaceMethod, "replaceMethod");
  function acceptBase64url(target, name, first) {
    replaceMethod(target, name, (original) => function(...args) {
      for (let i = first; i < args.length; i++) {
        if (isBase64url(args[i])) args[i] = "base64";
      }
      return ReflectApply(original, this, args);
    });
  }
  __name(acceptBase64url, "acceptBase64url");
  acceptBase64url(import_buffer.Buffer, "alloc", 2);
  acceptBase64url(import_buffer.Buffer, "byteLength", 1);
  acceptBase64url(import_buffer.Buffer, "from", 1);
  acceptBase64url(import_buffer.Buffer.prototype, "fill", 1);
  acceptBase64url(import_buffer.Buffer.prototype, "includes", 1);
  acceptBase64url(import_buffer.Buffer.prototype, "indexOf", 1);
  acceptBase64url(import_buffer.Buffer.prototype, "lastIndexOf", 1);
  acceptBase64url(import_buffer.Buffer.prototype, "write", 1);
  replaceMethod(import_buffer.Buffer, "isEncoding", (original) => (encoding) => isBase64url(encoding) || original(encoding));
  replaceMethod(import_buffer.Buffer, "from", (original) => (value, encodingOrOffset, length) => {
    const bytes = typeof value === "string" ? bytesOfText(value, encodingOrOffset) : void 0;
    if (bytes === void 0) return original(value, encodingOrOffset, length);
    return ObjectSetPrototypeOf(bytes, import_buffer.Buffer.prototype);
  });
  function bytesOfText(text2, encoding) {
    if (isUtf8(encoding)) return encodeUtf8(text2);
    try {
      switch (StringPrototypeToLowerCase(encoding)) {
        case "base64":
          return Uint8ArrayFromBase64?.(text2);
        case "base64url":
          return Uint8ArrayFromBase64?.(text2, base64url);
        case "hex":
          return Uint8ArrayFromHex?.(text2);
      }
    } catch {
    }
    return void 0;
  }
  __name(bytesOfText, "bytesOfText");
  replaceMethod(import_buffer.Buffer, "byteLength", (original) => (value, encoding) => {
    if (typeof value !== "string" || !isUtf8(encoding)) return original(value, encoding);
    return TypedArrayPrototypeGetLength(encodeUtf8(value));
  });
  function toString(original, buffer, args) {
    const encoding = args[0];
    if (TypedArrayPrototypeGetToStringTag(buffer) === "Uint8Array") {
      const length = TypedArrayPrototypeGetLength(buffer);
      if (length === 0) return "";
      const start3 = clamp(args[1], 0, length);
      const end = clamp(args[2], length, length);
      const text2 = textOfBytes(viewOf(buffer, start3, start3 < end ? end : start3), encoding);
      if (text2 !== void 0) return text2;
      if (isBase64url(encoding)) return toBase64url(ReflectApply(original, buffer, ["base64", args[1], args[2]]));
    }
    return ReflectApply(original, buffer, args);
  }
  __name(toString, "toString");
  function textOfBytes(bytes, encoding) {
    if (isUtf8(encoding)) {
      return decodeUtf8(isArrayBuffer(TypedArrayPrototypeGetBuffer(bytes)) ? bytes : new Uint8Array2(bytes), false);
    }
    switch (StringPrototypeToLowerCase(encoding)) {
      case "base64":
        return Uint8ArrayPrototypeToBase64?.(bytes);
      case "base64url":
        return Uint8ArrayPrototypeToBase64?.(bytes, base64url);
      case "hex":
        return Uint8ArrayPrototypeToHex?.(bytes);
    }
    return void 0;
  }
  __name(textOfBytes, "textOfBytes");
  replaceMethod(import_buffer.Buffer.prototype, "toString", (original) => function(...args) {
    return toString(original, this, args);
  });
  ObjectDefineProperty(import_buffer.Buffer.prototype, "toLocaleString", { __proto__: null, value: import_buffer.Buffer.prototype.toString });
  ObjectDefineProperty(import_buffer.Buffer.prototype, inspectCustom, {
    __proto__: null,
    value: /* @__PURE__ */ __name(function inspect2() {
      return TypedArrayPrototypeGetLength(this) === 0 ? "<Buffer >" : "<Buffer " + showBytes(this, 50) + ">";
    }, "inspect"),
    writable: true,
    enumerable: false,
    configurable: true
  });
  function clamp(offset, fallback3, length) {
    if (offset === void 0) return fallback3;
    const number = +offset;
    if (!(number > 0)) return 0;
    return number >= length ? length : number - number % 1;
  }
  __name(clamp, "clamp");
  function toBase64url(text2) {
    let out = "";
    let copied = 0;
    const padding = StringPrototypeIndexOf(text2, "=");
    const end = padding === -1 ? text2.length : padding;
    for (let i = 0; i < end; i++) {
      const unit = StringPrototypeCharCodeAt(text2, i);
      if (unit !== 43 && unit !== 47) continue;
      out += StringPrototypeSlice(text2, copied, i) + (unit === 43 ? "-" : "_");
      copied = i + 1;
    }
    return out + StringPrototypeSlice(text2, copied, end);
  }
  __name(toBase64url, "toBase64url");

  // src/clone.js
  require_web_structured_clone();
  var { structuredClone } = require_path();
  ReflectDeleteProperty(globalThis, "__core-js_shared__");

  // src/microtask.js
  var queueMicrotask = globalThis.queueMicrotask ?? /* @__PURE__ */ __name(function queueMicrotask2(callback) {
    if (typeof callback !== "function") throw new TypeError2("The callback of queueMicrotask must be a function");
    afterThisTask(() => {
      callback();
    });
  }, "queueMicrotask");

  // src/url.js
  var HREF = 0;
  var ORIGIN = 1;
  var PROTOCOL = 2;
  var USERNAME = 3;
  var PASSWORD = 4;
  var HOST = 5;
  var HOSTNAME = 6;
  var PORT = 7;
  var PATHNAME = 8;
  var SEARCH = 9;
  var HASH = 10;
  var paramsOfUrl;
  var refreshParams;
  var serializeParams;
  var URLSearchParams = class _URLSearchParams {
    static {
      __name(this, "URLSearchParams");
    }
    // Names and values in turn: [name, value, name, value, ...].
    #list = [];
    #onChange = void 0;
    static {
      paramsOfUrl = /* @__PURE__ */ __name((search, onChange) => {
        const params = new _URLSearchParams(search);
        params.#onChange = onChange;
        return params;
      }, "paramsOfUrl");
      refreshParams = /* @__PURE__ */ __name((params, search) => {
        params.#list = parseSearch(search);
      }, "refreshParams");
      serializeParams = /* @__PURE__ */ __name((value) => #list in value ? nativeFormSerialize(value.#list) : void 0, "serializeParams");
    }
    constructor(init = "") {
      if (typeof init === "object" && init !== null || typeof init === "function") {
        this.#list = #list in init ? copyList(init.#list) : listOfObject(init);
      } else {
        this.#list = parseSearch(toUSVString(init));
      }
    }
    get size() {
      return this.#list.length / 2;
    }
    append(name, value) {
      const list = this.#list;
      requireArguments(arguments.length, 2, "URLSearchParams.append");
      name = toUSVString(name);
      value = toUSVString(value);
      ArrayPrototypePush(list, name, value);
      this.#changed();
    }
    delete(name, value = void 0) {
      const list = this.#list;
      requireArguments(arguments.length, 1, "URLSearchParams.delete");
      name = toUSVString(name);
      if (value !== void 0) value = toUSVString(value);
      const kept = [];
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] !== name || value !== void 0 && list[i + 1] !== value) {
          ArrayPrototypePush(kept, list[i], list[i + 1]);
        }
      }
      this.#list = kept;
      this.#changed();
    }
    get(name) {
      const list = this.#list;
      requireArguments(arguments.length, 1, "URLSearchParams.get");
      name = toUSVString(name);
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] === name) return list[i + 1];
      }
      return null;
    }
    getAll(name) {
      const list = this.#list;
      requireArguments(arguments.length, 1, "URLSearchParams.getAll");
      name = toUSVString(name);
      const values = [];
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] === name) ArrayPrototypePush(values, list[i + 1]);
      }
      return values;
    }
    has(name, value = void 0) {
      const list = this.#list;
      requireArguments(arguments.length, 1, "URLSearchParams.has");
      name = toUSVString(name);
      if (value !== void 0) value = toUSVString(value);
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] === name && (value === void 0 || list[i + 1] === value)) return true;
      }
      return false;
    }
    set(name, value) {
      const list = this.#list;
      requireArguments(arguments.length, 2, "URLSearchParams.set");
      name = toUSVString(name);
      value = toUSVString(value);
      const kept = [];
      let found = false;
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] !== name) {
          ArrayPrototypePush(kept, list[i], list[i + 1]);
        } else if (!found) {
          found = true;
          ArrayPrototypePush(kept, name, value);
        }
      }
      if (!found) ArrayPrototypePush(kept, name, value);
      this.#list = kept;
      this.#changed();
    }
    sort() {
      const list = this.#list;
      const pairs = [];
      for (let i = 0; i < list.length; i += 2) {
        ArrayPrototypePush(pairs, { name: list[i], value: list[i + 1] });
      }
      ArrayPrototypeSort(pairs, (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
      const sorted = [];
      for (let i = 0; i < pairs.length; i++) {
        ArrayPrototypePush(sorted, pairs[i].name, pairs[i].value);
      }
      this.#list = sorted;
      this.#changed();
    }
    forEach(callback, thisArg = void 0) {
      void this.#list;
      if (typeof callback !== "function") {
        throw new TypeError2("The callback of URLSearchParams.forEach must be a function");
      }
      for (let i = 0; i < this.#list.length; i += 2) {
        ReflectApply(callback, thisArg, [this.#list[i + 1], this.#list[i], this]);
      }
    }
    entries() {
      return this.#iterate("entries");
    }
    keys() {
      return this.#iterate("keys");
    }
    values() {
      return this.#iterate("values");
    }
    toString() {
      return nativeFormSerialize(this.#list);
    }
    [inspectCustom](depth, options, inspect4) {
      const list = this.#list;
      let text2 = "";
      for (let i = 0; i < list.length; i += 2) {
        text2 += (i > 0 ? ", " : "") + inspect4(list[i], options) + " => " + inspect4(list[i + 1], options);
      }
      return text2 === "" ? "URLSearchParams {}" : "URLSearchParams { " + text2 + " }";
    }
    #iterate(kind) {
      return new ParamsIterator(() => this.#list, kind);
    }
    #changed() {
      const onChange = this.#onChange;
      if (onChange !== void 0) onChange(nativeFormSerialize(this.#list));
    }
  };
  var ParamsIterator = class {
    static {
      __name(this, "ParamsIterator");
    }
    #list;
    #kind;
    #next = 0;
    constructor(list, kind) {
      this.#list = list;
      this.#kind = kind;
    }
    next() {
      const list = this.#list();
      const at = this.#next;
      if (at >= list.length) return { value: void 0, done: true };
      this.#next = at + 2;
      const value = this.#kind === "keys" ? list[at] : this.#kind === "values" ? list[at + 1] : [list[at], list[at + 1]];
      return { value, done: false };
    }
  };
  ObjectSetPrototypeOf(ParamsIterator.prototype, IteratorPrototype);
  delete ParamsIterator.prototype.constructor;
  shapeClass(ParamsIterator, "URLSearchParams Iterator", ["next"]);
  function parseSearch(search) {
    return nativeFormParse(StringPrototypeStartsWith(search, "?") ? StringPrototypeSlice(search, 1) : search);
  }
  __name(parseSearch, "parseSearch");
  function copyList(list) {
    const copy = [];
    for (let i = 0; i < list.length; i++) ArrayPrototypePush(copy, list[i]);
    return copy;
  }
  __name(copyList, "copyList");
  function listOfObject(init) {
    const method = init[SymbolIterator];
    if (method === void 0 || method === null) return listOfRecord(init);
    if (typeof method !== "function") {
      throw new TypeError2("The argument of URLSearchParams is not iterable");
    }
    const list = [];
    forEachOf(init, (pair) => {
      if (typeof pair !== "object" && typeof pair !== "function" || pair === null) {
        throw notAPair();
      }
      const parts = [];
      forEachOf(pair, (part) => {
        ArrayPrototypePush(parts, toUSVString(part));
      });
      if (parts.length !== 2) throw notAPair();
      ArrayPrototypePush(list, parts[0], parts[1]);
    });
    return list;
  }
  __name(listOfObject, "listOfObject");
  function forEachOf(iterable, visit) {
    for (const item of iterable) visit(item);
  }
  __name(forEachOf, "forEachOf");
  function notAPair() {
    return new TypeError2("Each item of the iterable given to URLSearchParams must be a pair of name and value");
  }
  __name(notAPair, "notAPair");
  function listOfRecord(init) {
    const list = [];
    const places = new Map2();
    const keys3 = ReflectOwnKeys(init);
    for (let i = 0; i < keys3.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(init, keys3[i]);
      if (descriptor === void 0 || !descriptor.enumerable) continue;
      const name = toUSVString(keys3[i]);
      const value = toUSVString(init[keys3[i]]);
      const place2 = MapPrototypeGet(places, name);
      if (place2 !== void 0) {
        list[place2] = value;
      } else {
        ArrayPrototypePush(list, name, value);
        MapPrototypeSet(places, name, list.length - 1);
      }
    }
    return list;
  }
  __name(listOfRecord, "listOfRecord");
  var URL = class _URL {
    static {
      __name(this, "URL");
    }
    #parts;
    #params = void 0;
    constructor(url, base = void 0) {
      requireArguments(arguments.length, 1, "URL");
      url = toUSVString(url);
      if (base !== void 0) base = toUSVString(base);
      const parts = nativeUrlParse(url, base);
      if (parts === void 0) throw invalidUrl(url, base);
      this.#parts = parts;
    }
    static canParse(url, base = void 0) {
      requireArguments(arguments.length, 1, "URL.canParse");
      url = toUSVString(url);
      if (base !== void 0) base = toUSVString(base);
      return nativeUrlParse(url, base) !== void 0;
    }
    static parse(url, base = void 0) {
      requireArguments(arguments.length, 1, "URL.parse");
      url = toUSVString(url);
      if (base !== void 0) base = toUSVString(base);
      return nativeUrlParse(url, base) === void 0 ? null : new _URL(url, base);
    }
    get href() {
      return this.#parts[HREF];
    }
    set href(value) {
      void this.#parts;
      value = toUSVString(value);
      if (!this.#set("href", value)) throw invalidUrl(value, void 0);
      this.#refreshParams();
    }
    get origin() {
      return this.#parts[ORIGIN];
    }
    get protocol() {
      return this.#parts[PROTOCOL];
    }
    set protocol(value) {
      this.#set("protocol", toUSVString(value));
    }
    get username() {
      return this.#parts[USERNAME];
    }
    set username(value) {
      this.#set("username", toUSVString(value));
    }
    get password() {
      return this.#parts[PASSWORD];
    }
    set password(value) {
      this.#set("password", toUSVString(value));
    }
    get host() {
      return this.#parts[HOST];
    }
    set host(value) {
      this.#set("host", toUSVString(value));
    }
    get hostname() {
      return this.#parts[HOSTNAME];
    }
    set hostname(value) {
      this.#set("hostname", toUSVString(value));
    }
    get port() {
      return this.#parts[PORT];
    }
    set port(value) {
      this.#set("port", toUSVString(value));
    }
    get pathname() {
      return this.#parts[PATHNAME];
    }
    set pathname(value) {
      this.#set("pathname", toUSVString(value));
    }
    get search() {
      return this.#parts[SEARCH];
    }
    set search(value) {
      this.#set("search", toUSVString(value));
      this.#refreshParams();
    }
    get searchParams() {
      this.#params ??= paramsOfUrl(this.#parts[SEARCH], (query) => {
        this.#set("search", query);
      });
      return this.#params;
    }
    get hash() {
      return this.#parts[HASH];
    }
    set hash(value) {
      this.#set("hash", toUSVString(value));
    }
    toString() {
      return this.#parts[HREF];
    }
    toJSON() {
      return this.#parts[HREF];
    }
    [inspectCustom](depth, options, inspect4) {
      const parts = this.#parts;
      const shown = {
        href: parts[HREF],
        origin: parts[ORIGIN],
        protocol: parts[PROTOCOL],
        username: parts[USERNAME],
        password: parts[PASSWORD],
        host: parts[HOST],
        hostname: parts[HOSTNAME],
        port: parts[PORT],
        pathname: parts[PATHNAME],
        search: parts[SEARCH],
        searchParams: this.searchParams,
        hash: parts[HASH]
      };
      return "URL " + inspect4(shown, options);
    }
    #set(part, value) {
      const parts = nativeUrlSet(this.#parts[HREF], part, value);
      if (parts === void 0) return false;
      this.#parts = parts;
      return true;
    }
    #refreshParams() {
      if (this.#params !== void 0) refreshParams(this.#params, this.#parts[SEARCH]);
    }
  };
  function invalidUrl(input, base) {
    const error = new TypeError2("Invalid URL");
    addErrorProperty(error, "code", "ERR_INVALID_URL");
    addErrorProperty(error, "input", input);
    if (base !== void 0) addErrorProperty(error, "base", base);
    return error;
  }
  __name(invalidUrl, "invalidUrl");
  function searchParamsText(value) {
    return serializeParams(value);
  }
  __name(searchParamsText, "searchParamsText");
  shapeClass(URLSearchParams, "URLSearchParams", [
    "size",
    "append",
    "delete",
    "get",
    "getAll",
    "has",
    "set",
    "sort",
    "forEach",
    "entries",
    "keys",
    "values",
    "toString"
  ]);
  ObjectDefineProperty(URLSearchParams.prototype, SymbolIterator, {
    __proto__: null,
    value: URLSearchParams.prototype.entries,
    writable: true,
    enumerable: false,
    configurable: true
  });
  shapeClass(URL, "URL", [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "searchParams",
    "hash",
    "toString",
    "toJSON"
  ]);

  // cell/classify.js
  var { isArray } = Array;
  var toNumber = Number;
  var { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys: keys2 } = Object;
  var uncurry = Function.prototype.bind.bind(Function.prototype.call);
  var getter2 = /* @__PURE__ */ __name((prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get), "getter");
  var mapForEach = uncurry(Map.prototype.forEach);
  var setForEach = uncurry(Set.prototype.forEach);
  var bigintText = uncurry(BigInt.prototype.toString);
  var bigintValue = uncurry(BigInt.prototype.valueOf);
  var numberValue = uncurry(Number.prototype.valueOf);
  var stringValue = uncurry(String.prototype.valueOf);
  var booleanValue = uncurry(Boolean.prototype.valueOf);
  var regexpSource = getter2(RegExp.prototype, "source");
  var regexpFlags = getter2(RegExp.prototype, "flags");
  var typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
  var typedArrayLength = getter2(typedArrayPrototype, "length");
  var viewBuffer = getter2(DataView.prototype, "buffer");
  var viewOffset = getter2(DataView.prototype, "byteOffset");
  var viewLength = getter2(DataView.prototype, "byteLength");
  var bufferLength = getter2(ArrayBuffer.prototype, "byteLength");
  var Bytes = Uint8Array;
  var kinds2 = [
    [Map.prototype, (value) => {
      const entries = [];
      mapForEach(value, (member, key) => put(entries, [key, member]));
      return [entries, "the Map became an array of its entries"];
    }],
    [Set.prototype, (value) => {
      const members = [];
      setForEach(value, (member) => put(members, member));
      return [members, "the Set became an array of its members"];
    }],
    [Error.prototype, (value) => {
      const plain = { name: "" + value.name, message: "" + value.message };
      const own2 = keys2(value);
      for (let index = 0; index < own2.length; index++) define(plain, own2[index], value[own2[index]]);
      return [plain, "the Error became an object with its name and message"];
    }],
    [typedArrayPrototype, (value) => [value, "the typed array became an array of its elements", typedArrayLength(value)]],
    [ArrayBuffer.prototype, (value) => [
      new Bytes(value, 0, bufferLength(value)),
      "the ArrayBuffer became an array of its bytes",
      bufferLength(value)
    ]],
    [DataView.prototype, (value) => [
      new Bytes(viewBuffer(value), viewOffset(value), viewLength(value)),
      "the DataView became an array of its bytes",
      viewLength(value)
    ]],
    [RegExp.prototype, (value) => ["/" + regexpSource(value) + "/" + regexpFlags(value), "the RegExp became its text"]],
    [Promise.prototype, () => [null, "a promise that was not awaited became null"]],
    [WeakMap.prototype, () => [null, "the WeakMap became null"]],
    [WeakSet.prototype, () => [null, "the WeakSet became null"]],
    [Number.prototype, (value) => [numberValue(value), void 0]],
    [String.prototype, (value) => [stringValue(value), void 0]],
    [Boolean.prototype, (value) => [booleanValue(value), void 0]],
    [BigInt.prototype, (value) => bigint(bigintValue(value))]
  ];
  function classify(value) {
    switch (typeof value) {
      case "function":
        return [void 0, "a function"];
      case "symbol":
        return [void 0, "a symbol"];
      case "bigint":
        return bigint(value);
    }
    if (isArray(value)) return [value, void 0, toNumber(value.length)];
    let prototype = getPrototypeOf(value);
    for (let depth = 0; prototype !== null && depth < 16; depth++) {
      for (let index = 0; index < kinds2.length; index++) {
        if (kinds2[index][0] !== prototype) continue;
        try {
          return kinds2[index][1](value);
        } catch {
          return void 0;
        }
      }
      prototype = getPrototypeOf(prototype);
    }
    return void 0;
  }
  __name(classify, "classify");
  function bigint(value) {
    const { toJSON } = value;
    if (typeof toJSON === "function") return [value.toJSON(""), void 0];
    return [bigintText(value), "the BigInt became its decimal text"];
  }
  __name(bigint, "bigint");
  function put(array, value) {
    define(array, array.length, value);
  }
  __name(put, "put");
  function define(object, key, value) {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }
  __name(define, "define");

  // cell/errors.js
  var { captureStackTrace } = Error;
  var StringConstructor = String;
  var { defineProperty: defineProperty2, getOwnPropertyDescriptor: getOwnPropertyDescriptor2, getPrototypeOf: getPrototypeOf2 } = Object;
  var { stringify } = JSON;
  var uncurry2 = Function.prototype.bind.bind(Function.prototype.call);
  var slice = uncurry2(String.prototype.slice);
  var toWellFormed = uncurry2(String.prototype.toWellFormed);
  var endsWith = uncurry2(String.prototype.endsWith);
  var startsWith = uncurry2(String.prototype.startsWith);
  var errorPrototype = Error.prototype;
  var referenceErrorPrototype = ReferenceError.prototype;
  var TEXT_UNITS = 65536;
  var PRELUDE = "toolcell:prelude";
  var NOT_DEFINED = " is not defined";
  var NOT_LOADED = "could not load module ";
  var net = "it needs the grant `net`, which this call does not have";
  var kv = "it needs the grant `kv`, which this call does not have";
  var files = "it needs the grant `files`, which this call does not have";
  var secrets = "it needs the grant `secrets`, which this call does not have";
  var tools = "it needs the grant `tools`, which this call does not have";
  var timers2 = "it needs the grant `timers`, which this call does not have";
  var strings = "code from strings is not available, what was analysed is what runs";
  var host = "a cell has no process, files or environment";
  var modules = "modules are not available, a tool is one file";
  var scope = "a cell hands out no global object, declare what you need";
  var REASONS = {
    __proto__: null,
    fetch: net,
    Request: net,
    Response: net,
    Headers: net,
    ReadableStream: net,
    ReadableStreamDefaultController: net,
    ReadableStreamDefaultReader: net,
    WebSocket: net,
    XMLHttpRequest: net,
    kv,
    files,
    secret: secrets,
    tools,
    sleep: timers2,
    setTimeout: timers2,
    setInterval: timers2,
    setImmediate: timers2,
    clearTimeout: timers2,
    clearInterval: timers2,
    eval: strings,
    require: modules,
    module: "modules are not available, export `execute` instead",
    exports: "modules are not available, export `execute` instead",
    process: host,
    __dirname: host,
    __filename: host,
    Deno: host,
    Bun: host,
    global: scope,
    globalThis: scope,
    window: scope,
    self: scope
  };
  var taking = false;
  var taken;
  function here(callee) {
    taking = true;
    taken = void 0;
    try {
      captureStackTrace({ __proto__: null }, callee);
    } finally {
      taking = false;
    }
    const frames = taken;
    taken = void 0;
    return frames;
  }
  __name(here, "here");
  function prepareStackTrace(error, frames) {
    if (taking) {
      taking = false;
      taken = frames;
      return void 0;
    }
    explain(error);
    return traceOf(frames, constructorFrames(error, frames));
  }
  __name(prepareStackTrace, "prepareStackTrace");
  function stackOf(frames) {
    return traceOf(frames, 0);
  }
  __name(stackOf, "stackOf");
  function traceOf(frames, first) {
    let text2 = "";
    let native2 = "";
    for (let index = first; index < frames.length; index++) {
      const frame = frames[index];
      const file = frame.getFileName();
      const name = frame.getFunctionName();
      if (file === PRELUDE) {
        native2 = "";
      } else if (typeof file !== "string") {
        native2 += "    at " + (name || "<anonymous>") + " (native)\n";
      } else {
        const at = file + ":" + place(frame);
        text2 += native2 + "    at " + (name ? name + " (" + at + ")" : at) + "\n";
        native2 = "";
      }
    }
    return text2;
  }
  __name(traceOf, "traceOf");
  function place(frame) {
    const line = frame.getLineNumber();
    const column = frame.getColumnNumber();
    return line + ":" + (line === 1 && column > 1 ? column + 1 : column);
  }
  __name(place, "place");
  function constructorFrames(error, frames) {
    let count = 0;
    try {
      let prototype = getPrototypeOf2(error);
      while (count < frames.length && prototype !== null && prototype !== errorPrototype) {
        const name = frames[count].getFunctionName();
        const constructor = getOwnPropertyDescriptor2(prototype, "constructor")?.value;
        if (typeof constructor !== "function" || !name || constructor.name !== name) break;
        count++;
        prototype = getPrototypeOf2(prototype);
      }
    } catch {
      return 0;
    }
    return count;
  }
  __name(constructorFrames, "constructorFrames");
  function explain(error) {
    if (typeof error !== "object" || error === null || getPrototypeOf2(error) !== referenceErrorPrototype) return;
    const { message } = error;
    if (typeof message !== "string") return;
    let reason;
    if (startsWith(message, NOT_LOADED)) reason = modules;
    else if (endsWith(message, NOT_DEFINED)) reason = REASONS[slice(message, 0, -NOT_DEFINED.length)];
    if (reason === void 0) return;
    const value = message + ": " + reason;
    defineProperty2(error, "message", { __proto__: null, value, writable: true, configurable: true });
  }
  __name(explain, "explain");
  function inspect3(thrown) {
    if ((typeof thrown !== "object" || thrown === null) && typeof thrown !== "function") {
      return ["Error", text(thrown), ""];
    }
    const name = nameOf2(thrown);
    const message = read(thrown, "message") ?? describe(thrown);
    return [name, message, read(thrown, "stack") ?? ""];
  }
  __name(inspect3, "inspect");
  function nameOf2(object) {
    try {
      const { name } = object;
      return typeof name === "string" && name !== "" ? text(name) : "Error";
    } catch {
      return "Error";
    }
  }
  __name(nameOf2, "nameOf");
  function read(object, key) {
    try {
      const value = object[key];
      return value === void 0 || value === null ? void 0 : text(value);
    } catch {
      return void 0;
    }
  }
  __name(read, "read");
  function describe(object) {
    try {
      const json = stringify(object);
      return json === void 0 ? "" : text(json);
    } catch {
      return "";
    }
  }
  __name(describe, "describe");
  function text(value) {
    try {
      const full = typeof value === "string" ? value : StringConstructor(value);
      return toWellFormed(full.length > TEXT_UNITS ? slice(full, 0, TEXT_UNITS) : full);
    } catch {
      return "";
    }
  }
  __name(text, "text");

  // cell/operations.js
  function connect(AbortController2) {
    neverAborted = new AbortController2().signal;
  }
  __name(connect, "connect");
  var neverAborted;
  function start(kind, payload, bytes, place2, done, failed) {
    return native.start(kind, payload, bytes, { place: place2, done, failed });
  }
  __name(start, "start");
  function cancel(id) {
    native.cancel(id);
  }
  __name(cancel, "cancel");
  function release(id) {
    native.release(id);
  }
  __name(release, "release");
  function settle(operation, ok, value, bytes) {
    if (!ok) {
      operation.failed(failure(value.name, value.message, value.code, value.effects, operation.place));
      return;
    }
    try {
      operation.done(value, bytes);
    } catch (error) {
      operation.failed(misread(error, operation.place));
    }
  }
  __name(settle, "settle");
  function request(kind, read2, write4, content, a, b, c) {
    const place2 = here(request);
    let payload;
    let bytes;
    try {
      payload = write4(a, b, c);
      if (content !== void 0) bytes = content(a, b, c);
    } catch (error) {
      return rejected(error);
    }
    return native.request(kind, payload, bytes, read2, a, place2);
  }
  __name(request, "request");
  function rejected(error) {
    return new Promise2((resolve, reject) => reject(error));
  }
  __name(rejected, "rejected");
  var NOTHING = { __proto__: null };
  function nothing(answer) {
    return answer === null ? NOTHING : void 0;
  }
  __name(nothing, "nothing");
  function malformed(kind, place2) {
    const message = "the host's answer to `" + kind + "` is malformed, so it is not known what happened";
    return failure("TypeError", message, "answer-malformed", "started", place2);
  }
  __name(malformed, "malformed");
  function misread(error, place2) {
    if (place2 !== void 0) define2(error, "stack", stackOf(place2));
    return error;
  }
  __name(misread, "misread");
  var EXCEPTIONS = {
    __proto__: null,
    AbortError: true,
    DataError: true,
    InvalidStateError: true,
    NetworkError: true,
    NotAllowedError: true,
    NotFoundError: true,
    NotSupportedError: true,
    QuotaExceededError: true,
    SecurityError: true,
    TimeoutError: true
  };
  function failure(name, message, code, effects, place2) {
    let error;
    if (name === "TypeError") {
      error = new TypeError2(message);
    } else if (EXCEPTIONS[name]) {
      error = new DOMException2(message, name);
    } else {
      error = new Error2(message);
      if (name !== "Error") define2(error, "name", name);
    }
    if (place2 !== void 0) define2(error, "stack", stackOf(place2));
    addErrorProperty(error, "code", code);
    addErrorProperty(error, "effects", effects);
    return error;
  }
  __name(failure, "failure");
  function define2(object, key, value) {
    ObjectDefineProperty(object, key, { __proto__: null, value, writable: true, configurable: true });
  }
  __name(define2, "define");
  function own(answer, key) {
    return typeof answer === "object" && answer !== null && ObjectPrototypeHasOwnProperty(answer, key) ? answer[key] : void 0;
  }
  __name(own, "own");
  function quote2(string) {
    return native.quote(string);
  }
  __name(quote2, "quote");

  // src/streams.js
  var READABLE = "readable";
  var CLOSED = "closed";
  var ERRORED = "errored";
  function createStream(pull, cancel2, highWaterMark = 0, size = void 0) {
    return {
      object: void 0,
      state: READABLE,
      error: void 0,
      reader: void 0,
      disturbed: false,
      queue: [],
      queued: 0,
      started: true,
      closing: false,
      pulling: false,
      pullAgain: false,
      highWaterMark,
      size,
      pull,
      cancel: cancel2
    };
  }
  __name(createStream, "createStream");
  function isLocked(stream) {
    return stream.reader !== void 0;
  }
  __name(isLocked, "isLocked");
  function desiredSize(stream) {
    if (stream.state === ERRORED) return null;
    return stream.state === CLOSED ? 0 : stream.highWaterMark - stream.queued;
  }
  __name(desiredSize, "desiredSize");
  function wantsMore(stream) {
    if (stream.state !== READABLE || stream.closing || !stream.started) return false;
    return stream.reader !== void 0 && stream.reader.requests.length > 0 || desiredSize(stream) > 0;
  }
  __name(wantsMore, "wantsMore");
  function pullIfNeeded(stream) {
    if (!wantsMore(stream)) return;
    if (stream.pulling) {
      stream.pullAgain = true;
      return;
    }
    stream.pulling = true;
    const pull = stream.pull;
    try {
      pull(
        () => {
          stream.pulling = false;
          if (!stream.pullAgain) return;
          stream.pullAgain = false;
          pullIfNeeded(stream);
        },
        (error) => errorStream(stream, error)
      );
    } catch (error) {
      errorStream(stream, error);
    }
  }
  __name(pullIfNeeded, "pullIfNeeded");
  function enqueue(stream, chunk) {
    if (stream.state !== READABLE || stream.closing) return;
    if (stream.reader !== void 0 && stream.reader.requests.length > 0) {
      ArrayPrototypeShift(stream.reader.requests).chunk(chunk);
    } else {
      const size = stream.size === void 0 ? 1 : Number2(sizeOf(stream, chunk));
      if (!(size >= 0 && size < Infinity)) {
        const error = new RangeError2("The size of a chunk must be a finite number, zero or more");
        errorStream(stream, error);
        throw error;
      }
      ArrayPrototypePush(stream.queue, { chunk, size });
      stream.queued += size;
    }
    pullIfNeeded(stream);
  }
  __name(enqueue, "enqueue");
  function sizeOf(stream, chunk) {
    const { size } = stream;
    try {
      return size(chunk);
    } catch (error) {
      errorStream(stream, error);
      throw error;
    }
  }
  __name(sizeOf, "sizeOf");
  function closeStream(stream) {
    if (stream.state !== READABLE || stream.closing) return;
    stream.closing = true;
    if (stream.queue.length === 0) finish(stream);
  }
  __name(closeStream, "closeStream");
  function finish(stream) {
    stream.state = CLOSED;
    stream.pull = stream.cancel = stream.size = void 0;
    const { reader } = stream;
    if (reader === void 0) return;
    if (reader.settle !== void 0) reader.settle.resolve(void 0);
    const { requests } = reader;
    reader.requests = [];
    for (let i = 0; i < requests.length; i++) requests[i].close();
  }
  __name(finish, "finish");
  function errorStream(stream, error) {
    if (stream.state !== READABLE) return;
    stream.state = ERRORED;
    stream.error = error;
    stream.queue = [];
    stream.queued = 0;
    stream.pull = stream.cancel = stream.size = void 0;
    const { reader } = stream;
    if (reader === void 0) return;
    if (reader.settle !== void 0) reader.settle.reject(error);
    failRequests(reader, error);
  }
  __name(errorStream, "errorStream");
  function failRequests(reader, error) {
    const { requests } = reader;
    reader.requests = [];
    for (let i = 0; i < requests.length; i++) requests[i].error(error);
  }
  __name(failRequests, "failRequests");
  function cancelStream(stream, reason, done, failed) {
    stream.disturbed = true;
    if (stream.state === CLOSED) {
      done(void 0);
    } else if (stream.state === ERRORED) {
      failed(stream.error);
    } else {
      const { cancel: cancel2 } = stream;
      stream.queue = [];
      stream.queued = 0;
      finish(stream);
      try {
        cancel2(reason, () => done(void 0), failed);
      } catch (error) {
        failed(error);
      }
    }
  }
  __name(cancelStream, "cancelStream");
  function lock(stream) {
    if (stream.reader !== void 0) throw new TypeError2("The stream is locked: it has a reader already");
    stream.reader = { stream, requests: [], closed: void 0, settle: void 0 };
    return stream.reader;
  }
  __name(lock, "lock");
  function release2(reader) {
    const { stream } = reader;
    if (stream === void 0) return;
    const error = released();
    if (reader.settle !== void 0 && stream.state === READABLE) reader.settle.reject(error);
    else reader.closed = void 0;
    reader.stream = stream.reader = reader.settle = void 0;
    failRequests(reader, error);
  }
  __name(release2, "release");
  function released() {
    return new TypeError2("The reader was released");
  }
  __name(released, "released");
  function readChunk(reader, request2) {
    const { stream } = reader;
    stream.disturbed = true;
    if (stream.state === CLOSED) {
      request2.close();
    } else if (stream.state === ERRORED) {
      request2.error(stream.error);
    } else if (stream.queue.length > 0) {
      const { chunk, size } = ArrayPrototypeShift(stream.queue);
      stream.queued = stream.queue.length > 0 ? stream.queued - size : 0;
      if (stream.closing && stream.queue.length === 0) finish(stream);
      else pullIfNeeded(stream);
      request2.chunk(chunk);
    } else {
      ArrayPrototypePush(reader.requests, request2);
      pullIfNeeded(stream);
    }
  }
  __name(readChunk, "readChunk");
  function readAll(stream, done, failed) {
    const reader = lock(stream);
    const chunks = [];
    let reading = false;
    let again = false;
    const request2 = {
      chunk(chunk) {
        if (TypedArrayPrototypeGetToStringTag(chunk) === "Uint8Array") {
          ArrayPrototypePush(chunks, chunk);
          more();
          return;
        }
        const error = new TypeError2("A body is a stream of Uint8Array: another chunk came");
        cancelStream(stream, error, () => {
        }, () => {
        });
        failed(error);
      },
      close() {
        done(chunks);
      },
      error: failed
    };
    function more() {
      again = true;
      if (reading) return;
      reading = true;
      while (again) {
        again = false;
        readChunk(reader, request2);
      }
      reading = false;
    }
    __name(more, "more");
    more();
  }
  __name(readAll, "readAll");
  function teeStream(stream, copy) {
    const reader = lock(stream);
    let reading = false;
    let readAgain = false;
    const cancelled = [false, false];
    const reasons = [void 0, void 0];
    const waiting = [];
    const branches = [];
    const both = /* @__PURE__ */ __name((act) => {
      for (let i = 0; i < 2; i++) if (!cancelled[i]) act(branches[i], i);
    }, "both");
    const settleCancelled = /* @__PURE__ */ __name((error, isError2) => {
      for (let i = 0; i < waiting.length; i++) isError2 ? waiting[i].failed(error) : waiting[i].done(void 0);
    }, "settleCancelled");
    const request2 = {
      chunk(chunk) {
        afterThisTask(() => {
          readAgain = false;
          both((branch, i) => enqueue(branch, i === 1 ? copy(chunk) : chunk));
          reading = false;
          if (readAgain) pull(() => {
          });
        });
      },
      close() {
        reading = false;
        both(closeStream);
        settleCancelled(void 0, false);
      },
      error(error) {
        reading = false;
        both((branch) => errorStream(branch, error));
        settleCancelled(void 0, false);
      }
    };
    function pull(done) {
      if (reading) {
        readAgain = true;
      } else {
        reading = true;
        readChunk(reader, request2);
      }
      done();
    }
    __name(pull, "pull");
    const cancelBranch = /* @__PURE__ */ __name((i) => (reason, done, failed) => {
      cancelled[i] = true;
      reasons[i] = reason;
      ArrayPrototypePush(waiting, { done, failed });
      if (!cancelled[1 - i]) return;
      cancelStream(stream, reasons, () => settleCancelled(void 0, false), (error) => settleCancelled(error, true));
    }, "cancelBranch");
    ArrayPrototypePush(branches, createStream(pull, cancelBranch(0), 1));
    ArrayPrototypePush(branches, createStream(pull, cancelBranch(1), 1));
    pullIfNeeded(branches[0]);
    return branches;
  }
  __name(teeStream, "teeStream");
  function joinBytes(chunks) {
    let length = 0;
    for (let i = 0; i < chunks.length; i++) length += TypedArrayPrototypeGetLength(chunks[i]);
    const bytes = new Uint8Array2(length);
    let at = 0;
    for (let i = 0; i < chunks.length; i++) {
      TypedArrayPrototypeSet(bytes, chunks[i], at);
      at += TypedArrayPrototypeGetLength(chunks[i]);
    }
    return bytes;
  }
  __name(joinBytes, "joinBytes");

  // src/readable-stream.js
  var constructionKey2 = {};
  var makeStream;
  var recordOf;
  function streamObject(stream) {
    if (stream.object === void 0) makeStream(stream);
    return stream.object;
  }
  __name(streamObject, "streamObject");
  function streamOf(value) {
    return typeof value === "object" && value !== null && recordOf !== void 0 ? recordOf(value) : void 0;
  }
  __name(streamOf, "streamOf");
  function callAsync(method, receiver, args, done, failed) {
    const promise = new Promise2((resolve) => resolve(ReflectApply(method, receiver, args)));
    PromisePrototypeThen(promise, done, failed);
  }
  __name(callAsync, "callAsync");
  function methodOf(source, name) {
    const method = source[name];
    if (method !== void 0 && typeof method !== "function") {
      throw new TypeError2("`" + name + "` of a stream's source must be a function");
    }
    return method;
  }
  __name(methodOf, "methodOf");
  function streamOfSource(source, strategy) {
    if (source === void 0) source = {};
    if (typeof source !== "object" && typeof source !== "function" || source === null) {
      throw new TypeError2("The source of a ReadableStream must be an object");
    }
    if (source.type !== void 0) throw new TypeError2("Byte streams are not available: leave the `type` of the source out");
    const { size, highWaterMark = 1 } = strategy === void 0 || strategy === null ? {} : strategy;
    const mark = Number2(highWaterMark);
    if (!(mark >= 0)) throw new RangeError2("The highWaterMark must be a number, zero or more");
    if (size !== void 0 && typeof size !== "function") throw new TypeError2("The size of a strategy must be a function");
    const cancel2 = methodOf(source, "cancel");
    const pull = methodOf(source, "pull");
    const start3 = methodOf(source, "start");
    const stream = createStream(void 0, void 0, mark, size);
    const controller = new Controller(constructionKey2, stream);
    stream.started = false;
    stream.pull = (done, failed) => {
      if (pull === void 0) done();
      else callAsync(pull, source, [controller], done, failed);
    };
    stream.cancel = (reason, done, failed) => {
      if (cancel2 === void 0) done();
      else callAsync(cancel2, source, [reason], done, failed);
    };
    stream.begin = () => {
      const started = start3 === void 0 ? void 0 : ReflectApply(start3, source, [controller]);
      PromisePrototypeThen(
        new Promise2((resolve) => resolve(started)),
        () => {
          stream.started = true;
          pullIfNeeded(stream);
        },
        (error) => errorStream(stream, error)
      );
    };
    return stream;
  }
  __name(streamOfSource, "streamOfSource");
  var Controller;
  function makeStreams() {
    class ReadableStreamDefaultController {
      static {
        __name(this, "ReadableStreamDefaultController");
      }
      #stream;
      constructor(key = void 0, stream = void 0) {
        if (key !== constructionKey2) throw new TypeError2("Illegal constructor");
        this.#stream = stream;
      }
      get desiredSize() {
        return desiredSize(this.#stream);
      }
      enqueue(chunk = void 0) {
        const stream = this.#stream;
        if (stream.state !== READABLE || stream.closing) throw new TypeError2("The stream takes no more chunks");
        enqueue(stream, chunk);
      }
      close() {
        const stream = this.#stream;
        if (stream.state !== READABLE || stream.closing) throw new TypeError2("The stream is closed already");
        closeStream(stream);
      }
      error(error = void 0) {
        errorStream(this.#stream, error);
      }
    }
    Controller = ReadableStreamDefaultController;
    class ReadableStreamDefaultReader {
      static {
        __name(this, "ReadableStreamDefaultReader");
      }
      #reader;
      constructor(stream) {
        const record = streamOf(stream);
        if (record === void 0) throw new TypeError2("A reader needs a ReadableStream");
        this.#reader = lock(record);
      }
      get closed() {
        const reader = this.#reader;
        if (reader.closed === void 0) {
          const { stream } = reader;
          const { state, error } = stream === void 0 ? { state: ERRORED, error: released() } : stream;
          reader.closed = new Promise2((resolve, reject) => {
            if (state === CLOSED) resolve(void 0);
            else if (state === ERRORED) reject(error);
            else reader.settle = { resolve, reject };
          });
        }
        return reader.closed;
      }
      read() {
        return new Promise2((resolve, reject) => readChunk(attached(this.#reader), promiseRequest(resolve, reject)));
      }
      cancel(reason = void 0) {
        return new Promise2((resolve, reject) => cancelStream(attached(this.#reader).stream, reason, resolve, reject));
      }
      releaseLock() {
        release2(this.#reader);
      }
    }
    class ReadableStream {
      static {
        __name(this, "ReadableStream");
      }
      #stream;
      static {
        makeStream = /* @__PURE__ */ __name((stream) => new ReadableStream(constructionKey2, stream), "makeStream");
        recordOf = /* @__PURE__ */ __name((value) => #stream in value ? value.#stream : void 0, "recordOf");
      }
      constructor(source = void 0, strategy = void 0) {
        if (source === constructionKey2) {
          this.#stream = strategy;
          strategy.object = this;
          return;
        }
        const stream = streamOfSource(source, strategy);
        this.#stream = stream;
        stream.object = this;
        stream.begin();
      }
      get locked() {
        return isLocked(this.#stream);
      }
      getReader(options = void 0) {
        const stream = this.#stream;
        if (options !== void 0 && options !== null && options.mode !== void 0) {
          throw new TypeError2("Readers of byte streams are not available: leave the `mode` out");
        }
        void stream;
        return new ReadableStreamDefaultReader(this);
      }
      cancel(reason = void 0) {
        return new Promise2((resolve, reject) => {
          const stream = this.#stream;
          if (isLocked(stream)) throw new TypeError2("The stream is locked: cancel its reader");
          cancelStream(stream, reason, resolve, reject);
        });
      }
      tee() {
        const branches = teeStream(this.#stream, (chunk) => chunk);
        return [streamObject(branches[0]), streamObject(branches[1])];
      }
      values(options = void 0) {
        const preventCancel = options !== void 0 && options !== null && !!options.preventCancel;
        return new StreamIterator(lock(this.#stream), preventCancel);
      }
      [inspectCustom]() {
        const stream = this.#stream;
        return "ReadableStream { locked: " + isLocked(stream) + ", state: '" + stream.state + "' }";
      }
    }
    class StreamIterator {
      static {
        __name(this, "StreamIterator");
      }
      #reader;
      #preventCancel;
      // Steps follow each other, whatever the tool does.
      #last = void 0;
      constructor(reader, preventCancel) {
        this.#reader = reader;
        this.#preventCancel = preventCancel;
      }
      next() {
        return this.#after((resolve, reject) => {
          const reader = this.#reader;
          if (reader.stream === void 0) {
            resolve({ value: void 0, done: true });
            return;
          }
          readChunk(reader, {
            chunk: /* @__PURE__ */ __name((value) => resolve({ value, done: false }), "chunk"),
            close: /* @__PURE__ */ __name(() => {
              release2(reader);
              resolve({ value: void 0, done: true });
            }, "close"),
            error: /* @__PURE__ */ __name((error) => {
              release2(reader);
              reject(error);
            }, "error")
          });
        });
      }
      return(value = void 0) {
        return this.#after((resolve, reject) => {
          const reader = this.#reader;
          const { stream } = reader;
          const end = /* @__PURE__ */ __name(() => resolve({ value, done: true }), "end");
          if (stream === void 0) {
            end();
          } else if (this.#preventCancel) {
            release2(reader);
            end();
          } else {
            cancelStream(stream, value, end, reject);
            release2(reader);
          }
        });
      }
      #after(step) {
        const last = this.#last;
        const promise = new Promise2((resolve, reject) => {
          const run = /* @__PURE__ */ __name(() => {
            try {
              step(resolve, reject);
            } catch (error) {
              reject(error);
            }
          }, "run");
          if (last === void 0) run();
          else PromisePrototypeThen(last, run, run);
        });
        this.#last = promise;
        return promise;
      }
    }
    ObjectSetPrototypeOf(StreamIterator.prototype, AsyncIteratorPrototype);
    delete StreamIterator.prototype.constructor;
    shapeClass(StreamIterator, "ReadableStream AsyncIterator", ["next", "return"]);
    shapeClass(ReadableStreamDefaultController, "ReadableStreamDefaultController", [
      "desiredSize",
      "enqueue",
      "close",
      "error"
    ]);
    shapeClass(ReadableStreamDefaultReader, "ReadableStreamDefaultReader", ["closed", "read", "cancel", "releaseLock"]);
    shapeClass(ReadableStream, "ReadableStream", ["locked", "getReader", "cancel", "tee", "values"]);
    ObjectDefineProperty(ReadableStream.prototype, SymbolAsyncIterator, {
      __proto__: null,
      value: ReadableStream.prototype.values,
      writable: true,
      enumerable: false,
      configurable: true
    });
    return { __proto__: null, ReadableStream, ReadableStreamDefaultController, ReadableStreamDefaultReader };
  }
  __name(makeStreams, "makeStreams");
  function attached(reader) {
    if (reader.stream === void 0) throw released();
    return reader;
  }
  __name(attached, "attached");
  function promiseRequest(resolve, reject) {
    return {
      chunk: /* @__PURE__ */ __name((value) => resolve({ value, done: false }), "chunk"),
      close: /* @__PURE__ */ __name(() => resolve({ value: void 0, done: true }), "close"),
      error: reject
    };
  }
  __name(promiseRequest, "promiseRequest");

  // src/body.js
  function hasNoBody(status) {
    return status === 204 || status === 205 || status === 304;
  }
  __name(hasNoBody, "hasNoBody");
  var TEXT_TYPE = "text/plain;charset=UTF-8";
  function bodyOfBytes(bytes, signal) {
    return { bytes, stream: void 0, rest: void 0, used: false, shared: false, signal, onRead: void 0 };
  }
  __name(bodyOfBytes, "bodyOfBytes");
  function bodyOfStream(stream, onRead) {
    return { bytes: void 0, stream, rest: void 0, used: false, shared: false, signal: void 0, onRead };
  }
  __name(bodyOfStream, "bodyOfStream");
  function bodyOfRest(rest) {
    return { bytes: void 0, stream: void 0, rest, used: false, shared: false, signal: void 0, onRead: void 0 };
  }
  __name(bodyOfRest, "bodyOfRest");
  function extractBody(value) {
    if (typeof value === "object") {
      const stream = streamOf(value);
      if (stream !== void 0) {
        if (isLocked(stream) || stream.disturbed) throw new TypeError2("The stream was read, or is being read, already");
        return { body: bodyOfStream(stream, void 0), type: void 0 };
      }
      if (ArrayBufferIsView(value) || isArrayBuffer(value)) {
        return { body: bodyOfBytes(new Uint8Array2(bytesOf(value, "The body")), void 0), type: void 0 };
      }
      const params = searchParamsText(value);
      if (params !== void 0) {
        const type = "application/x-www-form-urlencoded;charset=UTF-8";
        return { body: bodyOfBytes(encodeUtf8(params), void 0), type };
      }
    }
    return { body: bodyOfBytes(encodeUtf8(toUSVString(value)), void 0), type: TEXT_TYPE };
  }
  __name(extractBody, "extractBody");
  function isUnusable(body) {
    return body.stream === void 0 ? body.used : body.stream.disturbed || isLocked(body.stream);
  }
  __name(isUnusable, "isUnusable");
  function isUsed(body) {
    return body.stream === void 0 ? body.used : body.stream.disturbed;
  }
  __name(isUsed, "isUsed");
  function takeBody(body) {
    checkUsable(body);
    const { bytes, stream, rest, shared, signal, onRead } = body;
    body.used = true;
    body.bytes = body.stream = body.rest = void 0;
    return { bytes, stream, rest, used: false, shared, signal, onRead };
  }
  __name(takeBody, "takeBody");
  function cloneBody(body) {
    checkUsable(body);
    streamRest(body);
    if (body.stream === void 0) {
      body.shared = true;
      const copy = bodyOfBytes(body.bytes, body.signal);
      copy.shared = true;
      return copy;
    }
    const branches = teeStream(body.stream, (chunk) => {
      return ArrayBufferIsView(chunk) ? new Uint8Array2(bytesOf(chunk, "A chunk of a body")) : chunk;
    });
    body.stream = branches[0];
    return bodyOfStream(branches[1], body.onRead);
  }
  __name(cloneBody, "cloneBody");
  function checkUsable(body) {
    if (isUnusable(body)) {
      throw new TypeError2("The body was read, or is being read, already: clone() before the first reading");
    }
  }
  __name(checkUsable, "checkUsable");
  function bytesIn(body) {
    checkUsable(body);
    if (body.signal !== void 0 && isSignalAborted(body.signal)) throw signalReason(body.signal);
    const { bytes } = body;
    body.used = true;
    body.bytes = void 0;
    return body.shared ? new Uint8Array2(bytes) : bytes;
  }
  __name(bytesIn, "bytesIn");
  function streamRest(body) {
    if (body.rest === void 0) return;
    const { stream, onRead } = body.rest.stream();
    body.rest = void 0;
    body.stream = stream;
    body.onRead = onRead;
  }
  __name(streamRest, "streamRest");
  function isWhole(body) {
    return body.stream === void 0 && body.rest === void 0;
  }
  __name(isWhole, "isWhole");
  function readBody(body, done, failed) {
    if (body.rest !== void 0) {
      checkUsable(body);
      const { rest } = body;
      body.used = true;
      body.rest = void 0;
      body.bytes = new Uint8Array2(0);
      rest.read((chunks) => done(joinBytes(chunks)), failed);
      return;
    }
    if (body.stream === void 0) {
      done(bytesIn(body));
      return;
    }
    checkUsable(body);
    if (body.onRead !== void 0) body.onRead();
    readAll(body.stream, (chunks) => done(joinBytes(chunks)), failed);
  }
  __name(readBody, "readBody");
  function streamOfBody(body) {
    streamRest(body);
    if (body.stream === void 0) {
      const stream = createStream((done) => done(), (reason, done) => done());
      if (body.signal !== void 0 && isSignalAborted(body.signal)) {
        errorStream(stream, signalReason(body.signal));
      } else {
        if (!body.used && TypedArrayPrototypeGetLength(body.bytes) > 0) {
          enqueue(stream, body.shared ? new Uint8Array2(body.bytes) : body.bytes);
        }
        closeStream(stream);
      }
      stream.disturbed = body.used;
      body.stream = stream;
      body.bytes = void 0;
    }
    return streamObject(body.stream);
  }
  __name(streamOfBody, "streamOfBody");
  function abandonBody(body, reason) {
    if (body !== null && body.stream !== void 0 && !isLocked(body.stream)) {
      cancelStream(body.stream, reason, () => {
      }, () => {
      });
    }
  }
  __name(abandonBody, "abandonBody");
  function readLater(body, convert2) {
    return new Promise2((resolve, reject) => {
      readBody(body, (bytes) => {
        try {
          resolve(convert2(bytes));
        } catch (error) {
          reject(error);
        }
      }, reject);
    });
  }
  __name(readLater, "readLater");
  function decodeText(bytes) {
    const text2 = decodeUtf8(bytes, false);
    return StringPrototypeCharCodeAt(text2, 0) === 65279 ? StringPrototypeSlice(text2, 1) : text2;
  }
  __name(decodeText, "decodeText");
  function mixBody(Class, bodyOf) {
    const read2 = /* @__PURE__ */ __name((object, convert2) => {
      try {
        const body = bodyOf(object);
        if (body === null) return PromiseResolve(Promise2, convert2(new Uint8Array2(0)));
        return isWhole(body) ? PromiseResolve(Promise2, convert2(bytesIn(body))) : readLater(body, convert2);
      } catch (error) {
        return rejected(error);
      }
    }, "read");
    const members = {
      get body() {
        const body = bodyOf(this);
        return body === null ? null : streamOfBody(body);
      },
      get bodyUsed() {
        const body = bodyOf(this);
        return body !== null && isUsed(body);
      },
      arrayBuffer() {
        return read2(this, TypedArrayPrototypeGetBuffer);
      },
      bytes() {
        return read2(this, (bytes) => bytes);
      },
      json() {
        return read2(this, (bytes) => JSONParse(decodeText(bytes)));
      },
      text() {
        return read2(this, decodeText);
      }
    };
    const names = ObjectKeys(members);
    for (let i = 0; i < names.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(members, names[i]);
      ObjectDefineProperty(Class.prototype, names[i], descriptor);
    }
  }
  __name(mixBody, "mixBody");

  // src/headers.js
  var token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  var trimmed = /^[\t\n\r ]*([^]*?)[\t\n\r ]*$/;
  var valueText = /^[\x01-\x09\x0b\x0c\x0e-\xff]*$/;
  function isToken(text2) {
    return RegExpPrototypeExec(token, text2) !== null;
  }
  __name(isToken, "isToken");
  function isReason(text2) {
    return RegExpPrototypeExec(/^[\t\x20-\x7e\x80-\xff]*$/, text2) !== null;
  }
  __name(isReason, "isReason");
  var ownList;
  var setList;
  var hasList;
  function headerList(value) {
    return typeof value === "object" && value !== null && hasList(value) ? ownList(value) : void 0;
  }
  __name(headerList, "headerList");
  function headerIn(list, name) {
    let value;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === name) value = value === void 0 ? list[i + 1] : value + ", " + list[i + 1];
    }
    return value;
  }
  __name(headerIn, "headerIn");
  function headersOf(list, isFixed) {
    return setList(list, isFixed);
  }
  __name(headersOf, "headersOf");
  function checkedName(name) {
    const text2 = toText(name);
    if (!isToken(text2)) throw new TypeError2("The name of a header is a token (RFC 9110), and this is none: " + text2);
    return StringPrototypeToLowerCase(text2);
  }
  __name(checkedName, "checkedName");
  function checkedValue(value, name) {
    const text2 = RegExpPrototypeExec(trimmed, toText(value))[1];
    if (RegExpPrototypeExec(valueText, text2) === null) {
      throw new TypeError2(
        "The value of the header " + name + " has a line break, a NUL or a character beyond U+00FF: encode it first"
      );
    }
    return text2;
  }
  __name(checkedValue, "checkedValue");
  function combined(list) {
    const entries = [];
    const places = new Map2();
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i];
      const place2 = name === "set-cookie" ? void 0 : MapPrototypeGet(places, name);
      if (place2 !== void 0) {
        place2.value += ", " + list[i + 1];
      } else {
        const entry = { name, value: list[i + 1] };
        MapPrototypeSet(places, name, entry);
        ArrayPrototypePush(entries, entry);
      }
    }
    return ArrayPrototypeSort(entries, (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  }
  __name(combined, "combined");
  function forEachOf2(iterable, visit) {
    for (const item of iterable) visit(item);
  }
  __name(forEachOf2, "forEachOf");
  function copyOf(others) {
    const list = [];
    for (let i = 0; i < others.length; i++) ArrayPrototypePush(list, others[i]);
    return list;
  }
  __name(copyOf, "copyOf");
  function listOf(init) {
    if (typeof init !== "object" && typeof init !== "function" || init === null) {
      throw new TypeError2("Headers are made of an object, of pairs of name and value, or of other Headers");
    }
    const list = [];
    const add = /* @__PURE__ */ __name((name, value) => {
      const checked = checkedName(name);
      ArrayPrototypePush(list, checked, checkedValue(value, checked));
    }, "add");
    const others = headerList(init);
    if (others !== void 0) return copyOf(others);
    const method = init[SymbolIterator];
    if (method !== void 0 && method !== null) {
      forEachOf2(init, (pair) => {
        const parts = [];
        if (typeof pair !== "object" && typeof pair !== "function" || pair === null) throw notAPair2();
        forEachOf2(pair, (part) => {
          ArrayPrototypePush(parts, part);
        });
        if (parts.length !== 2) throw notAPair2();
        add(parts[0], parts[1]);
      });
      return list;
    }
    const keys3 = ReflectOwnKeys(init);
    for (let i = 0; i < keys3.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(init, keys3[i]);
      if (descriptor !== void 0 && descriptor.enumerable) add(keys3[i], init[keys3[i]]);
    }
    return list;
  }
  __name(listOf, "listOf");
  function notAPair2() {
    return new TypeError2("Each item of the iterable given to Headers must be a pair of name and value");
  }
  __name(notAPair2, "notAPair");
  function makeHeaders() {
    class Headers {
      static {
        __name(this, "Headers");
      }
      // Names and values in turn: [name, value, name, value, ...].
      #list;
      #isFixed = false;
      // What an iteration shows, until something changes.
      #combined = void 0;
      static {
        hasList = /* @__PURE__ */ __name((value) => #list in value, "hasList");
        ownList = /* @__PURE__ */ __name((headers) => headers.#list, "ownList");
        setList = /* @__PURE__ */ __name((list, isFixed) => {
          const headers = new Headers();
          headers.#list = list;
          headers.#isFixed = isFixed;
          return headers;
        }, "setList");
      }
      constructor(init = void 0) {
        this.#list = init === void 0 ? [] : listOf(init);
      }
      append(name, value) {
        void this.#list;
        requireArguments(arguments.length, 2, "Headers.append");
        name = checkedName(name);
        value = checkedValue(value, name);
        this.#change();
        ArrayPrototypePush(this.#list, name, value);
      }
      delete(name) {
        void this.#list;
        requireArguments(arguments.length, 1, "Headers.delete");
        name = checkedName(name);
        this.#change();
        this.#list = without(this.#list, name);
      }
      get(name) {
        const list = this.#list;
        requireArguments(arguments.length, 1, "Headers.get");
        return headerIn(list, checkedName(name)) ?? null;
      }
      getSetCookie() {
        const list = this.#list;
        const values = [];
        for (let i = 0; i < list.length; i += 2) {
          if (list[i] === "set-cookie") ArrayPrototypePush(values, list[i + 1]);
        }
        return values;
      }
      has(name) {
        const list = this.#list;
        requireArguments(arguments.length, 1, "Headers.has");
        return headerIn(list, checkedName(name)) !== void 0;
      }
      set(name, value) {
        const list = this.#list;
        requireArguments(arguments.length, 2, "Headers.set");
        name = checkedName(name);
        value = checkedValue(value, name);
        this.#change();
        const kept = [];
        let found = false;
        for (let i = 0; i < list.length; i += 2) {
          if (list[i] !== name) {
            ArrayPrototypePush(kept, list[i], list[i + 1]);
          } else if (!found) {
            found = true;
            ArrayPrototypePush(kept, name, value);
          }
        }
        if (!found) ArrayPrototypePush(kept, name, value);
        this.#list = kept;
      }
      forEach(callback, thisArg = void 0) {
        void this.#list;
        if (typeof callback !== "function") throw new TypeError2("The callback of Headers.forEach must be a function");
        for (let i = 0; i < this.#entries().length; i++) {
          const { name, value } = this.#entries()[i];
          ReflectApply(callback, thisArg, [value, name, this]);
        }
      }
      entries() {
        return this.#iterate("entries");
      }
      keys() {
        return this.#iterate("keys");
      }
      values() {
        return this.#iterate("values");
      }
      [inspectCustom](depth, options, inspect4) {
        const shown = {};
        const entries = this.#entries();
        for (let i = 0; i < entries.length; i++) {
          const { name, value } = entries[i];
          ObjectDefineProperty(shown, name, { __proto__: null, value, enumerable: true, configurable: true });
        }
        return "Headers " + inspect4(shown, options);
      }
      #change() {
        if (this.#isFixed) throw new TypeError2("These headers cannot be changed: make new ones, new Headers(headers)");
        this.#combined = void 0;
      }
      #entries() {
        this.#combined ??= combined(this.#list);
        return this.#combined;
      }
      #iterate(kind) {
        void this.#list;
        return new HeadersIterator(() => this.#entries(), kind);
      }
    }
    class HeadersIterator {
      static {
        __name(this, "HeadersIterator");
      }
      #entries;
      #kind;
      #next = 0;
      constructor(entries, kind) {
        this.#entries = entries;
        this.#kind = kind;
      }
      next() {
        const entries = this.#entries();
        if (this.#next >= entries.length) return { value: void 0, done: true };
        const { name, value } = entries[this.#next++];
        return { value: this.#kind === "keys" ? name : this.#kind === "values" ? value : [name, value], done: false };
      }
    }
    ObjectSetPrototypeOf(HeadersIterator.prototype, IteratorPrototype);
    delete HeadersIterator.prototype.constructor;
    shapeClass(HeadersIterator, "Headers Iterator", ["next"]);
    shapeClass(Headers, "Headers", [
      "append",
      "delete",
      "get",
      "getSetCookie",
      "has",
      "set",
      "forEach",
      "entries",
      "keys",
      "values"
    ]);
    ObjectDefineProperty(Headers.prototype, SymbolIterator, {
      __proto__: null,
      value: Headers.prototype.entries,
      writable: true,
      enumerable: false,
      configurable: true
    });
    return Headers;
  }
  __name(makeHeaders, "makeHeaders");
  function without(list, name) {
    const kept = [];
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] !== name) ArrayPrototypePush(kept, list[i], list[i + 1]);
    }
    return kept;
  }
  __name(without, "without");

  // src/transfer.js
  function sendWhole(parts, list, place2, read2) {
    const bytes = parts.body === null ? void 0 : bytesIn(parts.body);
    return native.request("fetch", payloadOf(parts, list), bytes, read2, parts, place2);
  }
  __name(sendWhole, "sendWhole");
  function send(parts, list, place2, resolve, reject) {
    const { signal, body } = parts;
    if (signal !== void 0 && isSignalAborted(signal)) {
      abandonBody(body, signalReason(signal));
      throw signalReason(signal);
    }
    let id;
    let isOver = false;
    const forget = signal === void 0 ? () => {
    } : onSignalAbort(signal, (reason) => {
      isOver = true;
      if (id === void 0) abandonBody(body, reason);
      else cancel(id);
      reject(reason);
    });
    const failed = /* @__PURE__ */ __name((error) => {
      forget();
      reject(error);
    }, "failed");
    const begin = /* @__PURE__ */ __name((bytes) => {
      if (isOver) return;
      try {
        id = start("fetch", payloadOf(parts, list), bytes, place2, (answer, first) => {
          forget();
          const response = readAnswer(answer, first, parts, id, place2);
          if (response === void 0) reject(malformed("fetch", place2));
          else resolve(response);
        }, failed);
      } catch (error) {
        failed(error);
      }
    }, "begin");
    if (body === null) begin(void 0);
    else readBody(body, begin, failed);
  }
  __name(send, "send");
  function payloadOf({ url, method, redirect }, list) {
    let headers = "";
    for (let i = 0; i < list.length; i += 2) {
      headers += (i === 0 ? "[" : ",[") + quote2(list[i]) + "," + quote2(list[i + 1]) + "]";
    }
    return '{"url":' + quote2(url) + ',"method":' + quote2(method) + ',"headers":[' + headers + '],"redirect":"' + redirect + '"}';
  }
  __name(payloadOf, "payloadOf");
  function readAnswer(answer, first, parts, id, place2) {
    const response = answered(answer, first, parts, id, place2);
    if (response === void 0) release(id);
    return response;
  }
  __name(readAnswer, "readAnswer");
  function answered(answer, first, parts, id, place2) {
    if (typeof answer !== "object" || answer === null) return void 0;
    ObjectSetPrototypeOf(answer, null);
    const { status, statusText, url, redirected, headers: list, done } = answer;
    const isShaped = typeof status === "number" && status % 1 === 0 && status >= 200 && status <= 999 && typeof statusText === "string" && typeof url === "string" && typeof redirected === "boolean" && ArrayIsArray(list) && list.length % 2 === 0 && typeof done === "boolean";
    if (!isShaped) return void 0;
    for (let i = 0; i < list.length; i++) if (typeof list[i] !== "string") return void 0;
    let body;
    if (!done && parts.signal !== void 0) body = streamingBody(id, first, parts.signal, place2);
    else if (!done) body = bodyOfRest(new Rest(id, first, place2));
    else if (!hasBytes(first) && (hasNoBody(status) || parts.method === "HEAD")) body = null;
    else body = bodyOfBytes(first === void 0 ? new Uint8Array2(0) : first, parts.signal);
    return { status, statusText, url, redirected, list, headers: void 0, body, type: "basic" };
  }
  __name(answered, "answered");
  var Rest = class {
    static {
      __name(this, "Rest");
    }
    #id;
    #first;
    #place;
    constructor(id, first, place2) {
      this.#id = id;
      this.#first = first;
      this.#place = place2;
    }
    stream() {
      return streamingBody(this.#id, this.#first, void 0, this.#place);
    }
    read(done, failed) {
      const chunks = [];
      if (hasBytes(this.#first)) ArrayPrototypePush(chunks, this.#first);
      readPiece({ id: this.#id, place: here(readBody), chunks, done, failed });
    }
  };
  function readPiece(reading) {
    const { id, place: place2, chunks, done, failed } = reading;
    start("fetch.read", '{"fetch":' + id + "}", void 0, place2, (answer, bytes) => {
      const isLast = own(answer, "done");
      if (typeof isLast !== "boolean") {
        release(id);
        failed(malformed("fetch.read", place2));
        return;
      }
      if (hasBytes(bytes)) ArrayPrototypePush(chunks, bytes);
      if (isLast) done(chunks);
      else readPiece(reading);
    }, failed);
  }
  __name(readPiece, "readPiece");
  function hasBytes(bytes) {
    return bytes !== void 0 && TypedArrayPrototypeGetLength(bytes) > 0;
  }
  __name(hasBytes, "hasBytes");
  function streamingBody(id, first, signal, place2) {
    let reading;
    let forget = /* @__PURE__ */ __name(() => {
    }, "forget");
    const pull = /* @__PURE__ */ __name((done) => {
      reading = start("fetch.read", '{"fetch":' + id + "}", void 0, place2, (answer, bytes) => {
        reading = void 0;
        const isLast = own(answer, "done");
        if (typeof isLast !== "boolean") {
          fail(malformed("fetch.read", place2));
          release(id);
          return;
        }
        const came = hasBytes(bytes);
        if (isLast) forget();
        if (came) enqueue(stream, bytes);
        if (isLast) {
          closeStream(stream);
          done();
        } else if (came) {
          done();
        } else {
          pull(done);
        }
      }, fail);
    }, "pull");
    const fail = /* @__PURE__ */ __name((error) => {
      reading = void 0;
      forget();
      errorStream(stream, error);
    }, "fail");
    const end = /* @__PURE__ */ __name(() => {
      forget();
      if (reading !== void 0) cancel(reading);
      reading = void 0;
      release(id);
    }, "end");
    const stream = createStream(pull, (reason, done) => {
      end();
      done();
    });
    if (hasBytes(first)) enqueue(stream, first);
    if (signal !== void 0) {
      if (isSignalAborted(signal)) {
        end();
        errorStream(stream, signalReason(signal));
      } else {
        forget = onSignalAbort(signal, (reason) => {
          end();
          errorStream(stream, reason);
        });
      }
    }
    return bodyOfStream(stream, () => {
      place2 = here(readBody);
    });
  }
  __name(streamingBody, "streamingBody");

  // src/fetch.js
  var constructionKey3 = {};
  var NORMALISED = { __proto__: null, DELETE: true, GET: true, HEAD: true, OPTIONS: true, POST: true, PUT: true };
  var FORBIDDEN = { __proto__: null, CONNECT: true, TRACE: true, TRACK: true };
  var REDIRECTS = { __proto__: null, follow: true, error: true, manual: true };
  function methodOf2(value) {
    const method = toText(value);
    const upper = StringPrototypeToUpperCase(method);
    if (!isToken(method) || FORBIDDEN[upper]) throw new TypeError2("The method " + method + " cannot be requested");
    return NORMALISED[upper] ? upper : method;
  }
  __name(methodOf2, "methodOf");
  function urlOf(input) {
    const text2 = toUSVString(input);
    const url = nativeUrlAbsolute(text2);
    if (url === void 0) throw new TypeError2("The URL " + text2 + " is no absolute URL, and a cell has no page it belongs to");
    const { 0: href, 1: hasCredentials } = url;
    if (hasCredentials) throw new TypeError2("The URL has a user name or a password: send them in the header Authorization");
    return href;
  }
  __name(urlOf, "urlOf");
  function optionsOf(init, what) {
    if (init === void 0 || init === null) return { __proto__: null };
    if (typeof init !== "object" && typeof init !== "function") throw new TypeError2(what + " must be an object");
    return init;
  }
  __name(optionsOf, "optionsOf");
  function headersIn(parts, isFixed) {
    parts.headers ??= headersOf(parts.list, isFixed);
    return parts.headers;
  }
  __name(headersIn, "headersIn");
  function listIn(parts) {
    return parts.headers === void 0 ? parts.list : headerList(parts.headers);
  }
  __name(listIn, "listIn");
  function partsOfRequest(input, init, partsOf) {
    const from = typeof input === "string" ? void 0 : partsOf(input);
    const parts = from === void 0 ? {
      url: urlOf(input),
      method: "GET",
      list: void 0,
      headers: void 0,
      redirect: "follow",
      body: null,
      // The signal that was given, and the one that a tool sees.
      signal: void 0,
      ownSignal: void 0
    } : {
      url: from.url,
      method: from.method,
      list: void 0,
      headers: void 0,
      redirect: from.redirect,
      body: null,
      signal: from.signal,
      ownSignal: void 0
    };
    const given = init === void 0 ? void 0 : takeOptions(parts, optionsOf(init, "The options of a request"));
    parts.list = given !== void 0 ? listOf(given) : from === void 0 ? [] : copyOf(listIn(from));
    const body = init === void 0 || init === null ? void 0 : init.body;
    const takes = (body === void 0 || body === null) && from !== void 0 && from.body !== null;
    if (takes || body !== void 0 && body !== null) {
      if (parts.method === "GET" || parts.method === "HEAD") {
        throw new TypeError2("A request with the method " + parts.method + " has no body");
      }
      parts.body = takes ? takeBody(from.body) : typedBody(body, parts.list);
    }
    return parts;
  }
  __name(partsOfRequest, "partsOfRequest");
  function takeOptions(parts, options) {
    const { method, headers, signal, redirect, integrity } = options;
    if (method !== void 0) parts.method = methodOf2(method);
    if (redirect !== void 0) {
      parts.redirect = toText(redirect);
      if (!REDIRECTS[parts.redirect]) throw new TypeError2("The redirect mode is follow, error or manual");
    }
    if (integrity !== void 0 && integrity !== "") {
      throw new TypeError2("The integrity of an answer is not checked in a cell: leave `integrity` out");
    }
    if (signal !== void 0) {
      if (signal !== null && !isAbortSignal(signal)) throw new TypeError2("The signal must be an AbortSignal");
      parts.signal = signal === null ? void 0 : signal;
    }
    return headers;
  }
  __name(takeOptions, "takeOptions");
  function typedBody(value, list) {
    const { body, type } = extractBody(value);
    if (type !== void 0 && headerIn(list, "content-type") === void 0) ArrayPrototypePush(list, "content-type", type);
    return body;
  }
  __name(typedBody, "typedBody");
  function makeFetch() {
    const streams = makeStreams();
    const Headers = makeHeaders();
    let partsOf;
    let responseOf;
    class Request {
      static {
        __name(this, "Request");
      }
      #parts;
      static {
        partsOf = /* @__PURE__ */ __name((value) => typeof value === "object" && value !== null && #parts in value ? value.#parts : void 0, "partsOf");
      }
      constructor(input, init = void 0) {
        if (input === constructionKey3) {
          this.#parts = init;
          return;
        }
        requireArguments(arguments.length, 1, "Request");
        this.#parts = partsOfRequest(input, init, partsOf);
      }
      get method() {
        return this.#parts.method;
      }
      get url() {
        return this.#parts.url;
      }
      get headers() {
        return headersIn(this.#parts, false);
      }
      get redirect() {
        return this.#parts.redirect;
      }
      get signal() {
        const parts = this.#parts;
        parts.ownSignal ??= signalFollowing(parts.signal === void 0 ? [] : [parts.signal]);
        return parts.ownSignal;
      }
      clone() {
        const { url, method, redirect, body, signal } = this.#parts;
        const copy = body === null ? null : cloneBody(body);
        const list = copyOf(listIn(this.#parts));
        return new Request(constructionKey3, {
          url,
          method,
          list,
          headers: void 0,
          redirect,
          body: copy,
          signal,
          ownSignal: void 0
        });
      }
      [inspectCustom](depth, options, inspect4) {
        const { method, url } = this.#parts;
        const headers = headersIn(this.#parts, false);
        return "Request " + inspect4({ method, url, headers }, options);
      }
      static {
        mixBody(Request, (request2) => request2.#parts.body);
      }
    }
    class Response {
      static {
        __name(this, "Response");
      }
      #parts;
      static {
        responseOf = /* @__PURE__ */ __name((parts) => new Response(constructionKey3, parts), "responseOf");
      }
      static json(data, init = void 0) {
        requireArguments(arguments.length, 1, "Response.json");
        const text2 = JSONStringify(data);
        if (text2 === void 0) throw new TypeError2("The data of Response.json cannot be written as JSON");
        const response = new Response(text2, init);
        const { list } = response.#parts;
        const last = list.length - 1;
        if (list[last] === TEXT_TYPE && list[last - 1] === "content-type") list[last] = "application/json";
        return response;
      }
      constructor(body = null, init = void 0) {
        if (body === constructionKey3) {
          this.#parts = init;
          return;
        }
        const { status = 200, statusText = "", headers } = optionsOf(init, "The options of a response");
        const number = Number2(status);
        if (!(number >= 200 && number <= 599)) throw new RangeError2("The status of a response must be 200 to 599");
        const reason = toText(statusText);
        if (!isReason(reason)) throw new TypeError2("The statusText holds a character that cannot stand there");
        const list = headers === void 0 ? [] : listOf(headers);
        const whole = number - number % 1;
        const hasBody = body !== null && body !== void 0;
        if (hasBody && hasNoBody(whole)) throw new TypeError2("A response with the status " + whole + " has no body");
        this.#parts = {
          status: whole,
          statusText: reason,
          url: "",
          redirected: false,
          list,
          headers: void 0,
          body: hasBody ? typedBody(body, list) : null,
          type: "default"
        };
      }
      get type() {
        return this.#parts.type;
      }
      get url() {
        return this.#parts.url;
      }
      get redirected() {
        return this.#parts.redirected;
      }
      get status() {
        return this.#parts.status;
      }
      get ok() {
        const { status } = this.#parts;
        return status >= 200 && status <= 299;
      }
      get statusText() {
        return this.#parts.statusText;
      }
      get headers() {
        return headersIn(this.#parts, this.#parts.type === "basic");
      }
      clone() {
        const { status, statusText, url, redirected, body, type } = this.#parts;
        const copy = body === null ? null : cloneBody(body);
        const list = copyOf(listIn(this.#parts));
        return new Response(constructionKey3, {
          status,
          statusText,
          url,
          redirected,
          list,
          headers: void 0,
          body: copy,
          type
        });
      }
      [inspectCustom](depth, options, inspect4) {
        const { status, statusText, url, type } = this.#parts;
        const headers = headersIn(this.#parts, type === "basic");
        return "Response " + inspect4({ status, statusText, url, headers }, options);
      }
      static {
        mixBody(Response, (response) => response.#parts.body);
      }
    }
    const readResponse = /* @__PURE__ */ __name((answer, first, parts, id, place2) => {
      const answered2 = readAnswer(answer, first, parts, id, place2);
      return answered2 === void 0 ? void 0 : responseOf(answered2);
    }, "readResponse");
    const { fetch } = {
      fetch(input, init = void 0) {
        const place2 = here(fetch);
        try {
          const parts = partsOfRequest(input, init, partsOf);
          if (parts.signal === void 0 && (parts.body === null || isWhole(parts.body))) {
            return sendWhole(parts, listIn(parts), place2, readResponse);
          }
          return new Promise2((resolve, reject) => {
            send(parts, listIn(parts), place2, (answered2) => resolve(responseOf(answered2)), reject);
          });
        } catch (error) {
          return rejected(error);
        }
      }
    };
    shapeClass(Request, "Request", ["method", "url", "headers", "redirect", "signal", "clone"]);
    shapeClass(Response, "Response", [
      "type",
      "url",
      "redirected",
      "status",
      "ok",
      "statusText",
      "headers",
      "clone"
    ]);
    return { __proto__: null, fetch, Headers, Request, Response, ...streams };
  }
  __name(makeFetch, "makeFetch");

  // cell/values.js
  function jsonOf(value, what) {
    const plain = native.json(value, ObjectPrototype);
    return plain === void 0 ? jsonOfAnything(value, what) : plain;
  }
  __name(jsonOf, "jsonOf");
  function jsonOfAnything(value, what) {
    const text2 = JSONStringify(value, function(key, member) {
      const wrong = flaw(member, ArrayIsArray(this));
      if (wrong === void 0) return member;
      const where = key === "" ? what : "`" + shortened(key) + "` in " + what;
      throw new TypeError2(where + " is " + wrong + ", which JSON cannot hold: send what stands for it");
    });
    if (text2 === void 0) throw new TypeError2(what + " is undefined, which JSON cannot hold: leave it out, or send null");
    return text2;
  }
  __name(jsonOfAnything, "jsonOfAnything");
  function flaw(member, inArray) {
    switch (typeof member) {
      case "undefined":
        return inArray ? "undefined" : void 0;
      case "number":
        return member - member === 0 ? void 0 : "" + member;
      case "string":
        return StringPrototypeIsWellFormed(member) ? void 0 : "a text with half a character (see toWellFormed)";
      case "boolean":
        return void 0;
      case "bigint":
        return "a BigInt";
      case "object": {
        if (member === null) return void 0;
        const found = classify(member);
        return found === void 0 || found[1] === void 0 ? void 0 : "an object that is no plain data";
      }
      default:
        return "a " + typeof member;
    }
  }
  __name(flaw, "flaw");
  function shortened(key) {
    return key.length > 64 ? StringPrototypeSlice(key, 0, 64) + "\u2026" : key;
  }
  __name(shortened, "shortened");
  function textOf2(value, what) {
    if (typeof value !== "string") throw new TypeError2(what + " must be a string");
    if (!StringPrototypeIsWellFormed(value)) throw new TypeError2(what + " has half a character (see toWellFormed)");
    return value;
  }
  __name(textOf2, "textOf");
  function optionsOf2(value, what) {
    if (value === void 0 || value === null) return { __proto__: null };
    if (typeof value !== "object") throw new TypeError2(what + " must be an object");
    return value;
  }
  __name(optionsOf2, "optionsOf");
  function wholeOf(value, least, what) {
    if (typeof value !== "number" || value % 1 !== 0 || value < least || value > Number2.MAX_SAFE_INTEGER) {
      throw new TypeError2(what + " must be a whole number, " + least + " or more");
    }
    return value;
  }
  __name(wholeOf, "wholeOf");
  function contentOf(value, what) {
    if (typeof value === "string") return encodeUtf8(value);
    return new Uint8Array2(bytesOf(value, what));
  }
  __name(contentOf, "contentOf");

  // cell/files.js
  function makeFiles() {
    return ObjectFreeze({
      readText(path) {
        return request("files.read", readText, pathPayload, void 0, path, "files.readText");
      },
      readBytes(path) {
        return request("files.read", readContent, pathPayload, void 0, path, "files.readBytes");
      },
      write(path, content) {
        return write2(path, content, "replace", "files.write");
      },
      create(path, content = "") {
        return write2(path, content, "create", "files.create");
      },
      append(path, content) {
        return write2(path, content, "append", "files.append");
      },
      list(path) {
        return request("files.list", readList, pathPayload, void 0, path, "files.list");
      },
      stat(path) {
        return request("files.stat", readStat, pathPayload, void 0, path, "files.stat");
      },
      remove(path) {
        return request("files.remove", nothing, pathPayload, void 0, path, "files.remove");
      },
      mkdir(path) {
        return request("files.mkdir", nothing, pathPayload, void 0, path, "files.mkdir");
      }
    });
  }
  __name(makeFiles, "makeFiles");
  function pathOf(path, what) {
    return '{"path":' + quote2(textOf2(path, "the path of " + what));
  }
  __name(pathOf, "pathOf");
  function pathPayload(path, what) {
    return pathOf(path, what) + "}";
  }
  __name(pathPayload, "pathPayload");
  function write2(path, content, mode, what) {
    return request("files.write", nothing, writePayload, writeContent, { path, content, mode, what });
  }
  __name(write2, "write");
  function writePayload({ path, mode, what }) {
    return pathOf(path, what) + ',"mode":"' + mode + '"}';
  }
  __name(writePayload, "writePayload");
  function writeContent({ content, what }) {
    return contentOf(content, "the content of " + what + ", where it is no string,");
  }
  __name(writeContent, "writeContent");
  function readText(answer, bytes, path) {
    const content = readContent(answer, bytes);
    return content === void 0 ? void 0 : textIn(content, path);
  }
  __name(readText, "readText");
  function readContent(answer, bytes) {
    if (answer !== null) return void 0;
    return bytes === void 0 ? new Uint8Array2(0) : bytes;
  }
  __name(readContent, "readContent");
  function textIn(bytes, path) {
    const text2 = decodeUtf8(bytes, true);
    if (text2 === void 0) throw new TypeError2("the file " + path + " is no UTF-8: read it with files.readBytes");
    return StringPrototypeCharCodeAt(text2, 0) === 65279 ? StringPrototypeSlice(text2, 1) : text2;
  }
  __name(textIn, "textIn");
  function isKind(kind) {
    return kind === "file" || kind === "folder" || kind === "other";
  }
  __name(isKind, "isKind");
  function readList(answer) {
    if (!ArrayIsArray(answer)) return void 0;
    for (let index = 0; index < answer.length; index++) {
      if (typeof own(answer[index], "name") !== "string" || !isKind(own(answer[index], "kind"))) return void 0;
    }
    return answer;
  }
  __name(readList, "readList");
  function readStat(answer) {
    if (answer === null) return NOTHING;
    const kind = own(answer, "kind");
    const size = own(answer, "size");
    const modified = own(answer, "modified_ms");
    if (!isKind(kind) || typeof size !== "number" || typeof modified !== "number") return void 0;
    return { kind, size, modified };
  }
  __name(readStat, "readStat");

  // cell/kv.js
  function makeKv() {
    return ObjectFreeze({
      get(key) {
        return request("kv.get", readValue, keyPayload, void 0, key, "the key of kv.get");
      },
      entry(key) {
        return request("kv.get", readEntry, keyPayload, void 0, key, "the key of kv.entry");
      },
      set(key, value, options = void 0) {
        return request("kv.commit", readDone, setPayload, void 0, key, value, options);
      },
      delete(key) {
        return request("kv.commit", readDone, deletePayload, void 0, key);
      },
      list(options = void 0) {
        return request("kv.list", readList2, listPayload, void 0, options);
      },
      commit(changes) {
        return request("kv.commit", readCommitted, changesPayload, void 0, changes);
      },
      update(key, change2, options = void 0) {
        return update(key, change2, options);
      }
    });
  }
  __name(makeKv, "makeKv");
  function keyPayload(key, what) {
    return '{"key":' + quote2(textOf2(key, what)) + "}";
  }
  __name(keyPayload, "keyPayload");
  function setPayload(key, value, options) {
    return commitPayload("", setWrite(textOf2(key, "the key of kv.set"), value, ttlOf(options, "kv.set"), "the value of kv.set"));
  }
  __name(setPayload, "setPayload");
  function deletePayload(key) {
    return commitPayload("", deleteWrite(textOf2(key, "the key of kv.delete")));
  }
  __name(deletePayload, "deletePayload");
  function listPayload(options) {
    const { prefix, after, limit } = optionsOf2(options, "what is given to kv.list");
    let members = "";
    const add = /* @__PURE__ */ __name((name, json) => {
      members += (members === "" ? '"' : ',"') + name + '":' + json;
    }, "add");
    if (prefix !== void 0) add("prefix", quote2(textOf2(prefix, "the prefix of kv.list")));
    if (after !== void 0) add("after", quote2(textOf2(after, "`after` of kv.list")));
    if (limit !== void 0) add("limit", wholeOf(limit, 1, "the limit of kv.list"));
    return "{" + members + "}";
  }
  __name(listPayload, "listPayload");
  function ttlOf(options, what) {
    if (options === void 0) return void 0;
    const { ttl } = optionsOf2(options, "the options of " + what);
    return ttl === void 0 ? void 0 : wholeOf(ttl, 1, "the ttl of " + what + ", in milliseconds,");
  }
  __name(ttlOf, "ttlOf");
  function setWrite(key, value, ttl, what) {
    const lives = ttl === void 0 ? "" : ',"ttl_ms":' + ttl;
    return '{"key":' + quote2(key) + ',"value":' + jsonOf(value, what) + lives + "}";
  }
  __name(setWrite, "setWrite");
  function deleteWrite(key) {
    return '{"key":' + quote2(key) + ',"delete":true}';
  }
  __name(deleteWrite, "deleteWrite");
  function check(key, version) {
    return '{"key":' + quote2(key) + ',"version":' + (version === void 0 ? "null" : version) + "}";
  }
  __name(check, "check");
  function commitPayload(checks, writes) {
    return '{"checks":[' + checks + '],"writes":[' + writes + "]}";
  }
  __name(commitPayload, "commitPayload");
  function changesPayload(changes) {
    if (typeof changes !== "object" || changes === null) {
      throw new TypeError2("kv.commit needs an object with `check`, `set` or `delete`");
    }
    const { check: checks, set, delete: deleted } = changes;
    const checked = joined2(checks, "check", (item, what) => {
      const { key, version } = itemOf(item, what);
      const known = version === void 0 || version === null ? void 0 : wholeOf(version, 0, "the version in " + what);
      return check(textOf2(key, "the key in " + what), known);
    });
    const sets = joined2(set, "set", (item, what) => {
      const { key, value } = itemOf(item, what);
      return setWrite(textOf2(key, "the key in " + what), value, ttlOf(item, what), "the value in " + what);
    });
    const deletes = joined2(deleted, "delete", (item, what) => deleteWrite(textOf2(item, what)));
    return commitPayload(checked, sets + (sets !== "" && deletes !== "" ? "," : "") + deletes);
  }
  __name(changesPayload, "changesPayload");
  function joined2(items, name, write4) {
    if (items === void 0) return "";
    if (!ArrayIsArray(items)) throw new TypeError2("`" + name + "` of kv.commit must be an array");
    let text2 = "";
    for (let index = 0; index < items.length; index++) {
      text2 += (index > 0 ? "," : "") + write4(items[index], "`" + name + "` of kv.commit at " + index);
    }
    return text2;
  }
  __name(joined2, "joined");
  function itemOf(item, what) {
    if (typeof item !== "object" || item === null) throw new TypeError2(what + " must be an object");
    return item;
  }
  __name(itemOf, "itemOf");
  function update(key, change2, options) {
    const place2 = here(update);
    return new Promise2((resolve, reject) => {
      const name = textOf2(key, "the key of kv.update");
      if (typeof change2 !== "function") throw new TypeError2("kv.update needs a function of the value");
      const ttl = ttlOf(options, "kv.update");
      readAnew({ name, change: change2, ttl, place: place2, resolve, reject });
    });
  }
  __name(update, "update");
  function readAnew(the) {
    const { name, place: place2, reject } = the;
    start("kv.get", keyPayload(name), void 0, place2, (answer) => {
      const entry = readEntry(answer);
      if (entry === void 0) reject(malformed("kv.get", place2));
      else afterThisTask(() => change(the, entry === NOTHING ? void 0 : entry));
    }, reject);
  }
  __name(readAnew, "readAnew");
  function change(the, entry) {
    const next = new Promise2((give) => give(the.change(entry === void 0 ? void 0 : entry.value)));
    PromisePrototypeThen(PromisePrototypeThen(next, (value) => write3(the, entry, value)), void 0, the.reject);
  }
  __name(change, "change");
  function write3(the, entry, value) {
    const { name, ttl, place: place2, resolve, reject } = the;
    const writes = setWrite(name, value, ttl, "what the function of kv.update gave");
    const payload = commitPayload(check(name, entry === void 0 ? void 0 : entry.version), writes);
    start("kv.commit", payload, void 0, place2, (answer) => {
      const committed = readCommitted(answer);
      if (committed === void 0) reject(malformed("kv.commit", place2));
      else if (committed) resolve(value);
      else readAnew(the);
    }, reject);
  }
  __name(write3, "write");
  function readEntry(answer) {
    if (answer === null) return NOTHING;
    const value = own(answer, "value");
    const version = own(answer, "version");
    if (value === void 0 || typeof version !== "number" || version % 1 !== 0) return void 0;
    return { value, version };
  }
  __name(readEntry, "readEntry");
  function readValue(answer) {
    const entry = readEntry(answer);
    return entry === void 0 || entry === NOTHING ? entry : entry.value;
  }
  __name(readValue, "readValue");
  function readList2(answer) {
    const keys3 = own(answer, "keys");
    const more = own(answer, "more");
    if (!ArrayIsArray(keys3) || typeof more !== "boolean") return void 0;
    for (let index = 0; index < keys3.length; index++) {
      if (typeof keys3[index] !== "string") return void 0;
    }
    return { keys: keys3, more };
  }
  __name(readList2, "readList");
  function readCommitted(answer) {
    const committed = own(answer, "committed");
    return typeof committed === "boolean" ? committed : void 0;
  }
  __name(readCommitted, "readCommitted");
  function readDone(answer) {
    return readCommitted(answer) === true ? NOTHING : void 0;
  }
  __name(readDone, "readDone");

  // cell/secrets.js
  function makeSecret(names) {
    const { secret } = {
      secret(name) {
        if (typeof name !== "string") throw new TypeError2("secret needs the name of a secret: a string");
        for (let index = 0; index < names.length; index++) {
          if (names[index] === name) return "{{secret:" + name + "}}";
        }
        const shown = name.length > 64 ? StringPrototypeSlice(name, 0, 64) + "\u2026" : name;
        throw new Error2("it needs the grant `secrets` of " + shown + ", which this call does not have");
      }
    };
    return secret;
  }
  __name(makeSecret, "makeSecret");

  // cell/timers.js
  var DELAY_MOST = 2147483647;
  function startTimer(ms, done, failed) {
    return start("timer", delayPayload(ms), void 0, void 0, done, failed);
  }
  __name(startTimer, "startTimer");
  function delayPayload(ms) {
    return '{"ms":' + ms + "}";
  }
  __name(delayPayload, "delayPayload");
  function makeTimers(report2) {
    const timers3 = new Map2();
    let lastTimer = 0;
    function arm(repeat, callback, delay, args) {
      if (typeof callback !== "function") {
        throw new TypeError2("a timer needs a function; code from strings is not available");
      }
      const milliseconds = Number2(delay);
      const ms = milliseconds >= 1 && milliseconds <= DELAY_MOST ? milliseconds : 1;
      const timer = ++lastTimer;
      schedule(timer, { repeat, callback, ms, args });
      return timer;
    }
    __name(arm, "arm");
    function schedule(timer, armed2) {
      const id = startTimer(armed2.ms, () => afterThisTask(() => fire(timer, armed2, id)), () => {
      });
      MapPrototypeSet(timers3, timer, id);
    }
    __name(schedule, "schedule");
    function fire(timer, armed2, id) {
      if (MapPrototypeGet(timers3, timer) !== id) return;
      if (armed2.repeat) schedule(timer, armed2);
      else MapPrototypeDelete(timers3, timer);
      try {
        ReflectApply(armed2.callback, void 0, armed2.args);
      } catch (error) {
        report2(error);
      }
    }
    __name(fire, "fire");
    function clear(timer) {
      const id = MapPrototypeGet(timers3, timer);
      if (id === void 0) return;
      MapPrototypeDelete(timers3, timer);
      cancel(id);
    }
    __name(clear, "clear");
    return {
      __proto__: null,
      setTimeout: /* @__PURE__ */ __name((callback, delay, ...args) => arm(false, callback, delay, args), "setTimeout"),
      setInterval: /* @__PURE__ */ __name((callback, delay, ...args) => arm(true, callback, delay, args), "setInterval"),
      clearTimeout: /* @__PURE__ */ __name((timer) => clear(timer), "clearTimeout"),
      clearInterval: /* @__PURE__ */ __name((timer) => clear(timer), "clearInterval"),
      sleep: /* @__PURE__ */ __name((milliseconds, options) => sleep(milliseconds, options), "sleep")
    };
  }
  __name(makeTimers, "makeTimers");
  function isDelay(milliseconds) {
    return typeof milliseconds === "number" && milliseconds >= 0 && milliseconds <= Number2.MAX_SAFE_INTEGER;
  }
  __name(isDelay, "isDelay");
  function sleep(milliseconds, options) {
    if (options === void 0 && isDelay(milliseconds)) {
      return native.request("timer", delayPayload(milliseconds), void 0, nothing, void 0, void 0);
    }
    return new Promise2((resolve, reject) => {
      if (!isDelay(milliseconds)) {
        throw new TypeError2("sleep needs a number of milliseconds, zero or more");
      }
      const { signal } = optionsOf2(options, "the second argument of sleep");
      if (signal === void 0 || signal === null) {
        startTimer(milliseconds, () => resolve(void 0), reject);
        return;
      }
      if (!isAbortSignal(signal)) throw new TypeError2("the signal of sleep must be an AbortSignal");
      if (isSignalAborted(signal)) throw signalReason(signal);
      let forget;
      const id = startTimer(
        milliseconds,
        () => {
          forget();
          resolve(void 0);
        },
        (error) => {
          forget();
          reject(error);
        }
      );
      forget = onSignalAbort(signal, (reason) => {
        cancel(id);
        reject(reason);
      });
    });
  }
  __name(sleep, "sleep");
  var alarms = [];
  var armed;
  function grantAlarms() {
    grantAlarm(addAlarm);
  }
  __name(grantAlarms, "grantAlarms");
  function addAlarm(milliseconds, ring) {
    const now = DateNow();
    const due = now + milliseconds;
    const sorted = [];
    let placed = false;
    for (let index = 0; index < alarms.length; index++) {
      if (!placed && alarms[index].due > due) {
        ArrayPrototypePush(sorted, { due, ring });
        placed = true;
      }
      ArrayPrototypePush(sorted, alarms[index]);
    }
    if (!placed) ArrayPrototypePush(sorted, { due, ring });
    alarms = sorted;
    if (armed !== void 0) {
      if (armed.due <= due) return;
      cancel(armed.id);
    }
    armAlarm(now);
  }
  __name(addAlarm, "addAlarm");
  function armAlarm(now) {
    const { due } = alarms[0];
    const mine = { id: 0, due };
    mine.id = startTimer(due > now ? due - now : 0, () => afterThisTask(() => ringAlarms(mine)), ringNever);
    armed = mine;
  }
  __name(armAlarm, "armAlarm");
  function ringAlarms(mine) {
    if (armed !== mine) return;
    const clock = DateNow();
    const now = clock > mine.due ? clock : mine.due;
    armed = void 0;
    const due = [];
    while (alarms.length > 0 && alarms[0].due <= now) ArrayPrototypePush(due, ArrayPrototypeShift(alarms));
    if (alarms.length > 0) armAlarm(now);
    for (let index = 0; index < due.length; index++) {
      try {
        due[index].ring();
      } catch {
      }
    }
  }
  __name(ringAlarms, "ringAlarms");
  function ringNever() {
    armed = void 0;
    alarms = [];
  }
  __name(ringNever, "ringNever");

  // cell/tools.js
  function makeTools() {
    return ObjectFreeze({
      call(name, params = {}) {
        return request("tools.call", void 0, callPayload, void 0, name, params);
      }
    });
  }
  __name(makeTools, "makeTools");
  function callPayload(name, params) {
    if (typeof params !== "object" || params === null || ArrayIsArray(params)) {
      throw new TypeError2("the parameters of tools.call must be an object");
    }
    const called = quote2(textOf2(name, "the name of tools.call"));
    return '{"name":' + called + ',"params":' + jsonOf(params, "what is given to tools.call") + "}";
  }
  __name(callPayload, "callPayload");

  // cell/grants.js
  var globalObject;
  var report = /* @__PURE__ */ __name(() => {
  }, "report");
  function connect2(target, reportUncaught2) {
    globalObject = target;
    report = reportUncaught2;
  }
  __name(connect2, "connect");
  function grant(names, secrets2) {
    for (let index = 0; index < names.length; index++) {
      switch (names[index]) {
        case "timers":
          grantAlarms();
          install(makeTimers(report));
          break;
        case "net":
          grantAlarms();
          install(makeFetch());
          break;
        case "kv":
          define3("kv", makeKv());
          break;
        case "files":
          define3("files", makeFiles());
          break;
        case "secrets":
          define3("secret", makeSecret(secrets2));
          break;
        case "tools":
          define3("tools", makeTools());
          break;
      }
    }
  }
  __name(grant, "grant");
  function install(functions) {
    for (const name in functions) define3(name, functions[name]);
  }
  __name(install, "install");
  function define3(name, value) {
    ObjectDefineProperty(globalObject, name, { __proto__: null, value, writable: true, configurable: true });
  }
  __name(define3, "define");

  // cell/lockdown.js
  var { defineProperty: defineProperty3, getPrototypeOf: getPrototypeOf3 } = Object;
  var TypeErrorConstructor = TypeError;
  var HIDDEN = [
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
    "bjson"
  ];
  function lockdown(globalObject2) {
    const examples = [function() {
    }, async function() {
    }, function* () {
    }, async function* () {
    }];
    const names = ["Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"];
    for (let index = 0; index < examples.length; index++) {
      const prototype = getPrototypeOf3(examples[index]);
      const name = names[index];
      const refuse = /* @__PURE__ */ __name(function() {
        throw new TypeErrorConstructor(name + ": code from strings is not available, what was analysed is what runs");
      }, "refuse");
      defineProperty3(refuse, "name", { value: name, configurable: true });
      defineProperty3(refuse, "length", { value: 1, configurable: true });
      defineProperty3(refuse, "prototype", { value: prototype, writable: false });
      defineProperty3(prototype, "constructor", { value: refuse, writable: false, configurable: false });
      if (index === 0) defineProperty3(globalObject2, name, { value: refuse, writable: true, configurable: true });
    }
    for (const name of HIDDEN) {
      if (!delete globalObject2[name]) throw new TypeErrorConstructor(name + " cannot be hidden");
    }
    delete Error.prepareStackTrace;
  }
  __name(lockdown, "lockdown");

  // cell/tool.js
  var { isArray: isArray2 } = Array;
  var { apply } = Reflect;
  var { stringify: stringify2 } = JSON;
  var { defineProperty: defineProperty4, freeze, setPrototypeOf } = Object;
  var functionText = Function.prototype.call.bind(Function.prototype.toString);
  var test = Function.prototype.call.bind(RegExp.prototype.test);
  var PromiseConstructor = Promise;
  var TypeErrorConstructor2 = TypeError;
  var NO_TOOL = "no tool found: declare `function execute(params)`, export `execute`, or make the default export a function, an object with an `execute` method, or a factory of tools";
  var FACTORY = /^\s*(?:async\s+)?(?:function\b[^(]*)?\(?\s*pi\b|\bexecute\b/;
  var SCHEMAS = "write `parameters` with pi.typebox, or as a plain JSON Schema object";
  var ABSENT = [
    ["exec", "a cell has no processes"],
    ["ui", "a cell has nobody to ask"],
    ["zod", SCHEMAS],
    ["arktype", SCHEMAS],
    ["pi", "a cell has no host to reach into"],
    ["pushPendingAction", "return what is to be done, and let the caller do it"],
    ["registerTool", "return the tool from the factory"]
  ];
  var shape = "none";
  var tools2 = [];
  var partial = /* @__PURE__ */ __name(() => {
  }, "partial");
  var factoryApi = {};
  function connect3(native2, logger) {
    partial = native2.partial;
    const { typebox } = native2;
    const api = {
      cwd: "/",
      hasUI: false,
      logger,
      get typebox() {
        return typebox();
      }
    };
    for (let index = 0; index < ABSENT.length; index++) {
      const [name, reason] = ABSENT[index];
      const get = /* @__PURE__ */ __name(() => {
        throw new TypeErrorConstructor2("pi." + name + " is not available: " + reason);
      }, "get");
      defineProperty4(api, name, { get, enumerable: true });
    }
    factoryApi = freeze(api);
  }
  __name(connect3, "connect");
  function adoptScript() {
    return adopt(typeof execute === "undefined" ? void 0 : execute, void 0);
  }
  __name(adoptScript, "adoptScript");
  function adoptModule(namespace) {
    return adopt(namespace.execute, namespace.default);
  }
  __name(adoptModule, "adoptModule");
  function adopt(exported, standard) {
    if (typeof exported === "function") {
      tools2 = [{ call: /* @__PURE__ */ __name((_, params) => exported(params), "call") }];
      return shape = "function";
    }
    if (typeof standard === "function") {
      if (standard.name !== "execute" && test(FACTORY, functionText(standard))) {
        const made = standard(factoryApi);
        if (typeof made === "object" && made !== null && typeof made.then === "function") {
          return new PromiseConstructor((resolve) => resolve(made)).then(adoptFactory);
        }
        return adoptFactory(made);
      }
      tools2 = [{ call: /* @__PURE__ */ __name((_, params) => standard(params), "call") }];
      return shape = "function";
    }
    if (typeof standard === "object" && standard !== null && typeof standard.execute === "function") {
      const method = standard.execute;
      tools2 = [{ ...manifest(standard), call: /* @__PURE__ */ __name((_, params) => apply(method, standard, [params]), "call") }];
      return shape = "object";
    }
    throw new TypeErrorConstructor2(NO_TOOL);
  }
  __name(adopt, "adopt");
  function adoptFactory(made) {
    const list = isArray2(made) ? made : [made];
    const adopted = [];
    for (let index = 0; index < list.length; index++) {
      const tool = list[index];
      const method = tool?.execute;
      if (typeof method !== "function" || typeof tool.name !== "string" || tool.name === "") {
        throw new TypeErrorConstructor2(
          "the factory's tool " + (index + 1) + " of " + list.length + " needs a `name` and an `execute` method"
        );
      }
      append(adopted, {
        ...manifest(tool),
        call: /* @__PURE__ */ __name((callId, params) => apply(method, tool, [callId, params, update2, freeze({ cwd: "/", hasUI: false }), neverAborted]), "call")
      });
    }
    tools2 = adopted;
    return shape = "factory";
  }
  __name(adoptFactory, "adoptFactory");
  function manifest({ name, label, description, parameters }) {
    return { __proto__: null, name, label, description, parameters };
  }
  __name(manifest, "manifest");
  function update2(value) {
    const json = stringify2(value);
    if (json !== void 0) partial(json);
  }
  __name(update2, "update");
  function invoke(name, callId, params) {
    if (name === void 0 && tools2.length === 1) return tools2[0].call(callId, params);
    let known = "";
    for (let index = 0; index < tools2.length; index++) {
      const tool = tools2[index];
      if (name !== void 0 && tool.name === name) return tool.call(callId, params);
      known += (index > 0 ? ", " : "") + (tool.name ?? "(unnamed)");
    }
    throw new TypeErrorConstructor2(
      name === void 0 ? "this script has " + tools2.length + " tools, name one of: " + known : "no tool " + name + ", there is: " + known
    );
  }
  __name(invoke, "invoke");
  function describe2() {
    const described = setPrototypeOf([], null);
    for (let index = 0; index < tools2.length; index++) append(described, manifest(tools2[index]));
    return { __proto__: null, shape, tools: described };
  }
  __name(describe2, "describe");
  function append(array, value) {
    defineProperty4(array, array.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }
  __name(append, "append");

  // cell/start.js
  var { stringify: stringify3 } = JSON;
  var PromiseConstructor2 = Promise;
  function start2(native2, globalObject2, console3, AbortController2) {
    connect3(native2, console3);
    connect(AbortController2);
    connect2(globalObject2, reportUncaught);
    Object.defineProperty(Math, "random", { value: { random: /* @__PURE__ */ __name(() => native2.random(), "random") }.random, writable: true, configurable: true });
    Error.prepareStackTrace = prepareStackTrace;
    lockdown(globalObject2);
    native2.hooks = {
      grant,
      settle,
      failure,
      malformed,
      misread,
      nothing: NOTHING,
      adoptScript,
      adoptModule,
      invoke,
      describe: describe2,
      assimilate: /* @__PURE__ */ __name((thenable) => new PromiseConstructor2((resolve) => resolve(thenable)), "assimilate"),
      classify,
      inspect: inspect3,
      quote: /* @__PURE__ */ __name((string) => stringify3(string), "quote"),
      objectPrototype: Object.prototype
    };
  }
  __name(start2, "start");

  // src/prelude.js
  function install2(globals) {
    const names = ObjectKeys(globals);
    for (let i = 0; i < names.length; i++) {
      ObjectDefineProperty(globalThis, names[i], {
        __proto__: null,
        value: globals[names[i]],
        writable: true,
        enumerable: false,
        configurable: true
      });
    }
  }
  __name(install2, "install");
  install2({
    AbortController,
    AbortSignal,
    Buffer: import_buffer.Buffer,
    DOMException: DOMException2,
    Event,
    EventTarget,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    console: console2,
    queueMicrotask,
    structuredClone
  });
  start2(native, globalThis, console2, AbortController);
})();
