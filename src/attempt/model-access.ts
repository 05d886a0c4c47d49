import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Observation, Usage } from '../api/attempt.ts';
import { messageOf } from '../api/errors.ts';
import type { ModelCallRecord } from '../api/model-calls.ts';
import { allTokens } from '../gateway/accounts.ts';
import type { AttemptEndpoint, EndpointCall } from '../gateway/attempt-endpoint.ts';

/** The harness's own carrying of the agent's model calls, where the run has a model. */
export type ModelAccess = Pick<AttemptEndpoint, 'heldMs' | 'calls' | 'accounted'>;

type ProviderError = Extract<Observation, { kind: 'provider_error' }>;

/**
 * Holds what a session says of provider errors against the calls that the harness carried, and adds what only those
 * show. An agent owns its session; it must not be able to make a failure of its own look like its provider's. So a
 * session's errors are never final by its word: the last call that was answered at all is what counts. When it ended
 * in a provider's error and the agent did not come to a good end after it, that error is why.
 *
 * @param observations what was observed so far, with the session's claims
 * @param calls the attempt's ended calls in the order they ended
 * @param inOrder the agent came to a good end of its own: exit code 0, not killed, complete
 */
export function confirmProviderErrors(
  observations: readonly Observation[],
  calls: readonly EndpointCall[],
  inOrder: boolean,
): Observation[] {
  const confirmed = observations.map((observation) =>
    observation.kind === 'provider_error'
      ? { ...observation, final: false, confirmed: wasSeen(observation, calls) }
      : observation,
  );
  const last = lastAnswered(calls);
  const added: Observation[] = [];
  if (last?.result === 'provider_error' && !inOrder) {
    const { error, status } = last;
    const said = observations.findLast(
      (observation): observation is ProviderError =>
        observation.kind === 'provider_error' && observation.error === error,
    );
    const message = said?.message ?? `the last model call was answered with ${status ?? 'no status'}`;
    added.push({ kind: 'provider_error', error, status, final: true, message, confirmed: true });
  }
  const down = calls.filter((call) => call.result === 'gateway_down');
  const lastDown = down.at(-1);
  if (lastDown !== undefined) {
    // An agent that went on without its model was kept from its best, even where it ended in order.
    const final = last?.result === 'gateway_down';
    added.push({ kind: 'gateway_down', calls: down.length, final, message: lastDown.message });
  }
  return [...confirmed, ...added];
}

function wasSeen({ error, status }: ProviderError, calls: readonly EndpointCall[]): boolean {
  return calls.some(
    (call) =>
      call.result === 'provider_error' &&
      (call.error === error || (status !== null && call.status === status)),
  );
}

/** The last call that says something of provider or gateway; one that the agent gave up or got wrong says nothing. */
function lastAnswered(calls: readonly EndpointCall[]): EndpointCall | undefined {
  return calls.findLast(({ result }) => result !== 'abandoned' && result !== 'refused');
}

/**
 * An attempt's usage with tokens and cost as the gateway counted them, which no agent can write into. What one good
 * answer did not tell makes the sum unknown.
 */
export function accountedUsage(usage: Usage, calls: readonly ModelCallRecord[]): Usage {
  const good = calls.filter(({ end, error }) => end === 'answered' && error === null);
  const sum = (read: (call: ModelCallRecord) => number | null): number | null =>
    good.some((call) => read(call) === null)
      ? null
      : calls.reduce((total, call) => total + (read(call) ?? 0), 0);
  return {
    ...usage,
    inputTokens: sum((call) => call.usage?.input ?? null),
    outputTokens: sum((call) => call.usage?.output ?? null),
    cacheReadTokens: sum((call) => call.usage?.cacheRead ?? null),
    cacheWriteTokens: sum((call) => call.usage?.cacheWrite ?? null),
    totalTokens: sum((call) => (call.usage === null ? null : allTokens(call.usage))),
    costUsd: sum((call) => call.costUsd),
    source: 'gateway',
  };
}

/**
 * The attempt's calls by the gateway's account. Where the gateway does not say, the reason is left in the attempt's
 * logs.
 *
 * @returns null without a model, or when the gateway does not say
 */
export async function accountedCalls(
  access: ModelAccess | undefined,
  logs: string,
): Promise<readonly ModelCallRecord[] | null> {
  try {
    return (await access?.accounted()) ?? null;
  } catch (error) {
    await writeFile(join(logs, 'model-calls.log'), `${messageOf(error)}\n`);
    return null;
  }
}
