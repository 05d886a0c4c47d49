import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:https';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';

let server: TestApiServer;

beforeAll(async () => {
  server = await startApiServer({ auditLog: true });
});
afterAll(async () => {
  const folder = dirname(server.kubeconfigPath);
  await server.stop();
  await expect(stat(folder)).rejects.toThrow('ENOENT');
  await expect(call('GET', '/version')).rejects.toThrow(/ECONN(REFUSED|RESET)/);
});

interface Answer {
  readonly status: number;
  readonly body: { readonly metadata?: { readonly name?: string }; readonly gitVersion?: string };
}

async function call(method: string, path: string, body?: object, token = server.token): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const asked = request(
      `${server.url}${path}`,
      {
        method,
        ca: server.caData,
        agent: false,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }),
        );
      },
    );
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const namespace = (name: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

describe('the API server of the integration tests', () => {
  it('is a real one of the version that the module names', async () => {
    const goMod = await readFile(
      new URL('../../../hack/devcluster/go/kubernetes/go.mod', import.meta.url),
      'utf8',
    );
    const version = /k8s\.io\/kubernetes (v\S+)/.exec(goMod)?.[1];
    expect(version).toBeDefined();
    expect((await call('GET', '/version')).body.gitVersion).toBe(version);
  });

  it('refuses who has no token and knows whom the admin admits', async () => {
    expect((await call('GET', '/api/v1/namespaces', undefined, 'wrong')).status).toBe(401);
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader' } };
    await call('POST', '/api/v1/namespaces/default/serviceaccounts', account);
    const made = await call('POST', '/api/v1/namespaces/default/serviceaccounts/reader/token', {});
    const { token } = (made.body as { status: { token: string } }).status;
    expect((await call('GET', '/api/v1/namespaces', undefined, token)).status).toBe(403);
  });

  it('keeps what was written when it is killed', async () => {
    expect((await call('POST', '/api/v1/namespaces', namespace('kept'))).status).toBe(201);
    await server.kill();
    await expect(call('GET', '/version')).rejects.toThrow(/ECONN(REFUSED|RESET)/);
    await server.restart();
    expect((await call('GET', '/api/v1/namespaces/kept')).body.metadata?.name).toBe('kept');
  });

  it('records every write with who did it', async () => {
    await call('POST', '/api/v1/namespaces', namespace('recorded'));
    const path = server.auditLogPath;
    expect(path).toBeDefined();
    const events = (await readFile(path!, 'utf8'))
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { verb: string; user: { username: string }; objectRef?: { name?: string } },
      );
    const write = events.find(({ verb, objectRef }) => verb === 'create' && objectRef?.name === 'recorded');
    expect(write?.user.username).toBe('admin');
  });
});
