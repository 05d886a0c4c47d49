import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { z } from 'zod';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { scriptSchema } from '../../../src/api/scenario.ts';
import { validateYaml } from '../../../src/files/problems.ts';
import { didYouMean, editDistance } from '../../../src/files/suggest.ts';
import { parseYaml } from '../../../src/files/yaml.ts';

const refused = (schema: z.ZodType, text: string): string[] => {
  try {
    validateYaml(schema, parseYaml(text, 'f.yaml'));
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message.split('\n');
    throw error;
  }
  return [];
};

describe('validateYaml', () => {
  it('returns the value with defaults', () => {
    const schema = z.strictObject({ a: z.int(), b: z.string().default('x') });
    expect(validateYaml(schema, parseYaml('a: 1', 'f.yaml'))).toEqual({ a: 1, b: 'x' });
  });

  it('says for each type what it must be and what it is, with line and field', () => {
    const schema = z.strictObject({
      name: z.string(),
      count: z.int().min(1).max(9),
      list: z.array(z.string()).min(1),
      map: z.record(z.string(), z.number()),
      word: z.enum(['alpha', 'beta']),
      flag: z.boolean(),
      address: z.url({ protocol: /^https?$/ }),
    });
    const text = 'name: 012\ncount: 10\nlist: []\nmap: {a: b}\nword: alhpa\nflag: "yes"\naddress: nowhere\n';
    expect(refused(schema, text)).toEqual([
      'f.yaml:1: name: must be text, not the number 10. Put it in quotes.',
      'f.yaml:2: count: must be at most 9, not the number 10',
      'f.yaml:3: list: must not be empty',
      'f.yaml:4: map.a: must be a number, not "b"',
      'f.yaml:5: word: must be one of alpha, beta, not "alhpa". Did you mean "alpha"?',
      'f.yaml:6: flag: must be true or false, not "yes"',
      'f.yaml:7: address: Invalid URL',
    ]);
  });

  it('tells a misspelt field once, not also as missing', () => {
    const schema = z.strictObject({ outer: z.strictObject({ timeout: z.number() }) });
    expect(refused(schema, 'outer:\n  tiemout: 5\n')).toEqual([
      'f.yaml:2: outer.tiemout: is not a field that exists here. Did you mean "timeout"?',
    ]);
    expect(refused(schema, 'outer: {}\n')).toEqual([
      'f.yaml:1: outer.timeout: is required but missing. Add it: a number.',
    ]);
  });

  it('picks among alternatives the one that was meant', () => {
    expect(refused(scriptSchema, '- shel: ls\n')).toEqual([
      'f.yaml:1: [0].shel: is not a field that exists here. Did you mean "shell"?',
    ]);
    expect(refused(scriptSchema, '- edit: {path: a, old: b}\n')).toEqual([
      'f.yaml:1: [0].edit.new: is required but missing. Add it: text.',
    ]);
    expect(refused(scriptSchema, '- wait: soon\n')).toEqual([
      'f.yaml:1: [0].wait: must be a number, not "soon"',
    ]);
  });

  it('takes remedies from custom checks', () => {
    const schema = z.strictObject({ a: z.string() }).superRefine((_value, context) => {
      context.addIssue({ code: 'custom', path: ['a'], message: 'is odd', params: { remedy: 'Mend it.' } });
    });
    expect(refused(schema, 'a: x')).toEqual(['f.yaml:1: a: is odd. Mend it.']);
  });
});

describe('suggestions', () => {
  it('measure distance as a metric that counts a swap as one', () => {
    expect(editDistance('tiemout', 'timeout')).toBe(1);
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });

  it('are given for what is near and only for that', () => {
    const known = ['timeout_seconds', 'prompt', 'id'];
    expect(didYouMean('Timeout-Seconds', known)).toBe('Did you mean "timeout_seconds"?');
    expect(didYouMean('timeout', known)).toBe('Did you mean "timeout_seconds"?');
    expect(didYouMean('colour', known)).toBeUndefined();
    expect(didYouMean('x'.repeat(100_000), known)).toBeUndefined();
  });
});
