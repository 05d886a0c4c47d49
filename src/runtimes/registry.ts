import { InvalidInputError } from '../api/errors.ts';
import type { RuntimeId } from '../api/vocabulary.ts';
import type { RuntimeAdapter } from './adapter.ts';
import { resolveRuntimeId } from './runtime-id.ts';
import { scriptedAdapter } from './scripted/adapter.ts';

export { resolveRuntimeId } from './runtime-id.ts';

/** Every adapter of this build. */
const ADAPTERS: Readonly<Partial<Record<RuntimeId, RuntimeAdapter>>> = { scripted: scriptedAdapter };

/**
 * The adapter of a runtime.
 *
 * @param id a runtime id or an alias of one
 * @throws InvalidInputError when there is no such runtime, or no adapter for it in this build
 */
export function adapterFor(id: string): RuntimeAdapter {
  const resolved = resolveRuntimeId(id);
  const adapter = ADAPTERS[resolved];
  if (adapter !== undefined) return adapter;
  throw new InvalidInputError({
    field: 'spec.runtime.id',
    message: `this build has no adapter for runtime ${resolved} yet`,
    remedy: `Use ${Object.keys(ADAPTERS).join(' or ')}.`,
  });
}
