import { access, readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { Clock } from '../api/clock.ts';
import { systemClock } from '../api/clock.ts';
import { InvalidInputError, messageOf } from '../api/errors.ts';
import { ApiUnreachableError } from './errors.ts';

/** What a request needs to be let in: headers, and the TLS material of the connection. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Which API server, and how to be let in. */
export interface ClusterAccess {
  /** Base URL without a slash at its end. */
  readonly server: string;
  /** Namespace of the context, or `default`. */
  readonly namespace: string;
  readonly proxyUrl: string | null;
  /** Credentials no older than 60 s, or as long as a plugin said that they hold. */
  readonly credentials: () => Promise<Credentials>;
  /** Reads them again now, because the server refused the ones it was given. */
  readonly refresh: () => Promise<Credentials>;
}

export interface ConfigSource {
  /** A file named by the user; else $KUBECONFIG, ~/.kube/config, the pod's service account, in this order. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Only the pod's service account. */
  readonly inCluster?: boolean;
}

/** Tokens in files are rotated under us; the kubelet does so well before they end. */
const REREAD_MS = 60_000;

/**
 * Finds the cluster and the credentials for it.
 *
 * @throws InvalidInputError for a kubeconfig named by the user that cannot be used, or an unknown context
 * @throws ApiUnreachableError where the environment names no cluster
 */
export async function loadClusterAccess(
  source: ConfigSource = {},
  clock: Clock = systemClock,
): Promise<ClusterAccess> {
  const config = await loadConfig(source);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw unreachable('the kubeconfig has no current context, or names no cluster');
  const reading = new CredentialReader(config, () => loadConfig(source), clock);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    proxyUrl: cluster.proxyUrl ?? null,
    credentials: () => reading.current(),
    refresh: () => reading.refresh(),
  };
}

/** Access with fixed credentials, e.g. to a server without any. */
export function staticAccess(server: string, credentials: Partial<Credentials> = {}): ClusterAccess {
  const fixed: Credentials = { headers: {}, tls: {}, ...credentials };
  return {
    server: server.replace(/\/+$/, ''),
    namespace: 'default',
    proxyUrl: null,
    credentials: () => Promise.resolve(fixed),
    refresh: () => Promise.resolve(fixed),
  };
}

/** Keeps credentials for a while; callers that ask at once share one reading. */
class CredentialReader {
  #config: KubeConfig;
  readonly #reload: () => Promise<KubeConfig>;
  readonly #clock: Clock;
  #held: { readonly credentials: Credentials; readonly readAtMs: number } | null = null;
  #reading: Promise<Credentials> | null = null;

  constructor(config: KubeConfig, reload: () => Promise<KubeConfig>, clock: Clock) {
    this.#config = config;
    this.#reload = reload;
    this.#clock = clock;
  }

  current(): Promise<Credentials> {
    const held = this.#held;
    if (held !== null && this.#clock.monotonicMs() - held.readAtMs < REREAD_MS) {
      return Promise.resolve(held.credentials);
    }
    // A plugin knows itself when its credentials end: it is not started again before.
    return this.#read(held !== null && !usesPlugin(this.#config));
  }

  refresh(): Promise<Credentials> {
    return this.#read(true);
  }

  #read(reload: boolean): Promise<Credentials> {
    this.#reading ??= this.#readNow(reload).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readNow(reload: boolean): Promise<Credentials> {
    try {
      if (reload) this.#config = await this.#reload();
      const credentials = await credentialsOf(this.#config);
      this.#held = { credentials, readAtMs: this.#clock.monotonicMs() };
      return credentials;
    } catch (thrown) {
      if (thrown instanceof InvalidInputError) throw thrown;
      throw unreachable(`no credentials: ${messageOf(thrown)}`, thrown);
    }
  }
}

const usesPlugin = (config: KubeConfig): boolean => {
  const user = config.getCurrentUser();
  const provider = user?.authProvider as { config?: { tokenFile?: string } } | null | undefined;
  return Boolean(user?.exec) || (Boolean(provider) && provider?.config?.tokenFile === undefined);
};

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions & { servername?: string } = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
  // The library makes an agent for every reading; ours are shared, see transport.ts.
  if (typeof options.agent === 'object') options.agent.destroy();
  if (typeof options.auth === 'string') {
    headers['Authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  const text = (value: unknown) =>
    value instanceof Buffer ? value.toString() : (value as string | undefined);
  return {
    headers,
    tls: {
      ...(options.ca === undefined ? {} : { ca: text(options.ca) ?? '' }),
      ...(options.cert === undefined ? {} : { cert: text(options.cert) ?? '' }),
      ...(options.key === undefined ? {} : { key: text(options.key) ?? '' }),
      ...(options.servername === undefined ? {} : { servername: options.servername }),
      ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
    },
  };
}

async function loadConfig(source: ConfigSource): Promise<KubeConfig> {
  // Loading the library takes a second: only commands that speak to a cluster pay it.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (source.inCluster === true) {
    if (!process.env['KUBERNETES_SERVICE_HOST']) throw unreachable('not in a pod of a cluster');
    config.loadFromCluster();
  } else if (source.kubeconfig !== undefined) {
    const file = source.kubeconfig;
    try {
      config.loadFromFile(file);
      await adoptTokenFiles(config, [file]);
    } catch (thrown) {
      throw new InvalidInputError({ file, message: `not a usable kubeconfig: ${messageOf(thrown)}` });
    }
  } else {
    await loadDefault(config);
  }
  chooseContext(config, source);
  config.clusters = config.clusters.map((cluster) =>
    // The library speaks plain HTTP only to servers that it was told not to verify.
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  return config;
}

async function loadDefault(config: KubeConfig): Promise<void> {
  const named = process.env['KUBECONFIG'] ?? '';
  const inPod = Boolean(process.env['KUBERNETES_SERVICE_HOST']);
  const usual = join(process.env['HOME'] ?? '', '.kube', 'config');
  const files = named !== '' ? named.split(delimiter).filter(Boolean) : (await exists(usual)) ? [usual] : [];
  const found = files.length > 0;
  if (!found && !inPod) {
    throw unreachable(
      'no cluster is configured: set KUBECONFIG, or write ~/.kube/config, or name a kubeconfig',
    );
  }
  try {
    config.loadFromDefault();
    await adoptTokenFiles(config, files);
  } catch (thrown) {
    throw unreachable(`not a usable kubeconfig (KUBECONFIG=${named}): ${messageOf(thrown)}`, thrown);
  }
}

/** A user's `tokenFile`, which the library does not read, as the provider of it that reads files. */
async function adoptTokenFiles(config: KubeConfig, files: readonly string[]): Promise<void> {
  const tokenFiles = new Map<string, string>();
  for (const file of files) {
    const content = parse(await readFile(file, 'utf8')) as { users?: unknown } | null;
    for (const entry of Array.isArray(content?.users) ? (content.users as unknown[]) : []) {
      const { name, user } = entry as { name: string; user?: { tokenFile?: unknown } | null };
      if (typeof user?.tokenFile === 'string') tokenFiles.set(name, resolve(dirname(file), user.tokenFile));
    }
  }
  config.users = config.users.map((user) => {
    const tokenFile = tokenFiles.get(user.name);
    return tokenFile === undefined
      ? user
      : { name: user.name, authProvider: { name: 'tokenFile', config: { tokenFile } } };
  });
}

function chooseContext(config: KubeConfig, source: ConfigSource): void {
  if (source.context === undefined) return;
  if (config.getContextObject(source.context) === null) {
    const known = config.contexts.map((context) => context.name).join(', ');
    throw new InvalidInputError({
      ...(source.kubeconfig === undefined ? {} : { file: source.kubeconfig }),
      field: 'context',
      message: `there is no context ${source.context}`,
      remedy: `Use one of: ${known}`,
    });
  }
  config.setCurrentContext(source.context);
}

const unreachable = (message: string, cause?: unknown) =>
  new ApiUnreachableError('configuration', 'NO_CLUSTER', message, { cause });

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
