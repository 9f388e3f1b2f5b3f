import { appendFileSync } from 'node:fs';
import { inspect } from 'node:util';
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

/**
 * Prints the reason of a failure as soon as a test, its hooks or its file fails. The summary at the end repeats it.
 * Appends errors outside of every test to the file that ERRORS_OUTSIDE_TESTS names: they fail the run without a failed test.
 */
export default function reportFailures(): Reporter {
  let vitest: Vitest;
  const print = (
    entity: TestCase | TestSuite | TestModule,
    name: string,
    errors: readonly unknown[],
  ): void => {
    for (const error of errors) {
      vitest.logger.error(`\n FAIL  ${name}`);
      vitest.logger.printError(error, { project: entity.project });
    }
  };
  return {
    onInit: (instance) => {
      vitest = instance;
    },
    onTestCaseResult: (test) => {
      const { state, errors = [] } = test.result();
      if (state === 'failed') print(test, `${test.module.relativeModuleId} > ${test.fullName}`, errors);
    },
    onTestSuiteResult: (suite) =>
      print(suite, `${suite.module.relativeModuleId} > ${suite.fullName}`, suite.errors()),
    onTestModuleEnd: (module) => print(module, module.relativeModuleId, module.errors()),
    onTestRunEnd: (_modules, errors) => {
      const file = process.env.ERRORS_OUTSIDE_TESTS;
      if (file) for (const error of errors) appendFileSync(file, `${inspect(error)}\n`);
    },
  };
}
