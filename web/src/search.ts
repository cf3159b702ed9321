/** Search parameters of a page: each is a function that reads what the URL has, and drops what it does not understand. */

type Read<T> = (value: unknown) => T | undefined;

/** `search({ q: text, state: oneOf("RUNNING", "DONE") })`: for validateSearch of a route; all fields are optional. */
export function search<T extends Record<string, Read<unknown>>>(fields: T) {
  return (raw: Record<string, unknown>): { [K in keyof T]?: Exclude<ReturnType<T[K]>, undefined> } => {
    const found: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(fields)) {
      const value = read(raw[name]);
      if (value !== undefined) found[name] = value;
    }
    return found as { [K in keyof T]?: Exclude<ReturnType<T[K]>, undefined> };
  };
}

export const text: Read<string> = (value) =>
  typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined;

/** Also the empty text, where it says that there is none. */
export const textOrEmpty: Read<string> = (value) => (value === "" ? "" : text(value));

export const whole: Read<number> = (value) =>
  Number.isSafeInteger(Number(value)) && value !== "" && value !== null && value !== undefined
    ? Number(value)
    : undefined;

export const flag: Read<boolean> = (value) => (value === true || value === "true" || value === 1 ? true : undefined);

export function oneOf<const K extends string>(...values: K[]): Read<K> {
  return (value) => values.find((each) => each === value);
}

/** Several values, as for chips of a filter. */
export function someOf<const K extends string>(...values: K[]): Read<K[]> {
  return (value) => {
    const given: unknown[] = Array.isArray(value) ? value : [value];
    const found = values.filter((each) => given.includes(each));
    return found.length > 0 ? found : undefined;
  };
}

export const texts: Read<string[]> = (value) => {
  const given: unknown[] = Array.isArray(value) ? value : [value];
  const found = given.map(text).filter((each) => each !== undefined);
  return found.length > 0 ? found : undefined;
};
