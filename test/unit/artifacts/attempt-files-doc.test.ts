import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attemptMetaSchema } from '../../../src/api/attempt-meta.ts';
import {
  runtimeProbeSchema,
  timelineSchema,
  timelineSpanSchema,
  toolCallRecordSchema,
  toolUsageSchema,
  transcriptHeaderSchema,
} from '../../../src/api/attempt-records.ts';
import { attemptResultSchema, usageSchema } from '../../../src/api/attempt.ts';
import { manifestEntrySchema, manifestSchema, OMISSION_REASONS } from '../../../src/api/manifest.ts';
import { attemptLayout } from '../../../src/api/run-layout.ts';

const page = await readFile(join(import.meta.dirname, '../../../docs/reference/attempt-files.md'), 'utf8');

/** The part of the page below a heading. */
function section(title: string): string {
  const [, rest] = page.split(`\n## ${title}\n`);
  return rest?.split('\n## ')[0] ?? '';
}

describe('docs/reference/attempt-files.md', () => {
  it('names every file of an attempt', () => {
    const names = Object.values(attemptLayout('/a')).flatMap((path) =>
      typeof path === 'string' && path !== '/a' ? [path.slice('/a/'.length)] : [],
    );
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(page).toContain(`| \`${name}`);
    expect(page).toContain('| `continuation_NN.md`');
  });

  it.each([
    ['transcript.jsonl', [transcriptHeaderSchema]],
    ['tool_usage.json', [toolUsageSchema, toolCallRecordSchema]],
    ['runtime_probe.json', [runtimeProbeSchema]],
    ['usage.json', [usageSchema]],
    ['timeline.json', [timelineSchema, timelineSpanSchema]],
    ['meta.json', [attemptMetaSchema]],
    ['manifest.json', [manifestSchema, manifestEntrySchema]],
    ['result.json', [attemptResultSchema]],
  ] as const)('names every field of %s', (file, schemas) => {
    const text = section(file);
    for (const schema of schemas) {
      const fields = Object.keys(schema.shape).filter((field) => field !== 'schema_version');
      for (const field of fields) expect(text).toMatch(new RegExp(`[\`{ ]${field}[?\`,} \\[]`));
    }
  });

  it('names every reason to leave a file out', () => {
    for (const reason of OMISSION_REASONS) expect(page).toContain(`\`${reason}\``);
  });
});
