import { Store } from "./store";

/** The page of each kind of things that can be found, by its id. Folders of pages export theirs. */
export type Things = Readonly<Record<string, (id: string) => string>>;

export const things = new Store<Things>({});
