/** How a price of the file is read with a decimal mark: "1.234,50" with "," is "1234.50"; undefined: not at all. */
export function readPrice(text: string, mark: "." | ","): string | undefined {
  const digits = /[\d][\d.,'’\s]*/.exec(text)?.[0].trim();
  if (!digits) return undefined;
  const other = mark === "." ? "," : ".";
  const plain = digits
    .replace(/['’\s]/g, "")
    .replaceAll(other, "")
    .replace(/[.,]$/, "");
  if (plain.split(mark).length > 2) return undefined;
  const value = Number(plain.replace(mark, "."));
  return Number.isNaN(value) ? undefined : value.toFixed(2);
}

/** The value that shows best what the mark does: one with a mark in it. */
export function examplePrice(values: string[]): string | undefined {
  return values.find((value) => /\d[.,]\d/.test(value)) ?? values.find((value) => /\d/.test(value));
}
