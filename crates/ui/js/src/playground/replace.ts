// Replacing a part of the page while a person uses it.

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLButtonElement;

/** The values of the controls of a form at some time. */
export type Values = ReadonlyMap<Control, string>;

const controlsOf = (part: Element) => [...part.querySelectorAll<Control>("input[name], select[name], textarea[name], button[name]")];

export function valuesOf(form: HTMLFormElement): Values {
  return new Map(controlsOf(form).map((control) => [control, valueOf(control)]));
}

/**
 * Replaces the content of a part by that of another page.
 *
 * What a person typed since the request was `sent` stays, and so does the field that has the focus. Returns `false`, and changes
 * nothing, if there is no such field in the other page.
 */
export function replaceContent(part: Element, by: Element, sent: Values): boolean {
  if (hasSameContent(part, by)) return true;
  const focused = document.activeElement;
  const isFocused = focused !== null && focused !== part && part.contains(focused);
  const [before, after] = [byKey(part), byKey(by)];
  const key = isFocused ? [...before].find(([, control]) => control === focused)?.[0] : undefined;
  const place = key === undefined ? undefined : after.get(key);
  if (key !== undefined && !place) return false;
  for (const [name, control] of after) {
    const typed = before.get(name);
    if (typed && valueOf(typed) !== sent.get(typed)) setValue(control, typed);
  }
  if (isFocused && place) replaceAround(part, by, focused, place);
  else part.replaceChildren(...by.childNodes);
  // A link or a summary that had the focus is gone: the next Tab goes on from here, and not from the top of the page.
  if (isFocused && !place && part instanceof HTMLElement) {
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  }
  return true;
}

/** Tells whether two parts ask for the same fields, whatever the fields hold. */
export function hasSameFields(one: Element, other: Element): boolean {
  return withoutValues(one).isEqualNode(withoutValues(other));
}

function hasSameContent(one: Element, other: Element): boolean {
  const [nodes, others] = [[...one.childNodes], [...other.childNodes]];
  return nodes.length === others.length && nodes.every((node, at) => node.isEqualNode(others[at] ?? null));
}

function withoutValues(part: Element): Node {
  const copy = part.cloneNode(true) as Element;
  for (const attribute of [...copy.attributes]) copy.removeAttribute(attribute.name);
  for (const control of copy.querySelectorAll("input, textarea, option")) {
    if (control.localName === "textarea") control.textContent = "";
    if (control.matches("input:not([type=radio], [type=checkbox])")) control.removeAttribute("value");
    control.removeAttribute("checked");
    control.removeAttribute("selected");
  }
  return copy;
}

/** Replaces the nodes around `kept`, which stays in the document: an element that is moved loses the focus. */
function replaceAround(part: Element, by: Element, kept: Element, place: Element): void {
  const [holder, newHolder] = [childAround(part, kept), childAround(by, place)];
  while (part.firstChild !== holder) part.firstChild?.remove();
  while (part.lastChild !== holder) part.lastChild?.remove();
  while (by.firstChild && by.firstChild !== newHolder) holder.before(by.firstChild);
  while (by.lastChild && by.lastChild !== newHolder) holder.after(by.lastChild);
  if (holder !== kept && newHolder !== place) replaceAround(holder, newHolder, kept, place);
}

function childAround(part: Element, inner: Element): Element {
  let at = inner;
  while (at.parentElement && at.parentElement !== part) at = at.parentElement;
  return at;
}

/** The controls of a part by their names; of some with the same name, by their order too. */
function byKey(part: Element): Map<string, Control> {
  const found = new Map<string, Control>();
  for (const control of controlsOf(part)) {
    const isChoice = control instanceof HTMLButtonElement || ["radio", "checkbox"].includes(control.type);
    const key = JSON.stringify([control.name, isChoice ? control.value : ""]);
    let count = 0;
    while (found.has(key + count)) count += 1;
    found.set(key + count, control);
  }
  return found;
}

const isChecked = (control: Control): control is HTMLInputElement =>
  control instanceof HTMLInputElement && (control.type === "checkbox" || control.type === "radio");

const valueOf = (control: Control) => (isChecked(control) ? String(control.checked) : control.value);

function setValue(control: Control, typed: Control): void {
  // A hidden field and the value of a button are the server's.
  if (control.type === "hidden" || control instanceof HTMLButtonElement) return;
  if (isChecked(control)) control.checked = isChecked(typed) && typed.checked;
  else if (!(control instanceof HTMLSelectElement) || hasOption(control, typed.value)) control.value = typed.value;
}

const hasOption = (select: HTMLSelectElement, value: string) => [...select.options].some((option) => option.value === value);
