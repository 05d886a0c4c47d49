/** The run's gateway cannot be reached, or does not answer as it should. */
export class GatewayAway extends Error {
  override readonly name = 'GatewayAway';
}

const ANSWER_MS = 5000;

/**
 * Asks the gateway what an attempt may know of its own.
 *
 * @throws GatewayAway
 */
export async function askGateway(gatewayUrl: string, token: string, path: string): Promise<unknown> {
  try {
    const response = await fetch(new URL(path, gatewayUrl), {
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (!response.ok) throw new GatewayAway(`the gateway answered with status ${response.status}`);
    return await response.json();
  } catch (error) {
    if (error instanceof GatewayAway) throw error;
    throw new GatewayAway('the gateway does not answer', { cause: error });
  }
}
