import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ReaderClient, ReaderConnectionError } from '../../../src/cli/download/reader-client.ts';

describe('a connection to the reader that fails together with its opening', () => {
  it('is an error that may be tried again, not a wait without end', async () => {
    const client = new ReaderClient(() => {
      const stream = new Duplex({ read: () => undefined });
      stream.on('error', () => undefined);
      stream.destroy(new Error('nobody listens on port 8090'));
      return Promise.resolve(stream);
    });
    await expect(client.greet()).rejects.toThrow(ReaderConnectionError);
    await expect(client.greet()).rejects.toThrow('nobody listens on port 8090');
    client.close();
  });
});
