import { testHostileInput } from '#test/console/hostile-console.ts';

testHostileInput(false);
