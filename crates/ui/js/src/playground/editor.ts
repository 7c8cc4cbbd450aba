// The editor of the code, in the place of a `textarea`.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import {
  history,
  historyKeymap,
  indentWithTab,
  moveLineDown,
  moveLineUp,
  standardKeymap,
  toggleComment,
  toggleTabFocusMode,
} from "@codemirror/commands";
import { localCompletionSource, typescriptLanguage } from "@codemirror/lang-javascript";
import { bidiIsolates, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, tooltips } from "@codemirror/view";
import { completeDeclared } from "./completion";
import { Declarations } from "./declarations";
import { showInvisible } from "./invisible";
import { highlightStyle, theme, useConstructedSheet } from "./styles";

/** Shows an editor in the place of a `textarea`, which stays in its form and holds the same text. */
export function replaceTextarea(textarea: HTMLTextAreaElement, changed: () => void): EditorView {
  useConstructedSheet();
  const load = once(async () => {
    const answer = await fetch(new URL(textarea.dataset.declarations ?? "", document.baseURI));
    if (!answer.ok) throw new Error(answer.statusText);
    return new Declarations(await answer.text());
  });
  const host = document.createElement("div");
  host.className = "editor";
  textarea.after(host);
  const view = new EditorView({
    parent: host,
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        lineNumbers(),
        lintGutter(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        showInvisible(),
        history(),
        // A long line wraps: code that stands far to the right is seen.
        EditorView.lineWrapping,
        bidiIsolates(),
        typescriptLanguage,
        typescriptLanguage.data.of({ autocomplete: localCompletionSource }),
        syntaxHighlighting(highlightStyle),
        bracketMatching(),
        closeBrackets(),
        indentOnInput(),
        indentUnit.of("  "),
        EditorState.tabSize.of(2),
        autocompletion({ icons: false }),
        tooltips({ tooltipSpace }),
        typescriptLanguage.data.of({ autocomplete: completeDeclared(load) }),
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          { key: "Tab", run: acceptCompletion },
          // Tab indents; Escape and then Tab, or Ctrl-m, leaves the editor (WCAG 2.2, 2.1.2).
          indentWithTab,
          { key: "Ctrl-m", mac: "Shift-Alt-m", run: toggleTabFocusMode },
          { key: "F8", run: nextDiagnostic },
          { key: "Shift-F8", run: previousDiagnostic },
          ...historyKeymap,
          { key: "Mod-/", run: toggleComment },
          { key: "Alt-ArrowUp", run: moveLineUp },
          { key: "Alt-ArrowDown", run: moveLineDown },
          ...standardKeymap,
        ]),
        EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        EditorView.contentAttributes.of(describeBy(textarea, host)),
        EditorView.domEventHandlers({ focus: () => void load() }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          textarea.value = update.state.sliceDoc();
          changed();
        }),
        theme,
      ],
    }),
  });
  view.dispatch(setDiagnostics(view.state, []));
  textarea.hidden = true;
  for (const label of textarea.labels) {
    label.removeAttribute("for");
    label.addEventListener("click", () => view.focus());
  }
  // A browser may fill in the text of a page that a person comes back to after this script ran.
  addEventListener("pageshow", () => {
    const { doc } = view.state;
    if (textarea.value !== doc.toString()) view.dispatch({ changes: { from: 0, to: doc.length, insert: textarea.value } });
  });
  return view;
}

/** Names and describes the editor by the label and the help text of the `textarea`. */
function describeBy(textarea: HTMLTextAreaElement, host: HTMLElement): Record<string, string> {
  const attributes: Record<string, string> = {};
  const label = textarea.labels[0];
  if (label) attributes["aria-labelledby"] = label.id ||= `${textarea.id}-label`;
  if (textarea.dataset.help) {
    const help = document.createElement("p");
    help.className = "hint";
    help.id = attributes["aria-describedby"] = `${textarea.id}-help`;
    help.textContent = textarea.dataset.help;
    host.after(help);
  }
  return attributes;
}

/** Where tooltips may be: not at the very edge of a narrow window. */
function tooltipSpace(): { top: number; left: number; bottom: number; right: number } {
  const { clientWidth, clientHeight } = document.documentElement;
  return { top: 0, left: 8, bottom: clientHeight, right: clientWidth - 8 };
}

/** Calls a function at the first use only, and again after it failed. */
function once<T>(call: () => Promise<T>): () => Promise<T | undefined> {
  let result: Promise<T | undefined> | undefined;
  return () =>
    (result ??= call().catch(() => {
      result = undefined;
      return undefined;
    }));
}

/**
 * Replaces selected code by what is typed. Left to itself, Chromium puts the text into an element with a style attribute, which the
 * content security policy reports.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { from, to, empty } = view.state.selection.main;
  const text = event.data;
  if (empty || !text || event.inputType !== "insertText" || event.isComposing || view.state.selection.ranges.length > 1) return false;
  event.preventDefault();
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert));
  if (!isHandled) view.dispatch(insert());
  return true;
}
