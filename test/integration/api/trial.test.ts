import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/benchmark-run.ts';
import { trialStatusSchema } from '../../../src/api/trial-resource.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { applyCrds } from '../../support/crds.ts';
import { RawApi } from '../../support/raw-api.ts';

const TRIALS = `/apis/${API_VERSION}/namespaces/default/trials`;

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

async function existing(): Promise<string> {
  names += 1;
  const { status, body } = await api.call('POST', `${TRIALS}?fieldValidation=Strict`, {
    apiVersion: API_VERSION,
    kind: 'Trial',
    metadata: { name: `trial-${names}` },
    spec: {
      ...{ runName: 'nightly', scenarioId: 'ledger', trialNumber: 2, dimension: 'tool_use' },
      ...{ scenarioDigest: 'a', suiteDigest: 'b' },
    },
  });
  expect(body.message).toBeUndefined();
  expect(status).toBe(201);
  return `${TRIALS}/trial-${names}`;
}

/** An attempt that ended in order, as the controller writes it: with nulls, which the API server drops. */
const attempt = (number: number) => ({
  ...{ number, podName: `p-${number}`, podUID: 'u', startedAt: 's', endedAt: 'e', counted: true },
  ...{ class: null, reason: null, killReason: null, runtimeMs: 1.5, wallClockMs: 2, artifacts: null },
});

describe('a Trial', () => {
  it('has a frozen spec', async () => {
    const path = await existing();
    const { status, body } = await api.merge(path, { spec: { trialNumber: 3 } });
    expect(status).toBe(422);
    expect(body.message).toContain('spec of a Trial is frozen');
    expect((await api.merge(path, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  });

  it('stores attempts with nulls and reads back as it was written', async () => {
    const path = await existing();
    const status = { phase: 'Running', attempts: [attempt(1), attempt(2)], class: 'provider' };
    const written = await api.merge(`${path}/status`, { status });
    expect(written.body.message).toBeUndefined();
    const read = trialStatusSchema.parse(written.body.status);
    expect(read).toEqual(trialStatusSchema.parse(status));
    // A merge patch says null to take a field away.
    const cleared = await api.merge(`${path}/status`, { status: { class: null } });
    expect(trialStatusSchema.parse(cleared.body.status).class).toBeNull();
  });

  it('has one attempt of a number', async () => {
    const path = await existing();
    const { status, body } = await api.merge(`${path}/status`, {
      status: { attempts: [attempt(1), attempt(1)] },
    });
    expect(status).toBe(422);
    expect(body.message).toContain('Duplicate value');
  });

  it('is printed as columns', async () => {
    const path = await existing();
    await api.merge(`${path}/status`, {
      status: {
        ...{ phase: 'Scored', outcome: 'threshold_miss', score: 0.25, reason: 'TurnDeadline' },
        attempts: [attempt(1), attempt(2)],
      },
    });
    const { body } = await api.call('GET', path, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect(body.columnDefinitions?.map(({ name }) => name.toUpperCase())).toEqual([
      ...['NAME', 'RUN', 'SCENARIO', 'N', 'PHASE', 'ATTEMPTS', 'OUTCOME', 'SCORE', 'REASON'],
    ]);
    expect(body.rows?.[0]?.cells.slice(1)).toEqual([
      ...['nightly', 'ledger', 2, 'Scored', 2, 'threshold_miss', 0.25, 'TurnDeadline'],
    ]);
  });

  it('that is new prints empty columns', async () => {
    const path = await existing();
    const { body } = await api.call('GET', path, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect(body.rows?.[0]?.cells.slice(4)).toEqual([null, null, null, null, null]);
  });
});
