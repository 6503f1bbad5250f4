/** No outcome arrived in time. The request has expired, so a worker that reads it later asks no provider. */
export class OutcomeTimeout extends Error {
  override name = "OutcomeTimeout";
}

/** A newer search of the same session was sent, so nobody needs this outcome any more. */
export class Superseded extends Error {
  override name = "Superseded";
}

/** The client was closed before the outcome arrived, or kafkajs stopped reading: then `cause` is the error of kafkajs. */
export class ClientClosed extends Error {
  override name = "ClientClosed";
}

/** No broker answered while the client connected. `cause` is the error of kafkajs. */
export class BrokersUnreachable extends Error {
  override name = "BrokersUnreachable";

  /** Returns an error that names the broker, or undefined for an error of another kind. */
  static from(error: unknown): BrokersUnreachable | undefined {
    let broker: string | undefined;
    // kafkajs wraps the error of the last attempt, which has the address.
    for (let each = error; each instanceof Error; each = each.cause) {
      broker = (each as { broker?: string }).broker ?? broker;
    }
    if (broker === undefined) return undefined;
    const advice = "check `brokers`, `ssl` and `sasl` of its Kafka, and that the brokers run";
    return new BrokersUnreachable(`the broker at ${broker} does not answer (${(error as Error).message}): ${advice}`, {
      cause: error,
    });
  }
}
