import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { generatedFiles, ROOT } from '../../../hack/generate/outputs.ts';
import { structuralSchema } from '../../../hack/generate/structural.ts';

describe('generated files', async () => {
  const files = await generatedFiles();

  it.each([...files.keys()])('%s is what the schemas give (else: npm run generate)', async (path) => {
    expect(await readFile(join(ROOT, path), 'utf8')).toBe(files.get(path));
  });

  it.each(['crds', 'charts/clawbench-operator/files/crds'])(
    '%s holds no file of an older schema',
    async (folder) => {
      const generated = [...files.keys()].filter((path) => path.startsWith(`${folder}/`));
      expect((await readdir(join(ROOT, folder))).map((name) => join(folder, name)).sort()).toEqual(
        generated.sort(),
      );
    },
  );
});

describe('a structural schema', () => {
  const of = (schema: z.ZodType) => structuralSchema(schema, 'spec');

  it.each([
    ['a string', z.object({ a: z.string() }), 'spec.a needs maxLength'],
    ['a list', z.object({ a: z.array(z.boolean()) }), 'spec.a needs maxItems'],
    ['a string in a list', z.object({ a: z.array(z.string()).max(1) }), 'spec.a[] needs maxLength'],
    ['a map', z.object({ a: z.record(z.string(), z.boolean()) }), 'spec.a needs maxProperties'],
    ['a null', z.object({ a: z.int().nullable() }), 'spec.a may be null, so it needs default(null)'],
    ['a choice', z.object({ a: z.union([z.boolean(), z.int()]) }), 'spec.a: a choice between schemas'],
  ])('refuses %s without a bound or form', (_, schema, message) => {
    expect(() => of(schema)).toThrow(message);
  });

  it('spells out maps with closed keys and keeps values of any kind', () => {
    const schema = z.object({
      closed: z.partialRecord(z.enum(['a', 'b']), z.number()),
      any: z.record(z.string(), z.unknown()).meta({ maxProperties: 3 }),
    });
    expect(of(schema).properties).toEqual({
      closed: {
        type: 'object',
        properties: {
          a: { description: 'For `a`.', type: 'number' },
          b: { description: 'For `b`.', type: 'number' },
        },
      },
      any: { type: 'object', maxProperties: 3, 'x-kubernetes-preserve-unknown-fields': true },
    });
  });

  it('keeps bounds that mean something and drops those of exact integers', () => {
    expect(of(z.int())).toEqual({ type: 'integer', format: 'int64' });
    expect(of(z.int().min(1).max(9).default(4))).toEqual({
      ...{ type: 'integer', format: 'int64', minimum: 1, maximum: 9, default: 4 },
    });
    expect(of(z.number().positive())).toEqual({ type: 'number', minimum: 0, exclusiveMinimum: true });
  });

  it('leaves strictness to the API server and nulls to absence', () => {
    const schema = z.strictObject({ a: z.int().nullable().default(null) });
    expect(of(schema)).toEqual({
      type: 'object',
      properties: { a: { type: 'integer', format: 'int64', nullable: true } },
    });
  });
});
