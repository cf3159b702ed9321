interface Policy {
  createScriptURL: (url: string) => string;
}

interface TrustedTypes {
  createPolicy: (name: string, rules: Policy) => Policy;
}

let policy: Policy | undefined;

/** The address of a script of this app, as the policy of the server wants it. */
export function scriptUrl(url: string): string {
  const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  policy ??= trusted?.createPolicy("forebay", { createScriptURL: (given) => given });
  return policy?.createScriptURL(url) ?? url;
}
