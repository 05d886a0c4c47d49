import { z } from 'zod';
import { withRules } from './rules.ts';

const seconds = (maximum = 604_800) => z.number().positive().max(maximum);

const timeoutsObject = z.strictObject({
  queued: seconds().default(86_400).describe('Wait for a place: scheduling, quota, image.'),
  start: seconds().default(600).describe("From the pod's scheduling until the executor answers."),
  startupSilence: seconds()
    .default(180)
    .describe("From a turn's start until the agent's first sign of life."),
  stall: seconds().default(600).describe('Between two signs of life.'),
  turn: seconds()
    .optional()
    .describe(
      "One turn. Absent: what the suite's file says, else 1200. A value other than the file's makes the row diagnostic-only.",
    ),
  total: seconds()
    .optional()
    .describe(
      "All turns of an attempt. Absent: what the suite's file says, else 1800, at least `turn`. A value other than the file's makes the row diagnostic-only.",
    ),
  settle: z.number().min(0).max(60).default(2).describe('Quiet after a turn before it is taken as ended.'),
  wall: seconds()
    .optional()
    .describe("From the first turn's start to the last one's end. Absent: 2 x total + 600."),
  collect: seconds().default(120).describe("Collecting the agent's files."),
  scoring: seconds().default(60).describe('Grading one trial.'),
  scale: z
    .number()
    .positive()
    .max(1000)
    .default(1)
    .describe(
      'Multiplies startupSilence, stall, turn, total and wall; other than 1 makes the row diagnostic-only.',
    ),
});

/** `spec.timeouts`, in seconds. `turn` and `total` may be absent: then the suite's file decides. */
export const timeoutsSpecSchema = withRules(timeoutsObject, [
  {
    message: 'turn is above total, so no turn could last that long; lower turn or raise total',
    cel: '!has(self.turn) || !has(self.total) || self.turn <= self.total',
    field: ['turn'],
    holds: ({ turn, total }) => turn === undefined || total === undefined || turn <= total,
  },
  {
    message:
      'wall is below total, so total could never be used up; raise wall, or leave it out for 2 x total + 600',
    cel: '!has(self.wall) || !has(self.total) || self.wall >= self.total',
    field: ['wall'],
    holds: ({ wall, total }) => wall === undefined || total === undefined || wall >= total,
  },
  {
    message: 'wall is below turn, so no turn could last that long; raise wall or lower turn',
    cel: '!has(self.wall) || !has(self.turn) || self.wall >= self.turn',
    field: ['wall'],
    holds: ({ wall, turn }) => wall === undefined || turn === undefined || wall >= turn,
  },
]);
export type TimeoutsSpec = z.infer<typeof timeoutsSpecSchema>;

/** The clocks of one trial after specification, suite file and scale were combined; in seconds. */
export const resolvedTimeoutsSchema = z.object({
  queued: z.number().describe('Wait for a place.'),
  start: z.number().describe('From scheduling until the executor answers.'),
  startupSilence: z.number().describe("Until the agent's first sign of life."),
  stall: z.number().describe('Between two signs of life.'),
  turn: z.number().describe('One turn.'),
  total: z.number().describe('All turns.'),
  settle: z.number().describe('Quiet after a turn.'),
  wall: z.number().describe('First turn to end.'),
  collect: z.number().describe('Collecting.'),
  scoring: z.number().describe('Grading.'),
});
export type ResolvedTimeouts = z.infer<typeof resolvedTimeoutsSchema>;

/** What a suite's file declares, in seconds; absent where it says nothing. */
export interface DeclaredTimeouts {
  readonly turn?: number | undefined;
  readonly total?: number | undefined;
}

/** Defaults of the executor role (specification of the executor, section 4), in seconds. */
export const DEFAULT_TURN_SECONDS = 1200;
export const DEFAULT_TOTAL_SECONDS = 1800;

/**
 * Resolves a trial's clocks: specification, else the suite's file, else the defaults; `total` is never below
 * `turn`. `overridden` is true when the specification replaced a value that the suite declares, which makes
 * the row diagnostic-only.
 */
export function resolveTimeouts(
  spec: TimeoutsSpec,
  declared: DeclaredTimeouts,
): { timeouts: ResolvedTimeouts; overridden: boolean } {
  const turn = spec.turn ?? declared.turn ?? DEFAULT_TURN_SECONDS;
  const total = Math.max(turn, spec.total ?? declared.total ?? DEFAULT_TOTAL_SECONDS);
  const wall = spec.wall ?? 2 * total + 600;
  const differs = (own: number | undefined, suite: number | undefined) =>
    own !== undefined && suite !== undefined && own !== suite;
  return {
    timeouts: {
      queued: spec.queued,
      start: spec.start,
      startupSilence: spec.startupSilence * spec.scale,
      stall: spec.stall * spec.scale,
      turn: turn * spec.scale,
      total: total * spec.scale,
      settle: spec.settle,
      wall: wall * spec.scale,
      collect: spec.collect,
      scoring: spec.scoring,
    },
    overridden: differs(spec.turn, declared.turn) || differs(spec.total, declared.total) || spec.scale !== 1,
  };
}
