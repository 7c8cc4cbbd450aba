// Built by `npm run build`; do not edit. The licences of what is bundled are in LICENSES.txt.

import {
  IR_BRAND,
  OmpTypeError,
  embed,
  type
} from "./omptype.js";

// node_modules/@oh-my-pi/omptype/dist/js/zod.js
function schemaFromIR(ir) {
  const embedded = {
    [IR_BRAND]: true,
    ir,
    hasSteps: false,
    hasDefault: false,
    run: (value) => value
  };
  return type.raw(embedded);
}
function restrictBase(source, ir) {
  let next = source.hasSteps ? schemaFromIR({ k: "morph", input: ir, fn: (value) => source(value) }) : schemaFromIR(ir);
  if (source.ir.desc !== void 0)
    next = next.describe(source.ir.desc);
  if (source.hasDefault)
    next = next.default(source.defaultValue);
  return next;
}
function lengthBound(kind, schema, bound) {
  if (schema.ir.k !== "string" && schema.ir.k !== "array")
    return;
  if (!Number.isSafeInteger(bound) || bound < 0) {
    throw new OmpTypeError(`${kind} length must be a nonnegative safe integer`);
  }
}
function refinementMessage(messageOrOptions) {
  if (typeof messageOrOptions === "string")
    return messageOrOptions;
  return messageOrOptions?.message ?? messageOrOptions?.error ?? "valid (refinement failed)";
}
function isStringKeyIR(ir) {
  switch (ir.k) {
    case "string":
      return true;
    case "lit":
      return typeof ir.v === "string";
    case "union":
      return ir.members.length > 0 && ir.members.every(isStringKeyIR);
    case "sub":
      return isStringKeyIR(ir.schema.ir);
    default:
      return false;
  }
}
function decorate(schema, optional = false) {
  const next = (inner, nextOptional = optional) => decorate(inner, nextOptional);
  const withObjectExtras = (extras) => {
    if (schema.ir.k !== "object")
      throw new OmpTypeError("object mode requires an object schema");
    return next(restrictBase(schema, { ...schema.ir, extras }));
  };
  Object.defineProperty(schema, "isOptional", { value: optional, enumerable: false });
  return Object.assign(schema, {
    parse(value) {
      const result = schema(value);
      if (result instanceof type.errors)
        throw new Error(result.summary);
      return result;
    },
    safeParse(value) {
      const result = schema(value);
      if (!(result instanceof type.errors))
        return { success: true, data: result };
      return {
        success: false,
        error: {
          message: result.summary,
          issues: result.map((issue) => ({ path: [...issue.path], message: issue.problem }))
        }
      };
    },
    min(bound) {
      const ir = schema.ir;
      if (ir.k === "string" || ir.k === "array") {
        lengthBound("min", schema, bound);
        const min = ir.min === void 0 ? bound : Math.max(ir.min, bound);
        return next(restrictBase(schema, { ...ir, min }));
      }
      if (ir.k === "number") {
        if (Number.isNaN(bound))
          throw new OmpTypeError("number min must not be NaN");
        if (ir.min !== void 0 && ir.min >= bound)
          return next(restrictBase(schema, ir));
        return next(restrictBase(schema, { ...ir, min: bound, xmin: false }));
      }
      if (ir.k === "morph" && !schema.hasSteps && ir.out !== void 0 && (ir.out.k === "string" || ir.out.k === "array")) {
        if (!Number.isSafeInteger(bound) || bound < 0)
          throw new OmpTypeError("min length must be a nonnegative safe integer");
        const out = { ...ir.out, min: ir.out.min === void 0 ? bound : Math.max(ir.out.min, bound) };
        return next(restrictBase(schema, { ...ir, out }));
      }
      if (ir.k === "morph" && (schema.hasSteps || ir.out === void 0)) {
        if (!Number.isSafeInteger(bound) || bound < 0)
          throw new OmpTypeError("min length must be a nonnegative safe integer");
        return next(schema.narrow((value, ctx) => {
          if (typeof value === "string" || Array.isArray(value)) {
            return value.length >= bound || ctx.mustBe(`at least ${bound} characters`);
          }
          return ctx.mustBe("a string or array");
        }));
      }
      throw new OmpTypeError(`cannot apply min to ${ir.k}`);
    },
    max(bound) {
      const ir = schema.ir;
      if (ir.k === "string" || ir.k === "array") {
        lengthBound("max", schema, bound);
        const max = ir.max === void 0 ? bound : Math.min(ir.max, bound);
        return next(restrictBase(schema, { ...ir, max }));
      }
      if (ir.k === "number") {
        if (Number.isNaN(bound))
          throw new OmpTypeError("number max must not be NaN");
        if (ir.max !== void 0 && ir.max <= bound)
          return next(restrictBase(schema, ir));
        return next(restrictBase(schema, { ...ir, max: bound, xmax: false }));
      }
      if (ir.k === "morph" && !schema.hasSteps && ir.out !== void 0 && (ir.out.k === "string" || ir.out.k === "array")) {
        if (!Number.isSafeInteger(bound) || bound < 0)
          throw new OmpTypeError("max length must be a nonnegative safe integer");
        const out = { ...ir.out, max: ir.out.max === void 0 ? bound : Math.min(ir.out.max, bound) };
        return next(restrictBase(schema, { ...ir, out }));
      }
      if (ir.k === "morph" && (schema.hasSteps || ir.out === void 0)) {
        if (!Number.isSafeInteger(bound) || bound < 0)
          throw new OmpTypeError("max length must be a nonnegative safe integer");
        return next(schema.narrow((value, ctx) => {
          if (typeof value === "string" || Array.isArray(value)) {
            return value.length <= bound || ctx.mustBe(`at most ${bound} characters`);
          }
          return ctx.mustBe("a string or array");
        }));
      }
      throw new OmpTypeError(`cannot apply max to ${ir.k}`);
    },
    int() {
      if (schema.ir.k !== "number")
        throw new OmpTypeError(`cannot apply int to ${schema.ir.k}`);
      return next(restrictBase(schema, { ...schema.ir, int: true }));
    },
    positive() {
      if (schema.ir.k !== "number")
        throw new OmpTypeError(`cannot apply positive to ${schema.ir.k}`);
      const ir = schema.ir;
      if (ir.min !== void 0 && ir.min > 0)
        return next(restrictBase(schema, ir));
      return next(restrictBase(schema, { ...ir, min: 0, xmin: true }));
    },
    nonnegative() {
      if (schema.ir.k !== "number")
        throw new OmpTypeError(`cannot apply nonnegative to ${schema.ir.k}`);
      return this.min(0);
    },
    regex(expression, message) {
      const ir = schema.ir;
      const isStringLike = ir.k === "string" || ir.k === "morph" && (ir.out?.k === "string" || ir.out === void 0 && ir.input.k === "string");
      if (!isStringLike)
        throw new OmpTypeError(`cannot apply regex to ${ir.k}`);
      const expectation = message ?? `matching ${expression}`;
      const narrowed = schema.narrow((value, ctx) => {
        if (typeof value !== "string")
          return ctx.mustBe("a string");
        expression.lastIndex = 0;
        const matches = expression.test(value);
        expression.lastIndex = 0;
        return matches || ctx.mustBe(expectation);
      });
      return next(narrowed);
    },
    url() {
      const ir = schema.ir;
      if (ir.k === "string")
        return next(restrictBase(schema, { ...ir, url: true }));
      if (ir.k === "morph" && !schema.hasSteps && ir.out !== void 0 && ir.out.k === "string") {
        return next(restrictBase(schema, { ...ir, out: { ...ir.out, url: true } }));
      }
      if (ir.k === "morph" && (schema.hasSteps || ir.out === void 0)) {
        return next(schema.narrow((value, ctx) => {
          if (typeof value !== "string")
            return ctx.mustBe("a string");
          try {
            new URL(value);
            return true;
          } catch {
            return ctx.mustBe("a valid URL");
          }
        }));
      }
      throw new OmpTypeError(`cannot apply url to ${ir.k}`);
    },
    optional() {
      const widened = schema.or(type.raw("undefined"));
      return decorate(widened, true);
    },
    nullable() {
      return decorate(schema.or(type.raw("null")), optional);
    },
    default(value) {
      const widened = schema.or(type.raw("undefined"));
      const piped = widened.pipe((output) => {
        if (output !== void 0)
          return output;
        return typeof value === "function" ? value() : value;
      });
      return decorate(piped.default(value));
    },
    describe(description) {
      return next(restrictBase(schema, { ...schema.ir, desc: description }).describe(description));
    },
    refine(predicate, messageOrOptions) {
      const expectation = refinementMessage(messageOrOptions);
      return next(schema.narrow((value, ctx) => Boolean(predicate(value)) || ctx.mustBe(expectation)));
    },
    superRefine(refinement) {
      return next(schema.narrow((value, ctx) => {
        const proxy = {
          addIssue(issue) {
            ctx.error({
              expected: issue.message,
              path: issue.path ?? [],
              ...issue.actual !== void 0 ? { actual: issue.actual } : {}
            });
          }
        };
        refinement(value, proxy);
        return true;
      }));
    },
    trim() {
      const ir = schema.ir;
      if (ir.k === "string" && !schema.hasSteps) {
        let trimmed = schemaFromIR({
          k: "morph",
          input: { k: "string" },
          fn: (v) => v.trim(),
          out: ir
        });
        if (schema.hasDefault)
          trimmed = trimmed.default(schema.defaultValue);
        return next(trimmed);
      }
      if (ir.k === "morph" || schema.hasSteps) {
        let trimmed = schemaFromIR({
          k: "morph",
          input: { k: "unknown" },
          fn: (v) => {
            const r = schema(v);
            if (r instanceof type.errors)
              return r;
            if (typeof r !== "string")
              throw new OmpTypeError("trim requires a string output");
            return r.trim();
          },
          out: { k: "string" }
        });
        if (schema.hasDefault)
          trimmed = trimmed.default(schema.defaultValue);
        return next(trimmed);
      }
      throw new OmpTypeError(`cannot apply trim to ${ir.k}`);
    },
    transform(transformer) {
      return decorate(schema.pipe((value) => transformer(value)), optional);
    },
    catch(fallback) {
      const caught = type.unknown.pipe((input) => {
        try {
          const result = schema(input);
          if (!(result instanceof type.errors))
            return result;
        } catch {
        }
        return typeof fallback === "function" ? fallback() : fallback;
      });
      return decorate(caught, optional);
    },
    strict() {
      return withObjectExtras("reject");
    },
    passthrough() {
      return withObjectExtras("keep");
    },
    strip() {
      return withObjectExtras("delete");
    },
    partial() {
      if (schema.ir.k !== "object")
        throw new OmpTypeError(`cannot apply partial to ${schema.ir.k}`);
      const props = schema.ir.props.map((prop) => ({ ...prop, opt: true }));
      return next(restrictBase(schema, { ...schema.ir, props }));
    }
  });
}
function decorateUnknown(schema) {
  return decorate(schema);
}
function objectSchema(shape) {
  const props = [];
  for (const key in shape) {
    const member = shape[key];
    const prop = { key, opt: member.isOptional, val: embed(member) };
    if (member.hasDefault) {
      prop.hasDefault = true;
      prop.def = member.defaultValue;
      prop.defFactory = typeof member.defaultValue === "function";
    }
    props.push(prop);
  }
  return decorateUnknown(schemaFromIR({ k: "object", props, extras: "delete" }));
}
var string = () => decorate(schemaFromIR(type.string.ir));
var number = () => decorate(schemaFromIR(type.number.ir));
var boolean = () => decorate(schemaFromIR(type.boolean.ir));
var literal = (value) => decorate(schemaFromIR(type.enumerated(value).ir));
var enumSchema = (values) => {
  if (values.length === 0)
    throw new OmpTypeError("enum requires at least one value");
  return decorate(schemaFromIR(type.enumerated(...values).ir));
};
var union = (schemas) => decorate(schemaFromIR({ k: "union", members: schemas.map((schema) => embed(schema)) }));
var array = (element) => decorate(schemaFromIR({ k: "array", el: embed(element) }));
var object = (shape) => objectSchema(shape);
function record(keyOrValueSchema, valueSchema) {
  const keySchema = valueSchema === void 0 ? string() : keyOrValueSchema;
  const valSchema = valueSchema === void 0 ? keyOrValueSchema : valueSchema;
  if (!isStringKeyIR(keySchema.ir))
    throw new OmpTypeError("record keys must use a string schema");
  const base = schemaFromIR({
    k: "object",
    props: [],
    index: embed(valSchema),
    extras: "keep"
  });
  const checked = base.narrow((value, ctx) => {
    for (const key in value) {
      if (keySchema(key) instanceof type.errors)
        return ctx.mustBe("a record with valid string keys");
    }
    return true;
  });
  return decorate(checked);
}
var unknown = () => decorate(schemaFromIR(type.unknown.ir));
var any = () => decorate(schemaFromIR(type.unknown.ir));
var nullSchema = () => decorate(type.raw("null"));
var undefinedSchema = () => decorate(type.raw("undefined"));
var z = {
  string,
  number,
  boolean,
  literal,
  enum: enumSchema,
  union,
  array,
  object,
  record,
  unknown,
  any,
  null: nullSchema,
  undefined: undefinedSchema
};
export {
  any,
  array,
  boolean,
  z as default,
  enumSchema as enum,
  literal,
  nullSchema as null,
  number,
  object,
  record,
  string,
  undefinedSchema as undefined,
  union,
  unknown,
  z
};
