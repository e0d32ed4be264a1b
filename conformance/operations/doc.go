// Package operations runs Mailhelm as its guides tell operators to: several processes on one
// PostgreSQL behind a real proxy, with the configuration that the documentation shows.
//
// The processes are the test binary, which runs the command `mailhelm serve`. The proxies are
// the programs nginx and caddy of Debian, on ports of the loopback. The tests change in the
// documented configurations only addresses, certificates and, to take less time, durations.
//
// In CI a test rolls two servers once while clients make a thousand requests. With
// MAILHELM_TEST_FULL=1 it rolls them with the documented durations, again and again, until
// 100,000 requests are answered, behind nginx, then behind Caddy, and behind Traefik if
// MAILHELM_TRAEFIK names its program. In full, a person also follows the guides on a machine: a
// copy of this one with systemd, in which Podman runs the container image.
package operations
