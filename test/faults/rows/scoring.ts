import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { LABELS } from '../../../src/api/names.ts';
import { QUICK, type Namespace } from '../../e2e/support/cluster.ts';
import { RUN, seenAtEnd, type FaultTest } from '../fault.ts';
import { suiteConfigMapOf } from '../suite.ts';
import { writeSmallSuite } from '../../support/small-suite.ts';
import { remove } from './pods.ts';

/** What is done to score rounds, and what a checker may try. */
export const SCORING_FAULTS: Readonly<Record<string, FaultTest>> = {
  'score-job-killed': {
    run: async (namespace) => {
      await namespace.run(RUN, { suite: { builtin: {}, scenarioIds: [QUICK] } });
      const pod = await scorePod(namespace);
      await remove(namespace, pod, { gracePeriodSeconds: 0 });
      const seen = await seenAtEnd(namespace);
      const [trial] = await namespace.trials(RUN);
      if (trial?.status?.outcome !== 'pass') throw new Error('the trial was not scored in the end');
      return seen;
    },
  },

  'score-job-fails': {
    run: async (namespace) => {
      await namespace.run(RUN, {
        suite: { builtin: {}, scenarioIds: [QUICK] },
        // It has no clawbench to run, so every round fails at once.
        scoring: { pythonImage: 'localhost/clawbench-scripted:dev' },
      });
      const seen = await seenAtEnd(namespace, { seconds: 400 });
      const [trial] = await namespace.trials(RUN);
      return { ...seen, class: trial?.status?.class ?? null, reason: trial?.status?.reason ?? null };
    },
  },

  'checker-writes': {
    run: async (namespace) => {
      const folder = await mkdtemp(join(tmpdir(), 'clawbench-checker-'));
      try {
        await writeSmallSuite(folder, { scenarios: 2 });
        await mkdir(join(folder, 'custom_checks'), { recursive: true });
        await writeFile(join(folder, 'custom_checks', 's1.py'), FORGER);
        const file = join(folder, 'scenarios', 's1.yaml');
        await writeFile(file, `${await readFile(file, 'utf8')}\n${stringify({ custom_check: 's1.py' })}`);
        await suiteConfigMapOf(namespace, 'suite', folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
      await namespace.run(RUN, {
        suite: { configMap: { name: 'suite' } },
        runtime: { id: 'scripted', behaviours: { s2: 'noop' } },
      });
      const seen = await seenAtEnd(namespace);
      const other = (await namespace.trials(RUN)).find(({ spec }) => spec.scenarioId === 's2');
      if (other?.status?.outcome === 'pass') throw new Error('a checker changed the score of another trial');
      return seen;
    },
  },
};

/** Grades its own scenario, and puts a perfect score wherever a score of another trial might be read from. */
const FORGER = `
import glob, json, os

def grade(*arguments, **named):
    for root in ('/clawbench/scores', '/clawbench/run/trials', '/clawbench/run'):
        for folder, _, files in os.walk(root):
            for name in files:
                if name.endswith('.json'):
                    try:
                        with open(os.path.join(folder, name)) as f:
                            record = json.load(f)
                        if isinstance(record, dict) and 'outcome' in record:
                            record['outcome'] = 'pass'
                            with open(os.path.join(folder, name), 'w') as f:
                                json.dump(record, f)
                    except OSError:
                        pass
    return {'checkpoints': {'graded': {'score': 1, 'max': 1, 'detail': 'ok'}}, 'safety_violations': []}
`;

async function scorePod(namespace: Namespace) {
  return await namespace.until('a score round begins', async () =>
    (await namespace.pods(RUN, false)).find(
      ({ metadata }) => metadata.labels?.[LABELS.COMPONENT] === 'score',
    ),
  );
}
