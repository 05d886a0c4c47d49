import { HARNESS_REPORT_VERSION, harnessReportSchema, type HarnessReport } from '../../api/harness-report.ts';
import type { PodFacts } from './pod-facts.ts';

/** What a harness's termination message came to. Without a report, `why` says what was wrong with it. */
export type ReadReport = { readonly report: HarnessReport } | { readonly report: null; readonly why: string };

/**
 * Reads the termination message of an ended harness. A message that is missing, cut off, of another version or of
 * another attempt is no report: the attempt is then judged by its pod alone.
 */
export function readHarnessReport(
  trial: string,
  pod: Pick<PodFacts, 'uid' | 'attempt' | 'harness'>,
): ReadReport {
  const { harness } = pod;
  if (harness.state !== 'terminated') return { report: null, why: 'the harness has not ended' };
  if (harness.message === '') return { report: null, why: 'the harness left no termination message' };
  let value: unknown;
  try {
    value = JSON.parse(harness.message);
  } catch {
    return { report: null, why: 'the termination message of the harness is cut off or no JSON' };
  }
  const version = versionOf(value);
  if (version !== HARNESS_REPORT_VERSION) {
    return { report: null, why: `the harness reports in version ${version}, not ${HARNESS_REPORT_VERSION}` };
  }
  const parsed = harnessReportSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return {
      report: null,
      why: `the termination message of the harness is wrong at ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`,
    };
  }
  const report = parsed.data;
  if (report.trial !== trial || report.attempt !== pod.attempt || report.podUID !== pod.uid) {
    return {
      report: null,
      why: `the termination message is of ${report.trial} attempt ${report.attempt} in pod ${report.podUID}`,
    };
  }
  return { report };
}

function versionOf(value: unknown): string | number {
  if (typeof value !== 'object' || value === null || !('v' in value)) return 'unknown';
  return typeof value.v === 'number' ? value.v : 'unknown';
}
