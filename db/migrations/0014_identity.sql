CREATE TABLE "oidc_flows" (
	"flow_hash" "bytea" PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"nonce" text NOT NULL,
	"code_verifier" text NOT NULL,
	"next" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operator_sessions" (
	"session_hash" "bytea" PRIMARY KEY NOT NULL,
	"login" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operators" (
	"login" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"roles" text[] NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"password_hash" text,
	"oidc_subject" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_sign_in_at" timestamp with time zone,
	CONSTRAINT "operators_oidc_subject_unique" UNIQUE("oidc_subject"),
	CONSTRAINT "operators_login" CHECK ("operators"."login" ~ '^[a-z0-9][a-z0-9._@+-]{0,99}$'),
	CONSTRAINT "operators_status" CHECK ("operators"."status" in ('active', 'disabled'))
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"attempt_key" text PRIMARY KEY NOT NULL,
	"attempts" integer NOT NULL,
	"window_ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_links" (
	"link_hash" "bytea" PRIMARY KEY NOT NULL,
	"login" text NOT NULL,
	"sets_password" boolean DEFAULT true NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "operator_sessions" ADD CONSTRAINT "operator_sessions_login_operators_login_fk" FOREIGN KEY ("login") REFERENCES "public"."operators"("login") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_links" ADD CONSTRAINT "sign_in_links_login_operators_login_fk" FOREIGN KEY ("login") REFERENCES "public"."operators"("login") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "operator_sessions_login" ON "operator_sessions" USING btree ("login");--> statement-breakpoint
CREATE INDEX "sign_in_links_login" ON "sign_in_links" USING btree ("login");