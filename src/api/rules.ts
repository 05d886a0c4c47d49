import type { z } from 'zod';

/**
 * A rule between fields, said once: this program checks `holds`, the API server checks `cel`, and both answer with
 * the same message, which says what to change.
 */
export interface Rule<Value> {
  readonly message: string;
  /** The same in CEL, where `self` is the value (and `oldSelf` what it was, in a rule about changes). */
  readonly cel: string;
  /** Where the message points, below the value itself. */
  readonly field?: readonly string[];
  /** Absent where only a cluster can be contradicted: rules about changes, and about what one machine ignores. */
  readonly holds?: (value: Value) => boolean;
}

/** Key under which a CRD schema carries its CEL rules. */
export const VALIDATIONS = 'x-kubernetes-validations';

/** The schema with the rules attached: as refinements of its own, and as CEL for the CRD that is made from it. */
export function withRules<Schema extends z.ZodType>(
  schema: Schema,
  rules: readonly Rule<z.output<Schema>>[],
): Schema {
  let refined = schema;
  for (const { holds, message, field } of rules) {
    if (holds === undefined) continue;
    refined = refined.refine(holds, { error: message, path: [...(field ?? [])] });
  }
  return refined.meta({
    ...schema.meta(),
    [VALIDATIONS]: rules.map(({ cel, message, field }) => ({
      rule: cel,
      message,
      ...(field === undefined ? {} : { fieldPath: field.map((part) => `.${part}`).join('') }),
    })),
  });
}
