-- The whole database as the migrations make it. `npm run db:schema` writes this file, and a test compares it with a
-- migrated database. Read its diff to review a migration; do not edit it.

-- Sequences

create sequence event_positions;
create sequence stream_positions increment 1000;

-- Tables

create schema drizzle;

create table api_tokens (
  token_id uuid not null,
  token_hash bytea not null,
  application_id text,
  login text,
  roles text[],
  name text not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint api_tokens_pkey PRIMARY KEY (token_id),
  constraint api_tokens_token_hash_unique UNIQUE (token_hash),
  constraint api_tokens_hash CHECK (octet_length(token_hash) = 32),
  constraint api_tokens_owner CHECK (num_nonnulls(application_id, login) = 1 AND (login IS NULL) = (roles IS NULL)),
  constraint api_tokens_texts CHECK (GREATEST(octet_length(name)) <= 20000)
);

create table application_checks (
  check_id uuid not null,
  application_id text not null,
  requested_by text not null,
  requested_at timestamp with time zone default now() not null,
  finished_at timestamp with time zone,
  passed integer default 0 not null,
  failed integer default 0 not null,
  skipped integer default 0 not null,
  cases jsonb default '[]'::jsonb not null,
  error text,
  constraint application_checks_pkey PRIMARY KEY (check_id),
  constraint application_checks_cases CHECK (cases = jsonb_path_query_array(cases, 'strict $[*]?((@."name".type() == "string" && @."rule".type() == "string") && @."outcome".type() == "string")'::jsonpath, '{}'::jsonb, true) AND NOT jsonb_path_exists(cases, 'strict $[*].*?(@.type() == "object" || @.type() == "array")'::jsonpath, '{}'::jsonb, true)),
  constraint application_checks_counts CHECK (LEAST(passed, failed, skipped) >= 0 AND GREATEST(passed, failed, skipped) <= '9007199254740991'::bigint),
  constraint application_checks_report CHECK (GREATEST(octet_length(cases::text)) <= 1000000),
  constraint application_checks_texts CHECK (GREATEST(octet_length(requested_by), octet_length(error)) <= 20000)
);

create table application_holds (
  application_id text not null,
  reason text not null,
  held_by text not null,
  held_at timestamp with time zone default now() not null,
  constraint application_holds_pkey PRIMARY KEY (application_id),
  constraint application_holds_texts CHECK (GREATEST(octet_length(reason), octet_length(held_by)) <= 20000)
);

create table applications (
  application_id text not null,
  name text not null,
  query_game_list_webhook text not null,
  query_game_detail_webhook text not null,
  query_cp_kyc_webhook text not null,
  access_token bytea,
  access_token_keys jsonb default '[]'::jsonb not null,
  every_ms bigint not null,
  kyc_every_ms bigint not null,
  detail_max_age_ms bigint not null,
  concurrency integer not null,
  rate integer not null,
  volatile_parameters text[] default '{}'::text[] not null,
  review_priority text default 'normal'::text not null,
  status text default 'active'::text not null,
  failed_runs integer default 0 not null,
  failing_since timestamp with time zone,
  next_attempt_at timestamp with time zone,
  pause_reason text,
  last_success_at timestamp with time zone,
  details_due_at timestamp with time zone,
  details_full_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint applications_pkey PRIMARY KEY (application_id),
  constraint applications_access_token_keys CHECK (access_token_keys = jsonb_path_query_array(access_token_keys, 'strict $[*]?(@."key_id".type() == "string" && @."wrapped".type() == "string")'::jsonpath, '{}'::jsonb, true) AND octet_length(access_token_keys::text) <= 20000),
  constraint applications_application_id CHECK (application_id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
  constraint applications_counts CHECK (LEAST(failed_runs) >= 0 AND GREATEST(failed_runs) <= '9007199254740991'::bigint),
  constraint applications_pace CHECK (every_ms >= 1 AND every_ms <= '2592000000'::bigint AND kyc_every_ms >= 1 AND kyc_every_ms <= '2592000000'::bigint AND detail_max_age_ms >= 0 AND detail_max_age_ms <= '31536000000'::bigint AND concurrency >= 1 AND concurrency <= 100 AND rate >= 1 AND rate <= 100000),
  constraint applications_review_priority CHECK (review_priority = ANY (ARRAY['high'::text, 'normal'::text, 'low'::text])),
  constraint applications_status CHECK (status = ANY (ARRAY['active'::text, 'paused'::text, 'removed'::text])),
  constraint applications_texts CHECK (GREATEST(octet_length(name), octet_length(query_game_list_webhook), octet_length(query_game_detail_webhook), octet_length(query_cp_kyc_webhook), octet_length(access_token), octet_length(volatile_parameters::text), octet_length(pause_reason)) <= 20000),
  constraint applications_times CHECK (LEAST(last_success_at, failing_since) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(last_success_at, failing_since) < '10000-01-01 00:00:00+00'::timestamp with time zone),
  constraint applications_volatile_parameters CHECK (volatile_parameters = '{}'::text[] OR array_ndims(volatile_parameters) = 1 AND array_lower(volatile_parameters, 1) = 1 AND array_position(volatile_parameters, NULL::text) IS NULL AND cardinality(volatile_parameters) <= 100)
);

create table approvals (
  approval_id uuid not null,
  kind text not null,
  subject text not null,
  version text not null,
  requested jsonb default '{}'::jsonb not null,
  reason text not null,
  requested_by text not null,
  requested_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  approved_by text,
  approved_at timestamp with time zone,
  used_at timestamp with time zone,
  closed_at timestamp with time zone,
  closed_as text,
  constraint approvals_pkey PRIMARY KEY (approval_id),
  constraint approvals_approved CHECK ((approved_at IS NULL) = (approved_by IS NULL)),
  constraint approvals_closed CHECK ((closed_at IS NULL) = (closed_as IS NULL)),
  constraint approvals_closed_as CHECK (closed_as = ANY (ARRAY['cancelled'::text, 'declined'::text, 'expired'::text, 'void'::text])),
  constraint approvals_in_time CHECK (approved_at <= (requested_at + '01:00:00'::interval)),
  constraint approvals_kind CHECK (kind = ANY (ARRAY['reveal'::text, 'erase'::text, 'cp-id'::text, 'verdict'::text, 'withdrawals'::text, 'officer'::text, 'reviewer'::text])),
  constraint approvals_one_end CHECK (used_at IS NULL OR closed_at IS NULL),
  constraint approvals_request CHECK (GREATEST(octet_length(requested::text)) <= 1000000),
  constraint approvals_requested CHECK (jsonb_typeof(requested) = 'object'::text AND NOT jsonb_path_exists(requested, 'strict $?((((((((exists (@."game_ids"?(@.type() != "array")) || exists (@."game_ids"[*]?(@.type() != "string"))) || exists (@."roles"?(@.type() != "array"))) || exists (@."roles"[*]?(@.type() != "string"))) || exists (@."act"?(@.type() != "string"))) || exists (@."name"?(@.type() != "string"))) || exists (@."verdict"?(@.type() != "string"))) || exists (@."text"?(@.type() != "string"))) || exists (@."expires"?(@.type() != "number")))'::jsonpath, '{}'::jsonb, true)),
  constraint approvals_subject CHECK (subject ~
CASE
    WHEN kind = ANY (ARRAY['officer'::text, 'reviewer'::text]) THEN '^operator:[a-z0-9][a-z0-9._@+-]{0,99}$'::text
    WHEN kind = 'withdrawals'::text THEN '^run:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'::text
    ELSE '^application:[a-z0-9-]{1,63}$'::text
END),
  constraint approvals_texts CHECK (GREATEST(octet_length(version), octet_length(reason)) <= 20000),
  constraint approvals_two_persons CHECK (approved_by <> requested_by),
  constraint approvals_used_in_time CHECK (used_at IS NULL OR approved_at IS NOT NULL AND used_at <= (approved_at + '00:15:00'::interval))
);

create table audit_head (
  is_single boolean default true not null,
  entry_id bigint not null,
  hash bytea not null,
  constraint audit_head_pkey PRIMARY KEY (is_single),
  constraint audit_head_single CHECK (is_single)
);

create table audit_log (
  entry_id bigint not null,
  at timestamp with time zone not null,
  actor text not null,
  actor_kind text not null,
  os_user text,
  action text not null,
  subject text not null,
  reason text,
  details jsonb default '{}'::jsonb not null,
  previous_hash bytea not null,
  hash bytea not null,
  constraint audit_log_pkey PRIMARY KEY (entry_id),
  constraint audit_log_actor_kind CHECK (actor_kind = ANY (ARRAY['operator'::text, 'command_line'::text, 'application'::text, 'system'::text])),
  constraint audit_log_details CHECK (jsonb_typeof(details) = 'object'::text),
  constraint audit_log_facts CHECK (GREATEST(octet_length(details::text)) <= 1000000),
  constraint audit_log_texts CHECK (GREATEST(octet_length(actor), octet_length(os_user), octet_length(action), octet_length(subject), octet_length(reason)) <= 20000)
);

create table changed_games (
  game_id uuid not null,
  application_id text not null,
  decided_revision integer not null,
  since timestamp(3) with time zone default now() not null,
  carry_at timestamp with time zone,
  constraint changed_games_pkey PRIMARY KEY (game_id),
  constraint changed_games_counts CHECK (LEAST(decided_revision) >= 0 AND GREATEST(decided_revision) <= '9007199254740991'::bigint),
  constraint changed_games_times CHECK (LEAST(since) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(since) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table content_providers (
  cp_id uuid not null,
  application_id text not null,
  application_cp_id text not null,
  mapped_at timestamp with time zone default now() not null,
  replaced_at timestamp with time zone,
  constraint content_providers_pkey PRIMARY KEY (cp_id),
  constraint content_providers_application_cp UNIQUE (application_id, application_cp_id),
  constraint content_providers_texts CHECK (GREATEST(octet_length(application_cp_id)) <= 20000)
);

create table decision_rules (
  is_single boolean default true not null,
  games_need_verdict boolean default false not null,
  review_target_ms bigint default 172800000 not null,
  constraint decision_rules_pkey PRIMARY KEY (is_single),
  constraint decision_rules_one CHECK (is_single)
);

create unlogged table detail_turns (
  application_id text not null,
  ends_at timestamp with time zone not null,
  constraint detail_turns_pkey PRIMARY KEY (application_id),
  constraint detail_turns_times CHECK (LEAST(ends_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(ends_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table event_deliveries (
  event_id uuid not null,
  application_id text not null,
  state text default 'pending'::text not null,
  attempts integer default 0 not null,
  requested_at timestamp with time zone default now() not null,
  next_attempt_at timestamp with time zone default now() not null,
  last_attempt_at timestamp with time zone,
  last_status integer,
  last_error text,
  delivered_at timestamp with time zone,
  constraint event_deliveries_pkey PRIMARY KEY (event_id),
  constraint event_deliveries_counts CHECK (LEAST(attempts, last_status) >= 0 AND GREATEST(attempts, last_status) <= '9007199254740991'::bigint),
  constraint event_deliveries_state CHECK (state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])),
  constraint event_deliveries_texts CHECK (GREATEST(octet_length(last_error)) <= 20000),
  constraint event_deliveries_times CHECK (LEAST(requested_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(requested_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table event_subscriptions (
  subscription_id uuid not null,
  url text not null,
  types text[] not null,
  secret bytea not null,
  former_secret bytea,
  former_until timestamp with time zone,
  secret_keys jsonb not null,
  "position" bigint not null,
  status text default 'active'::text not null,
  off_reason text,
  off_at timestamp with time zone,
  failures integer default 0 not null,
  failing_since timestamp with time zone,
  next_attempt_at timestamp with time zone default now() not null,
  last_attempt_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_error text,
  created_at timestamp with time zone default now() not null,
  constraint event_subscriptions_pkey PRIMARY KEY (subscription_id),
  constraint event_subscriptions_counts CHECK (LEAST(failures::bigint, "position") >= 0 AND GREATEST(failures::bigint, "position") <= '9007199254740991'::bigint),
  constraint event_subscriptions_lists CHECK (types = '{}'::text[] OR array_ndims(types) = 1 AND array_lower(types, 1) = 1 AND array_position(types, NULL::text) IS NULL AND cardinality(types) <= 100),
  constraint event_subscriptions_secret_keys CHECK (secret_keys = jsonb_path_query_array(secret_keys, 'strict $[*]?(@."key_id".type() == "string" && @."wrapped".type() == "string")'::jsonpath, '{}'::jsonb, true) AND octet_length(secret_keys::text) <= 20000),
  constraint event_subscriptions_status CHECK (status = ANY (ARRAY['active'::text, 'off'::text])),
  constraint event_subscriptions_texts CHECK (GREATEST(octet_length(url), octet_length(off_reason), octet_length(last_error), octet_length(secret), octet_length(former_secret), octet_length(types::text)) <= 20000),
  constraint event_subscriptions_times CHECK (LEAST(failing_since) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(failing_since) < '10000-01-01 00:00:00+00'::timestamp with time zone),
  constraint event_subscriptions_types CHECK (types <@ ARRAY['game.passed'::text, 'game.rejected'::text, 'game.pending'::text, 'game.withdrawn'::text, 'game.message'::text, 'game.appeal_upheld'::text, 'game.received'::text, 'game.changed'::text, 'game.answered'::text, 'game.appealed'::text, 'kyc.changed'::text, 'kyc.verdict'::text, 'application.added'::text, 'application.updated'::text, 'application.paused'::text, 'application.resumed'::text, 'application.removed'::text, 'run.suspect'::text])
);

create table event_webhooks (
  application_id text not null,
  url text not null,
  secret bytea not null,
  former_secret bytea,
  former_until timestamp with time zone,
  secret_keys jsonb not null,
  status text default 'active'::text not null,
  off_reason text,
  off_at timestamp with time zone,
  failures integer default 0 not null,
  failing_since timestamp with time zone,
  next_attempt_at timestamp with time zone default now() not null,
  last_attempt_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_error text,
  created_at timestamp with time zone default now() not null,
  constraint event_webhooks_pkey PRIMARY KEY (application_id),
  constraint event_webhooks_counts CHECK (LEAST(failures) >= 0 AND GREATEST(failures) <= '9007199254740991'::bigint),
  constraint event_webhooks_secret_keys CHECK (secret_keys = jsonb_path_query_array(secret_keys, 'strict $[*]?(@."key_id".type() == "string" && @."wrapped".type() == "string")'::jsonpath, '{}'::jsonb, true) AND octet_length(secret_keys::text) <= 20000),
  constraint event_webhooks_status CHECK (status = ANY (ARRAY['active'::text, 'off'::text])),
  constraint event_webhooks_texts CHECK (GREATEST(octet_length(url), octet_length(off_reason), octet_length(last_error), octet_length(secret), octet_length(former_secret)) <= 20000),
  constraint event_webhooks_times CHECK (LEAST(failing_since) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(failing_since) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table events (
  event_id uuid not null,
  event_number bigserial,
  application_id text not null,
  type text not null,
  game_id uuid not null,
  data jsonb not null,
  created_at timestamp with time zone not null,
  "position" bigint,
  constraint events_pkey PRIMARY KEY (event_id),
  constraint events_application UNIQUE (application_id, event_id),
  constraint events_type CHECK (type = ANY (ARRAY['game.passed'::text, 'game.rejected'::text, 'game.pending'::text, 'game.withdrawn'::text, 'game.message'::text, 'game.appeal_upheld'::text, 'webhook.test'::text]))
);

create table game_absences (
  game_id uuid not null,
  withdrawn_at timestamp with time zone not null,
  returned_at timestamp with time zone,
  constraint game_absences_game_id_withdrawn_at_pk PRIMARY KEY (game_id, withdrawn_at)
);

create table game_appeals (
  appeal_id bigserial,
  game_id uuid not null,
  application_id text not null,
  audit_id bigint not null,
  rejected_by text not null,
  text text not null,
  opened_at timestamp with time zone default now() not null,
  outcome text,
  decided_by text,
  answer text,
  decided_at timestamp with time zone,
  constraint game_appeals_pkey PRIMARY KEY (appeal_id),
  constraint game_appeals_rejection UNIQUE (audit_id),
  constraint game_appeals_decided CHECK ((outcome IS NULL) = (decided_at IS NULL) AND COALESCE(outcome = ANY (ARRAY['upheld'::text, 'overturned'::text]), false) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = (answer IS NULL)),
  constraint game_appeals_outcome CHECK (outcome = ANY (ARRAY['upheld'::text, 'overturned'::text, 'void'::text])),
  constraint game_appeals_text CHECK (char_length(text) >= 1 AND char_length(text) <= 4000 AND char_length(answer) >= 1 AND char_length(answer) <= 4000),
  constraint game_appeals_texts CHECK (GREATEST(octet_length(decided_by)) <= 20000)
);

create table game_audits (
  audit_id bigserial,
  game_id uuid not null,
  revision integer not null,
  audit_status text not null,
  decided_by text not null,
  reason text,
  text text,
  note text,
  batch_id uuid,
  carried_over_from bigint,
  appeal_id bigint,
  waiting_since timestamp with time zone,
  decided_at timestamp with time zone default now() not null,
  undone_at timestamp with time zone,
  undone_by text,
  constraint game_audits_pkey PRIMARY KEY (audit_id),
  constraint game_audits_counts CHECK (LEAST(audit_id, revision::bigint, carried_over_from, appeal_id) >= 0 AND GREATEST(audit_id, revision::bigint, carried_over_from, appeal_id) <= '9007199254740991'::bigint),
  constraint game_audits_status CHECK (audit_status = ANY (ARRAY['passed'::text, 'rejected'::text])),
  constraint game_audits_texts CHECK (GREATEST(octet_length(decided_by), octet_length(text), octet_length(note), octet_length(undone_by)) <= 20000),
  constraint game_audits_times CHECK (LEAST(waiting_since, decided_at, undone_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(waiting_since, decided_at, undone_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table game_count_changes (
  application_id text not null,
  audit_status text not null,
  bucket bigint not null,
  games bigint not null
);

create table game_counts (
  application_id text not null,
  audit_status text not null,
  level smallint not null,
  bucket bigint not null,
  games bigint not null,
  upto integer[] not null,
  constraint game_counts_application_id_audit_status_level_bucket_pk PRIMARY KEY (application_id, audit_status, level, bucket),
  constraint game_counts_level CHECK (level >= 0 AND level <= 4)
);

create table game_icon_hashes (
  game_id uuid not null,
  dhash bigint not null,
  constraint game_icon_hashes_pkey PRIMARY KEY (game_id)
);

create table game_leases (
  game_id uuid not null,
  holder text not null,
  claimed_from uuid,
  leased_until timestamp with time zone not null,
  constraint game_leases_pkey PRIMARY KEY (game_id),
  constraint game_leases_texts CHECK (GREATEST(octet_length(holder)) <= 20000)
);

create table game_messages (
  message_id bigserial,
  game_id uuid not null,
  application_id text not null,
  kind text not null,
  written_by text not null,
  text text not null,
  written_at timestamp with time zone default now() not null,
  constraint game_messages_pkey PRIMARY KEY (message_id),
  constraint game_messages_kind CHECK (kind = ANY (ARRAY['note'::text, 'message'::text, 'answer'::text])),
  constraint game_messages_text CHECK (char_length(text) >= 1 AND char_length(text) <= 4000),
  constraint game_messages_texts CHECK (GREATEST(octet_length(written_by)) <= 20000)
);

create table game_revisions (
  game_id uuid not null,
  revision integer not null,
  game_name text not null,
  game_icon text[] not null,
  game_desc text not null,
  game_store_pic text[] not null,
  game_store_video text not null,
  content_hash text not null,
  fetched_at timestamp with time zone not null,
  constraint game_revisions_game_id_revision_pk PRIMARY KEY (game_id, revision),
  constraint game_revisions_content CHECK (GREATEST(octet_length(game_desc), octet_length(game_icon::text), octet_length(game_store_pic::text)) <= 1000000),
  constraint game_revisions_counts CHECK (LEAST(revision) >= 0 AND GREATEST(revision) <= '9007199254740991'::bigint),
  constraint game_revisions_pictures CHECK ((game_icon = '{}'::text[] OR array_ndims(game_icon) = 1 AND array_lower(game_icon, 1) = 1 AND array_position(game_icon, NULL::text) IS NULL AND cardinality(game_icon) <= 100) AND (game_store_pic = '{}'::text[] OR array_ndims(game_store_pic) = 1 AND array_lower(game_store_pic, 1) = 1 AND array_position(game_store_pic, NULL::text) IS NULL AND cardinality(game_store_pic) <= 100)),
  constraint game_revisions_texts CHECK (GREATEST(octet_length(game_name), octet_length(game_store_video), octet_length(content_hash)) <= 20000)
);

create table game_viewers (
  game_id uuid not null,
  viewer text not null,
  revision integer not null,
  seen_at timestamp with time zone default now() not null,
  constraint game_viewers_game_id_viewer_pk PRIMARY KEY (game_id, viewer),
  constraint game_viewers_counts CHECK (LEAST(revision) >= 0 AND GREATEST(revision) <= '9007199254740991'::bigint),
  constraint game_viewers_texts CHECK (GREATEST(octet_length(viewer)) <= 20000)
);

create table games (
  game_id uuid not null,
  application_id text not null,
  application_game_id text not null,
  game_name text not null,
  game_icon text[] not null,
  game_desc text not null,
  game_store_pic text[] not null,
  game_store_video text not null,
  game_package_url text default ''::text not null,
  audit_status text default 'pending'::text not null,
  audit_time timestamp with time zone,
  revision integer default 1 not null,
  content_hash text not null,
  addresses_end_at timestamp with time zone,
  list_hash text not null,
  fetched_at timestamp with time zone not null,
  withdrawn_at timestamp with time zone,
  unlisted_at timestamp with time zone,
  search tsvector default ''::tsvector not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint games_pkey PRIMARY KEY (game_id),
  constraint games_application_game UNIQUE (application_id, application_game_id),
  constraint games_audit_status_known CHECK (audit_status = ANY (ARRAY['pending'::text, 'passed'::text, 'rejected'::text])),
  constraint games_audit_time CHECK ((audit_status = 'pending'::text) = (audit_time IS NULL)),
  constraint games_content CHECK (GREATEST(octet_length(game_desc), octet_length(game_icon::text), octet_length(game_store_pic::text)) <= 1000000),
  constraint games_counts CHECK (LEAST(revision) >= 0 AND GREATEST(revision) <= '9007199254740991'::bigint),
  constraint games_keys CHECK (GREATEST(octet_length(application_game_id), octet_length(game_name)) <= 2048),
  constraint games_pictures CHECK ((game_icon = '{}'::text[] OR array_ndims(game_icon) = 1 AND array_lower(game_icon, 1) = 1 AND array_position(game_icon, NULL::text) IS NULL AND cardinality(game_icon) <= 100) AND (game_store_pic = '{}'::text[] OR array_ndims(game_store_pic) = 1 AND array_lower(game_store_pic, 1) = 1 AND array_position(game_store_pic, NULL::text) IS NULL AND cardinality(game_store_pic) <= 100)),
  constraint games_texts CHECK (GREATEST(octet_length(game_package_url), octet_length(list_hash), octet_length(game_store_video), octet_length(content_hash)) <= 20000),
  constraint games_times CHECK (LEAST(fetched_at, addresses_end_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(fetched_at, addresses_end_at) < '10000-01-01 00:00:00+00'::timestamp with time zone),
  constraint games_words CHECK (length(search) <= 100)
);

create table held_games (
  game_id uuid not null,
  application_id text not null,
  audit_id bigint not null,
  constraint held_games_pkey PRIMARY KEY (game_id),
  constraint held_games_counts CHECK (LEAST(audit_id) >= 0 AND GREATEST(audit_id) <= '9007199254740991'::bigint)
);

create table imported_games (
  application_id text not null,
  application_game_id text not null,
  game_id uuid not null,
  game_package_url text not null,
  audit_status text not null,
  audit_time timestamp with time zone,
  decided_by text,
  reason text,
  text text,
  constraint imported_games_application_id_application_game_id_pk PRIMARY KEY (application_id, application_game_id),
  constraint imported_games_game_id_unique UNIQUE (game_id),
  constraint imported_games_audit_status CHECK (audit_status = ANY (ARRAY['pending'::text, 'passed'::text, 'rejected'::text])),
  constraint imported_games_decided CHECK ((audit_status = 'pending'::text) = (audit_time IS NULL) AND (audit_status = 'pending'::text) = (decided_by IS NULL))
);

create table ingest_failures (
  application_id text not null,
  operation text not null,
  application_game_id text not null,
  kind text not null,
  reasons jsonb not null,
  first_at timestamp with time zone default now() not null,
  last_at timestamp with time zone default now() not null,
  count integer default 1 not null,
  final boolean default false not null,
  list_hash text default ''::text not null,
  constraint ingest_failures_application_id_operation_application_game_id_pk PRIMARY KEY (application_id, operation, application_game_id),
  constraint ingest_failures_counts CHECK (LEAST(count) >= 0 AND GREATEST(count) <= '9007199254740991'::bigint),
  constraint ingest_failures_operation CHECK (operation = ANY (ARRAY['query_game_list'::text, 'query_game_detail'::text, 'query_cp_kyc'::text])),
  constraint ingest_failures_reasons CHECK (reasons = jsonb_path_query_array(reasons, 'strict $[*]?(@."path".type() == "string" && @."code".type() == "string")'::jsonpath, '{}'::jsonb, true)),
  constraint ingest_failures_texts CHECK (GREATEST(octet_length(application_game_id), octet_length(kind), octet_length(reasons::text), octet_length(list_hash)) <= 20000)
);

create table kyc_access_log (
  entry_id bigserial,
  application_id text not null,
  record_id uuid,
  action text not null,
  accessed_by text not null,
  reason text not null,
  accessed_at timestamp with time zone default now() not null,
  constraint kyc_access_log_pkey PRIMARY KEY (entry_id),
  constraint kyc_access_log_action CHECK (action = ANY (ARRAY['reveal'::text, 'erase'::text])),
  constraint kyc_access_log_counts CHECK (LEAST(entry_id) >= 0 AND GREATEST(entry_id) <= '9007199254740991'::bigint),
  constraint kyc_access_log_texts CHECK (GREATEST(octet_length(accessed_by), octet_length(reason)) <= 20000)
);

create table kyc_former_records (
  record_id uuid not null,
  application_id text not null,
  cp_id uuid not null,
  cp_name bytea not null,
  cp_short_name bytea not null,
  legal_entity bytea not null,
  id_type bytea not null,
  id_number bytea not null,
  tax_id bytea not null,
  registered_address bytea not null,
  corporate_account bytea not null,
  opening_bank bytea not null,
  data_keys jsonb not null,
  received_at timestamp with time zone not null,
  replaced_at timestamp with time zone default now() not null,
  changed_fields text[] not null,
  constraint kyc_former_records_pkey PRIMARY KEY (record_id),
  constraint kyc_former_records_changed_fields CHECK (changed_fields = '{}'::text[] OR array_ndims(changed_fields) = 1 AND array_lower(changed_fields, 1) = 1 AND array_position(changed_fields, NULL::text) IS NULL AND cardinality(changed_fields) <= 100),
  constraint kyc_former_records_data_keys CHECK (data_keys = jsonb_path_query_array(data_keys, 'strict $[*]?(@."key_id".type() == "string" && @."wrapped".type() == "string")'::jsonpath, '{}'::jsonb, true) AND octet_length(data_keys::text) <= 20000),
  constraint kyc_former_records_sizes CHECK (GREATEST(octet_length(changed_fields::text), octet_length(cp_name), octet_length(cp_short_name), octet_length(legal_entity), octet_length(id_type), octet_length(id_number), octet_length(tax_id), octet_length(registered_address), octet_length(corporate_account), octet_length(opening_bank)) <= 20000),
  constraint kyc_former_records_times CHECK (LEAST(received_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(received_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table kyc_keys (
  purpose text not null,
  data_keys jsonb not null,
  public_key bytea,
  constraint kyc_keys_pkey PRIMARY KEY (purpose),
  constraint kyc_keys_data_keys CHECK (data_keys = jsonb_path_query_array(data_keys, 'strict $[*]?(@."key_id".type() == "string" && @."wrapped".type() == "string")'::jsonpath, '{}'::jsonb, true) AND octet_length(data_keys::text) <= 20000),
  constraint kyc_keys_purpose CHECK (purpose = ANY (ARRAY['fingerprint'::text, 'events'::text])),
  constraint kyc_keys_sizes CHECK (GREATEST(octet_length(public_key)) <= 20000)
);

create table kyc_records (
  application_id text not null,
  record_id uuid not null,
  cp_id uuid not null,
  cp_name bytea not null,
  cp_short_name bytea not null,
  legal_entity bytea not null,
  id_type bytea not null,
  id_number bytea not null,
  tax_id bytea not null,
  registered_address bytea not null,
  corporate_account bytea not null,
  opening_bank bytea not null,
  data_keys jsonb not null,
  fingerprint bytea not null,
  tax_id_fingerprint bytea,
  received_at timestamp with time zone not null,
  changed_fields text[] not null,
  field_fingerprints bytea not null,
  constraint kyc_records_pkey PRIMARY KEY (application_id),
  constraint kyc_records_record_id_unique UNIQUE (record_id),
  constraint kyc_records_changed_fields CHECK (changed_fields = '{}'::text[] OR array_ndims(changed_fields) = 1 AND array_lower(changed_fields, 1) = 1 AND array_position(changed_fields, NULL::text) IS NULL AND cardinality(changed_fields) <= 100),
  constraint kyc_records_data_keys CHECK (data_keys = jsonb_path_query_array(data_keys, 'strict $[*]?(@."key_id".type() == "string" && @."wrapped".type() == "string")'::jsonpath, '{}'::jsonb, true) AND octet_length(data_keys::text) <= 20000),
  constraint kyc_records_sizes CHECK (GREATEST(octet_length(changed_fields::text), octet_length(cp_name), octet_length(cp_short_name), octet_length(legal_entity), octet_length(id_type), octet_length(id_number), octet_length(tax_id), octet_length(registered_address), octet_length(corporate_account), octet_length(opening_bank), octet_length(fingerprint), octet_length(tax_id_fingerprint), octet_length(field_fingerprints)) <= 20000),
  constraint kyc_records_times CHECK (LEAST(received_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(received_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table kyc_states (
  application_id text not null,
  state text default 'pending'::text not null,
  pulled_at timestamp with time zone,
  requested_at timestamp with time zone,
  refused_cp_id text,
  reason text,
  constraint kyc_states_pkey PRIMARY KEY (application_id),
  constraint kyc_states_known CHECK (state = ANY (ARRAY['pending'::text, 'sealed'::text, 'not_provided'::text, 'cp_id_changed'::text, 'failed'::text, 'erased'::text])),
  constraint kyc_states_texts CHECK (GREATEST(octet_length(refused_cp_id), octet_length(reason)) <= 20000)
);

create table kyc_verdicts (
  verdict_id bigserial,
  application_id text not null,
  record_id uuid not null,
  verdict text not null,
  reason text not null,
  text text,
  decided_by text not null,
  decided_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  ended_as text,
  constraint kyc_verdicts_pkey PRIMARY KEY (verdict_id),
  constraint kyc_verdicts_counts CHECK (LEAST(verdict_id) >= 0 AND GREATEST(verdict_id) <= '9007199254740991'::bigint),
  constraint kyc_verdicts_ended CHECK ((ended_at IS NULL) = (ended_as IS NULL)),
  constraint kyc_verdicts_ended_as CHECK (ended_as = ANY (ARRAY['changed'::text, 'erased'::text, 'expired'::text, 'removed'::text, 'replaced'::text])),
  constraint kyc_verdicts_known CHECK (verdict = ANY (ARRAY['verified'::text, 'refused'::text, 'incomplete'::text])),
  constraint kyc_verdicts_texts CHECK (GREATEST(octet_length(reason), octet_length(text), octet_length(decided_by)) <= 20000),
  constraint kyc_verdicts_times CHECK (LEAST(decided_at, expires_at, ended_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(decided_at, expires_at, ended_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table oidc_flows (
  flow_hash bytea not null,
  site text not null,
  state text not null,
  nonce text not null,
  code_verifier text not null,
  next text not null,
  expires_at timestamp with time zone not null,
  constraint oidc_flows_pkey PRIMARY KEY (flow_hash),
  constraint oidc_flows_site CHECK (site = ANY (ARRAY['console'::text, 'kyc_desk'::text]))
);

create table operator_sessions (
  session_hash bytea not null,
  login text not null,
  site text not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  confirmed_at timestamp with time zone,
  constraint operator_sessions_pkey PRIMARY KEY (session_hash),
  constraint operator_sessions_site CHECK (site = ANY (ARRAY['console'::text, 'kyc_desk'::text]))
);

create table operators (
  login text not null,
  name text not null,
  roles text[] not null,
  held_roles text[] default '{}'::text[] not null,
  status text default 'active'::text not null,
  password_hash text,
  has_password boolean generated always as ((password_hash IS NOT NULL)) stored not null,
  oidc_subject text,
  created_at timestamp with time zone default now() not null,
  counts_at timestamp with time zone default now() not null,
  last_sign_in_at timestamp with time zone,
  single_keys boolean default true not null,
  constraint operators_pkey PRIMARY KEY (login),
  constraint operators_oidc_subject_unique UNIQUE (oidc_subject),
  constraint operators_lists CHECK ((roles = '{}'::text[] OR array_ndims(roles) = 1 AND array_lower(roles, 1) = 1 AND array_position(roles, NULL::text) IS NULL AND cardinality(roles) <= 100) AND (held_roles = '{}'::text[] OR array_ndims(held_roles) = 1 AND array_lower(held_roles, 1) = 1 AND array_position(held_roles, NULL::text) IS NULL AND cardinality(held_roles) <= 100)),
  constraint operators_login CHECK (login ~ '^(?!(unknown|catalogue)$)[a-z0-9][a-z0-9._@+-]{0,99}$'::text),
  constraint operators_password_hash CHECK (password_hash ~ '^\$argon2id\$v=19\$m=([89]|[1-9][0-9]{1,4}),t=[1-4],p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$'::text),
  constraint operators_roles CHECK (roles <@ ARRAY['viewer'::text, 'reviewer'::text, 'kyc_officer'::text, 'admin'::text]),
  constraint operators_status CHECK (status = ANY (ARRAY['active'::text, 'disabled'::text])),
  constraint operators_texts CHECK (GREATEST(octet_length(name), octet_length(oidc_subject), octet_length(roles::text)) <= 20000)
);

create table picture_changes (
  game_id uuid not null,
  found_at timestamp with time zone default now() not null,
  picture_id uuid not null,
  audit_id bigint not null,
  before bytea not null,
  after bytea not null,
  constraint picture_changes_game_id_found_at_picture_id_pk PRIMARY KEY (game_id, found_at, picture_id),
  constraint picture_changes_counts CHECK (LEAST(audit_id) >= 0 AND GREATEST(audit_id) <= '9007199254740991'::bigint),
  constraint picture_changes_sizes CHECK (GREATEST(octet_length(before), octet_length(after)) <= 20000)
);

create table picture_contents (
  sha256 bytea not null,
  outcome text not null,
  bytes integer not null,
  format text,
  width integer,
  height integer,
  frames integer,
  dhash bigint,
  whole boolean default true not null,
  pinned boolean default false not null,
  stored text,
  looked_at timestamp with time zone default now() not null,
  constraint picture_contents_pkey PRIMARY KEY (sha256),
  constraint picture_contents_counts CHECK (LEAST(bytes, width, height, frames) >= 0 AND GREATEST(bytes, width, height, frames) <= '9007199254740991'::bigint),
  constraint picture_contents_format CHECK (format = ANY (ARRAY['png'::text, 'jpeg'::text, 'webp'::text, 'avif'::text, 'gif'::text, 'svg'::text])),
  constraint picture_contents_named CHECK (stored IS NULL OR COALESCE(format, 'svg'::text) <> 'svg'::text AND octet_length(sha256) = 32),
  constraint picture_contents_outcome CHECK (outcome = ANY (ARRAY['shown'::text, 'svg'::text, 'not_an_image'::text, 'broken'::text, 'too_many_pixels'::text, 'ambiguous'::text, 'undecodable'::text])),
  constraint picture_contents_stored CHECK (stored = ANY (ARRAY['seen'::text, 'passed'::text])),
  constraint picture_contents_texts CHECK (GREATEST(octet_length(sha256)) <= 20000)
);

create table picture_pins (
  audit_id bigint not null,
  is_icon boolean not null,
  place smallint not null,
  picture_id uuid not null,
  sha256 bytea,
  constraint picture_pins_audit_id_is_icon_place_pk PRIMARY KEY (audit_id, is_icon, place),
  constraint picture_pins_counts CHECK (LEAST(audit_id) >= 0 AND GREATEST(audit_id) <= '9007199254740991'::bigint),
  constraint picture_pins_place CHECK (place >= 0 AND place <= 99),
  constraint picture_pins_sizes CHECK (GREATEST(octet_length(sha256)) <= 20000)
);

create table picture_rules (
  application_id text not null,
  tag text not null,
  volatile_parameters text[] not null,
  after bigint,
  constraint picture_rules_pkey PRIMARY KEY (application_id),
  constraint picture_rules_numbers CHECK (LEAST(after) >= '-9007199254740991'::bigint AND GREATEST(after) <= '9007199254740991'::bigint),
  constraint picture_rules_texts CHECK (GREATEST(octet_length(tag), octet_length(volatile_parameters::text)) <= 20000),
  constraint picture_rules_volatile_parameters CHECK (volatile_parameters = '{}'::text[] OR array_ndims(volatile_parameters) = 1 AND array_lower(volatile_parameters, 1) = 1 AND array_position(volatile_parameters, NULL::text) IS NULL AND cardinality(volatile_parameters) <= 100)
);

create table picture_thumbnails (
  sha256 bytea not null,
  width smallint not null,
  webp bytea not null,
  constraint picture_thumbnails_sha256_width_pk PRIMARY KEY (sha256, width),
  constraint picture_thumbnails_counts CHECK (LEAST(width) >= 0 AND GREATEST(width) <= '9007199254740991'::bigint),
  constraint picture_thumbnails_sizes CHECK (GREATEST(octet_length(sha256), octet_length(webp)) <= 8388608)
);
alter table picture_thumbnails alter column webp set storage external;

create table pictures (
  picture_id uuid not null,
  url text not null,
  sha256 bytea,
  outcome text,
  http_status smallint,
  note text,
  etag text,
  fetched_at timestamp with time zone,
  fresh_until timestamp with time zone,
  next_check_at timestamp with time zone,
  constraint pictures_pkey PRIMARY KEY (picture_id),
  constraint pictures_counts CHECK (LEAST(http_status) >= 0 AND GREATEST(http_status) <= '9007199254740991'::bigint),
  constraint pictures_outcome CHECK (outcome = ANY (ARRAY['shown'::text, 'svg'::text, 'not_an_image'::text, 'broken'::text, 'too_many_pixels'::text, 'ambiguous'::text, 'undecodable'::text, 'not_found'::text, 'http_error'::text, 'redirect'::text, 'too_large'::text, 'encoded'::text, 'busy'::text, 'timeout'::text, 'forbidden_address'::text, 'name_not_found'::text, 'tls_failed'::text, 'connect_failed'::text, 'connection_lost'::text, 'not_requested'::text])),
  constraint pictures_texts CHECK (GREATEST(octet_length(url), octet_length(note), octet_length(etag), octet_length(sha256)) <= 20000)
);

create table portal_sessions (
  session_hash bytea not null,
  token_id uuid not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  constraint portal_sessions_pkey PRIMARY KEY (session_hash)
);

create table reasons (
  code text not null,
  label text not null,
  text text default ''::text not null,
  "position" smallint not null,
  retired_at timestamp with time zone,
  constraint reasons_pkey PRIMARY KEY (code),
  constraint reasons_counts CHECK (LEAST("position") >= 0 AND GREATEST("position") <= '9007199254740991'::bigint),
  constraint reasons_texts CHECK (code ~ '^[a-z][a-z0-9_]{0,39}$'::text AND char_length(label) <= 200 AND char_length(text) <= 4000)
);

create table refresh_requests (
  application_id text not null,
  application_game_id text not null,
  is_full boolean default false not null,
  requested_at timestamp with time zone default now() not null,
  by_operator boolean default false not null,
  attempts smallint default 0 not null,
  constraint refresh_requests_application_id_application_game_id_pk PRIMARY KEY (application_id, application_game_id),
  constraint refresh_requests_counts CHECK (LEAST(attempts) >= 0 AND GREATEST(attempts) <= '9007199254740991'::bigint),
  constraint refresh_requests_keys CHECK (GREATEST(octet_length(application_game_id)) <= 2048),
  constraint refresh_requests_times CHECK (LEAST(requested_at) >= '1970-01-01 00:00:00+00'::timestamp with time zone AND GREATEST(requested_at) < '10000-01-01 00:00:00+00'::timestamp with time zone)
);

create table refresh_turns (
  application_id text not null,
  next_at timestamp with time zone not null,
  idle_turns smallint default 0 not null,
  stored_bytes bigint default 0 not null,
  day_started_at timestamp with time zone default now() not null,
  constraint refresh_turns_pkey PRIMARY KEY (application_id),
  constraint refresh_turns_counts CHECK (LEAST(idle_turns::bigint, stored_bytes) >= 0 AND GREATEST(idle_turns::bigint, stored_bytes) <= '9007199254740991'::bigint)
);

create table run_days (
  application_id text not null,
  day date not null,
  outcome text not null,
  runs integer not null,
  listed bigint not null,
  inserted bigint not null,
  updated bigint not null,
  unchanged bigint not null,
  invalid bigint not null,
  failed bigint not null,
  missing bigint not null,
  withdrawn bigint not null,
  constraint run_days_application_id_day_outcome_pk PRIMARY KEY (application_id, day, outcome),
  constraint run_days_counts CHECK (LEAST(runs::bigint, listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn) >= 0 AND GREATEST(runs::bigint, listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn) <= '9007199254740991'::bigint),
  constraint run_days_day CHECK (day >= '2000-01-01'::date AND day <= '9999-12-31'::date),
  constraint run_days_outcome CHECK (outcome = ANY (ARRAY['succeeded'::text, 'partial'::text, 'suspect'::text, 'failed'::text, 'abandoned'::text]))
);

create table search_words (
  word text not null,
  keys text[] not null
);

create table sign_in_attempts (
  attempt_key text not null,
  attempts integer not null,
  window_ends_at timestamp with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (attempt_key)
);

create table sign_in_links (
  link_hash bytea not null,
  login text not null,
  sets_password boolean default true not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_links_pkey PRIMARY KEY (link_hash)
);

create table stream_events (
  event_number bigserial,
  event_id uuid,
  type text not null,
  application_id text,
  size smallint default 1 not null,
  game_ids uuid[],
  revisions integer[],
  facts jsonb,
  created_at timestamp with time zone default clock_timestamp() not null,
  "position" bigint,
  constraint stream_events_position UNIQUE ("position")
);

create unlogged table sync_run_pages (
  run_id uuid not null,
  page_num integer not null,
  kind text default 'listed'::text not null,
  reason text,
  row_count integer not null,
  total bigint not null,
  application_game_ids text[] not null,
  unnamed integer default 0 not null,
  open_games jsonb not null,
  answered integer default 0 not null,
  inserted integer default 0 not null,
  updated integer default 0 not null,
  invalid integer default 0 not null,
  failed integer default 0 not null,
  missing integer default 0 not null,
  listed integer default 0 not null,
  unchanged integer default 0 not null,
  withdrawn integer default 0 not null,
  listed_at timestamp with time zone default now() not null,
  constraint sync_run_pages_run_id_page_num_pk PRIMARY KEY (run_id, page_num),
  constraint sync_run_pages_counts CHECK (LEAST(page_num, row_count, unnamed, answered, listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn) >= 0 AND GREATEST(page_num, row_count, unnamed, answered, listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn) <= '9007199254740991'::bigint),
  constraint sync_run_pages_ids CHECK (application_game_ids = '{}'::text[] OR array_ndims(application_game_ids) = 1 AND array_lower(application_game_ids, 1) = 1 AND array_position(application_game_ids, NULL::text) IS NULL AND cardinality(application_game_ids) <= 1000),
  constraint sync_run_pages_kind CHECK (kind = ANY (ARRAY['listed'::text, 'unread'::text, 'unlisted'::text])),
  constraint sync_run_pages_numbers CHECK (LEAST(total) >= '-9007199254740991'::bigint AND GREATEST(total) <= '9007199254740991'::bigint),
  constraint sync_run_pages_open_games CHECK (jsonb_typeof(open_games) = 'object'::text AND NOT jsonb_path_exists(open_games, 'strict $.*?(@.type() != "string")'::jsonpath, '{}'::jsonb, true)),
  constraint sync_run_pages_sizes CHECK (GREATEST(octet_length(application_game_ids::text), octet_length(open_games::text)) <= 4000000),
  constraint sync_run_pages_texts CHECK (GREATEST(octet_length(reason)) <= 20000)
);

create table sync_runs (
  run_id uuid not null,
  run_number bigserial,
  application_id text not null,
  trigger text not null,
  "full" boolean default false not null,
  accept_withdrawals boolean default false not null,
  started_at timestamp with time zone default now() not null,
  fence integer default 1 not null,
  stored_bytes bigint default 0 not null,
  storable_bytes bigint,
  storable_games integer,
  withdrawn integer default 0 not null,
  inserted integer default 0 not null,
  updated integer default 0 not null,
  invalid integer default 0 not null,
  failed integer default 0 not null,
  missing integer default 0 not null,
  listed integer default 0 not null,
  unchanged integer default 0 not null,
  outcome text,
  fault text,
  reason text,
  note text,
  finished_at timestamp with time zone,
  listing_end text,
  total_first bigint,
  total_last bigint,
  total_max bigint,
  largest_page integer default 0 not null,
  row_count integer default 0 not null,
  next_page integer default 1 not null,
  listed_bytes bigint default 0 not null,
  progress_at timestamp with time zone default now() not null,
  constraint sync_runs_pkey PRIMARY KEY (run_id),
  constraint sync_runs_closed CHECK ((finished_at IS NULL) = (outcome IS NULL)),
  constraint sync_runs_counts CHECK (LEAST(run_number, fence::bigint, stored_bytes, listed::bigint, inserted::bigint, updated::bigint, unchanged::bigint, invalid::bigint, failed::bigint, missing::bigint, withdrawn::bigint, largest_page::bigint, row_count::bigint, next_page::bigint, listed_bytes) >= 0 AND GREATEST(run_number, fence::bigint, stored_bytes, listed::bigint, inserted::bigint, updated::bigint, unchanged::bigint, invalid::bigint, failed::bigint, missing::bigint, withdrawn::bigint, largest_page::bigint, row_count::bigint, next_page::bigint, listed_bytes) <= '9007199254740991'::bigint),
  constraint sync_runs_fault CHECK (fault = ANY (ARRAY['unreachable'::text, 'application'::text, 'worker'::text, 'keys'::text, 'none'::text])),
  constraint sync_runs_listing_end CHECK (listing_end = ANY (ARRAY['complete'::text, 'repeated'::text, 'page_cap'::text])),
  constraint sync_runs_numbers CHECK (LEAST(storable_bytes, storable_games::bigint, total_first, total_last, total_max) >= '-9007199254740991'::bigint AND GREATEST(storable_bytes, storable_games::bigint, total_first, total_last, total_max) <= '9007199254740991'::bigint),
  constraint sync_runs_outcome CHECK (outcome = ANY (ARRAY['succeeded'::text, 'partial'::text, 'suspect'::text, 'failed'::text, 'abandoned'::text])),
  constraint sync_runs_texts CHECK (GREATEST(octet_length(reason), octet_length(note)) <= 20000),
  constraint sync_runs_trigger CHECK (trigger = ANY (ARRAY['schedule'::text, 'manual'::text, 'refresh'::text]))
);

create table vanishing_games (
  run_id uuid not null,
  game_id uuid not null,
  constraint vanishing_games_run_id_game_id_pk PRIMARY KEY (run_id, game_id)
);

create table workers (
  worker_id uuid not null,
  host text not null,
  pid integer not null,
  queue text not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  constraint workers_pkey PRIMARY KEY (worker_id),
  constraint workers_counts CHECK (LEAST(pid) >= 0 AND GREATEST(pid) <= '9007199254740991'::bigint),
  constraint workers_texts CHECK (GREATEST(octet_length(host), octet_length(queue)) <= 20000)
);

create table drizzle.__drizzle_migrations (
  id serial,
  hash text not null,
  created_at bigint,
  constraint __drizzle_migrations_pkey PRIMARY KEY (id)
);

create table drizzle.migration_progress (
  created_at bigint not null,
  statements integer not null,
  constraint migration_progress_pkey PRIMARY KEY (created_at)
);

-- Rows

insert into drizzle.__drizzle_migrations (id, hash, created_at) select id, hash, created_at from (values
  ('{"id":1,"hash":"1b2074c83497e5d528d65d68282b6a0e3ee9167e529223ed05f1a8a389395775","created_at":1795509821388}'),
  ('{"id":2,"hash":"6935b38894f8e834c63f323f4ce74b495a7166ef8fc29caa4b76767c2b9362c1","created_at":1795509822667}')
) as v (row), json_populate_record(null::drizzle.__drizzle_migrations, row::json) as r;

insert into api_tokens (token_id, token_hash, application_id, login, roles, name, created_at, expires_at, revoked_at, last_used_at) select token_id, token_hash, application_id, login, roles, name, created_at, expires_at, revoked_at, last_used_at from (values
  (E'{"token_id":"019b76da-a808-7000-8000-000000000008","token_hash":"\\\\xdc3a791648b8c92b35e6ae79a68f2b6d78846aa27a2a535496ce1bf6427a588f","application_id":"acme","login":null,"roles":null,"name":"test","created_at":"2026-01-01T00:00:00+00:00","expires_at":null,"revoked_at":null,"last_used_at":null}')
) as v (row), json_populate_record(null::api_tokens, row::json) as r;

insert into application_checks (check_id, application_id, requested_by, requested_at, finished_at, passed, failed, skipped, cases, error) select check_id, application_id, requested_by, requested_at, finished_at, passed, failed, skipped, cases, error from (values
  ('{"check_id":"019b76da-a83a-7000-8000-00000000003a","application_id":"acme","requested_by":"kim","requested_at":"2026-01-01T00:00:00+00:00","finished_at":"2026-01-01T00:00:00+00:00","passed":3,"failed":0,"skipped":0,"cases":[],"error":null}')
) as v (row), json_populate_record(null::application_checks, row::json) as r;

insert into application_holds (application_id, reason, held_by, held_at) select application_id, reason, held_by, held_at from (values
  ('{"application_id":"acme","reason":"the rights are in doubt","held_by":"kim","held_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::application_holds, row::json) as r;

insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook, query_cp_kyc_webhook, access_token, access_token_keys, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate, volatile_parameters, review_priority, status, failed_runs, failing_since, next_attempt_at, pause_reason, last_success_at, details_due_at, details_full_at, created_at, updated_at) select application_id, name, query_game_list_webhook, query_game_detail_webhook, query_cp_kyc_webhook, access_token, access_token_keys, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate, volatile_parameters, review_priority, status, failed_runs, failing_since, next_attempt_at, pause_reason, last_success_at, details_due_at, details_full_at, created_at, updated_at from (values
  (E'{"application_id":"acme","name":"Acme Games","query_game_list_webhook":"http://127.0.0.1:9/list","query_game_detail_webhook":"http://127.0.0.1:9/detail","query_cp_kyc_webhook":"http://127.0.0.1:8/kyc","access_token":"\\\\x02a5a4f007abc4dfe1eb19f685b9af7729541f1a636c183456b39095d3fd3240df8b887a0ae92fecb3aed1fe817d743b95fbb769fc5082a807c3924c","access_token_keys":[{"key_id": "test", "wrapped": "AQiUbNSUosALDpMhr+wH2zaNf0QRZrtEkiEGdC7GFXhm2qAHSIcWrJWlU/iYtlWaStr3JS3DHT0aLwFjQw=="}],"every_ms":2592000000,"kyc_every_ms":2592000000,"detail_max_age_ms":86400000,"concurrency":16,"rate":100000,"volatile_parameters":[],"review_priority":"normal","status":"active","failed_runs":0,"failing_since":null,"next_attempt_at":null,"pause_reason":null,"last_success_at":null,"details_due_at":null,"details_full_at":null,"created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::applications, row::json) as r;

insert into approvals (approval_id, kind, subject, version, requested, reason, requested_by, requested_at, expires_at, approved_by, approved_at, used_at, closed_at, closed_as) select approval_id, kind, subject, version, requested, reason, requested_by, requested_at, expires_at, approved_by, approved_at, used_at, closed_at, closed_as from (values
  ('{"approval_id":"019b76da-a807-7000-8000-000000000007","kind":"erase","subject":"application:acme","version":"1","requested":{},"reason":"a request","requested_by":"kim","requested_at":"2026-01-01T00:00:00+00:00","expires_at":"2026-01-01T00:00:00+00:00","approved_by":null,"approved_at":null,"used_at":null,"closed_at":null,"closed_as":null}')
) as v (row), json_populate_record(null::approvals, row::json) as r;

insert into audit_head (is_single, entry_id, hash) select is_single, entry_id, hash from (values
  (E'{"is_single":true,"entry_id":6,"hash":"\\\\x2e5cb4847acc0d18929e42cfcc30e8b61d1a801975db9075b08faed9459615e0"}')
) as v (row), json_populate_record(null::audit_head, row::json) as r;

insert into audit_log (entry_id, at, actor, actor_kind, os_user, action, subject, reason, details, previous_hash, hash) select entry_id, at, actor, actor_kind, os_user, action, subject, reason, details, previous_hash, hash from (values
  (E'{"entry_id":1,"at":"2026-01-01T00:00:00+00:00","actor":"kim","actor_kind":"operator","os_user":null,"action":"game.pass","subject":"game:019b76da-a80f-7000-8000-00000000000f","reason":null,"details":{"audit_id": 1, "revision": 1},"previous_hash":"\\\\x0000000000000000000000000000000000000000000000000000000000000000","hash":"\\\\xbeb50d404d5cfb8ff3555bcbf176ac979bae94a7da525cdf2cec89c793896040"}'),
  (E'{"entry_id":2,"at":"2026-01-01T00:00:00+00:00","actor":"kim","actor_kind":"operator","os_user":null,"action":"game.pass","subject":"game:019b76da-a810-7000-8000-000000000010","reason":null,"details":{"audit_id": 2, "revision": 1},"previous_hash":"\\\\xbeb50d404d5cfb8ff3555bcbf176ac979bae94a7da525cdf2cec89c793896040","hash":"\\\\xc8d5cc8d5b874ae3d2c6a6cc9beda53b4887b7b3fcacb160e59df1ac80d9b1d1"}'),
  (E'{"entry_id":3,"at":"2026-01-01T00:00:00+00:00","actor":"kim","actor_kind":"operator","os_user":null,"action":"game.pass","subject":"game:019b76da-a811-7000-8000-000000000011","reason":null,"details":{"audit_id": 3, "revision": 1},"previous_hash":"\\\\xc8d5cc8d5b874ae3d2c6a6cc9beda53b4887b7b3fcacb160e59df1ac80d9b1d1","hash":"\\\\xe068d6212b9e18b441ba8fd1fda0508577acb0369b9ca489e215adc17668a921"}'),
  (E'{"entry_id":4,"at":"2026-01-01T00:00:00+00:00","actor":"kim","actor_kind":"operator","os_user":null,"action":"game.reject","subject":"game:019b76da-a812-7000-8000-000000000012","reason":"other","details":{"audit_id": 4, "revision": 1},"previous_hash":"\\\\xe068d6212b9e18b441ba8fd1fda0508577acb0369b9ca489e215adc17668a921","hash":"\\\\xae64f22a53e62053733ec57e801eef85418a05588ff05d36b9ca0bccce81c0a7"}'),
  (E'{"entry_id":5,"at":"2026-01-01T00:00:00+00:00","actor":"media","actor_kind":"system","os_user":null,"action":"game.reopen","subject":"game:019b76da-a810-7000-8000-000000000010","reason":"a picture has other bytes than the decision saw","details":{"audit_id": 2, "picture_id": "e9ad7028-e54b-9183-0daf-98330ad5af4f"},"previous_hash":"\\\\xae64f22a53e62053733ec57e801eef85418a05588ff05d36b9ca0bccce81c0a7","hash":"\\\\x3b215bcf12dd3a67388b0e6b44fa19d83278535e3b302bd5f416d25f296039ed"}'),
  (E'{"entry_id":6,"at":"2026-01-01T00:00:00+00:00","actor":"kim","actor_kind":"operator","os_user":null,"action":"application.pause","subject":"application:acme","reason":null,"details":{},"previous_hash":"\\\\x3b215bcf12dd3a67388b0e6b44fa19d83278535e3b302bd5f416d25f296039ed","hash":"\\\\x2e5cb4847acc0d18929e42cfcc30e8b61d1a801975db9075b08faed9459615e0"}')
) as v (row), json_populate_record(null::audit_log, row::json) as r;

insert into changed_games (game_id, application_id, decided_revision, since, carry_at) select game_id, application_id, decided_revision, since, carry_at from (values
  ('{"game_id":"019b76da-a80f-7000-8000-00000000000f","application_id":"acme","decided_revision":1,"since":"2026-01-01T00:00:00+00:00","carry_at":null}'),
  ('{"game_id":"019b76da-a810-7000-8000-000000000010","application_id":"acme","decided_revision":1,"since":"2026-01-01T00:00:00+00:00","carry_at":null}'),
  ('{"game_id":"019b76da-a811-7000-8000-000000000011","application_id":"acme","decided_revision":1,"since":"2026-01-01T00:00:00+00:00","carry_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::changed_games, row::json) as r;

insert into content_providers (cp_id, application_id, application_cp_id, mapped_at, replaced_at) select cp_id, application_id, application_cp_id, mapped_at, replaced_at from (values
  ('{"cp_id":"019b76da-a82c-7000-8000-00000000002c","application_id":"acme","application_cp_id":"cp-1","mapped_at":"2026-01-01T00:00:00+00:00","replaced_at":null}')
) as v (row), json_populate_record(null::content_providers, row::json) as r;

insert into decision_rules (is_single, games_need_verdict, review_target_ms) select is_single, games_need_verdict, review_target_ms from (values
  ('{"is_single":true,"games_need_verdict":false,"review_target_ms":172800000}')
) as v (row), json_populate_record(null::decision_rules, row::json) as r;

insert into detail_turns (application_id, ends_at) select application_id, ends_at from (values
  ('{"application_id":"acme","ends_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::detail_turns, row::json) as r;

insert into event_deliveries (event_id, application_id, state, attempts, requested_at, next_attempt_at, last_attempt_at, last_status, last_error, delivered_at) select event_id, application_id, state, attempts, requested_at, next_attempt_at, last_attempt_at, last_status, last_error, delivered_at from (values
  ('{"event_id":"019b7620-0000-7000-8000-000000000001","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000002","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000003","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000004","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000005","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000006","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000007","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000008","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000009","application_id":"acme","state":"pending","attempts":0,"requested_at":"2026-01-01T00:00:00+00:00","next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_status":null,"last_error":null,"delivered_at":null}')
) as v (row), json_populate_record(null::event_deliveries, row::json) as r;

insert into event_subscriptions (subscription_id, url, types, secret, former_secret, former_until, secret_keys, "position", status, off_reason, off_at, failures, failing_since, next_attempt_at, last_attempt_at, last_success_at, last_error, created_at) select subscription_id, url, types, secret, former_secret, former_until, secret_keys, "position", status, off_reason, off_at, failures, failing_since, next_attempt_at, last_attempt_at, last_success_at, last_error, created_at from (values
  (E'{"subscription_id":"019b76da-a815-7000-8000-000000000015","url":"http://127.0.0.1:9/stream","types":["game.received"],"secret":"\\\\x021a0e7b4650940375d44664eab688b15a2246801fdfb93c2130edc138b03131f90dd734ac285c8eaaa0b42ab63abe6c212e0edaa7669bf66212c903451f76f92019a5610068c2aa558413c7cd97d4","former_secret":null,"former_until":null,"secret_keys":[{"key_id": "test", "wrapped": "AQ1pTLPRtrksLUIe0qDOV1CV6R9mA1vkBTbM53np8djKqpxAGSbPAT42Pgy+GivEDVTB78EULJoUGNHYnQ=="}],"position":11001,"status":"active","off_reason":null,"off_at":null,"failures":0,"failing_since":null,"next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_success_at":null,"last_error":null,"created_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::event_subscriptions, row::json) as r;

insert into event_webhooks (application_id, url, secret, former_secret, former_until, secret_keys, status, off_reason, off_at, failures, failing_since, next_attempt_at, last_attempt_at, last_success_at, last_error, created_at) select application_id, url, secret, former_secret, former_until, secret_keys, status, off_reason, off_at, failures, failing_since, next_attempt_at, last_attempt_at, last_success_at, last_error, created_at from (values
  (E'{"application_id":"acme","url":"http://127.0.0.1:9/events","secret":"\\\\x02d5a64436396318787141bd7b93a3a6c08db8abf5fc29aec018500a5c8c097e8865dd4563c5fd44e62d794818a0827cdbd6f1c6887f88f1b0d1e96fd4d0746526bf6894ec5ced08a1e2febef8ea6e","former_secret":null,"former_until":null,"secret_keys":[{"key_id": "test", "wrapped": "AWmovR0Hq3ewlKdzZwOte/Vh7RlCOKEi631370nFekN10eiMJlBryT3EklMjS3uskUX1aZrCX9r6Gxe4fQ=="}],"status":"active","off_reason":null,"off_at":null,"failures":0,"failing_since":null,"next_attempt_at":"2026-01-01T00:00:00+00:00","last_attempt_at":null,"last_success_at":null,"last_error":null,"created_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::event_webhooks, row::json) as r;

insert into events (event_id, event_number, application_id, type, game_id, data, created_at, "position") select event_id, event_number, application_id, type, game_id, data, created_at, "position" from (values
  ('{"event_id":"019b7620-0000-7000-8000-000000000001","event_number":1,"application_id":"acme","type":"game.passed","game_id":"019b76da-a80f-7000-8000-00000000000f","data":{"why": "decided", "game_id": "019b76da-a80f-7000-8000-00000000000f", "revision": 1, "game_name": "Harbour", "audit_time": "2026-01-01T00:00:00.000Z", "audit_status": "passed", "application_game_id": "live"},"created_at":"2026-01-01T00:00:00+00:00","position":1}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000002","event_number":2,"application_id":"acme","type":"game.passed","game_id":"019b76da-a810-7000-8000-000000000010","data":{"why": "decided", "game_id": "019b76da-a810-7000-8000-000000000010", "revision": 1, "game_name": "Fog", "audit_time": "2026-01-01T00:00:00.000Z", "audit_status": "passed", "application_game_id": "drifted"},"created_at":"2026-01-01T00:00:00+00:00","position":2}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000003","event_number":3,"application_id":"acme","type":"game.passed","game_id":"019b76da-a811-7000-8000-000000000011","data":{"why": "decided", "game_id": "019b76da-a811-7000-8000-000000000011", "revision": 1, "game_name": "纸船", "audit_time": "2026-01-01T00:00:00.000Z", "audit_status": "passed", "application_game_id": "changed"},"created_at":"2026-01-01T00:00:00+00:00","position":3}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000004","event_number":4,"application_id":"acme","type":"game.rejected","game_id":"019b76da-a812-7000-8000-000000000012","data":{"why": "decided", "text": "Too wet.", "reason": "other", "game_id": "019b76da-a812-7000-8000-000000000012", "revision": 1, "game_name": "Rain", "audit_time": "2026-01-01T00:00:00.000Z", "audit_status": "rejected", "reason_label": "Another reason, see the text", "application_game_id": "rejected"},"created_at":"2026-01-01T00:00:00+00:00","position":4}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000005","event_number":5,"application_id":"acme","type":"game.message","game_id":"019b76da-a812-7000-8000-000000000012","data":{"why": "message", "text": "How wet is it?", "game_id": "019b76da-a812-7000-8000-000000000012", "revision": 1, "game_name": "Rain", "audit_time": "2026-01-01T00:00:00.000Z", "audit_status": "rejected", "application_game_id": "rejected"},"created_at":"2026-01-01T00:00:00+00:00","position":5}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000006","event_number":6,"application_id":"acme","type":"game.pending","game_id":"019b76da-a811-7000-8000-000000000011","data":{"why": "content_changed", "game_id": "019b76da-a811-7000-8000-000000000011", "revision": 2, "game_name": "纸船 2", "audit_time": "", "audit_status": "pending", "application_game_id": "changed"},"created_at":"2026-01-01T00:00:00+00:00","position":6}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000007","event_number":7,"application_id":"acme","type":"game.pending","game_id":"019b76da-a810-7000-8000-000000000010","data":{"why": "pictures_changed", "game_id": "019b76da-a810-7000-8000-000000000010", "revision": 1, "game_name": "Fog", "audit_time": "", "audit_status": "pending", "application_game_id": "drifted"},"created_at":"2026-01-01T00:00:00+00:00","position":7}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000008","event_number":8,"application_id":"acme","type":"game.withdrawn","game_id":"019b76da-a813-7000-8000-000000000013","data":{"why": "not_listed", "game_id": "019b76da-a813-7000-8000-000000000013", "revision": 1, "game_name": "Paper Boat", "audit_time": "", "audit_status": "pending", "application_game_id": "withdrawn"},"created_at":"2026-01-01T00:00:00+00:00","position":8}'),
  ('{"event_id":"019b7620-0000-7000-8000-000000000009","event_number":9,"application_id":"acme","type":"game.pending","game_id":"019b76da-a80f-7000-8000-00000000000f","data":{"why": "held", "game_id": "019b76da-a80f-7000-8000-00000000000f", "revision": 1, "game_name": "Harbour", "audit_time": "", "audit_status": "pending", "application_game_id": "live"},"created_at":"2026-01-01T00:00:00+00:00","position":null}')
) as v (row), json_populate_record(null::events, row::json) as r;

insert into game_absences (game_id, withdrawn_at, returned_at) select game_id, withdrawn_at, returned_at from (values
  ('{"game_id":"019b76da-a813-7000-8000-000000000013","withdrawn_at":"2026-01-01T00:00:00+00:00","returned_at":null}')
) as v (row), json_populate_record(null::game_absences, row::json) as r;

insert into game_appeals (appeal_id, game_id, application_id, audit_id, rejected_by, text, opened_at, outcome, decided_by, answer, decided_at) select appeal_id, game_id, application_id, audit_id, rejected_by, text, opened_at, outcome, decided_by, answer, decided_at from (values
  ('{"appeal_id":1,"game_id":"019b76da-a812-7000-8000-000000000012","application_id":"acme","audit_id":4,"rejected_by":"kim","text":"It is dry.","opened_at":"2026-01-01T00:00:00+00:00","outcome":null,"decided_by":null,"answer":null,"decided_at":null}')
) as v (row), json_populate_record(null::game_appeals, row::json) as r;

insert into game_audits (audit_id, game_id, revision, audit_status, decided_by, reason, text, note, batch_id, carried_over_from, appeal_id, waiting_since, decided_at, undone_at, undone_by) select audit_id, game_id, revision, audit_status, decided_by, reason, text, note, batch_id, carried_over_from, appeal_id, waiting_since, decided_at, undone_at, undone_by from (values
  ('{"audit_id":1,"game_id":"019b76da-a80f-7000-8000-00000000000f","revision":1,"audit_status":"passed","decided_by":"kim","reason":null,"text":null,"note":"fine","batch_id":null,"carried_over_from":null,"appeal_id":null,"waiting_since":"2026-01-01T00:00:00+00:00","decided_at":"2026-01-01T00:00:00+00:00","undone_at":null,"undone_by":null}'),
  ('{"audit_id":2,"game_id":"019b76da-a810-7000-8000-000000000010","revision":1,"audit_status":"passed","decided_by":"kim","reason":null,"text":null,"note":"fine","batch_id":null,"carried_over_from":null,"appeal_id":null,"waiting_since":"2026-01-01T00:00:00+00:00","decided_at":"2026-01-01T00:00:00+00:00","undone_at":null,"undone_by":null}'),
  ('{"audit_id":3,"game_id":"019b76da-a811-7000-8000-000000000011","revision":1,"audit_status":"passed","decided_by":"kim","reason":null,"text":null,"note":"fine","batch_id":null,"carried_over_from":null,"appeal_id":null,"waiting_since":"2026-01-01T00:00:00+00:00","decided_at":"2026-01-01T00:00:00+00:00","undone_at":null,"undone_by":null}'),
  ('{"audit_id":4,"game_id":"019b76da-a812-7000-8000-000000000012","revision":1,"audit_status":"rejected","decided_by":"kim","reason":"other","text":"Too wet.","note":null,"batch_id":null,"carried_over_from":null,"appeal_id":null,"waiting_since":"2026-01-01T00:00:00+00:00","decided_at":"2026-01-01T00:00:00+00:00","undone_at":null,"undone_by":null}')
) as v (row), json_populate_record(null::game_audits, row::json) as r;

insert into game_count_changes (application_id, audit_status, bucket, games) select application_id, audit_status, bucket, games from (values
  ('{"application_id":"acme","audit_status":"changed","bucket":13806450000,"games":1}'),
  ('{"application_id":"acme","audit_status":"passed","bucket":13806450000,"games":-1}'),
  ('{"application_id":"acme","audit_status":"pending","bucket":13806450000,"games":1}'),
  ('{"application_id":"acme","audit_status":"pending","bucket":13806450000,"games":1}')
) as v (row), json_populate_record(null::game_count_changes, row::json) as r;

insert into game_counts (application_id, audit_status, level, bucket, games, upto) select application_id, audit_status, level, bucket, games, upto from (values
  ('{"application_id":"","audit_status":"changed","level":0,"bucket":0,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"changed","level":1,"bucket":51,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"changed","level":2,"bucket":6583,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"changed","level":3,"bucket":842678,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"changed","level":4,"bucket":107862890,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"passed","level":0,"bucket":0,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"passed","level":1,"bucket":51,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"passed","level":2,"bucket":6583,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"passed","level":3,"bucket":842678,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"passed","level":4,"bucket":107862890,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"pending","level":0,"bucket":0,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"pending","level":1,"bucket":51,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"pending","level":2,"bucket":6583,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"pending","level":3,"bucket":842678,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"pending","level":4,"bucket":107862890,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"","audit_status":"rejected","level":0,"bucket":0,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"rejected","level":1,"bucket":51,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"rejected","level":2,"bucket":6583,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"rejected","level":3,"bucket":842678,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"","audit_status":"rejected","level":4,"bucket":107862890,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"changed","level":0,"bucket":0,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"changed","level":1,"bucket":51,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"changed","level":2,"bucket":6583,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"changed","level":3,"bucket":842678,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"passed","level":0,"bucket":0,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"passed","level":1,"bucket":51,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"passed","level":2,"bucket":6583,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"passed","level":3,"bucket":842678,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"pending","level":0,"bucket":0,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"pending","level":1,"bucket":51,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"pending","level":2,"bucket":6583,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"pending","level":3,"bucket":842678,"games":2,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}'),
  ('{"application_id":"acme","audit_status":"rejected","level":0,"bucket":0,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"rejected","level":1,"bucket":51,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"rejected","level":2,"bucket":6583,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'),
  ('{"application_id":"acme","audit_status":"rejected","level":3,"bucket":842678,"games":1,"upto":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}')
) as v (row), json_populate_record(null::game_counts, row::json) as r;

insert into game_icon_hashes (game_id, dhash) select game_id, dhash from (values
  ('{"game_id":"019b76da-a810-7000-8000-000000000010","dhash":1}')
) as v (row), json_populate_record(null::game_icon_hashes, row::json) as r;

insert into game_leases (game_id, holder, claimed_from, leased_until) select game_id, holder, claimed_from, leased_until from (values
  ('{"game_id":"019b76da-a812-7000-8000-000000000012","holder":"lee","claimed_from":null,"leased_until":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::game_leases, row::json) as r;

insert into game_messages (message_id, game_id, application_id, kind, written_by, text, written_at) select message_id, game_id, application_id, kind, written_by, text, written_at from (values
  ('{"message_id":1,"game_id":"019b76da-a812-7000-8000-000000000012","application_id":"acme","kind":"message","written_by":"kim","text":"How wet is it?","written_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::game_messages, row::json) as r;

insert into game_revisions (game_id, revision, game_name, game_icon, game_desc, game_store_pic, game_store_video, content_hash, fetched_at) select game_id, revision, game_name, game_icon, game_desc, game_store_pic, game_store_video, content_hash, fetched_at from (values
  ('{"game_id":"019b76da-a80f-7000-8000-00000000000f","revision":1,"game_name":"Harbour","game_icon":["https://cdn.example/live.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"HjeypOUWc6QmG-xywNIs-2QWfmiagPxFa0algLZeX2I","fetched_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a810-7000-8000-000000000010","revision":1,"game_name":"Fog","game_icon":["https://cdn.example/drifted.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"GT-TSkB7cO7rY3MZCgrY5fPa1V6IIxNFQqskhrsIWao","fetched_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a811-7000-8000-000000000011","revision":1,"game_name":"纸船","game_icon":["https://cdn.example/changed.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"K6EuL7XLAp9sAg-9bMdovdxlD1IZ8yuQyr41V3nibiE","fetched_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a811-7000-8000-000000000011","revision":2,"game_name":"纸船 2","game_icon":["https://cdn.example/changed.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"4afWWUOW0ZaAacxBjz8naxR1UBYXrqxew7puls7efo4","fetched_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a812-7000-8000-000000000012","revision":1,"game_name":"Rain","game_icon":["https://cdn.example/rejected.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"kWzzNOQn47G1oQei4tuPWRE7puqy11yamI86fgBcB7g","fetched_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a813-7000-8000-000000000013","revision":1,"game_name":"Paper Boat","game_icon":["https://cdn.example/withdrawn.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"xFrvFjnJMKC53pPthVkfcMg0EVtcWzlfS9mxkm1N__A","fetched_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a81b-7000-8000-00000000001b","revision":1,"game_name":"(no name)","game_icon":["https://cdn.example/waiting.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","content_hash":"PQT0927thn2IMnSUOfxPONQ4IAyhlxfX5fqgrIjyiIg","fetched_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::game_revisions, row::json) as r;

insert into game_viewers (game_id, viewer, revision, seen_at) select game_id, viewer, revision, seen_at from (values
  ('{"game_id":"019b76da-a812-7000-8000-000000000012","viewer":"kim","revision":1,"seen_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::game_viewers, row::json) as r;

insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc, game_store_pic, game_store_video, game_package_url, audit_status, audit_time, revision, content_hash, addresses_end_at, list_hash, fetched_at, withdrawn_at, unlisted_at, search, created_at, updated_at) select game_id, application_id, application_game_id, game_name, game_icon, game_desc, game_store_pic, game_store_video, game_package_url, audit_status, audit_time, revision, content_hash, addresses_end_at, list_hash, fetched_at, withdrawn_at, unlisted_at, search, created_at, updated_at from (values
  ('{"game_id":"019b76da-a80f-7000-8000-00000000000f","application_id":"acme","application_game_id":"live","game_name":"Harbour","game_icon":["https://cdn.example/live.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","game_package_url":"","audit_status":"pending","audit_time":null,"revision":1,"content_hash":"HjeypOUWc6QmG-xywNIs-2QWfmiagPxFa0algLZeX2I","addresses_end_at":null,"list_hash":"93fSntdpWW2038Sra66dBf","fetched_at":"2026-01-01T00:00:00+00:00","withdrawn_at":null,"unlisted_at":null,"search":"''#live'' ''@acme'' ''harbour''","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a810-7000-8000-000000000010","application_id":"acme","application_game_id":"drifted","game_name":"Fog","game_icon":["https://cdn.example/drifted.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","game_package_url":"","audit_status":"pending","audit_time":null,"revision":1,"content_hash":"GT-TSkB7cO7rY3MZCgrY5fPa1V6IIxNFQqskhrsIWao","addresses_end_at":null,"list_hash":"9LomndH_CpJh5TdZN8DMRI","fetched_at":"2026-01-01T00:00:00+00:00","withdrawn_at":null,"unlisted_at":null,"search":"''#drifted'' ''@acme'' ''fog''","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a811-7000-8000-000000000011","application_id":"acme","application_game_id":"changed","game_name":"纸船 2","game_icon":["https://cdn.example/changed.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","game_package_url":"","audit_status":"pending","audit_time":null,"revision":2,"content_hash":"4afWWUOW0ZaAacxBjz8naxR1UBYXrqxew7puls7efo4","addresses_end_at":null,"list_hash":"npHPk4PfPvMu8SvWQAkouk","fetched_at":"2026-01-01T00:00:00+00:00","withdrawn_at":null,"unlisted_at":null,"search":"''#changed'' ''+2'' ''+纸船'' ''+船'' ''@acme''","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a812-7000-8000-000000000012","application_id":"acme","application_game_id":"rejected","game_name":"Rain","game_icon":["https://cdn.example/rejected.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","game_package_url":"","audit_status":"rejected","audit_time":"2026-01-01T00:00:00+00:00","revision":1,"content_hash":"kWzzNOQn47G1oQei4tuPWRE7puqy11yamI86fgBcB7g","addresses_end_at":null,"list_hash":"chcUDtvmf2j7pESnk_s2EJ","fetched_at":"2026-01-01T00:00:00+00:00","withdrawn_at":null,"unlisted_at":null,"search":"''#rejected'' ''@acme'' ''rain''","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a813-7000-8000-000000000013","application_id":"acme","application_game_id":"withdrawn","game_name":"Paper Boat","game_icon":["https://cdn.example/withdrawn.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","game_package_url":"","audit_status":"pending","audit_time":null,"revision":1,"content_hash":"xFrvFjnJMKC53pPthVkfcMg0EVtcWzlfS9mxkm1N__A","addresses_end_at":null,"list_hash":"KDICFhSkgUYOnDH_5uyxwJ","fetched_at":"2026-01-01T00:00:00+00:00","withdrawn_at":"2026-01-01T00:00:00+00:00","unlisted_at":null,"search":"''#withdrawn'' ''@acme'' ''boat'' ''paper''","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"game_id":"019b76da-a81b-7000-8000-00000000001b","application_id":"acme","application_game_id":"waiting","game_name":"(no name)","game_icon":["https://cdn.example/waiting.png"],"game_desc":"Bring the boats home before the fog.","game_store_pic":["https://cdn.example/1.png","https://cdn.example/2.png"],"game_store_video":"https://cdn.example/film.mp4","game_package_url":"","audit_status":"pending","audit_time":null,"revision":1,"content_hash":"PQT0927thn2IMnSUOfxPONQ4IAyhlxfX5fqgrIjyiIg","addresses_end_at":null,"list_hash":"WfAhAS5I98CmxAL5tozgMr","fetched_at":"2026-01-01T00:00:00+00:00","withdrawn_at":null,"unlisted_at":null,"search":"''#waiting'' ''+no'' ''@acme'' ''name''","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::games, row::json) as r;

insert into held_games (game_id, application_id, audit_id) select game_id, application_id, audit_id from (values
  ('{"game_id":"019b76da-a80f-7000-8000-00000000000f","application_id":"acme","audit_id":1}')
) as v (row), json_populate_record(null::held_games, row::json) as r;

insert into imported_games (application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by, reason, text) select application_id, application_game_id, game_id, game_package_url, audit_status, audit_time, decided_by, reason, text from (values
  ('{"application_id":"acme","application_game_id":"imported","game_id":"019b76da-a81a-7000-8000-00000000001a","game_package_url":"","audit_status":"rejected","audit_time":"2026-01-01T00:00:00+00:00","decided_by":"kim","reason":"rights","text":"No."}')
) as v (row), json_populate_record(null::imported_games, row::json) as r;

insert into ingest_failures (application_id, operation, application_game_id, kind, reasons, first_at, last_at, count, final, list_hash) select application_id, operation, application_game_id, kind, reasons, first_at, last_at, count, final, list_hash from (values
  ('{"application_id":"acme","operation":"query_game_detail","application_game_id":"new","kind":"timeout","reasons":[],"first_at":"2026-01-01T00:00:00+00:00","last_at":"2026-01-01T00:00:00+00:00","count":1,"final":false,"list_hash":""}')
) as v (row), json_populate_record(null::ingest_failures, row::json) as r;

insert into kyc_access_log (entry_id, application_id, record_id, action, accessed_by, reason, accessed_at) select entry_id, application_id, record_id, action, accessed_by, reason, accessed_at from (values
  ('{"entry_id":1,"application_id":"acme","record_id":null,"action":"reveal","accessed_by":"kim","reason":"a request","accessed_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::kyc_access_log, row::json) as r;

insert into kyc_former_records (record_id, application_id, cp_id, cp_name, cp_short_name, legal_entity, id_type, id_number, tax_id, registered_address, corporate_account, opening_bank, data_keys, received_at, replaced_at, changed_fields) select record_id, application_id, cp_id, cp_name, cp_short_name, legal_entity, id_type, id_number, tax_id, registered_address, corporate_account, opening_bank, data_keys, received_at, replaced_at, changed_fields from (values
  (E'{"record_id":"019b76da-a820-7000-8000-000000000020","application_id":"acme","cp_id":"019b76da-a82c-7000-8000-00000000002c","cp_name":"\\\\x011bb65f0fa92f81ea417b953cf493b948bc703a8fbe13631aa997839b9b8806de47ca83","cp_short_name":"\\\\x01303aae3b0c6ef40546b920795705a84468f04592abf2a83546ede296c5a8a1e16c96ad","legal_entity":"\\\\x01b792dfb46e150e56edbf684e852745080d08dd97ea156439fbf46c1c742b5b3c8bde64f28ee50a","id_type":"\\\\x010a297c7e2b2f7f045b9eb08631fa7fc1ec86f1da3ad8c289dfde53311cbff40d0c909272","id_number":"\\\\x019d65babb9b12fb9573765d4f6e54d61df995d8e309107a5d4bdd3a767120","tax_id":"\\\\x019669536a9d4f824b127334fcd4dcbcae6b4cad285afba54e840a6e4600e8b7c73251714053e6","registered_address":"\\\\x017236e0de59aab7d74990f4de142bba0d678c01f00f2a67547549facf8ef73993ab0a6d06a9c9a759f025","corporate_account":"\\\\x01a1d650099ec75539ce9f078b2e44020c366ca06a4896408c188dc6ab8961f22f20efedb809","opening_bank":"\\\\x01eb97c89d7f66f9031983d367273518318c6a434f86e19ed4e74079c7f6cd55014fe15ca57b4bfc9b","data_keys":[{"key_id": "test", "wrapped": "Ac2FnYvfyeTot07/LbCDggjL5JgvTCz+X7lhgzqyor+ZnNSbb50omFJ4E0f7Qb0uM7WHtgX6CzctKK8+jw=="}],"received_at":"2026-01-01T00:00:00+00:00","replaced_at":"2026-01-01T00:00:00+00:00","changed_fields":[]}')
) as v (row), json_populate_record(null::kyc_former_records, row::json) as r;

insert into kyc_keys (purpose, data_keys, public_key) select purpose, data_keys, public_key from (values
  ('{"purpose":"fingerprint","data_keys":[{"key_id": "test", "wrapped": "AftzeNAW4oY1sdhX88VwLq0b6yiVITgoul1jD44AtvhKxeA5DmFKf1017Tray3hbJ49fWFnXWzDEXTF6Aw=="}],"public_key":null}')
) as v (row), json_populate_record(null::kyc_keys, row::json) as r;

insert into kyc_records (application_id, record_id, cp_id, cp_name, cp_short_name, legal_entity, id_type, id_number, tax_id, registered_address, corporate_account, opening_bank, data_keys, fingerprint, tax_id_fingerprint, received_at, changed_fields, field_fingerprints) select application_id, record_id, cp_id, cp_name, cp_short_name, legal_entity, id_type, id_number, tax_id, registered_address, corporate_account, opening_bank, data_keys, fingerprint, tax_id_fingerprint, received_at, changed_fields, field_fingerprints from (values
  (E'{"application_id":"acme","record_id":"019b76da-a82d-7000-8000-00000000002d","cp_id":"019b76da-a82c-7000-8000-00000000002c","cp_name":"\\\\x019d9a9e1bca33a9dc5c658943f4cfede584cb6890b64d9d8016792bceeb892592a8ab49e47d251eb0a639","cp_short_name":"\\\\x016d101d16b87a059463a4fa470a4c405cd3d28bc3b659fb3fb1c314454add32c0229c8a","legal_entity":"\\\\x01bd5293f9465da9accc5560b3d4ccccb6c7ef78236ff7be3670057f53c45c571bd62d6d19d1e824","id_type":"\\\\x01d2a9c46c444f4914add67a667de9bae97a64f03aba4893d8aff6508932372f3f5299770c","id_number":"\\\\x017a98aae352c58802376739711aebcd29968a4eb6b847caa9118b592b991e","tax_id":"\\\\x012a4447081c0e662f52360297c3eade635334c8f057633d696ebc3854ab439e9bc4f82dfd007f","registered_address":"\\\\x010c27c4fc829b0dd0c137ca9c608ce3d23d82a7eb6efb73c1b3d0a1479ba98db20a7a47b9593a1be2c533","corporate_account":"\\\\x014caa0030bbaf6702b59ed04d96d1cdb95e19e5e42b4838bc6c1cf95199507c87864ecbb409","opening_bank":"\\\\x01120c3e425c9c775b7ec8604b7ffd9baf64d223f0a10ecc04ed8c13120d64f8e935631bbd2e515326","data_keys":[{"key_id": "test", "wrapped": "AQ/0IW4HmIpdSfbajKYEtvRVaZKJ14Wu8NA0ZVTeAg0uYgWSMIPr7BVbO+/jP9dxETgqTBStMNFozNkt6g=="}],"fingerprint":"\\\\xb08b7a0f0317d9829caea151624c0da091c1941f06bb92c7b801d62bec7eb5c3","tax_id_fingerprint":"\\\\xc3f4a8e00898061ab4c082cdf571a0a8d448ad22c05c4ab0420b66ba5356a85b","received_at":"2026-01-01T00:00:00+00:00","changed_fields":["cp_name"],"field_fingerprints":"\\\\xe65fb33d79c47d856d8ca64fccdf08d3339cb877121a5a927544f585ad39b224a1d7f3a9cd7b11d8104565a5149b7e1197319bf90049b7a6403e911353ba3d157ee54572c95976cd9b959c6e86d2af73ce8445b5e7a8d7acaeea37dfc37558fc08f48842f22f3c435ed8b9cfd774f9a1ef47b2d8d709f3c8db031a9645ee1f8d5567d85bfb84bdece4a50339116d1177"}')
) as v (row), json_populate_record(null::kyc_records, row::json) as r;

insert into kyc_states (application_id, state, pulled_at, requested_at, refused_cp_id, reason) select application_id, state, pulled_at, requested_at, refused_cp_id, reason from (values
  ('{"application_id":"acme","state":"sealed","pulled_at":"2026-01-01T00:00:00+00:00","requested_at":null,"refused_cp_id":null,"reason":null}')
) as v (row), json_populate_record(null::kyc_states, row::json) as r;

insert into kyc_verdicts (verdict_id, application_id, record_id, verdict, reason, text, decided_by, decided_at, expires_at, ended_at, ended_as) select verdict_id, application_id, record_id, verdict, reason, text, decided_by, decided_at, expires_at, ended_at, ended_as from (values
  ('{"verdict_id":1,"application_id":"acme","record_id":"019b76da-a82d-7000-8000-00000000002d","verdict":"verified","reason":"a register extract","text":null,"decided_by":"kim","decided_at":"2026-01-01T00:00:00+00:00","expires_at":"2026-01-01T00:00:00+00:00","ended_at":null,"ended_as":null}')
) as v (row), json_populate_record(null::kyc_verdicts, row::json) as r;

insert into oidc_flows (flow_hash, site, state, nonce, code_verifier, next, expires_at) select flow_hash, site, state, nonce, code_verifier, next, expires_at from (values
  (E'{"flow_hash":"\\\\xcc2dc8d8adb6439605fa188ed5f0d8a43930b8e1eb8fc46e63dd9ab6a643910d","site":"console","state":"s","nonce":"n","code_verifier":"v","next":"/","expires_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::oidc_flows, row::json) as r;

insert into operator_sessions (session_hash, login, site, started_at, seen_at, confirmed_at) select session_hash, login, site, started_at, seen_at, confirmed_at from (values
  (E'{"session_hash":"\\\\x1d8a904c4fff579bc28fd3a8065762b958f81089579cf2177ae7489a90f7d396","login":"kim","site":"console","started_at":"2026-01-01T00:00:00+00:00","seen_at":"2026-01-01T00:00:00+00:00","confirmed_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::operator_sessions, row::json) as r;

insert into operators (login, name, roles, held_roles, status, password_hash, oidc_subject, created_at, counts_at, last_sign_in_at, single_keys) select login, name, roles, held_roles, status, password_hash, oidc_subject, created_at, counts_at, last_sign_in_at, single_keys from (values
  ('{"login":"kim","name":"Kim","roles":["reviewer","kyc_officer"],"held_roles":["kyc_officer","reviewer"],"status":"active","password_hash":null,"has_password":false,"oidc_subject":null,"created_at":"2026-01-01T00:00:00+00:00","counts_at":"2026-01-01T00:00:00+00:00","last_sign_in_at":null,"single_keys":true}'),
  ('{"login":"lee","name":"Lee","roles":["admin","kyc_officer"],"held_roles":["admin","kyc_officer"],"status":"active","password_hash":null,"has_password":false,"oidc_subject":null,"created_at":"2026-01-01T00:00:00+00:00","counts_at":"2026-01-01T00:00:00+00:00","last_sign_in_at":null,"single_keys":true}')
) as v (row), json_populate_record(null::operators, row::json) as r;

insert into picture_changes (game_id, found_at, picture_id, audit_id, before, after) select game_id, found_at, picture_id, audit_id, before, after from (values
  (E'{"game_id":"019b76da-a810-7000-8000-000000000010","found_at":"2026-01-01T00:00:00+00:00","picture_id":"e9ad7028-e54b-9183-0daf-98330ad5af4f","audit_id":2,"before":"\\\\xd67e08ade6e823c063affb00fea95adabffa75cf1a660d8fcea3223d68e8e44d","after":"\\\\xa3ead5eedad5df82318c51685dbc1c147a36d1ff8584fc82de6b08d0bf63a795"}')
) as v (row), json_populate_record(null::picture_changes, row::json) as r;

insert into picture_contents (sha256, outcome, bytes, format, width, height, frames, dhash, whole, pinned, stored, looked_at) select sha256, outcome, bytes, format, width, height, frames, dhash, whole, pinned, stored, looked_at from (values
  (E'{"sha256":"\\\\xa3ead5eedad5df82318c51685dbc1c147a36d1ff8584fc82de6b08d0bf63a795","outcome":"shown","bytes":9,"format":"png","width":64,"height":64,"frames":1,"dhash":1,"whole":true,"pinned":false,"stored":null,"looked_at":"2026-01-01T00:00:00+00:00"}'),
  (E'{"sha256":"\\\\xd67e08ade6e823c063affb00fea95adabffa75cf1a660d8fcea3223d68e8e44d","outcome":"shown","bytes":9,"format":"png","width":64,"height":64,"frames":1,"dhash":1,"whole":true,"pinned":true,"stored":null,"looked_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::picture_contents, row::json) as r;

insert into picture_pins (audit_id, is_icon, place, picture_id, sha256) select audit_id, is_icon, place, picture_id, sha256 from (values
  ('{"audit_id":1,"is_icon":false,"place":0,"picture_id":"4f6548fc-15ef-294f-ca33-4f6fa005d2c8","sha256":null}'),
  ('{"audit_id":1,"is_icon":false,"place":1,"picture_id":"9e950c2b-b88b-060f-bfed-0e163c72c7ae","sha256":null}'),
  ('{"audit_id":1,"is_icon":true,"place":0,"picture_id":"9d781a60-d1ef-12b1-d6f8-f6a33ea7cc6e","sha256":null}'),
  ('{"audit_id":2,"is_icon":false,"place":0,"picture_id":"4f6548fc-15ef-294f-ca33-4f6fa005d2c8","sha256":null}'),
  ('{"audit_id":2,"is_icon":false,"place":1,"picture_id":"9e950c2b-b88b-060f-bfed-0e163c72c7ae","sha256":null}'),
  (E'{"audit_id":2,"is_icon":true,"place":0,"picture_id":"e9ad7028-e54b-9183-0daf-98330ad5af4f","sha256":"\\\\xd67e08ade6e823c063affb00fea95adabffa75cf1a660d8fcea3223d68e8e44d"}'),
  ('{"audit_id":3,"is_icon":false,"place":0,"picture_id":"4f6548fc-15ef-294f-ca33-4f6fa005d2c8","sha256":null}'),
  ('{"audit_id":3,"is_icon":false,"place":1,"picture_id":"9e950c2b-b88b-060f-bfed-0e163c72c7ae","sha256":null}'),
  ('{"audit_id":3,"is_icon":true,"place":0,"picture_id":"6f99d785-dba1-9512-f873-eb153fa30583","sha256":null}'),
  ('{"audit_id":4,"is_icon":false,"place":0,"picture_id":"4f6548fc-15ef-294f-ca33-4f6fa005d2c8","sha256":null}'),
  ('{"audit_id":4,"is_icon":false,"place":1,"picture_id":"9e950c2b-b88b-060f-bfed-0e163c72c7ae","sha256":null}'),
  ('{"audit_id":4,"is_icon":true,"place":0,"picture_id":"598be3b7-bcc4-390e-1153-87b5b5521ba5","sha256":null}')
) as v (row), json_populate_record(null::picture_pins, row::json) as r;

insert into picture_rules (application_id, tag, volatile_parameters, after) select application_id, tag, volatile_parameters, after from (values
  ('{"application_id":"acme","tag":"Ae7wdT","volatile_parameters":[],"after":null}')
) as v (row), json_populate_record(null::picture_rules, row::json) as r;

insert into picture_thumbnails (sha256, width, webp) select sha256, width, webp from (values
  (E'{"sha256":"\\\\xa3ead5eedad5df82318c51685dbc1c147a36d1ff8584fc82de6b08d0bf63a795","width":64,"webp":"\\\\x77656270"}'),
  (E'{"sha256":"\\\\xd67e08ade6e823c063affb00fea95adabffa75cf1a660d8fcea3223d68e8e44d","width":64,"webp":"\\\\x77656270"}')
) as v (row), json_populate_record(null::picture_thumbnails, row::json) as r;

insert into pictures (picture_id, url, sha256, outcome, http_status, note, etag, fetched_at, fresh_until, next_check_at) select picture_id, url, sha256, outcome, http_status, note, etag, fetched_at, fresh_until, next_check_at from (values
  ('{"picture_id":"4f6548fc-15ef-294f-ca33-4f6fa005d2c8","url":"https://cdn.example/1.png","sha256":null,"outcome":null,"http_status":null,"note":null,"etag":null,"fetched_at":null,"fresh_until":null,"next_check_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"picture_id":"598be3b7-bcc4-390e-1153-87b5b5521ba5","url":"https://cdn.example/rejected.png","sha256":null,"outcome":null,"http_status":null,"note":null,"etag":null,"fetched_at":null,"fresh_until":null,"next_check_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"picture_id":"6f99d785-dba1-9512-f873-eb153fa30583","url":"https://cdn.example/changed.png","sha256":null,"outcome":null,"http_status":null,"note":null,"etag":null,"fetched_at":null,"fresh_until":null,"next_check_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"picture_id":"9d781a60-d1ef-12b1-d6f8-f6a33ea7cc6e","url":"https://cdn.example/live.png","sha256":null,"outcome":null,"http_status":null,"note":null,"etag":null,"fetched_at":null,"fresh_until":null,"next_check_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"picture_id":"9e950c2b-b88b-060f-bfed-0e163c72c7ae","url":"https://cdn.example/2.png","sha256":null,"outcome":null,"http_status":null,"note":null,"etag":null,"fetched_at":null,"fresh_until":null,"next_check_at":"2026-01-01T00:00:00+00:00"}'),
  (E'{"picture_id":"e9ad7028-e54b-9183-0daf-98330ad5af4f","url":"https://cdn.example/drifted.png","sha256":"\\\\xa3ead5eedad5df82318c51685dbc1c147a36d1ff8584fc82de6b08d0bf63a795","outcome":"shown","http_status":200,"note":null,"etag":null,"fetched_at":"2026-01-01T00:00:00+00:00","fresh_until":"2026-01-01T00:00:00+00:00","next_check_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::pictures, row::json) as r;

insert into portal_sessions (session_hash, token_id, started_at, seen_at) select session_hash, token_id, started_at, seen_at from (values
  (E'{"session_hash":"\\\\x136d9fda60260db541102444f9d106652d4931737a832b2de40e0828feddc1f4","token_id":"019b76da-a808-7000-8000-000000000008","started_at":"2026-01-01T00:00:00+00:00","seen_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::portal_sessions, row::json) as r;

insert into reasons (code, label, text, "position", retired_at) select code, label, text, "position", retired_at from (values
  ('{"code":"broken_media","label":"An icon, a picture or the video does not load","text":"","position":2,"retired_at":null}'),
  ('{"code":"duplicate","label":"The game is in the catalogue already","text":"","position":6,"retired_at":null}'),
  ('{"code":"inappropriate","label":"The content is not appropriate for the platform","text":"","position":4,"retired_at":null}'),
  ('{"code":"incomplete","label":"Information is missing or incomplete","text":"","position":1,"retired_at":null}'),
  ('{"code":"misleading","label":"The name, text or pictures mislead about the game","text":"","position":3,"retired_at":null}'),
  ('{"code":"other","label":"Another reason, see the text","text":"","position":7,"retired_at":null}'),
  ('{"code":"rights","label":"Rights to the game, its name or its pictures are in doubt","text":"","position":5,"retired_at":null}')
) as v (row), json_populate_record(null::reasons, row::json) as r;

insert into refresh_requests (application_id, application_game_id, is_full, requested_at, by_operator, attempts) select application_id, application_game_id, is_full, requested_at, by_operator, attempts from (values
  ('{"application_id":"acme","application_game_id":"live","is_full":false,"requested_at":"2026-01-01T00:00:00+00:00","by_operator":false,"attempts":0}')
) as v (row), json_populate_record(null::refresh_requests, row::json) as r;

insert into refresh_turns (application_id, next_at, idle_turns, stored_bytes, day_started_at) select application_id, next_at, idle_turns, stored_bytes, day_started_at from (values
  ('{"application_id":"acme","next_at":"2026-01-01T00:00:00+00:00","idle_turns":0,"stored_bytes":0,"day_started_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::refresh_turns, row::json) as r;

insert into run_days (application_id, day, outcome, runs, listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn) select application_id, day, outcome, runs, listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn from (values
  ('{"application_id":"acme","day":"2026-01-01","outcome":"succeeded","runs":1,"listed":1,"inserted":1,"updated":0,"unchanged":0,"invalid":0,"failed":0,"missing":0,"withdrawn":0}')
) as v (row), json_populate_record(null::run_days, row::json) as r;

insert into search_words (word, keys) select word, keys from (values
  ('{"word":"boat","keys":["oat","boa","~bat","~boa","~bot","~oat","~boat"]}'),
  ('{"word":"fog","keys":["fog","~fg","~fo","~og","~fog"]}'),
  ('{"word":"harbour","keys":["har","rbo","our","bou","arb","~arbour","~habour","~harbor","~harbou","~harbur","~harour","~hrbour","~harbour"]}'),
  ('{"word":"name","keys":["nam","ame","~ame","~nae","~nam","~nme","~name"]}'),
  ('{"word":"paper","keys":["pap","per","ape","~aper","~paer","~pape","~papr","~pper","~paper"]}'),
  ('{"word":"rain","keys":["rai","ain","~ain","~rai","~ran","~rin","~rain"]}')
) as v (row), json_populate_record(null::search_words, row::json) as r;

insert into sign_in_attempts (attempt_key, attempts, window_ends_at) select attempt_key, attempts, window_ends_at from (values
  ('{"attempt_key":"login:kim","attempts":1,"window_ends_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::sign_in_attempts, row::json) as r;

insert into sign_in_links (link_hash, login, sets_password, expires_at) select link_hash, login, sets_password, expires_at from (values
  (E'{"link_hash":"\\\\x172f84a65934fc29776758a22ad080b341b497b1967d89a20dbd8420f4d4507b","login":"lee","sets_password":true,"expires_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::sign_in_links, row::json) as r;

insert into stream_events (event_number, event_id, type, application_id, size, game_ids, revisions, facts, created_at, "position") select event_number, event_id, type, application_id, size, game_ids, revisions, facts, created_at, "position" from (values
  ('{"event_number":1,"event_id":null,"type":"application.added","application_id":"acme","size":1,"game_ids":null,"revisions":null,"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":1}'),
  ('{"event_number":10,"event_id":null,"type":"game.changed","application_id":null,"size":1,"game_ids":["019b76da-a811-7000-8000-000000000011"],"revisions":[2],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":9001}'),
  ('{"event_number":11,"event_id":"019b7620-0000-7000-8000-000000000007","type":"game.pending","application_id":"acme","size":1,"game_ids":["019b76da-a810-7000-8000-000000000010"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":10001}'),
  ('{"event_number":12,"event_id":"019b7620-0000-7000-8000-000000000008","type":"game.withdrawn","application_id":"acme","size":1,"game_ids":["019b76da-a813-7000-8000-000000000013"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":11001}'),
  ('{"event_number":13,"event_id":null,"type":"game.received","application_id":null,"size":1,"game_ids":["019b76da-a81b-7000-8000-00000000001b"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":null}'),
  ('{"event_number":14,"event_id":null,"type":"run.suspect","application_id":"acme","size":1,"game_ids":null,"revisions":null,"facts":{"run_id": "019b76da-a81c-7000-8000-00000000001c"},"created_at":"2026-01-01T00:00:00+00:00","position":null}'),
  ('{"event_number":15,"event_id":null,"type":"kyc.changed","application_id":"acme","size":1,"game_ids":null,"revisions":null,"facts":{"state": "sealed", "changed_fields": []},"created_at":"2026-01-01T00:00:00+00:00","position":null}'),
  ('{"event_number":16,"event_id":null,"type":"kyc.changed","application_id":"acme","size":1,"game_ids":null,"revisions":null,"facts":{"state": "sealed", "changed_fields": ["cp_name"]},"created_at":"2026-01-01T00:00:00+00:00","position":null}'),
  ('{"event_number":17,"event_id":null,"type":"kyc.verdict","application_id":"acme","size":1,"game_ids":null,"revisions":null,"facts":{"verdict": "verified", "verdict_state": "standing"},"created_at":"2026-01-01T00:00:00+00:00","position":null}'),
  ('{"event_number":18,"event_id":"019b7620-0000-7000-8000-000000000009","type":"game.pending","application_id":"acme","size":1,"game_ids":["019b76da-a80f-7000-8000-00000000000f"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":null}'),
  ('{"event_number":2,"event_id":null,"type":"game.received","application_id":null,"size":5,"game_ids":["019b76da-a811-7000-8000-000000000011","019b76da-a810-7000-8000-000000000010","019b76da-a80f-7000-8000-00000000000f","019b76da-a812-7000-8000-000000000012","019b76da-a813-7000-8000-000000000013"],"revisions":[1,1,1,1,1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":1005}'),
  ('{"event_number":3,"event_id":"019b7620-0000-7000-8000-000000000001","type":"game.passed","application_id":"acme","size":1,"game_ids":["019b76da-a80f-7000-8000-00000000000f"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":2001}'),
  ('{"event_number":4,"event_id":"019b7620-0000-7000-8000-000000000002","type":"game.passed","application_id":"acme","size":1,"game_ids":["019b76da-a810-7000-8000-000000000010"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":3001}'),
  ('{"event_number":5,"event_id":"019b7620-0000-7000-8000-000000000003","type":"game.passed","application_id":"acme","size":1,"game_ids":["019b76da-a811-7000-8000-000000000011"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":4001}'),
  ('{"event_number":6,"event_id":"019b7620-0000-7000-8000-000000000004","type":"game.rejected","application_id":"acme","size":1,"game_ids":["019b76da-a812-7000-8000-000000000012"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":5001}'),
  ('{"event_number":7,"event_id":"019b7620-0000-7000-8000-000000000005","type":"game.message","application_id":"acme","size":1,"game_ids":["019b76da-a812-7000-8000-000000000012"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":6001}'),
  ('{"event_number":8,"event_id":null,"type":"game.appealed","application_id":null,"size":1,"game_ids":["019b76da-a812-7000-8000-000000000012"],"revisions":[1],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":7001}'),
  ('{"event_number":9,"event_id":"019b7620-0000-7000-8000-000000000006","type":"game.pending","application_id":"acme","size":1,"game_ids":["019b76da-a811-7000-8000-000000000011"],"revisions":[2],"facts":null,"created_at":"2026-01-01T00:00:00+00:00","position":8001}')
) as v (row), json_populate_record(null::stream_events, row::json) as r;

insert into sync_run_pages (run_id, page_num, kind, reason, row_count, total, application_game_ids, unnamed, open_games, answered, inserted, updated, invalid, failed, missing, listed, unchanged, withdrawn, listed_at) select run_id, page_num, kind, reason, row_count, total, application_game_ids, unnamed, open_games, answered, inserted, updated, invalid, failed, missing, listed, unchanged, withdrawn, listed_at from (values
  ('{"run_id":"019b76da-a81c-7000-8000-00000000001c","page_num":1,"kind":"listed","reason":null,"row_count":1,"total":1,"application_game_ids":[],"unnamed":0,"open_games":{},"answered":0,"inserted":0,"updated":0,"invalid":0,"failed":0,"missing":0,"listed":1,"unchanged":0,"withdrawn":0,"listed_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::sync_run_pages, row::json) as r;

insert into sync_runs (run_id, run_number, application_id, trigger, "full", accept_withdrawals, started_at, fence, stored_bytes, storable_bytes, storable_games, withdrawn, inserted, updated, invalid, failed, missing, listed, unchanged, outcome, fault, reason, note, finished_at, listing_end, total_first, total_last, total_max, largest_page, row_count, next_page, listed_bytes, progress_at) select run_id, run_number, application_id, trigger, "full", accept_withdrawals, started_at, fence, stored_bytes, storable_bytes, storable_games, withdrawn, inserted, updated, invalid, failed, missing, listed, unchanged, outcome, fault, reason, note, finished_at, listing_end, total_first, total_last, total_max, largest_page, row_count, next_page, listed_bytes, progress_at from (values
  ('{"run_id":"019b76da-a81c-7000-8000-00000000001c","run_number":1,"application_id":"acme","trigger":"manual","full":false,"accept_withdrawals":false,"started_at":"2026-01-01T00:00:00+00:00","fence":1,"stored_bytes":0,"storable_bytes":2147483648,"storable_games":4999994,"withdrawn":0,"inserted":0,"updated":0,"invalid":0,"failed":0,"missing":0,"listed":1,"unchanged":0,"outcome":"suspect","fault":null,"reason":"would withdraw 1 game","note":null,"finished_at":"2026-01-01T00:00:00+00:00","listing_end":"complete","total_first":1,"total_last":1,"total_max":1,"largest_page":1,"row_count":1,"next_page":2,"listed_bytes":9,"progress_at":"2026-01-01T00:00:00+00:00"}'),
  ('{"run_id":"019b76da-a81d-7000-8000-00000000001d","run_number":2,"application_id":"acme","trigger":"manual","full":false,"accept_withdrawals":false,"started_at":"2026-01-01T00:00:00+00:00","fence":1,"stored_bytes":0,"storable_bytes":2147483648,"storable_games":4999994,"withdrawn":0,"inserted":0,"updated":0,"invalid":0,"failed":0,"missing":0,"listed":0,"unchanged":0,"outcome":null,"fault":null,"reason":null,"note":null,"finished_at":null,"listing_end":null,"total_first":null,"total_last":null,"total_max":null,"largest_page":0,"row_count":0,"next_page":1,"listed_bytes":0,"progress_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::sync_runs, row::json) as r;

insert into vanishing_games (run_id, game_id) select run_id, game_id from (values
  ('{"run_id":"019b76da-a81c-7000-8000-00000000001c","game_id":"019b76da-a813-7000-8000-000000000013"}')
) as v (row), json_populate_record(null::vanishing_games, row::json) as r;

insert into workers (worker_id, host, pid, queue, started_at, seen_at) select worker_id, host, pid, queue, started_at, seen_at from (values
  ('{"worker_id":"019b76da-a83b-7000-8000-00000000003b","host":"worker-1","pid":1,"queue":"Postgres","started_at":"2026-01-01T00:00:00+00:00","seen_at":"2026-01-01T00:00:00+00:00"}')
) as v (row), json_populate_record(null::workers, row::json) as r;

select setval('drizzle.__drizzle_migrations_id_seq', 2);

select setval('public.event_positions', 8);

select setval('public.events_event_number_seq', 9);

select setval('public.game_appeals_appeal_id_seq', 1);

select setval('public.game_audits_audit_id_seq', 4);

select setval('public.game_messages_message_id_seq', 1);

select setval('public.kyc_access_log_entry_id_seq', 1);

select setval('public.kyc_verdicts_verdict_id_seq', 1);

select setval('public.stream_events_event_number_seq', 18);

select setval('public.stream_positions', 11001);

select setval('public.sync_runs_run_number_seq', 2);

-- Functions

CREATE OR REPLACE FUNCTION add_upto(these integer[], those integer[])
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array_agg(a + b order by child) from unnest(these, those) with ordinality as every (a, b, child)
$function$;

CREATE OR REPLACE FUNCTION apply_imports()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  decisions bigint[];
begin
  if not exists (select from imported_games) then
    return null;
  end if;
  with waiting as (
    delete from imported_games i using fresh_revisions r, games g
    -- A stolen worker may add the first revision later, of a game that was decided meanwhile, or leave it to the decision,
    -- which adds it.
    where r.revision = 1 and g.game_id = r.game_id and g.revision = 1 and g.audit_status = 'pending'
      and i.application_id = g.application_id and i.application_game_id = g.application_game_id
    -- A game that cannot be passed now waits for review.
    returning i.*, r.game_id as stored_id,
              i.audit_status <> 'passed' or pass_obstacle(i.application_id) is null as may_apply
  ), applied as (
    update games g
    set audit_status = case when w.may_apply then w.audit_status else 'pending' end,
        audit_time = case when w.may_apply then w.audit_time end, game_package_url = w.game_package_url
    from waiting w where g.game_id = w.stored_id
  ), decided as (
    insert into game_audits (game_id, revision, audit_status, decided_by, reason, text, decided_at)
    select stored_id, 1, audit_status, decided_by, reason, text, audit_time from waiting
    where audit_status <> 'pending'
    returning audit_id
  )
  select array_agg(audit_id) into decisions from decided;
  with places as materialized (
    select a.audit_id, g.application_id, p.is_icon, p.place, p.url, gen_random_uuid() as picture_id
    from game_audits a join games g using (game_id) cross join lateral (
      select true as is_icon, place - 1 as place, url from unnest(g.game_icon) with ordinality as icons (url, place)
      union all
      select false, place - 1, url from unnest(g.game_store_pic) with ordinality as pics (url, place)
    ) as p
    where a.audit_id = any(decisions)
  ), pictured as (
    insert into pictures (picture_id, url) select picture_id, url from places
  ), pinned as (
    insert into picture_pins (audit_id, is_icon, place, picture_id)
    select audit_id, is_icon, place, picture_id from places
  )
  -- Inserts too: an update would not wait for the media process that is inserting the row.
  insert into picture_rules as r (application_id, tag, volatile_parameters, after)
  select application_id, '', '{}', min(audit_id) - 1 from places group by 1
  on conflict (application_id) do update set after = least(r.after, excluded.after);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION approvals_of_kyc()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
  writers constant text[] := case
    when new.kind = 'withdrawals' then array['catalogue_console', 'catalogue_operator_api']
    when new.kind = 'reviewer' or new.kind = 'officer' and tg_op = 'INSERT' then array['catalogue_console']
    when new.kind <> 'officer' or (new.approved_by, new.approved_at) is distinct from (old.approved_by, old.approved_at)
    then array['catalogue_kyc_desk']
    else array['catalogue_console', 'catalogue_kyc_desk']
  end;
begin
  if new.kind is not null and cardinality(roles) > 0
    and (not roles && (writers || array['catalogue_operator'])
      or old.used_at is distinct from new.used_at and old.used_at is not null
      or old.closed_at is distinct from new.closed_at and old.closed_at is not null) then
    raise exception 'The role % may not write requests of the kind %, or one that has ended.', current_user, new.kind
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION audit_hash(entry audit_log)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select sha256(entry.previous_hash || convert_to(jsonb_build_object(
    'entry_id', entry.entry_id,
    'at', to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'actor', entry.actor, 'actor_kind', entry.actor_kind, 'os_user', entry.os_user,
    'action', entry.action, 'subject', entry.subject, 'reason', entry.reason, 'details', entry.details
  )::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION audit_log_actor()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
  -- Of a password: where it is set. The desk keeps those of officers.
  keeper text;
begin
  if new.action = 'operator.password' then
    keeper := coalesce((
      select case when 'kyc_officer' = any(o.roles) then 'catalogue_kyc_desk' else 'catalogue_console' end
      from operators o where 'operator:' || o.login = new.subject), 'catalogue_operator');
  end if;
  if cardinality(roles) > 0 and not exists (
    select from (values
      ('catalogue_worker', 'system', 'worker', '^(application[.](pause|resume)|event_webhook[.]off)$'),
      ('catalogue_worker', 'system', 'prune', '^kyc[.]expire$'),
      ('catalogue_media', 'system', 'media', '^game[.]reopen$'),
      ('catalogue_api', 'application', null, '^game[.](message|appeal)$'),
      ('catalogue_console', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_console', 'system', 'OIDC provider', '^operator[.](add|roles)$'),
      ('catalogue_console', 'operator', null, '^(?!kyc[.](?!pull$))'),
      ('catalogue_console', 'application', null, '^(?!kyc[.](?!pull$))'),
      ('catalogue_kyc_desk', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_kyc_desk', 'system', 'OIDC provider', '^operator[.](add|roles)$'),
      ('catalogue_kyc_desk', 'operator', null, '^(kyc|approval|session|access)[.]|^operator[.]password$'),
      ('catalogue_operator_api', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_operator_api', 'operator', null, '^(?!kyc[.](?!pull$)|approval[.]approve$|operator[.](add|roles|link|enable|password)$|session[.])'),
      ('catalogue_operator', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_operator', 'command_line', null, '')
    ) as may (role, kind, name, actions)
    where role = any(roles) and kind = new.actor_kind and coalesce(name, new.actor) = new.actor and new.action ~ actions
      and new.action ~ '^[a-z_]+[.][a-z_]+$' and (kind = 'command_line' or new.os_user is null)
      and (keeper is null or role in (keeper, 'catalogue_operator'))
      -- Of a sign-in, and of a page that was refused: where. A sign-in of an application, at the portal, does not say it.
      and coalesce('catalogue_' || (new.details ->> 'site'),
        case when new.action <> 'access.refuse' and (new.action, new.actor_kind) <> ('session.sign_in', 'operator')
          then role end) = role
      -- A sign-in at the provider makes officers at the desk, and gives the other roles at the console.
      and not exists (
        select from jsonb_array_elements_text(
          case name when 'OIDC provider' then coalesce(new.details -> 'roles', new.details -> 'to') end) as given
        where not coalesce(new.details -> 'from', '[]') ? given
          and (given = 'kyc_officer') <> (role = 'catalogue_kyc_desk'))
      -- Of requests, as approvals_of_kyc keeps them apart: who approves or declines an officer is at the desk.
      and (new.action !~ '^approval[.]' or role = 'catalogue_operator'
        or role = any(case
          when new.subject like 'run:%' then array['catalogue_console', 'catalogue_operator_api']
          when new.action = 'approval.refuse' and new.subject like 'application:%' and new.details ->> 'kind' = 'withdrawals'
            then array['catalogue_console', 'catalogue_operator_api']
          when new.subject like 'application:%' then array['catalogue_kyc_desk']
          when new.subject like 'operator:%' then case
            when new.action in ('approval.void', 'approval.refuse')
            then array['catalogue_console', 'catalogue_kyc_desk']
            when new.details ->> 'kind' = 'officer' and new.action in ('approval.approve', 'approval.decline')
            then array['catalogue_kyc_desk']
            when new.details ->> 'kind' in ('officer', 'reviewer') then array['catalogue_console']
          end
        end))
  ) then
    raise exception 'The role % may not write to the audit log that % (%) did %.',
      current_user, new.actor, new.actor_kind, new.action
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION audit_log_chain()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  head audit_head;
begin
  select * into strict head from audit_head where is_single for update;
  new.entry_id := head.entry_id + 1;
  new.at := clock_timestamp();
  new.previous_hash := head.hash;
  new.hash := audit_hash(new);
  update audit_head set entry_id = new.entry_id, hash = new.hash where is_single;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION audit_log_refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'The audit log is append-only: % of % is refused.', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end
$function$;

CREATE OR REPLACE FUNCTION bind_to_site()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0
    and not array['catalogue_' || new.site, 'catalogue_' || case tg_op when 'INSERT' then new.site else old.site end] <@ roles then
    raise exception 'The role % may not write sessions of another site.', current_user
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION bind_verdict()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  -- A removal ends the verdict, or comes before it.
  perform from applications where application_id = new.application_id and status <> 'removed' for share;
  if not found then
    raise exception 'There is no application %.', new.application_id using errcode = 'check_violation';
  end if;
  perform from kyc_records r join content_providers p using (cp_id)
  where r.application_id = new.application_id and r.record_id = new.record_id and p.replaced_at is null
  for share of r;
  if not found then
    raise exception 'The record % is not the current one of %.', new.record_id, new.application_id
      using errcode = 'check_violation';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION bound_attempts()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  new.attempts := greatest(1, least(new.attempts, 1000000000));
  new.window_ends_at := greatest(now() - interval '1 hour', least(new.window_ends_at, now() + interval '1 hour'));
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION carry_over_decision(carried_game uuid, carried_revision integer, decision bigint, places jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  game games;
  former game_audits;
  carried bigint;
  waiting_since timestamptz;
begin
  -- A hold locks the application before its games.
  perform from applications where application_id = (select application_id from games where game_id = carried_game)
    for key share;
  select * into game from games where game_id = carried_game for update;
  select * into former from game_audits
    where game_id = carried_game and undone_at is null order by audit_id desc limit 1;
  if game.revision is distinct from carried_revision or game.audit_status <> 'pending' or game.withdrawn_at is not null
    or former.audit_id is distinct from decision or former.revision >= game.revision
    or former.audit_status = 'passed' and pass_obstacle(game.application_id) is not null
    or exists (select from game_audits where game_id = carried_game and revision = game.revision)
    or not exists (
      select from game_revisions r
      where r.game_id = carried_game and r.revision = former.revision
        and r.game_name = game.game_name and r.game_desc = game.game_desc
        -- What signs the address of a video may differ.
        and split_part(r.game_store_video, '?', 1) = split_part(game.game_store_video, '?', 1)
        and cardinality(r.game_icon) = cardinality(game.game_icon)
        and cardinality(r.game_store_pic) = cardinality(game.game_store_pic))
  then
    return null;
  end if;
  -- The bytes stay as they are until the end.
  perform from pictures where picture_id in (select (each ->> 'picture_id')::uuid from jsonb_array_elements(places) each)
    order by picture_id for share;
  -- No place but those of the decision: the API serves each picture that a decision names.
  if jsonb_array_length(places) <> cardinality(game.game_icon) + cardinality(game.game_store_pic)
    or jsonb_array_length(places) is distinct from (
    select count(*) from picture_pins pin
    join jsonb_to_recordset(places) as p(is_icon boolean, place smallint, picture_id uuid) using (is_icon, place)
    join pictures now_is on now_is.picture_id = p.picture_id
    where pin.audit_id = former.audit_id and octet_length(pin.sha256) = 32 and now_is.sha256 = pin.sha256)
  then
    return null;
  end if;
  select c.since into waiting_since from changed_games c where c.game_id = carried_game;
  insert into game_audits (game_id, revision, audit_status, decided_by, reason, text, waiting_since, decided_at,
    carried_over_from)
  values (carried_game, game.revision, former.audit_status, 'catalogue', former.reason, former.text, waiting_since,
    statement_timestamp(), former.audit_id)
  returning audit_id into carried;
  insert into picture_pins (audit_id, is_icon, place, picture_id, sha256)
  select carried, p.is_icon, p.place, p.picture_id, now_is.sha256
  from jsonb_to_recordset(places) as p(is_icon boolean, place smallint, picture_id uuid)
  join pictures now_is on now_is.picture_id = p.picture_id;
  update pictures set next_check_at = now()
  where picture_id in (select picture_id from picture_pins where audit_id = carried);
  update games set audit_status = former.audit_status, audit_time = statement_timestamp(), updated_at = statement_timestamp()
  where game_id = carried_game;
  insert into audit_log (actor, actor_kind, action, subject, details)
  values ('catalogue', 'system', 'game.carry_over', 'game:' || carried_game, jsonb_build_object(
    'audit_id', carried, 'carried_over_from', former.audit_id, 'revision', game.revision,
    'audit_status', former.audit_status));
  return carried;
end
$function$;

CREATE OR REPLACE FUNCTION check_appeal()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  game games;
begin
  new.application_id := (select application_id from games where game_id = new.game_id);
  perform limit_developer(new.application_id);
  -- A decision waits for the appeal, or the appeal for the decision.
  select * into game from games where game_id = new.game_id for share;
  if game.audit_status is distinct from 'rejected' then
    raise exception 'The game is not rejected: there is nothing to appeal.' using errcode = 'GC002';
  elsif game.withdrawn_at is not null then
    raise exception 'The game is withdrawn: list it again, then appeal.' using errcode = 'GC002';
  end if;
  select * into strict new.audit_id, new.rejected_by from first_decision(new.game_id);
  if exists (select from game_appeals where audit_id = new.audit_id) then
    raise exception 'This rejection was appealed: a rejection is appealed once.' using errcode = 'GC002';
  end if;
  new.opened_at := now();
  insert into stream_events (type, game_ids, revisions)
  values ('game.appealed', array[game.game_id], array[game.revision]);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_appeal_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  game games;
begin
  select * into game from games where game_id = old.game_id for share;
  if old.outcome is not null then
    raise exception 'The appeal was decided already, by %.', coalesce(old.decided_by, 'a later decision')
      using errcode = 'GC002';
  end if;
  new.decided_at := now();
  if new.outcome = 'void' then
    return new;
  end if;
  if lower(btrim(new.decided_by)) = lower(btrim(old.rejected_by)) then
    raise exception '% rejected the game: another reviewer decides the appeal.', old.rejected_by using errcode = 'GC002';
  elsif game.withdrawn_at is not null then
    raise exception 'The game is withdrawn: the appeal is decided when a listing names it again.' using errcode = 'GC002';
  elsif game.audit_status <> 'rejected' then
    raise exception 'The content has changed since the rejection: decide on the game, which waits for review.'
      using errcode = 'GC002';
  end if;
  if new.outcome = 'upheld' then
    perform send_event(game, 'game.appeal_upheld', 'appeal', jsonb_build_object('text', new.answer));
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_message()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  game games;
begin
  perform refuse_snapshots();
  new.application_id := (select application_id from games where game_id = new.game_id);
  if new.kind = 'answer' then
    -- The process that answers applications could name an operator.
    new.written_by := new.application_id;
    perform limit_developer(new.application_id);
  end if;
  select * into game from games where game_id = new.game_id for no key update;
  if game.game_id is null then
    raise exception 'There is no game %.', new.game_id using errcode = 'GC002';
  elsif game.withdrawn_at is not null and new.kind <> 'note' then
    raise exception 'The game is withdrawn: its application no longer lists it.' using errcode = 'GC002';
  elsif 200 <= (select count(*) from game_messages where game_id = new.game_id) then
    raise exception 'The thread of this game has 200 entries: it takes no more.' using errcode = 'GC002';
  elsif new.kind = 'answer' and 100 <= (select count(*) from game_messages where game_id = new.game_id and kind = 'answer')
  then
    raise exception 'You have written 100 entries in the thread of this game: it takes no more.' using errcode = 'GC002';
  end if;
  if new.kind = 'message' then
    perform send_event(game, 'game.message', 'message', jsonb_build_object('text', new.text));
  elsif new.kind = 'answer' then
    insert into stream_events (type, game_ids, revisions)
    values ('game.answered', array[game.game_id], array[game.revision]);
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION check_pass()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  obstacle text;
begin
  perform refuse_snapshots();
  perform from applications where application_id = new.application_id for key share;
  -- An undo may return a withdrawn game to what it was.
  if new.withdrawn_at is null and is_removed(new.application_id) then
    obstacle := 'removed';
  else
    perform from kyc_verdicts where application_id = new.application_id and ended_at is null for share;
    -- Statements that are sent together have the time of the first.
    obstacle := pass_obstacle(new.application_id, clock_timestamp());
  end if;
  if obstacle is null then
    return new;
  end if;
  if tg_op = 'UPDATE' and old.audit_status = 'passed' and old.withdrawn_at is not null and new.withdrawn_at is null then
    new.audit_status := 'pending';
    new.audit_time := null;
    return new;
  end if;
  raise exception 'No game of % can be passed: %.', new.application_id, case obstacle
    when 'removed' then 'the application is removed'
    when 'held' then 'an operator holds the application'
    else 'its developer has no standing verdict, and GAMES_NEED_VERDICT is on' end
    using errcode = 'GC001';
end
$function$;

CREATE OR REPLACE FUNCTION clear_kyc_failure(of_application text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  delete from ingest_failures
  where application_id = of_application and operation = 'query_cp_kyc' and application_game_id = ''
$function$;

CREATE OR REPLACE FUNCTION count_after_a_day()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
  former constant text[] := case when tg_op = 'UPDATE' and old.status = 'active' then old.roles else '{}' end;
begin
  new.held_roles := array(
    select distinct unnest(case tg_op when 'UPDATE' then old.held_roles || old.roles end || new.roles));
  if cardinality(roles) = 0 or 'catalogue_operator' = any(roles) then
    return new;
  end if;
  if new.status = 'active' and exists (
    select from unnest(new.roles) as role where role in ('kyc_officer', 'reviewer') and role <> all(former)) then
    new.counts_at := now() + interval '24 hours';
  elsif tg_op = 'UPDATE' then
    new.counts_at := greatest(least(new.counts_at, now() + interval '24 hours'), old.counts_at);
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION count_appeals()
 RETURNS TABLE(open integer, oldest timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select count(*)::int, min(p.opened_at) from game_appeals p join games g using (game_id)
  where p.outcome is null and g.audit_status = 'rejected' and g.withdrawn_at is null
$function$;

CREATE OR REPLACE FUNCTION count_changed_game()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  game changed_games := coalesce(new, old);
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  values (game.application_id, 'changed', game_bucket(game.game_id), case tg_op when 'INSERT' then 1 else -1 end);
  if random() < 1 / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_changed_games(scope text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(games), 0)::bigint from (
    select games from game_counts
    where application_id = scope and audit_status = 'changed' and level = 0 and bucket = 0
    union all
    select games from game_count_changes where scope in ('', application_id) and audit_status = 'changed'
  ) as counted
$function$;

CREATE OR REPLACE FUNCTION count_due_games()
 RETURNS TABLE(lane text, games bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select lane, count_lane_before(lane, '', now(), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  from unnest(array['new', 'changed']) as lanes (lane)
  union all
  select 'appeals', count(*) from game_appeals p join games g using (game_id)
  join applications a on a.application_id = g.application_id
  where p.outcome is null and g.audit_status = 'rejected' and g.withdrawn_at is null
    and p.opened_at <= now() - review_target_ms(a.review_priority) * interval '1 millisecond'
$function$;

CREATE OR REPLACE FUNCTION count_games()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  changes bigint;
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  select application_id, audit_status, game_bucket(game_id), case tg_op when 'INSERT' then count(*) else -count(*) end
  from affected_games where withdrawn_at is null
  group by 1, 2, 3;
  get diagnostics changes = row_count;
  if random() < changes / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_lane_before(lane text, scope text, due timestamp with time zone, id uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  usual uuid := lane_bound(due, review_target_ms('normal'), id);
  -- Read once each: a call for each row took 8 µs.
  since_high timestamptz := due - review_target_ms('high') * interval '1 millisecond';
  since_normal timestamptz := due - review_target_ms('normal') * interval '1 millisecond';
  since_low timestamptz := due - review_target_ms('low') * interval '1 millisecond';
begin
  if lane = 'changed' then
    return (select count(*) from changed_games c join applications a using (application_id)
      where scope in ('', c.application_id) and c.since <= since_high
        and (c.since, c.game_id) < (
          case a.review_priority when 'high' then since_high when 'low' then since_low else since_normal end, id)
        and not exists (select from application_holds h where h.application_id = c.application_id));
  end if;
  return (
    with streams as (
      select application_id, lane_bound(due, review_target_ms(review_priority), id) as bound,
             exists (select from application_holds h where h.application_id = a.application_id) as is_held
      from applications a where a.review_priority <> 'normal' and scope in ('', application_id)
      union
      select application_id, lane_bound(due, review_target_ms(review_priority), id),
             exists (select from application_holds h where h.application_id = a.application_id)
      from applications a
      where application_id = scope or scope = '' and application_id in (select application_id from application_holds)
    ), counted as (
      select count_new_before(application_id, bound) as games from streams where not is_held
      union all
      -- Of all games, as if each was due at the usual time, those of the streams are none.
      select -count_new_before(application_id, usual) from streams where scope = ''
      union all
      select count_new_before('', usual) where scope = ''
    )
    select coalesce(sum(games), 0) from counted);
end
$function$;

CREATE OR REPLACE FUNCTION count_new_before(scope text, bound uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  leaf bigint := game_bucket(bound);
  -- The tree of an application ends one level sooner.
  rest integer := case scope when '' then 0 else 7 end;
  span uuid := (lpad(to_hex(leaf >> rest << rest << 7), 12, '0') || repeat('0', 20))::uuid;
  before bigint;
begin
  select coalesce(sum(case audit_status when 'pending' then upto[node.child] else -upto[node.child] end), 0) into before
  from (
    select level::smallint, leaf >> (35 - 7 * level) as bucket, (leaf >> (28 - 7 * level) & 127)::integer as child
    from generate_series(0, case scope when '' then 4 else 3 end) as levels (level)
  ) as node
  join game_counts counted on counted.application_id = scope and counted.audit_status = any (array['pending', 'changed'])
    and counted.level = node.level and counted.bucket = node.bucket
  where node.child > 0;
  before := before + (select coalesce(sum(case audit_status when 'pending' then games else -games end), 0)
    from game_count_changes where audit_status in ('pending', 'changed') and scope in ('', application_id)
      and bucket < leaf >> rest << rest);
  if scope = '' then
    return before + (select count(*) from games g
      where g.audit_status = any (array['pending']) and g.withdrawn_at is null and g.game_id >= span and g.game_id < bound
        and not exists (select from changed_games c where c.game_id = g.game_id));
  end if;
  return before + (select count(*) from games g
    where g.application_id = any (array[scope]) and g.audit_status = 'pending' and g.withdrawn_at is null
      and g.game_id >= span and g.game_id < bound
      and not exists (select from changed_games c where c.game_id = g.game_id));
end
$function$;

CREATE OR REPLACE FUNCTION count_refusal(caller text)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  insert into sign_in_attempts as a (attempt_key, attempts, window_ends_at)
  values ('refusals:' || session_user || ' ' || left(caller, 300), 1, now() + interval '15 minutes')
  on conflict (attempt_key) do update
    set attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
        window_ends_at = case when a.window_ends_at <= now() then excluded.window_ends_at else a.window_ends_at end
  returning attempts
$function$;

CREATE OR REPLACE FUNCTION count_verdicts()
 RETURNS TABLE(unverified integer, ending integer, waiting integer, oldest_waiting timestamp with time zone, held integer)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select (select count(*)::int from unverified_applications()),
         (select count(*)::int from kyc_verdicts
          where ended_at is null and expires_at between now() and now() + interval '30 days'),
         waits.records, waits.since,
         (select count(*)::int from application_holds h join applications a using (application_id)
          where a.status <> 'removed')
  from (
    select count(*)::int as records, min(greatest(r.received_at, (
             select max(coalesce(v.ended_at, v.expires_at)) from kyc_verdicts v
             where v.application_id = r.application_id))) as since
    from kyc_records r join applications a using (application_id) join content_providers p using (cp_id)
    where a.status <> 'removed' and p.replaced_at is null and not exists (
      select from kyc_verdicts v
      where v.application_id = r.application_id and v.ended_at is null and v.expires_at > now())
  ) as waits
$function$;

CREATE OR REPLACE FUNCTION count_wraps()
 RETURNS TABLE(table_name text, key_id text, wraps integer)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select 'kyc_keys', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_keys where data_keys <> '[]' group by 2
  union all select 'applications', access_token_keys -> 0 ->> 'key_id', count(*)::int
    from applications where access_token_keys <> '[]' group by 2
  union all select 'event_webhooks', wrap ->> 'key_id', count(*)::int
    from event_webhooks, jsonb_array_elements(secret_keys) as wrap group by 2
  union all select 'event_subscriptions', wrap ->> 'key_id', count(*)::int
    from event_subscriptions, jsonb_array_elements(secret_keys) as wrap group by 2
  union all select 'kyc_records', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_records where data_keys <> '[]' group by 2
  union all select 'kyc_former_records', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_former_records where data_keys <> '[]' group by 2
$function$;

CREATE OR REPLACE FUNCTION cut_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.url := left(new.url, 2048);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION end_expired_verdicts()
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with ended as (
    update kyc_verdicts set ended_at = expires_at, ended_as = 'expired' where ended_at is null and expires_at <= now()
    returning 1
  )
  select count(*)::integer from ended
$function$;

CREATE OR REPLACE FUNCTION end_links()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  delete from sign_in_links where login = new.login;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION end_overdue_sessions()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  began constant timestamptz := clock_timestamp();
  -- What each has.
  holders text[];
begin
  for look in 1 .. 10 loop
    holders := array(
      select holder from pg_locks, concat_ws(' ', pid, classid, objid, objsubid) as holder
      where locktype = 'advisory' and granted and pid <> pg_backend_pid() and (look = 1 or holder in (select unnest(holders))));
    exit when holders = '{}';
    perform pg_sleep(0.2);
  end loop;
  perform pg_stat_clear_snapshot();
  return (
    select count(*) filter (where pg_terminate_backend(pid))
    from public.process_sessions() join pg_stat_activity s using (pid)
    -- Of another login Postgres refuses to end a session, which would keep all others.
    where (pg_has_role(s.usesysid, 'usage') or pg_has_role('pg_signal_backend', 'usage')) and (is_overdue
      or pid::text in (select split_part(holder, ' ', 1) from unnest(holders) holder)
         and public.is_process(s.usesysid) and (s.xact_start is null or s.xact_start > began)));
end
$function$;

CREATE OR REPLACE FUNCTION end_verdict(of_application text, how text)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'public', 'pg_temp'
AS $function$
  update kyc_verdicts set ended_at = clock_timestamp(), ended_as = case when expires_at <= now() then 'expired' else how end
  where application_id = of_application and ended_at is null
$function$;

CREATE OR REPLACE FUNCTION event_origin(url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select substring(url from '^https?://[^/?#]+')
$function$;

CREATE OR REPLACE FUNCTION event_origins(id text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select event_origin(url) from (
    select unnest(array[query_game_list_webhook, query_game_detail_webhook, query_cp_kyc_webhook]) as url
    from applications where application_id = id
    union all select url from event_webhooks where application_id = id
  ) as given
$function$;

CREATE OR REPLACE FUNCTION event_uuid()
 RETURNS uuid
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6
  ), 52, 1), 53, 1), 'hex')::uuid
$function$;

CREATE OR REPLACE FUNCTION first_decision(of_game uuid)
 RETURNS TABLE(audit_id bigint, decided_by text)
 LANGUAGE sql
 STABLE
AS $function$
  with recursive chain as (
    select a.* from game_audits a where a.audit_id = (select s.audit_id from standing_decision(of_game) s)
    union all
    select former.* from game_audits former join chain on former.audit_id = chain.carried_over_from
  )
  select c.audit_id, c.decided_by from chain c where c.carried_over_from is null
$function$;

CREATE OR REPLACE FUNCTION fold_game_counts()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not pg_try_advisory_xact_lock(7205311848) then
    return;
  end if;
  with folded as (
    delete from game_count_changes returning application_id, audit_status, bucket, games
  )
  insert into game_counts as counted (application_id, audit_status, level, bucket, games, upto)
  select scope, audit_status, level, node, sum(games), games_upto(array_agg(child), array_agg(games))
  from (
    select scope, audit_status, level, bucket >> (rest + 7) as node, (bucket >> rest & 127)::integer as child,
           sum(games)::bigint as games
    from folded, nodes_of(application_id)
    group by 1, 2, 3, 4, 5
    having sum(games) <> 0
  ) as children
  group by 1, 2, 3, 4
  on conflict (application_id, audit_status, level, bucket) do update
    set games = counted.games + excluded.games, upto = add_upto(counted.upto, excluded.upto);
end
$function$;

CREATE OR REPLACE FUNCTION follow_erased_record()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if not exists (select from kyc_records where application_id = old.application_id) then
    perform end_verdict(old.application_id, 'erased');
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION follow_kyc_record()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  -- Every other field matters, and so does cp_id.
  immaterial constant text[] := array['cp_short_name'];
begin
  if new.changed_fields <> '{}' and new.changed_fields <@ immaterial then
    update kyc_verdicts set record_id = new.record_id
    where application_id = new.application_id and ended_at is null and record_id = (
      select record_id from kyc_former_records where application_id = new.application_id
      order by replaced_at desc, record_id desc limit 1);
    if found then
      return null;
    end if;
  end if;
  perform end_verdict(new.application_id, 'changed');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION follow_provider()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform end_verdict(old.application_id, 'changed');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION follow_removal()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform end_verdict(old.application_id, 'removed');
  delete from imported_games where application_id = old.application_id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION game_bucket(game_id uuid)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select least(('x' || translate(left(game_id::text, 13), '-', ''))::bit(48)::bigint >> 7, (1::bigint << 35) - 1) $function$;

CREATE OR REPLACE FUNCTION game_ms(game_id uuid)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select ('x' || translate(left(game_id::text, 13), '-', ''))::bit(48)::bigint $function$;

CREATE OR REPLACE FUNCTION game_totals(scope text)
 RETURNS TABLE(audit_status text, games bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select audit_status, games from game_counts
  where application_id = scope and audit_status = any (array['pending', 'passed', 'rejected']) and level = 0 and bucket = 0
  union all
  select audit_status, games from game_count_changes where scope in ('', application_id) and audit_status <> 'changed'
$function$;

CREATE OR REPLACE FUNCTION games_upto(children integer[], games bigint[])
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  upto integer[] := array_fill(0, array[128]);
  passed integer := 0;
begin
  for given in 1 .. cardinality(children) loop
    upto[children[given] + 1] := games[given];
  end loop;
  for child in 1 .. 128 loop
    passed := passed + upto[child];
    upto[child] := passed;
  end loop;
  return upto;
end
$function$;

CREATE OR REPLACE FUNCTION guard_appeal()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if new.appeal_id is not null then
    perform from game_appeals
      where appeal_id = new.appeal_id and game_id = new.game_id and outcome = 'overturned'
        and decided_by = new.decided_by and decided_at = now() and new.audit_status = 'passed';
    if not found then
      raise exception 'The appeal % was not overturned by this decision.', new.appeal_id using errcode = 'check_violation';
    end if;
  elsif new.carried_over_from is null then
    if new.waiting_since is null and exists (select from game_appeals where game_id = new.game_id and outcome is null) then
      raise exception 'The rejection is appealed: another reviewer decides the appeal.' using errcode = 'GC002';
    end if;
    update game_appeals set outcome = 'void' where game_id = new.game_id and outcome is null;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION guard_event_address()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
begin
  perform refuse_snapshots();
  if cardinality(roles) > 0 and not roles && array['catalogue_operator', 'catalogue_operator_api']
    and not exists (
      select from event_origins(new.application_id) as known where known = event_origin(new.url))
    and not exists (
      select from api_tokens
      where application_id = new.application_id and revoked_at is null and coalesce(expires_at > clock_timestamp(), true)
        and token_hash = sha256(decode(current_setting('catalogue.token_proof', true), 'hex')))
  then
    raise exception 'The role % may not send the events of % to a new origin without an API token of it.',
      current_user, new.application_id
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION icon_bands(hash bigint)
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select array[(hash & 65535)::int, (hash >> 16 & 65535)::int + 65536, (hash >> 32 & 65535)::int + 131072,
               (hash >> 48 & 65535)::int + 196608]
$function$;

CREATE OR REPLACE FUNCTION is_process(login oid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select not pg_has_role(login, (select relowner from pg_class where oid = 'public.audit_log'::regclass), 'usage')
    and exists (
      select from pg_roles
      where rolname in ('catalogue_worker', 'catalogue_api', 'catalogue_console', 'catalogue_media', 'catalogue_kyc_desk',
                        'catalogue_operator', 'catalogue_operator_api') and pg_has_role(login, oid, 'member'))
$function$;

CREATE OR REPLACE FUNCTION is_removed(of_application text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select status = 'removed' from applications where application_id = of_application
$function$;

CREATE OR REPLACE FUNCTION keep_appeal()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if new.appeal_id is not null then
    raise exception 'The decision is that of an appeal: decide on the game again instead.' using errcode = 'GC002';
  elsif new.audit_status = 'rejected'
    and exists (select from game_appeals where game_id = new.game_id and outcome is null) then
    raise exception 'The rejection is appealed: another reviewer decides the appeal.' using errcode = 'GC002';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION keep_changed_words()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
begin
  with former as materialized (
    select word from unnest(tsvector_to_array(old.search)) as words (word)
    where ascii(word) > 64 and word <> all(tsvector_to_array(new.search))
  )
  delete from search_words using former
  where search_words.word = former.word
    and not exists (select from games where search @@ array_to_tsvector(array[former.word])::text::tsquery);
  insert into search_words (word, keys)
  select word, search_keys(word) from unnest(tsvector_to_array(new.search)) as words (word)
  where ascii(word) > 64 and length(word) <= 24 and not exists (select from search_words known where known.word = words.word);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION keep_content()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if cardinality(process_roles()) > 0
    and (old.revision, old.game_name, old.game_desc, split_part(old.game_store_video, '?', 1),
         without_queries(old.game_icon), without_queries(old.game_store_pic))
      is distinct from
        (new.revision, new.game_name, new.game_desc, split_part(new.game_store_video, '?', 1),
         without_queries(new.game_icon), without_queries(new.game_store_pic)) then
    raise exception 'The role % may not change the content of a game without a next revision that is pending.', current_user
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION keep_decided_revision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform refuse_snapshots();
  if exists (select from game_audits where game_id = old.game_id and revision = old.revision) then
    raise exception 'There is a decision on the revision % of the game %.', old.revision, old.game_id
      using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$function$;

CREATE OR REPLACE FUNCTION keep_former_secret()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if new.secret is distinct from old.secret then
    new.former_secret := case when new.former_until > now() then old.secret end;
    if new.former_secret is not null then
      new.secret_keys := new.secret_keys || jsonb_path_query_array(old.secret_keys, '$[0]');
    end if;
  elsif new.former_secret is null then
    new.secret_keys := jsonb_path_query_array(new.secret_keys, '$[0]');
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION keep_imported_ids()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform refuse_snapshots();
  -- A subquery, because a join can read all imports before Postgres has analyzed the table.
  perform from fresh_games g
  where (select (i.application_id, i.application_game_id) <> (g.application_id, g.application_game_id)
    from imported_games i where i.game_id = g.game_id);
  if found then
    raise exception 'This id is of an imported game that waits for its first pull.' using errcode = 'insufficient_privilege';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION keep_position()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  new.position := least(new.position, coalesce((select max(position) from stream_events), 0));
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION keep_shown_revision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform from games g left join game_revisions r using (game_id, revision)
    where g.game_id = new.game_id and g.revision = new.revision
      and ((r.game_name, r.game_desc, split_part(r.game_store_video, '?', 1), without_queries(r.game_icon),
            without_queries(r.game_store_pic))
        is distinct from
          (g.game_name, g.game_desc, split_part(g.game_store_video, '?', 1), without_queries(g.game_icon),
            without_queries(g.game_store_pic)));
  if found then
    delete from game_revisions where game_id = new.game_id and revision = new.revision;
    insert into game_revisions (
      game_id, revision, game_name, game_icon, game_desc, game_store_pic, game_store_video, content_hash, fetched_at)
    select game_id, revision, game_name, game_icon, game_desc, game_store_pic, game_store_video, content_hash, fetched_at
    from games where game_id = new.game_id;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION keep_words()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into search_words (word, keys)
  select word, search_keys(word)
  from (select distinct word from affected_games, unnest(tsvector_to_array(search)) as word) as words
  where ascii(word) > 64 and length(word) <= 24 and not exists (select from search_words known where known.word = words.word);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION lane_bound(due timestamp with time zone, target_ms bigint, id uuid)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when arrived = game_ms(id) then id else (lpad(to_hex(
    greatest(least(arrived + (arrived < game_ms(id))::integer, (1::bigint << 48) - 1), 0)), 12, '0') || repeat('0', 20))::uuid end
  from (select (extract(epoch from due) * 1000)::bigint - target_ms as arrived) as place
$function$;

CREATE OR REPLACE FUNCTION limit_developer(of_application text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform refuse_snapshots();
  perform from applications where application_id = of_application for no key update;
  if 500 <= (select count(*) from game_messages
      where application_id = of_application and kind = 'answer' and written_at > now() - interval '24 hours')
    + (select count(*) from game_appeals where application_id = of_application and opened_at > now() - interval '24 hours')
  then
    raise exception 'Your application has written 500 texts within 24 hours: write again later.' using errcode = 'GC002';
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION limit_reasons()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform refuse_snapshots();
  lock table reasons in share row exclusive mode;
  if 1000 <= (select count(*) from reasons where code <> new.code) then
    raise exception 'There are 1,000 reasons: change the words of one.' using errcode = 'GC002';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION links_of_officers()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
  operator operators;
begin
  if cardinality(roles) = 0 or 'catalogue_operator' = any(roles) then
    return new;
  end if;
  -- Who becomes an officer waits for the link, which then ends, or the link for that.
  select * into operator from operators o where o.login = new.login for share;
  if operator.oidc_subject is not null
    or 'kyc_officer' = any(operator.roles) and not uses_officer_request(new.login, 'link', null)
      -- Who is added gets a link at once.
      and not (operator.created_at = now() and uses_officer_request(new.login, 'add', operator.roles)) then
    raise exception 'The role % may not open the sign-in of the operator %.', current_user, new.login
      using errcode = 'insufficient_privilege';
  end if;
  new.expires_at := least(new.expires_at, now() + interval '15 minutes');
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION list_new_games(excluded text[], after uuid, wanted integer)
 RETURNS TABLE(game_id uuid, game_name text)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  game record;
  place uuid := coalesce(after, '00000000-0000-0000-0000-000000000000');
  left_over integer := wanted;
  compared integer;
  is_fruitless boolean;
  span bigint;
begin
  loop
    compared := 0;
    is_fruitless := true;
    for game in
      select g.game_id, g.game_name,
             g.application_id = any (excluded)
               -- A lookup for each game: for `exists`, Postgres reads all changed games first.
               or (select c.game_id from changed_games c where c.game_id = g.game_id) is not null as is_passed_over
      from games g
      where g.audit_status = any (array['pending']) and g.withdrawn_at is null and g.game_id > place
      order by g.audit_status, g.game_id limit 250
    loop
      compared := compared + 1;
      place := game.game_id;
      continue when game.is_passed_over;
      game_id := game.game_id;
      game_name := game.game_name;
      return next;
      is_fruitless := false;
      left_over := left_over - 1;
      if left_over = 0 then
        return;
      end if;
    end loop;
    if compared < 250 then
      return;
    end if;
    if is_fruitless then
      span := next_new_span(excluded, game_bucket(place) >> 7);
      if span is null then
        return;
      end if;
      place := greatest(place, (lpad(to_hex(span << 14), 12, '0') || repeat('0', 20))::uuid);
    end if;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION lose_thumbnails()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update picture_contents set whole = false where whole and sha256 in (select sha256 from lost);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION may_appeal(of_game uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select g.audit_status = 'rejected' and g.withdrawn_at is null and not exists (
    select from game_appeals p where p.audit_id = (select f.audit_id from first_decision(of_game) f))
  from games g where g.game_id = of_game
$function$;

CREATE OR REPLACE FUNCTION next_new_span(excluded text[], span bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  node_level smallint := 3;
  node bigint := span >> 7;
  skipped integer := span & 127;
  part integer;
  -- Games that the counters do not have yet.
  uncounted bigint := (select min(spans.span) from (
    select bucket >> 7 as span from game_count_changes
    where audit_status in ('pending', 'changed') and application_id <> all (excluded) and bucket >> 7 >= next_new_span.span
    group by 1 having sum(case audit_status when 'pending' then games else -games end) > 0
  ) as spans);
begin
  -- Ascends to the first node with such a game after the span, then descends to its first one.
  loop
    with others as (
      select child, sum(case when (application_id = '') = (audit_status = 'pending') then parts.games else -parts.games end)
               as games
      from game_counts cross join unnest(upto) with ordinality as parts (games, child)
      where application_id = any ('{""}' || excluded) and audit_status = any (array['pending', 'changed'])
        and level = node_level and bucket = node
      group by child
    )
    select min(child) - 1 into part from others
    where games > coalesce((select games from others where child = skipped), 0);
    if part is null then
      if node_level = 0 then
        return uncounted;
      end if;
      skipped := (node & 127) + 1;
      node := node >> 7;
      node_level := node_level - 1;
    else
      skipped := 0;
      node := node << 7 | part;
      exit when node_level = 3;
      node_level := node_level + 1;
    end if;
  end loop;
  return least(node, uncounted);
end
$function$;

CREATE OR REPLACE FUNCTION nodes_of(application_id text)
 RETURNS TABLE(scope text, level smallint, rest integer)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  values (application_id, 0::smallint, 28), (application_id, 1::smallint, 21), (application_id, 2::smallint, 14),
         (application_id, 3::smallint, 7),
         ('', 0::smallint, 28), ('', 1::smallint, 21), ('', 2::smallint, 14), ('', 3::smallint, 7), ('', 4::smallint, 0)
$function$;

CREATE OR REPLACE FUNCTION operators_of_sites()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
  by_oidc constant boolean := new.oidc_subject is not null;
  former constant text[] := case tg_op when 'INSERT' then '{}' else old.roles end;
  is_officer constant boolean := 'kyc_officer' = any(new.roles);
  was_officer constant boolean := 'kyc_officer' = any(former);
  same_password constant boolean := tg_op = 'INSERT' or new.password_hash is not distinct from old.password_hash;
  is_enabled constant boolean := tg_op = 'UPDATE' and new.status = 'active' and old.status <> 'active';
begin
  -- `end_links` would miss a new link.
  perform refuse_snapshots();
  if cardinality(roles) = 0 or 'catalogue_operator' = any(roles)
    or 'catalogue_console' = any(roles)
      and (not is_officer or was_officer
        or uses_officer_request(new.login, case tg_op when 'INSERT' then 'add' else 'roles' end, new.roles))
      and (same_password or not by_oidc and not is_officer and not was_officer)
      and (not is_enabled or not is_officer or uses_officer_request(new.login, 'enable', null))
    or 'catalogue_operator_api' = any(roles) and not is_enabled
    or 'catalogue_kyc_desk' = any(roles) and tg_op = 'INSERT' and by_oidc and new.roles <@ array['kyc_officer']
    or 'catalogue_kyc_desk' = any(roles) and tg_op = 'UPDATE'
      and (by_oidc or (new.name, new.roles) is not distinct from (old.name, old.roles))
      and new.roles <@ (former || array['kyc_officer'])
      and (same_password or not by_oidc and was_officer)
  then
    return new;
  end if;
  raise exception 'The role % may not change this of the operator %.', current_user, new.login
    using errcode = 'insufficient_privilege';
end
$function$;

CREATE OR REPLACE FUNCTION pass_obstacle(of_application text, at_time timestamp with time zone DEFAULT statement_timestamp())
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case
    when exists (select from application_holds where application_id = of_application) then 'held'
    when (select games_need_verdict from decision_rules) and not exists (
      select from kyc_verdicts where application_id = of_application and verdict = 'verified'
        and ended_at is null and expires_at > at_time) then 'needs_verdict'
  end
$function$;

CREATE OR REPLACE FUNCTION place_events(log text, at_most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_nestloop TO 'off'
AS $function$
declare
  placed integer;
begin
  if log = 'events' then
    perform pg_advisory_xact_lock(7205311849);
    with numbered as materialized (
      select event_number, nextval('event_positions') as position
      from (select event_number from events where position is null order by event_number limit at_most) as waiting
    )
    update events e set position = w.position from numbered w
    where e.position is null and e.event_number = w.event_number;
  else
    perform pg_advisory_xact_lock(7205311851);
    with numbered as materialized (
      select event_number, nextval('stream_positions') + size - 1 as position
      from (select event_number, size from stream_events where position is null order by event_number limit at_most) as waiting
    )
    update stream_events e set position = w.position from numbered w
    where e.position is null and e.event_number = w.event_number;
  end if;
  get diagnostics placed = row_count;
  return placed;
end
$function$;

CREATE OR REPLACE FUNCTION place_of_game(scope text, status text, skip bigint, OUT start uuid, OUT ahead bigint)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  place bigint;
  changed boolean;
  -- Pending games before the place: the number assumed, and the number found.
  allowed bigint := 0;
  waiting bigint := 0;
begin
  loop
    -- Descends from the root to the child that contains the row; stops at a node of at most 64 games.
    with recursive walk (level, bucket, left_over) as (
      select 0::smallint, 0::bigint, least(skip - allowed, 2147483647)::integer
      union all
      select (level + 1)::smallint, bucket << 7 | child, left_over - coalesce(upto[child], 0)
      from (
        select level, bucket, left_over, upto, least(width_bucket(left_over, upto), 127) as child
        -- A lateral lookup by the whole key: a join planned while the table was small uses a part of the key.
        from walk cross join lateral (
          select games, upto from game_counts
          where application_id = scope and audit_status = status and level = walk.level and bucket = walk.bucket
          limit 1
        ) as node
        where games > 64
      ) as step
    )
    -- The last step has the largest place and the smallest remainder.
    select max(bucket << (35 - 7 * level)), min(left_over),
           exists (select from game_count_changes where audit_status = status and scope in ('', application_id))
    into place, ahead, changed from walk;
    exit when not changed;
    waiting := (select coalesce(sum(games), 0) from game_count_changes
      where audit_status = status and scope in ('', application_id) and bucket < place);
    exit when waiting <= allowed;
    allowed := waiting;
  end loop;
  ahead := ahead + allowed - waiting;
  start := (lpad(to_hex(place << 7), 12, '0') || repeat('0', 20))::uuid;
end
$function$;

CREATE OR REPLACE FUNCTION process_roles()
 RETURNS text[]
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case
    when pg_has_role(current_user, (select relowner from pg_class where oid = 'public.audit_log'::regclass), 'usage')
    then '{}'::text[]
    else array(select rolname::text from pg_roles
               where rolname in ('catalogue_worker', 'catalogue_api', 'catalogue_console', 'catalogue_media',
                                 'catalogue_kyc_desk', 'catalogue_operator', 'catalogue_operator_api')
                 and pg_has_role(current_user, oid, 'usage'))
  end
$function$;

CREATE OR REPLACE FUNCTION process_sessions()
 RETURNS TABLE(pid integer, login text, blocks_s double precision, is_overdue boolean)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with waiting as materialized (
    select l.pid, min(waitstart) as since from pg_locks l join pg_stat_activity a using (pid)
    where not granted and a.datname = current_database() group by 1
  ), blocking as (
    select b.pid, max(extract(epoch from clock_timestamp() - since)) as blocks_s
    from waiting w, unnest(pg_blocking_pids(w.pid)) as b (pid)
    -- Who waits for a shorter time than those behind it blocks them: it can begin to wait for another lock again and again.
    where not exists (select from waiting other where other.pid = b.pid and other.since <= w.since) group by 1
  )
  select s.pid, s.usename::text, coalesce(blocks_s, 0)::double precision,
         coalesce(case
           when clock_timestamp() - s.xact_start > interval '30 minutes' then true
           when s.state = 'active' then clock_timestamp() - s.query_start > interval '11 minutes'
             or blocks_s > 30 and clock_timestamp() - s.xact_start > interval '11 minutes'
           when blocks_s > 30 then true
           when s.state = 'idle' then clock_timestamp() - s.xact_start > interval '2 minutes'
             or clock_timestamp() - s.state_change > interval '1 minute'
             and s.pid in (select l.pid from pg_locks l where l.locktype = 'advisory')
           else clock_timestamp() - s.state_change > interval '2 minutes'
         end, false)
         and public.is_process(s.usesysid)
  from pg_stat_activity s left join blocking using (pid)
  where (s.datname = current_database() or blocks_s is not null or public.is_process(s.usesysid))
    and s.usename is not null and s.pid <> pg_backend_pid()
    and coalesce(s.backend_type, 'client backend') = 'client backend'
$function$;

CREATE OR REPLACE FUNCTION record_event()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  event_type text := 'game.' || new.audit_status;
  why text;
  more jsonb := '{}';
begin
  if not exists (select from applications where application_id = new.application_id and status <> 'removed') then
    return null;
  end if;
  if old.withdrawn_at is null and new.withdrawn_at is not null then
    event_type := 'game.withdrawn';
    why := 'not_listed';
  elsif exists (select from game_audits where game_id = new.game_id and undone_at = statement_timestamp()) then
    why := 'decision_undone';
  elsif new.audit_status = 'pending' and old.audit_status <> 'pending' then
    why := case
      when new.revision <> old.revision then 'content_changed'
      when exists (select from application_holds where application_id = new.application_id) then 'held'
      when old.withdrawn_at is not null and new.withdrawn_at is null then 'needs_verdict'
      else 'pictures_changed' end;
  elsif old.withdrawn_at is not null and new.withdrawn_at is null then
    why := 'returned';
  elsif new.audit_status = 'passed' and exists (select from held_games where game_id = new.game_id) then
    why := 'released';
  else
    why := 'decided';
  end if;
  if why = 'decided' and new.audit_status = 'passed' then
    select jsonb_build_object('text', p.answer) into more
    from game_audits a join game_appeals p using (appeal_id)
    where a.game_id = new.game_id and a.decided_at = statement_timestamp();
    if found then
      why := 'appeal';
    end if;
  elsif new.audit_status = 'rejected' then
    select jsonb_build_object('reason', coalesce(d.reason, ''), 'reason_label', coalesce(r.label, ''),
                              'text', coalesce(d.text, ''))
    into more
    from standing_decision(new.game_id) d left join reasons r on r.code = d.reason
    where d.audit_status = 'rejected';
  end if;
  if why in ('returned', 'released') and new.audit_status = 'passed' then
    -- Pictures of a game that is withdrawn or held are not compared with its decision.
    update pictures set next_check_at = now()
    where picture_id in (
      select picture_id from picture_pins where audit_id = (select audit_id from standing_decision(new.game_id)));
  end if;
  perform send_event(new, event_type, why, coalesce(more, '{}'));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION recount_game()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  select application_id, audit_status, game_bucket(game_id), games
  from (values (old.application_id, old.audit_status, old.game_id, old.withdrawn_at, -1),
               (new.application_id, new.audit_status, new.game_id, new.withdrawn_at, 1)
       ) as moved (application_id, audit_status, game_id, withdrawn_at, games)
  where withdrawn_at is null;
  if random() < 1 / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION recount_games(repair boolean)
 RETURNS TABLE(off_application_id text, off_audit_status text, games_off bigint, counters_off bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  -- No fold runs until this transaction ends; the next statement sees every earlier fold.
  perform pg_advisory_xact_lock(7205311848);
  return query
  with leaves as (
    select g.application_id, g.audit_status, game_bucket(g.game_id) as bucket, count(*) as games
    from games g where g.withdrawn_at is null
    group by 1, 2, 3
    union all
    select c.application_id, 'changed', game_bucket(c.game_id), 1 from changed_games c
    union all
    -- Pending changes are not in the counters yet.
    select c.application_id, c.audit_status, c.bucket, -c.games from game_count_changes c
  ), expected as (
    select application_id, audit_status, level, bucket, sum(games)::bigint as games,
           games_upto(array_agg(child), array_agg(games)) as upto
    from (
      select scope as application_id, audit_status, level, bucket >> (rest + 7) as bucket,
             (bucket >> rest & 127)::integer as child, sum(games)::bigint as games
      from leaves, nodes_of(leaves.application_id)
      group by 1, 2, 3, 4, 5
    ) as children
    group by 1, 2, 3, 4
  ), off as (
    select application_id, audit_status, level, bucket, coalesce(expected.games, 0) as games,
           coalesce(expected.upto, games_upto('{}', '{}')) as upto,
           coalesce(expected.games, 0) - coalesce(counted.games, 0) as games_off
    from expected full join game_counts counted using (application_id, audit_status, level, bucket)
    where (coalesce(expected.games, 0), coalesce(expected.upto, games_upto('{}', '{}')))
      <> (coalesce(counted.games, 0), coalesce(counted.upto, games_upto('{}', '{}')))
  ), repaired as (
    insert into game_counts as counted (application_id, audit_status, level, bucket, games, upto)
    select application_id, audit_status, level, bucket, off.games, upto from off where repair
    on conflict (application_id, audit_status, level, bucket) do update
      set games = excluded.games, upto = excluded.upto
  )
  select application_id, audit_status, coalesce(sum(off.games_off) filter (where level = 0), 0)::bigint, count(*)
  from off group by 1, 2 order by 1, 2;
  if repair then
    delete from game_counts where games = 0;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION refuse_ended_verdict()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'The verdict % has ended.', old.verdict_id using errcode = 'insufficient_privilege';
end
$function$;

CREATE OR REPLACE FUNCTION refuse_erased()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  state_now text;
begin
  perform refuse_snapshots();
  -- Before the first pull there is no row to lock.
  insert into kyc_states (application_id) values (new.application_id) on conflict do nothing;
  select state into state_now from kyc_states where application_id = new.application_id for share;
  if state_now = 'erased' and cardinality(process_roles()) > 0 then
    raise exception 'The KYC record of % is erased.', new.application_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION refuse_erasure()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0 and not roles && array['catalogue_kyc_desk', 'catalogue_operator'] then
    perform refuse_snapshots();
    perform from applications where application_id = new.application_id and status = 'removed' for share;
    if not found or exists (select from kyc_records where application_id = new.application_id)
      or exists (select from kyc_former_records where application_id = new.application_id) then
      raise exception 'The role % may not erase a KYC record.', current_user using errcode = 'insufficient_privilege';
    end if;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION refuse_snapshots()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if current_setting('transaction_isolation') not like 'read %' then
    raise exception 'Only transactions of the isolation level read committed write here.' using errcode = 'insufficient_privilege';
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION refuse_to_roles()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0 and not roles && tg_argv[1:] then
    raise exception 'The role % may not %.', current_user, tg_argv[0] using errcode = 'insufficient_privilege';
  end if;
  return coalesce(new, old);
end
$function$;

CREATE OR REPLACE FUNCTION refuse_when_removed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  if cardinality(process_roles()) > 0 then
    perform refuse_snapshots();
    perform from applications where application_id = new.application_id and status <> 'removed' for key share;
    if not found then
      raise exception 'The role % may not bring back games of a removed application.', current_user
        using errcode = 'insufficient_privilege';
    end if;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION review_target_ms(priority text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select case priority when 'high' then review_target_ms / 4 when 'low' then review_target_ms * 4 else review_target_ms end
  from decision_rules
$function$;

CREATE OR REPLACE FUNCTION search_keys(word text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select array_agg(substr(word, place, 3)) filter (where place <= length(word) - 2)
         || array_agg(distinct '~' || overlay(word placing '' from place for 1)) || ('~' || word)
  from generate_series(1, length(word)) as places (place)
$function$;

CREATE OR REPLACE FUNCTION second_person_from(of_login text, with_roles text[], at_once boolean)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select case when at_once and not exists (
    select from unnest(with_roles) as role
    where role in ('kyc_officer', 'reviewer') and 2 <= (
      select count(*) from operators
      where login <> of_login and status = 'active' and role = any(roles) and counts_at <= now()))
    then now() else now() + interval '24 hours' end
$function$;

CREATE OR REPLACE FUNCTION send_event(game games, event_type text, why text, more jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  id constant uuid := event_uuid();
begin
  insert into events (event_id, application_id, type, game_id, data, created_at)
  values (id, game.application_id, event_type, game.game_id, jsonb_build_object(
    'game_id', game.game_id,
    'application_game_id', game.application_game_id,
    'game_name', game.game_name,
    'audit_status', game.audit_status,
    'audit_time', coalesce(to_char(game.audit_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ''),
    'revision', game.revision,
    'why', why
  ) || more, clock_timestamp());
  insert into event_deliveries (event_id, application_id)
  select id, application_id from event_webhooks where application_id = game.application_id and status = 'active';
end
$function$;

CREATE OR REPLACE FUNCTION send_test_event(of_application text)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  id constant uuid := event_uuid();
  no_game constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  perform from applications where application_id = of_application;
  if not found then
    raise exception 'There is no application %.', left(of_application, 100) using errcode = 'insufficient_privilege';
  end if;
  insert into events (event_id, application_id, type, game_id, data, created_at)
  values (id, of_application, 'webhook.test', no_game, jsonb_build_object('game_id', no_game,
    'application_game_id', '', 'game_name', 'A test', 'audit_status', 'pending', 'audit_time', '', 'revision', 1,
    'why', 'test'), clock_timestamp());
  insert into event_deliveries (event_id, application_id) values (id, of_application);
  return id;
end
$function$;

CREATE OR REPLACE FUNCTION standing_decision(of_game uuid)
 RETURNS TABLE(audit_id bigint, revision integer, audit_status text, decided_by text, reason text, text text)
 LANGUAGE sql
 STABLE
AS $function$
  select audit_id, revision, audit_status, decided_by, reason, text from game_audits
  where game_id = of_game and undone_at is null order by audit_id desc limit 1
$function$;

CREATE OR REPLACE FUNCTION stream_application()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into stream_events (type, application_id)
  values (case
    when tg_op = 'INSERT' or old.status = 'removed' and new.status <> 'removed' then 'application.added'
    when old.status = new.status then 'application.updated'
    when new.status = 'removed' then 'application.removed'
    when new.status = 'paused' then 'application.paused'
    else 'application.resumed'
  end, new.application_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION stream_application_events()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into stream_events (event_id, type, application_id, game_ids, revisions, created_at)
  select event_id, type, application_id, array[game_id], array[(data ->> 'revision')::int], created_at
  from fresh_events where type <> 'webhook.test' order by event_number;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION stream_kyc()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  fields text[] := (select changed_fields from kyc_records
    where application_id = new.application_id and received_at = new.pulled_at);
begin
  if fields is not null or new.state <> (case tg_op when 'UPDATE' then old.state else 'pending' end) then
    insert into stream_events (type, application_id, facts)
    values ('kyc.changed', new.application_id,
            jsonb_build_object('state', new.state, 'changed_fields', coalesce(fields, '{}')));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION stream_package()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into stream_events (type, game_ids, revisions)
  values ('game.changed', array[new.game_id], array[new.revision]);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION stream_revisions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  -- A subquery, because a join can read all games before Postgres has analyzed the table.
  perform from fresh_revisions r
  where r.revision < 1 or r.revision > 1 and r.revision > (select g.revision from games g where g.game_id = r.game_id);
  if found then
    raise exception 'No game has this revision yet.' using errcode = 'insufficient_privilege';
  end if;
  insert into stream_events (type, size, game_ids, revisions)
  select case when is_first then 'game.received' else 'game.changed' end, count(*), array_agg(game_id), array_agg(revision)
  from (
    select game_id, revision, revision = 1 as is_first, (row_number() over () - 1) / 1000 as part from fresh_revisions
  ) as fresh
  group by part, is_first order by part;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION stream_suspect_run()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into stream_events (type, application_id, facts)
  values ('run.suspect', new.application_id, jsonb_build_object('run_id', new.run_id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION stream_verdict()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into stream_events (type, application_id, facts)
  values ('kyc.verdict', new.application_id, jsonb_build_object(
    'verdict', new.verdict, 'verdict_state', coalesce(new.ended_as, 'standing')));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION track_review()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  decided_revision integer;
  -- A game whose decision was undone returns to its place in the lane.
  waiting_since timestamptz;
  -- A game whose content changed after its last decision, and on whose revision there was no decision, is looked at by
  -- the media process.
  carry_at timestamptz;
begin
  if old.withdrawn_at is null and new.withdrawn_at is not null then
    insert into game_absences (game_id, withdrawn_at) values (new.game_id, new.withdrawn_at) on conflict do nothing;
  elsif old.withdrawn_at is not null and new.withdrawn_at is null then
    update game_absences set returned_at = now() where game_id = new.game_id and returned_at is null;
  end if;
  if new.audit_status <> 'pending' or new.withdrawn_at is not null then
    delete from changed_games where game_id = new.game_id;
    return null;
  end if;
  decided_revision := (select revision from standing_decision(new.game_id));
  if decided_revision is not null then
    waiting_since := (select case when a.undone_at is not null and a.revision = new.revision then a.waiting_since end
      from game_audits a where a.game_id = new.game_id order by a.audit_id desc limit 1);
    if not exists (select from game_audits a where a.game_id = new.game_id and a.revision = new.revision) then
      carry_at := now();
    end if;
    insert into changed_games as c (game_id, application_id, decided_revision, since, carry_at)
    values (new.game_id, new.application_id, decided_revision, coalesce(waiting_since, now()), carry_at)
    on conflict (game_id) do update set carry_at = excluded.carry_at;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION unverified_applications()
 RETURNS TABLE(application_id text, name text, verdict text, until timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select a.application_id, a.name, last.verdict, case when not last.stands then last.until end
  from applications a left join lateral (
    select v.verdict, coalesce(v.ended_at, v.expires_at) as until, v.ended_at is null and v.expires_at > now() as stands
    from kyc_verdicts v where v.application_id = a.application_id order by v.verdict_id desc limit 1
  ) last on true
  where a.status <> 'removed' and (select games_need_verdict from decision_rules)
    and not (coalesce(last.stands, false) and last.verdict = 'verified')
    and exists (select from games g where g.application_id = a.application_id and g.audit_status = 'passed'
                and g.withdrawn_at is null)
$function$;

CREATE OR REPLACE FUNCTION uses_officer_request(of_login text, of_act text, with_roles text[])
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select exists (
    select from approvals
    where kind = 'officer' and subject = 'operator:' || of_login and requested ->> 'act' = of_act
      and (with_roles is null
        or requested -> 'roles' <@ to_jsonb(with_roles) and requested -> 'roles' @> to_jsonb(with_roles))
      and approved_by <> requested_by and approved_at > clock_timestamp() - interval '15 minutes' and used_at = now())
$function$;

CREATE OR REPLACE FUNCTION without_queries(addresses text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select array(select split_part(address, '?', 1) from unnest(addresses) with ordinality as a(address, place) order by place) $function$;

-- Indexes

CREATE INDEX api_tokens_login ON api_tokens USING btree (login);
CREATE INDEX application_checks_latest ON application_checks USING btree (application_id, requested_at);
CREATE UNIQUE INDEX application_checks_open ON application_checks USING btree (application_id) WHERE finished_at IS NULL;
CREATE INDEX applications_prioritized ON applications USING btree (application_id) WHERE review_priority <> 'normal'::text;
CREATE UNIQUE INDEX approvals_one_open ON approvals USING btree (kind, subject, requested_by) WHERE used_at IS NULL AND closed_at IS NULL;
CREATE INDEX approvals_requested_at ON approvals USING btree (requested_at);
CREATE INDEX audit_log_action ON audit_log USING btree (action, entry_id);
CREATE INDEX audit_log_actor ON audit_log USING btree (actor, entry_id);
CREATE INDEX audit_log_at ON audit_log USING btree (at);
CREATE INDEX audit_log_subject ON audit_log USING btree (subject, entry_id);
CREATE INDEX changed_games_application ON changed_games USING btree (application_id, since, game_id);
CREATE INDEX changed_games_carry ON changed_games USING btree (carry_at) WHERE carry_at IS NOT NULL;
CREATE INDEX changed_games_lane ON changed_games USING btree (since, game_id, application_id);
CREATE UNIQUE INDEX content_providers_one_current ON content_providers USING btree (application_id) WHERE replaced_at IS NULL;
CREATE INDEX event_deliveries_due ON event_deliveries USING btree (application_id, next_attempt_at) WHERE state = 'pending'::text;
CREATE INDEX event_deliveries_failed ON event_deliveries USING btree (application_id) WHERE state = 'failed'::text;
CREATE INDEX events_created ON events USING brin (created_at);
CREATE INDEX events_game ON events USING btree (game_id);
CREATE UNIQUE INDEX events_position ON events USING btree (application_id, "position");
CREATE INDEX events_without_position ON events USING btree (event_number) WHERE "position" IS NULL;
CREATE INDEX game_appeals_application ON game_appeals USING btree (application_id, opened_at);
CREATE INDEX game_appeals_game ON game_appeals USING btree (game_id);
CREATE INDEX game_appeals_lane ON game_appeals USING btree (opened_at, appeal_id) WHERE outcome IS NULL;
CREATE UNIQUE INDEX game_appeals_open ON game_appeals USING btree (game_id) WHERE outcome IS NULL;
CREATE INDEX game_audits_batch ON game_audits USING btree (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX game_audits_decided ON game_audits USING btree (decided_at, decided_by);
CREATE INDEX game_audits_game ON game_audits USING btree (game_id);
CREATE INDEX game_icon_hashes_bands ON game_icon_hashes USING gin (icon_bands(dhash));
CREATE INDEX game_icon_hashes_dhash ON game_icon_hashes USING btree (dhash);
CREATE INDEX game_leases_until ON game_leases USING btree (leased_until);
CREATE INDEX game_messages_answers ON game_messages USING btree (application_id, written_at) WHERE kind = 'answer'::text;
CREATE INDEX game_messages_game ON game_messages USING btree (game_id, message_id);
CREATE INDEX game_messages_to_developers ON game_messages USING btree (application_id, message_id) WHERE kind = 'message'::text;
CREATE INDEX game_viewers_seen ON game_viewers USING btree (seen_at);
CREATE INDEX games_pages ON games USING btree (audit_status, game_id, game_name, audit_time) WHERE withdrawn_at IS NULL;
CREATE INDEX games_pages_application ON games USING btree (application_id, audit_status, game_id, game_name, audit_time) WHERE withdrawn_at IS NULL;
CREATE INDEX games_rejected ON games USING btree (application_id, audit_time, game_id) WHERE audit_status = 'rejected'::text AND withdrawn_at IS NULL;
CREATE INDEX games_search ON games USING gin (search) WITH (gin_pending_list_limit='512');
CREATE INDEX games_withdrawn ON games USING btree (application_id, withdrawn_at, game_id) WHERE withdrawn_at IS NOT NULL;
CREATE INDEX held_games_application ON held_games USING btree (application_id);
CREATE INDEX ingest_failures_last ON ingest_failures USING btree (last_at);
CREATE INDEX kyc_access_log_application ON kyc_access_log USING btree (application_id);
CREATE INDEX kyc_former_records_application ON kyc_former_records USING btree (application_id);
CREATE INDEX kyc_former_records_replaced_at ON kyc_former_records USING btree (replaced_at);
CREATE INDEX kyc_records_tax_id ON kyc_records USING btree (tax_id_fingerprint);
CREATE INDEX kyc_states_requested ON kyc_states USING btree (requested_at) WHERE requested_at IS NOT NULL;
CREATE INDEX kyc_verdicts_application ON kyc_verdicts USING btree (application_id, verdict_id);
CREATE INDEX kyc_verdicts_expires ON kyc_verdicts USING btree (expires_at) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX kyc_verdicts_one_open ON kyc_verdicts USING btree (application_id) WHERE ended_at IS NULL;
CREATE INDEX operator_sessions_login ON operator_sessions USING btree (login);
CREATE INDEX picture_contents_looked ON picture_contents USING btree (looked_at) WHERE whole OR NOT pinned AND stored IS NULL;
CREATE INDEX picture_pins_picture ON picture_pins USING btree (picture_id);
CREATE INDEX picture_pins_sha256 ON picture_pins USING btree (sha256);
CREATE INDEX pictures_due ON pictures USING btree (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX portal_sessions_token ON portal_sessions USING btree (token_id);
CREATE INDEX refresh_requests_by_operator ON refresh_requests USING btree (application_id) WHERE by_operator;
CREATE INDEX run_days_by_day ON run_days USING brin (day);
CREATE INDEX search_words_keys ON search_words USING gin (keys) WITH (gin_pending_list_limit='256');
CREATE INDEX search_words_word ON search_words USING btree (word);
CREATE INDEX sign_in_links_login ON sign_in_links USING btree (login);
CREATE INDEX stream_events_without_position ON stream_events USING btree (event_number) WHERE "position" IS NULL;
CREATE INDEX sync_run_pages_open ON sync_run_pages USING btree (run_id, page_num) WHERE open_games <> '{}'::jsonb;
CREATE INDEX sync_runs_by_application ON sync_runs USING btree (application_id, run_number);
CREATE INDEX sync_runs_by_finish ON sync_runs USING btree (finished_at) WHERE finished_at IS NOT NULL;
CREATE UNIQUE INDEX sync_runs_by_number ON sync_runs USING btree (run_number);
CREATE INDEX sync_runs_by_outcome ON sync_runs USING btree (outcome, run_number) WHERE outcome <> 'succeeded'::text;
CREATE UNIQUE INDEX sync_runs_one_open ON sync_runs USING btree (application_id) WHERE finished_at IS NULL;
CREATE INDEX sync_runs_stored ON sync_runs USING btree (application_id, started_at) WHERE stored_bytes > 0;
CREATE INDEX workers_seen ON workers USING btree (seen_at);

-- Foreign keys

alter table api_tokens add constraint api_tokens_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id) ON DELETE CASCADE;
alter table api_tokens add constraint api_tokens_login_operators_login_fk FOREIGN KEY (login) REFERENCES operators(login) ON DELETE CASCADE;
alter table application_checks add constraint application_checks_application_id_applications_application_id_f FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table application_holds add constraint application_holds_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table approvals add constraint approvals_approved_by_operators_login_fk FOREIGN KEY (approved_by) REFERENCES operators(login);
alter table approvals add constraint approvals_requested_by_operators_login_fk FOREIGN KEY (requested_by) REFERENCES operators(login);
alter table content_providers add constraint content_providers_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table event_deliveries add constraint event_deliveries_event FOREIGN KEY (application_id, event_id) REFERENCES events(application_id, event_id) ON DELETE CASCADE;
alter table event_webhooks add constraint event_webhooks_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table game_audits add constraint game_audits_keep_revision FOREIGN KEY (game_id, revision) REFERENCES game_revisions(game_id, revision);
alter table game_audits add constraint game_audits_reason_reasons_code_fk FOREIGN KEY (reason) REFERENCES reasons(code);
alter table game_revisions add constraint game_revisions_game_id_games_game_id_fk FOREIGN KEY (game_id) REFERENCES games(game_id) ON DELETE CASCADE;
alter table games add constraint games_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table imported_games add constraint imported_games_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table imported_games add constraint imported_games_reason_reasons_code_fk FOREIGN KEY (reason) REFERENCES reasons(code);
alter table ingest_failures add constraint ingest_failures_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id) ON DELETE CASCADE;
alter table kyc_access_log add constraint kyc_access_log_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table kyc_former_records add constraint kyc_former_records_application_id_applications_application_id_f FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table kyc_former_records add constraint kyc_former_records_cp_id_content_providers_cp_id_fk FOREIGN KEY (cp_id) REFERENCES content_providers(cp_id);
alter table kyc_records add constraint kyc_records_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table kyc_records add constraint kyc_records_cp_id_content_providers_cp_id_fk FOREIGN KEY (cp_id) REFERENCES content_providers(cp_id);
alter table kyc_states add constraint kyc_states_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table kyc_verdicts add constraint kyc_verdicts_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id);
alter table operator_sessions add constraint operator_sessions_login_operators_login_fk FOREIGN KEY (login) REFERENCES operators(login) ON DELETE CASCADE;
alter table picture_pins add constraint picture_pins_audit_id_game_audits_audit_id_fk FOREIGN KEY (audit_id) REFERENCES game_audits(audit_id);
alter table portal_sessions add constraint portal_sessions_token_id_api_tokens_token_id_fk FOREIGN KEY (token_id) REFERENCES api_tokens(token_id) ON DELETE CASCADE;
alter table refresh_requests add constraint refresh_requests_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id) ON DELETE CASCADE;
alter table run_days add constraint run_days_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id) ON DELETE CASCADE;
alter table sign_in_links add constraint sign_in_links_login_operators_login_fk FOREIGN KEY (login) REFERENCES operators(login) ON DELETE CASCADE;
alter table sync_runs add constraint sync_runs_application_id_applications_application_id_fk FOREIGN KEY (application_id) REFERENCES applications(application_id) ON DELETE CASCADE;
alter table vanishing_games add constraint vanishing_games_run_id_sync_runs_run_id_fk FOREIGN KEY (run_id) REFERENCES sync_runs(run_id) ON DELETE CASCADE;

-- Triggers

CREATE TRIGGER api_tokens_ended BEFORE UPDATE OF revoked_at ON api_tokens
  FOR EACH ROW
  WHEN (old.revoked_at IS NOT NULL AND new.revoked_at IS DISTINCT FROM old.revoked_at)
  EXECUTE FUNCTION refuse_to_roles('revive a token');

CREATE TRIGGER applications_removed AFTER UPDATE OF status ON applications
  FOR EACH ROW
  WHEN ((new.status = 'removed'::text) <> (old.status = 'removed'::text))
  EXECUTE FUNCTION refuse_to_roles('remove applications or add them again', 'catalogue_operator', 'catalogue_operator_api');

CREATE TRIGGER applications_stream_insert AFTER INSERT ON applications
  FOR EACH ROW
  EXECUTE FUNCTION stream_application();

CREATE TRIGGER applications_stream_update AFTER UPDATE ON applications
  FOR EACH ROW
  WHEN (old.status IS DISTINCT FROM new.status OR old.name IS DISTINCT FROM new.name OR old.query_game_list_webhook IS DISTINCT FROM new.query_game_list_webhook OR old.query_game_detail_webhook IS DISTINCT FROM new.query_game_detail_webhook OR old.query_cp_kyc_webhook IS DISTINCT FROM new.query_cp_kyc_webhook OR old.access_token IS DISTINCT FROM new.access_token OR old.every_ms IS DISTINCT FROM new.every_ms OR old.kyc_every_ms IS DISTINCT FROM new.kyc_every_ms OR old.detail_max_age_ms IS DISTINCT FROM new.detail_max_age_ms OR old.concurrency IS DISTINCT FROM new.concurrency OR old.rate IS DISTINCT FROM new.rate OR old.volatile_parameters IS DISTINCT FROM new.volatile_parameters)
  EXECUTE FUNCTION stream_application();

CREATE TRIGGER applications_verdict AFTER UPDATE OF status ON applications
  FOR EACH ROW
  WHEN (old.status <> 'removed'::text AND new.status = 'removed'::text)
  EXECUTE FUNCTION follow_removal();

CREATE TRIGGER approvals_of_kyc BEFORE INSERT OR UPDATE ON approvals
  FOR EACH ROW
  EXECUTE FUNCTION approvals_of_kyc();

CREATE TRIGGER audit_head_follows BEFORE UPDATE ON audit_head
  FOR EACH ROW
  WHEN (pg_trigger_depth() < 1)
  EXECUTE FUNCTION audit_log_refuse();

CREATE TRIGGER audit_head_kept BEFORE DELETE ON audit_head
  FOR EACH ROW
  EXECUTE FUNCTION audit_log_refuse();

CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON audit_head
  FOR EACH STATEMENT
  EXECUTE FUNCTION audit_log_refuse();

CREATE TRIGGER audit_log_actor BEFORE INSERT ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION audit_log_actor();

CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION audit_log_refuse();

CREATE TRIGGER audit_log_chain BEFORE INSERT ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION audit_log_chain();

CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT
  EXECUTE FUNCTION audit_log_refuse();

CREATE TRIGGER changed_games_count AFTER INSERT OR DELETE ON changed_games
  FOR EACH ROW
  EXECUTE FUNCTION count_changed_game();

CREATE TRIGGER content_providers_verdict AFTER UPDATE OF replaced_at ON content_providers
  FOR EACH ROW
  WHEN (old.replaced_at IS NULL AND new.replaced_at IS NOT NULL)
  EXECUTE FUNCTION follow_provider();

CREATE TRIGGER event_subscriptions_position BEFORE INSERT OR UPDATE OF "position" ON event_subscriptions
  FOR EACH ROW
  EXECUTE FUNCTION keep_position();

CREATE TRIGGER event_subscriptions_secret BEFORE UPDATE OF secret, former_secret ON event_subscriptions
  FOR EACH ROW
  EXECUTE FUNCTION keep_former_secret();

CREATE TRIGGER event_webhooks_address BEFORE INSERT OR UPDATE OF url, secret ON event_webhooks
  FOR EACH ROW
  EXECUTE FUNCTION guard_event_address();

CREATE TRIGGER event_webhooks_secret BEFORE UPDATE OF secret, former_secret ON event_webhooks
  FOR EACH ROW
  EXECUTE FUNCTION keep_former_secret();

CREATE TRIGGER events_stream AFTER INSERT ON events
  REFERENCING NEW TABLE AS fresh_events
  FOR EACH STATEMENT
  EXECUTE FUNCTION stream_application_events();

CREATE TRIGGER game_appeals_checked BEFORE INSERT ON game_appeals
  FOR EACH ROW
  EXECUTE FUNCTION check_appeal();

CREATE TRIGGER game_appeals_decided BEFORE UPDATE ON game_appeals
  FOR EACH ROW
  EXECUTE FUNCTION check_appeal_decision();

CREATE TRIGGER game_appeals_void BEFORE UPDATE OF outcome ON game_appeals
  FOR EACH ROW
  WHEN (new.outcome = 'void'::text)
  EXECUTE FUNCTION refuse_to_roles('void an appeal');

CREATE TRIGGER game_audits_appeal BEFORE INSERT ON game_audits
  FOR EACH ROW
  EXECUTE FUNCTION guard_appeal();

CREATE TRIGGER game_audits_content BEFORE INSERT ON game_audits
  FOR EACH ROW
  EXECUTE FUNCTION keep_shown_revision();

CREATE TRIGGER game_audits_keep_appeal BEFORE UPDATE OF undone_at ON game_audits
  FOR EACH ROW
  WHEN (old.undone_at IS NULL AND new.undone_at IS NOT NULL)
  EXECUTE FUNCTION keep_appeal();

CREATE TRIGGER game_messages_checked BEFORE INSERT ON game_messages
  FOR EACH ROW
  EXECUTE FUNCTION check_message();

CREATE TRIGGER game_messages_of_operators BEFORE INSERT ON game_messages
  FOR EACH ROW
  WHEN (new.kind <> 'answer'::text)
  EXECUTE FUNCTION refuse_to_roles('write to developers', 'catalogue_console', 'catalogue_operator', 'catalogue_operator_api');

CREATE TRIGGER game_revisions_decided BEFORE DELETE ON game_revisions
  FOR EACH ROW
  EXECUTE FUNCTION keep_decided_revision();

CREATE TRIGGER game_revisions_stream AFTER INSERT ON game_revisions
  REFERENCING NEW TABLE AS fresh_revisions
  FOR EACH STATEMENT
  EXECUTE FUNCTION stream_revisions();

CREATE TRIGGER game_revisions_waiting AFTER INSERT ON game_revisions
  REFERENCING NEW TABLE AS fresh_revisions
  FOR EACH STATEMENT
  EXECUTE FUNCTION apply_imports();

CREATE TRIGGER games_content_kept BEFORE UPDATE OF revision, game_name, game_icon, game_desc, game_store_pic, game_store_video ON games
  FOR EACH ROW
  WHEN (NOT (new.audit_status = 'pending'::text AND new.revision = (old.revision + 1)) AND (new.revision IS DISTINCT FROM old.revision OR new.game_name IS DISTINCT FROM old.game_name OR new.game_icon IS DISTINCT FROM old.game_icon OR new.game_desc IS DISTINCT FROM old.game_desc OR new.game_store_pic IS DISTINCT FROM old.game_store_pic OR new.game_store_video IS DISTINCT FROM old.game_store_video))
  EXECUTE FUNCTION keep_content();

CREATE TRIGGER games_count_delete AFTER DELETE ON games
  REFERENCING OLD TABLE AS affected_games
  FOR EACH STATEMENT
  EXECUTE FUNCTION count_games();

CREATE TRIGGER games_count_insert AFTER INSERT ON games
  REFERENCING NEW TABLE AS affected_games
  FOR EACH STATEMENT
  EXECUTE FUNCTION count_games();

CREATE TRIGGER games_count_update AFTER UPDATE ON games
  FOR EACH ROW
  WHEN (old.audit_status IS DISTINCT FROM new.audit_status OR (old.withdrawn_at IS NULL) IS DISTINCT FROM (new.withdrawn_at IS NULL) OR old.application_id IS DISTINCT FROM new.application_id OR old.game_id IS DISTINCT FROM new.game_id)
  EXECUTE FUNCTION recount_game();

CREATE TRIGGER games_decided_insert BEFORE INSERT ON games
  FOR EACH ROW
  WHEN (new.audit_status <> 'pending'::text)
  EXECUTE FUNCTION refuse_to_roles('decide on games', 'catalogue_console', 'catalogue_operator', 'catalogue_operator_api');

CREATE TRIGGER games_decided_update BEFORE UPDATE OF audit_status, audit_time ON games
  FOR EACH ROW
  WHEN (new.audit_status <> 'pending'::text AND (new.audit_status <> old.audit_status OR new.audit_time IS DISTINCT FROM old.audit_time))
  EXECUTE FUNCTION refuse_to_roles('decide on games', 'catalogue_console', 'catalogue_operator', 'catalogue_operator_api');

CREATE TRIGGER games_events AFTER UPDATE ON games
  FOR EACH ROW
  WHEN ((old.withdrawn_at IS NULL OR new.withdrawn_at IS NULL) AND (old.audit_status IS DISTINCT FROM new.audit_status OR old.audit_time IS DISTINCT FROM new.audit_time OR (old.withdrawn_at IS NULL) IS DISTINCT FROM (new.withdrawn_at IS NULL)))
  EXECUTE FUNCTION record_event();

CREATE TRIGGER games_imported_ids AFTER INSERT ON games
  REFERENCING NEW TABLE AS fresh_games
  FOR EACH STATEMENT
  EXECUTE FUNCTION keep_imported_ids();

CREATE TRIGGER games_pass_insert BEFORE INSERT ON games
  FOR EACH ROW
  WHEN (new.audit_status = 'passed'::text)
  EXECUTE FUNCTION check_pass();

CREATE TRIGGER games_pass_update BEFORE UPDATE OF audit_status, withdrawn_at ON games
  FOR EACH ROW
  WHEN (new.audit_status = 'passed'::text AND (old.audit_status <> 'passed'::text OR old.withdrawn_at IS NOT NULL AND new.withdrawn_at IS NULL))
  EXECUTE FUNCTION check_pass();

CREATE TRIGGER games_removed BEFORE UPDATE OF withdrawn_at ON games
  FOR EACH ROW
  WHEN (old.withdrawn_at IS NOT NULL AND new.withdrawn_at IS NULL)
  EXECUTE FUNCTION refuse_when_removed();

CREATE TRIGGER games_review AFTER UPDATE ON games
  FOR EACH ROW
  WHEN (old.audit_status IS DISTINCT FROM new.audit_status OR (old.withdrawn_at IS NULL) IS DISTINCT FROM (new.withdrawn_at IS NULL) OR old.revision IS DISTINCT FROM new.revision)
  EXECUTE FUNCTION track_review();

CREATE TRIGGER games_stream AFTER UPDATE OF game_package_url ON games
  FOR EACH ROW
  WHEN (old.game_package_url IS DISTINCT FROM new.game_package_url)
  EXECUTE FUNCTION stream_package();

CREATE TRIGGER games_words_insert AFTER INSERT ON games
  REFERENCING NEW TABLE AS affected_games
  FOR EACH STATEMENT
  EXECUTE FUNCTION keep_words();

CREATE TRIGGER games_words_update AFTER UPDATE OF search ON games
  FOR EACH ROW
  WHEN (old.search IS DISTINCT FROM new.search)
  EXECUTE FUNCTION keep_changed_words();

CREATE TRIGGER kyc_former_records_insert BEFORE INSERT ON kyc_former_records
  FOR EACH ROW
  EXECUTE FUNCTION refuse_erased();

CREATE CONSTRAINT TRIGGER kyc_records_erased AFTER DELETE ON kyc_records DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW
  EXECUTE FUNCTION follow_erased_record();

CREATE TRIGGER kyc_records_insert BEFORE INSERT ON kyc_records
  FOR EACH ROW
  EXECUTE FUNCTION refuse_erased();

CREATE TRIGGER kyc_records_verdict AFTER INSERT ON kyc_records
  FOR EACH ROW
  EXECUTE FUNCTION follow_kyc_record();

CREATE TRIGGER kyc_states_erased BEFORE INSERT OR UPDATE OF state ON kyc_states
  FOR EACH ROW
  WHEN (new.state = 'erased'::text)
  EXECUTE FUNCTION refuse_erasure();

CREATE TRIGGER kyc_states_reopened BEFORE UPDATE OF state ON kyc_states
  FOR EACH ROW
  WHEN (old.state = 'erased'::text AND new.state <> 'erased'::text)
  EXECUTE FUNCTION refuse_to_roles('pull an erased KYC record again', 'catalogue_kyc_desk', 'catalogue_operator', 'catalogue_operator_api');

CREATE TRIGGER kyc_states_stream AFTER INSERT OR UPDATE OF state, pulled_at ON kyc_states
  FOR EACH ROW
  EXECUTE FUNCTION stream_kyc();

CREATE TRIGGER kyc_verdicts_bound BEFORE INSERT ON kyc_verdicts
  FOR EACH ROW
  EXECUTE FUNCTION bind_verdict();

CREATE TRIGGER kyc_verdicts_ended BEFORE UPDATE ON kyc_verdicts
  FOR EACH ROW
  WHEN (old.ended_at IS NOT NULL)
  EXECUTE FUNCTION refuse_ended_verdict();

CREATE TRIGGER kyc_verdicts_stream_insert AFTER INSERT ON kyc_verdicts
  FOR EACH ROW
  EXECUTE FUNCTION stream_verdict();

CREATE TRIGGER kyc_verdicts_stream_update AFTER UPDATE OF ended_at ON kyc_verdicts
  FOR EACH ROW
  WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL AND new.ended_as <> 'replaced'::text)
  EXECUTE FUNCTION stream_verdict();

CREATE TRIGGER oidc_flows_site BEFORE INSERT OR UPDATE ON oidc_flows
  FOR EACH ROW
  EXECUTE FUNCTION bind_to_site();

CREATE TRIGGER operator_sessions_site BEFORE INSERT OR UPDATE ON operator_sessions
  FOR EACH ROW
  EXECUTE FUNCTION bind_to_site();

CREATE TRIGGER operators_count BEFORE INSERT OR UPDATE OF roles, held_roles, status, counts_at ON operators
  FOR EACH ROW
  EXECUTE FUNCTION count_after_a_day();

CREATE TRIGGER operators_links AFTER UPDATE OF roles ON operators
  FOR EACH ROW
  WHEN (('kyc_officer'::text = ANY (new.roles)) AND ('kyc_officer'::text <> ALL (old.roles)))
  EXECUTE FUNCTION end_links();

CREATE TRIGGER operators_of_sites BEFORE INSERT OR UPDATE OF name, roles, password_hash, status ON operators
  FOR EACH ROW
  EXECUTE FUNCTION operators_of_sites();

CREATE TRIGGER picture_contents_kept BEFORE DELETE ON picture_contents
  FOR EACH ROW
  WHEN (old.pinned OR old.stored IS NOT NULL)
  EXECUTE FUNCTION refuse_to_roles('forget pictures that a decision names or the store has');

CREATE TRIGGER picture_contents_whole BEFORE UPDATE OF whole ON picture_contents
  FOR EACH ROW
  WHEN (new.whole AND NOT old.whole)
  EXECUTE FUNCTION refuse_to_roles('say that thumbnails are there', 'catalogue_media');

CREATE TRIGGER picture_pins_kept BEFORE UPDATE OF sha256 ON picture_pins
  FOR EACH ROW
  WHEN (old.sha256 IS NOT NULL AND new.sha256 IS DISTINCT FROM old.sha256)
  EXECUTE FUNCTION refuse_to_roles('bind a decision to other bytes');

CREATE TRIGGER picture_thumbnails_lost AFTER DELETE ON picture_thumbnails
  REFERENCING OLD TABLE AS lost
  FOR EACH STATEMENT
  EXECUTE FUNCTION lose_thumbnails();

CREATE TRIGGER pictures_address BEFORE INSERT OR UPDATE OF url ON pictures
  FOR EACH ROW
  WHEN (octet_length(new.url) > 8192)
  EXECUTE FUNCTION cut_address();

CREATE TRIGGER pictures_checked BEFORE UPDATE OF next_check_at ON pictures
  FOR EACH ROW
  WHEN (old.next_check_at IS NOT NULL AND new.next_check_at IS NULL)
  EXECUTE FUNCTION refuse_to_roles('end the checks of a picture', 'catalogue_media');

CREATE TRIGGER reasons_limited BEFORE INSERT ON reasons
  FOR EACH ROW
  EXECUTE FUNCTION limit_reasons();

CREATE TRIGGER sign_in_attempts_bound BEFORE INSERT OR UPDATE ON sign_in_attempts
  FOR EACH ROW
  EXECUTE FUNCTION bound_attempts();

CREATE TRIGGER sign_in_links_of_officers BEFORE INSERT OR UPDATE ON sign_in_links
  FOR EACH ROW
  EXECUTE FUNCTION links_of_officers();

CREATE TRIGGER sync_runs_stream AFTER UPDATE OF outcome ON sync_runs
  FOR EACH ROW
  WHEN (new.outcome = 'suspect'::text AND old.outcome IS DISTINCT FROM 'suspect'::text)
  EXECUTE FUNCTION stream_suspect_run();

-- Rights of the database roles, and of everybody (public)

grant select, insert (application_id, expires_at, name, token_hash, token_id), update (last_used_at, revoked_at) on api_tokens to catalogue_operator_api;
grant select, insert, update (revoked_at) on api_tokens to catalogue_operator;
grant select, update (last_used_at) on api_tokens to catalogue_api;
grant select, update (last_used_at, revoked_at) on api_tokens to catalogue_console;
grant select on application_checks to catalogue_operator;
grant select, insert, update on application_checks to catalogue_console, catalogue_operator_api;
grant select, insert, update, delete on application_checks to catalogue_worker;
grant select on application_holds to catalogue_api, catalogue_kyc_desk, catalogue_media, catalogue_worker;
grant select, insert, delete on application_holds to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select (application_id, created_at, detail_max_age_ms, details_due_at, details_full_at, every_ms, failing_since, last_success_at, name, status) on applications to catalogue_api;
grant select (application_id, created_at, every_ms, failing_since, last_success_at, name, status) on applications to catalogue_kyc_desk;
grant select (application_id, created_at, every_ms, failing_since, last_success_at, name, status, volatile_parameters) on applications to catalogue_media;
grant select, insert, update on applications to catalogue_operator, catalogue_operator_api;
grant select, update (concurrency, detail_max_age_ms, details_due_at, details_full_at, every_ms, failed_runs, failing_since, kyc_every_ms, last_success_at, name, next_attempt_at, pause_reason, rate, review_priority, status, updated_at) on applications to catalogue_console;
grant select, update (details_due_at, details_full_at, failed_runs, failing_since, last_success_at, next_attempt_at, pause_reason, status, updated_at) on applications to catalogue_worker;
grant select, insert (approval_id, expires_at, kind, reason, requested, requested_by, subject, version), update (approved_at, approved_by, closed_as, closed_at, expires_at, used_at) on approvals to catalogue_console, catalogue_kyc_desk;
grant select, insert (approval_id, expires_at, kind, reason, requested, requested_by, subject, version), update (closed_as, closed_at, used_at) on approvals to catalogue_operator_api;
grant select, update (closed_as, closed_at, used_at) on approvals to catalogue_operator;
grant select on audit_head to catalogue_console, catalogue_operator, catalogue_operator_api;
grant insert on audit_log to catalogue_api, catalogue_media;
grant select, insert on audit_log to catalogue_console, catalogue_kyc_desk, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select on changed_games to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, update (carry_at) on changed_games to catalogue_media, catalogue_worker;
grant select on content_providers to catalogue_console, catalogue_operator_api;
grant select, insert, update (replaced_at) on content_providers to catalogue_kyc_desk, catalogue_operator, catalogue_worker;
grant select on decision_rules to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select, insert, update on detail_turns to catalogue_worker;
grant select on drizzle.__drizzle_migrations to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select, insert, update on event_deliveries to catalogue_console;
grant select, insert, update, delete on event_deliveries to catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select ("position", created_at, failing_since, failures, former_until, last_attempt_at, last_error, last_success_at, next_attempt_at, off_at, off_reason, status, subscription_id, types, url) on event_subscriptions to catalogue_console;
grant select (last_error, status) on event_subscriptions to catalogue_api, catalogue_kyc_desk, catalogue_media;
grant select, insert, update, delete on event_subscriptions to catalogue_operator, catalogue_operator_api;
grant select, update ("position", failing_since, failures, former_secret, former_until, last_attempt_at, last_error, last_success_at, next_attempt_at, off_at, off_reason, status) on event_subscriptions to catalogue_worker;
grant select (application_id, created_at, failing_since, failures, former_until, last_attempt_at, last_error, last_success_at, next_attempt_at, off_at, off_reason, status, url), insert, update (failing_since, failures, former_until, last_attempt_at, last_error, last_success_at, next_attempt_at, off_at, off_reason, secret, secret_keys, status, url), delete on event_webhooks to catalogue_console;
grant select (last_error, status) on event_webhooks to catalogue_api, catalogue_kyc_desk, catalogue_media;
grant select, insert, update, delete on event_webhooks to catalogue_operator, catalogue_operator_api;
grant select, update (failing_since, failures, former_secret, former_until, last_attempt_at, last_error, last_success_at, next_attempt_at, off_at, off_reason, status) on event_webhooks to catalogue_worker;
grant select on events to catalogue_api, catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, delete on events to catalogue_worker;
revoke execute on function apply_imports() from public;
revoke execute on function audit_log_chain() from public;
revoke execute on function bind_verdict() from public;
grant execute on function carry_over_decision(uuid,integer,bigint,jsonb) to catalogue_media;
revoke execute on function carry_over_decision(uuid,integer,bigint,jsonb) from public;
revoke execute on function check_appeal() from public;
revoke execute on function check_appeal_decision() from public;
revoke execute on function check_message() from public;
revoke execute on function check_pass() from public;
grant execute on function clear_kyc_failure(text) to catalogue_kyc_desk, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function clear_kyc_failure(text) from public;
grant execute on function count_appeals() to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function count_appeals() from public;
revoke execute on function count_changed_game() from public;
grant execute on function count_due_games() to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function count_due_games() from public;
revoke execute on function count_games() from public;
grant execute on function count_refusal(text) to catalogue_console, catalogue_kyc_desk, catalogue_operator, catalogue_operator_api;
revoke execute on function count_refusal(text) from public;
grant execute on function count_verdicts() to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function count_verdicts() from public;
grant execute on function count_wraps() to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function count_wraps() from public;
grant execute on function end_expired_verdicts() to catalogue_worker;
revoke execute on function end_expired_verdicts() from public;
grant execute on function end_overdue_sessions() to catalogue_worker;
revoke execute on function end_overdue_sessions() from public;
revoke execute on function fold_game_counts() from public;
revoke execute on function follow_erased_record() from public;
revoke execute on function follow_kyc_record() from public;
revoke execute on function follow_provider() from public;
revoke execute on function follow_removal() from public;
revoke execute on function guard_appeal() from public;
revoke execute on function keep_appeal() from public;
revoke execute on function keep_changed_words() from public;
revoke execute on function keep_decided_revision() from public;
revoke execute on function keep_shown_revision() from public;
revoke execute on function keep_words() from public;
grant execute on function place_events(text,integer) to catalogue_api, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function place_events(text,integer) from public;
grant execute on function process_sessions() to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
revoke execute on function process_sessions() from public;
revoke execute on function record_event() from public;
revoke execute on function recount_game() from public;
grant execute on function recount_games(boolean) to catalogue_operator;
revoke execute on function recount_games(boolean) from public;
revoke execute on function send_event(games,text,text,jsonb) from public;
grant execute on function send_test_event(text) to catalogue_console, catalogue_operator, catalogue_operator_api;
revoke execute on function send_test_event(text) from public;
revoke execute on function stream_application() from public;
revoke execute on function stream_application_events() from public;
revoke execute on function stream_kyc() from public;
revoke execute on function stream_package() from public;
revoke execute on function stream_revisions() from public;
revoke execute on function stream_suspect_run() from public;
revoke execute on function stream_verdict() from public;
revoke execute on function track_review() from public;
grant select on game_absences to catalogue_console, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select, insert (game_id, text) on game_appeals to catalogue_api;
grant select, insert (game_id, text), update (answer, decided_by, outcome) on game_appeals to catalogue_console;
grant select, update (answer, decided_by, outcome) on game_appeals to catalogue_operator, catalogue_operator_api;
grant select (audit_id, game_id, undone_at) on game_audits to catalogue_api;
grant select on game_audits to catalogue_media, catalogue_worker;
grant select, insert (appeal_id, audit_status, batch_id, decided_at, decided_by, game_id, note, reason, revision, text, waiting_since), update (undone_at, undone_by) on game_audits to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select on game_count_changes to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select on game_counts to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select on game_icon_hashes to catalogue_console;
grant select, insert, update, delete on game_icon_hashes to catalogue_media;
grant select, insert, update, delete on game_leases to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert (game_id, kind, text, written_by) on game_messages to catalogue_api, catalogue_console, catalogue_operator, catalogue_operator_api;
grant select on game_revisions to catalogue_console, catalogue_media, catalogue_operator_api;
grant select, insert on game_revisions to catalogue_operator;
grant select, insert, delete on game_revisions to catalogue_worker;
grant select, insert, update, delete on game_viewers to catalogue_console, catalogue_operator;
grant select on games to catalogue_api;
grant select, insert (addresses_end_at, application_game_id, application_id, audit_status, audit_time, content_hash, fetched_at, game_desc, game_icon, game_id, game_name, game_package_url, game_store_pic, game_store_video, list_hash, search, withdrawn_at), update (audit_status, audit_time, game_package_url, unlisted_at, updated_at, withdrawn_at) on games to catalogue_operator;
grant select, insert (addresses_end_at, application_game_id, application_id, content_hash, fetched_at, game_desc, game_icon, game_id, game_name, game_store_pic, game_store_video, list_hash, search), update (addresses_end_at, audit_status, audit_time, content_hash, fetched_at, game_desc, game_icon, game_name, game_store_pic, game_store_video, list_hash, revision, search, unlisted_at, updated_at, withdrawn_at) on games to catalogue_worker;
grant select, update (audit_status, audit_time, game_package_url, unlisted_at, updated_at, withdrawn_at) on games to catalogue_console, catalogue_operator_api;
grant select, update (audit_status, audit_time, updated_at) on games to catalogue_media;
grant select, insert, delete on held_games to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select on imported_games to catalogue_console, catalogue_worker;
grant select, insert on imported_games to catalogue_operator;
grant select (kind, operation) on ingest_failures to catalogue_api, catalogue_kyc_desk, catalogue_media;
grant select on ingest_failures to catalogue_console;
grant select, insert, update, delete on ingest_failures to catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select, insert (accessed_by, action, application_id, reason, record_id) on kyc_access_log to catalogue_kyc_desk, catalogue_operator;
grant select (application_id, changed_fields, received_at, record_id, replaced_at) on kyc_former_records to catalogue_operator_api;
grant select (application_id, record_id, replaced_at), insert (application_id, changed_fields, corporate_account, cp_id, cp_name, cp_short_name, data_keys, id_number, id_type, legal_entity, opening_bank, received_at, record_id, registered_address, tax_id), delete on kyc_former_records to catalogue_worker;
grant select, delete on kyc_former_records to catalogue_kyc_desk;
grant select, update (data_keys), delete on kyc_former_records to catalogue_operator;
grant select (public_key, purpose) on kyc_keys to catalogue_console;
grant select on kyc_keys to catalogue_kyc_desk;
grant select, insert, update (purpose) on kyc_keys to catalogue_worker;
grant select, update (data_keys) on kyc_keys to catalogue_operator;
grant select (application_id, changed_fields, cp_id, received_at, record_id, tax_id_fingerprint) on kyc_records to catalogue_operator_api;
grant select, delete on kyc_records to catalogue_kyc_desk;
grant select, insert, delete on kyc_records to catalogue_worker;
grant select, update (data_keys), delete on kyc_records to catalogue_operator;
grant select on kyc_states to catalogue_console;
grant select, insert, update (pulled_at, reason, refused_cp_id, requested_at, state) on kyc_states to catalogue_kyc_desk, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select on kyc_verdicts to catalogue_console, catalogue_operator_api;
grant select, insert (application_id, decided_by, expires_at, reason, record_id, text, verdict), update (ended_as, ended_at) on kyc_verdicts to catalogue_kyc_desk, catalogue_operator;
grant select, insert, delete on oidc_flows to catalogue_console, catalogue_kyc_desk;
grant select, delete on operator_sessions to catalogue_operator, catalogue_operator_api;
grant select, insert (confirmed_at, login, session_hash, site), update (confirmed_at, seen_at, session_hash), delete on operator_sessions to catalogue_console, catalogue_kyc_desk;
grant select (counts_at, created_at, has_password, held_roles, last_sign_in_at, login, name, oidc_subject, roles, status), update (status) on operators to catalogue_operator_api;
grant select (login, roles, status) on operators to catalogue_api;
grant select, insert (counts_at, login, name, oidc_subject, roles), update (counts_at, last_sign_in_at, name, password_hash, roles, single_keys) on operators to catalogue_kyc_desk;
grant select, insert (counts_at, login, name, oidc_subject, roles), update (counts_at, last_sign_in_at, name, password_hash, roles, single_keys, status) on operators to catalogue_console;
grant select, insert, update on operators to catalogue_operator;
grant select on picture_changes to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert on picture_changes to catalogue_media;
grant select (format, sha256, stored) on picture_contents to catalogue_api;
grant select, insert, update on picture_contents to catalogue_media;
grant select, update (looked_at, pinned) on picture_contents to catalogue_console;
grant select, update (pinned, stored) on picture_contents to catalogue_operator, catalogue_operator_api;
grant select, update (whole), delete on picture_contents to catalogue_worker;
grant select (audit_id, is_icon, place, sha256) on picture_pins to catalogue_api;
grant select, insert on picture_pins to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, update (picture_id, sha256) on picture_pins to catalogue_media;
grant select, insert, update on picture_rules to catalogue_media;
grant select on picture_thumbnails to catalogue_console;
grant select, delete on picture_thumbnails to catalogue_worker;
grant select, insert on picture_thumbnails to catalogue_media;
grant select, insert, update (next_check_at) on pictures to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert, update on pictures to catalogue_media;
grant select, insert (session_hash, token_id), update (seen_at), delete on portal_sessions to catalogue_console;
grant select on reasons to catalogue_worker;
grant select, insert, update on reasons to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert (application_game_id, application_id, is_full), update (attempts, is_full, requested_at) on refresh_requests to catalogue_api;
grant select, insert, update (attempts, by_operator, is_full, requested_at) on refresh_requests to catalogue_console;
grant select, insert, update, delete on refresh_requests to catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select, insert, update on refresh_turns to catalogue_worker;
grant select on run_days to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert, update, delete on run_days to catalogue_worker;
grant usage on schema drizzle to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on schema public to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker, public;
grant select on search_words to catalogue_console, catalogue_operator, catalogue_operator_api;
grant usage on sequence events_event_number_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence game_appeals_appeal_id_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence game_audits_audit_id_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence game_messages_message_id_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence kyc_access_log_entry_id_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence kyc_verdicts_verdict_id_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence stream_events_event_number_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant usage on sequence sync_runs_run_number_seq to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api, catalogue_worker;
grant select, insert, update, delete on sign_in_attempts to catalogue_console, catalogue_kyc_desk;
grant select, delete on sign_in_links to catalogue_kyc_desk, catalogue_operator_api;
grant select, insert, delete on sign_in_links to catalogue_console, catalogue_operator;
grant select on stream_events to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, delete on stream_events to catalogue_worker;
grant select, insert, update, delete on sync_run_pages to catalogue_worker;
grant select, update, delete on sync_run_pages to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select (application_id, fault, finished_at, outcome, run_number, started_at) on sync_runs to catalogue_api, catalogue_kyc_desk, catalogue_media;
grant select, insert ("full", accept_withdrawals, application_id, run_id, storable_bytes, storable_games, trigger), update on sync_runs to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert ("full", accept_withdrawals, application_id, run_id, storable_bytes, storable_games, trigger), update, delete on sync_runs to catalogue_worker;
grant select, delete on vanishing_games to catalogue_console, catalogue_operator, catalogue_operator_api;
grant select, insert, delete on vanishing_games to catalogue_worker;
grant select on workers to catalogue_api, catalogue_console, catalogue_kyc_desk, catalogue_media, catalogue_operator, catalogue_operator_api;
grant select, insert, update, delete on workers to catalogue_worker;
