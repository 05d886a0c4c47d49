import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchmarkRunSpecSchema, type BenchmarkRunSpec } from '../../../src/api/benchmark-run.ts';
import type { HarnessRequest } from '../../../src/api/container-requests.ts';
import { harnessReportSchema, type HarnessReport } from '../../../src/api/harness-report.ts';
import { ENV, MOUNTS } from '../../../src/api/pod-contract.ts';
import { suiteLayout } from '../../../src/api/run-layout.ts';
import type { ResolvedTimeouts } from '../../../src/api/timeouts.ts';
import { findCgroupParents, makeCgroup, type Cgroup } from '../../../src/local/executor/cgroup.ts';
import { CHECKOUT } from '../../support/cli.ts';
import { isRoot, quickTimeouts } from '../attempt/support.ts';

/** A process of a pod and its end. */
export interface PodProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

export interface PodOptions {
  /** Frozen suite, and the scenario of it. */
  readonly suite: string;
  readonly scenarioId: string;
  readonly runtime: Partial<BenchmarkRunSpec['runtime']>;
  readonly timeouts?: Partial<ResolvedTimeouts>;
  readonly limits?: Partial<HarnessRequest['limits']>;
  readonly trial?: string;
  readonly attempt?: number;
  /** The run's gateway, and the attempt's token for it. */
  readonly gateway?: { readonly url: string; readonly token: string };
  /** Folder of the trial on the volume; one of this pod's own where absent. */
  readonly trialDir?: string;
  /** Name that the pod's UID is made of. */
  readonly podUID?: string;
  readonly request?: Partial<HarnessRequest>;
  /** Memory limit of the executor's container. */
  readonly memoryBytes?: number;
}

/** Whether a container's memory can be bounded here. */
export const MEMORY_BOUND_HERE =
  isRoot && (findCgroupParents('clawbench-pod-probe')?.memory ?? null) !== null;

let number = 0;

/**
 * A trial's pod on this machine: the real harness and the real shim, the latter the first process of a PID
 * namespace as in a container, with the pod's mounts below a folder of the test.
 */
export class PodHere implements AsyncDisposable {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly trialDir: string;
  readonly port: number;
  private readonly options: PodOptions;
  private readonly cgroup: Cgroup | null;
  private readonly processes: PodProcess[] = [];

  private constructor(root: string, port: number, options: PodOptions, cgroup: Cgroup | null) {
    this.root = root;
    this.port = port;
    this.options = options;
    this.cgroup = cgroup;
    this.trialDir = options.trialDir ?? join(root, 'trial');
    this.env = {
      [ENV.REQUEST]: JSON.stringify(requestOf(options)),
      [ENV.POD_UID]: options.podUID ?? 'pod-uid',
      [ENV.MOUNT_ROOT]: root,
      [ENV.SHIM_PORT]: String(port),
      [ENV.MODEL_PORT]: '0',
      ...(options.gateway === undefined ? {} : { [ENV.GATEWAY_TOKEN]: options.gateway.token }),
      [ENV.TERMINATION_LOG]: join(root, 'termination-log'),
    };
  }

  static async make(options: PodOptions): Promise<PodHere> {
    const root = await mkdtemp(join(tmpdir(), 'clawbench-pod-'));
    number += 1;
    const parents = options.memoryBytes === undefined ? null : findCgroupParents(`pod-probe-${number}`);
    const cgroup =
      parents === null
        ? null
        : makeCgroup(parents, `clawbench-pod-${process.pid}-${number}`, {
            memoryBytes: options.memoryBytes ?? null,
            pids: null,
            diskBytes: null,
          });
    const pod = new PodHere(root, await freePort(), options, cgroup);
    const suite = suiteLayout(options.suite);
    for (const name of ['work', 'state', 'home', 'program'] as const)
      await mkdir(pod.mount(name), { recursive: true });
    await mkdir(pod.trialDir, { recursive: true });
    await symlink(suite.publicDir(options.scenarioId), pod.mount('public'));
    await symlink(suite.scriptedDir(options.scenarioId), pod.mount('scripted'));
    await symlink(pod.trialDir, pod.mount('trial'));
    return pod;
  }

  mount(name: keyof typeof MOUNTS): string {
    return join(this.root, MOUNTS[name]);
  }

  get attemptDir(): string {
    return join(this.trialDir, 'attempts', String(this.options.attempt ?? 1));
  }

  /** The termination message as the controller would read it. */
  report(): HarnessReport {
    const text = readFileSync(this.env[ENV.TERMINATION_LOG] ?? '', 'utf8');
    return harnessReportSchema.parse(JSON.parse(text));
  }

  /** The report as soon as there is one that says `that`. */
  async reported(that: (report: HarnessReport) => boolean, seconds = 20): Promise<HarnessReport> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      if (existsSync(this.env[ENV.TERMINATION_LOG] ?? '')) {
        const report = this.report();
        if (that(report)) return report;
        if (performance.now() > end) throw new Error(`still ${JSON.stringify(report)}`);
      }
      if (performance.now() > end) throw new Error('no report');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  startHarness(env: Readonly<Record<string, string>> = {}): PodProcess {
    return this.start(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(CHECKOUT, 'src/cli/main.ts'), 'harness'],
      { PATH: process.env['PATH'] ?? '', ...this.env, ...env },
    );
  }

  /** The command of the executor's container (src/controller/objects): waits for the shim, then becomes it. */
  startExecutor(): PodProcess {
    const shim = join(this.mount('program'), 'shim.mjs');
    const join_ = (this.cgroup?.folders ?? []).map((folder) => `echo 0 > ${folder}/cgroup.procs`);
    const wait = `until [ -f ${shim} ]; do sleep 0.02; done`;
    const script = [...join_, wait, `exec ${process.execPath} --no-warnings ${shim} serve`].join('\n');
    const user = isRoot ? [] : ['--user', '--map-root-user'];
    return this.start(
      'unshare',
      [...user, '--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--', '/bin/sh', '-c', script],
      { PATH: process.env['PATH'] ?? '', CLAWBENCH_SHIM_ADDRESS: `127.0.0.1:${this.port}` },
    );
  }

  /** Both containers, to the harness's end. */
  async run(): Promise<{ code: number | null; report: HarnessReport; stderr: string }> {
    const executor = this.startExecutor();
    const harness = this.startHarness();
    const { code, stderr } = await harness.ended;
    await executor.ended;
    return { code, report: this.report(), stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.processes) if (child.exitCode === null) child.kill('SIGKILL');
    await Promise.all(this.processes.map(({ ended }) => ended));
    await this.cgroup?.remove();
    await rm(this.root, { recursive: true, force: true });
  }

  private start(command: string, args: readonly string[], env: Readonly<Record<string, string>>): PodProcess {
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>(
      (resolve) => {
        child.once('close', (code, signal) => resolve({ code, signal, stderr }));
      },
    );
    const started = { child, ended };
    this.processes.push(started);
    return started;
  }
}

/** What the controller would ask of the harness. */
export function requestOf(options: PodOptions): HarnessRequest {
  const { runtime } = benchmarkRunSpecSchema.parse({
    suite: { builtin: {} },
    runtime: { id: 'scripted', ...options.runtime },
  });
  return {
    trial: options.trial ?? 'a-trial',
    attempt: options.attempt ?? 1,
    scenarioId: options.scenarioId,
    runtime: { ...runtime },
    modelId: options.gateway === undefined ? null : 'm',
    gatewayUrl: options.gateway?.url ?? null,
    timeouts: quickTimeouts(options.timeouts),
    limits: { memoryBytes: null, pids: null, diskBytes: null, ...options.limits },
    runtimeImage: 'scripted',
    ...options.request,
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
