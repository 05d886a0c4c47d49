/** The development cluster cannot do what it was asked; the message is a sentence for the person who asked. */
export class DevclusterError extends Error {
  override readonly name = 'DevclusterError';
}
