import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { KubeClient } from '../../../src/kube/client.ts';
import { staticAccess } from '../../../src/kube/config.ts';
import {
  LeaderElector,
  type LeaderElectionOptions,
  NotLeaderError,
} from '../../../src/kube/leader-election.ts';
import type { Lease } from '../../../src/kube/object.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { LoopbackServer, sendStatus } from '../../support/loopback-server.ts';
import { ModelApi } from '../../support/model-api.ts';

interface Candidate {
  readonly elector: LeaderElector;
  readonly ended: Promise<string>;
  readonly stop: () => void;
  /** Times at which work began and was told to end. */
  readonly log: string[];
  /** What happens to its requests. */
  network: 'up' | 'refused' | 'hangs' | 'answers late';
}

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Candidates for one lease, all on one clock, each with a network of its own to the server. */
function election() {
  const api = new ModelApi();
  let onTheWay = 0;
  const clock = new FakeClock(async () => {
    // Answers come over real sockets: wait until none is on its way.
    for (let quiet = 0; quiet < 3; quiet += 1) {
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
      if (onTheWay > 0) {
        quiet = -1;
        await setTimeout(1);
      }
    }
  });
  const startMs = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - startMs) / 1000;

  const join = async (
    identity: string,
    work: (signal: AbortSignal) => Promise<void> = untilAborted,
    options: Partial<LeaderElectionOptions> = {},
  ): Promise<Candidate> => {
    const hung = new Set<unknown>();
    const server = await LoopbackServer.start((request, response) => {
      if (candidate.network === 'up') api.answer(request, response);
      else if (candidate.network === 'refused') sendStatus(response, 500, 'InternalError');
      else if (candidate.network === 'answers late') {
        const end = response.end.bind(response);
        onTheWay -= 1;
        // Carried out at once; only the answer is late.
        response.end = ((text: string) => {
          void clock.sleep(request.method === 'PUT' ? 4000 : 0).then(() => {
            onTheWay += 1;
            end(text);
          });
        }) as unknown as typeof response.end;
        api.answer(request, response);
      } else {
        hung.add(response);
        onTheWay -= 1;
        response.on('close', () => (onTheWay += 1));
      }
    });
    const access = staticAccess(server.url);
    const counted = {
      ...access,
      credentials: () => {
        onTheWay += 1;
        return access.credentials();
      },
    };
    const client = new KubeClient(counted, {
      fieldManager: identity,
      onRequest: () => (onTheWay -= 1),
      throttle: { tries: 0, totalSeconds: 0 },
      requestTimeoutMs: 600_000,
    });
    const log: string[] = [];
    const abort = new AbortController();
    const elector = new LeaderElector({
      client,
      lease: { namespace: 'team-a', name: 'controller' },
      identity,
      clock,
      random: () => 0,
      onStartedLeading: async (signal) => {
        log.push(`leads ${seconds()}`);
        signal.addEventListener('abort', () => log.push(`told ${seconds()}`));
        await work(signal);
      },
      onStoppedLeading: () => log.push(`stopped ${seconds()}`),
      ...options,
    });
    const candidate: Candidate = {
      elector,
      log,
      network: 'up',
      stop: () => abort.abort(new Error('shutting down')),
      ended: elector.run(abort.signal),
    };
    candidate.ended.catch(() => undefined);
    cleanups.push(
      () => server.close(),
      () => client.close(),
      async () => {
        abort.abort();
        await clock.advance(60_000);
      },
    );
    return candidate;
  };
  const lease = () => api.objects.get('controller') as Lease | undefined;
  return { api, clock, join, lease };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

describe('leader election', () => {
  it('writes a Lease as the API wants it, times with six digits', async () => {
    const { clock, join, lease } = election();
    await join('a');
    await clock.advance(0);
    expect(lease()?.spec).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 10,
      leaseTransitions: 0,
    });
    expect(lease()?.spec?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('lets one lead while it renews, however long', async () => {
    const { clock, join } = election();
    const a = await join('a');
    await clock.advance(0);
    const b = await join('b');
    await clock.advance(300_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    expect([a.log, b.log]).toEqual([['leads 0'], []]);
  });

  it('gives the lease back on a stop, after its work has ended, so that the next leads within a retry', async () => {
    const { clock, join, lease } = election();
    const a = await join('a', async (signal) => {
      await untilAborted(signal);
      await clock.sleep(3000);
    });
    await clock.advance(0);
    const b = await join('b');
    await clock.advance(10_000);
    a.stop();
    await clock.advance(2900);
    expect([a.elector.isLeader, lease()?.spec?.holderIdentity]).toEqual([true, 'a']);
    await clock.advance(2100);
    expect(await a.ended).toBe('stopped');
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
    expect(lease()?.spec?.leaseTransitions).toBe(1);
  });

  it.each(['refused', 'hangs'] as const)(
    'stops a leader whose requests are %s before another can lead, and another leads',
    async (network) => {
      const { clock, join } = election();
      const a = await join('a');
      await clock.advance(0);
      const b = await join('b');
      await clock.advance(20_000);
      a.network = network;
      await clock.advance(30_000);
      expect(await a.ended).toBe('lost');
      const told = Number(a.log.find((line) => line.startsWith('told'))?.split(' ')[1]);
      const led = Number(b.log[0]?.split(' ')[1]);
      // Last renewed at 20 s at the latest; told within 7 s of it, the other not before 10 s.
      expect(told).toBeLessThanOrEqual(27);
      expect(led - told).toBeGreaterThanOrEqual(2.5);
      expect(b.elector.isLeader).toBe(true);
    },
  );

  it('survives a failure shorter than the renew deadline', async () => {
    const { clock, join } = election();
    const a = await join('a');
    await clock.advance(4000);
    a.network = 'refused';
    await clock.advance(4500);
    a.network = 'up';
    await clock.advance(30_000);
    expect(a.log).toEqual(['leads 0']);
    expect(a.elector.isLeader).toBe(true);
  });

  it('fences the writes of a process that was frozen, before any timer of it has run', async () => {
    const { clock, join } = election();
    const a = await join('a');
    await clock.advance(1000);
    expect(() => a.elector.fence()).not.toThrow();
    clock.jump(7000);
    expect(() => a.elector.fence()).toThrow(NotLeaderError);
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(10_000);
    expect(await a.ended).toBe('lost');
  });

  it('counts from before a renewal, not from its late answer', async () => {
    const { clock, join } = election();
    const a = await join('a');
    await clock.advance(1000);
    a.network = 'answers late';
    // Asks at 2 s, hears at 6 s, may lead until 9 s.
    await clock.advance(6500);
    a.network = 'hangs';
    await clock.advance(1400);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(200);
    expect(a.elector.isLeader).toBe(false);
  });

  it.each(['thief', ''])('gives up at once when it finds another holder: "%s"', async (holderIdentity) => {
    const { api, clock, join, lease } = election();
    const a = await join('a');
    await clock.advance(1000);
    api.put('controller', { spec: { ...lease()?.spec, holderIdentity } });
    await clock.advance(2000);
    expect(await a.ended).toBe('lost');
    expect(lease()?.spec?.holderIdentity).toBe(holderIdentity);
  });

  it('does not trust the clock of the holder: it waits for a whole duration without a change', async () => {
    const { api, clock, join } = election();
    const spec = {
      holderIdentity: 'gone',
      leaseDurationSeconds: 10,
      renewTime: '2001-01-01T00:00:00.000000Z',
      acquireTime: '2001-01-01T00:00:00.000000Z',
    };
    api.put('controller', { spec });
    const a = await join('a');
    await clock.advance(9900);
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(2100);
    expect(a.elector.isLeader).toBe(true);
  });

  it('lets exactly one win when many find the lease free at once', async () => {
    const { clock, join } = election();
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((identity) => join(identity)));
    await clock.advance(5000);
    expect(all.filter(({ elector }) => elector.isLeader)).toHaveLength(1);
  });

  it('hands on what the work fails with, and gives the lease back', async () => {
    const { clock, join, lease } = election();
    const a = await join('a', () => Promise.reject(new Error('the work broke')));
    await clock.advance(5000);
    await expect(a.ended).rejects.toThrow('the work broke');
    expect(lease()?.spec?.holderIdentity).toBe('');
  });

  it('refuses times that could let two lead', async () => {
    const { join } = election();
    const timing = { leaseSeconds: 5, renewDeadlineSeconds: 5, retrySeconds: 1 };
    await expect(join('a', untilAborted, { timing })).rejects.toThrow(RangeError);
  });
});
