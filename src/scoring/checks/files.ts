import type { Check } from '../../api/scenario.ts';
import { allOrNothing, type CheckContext, type Credit } from './check-context.ts';
import { shareFound } from './responses.ts';

type CheckOf<Type extends Check['type']> = Extract<Check, { type: Type }>;

/** A folder counts, too; a link never does. */
export async function gradeFileExists(check: CheckOf<'file_exists'>, context: CheckContext): Promise<Credit> {
  const exists = await context.workspace.exists(check.path);
  return allOrNothing(exists, `${check.path} ${exists ? 'exists' : 'is missing'}`);
}

export async function gradeFileContains(
  check: CheckOf<'file_contains'>,
  context: CheckContext,
): Promise<Credit> {
  const file = await context.workspace.readText(check.path);
  switch (file.kind) {
    case 'missing':
      return { ratio: 0, detail: `${check.path} is missing` };
    case 'unreadable':
      return { ratio: 0, detail: `${check.path} ${file.reason}` };
    case 'text':
      // Python's text mode: every kind of line end reads as a line feed, so that a pattern of two lines matches.
      return shareFound(check.patterns, file.text.replace(/\r\n?/g, '\n'));
  }
}
