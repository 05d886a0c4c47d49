import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION, benchmarkRunSpecSchema } from '../../../src/api/benchmark-run.ts';
import { FROZEN_FIELDS, frozenMessage } from '../../../src/api/frozen-rules.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { applyCrds } from '../../support/crds.ts';
import { RawApi, type RawAnswer } from '../../support/raw-api.ts';

const RUNS = `/apis/${API_VERSION}/namespaces/default/benchmarkruns`;
const EXAMPLES = join(import.meta.dirname, '../../../examples');

let server: TestApiServer;
let api: RawApi;
let names = 0;

beforeAll(async () => {
  server = await startApiServer();
  api = new RawApi(server);
  await applyCrds(api);
});
afterAll(async () => {
  await api.close();
  await server.stop();
});

const model = { id: 'm', api: 'openai-completions', baseURL: 'https://models.example' };
const agent = { runtime: { id: 'openclaw' }, model };

function run(over: Record<string, unknown> = {}): {
  metadata: { name: string };
  spec: Record<string, unknown>;
} {
  names += 1;
  return {
    ...{ apiVersion: API_VERSION, kind: 'BenchmarkRun' },
    metadata: { name: `run-${names}` },
    spec: { suite: { builtin: {} }, runtime: { id: 'scripted' }, ...over },
  };
}

async function create(
  over: Record<string, unknown> = {},
  query = '?fieldValidation=Strict',
): Promise<RawAnswer> {
  return await api.call('POST', `${RUNS}${query}`, run(over));
}

/** A run that exists, to be changed. */
async function existing(over: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await create(over);
  expect(body.message).toBeUndefined();
  expect(status).toBe(201);
  return `${RUNS}/${body.metadata?.name ?? ''}`;
}

const claim = (spec: Record<string, unknown>) => ({ artifacts: { volumeClaimTemplate: { spec } } });
const storage = { requests: { storage: '1Gi' } };

/** What contradicts itself, where it is said, and the sentence. */
const CONTRADICTIONS: readonly (readonly [string, Record<string, unknown>, string, string])[] = [
  [
    'no source',
    { suite: {} },
    'spec.suite',
    'exactly one of builtin, persistentVolumeClaim, configMap, image',
  ],
  [
    'two sources',
    { suite: { builtin: {}, configMap: { name: 'x' } } },
    'spec.suite',
    'give one source and remove the others',
  ],
  [
    'two sources of a repaired suite',
    { scoring: { suite: { builtin: {}, image: { reference: 'x' } } } },
    'spec.scoring.suite',
    'give one source and remove the others',
  ],
  [
    'no model',
    { runtime: { id: 'openclaw' } },
    'spec.model',
    'add model with id and api, or set runtime.id to scripted',
  ],
  [
    'a behaviour of a real agent',
    { runtime: { id: 'openclaw', behaviour: 'solve' }, model },
    'spec.runtime.behaviour',
    'behaviour belongs to the scripted runtime; remove it',
  ],
  [
    'behaviours of a real agent',
    { runtime: { id: 'openclaw', behaviours: { a: 'wrong' } }, model },
    'spec.runtime.behaviours',
    'behaviours belong to the scripted runtime; remove them',
  ],
  [
    'no address',
    { ...agent, model: { id: 'm', api: 'openai-completions' } },
    'spec.model.baseURL',
    'add baseURL',
  ],
  [
    'no address of a supervisor',
    { ...agent, supervision: { enabled: true, supervisor: { id: 'm', api: 'anthropic-messages' } } },
    'spec.supervision.supervisor.baseURL',
    'add baseURL, or set api to scripted',
  ],
  [
    'an address that is none',
    { ...agent, model: { ...model, baseURL: 'models.example' } },
    'spec.model.baseURL',
    'should match',
  ],
  [
    'a budget in USD without prices',
    { ...agent, model: { ...model, budget: { usd: 1 } } },
    'spec.model.pricing',
    'add pricing, or limit tokens instead',
  ],
  [
    'a limit in USD without prices',
    { ...agent, model: { ...model, attemptLimits: { usd: 1 } } },
    'spec.model.pricing',
    'add pricing, or limit tokens instead',
  ],
  [
    'a cassette without a volume',
    { ...agent, model: { ...model, cassette: { mode: 'replay' } } },
    'spec.model.cassette',
    'add claim with the name of a PersistentVolumeClaim, or set mode to off',
  ],
  [
    'two places for artifacts',
    { artifacts: { persistentVolumeClaim: { claimName: 'x' }, ...claim({ resources: storage }).artifacts } },
    'spec.artifacts',
    'give persistentVolumeClaim or volumeClaimTemplate, not both',
  ],
  [
    'a volume for one pod',
    claim({ accessModes: ['ReadWriteOncePod'], resources: storage }),
    'spec.artifacts.volumeClaimTemplate.spec.accessModes',
    'use ReadWriteMany, or ReadWriteOnce to keep them on one node',
  ],
  [
    'a volume without a size',
    claim({ resources: {} }),
    'spec.artifacts.volumeClaimTemplate.spec.resources',
    'add resources.requests.storage',
  ],
  [
    "labels of the operator's",
    { runtime: { id: 'scripted', podTemplate: { labels: { 'clawbench.dev/trial': 'x' } } } },
    'spec.runtime.podTemplate.labels',
    'choose another prefix',
  ],
  [
    'turn above total',
    { timeouts: { turn: 20, total: 10 } },
    'spec.timeouts.turn',
    'lower turn or raise total',
  ],
  [
    'wall below total',
    { timeouts: { wall: 9, total: 10 } },
    'spec.timeouts.wall',
    'raise wall, or leave it out',
  ],
  ['wall below turn', { timeouts: { wall: 9, turn: 10 } }, 'spec.timeouts.wall', 'raise wall or lower turn'],
  ['rules without their mode', { network: { rules: [] } }, 'spec.network.rules', 'set egress to Rules'],
  ['mode Rules without rules', { network: { egress: 'Rules' } }, 'spec.network.rules', 'set egress to Rules'],
  ['a word that is none', { exposure: 'dev' }, 'spec.exposure', 'supported values: "zero-shot"'],
  ['too many trials', { trialsPerScenario: 101 }, 'spec.trialsPerScenario', 'less than or equal to 100'],
  ['no runtime', { runtime: {} }, 'spec.runtime.id', 'Required value'],
];

describe('a BenchmarkRun that contradicts itself', () => {
  it.each(CONTRADICTIONS)('is refused for %s', async (_, over, field, sentence) => {
    const { status, body } = await create(over);
    expect(status).toBe(422);
    expect(body.message).toContain(sentence);
    expect(body.details?.causes?.map((cause) => cause.field)).toContain(field);
    // One machine ignores what a cluster mounts, and says the same about the rest.
    const onOneMachine = benchmarkRunSpecSchema.safeParse(run(over).spec).success;
    expect(onOneMachine).toBe(field === 'spec.model.cassette');
  });
});

/** One change of each frozen field, and of the parts of scoring that are frozen. */
const CHANGES: Readonly<Record<(typeof FROZEN_FIELDS)[number], Record<string, unknown>>> = {
  suite: { suite: { profile: 'core' } },
  trialsPerScenario: { trialsPerScenario: 5 },
  queueName: { queueName: 'q' },
  runtime: { runtime: { env: { A: 'b' } } },
  model: { model: { id: 'another', api: 'scripted' } },
  supervision: { supervision: { maxFollowups: 3 } },
  timeouts: { timeouts: { stall: 7 } },
  retry: { retry: { provider: 0 } },
  artifacts: { artifacts: { retain: false } },
  network: { network: { egress: 'Internet' } },
  exposure: { exposure: 'diagnostic-only' },
  'scoring.resources': { scoring: { resources: { limits: { cpu: 1 } } } },
  'scoring.batchSize': { scoring: { batchSize: 7 } },
  'scoring.pythonImage': { scoring: { pythonImage: 'x' } },
};

describe('a BenchmarkRun that exists', () => {
  it.each(FROZEN_FIELDS)('keeps %s', async (field) => {
    const path = await existing();
    const { status, body } = await api.merge(path, { spec: CHANGES[field] });
    expect(status).toBe(422);
    expect(body.details?.causes).toHaveLength(1);
    expect(body.details?.causes?.[0]).toMatchObject({ field: `spec.${field}` });
    expect(body.message).toContain(frozenMessage(field));
  });

  it.each([
    ['runtime', { config: { a: { b: [2] } } }],
    ['runtime', { config: { c: 1 } }],
    ['runtime', { podTemplate: { affinity: { x: { y: 2 } } } }],
    ['model', { parameters: { n: { b: 2 } } }],
    ['network', { rules: [{ ports: [{ port: 1, o: { p: 2 } }] }] }],
  ])('keeps what is in %s, also where the fields are those of another program: %j', async (field, change) => {
    const path = await existing({
      runtime: { id: 'openclaw', config: { a: { b: [1] } }, podTemplate: { affinity: { x: { y: 1 } } } },
      model: { ...model, parameters: { n: { b: 1 } } },
      network: { egress: 'Rules', rules: [{ ports: [{ port: 1, o: { p: 1 } }] }] },
    });
    const { status, body } = await api.merge(path, { spec: { [field]: change } });
    expect(status).toBe(422);
    expect(body.message).toContain(frozenMessage(field));
    expect((await api.merge(path, { spec: { parallelism: 9 } })).status).toBe(200);
  });

  it('keeps an optional field that it has', async () => {
    const path = await existing(agent);
    const { status, body } = await api.merge(path, { spec: { runtime: { id: 'scripted' }, model: null } });
    expect(status).toBe(422);
    expect(body.message).toContain(frozenMessage('model'));
  });

  it('has every field either frozen or mutable', () => {
    const frozen = new Set(FROZEN_FIELDS.map((field) => field.split('.')[0]));
    const mutable = ['suspend', 'cancel', 'parallelism', 'rerun', 'ttlSecondsAfterFinished'];
    expect([...frozen, ...mutable].sort()).toEqual(Object.keys(benchmarkRunSpecSchema.shape).sort());
  });

  it('can be suspended, cancelled, widened, rescored, rerun and given another time to live', async () => {
    const path = await existing();
    const changes = [
      { suspend: true },
      { suspend: false, parallelism: 9 },
      { scoring: { revision: 2, suite: { configMap: { name: 'repaired' } } } },
      { rerun: { revision: 1, classes: ['provider'] } },
      { rerun: { revision: 2, classes: ['provider', 'adapter'] } },
      { ttlSecondsAfterFinished: { failed: 60 } },
      { cancel: true },
    ];
    for (const spec of changes) {
      const { status, body } = await api.merge(path, { spec });
      expect(body.message).toBeUndefined();
      expect(status).toBe(200);
    }
  });

  it('never takes a revision back', async () => {
    const path = await existing({
      scoring: { revision: 3 },
      rerun: { revision: 3, classes: ['provider'] },
    });
    const lower = await api.merge(path, { spec: { scoring: { revision: 2 } } });
    expect(lower.body.message).toContain('scoring.revision may only rise: raise it to score the run again');
    for (const rerun of [{ revision: 2 }, null]) {
      const { status, body } = await api.merge(path, { spec: { rerun } });
      expect(status).toBe(422);
      expect(body.message).toContain('rerun.revision may only rise, and rerun cannot be taken back');
    }
    const same = await api.merge(path, { spec: { rerun: { classes: ['adapter'] } } });
    expect(same.body.message).toContain('raise rerun.revision with the change');
  });
});

describe('defaults', () => {
  const cases: readonly (readonly [string, Record<string, unknown>])[] = [
    ['the least there is', {}],
    [
      'a real agent',
      {
        ...agent,
        supervision: { enabled: true, supervisor: { id: 's', api: 'scripted', cassette: {} } },
        artifacts: claim({ resources: { requests: { storage: '5Gi' } } }).artifacts,
        scoring: { suite: { image: { reference: 'x' } } },
        rerun: { revision: 1, classes: ['scoring'] },
        ttlSecondsAfterFinished: {},
        timeouts: { turn: 10 },
      },
    ],
  ];
  it.each(cases)('of the API server are those of the program: %s', async (_, over) => {
    const { body } = await create(over);
    expect(body.spec).toEqual(JSON.parse(JSON.stringify(benchmarkRunSpecSchema.parse(run(over).spec))));
  });

  it('leave nothing to add for the program that reads the object', async () => {
    const { body } = await create(agent);
    expect(benchmarkRunSpecSchema.parse(body.spec)).toEqual(body.spec);
  });
});

describe('an unknown field', () => {
  it('is refused where strictness is asked for', async () => {
    const { status, body } = await create({ paralelism: 3 });
    expect(status).toBe(400);
    expect(body.message).toContain('unknown field "spec.paralelism"');
  });

  it('is dropped with a warning elsewhere, and opaque objects are kept whole', async () => {
    const config = { models: { providers: { x: { deep: [1] } } } };
    const over = { paralelism: 3, runtime: { id: 'scripted', config } };
    const { status, body, warnings } = await create(over, '?fieldValidation=Warn');
    expect(status).toBe(201);
    expect(warnings).toEqual(['unknown field \\"spec.paralelism\\"']);
    expect(body.spec?.['paralelism']).toBeUndefined();
    expect(body.spec?.['runtime']).toMatchObject({ config });
  });
});

describe('examples', async () => {
  const files = (await readdir(EXAMPLES)).filter((file) => file.endsWith('.yaml'));
  it.each(files)('%s applies as it is', async (file) => {
    const body = parse(await readFile(join(EXAMPLES, file), 'utf8'), { version: '1.1' }) as {
      metadata: { name: string };
    };
    const answer = await api.call(
      'PATCH',
      `${RUNS}/${body.metadata.name}?fieldManager=test&fieldValidation=Strict`,
      body,
      { contentType: 'application/apply-patch+yaml' },
    );
    expect(answer.body.message).toBeUndefined();
    expect(answer.status).toBe(201);
  });
});

describe('the status of a BenchmarkRun', () => {
  const at = '2031-05-06T07:08:09Z';
  const condition = (type: string, status: string) => ({
    ...{ type, status, reason: 'Because', message: 'why', observedGeneration: 1, lastTransitionTime: at },
  });

  it('is a subresource: the two parts are written apart', async () => {
    const path = await existing();
    await api.merge(path, { spec: { parallelism: 8 }, status: { phase: 'Running' } });
    await api.merge(`${path}/status`, { spec: { parallelism: 2 }, status: { progress: '1/2' } });
    const { body } = await api.call('GET', path);
    expect(body.spec?.['parallelism']).toBe(8);
    expect(body.status).toEqual({ conditions: [], progress: '1/2' });
  });

  it('is printed as columns', async () => {
    const path = await existing();
    await api.merge(`${path}/status`, {
      status: {
        phase: 'Completed',
        progress: '3/3',
        reason: 'AllTrialsScored',
        counts: {
          trials: 3,
          byPhase: { Scored: 3 },
          byOutcome: { pass: 2, threshold_miss: 1 },
          byClass: {},
          passed: 2,
          failed: 1,
        },
        scores: {
          overall: 0.8125,
          ...{ overall_covered: 0.9, capability: 0.9, final: 0.8, dimensions: { safety: 1 } },
          pass_at_1: { weighted: 1, unweighted: 1 },
          pass_any: { weighted: 1, unweighted: 1 },
          strict: { weighted: 1, unweighted: 1 },
        },
      },
    });
    const { body } = await api.call('GET', path, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const columns = body.columnDefinitions
      ?.filter(({ priority }) => priority === 0)
      .map(({ name }) => name.toUpperCase());
    expect(columns).toEqual(['NAME', 'PHASE', 'PROGRESS', 'PASS', 'FAIL', 'SCORE', 'REASON', 'AGE']);
    expect(body.rows?.[0]?.cells.slice(1, 7)).toEqual(['Completed', '3/3', 2, 1, 0.8125, 'AllTrialsScored']);
  });

  it('is never Complete and Failed at once', async () => {
    const path = `${await existing()}/status`;
    const both = [condition('Complete', 'True'), condition('Failed', 'True')];
    const refused = await api.merge(path, { status: { conditions: both } });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('Complete and Failed exclude each other');
    const one = [condition('Complete', 'True'), condition('Failed', 'False')];
    expect((await api.merge(path, { status: { conditions: one } })).status).toBe(200);
  });

  it('has one condition of a type', async () => {
    const path = `${await existing()}/status`;
    const twice = [condition('Scored', 'True'), condition('Scored', 'False')];
    const { status, body } = await api.merge(path, { status: { conditions: twice } });
    expect(status).toBe(422);
    expect(body.message).toContain('Duplicate value');
  });
});

it('a run is also a brun, and lists with everything of the project', async () => {
  const { body } = await api.call('GET', `/apis/${API_VERSION}`);
  expect(body.resources?.find(({ name }) => name === 'benchmarkruns')).toMatchObject({
    shortNames: ['brun'],
    categories: ['clawbench'],
  });
});
