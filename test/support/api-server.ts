import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePrograms, type Programs } from '../../hack/devcluster/build/go-build.ts';
import { API_SERVER_MODULES } from '../../hack/devcluster/build/modules.ts';
import { apiServerArguments, isReady } from '../../hack/devcluster/control-plane/api-server.ts';
import { controllerManagerArguments } from '../../hack/devcluster/control-plane/controllers.ts';
import { etcdArguments } from '../../hack/devcluster/control-plane/etcd.ts';
import { Authority } from '../../hack/devcluster/pki/authority.ts';
import { writeKubeconfig } from '../../hack/devcluster/pki/kubeconfig.ts';
import { freePorts, isListening } from '../../hack/devcluster/system/ports.ts';
import {
  endProcess,
  isAlive,
  logTail,
  startProcess,
  type ProcessIdentity,
} from '../../hack/devcluster/system/processes.ts';
import { waitFor } from '../../hack/devcluster/system/wait.ts';

export interface ApiServerOptions {
  /** Admission plugins beside the default ones. */
  readonly admissionPlugins?: readonly string[];
  /** Record every request but the reads of the server itself; see `auditLogPath`. */
  readonly auditLog?: boolean;
  /**
   * Also run the controller manager: namespaces end, owned objects are collected, service accounts appear, Jobs make
   * pods. Without it the ServiceAccount admission plugin is off, because it would refuse every pod.
   */
  readonly controllerManager?: boolean;
}

/** A real Kubernetes API server with an etcd of its own and no node: what is created stays as it is. */
export interface TestApiServer {
  readonly url: string;
  /** The authority's certificate, PEM. */
  readonly caData: string;
  /** Bearer token of the user `admin` of group system:masters, who may do everything. */
  readonly token: string;
  /** A kubeconfig with that token. */
  readonly kubeconfigPath: string;
  /** Where the audit log is written, with `auditLog`. */
  readonly auditLogPath: string | undefined;
  /** Kills the API server (SIGKILL); etcd and its content stay. Returns when its port is closed. */
  kill(): Promise<void>;
  /** Starts the API server again on the same port, after killing it when it runs. */
  restart(): Promise<void>;
  /** Writes a kubeconfig with another token, for example one of a service account. */
  kubeconfigFor(user: string, token: string): Promise<string>;
  /** Ends everything and removes all files. */
  stop(): Promise<void>;
}

/**
 * Starts an API server on free ports of this machine, with state in a temporary folder; it ends with the process that
 * started it, however that ends. Takes about five seconds where the programs are built, minutes where they are not.
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<TestApiServer> {
  const programs = await ensurePrograms(API_SERVER_MODULES, (line) => process.stderr.write(`${line}\n`));
  const folder = await mkdtemp(join(tmpdir(), 'clawbench-apiserver-'));
  const server = new Server(programs, folder, options);
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

class Server implements TestApiServer {
  readonly token = randomBytes(24).toString('base64url');
  readonly kubeconfigPath: string;
  readonly auditLogPath: string | undefined;
  caData = '';
  url = '';
  readonly #programs: Programs;
  readonly #folder: string;
  readonly #options: ApiServerOptions;
  readonly #log: string;
  #port = 0;
  #arguments: readonly string[] = [];
  #apiServer: ProcessIdentity | undefined;
  #others: ProcessIdentity[] = [];

  constructor(programs: Programs, folder: string, options: ApiServerOptions) {
    this.#programs = programs;
    this.#folder = folder;
    this.#options = options;
    this.#log = join(folder, 'kube-apiserver.log');
    this.kubeconfigPath = join(folder, 'kubeconfig');
    this.auditLogPath = options.auditLog === true ? join(folder, 'audit.log') : undefined;
  }

  async start(): Promise<void> {
    const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3);
    this.#port = port;
    this.url = `https://127.0.0.1:${port}`;
    this.#others.push(
      startProcess({
        name: 'etcd',
        argv: [
          this.#programs.path('etcd', 'etcd'),
          ...etcdArguments(join(this.#folder, 'etcd'), etcdPort, peerPort),
        ],
        log: join(this.#folder, 'etcd.log'),
        endsWithParent: true,
      }),
    );
    const authority = await Authority.create(join(this.#folder, 'pki'));
    const serving = await authority.issue({
      name: 'apiserver',
      commonName: 'kube-apiserver',
      alternativeNames: ['DNS:localhost', 'DNS:kubernetes.default.svc', 'IP:127.0.0.1'],
    });
    this.caData = await authority.certificatePem();
    const tokens = join(this.#folder, 'tokens.csv');
    await writeFile(tokens, `${this.token},admin,admin,system:masters\n`, { mode: 0o600 });
    await writeKubeconfig(this.kubeconfigPath, {
      server: this.url,
      authority: authority.certificate,
      user: 'admin',
      credential: { token: this.token },
    });
    this.#arguments = apiServerArguments({
      authority,
      serving,
      etcdPort,
      port,
      bindAddress: '127.0.0.1',
      enabledAdmission: this.#options.admissionPlugins ?? [],
      disabledAdmission: this.#options.controllerManager === true ? [] : ['ServiceAccount'],
      tokens,
      ...(this.auditLogPath === undefined ? {} : { auditLog: this.auditLogPath }),
    });
    await this.#startApiServer(authority.certificate);
    if (this.#options.controllerManager === true) {
      this.#others.push(
        startProcess({
          name: 'kube-controller-manager',
          argv: [
            this.#programs.path('kubernetes', 'kube-controller-manager'),
            ...controllerManagerArguments(authority, this.kubeconfigPath, '0'),
          ],
          log: join(this.#folder, 'kube-controller-manager.log'),
          endsWithParent: true,
        }),
      );
    }
  }

  async kill(): Promise<void> {
    if (this.#apiServer !== undefined) await endProcess(this.#apiServer, 0);
    // The port of a killed process stays bound for some milliseconds.
    await waitFor(async () => ((await isListening(this.#port)) ? undefined : true), {
      what: `port ${this.#port} to be free`,
      seconds: 10,
      everyMilliseconds: 10,
    });
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.#startApiServer(join(this.#folder, 'pki', 'ca.crt'));
  }

  async kubeconfigFor(user: string, token: string): Promise<string> {
    const path = join(this.#folder, `kubeconfig-${randomBytes(4).toString('hex')}`);
    await writeKubeconfig(path, {
      server: this.url,
      authority: join(this.#folder, 'pki', 'ca.crt'),
      user,
      credential: { token },
    });
    return path;
  }

  async stop(): Promise<void> {
    // Nothing of it is kept, so nothing needs to be closed with care.
    const all = this.#apiServer === undefined ? this.#others : [...this.#others, this.#apiServer];
    await Promise.all(all.map((identity) => endProcess(identity, 0)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #startApiServer(authorityPath: string): Promise<void> {
    const started = startProcess({
      name: 'kube-apiserver',
      argv: [this.#programs.path('kubernetes', 'kube-apiserver'), ...this.#arguments],
      log: this.#log,
      endsWithParent: true,
    });
    this.#apiServer = started;
    await waitFor(() => isReady(this.#port, authorityPath), {
      what: 'the API server to be ready',
      seconds: 60,
      hopeless: () => (isAlive(started) ? undefined : `the API server ended at once:\n${logTail(this.#log)}`),
    });
  }
}
