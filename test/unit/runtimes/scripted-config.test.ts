import { describe, expect, it } from 'vitest';
import { runtimeSpecSchema } from '../../../src/api/benchmark-run.ts';
import { BEHAVIOURS } from '../../../src/api/vocabulary.ts';
import { scriptedAdapter } from '../../../src/runtimes/scripted/adapter.ts';
import { behaviourOf, scriptedConfigSchema } from '../../../src/runtimes/scripted/config.ts';
import { scriptedProgram } from '../../../src/runtimes/scripted/program.ts';
import { scriptProblems } from '../../../src/runtimes/scripted/script.ts';

const runtime = (fields: Record<string, unknown> = {}) =>
  runtimeSpecSchema.parse({ id: 'scripted', ...fields });

describe('the behaviour of a scenario', () => {
  it('is its own, else that of the run, else solve', () => {
    expect(behaviourOf(runtime(), 'a')).toBe('solve');
    expect(behaviourOf(runtime({ behaviour: 'noop' }), 'a')).toBe('noop');
    expect(behaviourOf(runtime({ behaviour: 'noop', behaviours: { a: 'hang' } }), 'a')).toBe('hang');
    expect(behaviourOf(runtime({ behaviour: 'noop', behaviours: { a: 'hang' } }), 'b')).toBe('noop');
    expect(behaviourOf(runtime({ behaviours: { a: 'hang' } }), 'toString')).toBe('solve');
  });
});

describe('what a run of the scripted runtime needs', () => {
  const scenarios = [
    { id: 'full', scripted: ['solve', 'wrong', 'unsafe'] },
    { id: 'bare', scripted: [] },
  ];

  it('is a script for each scenario whose behaviour is one', () => {
    const missing = (behaviour: string) =>
      scriptProblems(runtime({ behaviour }), scenarios).map((p) => p.file);
    const needing = BEHAVIOURS.filter((behaviour) => missing(behaviour).length > 0);
    expect(needing).toEqual(['solve', 'wrong', 'unsafe', 'provider429']);
    expect(missing('unsafe')).toEqual(['scripted/bare/unsafe.yaml']);
    expect(missing('provider429')).toEqual(['scripted/bare/solve.yaml']);
  });

  it('names scenario, behaviour and file', () => {
    const [problem] = scriptProblems(runtime({ behaviour: 'wrong' }), scenarios);
    expect(problem).toMatchObject({
      file: 'scripted/bare/wrong.yaml',
      message: 'scenario bare has no script for behaviour wrong',
    });
  });

  it('is that every scenario it names is one of the suite', () => {
    const spec = runtime({ behaviours: { ful: 'noop', zzzzzz: 'noop', bare: 'noop' } });
    expect(scriptProblems(spec, scenarios)).toEqual([]);
    expect(scriptProblems(spec, scenarios, ['full', 'bare'])).toMatchObject([
      { field: 'spec.runtime.behaviours.ful', remedy: 'Did you mean "full"?' },
      { field: 'spec.runtime.behaviours.zzzzzz', remedy: 'Remove the entry.' },
    ]);
  });
});

describe('the configuration of the scripted runtime', () => {
  it('has a default for everything', () => {
    expect(scriptedConfigSchema.parse({})).toMatchObject({
      provider429: { refusals: 1 },
      crash: { steps: 1, exitCode: 70 },
      flood: { capMiB: 2048 },
    });
    expect(scriptedAdapter.validate(runtime())).toEqual([]);
  });

  it.each([
    [{ refusals: 2 }, 'spec.runtime.config', /refusals/],
    [{ provider429: { refusal: 2 } }, 'spec.runtime.config.provider429', /refusal/],
    [{ provider429: { refusals: '2' } }, 'spec.runtime.config.provider429.refusals', /number/],
    [{ crash: { exitCode: 0 } }, 'spec.runtime.config.crash.exitCode', />=1/],
    [{ crash: { signal: 'SIGSTOP' } }, 'spec.runtime.config.crash.signal', /SIGKILL/],
    [{ flood: { capMiB: 1e9 } }, 'spec.runtime.config.flood.capMiB', /<=65536/],
  ])('refuses %j and names the field', (config, field, message) => {
    expect(scriptedAdapter.validate(runtime({ config }))).toMatchObject([
      { field, message: expect.stringMatching(message) as string },
    ]);
  });

  it('names every wrong field, not only the first', () => {
    const config = { hang: { steps: -1 }, oom: { capMiB: 0 }, other: {} };
    expect(scriptedAdapter.validate(runtime({ config }))).toHaveLength(3);
  });
});

describe('the program of the scripted agent', () => {
  it('needs nothing but Node.js and what is staged beside it', async () => {
    const program = await scriptedProgram();
    const names = program.map(({ name }) => name);
    expect(names[0]).toBe('agent.mjs');
    for (const { content } of program) {
      const imported = [...content.matchAll(/\bfrom\s+'([^']+)'|\bimport\(/g)].map((match) => match[1]);
      expect(imported.length).toBeGreaterThan(0);
      for (const name of imported) {
        if (!(name ?? '').startsWith('node:')) expect(names).toContain(name?.replace(/^\.\//, ''));
      }
    }
  });
});
