import { join } from 'node:path';
import type { RuntimeSpec } from '../../api/benchmark-run.ts';
import { InvalidInputError } from '../../api/errors.ts';
import type { ScriptStep } from '../../api/scenario.ts';
import type { AgentPaths, AttemptContext, RuntimeAdapter, TurnFile } from '../adapter.ts';
import { BEGINS_WITH_SOLVE, behaviourOf, SCRIPT_OF, scriptedConfigSchema } from './config.ts';
import { PLACEHOLDER, type AgentPlan, type AgentTurn } from './plan.ts';
import { PROGRAM_NAME, scriptedProgram } from './program.ts';
import { missingScript, readScriptOf } from './script.ts';
import { readScriptedSession, TOOL_MAP } from './session.ts';

const VERSION = '1.0.0';

/**
 * An agent that decides nothing: it does what a script of the suite says, or misbehaves in a way that is asked for.
 * Where the run has a model it asks it once a turn, and does not do what it answers. It is how a suite, a machine and this project are tested (docs/reference/scripted.md).
 */
export const scriptedAdapter: RuntimeAdapter = {
  id: 'scripted',
  version: VERSION,
  toolMap: TOOL_MAP,
  surfaces: [],
  completesWith: (stopReason) => (stopReason === 'stop' ? true : stopReason === 'error' ? false : null),
  validate,
  prepare,
  turn: (context, input) => {
    const { paths } = context;
    const turnFile = join(paths.state, `turn-${String(input.turn).padStart(2, '0')}.json`);
    const turn: AgentTurn = { turn: input.turn, message: input.message };
    return {
      argv: [paths.node, programFile(paths), planFile(paths), turnFile],
      env: { HOME: paths.home, ...context.runtime.env },
      cwd: paths.workspace,
      files: [{ path: turnFile, mode: 0o644, content: JSON.stringify(turn) }],
    };
  },
  liveness: ({ paths }) => [sessionFile(paths), paths.workspace],
  readSession: ({ paths }) => readScriptedSession(sessionFile(paths)),
};

function programFile(paths: AgentPaths): string {
  return join(paths.program, PROGRAM_NAME);
}

function planFile(paths: AgentPaths): string {
  return join(paths.state, 'plan.json');
}

function sessionFile(paths: AgentPaths): string {
  return join(paths.state, 'session.jsonl');
}

function validate(runtime: RuntimeSpec): readonly { field: string; message: string; remedy?: string }[] {
  const parsed = scriptedConfigSchema.safeParse(runtime.config);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map((issue) => ({
        field: ['spec.runtime.config', ...issue.path].join('.'),
        message: issue.message,
        remedy: 'The fields are listed in docs/reference/scripted.md.',
      }));
  if (runtime.skills.length > 0) {
    problems.push({
      field: 'spec.runtime.skills',
      message: 'the scripted runtime reads no skills',
      remedy: 'Remove the field.',
    });
  }
  return problems;
}

async function prepare(context: AttemptContext): Promise<readonly TurnFile[]> {
  const { paths, runtime, scenario } = context;
  const behaviour = behaviourOf(runtime, scenario.id);
  const plan: AgentPlan = {
    version: 1,
    sessionId: `scripted-${context.trial}-${context.attempt}`,
    trial: context.trial,
    attempt: context.attempt,
    scenarioId: scenario.id,
    behaviour,
    steps: await stepsFor(context),
    workspace: paths.workspace,
    session: sessionFile(paths),
    placeholder: PLACEHOLDER,
    config: scriptedConfigSchema.parse(runtime.config),
    model:
      context.modelEndpoint === null || context.modelId === null
        ? null
        : { url: context.modelEndpoint, id: context.modelId },
  };
  return [
    ...(await scriptedProgram()).map(({ name, content }) => ({
      path: join(paths.program, name),
      mode: 0o644,
      content,
    })),
    { path: planFile(paths), mode: 0o644, content: JSON.stringify(plan) },
  ];
}

/** The script of the context's behaviour; empty for a behaviour that has none. */
async function stepsFor({ runtime, scenario, scriptedDir }: AttemptContext): Promise<readonly ScriptStep[]> {
  const behaviour = behaviourOf(runtime, scenario.id);
  const script = SCRIPT_OF[behaviour];
  if (script !== null) {
    const steps = scriptedDir === null ? undefined : await readScriptOf(scriptedDir, script);
    if (steps === undefined) throw new InvalidInputError(missingScript(scenario.id, behaviour, script));
    return steps;
  }
  if (!BEGINS_WITH_SOLVE.includes(behaviour) || scriptedDir === null) return [];
  return (await readScriptOf(scriptedDir, 'solve')) ?? [];
}
