import { gatewayServiceName, podName, runChildName } from '../api/names.ts';
import { PORTS } from '../api/pod-contract.ts';
import type { ResolvedTimeouts } from '../api/timeouts.ts';
import { mintToken } from '../gateway/token.ts';
import type { KubeClient } from '../kube/client.ts';
import { SECRETS, SERVICES } from '../kube/resource.ts';
import { needsGateway } from './objects/context.ts';
import { readGatewaySecret } from './objects/gateway.ts';
import type { RunView } from './run-view.ts';
import { activeDeadlineSeconds } from './trial/clocks.ts';

interface Access {
  readonly clusterIP: string;
  readonly secret: string;
}

/** A token outlives its pod's own deadline by this, and by the time it may queue. */
const TOKEN_SLACK_SECONDS = 600;
/** Life of a token of the controller's own: one call. */
const CONTROL_SECONDS = 60;

/** Where runs' gateways are, and the tokens with which they are called. Secrets are read once a run. */
export class GatewayAccess {
  readonly #client: KubeClient;
  readonly #now: () => number;
  readonly #known = new Map<string, Access>();

  constructor(client: KubeClient, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** What an attempt's pod is told of the gateway; null where the run has none, `unknown` while it is not made. */
  async forAttempt(
    run: RunView,
    trial: string,
    attempt: number,
    timeouts: ResolvedTimeouts,
    signal: AbortSignal,
  ): Promise<{ readonly clusterIP: string; readonly token: string } | null | 'unknown'> {
    if (!needsGateway(run)) return null;
    const access = await this.#access(run, signal);
    if (access === null) return 'unknown';
    const seconds = timeouts.queued + activeDeadlineSeconds(timeouts) + TOKEN_SLACK_SECONDS;
    const token = mintToken(access.secret, {
      trial,
      attempt,
      podName: podName(trial, attempt),
      role: 'agent',
      exp: Math.ceil(this.#now() / 1000 + seconds),
    });
    return { clusterIP: access.clusterIP, token };
  }

  /**
   * Calls the control port of a run's gateway; null while the gateway is not made.
   *
   * @throws when it does not answer, or the signal aborts
   */
  async control(
    run: RunView,
    route: 'ended' | 'preflight',
    body: object,
    signal: AbortSignal,
  ): Promise<Response | null> {
    const access = needsGateway(run) ? await this.#access(run, signal) : null;
    if (access === null) return null;
    const exp = Math.ceil(this.#now() / 1000) + CONTROL_SECONDS;
    const token = mintToken(access.secret, { role: 'control', exp });
    return await fetch(`http://${access.clusterIP}:${PORTS.gatewayControl}/control/${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
  }

  forget(runUid: string): void {
    this.#known.delete(runUid);
  }

  async #access(run: RunView, signal: AbortSignal): Promise<Access | null> {
    const known = this.#known.get(run.uid);
    if (known !== undefined) return known;
    const { namespace } = run;
    const [secret, service] = await Promise.all([
      this.#client.find(SECRETS, { namespace, name: runChildName(run.name, 'gateway') }, { signal }),
      this.#client.find(SERVICES, { namespace, name: gatewayServiceName(run.uid) }, { signal }),
    ]);
    const key = secret === null ? null : readGatewaySecret({ data: secret.data ?? {} });
    const clusterIP = service?.spec?.clusterIP;
    if (key === null || clusterIP === undefined || clusterIP === 'None') return null;
    const access = { clusterIP, secret: key };
    this.#known.set(run.uid, access);
    return access;
  }
}
