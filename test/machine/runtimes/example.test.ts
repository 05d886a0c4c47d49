import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { benchmarkRunSchema } from '../../../src/api/benchmark-run.ts';
import { validateYaml } from '../../../src/files/problems.ts';
import { readYamlFile } from '../../../src/files/yaml.ts';
import { adapterFor } from '../../../src/runtimes/registry.ts';

describe('examples/run.yaml', () => {
  it('runs the built-in suite with the scripted runtime, three trials each, in any namespace', async () => {
    const path = fileURLToPath(new URL('../../../examples/run.yaml', import.meta.url));
    const run = validateYaml(benchmarkRunSchema, await readYamlFile(path));
    expect(run.metadata.namespace).toBeUndefined();
    expect(run.spec.suite.builtin).toEqual({});
    expect(run.spec.trialsPerScenario).toBe(3);
    const adapter = adapterFor(run.spec.runtime.id);
    expect(adapter.id).toBe('scripted');
    expect(adapter.validate(run.spec.runtime)).toEqual([]);
  });
});
