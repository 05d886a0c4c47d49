import type { z } from 'zod';
import { InvalidInputError } from '../api/errors.ts';
import { ENV } from '../api/pod-contract.ts';

/** Environment of a container. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the controller asks of this container.
 *
 * @throws InvalidInputError naming the variable, and the field that is wrong
 */
export function readRequest<Schema extends z.ZodType>(schema: Schema, env: Environment): z.output<Schema> {
  const text = env[ENV.REQUEST];
  if (text === undefined) {
    throw new InvalidInputError({
      field: ENV.REQUEST,
      message: 'is not set',
      remedy: 'This command runs in a pod that the controller makes.',
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidInputError({ field: ENV.REQUEST, message: 'is not JSON' });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...rest] = parsed.error.issues.map(({ path, message }) => ({
    field: [ENV.REQUEST, ...path].join('.'),
    message,
  }));
  throw new InvalidInputError(
    first === undefined ? { field: ENV.REQUEST, message: 'is invalid' } : [first, ...rest],
  );
}

/** A variable that the controller always sets. @throws InvalidInputError where it is not set */
export function requiredVariable(env: Environment, name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new InvalidInputError({
    field: name,
    message: 'is not set',
    remedy: 'This command runs in a pod that the controller makes.',
  });
}
