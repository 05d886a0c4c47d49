import { readFile, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { Certificate } from './authority.ts';

export type Credential = { readonly certificate: Certificate } | { readonly token: string };

export interface KubeconfigPlan {
  readonly server: string;
  /** Path of the authority's certificate. */
  readonly authority: string;
  readonly user: string;
  readonly credential: Credential;
}

/** Writes a kubeconfig that needs no other file, readable for its owner alone. */
export async function writeKubeconfig(path: string, plan: KubeconfigPlan): Promise<void> {
  const name = 'clawbench-devcluster';
  const user =
    'token' in plan.credential
      ? { token: plan.credential.token }
      : {
          'client-certificate-data': await base64(plan.credential.certificate.certificate),
          'client-key-data': await base64(plan.credential.certificate.key),
        };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name, cluster: { server: plan.server, 'certificate-authority-data': await base64(plan.authority) } },
    ],
    users: [{ name: plan.user, user }],
    contexts: [{ name, context: { cluster: name, user: plan.user } }],
    'current-context': name,
  };
  await writeFile(path, stringify(config), { mode: 0o600 });
}

async function base64(path: string): Promise<string> {
  return (await readFile(path)).toString('base64');
}
