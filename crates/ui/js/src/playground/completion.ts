// Completion from the declarations of a cell.
import { snippetCompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { SyntaxNode } from "@lezer/common";
import { Declarations, type Declaration } from "./declarations";

/** Nodes where a name is text, or is made up. */
const noCompletion = new Set(
  ("LineComment BlockComment String TemplateString RegExp VariableDefinition TypeDefinition PropertyDefinition Label " +
    "PrivatePropertyName PrivatePropertyDefinition Number").split(" "),
);

const word = /[\w$]*$/;
const validFor = /^[\w$]*$/;

const form = (label: string, detail: string, text: string, boost = 0) => snippetCompletion(text, { label, detail, type: "keyword", boost });

/** What a tool declares, outside of any block. */
const declarationForms = [
  form("export function execute", "(params) { … }", "export function execute(${params}) {\n\t${}\n}", 2),
  form("export async function execute", "(params) { … }", "export async function execute(${params}) {\n\t${}\n}", 1),
];

const statementForms = [
  form("for", " … of", "for (const ${item} of ${items}) {\n\t${}\n}"),
  form("for", " … <", "for (let ${i} = 0; ${i} < ${length}; ${i}++) {\n\t${}\n}"),
  form("if", " { … }", "if (${condition}) {\n\t${}\n}"),
  form("if", " … else", "if (${condition}) {\n\t${}\n} else {\n\t${}\n}"),
  form("while", " { … }", "while (${condition}) {\n\t${}\n}"),
  form("try", " … catch", "try {\n\t${}\n} catch (${error}) {\n\t${}\n}"),
  form("function", " { … }", "function ${name}(${params}) {\n\t${}\n}"),
];

const keywords: Completion[] = (
  "async await break case catch class const continue default delete do else export extends false finally in instanceof interface let " +
  "new null of return static super switch this throw true type typeof undefined void yield"
)
  .split(" ")
  .map((label) => ({ label, type: "keyword" }));

/** Completes names and members. `load` gives the declarations, or nothing if they could not be fetched. */
export function completeDeclared(load: () => Promise<Declarations | undefined>) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const { state, pos, explicit } = context;
    const at = syntaxTree(state).resolveInner(pos, -1);
    if (isText(at)) return null;
    const isMember = at.name === "PropertyName" || at.name === "." || at.name === "?.";
    const isWord = context.matchBefore(/[\w$]+/) !== null;
    if (!isMember && !isWord && !explicit) return null;
    const declarations = await load();
    if (context.aborted) return null;
    const from = context.matchBefore(word)?.from ?? pos;
    const read = (node: { from: number; to: number }) => state.sliceDoc(node.from, node.to);
    if (isMember) {
      if (at.parent?.name !== "MemberExpression" || !declarations) return null;
      const members = declarations.membersOf(declarations.typeOf(at.parent.firstChild, read));
      return members.size === 0 ? null : { from, options: [...members.values()].map(toCompletion), validFor };
    }
    if (at.name === "TypeName") return { from, options: [...(declarations?.types.values() ?? [])].map(toCompletion), validFor };
    const values = [...(declarations?.values.values() ?? [])].map(toCompletion);
    return { from, options: [...values, ...keywords, ...statementForms, ...(isTopLevel(at) ? declarationForms : [])], validFor };
  };
}

function isText(at: SyntaxNode): boolean {
  for (let node: SyntaxNode | null = at; node; node = node.parent) {
    if (node.name === "Interpolation") return false;
    if (noCompletion.has(node.name)) return true;
  }
  return false;
}

/** Tells whether a declaration could stand here: no block is around it. */
function isTopLevel(at: SyntaxNode): boolean {
  const outer = /^(Script|ExpressionStatement|ExportDeclaration)$/;
  for (let node = at.parent; node; node = node.parent) if (!outer.test(node.name)) return false;
  return true;
}

function toCompletion(declaration: Declaration): Completion {
  const { name, kind, signatures, documentation, section } = declaration;
  // A name without a signature says what it is.
  const isWord = kind === "class" || kind === "interface" || kind === "namespace";
  const [first] = isWord ? [` ${kind}`] : signatures;
  const more = isWord ? 0 : signatures.length - 1;
  return {
    label: name,
    type: kind,
    ...(first ? { detail: more > 0 ? `${first} +${more}` : first } : {}),
    ...(documentation || section || signatures.length > 0 ? { info: () => describe(declaration) } : {}),
  };
}

function describe({ name, kind, signatures, documentation, section }: Declaration): Node {
  const info = document.createElement("div");
  const paragraph = (tag: string, text: string, className = "") => {
    const line = info.appendChild(document.createElement(tag));
    line.textContent = text;
    line.className = className;
  };
  for (const signature of signatures) paragraph("code", `${kind === "class" ? "new " : ""}${name}${signature}`);
  if (documentation) paragraph("p", documentation);
  if (section) paragraph("p", section, "quiet");
  return info;
}
