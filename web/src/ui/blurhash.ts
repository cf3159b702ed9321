/** Colours of a picture before it is loaded: https://blurha.sh. */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";

function number(text: string): number {
  let value = 0;
  for (const digit of text) value = value * 83 + DIGITS.indexOf(digit);
  return value;
}

function linear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function encoded(value: number): number {
  const share = Math.max(0, Math.min(1, value));
  return Math.round((share <= 0.0031308 ? share * 12.92 : 1.055 * share ** (1 / 2.4) - 0.055) * 255);
}

/** The pixels, red, green, blue and opacity one after the other; undefined: it is no blurhash. */
export function decode(hash: string, width: number, height: number): Uint8ClampedArray<ArrayBuffer> | undefined {
  const columns = (number(hash[0] ?? "") % 9) + 1;
  const rows = Math.floor(number(hash[0] ?? "") / 9) + 1;
  const isWrong = [...hash].some((digit) => !DIGITS.includes(digit));
  if (isWrong || hash.length !== 4 + 2 * columns * rows) return undefined;
  const colours = coefficients(hash, columns * rows);
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sum = [0, 0, 0];
      colours.forEach((colour, n) => {
        const wave =
          Math.cos((Math.PI * x * (n % columns)) / width) * Math.cos((Math.PI * y * Math.floor(n / columns)) / height);
        for (let part = 0; part < 3; part++) sum[part]! += colour[part]! * wave;
      });
      pixels.set([...sum.map(encoded), 255], 4 * (y * width + x));
    }
  }
  return pixels;
}

function coefficients(hash: string, count: number): number[][] {
  const most = (number(hash[1]!) + 1) / 166;
  const mean = number(hash.slice(2, 6));
  const signed = (value: number) => Math.sign(value - 9) * ((value - 9) / 9) ** 2 * most;
  const first = [mean >> 16, (mean >> 8) & 255, mean & 255].map(linear);
  const others = Array.from({ length: count - 1 }, (_, n) => {
    const value = number(hash.slice(6 + 2 * n, 8 + 2 * n));
    return [Math.floor(value / 361), Math.floor(value / 19) % 19, value % 19].map(signed);
  });
  return [first, ...others];
}
