// Findings of the analysis, marked in the code.
import { syntaxTree } from "@codemirror/language";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { EditorState } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

/** Findings that are marked in the code at most: the time to mark them grows with the square of their number. */
const MAX_MARKED = 500;

/** Marks in the code what a list of findings says. */
export function mark(view: EditorView, list: Element): void {
  const findings = [...list.querySelectorAll<HTMLElement>("[data-line]")].slice(0, MAX_MARKED);
  const diagnostics = findings.map((finding) => toDiagnostic(view.state, finding));
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** Moves the cursor to where a finding is. */
export function goTo(view: EditorView, finding: HTMLElement): void {
  view.dispatch({ selection: { anchor: position(view.state, finding) }, scrollIntoView: true });
  view.focus();
}

function toDiagnostic(state: EditorState, finding: HTMLElement): Diagnostic {
  const from = position(state, finding);
  const text = finding.cloneNode(true) as HTMLElement;
  // The position says nothing at the position.
  text.querySelector(":scope > :is(a, .quiet):first-child")?.remove();
  const message = text.textContent.replace(/\s+/g, " ").trim();
  const renderMessage = () => {
    const line = document.createElement("span");
    line.append(...(text.cloneNode(true) as HTMLElement).childNodes);
    return line;
  };
  return { from, to: end(state, from), severity: severity(finding), message, renderMessage };
}

function severity({ dataset }: HTMLElement): Diagnostic["severity"] {
  if (dataset.severity === "critical" || dataset.severity === "high") return "error";
  return dataset.severity === "medium" ? "warning" : "info";
}

/** The offset of a finding. Lines and columns count from 1, columns in UTF-16 code units. */
function position({ doc }: EditorState, { dataset }: HTMLElement): number {
  const line = doc.line(clamp(Number(dataset.line), 1, doc.lines));
  return line.from + clamp(Number(dataset.column ?? 1) - 1, 0, line.length);
}

/** Where the word or the token ends that starts at an offset, in the same line. */
function end(state: EditorState, from: number): number {
  const line = state.doc.lineAt(from);
  const token = syntaxTree(state).resolveInner(from, 1);
  // Only a leaf is a token: the node around a blank may be the whole script.
  const to = !token.firstChild && token.to > from ? token.to : (state.wordAt(from)?.to ?? from + 1);
  return Math.min(to, line.to);
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, Number.isFinite(value) ? value : least));
