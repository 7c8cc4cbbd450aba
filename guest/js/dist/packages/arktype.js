// Built by `npm run build`; do not edit. The licences of what is bundled are in LICENSES.txt.

import {
  IR_BRAND,
  MISSING,
  OmpError,
  OmpErrors,
  OmpTypeError,
  TraversalError,
  Type,
  declare,
  distributeFilter,
  embed,
  expectedOf,
  hasAlias,
  hasMorph,
  irToJsonSchema,
  isSimpleIR,
  keyOf,
  keywordIR,
  markThisOnlyResolver,
  matchBuilder,
  parseDef,
  patternIR,
  scope,
  type,
  useAssignability
} from "./omptype.js";

// node_modules/@oh-my-pi/omptype/dist/js/from-json-schema.js
var FORMAT_KEYWORDS = {
  email: "string.email",
  uuid: "string.uuid",
  "date-time": "string.date.iso",
  date: "string.date.iso",
  ipv4: "string.ip.v4",
  ipv6: "string.ip.v6",
  regex: "string.regex"
};
var Importer = class {
  #root;
  #aliases = /* @__PURE__ */ new Map();
  constructor(root) {
    this.#root = root;
  }
  resolveRef(ref) {
    const cached = this.#aliases.get(ref);
    if (cached !== void 0)
      return cached;
    let target;
    if (ref === "#") {
      target = this.#root;
    } else {
      const defsMatch = /^#\/(\$defs|definitions)\/(.+)$/.exec(ref);
      if (defsMatch === null)
        throw new OmpTypeError(`unsupported $ref: ${ref}`);
      const defs = this.#root[defsMatch[1]];
      target = typeof defs === "object" && defs !== null ? defs[defsMatch[2]] : void 0;
      if (target === void 0)
        throw new OmpTypeError(`unresolved $ref: ${ref}`);
    }
    let lowered;
    const alias = {
      k: "alias",
      name: ref,
      resolve: () => {
        lowered ??= this.lower(target);
        return lowered;
      }
    };
    this.#aliases.set(ref, alias);
    return alias;
  }
  lower(schema) {
    if (schema === true)
      return { k: "unknown" };
    if (schema === false)
      return { k: "never" };
    if (typeof schema !== "object" || schema === null) {
      throw new OmpTypeError("JSON Schema nodes must be booleans or objects");
    }
    const node = schema;
    const desc = typeof node.description === "string" ? node.description : void 0;
    const ir = this.#lowerNode(node);
    return desc === void 0 ? ir : { ...ir, desc };
  }
  #lowerNode(node) {
    if (typeof node.$ref === "string")
      return this.resolveRef(node.$ref);
    if (Array.isArray(node.enum)) {
      const members = node.enum.map((v) => ({ k: "lit", v }));
      return members.length === 1 ? members[0] : { k: "union", members };
    }
    if ("const" in node)
      return { k: "lit", v: node.const };
    const branches = node.anyOf ?? node.oneOf;
    if (Array.isArray(branches)) {
      return { k: "union", members: branches.map((branch) => this.lower(branch)) };
    }
    if (Array.isArray(node.allOf)) {
      const members = node.allOf.map((branch) => this.lower(branch));
      return members.length === 1 ? members[0] : { k: "intersection", members };
    }
    if (typeof node.not === "object" && node.not !== null && Object.keys(node.not).length === 0) {
      return { k: "never" };
    }
    if (Array.isArray(node.type)) {
      const members = node.type.map((t) => this.#lowerTyped(node, String(t)));
      return members.length === 1 ? members[0] : { k: "union", members };
    }
    if (typeof node.type === "string")
      return this.#lowerTyped(node, node.type);
    if (node.properties !== void 0 || node.required !== void 0)
      return this.#lowerObject(node);
    if (node.items !== void 0 || node.prefixItems !== void 0)
      return this.#lowerArray(node);
    return { k: "unknown" };
  }
  #lowerTyped(node, kind) {
    switch (kind) {
      case "null":
        return { k: "null" };
      case "boolean":
        return { k: "boolean" };
      case "string":
        return this.#lowerString(node);
      case "number":
      case "integer": {
        const ir = { k: "number" };
        if (kind === "integer")
          ir.int = true;
        if (typeof node.minimum === "number")
          ir.min = node.minimum;
        if (typeof node.maximum === "number")
          ir.max = node.maximum;
        if (typeof node.exclusiveMinimum === "number") {
          ir.min = node.exclusiveMinimum;
          ir.xmin = true;
        }
        if (typeof node.exclusiveMaximum === "number") {
          ir.max = node.exclusiveMaximum;
          ir.xmax = true;
        }
        if (typeof node.multipleOf === "number")
          ir.divisor = node.multipleOf;
        return ir;
      }
      case "object":
        return this.#lowerObject(node);
      case "array":
        return this.#lowerArray(node);
      default:
        throw new OmpTypeError(`unsupported JSON Schema type: ${kind}`);
    }
  }
  #lowerString(node) {
    const base = { k: "string" };
    if (typeof node.minLength === "number")
      base.min = node.minLength;
    if (typeof node.maxLength === "number")
      base.max = node.maxLength;
    if (node.format === "uri" || node.format === "url")
      base.url = true;
    const members = [];
    if (typeof node.format === "string") {
      const keyword = FORMAT_KEYWORDS[node.format];
      if (keyword !== void 0) {
        const formatIR = keywordIR(keyword);
        if (formatIR !== void 0)
          members.push(formatIR);
      }
    }
    if (typeof node.pattern === "string")
      members.push(patternIR(new RegExp(node.pattern)));
    if (members.length === 0)
      return base;
    if (base.min !== void 0 || base.max !== void 0 || base.url)
      members.unshift(base);
    return members.length === 1 ? members[0] : { k: "intersection", members };
  }
  #lowerObject(node) {
    const required = new Set(Array.isArray(node.required) ? node.required.map(String) : []);
    const props = [];
    if (typeof node.properties === "object" && node.properties !== null) {
      for (const [key, value] of Object.entries(node.properties)) {
        const prop = { key, opt: !required.has(key), val: this.lower(value) };
        if (typeof value === "object" && value !== null && "default" in value) {
          prop.hasDefault = true;
          prop.def = value.default;
          prop.opt = true;
        }
        props.push(prop);
      }
    }
    const extra = node.additionalProperties;
    return {
      k: "object",
      props,
      extras: extra === false ? "reject" : "keep",
      ...typeof extra === "object" && extra !== null ? { index: this.lower(extra) } : {}
    };
  }
  #lowerArray(node) {
    if (Array.isArray(node.prefixItems)) {
      const minItems = typeof node.minItems === "number" ? node.minItems : node.prefixItems.length;
      const prefix = node.prefixItems.map((item, index) => ({
        val: this.lower(item),
        opt: index >= minItems
      }));
      return {
        k: "tuple",
        prefix,
        postfix: [],
        ...node.items !== void 0 && node.items !== false ? { variadic: this.lower(node.items) } : {}
      };
    }
    const ir = { k: "array", el: node.items === void 0 ? { k: "unknown" } : this.lower(node.items) };
    if (typeof node.minItems === "number")
      ir.min = node.minItems;
    if (typeof node.maxItems === "number")
      ir.max = node.maxItems;
    return ir;
  }
};
function fromJsonSchema(schema) {
  const importer = new Importer(typeof schema === "object" && schema !== null ? schema : {});
  const embedded = {
    [IR_BRAND]: true,
    ir: importer.lower(schema),
    hasSteps: false,
    hasDefault: false,
    run: (value) => value
  };
  return type.raw(embedded);
}

// node_modules/@oh-my-pi/omptype/dist/js/ark.js
var ArkError = OmpError;
var ArkErrors = OmpErrors;
export {
  ArkError,
  ArkErrors,
  IR_BRAND,
  MISSING,
  OmpError,
  OmpErrors,
  OmpTypeError,
  TraversalError,
  Type,
  declare,
  distributeFilter,
  embed,
  expectedOf,
  fromJsonSchema,
  hasAlias,
  hasMorph,
  irToJsonSchema,
  isSimpleIR,
  keyOf,
  markThisOnlyResolver,
  matchBuilder as match,
  parseDef,
  scope,
  type,
  useAssignability
};
