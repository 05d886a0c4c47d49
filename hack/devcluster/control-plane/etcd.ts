/** Arguments of an etcd that one API server of this machine uses. */
export function etcdArguments(dataFolder: string, clientPort: number, peerPort: number): readonly string[] {
  return [
    `--data-dir=${dataFolder}`,
    `--listen-client-urls=http://127.0.0.1:${clientPort}`,
    `--advertise-client-urls=http://127.0.0.1:${clientPort}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
    `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
    // Losing the last writes in a power cut is no loss here; waiting for the disk at each write is one.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}
