import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { traceSchema } from '../../../src/api/trace.ts';
import { checkContext } from '../../../src/scoring/checks/check-context.ts';
import { evaluateCheck } from '../../../src/scoring/checks/evaluate.ts';
import { normaliseTrace } from '../../../src/scoring/normalise-trace.ts';
import { checkFileSchema } from '../../../src/suite/check-file.ts';
import { workspaceOf } from './workspace-of.ts';

/** Cases of our own; the expected points follow from the table of docs/reference/checks.md by hand. */
const caseSchema = z.strictObject({
  name: z.string(),
  check: z.record(z.string(), z.unknown()),
  calls: z.array(z.tuple([z.string(), z.unknown()])).default([]),
  results: z.array(z.tuple([z.string(), z.unknown(), z.unknown()])).default([]),
  said: z.array(z.string()).default([]),
  files: z.record(z.string(), z.string()).default({}),
  audit_state: z.record(z.string(), z.unknown()).default({}),
  earned: z.number(),
  passed: z.boolean(),
});
const cases = z
  .array(caseSchema)
  .parse(JSON.parse(readFileSync(new URL('cases/checks.json', import.meta.url), 'utf8')));

describe('declarative checks', () => {
  it.each(cases)(
    '$check.type: $name',
    async ({ check, calls, results, said, files, audit_state, earned, passed }) => {
      const events = [
        ...calls.map(([tool, args]) => ({ type: 'tool_call', tool, args })),
        ...results.map(([tool, result, status]) => ({ type: 'tool_result', tool, result, status })),
        ...said.map((text) => ({ type: 'assistant_message', text })),
      ].map((event, index) => ({ ...event, seq: index + 1 }));
      const trace = normaliseTrace(traceSchema.parse({ events, audit_state }));
      const parsed = checkFileSchema.parse({ id: 'check', points: 2, ...check });
      const graded = await evaluateCheck(parsed, checkContext(trace, workspaceOf(files)));
      expect(graded).toMatchObject({ earned, passed, points: parsed.points, id: 'check' });
    },
  );

  it('has cases of every type that earn nothing and everything', () => {
    const types = new Set(cases.map(({ check }) => check['type']));
    expect(types.size).toBe(18);
    for (const type of types) {
      const passed = cases.filter(({ check }) => check['type'] === type).map((one) => one.passed);
      expect([type, new Set(passed)]).toEqual([type, new Set([true, false])]);
    }
  });
});
