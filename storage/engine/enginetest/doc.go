// Package enginetest opens databases for tests, without the stores of the domains, and starts
// the servers that tests need. SQLite is a file in a folder of the test. PostgreSQL is a
// separate database for each test, in a server that all test processes of the machine share.
//
// MAILHELM_TEST_POSTGRES_URL is the URL of that server. If it is unset, a temporary server
// is started from the installed PostgreSQL programs. It listens only on a Unix socket. It
// is stopped and removed about a minute after the last test process has ended, even after a
// crash.
//
// With MAILHELM_TEST_PGBOUNCER set to 1, tests on PostgreSQL reach it through a PgBouncer in
// transaction mode. Tests of prepared statements, of connections and of settings of a session then
// fail.
//
// The package is only for tests. It imports of storage only what migrations need: for the
// tests of the engine, Go compiles every package that imports the engine a second time.
package enginetest
