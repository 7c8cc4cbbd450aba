/** Pads a text at the start with a fill character until it has `width` characters (code points); longer texts stay as they are. */
function execute({ text, width, fill }: { text: string; width: number; fill: string }): string {
  if (!Number.isInteger(width) || width < 0 || width > 100000) throw new Error(`width is ${width}; expected a whole number from 0 to 100000`);
  if ([...fill].length !== 1) throw new Error(`fill is "${fill}"; expected exactly one character`);
  const padding = fill.repeat(Math.max(0, width - [...text].length));
  return padding + text;
}
