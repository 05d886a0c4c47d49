import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/**
 * Answers /healthz (this process works) and /readyz (its caches are filled, so that it can take the lead at once).
 *
 * @param port 0 chooses a free one
 */
export function startHealthServer(port: number, isReady: () => boolean): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const answer = (code: number, text: string) =>
      response.writeHead(code, { 'content-type': 'text/plain' }).end(text);
    if (path === '/healthz') answer(200, 'ok\n');
    else if (path !== '/readyz') answer(404, 'not found\n');
    else if (isReady()) answer(200, 'ok\n');
    else answer(503, 'caches are not filled yet\n');
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
