import { FAILURE_RULES } from './failure-rules.ts';

/** The failure-class table as rows of Markdown, in order; docs/explanation/failure-classes.md holds them. */
export function failureTable(): string[] {
  return FAILURE_RULES.map((rule) => {
    const retry = rule.retry === null ? 'no' : rule.counted === false ? 'yes, not counted' : rule.retry;
    return `| \`${rule.reason}\` | ${rule.class} | ${retry} | ${rule.execution ?? 'error'} | ${rule.doc} |`;
  });
}
