import { z } from 'zod';

const seconds = (maximum = 604_800) => z.number().positive().max(maximum);

/** `spec.timeouts`, in seconds. `turn` and `total` may be absent: then the suite's file decides. */
export const timeoutsSpecSchema = z.strictObject({
  queued: seconds().default(86_400),
  start: seconds().default(600),
  startupSilence: seconds().default(180),
  stall: seconds().default(600),
  turn: seconds().optional(),
  total: seconds().optional(),
  settle: z.number().min(0).max(60).default(2),
  /** Bound of everything from the first turn's start to the last turn's end; unset is 2 x total + 600. */
  wall: seconds().optional(),
  collect: seconds().default(120),
  /** Seconds that scoring one trial may take. */
  scoring: seconds().default(60),
  /** Multiplies startupSilence, stall, turn, total and wall. */
  scale: z.number().positive().max(1000).default(1),
});
export type TimeoutsSpec = z.infer<typeof timeoutsSpecSchema>;

/** The clocks of one trial after specification, suite file and scale were combined; in seconds. */
export const resolvedTimeoutsSchema = z.object({
  queued: z.number(),
  start: z.number(),
  startupSilence: z.number(),
  stall: z.number(),
  turn: z.number(),
  total: z.number(),
  settle: z.number(),
  wall: z.number(),
  collect: z.number(),
  scoring: z.number(),
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
