import { join } from 'node:path';

/**
 * Paths of everything a run keeps, relative to `root`: a run's folder on the volume, or DIR on one machine.
 * Nothing else in the project composes these paths.
 */
export function runLayout(root: string) {
  const trials = join(root, 'trials');
  const suite = join(root, 'suite');
  const report = join(root, 'report');
  return {
    root,
    runJson: join(root, 'run.json'),
    suite: suiteLayout(suite),
    trials,
    trial: (trial: string) => trialLayout(join(trials, trial)),
    gateway: join(root, 'gateway'),
    /** What doing nothing earns (src/api/report.ts); beside run.json because it is an input of the report. */
    noopBaselineJson: join(root, 'noop-baseline.json'),
    report,
    reportJson: join(report, 'report.json'),
    trialsJsonl: join(report, 'trials.jsonl'),
    trialsCsv: join(report, 'trials.csv'),
    reportHtml: join(report, 'report.html'),
  } as const;
}
export type RunLayout = ReturnType<typeof runLayout>;

/** Paths of a frozen suite. `hidden` must never be readable for an agent. */
export function suiteLayout(root: string) {
  return {
    root,
    indexJson: join(root, 'index.json'),
    /** SHA-256 of every file of the frozen suite but this one and index.json. */
    filesJson: join(root, 'files.json'),
    /** prompt.md, public.json, workspace/, skills/ of one scenario. */
    publicDir: (scenarioId: string) => join(root, 'public', scenarioId),
    /** hidden.json (everything scoring needs) and files/ (expected values, references) of one scenario. */
    hiddenDir: (scenarioId: string) => join(root, 'hidden', scenarioId),
    /** Checker trees that scenarios share, one folder per digest; the leading dot cannot begin a scenario's id. */
    checkerBundle: (digest: string) => join(root, 'hidden', '.checkers', digest),
    /** `<behaviour>.yaml` files of one scenario. */
    scriptedDir: (scenarioId: string) => join(root, 'scripted', scenarioId),
  } as const;
}
export type SuiteLayout = ReturnType<typeof suiteLayout>;

/** Paths of one trial. */
export function trialLayout(root: string) {
  return {
    root,
    trialJson: join(root, 'trial.json'),
    attempts: join(root, 'attempts'),
    attempt: (attempt: number) => attemptLayout(join(root, 'attempts', String(attempt))),
    scoreJson: join(root, 'score.json'),
    /** The score of an earlier attempt, once a rerun has put another in its place. */
    scoreOfAttempt: (attempt: number) => join(root, `score.attempt-${attempt}.json`),
    scoreOfRevision: (revision: number) => join(root, `score.${revision}.json`),
  } as const;
}
export type TrialLayout = ReturnType<typeof trialLayout>;

/** Files of one attempt (docs/reference/attempt-files.md). */
export function attemptLayout(root: string) {
  return {
    root,
    promptMd: join(root, 'prompt.md'),
    continuationMd: (turn: number) => join(root, `continuation_${String(turn).padStart(2, '0')}.md`),
    transcriptJsonl: join(root, 'transcript.jsonl'),
    /** The runtime's own session files, unchanged. */
    native: join(root, 'native'),
    toolUsageJson: join(root, 'tool_usage.json'),
    runtimeProbeJson: join(root, 'runtime_probe.json'),
    usageJson: join(root, 'usage.json'),
    /** The attempt's model calls as the gateway accounted them; absent where the run has no model. */
    modelCallsJsonl: join(root, 'model-calls.jsonl'),
    /** State that checks of type audit_state_match look into; absent where the runtime has none. */
    auditStateJson: join(root, 'audit_state.json'),
    timelineJson: join(root, 'timeline.json'),
    metaJson: join(root, 'meta.json'),
    logs: join(root, 'logs'),
    /** Copy of the agent's workspace as it was after the last turn. */
    workspace: join(root, 'workspace'),
    /** Copy of the container's results/ (tasks). */
    result: join(root, 'result'),
    manifestJson: join(root, 'manifest.json'),
    resultJson: join(root, 'result.json'),
  } as const;
}
export type AttemptLayout = ReturnType<typeof attemptLayout>;
