import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Authority, Certificate } from '../pki/authority.ts';

export const SERVICE_RANGE = '10.96.0.0/16';
/** The first address of the range: the API server, as pods reach it. */
export const API_SERVICE_ADDRESS = '10.96.0.1';
export const AUDIT_POLICY = join(import.meta.dirname, 'audit-policy.yaml');

export interface ApiServerPlan {
  readonly authority: Authority;
  /** What it serves with. */
  readonly serving: Certificate;
  readonly etcdPort: number;
  readonly port: number;
  readonly bindAddress: string;
  /** The address that Endpoints of the service `kubernetes` name; undefined: none are kept. */
  readonly advertiseAddress?: string;
  readonly enabledAdmission: readonly string[];
  readonly disabledAdmission: readonly string[];
  readonly auditLog?: string;
  /** File of static tokens. */
  readonly tokens?: string;
  /** What it shows to kubelets. */
  readonly kubeletClient?: Certificate;
}

export function apiServerArguments(plan: ApiServerPlan): readonly string[] {
  const keys = plan.authority.serviceAccountKeys;
  return [
    `--etcd-servers=http://127.0.0.1:${plan.etcdPort}`,
    `--bind-address=${plan.bindAddress}`,
    `--secure-port=${plan.port}`,
    ...(plan.advertiseAddress === undefined
      ? ['--endpoint-reconciler-type=none', '--advertise-address=127.0.0.1']
      : [`--advertise-address=${plan.advertiseAddress}`]),
    `--client-ca-file=${plan.authority.certificate}`,
    `--tls-cert-file=${plan.serving.certificate}`,
    `--tls-private-key-file=${plan.serving.key}`,
    `--service-account-key-file=${keys.verifying}`,
    `--service-account-signing-key-file=${keys.signing}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--authorization-mode=Node,RBAC',
    list('--enable-admission-plugins', plan.enabledAdmission),
    list('--disable-admission-plugins', plan.disabledAdmission),
    ...(plan.auditLog === undefined
      ? []
      : [
          `--audit-policy-file=${AUDIT_POLICY}`,
          `--audit-log-path=${plan.auditLog}`,
          '--audit-log-maxsize=200',
          '--audit-log-maxbackup=5',
        ]),
    ...(plan.tokens === undefined ? [] : [`--token-auth-file=${plan.tokens}`]),
    ...(plan.kubeletClient === undefined
      ? []
      : [
          // Names of nodes resolve nowhere.
          '--kubelet-preferred-address-types=InternalIP',
          `--kubelet-client-certificate=${plan.kubeletClient.certificate}`,
          `--kubelet-client-key=${plan.kubeletClient.key}`,
          `--kubelet-certificate-authority=${plan.authority.certificate}`,
        ]),
    '--profiling=false',
  ].filter((argument) => argument !== '');
}

function list(flag: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${flag}=${names.join(',')}`;
}

/** Whether the API server says that it is ready; undefined while it does not, for `waitFor`. */
export async function isReady(
  port: number,
  authorityPath: string,
  path = '/readyz',
): Promise<true | undefined> {
  const ca = await readFile(authorityPath);
  return await new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path, ca, timeout: 2000, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200 ? true : undefined));
      response.once('error', () => resolve(undefined));
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(undefined));
    asked.end();
  });
}
