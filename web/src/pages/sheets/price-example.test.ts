import { describe, expect, it } from "vitest";
import { examplePrice, readPrice } from "./price-example";

describe("an example of a price", () => {
  it("is read by the mark", () => {
    expect([readPrice("1.234,50 €", ","), readPrice("1,234.50", "."), readPrice("EUR 12", ",")]).toEqual([
      "1234.50",
      "1234.50",
      "12.00",
    ]);
    expect([readPrice("12,50", "."), readPrice("1.2.3", "."), readPrice("free", ".")]).toEqual([
      "1250.00",
      undefined,
      undefined,
    ]);
  });

  it("has a mark, if any of the values has one", () => {
    expect(examplePrice(["", "free", "12", "9,99"])).toBe("9,99");
    expect(examplePrice(["free"])).toBeUndefined();
  });
});
