import { z } from 'zod';
import { DIFFICULTIES, DIMENSIONS, SIGNAL_SOURCES } from './vocabulary.ts';

/** One scenario in suite/index.json: what a controller needs to plan trials, and nothing hidden. */
export const suiteIndexEntrySchema = z.object({
  id: z.string(),
  name: z.string(),
  dimension: z.enum(DIMENSIONS),
  difficulty: z.enum(DIFFICULTIES),
  signalSource: z.enum(SIGNAL_SOURCES),
  weight: z.number(),
  surfaces: z.array(z.string()),
  /** Seconds, as the suite's file declares them; null where it does not. */
  turn: z.number().nullable(),
  total: z.number().nullable(),
  passThreshold: z.number(),
  supervised: z.boolean(),
  /** Behaviours of the scripted runtime that this scenario has a script for. */
  scripted: z.array(z.string()),
  /** SHA-256 over the scenario's public, hidden and scripted files and its checker bundle. */
  digest: z.string(),
  workspaceDigest: z.string(),
  checkerDigest: z.string().nullable(),
});
export type SuiteIndexEntry = z.infer<typeof suiteIndexEntrySchema>;

/** suite/index.json. */
export const suiteIndexSchema = z.object({
  schema_version: z.literal(1),
  format: z.enum(['scenario', 'task']),
  suiteDigest: z.string(),
  /** The selector as it was resolved, and the ids it left out. */
  selector: z.record(z.string(), z.unknown()),
  /** True when the selector took a part of the suite's active scenarios only. */
  partial: z.boolean(),
  excluded: z.array(z.string()),
  scenarios: z.array(suiteIndexEntrySchema),
});
export type SuiteIndex = z.infer<typeof suiteIndexSchema>;

/** suite/public/<scenario>/public.json, beside prompt.md, workspace/ and skills/. Everything in it may be seen by an agent. */
export const publicScenarioSchema = z.object({
  schema_version: z.literal(1),
  id: z.string(),
  format: z.enum(['scenario', 'task']),
  surfaces: z.array(z.string()),
  skills: z.array(z.string()),
  turn: z.number().nullable(),
  total: z.number().nullable(),
  /** Shell text run in the workspace before the first turn and after the last one; null where there is none. */
  setupScript: z.string().nullable(),
  teardownScript: z.string().nullable(),
  workspaceDigest: z.string(),
});
export type PublicScenario = z.infer<typeof publicScenarioSchema>;

/**
 * suite/files.json: what every file of a frozen suite hashes to. The scripted files of a scenario are part of
 * its digest also where they were not written, so that runs of different runtimes bind the same digest.
 */
export const suiteFilesSchema = z.strictObject({
  schema_version: z.literal(1),
  /** In code point order of their paths, which are relative to suite/. */
  files: z.array(
    z.strictObject({ path: z.string(), mode: z.enum(['0644', '0755']), bytes: z.int(), sha256: z.string() }),
  ),
  /** Tree digests (src/files/digest.ts) that a scenario's digest is made of. */
  scenarios: z.record(
    z.string(),
    z.strictObject({
      public: z.string(),
      hidden: z.string(),
      scripted: z.string(),
      checker: z.string().nullable(),
    }),
  ),
});
export type SuiteFiles = z.infer<typeof suiteFilesSchema>;
export type ScenarioDigests = SuiteFiles['scenarios'][string];
