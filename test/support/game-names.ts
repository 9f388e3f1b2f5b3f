// Names of games in five scripts, and searches as people type them: parts, another order, slips, beginnings of ids.
import { createHash } from 'node:crypto';

export type NamedGame = { application_game_id: string; game_name: string };
export type Search = { kind: string; search: string; wanted: string };

/** A number below `below`, the same for the same key. */
const draw = (key: string, below: number): number =>
  createHash('md5').update(key).digest().readUInt32LE(0) % below;

/** Common words are drawn often, as in a language. */
const drawCommon = (key: string, below: number): number => {
  const at = draw(key, 1_000_000) / 1_000_000;
  return Math.floor(below * at ** 3);
};

const SYLLABLES = [
  'ba be bo bri ca cla co cre da do dra el far fi fla fro ga gle go gra ha hi ho in ja jo ka ki la le li lo',
  'lu ma me mi mo na ne no or pa pe pi po qua ra re ri ro sa sha si so sta ta te ti to tra tu va ve vi wa we',
  'wi yo za zen',
].flatMap((line) => line.split(' '));
const ENDINGS = 'n r st m l d rk lt ck ng sh x th p'.split(' ');
/** Words are made once. */
const once = (make: (n: number) => string): ((n: number) => string) => {
  const made = new Map<number, string>();
  return (n) => {
    const word = made.get(n) ?? make(n);
    made.set(n, word);
    return word;
  };
};

const LATIN = 20_000;
const latin = once((n) => {
  const parts = Array.from(
    { length: 2 + (n % 2) },
    (_, at) => SYLLABLES[draw(`s${n}.${at}`, SYLLABLES.length)],
  );
  return `${parts.join('')}${ENDINGS[draw(`e${n}`, ENDINGS.length)]}`;
});

const ARABIC = 10_000;
const arabic = once((n) => {
  const letters = 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي';
  const word = Array.from({ length: 3 + (n % 4) }, (_, at) => letters[draw(`a${n}.${at}`, letters.length)]);
  return `${n % 3 === 0 ? 'ال' : ''}${word.join('')}`;
});

const HAN = { first: 0x4e00, characters: 2_500 };
const han = (key: string, length: number): string =>
  String.fromCodePoint(
    ...Array.from({ length }, (_, at) => HAN.first + drawCommon(`h${key}.${at}`, HAN.characters)),
  );

const capital = (word: string): string => `${word[0]?.toUpperCase()}${word.slice(1)}`;

/** The game of a number: six of ten names are Latin, two Chinese, two Arabic. */
export const namedGame = (n: number): NamedGame => {
  const word = (at: number): number => drawCommon(`w${n}.${at}`, LATIN);
  const kind = n % 10;
  const game_name =
    kind < 6
      ? Array.from({ length: 2 + (n % 3 === 0 ? 1 : 0) }, (_, at) => capital(latin(word(at)))).join(' ')
      : kind < 8
        ? `${han(`${n}`, 3 + (n % 3))}${kind === 7 ? `：${han(`${n}b`, 3)}` : ''}`
        : [0, 1].map((at) => arabic(drawCommon(`r${n}.${at}`, ARABIC))).join(' ');
  return {
    application_game_id: `g-${createHash('md5').update(`${n}`).digest('hex').slice(0, 10)}`,
    game_name,
  };
};

const withSlip = (word: string, key: string): string => {
  const at = 1 + draw(`p${key}`, Math.max(1, word.length - 2));
  const [before, letter = '', after] = [word.slice(0, at), word[at], word.slice(at + 1)];
  return [
    before + after,
    before + letter + letter + after,
    `${before}${after[0] ?? ''}${letter}${after.slice(1)}`,
    `${before}e${after}`,
  ][draw(`k${key}`, 4)] as string;
};

const SEARCHES = 100;

/** A hundred searches for some of the first `games` games. */
export const searchesOf = (games: number): Search[] =>
  Array.from({ length: SEARCHES }, (_, n) => {
    const step = Math.floor(games / SEARCHES);
    // Each kind of search takes games of a script that has it.
    const of = (...digits: number[]): number =>
      Math.floor((n * step) / 10) * 10 + (digits[n % digits.length] as number);
    const about = (kind: string, at: number, edit: (name: string) => string): Search => ({
      kind,
      search: edit(namedGame(at).game_name),
      wanted: namedGame(at).application_game_id,
    });
    const LATINS = [0, 1, 2, 3, 4, 5];
    const words = (name: string): string[] => name.split(' ');
    const kinds: (() => Search)[] = [
      () => about('whole', of(...LATINS), (name) => name.toLowerCase()),
      () =>
        about('beginnings', of(...LATINS), (name) =>
          words(name)
            .map((word) => word.slice(0, 5))
            .join(' '),
        ),
      () =>
        about('inner parts', of(...LATINS), (name) =>
          words(name)
            .map((word) => word.slice(1))
            .join(' '),
        ),
      () => about('other order', of(...LATINS), (name) => words(name).reverse().join(' ')),
      () =>
        about('slip', of(...LATINS), (name) =>
          words(name)
            .map((word, at) => (at === n % 2 ? withSlip(word, `${n}`) : word))
            .join(' '),
        ),
      () =>
        about('slips', of(...LATINS), (name) =>
          words(name)
            .map((word) => withSlip(word, `${n}`))
            .join(' '),
        ),
      () => about('Chinese, part', of(6, 7), (name) => name.slice(0, 3)),
      () => about('Chinese, slip', of(6, 7), (name) => name.replace(name[0] ?? '', '的')),
      () => about('Arabic', of(8, 9), (name) => words(name).reverse().join(' ')),
      () => {
        const { application_game_id: id } = namedGame(of(...LATINS));
        return { kind: 'beginning of an id', search: id.slice(0, 10), wanted: id };
      },
    ];
    return (kinds[n % kinds.length] as () => Search)();
  });
