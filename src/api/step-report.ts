import { z } from 'zod';

/** Version of the termination message of the containers of a prepare Job and of a score round. */
export const STEP_REPORT_VERSION = 1;

const failure = {
  v: z.literal(STEP_REPORT_VERSION),
  ok: z.literal(false),
  /** CamelCase, for a condition: `SpecInvalid`, `SuiteInvalid`, `DiskFull`, ... */
  reason: z.string(),
  /** Everything that is wrong, one sentence a line, shortened where it is very much. */
  message: z.string(),
  /** Whether the same container may succeed when it is started again. */
  retry: z.boolean(),
};

/** Termination message of the container `freeze`: at most TERMINATION_MESSAGE_BYTES of JSON. */
export const prepareReportSchema = z.discriminatedUnion('ok', [
  z.object({
    v: z.literal(STEP_REPORT_VERSION),
    ok: z.literal(true),
    suiteDigest: z.string(),
    scenarios: z.int(),
    declaredTrials: z.int(),
    /** ConfigMaps of the index. */
    parts: z.int(),
  }),
  z.object(failure),
]);
export type PrepareReport = z.infer<typeof prepareReportSchema>;

/** Termination message of publish-index, score and publish. */
export const stepReportSchema = z.discriminatedUnion('ok', [
  z.object({
    v: z.literal(STEP_REPORT_VERSION),
    ok: z.literal(true),
    /** What was done, in counts, e.g. `graded`, `patched`, `missing`. */
    counts: z.record(z.string(), z.int()),
  }),
  z.object(failure),
]);
export type StepReport = z.infer<typeof stepReportSchema>;
