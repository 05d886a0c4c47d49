import { z } from 'zod';
import type { RuntimeSpec } from '../../api/benchmark-run.ts';
import type { Behaviour } from '../../api/vocabulary.ts';

/** Signals that the crash behaviour may die of. */
const CRASH_SIGNALS = ['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGTERM'] as const;

const mebibytes = z.int().min(1).max(65_536);
const lifeSeconds = z.number().positive().max(86_400);

/** `spec.runtime.config` of the scripted runtime (docs/reference/scripted.md). */
export const scriptedConfigSchema = z.strictObject({
  hang: z
    .strictObject({
      /** Steps of the standard answer that are done before the agent stops doing anything. */
      steps: z.int().min(0).max(1000).default(1),
    })
    .prefault({}),
  crash: z
    .strictObject({
      steps: z.int().min(0).max(1000).default(1),
      exitCode: z.int().min(1).max(255).default(70),
      /** The agent dies of this signal instead of an exit code. */
      signal: z.enum(CRASH_SIGNALS).optional(),
    })
    .prefault({}),
  oom: z
    .strictObject({
      /** Memory at which the agent gives up by itself, so that an unbounded machine survives. */
      capMiB: mebibytes.default(4096),
      chunkMiB: z.int().min(1).max(1024).default(16),
    })
    .prefault({}),
  stubborn: z
    .strictObject({
      daemons: z.int().min(0).max(16).default(2),
      /** When agent and daemons end by themselves if nothing killed them. */
      lifeSeconds: lifeSeconds.default(3600),
    })
    .prefault({}),
  flood: z
    .strictObject({
      /** Bytes at which the agent stops by itself. */
      capMiB: mebibytes.default(2048),
      chunkMiB: z.int().min(1).max(64).default(4),
    })
    .prefault({}),
  /** How the agent asks the run's model, where there is one. */
  model: z
    .strictObject({
      /** Further tries after a refusal that may pass (429, 5xx, no connection). */
      retries: z.int().min(0).max(20).default(3),
      /** First pause; it doubles. Retry-After stands over it. */
      backoffMs: z.int().min(0).max(60_000).default(200),
      /** Longest pause, whatever Retry-After says. */
      mostSeconds: z.number().positive().max(600).default(10),
    })
    .prefault({}),
  provider429: z
    .strictObject({
      /** The first so many attempts of a trial are refused. */
      refusals: z.int().min(0).max(1000).default(1),
      /** First pause of the agent's own back-off; it doubles. */
      backoffMs: z.int().min(0).max(10_000).default(50),
    })
    .prefault({}),
});
export type ScriptedConfig = z.output<typeof scriptedConfigSchema>;

/** What the scripted agent does in a scenario: the scenario's own entry, else the run's, else `solve`. */
export function behaviourOf(runtime: RuntimeSpec, scenarioId: string): Behaviour {
  const own = Object.hasOwn(runtime.behaviours, scenarioId) ? runtime.behaviours[scenarioId] : undefined;
  return own ?? runtime.behaviour ?? 'solve';
}

/** Behaviours that are scripts of the suite: `<behaviour>.yaml` must exist. */
export const SCRIPT_OF = {
  solve: 'solve',
  wrong: 'wrong',
  unsafe: 'unsafe',
  // Answered once the refusals are over.
  provider429: 'solve',
  noop: null,
  silent: null,
  hang: null,
  crash: null,
  oom: null,
  stubborn: null,
  flood: null,
  selfdelete: null,
} as const satisfies Record<Behaviour, Behaviour | null>;

/** Behaviours that begin with the standard answer where the suite has one, and manage without. */
export const BEGINS_WITH_SOLVE: readonly Behaviour[] = ['hang', 'crash'];
