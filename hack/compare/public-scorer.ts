import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { DIFFICULTIES, DIMENSIONS } from '../../src/api/vocabulary.ts';

/** A scenario as the public loader understands it. */
const publicScenarioSchema = z.object({
  id: z.string(),
  dimension: z.enum(DIMENSIONS),
  difficulty: z.enum(DIFFICULTIES),
  status: z.string(),
  weight: z.number(),
  prompt: z.string(),
  tools: z.array(z.string()),
  expected_tools: z.array(z.string()),
  ideal_tool_sequence: z.array(z.string()),
  optimal_steps: z.int(),
  pass_threshold: z.number(),
  custom_check: z.string(),
});
export type PublicScenario = z.infer<typeof publicScenarioSchema>;

const listingSchema = z.object({ scenarios: z.array(publicScenarioSchema), python: z.string() });

const materialSchema = z.object({
  words: z.array(z.string()),
  expectations: z.array(z.object({ name: z.string(), value: z.unknown() })),
});
/** What a checker expects, as far as it can be found without understanding the checker. */
export type CheckerMaterial = z.infer<typeof materialSchema>;

/** Numbers of one trial that both scorers give. */
export const SCORE_FIELDS = [
  'correctness',
  'process',
  'safety_gate',
  'efficiency_penalty',
  'capability_score',
  'score',
] as const;

const publicScoreSchema = z.object({
  launched: z.array(z.string()),
  correctness: z.number(),
  process: z.number(),
  safety_gate: z.number(),
  efficiency_penalty: z.number(),
  capability_score: z.number(),
  score: z.number(),
  passed: z.boolean(),
  safety_failures: z.array(z.string()),
  checks: z.array(
    z.object({ check_id: z.string(), points: z.number(), earned: z.number(), passed: z.boolean() }),
  ),
});
export type PublicScore = z.infer<typeof publicScoreSchema>;

const publicErrorSchema = z.object({ error: z.string(), launched: z.array(z.string()) });
const scoreAnswerSchema = z.union([publicErrorSchema, publicScoreSchema]);
/** The public scorer's numbers, or the exception with which it would have ended. */
export type PublicAnswer = z.infer<typeof scoreAnswerSchema>;

const publicAggregateSchema = z.object({
  overall: z.number(),
  overall_covered: z.number(),
  capability: z.number(),
  strict_pass_rate: z.number(),
  dimensions: z.record(
    z.string(),
    z.object({
      score: z.number(),
      capability_score: z.number(),
      pass_at_1: z.number(),
      pass_at_k_any: z.number(),
      strict_pass_rate: z.number(),
    }),
  ),
  reliability: z.object({
    unweighted_pass_at_1: z.number(),
    weighted_pass_at_1: z.number(),
    unweighted_pass_at_k_any: z.number(),
    weighted_pass_at_k_any: z.number(),
    unweighted_pass_at_k_all: z.number(),
    weighted_pass_at_k_all: z.number(),
    avg_score_stddev: z.number(),
    p95_score_stddev: z.number(),
  }),
  scenarios: z.record(
    z.string(),
    z.object({
      avg_score: z.number(),
      max_score: z.number(),
      capability_score: z.number(),
      pass_rate: z.number(),
      consistency: z.number(),
      strict_pass_k: z.boolean(),
    }),
  ),
});
export type PublicAggregate = z.infer<typeof publicAggregateSchema>;

/** The public benchmark's scorer in one Python process of its own. Requests are answered in order. */
export interface PublicScorer {
  list(): Promise<z.infer<typeof listingSchema>>;
  /** Fills an existing empty folder as the public runner fills a workspace. */
  prepare(scenario: string, workspace: string): Promise<void>;
  material(scenario: string): Promise<CheckerMaterial>;
  score(scenario: string, workspace: string, trace: unknown, execution: string): Promise<PublicAnswer>;
  scoreFile(file: string, workspace: string, trace: unknown, execution: string): Promise<PublicAnswer>;
  aggregate(
    trials: number,
    scenarios: readonly { scenario: string; trials: readonly unknown[] }[],
  ): Promise<PublicAggregate>;
  close(): Promise<void>;
}

export function startPublicScorer(python: string, checkout: string): PublicScorer {
  const program = new URL('public_scorer.py', import.meta.url).pathname;
  const child = spawn(python, [program, checkout], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'close');
  let previous: Promise<unknown> = Promise.resolve();

  async function exchange(request: object): Promise<unknown> {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const line = await lines.next();
    if (line.done === true) throw new Error('the public scorer ended; its message stands above');
    return JSON.parse(line.value) as unknown;
  }

  async function ask<Schema extends z.ZodType>(schema: Schema, request: object): Promise<z.output<Schema>> {
    const answer = previous.then(() => exchange(request));
    previous = answer.catch(() => undefined);
    return schema.parse(await answer);
  }

  return {
    list: () => ask(listingSchema, { command: 'list' }),
    prepare: async (scenario, workspace) => {
      await ask(z.object({}), { command: 'prepare', scenario, workspace });
    },
    material: (scenario) => ask(materialSchema, { command: 'material', scenario }),
    score: (scenario, workspace, trace, execution) =>
      ask(scoreAnswerSchema, { command: 'score', scenario, workspace, trace, execution }),
    scoreFile: (file, workspace, trace, execution) =>
      ask(scoreAnswerSchema, { command: 'score_file', file, workspace, trace, execution }),
    aggregate: (trials, scenarios) => ask(publicAggregateSchema, { command: 'aggregate', trials, scenarios }),
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
