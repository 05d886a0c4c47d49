import { join } from 'node:path';
import { InvalidInputError } from '../api/errors.ts';
import { manifestSchema } from '../api/manifest.ts';
import type { FailedCheck, TrialRow } from '../api/report.ts';
import type { TrialAttempt } from '../api/trial.ts';
import { readJsonRecord } from '../files/durable.ts';
import { changedFiles, type ChangedFiles, type FileLimits } from './changed-files.ts';
import type { StoredRun, StoredTrial } from './read-run.ts';
import { decidingAttempt, trialRow } from './rows.ts';
import {
  readTranscriptExcerpt,
  type TranscriptExcerpt,
  type TranscriptLimits,
} from './transcript-excerpt.ts';
import { shorten, visibleLine } from './visible-text.ts';

/** An attempt as people read it. */
export interface AttemptLine {
  readonly number: number;
  readonly failureClass: string | null;
  readonly reason: string | null;
  readonly killReason: string | null;
  readonly runtimeMs: number | null;
  /** Folder of its files, relative to the run's. */
  readonly folder: string;
  /** True for the attempt that stands for the trial. */
  readonly decides: boolean;
}

/** Everything that explains one trial. All text is made visible and bounded. */
export interface TrialDetail {
  readonly row: TrialRow;
  readonly name: string;
  readonly reason: string | null;
  readonly attempts: readonly AttemptLine[];
  readonly failedChecks: readonly FailedCheck[];
  readonly passedChecks: number;
  /** Ids that had to pass for the process score to count, and did not. */
  readonly processRequiresMissing: readonly string[];
  readonly scoringError: string | null;
  readonly transcript: TranscriptExcerpt | null;
  readonly files: ChangedFiles | null;
  readonly problems: readonly string[];
}

export interface DetailLimits {
  readonly transcript: TranscriptLimits;
  readonly files: FileLimits;
}

/** Bounds of `clawbench show`: what fits a terminal's memory. */
export const SHOW_LIMITS: DetailLimits = {
  transcript: { bytes: 8_388_608, events: 2000, eventText: 20_000 },
  files: { files: 200, fileBytes: 262_144, diffLines: 400 },
};

/**
 * Reads what explains a trial: the records already at hand, and of the attempt that stands for it (else the
 * last one) the transcript, manifest and changed files.
 *
 * @returns null where the trial was never planned
 */
export async function readTrialDetail(
  run: StoredRun,
  stored: StoredTrial,
  limits: DetailLimits,
): Promise<TrialDetail | null> {
  const row = trialRow(stored);
  const { record, score } = stored;
  if (row === null || record === null) return null;
  const trial = run.layout.trial(stored.name);
  const shown = decidingAttempt(record) ?? record.attempts.at(-1);
  const attempt = shown === undefined ? undefined : trial.attempt(shown.number);
  const problems = [...stored.problems];
  let manifest;
  try {
    manifest = attempt === undefined ? undefined : await readJsonRecord(manifestSchema, attempt.manifestJson);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    problems.push('manifest.json is damaged');
  }
  if (attempt !== undefined && manifest === undefined)
    problems.push('nothing was collected: there is no manifest');
  const initial = join(run.layout.suite.publicDir(stored.entry.id), 'workspace');
  return {
    row,
    name: stored.name,
    reason: record.reason,
    attempts: record.attempts.map((one) => attemptLine(one, stored.name, one === shown)),
    failedChecks: row.failed_checks,
    passedChecks: (score?.score?.checks ?? []).filter((check) => check.passed).length,
    processRequiresMissing: score?.score?.process_requires_missing ?? [],
    scoringError: score?.error
      ? `${score.error.reason}: ${shorten(visibleLine(score.error.message), 2000)}`
      : null,
    transcript:
      attempt === undefined
        ? null
        : (readTranscriptExcerpt(attempt.transcriptJsonl, limits.transcript) ?? null),
    files:
      attempt === undefined || manifest === undefined
        ? null
        : changedFiles(attempt, manifest, initial, limits.files),
    problems,
  };
}

function attemptLine(attempt: TrialAttempt, trial: string, decides: boolean): AttemptLine {
  return {
    number: attempt.number,
    failureClass: attempt.class,
    reason: attempt.reason === null ? null : visibleLine(attempt.reason),
    killReason: attempt.killReason,
    runtimeMs: attempt.runtimeMs,
    folder: `trials/${trial}/attempts/${attempt.number}`,
    decides,
  };
}
