/** Applications whose runs fail: the platform pauses them, and resumes them after a run that succeeded. */
import { z } from 'zod';
import { resumeApplications } from '#db/queries/applications.ts';
import { pauseFailing, resumeRecovered } from '#db/queries/backoff.ts';
import { applicationSubject, oneApplication } from '#src/operations/applications.ts';
import { defineOperation } from '#src/operations/operation.ts';

export const resumeFailingApplications = defineOperation({
  name: 'application.resume_failing',
  title: 'Resume every application that failed runs have paused or delayed',
  answer: z.object({ application_ids: z.array(z.string()) }),
  right: 'manage_applications',
  input: z.object({}),
  subject: () => 'application:*',
  run: async (tx) => ({ application_ids: await resumeApplications(tx) }),
  log: ({ application_ids }) =>
    application_ids.map((application_id) => ({
      action: 'application.resume',
      subject: applicationSubject({ application_id }),
    })),
});

export const pauseFailingApplication = defineOperation({
  name: 'application.pause_failing',
  title: 'Pause an application whose runs fail',
  right: 'system',
  input: oneApplication.extend({ reason: z.string() }),
  subject: applicationSubject,
  run: (tx, { application_id, reason }) => pauseFailing(tx, application_id, reason),
  log: (isPaused, { reason }) => (isPaused ? { reason } : []),
});

export const resumeRecoveredApplication = defineOperation({
  name: 'application.resume_recovered',
  title: 'Resume an application that failed runs have paused, after a run that succeeded',
  right: 'system',
  input: oneApplication,
  subject: applicationSubject,
  run: (tx, { application_id }) => resumeRecovered(tx, application_id),
  log: (isResumed) => (isResumed ? { reason: 'a run succeeded' } : []),
});
