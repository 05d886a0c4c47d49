import { InvalidInputError } from '../api/errors.ts';
import { attemptLayout, type SuiteLayout } from '../api/run-layout.ts';
import type { ScoreRecord, ScoringError, TrialScore } from '../api/score.ts';
import type { SuiteIndexEntry } from '../api/suite-index.ts';
import { verifyManifest } from '../artifacts/manifest.ts';
import { traceOfAttempt } from '../artifacts/transcript.ts';
import { readHiddenScenario } from '../suite/frozen.ts';
import type { CheckerHost } from './checkers/checker-host.ts';
import { scoreTrial } from './score-trial.ts';
import { SCORER_VERSION } from './version.ts';

/** An executed trial as grading needs to know it. */
export interface ExecutedTrial {
  readonly trial: string;
  readonly trialNumber: number;
  /** Attempt that stands for the trial, and its directory. */
  readonly attempt: number;
  readonly attemptDir: string;
  readonly execution: ScoreRecord['execution'];
  readonly class: ScoreRecord['class'];
  /** Manifest digest as it was recorded when the attempt ended; null where nothing was collected. */
  readonly artifactDigest: string | null;
  /** Revision of `spec.scoring` that asks for the score. */
  readonly revision: number;
  /** Seconds that its grading may take. */
  readonly seconds: number;
}

/** What a trial is graded by. */
export interface GradingSuite {
  readonly layout: SuiteLayout;
  readonly entry: SuiteIndexEntry;
}

type Grade =
  | { readonly score: TrialScore; readonly error?: never }
  | { readonly error: ScoringError; readonly score?: never };

/**
 * Grades an executed trial from what is stored of it. Artifacts that are not those that were recorded are a scoring
 * error, never a zero.
 *
 * What the agent did not cause has no score: neither a zero nor a partial one. Neither has an agent of which
 * nothing could be kept (it was evicted for its own disk limit, say): its failure stands as its own.
 *
 * @throws WorkerTaskError when the host is overloaded or closed, or on abort; system errors
 */
export async function gradeStoredTrial(
  trial: ExecutedTrial,
  suite: GradingSuite,
  checkers: CheckerHost,
  world: { readonly now: () => Date; readonly signal?: AbortSignal | undefined },
): Promise<ScoreRecord> {
  const { entry } = suite;
  const gradable = trial.class === null || (trial.class === 'agent' && trial.artifactDigest !== null);
  const graded = gradable ? await grade(trial, suite, checkers, world.signal) : null;
  const score = graded?.score ?? null;
  const error = graded?.error ?? null;
  return {
    schema_version: 1,
    trial: trial.trial,
    scenarioId: entry.id,
    dimension: entry.dimension,
    trialNumber: trial.trialNumber,
    attempt: trial.attempt,
    revision: trial.revision,
    execution: trial.execution,
    class: error === null ? trial.class : 'scoring',
    outcome: score?.outcome ?? 'execution_failure',
    score,
    error,
    artifactDigest: trial.artifactDigest,
    scenarioDigest: entry.digest,
    checkerDigest: entry.checkerDigest,
    scorerVersion: SCORER_VERSION,
    scoredAt: world.now().toISOString(),
  };
}

async function grade(
  trial: ExecutedTrial,
  { layout, entry }: GradingSuite,
  checkers: CheckerHost,
  signal: AbortSignal | undefined,
): Promise<Grade> {
  const files = attemptLayout(trial.attemptDir);
  const [broken] = await verifyManifest(files.root, trial.artifactDigest);
  if (broken !== undefined)
    return { error: { reason: 'ArtifactsCorrupt', message: `${broken.path}: ${broken.message}` } };
  try {
    const trace = await traceOfAttempt(files.root, { trial: trial.trial, attempt: trial.attempt });
    return await scoreTrial(
      {
        hidden: await readHiddenScenario(layout, entry.id),
        layout,
        workspaceDir: files.workspace,
        trace,
        execution: trial.execution,
        limits: { seconds: trial.seconds },
        signal,
      },
      checkers,
    );
  } catch (error) {
    if (error instanceof InvalidInputError)
      return { error: { reason: 'ArtifactsCorrupt', message: error.message } };
    throw error;
  }
}
