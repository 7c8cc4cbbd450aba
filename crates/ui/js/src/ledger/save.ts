// Plots as files: an SVG that looks the same outside of the page.
import { element, POINTER } from "./drawing";

/** The space around a plot in a file, in pixels. */
const PADDING = 16;

/** Saves a plot as an SVG file. */
export function save(svg: SVGSVGElement, title: string, name: string): void {
  const url = URL.createObjectURL(new Blob([standalone(svg, title)], { type: "image/svg+xml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}.svg`;
  link.click();
  // A browser reads the file after this function returns.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function standalone(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  for (const shown of copy.querySelectorAll(`.${POINTER}`)) shown.remove();
  // Links to pages of this server lead nowhere from a file.
  for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  const styles = getComputedStyle(svg);
  // Most viewers and editors of SVG do not know custom properties.
  const resolve = (value: string) => value.replace(/var\((--[\w-]+)\)/g, (_, variable) => styles.getPropertyValue(variable).trim());
  for (const part of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name, value } of [...part.attributes]) {
      if (name === "class" || name.startsWith("aria-")) part.removeAttribute(name);
      else if (value.includes("var(")) part.setAttribute(name, resolve(value));
    }
  }
  copy.setAttribute("role", "img");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.setAttribute("color", styles.color);
  const { width, height } = svg.viewBox.baseVal;
  const size = { width: width + 2 * PADDING, height: height + 2 * PADDING };
  copy.setAttribute("width", `${size.width}`);
  copy.setAttribute("height", `${size.height}`);
  copy.setAttribute("viewBox", `${-PADDING} ${-PADDING} ${size.width} ${size.height}`);
  const heading = element("title");
  heading.textContent = title;
  copy.prepend(heading, element("rect", { x: -PADDING, y: -PADDING, ...size, fill: resolve("var(--panel)") }));
  return new XMLSerializer().serializeToString(copy).replace(NOT_XML, "\u{fffd}");
}

/** Characters that XML 1.0 does not allow (section 2.2). A serializer keeps them, and a parser then refuses the file. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
