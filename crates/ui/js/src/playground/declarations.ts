// What the code of a tool can name: the declarations of a cell, and types of expressions as far as completion needs them.
//
// The types are an approximation: no type parameters, no narrowing, no overloads but the first. A type that is not known has no members.
import { typescriptLanguage } from "@codemirror/lang-javascript";
import type { SyntaxNode } from "@lezer/common";

/** Reads the text of a node. */
type Read = (node: { from: number; to: number }) => string;

/** A node of a type, and the text that it is a part of. */
interface TypeNode {
  node: SyntaxNode;
  read: Read;
  /** The type of a class itself, and not of its instances. */
  isStatic?: boolean;
}

/** A type: as it is written in a text, or as an object of this browser has it, for the standard library of ECMAScript. */
export type Type = TypeNode | { object: object };

/** A global, or a member of a type. */
export interface Declaration {
  name: string;
  kind: "function" | "method" | "variable" | "property" | "class" | "interface" | "type" | "namespace";
  /** What follows the name, such as `(key: string): Promise<any>`; one for each overload. */
  signatures: string[];
  /** The text of its JSDoc comment. */
  documentation: string;
  /** The part of the file that it is in, such as "With the grant `timers`". */
  section: string;
  /** The type of its value. */
  type?: Type;
  /** The type of what a call or `new` gives. */
  result?: Type;
}

/** Names of the standard library of a cell, which the file of declarations leaves out. */
const standardNames =
  "Array ArrayBuffer BigInt Boolean DataView Date Error Float32Array Float64Array Int16Array Int32Array Int8Array Iterator JSON Map Math " +
  "Number Object Promise Proxy RangeError Reflect RegExp Set String Symbol SyntaxError TypeError Uint16Array Uint32Array Uint8Array " +
  "WeakMap WeakSet decodeURIComponent encodeURIComponent isFinite isNaN parseFloat parseInt";

/** What every object has, and what browsers have for old pages (ECMA-262, annex B). */
const hiddenNames = new RegExp(
  "^(constructor|prototype|name|arguments|caller|__\\w+|anchor|big|blink|bold|fixed|font\\w+|italics|link|small|strike|sub|sup|substr|" +
    "trimLeft|trimRight)$",
);

const typeNodes = new Set(
  ("TypeName ParameterizedType ObjectType IntersectionType UnionType ParenthesizedType ArrayType TupleType LiteralType TemplateType " +
    "FunctionSignature ReadonlyType NullType VoidType KeyofType TypeofType IndexedType ConditionalType").split(" "),
);

/** The declarations of a file. */
export class Declarations {
  /** What an expression can name. */
  readonly values = new Map<string, Declaration>();
  /** What a type can name. */
  readonly types = new Map<string, Declaration>();
  /** The declarations of a type: an interface and a class may share a name. */
  readonly #typeNodes = new Map<string, TypeNode[]>();

  constructor(text: string) {
    const read: Read = ({ from, to }) => text.slice(from, to);
    let section = "";
    for (const node of children(typescriptLanguage.parser.parse(text).topNode)) {
      if (node.name === "LineComment") section = /^\/\/ --- (.*) ---$/.exec(read(node))?.[1]?.replace(/^Always there$/, "") ?? section;
      else this.#declare(node, read, section);
    }
    for (const name of standardNames.split(" ")) {
      const value: unknown = Reflect.get(globalThis, name);
      if (value !== undefined && !this.values.has(name)) this.values.set(name, fromObject(globalThis, name, value));
    }
  }

  #declare(outer: SyntaxNode, read: Read, section: string): void {
    const node = declared(outer);
    for (const declaration of declarationsOf(node, documentationOf(outer, read), section, read)) {
      const { name, kind } = declaration;
      if (kind === "interface" || kind === "type" || kind === "class") {
        this.types.set(name, this.types.get(name) ?? declaration);
        this.#typeNodes.set(name, [...(this.#typeNodes.get(name) ?? []), { node, read }]);
      }
      if (kind !== "interface" && kind !== "type") add(this.values, declaration);
    }
  }

  /** The members of a type. */
  membersOf(type: Type | undefined, depth = 0): Map<string, Declaration> {
    const members = new Map<string, Declaration>();
    // A type may be declared as itself.
    if (!type || depth > 16) return members;
    const include = (inner: Type | undefined) => {
      for (const [name, member] of this.membersOf(inner, depth + 1)) if (!members.has(name)) members.set(name, member);
    };
    if ("object" in type) {
      for (const name of Object.getOwnPropertyNames(type.object)) {
        if (/^[A-Za-z_$][\w$]*$/.test(name) && !hiddenNames.test(name)) members.set(name, fromObject(type.object, name));
      }
      return members;
    }
    const { node, read, isStatic = false } = type;
    switch (node.name) {
      case "TypeName": {
        const name = read(node);
        for (const part of this.#typeNodes.get(name) ?? []) include(part);
        if (members.size === 0) include(standardInstance(name));
        break;
      }
      case "ParameterizedType":
      case "ParenthesizedType":
      case "ReadonlyType":
        include(typeIn(node, read));
        break;
      case "IntersectionType":
        for (const part of children(node)) include({ node: part, read });
        break;
      case "UnionType": {
        const parts = children(node).filter((part) => typeNodes.has(part.name) && !/^(null|undefined|void)$/.test(read(part)));
        if (parts.length === 1 && parts[0]) include({ node: parts[0], read });
        break;
      }
      case "ArrayType":
      case "TupleType":
        include(standardInstance("Array"));
        break;
      case "TypeAliasDeclaration":
        include(typeIn(node, read));
        break;
      case "InterfaceDeclaration":
      case "ClassDeclaration": {
        const body = node.getChild("ClassBody") ?? node.getChild("ObjectType");
        if (body) include({ node: body, read, isStatic });
        // `extends` names a type of an interface, and a value of a class.
        for (const parent of [...node.getChildren("TypeName"), ...node.getChildren("VariableName")]) {
          for (const part of this.#typeNodes.get(read(parent)) ?? []) include({ ...part, isStatic });
          if (!this.#typeNodes.has(read(parent)) && !isStatic) include(standardInstance(read(parent)));
        }
        break;
      }
      case "ObjectType":
      case "ClassBody":
      case "Block":
        for (const child of children(node)) {
          if ((child.getChild("static") !== null) !== isStatic || child.getChild("Privacy")) continue;
          for (const member of declarationsOf(declared(child), documentationOf(child, read), "", read)) {
            if (member.name !== "constructor") add(members, member);
          }
        }
        break;
    }
    return members;
  }

  /** The type of an expression. `read` reads the text that the expression is a part of. */
  typeOf(expression: SyntaxNode | null | undefined, read: Read, depth = 0): Type | undefined {
    if (!expression || depth > 16) return undefined;
    const inner = (node: SyntaxNode | null | undefined) => this.typeOf(node, read, depth + 1);
    switch (expression.name) {
      case "VariableName": {
        const local = findLocal(expression, read);
        if (!local) return this.values.get(read(expression))?.type;
        return local.type ?? inner(local.value);
      }
      case "ParenthesizedExpression":
        return inner(expression.firstChild?.nextSibling);
      case "AwaitExpression":
        return awaited(inner(expression.lastChild));
      case "PostfixExpression":
        return inner(expression.firstChild);
      case "MemberExpression":
      case "CallExpression":
      case "NewExpression": {
        const called = this.#declarationOf(expression.name === "MemberExpression" ? expression : callee(expression), read, depth + 1);
        return expression.name === "MemberExpression" ? called?.type : called?.result;
      }
      case "String":
      case "TemplateString":
        return { object: String.prototype };
      case "ArrayExpression":
        return { object: Array.prototype };
      case "RegExp":
        return { object: RegExp.prototype };
      case "Number":
        return { object: Number.prototype };
      default:
        return undefined;
    }
  }

  #declarationOf(expression: SyntaxNode | null | undefined, read: Read, depth: number): Declaration | undefined {
    if (expression?.name === "VariableName") return findLocal(expression, read) ? undefined : this.values.get(read(expression));
    const property = expression?.getChild("PropertyName");
    if (expression?.name !== "MemberExpression" || !property) return undefined;
    return this.membersOf(this.typeOf(expression.firstChild, read, depth + 1)).get(read(property));
  }
}

/** Adds a declaration, or its signature if it is an overload. */
function add(to: Map<string, Declaration>, declaration: Declaration): void {
  const known = to.get(declaration.name);
  if (known && known.kind === declaration.kind) known.signatures.push(...declaration.signatures);
  else to.set(declaration.name, declaration);
}

/** The declaration in `declare …` and `export …`. */
function declared(node: SyntaxNode): SyntaxNode {
  const inner = node.name === "AmbientDeclaration" || node.name === "ExportDeclaration" ? node.lastChild : null;
  return inner ? declared(inner) : node;
}

/** What a statement or a member declares: more than one for `const a: A, b: B`. */
function declarationsOf(node: SyntaxNode, documentation: string, section: string, read: Read): Declaration[] {
  const common = { signatures: [] as string[], documentation, section };
  const named = node.getChild("VariableDefinition") ?? node.getChild("TypeDefinition") ?? node.getChild("PropertyDefinition");
  if (!named) return [];
  const name = read(named);
  const annotated = node.getChild("TypeAnnotation");
  switch (node.name) {
    case "FunctionDeclaration":
    case "AmbientFunctionDeclaration":
    case "MethodDeclaration":
    case "MethodType": {
      const kind = node.name.startsWith("Method") ? "method" : "function";
      return [{ ...common, name, kind, signatures: [textFrom(named.to, node, read)], ...optional("result", annotation(annotated, read)) }];
    }
    case "PropertyType":
    case "PropertyDeclaration":
      return [{ ...common, name, kind: "property", signatures: [textFrom(named.to, node, read)], ...valueOf(annotated, read) }];
    case "VariableDeclaration":
      return node.getChildren("VariableDefinition").map((variable) => {
        const type = variable.nextSibling?.name === "TypeAnnotation" ? variable.nextSibling : null;
        // The members of an object type are what completion shows after the dot.
        const signatures = type && !type.getChild("ObjectType") ? [textFrom(type.from, type, read)] : [];
        return { ...common, name: read(variable), kind: "variable", signatures, ...valueOf(type, read) };
      });
    case "NamespaceDeclaration": {
      const body = node.getChild("Block");
      return [{ ...common, name, kind: "namespace", ...(body ? { type: { node: body, read } } : {}) }];
    }
    case "ClassDeclaration": {
      const constructors = (node.getChild("ClassBody")?.getChildren("MethodDeclaration") ?? []).flatMap((method) => {
        const called = method.getChild("PropertyDefinition");
        return called && read(called) === "constructor" && !method.getChild("Privacy") ? [textFrom(called.to, method, read)] : [];
      });
      return [{ ...common, name, kind: "class", signatures: constructors, type: { node, read, isStatic: true }, result: { node, read } }];
    }
    case "InterfaceDeclaration":
      return [{ ...common, name, kind: "interface" }];
    case "TypeAliasDeclaration":
      return [{ ...common, name, kind: "type", signatures: [textFrom(named.to, node, read)] }];
    default:
      return [];
  }
}

/** The type of an annotated value, and what a call of it gives. */
function valueOf(annotated: SyntaxNode | null, read: Read): Pick<Declaration, "type" | "result"> {
  const type = annotation(annotated, read);
  const called = type?.node.name === "FunctionSignature" ? typeIn(type.node, read) : undefined;
  return { ...optional("type", type), ...optional("result", called) };
}

/** A name of an object of this browser. */
function fromObject(owner: object, name: string, value?: unknown): Declaration {
  // A getter of a prototype throws without an instance.
  const found = value ?? Object.getOwnPropertyDescriptor(owner, name)?.value;
  const common = { name, signatures: [], documentation: "", section: "" };
  if (typeof found === "function") {
    const isClass = /^[A-Z]/.test(name);
    const kind = isClass ? "class" : owner === globalThis ? "function" : "method";
    return { ...common, kind, ...(isClass ? { type: { object: found }, ...optional("result", standardInstance(name)) } : {}) };
  }
  const isObject = typeof found === "object" && found !== null;
  return { ...common, kind: owner === globalThis ? "variable" : "property", ...(isObject ? { type: { object: found as object } } : {}) };
}

/** The prototype of a class of ECMAScript, or of a primitive type. */
function standardInstance(name: string): Type | undefined {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  if (title === "Object" || !standardNames.split(" ").includes(title)) return undefined;
  const object: unknown = (Reflect.get(globalThis, title) as { prototype?: unknown } | undefined)?.prototype;
  return typeof object === "object" && object !== null ? { object } : undefined;
}

/** What `await` makes of a type. */
function awaited(type: Type | undefined): Type | undefined {
  if (!type || "object" in type || type.node.name !== "ParameterizedType") return type;
  const name = type.node.getChild("TypeName");
  const list = type.node.getChild("TypeArgList");
  return name && list && type.read(name) === "Promise" ? typeIn(list, type.read) : type;
}

/** The called expression of a call or of `new`. */
function callee(call: SyntaxNode): SyntaxNode | null {
  const called = call.name === "NewExpression" ? (call.firstChild?.nextSibling ?? null) : call.firstChild;
  return called?.name === "InstantiationExpression" ? called.firstChild : called;
}

/** Finds what a name is where it is used: an annotated type, or the value of a `const`. */
function findLocal(use: SyntaxNode, read: Read): { type?: Type; value?: SyntaxNode } | undefined {
  const name = read(use);
  for (let at: SyntaxNode | null = use; at; at = at.parent) {
    for (let before: SyntaxNode | null = at.prevSibling; before; before = before.prevSibling) {
      const statement = before.name === "ExportDeclaration" ? (before.getChild("VariableDeclaration") ?? before) : before;
      if (statement.name === "VariableDeclaration" || statement.name === "ParamList" || statement.name === "ForOfSpec") {
        const found = statement.getChildren("VariableDefinition").find((definition) => read(definition) === name);
        if (found) return definedBy(found, statement.name === "VariableDeclaration", read);
      }
      const named = statement.getChild("VariableDefinition");
      if (/^(Function|Class)Declaration$/.test(statement.name) && named && read(named) === name) return {};
    }
  }
  return undefined;
}

function definedBy(definition: SyntaxNode, hasValue: boolean, read: Read): { type?: Type; value?: SyntaxNode } {
  let next = definition.nextSibling;
  if (next?.name === "Optional") next = next.nextSibling;
  if (next?.name === "TypeAnnotation") return optional("type", annotation(next, read));
  return hasValue && next?.name === "Equals" && next.nextSibling ? { value: next.nextSibling } : {};
}

/** The type of an annotation, `: T`. */
function annotation(node: SyntaxNode | null, read: Read): TypeNode | undefined {
  return node ? typeIn(node, read) : undefined;
}

/** The last type among the children of a node, and the first of a list or of a type with arguments. */
function typeIn(node: SyntaxNode, read: Read): TypeNode | undefined {
  const found = children(node).filter(({ name }) => typeNodes.has(name));
  const type = node.name === "TypeArgList" || node.name === "ParameterizedType" ? found[0] : found.at(-1);
  return type && { node: type, read };
}

/** The JSDoc comment that stands before a node. */
function documentationOf(node: SyntaxNode, read: Read): string {
  const comment = node.prevSibling?.name === "BlockComment" ? read(node.prevSibling) : "";
  if (!comment.startsWith("/**")) return "";
  return comment.slice(3, -2).replace(/^[ \t]*\*[ \t]?/gm, "").replace(/\s+/g, " ").trim();
}

/** The text of a node from an offset on, on one line. */
function textFrom(from: number, node: SyntaxNode, read: Read): string {
  return read({ from, to: node.to }).replace(/\s+/g, " ").replace(/;\s*$/, "").trim();
}

function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child);
  return found;
}

/** An object with a property, or without it if there is no value. */
function optional<K extends string, T>(key: K, value: T | undefined): { [name in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [name in K]?: T });
}
