import type { z } from 'zod';
import { benchmarkRunSpecSchema } from '../../src/api/benchmark-run.ts';
import { runStatusSchema } from '../../src/api/run-status.ts';
import { trialSpecSchema, trialStatusSchema } from '../../src/api/trial-resource.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Above 0: shown by `-o wide` only. */
  readonly priority?: number;
}

/** A custom resource of the project. */
export interface Resource {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly columns: readonly PrinterColumn[];
}

export const RESOURCES: readonly Resource[] = [
  {
    kind: 'BenchmarkRun',
    plural: 'benchmarkruns',
    singular: 'benchmarkrun',
    shortNames: ['brun'],
    description: 'A benchmark suite, an agent and a model: run once, scored and reported.',
    spec: benchmarkRunSpecSchema,
    status: runStatusSchema,
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where the run stands.' },
      {
        name: 'Progress',
        type: 'string',
        jsonPath: '.status.progress',
        description: 'Ended of declared trials.',
      },
      {
        name: 'Pass',
        type: 'integer',
        jsonPath: '.status.counts.passed',
        description: 'Trials that passed.',
      },
      {
        name: 'Fail',
        type: 'integer',
        jsonPath: '.status.counts.failed',
        description: 'Trials that did not pass.',
      },
      {
        name: 'Score',
        type: 'number',
        jsonPath: '.status.scores.overall',
        description: 'Overall score, 0 to 1.',
      },
      {
        name: 'Reason',
        type: 'string',
        jsonPath: '.status.reason',
        description: 'Why the run stands where it does.',
      },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age of the run.' },
      {
        name: 'Runtime',
        type: 'string',
        jsonPath: '.spec.runtime.id',
        description: 'Agent under test.',
        priority: 1,
      },
      { name: 'Model', type: 'string', jsonPath: '.spec.model.id', description: 'Its model.', priority: 1 },
    ],
  },
  {
    kind: 'Trial',
    plural: 'trials',
    singular: 'trial',
    shortNames: [],
    description: 'One trial of one scenario of a run. Made by the operator, never by hand.',
    spec: trialSpecSchema,
    status: trialStatusSchema,
    columns: [
      { name: 'Run', type: 'string', jsonPath: '.spec.runName', description: 'Its run.' },
      { name: 'Scenario', type: 'string', jsonPath: '.spec.scenarioId', description: 'Its scenario.' },
      {
        name: 'N',
        type: 'integer',
        jsonPath: '.spec.trialNumber',
        description: 'Which trial of the scenario.',
      },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where the trial stands.' },
      {
        name: 'Attempts',
        type: 'integer',
        jsonPath: '.status.attempts[-1:].number',
        description: 'Number of the last attempt.',
      },
      {
        name: 'Outcome',
        type: 'string',
        jsonPath: '.status.outcome',
        description: 'What the trial counts as.',
      },
      { name: 'Score', type: 'number', jsonPath: '.status.score', description: 'Score, 0 to 1.' },
      {
        name: 'Reason',
        type: 'string',
        jsonPath: '.status.reason',
        description: 'Why the trial stands where it does.',
      },
    ],
  },
];
