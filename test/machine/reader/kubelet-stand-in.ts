import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

/**
 * Speaks the server's side of a port-forward (v4.channel.k8s.io), because a real kubelet needs a node; the bytes go
 * to a real port of this machine. `refuse` answers the handshake as an API server refuses.
 */
export async function startForwarder(
  target: () => number,
  refuse?: { readonly status: number; readonly body: object },
): Promise<{
  readonly url: string;
  readonly paths: string[];
  readonly server: Server;
  readonly stop: () => void;
}> {
  const server = createServer();
  const paths: string[] = [];
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('v4.channel.k8s.io') ? 'v4.channel.k8s.io' : false),
  });
  server.on('upgrade', (request, socket, head) => {
    paths.push(request.url ?? '');
    if (refuse !== undefined) {
      const body = JSON.stringify(refuse.body);
      socket.end(
        `HTTP/1.1 ${refuse.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      serve(webSocket, target());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/prefix/`,
    paths,
    server,
    stop: () => {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

function serve(webSocket: WebSocket, port: number): void {
  const portBytes = Buffer.alloc(3);
  portBytes.writeUInt16LE(8090, 1);
  webSocket.send(Buffer.from(portBytes));
  portBytes[0] = 1;
  webSocket.send(portBytes);
  const socket = connect(port, '127.0.0.1');
  webSocket.on('message', (data: Buffer) => {
    if (data[0] === 0) socket.write(data.subarray(1));
  });
  socket.on('data', (data: Buffer) => {
    webSocket.send(Buffer.concat([Buffer.from([0]), data]), () => {
      // Only what the client takes is read on, as a kubelet does.
      if (webSocket.bufferedAmount > 1_000_000) setTimeout(() => socket.resume(), 5);
      else socket.resume();
    });
    if (webSocket.bufferedAmount > 1_000_000) socket.pause();
  });
  socket.on('error', (error) => {
    webSocket.send(Buffer.concat([Buffer.from([1]), Buffer.from(`error forwarding port: ${error.message}`)]));
  });
  socket.on('close', () => {
    webSocket.close();
  });
  webSocket.on('close', () => socket.destroy());
}
