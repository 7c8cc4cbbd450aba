// The script of the playground: the editor, findings while a person types, and runs without a reload.
import "./ui";
import { replaceTextarea } from "./playground/editor";
import { goTo, mark } from "./playground/findings";
import { PlaygroundForm } from "./playground/form";

const form = document.getElementById("playground");
const code = document.getElementById("code");
const checked = document.getElementById("checked");
if (form instanceof HTMLFormElement && code instanceof HTMLTextAreaElement && checked) {
  // A browser restores the text of a page that a person comes back to, and not the findings.
  const isRestored = code.value !== code.defaultValue;
  const view = replaceTextarea(code, () => playground.changed());
  const playground = new PlaygroundForm(form, view);
  playground.listen();
  if (isRestored) playground.changed();
  else mark(view, checked);
  // For a pointer; a keyboard has F8 in the editor.
  checked.addEventListener("click", (event) => {
    const finding = (event.target as Element).closest<HTMLElement>("[data-line]");
    if (!finding || getSelection()?.type === "Range") return;
    event.preventDefault();
    goTo(view, finding);
  });
}
