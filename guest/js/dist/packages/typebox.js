// Built by `npm run build`; do not edit. The licences of what is bundled are in LICENSES.txt.

import {
  OmpTypeError,
  type
} from "./omptype.js";

// node_modules/@oh-my-pi/omptype/dist/js/typebox.js
var OPTIONAL_INNER = /* @__PURE__ */ Symbol("omptype.typebox.optionalInner");
var OBJECT_INFO = /* @__PURE__ */ Symbol("omptype.typebox.objectInfo");
function asRuntime(schema) {
  return schema;
}
function asSchema(schema) {
  return schema;
}
function validationFailure(message) {
  return { message };
}
function withLegacyCompat(schema) {
  const compatSchema = schema;
  if (!Object.hasOwn(compatSchema, "__validator")) {
    Object.defineProperty(compatSchema, "__validator", {
      value: (data) => {
        const result = schema(data);
        return result instanceof type.errors ? validationFailure(result.summary) : result;
      },
      configurable: true
    });
  }
  if (!Object.hasOwn(compatSchema, "safeParse")) {
    Object.defineProperty(compatSchema, "safeParse", {
      value: (input) => {
        const result = schema(input);
        return result instanceof type.errors ? { success: false, error: validationFailure(result.summary) } : { success: true, data: result };
      },
      configurable: true
    });
  }
  return compatSchema;
}
function applyMeta(schema, opts) {
  let result = schema;
  const description = opts?.description ?? opts?.title;
  if (description !== void 0)
    result = result.describe(description);
  if (opts && Object.hasOwn(opts, "default"))
    result = result.default(opts.default);
  return withLegacyCompat(result);
}
function withJsonSchemaKeywords(schema, keywords) {
  const emitBase = schema.toJsonSchema.bind(schema);
  schema.toJsonSchema = (options) => ({ ...emitBase(options), ...keywords });
  return schema;
}
function checkFiniteOption(name, value) {
  if (value !== void 0 && !Number.isFinite(value))
    throw new OmpTypeError(`${name} must be finite`);
}
function tString(opts) {
  checkFiniteOption("minLength", opts?.minLength);
  checkFiniteOption("maxLength", opts?.maxLength);
  let schema = asRuntime(type.raw(opts?.format === "url" || opts?.format === "uri" ? "string.url" : "string"));
  if (opts?.minLength !== void 0)
    schema = schema.atLeastLength(opts.minLength);
  if (opts?.maxLength !== void 0)
    schema = schema.atMostLength(opts.maxLength);
  if (opts?.pattern !== void 0) {
    let regex;
    try {
      regex = new RegExp(opts.pattern);
    } catch {
      throw new OmpTypeError(`invalid regular expression pattern ${JSON.stringify(opts.pattern)}`);
    }
    schema = schema.narrow((value, ctx) => regex.test(value) || ctx.mustBe(`a string matching ${opts.pattern}`));
  }
  if (opts?.format !== void 0 && opts.format !== "url" && opts.format !== "uri") {
    const format = opts.format;
    const valid = formatPredicate(format);
    schema = schema.narrow((value, ctx) => valid(value) || ctx.mustBe(`a string in ${format} format`));
  }
  const result = applyMeta(schema, opts);
  const keywords = {};
  if (opts?.pattern !== void 0)
    keywords.pattern = opts.pattern;
  if (opts?.format !== void 0)
    keywords.format = opts.format === "url" ? "uri" : opts.format;
  return opts?.pattern !== void 0 || opts?.format !== void 0 ? withJsonSchemaKeywords(result, keywords) : result;
}
function formatPredicate(format) {
  switch (format) {
    case "url":
    case "uri":
      return (value) => {
        try {
          new URL(value);
          return true;
        } catch {
          return false;
        }
      };
    case "email":
      return (value) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
    case "uuid":
      return (value) => /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(value);
    case "date-time":
      return (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value));
    case "date":
      return (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00:00Z`));
    default:
      return () => true;
  }
}
function tNumber(opts, integer = false) {
  for (const key of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
    checkFiniteOption(key, opts?.[key]);
  }
  if (opts?.multipleOf !== void 0 && opts.multipleOf <= 0)
    throw new OmpTypeError("multipleOf must be greater than zero");
  let lower;
  if (opts?.minimum !== void 0)
    lower = { value: opts.minimum, exclusive: false };
  if (opts?.exclusiveMinimum !== void 0 && (!lower || opts.exclusiveMinimum >= lower.value)) {
    lower = { value: opts.exclusiveMinimum, exclusive: true };
  }
  let upper;
  if (opts?.maximum !== void 0)
    upper = { value: opts.maximum, exclusive: false };
  if (opts?.exclusiveMaximum !== void 0 && (!upper || opts.exclusiveMaximum <= upper.value)) {
    upper = { value: opts.exclusiveMaximum, exclusive: true };
  }
  const keyword = integer ? "number.integer" : "number";
  let src;
  if (lower && upper) {
    src = `${lower.value} ${lower.exclusive ? "<" : "<="} ${keyword} ${upper.exclusive ? "<" : "<="} ${upper.value}`;
  } else if (lower) {
    src = `${keyword} ${lower.exclusive ? ">" : ">="} ${lower.value}`;
  } else if (upper) {
    src = `${keyword} ${upper.exclusive ? "<" : "<="} ${upper.value}`;
  } else {
    src = keyword;
  }
  let schema = asRuntime(type.raw(src));
  if (opts?.multipleOf !== void 0) {
    const divisor = opts.multipleOf;
    schema = schema.narrow((value, ctx) => {
      const quotient = value / divisor;
      return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient)) || ctx.mustBe(`a multiple of ${divisor}`);
    });
  }
  const result = applyMeta(schema, opts);
  return opts?.multipleOf !== void 0 ? withJsonSchemaKeywords(result, { multipleOf: opts.multipleOf }) : result;
}
function tLiteral(value, opts) {
  return applyMeta(asRuntime(type.enumerated(value)), opts);
}
function tNever(opts) {
  return applyMeta(asRuntime(type.raw("unknown")).narrow((_value, ctx) => ctx.mustBe("never")), opts);
}
function tUnion(schemas, opts) {
  if (schemas.length === 0)
    return asSchema(tNever(opts));
  let result = asRuntime(schemas[0]);
  for (let i = 1; i < schemas.length; i++)
    result = result.or(schemas[i]);
  return asSchema(applyMeta(result, opts));
}
function tIntersect(schemas, opts) {
  if (schemas.length === 0) {
    return applyMeta(asRuntime(type.raw("unknown")), opts);
  }
  const validateAll = () => {
    const base = asRuntime(type.raw("unknown"));
    return base.narrow((value, ctx) => {
      for (const schema of schemas) {
        if (schema(value) instanceof type.errors)
          return ctx.mustBe("a value satisfying every intersection member");
      }
      return true;
    });
  };
  if (schemas.some((schema) => schema.hasSteps))
    return applyMeta(validateAll(), opts);
  let result = asRuntime(schemas[0]);
  try {
    for (let i = 1; i < schemas.length; i++)
      result = result.and(schemas[i]);
  } catch (error) {
    if (error instanceof OmpTypeError)
      return applyMeta(validateAll(), opts);
    throw error;
  }
  return asSchema(applyMeta(result, opts));
}
function enumValues(values) {
  if (Array.isArray(values))
    return [...values];
  const result = [];
  const record = values;
  for (const key in record) {
    const value = record[key];
    if (!(/^\d+$/.test(key) && typeof value === "string") && !result.includes(value))
      result.push(value);
  }
  return result;
}
function tEnum(values, opts) {
  return applyMeta(asRuntime(type.enumerated(...enumValues(values))), opts);
}
function tArray(item, opts) {
  checkFiniteOption("minItems", opts?.minItems);
  checkFiniteOption("maxItems", opts?.maxItems);
  let schema = asRuntime(item).array();
  if (opts?.minItems !== void 0)
    schema = schema.atLeastLength(opts.minItems);
  if (opts?.maxItems !== void 0)
    schema = schema.atMostLength(opts.maxItems);
  if (opts?.uniqueItems) {
    schema = schema.narrow((values, ctx) => {
      for (let i = 0; i < values.length; i++) {
        for (let j = i + 1; j < values.length; j++) {
          if (jsonEqual(values[i], values[j]))
            return ctx.mustBe("an array with unique items");
        }
      }
      return true;
    });
  }
  const result = applyMeta(schema, opts);
  return opts?.uniqueItems ? withJsonSchemaKeywords(result, { uniqueItems: true }) : result;
}
function jsonEqual(left, right) {
  if (Object.is(left, right))
    return true;
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null)
    return false;
  try {
    return JSON.stringify(left) === JSON.stringify(right);
  } catch {
    return false;
  }
}
function tTuple(items, opts) {
  const schema = asRuntime(type.raw("unknown")).narrow((value, ctx) => {
    if (!Array.isArray(value) || value.length !== items.length)
      return ctx.mustBe(`a tuple of length ${items.length}`);
    for (let i = 0; i < items.length; i++)
      if (items[i](value[i]) instanceof type.errors)
        return ctx.mustBe(`a valid item at index ${i}`);
    return true;
  });
  return applyMeta(schema, opts);
}
function tObject(properties, opts) {
  const def = {};
  const props = {};
  for (const key in properties) {
    const schema2 = properties[key];
    const inner = asRuntime(schema2)[OPTIONAL_INNER];
    const optionalKey = inner !== void 0 && !asRuntime(inner).hasDefault;
    def[optionalKey ? `${key}?` : key] = inner ?? schema2;
    props[key] = schema2;
  }
  if (opts?.additionalProperties === false)
    def["+"] = "reject";
  else if (opts?.additionalProperties && opts.additionalProperties !== true)
    def["[string]"] = opts.additionalProperties;
  const schema = applyMeta(asRuntime(type.raw(def)), opts);
  schema[OBJECT_INFO] = { props, additionalProperties: opts?.additionalProperties };
  return schema;
}
function tRecord(key, value, opts) {
  const base = asRuntime(type.raw({ "[string]": value })).narrow((record, ctx) => {
    for (const name in record)
      if (key(name) instanceof type.errors)
        return ctx.mustBe("an object with valid record keys");
    return true;
  });
  return applyMeta(base, opts);
}
function tOptional(schema, opts) {
  const marker = applyMeta(asRuntime(schema).or(asRuntime(type.raw("undefined"))), opts);
  marker[OPTIONAL_INNER] = schema;
  return marker;
}
function tNullable(schema, opts) {
  return applyMeta(asRuntime(schema).or(asRuntime(type.raw("null"))), opts);
}
function requireObject(schema, operation) {
  const info = asRuntime(schema)[OBJECT_INFO];
  if (!info)
    throw new OmpTypeError(`Type.${operation} requires a schema created by Type.Object`);
  return info;
}
function tPartial(schema) {
  const info = requireObject(schema, "Partial");
  const props = {};
  for (const key in info.props)
    props[key] = asRuntime(info.props[key])[OPTIONAL_INNER] ? info.props[key] : tOptional(info.props[key]);
  return tObject(props, { additionalProperties: info.additionalProperties });
}
function tRequired(schema) {
  const info = requireObject(schema, "Required");
  const props = {};
  for (const key in info.props) {
    props[key] = asRuntime(info.props[key])[OPTIONAL_INNER] ?? info.props[key];
  }
  return tObject(props, { additionalProperties: info.additionalProperties });
}
function tPick(schema, keys) {
  const info = requireObject(schema, "Pick");
  const props = {};
  for (const key of keys)
    if (typeof key === "string" && info.props[key])
      props[key] = info.props[key];
  return tObject(props, { additionalProperties: info.additionalProperties });
}
function tOmit(schema, keys) {
  const info = requireObject(schema, "Omit");
  const omitted = new Set(keys);
  const props = {};
  for (const key in info.props)
    if (!omitted.has(key))
      props[key] = info.props[key];
  return tObject(props, { additionalProperties: info.additionalProperties });
}
function tComposite(schemas, opts) {
  const props = {};
  for (const schema of schemas)
    Object.assign(props, requireObject(schema, "Composite").props);
  return asSchema(tObject(props, opts));
}
function tUnsafe(_jsonSchema = {}) {
  return withLegacyCompat(type.unknown);
}
var Type = {
  String: tString,
  Number: (opts) => tNumber(opts),
  Integer: (opts) => tNumber(opts, true),
  Boolean: (opts) => applyMeta(asRuntime(type.raw("boolean")), opts),
  Null: (opts) => applyMeta(asRuntime(type.raw("null")), opts),
  Any: (opts) => applyMeta(asRuntime(type.raw("unknown")), opts),
  Unknown: (opts) => applyMeta(asRuntime(type.raw("unknown")), opts),
  Never: tNever,
  Literal: tLiteral,
  Union: tUnion,
  Intersect: tIntersect,
  Enum: tEnum,
  Array: tArray,
  Tuple: tTuple,
  Object: tObject,
  Record: tRecord,
  Optional: tOptional,
  Nullable: tNullable,
  Readonly: (schema) => asSchema(withLegacyCompat(asRuntime(schema))),
  Partial: tPartial,
  Required: tRequired,
  Pick: tPick,
  Omit: tOmit,
  Composite: tComposite,
  Unsafe: tUnsafe
};
var typebox_default = { Type };
export {
  Type,
  typebox_default as default
};
