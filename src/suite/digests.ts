import type { ScenarioDigests } from '../api/suite-index.ts';
import { canonicalJson, sha256 } from '../files/digest.ts';

/** Digest of a scenario: its public, hidden and scripted files and its checker's bundle. */
export function scenarioDigest(digests: ScenarioDigests): string {
  return sha256(canonicalJson(digests));
}

/** Digest of a frozen suite: the scenarios in it, whatever order or selector brought them there. */
export function suiteDigest(
  format: string,
  scenarios: readonly { readonly id: string; readonly digest: string }[],
): string {
  const pairs = scenarios
    .map(({ id, digest }) => [id, digest] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return sha256(canonicalJson({ format, scenarios: pairs }));
}

/** Canonical JSON (sorted keys), indented for people, with a final newline. */
export function prettyCanonicalJson(value: unknown): string {
  return `${JSON.stringify(JSON.parse(canonicalJson(value)), null, 2)}\n`;
}
