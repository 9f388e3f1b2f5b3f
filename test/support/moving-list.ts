import fc from 'fast-check';

/** What happens to the list before one of its pages is read, or in place of a page. */
export type ListEvent = {
  page: number;
  what: 'move' | 'remove' | 'add' | 'return' | 'repeat' | 'end early';
  from: number;
  to: number;
};

/** The application: what it lists now, and what it listed once. */
export const anApplication = (size: number) => {
  const live = Array.from({ length: size }, (_, index) => `g-${index}`);
  const removed: string[] = [];
  let added = 0;
  const place = (at: number) => (live.length === 0 ? 0 : at % live.length);
  const apply = ({ what, from, to }: ListEvent): void => {
    if (what === 'add') live.splice(place(to), 0, `new-${added++}`);
    if (what === 'move') live.splice(place(to), 0, ...live.splice(place(from), 1));
    if (what === 'remove') removed.push(...live.splice(place(from), 1));
    if (what === 'return') live.splice(place(to), 0, ...removed.splice(-1));
  };
  return { live, apply };
};

/** Any event, on any of the first pages. */
export const listEvent = fc.record({
  page: fc.integer({ min: 1, max: 9 }),
  what: fc.constantFrom<ListEvent['what']>('move', 'move', 'remove', 'add', 'return', 'repeat', 'end early'),
  from: fc.nat({ max: 60 }),
  to: fc.nat({ max: 60 }),
});
