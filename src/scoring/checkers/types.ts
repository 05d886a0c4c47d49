import type { HiddenScenario } from '../../api/scenario.ts';
import type { ScoringError } from '../../api/score.ts';
import type { Trace } from '../../api/trace.ts';
import type { CustomGrade } from '../custom-grade.ts';

export type Checker = NonNullable<HiddenScenario['checker']>;

/** What one grading may use. */
export interface CheckerLimits {
  /** Wall time; CPU time is bounded by the same number. */
  readonly seconds: number;
  /** Memory of all the checker's processes together. */
  readonly memoryBytes: number;
  /** What the checker may print. */
  readonly outputBytes: number;
}

export const DEFAULT_CHECKER_LIMITS: CheckerLimits = {
  seconds: 60,
  memoryBytes: 512 * 1024 * 1024,
  outputBytes: 1024 * 1024,
};

/** Bytes of a grade as JSON: no suite's is near it. */
export const MAXIMUM_RESULT_BYTES = 4 * 1024 * 1024;

export interface GradeRequest {
  readonly checker: Checker;
  /** Root of the checker's frozen tree. */
  readonly bundleDir: string;
  /** What the agent left. Only read. */
  readonly workspaceDir: string;
  /** Expected values of the scenario; null where it has none. */
  readonly hiddenFilesDir: string | null;
  /** As recorded; checkers are given it normalised. */
  readonly trace: Trace;
  readonly limits?: Partial<CheckerLimits>;
}

/** What is known of a grading beside its result. */
export interface GradeRecord {
  /** The end of what the checker printed. */
  readonly output: string;
  readonly outputBytes: number;
  /** Processes that were still alive when the checker had ended, and were killed. */
  readonly leftovers: number;
}

export type GradeOutcome = GradeRecord &
  ({ readonly ok: true; readonly grade: CustomGrade } | { readonly ok: false; readonly error: ScoringError });

/** How a checker's process ended, as a worker saw it. */
export type ProcessAnswer = GradeRecord &
  (
    | { readonly status: 'answered'; readonly answer: string }
    | { readonly status: Exclude<keyof typeof REASON_OF_STATUS, 'answered'>; readonly message: string }
  );

/** Reasons of scoring errors (docs/reference/checkers.md). */
export const REASON_OF_STATUS = {
  timeout: 'CheckerTimeout',
  memory: 'CheckerMemory',
  output: 'CheckerOutput',
  no_result: 'CheckerNoResult',
  crash: 'CheckerCrash',
  invalid: 'CheckerInvalidResult',
  exception: 'CheckerException',
  unavailable: 'CheckerUnavailable',
} as const;
export type FailureStatus = keyof typeof REASON_OF_STATUS;

/** A grading that is ready to run: everything lies in its sandbox. */
export interface PreparedGrading {
  /** Folder that holds all below but the bundle. */
  readonly root: string;
  readonly bundle: string;
  readonly entry: string;
  readonly workspace: string;
  readonly hidden: string;
  readonly tmp: string;
  /** Spare user that the checker runs as; null where the host cannot change its user. */
  readonly uid: number | null;
  readonly gid: number | null;
  readonly limits: CheckerLimits;
  /** The trace as JSON. */
  readonly payload: Buffer;
}
