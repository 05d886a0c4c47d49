import type { KubeClient } from '../kube/client.ts';

/**
 * Calls the API of the cluster that this container runs in. The client is loaded here and not with the program, whose
 * start other containers wait for.
 */
export async function withClusterClient<Result>(
  fieldManager: string,
  work: (client: KubeClient) => Promise<Result>,
): Promise<Result> {
  const [{ KubeClient }, { loadClusterAccess }] = await Promise.all([
    import('../kube/client.ts'),
    import('../kube/config.ts'),
  ]);
  const client = new KubeClient(await loadClusterAccess(), { fieldManager });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
