import type { LintSubject } from './subject.ts';

export const FINDING_SEVERITIES = ['error', 'warning'] as const;
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number];

/** One thing that lint found. `clawbench scenarios lint -o json` prints a list of these. */
export interface Finding {
  /** null: of the suite as a whole. */
  readonly scenarioId: string | null;
  /** Relative to the suite's root. */
  readonly file: string;
  /** 1-based; null where a file has no lines. */
  readonly line: number | null;
  /** Dotted path; null where no one field is at fault. */
  readonly field: string | null;
  readonly rule: string;
  /** An error makes a scenario unusable or its score wrong; a warning is worth a look. */
  readonly severity: FindingSeverity;
  readonly message: string;
  readonly remedy: string;
}

/** What a rule says; the place in the scenario's file makes file, line and field. */
export interface RuleFinding {
  readonly place: readonly (string | number)[];
  readonly severity: FindingSeverity;
  readonly message: string;
  readonly remedy: string;
}

/** One rule, in a module of its own. It reads nothing but the subject, so that a test can make one up. */
export interface Rule {
  /** As docs/reference/lint.md lists it. */
  readonly name: string;
  readonly check: (subject: LintSubject) => readonly RuleFinding[];
}

export function error(place: readonly (string | number)[], message: string, remedy: string): RuleFinding {
  return { place, severity: 'error', message, remedy };
}

export function warning(place: readonly (string | number)[], message: string, remedy: string): RuleFinding {
  return { place, severity: 'warning', message, remedy };
}
