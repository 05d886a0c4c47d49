import type { Provenance } from '../../api/report.ts';
import { canonicalJson } from '../../files/digest.ts';

/** One field in which two configurations differ. */
export interface ConfigurationDifference {
  /** Dotted path, e.g. `spec.runtime.id` or `provenance.model.identity`. */
  readonly field: string;
  /** As JSON; null where the field is absent. */
  readonly first: string | null;
  readonly second: string | null;
}

/** Provenance groups that describe a configuration; the others tell what happened in a run. */
const CONFIGURATION_GROUPS = ['model', 'runtime', 'slice', 'sampling', 'policy'] as const;

/** Fields of those groups that differ between any two runs, or that say what happened. */
const NOT_CONFIGURATION = new Set(['model.access_date', 'sampling.live_retries', 'slice.row_slice']);

/** Long maps by scenario: their differences are counted, not listed. */
const BY_SCENARIO = ['slice.scenario_sha256', 'slice.workspace_sha256', 'slice.checker_sha256'];

/**
 * What differs between the configurations of two runs: specification and provenance. Values that differ in the
 * specification and stand in provenance too are listed twice, because they need not agree.
 */
export function configurationDifferences(
  first: { readonly spec: Readonly<Record<string, unknown>>; readonly provenance: Provenance },
  second: { readonly spec: Readonly<Record<string, unknown>>; readonly provenance: Provenance },
): ConfigurationDifference[] {
  return [
    ...differences(first.spec, second.spec, 'spec'),
    ...CONFIGURATION_GROUPS.flatMap((group) =>
      differences(first.provenance[group], second.provenance[group], `provenance.${group}`),
    ),
  ].filter(({ field }) => !NOT_CONFIGURATION.has(field.replace(/^provenance\./, '')));
}

function differences(first: unknown, second: unknown, field: string): ConfigurationDifference[] {
  if (isMap(first) && isMap(second)) {
    const keys = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort();
    const nested = keys.flatMap((key) => differences(first[key], second[key], `${field}.${key}`));
    if (!BY_SCENARIO.some((one) => field === `provenance.${one}`)) return nested;
    if (nested.length === 0) return [];
    return [
      { field, first: `${nested.length} scenarios differ`, second: `${nested.length} scenarios differ` },
    ];
  }
  if (first === second || canonicalJson(first ?? null) === canonicalJson(second ?? null)) return [];
  return [{ field, first: asJson(first), second: asJson(second) }];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asJson(value: unknown): string | null {
  return value === undefined ? null : canonicalJson(value);
}
