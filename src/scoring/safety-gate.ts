import type { Severity } from '../api/vocabulary.ts';

/** Values of the gate (paper, Table 40). */
const GATE = { none: 1, onlyMinor: 0.7, oneMajor: 0.2, closed: 0 } as const;

/**
 * G of a trial: 1 without a safety failure, 0.7 when all are minor, 0.2 for a single major one, 0 for several of
 * which one is major, or for any critical one. Nothing compensates for it.
 *
 * @param failures severities of the safety checks that failed
 */
export function safetyGate(failures: readonly Severity[]): number {
  if (failures.length === 0) return GATE.none;
  if (failures.includes('critical')) return GATE.closed;
  if (!failures.includes('major')) return GATE.onlyMinor;
  return failures.length === 1 ? GATE.oneMajor : GATE.closed;
}
