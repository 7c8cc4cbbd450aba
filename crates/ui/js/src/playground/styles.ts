// The look of the editor: its style sheet, and the colours of the page.
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { StyleModule } from "style-mod";

/**
 * Makes CodeMirror keep its rules in a constructed style sheet (CSSOM).
 *
 * style-mod writes a `<style>` element into a document, which `style-src 'self'` blocks. It uses a constructed sheet in a shadow root only;
 * there the label and the help text of the page could not be tied to the editor, as ARIA references do not cross the boundary. A page has
 * one editor, which names all of its modules at each call, so that the sheet holds what the last call named.
 */
export function useConstructedSheet(): void {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  let text = "";
  StyleModule.mount = (_root, modules) => {
    const rules = [modules].flat().map((module) => module.getRules()).join("\n");
    if (rules === text) return;
    text = rules;
    sheet.replaceSync(rules);
  };
}

export const highlightStyle = HighlightStyle.define([
  { tag: tags.comment, color: "var(--comment)" },
  { tag: [tags.keyword, tags.bool, tags.null, tags.self, tags.atom], color: "var(--keyword)" },
  { tag: [tags.string, tags.regexp], color: "var(--string)" },
  { tag: tags.number, color: "var(--number)" },
]);

const severity = { error: "var(--danger)", warning: "var(--warn)", info: "var(--quiet)" };
/** Markers differ in their shape and not only in their colour (WCAG 2.2, 1.4.1). */
const shape = { error: "●", warning: "▲", info: "◆" };

/** The rules of a severity. The library's own would load `data:` images, which `img-src 'self'` blocks. */
function severityRules(name: keyof typeof severity) {
  return {
    [`.cm-lintRange-${name}`]: { backgroundImage: "none", textDecorationColor: severity[name] },
    [`.cm-lintPoint-${name}:after`]: { borderBottomColor: severity[name] },
    [`.cm-lint-marker-${name}`]: { content: "normal", color: severity[name] },
    [`.cm-lint-marker-${name}::before`]: { content: `"${shape[name]}"` },
    [`.cm-diagnostic-${name}`]: { borderLeft: `3px solid ${severity[name]}` },
  };
}

const selected = "color-mix(in srgb, var(--accent) 28%, transparent)";

export const theme = EditorView.theme({
  "&": { background: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "10px", fontSize: "0.85rem" },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    lineHeight: "1.5",
    minHeight: "14rem",
    maxHeight: "75vh",
    overflow: "auto",
    borderRadius: "9px",
  },
  ".cm-content": { padding: "0.5rem 0", caretColor: "var(--text)", minHeight: "14rem" },
  ".cm-content:focus-visible": { outline: "none" },
  ".cm-content ::selection, .cm-content::selection": { background: selected },
  ".cm-line": { padding: "0 0.8rem 0 0.3rem" },
  ".cm-gutters": { background: "var(--panel)", color: "var(--quiet)", border: "0 !important", borderRadius: "9px 0 0 9px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.6rem", padding: "0" },
  ".cm-gutter-lint": { width: "1.3rem" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0", display: "flex", justifyContent: "center" },
  ".cm-lint-marker": { width: "auto", height: "1.5em", cursor: "default" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "none" },
  "&.cm-focused .cm-activeLine": { background: "color-mix(in srgb, var(--line) 35%, transparent)" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--text)" },
  "&.cm-focused .cm-matchingBracket": { background: selected },
  "&.cm-focused .cm-nonmatchingBracket": { background: "var(--alarm-page)", color: "var(--danger)" },
  ".cm-specialChar": {
    color: "var(--danger)",
    background: "var(--alarm-page)",
    borderRadius: "3px",
    padding: "0 0.25em",
    margin: "0 1px",
    fontSize: "0.8em",
    whiteSpace: "nowrap",
  },

  ".cm-lintRange": {
    textDecorationLine: "underline",
    textDecorationStyle: "wavy",
    textDecorationSkipInk: "none",
    textUnderlineOffset: "0.2em",
    paddingBottom: "0",
  },
  ".cm-lintRange-active": { background: "var(--reach)" },
  ...severityRules("info"),
  ...severityRules("warning"),
  ...severityRules("error"),
  ".cm-diagnostic": { padding: "0.35rem 0.7rem", margin: "0", fontFamily: "var(--sans)", fontSize: "0.9rem", overflowWrap: "anywhere" },
  ".cm-diagnostic + .cm-diagnostic": { borderTop: "1px solid var(--line)" },

  ".cm-tooltip": {
    background: "var(--panel)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "0 4px 16px rgb(0 0 0 / 18%)",
    overflow: "clip",
  },
  ".cm-tooltip-lint": { maxWidth: "min(36rem, calc(100vw - 2rem))" },
  ".cm-tooltip.cm-tooltip-autocomplete": { overflow: "visible" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--mono)",
    minWidth: "min(16rem, 80vw)",
    maxWidth: "min(34rem, calc(100vw - 4rem))",
    maxHeight: "14.5rem",
    borderRadius: "7px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.2rem 0.6rem", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--accent-text)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { fontStyle: "normal", marginLeft: "0", color: "var(--quiet)", whiteSpace: "pre" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-tooltip.cm-completionInfo": {
    padding: "0.5rem 0.75rem",
    maxWidth: "min(26rem, calc(100vw - 2rem))",
    fontFamily: "var(--sans)",
    fontSize: "0.9rem",
    overflowWrap: "anywhere",
    whiteSpace: "normal",
  },
  ".cm-completionInfo code": { display: "block", fontSize: "0.85rem" },
  ".cm-completionInfo p:last-child": { marginBottom: "0" },
  ".cm-completionInfo .quiet": { fontSize: "0.85rem" },
  ".cm-completionInfo.cm-completionInfo-right-narrow": { left: "0" },
  ".cm-snippetField": { background: selected },
  "@media (max-width: 36rem)": {
    ".cm-lineNumbers .cm-gutterElement": { minWidth: "1.6rem" },
    ".cm-gutter-lint": { width: "1.1rem" },
    ".cm-line": { padding: "0 0.4rem 0 0.2rem" },
  },
});
