// Built by `npm run build`; do not edit. The licences of what is bundled are in LICENSES.txt.
"use strict";
(() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __name = (target, value) => __defProp(target, "name", { __proto__: null, value, configurable: true });
  var __commonJS = (cb, mod) => function __require() {
    try {
      return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
    } catch (e) {
      throw mod = 0, e;
    }
  };

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
      module.exports = function(exec2) {
        try {
          return !!exec2();
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
      var apply3 = FunctionPrototype.apply;
      var call3 = FunctionPrototype.call;
      module.exports = typeof Reflect == "object" && Reflect.apply || (NATIVE_BIND ? call3.bind(apply3) : function() {
        return call3.apply(apply3, arguments);
      });
    }
  });

  // node_modules/core-js-pure/internals/function-uncurry-this.js
  var require_function_uncurry_this = __commonJS({
    "node_modules/core-js-pure/internals/function-uncurry-this.js"(exports, module) {
      "use strict";
      var NATIVE_BIND = require_function_bind_native();
      var FunctionPrototype = Function.prototype;
      var call3 = FunctionPrototype.call;
      var uncurryThisWithBind = NATIVE_BIND && FunctionPrototype.bind.bind(call3, call3);
      module.exports = NATIVE_BIND ? uncurryThisWithBind : function(fn) {
        return function() {
          return call3.apply(fn, arguments);
        };
      };
    }
  });

  // node_modules/core-js-pure/internals/classof-raw.js
  var require_classof_raw = __commonJS({
    "node_modules/core-js-pure/internals/classof-raw.js"(exports, module) {
      "use strict";
      var uncurryThis2 = require_function_uncurry_this();
      var toString = uncurryThis2({}.toString);
      var stringSlice = uncurryThis2("".slice);
      module.exports = function(it) {
        return stringSlice(toString(it), 8, -1);
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
      var call3 = Function.prototype.call;
      module.exports = NATIVE_BIND ? call3.bind(call3) : function() {
        return call3.apply(call3, arguments);
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
      var process = globalThis2.process;
      var Deno2 = globalThis2.Deno;
      var versions = process && process.versions || Deno2 && Deno2.version;
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
      var call3 = require_function_call();
      var isCallable = require_is_callable();
      var isObject = require_is_object();
      var $TypeError = TypeError;
      module.exports = function(input, pref) {
        var fn, val;
        if (pref === "string" && isCallable(fn = input.toString) && !isObject(val = call3(fn, input))) return val;
        if (isCallable(fn = input.valueOf) && !isObject(val = call3(fn, input))) return val;
        if (pref !== "string" && isCallable(fn = input.toString) && !isObject(val = call3(fn, input))) return val;
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
      var defineProperty6 = Object.defineProperty;
      module.exports = function(key, value) {
        try {
          defineProperty6(globalThis2, key, { value, configurable: true, writable: true });
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
      var toString = uncurryThis2(1.1.toString);
      module.exports = function(key) {
        return "Symbol(" + (key === void 0 ? "" : key) + ")_" + toString(++id + postfix, 36);
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
      var call3 = require_function_call();
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
          result = call3(exoticToPrim, input, pref);
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
      var call3 = require_function_call();
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
        if (hasOwn(O, P)) return createPropertyDescriptor(!call3(propertyIsEnumerableModule.f, O, P), O[P]);
      }, "getOwnPropertyDescriptor");
    }
  });

  // node_modules/core-js-pure/internals/is-forced.js
  var require_is_forced = __commonJS({
    "node_modules/core-js-pure/internals/is-forced.js"(exports, module) {
      "use strict";
      var fails = require_fails();
      var isCallable = require_is_callable();
      var replacement2 = /#|\.prototype\./;
      var isForced = /* @__PURE__ */ __name(function(feature, detection) {
        var value = data[normalize(feature)];
        return value === POLYFILL ? true : value === NATIVE ? false : isCallable(detection) ? fails(detection) : !!detection;
      }, "isForced");
      var normalize = isForced.normalize = function(string) {
        return String(string).replace(replacement2, ".").toLowerCase();
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
      exports.f = DESCRIPTORS ? V8_PROTOTYPE_DEFINE_BUG ? /* @__PURE__ */ __name(function defineProperty6(O, P, Attributes) {
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
      }, "defineProperty") : $defineProperty : /* @__PURE__ */ __name(function defineProperty6(O, P, Attributes) {
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
      var apply3 = require_function_apply();
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
          return apply3(NativeConstructor, this, arguments);
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
      var indexOf2 = require_array_includes().indexOf;
      var hiddenKeys = require_hidden_keys();
      var push = uncurryThis2([].push);
      module.exports = function(object, names) {
        var O = toIndexedObject(object);
        var i = 0;
        var result = [];
        var key;
        for (key in O) !hasOwn(hiddenKeys, key) && hasOwn(O, key) && push(result, key);
        while (names.length > i) if (hasOwn(O, key = names[i++])) {
          ~indexOf2(result, key) || push(result, key);
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
      module.exports = Object.keys || /* @__PURE__ */ __name(function keys2(O) {
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
        var keys2 = objectKeys(Properties);
        var length = keys2.length;
        var index = 0;
        var key;
        while (length > index) definePropertyModule.f(O, key = keys2[index++], props[key]);
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
      var keys2 = shared("keys");
      module.exports = function(key) {
        return keys2[key] || (keys2[key] = uid(key));
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
      var defineProperty6 = require_object_define_property();
      module.exports = function(target, name, descriptor) {
        return defineProperty6.f(target, name, descriptor);
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
      var toString = require_to_string();
      module.exports = function(argument, $default) {
        return argument === void 0 ? arguments.length < 2 ? "" : $default : toString(argument);
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
      module.exports = INCORRECT_TO_STRING ? /* @__PURE__ */ __name(function toString() {
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
      var WeakMap3 = globalThis2.WeakMap;
      module.exports = isCallable(WeakMap3) && /native code/.test(String(WeakMap3));
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
      var WeakMap3 = globalThis2.WeakMap;
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
        store = shared.state || (shared.state = new WeakMap3());
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
      var $ = require_export();
      var getBuiltIn = require_get_built_in();
      var getBuiltInNodeModule = require_get_built_in_node_module();
      var fails = require_fails();
      var create = require_object_create();
      var createPropertyDescriptor = require_create_property_descriptor();
      var defineProperty6 = require_object_define_property().f;
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
      var $DOMException = /* @__PURE__ */ __name(function DOMException2() {
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
          defineProperty6(this, "stack", createPropertyDescriptor(1, clearErrorStack(error.stack, 1)));
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
      defineProperty6(DOMExceptionPrototype, "constructor", createPropertyDescriptor(1, $DOMException));
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
      $({ global: true, constructor: true, forced: FORCED_CONSTRUCTOR }, {
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
          defineProperty6(PolyfilledDOMException, constantName, descriptor);
        }
        if (!hasOwn(PolyfilledDOMExceptionPrototype, constantName)) {
          defineProperty6(PolyfilledDOMExceptionPrototype, constantName, descriptor);
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
        return /* @__PURE__ */ __name(function setPrototypeOf3(O, proto) {
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
      var setPrototypeOf3 = require_object_set_prototype_of();
      module.exports = function($this, dummy, Wrapper) {
        var NewTarget, NewTargetPrototype;
        if (
          // it can work only with native `setPrototypeOf`
          setPrototypeOf3 && // we haven't completely correct pre-ES6 way for getting `new.target`, so use this
          isCallable(NewTarget = dummy.constructor) && NewTarget !== Wrapper && isObject(NewTargetPrototype = NewTarget.prototype) && NewTargetPrototype !== Wrapper.prototype
        ) setPrototypeOf3($this, NewTargetPrototype);
        return $this;
      };
    }
  });

  // node_modules/core-js-pure/modules/web.dom-exception.stack.js
  var require_web_dom_exception_stack = __commonJS({
    "node_modules/core-js-pure/modules/web.dom-exception.stack.js"() {
      "use strict";
      var $ = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var createPropertyDescriptor = require_create_property_descriptor();
      var defineProperty6 = require_object_define_property().f;
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
      var $DOMException = /* @__PURE__ */ __name(function DOMException2() {
        anInstance(this, DOMExceptionPrototype);
        var argumentsLength = arguments.length;
        var message = normalizeStringArgument(argumentsLength < 1 ? void 0 : arguments[0]);
        var name = normalizeStringArgument(argumentsLength < 2 ? void 0 : arguments[1], "Error");
        var that = new NativeDOMException(message, name);
        var error = new Error3(message);
        error.name = DOM_EXCEPTION;
        defineProperty6(that, "stack", createPropertyDescriptor(1, clearErrorStack(error.stack, 1)));
        inheritIfRequired(that, this, $DOMException);
        return that;
      }, "DOMException");
      var DOMExceptionPrototype = $DOMException.prototype = NativeDOMException.prototype;
      var ERROR_HAS_STACK = "stack" in new Error3(DOM_EXCEPTION);
      var DOM_EXCEPTION_HAS_STACK = "stack" in new NativeDOMException(1, 2);
      var descriptor = NativeDOMException && DESCRIPTORS && Object.getOwnPropertyDescriptor(globalThis2, DOM_EXCEPTION);
      var BUGGY_DESCRIPTOR = !!descriptor && !(descriptor.writable && descriptor.configurable);
      var FORCED_CONSTRUCTOR = ERROR_HAS_STACK && !BUGGY_DESCRIPTOR && !DOM_EXCEPTION_HAS_STACK;
      $({ global: true, constructor: true, forced: IS_PURE || FORCED_CONSTRUCTOR }, {
        // TODO: fix export logic
        DOMException: FORCED_CONSTRUCTOR ? $DOMException : NativeDOMException
      });
      var PolyfilledDOMException = getBuiltIn(DOM_EXCEPTION);
      var PolyfilledDOMExceptionPrototype = PolyfilledDOMException.prototype;
      if (PolyfilledDOMExceptionPrototype.constructor !== PolyfilledDOMException) {
        if (!IS_PURE) {
          defineProperty6(PolyfilledDOMExceptionPrototype, "constructor", createPropertyDescriptor(1, PolyfilledDOMException));
        }
        for (key in DOMExceptionConstants) if (hasOwn(DOMExceptionConstants, key)) {
          constant = DOMExceptionConstants[key];
          constantName = constant.s;
          if (!hasOwn(PolyfilledDOMException, constantName)) {
            defineProperty6(PolyfilledDOMException, constantName, createPropertyDescriptor(6, constant.c));
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
      module.exports = TO_STRING_TAG_SUPPORT ? {}.toString : /* @__PURE__ */ __name(function toString() {
        return "[object " + classof(this) + "]";
      }, "toString");
    }
  });

  // node_modules/core-js-pure/internals/set-to-string-tag.js
  var require_set_to_string_tag = __commonJS({
    "node_modules/core-js-pure/internals/set-to-string-tag.js"(exports, module) {
      "use strict";
      var TO_STRING_TAG_SUPPORT = require_to_string_tag_support();
      var defineProperty6 = require_object_define_property().f;
      var createNonEnumerableProperty = require_create_non_enumerable_property();
      var hasOwn = require_has_own_property();
      var toString = require_object_to_string();
      var wellKnownSymbol = require_well_known_symbol();
      var TO_STRING_TAG = wellKnownSymbol("toStringTag");
      module.exports = function(it, TAG, STATIC, SET_METHOD) {
        var target = STATIC ? it : it && it.prototype;
        if (target) {
          if (!hasOwn(target, TO_STRING_TAG)) {
            defineProperty6(target, TO_STRING_TAG, { configurable: true, value: TAG });
          }
          if (SET_METHOD && !TO_STRING_TAG_SUPPORT) {
            createNonEnumerableProperty(target, "toString", toString);
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
      var $ = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var uncurryThis2 = require_function_uncurry_this();
      var call3 = require_function_call();
      var fails = require_fails();
      var toString = require_to_string();
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
      var exec2 = uncurryThis2(disallowed.exec);
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
      $({ global: true, bind: true, enumerable: true, forced: FORCED }, {
        atob: /* @__PURE__ */ __name(function atob2(data) {
          validateArgumentsLength(arguments.length, 1);
          if (BASIC && !NO_SPACES_IGNORE && !NO_ENCODING_CHECK) return call3($atob, globalThis2, data);
          var string = replace(toString(data), whitespaces, "");
          var position = 0;
          var bc = 0;
          var length, chr, bs;
          if (!(string.length & 3)) {
            string = replace(string, finalEq, "");
          }
          length = string.length;
          var lenmod = length & 3;
          if (lenmod === 1 || exec2(disallowed, string)) {
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
      var $ = require_export();
      var globalThis2 = require_global_this();
      var getBuiltIn = require_get_built_in();
      var uncurryThis2 = require_function_uncurry_this();
      var call3 = require_function_call();
      var fails = require_fails();
      var toString = require_to_string();
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
      $({ global: true, bind: true, enumerable: true, forced: !BASIC || NO_ARG_RECEIVING_CHECK || WRONG_ARG_CONVERSION || WRONG_ARITY }, {
        btoa: /* @__PURE__ */ __name(function btoa2(data) {
          validateArgumentsLength(arguments.length, 1);
          if (BASIC) return call3($btoa, globalThis2, toString(data));
          var string = toString(data);
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
      var exec2 = uncurryThis2(constructorRegExp.exec);
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
          return INCORRECT_TO_STRING || !!exec2(constructorRegExp, inspectSource(argument));
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
      var call3 = require_function_call();
      var isCallable = require_is_callable();
      var anObject = require_an_object();
      var tryToString = require_try_to_string();
      var getIteratorMethod = require_get_iterator_method_internal();
      var $TypeError = TypeError;
      module.exports = function(argument, usingIterator) {
        var iteratorMethod = arguments.length < 2 ? getIteratorMethod(argument) : usingIterator;
        if (isCallable(iteratorMethod)) return anObject(call3(iteratorMethod, argument));
        throw new $TypeError(tryToString(argument) + " is not iterable");
      };
    }
  });

  // node_modules/core-js-pure/internals/iterator-close.js
  var require_iterator_close = __commonJS({
    "node_modules/core-js-pure/internals/iterator-close.js"(exports, module) {
      "use strict";
      var call3 = require_function_call();
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
          innerResult = call3(innerResult, iterator);
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
      var call3 = require_function_call();
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
        while (!(step = call3(next, iterator)).done) {
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
      var call3 = require_function_call();
      var hasOwn = require_has_own_property();
      var isPrototypeOf = require_object_is_prototype_of();
      var regExpFlagsDetection = require_regexp_flags_detection();
      var regExpFlagsGetterImplementation = require_regexp_flags();
      var RegExpPrototype = RegExp.prototype;
      module.exports = regExpFlagsDetection.correct ? function(it) {
        return it.flags;
      } : function(it) {
        return !regExpFlagsDetection.correct && isPrototypeOf(RegExpPrototype, it) && !hasOwn(it, "flags") ? call3(regExpFlagsGetterImplementation, it) : it.flags;
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
      var call3 = require_function_call();
      module.exports = function(record, fn, ITERATOR_INSTEAD_OF_RECORD) {
        var iterator = ITERATOR_INSTEAD_OF_RECORD ? record : record.iterator;
        var next = record.next;
        var step, result;
        while (!(step = call3(next, iterator)).done) {
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
      var $ = require_export();
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
      var DOMException2 = getBuiltIn("DOMException");
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
      var FORCED_REPLACEMENT = IS_PURE || !checkErrorsCloning(nativeStructuredClone, Error3) || !checkErrorsCloning(nativeStructuredClone, DOMException2) || !checkNewErrorsCloningSemantic(nativeStructuredClone);
      var structuredCloneFromMark = !nativeStructuredClone && checkBasicSemantic(function(value) {
        return new PerformanceMark(PERFORMANCE_MARK, { detail: value }).detail;
      });
      var nativeRestrictedStructuredClone = checkBasicSemantic(nativeStructuredClone) || structuredCloneFromMark;
      var throwUncloneable = /* @__PURE__ */ __name(function(type) {
        throw new DOMException2("Uncloneable type: " + type, DATA_CLONE_ERROR);
      }, "throwUncloneable");
      var throwUnpolyfillable = /* @__PURE__ */ __name(function(type, action) {
        throw new DOMException2((action || "Cloning") + " of " + type + " cannot be properly polyfilled in this engine", DATA_CLONE_ERROR);
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
            throw new DOMException2("ArrayBuffer is detached", DATA_CLONE_ERROR);
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
        var C, name, cloned, dataTransfer, i, length, keys2, key;
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
            cloned = new DOMException2(value.message, value.name);
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
            keys2 = objectKeys(value);
            for (i = 0, length = lengthOfArrayLike(keys2); i < length; i++) {
              key = keys2[i];
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
        var value, type, C, transferred, canvas, context2;
        while (i < length) {
          value = transfer[i++];
          type = classof(value);
          transferred = void 0;
          if (type === "ArrayBuffer" ? setHas(buffers, value) : mapHas(map, value)) {
            throw new DOMException2("Duplicate transferable", DATA_CLONE_ERROR);
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
                context2 = canvas.getContext("bitmaprenderer");
                context2.transferFromImageBitmap(value);
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
          if (transferred === void 0) throw new DOMException2("This object cannot be transferred: " + type, DATA_CLONE_ERROR);
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
      $({ global: true, enumerable: true, sham: !PROPER_STRUCTURED_CLONE_TRANSFER, forced: FORCED_REPLACEMENT }, {
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
  function getter(prototype2, name) {
    return uncurryThis(Object.getOwnPropertyDescriptor(prototype2, name).get);
  }
  __name(getter, "getter");
  function optionalGetter(prototype2, name) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype2, name);
    return descriptor === void 0 ? () => void 0 : uncurryThis(descriptor.get);
  }
  __name(optionalGetter, "optionalGetter");
  var {
    Error: Error2,
    Map: Map2,
    Number: Number2,
    Promise: Promise2,
    Proxy: Proxy2,
    RangeError,
    Set: Set2,
    String: String2,
    TypeError: TypeError2,
    Uint16Array,
    Uint8Array: Uint8Array2,
    WeakMap: WeakMap2
  } = globalThis;
  var { BigInt64Array, BigUint64Array, Float32Array, Float64Array } = globalThis;
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
  var StringFromCharCode = String2.fromCharCode;
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
  var WeakMapPrototypeGet = uncurryThis(WeakMap2.prototype.get);
  var WeakMapPrototypeSet = uncurryThis(WeakMap2.prototype.set);
  var MapIteratorPrototypeNext = uncurryThis(new Map2().entries().next);
  var SetIteratorPrototypeNext = uncurryThis(new Set2().values().next);
  var { parse: JSONParse, stringify: JSONStringify } = JSON;
  var {
    asyncIterator: SymbolAsyncIterator,
    iterator: SymbolIterator,
    species: SymbolSpecies,
    toPrimitive: SymbolToPrimitive,
    toStringTag: SymbolToStringTag
  } = Symbol;
  var IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  var AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {
  }.prototype));
  var ArrayBufferIsView = ArrayBuffer.isView;
  var ArrayBufferPrototypeGetByteLength = getter(ArrayBuffer.prototype, "byteLength");
  var ArrayBufferPrototypeGetResizable = optionalGetter(ArrayBuffer.prototype, "resizable");
  var SharedArrayBufferPrototypeGetByteLength = typeof SharedArrayBuffer === "function" ? getter(SharedArrayBuffer.prototype, "byteLength") : void 0;
  var TypedArrayPrototype = Object.getPrototypeOf(Uint8Array2.prototype);
  var TypedArrayPrototypeCopyWithin = uncurryThis(TypedArrayPrototype.copyWithin);
  var TypedArrayPrototypeFill = uncurryThis(TypedArrayPrototype.fill);
  var TypedArrayPrototypeIndexOf = uncurryThis(TypedArrayPrototype.indexOf);
  var TypedArrayPrototypeLastIndexOf = uncurryThis(TypedArrayPrototype.lastIndexOf);
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
  function dictionaryOf(value, what) {
    if (value === void 0 || value === null) return { __proto__: null };
    if (typeof value !== "object" && typeof value !== "function") throw new TypeError2(what + " must be an object");
    return value;
  }
  __name(dictionaryOf, "dictionaryOf");
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
    let prototype2 = ObjectGetPrototypeOf(value);
    for (let i = 0; i < maxPrototypes && prototype2 !== null; i++) {
      const kind = MapPrototypeGet(kinds, prototype2);
      if (kind !== void 0) return kind;
      prototype2 = ObjectGetPrototypeOf(prototype2);
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
    let prototype2 = value;
    for (let i = 0; i < maxPrototypes && prototype2 !== null; i++) {
      const constructor = ObjectGetOwnPropertyDescriptor(prototype2, "constructor")?.value;
      if (typeof constructor === "function" && prototype2 !== value) {
        const name = functionName(constructor);
        if (name !== "") return name;
      }
      prototype2 = ObjectGetPrototypeOf(prototype2);
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
    const keys2 = ReflectOwnKeys(value);
    for (let i = 0; i < keys2.length; i++) {
      const key = keys2[i];
      state.room -= 1;
      if (isShown(key)) continue;
      const descriptor = ObjectGetOwnPropertyDescriptor(value, key);
      if (descriptor === void 0 || !descriptor.enumerable) continue;
      if (text2 !== "") text2 += ", ";
      if (state.room <= 0) return text2 + moreItems(keys2.length - i);
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
    let prototype2 = ObjectGetPrototypeOf(value);
    for (let i = 0; i < maxPrototypes && prototype2 !== null; i++) {
      if (prototype2 === ErrorPrototype) return true;
      prototype2 = ObjectGetPrototypeOf(prototype2);
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
    write(level, format(args));
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
  function format(args) {
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
        let replacement2;
        if (directive === "%") {
          replacement2 = "%";
        } else if (used < args.length && StringPrototypeIndexOf("sdifjoOc", directive) !== -1) {
          replacement2 = convert(directive, args[used++]);
        } else {
          continue;
        }
        text2 += StringPrototypeSlice(template, copied, i - 1) + replacement2;
        copied = i + 1;
      }
      text2 += StringPrototypeSlice(template, copied);
    } else {
      text2 = show2(args[0]);
    }
    for (; used < args.length; used++) text2 += " " + show2(args[used]);
    return text2;
  }
  __name(format, "format");
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
    return label === void 0 ? "default" : cut(toText(label), argumentLimit);
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
  var console = {
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
      write(LOG, args.length === 0 ? "Trace" : "Trace: " + format(args));
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
      write(ERROR, args.length === 0 ? "Assertion failed" : "Assertion failed" + colon + " " + format(args));
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
  ObjectDefineProperty(console, SymbolToStringTag, {
    __proto__: null,
    value: "console",
    writable: false,
    enumerable: false,
    configurable: true
  });
  ObjectSetPrototypeOf(console, {});

  // src/dom-exception.js
  function fallback() {
    require_web_dom_exception_constructor();
    require_web_dom_exception_stack();
    require_web_dom_exception_to_string_tag();
    return require_path().DOMException;
  }
  __name(fallback, "fallback");
  var DOMException = globalThis.DOMException ?? fallback();
  var attributes = ["name", "message", "code"];
  for (let i = 0; i < attributes.length; i++) {
    const attribute = ObjectGetOwnPropertyDescriptor(DOMException.prototype, attributes[i]);
    if (attribute === void 0 || attribute.get === void 0 || !attribute.configurable) continue;
    ObjectDefineProperty(DOMException.prototype, attributes[i], { __proto__: null, enumerable: true });
  }

  // src/event.js
  var PHASES = { __proto__: null, NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };
  var signalOf;
  var report = /* @__PURE__ */ __name(() => {
  }, "report");
  var stateOf;
  var listenersOf;
  var Event = class {
    static {
      __name(this, "Event");
    }
    #state;
    static {
      stateOf = /* @__PURE__ */ __name((value) => typeof value === "object" && value !== null && #state in value ? value.#state : void 0, "stateOf");
    }
    constructor(type, eventInitDict = void 0) {
      requireArguments(arguments.length, 1, "Event");
      type = toText(type);
      const { bubbles, cancelable, composed } = dictionaryOf(eventInitDict, "The options of an event");
      this.#state = {
        type,
        bubbles: !!bubbles,
        cancelable: !!cancelable,
        composed: !!composed,
        target: null,
        currentTarget: null,
        dispatched: false,
        stopped: false,
        stoppedAtOnce: false,
        canceled: false,
        passive: false,
        trusted: false,
        timeStamp: DateNow()
      };
      ObjectDefineProperty(this, "isTrusted", isTrusted);
    }
    get type() {
      return this.#state.type;
    }
    get target() {
      return this.#state.target;
    }
    get srcElement() {
      return this.#state.target;
    }
    get currentTarget() {
      return this.#state.currentTarget;
    }
    composedPath() {
      const { currentTarget } = this.#state;
      return currentTarget === null ? [] : [currentTarget];
    }
    get eventPhase() {
      return this.#state.dispatched ? PHASES.AT_TARGET : PHASES.NONE;
    }
    stopPropagation() {
      this.#state.stopped = true;
    }
    get cancelBubble() {
      return this.#state.stopped;
    }
    set cancelBubble(value) {
      const state = this.#state;
      if (value) state.stopped = true;
    }
    stopImmediatePropagation() {
      const state = this.#state;
      state.stopped = state.stoppedAtOnce = true;
    }
    get bubbles() {
      return this.#state.bubbles;
    }
    get cancelable() {
      return this.#state.cancelable;
    }
    get returnValue() {
      return !this.#state.canceled;
    }
    set returnValue(value) {
      const state = this.#state;
      if (!value) cancel(state);
    }
    preventDefault() {
      cancel(this.#state);
    }
    get defaultPrevented() {
      return this.#state.canceled;
    }
    get composed() {
      return this.#state.composed;
    }
    get timeStamp() {
      return this.#state.timeStamp;
    }
    initEvent(type, bubbles = false, cancelable = false) {
      const state = this.#state;
      requireArguments(arguments.length, 1, "Event.initEvent");
      type = toText(type);
      if (state.dispatched) return;
      state.stopped = state.stoppedAtOnce = state.canceled = false;
      state.target = null;
      state.type = type;
      state.bubbles = !!bubbles;
      state.cancelable = !!cancelable;
    }
  };
  var isTrusted = {
    __proto__: null,
    get: ObjectGetOwnPropertyDescriptor(
      {
        get isTrusted() {
          const state = stateOf(this);
          if (state === void 0) throw new TypeError2("The receiver is no Event");
          return state.trusted;
        }
      },
      "isTrusted"
    ).get,
    enumerable: true,
    configurable: false
  };
  function cancel(state) {
    if (state.cancelable && !state.passive) state.canceled = true;
  }
  __name(cancel, "cancel");
  var EventTarget = class {
    static {
      __name(this, "EventTarget");
    }
    // The listeners by type, each list replaced and never changed: a dispatch goes on with the one that it began with.
    #listeners = { __proto__: null };
    static {
      listenersOf = /* @__PURE__ */ __name((target) => target.#listeners, "listenersOf");
    }
    addEventListener(type, callback, options = void 0) {
      const listeners = this.#listeners;
      requireArguments(arguments.length, 2, "EventTarget.addEventListener");
      type = toText(type);
      callback = callbackOf(callback);
      const { capture, once, passive, signal } = optionsOf(options, true);
      if (callback === null || signal !== void 0 && signal.isAborted()) return;
      add(listeners, type, { callback, capture, once, passive, removed: false }, signal);
    }
    removeEventListener(type, callback, options = void 0) {
      const listeners = this.#listeners;
      requireArguments(arguments.length, 2, "EventTarget.removeEventListener");
      type = toText(type);
      callback = callbackOf(callback);
      const { capture } = optionsOf(options, false);
      const listener = find(listeners, type, callback, capture);
      if (listener !== void 0) remove(listeners, type, listener);
    }
    dispatchEvent(event) {
      void this.#listeners;
      requireArguments(arguments.length, 1, "EventTarget.dispatchEvent");
      const state = stateOf(event);
      if (state === void 0) throw new TypeError2("dispatchEvent needs an Event");
      if (state.dispatched) throw new DOMException("The event is being dispatched already", "InvalidStateError");
      dispatch(this, event, state);
      return !state.canceled;
    }
  };
  function callbackOf(value) {
    if (value === void 0 || value === null) return null;
    if (typeof value !== "object" && typeof value !== "function") {
      throw new TypeError2("A listener must be a function, or an object with the method handleEvent");
    }
    return value;
  }
  __name(callbackOf, "callbackOf");
  function optionsOf(options, isAdding) {
    if (typeof options !== "object" && typeof options !== "function") {
      return { capture: !!options, once: false, passive: false, signal: void 0 };
    }
    if (options === null) return { capture: false, once: false, passive: false, signal: void 0 };
    const capture = !!options.capture;
    if (!isAdding) return { capture };
    const once = !!options.once;
    const passive = !!options.passive;
    const { signal } = options;
    return { capture, once, passive, signal: signal === void 0 ? void 0 : signalOf(signal) };
  }
  __name(optionsOf, "optionsOf");
  function find(listeners, type, callback, capture) {
    const list = listeners[type];
    if (list === void 0) return void 0;
    for (let i = 0; i < list.length; i++) {
      if (list[i].callback === callback && list[i].capture === capture) return list[i];
    }
    return void 0;
  }
  __name(find, "find");
  function add(listeners, type, listener, signal) {
    if (find(listeners, type, listener.callback, listener.capture) !== void 0) return;
    const list = listeners[type] ?? [];
    const longer = [];
    for (let i = 0; i < list.length; i++) ArrayPrototypePush(longer, list[i]);
    ArrayPrototypePush(longer, listener);
    listeners[type] = longer;
    if (signal !== void 0) signal.onAbort(() => remove(listeners, type, listener));
  }
  __name(add, "add");
  function remove(listeners, type, listener) {
    listener.removed = true;
    const list = listeners[type];
    if (list === void 0) return;
    const kept = [];
    for (let i = 0; i < list.length; i++) if (list[i] !== listener) ArrayPrototypePush(kept, list[i]);
    listeners[type] = kept.length > 0 ? kept : void 0;
  }
  __name(remove, "remove");
  function dispatch(target, event, state) {
    state.dispatched = true;
    state.target = target;
    state.currentTarget = target;
    const listeners = listenersOf(target);
    const list = listeners[state.type];
    if (list !== void 0) {
      invoke(listeners, list, true, target, event, state);
      invoke(listeners, list, false, target, event, state);
    }
    state.dispatched = false;
    state.currentTarget = null;
    state.stopped = state.stoppedAtOnce = false;
  }
  __name(dispatch, "dispatch");
  function invoke(listeners, list, capture, target, event, state) {
    if (state.stopped) return;
    for (let i = 0; i < list.length && !state.stoppedAtOnce; i++) {
      const listener = list[i];
      if (listener.removed || listener.capture !== capture) continue;
      if (listener.once) remove(listeners, state.type, listener);
      state.passive = listener.passive;
      call2(listener.callback, target, event);
      state.passive = false;
    }
  }
  __name(invoke, "invoke");
  function call2(callback, target, event) {
    try {
      if (typeof callback === "function") {
        ReflectApply(callback, target, [event]);
        return;
      }
      const { handleEvent } = callback;
      if (typeof handleEvent !== "function") throw new TypeError2("The listener has no method handleEvent");
      ReflectApply(handleEvent, callback, [event]);
    } catch (error) {
      report(error);
    }
  }
  __name(call2, "call");
  function fire(target, type) {
    const event = new Event(type);
    const state = stateOf(event);
    state.trusted = true;
    dispatch(target, event, state);
  }
  __name(fire, "fire");
  var attributes2 = new WeakMap2();
  function attributeOf(target, type) {
    return WeakMapPrototypeGet(attributes2, listenersOf(target))?.[type]?.value ?? null;
  }
  __name(attributeOf, "attributeOf");
  function setAttribute(target, type, value) {
    const listeners = listenersOf(target);
    let known = WeakMapPrototypeGet(attributes2, listeners);
    if (known === void 0) {
      known = { __proto__: null };
      WeakMapPrototypeSet(attributes2, listeners, known);
    }
    const isListener = typeof value === "function" || typeof value === "object" && value !== null;
    const slot = known[type];
    if (!isListener) {
      if (slot !== void 0) remove(listeners, type, slot.listener);
      known[type] = void 0;
    } else if (slot !== void 0) {
      slot.value = value;
    } else {
      const made = { value, listener: void 0 };
      const callback = /* @__PURE__ */ __name(function(event) {
        if (typeof made.value === "function") ReflectApply(made.value, this, [event]);
      }, "callback");
      made.listener = { callback, capture: false, once: false, passive: false, removed: false };
      known[type] = made;
      add(listeners, type, made.listener, void 0);
    }
  }
  __name(setAttribute, "setAttribute");
  function connectEvents(signals, uncaught) {
    signalOf = signals;
    report = uncaught;
  }
  __name(connectEvents, "connectEvents");
  shapeClass(Event, "Event", [
    "type",
    "target",
    "srcElement",
    "currentTarget",
    "composedPath",
    "eventPhase",
    "stopPropagation",
    "cancelBubble",
    "stopImmediatePropagation",
    "bubbles",
    "cancelable",
    "returnValue",
    "preventDefault",
    "defaultPrevented",
    "composed",
    "timeStamp",
    "initEvent"
  ]);
  shapeClass(EventTarget, "EventTarget", ["addEventListener", "removeEventListener", "dispatchEvent"]);
  shapeConstants(Event, PHASES, ["NONE", "CAPTURING_PHASE", "AT_TARGET", "BUBBLING_PHASE"]);
  function shapeConstants(Class, values, names) {
    for (let i = 0; i < names.length; i++) {
      const descriptor = {
        __proto__: null,
        value: values[names[i]],
        writable: false,
        enumerable: true,
        configurable: false
      };
      ObjectDefineProperty(Class, names[i], descriptor);
      ObjectDefineProperty(Class.prototype, names[i], descriptor);
    }
  }
  __name(shapeConstants, "shapeConstants");

  // src/abort.js
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
      const checked2 = [];
      for (const signal of signals) {
        if (!isSignal(signal)) {
          throw new TypeError2("AbortSignal.any needs an iterable of AbortSignal objects");
        }
        ArrayPrototypePush(checked2, signal);
      }
      return follower(checked2);
    }
    static timeout(milliseconds) {
      const delay = Number2(milliseconds);
      if (!(delay >= 0 && delay <= Number2.MAX_SAFE_INTEGER)) {
        throw new TypeError2("The delay of AbortSignal.timeout must be a number of milliseconds, zero or more");
      }
      if (alarm === void 0) {
        throw new DOMException(
          "AbortSignal.timeout is not available: it needs the grant `net` or `timers`, which this call does not have",
          "NotSupportedError"
        );
      }
      const signal = new _AbortSignal(constructionKey);
      alarm(delay, () => {
        signal.#abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
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
      return attributeOf(this, "abort");
    }
    set onabort(value) {
      void this.#aborted;
      setAttribute(this, "abort", value);
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
      this.#reason = reason === void 0 ? new DOMException("This operation was aborted", "AbortError") : reason;
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
      for (let i = 0; i < aborted.length; i++) fire(aborted[i], "abort");
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
    [inspectCustom](depth, options, inspect3) {
      return "AbortController { signal: " + inspect3(this.#signal, options) + " }";
    }
  };
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
  connectEvents((value) => {
    if (!isSignal(value)) throw new TypeError2("The signal of a listener must be an AbortSignal");
    return { isAborted: /* @__PURE__ */ __name(() => isAborted(value), "isAborted"), onAbort: /* @__PURE__ */ __name((algorithm) => waitForSignal(value, algorithm), "onAbort") };
  }, reportUncaught);

  // src/base64.js
  function fallback2(name) {
    require_web_atob();
    require_web_btoa();
    return require_path()[name];
  }
  __name(fallback2, "fallback");
  var atob = globalThis.atob ?? fallback2("atob");
  var btoa = globalThis.btoa ?? fallback2("btoa");

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
      throw new RangeError(
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
        const whole2 = length - unfinishedLength(this.#encoding, bytes, length);
        if (whole2 < length) pending = copyFrom(bytes, whole2);
        bytes = viewOf(bytes, 0, whole2);
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

  // src/node-errors.js
  var maxShown = 128;
  function coded(Class, code, message) {
    const error = new Class(message);
    addErrorProperty(error, "code", code);
    return error;
  }
  __name(coded, "coded");
  function wrongType(name, expected, value) {
    const what = name === "first argument" ? "The first argument" : 'The "' + name + '" argument';
    return coded(TypeError2, "ERR_INVALID_ARG_TYPE", what + " must be " + expected + ". Received " + kindOf2(value));
  }
  __name(wrongType, "wrongType");
  function outOfRange(name, range, value) {
    return coded(
      RangeError,
      "ERR_OUT_OF_RANGE",
      'The value of "' + name + '" is out of range. It must be ' + range + ". Received " + received(value)
    );
  }
  __name(outOfRange, "outOfRange");
  function outOfBounds(name) {
    return coded(
      RangeError,
      "ERR_BUFFER_OUT_OF_BOUNDS",
      name === void 0 ? "Attempt to access memory outside buffer bounds" : '"' + name + '" is outside of buffer bounds'
    );
  }
  __name(outOfBounds, "outOfBounds");
  function unknownEncoding(encoding) {
    return coded(TypeError2, "ERR_UNKNOWN_ENCODING", "Unknown encoding: " + encoding);
  }
  __name(unknownEncoding, "unknownEncoding");
  function checkNumber(value, name, least = void 0, most = void 0) {
    if (typeof value !== "number") throw wrongType(name, "of type number", value);
    if (value < least || value > most || value !== value && (least !== void 0 || most !== void 0)) {
      throw outOfRange(name, rangeOf(least, most), value);
    }
  }
  __name(checkNumber, "checkNumber");
  function checkInteger(value, name, least, most) {
    if (typeof value !== "number") throw wrongType(name, "of type number", value);
    if (value % 1 !== 0) throw outOfRange(name, "an integer", value);
    if (value < least || value > most) throw outOfRange(name, rangeOf(least, most), value);
  }
  __name(checkInteger, "checkInteger");
  function rangeOf(least, most) {
    return ">= " + least + (most === void 0 ? "" : " && <= " + most);
  }
  __name(rangeOf, "rangeOf");
  function received(value) {
    if (typeof value === "number" && value % 1 === 0 && (value > 2 ** 32 || value < -(2 ** 32))) {
      return grouped(NumberPrototypeToString(value));
    }
    if (typeof value === "number") return showNumber(value);
    if (typeof value === "bigint") return (value > 2n ** 32n || value < -(2n ** 32n) ? grouped("" + value) : value) + "n";
    return inspect(value, 0, maxShown);
  }
  __name(received, "received");
  function grouped(digits2) {
    const first = StringPrototypeStartsWith(digits2, "-") ? 1 : 0;
    let text2 = "";
    let end = digits2.length;
    for (; end >= first + 4; end -= 3) text2 = "_" + StringPrototypeSlice(digits2, end - 3, end) + text2;
    return StringPrototypeSlice(digits2, 0, end) + text2;
  }
  __name(grouped, "grouped");
  function kindOf2(value) {
    if (value === void 0 || value === null) return "" + value;
    if (typeof value === "function") return "function " + nameOf2(value);
    if (typeof value === "object") {
      const name = classOf(value);
      return name === "" ? inspect(value, 0, maxShown) : "an instance of " + name;
    }
    if (typeof value === "string") {
      const start3 = value.length > 28 ? StringPrototypeSlice(value, 0, 25) + "..." : value;
      return "type string (" + (StringPrototypeIncludes(start3, "'") ? JSONStringify(start3) : "'" + start3 + "'") + ")";
    }
    const shown = inspect(value, 0, maxShown);
    return "type " + typeof value + " (" + (shown.length > 28 ? StringPrototypeSlice(shown, 0, 25) + "..." : shown) + ")";
  }
  __name(kindOf2, "kindOf");
  function nameOf2(value) {
    try {
      const name = ObjectGetOwnPropertyDescriptor(value, "name")?.value;
      return typeof name === "string" ? name : "";
    } catch {
      return "";
    }
  }
  __name(nameOf2, "nameOf");
  function classOf(value) {
    try {
      for (let object = value, steps = 0; object !== null && steps < 16; object = ObjectGetPrototypeOf(object), steps++) {
        const descriptor = ObjectGetOwnPropertyDescriptor(object, "constructor");
        if (descriptor !== void 0) return typeof descriptor.value === "function" ? nameOf2(descriptor.value) : "";
      }
    } catch {
    }
    return "";
  }
  __name(classOf, "classOf");

  // src/buffer-text.js
  var chunkLength = 4096;
  var base64url = ObjectFreeze({ __proto__: null, alphabet: "base64url", omitPadding: true });
  var replacement = 63;
  function latin1Bytes(text2) {
    const { length } = text2;
    const utf82 = encodeUtf8(text2);
    if (TypedArrayPrototypeGetLength(utf82) === length) return utf82;
    const bytes = new Uint8Array2(length);
    for (let i = 0; i < length; i++) bytes[i] = StringPrototypeCharCodeAt(text2, i);
    return bytes;
  }
  __name(latin1Bytes, "latin1Bytes");
  function ucs2Bytes(text2) {
    const { length } = text2;
    const bytes = new Uint8Array2(length * 2);
    const utf82 = encodeUtf8(text2);
    if (TypedArrayPrototypeGetLength(utf82) === length) {
      for (let i = 0; i < length; i++) bytes[i * 2] = utf82[i];
      return bytes;
    }
    for (let i = 0; i < length; i++) {
      const unit = StringPrototypeCharCodeAt(text2, i);
      bytes[i * 2] = unit;
      bytes[i * 2 + 1] = unit >> 8;
    }
    return bytes;
  }
  __name(ucs2Bytes, "ucs2Bytes");
  function hexDigit(unit) {
    if (unit >= 48 && unit <= 57) return unit - 48;
    const letter = unit | 32;
    return letter >= 97 && letter <= 102 ? letter - 87 : -1;
  }
  __name(hexDigit, "hexDigit");
  function hexBytes(text2) {
    if (Uint8ArrayFromHex !== void 0 && text2.length % 2 === 0) {
      try {
        return Uint8ArrayFromHex(text2);
      } catch {
      }
    }
    const bytes = new Uint8Array2((text2.length - text2.length % 2) / 2);
    const { length } = text2;
    for (let i = 0; i + 1 < length; i += 2) {
      const high = hexDigit(StringPrototypeCharCodeAt(text2, i));
      const low = hexDigit(StringPrototypeCharCodeAt(text2, i + 1));
      if (high < 0 || low < 0) return viewOf(bytes, 0, i / 2);
      bytes[i / 2] = high * 16 + low;
    }
    return bytes;
  }
  __name(hexBytes, "hexBytes");
  function base64Digit(unit) {
    if (unit >= 65 && unit <= 90) return unit - 65;
    if (unit >= 97 && unit <= 122) return unit - 71;
    if (unit >= 48 && unit <= 57) return unit + 4;
    if (unit === 43 || unit === 45) return 62;
    return unit === 47 || unit === 95 ? 63 : -1;
  }
  __name(base64Digit, "base64Digit");
  function base64Bytes(text2) {
    return strictBase64(text2, void 0) ?? lenientBase64(text2);
  }
  __name(base64Bytes, "base64Bytes");
  function base64urlBytes(text2) {
    return strictBase64(text2, base64url) ?? lenientBase64(text2);
  }
  __name(base64urlBytes, "base64urlBytes");
  function strictBase64(text2, options) {
    try {
      return Uint8ArrayFromBase64?.(text2, options);
    } catch {
      return void 0;
    }
  }
  __name(strictBase64, "strictBase64");
  function lenientBase64(text2) {
    const end = StringPrototypeIndexOf(text2, "=");
    const length = end === -1 ? text2.length : end;
    const bytes = new Uint8Array2(length);
    let size = 0;
    let bits = 0;
    let held = 0;
    for (let i = 0; i < length; i++) {
      const digit = base64Digit(StringPrototypeCharCodeAt(text2, i));
      if (digit < 0) continue;
      bits = (bits << 6 | digit) & 4095;
      held += 6;
      if (held < 8) continue;
      held -= 8;
      bytes[size++] = bits >> held;
    }
    return viewOf(bytes, 0, size);
  }
  __name(lenientBase64, "lenientBase64");
  function textOfUnits(units, View) {
    const buffer = TypedArrayPrototypeGetBuffer(units);
    const length = TypedArrayPrototypeGetLength(units);
    let text2 = "";
    for (let start3 = 0; start3 < length; start3 += chunkLength) {
      const size = length - start3 < chunkLength ? length - start3 : chunkLength;
      const chunk = new View(buffer, start3 * (View === Uint16Array ? 2 : 1), size);
      ObjectDefineProperty(chunk, "length", { __proto__: null, value: size });
      text2 += ReflectApply(StringFromCharCode, void 0, chunk);
    }
    return text2;
  }
  __name(textOfUnits, "textOfUnits");
  function isAllAscii(bytes) {
    const length = TypedArrayPrototypeGetLength(bytes);
    for (let i = 0; i < length; i++) if (bytes[i] > 127) return false;
    return true;
  }
  __name(isAllAscii, "isAllAscii");
  function utf8Text(bytes) {
    return decodeUtf8(isArrayBuffer(TypedArrayPrototypeGetBuffer(bytes)) ? bytes : new Uint8Array2(bytes), false);
  }
  __name(utf8Text, "utf8Text");
  function latin1Text(bytes) {
    return textOfUnits(new Uint8Array2(bytes), Uint8Array2);
  }
  __name(latin1Text, "latin1Text");
  function asciiText(bytes) {
    const copy = new Uint8Array2(bytes);
    const length = TypedArrayPrototypeGetLength(copy);
    for (let i = 0; i < length; i++) if (copy[i] > 127) copy[i] &= 127;
    return textOfUnits(copy, Uint8Array2);
  }
  __name(asciiText, "asciiText");
  function ucs2Text(bytes) {
    const length = TypedArrayPrototypeGetLength(bytes);
    const copy = new Uint8Array2(viewOf(bytes, 0, length - length % 2));
    return textOfUnits(new Uint16Array(TypedArrayPrototypeGetBuffer(copy)), Uint16Array);
  }
  __name(ucs2Text, "ucs2Text");
  var digits = "0123456789abcdef";
  function hexText(bytes) {
    if (Uint8ArrayPrototypeToHex !== void 0) return Uint8ArrayPrototypeToHex(bytes);
    const length = TypedArrayPrototypeGetLength(bytes);
    let text2 = "";
    for (let i = 0; i < length; i++) text2 += digits[bytes[i] >> 4] + digits[bytes[i] & 15];
    return text2;
  }
  __name(hexText, "hexText");
  function base64Text(bytes) {
    return Uint8ArrayPrototypeToBase64 === void 0 ? btoa(latin1Text(bytes)) : Uint8ArrayPrototypeToBase64(bytes);
  }
  __name(base64Text, "base64Text");
  function base64urlText(bytes) {
    if (Uint8ArrayPrototypeToBase64 !== void 0) return Uint8ArrayPrototypeToBase64(bytes, base64url);
    const text2 = btoa(latin1Text(bytes));
    let out = "";
    for (let i = 0; i < text2.length && text2[i] !== "="; i++) out += text2[i] === "+" ? "-" : text2[i] === "/" ? "_" : text2[i];
    return out;
  }
  __name(base64urlText, "base64urlText");
  function base64Length(text2) {
    let { length } = text2;
    if (length > 0 && text2[length - 1] === "=") length--;
    if (length > 1 && text2[length - 1] === "=") length--;
    return (length * 3 - length * 3 % 4) / 4;
  }
  __name(base64Length, "base64Length");
  var utf8 = {
    name: "utf8",
    bytes: encodeUtf8,
    text: utf8Text,
    length: /* @__PURE__ */ __name((text2) => TypedArrayPrototypeGetLength(encodeUtf8(text2)), "length")
  };
  var ucs2 = { name: "ucs2", bytes: ucs2Bytes, text: ucs2Text, length: /* @__PURE__ */ __name((text2) => text2.length * 2, "length") };
  var latin1 = { name: "latin1", bytes: latin1Bytes, text: latin1Text, length: /* @__PURE__ */ __name((text2) => text2.length, "length") };
  var base64 = { name: "base64", bytes: base64Bytes, text: base64Text, length: base64Length };
  var encodings = {
    __proto__: null,
    ascii: { name: "ascii", bytes: latin1Bytes, text: asciiText, length: /* @__PURE__ */ __name((text2) => text2.length, "length") },
    base64,
    base64url: { name: "base64url", bytes: base64urlBytes, text: base64urlText, length: base64Length },
    latin1,
    hex: { name: "hex", bytes: hexBytes, text: hexText, length: /* @__PURE__ */ __name((text2) => (text2.length - text2.length % 2) / 2, "length") },
    ucs2,
    utf8
  };
  var aliases = {
    __proto__: null,
    ...encodings,
    "utf-8": utf8,
    "ucs-2": ucs2,
    utf16le: ucs2,
    "utf-16le": ucs2,
    binary: latin1
  };
  function encodingOf2(name) {
    const text2 = typeof name === "string" ? name : String2(name);
    return aliases[text2] ?? aliases[StringPrototypeToLowerCase(text2)];
  }
  __name(encodingOf2, "encodingOf");
  function requireEncoding(name) {
    const encoding = encodingOf2(name);
    if (encoding === void 0) throw unknownEncoding(name);
    return encoding;
  }
  __name(requireEncoding, "requireEncoding");
  function wholeLength(encoding, bytes, room) {
    const length = TypedArrayPrototypeGetLength(bytes);
    if (length <= room) return length;
    if (encoding === ucs2) return room - room % 2;
    if (encoding !== utf8) return room;
    let end = room;
    while (end > 0 && (bytes[end] & 192) === 128) end--;
    return end;
  }
  __name(wholeLength, "wholeLength");
  function transcoded(bytes, from2, to) {
    const source = from2 === void 0 ? utf8 : encodingOf2(from2);
    const target = to === void 0 ? utf8 : encodingOf2(to);
    if (!canTranscode(source) || !canTranscode(target)) return void 0;
    if (target === ucs2 || target === utf8) {
      if (source === utf8 && target === ucs2 && decodeUtf8(new Uint8Array2(bytes), true) === void 0) return null;
      if (source.name === "ascii") return target.bytes(target === utf8 ? replacedText(bytes, 65533) : latin1Text(bytes));
      const text3 = source.text(bytes);
      if (target === utf8 && source === ucs2 && !StringPrototypeIsWellFormed(text3)) return null;
      return target.bytes(StringPrototypeToWellFormed(text3));
    }
    const text2 = source.name === "ascii" ? replacedText(bytes, replacement) : source.text(bytes);
    return substituted(text2, target.name === "ascii" ? 127 : 255);
  }
  __name(transcoded, "transcoded");
  function canTranscode(encoding) {
    switch (encoding?.name) {
      case "ascii":
      case "latin1":
      case "ucs2":
      case "utf8":
        return true;
      default:
        return false;
    }
  }
  __name(canTranscode, "canTranscode");
  function replacedText(bytes, unit) {
    if (isAllAscii(bytes)) return latin1Text(bytes);
    const length = TypedArrayPrototypeGetLength(bytes);
    const units = new Uint16Array(length);
    for (let i = 0; i < length; i++) units[i] = bytes[i] > 127 ? unit : bytes[i];
    return textOfUnits(units, Uint16Array);
  }
  __name(replacedText, "replacedText");
  function substituted(text2, last) {
    const { length } = text2;
    const bytes = new Uint8Array2(length);
    let size = 0;
    for (let i = 0; i < length; i++) {
      const unit = StringPrototypeCharCodeAt(text2, i);
      bytes[size++] = unit > last ? replacement : unit;
      const next = unit >= 55296 && unit <= 56319 && i + 1 < length ? StringPrototypeCharCodeAt(text2, i + 1) : 0;
      if (next >= 56320 && next <= 57343) i++;
    }
    return viewOf(bytes, 0, size);
  }
  __name(substituted, "substituted");

  // src/buffer-numbers.js
  function checkBounds(buffer, offset, size) {
    if (typeof offset !== "number" || buffer[offset] === void 0 || buffer[offset + size - 1] === void 0) {
      throw badOffset(buffer, offset, size);
    }
  }
  __name(checkBounds, "checkBounds");
  function badOffset(buffer, offset, size) {
    if (typeof offset !== "number") return wrongType("offset", "of type number", offset);
    return boundsError(offset, TypedArrayPrototypeGetLength(buffer) - size);
  }
  __name(badOffset, "badOffset");
  function isBroken(number) {
    return number !== number || number % 1 !== 0 && number - number === 0;
  }
  __name(isBroken, "isBroken");
  function boundsError(offset, last) {
    if (isBroken(offset)) return outOfRange("offset", "an integer", offset);
    return last < 0 ? outOfBounds() : outOfRange("offset", ">= 0 and <= " + last, offset);
  }
  __name(boundsError, "boundsError");
  function checkSize(size) {
    if (size === 1 || size === 2 || size === 3 || size === 4 || size === 5 || size === 6) return;
    checkNumber(size, "byteLength");
    throw outOfRange("byteLength", isBroken(size) ? "an integer" : ">= 1 and <= 6", size);
  }
  __name(checkSize, "checkSize");
  function checkValue(buffer, value, offset, size, least, most) {
    if (value > most || value < least) throw rangeError(value, size, least, most);
    checkBounds(buffer, offset, size);
  }
  __name(checkValue, "checkValue");
  function rangeError(value, size, least, most) {
    const n = typeof least === "bigint" ? "n" : "";
    const bits = size * 8;
    let range;
    if (size <= 4) range = ">= " + least + " and <= " + most;
    else if (least === 0 || least === 0n) range = ">= 0" + n + " and < 2" + n + " ** " + bits + n;
    else range = ">= -(2" + n + " ** " + (bits - 1) + n + ") and < 2" + n + " ** " + (bits - 1) + n;
    return outOfRange("value", range, value);
  }
  __name(rangeError, "rangeError");
  function readLE(buffer, offset, size) {
    let value = buffer[offset];
    if (size === 1) return value;
    value += buffer[offset + 1] * 256;
    if (size === 2) return value;
    value += buffer[offset + 2] * 65536;
    if (size === 3) return value;
    value += buffer[offset + 3] * 16777216;
    if (size === 4) return value;
    value += buffer[offset + 4] * 4294967296;
    return size === 5 ? value : value + buffer[offset + 5] * 1099511627776;
  }
  __name(readLE, "readLE");
  function readBE(buffer, offset, size) {
    let value = buffer[offset];
    for (let i = 1; i < size; i++) value = value * 256 + buffer[offset + i];
    return value;
  }
  __name(readBE, "readBE");
  function writeLE(buffer, value, offset, size) {
    if (size > 4) {
      const low = value % 4294967296;
      let high = (value - low) / 4294967296;
      if (low < 0) high -= 1;
      writeLE(buffer, low, offset, 4);
      writeLE(buffer, high, offset + 4, size - 4);
      return;
    }
    for (let i = 0; i < size; i++) buffer[offset + i] = value >> i * 8;
  }
  __name(writeLE, "writeLE");
  function writeBE(buffer, value, offset, size) {
    if (size > 4) {
      const low = value % 4294967296;
      let high = (value - low) / 4294967296;
      if (low < 0) high -= 1;
      writeBE(buffer, high, offset, size - 4);
      writeBE(buffer, low, offset + size - 4, 4);
      return;
    }
    for (let i = 0; i < size; i++) buffer[offset + i] = value >> (size - 1 - i) * 8;
  }
  __name(writeBE, "writeBE");
  function signed(value, size) {
    const half = 2 ** (size * 8 - 1);
    return value < half ? value : value - half * 2;
  }
  __name(signed, "signed");
  function whole(value) {
    const fraction = value % 1;
    return fraction === fraction ? value - fraction : 0;
  }
  __name(whole, "whole");
  function reader1(isSigned) {
    return {
      read(offset = 0) {
        if (typeof offset !== "number") throw badOffset(this, offset, 1);
        const byte = this[offset];
        if (byte === void 0) throw badOffset(this, offset, 1);
        return isSigned ? byte << 24 >> 24 : byte;
      }
    }.read;
  }
  __name(reader1, "reader1");
  function reader2(isLittle, isSigned) {
    return {
      read(offset = 0) {
        if (typeof offset !== "number") throw badOffset(this, offset, 2);
        const first = this[offset];
        const second = this[offset + 1];
        if (first === void 0 || second === void 0) throw badOffset(this, offset, 2);
        const value = isLittle ? first | second << 8 : first << 8 | second;
        return isSigned ? value << 16 >> 16 : value;
      }
    }.read;
  }
  __name(reader2, "reader2");
  function reader4(isLittle, isSigned) {
    return {
      read(offset = 0) {
        if (typeof offset !== "number") throw badOffset(this, offset, 4);
        const first = this[offset];
        const last = this[offset + 3];
        if (first === void 0 || last === void 0) throw badOffset(this, offset, 4);
        const value = isLittle ? first | this[offset + 1] << 8 | this[offset + 2] << 16 | last << 24 : first << 24 | this[offset + 1] << 16 | this[offset + 2] << 8 | last;
        return isSigned ? value : value >>> 0;
      }
    }.read;
  }
  __name(reader4, "reader4");
  function sizedReader(read2, isSigned) {
    return {
      read(offset, byteLength) {
        if (offset === void 0) throw wrongType("offset", "of type number", offset);
        checkSize(byteLength);
        checkBounds(this, offset, byteLength);
        const value = read2(this, offset, byteLength);
        return isSigned ? signed(value, byteLength) : value;
      }
    }.read;
  }
  __name(sizedReader, "sizedReader");
  function limits(size, isSigned) {
    const count = 2 ** (size * 8);
    return isSigned ? [-count / 2, count / 2 - 1] : [0, count - 1];
  }
  __name(limits, "limits");
  function writer1(isSigned) {
    const { 0: least, 1: most } = limits(1, isSigned);
    return {
      write(value, offset = 0) {
        value = +value;
        if (typeof offset !== "number") throw badOffset(this, offset, 1);
        if (value > most || value < least) throw rangeError(value, 1, least, most);
        if (this[offset] === void 0) throw badOffset(this, offset, 1);
        this[offset] = value;
        return offset + 1;
      }
    }.write;
  }
  __name(writer1, "writer1");
  function writer2(isLittle, isSigned) {
    const { 0: least, 1: most } = limits(2, isSigned);
    return {
      write(value, offset = 0) {
        value = +value;
        if (value > most || value < least) throw rangeError(value, 2, least, most);
        if (typeof offset !== "number" || this[offset] === void 0 || this[offset + 1] === void 0) {
          throw badOffset(this, offset, 2);
        }
        if (isLittle) {
          this[offset] = value;
          this[offset + 1] = value >> 8;
        } else {
          this[offset] = value >> 8;
          this[offset + 1] = value;
        }
        return offset + 2;
      }
    }.write;
  }
  __name(writer2, "writer2");
  function writer4(isLittle, isSigned) {
    const { 0: least, 1: most } = limits(4, isSigned);
    return {
      write(value, offset = 0) {
        value = +value;
        if (value > most || value < least) throw rangeError(value, 4, least, most);
        if (typeof offset !== "number" || this[offset] === void 0 || this[offset + 3] === void 0) {
          throw badOffset(this, offset, 4);
        }
        value |= 0;
        if (isLittle) {
          this[offset] = value;
          this[offset + 1] = value >> 8;
          this[offset + 2] = value >> 16;
          this[offset + 3] = value >> 24;
        } else {
          this[offset] = value >> 24;
          this[offset + 1] = value >> 16;
          this[offset + 2] = value >> 8;
          this[offset + 3] = value;
        }
        return offset + 4;
      }
    }.write;
  }
  __name(writer4, "writer4");
  function sizedWriter(write5, isSigned) {
    return {
      write(value, offset, byteLength) {
        checkSize(byteLength);
        if (offset === void 0) throw wrongType("offset", "of type number", offset);
        const { 0: least, 1: most } = limits(byteLength, isSigned);
        value = +value;
        checkValue(this, value, offset, byteLength, least, most);
        write5(this, whole(value), offset, byteLength);
        return offset + byteLength;
      }
    }.write;
  }
  __name(sizedWriter, "sizedWriter");
  function scratch(View) {
    const numbers = new View(1);
    return { numbers, bytes: new Uint8Array2(TypedArrayPrototypeGetBuffer(numbers)) };
  }
  __name(scratch, "scratch");
  function scratchReader(View, size, isLittle) {
    const { numbers, bytes } = scratch(View);
    return {
      read(offset = 0) {
        checkBounds(this, offset, size);
        if (isLittle) for (let i = 0; i < size; i++) bytes[i] = this[offset + i];
        else for (let i = size - 1, at = offset; i >= 0; i--, at++) bytes[i] = this[at];
        return numbers[0];
      }
    }.read;
  }
  __name(scratchReader, "scratchReader");
  function putScratch(buffer, bytes, offset, size, isLittle) {
    if (isLittle) for (let i = 0; i < size; i++) buffer[offset + i] = bytes[i];
    else for (let i = size - 1, at = offset; i >= 0; i--, at++) buffer[at] = bytes[i];
    return offset + size;
  }
  __name(putScratch, "putScratch");
  function floatWriter(View, size, isLittle) {
    const { numbers, bytes } = scratch(View);
    return {
      write(value, offset = 0) {
        value = +value;
        checkBounds(this, offset, size);
        numbers[0] = value;
        return putScratch(this, bytes, offset, size, isLittle);
      }
    }.write;
  }
  __name(floatWriter, "floatWriter");
  function bigWriter(View, least, end, isLittle) {
    const { numbers, bytes } = scratch(View);
    const most = end - 1n;
    const leastNumber = Number2(least);
    const endNumber = Number2(end);
    return {
      write(value, offset = 0) {
        if (typeof value !== "bigint") {
          if (typeof value === "number" && (value < leastNumber || value >= endNumber)) {
            throw rangeError(value, 8, least, most);
          }
          checkBounds(this, offset, 8);
          throw new TypeError2("Cannot mix BigInt and other types, use explicit conversions");
        }
        checkValue(this, value, offset, 8, least, most);
        numbers[0] = value;
        return putScratch(this, bytes, offset, 8, isLittle);
      }
    }.write;
  }
  __name(bigWriter, "bigWriter");
  function defineNumbers(define5) {
    const both = /* @__PURE__ */ __name((kind, name, alias, method) => {
      define5(kind + name, method);
      if (alias !== void 0) define5(kind + alias, method);
    }, "both");
    for (let order = 0; order < 2; order++) {
      const isLittle = order === 0;
      const end = isLittle ? "LE" : "BE";
      const read2 = isLittle ? readLE : readBE;
      const write5 = isLittle ? writeLE : writeBE;
      if (isLittle) {
        both("read", "UInt8", "Uint8", reader1(false));
        both("read", "Int8", void 0, reader1(true));
        both("write", "UInt8", "Uint8", writer1(false));
        both("write", "Int8", void 0, writer1(true));
      }
      both("read", "UInt16" + end, "Uint16" + end, reader2(isLittle, false));
      both("read", "Int16" + end, void 0, reader2(isLittle, true));
      both("write", "UInt16" + end, "Uint16" + end, writer2(isLittle, false));
      both("write", "Int16" + end, void 0, writer2(isLittle, true));
      both("read", "UInt32" + end, "Uint32" + end, reader4(isLittle, false));
      both("read", "Int32" + end, void 0, reader4(isLittle, true));
      both("write", "UInt32" + end, "Uint32" + end, writer4(isLittle, false));
      both("write", "Int32" + end, void 0, writer4(isLittle, true));
      both("read", "UInt" + end, "Uint" + end, sizedReader(read2, false));
      both("read", "Int" + end, void 0, sizedReader(read2, true));
      both("write", "UInt" + end, "Uint" + end, sizedWriter(write5, false));
      both("write", "Int" + end, void 0, sizedWriter(write5, true));
      define5("readFloat" + end, scratchReader(Float32Array, 4, isLittle));
      define5("readDouble" + end, scratchReader(Float64Array, 8, isLittle));
      define5("writeFloat" + end, floatWriter(Float32Array, 4, isLittle));
      define5("writeDouble" + end, floatWriter(Float64Array, 8, isLittle));
      both("read", "BigUInt64" + end, "BigUint64" + end, scratchReader(BigUint64Array, 8, isLittle));
      define5("readBigInt64" + end, scratchReader(BigInt64Array, 8, isLittle));
      both("write", "BigUInt64" + end, "BigUint64" + end, bigWriter(BigUint64Array, 0n, 2n ** 64n, isLittle));
      define5("writeBigInt64" + end, bigWriter(BigInt64Array, -(2n ** 63n), 2n ** 63n, isLittle));
    }
  }
  __name(defineNumbers, "defineNumbers");

  // src/buffer.js
  var maxLength = 2 ** 31 - 1;
  var { MAX_SAFE_INTEGER } = Number2;
  var lengthOf = TypedArrayPrototypeGetLength;
  var FastBuffer = class extends Uint8Array2 {
    static {
      __name(this, "FastBuffer");
    }
    constructor(source, offset, length) {
      super(source, offset, length);
    }
  };
  function Buffer2(value, encodingOrOffset, length) {
    if (typeof value !== "number") return from(value, encodingOrOffset, length);
    if (typeof encodingOrOffset === "string") throw wrongType("string", "of type string", value);
    return alloc(value);
  }
  __name(Buffer2, "Buffer");
  ObjectSetPrototypeOf(Buffer2, Uint8Array2);
  var { prototype } = FastBuffer;
  ObjectDefineProperty(Buffer2, "prototype", { __proto__: null, value: prototype, writable: true });
  ObjectDefineProperty(prototype, "constructor", {
    __proto__: null,
    value: Buffer2,
    writable: true,
    enumerable: false,
    configurable: true
  });
  ObjectFreeze(FastBuffer);
  function isBytes(value) {
    return TypedArrayPrototypeGetToStringTag(value) === "Uint8Array";
  }
  __name(isBytes, "isBytes");
  function isAnyArrayBuffer(value) {
    return isArrayBuffer(value) || isSharedArrayBuffer(value);
  }
  __name(isAnyArrayBuffer, "isAnyArrayBuffer");
  var BYTES = "an instance of Buffer or Uint8Array";
  function checkBytes(value, name) {
    if (!isBytes(value)) throw wrongType(name, BYTES, value);
  }
  __name(checkBytes, "checkBytes");
  function adopt(bytes) {
    return new FastBuffer(
      TypedArrayPrototypeGetBuffer(bytes),
      TypedArrayPrototypeGetByteOffset(bytes),
      TypedArrayPrototypeGetLength(bytes)
    );
  }
  __name(adopt, "adopt");
  function fromText(text2, name) {
    if (typeof name !== "string" || name === "") return adopt(utf8.bytes(text2));
    return adopt(requireEncoding(name).bytes(text2));
  }
  __name(fromText, "fromText");
  function fromArrayLike(source) {
    const { length } = source;
    if (!(length > 0)) return new FastBuffer(0);
    const buffer = new FastBuffer(length);
    TypedArrayPrototypeSet(buffer, source);
    return buffer;
  }
  __name(fromArrayLike, "fromArrayLike");
  function fromArrayBuffer(source, offset, length) {
    offset = offset === void 0 ? 0 : +offset || 0;
    const size = isArrayBuffer(source) ? ArrayBufferPrototypeGetByteLength(source) : SharedArrayBufferPrototypeGetByteLength(source);
    const most = size - offset;
    if (most < 0) throw outOfBounds("offset");
    if (length === void 0) return new FastBuffer(source, offset, most);
    length = +length;
    if (!(length > 0)) length = 0;
    if (length > most) throw outOfBounds("length");
    return new FastBuffer(source, offset, length);
  }
  __name(fromArrayBuffer, "fromArrayBuffer");
  function fromObject(source) {
    if (source.length !== void 0 || isAnyArrayBuffer(source.buffer)) {
      return typeof source.length === "number" ? fromArrayLike(source) : new FastBuffer(0);
    }
    return source.type === "Buffer" && ArrayIsArray(source.data) ? fromArrayLike(source.data) : void 0;
  }
  __name(fromObject, "fromObject");
  var { from } = {
    from(value, encodingOrOffset, length) {
      if (typeof value === "string") return fromText(value, encodingOrOffset);
      if (TypedArrayPrototypeGetToStringTag(value) !== void 0) return adopt(new Uint8Array2(value));
      if (typeof value === "object" && value !== null) {
        if (isAnyArrayBuffer(value)) return fromArrayBuffer(value, encodingOrOffset, length);
        const plain = value.valueOf && value.valueOf();
        if (plain !== void 0 && plain !== null && plain !== value) {
          if (typeof plain === "string" || typeof plain === "object") return from(plain, encodingOrOffset, length);
        }
        const made = fromObject(value);
        if (made !== void 0) return made;
        if (typeof value[SymbolToPrimitive] === "function") {
          const primitive = value[SymbolToPrimitive]("string");
          if (typeof primitive === "string") return fromText(primitive, encodingOrOffset);
        }
      }
      const expected = "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object";
      throw wrongType("first argument", expected, value);
    }
  };
  var { alloc } = {
    alloc(size, value, encoding) {
      checkNumber(size, "size", 0, maxLength);
      const buffer = new FastBuffer(size);
      return value !== void 0 && value !== 0 && size > 0 ? fill(buffer, value, 0, lengthOf(buffer), encoding) : buffer;
    }
  };
  function uninitialised(size) {
    checkNumber(size, "size", 0, maxLength);
    return new FastBuffer(size);
  }
  __name(uninitialised, "uninitialised");
  var statics = {
    poolSize: 8192,
    from,
    copyBytesFrom(view, offset, length) {
      if (TypedArrayPrototypeGetToStringTag(view) === void 0) throw wrongType("view", "an instance of TypedArray", view);
      const count = lengthOf(view);
      if (count === 0) return new FastBuffer(0);
      let end = count;
      if (offset === void 0) offset = 0;
      else checkInteger(offset, "offset", 0, MAX_SAFE_INTEGER);
      if (offset >= count) return new FastBuffer(0);
      if (length !== void 0) {
        checkInteger(length, "length", 0, MAX_SAFE_INTEGER);
        end = offset + length < count ? offset + length : count;
      }
      if (offset >= end) return new FastBuffer(0);
      const width = TypedArrayPrototypeGetByteLength(view) / count;
      return adopt(new Uint8Array2(viewOf(view, offset * width, end * width)));
    },
    of(...items) {
      const buffer = new FastBuffer(items.length);
      for (let i = 0; i < items.length; i++) buffer[i] = items[i];
      return buffer;
    },
    alloc,
    allocUnsafe(size) {
      return uninitialised(size);
    },
    allocUnsafeSlow(size) {
      return uninitialised(size);
    },
    isBuffer(value) {
      return value instanceof Buffer2;
    },
    compare(buf1, buf2) {
      checkBytes(buf1, "buf1");
      checkBytes(buf2, "buf2");
      return compareBytes(buf1, buf2);
    },
    isEncoding(encoding) {
      return typeof encoding === "string" && encodingOf2(encoding) !== void 0;
    },
    concat(list, length) {
      if (!ArrayIsArray(list)) throw wrongType("list", "an instance of Array", list);
      const count = list.length;
      if (count === 0) return new FastBuffer(0);
      if (length === void 0) {
        length = 0;
        for (let i = 0; i < count; i++) length += (isBytes(list[i]) ? lengthOf(list[i]) : list[i].length) || 0;
      } else {
        checkInteger(length, "length", 0, MAX_SAFE_INTEGER);
      }
      const whole2 = uninitialised(length);
      let at = 0;
      for (let i = 0; i < count; i++) {
        const part = list[i];
        checkBytes(part, "list[" + i + "]");
        const size = lengthOf(part);
        const room = length - at;
        TypedArrayPrototypeSet(whole2, size > room ? viewOf(part, 0, room) : part, at);
        at += size > room ? room : size;
      }
      return whole2;
    },
    byteLength(text2, encoding) {
      if (typeof text2 !== "string") {
        if (ArrayBufferIsView(text2) || isAnyArrayBuffer(text2)) return text2.byteLength;
        throw wrongType("string", "of type string or an instance of Buffer or ArrayBuffer", text2);
      }
      if (text2 === "") return 0;
      return (encoding ? encodingOf2(encoding) ?? utf8 : utf8).length(text2);
    }
  };
  function compareBytes(a, b) {
    const first = lengthOf(a);
    const second = lengthOf(b);
    const shorter = first < second ? first : second;
    for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return first < second ? -1 : first > second ? 1 : 0;
  }
  __name(compareBytes, "compareBytes");
  function equalAt(bytes, at, part, size) {
    for (let i = 0; i < size; i++) if (bytes[at + i] !== part[i]) return false;
    return true;
  }
  __name(equalAt, "equalAt");
  function searchStart(length, offset, size, isForward) {
    if (offset < 0) {
      if (offset + length >= 0) return offset + length;
      return isForward || size === 0 ? 0 : -1;
    }
    if (offset + size <= length) return offset;
    if (size === 0) return length;
    return isForward ? -1 : length - 1;
  }
  __name(searchStart, "searchStart");
  function search(bytes, part, offset, length, step, isForward) {
    const size = lengthOf(part);
    const start3 = searchStart(length, offset, size, isForward);
    if (size === 0) return start3;
    if (length === 0 || start3 < 0 || size > length || isForward && start3 + size > length) return -1;
    if (step === 2) return searchUnits(bytes, part, start3, length, isForward);
    const last = length - size;
    let at = isForward || start3 < last ? start3 : last;
    for (; ; ) {
      at = isForward ? TypedArrayPrototypeIndexOf(bytes, part[0], at) : TypedArrayPrototypeLastIndexOf(bytes, part[0], at);
      if (at === -1 || at > last) return -1;
      if (equalAt(bytes, at, part, size)) return at;
      at += isForward ? 1 : -1;
      if (at < 0) return -1;
    }
  }
  __name(search, "search");
  function searchUnits(bytes, part, start3, length, isForward) {
    const size = lengthOf(part);
    const whole2 = size - size % 2;
    if (whole2 < 2) return -1;
    const last = length - length % 2 - whole2;
    let at = start3 - start3 % 2;
    if (!isForward && at > last) at = last;
    for (; at >= 0 && at <= last; at += isForward ? 2 : -2) if (equalAt(bytes, at, part, whole2)) return at;
    return -1;
  }
  __name(searchUnits, "searchUnits");
  function indexOf(buffer, value, offset, encoding, isForward) {
    checkBytes(buffer, "buffer");
    if (typeof offset === "string") {
      encoding = offset;
      offset = void 0;
    } else if (offset > 2147483647) {
      offset = 2147483647;
    } else if (offset < -2147483648) {
      offset = -2147483648;
    }
    offset = +offset;
    const length = lengthOf(buffer);
    if (offset !== offset) offset = isForward ? 0 : length;
    offset -= offset % 1;
    if (typeof value === "number") {
      const start3 = searchStart(length, offset, 1, isForward);
      if (start3 < 0 || length === 0) return -1;
      const byte = value & 255;
      return isForward ? TypedArrayPrototypeIndexOf(buffer, byte, start3) : TypedArrayPrototypeLastIndexOf(buffer, byte, start3);
    }
    const known = encoding === void 0 ? utf8 : encodingOf2(encoding);
    if (typeof value === "string") {
      if (known === void 0) throw unknownEncoding(encoding);
      if (known === ucs2) return search(buffer, known.bytes(value), offset, length - length % 2, 2, isForward);
      return search(buffer, known.bytes(value), offset, length, 1, isForward);
    }
    if (!isBytes(value)) throw wrongType("value", "one of type number or string or " + BYTES, value);
    return search(buffer, value, offset, length, known === ucs2 ? 2 : 1, isForward);
  }
  __name(indexOf, "indexOf");
  function fill(buffer, value, offset, end, encoding) {
    const length = lengthOf(buffer);
    if (typeof value === "string") {
      if (offset === void 0 || typeof offset === "string") {
        encoding = offset;
        offset = 0;
        end = length;
      } else if (typeof end === "string") {
        encoding = end;
        end = length;
      }
      if (encoding === void 0 || encoding === null || encoding === "") {
        encoding = utf8;
      } else {
        if (typeof encoding !== "string") throw wrongType("encoding", "of type string", encoding);
        encoding = requireEncoding(encoding);
      }
      if (value === "") {
        value = 0;
      } else if (value.length === 1 && (encoding === utf8 || encoding.name === "latin1")) {
        const unit = StringPrototypeCharCodeAt(value, 0);
        if (unit < 128 || encoding !== utf8) value = unit;
      }
    }
    if (offset === void 0) {
      offset = 0;
      end = length;
    } else {
      checkInteger(offset, "offset", 0, MAX_SAFE_INTEGER);
      if (end === void 0) end = length;
      else checkInteger(end, "end", 0, length);
      if (offset >= end) return buffer;
    }
    if (typeof value === "string") return fillBytes(buffer, encoding.bytes(value), offset, end, value);
    if (ArrayBufferIsView(value)) return fillBytes(buffer, bytesOf(value, "The value"), offset, end, value);
    TypedArrayPrototypeFill(buffer, typeof value === "number" ? value : value & 255, offset, end);
    return buffer;
  }
  __name(fill, "fill");
  function fillBytes(buffer, bytes, offset, end, value) {
    const size = lengthOf(bytes);
    if (offset >= end) return buffer;
    if (size === 0) {
      throw coded(TypeError2, "ERR_INVALID_ARG_VALUE", "The argument 'value' is invalid. Received " + inspect(value, 0, 128));
    }
    const room = end - offset;
    TypedArrayPrototypeSet(buffer, size > room ? viewOf(bytes, 0, room) : bytes, offset);
    for (let done = size; done < room; done *= 2) {
      TypedArrayPrototypeCopyWithin(buffer, offset + done, offset, offset + (room - done < done ? room - done : done));
    }
    return buffer;
  }
  __name(fillBytes, "fillBytes");
  function writeText(buffer, encoding, text2, offset, room) {
    if (typeof text2 !== "string") throw coded(TypeError2, "ERR_INVALID_ARG_TYPE", "argument must be a string");
    if (room <= 0) return 0;
    const bytes = encoding.bytes(text2);
    const size = wholeLength(encoding, bytes, room);
    TypedArrayPrototypeSet(buffer, size < lengthOf(bytes) ? viewOf(bytes, 0, size) : bytes, offset);
    return size;
  }
  __name(writeText, "writeText");
  function write2(buffer, text2, offset, length, encoding) {
    const size = lengthOf(buffer);
    if (offset === void 0) return writeText(buffer, utf8, text2, 0, size);
    if (length === void 0 && typeof offset === "string") {
      encoding = offset;
      length = size;
      offset = 0;
    } else {
      checkInteger(offset, "offset", 0, size);
      const room = size - offset;
      if (length === void 0) {
        length = room;
      } else if (typeof length === "string") {
        encoding = length;
        length = room;
      } else {
        checkInteger(length, "length", 0, size);
        if (length > room) length = room;
      }
    }
    return writeText(buffer, encoding ? requireEncoding(encoding) : utf8, text2, offset, length);
  }
  __name(write2, "write");
  function integerOf(value) {
    const number = +value;
    if (!(number >= -MAX_SAFE_INTEGER && number <= MAX_SAFE_INTEGER)) return 0;
    const fraction = number % 1;
    return fraction < 0 ? number - fraction - 1 : number - fraction;
  }
  __name(integerOf, "integerOf");
  function within(offset, length) {
    offset = +offset;
    if (offset !== offset) return 0;
    if (offset >= length) return length;
    if (offset <= -length) return 0;
    offset -= offset % 1;
    return offset < 0 ? offset + length : offset;
  }
  __name(within, "within");
  function subarray(buffer, start3, end) {
    const length = lengthOf(buffer);
    const first = within(start3, length);
    const last = end === void 0 ? length : within(end, length);
    return new FastBuffer(
      TypedArrayPrototypeGetBuffer(buffer),
      TypedArrayPrototypeGetByteOffset(buffer) + first,
      last > first ? last - first : 0
    );
  }
  __name(subarray, "subarray");
  function indexArgument(value, fallback3) {
    if (value === void 0) return fallback3;
    const index = +value;
    if (index !== index) return 0;
    if (index < 0) throw coded(RangeError, "ERR_OUT_OF_RANGE", "Index out of range");
    return index === Infinity ? index : index - index % 1;
  }
  __name(indexArgument, "indexArgument");
  function textOfSlice(buffer, encoding, start3, end) {
    checkBytes(buffer, "buffer");
    const length = lengthOf(buffer);
    start3 = indexArgument(start3, 0);
    end = indexArgument(end, length);
    if (end < start3) end = start3;
    if (end > length) throw coded(RangeError, "ERR_OUT_OF_RANGE", "Index out of range");
    return start3 === end ? "" : encoding.text(viewOf(buffer, start3, end));
  }
  __name(textOfSlice, "textOfSlice");
  function writeSlice(buffer, encoding, text2, offset, length) {
    checkBytes(buffer, "buffer");
    if (typeof text2 !== "string") throw coded(TypeError2, "ERR_INVALID_ARG_TYPE", "argument must be a string");
    const size = lengthOf(buffer);
    offset = indexArgument(offset, 0);
    if (offset > size) throw outOfBounds("offset");
    length = indexArgument(length, size - offset);
    return writeText(buffer, encoding, text2, offset, length < size - offset ? length : size - offset);
  }
  __name(writeSlice, "writeSlice");
  function textOffset(value) {
    return value | 0;
  }
  __name(textOffset, "textOffset");
  function swap(buffer, size) {
    const length = lengthOf(buffer);
    if (length % size !== 0) {
      throw coded(RangeError, "ERR_INVALID_BUFFER_SIZE", "Buffer size must be a multiple of " + size * 8 + "-bits");
    }
    for (let start3 = 0; start3 < length; start3 += size) {
      for (let i = 0; i < size / 2; i++) {
        const byte = buffer[start3 + i];
        buffer[start3 + i] = buffer[start3 + size - 1 - i];
        buffer[start3 + size - 1 - i] = byte;
      }
    }
    return buffer;
  }
  __name(swap, "swap");
  var methods = {
    copy(target, targetStart, sourceStart, sourceEnd) {
      checkBytes(this, "source");
      checkBytes(target, "target");
      const size = lengthOf(this);
      const room = lengthOf(target);
      targetStart = targetStart === void 0 ? 0 : integerOf(targetStart);
      if (targetStart < 0) throw outOfRange("targetStart", ">= 0", targetStart);
      sourceStart = sourceStart === void 0 ? 0 : integerOf(sourceStart);
      if (sourceStart < 0 || sourceStart > size) throw outOfRange("sourceStart", ">= 0 && <= " + size, sourceStart);
      sourceEnd = sourceEnd === void 0 ? size : integerOf(sourceEnd);
      if (sourceEnd < 0) throw outOfRange("sourceEnd", ">= 0", sourceEnd);
      if (targetStart >= room || sourceStart >= sourceEnd) return 0;
      let count = (sourceEnd < size ? sourceEnd : size) - sourceStart;
      if (count > room - targetStart) count = room - targetStart;
      TypedArrayPrototypeSet(target, viewOf(this, sourceStart, sourceStart + count), targetStart);
      return count;
    },
    toString(encoding, start3, end) {
      const length = lengthOf(this);
      if (arguments.length === 0) return length === 0 ? "" : utf8.text(this);
      if (start3 <= 0) start3 = 0;
      else if (start3 >= length) return "";
      else start3 = textOffset(start3);
      end = end === void 0 || end > length ? length : textOffset(end);
      if (end <= start3) return "";
      return (encoding === void 0 ? utf8 : requireEncoding(encoding)).text(viewOf(this, start3, end));
    },
    equals(otherBuffer) {
      checkBytes(otherBuffer, "otherBuffer");
      if (this === otherBuffer) return true;
      const size = lengthOf(this);
      return size === lengthOf(otherBuffer) && equalAt(this, 0, otherBuffer, size);
    },
    inspect() {
      return lengthOf(this) === 0 ? "<Buffer >" : "<Buffer " + showBytes(this, 50) + ">";
    },
    compare(target, targetStart, targetEnd, sourceStart, sourceEnd) {
      checkBytes(target, "target");
      if (arguments.length === 1) return compareBytes(this, target);
      if (targetStart === void 0) targetStart = 0;
      else checkInteger(targetStart, "targetStart", 0, MAX_SAFE_INTEGER);
      if (targetEnd === void 0) targetEnd = lengthOf(target);
      else checkInteger(targetEnd, "targetEnd", 0, lengthOf(target));
      if (sourceStart === void 0) sourceStart = 0;
      else checkInteger(sourceStart, "sourceStart", 0, MAX_SAFE_INTEGER);
      if (sourceEnd === void 0) sourceEnd = lengthOf(this);
      else checkInteger(sourceEnd, "sourceEnd", 0, lengthOf(this));
      if (sourceStart >= sourceEnd) return targetStart >= targetEnd ? 0 : -1;
      if (targetStart >= targetEnd) return 1;
      return compareBytes(viewOf(this, sourceStart, sourceEnd), viewOf(target, targetStart, targetEnd));
    },
    indexOf(value, byteOffset, encoding) {
      return indexOf(this, value, byteOffset, encoding, true);
    },
    lastIndexOf(value, byteOffset, encoding) {
      return indexOf(this, value, byteOffset, encoding, false);
    },
    includes(value, byteOffset, encoding) {
      return indexOf(this, value, byteOffset, encoding, true) !== -1;
    },
    fill(value, offset, end, encoding) {
      return fill(this, value, offset, end, encoding);
    },
    write(string, offset, length, encoding) {
      return write2(this, string, offset, length, encoding);
    },
    toJSON() {
      const data = [];
      const length = lengthOf(this);
      for (let i = 0; i < length; i++) ArrayPrototypePush(data, this[i]);
      return { type: "Buffer", data };
    },
    subarray(start3, end) {
      return subarray(this, start3, end);
    },
    slice(start3, end) {
      return subarray(this, start3, end);
    },
    swap16() {
      return swap(this, 2);
    },
    swap32() {
      return swap(this, 4);
    },
    swap64() {
      return swap(this, 8);
    }
  };
  function define(name, value) {
    ObjectDefineProperty(prototype, name, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true
    });
  }
  __name(define, "define");
  function named(method, name) {
    return ObjectDefineProperty(method, "name", { __proto__: null, value: name });
  }
  __name(named, "named");
  defineNumbers((name, method) => define(name, method.name === "read" || method.name === "write" ? named(method, name) : method));
  var encodingNames = ObjectKeys(encodings);
  for (let i = 0; i < encodingNames.length; i++) {
    const name = encodingNames[i];
    const encoding = encodings[name];
    const { slice: slice2, put: put2 } = {
      slice(start3, end) {
        return textOfSlice(this, encoding, start3, end);
      },
      put(string, offset, length) {
        return writeSlice(this, encoding, string, offset, length);
      }
    };
    define(name + "Slice", named(slice2, name + "Slice"));
    define(name + "Write", named(put2, name + "Write"));
  }
  var methodNames = ObjectKeys(methods);
  for (let i = 0; i < methodNames.length; i++) define(methodNames[i], methods[methodNames[i]]);
  define("toLocaleString", methods.toString);
  ObjectDefineProperty(prototype, inspectCustom, {
    __proto__: null,
    value: methods.inspect,
    writable: true,
    enumerable: false,
    configurable: true
  });
  ObjectDefineProperty(prototype, "parent", {
    __proto__: null,
    get() {
      return this instanceof Buffer2 ? TypedArrayPrototypeGetBuffer(this) : void 0;
    },
    enumerable: true
  });
  ObjectDefineProperty(prototype, "offset", {
    __proto__: null,
    get() {
      return this instanceof Buffer2 ? TypedArrayPrototypeGetByteOffset(this) : void 0;
    },
    enumerable: true
  });
  var staticNames = ObjectKeys(statics);
  for (let i = 0; i < staticNames.length; i++) {
    ObjectDefineProperty(Buffer2, staticNames[i], {
      __proto__: null,
      value: statics[staticNames[i]],
      writable: true,
      enumerable: true,
      configurable: true
    });
  }
  ObjectDefineProperty(Buffer2, SymbolSpecies, { __proto__: null, get: /* @__PURE__ */ __name(() => FastBuffer, "get"), configurable: true });
  function bytesOfInput(input) {
    if (TypedArrayPrototypeGetToStringTag(input) === void 0 && !isAnyArrayBuffer(input)) {
      throw wrongType("input", "an instance of ArrayBuffer, Buffer, or TypedArray", input);
    }
    return bytesOf(input, "The input");
  }
  __name(bytesOfInput, "bytesOfInput");
  var functions = {
    isUtf8(input) {
      return decodeUtf8(bytesOfInput(input), true) !== void 0;
    },
    isAscii(input) {
      const bytes = bytesOfInput(input);
      const length = lengthOf(bytes);
      for (let i = 0; i < length; i++) if (bytes[i] > 127) return false;
      return true;
    },
    transcode(source, fromEncoding, toEncoding) {
      checkBytes(source, "source");
      if (lengthOf(source) === 0) return new FastBuffer(0);
      const bytes = transcoded(source, fromEncoding, toEncoding);
      if (bytes !== void 0 && bytes !== null) return adopt(bytes);
      const code = bytes === null ? "U_INVALID_CHAR_FOUND" : "U_ILLEGAL_ARGUMENT_ERROR";
      throw coded(Error2, code, "Unable to transcode Buffer [" + code + "]");
    }
  };
  var functionNames = ObjectKeys(functions);
  for (let i = 0; i < functionNames.length; i++) {
    ObjectDefineProperty(Buffer2, functionNames[i], {
      __proto__: null,
      value: functions[functionNames[i]],
      writable: true,
      enumerable: false,
      configurable: true
    });
  }

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
  var entriesOf;
  var URLSearchParams = class _URLSearchParams {
    static {
      __name(this, "URLSearchParams");
    }
    // Names and values in turn: [name, value, name, value, ...].
    #list = [];
    #onChange = void 0;
    static {
      paramsOfUrl = /* @__PURE__ */ __name((search3, onChange) => {
        const params = new _URLSearchParams(search3);
        params.#onChange = onChange;
        return params;
      }, "paramsOfUrl");
      refreshParams = /* @__PURE__ */ __name((params, search3) => {
        params.#list = parseSearch(search3);
      }, "refreshParams");
      serializeParams = /* @__PURE__ */ __name((value) => #list in value ? nativeFormSerialize(value.#list) : void 0, "serializeParams");
    }
    constructor(init = "") {
      if (typeof init === "object" && init !== null || typeof init === "function") {
        const isPlain = #list in init && init[SymbolIterator] === entriesOf;
        this.#list = isPlain ? copyList(init.#list) : listOfObject(init);
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
    [inspectCustom](depth, options, inspect3) {
      const list = this.#list;
      let text2 = "";
      for (let i = 0; i < list.length; i += 2) {
        text2 += (i > 0 ? ", " : "") + inspect3(list[i], options) + " => " + inspect3(list[i + 1], options);
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
  function parseSearch(search3) {
    return nativeFormParse(StringPrototypeStartsWith(search3, "?") ? StringPrototypeSlice(search3, 1) : search3);
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
    const keys2 = ReflectOwnKeys(init);
    for (let i = 0; i < keys2.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(init, keys2[i]);
      if (descriptor === void 0 || !descriptor.enumerable) continue;
      const name = toUSVString(keys2[i]);
      const value = toUSVString(init[keys2[i]]);
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
    [inspectCustom](depth, options, inspect3) {
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
      return "URL " + inspect3(shown, options);
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
  entriesOf = URLSearchParams.prototype.entries;
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
    value: entriesOf,
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
  var { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
  var uncurry = Function.prototype.bind.bind(Function.prototype.call);
  var getter2 = /* @__PURE__ */ __name((prototype2, name) => uncurry(getOwnPropertyDescriptor(prototype2, name).get), "getter");
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
      mapForEach(value, (member2, key) => put(entries, [key, member2]));
      return [entries, "the Map became an array of its entries"];
    }],
    [Set.prototype, (value) => {
      const members = [];
      setForEach(value, (member2) => put(members, member2));
      return [members, "the Set became an array of its members"];
    }],
    [Error.prototype, (value) => {
      const plain = { name: "" + value.name, message: "" + value.message };
      const own2 = keys(value);
      for (let index = 0; index < own2.length; index++) define2(plain, own2[index], value[own2[index]]);
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
    let prototype2 = getPrototypeOf(value);
    for (let depth = 0; prototype2 !== null && depth < 16; depth++) {
      for (let index = 0; index < kinds2.length; index++) {
        if (kinds2[index][0] !== prototype2) continue;
        try {
          return kinds2[index][1](value);
        } catch {
          return void 0;
        }
      }
      prototype2 = getPrototypeOf(prototype2);
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
    define2(array, array.length, value);
  }
  __name(put, "put");
  function define2(object, key, value) {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }
  __name(define2, "define");

  // cell/errors.js
  var { captureStackTrace } = Error;
  var ObjectConstructor = Object;
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
  var PROTOTYPES = 64;
  var PRELUDE = "toolcell:prelude";
  var NOT_DEFINED = " is not defined";
  var NOT_LOADED = "could not load module ";
  var net = "it needs the grant `net`, which this call does not have";
  var kv = "it needs the grant `kv`, which this call does not have";
  var files = "it needs the grant `files`, which this call does not have";
  var secrets = "it needs the grant `secrets`, which this call does not have";
  var tools = "it needs the grant `tools`, which this call does not have";
  var servers = "it needs the grant `servers`, which this call does not have";
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
    servers,
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
    return frame.getLineNumber() + ":" + frame.getColumnNumber();
  }
  __name(place, "place");
  function constructorFrames(error, frames) {
    let count = 0;
    try {
      let prototype2 = getPrototypeOf2(error);
      while (count < frames.length && prototype2 !== null && prototype2 !== errorPrototype) {
        const name = frames[count].getFunctionName();
        const constructor = getOwnPropertyDescriptor2(prototype2, "constructor")?.value;
        if (typeof constructor !== "function" || !name || constructor.name !== name) break;
        count++;
        prototype2 = getPrototypeOf2(prototype2);
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
  function inspect2(thrown) {
    if ((typeof thrown !== "object" || thrown === null) && typeof thrown !== "function") {
      return ["Error", text(thrown), ""];
    }
    const name = nameOf3(thrown);
    const message = read(thrown, "message") ?? describe(thrown);
    return [name, message, read(thrown, "stack") ?? ""];
  }
  __name(inspect2, "inspect");
  function nameOf3(object) {
    const name = namedBy(object);
    if (typeof object === "function" || isError2(object)) return name ?? "Error";
    if (name !== void 0 && read(object, "message") !== void 0) return name;
    return classOf2(object) ?? name ?? "Error";
  }
  __name(nameOf3, "nameOf");
  function namedBy(object) {
    try {
      const { name } = object;
      return typeof name === "string" && name !== "" ? text(name) : void 0;
    } catch {
      return void 0;
    }
  }
  __name(namedBy, "namedBy");
  function isError2(object) {
    try {
      let prototype2 = getPrototypeOf2(object);
      for (let depth = 0; prototype2 !== null && depth < PROTOTYPES; depth++) {
        if (prototype2 === errorPrototype) return true;
        prototype2 = getPrototypeOf2(prototype2);
      }
    } catch {
    }
    return false;
  }
  __name(isError2, "isError");
  function classOf2(object) {
    try {
      let holder = object;
      for (let depth = 0; holder !== null && depth < PROTOTYPES; depth++) {
        const constructor = getOwnPropertyDescriptor2(holder, "constructor");
        if (constructor !== void 0) {
          if (typeof constructor.value !== "function" || constructor.value === ObjectConstructor) return void 0;
          const name = getOwnPropertyDescriptor2(constructor.value, "name")?.value;
          return typeof name === "string" && name !== "" ? text(name) : void 0;
        }
        holder = getPrototypeOf2(holder);
      }
    } catch {
    }
    return void 0;
  }
  __name(classOf2, "classOf");
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
  function cancel2(id) {
    native.cancel(id);
  }
  __name(cancel2, "cancel");
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
  function request(kind, read2, write5, content, a, b, c) {
    const place2 = here(request);
    let payload;
    let bytes;
    try {
      payload = write5(a, b, c);
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
    if (place2 !== void 0) define3(error, "stack", stackOf(place2));
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
      error = new DOMException(message, name);
    } else {
      error = new Error2(message);
      if (name !== "Error") define3(error, "name", name);
    }
    if (place2 !== void 0) define3(error, "stack", stackOf(place2));
    addErrorProperty(error, "code", code);
    addErrorProperty(error, "effects", effects);
    return error;
  }
  __name(failure, "failure");
  function define3(object, key, value) {
    ObjectDefineProperty(object, key, { __proto__: null, value, writable: true, configurable: true });
  }
  __name(define3, "define");
  function own(answer, key) {
    return typeof answer === "object" && answer !== null && ObjectPrototypeHasOwnProperty(answer, key) ? answer[key] : void 0;
  }
  __name(own, "own");
  function quote2(string) {
    return native.quote(string);
  }
  __name(quote2, "quote");

  // cell/values.js
  function jsonOf(value, what) {
    const plain = native.json(value, ObjectPrototype);
    return plain === void 0 ? jsonOfAnything(value, what) : plain;
  }
  __name(jsonOf, "jsonOf");
  function jsonOfAnything(value, what) {
    const text2 = JSONStringify(value, function(key, member2) {
      const wrong = flaw(member2, ArrayIsArray(this));
      if (wrong === void 0) return member2;
      const where = key === "" ? what : "`" + shortened(key) + "` in " + what;
      throw new TypeError2(where + " is " + wrong + ", which JSON cannot hold: send what stands for it");
    });
    if (text2 === void 0) throw new TypeError2(what + " is undefined, which JSON cannot hold: leave it out, or send null");
    return text2;
  }
  __name(jsonOfAnything, "jsonOfAnything");
  function flaw(member2, inArray) {
    switch (typeof member2) {
      case "undefined":
        return inArray ? "undefined" : void 0;
      case "number":
        return member2 - member2 === 0 ? void 0 : "" + member2;
      case "string":
        return StringPrototypeIsWellFormed(member2) ? void 0 : "a text with half a character (see toWellFormed)";
      case "boolean":
        return void 0;
      case "bigint":
        return "a BigInt";
      case "object": {
        if (member2 === null) return void 0;
        const found = classify(member2);
        return found === void 0 || found[1] === void 0 ? void 0 : "an object that is no plain data";
      }
      default:
        return "a " + typeof member2;
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

  // cell/tools.js
  function makeTools() {
    return ObjectFreeze({
      call(name, params = {}) {
        return callTool(name, params);
      },
      keep(name, params = {}) {
        return request("tools.call", void 0, keepPayload, void 0, name, params);
      }
    });
  }
  __name(makeTools, "makeTools");
  function callTool(name, params) {
    return request("tools.call", void 0, callPayload, void 0, name, params);
  }
  __name(callTool, "callTool");
  function keepPayload(name, params) {
    return StringPrototypeSlice(callPayload(name, params), 0, -1) + ',"keep":true}';
  }
  __name(keepPayload, "keepPayload");
  function callPayload(name, params) {
    if (typeof params !== "object" || params === null || ArrayIsArray(params)) {
      throw new TypeError2("the parameters of tools.call must be an object");
    }
    const called = quote2(textOf2(name, "the name of tools.call"));
    return '{"name":' + called + ',"params":' + jsonOf(params, "what is given to tools.call") + "}";
  }
  __name(callPayload, "callPayload");

  // cell/factory.js
  var { isArray: isArray2 } = Array;
  var { apply } = Reflect;
  var { stringify: stringify2 } = JSON;
  var { defineProperty: defineProperty3, freeze, setPrototypeOf } = Object;
  var ErrorConstructor = Error;
  var TypeErrorConstructor = TypeError;
  var resolved = Promise.resolve.bind(Promise);
  var then = Function.prototype.call.bind(Promise.prototype.then);
  var hasInstance = Function.prototype.call.bind(Function.prototype[Symbol.hasInstance]);
  var ABSENT_OF_PI = [
    ["pi", "a cell has no host to reach into"],
    ["pushPendingAction", "return what is to be done, and let the caller do it"],
    ["on", "a cell has no session whose events it could hear"],
    ["sendMessage", "a cell has no session; return the message as the result"],
    ["sendUserMessage", "a cell has no session; return the message as the result"]
  ];
  var ABSENT_OF_CONTEXT = [
    ["sessionManager", "a cell has no session"],
    ["modelRegistry", "a cell has no model"],
    ["model", "a cell has no model"]
  ];
  var IGNORED_OF_PI = ["registerCommand", "registerShortcut", "registerMessageRenderer", "setLabel"];
  var IGNORED_OF_UI = ["setStatus", "setTitle", "setWidget", "setWorkingMessage"];
  var NOT_LENT = { __proto__: null, "tools-not-granted": true, "tool-not-found": true };
  var partial = /* @__PURE__ */ __name(() => {
  }, "partial");
  var loadPackage = /* @__PURE__ */ __name(() => {
  }, "loadPackage");
  var abortRun = /* @__PURE__ */ __name(() => {
  }, "abortRun");
  var canCall = false;
  var registered = [];
  var isLoading = false;
  var api = {};
  var context = {};
  function connect2(native2, logger) {
    partial = native2.partial;
    loadPackage = native2.package;
    abortRun = native2.abort;
    const ui = makeUi(logger);
    const hasUI = { get: /* @__PURE__ */ __name(() => canCall, "get"), enumerable: true };
    const pi = {
      cwd: "/",
      logger,
      ui,
      exec,
      registerTool,
      get typebox() {
        return loadPackage("@sinclair/typebox");
      },
      get zod() {
        return loadPackage("zod");
      },
      get arktype() {
        return loadPackage("arktype").type;
      }
    };
    defineProperty3(pi, "hasUI", hasUI);
    ignore(pi, IGNORED_OF_PI);
    refuse(pi, "pi", ABSENT_OF_PI);
    api = freeze(pi);
    const ctx = {
      cwd: "/",
      ui,
      get signal() {
        return neverAborted;
      },
      isIdle: /* @__PURE__ */ __name(() => true, "isIdle"),
      hasQueuedMessages: /* @__PURE__ */ __name(() => false, "hasQueuedMessages"),
      hasPendingMessages: /* @__PURE__ */ __name(() => false, "hasPendingMessages"),
      abort() {
        abortRun();
        throw new ErrorConstructor("the run was ended by ctx.abort()");
      }
    };
    defineProperty3(ctx, "hasUI", hasUI);
    refuse(ctx, "ctx", ABSENT_OF_CONTEXT);
    context = freeze(ctx);
  }
  __name(connect2, "connect");
  function grantCalls() {
    canCall = true;
  }
  __name(grantCalls, "grantCalls");
  function makeTools2(factory) {
    registered = setPrototypeOf([], null);
    isLoading = true;
    const made = factory(api);
    return isThenable(made) ? then(resolved(made), adopt2) : adopt2(made);
  }
  __name(makeTools2, "makeTools");
  function adopt2(made) {
    isLoading = false;
    const tools3 = setPrototypeOf([], null);
    const none = made === void 0 && registered.length > 0;
    const returned = none ? [] : isArray2(made) ? made : [made];
    const total = returned.length + registered.length;
    for (let index = 0; index < returned.length; index++) append(tools3, toolOf(returned[index], false, index + 1, total));
    for (let index = 0; index < registered.length; index++) {
      append(tools3, toolOf(registered[index], true, returned.length + index + 1, total));
    }
    return tools3;
  }
  __name(adopt2, "adopt");
  function toolOf(tool, isRegistered, number, total) {
    const method = tool?.execute;
    if (typeof method !== "function" || typeof tool.name !== "string" || tool.name === "") {
      throw new TypeErrorConstructor(
        "the factory's tool " + number + " of " + total + " needs a `name` and an `execute` method"
      );
    }
    const { name, label, description, parameters } = tool;
    const isSchema = typeof parameters === "function" && typeof parameters.toJsonSchema === "function";
    const Errors = isSchema ? loadPackage("arktype").ArkErrors : void 0;
    return {
      __proto__: null,
      name,
      label,
      description,
      parameters: isSchema ? jsonSchemaOf(parameters) : parameters,
      call(callId, given) {
        const params = isSchema ? checked(parameters, Errors, given) : given;
        const result = isRegistered ? apply(method, tool, [callId, params, neverAborted, update, context]) : apply(method, tool, [callId, params, update, context, neverAborted]);
        return isThenable(result) ? then(resolved(result), finish) : finish(result);
      }
    };
  }
  __name(toolOf, "toolOf");
  function jsonSchemaOf(schema) {
    const json = schema.toJsonSchema({ target: "draft-2020-12", fallback: /* @__PURE__ */ __name((unsupported) => unsupported.base, "fallback") });
    delete json.$schema;
    return json;
  }
  __name(jsonSchemaOf, "jsonSchemaOf");
  function checked(schema, Errors, params) {
    const parsed = schema(params);
    if (hasInstance(Errors, parsed)) throw new TypeErrorConstructor(parsed.summary);
    return typeof parsed === "object" && parsed !== null && !isArray2(parsed) ? { ...params, ...parsed } : parsed;
  }
  __name(checked, "checked");
  function finish(result) {
    if (typeof result !== "object" || result === null || result.isError !== true) return result;
    let text2 = "";
    const { content } = result;
    const length = isArray2(content) ? content.length : 0;
    for (let index = 0; index < length; index++) {
      const item = content[index];
      if (index > 0) text2 += "\n";
      text2 += item?.type === "text" ? item.text : "[" + item?.type + "]";
    }
    throw new ErrorConstructor(text2 === "" ? "the tool reports a failure, without a text" : text2);
  }
  __name(finish, "finish");
  function update(value) {
    const json = stringify2(value);
    if (json !== void 0) partial(json);
  }
  __name(update, "update");
  function registerTool(tool) {
    if (!isLoading) throw new TypeErrorConstructor("pi.registerTool registers tools only while the factory runs");
    append(registered, tool);
  }
  __name(registerTool, "registerTool");
  function exec(command, args = [], options = {}) {
    if (!canCall) {
      throw new TypeErrorConstructor(
        'pi.exec is not available: a cell has no processes; a host can lend the function `pi_exec`, and the policy can grant it (`tools = ["pi_exec"]`)'
      );
    }
    const { cwd, timeout } = options ?? {};
    return callTool("pi_exec", { command, args, cwd, timeout });
  }
  __name(exec, "exec");
  function makeUi(logger) {
    const ui = {
      select: /* @__PURE__ */ __name((title, options) => ask("pi_ui_select", { title, options }, void 0), "select"),
      confirm: /* @__PURE__ */ __name((title, message) => ask("pi_ui_confirm", { title, message }, false), "confirm"),
      input: /* @__PURE__ */ __name((title, placeholder) => ask("pi_ui_input", { title, placeholder }, void 0), "input"),
      notify(message, type) {
        if (type === "error") logger.error(message);
        else if (type === "warning") logger.warn(message);
        else logger.info(message);
      }
    };
    ignore(ui, IGNORED_OF_UI);
    return freeze(ui);
  }
  __name(makeUi, "makeUi");
  async function ask(name, params, unanswered) {
    if (!canCall) return unanswered;
    try {
      return await callTool(name, params) ?? unanswered;
    } catch (error) {
      if (NOT_LENT[error?.code]) return unanswered;
      throw error;
    }
  }
  __name(ask, "ask");
  function ignore(object, names) {
    for (let index = 0; index < names.length; index++) {
      defineProperty3(object, names[index], { __proto__: null, value: /* @__PURE__ */ __name(() => {
      }, "value"), enumerable: true });
    }
  }
  __name(ignore, "ignore");
  function refuse(object, prefix, absent) {
    for (let index = 0; index < absent.length; index++) {
      const [name, reason] = absent[index];
      const get = /* @__PURE__ */ __name(() => {
        throw new TypeErrorConstructor(prefix + "." + name + " is not available: " + reason);
      }, "get");
      defineProperty3(object, name, { __proto__: null, get, enumerable: true });
    }
  }
  __name(refuse, "refuse");
  function isThenable(value) {
    return typeof value === "object" && value !== null && typeof value.then === "function";
  }
  __name(isThenable, "isThenable");
  function append(array, value) {
    defineProperty3(array, array.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }
  __name(append, "append");

  // src/streams.js
  var READABLE = "readable";
  var CLOSED = "closed";
  var ERRORED = "errored";
  function createStream(pull, cancel3, highWaterMark = 0, size = void 0) {
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
      cancel: cancel3
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
        const error = new RangeError("The size of a chunk must be a finite number, zero or more");
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
    if (stream.queue.length === 0) finish2(stream);
  }
  __name(closeStream, "closeStream");
  function finish2(stream) {
    stream.state = CLOSED;
    stream.pull = stream.cancel = stream.size = void 0;
    const { reader } = stream;
    if (reader === void 0) return;
    if (reader.settle !== void 0) reader.settle.resolve(void 0);
    const { requests } = reader;
    reader.requests = [];
    for (let i = 0; i < requests.length; i++) requests[i].close();
  }
  __name(finish2, "finish");
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
      const { cancel: cancel3 } = stream;
      stream.queue = [];
      stream.queued = 0;
      finish2(stream);
      try {
        cancel3(reason, () => done(void 0), failed);
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
      stream.queued = stream.queued - size < 0 ? 0 : stream.queued - size;
      if (stream.closing && stream.queue.length === 0) finish2(stream);
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
    const branches = [];
    let settleCancelled;
    const cancelledBoth = new Promise2((resolve, reject) => {
      settleCancelled = { resolve, reject };
    });
    PromisePrototypeThen(cancelledBoth, void 0, () => {
    });
    const both = /* @__PURE__ */ __name((act) => {
      for (let i = 0; i < 2; i++) if (!cancelled[i]) act(branches[i], i);
    }, "both");
    const ended = /* @__PURE__ */ __name(() => {
      if (!cancelled[0] || !cancelled[1]) settleCancelled.resolve(void 0);
    }, "ended");
    const fail = /* @__PURE__ */ __name((error) => {
      afterThisTask(() => {
        for (let i = 0; i < 2; i++) errorStream(branches[i], error);
        ended();
      });
    }, "fail");
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
        ended();
      },
      error() {
        reading = false;
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
      if (cancelled[1 - i]) {
        cancelStream(stream, [reasons[0], reasons[1]], settleCancelled.resolve, settleCancelled.reject);
      }
      PromisePrototypeThen(cancelledBoth, done, failed);
    }, "cancelBranch");
    for (let i = 0; i < 2; i++) {
      const branch = createStream(pull, cancelBranch(i), 1);
      branch.started = false;
      ArrayPrototypePush(branches, branch);
      afterThisTask(() => {
        branch.started = true;
        pullIfNeeded(branch);
      });
    }
    if (stream.state === ERRORED) fail(stream.error);
    else reader.settle = { resolve() {
    }, reject: fail };
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
    const { highWaterMark = 1, size } = dictionaryOf(strategy, "The strategy of a ReadableStream");
    const mark = Number2(highWaterMark);
    if (!(mark >= 0)) throw new RangeError("The highWaterMark must be a number, zero or more");
    if (size !== void 0 && typeof size !== "function") throw new TypeError2("The size of a strategy must be a function");
    const cancel3 = methodOf(source, "cancel");
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
      if (cancel3 === void 0) done();
      else callAsync(cancel3, source, [reason], done, failed);
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
  var StreamIterator = class {
    static {
      __name(this, "StreamIterator");
    }
    #reader;
    #preventCancel;
    #ongoing = void 0;
    #finished = false;
    constructor(reader, preventCancel) {
      this.#reader = reader;
      this.#preventCancel = preventCancel;
    }
    next() {
      const steps = /* @__PURE__ */ __name(() => this.#nextStep(), "steps");
      const ongoing = this.#ongoing;
      this.#ongoing = ongoing === void 0 ? steps() : PromisePrototypeThen(ongoing, steps, steps);
      return this.#ongoing;
    }
    return(value) {
      const steps = /* @__PURE__ */ __name(() => this.#returnStep(value), "steps");
      const ongoing = this.#ongoing;
      this.#ongoing = ongoing === void 0 ? steps() : PromisePrototypeThen(ongoing, steps, steps);
      return PromisePrototypeThen(this.#ongoing, () => ({ value, done: true }));
    }
    #nextStep() {
      const reader = this.#reader;
      if (this.#finished || reader.stream === void 0) return PromiseResolve(Promise2, { value: void 0, done: true });
      const read2 = new Promise2((resolve, reject) => {
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
      return PromisePrototypeThen(
        read2,
        (result) => {
          this.#ongoing = void 0;
          if (result.done) this.#finished = true;
          return result;
        },
        (error) => {
          this.#ongoing = void 0;
          this.#finished = true;
          throw error;
        }
      );
    }
    #returnStep(value) {
      const reader = this.#reader;
      if (this.#finished || reader.stream === void 0) return PromiseResolve(Promise2, void 0);
      this.#finished = true;
      return new Promise2((resolve, reject) => {
        if (!this.#preventCancel) cancelStream(reader.stream, value, resolve, reject);
        release2(reader);
        if (this.#preventCancel) resolve(void 0);
      });
    }
  };
  ObjectSetPrototypeOf(StreamIterator.prototype, AsyncIteratorPrototype);
  delete StreamIterator.prototype.constructor;
  shapeClass(StreamIterator, "ReadableStream AsyncIterator", ["next", "return"]);
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
        void this.#stream;
        const { mode } = dictionaryOf(options, "The options of getReader");
        if (mode !== void 0) {
          throw new TypeError2(
            toText(mode) === "byob" ? "Readers of byte streams are not available: leave the `mode` out" : "The mode of a reader can only be byob"
          );
        }
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
        const stream = this.#stream;
        const preventCancel = !!dictionaryOf(options, "The options of values").preventCancel;
        return new StreamIterator(lock(stream), preventCancel);
      }
      [inspectCustom]() {
        const stream = this.#stream;
        return "ReadableStream { locked: " + isLocked(stream) + ", state: '" + stream.state + "' }";
      }
    }
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
    const add2 = /* @__PURE__ */ __name((name, value) => {
      const checked2 = checkedName(name);
      ArrayPrototypePush(list, checked2, checkedValue(value, checked2));
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
        add2(parts[0], parts[1]);
      });
      return list;
    }
    const keys2 = ReflectOwnKeys(init);
    for (let i = 0; i < keys2.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(init, keys2[i]);
      if (descriptor !== void 0 && descriptor.enumerable) add2(keys2[i], init[keys2[i]]);
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
      [inspectCustom](depth, options, inspect3) {
        const shown = {};
        const entries = this.#entries();
        for (let i = 0; i < entries.length; i++) {
          const { name, value } = entries[i];
          ObjectDefineProperty(shown, name, { __proto__: null, value, enumerable: true, configurable: true });
        }
        return "Headers " + inspect3(shown, options);
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
      else cancel2(id);
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
      if (reading !== void 0) cancel2(reading);
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
  var SIMPLE = { __proto__: null, GET: true, HEAD: true, POST: true };
  var CACHES = {
    __proto__: null,
    default: true,
    "no-store": true,
    reload: true,
    "no-cache": true,
    "force-cache": true,
    "only-if-cached": true
  };
  var CREDENTIALS = { __proto__: null, omit: true, "same-origin": true, include: true };
  var DUPLEXES = { __proto__: null, half: true };
  var MODES = { __proto__: null, navigate: true, "same-origin": true, "no-cors": true, cors: true };
  var PRIORITIES = { __proto__: null, high: true, low: true, auto: true };
  var REDIRECTS = { __proto__: null, follow: true, error: true, manual: true };
  var REFERRER_POLICIES = {
    __proto__: null,
    "": true,
    "no-referrer": true,
    "no-referrer-when-downgrade": true,
    "same-origin": true,
    origin: true,
    "strict-origin": true,
    "origin-when-cross-origin": true,
    "strict-origin-when-cross-origin": true,
    "unsafe-url": true
  };
  var NO_OPTIONS = ObjectFreeze({
    __proto__: null,
    cache: "default",
    credentials: "same-origin",
    keepalive: false,
    mode: "cors",
    referrer: "about:client",
    referrerPolicy: ""
  });
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
  function choiceOf(value, choices, name) {
    if (value === void 0) return void 0;
    const text2 = toText(value);
    if (choices[text2]) return text2;
    let known = "";
    const names = ObjectKeys(choices);
    for (let i = 0; i < names.length; i++) known += (i > 0 ? ", " : "") + (names[i] === "" ? '""' : names[i]);
    throw new TypeError2("The option `" + name + "` of a request is none of: " + known);
  }
  __name(choiceOf, "choiceOf");
  function referrerOf(value) {
    const text2 = toUSVString(value);
    if (text2 === "") return "";
    if (nativeUrlAbsolute(text2) === void 0) throw new TypeError2("The referrer " + text2 + " is no absolute URL");
    return NO_OPTIONS.referrer;
  }
  __name(referrerOf, "referrerOf");
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
    const from2 = typeof input === "string" ? void 0 : partsOf(input);
    const parts = from2 === void 0 ? {
      url: urlOf(input),
      method: "GET",
      list: void 0,
      headers: void 0,
      redirect: "follow",
      body: null,
      options: NO_OPTIONS,
      // The signal that was given, and the one that a tool sees.
      signal: void 0,
      ownSignal: void 0
    } : {
      url: from2.url,
      method: from2.method,
      list: void 0,
      headers: void 0,
      redirect: from2.redirect,
      body: null,
      options: from2.options,
      signal: from2.signal,
      ownSignal: void 0
    };
    const given = init === void 0 ? void 0 : takeOptions(parts, dictionaryOf(init, "The options of a request"));
    parts.list = given !== void 0 ? listOf(given) : from2 === void 0 ? [] : copyOf(listIn(from2));
    const body = init === void 0 || init === null ? void 0 : init.body;
    const takes = (body === void 0 || body === null) && from2 !== void 0 && from2.body !== null;
    if (takes || body !== void 0 && body !== null) {
      if (parts.method === "GET" || parts.method === "HEAD") {
        throw new TypeError2("A request with the method " + parts.method + " has no body");
      }
      parts.body = takes ? takeBody(from2.body) : typedBody(body, parts.list);
    }
    return parts;
  }
  __name(partsOfRequest, "partsOfRequest");
  function takeOptions(parts, init) {
    const cache = choiceOf(init.cache, CACHES, "cache");
    const credentials = choiceOf(init.credentials, CREDENTIALS, "credentials");
    choiceOf(init.duplex, DUPLEXES, "duplex");
    const { headers, integrity, keepalive, method } = init;
    const mode = choiceOf(init.mode, MODES, "mode");
    choiceOf(init.priority, PRIORITIES, "priority");
    const redirect = choiceOf(init.redirect, REDIRECTS, "redirect");
    const { referrer } = init;
    const referrerPolicy = choiceOf(init.referrerPolicy, REFERRER_POLICIES, "referrerPolicy");
    const { signal, window: window2 } = init;
    if (window2 !== void 0 && window2 !== null) throw new TypeError2("The option `window` of a request can only be null");
    if (mode === "navigate") throw new TypeError2("The option `mode` of a request cannot be navigate: only a browser navigates");
    if (integrity !== void 0 && toText(integrity) !== "") {
      throw new TypeError2("The integrity of an answer is not checked in a cell: leave `integrity` out");
    }
    const { options } = parts;
    if (cache !== void 0 || credentials !== void 0 || keepalive !== void 0 || mode !== void 0 || referrer !== void 0 || referrerPolicy !== void 0 || options !== NO_OPTIONS) {
      parts.options = {
        __proto__: null,
        cache: cache ?? options.cache,
        credentials: credentials ?? options.credentials,
        keepalive: keepalive === void 0 ? options.keepalive : !!keepalive,
        mode: mode ?? options.mode,
        // Options of any kind take back what the request that is copied says of its referrer.
        referrer: referrer === void 0 ? NO_OPTIONS.referrer : referrerOf(referrer),
        referrerPolicy: referrerPolicy ?? NO_OPTIONS.referrerPolicy
      };
    }
    if (parts.options.cache === "only-if-cached" && parts.options.mode !== "same-origin") {
      throw new TypeError2("The cache mode only-if-cached needs the mode same-origin");
    }
    if (redirect !== void 0) parts.redirect = redirect;
    if (method !== void 0) parts.method = methodOf2(method);
    if (parts.options.mode === "no-cors" && !SIMPLE[parts.method]) {
      throw new TypeError2("A request with the mode no-cors has the method GET, HEAD or POST");
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
  var optionsIn;
  var optionMembers = {
    get destination() {
      void optionsIn(this);
      return "";
    },
    get referrer() {
      return optionsIn(this).referrer;
    },
    get referrerPolicy() {
      return optionsIn(this).referrerPolicy;
    },
    get mode() {
      return optionsIn(this).mode;
    },
    get credentials() {
      return optionsIn(this).credentials;
    },
    get cache() {
      return optionsIn(this).cache;
    },
    get integrity() {
      void optionsIn(this);
      return "";
    },
    get keepalive() {
      return optionsIn(this).keepalive;
    },
    get isReloadNavigation() {
      void optionsIn(this);
      return false;
    },
    get isHistoryNavigation() {
      void optionsIn(this);
      return false;
    },
    get duplex() {
      void optionsIn(this);
      return "half";
    }
  };
  var optionNames = ObjectKeys(optionMembers);
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
        optionsIn = /* @__PURE__ */ __name((request2) => request2.#parts.options, "optionsIn");
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
        const { url, method, redirect, body, options, signal } = this.#parts;
        const copy = body === null ? null : cloneBody(body);
        const list = copyOf(listIn(this.#parts));
        return new Request(constructionKey3, {
          url,
          method,
          list,
          headers: void 0,
          redirect,
          body: copy,
          options,
          signal,
          ownSignal: void 0
        });
      }
      [inspectCustom](depth, options, inspect3) {
        const { method, url } = this.#parts;
        const headers = headersIn(this.#parts, false);
        return "Request " + inspect3({ method, url, headers }, options);
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
        const { status = 200, statusText = "", headers } = dictionaryOf(init, "The options of a response");
        const number = Number2(status);
        if (!(number >= 200 && number <= 599)) throw new RangeError("The status of a response must be 200 to 599");
        const reason = toText(statusText);
        if (!isReason(reason)) throw new TypeError2("The statusText holds a character that cannot stand there");
        const list = headers === void 0 ? [] : listOf(headers);
        const whole2 = number - number % 1;
        const hasBody = body !== null && body !== void 0;
        if (hasBody && hasNoBody(whole2)) throw new TypeError2("A response with the status " + whole2 + " has no body");
        this.#parts = {
          status: whole2,
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
      [inspectCustom](depth, options, inspect3) {
        const { status, statusText, url, type } = this.#parts;
        const headers = headersIn(this.#parts, type === "basic");
        return "Response " + inspect3({ status, statusText, url, headers }, options);
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
    for (let i = 0; i < optionNames.length; i++) {
      const descriptor = ObjectGetOwnPropertyDescriptor(optionMembers, optionNames[i]);
      ObjectDefineProperty(Request.prototype, optionNames[i], descriptor);
    }
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
        return write3(path, content, "replace", "files.write");
      },
      create(path, content = "") {
        return write3(path, content, "create", "files.create");
      },
      append(path, content) {
        return write3(path, content, "append", "files.append");
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
  function write3(path, content, mode, what) {
    return request("files.write", nothing, writePayload, writeContent, { path, content, mode, what });
  }
  __name(write3, "write");
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
        return update2(key, change2, options);
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
    const add2 = /* @__PURE__ */ __name((name, json) => {
      members += (members === "" ? '"' : ',"') + name + '":' + json;
    }, "add");
    if (prefix !== void 0) add2("prefix", quote2(textOf2(prefix, "the prefix of kv.list")));
    if (after !== void 0) add2("after", quote2(textOf2(after, "`after` of kv.list")));
    if (limit !== void 0) add2("limit", wholeOf(limit, 1, "the limit of kv.list"));
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
    const checked2 = joined2(checks, "check", (item, what) => {
      const { key, version } = itemOf(item, what);
      const known = version === void 0 || version === null ? void 0 : wholeOf(version, 0, "the version in " + what);
      return check(textOf2(key, "the key in " + what), known);
    });
    const sets = joined2(set, "set", (item, what) => {
      const { key, value } = itemOf(item, what);
      return setWrite(textOf2(key, "the key in " + what), value, ttlOf(item, what), "the value in " + what);
    });
    const deletes = joined2(deleted, "delete", (item, what) => deleteWrite(textOf2(item, what)));
    return commitPayload(checked2, sets + (sets !== "" && deletes !== "" ? "," : "") + deletes);
  }
  __name(changesPayload, "changesPayload");
  function joined2(items, name, write5) {
    if (items === void 0) return "";
    if (!ArrayIsArray(items)) throw new TypeError2("`" + name + "` of kv.commit must be an array");
    let text2 = "";
    for (let index = 0; index < items.length; index++) {
      text2 += (index > 0 ? "," : "") + write5(items[index], "`" + name + "` of kv.commit at " + index);
    }
    return text2;
  }
  __name(joined2, "joined");
  function itemOf(item, what) {
    if (typeof item !== "object" || item === null) throw new TypeError2(what + " must be an object");
    return item;
  }
  __name(itemOf, "itemOf");
  function update2(key, change2, options) {
    const place2 = here(update2);
    return new Promise2((resolve, reject) => {
      const name = textOf2(key, "the key of kv.update");
      if (typeof change2 !== "function") throw new TypeError2("kv.update needs a function of the value");
      const ttl = ttlOf(options, "kv.update");
      readAnew({ name, change: change2, ttl, place: place2, resolve, reject });
    });
  }
  __name(update2, "update");
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
    PromisePrototypeThen(PromisePrototypeThen(next, (value) => write4(the, entry, value)), void 0, the.reject);
  }
  __name(change, "change");
  function write4(the, entry, value) {
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
  __name(write4, "write");
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
    const keys2 = own(answer, "keys");
    const more = own(answer, "more");
    if (!ArrayIsArray(keys2) || typeof more !== "boolean") return void 0;
    for (let index = 0; index < keys2.length; index++) {
      if (typeof keys2[index] !== "string") return void 0;
    }
    return { keys: keys2, more };
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

  // cell/servers.js
  function makeServers(names) {
    const all = ObjectCreate(null);
    for (let index = 0; index < names.length; index++) member(all, names[index], makeServer(names[index]));
    member(all, "$search", search2);
    member(all, "$describe", describe2);
    member(all, "$keep", keep);
    ObjectFreeze(all);
    return new Proxy2(all, {
      __proto__: null,
      get(target, name) {
        if (ObjectPrototypeHasOwnProperty(target, name)) return target[name];
        if (isAskedOfAnything(name)) return void 0;
        let known = "";
        for (let index = 0; index < names.length; index++) known += (index > 0 ? ", " : "") + names[index];
        throw new Error2("the server `" + name + "` is not granted to this call, which may call: " + known);
      }
    });
  }
  __name(makeServers, "makeServers");
  function makeServer(server) {
    const made = ObjectCreate(null);
    return new Proxy2(ObjectFreeze(ObjectCreate(null)), {
      __proto__: null,
      get(_, name) {
        if (isAskedOfAnything(name)) return void 0;
        if (made[name] === void 0) made[name] = makeTool(server, name);
        return made[name];
      }
    });
  }
  __name(makeServer, "makeServer");
  function makeTool(server, tool) {
    return ObjectFreeze((input = {}) => request("servers.call", void 0, callPayload2, void 0, server, tool, input));
  }
  __name(makeTool, "makeTool");
  function isAskedOfAnything(name) {
    switch (name) {
      case "then":
      case "toJSON":
      case "toString":
      case "valueOf":
      case "constructor":
        return true;
      default:
        return typeof name === "symbol";
    }
  }
  __name(isAskedOfAnything, "isAskedOfAnything");
  function keep(name, input = {}) {
    return request("servers.call", void 0, keepPayload2, void 0, name, input);
  }
  __name(keep, "keep");
  function keepPayload2(name, input) {
    const dot = StringPrototypeIndexOf(textOf2(name, "the name of servers.$keep"), ".");
    if (dot < 1) throw new TypeError2("the name of servers.$keep must be that of a server and of its tool: server.tool");
    const called = callPayload2(StringPrototypeSlice(name, 0, dot), StringPrototypeSlice(name, dot + 1), input);
    return StringPrototypeSlice(called, 0, -1) + ',"keep":true}';
  }
  __name(keepPayload2, "keepPayload");
  function callPayload2(server, tool, input) {
    const name = "servers." + server + "." + tool;
    if (typeof input !== "object" || input === null || ArrayIsArray(input)) {
      throw new TypeError2("the input of " + name + " must be an object");
    }
    const called = '{"server":' + quote2(server) + ',"tool":' + quote2(textOf2(tool, "the name of a tool"));
    return called + ',"input":' + jsonOf(input, "what is given to " + name) + "}";
  }
  __name(callPayload2, "callPayload");
  function search2(query, options) {
    return request("servers.search", void 0, searchPayload, void 0, query, options);
  }
  __name(search2, "search");
  function searchPayload(query, options) {
    const text2 = '{"query":' + quote2(textOf2(query, "the query of servers.$search"));
    const { limit } = optionsOf2(options, "the second argument of servers.$search");
    if (limit === void 0) return text2 + "}";
    if (typeof limit !== "number" || limit !== limit >>> 0 || limit === 0) {
      throw new TypeError2("limit of servers.$search must be a whole number from 1");
    }
    return text2 + ',"limit":' + limit + "}";
  }
  __name(searchPayload, "searchPayload");
  function describe2(name) {
    return request("servers.describe", void 0, describePayload, void 0, name);
  }
  __name(describe2, "describe");
  function describePayload(name) {
    return '{"tool":' + quote2(textOf2(name, "the name of servers.$describe")) + "}";
  }
  __name(describePayload, "describePayload");
  function member(object, name, value) {
    ObjectDefineProperty(object, name, { __proto__: null, value, enumerable: true });
  }
  __name(member, "member");

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
  function makeTimers(report3) {
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
      const id = startTimer(armed2.ms, () => afterThisTask(() => fire2(timer, armed2, id)), () => {
      });
      MapPrototypeSet(timers3, timer, id);
    }
    __name(schedule, "schedule");
    function fire2(timer, armed2, id) {
      if (MapPrototypeGet(timers3, timer) !== id) return;
      if (armed2.repeat) schedule(timer, armed2);
      else MapPrototypeDelete(timers3, timer);
      try {
        ReflectApply(armed2.callback, void 0, armed2.args);
      } catch (error) {
        report3(error);
      }
    }
    __name(fire2, "fire");
    function clear(timer) {
      const id = MapPrototypeGet(timers3, timer);
      if (id === void 0) return;
      MapPrototypeDelete(timers3, timer);
      cancel2(id);
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
        cancel2(id);
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
      cancel2(armed.id);
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

  // cell/grants.js
  var globalObject;
  var report2 = /* @__PURE__ */ __name(() => {
  }, "report");
  function connect3(target, reportUncaught2) {
    globalObject = target;
    report2 = reportUncaught2;
  }
  __name(connect3, "connect");
  function grant(names, secrets2, servers2) {
    for (let index = 0; index < names.length; index++) {
      switch (names[index]) {
        case "timers":
          grantAlarms();
          install(makeTimers(report2));
          break;
        case "net":
          grantAlarms();
          install(makeFetch());
          break;
        case "kv":
          define4("kv", makeKv());
          break;
        case "files":
          define4("files", makeFiles());
          break;
        case "secrets":
          define4("secret", makeSecret(secrets2));
          break;
        case "tools":
          grantCalls();
          define4("tools", makeTools());
          break;
        case "servers":
          define4("servers", makeServers(servers2));
          break;
      }
    }
  }
  __name(grant, "grant");
  function install(functions2) {
    for (const name in functions2) define4(name, functions2[name]);
  }
  __name(install, "install");
  function define4(name, value) {
    ObjectDefineProperty(globalObject, name, { __proto__: null, value, writable: true, configurable: true });
  }
  __name(define4, "define");

  // cell/lockdown.js
  var { defineProperty: defineProperty4, getPrototypeOf: getPrototypeOf3 } = Object;
  var TypeErrorConstructor2 = TypeError;
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
      const prototype2 = getPrototypeOf3(examples[index]);
      const name = names[index];
      const refuse2 = /* @__PURE__ */ __name(function() {
        throw new TypeErrorConstructor2(name + ": code from strings is not available, what was analysed is what runs");
      }, "refuse");
      defineProperty4(refuse2, "name", { value: name, configurable: true });
      defineProperty4(refuse2, "length", { value: 1, configurable: true });
      defineProperty4(refuse2, "prototype", { value: prototype2, writable: false });
      defineProperty4(prototype2, "constructor", { value: refuse2, writable: false, configurable: false });
      if (index === 0) defineProperty4(globalObject2, name, { value: refuse2, writable: true, configurable: true });
    }
    for (const name of HIDDEN) {
      if (!delete globalObject2[name]) throw new TypeErrorConstructor2(name + " cannot be hidden");
    }
    delete Error.prepareStackTrace;
  }
  __name(lockdown, "lockdown");

  // cell/tool.js
  var { apply: apply2 } = Reflect;
  var { defineProperty: defineProperty5, setPrototypeOf: setPrototypeOf2 } = Object;
  var functionText = Function.prototype.call.bind(Function.prototype.toString);
  var test = Function.prototype.call.bind(RegExp.prototype.test);
  var then2 = Function.prototype.call.bind(Promise.prototype.then);
  var PromiseConstructor = Promise;
  var TypeErrorConstructor3 = TypeError;
  var NO_TOOL = "no tool found: declare `function execute(params)`, export `execute`, or make the default export a function, an object with an `execute` method, or a factory of tools";
  var FACTORY = /^\s*(?:async\s+)?(?:function\b[^(]*)?\(?\s*pi\b|\bexecute\b|\bregisterTool\b/;
  var shape = "none";
  var tools2 = [];
  function adoptScript() {
    return adopt3(typeof execute === "undefined" ? void 0 : execute, void 0);
  }
  __name(adoptScript, "adoptScript");
  function adoptModule(namespace) {
    return adopt3(namespace.execute, namespace.default);
  }
  __name(adoptModule, "adoptModule");
  function adopt3(exported, standard) {
    if (typeof exported === "function") {
      tools2 = [{ call: /* @__PURE__ */ __name((_, params) => exported(params), "call") }];
      return shape = "function";
    }
    if (typeof standard === "function") {
      if (standard.name !== "execute" && test(FACTORY, functionText(standard))) {
        const made = makeTools2(standard);
        return made instanceof PromiseConstructor ? then2(made, adoptFactory) : adoptFactory(made);
      }
      tools2 = [{ call: /* @__PURE__ */ __name((_, params) => standard(params), "call") }];
      return shape = "function";
    }
    if (typeof standard === "object" && standard !== null && typeof standard.execute === "function") {
      const method = standard.execute;
      tools2 = [{ ...manifest(standard), call: /* @__PURE__ */ __name((_, params) => apply2(method, standard, [params]), "call") }];
      return shape = "object";
    }
    throw new TypeErrorConstructor3(NO_TOOL);
  }
  __name(adopt3, "adopt");
  function adoptFactory(made) {
    tools2 = made;
    return shape = "factory";
  }
  __name(adoptFactory, "adoptFactory");
  function manifest({ name, label, description, parameters }) {
    return { __proto__: null, name, label, description, parameters };
  }
  __name(manifest, "manifest");
  function invoke2(name, callId, params) {
    if (name === void 0 && tools2.length === 1) return tools2[0].call(callId, params);
    let known = "";
    for (let index = 0; index < tools2.length; index++) {
      const tool = tools2[index];
      if (name !== void 0 && tool.name === name) return tool.call(callId, params);
      known += (index > 0 ? ", " : "") + (tool.name ?? "(unnamed)");
    }
    throw new TypeErrorConstructor3(
      name === void 0 ? "this script has " + tools2.length + " tools, name one of: " + known : "no tool " + name + ", there is: " + known
    );
  }
  __name(invoke2, "invoke");
  function describe3() {
    const described = setPrototypeOf2([], null);
    for (let index = 0; index < tools2.length; index++) append2(described, manifest(tools2[index]));
    return { __proto__: null, shape, tools: described };
  }
  __name(describe3, "describe");
  function append2(array, value) {
    defineProperty5(array, array.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }
  __name(append2, "append");

  // cell/start.js
  var { stringify: stringify3 } = JSON;
  var PromiseConstructor2 = Promise;
  function start2(native2, globalObject2, console2, AbortController2) {
    connect2(native2, console2);
    connect(AbortController2);
    connect3(globalObject2, reportUncaught);
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
      invoke: invoke2,
      describe: describe3,
      assimilate: /* @__PURE__ */ __name((thenable) => new PromiseConstructor2((resolve) => resolve(thenable)), "assimilate"),
      classify,
      inspect: inspect2,
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
    Buffer: Buffer2,
    DOMException,
    Event,
    EventTarget,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    console,
    queueMicrotask,
    structuredClone
  });
  start2(native, globalThis, console, AbortController);
})();
