import { channel } from 'node:diagnostics_channel';

/** Messages of one kind within this process. The code that publishes does not know who subscribes: logs and metrics. */
export type Channel<Message> = {
  publish: (message: Message) => void;
  /** @returns a function that ends the subscription */
  subscribe: (listener: (message: Message) => void) => () => void;
};

/** @param name unique in the process */
export const defineChannel = <Message>(name: string): Channel<Message> => {
  const nodeChannel = channel(name);
  return {
    publish: (message) => nodeChannel.publish(message),
    subscribe: (listener) => {
      const onMessage = (message: unknown): void => listener(message as Message);
      nodeChannel.subscribe(onMessage);
      return () => void nodeChannel.unsubscribe(onMessage);
    },
  };
};
