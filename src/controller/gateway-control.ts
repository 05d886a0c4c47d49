import { readRun } from './cache.ts';
import type { Log } from './deps.ts';
import type { GatewayAccess } from './gateway-access.ts';
import { isReadable, type RunResource } from './run-view.ts';

const PATIENCE_MS = 5_000;

/**
 * Tells a run's gateway that an attempt is over, so that its token is worth nothing any more. Best effort: tokens end
 * by themselves, and nothing waits for it.
 */
export function tellGateway(
  { gateways, log }: { readonly gateways: GatewayAccess; readonly log: Log },
  run: RunResource,
  trial: string,
  attempt: number,
): void {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  void send(gateways, run, trial, attempt, signal).catch((error: unknown) =>
    log.debug({ trial, attempt, error }, 'the gateway could not be told that an attempt ended'),
  );
}

async function send(
  gateways: GatewayAccess,
  object: RunResource,
  trial: string,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  const run = readRun(object);
  if (!isReadable(run)) return;
  const response = await gateways.control(run, 'ended', { trial, attempt }, signal);
  await response?.body?.cancel();
}
