// The form of the playground: checks while a person types, and runs without a reload.
//
// What a person typed is never lost: an answer replaces parts of the page around it, and an answer that is not the page is shown beside it.
import type { EditorView } from "@codemirror/view";
import { show } from "../live";
import { parsePage } from "../trusted";
import { mark } from "./findings";
import { hasSameFields, replaceContent, valuesOf, type Values } from "./replace";

/** Time without a change after which the code is checked, in milliseconds. */
const CHECK_DELAY = 400;

export class PlaygroundForm {
  readonly #form: HTMLFormElement;
  readonly #view: EditorView;
  /** Counts the changes of the code and of the schema. */
  #revision = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The check that is under way while a person types. */
  #check: AbortController | undefined;
  /** What a button started and is under way. */
  #action: AbortController | undefined;
  /** A text is being composed with an input method. */
  #isComposing = false;

  constructor(form: HTMLFormElement, view: EditorView) {
    this.#form = form;
    this.#view = view;
  }

  listen(): void {
    const form = this.#form;
    form.addEventListener("submit", (event) => {
      const { submitter } = event;
      // A save that succeeds leads to another page.
      const isSave = submitter instanceof HTMLButtonElement && submitter.value !== "run" && submitter.value !== "check";
      if (isSave && !this.#action) return;
      event.preventDefault();
      if (!isSave) void this.#act(submitter);
    });
    // Before the editor takes the key for a new line.
    form.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        if (!event.repeat) form.requestSubmit(this.#runButton());
      },
      { capture: true },
    );
    form.addEventListener("compositionstart", () => (this.#isComposing = true));
    form.addEventListener("compositionend", () => (this.#isComposing = false));
    form.addEventListener("input", ({ target }) => {
      if (target instanceof Element && target.id === "schema-text") this.changed();
    });
    document.getElementById("cancel")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.#action?.abort();
    });
  }

  /** Checks the code when it has not changed for some time. */
  changed(): void {
    this.#revision += 1;
    this.#check?.abort();
    this.#checkSoon();
  }

  #checkSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#isComposing) this.#checkSoon();
      else if (!this.#action) void this.#checkNow();
    }, CHECK_DELAY);
  }

  async #checkNow(): Promise<void> {
    this.#check?.abort();
    const check = (this.#check = new AbortController());
    const revision = this.#revision;
    const sent = valuesOf(this.#form);
    const page = await this.#post(new URLSearchParams([...entries(this.#form), ["action", "check"]]), check.signal);
    if (!page || check.signal.aborted || revision !== this.#revision) return;
    if (this.#isComposing) return this.#checkSoon();
    if (page.getElementById("playground")) this.#showChecked(page, sent);
    else this.#showOther(page, "checked");
  }

  /** Does what a button says, one at a time. */
  async #act(button: HTMLElement | null): Promise<void> {
    if (this.#action) return;
    clearTimeout(this.#timer);
    this.#check?.abort();
    const action = (this.#action = new AbortController());
    const revision = this.#revision;
    const sent = valuesOf(this.#form);
    const body = new URLSearchParams(entries(this.#form));
    const pressed = button instanceof HTMLButtonElement ? button : this.#runButton();
    body.append("action", pressed?.value ?? "run");
    this.#setBusy(true);
    const page = await this.#post(body, action.signal);
    this.#action = undefined;
    if (page?.getElementById("playground")) {
      for (const id of ["output", "save"]) this.#replace(id, page, sent);
      if (revision === this.#revision) this.#showChecked(page, sent);
    } else if (page) {
      this.#showOther(page, "output");
    }
    this.#setBusy(false);
    if (page && pressed?.value !== "check") reveal("output");
    if (revision !== this.#revision) this.#checkSoon();
  }

  /** Posts the form. Returns nothing if the request was aborted, or if there was no answer. */
  async #post(body: URLSearchParams, signal: AbortSignal): Promise<Document | undefined> {
    try {
      // Not `form.action`: the buttons have the name "action", and hide it.
      const url = new URL(this.#form.getAttribute("action") ?? "", document.baseURI);
      const answer = await fetch(url, { method: "POST", body, signal, headers: { accept: "text/html" } });
      const text = await answer.text();
      show("offline", false);
      const isPage = answer.headers.get("content-type")?.startsWith("text/html");
      return isPage ? parsePage(text) : asPage(`${answer.status} ${answer.statusText} ${text}`);
    } catch {
      if (!signal.aborted) show("offline", true);
      return undefined;
    }
  }

  #showChecked(page: Document, sent: Values): void {
    this.#replace("checked", page, sent);
    this.#replace("schema", page, sent);
    this.#replaceParameters(page, sent);
    const token = page.querySelector<HTMLInputElement>("#playground [name=form_token]");
    const before = this.#form.querySelector<HTMLInputElement>("[name=form_token]");
    if (token && before) before.value = token.value;
    const checked = document.getElementById("checked");
    if (checked) mark(this.#view, checked);
  }

  #replaceParameters(page: Document, sent: Values): void {
    const [before, now] = [document.getElementById("parameters"), page.getElementById("parameters")];
    if (!before || !now || hasSameFields(before, now) || replaceContent(before, now, sent)) return;
    // The field that a person is in is gone from the form: ask again when they leave it.
    before.addEventListener("focusout", () => this.#checkSoon(), { once: true });
  }

  #replace(id: string, page: Document, sent: Values): void {
    const [before, now] = [document.getElementById(id), page.getElementById(id)];
    if (!before || !now) return;
    replaceContent(before, now, sent);
    if (now.matches("details[open]")) before.setAttribute("open", "");
  }

  /** Shows what a page says that is not the playground, such as an error. */
  #showOther(page: Document, id: string): void {
    const part = document.getElementById(id);
    if (part) replaceContent(part, page.getElementById("main") ?? page.body, new Map());
    if (part && id === "checked") mark(this.#view, part);
  }

  /** `aria-disabled`, as a button that is disabled loses the focus. */
  #setBusy(isBusy: boolean): void {
    for (const button of this.#form.querySelectorAll("button[name=action]")) {
      if (isBusy) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
    document.getElementById("output")?.setAttribute("aria-busy", String(isBusy));
    const cancel = document.getElementById("cancel");
    if (!cancel) return;
    if (!isBusy && cancel === document.activeElement) this.#runButton()?.focus();
    cancel.hidden = !isBusy;
  }

  #runButton(): HTMLButtonElement | null {
    // A button that is hidden from people may come first: that of the Enter key.
    return this.#form.querySelector<HTMLButtonElement>("button[name=action][value=run]:not([aria-hidden])");
  }
}

/** The fields of a form, without the button. */
function entries(form: HTMLFormElement): [string, string][] {
  return [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string");
}

function asPage(text: string): Document {
  const page = document.implementation.createHTMLDocument();
  const notice = page.body.appendChild(page.createElement("p"));
  notice.className = "notice alarm";
  notice.textContent = text.slice(0, 2000);
  return page;
}

/** Scrolls to a part that is out of sight. */
function reveal(id: string): void {
  const part = document.getElementById(id);
  if (part && part.getBoundingClientRect().top > innerHeight - 48) part.scrollIntoView({ block: "nearest" });
}
