/** The manifest of the package does not name its types. */
declare module 'unicode-confusables' {
  /** The characters of a text. `similarTo`: the prototype, if it is another. */
  export const confusables: (text: string) => { point: string; similarTo?: string }[];
}
