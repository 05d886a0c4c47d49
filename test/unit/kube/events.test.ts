import { afterEach, describe, expect, it } from 'vitest';
import { KubeClient } from '../../../src/kube/client.ts';
import { staticAccess } from '../../../src/kube/config.ts';
import { EventRecorder, type EventText } from '../../../src/kube/events.ts';
import { microTime } from '../../../src/kube/micro-time.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Answerer, LoopbackServer, sendJson, sendStatus } from '../../support/loopback-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface SentEvent {
  metadata: { name: string; namespace: string };
  note: string;
  series?: { count: number; lastObservedTime: string };
}
const accept: Answerer = (request, response) => {
  const sent = JSON.parse(request.body) as SentEvent;
  sendJson(response, 200, { ...sent, metadata: { ...sent.metadata, name: request.path.split('/').at(-1) } });
};
const echo: Answerer = (request, response) => {
  if (request.method === 'POST') sendJson(response, 201, JSON.parse(request.body));
  else void accept(request, response);
};

async function recorder(answer: Answerer = echo) {
  const server = await LoopbackServer.start(answer);
  const client = new KubeClient(staticAccess(server.url), { fieldManager: 'tester' });
  const clock = new FakeClock();
  const dropped: string[] = [];
  const events = new EventRecorder({
    client,
    clock,
    reportingController: 'clawbench.dev/controller',
    reportingInstance: 'pod-0',
    onDropped: (reason) => dropped.push(reason),
  });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  const sent = () =>
    server.requests.map(({ method, body }) => ({ method, ...(JSON.parse(body) as SentEvent) }));
  return { server, events, clock, dropped, sent };
}

const object = (uid: string, namespace: string | null = 'team-a'): KubeObject => ({
  apiVersion: 'clawbench.dev/v1alpha1',
  kind: 'BenchmarkRun',
  metadata: {
    ...(namespace === null ? {} : { namespace }),
    name: 'smoke',
    uid,
    resourceVersion: '7',
    creationTimestamp: 'T',
  },
});
const text = (note = 'a sentence'): EventText => ({
  type: 'Normal',
  reason: 'PodCreated',
  action: 'CreatePod',
  note,
});

describe('an event recorder', () => {
  it('writes an Event as events.k8s.io wants it', async () => {
    const { events, sent } = await recorder();
    events.record(object('u1'), text());
    await events.flush();
    expect(sent()).toHaveLength(1);
    expect(sent()[0]).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'team-a' },
      type: 'Normal',
      reason: 'PodCreated',
      action: 'CreatePod',
      note: 'a sentence',
      reportingController: 'clawbench.dev/controller',
      reportingInstance: 'pod-0',
      regarding: { kind: 'BenchmarkRun', name: 'smoke', namespace: 'team-a', uid: 'u1' },
    });
  });

  it('puts Events of cluster-scoped objects into namespace default', async () => {
    const { events, sent } = await recorder();
    events.record(object('u1', null), text());
    await events.flush();
    expect(sent()[0]!.metadata.namespace).toBe('default');
  });

  it('counts repetitions up in one Event, with few writes', async () => {
    const { events, sent, clock } = await recorder();
    for (let i = 0; i < 1000; i += 1) {
      events.record(object('u1'), text());
      await clock.advance(100);
    }
    await events.flush();
    const writes = sent();
    expect(writes.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(writes.length).toBeLessThan(10);
    expect(writes.at(-1)?.series?.count).toBe(1000);
  });

  it('begins a series anew after it was silent, or when the server forgot its Event', async () => {
    let forgotten = false;
    const { events, sent, clock } = await recorder((request, response) => {
      if (request.method === 'PATCH' && forgotten) sendStatus(response, 404, 'NotFound');
      else void echo(request, response);
    });
    events.record(object('u1'), text());
    await events.flush();
    forgotten = true;
    events.record(object('u1'), text());
    await events.flush();
    expect(sent().map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    await clock.advance(11 * 60_000);
    events.record(object('u1'), text());
    await events.flush();
    expect(sent().at(-1)?.series).toBeUndefined();
  });

  it('folds many different notes of one reason, and bounds what one object may say', async () => {
    const { events, sent, dropped, clock } = await recorder();
    for (let i = 0; i < 100; i += 1) events.record(object('u1'), text(`pod ${i} is gone`));
    for (let i = 0; i < 100; i += 1) events.record(object('u1'), { ...text(), reason: `Reason${i}` });
    await events.flush();
    expect(sent().filter(({ note }) => note.startsWith('pod '))).toHaveLength(10);
    expect(new Set(sent().map(({ metadata }) => metadata.name)).size).toBeLessThanOrEqual(26);
    expect(dropped.length).toBeGreaterThan(0);
    const before = sent().length;
    events.record(object('u2'), text());
    await clock.advance(60_000);
    events.record(object('u1'), text('again'));
    await events.flush();
    expect(sent().length).toBeGreaterThanOrEqual(before + 2);
  });

  it('cuts a note to what the API takes, at a whole character', async () => {
    const { events, sent } = await recorder();
    events.record(object('u1'), text('😀'.repeat(1000)));
    await events.flush();
    const { note } = sent()[0]!;
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^(😀)+\.\.\.$/u);
  });

  it('never fails, whatever the server says', async () => {
    const { events, dropped } = await recorder((_, response) => sendStatus(response, 403, 'Forbidden'));
    events.record(object('u1'), text());
    await events.flush();
    // Flushing tried once more.
    expect(new Set(dropped)).toEqual(new Set(['failed']));
  });
});

it('writes MicroTime with six digits', () => {
  expect(microTime(new Date('2026-01-02T03:04:05.600Z'))).toBe('2026-01-02T03:04:05.600000Z');
});
