#!/bin/sh
# Starts nginx with the configuration of the suite's gateway, as any user and on a read-only file system; only the
# directory for temporary files must be writable.
#
# Required: STORE_API_ADDRESS, CREATOR_API_ADDRESS, AUTH_SERVER_ADDRESS, WEBHOOK_WORKER_ADDRESS (host:port),
#   GATEWAY_PUBLIC_HOST (host:port of BASE_URL), and a certificate at GATEWAY_CERTIFICATE and GATEWAY_CERTIFICATE_KEY.
# Required, with values in the image: GATEWAY_HSTS_SECONDS, and the limits of one client network,
#   GATEWAY_CONNECTIONS_PER_CLIENT, GATEWAY_REQUESTS_PER_SECOND and GATEWAY_REQUEST_BURST.
# Optional: GATEWAY_REAL_IP_LINES behind a load balancer (docs/runbook.md), GATEWAY_LISTEN_LINES, GATEWAY_TEMPLATE,
#   GATEWAY_ACCESS_LOG, GATEWAY_RUN_DIR, GATEWAY_RESOLVE_SECONDS, GATEWAY_SITE_DIR (the documentation, served at /docs).
#
# nginx resolves the names of services once, when it reads its configuration, and does not start with an unknown name.
# So this script resolves them, every GATEWAY_RESOLVE_SECONDS, and reloads the configuration when an address or the
# certificate has changed. From nginx 1.27.4 on, a reload ends no request.
#
# It also stops using a replica that fails to respond to /health/serving with 200 within a second, twice in a row, until
# the replica responds. nginx alone notices a suspended replica only after requests have waited for it.
# If all replicas of a service fail, it uses all of them, because the cause is then not a replica.
set -eu

template=${GATEWAY_TEMPLATE:-/gateway/nginx.conf.template}
GATEWAY_RUN_DIR=${GATEWAY_RUN_DIR:-/tmp}
GATEWAY_ACCESS_LOG=${GATEWAY_ACCESS_LOG:-/dev/stdout}
GATEWAY_REAL_IP_LINES=${GATEWAY_REAL_IP_LINES:-}
GATEWAY_SITE_DIR=${GATEWAY_SITE_DIR:-/gateway/dist}
GATEWAY_USER_LINE=
interval=${GATEWAY_RESOLVE_SECONDS:-2}
config=$GATEWAY_RUN_DIR/nginx.conf
failures=$GATEWAY_RUN_DIR/failures
services='STORE_API CREATOR_API AUTH_SERVER WEBHOOK_WORKER'

fail() {
  echo "gateway: $*" >&2
  exit 78 # EX_CONFIG, as in the services
}

for name in STORE_API_ADDRESS CREATOR_API_ADDRESS AUTH_SERVER_ADDRESS WEBHOOK_WORKER_ADDRESS GATEWAY_PUBLIC_HOST \
  GATEWAY_CERTIFICATE GATEWAY_CERTIFICATE_KEY GATEWAY_HSTS_SECONDS \
  GATEWAY_CONNECTIONS_PER_CLIENT GATEWAY_REQUESTS_PER_SECOND GATEWAY_REQUEST_BURST; do
  eval "value=\${$name:-}"
  [ -n "$value" ] || fail "The setting $name is missing."
  case $name:$value in
    *_ADDRESS:*:*[!0-9]* | *_ADDRESS:*: | *_ADDRESS::* | *_ADDRESS:*[!a-zA-Z0-9.:_-]*)
      fail "The setting $name is invalid: it must be host:port." ;;
    *_ADDRESS:*:*) ;;
    *_ADDRESS:*) fail "The setting $name is invalid: it must be host:port." ;;
  esac
done
for name in GATEWAY_CERTIFICATE GATEWAY_CERTIFICATE_KEY; do
  eval "value=\$$name"
  [ -r "$value" ] || fail "The setting $name is invalid: the file $value cannot be read."
done
touch "$config.new" 2>/dev/null || fail "The directory $GATEWAY_RUN_DIR is not writable. Mount a tmpfs there."
mkdir -p "$failures"

if [ -z "${GATEWAY_LISTEN_LINES:-}" ]; then
  GATEWAY_LISTEN_LINES='listen 8443 ssl; http2 on;'
  [ ! -e /proc/net/if_inet6 ] || GATEWAY_LISTEN_LINES="listen [::]:8443 ssl; $GATEWAY_LISTEN_LINES"
fi
export GATEWAY_RUN_DIR GATEWAY_ACCESS_LOG GATEWAY_REAL_IP_LINES GATEWAY_SITE_DIR GATEWAY_USER_LINE GATEWAY_LISTEN_LINES

# Prints the addresses of a service, always in the same order; nothing if the name has none.
addresses_of() {
  eval "address=\$$1_ADDRESS"
  getent ahosts "${address%:*}" | while read -r ip type _; do
    [ "$type" = STREAM ] || continue
    case $ip in *:*) ip="[$ip]" ;; esac
    echo "$ip:${address##*:}"
  done | sort -u
}

# Examines a replica. A file with its name has a line for each failure since its last success.
examine() {
  if [ "$(curl --silent --max-time 1 --output /dev/null --write-out '%{http_code}' "http://$1/health/serving")" = 200 ]; then
    rm -f "$failures/$1"
  else
    echo >>"$failures/$1"
  fi
}

# Prints the addresses that have not failed twice in a row, or all if all have. A single address is not examined.
healthy_of() {
  [ $# -gt 1 ] && command -v curl >/dev/null || { printf '%s\n' "$@"; return; }
  for replica in "$@"; do examine "$replica" & done
  wait
  healthy=$(for replica in "$@"; do
    [ "$(cat "$failures/$replica" 2>/dev/null | wc -l)" -ge 2 ] || echo "$replica"
  done)
  if [ -n "$healthy" ]; then echo "$healthy"; else printf '%s\n' "$@"; fi
}

# Prints the `server` lines of an upstream; nothing if the name has no address.
servers_of() {
  # shellcheck disable=SC2046
  set -- $(addresses_of "$1")
  [ $# -eq 0 ] || healthy_of "$@" | sed 's/.*/server &;/' | tr '\n' ' '
}

# A name that cannot be resolved keeps its last addresses. At start it has none, so requests to it get 503.
resolve() {
  for service in $services; do
    servers=$(servers_of "$service")
    eval "known_servers=\${${service}_SERVERS:-}"
    eval "${service}_SERVERS=\${servers:-\${known_servers:-server unix:\$GATEWAY_RUN_DIR/no-address.sock;}}"
    export "${service}_SERVERS"
  done
}

write_config() {
  # Only these names: the variables of nginx are written as $name too.
  # shellcheck disable=SC2016
  envsubst '${GATEWAY_USER_LINE} ${GATEWAY_RUN_DIR} ${GATEWAY_ACCESS_LOG} ${GATEWAY_REAL_IP_LINES} ${GATEWAY_SITE_DIR} ${GATEWAY_CERTIFICATE}
    ${GATEWAY_CERTIFICATE_KEY} ${GATEWAY_KEEPALIVE_LINES} ${GATEWAY_LISTEN_LINES} ${GATEWAY_PUBLIC_HOST} ${GATEWAY_HSTS_SECONDS}
    ${GATEWAY_CONNECTIONS_PER_CLIENT} ${GATEWAY_REQUESTS_PER_SECOND} ${GATEWAY_REQUEST_BURST}
    ${STORE_API_SERVERS} ${CREATOR_API_SERVERS} ${AUTH_SERVER_SERVERS} ${WEBHOOK_WORKER_SERVERS}' <"$template" >"$config.new" &&
    mv "$config.new" "$config"
}

# Prints a text that changes when a reload is needed: with the addresses, or with the certificate.
state() {
  echo "$STORE_API_SERVERS|$CREATOR_API_SERVERS|$AUTH_SERVER_SERVERS|$WEBHOOK_WORKER_SERVERS"
  cat "$GATEWAY_CERTIFICATE" "$GATEWAY_CERTIFICATE_KEY" | cksum
}

resolve
# A reload closes idle connections of clients, also one on which a request is on its way. nginx 1.27.4 can wait.
export GATEWAY_KEEPALIVE_LINES='keepalive_min_timeout 10s;'
write_config
if ! nginx -e stderr -q -t -c "$config" -g 'daemon off;' 2>/dev/null; then
  GATEWAY_KEEPALIVE_LINES=
  write_config
fi
nginx -e stderr -q -t -c "$config" -g 'daemon off;' || fail 'nginx rejects the configuration; its message is above.'

# Runs concurrently with nginx, which replaces this process (exec) and so receives the signals of the container. A
# failure, such as a full disk, is retried in the next round.
nginx_pid=$$
(
  last=$(state)
  while sleep "$interval" && kill -0 "$nginx_pid" 2>/dev/null; do
    resolve || continue
    current=$(state) || continue
    [ "$current" != "$last" ] || continue
    write_config || {
      echo '{"level":"error","service":"gateway","message":"The configuration could not be written; will retry."}'
      continue
    }
    last=$current
    kill -HUP "$nginx_pid"
    echo "{\"level\":\"info\",\"service\":\"gateway\",\"message\":\"The configuration was reloaded: an address or the certificate has changed.\"}"
  done
) &

exec nginx -e stderr -c "$config" -g 'daemon off;'
