import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { RawApi } from './raw-api.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'crds');
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Crd {
  readonly metadata: { readonly name: string };
}

/** Applies the CRDs of the repository and waits until the API server serves them. */
export async function applyCrds(api: RawApi): Promise<void> {
  for (const file of await readdir(FOLDER)) {
    const crd = parse(await readFile(join(FOLDER, file), 'utf8'), { version: '1.1' }) as Crd;
    const { status, body } = await api.apply(`${PATH}/${crd.metadata.name}`, crd);
    if (status >= 300) throw new Error(`${file}: ${body.message ?? ''}`);
    await established(api, crd.metadata.name);
  }
}

async function established(api: RawApi, name: string): Promise<void> {
  const end = performance.now() + 20_000;
  for (;;) {
    const { body } = await api.call('GET', `${PATH}/${name}`);
    const status = (body.status ?? {}) as { conditions?: { type: string; status: string }[] | null };
    const conditions = status.conditions ?? [];
    if (conditions.some((c) => c.type === 'Established' && c.status === 'True')) return;
    if (performance.now() > end) throw new Error(`${name} is not served: ${JSON.stringify(conditions)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
