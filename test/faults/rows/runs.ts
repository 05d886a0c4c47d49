import { randomBytes } from 'node:crypto';
import { LABELS, runLabel } from '../../../src/api/names.ts';
import { BENCHMARK_RUNS, PODS } from '../../../src/kube/resource.ts';
import { QUICK, runObject } from '../../e2e/support/cluster.ts';
import { RUN, seen, seenAtEnd, type FaultTest } from '../fault.ts';
import { slowRun } from '../suite.ts';
import { podInTurn, remove } from './pods.ts';

/** What is done to a run, its gateway and its model. */
export const RUN_FAULTS: Readonly<Record<string, FaultTest>> = {
  'model-key-wrong': {
    run: async (namespace) => {
      await namespace.run(RUN, {
        model: { id: 'm', api: 'scripted', parameters: { scripted: { respond: { status: 401 } } } },
      });
      return await seenAtEnd(namespace);
    },
  },

  'gateway-deleted': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, {
        seconds: 3,
        scenarios: 6,
        spec: {
          model: { id: 'm', api: 'scripted' },
          parallelism: 2,
          retry: { infrastructure: 5, backoffSeconds: 1 },
        },
      });
      await podInTurn(namespace);
      const gateways = (await namespace.pods(RUN, false)).filter(
        ({ metadata }) => metadata.labels?.[LABELS.COMPONENT] === 'gateway',
      );
      if (gateways.length !== 1) throw new Error(`${gateways.length} gateways`);
      for (const gateway of gateways) await remove(namespace, gateway, { gracePeriodSeconds: 0 });
      const run = await namespace.ended(RUN, 240);
      const trials = await namespace.trials(RUN);
      const classes = new Set(
        trials.flatMap(({ status }) => (status?.attempts ?? []).map((attempt) => attempt.class ?? null)),
      );
      classes.delete(null);
      const failed = trials.filter(({ status }) => status?.outcome !== 'pass');
      if (failed.length > 0) throw new Error(`${failed.length} trials did not pass in the end`);
      const hit = trials.find(({ status }) => (status?.attempts?.length ?? 0) > 1);
      // Where the deletion fell between two calls nobody noticed, which is as good.
      if (hit === undefined && classes.size === 0)
        return { ...seen(run, trials[0]), class: 'infrastructure' };
      if ([...classes].some((failure) => failure !== 'infrastructure')) {
        throw new Error(`other failures than of infrastructure: ${[...classes].join(', ')}`);
      }
      return seen(run, hit);
    },
  },

  'run-deleted': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, { seconds: 60 });
      await podInTurn(namespace);
      await namespace.cluster.must(['delete', 'brun', RUN, '-n', namespace.name, '--timeout=120s']);
      await namespace.until('nothing of the run is left', async () => {
        const pods = await namespace.cluster.client.list(PODS, {
          namespace: namespace.name,
          labelSelector: `${LABELS.RUN}=${runLabel(RUN)}`,
        });
        const trials = await namespace.trials(RUN);
        return pods.items.length + trials.length === 0;
      });
      return { class: null, reason: null, attempts: 0, says: '' };
    },
  },

  'run-cancelled': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, { seconds: 60 });
      await podInTurn(namespace);
      await namespace.patchRun(RUN, { cancel: true });
      return await seenAtEnd(namespace);
    },
  },

  'run-suspended': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, { seconds: 5, scenarios: 3, spec: { parallelism: 1 } });
      await podInTurn(namespace);
      await namespace.patchRun(RUN, { suspend: true });
      await namespace.condition(RUN, 'Suspended', 'True');
      await namespace.until('running attempts end', async () => (await namespace.pods(RUN)).length === 0);
      const open = (await namespace.trials(RUN)).filter(
        ({ status }) => (status?.attempts ?? []).length === 0,
      );
      if (open.length === 0) throw new Error('suspended, and every trial was started nevertheless');
      const { status } = await namespace.getRun(RUN);
      await namespace.patchRun(RUN, { suspend: false });
      return await seenAtEnd(namespace, { says: status?.phase ?? '' });
    },
  },

  'frozen-field': {
    run: async (namespace) => {
      await namespace.run(RUN);
      const refused = await namespace.cluster.apply(namespace.name, runObject(RUN, { trialsPerScenario: 2 }));
      if (refused.code === 0) throw new Error('the API server took the change');
      return await seenAtEnd(namespace, { says: refused.stderr });
    },
  },

  'long-name': {
    run: async (namespace) => {
      const name = `long-${randomBytes(3).toString('hex')}.`.padEnd(253, 'name.of-a-run');
      await namespace.run(name.replace(/[^a-z0-9]$/, 'x'), {
        suite: { builtin: {}, scenarioIds: [QUICK] },
        model: { id: 'm', api: 'scripted' },
      });
      const [run] = (await namespace.cluster.client.list(BENCHMARK_RUNS, { namespace: namespace.name }))
        .items;
      const called = run?.metadata.name ?? '';
      const ended = await namespace.ended(called);
      return seen(ended, (await namespace.trials(called))[0]);
    },
  },
};
