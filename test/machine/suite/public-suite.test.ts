import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/files/yaml.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import type { LoadedSuite } from '../../../src/suite/loaded-suite.ts';
import { CARRIED_FIELDS, isDerivedTag } from '../../../src/suite/scenario-file.ts';
import { selectScenarios } from '../../../src/suite/select.ts';
import type { SuiteSelector } from '../../../src/api/benchmark-run.ts';

const folder = resolve(import.meta.dirname, '../../../../shared/data/clawprobench-scenarios');
const present = existsSync(folder);

describe('the 162 scenario files of the public benchmark', () => {
  let suite: LoadedSuite;
  beforeAll(async () => {
    if (present) suite = await loadSuite(folder);
  });
  const scenarios = () => (suite.format === 'scenario' ? suite.scenarios : []);
  const countOf = (selector: Partial<SuiteSelector>) => selectScenarios(suite, selector).ids.length;

  it.skipIf(!present)(
    'load without loss: every key is found again with its value (skipped without the data)',
    async () => {
      expect(scenarios()).toHaveLength(162);
      const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.yaml'));
      expect(new Set(scenarios().map(({ file }) => file))).toEqual(new Set(files));
      for (const { file, scenario } of scenarios()) {
        const written = parseYaml(await readFile(join(folder, file), 'utf8'), file).value as Record<
          string,
          unknown
        >;
        for (const [key, value] of Object.entries(written)) {
          const carried = (CARRIED_FIELDS as readonly string[]).includes(key);
          const loaded = carried ? scenario.carried[key] : (scenario as Record<string, unknown>)[key];
          if (key === 'tags') {
            const own = (value as string[]).filter((tag) => !isDerivedTag(tag));
            expect(scenario.tags.filter((tag) => !isDerivedTag(tag))).toEqual([...new Set(own)]);
          } else {
            expect({ file, key, loaded }).toEqual({ file, key, loaded: value });
          }
        }
      }
    },
  );

  it.skipIf(!present)('select to the published counts (skipped without the data)', () => {
    expect({
      all: countOf({ status: 'all' }),
      incubating: countOf({ status: 'incubating' }),
      intelligenceGroup: countOf({ status: 'all', groups: ['intelligence'] }),
      coverageGroup: countOf({ status: 'all', groups: ['coverage'] }),
      full: countOf({}),
      core: countOf({ profile: 'core' }),
      intelligence: countOf({ profile: 'intelligence' }),
      native: countOf({ profile: 'native' }),
      coverage: countOf({ profile: 'coverage' }),
    }).toEqual({
      all: 162,
      incubating: 60,
      intelligenceGroup: 130,
      coverageGroup: 32,
      full: 102,
      core: 26,
      intelligence: 95,
      native: 36,
      coverage: 7,
    });
  });
});
